"""The names of types in the stub of a bound module, and values that are types."""

from __future__ import annotations

import builtins
import sys
from importlib.util import find_spec
from types import ModuleType
from typing import TypeVar, get_args, get_origin

from .python_generator import consts as PC
from .python_generator.utils import ImportItem, TypeNames, in_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

__all__ = ["BoundNames", "annotation_of", "definition_of", "type_of_value"]

_OF_SETTERS = {
    **PC.TY_MAP_INPUT_DEFAULTS,
    "dict": "collections.abc.Mapping",
    "list": "collections.abc.Iterable",
    "set": "collections.abc.Iterable",
}
"""The names of types that a property accepts, if they differ from the types that it returns. The signatures of
functions have names for parameters already."""
_PRINTED = ("None", "Optional", "Union")
"""Origins that a TypeSchema prints itself."""


class BoundNames(TypeNames):
    """Converts type keys to names in the stub of `module`, and records their imports. Bound classes and enums are
    called by their names of Python. `taken` are the names that the module, and the class at this place, define."""

    def __init__(self, imports: list[ImportItem], module: str, taken: Collection[str]) -> None:
        super().__init__(dict(PC.TY_MAP_DEFAULTS), imports, taken)
        self.module = module
        self.has_private = True  # the stub has private members
        self._in_class: frozenset[str] = frozenset()

    @property
    def results(self) -> TypeNames:
        """The names for results and parameters of functions."""
        return self._with(PC.TY_MAP_RESULT_DEFAULTS)

    @property
    def setters(self) -> TypeNames:
        """The names for values that a property accepts. The parameters of a callback are results."""
        setters = self._with(_OF_SETTERS)
        setters.inverse = self.results
        return setters

    def inside(self, cls: type) -> BoundNames:
        """Return the names for the body of a class of the module."""
        own = [name for name in vars(cls) if not name.startswith("__")]
        made = BoundNames(self._imports, self.module, self._taken.union(own))
        made._in_class = self._in_class.union(own)
        made.has_private = self.has_private
        return made

    def leaves_out(self, name: str, value: Any) -> bool:
        """Whether a member is private, and the stub has none of these: a class is needed for annotations."""
        is_special = name.startswith("__") and name.endswith("__")
        is_private = (name.startswith("_") or name.endswith("_")) and not is_special
        return is_private and not self.has_private and not isinstance(value, type)

    def of_class(self, cls: type) -> str:
        """Return the name of a class of Python."""
        if cls.__module__ == "builtins":
            return self(cls.__qualname__)
        return self._of_path(cls.__module__, cls.__qualname__)

    def _with(self, defaults: dict[str, str]) -> TypeNames:
        made = BoundNames(self._imports, self.module, self._taken)
        made._in_class = self._in_class
        made.has_private = self.has_private
        made._ty_map.update(defaults)
        return made

    def _name(self, full_name: str) -> str:
        if full_name == "weakref.ReferenceType":  # a generic class, whose argument C++ does not know
            return f"{super()._name(full_name)}[{self('Any')}]"
        found = _find_class(full_name) or self._find_own(full_name) or _split(full_name)
        if found is not None:
            module, path = found
            is_free = full_name.partition(".")[0] not in self._taken
            if is_free and module in sys.modules and not _has(sys.modules[module], path.partition(".")[0]):
                item = ImportItem.of_module(module)  # only the module is there for certain
                if item not in self._imports:
                    self._imports.append(item)
                return full_name
            return self._of_path(*found)
        if "." not in full_name and full_name not in _PRINTED and not hasattr(builtins, full_name):
            return self("Any")  # a class that the module binds after the function, or not at all
        return super()._name(full_name)

    def _find_own(self, name: str) -> tuple[str, str] | None:
        """Return the module, and the name again, of a name with dots that an author has written for something inside of
        a class or a submodule of the module. None for another name."""
        head, dot, _ = name.partition(".")
        found = _part_of(sys.modules.get(self.module), head) if dot else None
        is_inner = isinstance(found, ModuleType) and found.__name__ == f"{self.module}.{head}"
        return (self.module, name) if is_inner or isinstance(found, type) else None

    def _of_path(self, module: str, path: str) -> str:
        head, dot, rest = path.partition(".")
        if module == self.module and head not in self._in_class:
            return path
        return f"{super()._name(f'{module}.{head}')}{dot}{rest}"


_MISSING = object()


def _part_of(value: Any, name: str, default: Any = None) -> Any:
    """Return an attribute, or the default if there is none: the `__getattr__` of a lazy module may raise anything."""
    try:
        return getattr(value, name, default)
    except Exception:
        return default


