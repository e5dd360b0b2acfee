"""The core's C functions and C types, through `_cffi_backend`: a module of PyPy that its JIT understands.

Pointers are plain ints everywhere, also as arguments of C functions. A TVMFFIAny is two int64 words: the type index,
with the length of a short string in the upper half, and the payload.
"""

from __future__ import annotations

import _cffi_backend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = [
    "CREATOR",
    "FIELD_COPY",
    "FIELD_PUT",
    "GETTER",
    "QUESTION",
    "SAFE_CALL",
    "UPDATE_BACKTRACE",
    "WORDS",
    "WORD_OF_WORD",
    "address_of",
    "buffer_at",
    "bytes_at",
    "c_function",
    "callback",
    "cast",
    "core",
    "doubles_at",
    "floats_at",
    "int8s_at",
    "int16s_at",
    "ints_at",
    "n_owners",
    "new_chars",
    "new_words",
    "words_at",
]

_int = _cffi_backend.new_primitive_type("int")
_word = _cffi_backend.new_primitive_type("int64_t")
_char = _cffi_backend.new_primitive_type("char")
WORDS = _words = _cffi_backend.new_pointer_type(_word)
_ints = _cffi_backend.new_pointer_type(_int)
_shorts = _cffi_backend.new_pointer_type(_cffi_backend.new_primitive_type("int16_t"))
_bytes = _cffi_backend.new_pointer_type(_cffi_backend.new_primitive_type("int8_t"))
_chars = _cffi_backend.new_pointer_type(_char)
_doubles = _cffi_backend.new_pointer_type(_cffi_backend.new_primitive_type("double"))
_floats = _cffi_backend.new_pointer_type(_cffi_backend.new_primitive_type("float"))
_word_array = _cffi_backend.new_array_type(_words, None)
_char_array = _cffi_backend.new_array_type(_chars, None)
_nothing = _cffi_backend.new_void_type()

SAFE_CALL = _cffi_backend.new_function_type((_word, _words, _int, _words), _int)
"""TVMFFISafeCallType: handle, arguments, number of arguments, result."""
GETTER = _cffi_backend.new_function_type((_word, _words), _int)
"""TVMFFIFieldGetter and TVMFFIFieldSetter: pointer to the field, value."""
CREATOR = _cffi_backend.new_function_type((_words,), _int)
"""TVMFFIObjectCreator: pointer to the result, a pointer to the new object."""
FIELD_COPY = _cffi_backend.new_function_type((_word, _word, _words), _int)
"""fb_field_copy of the binding: pointer to the binding's field, object, value."""
FIELD_PUT = _cffi_backend.new_function_type((_word, _word, _words), _nothing)
"""fb_field_put of the binding: pointer to the binding's field, object, value."""
WORD_OF_WORD = _cffi_backend.new_function_type((_word,), _word)
UPDATE_BACKTRACE = _cffi_backend.new_function_type((_word, _words, _int), _nothing)
"""The update function of a TVMFFIErrorCell: handle, backtrace, mode."""
QUESTION = _cffi_backend.new_function_type((), _int)
"""The function that the core calls for TVMFFIEnvCheckSignals."""

cast = _cffi_backend.cast
_newp = _cffi_backend.newp
_unpack = _cffi_backend.unpack
_buffer = _cffi_backend.buffer
_callback = _cffi_backend.callback


def new_words(n: int) -> Any:
    """An array of n int64, all 0."""
    return _newp(_word_array, n)


def new_chars(text: bytes) -> Any:
    """An array with a copy of bytes, followed by a 0."""
    return _newp(_char_array, text)


def address_of(memory: Any) -> int:
    """The pointer to an array's memory, or the value of a pointer, as an int."""
    return int(cast(_word, memory))


def words_at(address: Any) -> Any:
    """The memory at an int or pointer, as int64."""
    return cast(_words, address)


def n_owners(address: int) -> int:
    """The number of strong references to an object."""
    count: int = words_at(address)[0] & 0xFFFFFFFF
    return count


