"""Members in the stub of a bound module: functions, classes, enums and values."""

from __future__ import annotations

import enum
import inspect
from textwrap import dedent
from types import FunctionType, ModuleType
from typing import Any

from .._bind.define import BoundMeta, StaticProperty, written_setters
from .._types.info import info_of_class
from ..core import Function
from .bound_functions import (
    infos_of,
    lines_of_attribute,
    lines_of_function,
    lines_of_python,
    native_function,
    parameters_in,
    source_of_value,
)
from .bound_names import BoundNames, annotation_of, definition_of, type_of_value
from .python_generator.utils import (
    doc_lines,
    documented,
    in_source,
    is_name,
    render_object_init,
    render_object_methods,
    unnamable,
    written_lines,
)
from .utils import ObjectInfo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from .utils import NamedTypeSchema

__all__ = ["lines_of_class_attribute", "lines_of_member"]

_SPACE = "    "
_NO_DOC = enum.Enum("_", ()).__doc__
"""The docstring of an enum for which its author has written none: up to 3.10 it is a sentence of Python."""


def lines_of_member(name: str, value: Any, scope: Any, names: BoundNames) -> list[str]:
    """Return the lines of an attribute of a module or class, without indentation, and an empty line behind a class."""
    if isinstance(value, ModuleType) or names.leaves_out(name, value):
        return []
    if not is_name(name):
        return [unnamable(name, 0)]
    if isinstance(value, Function):
        known = vars(scope).get(value.__name__)
        is_known = isinstance(known, Function) and known.__chandle__() == value.__chandle__()
        if value.__name__ != name and is_known and not names.leaves_out(value.__name__, known):
            return [f"{name} = {value.__name__}"]
        return lines_of_function(name, value, names)
    if isinstance(value, FunctionType):
        function = native_function(value)  # of nb::cpp_function with nb::is_method()
        return lines_of_python(name, value, names) if function is None else lines_of_function(name, function, names)
    if isinstance(value, type):
        if value.__name__ == name and value.__module__ == names.module and value.__qualname__ == _path(scope, name):
            return [*_lines_of_class(value, names), ""]
        return [f"{name} = {names.of_class(value)}"]
    made = definition_of(value, names)
    return [f"{name}: {type_of_value(value, names)}" if made is None else f"{name} = {made}"]


def _path(scope: Any, name: str) -> str:
    return name if isinstance(scope, ModuleType) else f"{scope.__qualname__}.{name}"


# --- a class ----------------------------------------------------------------------------------------------------------


def _lines_of_class(cls: type, names: BoundNames) -> list[str]:
    written = vars(cls).get("_ffi_signature")
    if written is None:
        bases = ", ".join(_base_of(base, cls, names) for base in _bases_of(cls) if base is not object)
        lines = [f"class {cls.__name__}{f'({bases})' if bases else ''}:"]
    else:
        lines = f"{in_source(written, names).strip()}:".split("\n")
    doc = cls.__doc__ if vars(cls).get("__doc__") else None
    body = doc_lines(doc, _SPACE) if doc and doc != _NO_DOC else []
    if issubclass(cls, enum.Enum):
        body += _lines_of_members(cls)
        body += _lines_of_attributes(cls, cls.__members__, names.inside(cls))
    elif "_ffi_bound_class" in vars(cls):
        body += _lines_of_bound_class(cls, names)
    elif isinstance(cls, BoundMeta):  # a class of Python that derives from a bound one
        body += _lines_of_attributes(cls, (), names.inside(cls))
    return [*lines, *(body or [f"{_SPACE}..."])]


def _bases_of(cls: type) -> tuple[type, ...]:
    """Return the bases of a class; bases of an enum are classes of Python."""
    bases: tuple[type, ...] = cls.__bases__
    while issubclass(cls, enum.Enum) and bases[0].__module__ not in ("enum", "builtins"):
        bases = tuple(base for base in bases[0].__bases__ if base.__module__ in ("enum", "builtins"))
    return bases


def _base_of(base: type, cls: type, names: BoundNames) -> str:
    """Return the name of a base class, with its arguments if its author has declared that it is generic."""
    for original in vars(cls).get("__orig_bases__", ()):
        if getattr(original, "__origin__", None) is base and "_ffi_signature" in vars(base):
            return annotation_of(original, names)
    return names.of_class(base)


def _lines_of_members(cls: type[enum.Enum]) -> list[str]:
    lines = []
    for name, member in cls.__members__.items():
        lines.append(f"{_SPACE}{name} = {source_of_value(member.value)}" if is_name(name) else unnamable(name, 4))
        if member.__doc__ not in (None, cls.__doc__):
            lines += doc_lines(str(member.__doc__), _SPACE)
    return lines


