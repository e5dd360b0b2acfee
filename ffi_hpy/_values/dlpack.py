"""The type of what becomes a Tensor where a native function takes one."""

from __future__ import annotations

from typing import Any, Callable, Protocol

__all__ = ["SupportsDLPack"]


class SupportsDLPack(Protocol):
    """Whatever lends its memory by the DLPack protocol: a Tensor, an array of NumPy, a tensor of PyTorch."""

    @property
    def __dlpack__(self) -> Callable[..., Any]:
        """Makes the capsule. A property, which methods of any signature can stand for."""