def ints_at(address: Any) -> Any:
    """The memory at a pointer as int32."""
    return cast(_ints, address)


def int16s_at(address: Any) -> Any:
    """The memory at a pointer as int16."""
    return cast(_shorts, address)


def int8s_at(address: Any) -> Any:
    """The memory at a pointer as int8."""
    return cast(_bytes, address)


def doubles_at(address: Any) -> Any:
    """The memory at a pointer as double."""
    return cast(_doubles, address)


def floats_at(address: Any) -> Any:
    """The memory at a pointer as float."""
    return cast(_floats, address)


def bytes_at(address: Any, n: int) -> bytes:
    """A copy of memory. If n is 0 nothing is read, so the pointer may be 0."""
    if not n:
        return b""
    copy: bytes = _unpack(cast(_chars, address), n)
    return copy


def buffer_at(address: Any, n: int) -> Any:
    """Memory as a buffer."""
    return _buffer(cast(_chars, address), n)


_LETTERS = {"w": _word, "": _nothing}


def c_function(address: int, arguments: str, result: str) -> Any:
    """The C function at a pointer. Arguments and result are words, "w" each, or nothing."""
    kind = _cffi_backend.new_function_type(tuple([_LETTERS[letter] for letter in arguments]), _LETTERS[result])
    return cast(kind, address)


def callback(kind: Any, function: Callable[..., Any], error: Any = None, take: Callable[..., Any] | None = None) -> Any:
    """A C function that calls `function`. If that raises, which only a signal before its first step should cause, the C
    function returns `error`, and `take` gets the exception."""
    return _callback(kind, function, error, take)


class _Core:
    """The core's functions that this package uses: pointers are ints or arrays of words."""

    def __init__(self) -> None:
        # Global symbols: the C binding has loaded the core, or found one that was loaded, and made its symbols global.
        self._library = _cffi_backend.load_library(None, 0x2)
        self.incref = self._function("TVMFFIObjectIncRef", _word)
        self.decref = self._function("TVMFFIObjectDecRef", _word)
        self.text = self._function("TVMFFIStringFromByteArray", _words, _words)
        self.bytes = self._function("TVMFFIBytesFromByteArray", _words, _words)
        self.big_int = self._function("TVMFFIBigIntFromByteArray", _words, _words)
        self.own = self._function("TVMFFIAnyViewToOwnedAny", _words, _words)
        self.function_new = self._function("TVMFFIFunctionCreate", _word, _word, _word, _words)
        self.function_find = self._function("TVMFFIFunctionGetGlobal", _words, _words)
        self.opaque_new = self._function("TVMFFIObjectCreateOpaque", _word, _int, _word, _words)
        self.error_new = self._function(
            "TVMFFIErrorCreateWithCauseAndExtraContext", _words, _words, _words, _word, _word, _words
        )
        self.error_take = self._function("TVMFFIErrorMoveFromRaised", _words, result=_nothing)
        self.error_set = self._function("TVMFFIErrorSetRaised", _word, result=_nothing)
        self.type_info = self._function("TVMFFIGetTypeInfo", _int, result=_word)
        self.type_column = self._function("TVMFFIGetTypeAttrColumn", _words, result=_word)
        self.backtrace = self._function("TVMFFIBacktrace", _word, _int, _word, _int, result=_word)

    def interpreter_address(self) -> int:
        """A pointer into the library that contains cffi, the interpreter's own on PyPy; 0 if it exports none of the
        usual names."""
        library = _cffi_backend.load_library(getattr(_cffi_backend, "__file__", None), 0)
        for name in ("PyInit__cffi_backend", "PyPyErr_CheckSignals", "PyErr_CheckSignals", "pypy_main_startup"):
            try:
                return address_of(library.load_function(QUESTION, name))
            except AttributeError:
                continue
        return 0

    def _function(self, name: str, *arguments: Any, result: Any = _int) -> Any:
        return self._library.load_function(_cffi_backend.new_function_type(arguments, result), name)


core = _Core()
