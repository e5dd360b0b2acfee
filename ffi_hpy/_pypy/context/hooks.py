"""The hooks that the package sets: see `set_hooks` in ffi_hpy/_core.pyi. Each is a global of this module."""

from __future__ import annotations

from .binding import binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["store"]


def _missing(*_args: Any) -> Any:
    raise RuntimeError("ffi_hpy._core is not set up: import ffi_hpy")


order_of_arguments: Any = _missing  # only for the C binding
array_stream: Any = _missing
array_to_tensor: Any = _missing
bytes_class: Any = _missing
call_guarded: Any = _missing
check_annotated: Any = _missing
check_memory: Any = _missing
check_signals: Any = _missing
class_for_type_index: Any = _missing
classify: Any = _missing
convert: Any = _missing
device_class: Any = _missing
did_you_mean: Any = _missing
dlpack_capsule: Any = _missing
error_to_exception: Any = _missing
exception_arrives: Any = _missing
exception_asked_for: Any = _missing
exception_leaves: Any = _missing
exception_to_error: Any = _missing
interrupts: Any = _missing
name_classes: Any = _missing
replace_refused: Any = _missing
opaque_value: Any = _missing  # only for the C binding
shape_class: Any = _missing
string_class: Any = _missing
tensor_to_array: Any = _missing
wrap_dtype: Any = _missing
wrap_opaque_ptr: Any = _missing

_NAMES = frozenset(name for name, value in globals().items() if value is _missing) - {"_missing"} | {
    "object_lacking",
    "object_made",
    "object_replaced",
    "subclass_made",
}

object_lacking: Any = None
"""Set for the first bound class."""
object_replaced: Any = None
"""Set for the first bound class."""
object_made: Any = None
"""None unless the package records objects for its leak report."""
subclass_made: Any = None
"""Set for the first type with overridable methods."""


def store(*args: Any, **given: Any) -> None:
    """Set hooks of the binding. The C binding raises the error for other arguments, and then no hook is set."""
    unknown = {name: value for name, value in given.items() if name not in _NAMES}
    if args or unknown:
        binding.set_hooks(*args, **unknown)
    globals().update(given)
