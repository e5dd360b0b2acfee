"""The type of objects that native functions accept in place of a Tensor."""

from __future__ import annotations

from typing import Any, Callable, Protocol

__all__ = ["SupportsDLPack"]


class SupportsDLPack(Protocol):
    """Any object that exports its memory by the DLPack protocol: a Tensor, an array of NumPy, a tensor of PyTorch."""

    @property
    def __dlpack__(self) -> Callable[..., Any]:
        """Creates the capsule. Declared as a property, because a method of any signature matches that."""
