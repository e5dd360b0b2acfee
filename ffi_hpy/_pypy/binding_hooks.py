"""The hooks of the C binding: each calls the package's hook and converts the values between the two sides."""

from __future__ import annotations

from .._start.memo import remember_by_class
from .classes.cobject import ObjectRValueRef
from .context import bridge, hooks
from .context.binding import binding
from .context.bridge import from_binding, to_binding
from .context.hidden import forget_frames, hidden
from .context.numbers import OBJECT
from .context.signals import keep, raise_interruption
from .convert.opaque import unwrap
from .convert.values import PlainValue
from .object.call_buffers import give, take, use
from .object.identity import LISTED, share
from .object.objects import Wrapper, expect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["binding_class", "give_hooks"]


def binding_class(type_index: int) -> Any:
    """Return the binding's class for native objects of a type: the class that its own methods need, else CObject."""
    return _CLASSES.get(type_index, binding.CObject)


_CLASSES = {
    binding.TYPE_INDEX_ARRAY: binding.CSequence,
    binding.TYPE_INDEX_LIST: binding.CList,
    binding.TYPE_INDEX_MAP: binding.CMapping,
    binding.TYPE_INDEX_DICT: binding.CDict,
}


class _BindingDataType(binding.PlainValue):  # type: ignore[misc]
    """The binding's form of a data type."""

    __slots__ = ()


class _BindingDevice(binding.PlainValue):  # type: ignore[misc]
    """The binding's form of a device. Schemas create it from a name, like the package's Device."""

    def __init__(self, *args: Any) -> None:
        self._word = hooks.device_class(*args)._word


class _BindingPointer(binding.PlainValue):  # type: ignore[misc]
    """The binding's form of a pointer."""

    __slots__ = ()


_PLAIN: tuple[tuple[type, int], ...] = (
    (_BindingDataType, binding.TAG_DATA_TYPE),
    (_BindingDevice, binding.TAG_DEVICE),
    (_BindingPointer, binding.TAG_OPAQUE_PTR),
)
_PLAIN_OF_KIND = {kind: cls for cls, kind in _PLAIN}


def _argument_to_binding(theirs: Any) -> Callable[[PlainValue], Any]:
    """Return the function that makes the binding's form of a value."""

    def plain_to_binding(value: PlainValue) -> Any:
        passed = theirs.__new__(theirs)
        passed._word = value._word
        return passed

    return plain_to_binding


def _arguments_to_binding(wrapper: Wrapper) -> Any:
    frame = take()
    try:
        use(frame, wrapper)
        address = expect(wrapper, OBJECT, 0)
        if wrapper._ffi_listing != LISTED:
            share(wrapper)
        return to_binding(address)
    finally:
        give(frame)


def _move_to_binding(value: ObjectRValueRef) -> Any:
    """Return a reference instead of a move: inside another value, and where the binding converts on its own, moves are
    not offered."""
    return _arguments_to_binding(value._object)


_CONVERTERS: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (Wrapper, _arguments_to_binding),
    (ObjectRValueRef, _move_to_binding),
)


_NATIVE: tuple[tuple[type, int], ...] = (
    (binding.CObject, binding.TAG_OBJECT),
    (binding.ObjectRValueRef, binding.TAG_RVALUE_REF),
    *_PLAIN,
)


def _classify(cls: type) -> Any:
    if cls is int:  # needed before the package has set its hooks
        return binding.TAG_INT, None, 0
    for native, kind in _NATIVE:
        if issubclass(cls, native):
            return kind, None, 0
    for own, converter in _CONVERTERS:
        if issubclass(cls, own):
            return binding.TAG_CONVERTER, converter, binding.PROTOCOL_WRAPPER if own is Wrapper else 0
    answer = hooks.classify(cls)
    theirs = _PLAIN_OF_KIND.get(answer[0])
    return answer if theirs is None else (binding.TAG_CONVERTER, _argument_to_binding(theirs), 0)


@hidden
def _error_to_exception(error: Any, moment: int) -> BaseException:
    exception: BaseException = hooks.error_to_exception(from_binding(error), moment)
    if binding.HAS_EXTENSION:
        return exception
    raise exception  # the context cannot raise an instance without losing its traceback


def _exception_leaves(exception: BaseException, began: int) -> Any:
    forget_frames(exception)
    return hooks.exception_leaves(exception, began)


def _exception_to_error(exception: BaseException, began: int) -> Any:
    forget_frames(exception)
    return _arguments_to_binding(hooks.exception_to_error(exception, began))


def _exception_asked_for(exception: BaseException, moment: int) -> Any:
    return _arguments_to_binding(hooks.exception_asked_for(exception, moment))


def _interrupts(error: Any) -> bool:
    """Call the package's hook. A signal during the call does not hide the error: the handler's exception is raised
    after it."""
    try:
        return hooks.interrupts(from_binding(error)) is True
    except (RecursionError, MemoryError):
        return True
    except BaseException as interruption:
        keep(interruption)
        return True


@hidden
def _call_guarded(fn: Callable[..., Any], args: tuple[Any, ...], began: int) -> tuple[bool, Any]:
    returned, value = hooks.call_guarded(fn, args, began)
    return returned, value if returned else _arguments_to_binding(value)


@hidden
def _check_signals() -> None:
    """Raise a kept exception: the binding calls this when native code learned of an interruption."""
    raise_interruption()
    hooks.check_signals()


def _opaque_value(value: Any) -> Any:
    """Return the content of an OpaquePyObject that this side owns; return any other value unchanged."""
    if not bridge.is_opaque(value):
        return value
    is_ours, inner = unwrap(value.__chandle__())
    return inner if is_ours else value


def give_hooks() -> None:
    """Set the binding's hooks."""
    binding.set_hooks(
        classify=_classify if binding.HAS_EXTENSION else remember_by_class(_classify),
        class_for_type_index=binding_class,
        error_to_exception=_error_to_exception,
        exception_to_error=_exception_to_error,
        exception_leaves=_exception_leaves,
        exception_arrives=lambda exception, moment: hooks.exception_arrives(exception, moment),
        exception_asked_for=_exception_asked_for,
        interrupts=_interrupts,
        call_guarded=_call_guarded,
        check_signals=_check_signals,
        dlpack_capsule=lambda value: hooks.dlpack_capsule(value),
        check_memory=lambda tensor: hooks.check_memory(tensor),
        array_to_tensor=lambda array: _arguments_to_binding(hooks.array_to_tensor(array)),
        tensor_to_array=lambda tensor: hooks.tensor_to_array(from_binding(tensor)),
        array_stream=lambda device_type, index: hooks.array_stream(device_type, index),
        string_class=lambda text: hooks.string_class(text),
        bytes_class=lambda data: hooks.bytes_class(data),
        wrap_dtype=lambda word: hooks.wrap_dtype(word),
        wrap_opaque_ptr=lambda address: hooks.wrap_opaque_ptr(address),
        device_class=_BindingDevice,
        shape_class=lambda _extents, shape: shape,  # the object, whose class is on this side
        convert=binding.convert,
        did_you_mean=lambda name, names: hooks.did_you_mean(name, names),
        opaque_value=_opaque_value,
        name_classes=lambda message, places, first, args: hooks.name_classes(message, places, first, args),
        check_annotated=lambda number, value: hooks.check_annotated(number, bridge.copy_from_binding(value)),
        replace_refused=lambda callee, position, value: hooks.replace_refused(
            callee if type(callee) is str else bridge.copy_from_binding(callee), position, value
        ),
    )
