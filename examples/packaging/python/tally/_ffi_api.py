"""FFI API bindings for tally."""

# tvm-ffi-stubgen(begin): import-section
# fmt: off
# isort: off
from __future__ import annotations
from ffi_hpy import Object as _ffi_Object, init_ffi_api as _FFI_INIT_FUNC, register_object as _FFI_REG_OBJ
from ffi_hpy.libinfo import load_lib_module as _FFI_LOAD_LIB
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from collections.abc import Sequence
    from ffi_hpy import SupportsDLPack
# isort: on
# fmt: on
# tvm-ffi-stubgen(end)

# tvm-ffi-stubgen(import-object): ffi.libinfo.load_lib_module;False;_FFI_LOAD_LIB
_LIB = _FFI_LOAD_LIB("tally", "tally")

# tvm-ffi-stubgen(begin): global/tally
# fmt: off
_FFI_INIT_FUNC("tally", __name__)
if TYPE_CHECKING:
    def merge(_0: Tally, _1: Tally, /) -> Tally:
        """The tally of all that two others have seen."""
        ...
    def scale(values: SupportsDLPack, factor: float = 2.0) -> None:
        """Multiply a float32 tensor by a number, in place."""
        ...
# fmt: on
# tvm-ffi-stubgen(end)

# tvm-ffi-stubgen(import-object): ffi.register_object;False;_FFI_REG_OBJ


# tvm-ffi-stubgen(import-object): ffi.Object;False;_ffi_Object
@_FFI_REG_OBJ("tally.Tally")
class Tally(_ffi_Object):
    """How many values there were, and their sum."""

    # tvm-ffi-stubgen(begin): object/tally.Tally
    # fmt: off
    if TYPE_CHECKING:
        @property
        def count(self) -> int:
            """how many values there were"""
            ...
        @property
        def total(self) -> float:
            """their sum"""
            ...
        def __init__(self) -> None: ...
        def __ffi_init__(self) -> None: ...
        def add(self, value: float) -> None:
            """Count one more value."""
            ...
        def mean(self, /) -> float:
            """The mean; ValueError if there were no values."""
            ...
        @staticmethod
        def of(values: Sequence[float]) -> Tally:
            """The tally of some values."""
            ...
    else:
        count: int
        total: float
    # fmt: on
    # tvm-ffi-stubgen(end)


__all__ = [
    # tvm-ffi-stubgen(begin): __all__
    "Tally",
    "merge",
    "scale",
    # tvm-ffi-stubgen(end)
]
