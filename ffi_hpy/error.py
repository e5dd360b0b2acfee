"""Errors: kinds and their exception classes, and the translation between native errors and Python exceptions.

A native error has a kind (a str such as "ValueError"), a message and a backtrace. `register_error()` binds a kind to an
exception class. An error or exception that crosses the language boundary keeps its identity where possible:

- An exception that leaves a callback passes through native code unchanged. An error that carries the exception is
  created only if native code inspects it. Python then receives the same exception, with the native frames added to its
  traceback.
- The kind of any other built-in exception class, such as "OSError", is its name.
- An exception made for a native error has that error as its `__tvm_ffi_error__`, and keeps its kind and message when it
  leaves a callback. If the error has a cause, the exception has the matching `__cause__`.
"""

from __future__ import annotations

import builtins
import copyreg
import os
import sys

from . import _core
from ._errors.reraise import arrive, leave
from ._errors.traceback import append_backtrace as _with_append_backtrace  # noqa: F401 - names that tvm_ffi has here
from ._errors.traceback import backtrace_of, encodable, extend_traceback
from ._errors.traceback import backtrace_of as _traceback_to_backtrace_str  # noqa: F401
from ._errors.traceback import parse_backtrace as _parse_backtrace  # tvm_ffi's name for it
from ._start.failure import confirm_failure
from ._start.fork import new_lock
from ._start.late import find_attributes
from ._values.object import ObjectMeta
from ._values.opaque import OpaquePyObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn, TypeVar, overload

    ExceptionClass = TypeVar("ExceptionClass", bound=type[BaseException])

__all__ = ["ERROR_NAME_TO_TYPE", "ERROR_TYPE_TO_NAME", "Error", "error_class", "register_error"]

if not TYPE_CHECKING:  # names that tvm_ffi has here
    __getattr__ = find_attributes(__name__)

ERROR_NAME_TO_TYPE: dict[str, type[BaseException]] = {}
"""Exception class of each registered kind. Changed by register_error() only."""
ERROR_TYPE_TO_NAME: dict[type[BaseException], str] = {}
"""Kind of each registered exception class. Changed by register_error() only."""
_registry_lock = new_lock()  # for writers, so that both dicts agree; a reader looks up one key in one of them