def _lines_of_bound_class(cls: type, names: BoundNames) -> list[str]:
    type_info = info_of_class(cls)
    assert type_info is not None  # the metaclass makes no other class
    info = ObjectInfo.from_type_info(type_info)
    inner_names = names.inside(cls)
    lines: list[str] = []
    nested = {name: value for name, value in vars(cls).items() if isinstance(value, type) and is_name(name)}
    for name, value in nested.items():
        lines += [f"{_SPACE}{line}".rstrip() for line in lines_of_member(name, value, cls, inner_names)]
    info.fields = [each for each in info.fields if not inner_names.leaves_out(each.name, None)]
    info.methods = [each for each in info.methods if not inner_names.leaves_out(each.name, None)]
    for each in info.fields:
        lines += _lines_of_property(cls, each, inner_names)
    if any(method.name == "__ffi_init__" for method in info.methods):
        lines += _lines_of_init(info, inner_names)
    lines += render_object_methods(info, inner_names.results, 4)
    if info.has_overloaded_methods():
        names("typing.overload")
    known = {*nested, *(each.name for each in info.fields), *(method.name for method in info.methods)}
    return lines + _lines_of_attributes(cls, known, inner_names)


def _lines_of_attributes(cls: type, known: Collection[str], names: BoundNames) -> list[str]:
    """Return the lines of attributes that no other part of the stub has."""
    lines: list[str] = []
    for name, value in vars(cls).items():
        is_shown = not name.startswith("_") and not names.leaves_out(name, value)
        if is_shown and name not in known and is_name(name):
            lines += [f"{_SPACE}{line}".rstrip() for line in lines_of_class_attribute(name, value, cls, names)]
    return lines


def lines_of_class_attribute(name: str, value: Any, cls: Any, names: BoundNames) -> list[str]:
    """Return the lines of an attribute of a class that its descriptions of fields and methods do not have."""
    if isinstance(value, StaticProperty):
        return _lines_of_static_property(name, value, names)
    if isinstance(value, property):
        if value.fget is None:
            return [f"{name}: {_accepted_by(value.fset, names)}", *_doc_of(value)]
        line = f"{_SPACE}def {name}(self) -> {_result_of(value.fget, names)}: ..."
        function = native_function(value.fget)
        doc = "" if function is None else infos_of(name, function)[0].doc
        return [f"@{names.results('property')}", *dedent("\n".join(documented(line, doc, 4))).split("\n")]
    same = (each for each, found in vars(cls).items() if found is value and not names.leaves_out(each, found))
    other = next(same, name)
    if other != name and callable(value):
        return [f"{name} = {other}"]
    if _is_plain(value):
        return [f"{name}: {names('typing.ClassVar')}[{type_of_value(value, names)}]"]
    return lines_of_attribute(name, value, names) or []


def _lines_of_static_property(name: str, value: StaticProperty, names: BoundNames) -> list[str]:
    kind = names("typing.Final" if value.fset is None else "typing.ClassVar")
    lines = [f"{name}: {kind}[{_result_of(value.fget, names)}] = ..."]
    return [*lines, *_doc_of(value)]


def _doc_of(value: property) -> list[str]:
    """Return the docstring of a property as the lines below its name."""
    return doc_lines(value.__doc__, "") if value.__doc__ else []


def _accepted_by(set_value: Any, names: BoundNames) -> str:
    """Return the type of the values that the function of a property without a getter accepts."""
    for text, *_ in getattr(set_value, "__nb_signature__", ()):
        parameters = parameters_in(text)
        if len(parameters) == 2 and parameters[1][1]:
            return in_source(parameters[1][1], names)
    return names("Any")


def _result_of(get: Any, names: BoundNames) -> str:
    """Return the type of the values that the function of a property returns."""
    function = native_function(get)
    return names("Any") if function is None else infos_of("get", function)[0].signature()[1].repr(names.results)


def _is_plain(value: Any) -> bool:
    """Whether a value in the namespace of a class is an attribute that its author has set."""
    return isinstance(value, (bool, int, float, str, list, dict, enum.Enum)) or isinstance(type(value), BoundMeta)


def _lines_of_property(cls: type, each: NamedTypeSchema, names: BoundNames) -> list[str]:
    if not is_name(each.name):
        return [unnamable(each.name, 4)]
    lines = [f"{_SPACE}@{names.results('property')}"]
    if each.written is None:
        line = f"{_SPACE}def {each.name}(self) -> {each.schema.repr(names.results)}: ..."
        lines += documented(line, each.doc, 4)
    else:
        lines += written_lines(each.written, each.doc, names.results, 4)
    if not each.frozen:
        setter = written_setters.get((cls, each.name))
        if setter is None:
            setter = f"def {each.name}(self, value: {each.schema.repr(names.setters)}, /) -> None"
        lines += [f"{_SPACE}@{each.name}.setter", *written_lines(setter, "", names.results, 4)]
    return lines


def _lines_of_init(info: ObjectInfo, names: BoundNames) -> list[str]:
    """Return the constructors, with their documentation."""
    methods = iter([method for method in info.methods if method.name == "__ffi_init__"])
    lines = []
    for line in render_object_init(info, names.results, 4):
        if not line.lstrip().startswith("def "):
            lines.append(line)
            continue
        method = next(methods)
        if method.written is None:
            lines += documented(line, inspect.cleandoc(method.doc), 4)
        else:
            lines += written_lines(method.written, inspect.cleandoc(method.doc), names.results, 4)
    return lines
