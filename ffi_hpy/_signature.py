"""Signatures of native functions: for inspect, for typing, and as a str."""

from __future__ import annotations

import builtins
import inspect
import sys
import typing
from collections.abc import Callable
from inspect import Parameter, Signature
from keyword import iskeyword
from typing import Any

from . import _core
from ._core import Function
from ._types.arriving import arriving
from ._types.function_metadata import FunctionMetadata, metadata_of, parameters_of, text_of_bound
from ._types.origin import UNKNOWN
from ._types.parameters import NO_DEFAULT, Parameters
from ._types.schema import TypeSchema
from .registry import class_for_type_index

TYPE_CHECKING = False

__all__ = ["LazySignature", "annotation_of", "annotations_of", "constructor_signature", "signature_of", "text_of"]

_PLAIN: dict[str, Any] = {
    "Any": Any,
    "None": None,
    "int": int,
    "float": float,
    "bool": bool,
    "str": str,
    "bytes": bytes,
    "list": list,
    "dict": dict,
    "tuple": tuple,
    "set": set,
    "complex": complex,
}
_STANDARD = ("collections.abc", "datetime", "os", "pathlib")
"""Modules of the standard library with classes of which C++ takes or returns objects."""


def _is_standard(name: str) -> bool:
    return name.rpartition(".")[0] in _STANDARD


def _standard_class(name: str) -> Any:
    from importlib import import_module

    module, _, own_name = name.rpartition(".")
    return getattr(import_module(module), own_name)


class LazySignature(Signature):
    """A signature that is created on first access: creating the signature of a class costs more than the class."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[], Signature]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Any:  # called for the slots of the base while they are empty
        if name not in ("_parameters", "_return_annotation"):
            raise AttributeError(name)
        try:
            made = self._make()
        except AttributeError as error:  # an AttributeError would look as if the slot were missing
            raise RuntimeError("cannot make the signature") from error
        super().__init__(list(made.parameters.values()), return_annotation=made.return_annotation)
        return getattr(self, name)

    if not TYPE_CHECKING:  # the base's method creates its result with the class of the instance

        def replace(self, **changes):
            return self._make().replace(**changes)

        __replace__ = replace

    def __reduce__(self) -> Any:
        return self._make().__reduce__()


def signature_of(function: Function) -> Signature:
    """Return the signature of a function. Parameters without a name are called arg0, arg1, ... and are positional only.
    A function that is overloaded or has no metadata gets the signature (*args)."""
    entry = metadata_of(function)
    result = _result_of(parameters_of(entry))
    return Signature(_parameters(entry), return_annotation=Signature.empty if result is None else annotation_of(result))


def _result_of(parameters: Parameters) -> TypeSchema | None:
    """Return the schema of a result as it arrives in Python."""
    result = parameters.result
    return result if result is None or parameters.has_python_results else arriving(result)


def annotations_of(function: Function) -> dict[str, Any]:
    """Return the annotations of a function, by the names in its signature."""
    signature = signature_of(function)
    found = {p.name: p.annotation for p in signature.parameters.values() if p.annotation is not Parameter.empty}
    if signature.return_annotation is not Signature.empty:
        found["return"] = signature.return_annotation
    return found


def text_of(function: Function) -> str | None:
    """Return a line for each signature, followed by the author's documentation. None if there is neither."""
    bound = text_of_bound(function)
    if bound is not None:
        return bound
    entry = metadata_of(function)
    parts = [_text_of_metadata(function.__name__, each) for each in entry.overloads or (entry,)]
    return "\n\n".join(filter(None, parts)) or None


def constructor_signature(function: Function) -> Signature:
    """Return the signature of `__init__` for the constructor of a type, with the instance first."""
    signature = signature_of(function)
    kind = Parameter.POSITIONAL_ONLY if _has_positional_only(signature) else Parameter.POSITIONAL_OR_KEYWORD
    if "self" in signature.parameters:
        return Signature([Parameter("args", Parameter.VAR_POSITIONAL)])
    return Signature([Parameter("self", kind), *signature.parameters.values()])


def annotation_of(schema: TypeSchema) -> Any:
    """Return the annotation of typing for values of a schema."""
    if schema.array is not None:
        return typing.Annotated[_class_of(schema), schema.array]
    origin, args = schema.origin, schema.args or ()
    if origin in _PLAIN and not args and (origin != "tuple" or schema.args is None):  # else it is tuple[()]
        return _PLAIN[origin]
    if origin == "Optional":
        return typing.Optional[annotation_of(args[0])]
    if origin == "Union":
        return typing.Union[tuple(map(annotation_of, args))]
    if origin == "tuple":
        return tuple[tuple(map(annotation_of, args))]  # type: ignore[misc]
    if origin in ("set", "frozenset"):
        made: Any = set if origin == "set" else frozenset
        return made[annotation_of(args[0])] if args else made
    if origin == "Callable":
        return _callable(schema)
    if origin == "ctypes.c_void_p":
        import ctypes

        return ctypes.c_void_p
    cls = _standard_class(origin) if _is_standard(origin) else _class_of(schema)
    known = [each for each in args if each.origin != "Any"]
    return cls[tuple(map(annotation_of, args))] if known and hasattr(cls, "__class_getitem__") else cls


