"""Errors: kinds and their exception classes, and the translation between native errors and Python exceptions.

A native error has a kind (free text such as "ValueError"), a message and a backtrace. A kind belongs to an exception
class by :func:`register_error`. What crosses the border keeps its identity where possible:

- An exception that leaves a callback travels inside the native error. If that error comes back to Python, the same
  exception is raised again, with the native frames it passed added to its traceback.
- An exception made for a native error has that error as its `__tvm_ffi_error__`, and keeps its kind and message when it
  leaves a callback. If the error says which other one caused it, so does the exception, by its `__cause__`.
"""

from __future__ import annotations

import copyreg
import sys
from functools import lru_cache
from types import FunctionType, TracebackType

from . import _core
from ._fork import new_lock
from ._object import ObjectMeta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType
    from typing import Any, NoReturn, TypeVar, overload

    ExceptionClass = TypeVar("ExceptionClass", bound=type[BaseException])

__all__ = ["ERROR_NAME_TO_TYPE", "ERROR_TYPE_TO_NAME", "Error", "register_error"]

ERROR_NAME_TO_TYPE: dict[str, type[BaseException]] = {}
"""Exception class of each registered kind. Changed by register_error() only."""
ERROR_TYPE_TO_NAME: dict[type[BaseException], str] = {}
"""Kind of each registered exception class. Changed by register_error() only."""
_registry_lock = new_lock()  # writers of the two dicts, so that they agree; readers look up one key in one of them


