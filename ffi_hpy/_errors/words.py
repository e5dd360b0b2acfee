"""Messages of native code about types, in the words of Python.

Native code names types by their keys in the ABI. There a text is an `ffi.SmallStr` or an `ffi.String`, by its length,
and what Python gave has become something else. Here the message gets Python's names, and the classes of the arguments
where they are known. Only the text of the exception changes: the native error keeps its own.
"""

from __future__ import annotations

import re

from .._core import type_key_to_index
from .._start.similar import did_you_mean
from .._types.info import info_of_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["in_words"]

_PACKAGE = (__package__ or "").rpartition(".")[0]
_AN_ARRAY = "an array (with __dlpack__)"
_PYTHON_NAMES = {
    "ffi.SmallStr": "str",
    "ffi.String": "str",
    "const char*": "str",
    "ffi.SmallBytes": "bytes",
    "ffi.Bytes": "bytes",
    "TVMFFIByteArray*": "bytes",
    "ffi.BigInt": "int beyond 64 bits",
    "ffi.Array": "Array",
    "ffi.List": "List",
    "ffi.Map": "Map",
    "ffi.Dict": "Dict",
    "ffi.Tensor": "Tensor",
    "DLTensor*": "Tensor",
    "ffi.Function": "Callable",
    "ffi.Shape": "Shape",
    "ffi.Module": "Module",
    "ffi.Error": "Error",
    "ffi.Object": "Object",
    "ObjectRValueRef": "Object",
    "DataType": "dtype",
    "void*": "ctypes.c_void_p",
    "void": "None",
    "Variant": "Union",
    "Tuple": "tuple",
}
_NAME = re.compile(r"(?<![\w.])(?:const char\*|TVMFFIByteArray\*|DLTensor\*|void\*|(?:ffi\.)?[A-Za-z]+)(?![\w.*])")
_CALL = re.compile(
    r"((?:Overload #\d+: )?Mismatched (?:type on argument #(\d+)|.*) when calling: `)([^`(]*)(\(.*?)`(.*)"
)
_TYPES = re.compile(r"(\. Expected )`(.*)`( but got )`(.*)`(.*)")
_FIELD = re.compile(r"(.*Cannot convert from type )`(.*)`( to )`(.*)`(.*)")
_KEYWORD = re.compile(r"(.*)\(\) got an unexpected keyword argument '(.*)'")
_CONSTRUCTOR = ".__ffi_init__("
_OPAQUE = "ffi.OpaquePyObject"


def in_words(message: str, callee: str = "", args: tuple[Any, ...] = ()) -> str:
    """The message of a native TypeError in words of Python; `args` are those of the function `callee`, which may or may
    not be the one that the message is about."""
    return "\n".join([_of_line(line, callee, args) for line in message.split("\n")])


def _of_line(message: str, callee: str, args: tuple[Any, ...]) -> str:
    call = _CALL.fullmatch(message)
    if call is not None:
        return _of_call(call, callee, args)
    field = _FIELD.fullmatch(message)
    if field is not None:
        before, given, to, wanted, after = field.groups()
        message = f"{before}`{_translated(given)}`{to}`{_wanted(wanted)}`{after}"
    keyword = _KEYWORD.fullmatch(message)
    if keyword is not None:
        type_key = keyword[1].partition(_CONSTRUCTOR[:-1])[0]
        message += did_you_mean(keyword[2], _field_names(type_key))
    return message


def _field_names(type_key: str) -> list[str]:
    """The fields of a type and of those that it derives from."""
    index = type_key_to_index(type_key)
    if index < 0:
        return []
    infos = [info_of_index(i) for i in (*info_of_index(index).type_ancestors, index)]
    return [str(field.name) for info in infos for field in info.fields or ()]


def _of_call(call: re.Match[str], callee: str, args: tuple[Any, ...]) -> str:
    what, position, name, signature, rest = call.groups()
    types = None if position is None else _TYPES.fullmatch(rest)
    if types is not None:
        expected, wanted, but_got, given, after = types.groups()
        arg = args[int(position)] if name == callee and int(position) < len(args) else None
        rest = f"{expected}`{_wanted(wanted)}`{but_got}{_given(given, arg)}{after}"
    if name.endswith(_CONSTRUCTOR[:-1]):
        name, signature = name[: -len(_CONSTRUCTOR) + 1], signature.rpartition(" -> ")[0] or signature
    return f"{what}{name}{_translated(signature)}`{rest}"


def _given(given: str, arg: Any) -> str:
    """What came: by its class where the argument is known, and is not a native object, whose key says more."""
    if given == _OPAQUE:  # tvm_ffi's word, which programs may look for, comes first
        return f"`{given}`" if arg is None else f"`{given}`: an object of class `{_class_name(arg)}`"
    is_converted = given in _PYTHON_NAMES and given != "ffi.BigInt"
    return f"`{_class_name(arg) if is_converted and arg is not None else _translated(given)}`"


def _class_name(value: Any) -> str:
    cls = type(value)
    module = cls.__module__
    is_plain = module in ("builtins", "__main__", _PACKAGE) or module.startswith(f"{_PACKAGE}.")
    return cls.__qualname__ if is_plain else f"{module}.{cls.__qualname__}"


def _wanted(name: str) -> str:
    return _AN_ARRAY if name in ("DLTensor*", "ffi.Tensor") else _translated(name)


def _translated(types: str) -> str:
    """Types in a signature or alone, as annotations of Python have them."""
    types = _NAME.sub(lambda found: _PYTHON_NAMES.get(found[0], found[0]), types)
    return re.sub(r"(?<!-)>", "]", types.replace("<", "["))