def _callable(schema: TypeSchema) -> Any:
    groups = schema.named_args
    if not groups:
        return Callable[..., Any]
    result = annotation_of(groups["return"][0])
    if "params" not in groups:
        return Callable[..., result]
    return Callable[list(map(annotation_of, groups["params"])), result]


def _class_of(schema: TypeSchema) -> Any:
    index = schema.origin_type_index
    if schema.origin in ("list", "dict"):
        return _PLAIN[schema.origin]
    if index == UNKNOWN:
        index = _core.type_key_to_index(schema.origin)
    if index < 0:
        return _class_by_name(schema.origin) or Any
    if index == _core.TYPE_INDEX_DATA_TYPE:
        from ._dtype import dtype

        return dtype
    if index == _core.TYPE_INDEX_DEVICE:
        from ._values.device import Device

        return Device
    if schema.origin == "ffi.Shape":
        from ._tensor import Shape

        return Shape
    return class_for_type_index(index)


def _class_by_name(name: str) -> type | None:
    """Return a built-in class, or a class in a module that has been imported, such as an enum; None for another
    name."""
    module, _, path = name.partition(".")
    found: Any = sys.modules.get(module) if path else builtins
    for part in (path or module).split("."):
        module = f"{module}.{part}"
        found = getattr(found, part, None) or sys.modules.get(module)
    return found if isinstance(found, type) else None


_KINDS = {
    "positional": Parameter.POSITIONAL_ONLY,
    "keyword": Parameter.KEYWORD_ONLY,
    "args": Parameter.VAR_POSITIONAL,
    "kwargs": Parameter.VAR_KEYWORD,
}
_REST = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


# --- parameters -------------------------------------------------------------------------------------------------------


def _parameters(entry: FunctionMetadata) -> list[Parameter]:
    parameters = parameters_of(entry)
    schemas, names = parameters.schemas, parameters.names
    kind: Any
    if names is not None and all(name.isidentifier() and not iskeyword(name) for name in names):
        kind = Parameter.POSITIONAL_OR_KEYWORD
    elif schemas is None:
        first = [Parameter("self", Parameter.POSITIONAL_ONLY)] if entry.is_member else []
        return [*first, Parameter("args", Parameter.VAR_POSITIONAL)]
    else:
        first_names = ["self"] if entry.is_member and schemas else []
        n = len(schemas) - len(first_names)
        is_single = n == 1 and parameters.signature is not None  # as the signature calls it
        names = (*first_names, *(["arg"] if is_single else [f"arg{i}" for i in range(n)]))
        kind = Parameter.POSITIONAL_ONLY
    found, is_optional = [], False
    for i, name in enumerate(names):
        own_kind = _KINDS.get(parameters.kinds[i] if i < len(parameters.kinds) else "", kind)
        if own_kind in _REST:
            found.append(Parameter(name, own_kind))
            continue
        default = parameters.defaults[i] if i < len(parameters.defaults) else NO_DEFAULT
        if own_kind is Parameter.KEYWORD_ONLY:
            is_optional = False
        is_optional = is_optional or default is not NO_DEFAULT
        if is_optional and default is NO_DEFAULT:  # inspect refuses it, and a call without the argument fails
            default = ...
        is_self = i == 0 and entry.is_member
        annotation = Parameter.empty if schemas is None or is_self else annotation_of(schemas[i])
        found.append(
            Parameter(name, own_kind, default=default if is_optional else Parameter.empty, annotation=annotation)
        )
    return found


def _has_positional_only(signature: Signature) -> bool:
    return any(p.kind is Parameter.POSITIONAL_ONLY for p in signature.parameters.values())


def _short(origin: str) -> str:
    return origin.rpartition(".")[2]


_short.shows_forms = True  # type: ignore[attr-defined]  # `ndarray[dtype=float32]`, which is text and not an annotation


def _text_of_metadata(name: str, entry: FunctionMetadata) -> str:
    parameters = parameters_of(entry)
    if parameters.schemas is None and parameters.names is None and parameters.result is None:
        return entry.doc
    words = []
    n_positional_only = 0
    has_star = False
    for i, each in enumerate(_parameters(entry)):
        star = "*" if each.kind is Parameter.VAR_POSITIONAL else "**" if each.kind is Parameter.VAR_KEYWORD else ""
        if each.kind is Parameter.KEYWORD_ONLY and not has_star:
            words.append("*")
        has_star = has_star or each.kind in (Parameter.KEYWORD_ONLY, Parameter.VAR_POSITIONAL)
        n_positional_only += each.kind is Parameter.POSITIONAL_ONLY
        schema = None if star or parameters.schemas is None or (i == 0 and entry.is_member) else parameters.schemas[i]
        is_optional = each.default is not Parameter.empty
        default = (f" = {each.default!r}" if schema else f"={each.default!r}") if is_optional else ""
        shown = f": {schema.repr(_short)}" if schema else ""
        words.append(f"{star}{each.name}{shown}{default}")
    if n_positional_only:
        words.insert(n_positional_only, "/")
    line = f"{name.rpartition('.')[2] or 'function'}({', '.join(words)})"
    result = _result_of(parameters)
    line += f" -> {result.repr(_short)}" if result else ""
    return f"{line}\n\n{inspect.cleandoc(entry.doc)}" if entry.doc else line