def _has(value: Any, name: str) -> bool:
    return _part_of(value, name, _MISSING) is not _MISSING


def _find_class(key: str) -> tuple[str, str] | None:
    """Return the module and the name of the class that is in an imported module under a key: a bound class or enum."""
    module, path = key, ""
    while "." in module:
        module, _, last = module.rpartition(".")
        path = f"{last}.{path}" if path else last
        if module in sys.modules:
            found: Any = sys.modules[module]
            for part in path.split("."):
                found = _part_of(found, part)
            is_own = isinstance(found, type) and (found.__module__, found.__qualname__) == (module, path)
            return (module, path) if is_own else None
    return None


def _split(key: str) -> tuple[str, str] | None:
    """Return the module and the path in it of a name with several dots, of which the module may have some, as in the
    name of a class inside of a class. None if none of them is a module."""
    module, path = key, ""
    while module.count(".") > 1:
        module, _, last = module.rpartition(".")
        path = f"{last}.{path}" if path else last
        if _is_module(module):
            return module, path
    module, _, last = module.rpartition(".")
    return (module, f"{last}.{path}") if path and _is_module(module) else None


def _is_module(name: str) -> bool:
    if name in sys.modules:
        return True
    try:
        return find_spec(name) is not None
    except Exception:  # of a package that asks the `__getattr__` of a lazy module, for example
        return False


def annotation_of(value: Any, names: BoundNames) -> str:
    """Return the annotation that a value is: a class, or a type of the module typing."""
    if value is None or value is type(None):
        return "None"
    arguments = get_args(value)
    if isinstance(value, type) and not arguments:
        return names.of_class(value)
    if not arguments or isinstance(value, (str, TypeVar)):
        text = value.__name__ if isinstance(value, TypeVar) else repr(value)
        return in_source(text, names.results)
    origin: Any = get_origin(value)
    if isinstance(origin, type) and origin.__name__ not in ("Annotated", "UnionType"):
        shown = [_argument_of(each, names) for each in arguments]
        return f"{names.of_class(origin)}[{', '.join(shown)}]"
    if getattr(origin, "__name__", getattr(origin, "_name", "")) in ("Union", "UnionType"):
        return " | ".join(annotation_of(each, names) for each in arguments)
    return in_source(repr(value), names.results)


def _argument_of(value: Any, names: BoundNames) -> str:
    if value is ...:
        return "..."
    if isinstance(value, list):  # the parameters of a Callable
        return f"[{', '.join(annotation_of(each, names) for each in value)}]"
    return annotation_of(value, names)


def definition_of(value: Any, names: BoundNames) -> str | None:
    """Return the source code that makes a type variable, or an alias of a type. None for another value."""
    kind = type(value).__name__
    if kind in ("TypeVar", "ParamSpec", "TypeVarTuple") and type(value).__module__ in ("typing", "typing_extensions"):
        words = [f'"{value.__name__}"']
        words += [annotation_of(each, names) for each in getattr(value, "__constraints__", ())]
        if getattr(value, "__bound__", None) is not None:
            words.append(f"bound={annotation_of(value.__bound__, names)}")
        words += [f"{word}=True" for word in ("covariant", "contravariant") if getattr(value, f"__{word}__", False)]
        return f"{names(f'typing.{kind}')}({', '.join(words)})"
    return annotation_of(value, names) if get_args(value) and get_origin(value) is not None else None


def type_of_value(value: Any, names: BoundNames) -> str:
    """Return the annotation of an attribute with a value."""
    if value is None:
        return "None"
    if isinstance(value, ModuleType):
        return names("types.ModuleType")
    if isinstance(value, type):
        return f"{names.results('type')}[{names.of_class(value)}]"
    if isinstance(value, (list, set, frozenset)):
        return f"{names.results(type(value).__name__)}[{_union(value, names)}]"
    if isinstance(value, dict):
        return f"{names.results('dict')}[{_union(value, names)}, {_union(value.values(), names)}]"
    if type(value) is tuple:
        items = ", ".join(type_of_value(item, names) for item in value)
        return f"{names.results('tuple')}[{items or '()'}]"
    if callable(value) and not hasattr(type(value), "__tvm_ffi_type_info__"):
        return f"{names('Callable')}[..., {names('Any')}]"
    return names.of_class(type(value))


def _union(values: Any, names: BoundNames) -> str:
    return " | ".join(dict.fromkeys(type_of_value(value, names) for value in values)) or names("Any")
