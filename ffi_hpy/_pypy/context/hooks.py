"""The functions that the package gives: see `set_hooks` in ffi_hpy/_core.pyi. They are found here by their names."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NAMES = (
    "array_stream",
    "array_to_tensor",
    "bytes_class",
    "call_guarded",
    "check_signals",
    "class_for_type_index",
    "classify",
    "convert",
    "device_class",
    "dlpack_capsule",
    "error_to_exception",
    "exception_arrives",
    "exception_asked_for",
    "exception_leaves",
    "exception_to_error",
    "shape_class",
    "string_class",
    "tensor_to_array",
    "wrap_dtype",
    "wrap_opaque_ptr",
)


def _missing(*_args: Any) -> Any:
    raise RuntimeError("ffi_hpy._core is not set up: import ffi_hpy")


for _name in _NAMES:
    globals()[_name] = _missing


def store(given: dict[str, Any]) -> None:
    """Take hooks over. TypeError for a name that is none, and nothing is taken then."""
    for name in given:
        if name not in _NAMES:
            raise TypeError(f"set_hooks() got an unexpected keyword argument '{name}'")
    globals().update(given)
