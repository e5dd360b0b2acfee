"""FFI API bindings for vocab."""

# tvm-ffi-stubgen(begin): import-section
# fmt: off
# isort: off
from __future__ import annotations
from ffi_hpy import Object as _ffi_Object, init_ffi_api as _FFI_INIT_FUNC, register_object as _FFI_REG_OBJ
from ffi_hpy.libinfo import load_lib_module as _FFI_LOAD_LIB
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from ffi_hpy import Array
# isort: on
# fmt: on
# tvm-ffi-stubgen(end)

# tvm-ffi-stubgen(import-object): ffi.libinfo.load_lib_module;False;_FFI_LOAD_LIB
_LIB = _FFI_LOAD_LIB("vocab", "vocab")

# tvm-ffi-stubgen(begin): global/vocab
# fmt: off
_FFI_INIT_FUNC("vocab", __name__)
if TYPE_CHECKING:
    def split(_0: str, /) -> Array[str]:
        """The words of a text, which spaces separate."""
        ...
# fmt: on
# tvm-ffi-stubgen(end)

# tvm-ffi-stubgen(import-object): ffi.register_object;False;_FFI_REG_OBJ


# tvm-ffi-stubgen(import-object): ffi.Object;False;_ffi_Object
@_FFI_REG_OBJ("vocab.Vocabulary")
class Vocabulary(_ffi_Object):
    """FFI binding for `vocab.Vocabulary`."""

    # tvm-ffi-stubgen(begin): object/vocab.Vocabulary
    # fmt: off
    if TYPE_CHECKING:
        @property
        def words(self) -> Array[str]:
            """each word, at the place of its number"""
            ...
        def __init__(self) -> None: ...
        def __ffi_init__(self) -> None: ...
        def add(self, _1: str, /) -> int:
            """The number of a word, a new one if it has none."""
            ...
        def find(self, _1: str, /) -> int | None:
            """The number of a word, None if it has none."""
            ...
    else:
        words: Array[str]
    # fmt: on
    # tvm-ffi-stubgen(end)


__all__ = [
    # tvm-ffi-stubgen(begin): __all__
    "Vocabulary",
    "split",
    # tvm-ffi-stubgen(end)
]