class Error(_core.Error, metaclass=ObjectMeta):
    """A native error value: kind, message, backtrace, optionally the error that caused it.

    It is no exception; `py_error()` gives the one to raise. `backtrace` has the most recent call first, each frame as a
    line ``  File "f", line N, in fn``. Changing the backtrace of an error that another thread uses is not safe.
    """

    def py_error(self) -> BaseException:
        """The exception for this error, with a traceback made from the backtrace."""
        return error_to_exception(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle kind, message and backtrace; cause and context stay behind."""
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
    """Make an exception class stand for an error kind, in both directions; the kind is the class's name if not given.

    A function, ``register_error("MyError", MyError)``, or a decorator, with or without the name. The class is made with
    the message as its only argument. TypeError if it is no exception class. A kind or class registered before is bound
    anew. Safe to call from any thread.
    """
    if isinstance(name_or_cls, type):
        name_or_cls, cls = None, name_or_cls

    def register(exception_class: ExceptionClass) -> ExceptionClass:
        if not (isinstance(exception_class, type) and issubclass(exception_class, BaseException)):
            raise TypeError(f"register_error() wants an exception class, not {exception_class!r}")
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


# --- native error -> exception --------------------------------------------------------------------------------------


def error_to_exception(error: _core.Error) -> BaseException:
    """The exception to raise for a native error.

    The one that the error carries, if it came out of a callback; else a new one of the class registered for its kind.
    An unknown kind gives a RuntimeError whose message begins with it.
    """
    first, is_new = _exception_of(error)
    exception, cause = first, error.cause
    while is_new and cause is not None:
        following, is_new = _exception_of(cause)
        BaseException.__setattr__(exception, "__cause__", following)
        exception, cause = following, cause.cause
    return first


def _exception_of(error: _core.Error) -> tuple[BaseException, bool]:
    """The exception for one error, whatever caused it, and whether it was made for the error just now."""
    carrier = _carrier_of(error)
    carried = None if carrier is None else carrier.take()
    frames = str(error.backtrace)
    if carrier is None or carried is None:
        exception = _exception_new(str(error.kind), str(error.message))
    else:
        exception, frames = carried, frames[carrier.backtrace_length :]
    append_backtrace(exception, frames)
    _attach(exception, error)
    return exception, carried is None


def _exception_new(kind: str, message: str) -> BaseException:
    cls = ERROR_NAME_TO_TYPE.get(kind, RuntimeError)
    if kind not in ERROR_NAME_TO_TYPE:
        return RuntimeError(f"{kind}: {message}")
    try:
        return cls(message)
    except Exception:
        pass
    try:
        # The class's __init__ wants something else: what matters is that `except cls` catches it.
        return cls.__new__(cls, message)
    except Exception:
        return RuntimeError(f"{kind}: {message}")


def append_backtrace(exception: BaseException, backtrace: str) -> BaseException:
    """Put the frames of a backtrace text, which called those that the exception's traceback has, in front of these.
    Returns the exception."""
    # The base class's own: a class of exceptions may refuse to have its attributes set
    traceback = _traceback_extend(exception.__traceback__, backtrace)
    return BaseException.with_traceback(exception, traceback)


def _attach(exception: BaseException, error: _core.Error) -> None:
    BaseException.__setattr__(exception, "__tvm_ffi_error__", error)


def _hidden(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, without a line of its own in tracebacks where the interpreter can do that."""
    try:
        from __pypy__ import hidden_applevel  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return function
    hidden: Callable[..., Any] = hidden_applevel(function)
    return hidden


@_hidden
def raise_for_error(error: _core.Error) -> NoReturn:
    """error_to_exception() for contexts that cannot raise an instance without losing its traceback (PyPy's)."""
    raise error_to_exception(error)


# --- exception -> native error --------------------------------------------------------------------------------------


class _Carrier:
    """Holds the exception inside the native error on the way out of a callback, until it is raised again.

    Native code owns the error and, through it, the exception; the exception must not own the error at the same time,
    because no garbage collector sees that cycle. Hence `take` empties the carrier, and `__tvm_ffi_error__` is only set
    while it is empty.
    """

    __slots__ = ("_exceptions", "backtrace_length")

    def __init__(self) -> None:
        self._exceptions: list[BaseException] = []
        self.backtrace_length = 0  # characters of the backtrace that the exception's own traceback stands for

    def put(self, exception: BaseException, backtrace_length: int) -> None:
        """Take the exception in; what was there before is dropped."""
        self.backtrace_length = backtrace_length
        self._exceptions[:] = (exception,)

    def take(self) -> BaseException | None:
        """The exception, once; None afterwards. One of several threads gets it."""
        try:
            return self._exceptions.pop()
        except IndexError:
            return None


def _carrier_of(error: _core.Error) -> _Carrier | None:
    """The carrier of an error; a structural walk puts it behind a context of its own, an ffi.VisitErrorContext."""
    context = error.extra_context
    while context is not None and not isinstance(context, _Carrier):
        context = getattr(context, "prev_error_context", None)
    return context


def exception_to_error(exception: BaseException) -> Error:
    """The native error for an exception that leaves a callback; it carries the exception."""
    backtrace = backtrace_of(exception.__traceback__)
    # Taken, not read: several threads may raise one exception, and only one of them gets the error to change.
    error: Error | None = exception.__dict__.pop("__tvm_ffi_error__", None)
    if error is None:
        return _error_new(_kind_of(type(exception)), _message_of(exception), backtrace, None, exception)
    carrier = _carrier_of(error)
    if carrier is not None:
        error.update_backtrace(backtrace)
        carrier.put(exception, len(backtrace))
        return error
    if error.extra_context is None:
        return _error_new(str(error.kind), str(error.message), backtrace, error.cause, exception)
    error.update_backtrace(backtrace)  # native code keeps something of its own in it
    _attach(exception, error)
    return error


def exception_to_error_value(exception: BaseException) -> Error:
    """A native error that describes an exception passed as a value. It does not own the exception."""
    backtrace = backtrace_of(exception.__traceback__)
    error: Error | None = exception.__dict__.get("__tvm_ffi_error__")
    if error is None:
        return Error(_kind_of(type(exception)), _message_of(exception), backtrace)
    # A new one: others may be reading the backtrace of that one now
    context = None if _carrier_of(error) is not None else error.extra_context
    return Error(str(error.kind), str(error.message), backtrace, error.cause, context)


def call_guarded(fn: Callable[..., Any], args: tuple[Any, ...]) -> tuple[bool, Any]:
    """(True, fn(*args)), or (False, native error): a callback's call, for contexts that cannot fetch an exception."""
    try:
        return True, fn(*args)
    except BaseException as exception:
        traceback = exception.__traceback__
        if traceback is not None:
            BaseException.with_traceback(exception, traceback.tb_next)  # without this function's frame
        return False, exception_to_error(exception)


def check_signals() -> None:
    """Native code asks for signals that are waiting: PyPy calls their handlers between the steps of this loop."""
    for _ in range(8):
        pass


def _error_new(kind: str, message: str, backtrace: str, cause: _core.Error | None, exception: BaseException) -> Error:
    carrier = _Carrier()
    carrier.put(exception, len(backtrace))
    return Error(kind, message, backtrace, cause, _core.OpaquePyObject(carrier))


def _kind_of(cls: type[BaseException]) -> str:
    """The kind registered for the class or the nearest of its bases; for what is no error but an interruption, such as
    KeyboardInterrupt, the class's name."""
    for base in cls.__mro__:
        kind = ERROR_TYPE_TO_NAME.get(base)
        if kind is not None:
            return kind
    return "RuntimeError" if issubclass(cls, Exception) else cls.__name__


def _message_of(exception: BaseException) -> str:
    try:
        return _encodable(str(exception))
    except Exception as error:
        return f"<no message: str() of the {type(exception).__name__} raised {type(error).__name__}>"


def _encodable(text: str) -> str:
    """The text with lone surrogates, which UTF-8 cannot express, written as escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


# --- traceback <-> backtrace text -----------------------------------------------------------------------------------


def backtrace_of(traceback: TracebackType | None) -> str:
    """The frames of a traceback as backtrace text, most recent call first."""
    lines = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        lines.append(f'  File "{code.co_filename}", line {traceback.tb_lineno}, in {code.co_name}\n')
        traceback = traceback.tb_next
    lines.reverse()
    return _encodable("".join(lines))


def _parse_backtrace(backtrace: str) -> list[tuple[str, int, str]]:
    """(file, line, function) of each frame, in the text's order; lines that are no frame are passed over."""
    frames = []
    for line in backtrace.splitlines():
        head, in_file, rest = line.partition('File "')
        file, in_line, rest = rest.partition('", line ')
        number, in_function, function = rest.partition(", in ")
        if in_file and in_line and in_function and not head.strip() and number.isdecimal():
            frames.append((file, int(number), function))
    return frames


def _traceback_extend(traceback: TracebackType | None, backtrace: str) -> TracebackType | None:
    """`traceback` with the frames of the text, which are the callers of its first, in front of it."""
    for file, line, function in _parse_backtrace(backtrace):
        traceback = _traceback_new(traceback, file, line, function)
    return traceback


def _suspended() -> Iterator[None]:
    yield


_SUSPENDED_CODE: CodeType = _suspended.__code__


def _traceback_new(tail: TracebackType | None, file: str, line: int, function: str) -> TracebackType:
    """A traceback entry for a frame that Python never ran.

    The frame is that of a generator that was not started, with the wanted names in its code: it has no caller, so the
    entry keeps nothing alive and no reference cycle can go through it.
    """
    frame = FunctionType(_code_at(file, line, function), {})().gi_frame
    return TracebackType(tail, frame, -1, max(line, 1))


def _shown(file: str) -> str:
    """The file's name for tracebacks. CPython 3.9 prints no traceback at all if it takes a binary for source code."""
    is_binary = file.endswith(".so") or ".so." in file
    return f"<{file}>" if is_binary and sys.version_info < (3, 10) else file


@lru_cache(maxsize=256)  # errors come from the same places again, and without a GIL code is freed late
def _code_at(file: str, line: int, function: str) -> CodeType:
    code = _SUSPENDED_CODE.replace(co_filename=_shown(file), co_name=function, co_firstlineno=line)
    if sys.version_info >= (3, 11):
        code = code.replace(co_qualname=function)
    return code