class Error(_core.Error, metaclass=ObjectMeta):
    """A native error value, which is not an exception; `py_error()` returns the exception to raise.

    Native code passes such values to callbacks that take an error as an argument. Calls raise exceptions. Changing the
    backtrace of an error that another thread uses is not safe.

    Examples:
        >>> error = ffi_hpy.Error("ValueError", "too long", "")
        >>> error.kind, error.message
        ('ValueError', 'too long')
        >>> error.py_error()
        ValueError('too long')
    """

    def py_error(self) -> BaseException:
        """Return the exception for this error: the exception that it was made from, or a new one.

        Returns:
            An instance of `error_class(self.kind)`, with a traceback made from the backtrace. For an unknown kind, a
            RuntimeError whose message begins with the kind.
        """
        return error_to_exception(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle kind, message and backtrace; cause and context are left out."""
        if self.__chandle__() == 0:
            return copyreg.__newobj__, (type(self),)  # type: ignore[attr-defined]
        return type(self), (str(self.kind), str(self.message), str(self.backtrace))

    def __repr__(self) -> str:
        if self.__chandle__() == 0:
            return "Error(chandle=None)"
        return f"Error({str(self.kind)!r}, {str(self.message)!r})"


if TYPE_CHECKING:

    @overload
    def register_error(name_or_cls: ExceptionClass, cls: None = None) -> ExceptionClass: ...
    @overload
    def register_error(name_or_cls: str, cls: ExceptionClass) -> ExceptionClass: ...
    @overload
    def register_error(
        name_or_cls: str | None = None, cls: None = None
    ) -> Callable[[ExceptionClass], ExceptionClass]: ...


def register_error(name_or_cls: Any = None, cls: Any = None) -> Any:
    """Bind an exception class to an error kind, in both directions.

    Called with a name and a class, or as a decorator, with or without the name. Registering a kind or class again
    replaces the earlier registration. Safe to call from any thread.

    Args:
        name_or_cls: the kind, by default the class's name; used bare, the class.
        cls: the exception class. The class is called with the message as its only argument.

    Returns:
        The class; a decorator if no class is given.

    Raises:
        TypeError: if the argument is not an exception class.

    Examples:
        >>> @ffi_hpy.register_error
        ... class OutOfTune(ValueError):
        ...     pass
        >>> ffi_hpy.Error("OutOfTune", "a bit flat", "").py_error()
        OutOfTune('a bit flat')
    """
    if isinstance(name_or_cls, type):
        name_or_cls, cls = None, name_or_cls

    def register(exception_class: ExceptionClass) -> ExceptionClass:
        if not (isinstance(exception_class, type) and issubclass(exception_class, BaseException)):
            raise TypeError(f"register_error() expected an exception class, got {exception_class!r}")
        kind = name_or_cls or exception_class.__name__
        with _registry_lock:
            ERROR_NAME_TO_TYPE[kind] = exception_class
            ERROR_TYPE_TO_NAME[exception_class] = kind
        return exception_class

    return register if cls is None else register(cls)


for _class in (
    RuntimeError, ValueError, TypeError, AttributeError, KeyError, IndexError, AssertionError, MemoryError,
    RecursionError,
):  # fmt: skip
    register_error(_class)


# --- classes of kinds -------------------------------------------------------------------------------------------------


def error_class(kind: str) -> type[BaseException]:
    """Return the exception class for an error kind, for use in an `except` clause.

    Args:
        kind: the kind.

    Returns:
        The class that `register_error()` bound to the kind; or else the built-in exception class of that name; or else
        a class for the kind that a C++ library registered by `refl::ErrorDef`.

    Raises:
        KeyError: for any other kind.

    Examples:
        >>> ffi_hpy.error.error_class("OSError")
        <class 'OSError'>
    """
    cls = _find_class(kind)
    if cls is None:
        raise KeyError(kind)
    return cls


def _find_class(kind: str) -> type[BaseException] | None:
    """Return the class for a kind, or None."""
    cls = ERROR_NAME_TO_TYPE.get(kind)
    if cls is not None:
        return cls
    cls = getattr(builtins, kind, None)
    if isinstance(cls, type) and issubclass(cls, BaseException):
        return cls
    base_of = _core.global_get(f"ffi_hpy.error_base.{kind}")
    return None if base_of is None else _class_new(kind, _find_class(str(base_of())) or RuntimeError)


def _class_new(kind: str, base: type[BaseException]) -> type[BaseException]:
    """Return the class for a kind of a C++ library; of several threads the first one makes it."""
    module, _, name = kind.rpartition(".")
    cls = type(name, (base,), {"__module__": module or __name__, "__doc__": f"The exception of C++ for {kind!r}."})
    with _registry_lock:
        found = ERROR_NAME_TO_TYPE.setdefault(kind, cls)
        ERROR_TYPE_TO_NAME.setdefault(found, kind)
    return found


# --- native error -> exception --------------------------------------------------------------------------------------


def error_to_exception(error: _core.Error, moment: int | None = None) -> BaseException:
    """Return the exception to raise for a native error. `moment` is given if the binding raises it.

    If the error came from a callback's exception and carries it, the result is that exception. Otherwise it is a new
    instance of the class for the error's kind, with the error's message. For an unknown kind it is a
    RuntimeError whose message begins with the kind.
    """
    first, is_new = _exception_of(error, moment)
    if is_new and moment is not None:
        handled = sys.exc_info()[1]  # CPython adds the context only to exceptions that Python code raises
        if handled is not None and handled is not first:
            BaseException.__setattr__(first, "__context__", handled)
    exception, cause = first, error.cause
    while is_new and cause is not None:
        following, is_new = _exception_of(cause, moment)
        BaseException.__setattr__(exception, "__cause__", following)
        exception, cause = following, cause.cause
    return first


def _exception_of(error: _core.Error, moment: int | None) -> tuple[BaseException, bool]:
    """Return the exception for one error, without its cause, and whether the exception is new."""
    carrier = _carrier_of(error)
    carried = None if carrier is None else carrier.take()
    frames = str(error.backtrace)
    if carrier is None or carried is None:
        exception = _exception_new(str(error.kind), str(error.message), error)
    else:
        exception, frames = carried, frames[carrier.backtrace_length :]
    traceback = exception.__traceback__
    native = _parse_backtrace(frames) if frames else []
    if native:
        traceback = extend_traceback(traceback, native)
        # The base class's method, because an exception class may refuse to set attributes
        BaseException.with_traceback(exception, traceback)
    if carrier is not None:
        arrive(exception, moment, len(native))
    _attach(exception, error)
    return exception, carried is None


def _exception_new(kind: str, message: str, error: _core.Error) -> BaseException:
    cls = _find_class(kind)
    if cls is None:
        return RuntimeError(f"{kind}: {message}")
    try:
        return cls(*_arguments_for(kind, cls, message, error))
    except Exception as error:
        confirm_failure(error, cls, message)
    try:
        # The class's __init__ expects other arguments. An exception that `except cls` catches is enough.
        return cls.__new__(cls, message)
    except Exception as error:
        confirm_failure(error, cls.__new__, cls, message)
    return RuntimeError(f"{kind}: {message}")


def _arguments_for(kind: str, cls: type[BaseException], message: str, error: _core.Error) -> tuple[Any, ...]:
    """Return the arguments with which a class makes an exception that shows the message."""
    if issubclass(cls, OSError):
        parts = _parts_of(error)
        if parts is not None:
            return arguments_of_os_error(*parts)
    elif issubclass(cls, UnicodeError) and cls is not UnicodeError:
        if cls is UnicodeDecodeError:
            return "native", b"", 0, 0, message
        if cls is UnicodeEncodeError:
            return "native", "", 0, 0, message
        if cls is UnicodeTranslateError:
            return "", 0, 0, message
    elif cls is StopIteration and not message:
        return ()  # the argument would be its value
    elif kind in ("BaseExceptionGroup", "ExceptionGroup") and kind not in ERROR_NAME_TO_TYPE:
        return message, [RuntimeError(message)]
    return (message,)


def arguments_of_os_error(number: int, text: str, first: bytes | None, second: bytes | None) -> tuple[Any, ...]:
    """Return the arguments with which OSError makes an exception; None stands for a file that has no name."""
    if first is None:
        return number, text
    return number, text, os.fsdecode(first), None, None if second is None else os.fsdecode(second)


def _parts_of(error: _core.Error) -> list[Any] | None:
    """Return number, text and the names of two files of an OSError that exception.h made; None for another error."""
    context: Any = error.extra_context
    info = getattr(type(context), "__tvm_ffi_type_info__", None)
    if info is None or info.type_key != "ffi.Array" or len(context) != 4 or not isinstance(context[0], int):
        return None
    number, text, *names = context
    return [number, str(text), *names]


def _attach(exception: BaseException, error: _core.Error) -> None:
    BaseException.__setattr__(exception, "__tvm_ffi_error__", error)


def _hidden(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, hidden from tracebacks if the interpreter supports that."""
    if sys.implementation.name != "pypy":
        return function
    from __pypy__ import hidden_applevel  # type: ignore[import-not-found,unused-ignore]

    hidden: Callable[..., Any] = hidden_applevel(function)
    return hidden


@_hidden
def raise_for_error(error: _core.Error, moment: int) -> NoReturn:
    """Raise error_to_exception(), for contexts that cannot raise an instance without losing its traceback (PyPy's)."""
    raise error_to_exception(error, moment)


# --- exception -> native error --------------------------------------------------------------------------------------


class _Carrier:
    """Holds the exception inside the native error on its way out of a callback, until it is raised again.

    Native code owns the error and, through it, the exception. The exception must not own the error at the same time,
    because no garbage collector can find that cycle. So `take` empties the carrier, and `__tvm_ffi_error__` is only set
    while the carrier is empty.
    """

    __slots__ = ("_exceptions", "backtrace_length")

    def __init__(self, exception: BaseException, backtrace: str) -> None:
        self._exceptions = [exception]
        self.backtrace_length = len(backtrace)  # length of the part that comes from the exception's own traceback

    def put(self, exception: BaseException, backtrace_length: int) -> None:
        """Store an exception in place of the earlier one."""
        self.backtrace_length = backtrace_length
        self._exceptions[:] = (exception,)

    def look(self) -> BaseException | None:
        """Return the exception and keep it; None if it was taken."""
        return next(iter(self._exceptions), None)

    def take(self) -> BaseException | None:
        """Remove and return the exception; None if it was taken. Only one of several threads gets it."""
        try:
            return self._exceptions.pop()
        except IndexError:
            return None


def _carrier_of(error: _core.Error) -> _Carrier | None:
    """Return the carrier of an error. A structural walk wraps it in its own context, an ffi.VisitErrorContext."""
    context = error.extra_context
    while context is not None and not isinstance(context, _Carrier):
        context = getattr(context, "prev_error_context", None)
    return context


def interrupts(error: _core.Error) -> bool:
    """Whether a native error is unrelated to the value that is being converted: the class of its exception does not
    derive from Exception, or it reports that memory or stack is exhausted."""
    carrier = _carrier_of(error)
    exception = None if carrier is None else carrier.look()
    cls = (_find_class(str(error.kind)) or RuntimeError) if exception is None else type(exception)
    return not issubclass(cls, Exception) or issubclass(cls, (MemoryError, RecursionError))


def exception_in(error: _core.Error) -> BaseException:
    """Return the exception that a native error carries, and leave it there; otherwise a new one."""
    carrier = _carrier_of(error)
    carried = None if carrier is None else carrier.look()
    return error_to_exception(error) if carried is None else carried


def error_is_a(error: _core.Error, name: str) -> bool:
    """Whether an `except` clause for the class of that name catches the exception of a native error. The name is a
    kind, or the name of a class, with or without its module."""
    bases = [base for base in type(exception_in(error)).__mro__ if issubclass(base, BaseException)]
    module, _, attribute = name.rpartition(".")
    if _find_class(name) in bases or getattr(sys.modules.get(module), attribute, None) in bases:
        return True
    for base in bases:
        qualified = base.__qualname__
        if name in (base.__name__, qualified, f"{base.__module__}.{qualified}", ERROR_TYPE_TO_NAME.get(base)):
            return True
    return False


def exception_leaves(exception: BaseException, began: int) -> bool:
    """Record that an exception leaves a callback that began at a moment. Returns whether it may leave unchanged,
    because no native error exists for it."""
    if "__tvm_ffi_error__" in exception.__dict__:
        return False
    leave(exception, began)
    return True


def exception_to_error(exception: BaseException, began: int) -> Error:
    """Return the native error for an exception that leaves a callback. The callback began at a moment; the error
    carries the exception."""
    return _error_of(exception, leave(exception, began))


def exception_asked_for(exception: BaseException, _moment: int) -> Error:
    """Return the native error for an exception that left a callback unchanged, because native code inspects it."""
    return _error_of(exception, None)


def _error_of(exception: BaseException, n_new: int | None) -> Error:
    """Return the native error, which carries the exception. `n_new` entries of the traceback are newer than the
    exception's native error; None means all of them."""
    # Removed, not only read: several threads may raise one exception, and only one of them may change the error.
    found = exception.__dict__.pop("__tvm_ffi_error__", None)
    error: Error | None = found if isinstance(found, Error) else None  # any code can set the attribute
    carrier = None if error is None else _carrier_of(error)
    if error is None or carrier is None or n_new is None:
        backtrace = backtrace_of(exception.__traceback__)
    else:  # the error's backtrace contains the rest
        backtrace = backtrace_of(exception.__traceback__, n_new, str(error.backtrace))
    if error is None:
        return _error_new(_kind_of(type(exception)), _message_of(exception), backtrace, None, exception)
    if carrier is not None:
        error.update_backtrace(backtrace)
        carrier.put(exception, len(backtrace))
        return error
    if error.extra_context is None or _parts_of(error) is not None:  # the exception has the parts
        return _error_new(str(error.kind), str(error.message), backtrace, error.cause, exception)
    error.update_backtrace(backtrace)  # native code stores its own context in it
    _attach(exception, error)
    return error


def exception_to_error_value(exception: BaseException) -> Error:
    """Return a native error that describes an exception passed as a value. The error does not own the exception."""
    backtrace = backtrace_of(exception.__traceback__)
    error = exception.__dict__.get("__tvm_ffi_error__")
    if not isinstance(error, Error):
        return Error(_kind_of(type(exception)), _message_of(exception), backtrace)
    # A new error, because other threads may be reading the backtrace of the old one
    context = None if _carrier_of(error) is not None else error.extra_context
    return Error(str(error.kind), str(error.message), backtrace, error.cause, context)


def call_guarded(fn: Callable[..., Any], args: tuple[Any, ...], began: int) -> tuple[bool, Any]:
    """Call a callback that begins at a moment. Returns (True, fn(*args)), or (False, native error). For contexts that
    cannot fetch an exception."""
    try:
        return True, fn(*args)
    except BaseException as exception:
        traceback = exception.__traceback__
        if traceback is not None:
            BaseException.with_traceback(exception, traceback.tb_next)  # without this function's frame
        try:
            return False, exception_to_error(exception, began)
        except (RecursionError, MemoryError):
            raise
        except BaseException as other:  # an interruption replaces the exception
            return False, exception_to_error(other, began)


def check_signals() -> None:
    """Check for pending signals on behalf of native code: PyPy calls signal handlers between the iterations of this
    loop."""
    for _ in range(8):
        pass


def _error_new(kind: str, message: str, backtrace: str, cause: _core.Error | None, exception: BaseException) -> Error:
    return Error(kind, message, backtrace, cause, OpaquePyObject(_Carrier(exception, backtrace)))


def _kind_of(cls: type[BaseException]) -> str:
    """Return the kind of the nearest of the class and its bases that is registered or built in, except Exception. For
    an interruption that is not an error, such as KeyboardInterrupt, it is the class's name."""
    for base in cls.__mro__:
        kind = ERROR_TYPE_TO_NAME.get(base)
        if kind is not None:
            return kind
        if base is Exception:
            return "RuntimeError"
        if getattr(builtins, base.__name__, None) is base:
            break
    else:
        base = cls
    return base.__name__ if base is not BaseException else cls.__name__


def _message_of(exception: BaseException) -> str:
    try:
        text = str(exception)
    except Exception as error:
        failure = confirm_failure(error, str, exception)
        return f"<no message: str() of the {type(exception).__name__} raised {failure.__name__}>"
    return encodable(text)
