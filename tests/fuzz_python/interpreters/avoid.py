"""What the fuzzer does not do on some interpreters, because it is their own fault: each with a program that shows it.

The programs lie beside this file and do not import ffi_hpy.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def may_make(maker: type, cls: type) -> bool:
    """Whether maker.__new__(cls) may be tried."""
    return True


def may_assign_class(value: Any, cls: type) -> bool:
    """Whether value.__class__ = cls may be tried."""
    return True


def may_derive(bases: tuple[type, ...]) -> bool:
    """Whether a class with these bases may be made."""
    return True
