"""TypeSchema: the values that a field, an argument or a result accepts, and their conversion.

A schema is a tree: an origin such as ``"List"`` with schemas as arguments. A TypeSchema is made from Python
annotations, from the JSON metadata of native libraries, or from a type index. A TypeSchema prints as an annotation, and
converts and checks values. `_core` converts, using a form that is compiled on first use.
"""

from __future__ import annotations

from .. import _core
from .origin import (
    CONTAINERS,
    INDEX_OF_CLASS,
    INDEX_OF_ORIGIN,
    KEPT_NAME_OF_INDEX,
    KEPT_NAMES,
    ORIGIN_OF_INDEX,
    ORIGIN_OF_NAME,
    PLAIN_OPS,
    STRUCTURAL,
    UNKNOWN,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, NoReturn

    from .._core import CAny
    from .annotation import AnnotationReader
    from .checks import Check

    Readers = tuple[AnnotationReader["TypeSchema"], AnnotationReader["TypeSchema"]]
    Names = Callable[[str], str]
    Description = tuple[str, int, str, tuple["TypeSchema", ...]]

__all__ = ["TypeSchema"]


class TypeSchema(_core.Schema):
    """A type that values are checked against: an origin and the schemas of its arguments. Immutable, hashable.

    `args` are the arguments in order, as of ``Map[str, int]``. A ``Callable`` has groups in `named_args` instead:
    "return" (one schema) and "params" (left out if any arguments are accepted). `args` of a plain ``tuple`` is None,
    and of a tuple without items an empty tuple. `fallback` is printed for an unknown origin. `type_key` is the name in
    the original JSON, if the origin is less specific ("ffi.BigInt" for an int). `array` is the form that an author
    declares for a Tensor parameter, such as "read-only float32[:, :] on cpu". Equality ignores both. `check` is an
    additional check of Python values, which an annotation such as a Literal requires.
    `origin_type_index` is the index of the origin's type, -2 for Optional and Union, -3 if there is none (yet).

    ValueError for a wrong number of arguments, TypeError for arguments that are not schemas.
    """

    __slots__ = ("args", "array", "check", "fallback", "named_args", "origin", "origin_type_index", "type_key")

    origin: str
    args: tuple[TypeSchema, ...] | None
    origin_type_index: int
    fallback: TypeSchema | None
    named_args: dict[str, tuple[TypeSchema, ...]] | None
    type_key: str | None
    array: str | None
    check: Check | None

    def __init__(
        self,
        origin: str,
        args: Iterable[TypeSchema] | None = None,
        origin_type_index: int = UNKNOWN,
        fallback: TypeSchema | None = None,
        named_args: Mapping[str, Iterable[TypeSchema]] | None = None,
        type_key: str | None = None,
        array: str | None = None,
        check: Check | None = None,
    ) -> None:
        if not isinstance(origin, str) or not origin:
            raise ValueError("the origin of a schema must be a nonempty str (schema type)")
        own_args = _arguments(origin, args)
        groups = None if named_args is None else _named_arguments(named_args)
        if origin == "Callable":
            own_args, groups = _callable_arguments(own_args or (), groups)
        _set_origin(self, origin)
        _set_args(self, own_args)
        _set_index(self, _index_of(origin) if origin_type_index == UNKNOWN else origin_type_index)
        _set_fallback(self, fallback)
        _set_named_args(self, groups)
        _set_type_key(self, type_key)
        _set_array(self, array)
        _set_check(self, check)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"cannot set {name!r}: a TypeSchema is immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"cannot delete {name!r}: a TypeSchema is immutable")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TypeSchema):
            return NotImplemented
        return (
            self.origin == other.origin
            and self.args == other.args
            and self.origin_type_index == other.origin_type_index
            and self.fallback == other.fallback
            and self.named_args == other.named_args
            and self.check == other.check
        )

    def __hash__(self) -> int:
        return hash((self.origin, self.args, self.origin_type_index))

    def __reduce__(self) -> tuple[Any, ...]:
        return TypeSchema.from_json_obj, (self.to_json(),)

    # --- made from something else ------------------------------------------------------------------------------------

    @staticmethod
    def from_annotation(annotation: object) -> TypeSchema:
        """Return the schema of a Python annotation: ``int``, ``list[int]``, ``Optional[str]``, ``Callable[[int],
        str]``, a class of native objects, ... TypeError for an annotation whose values cannot be passed to native code,
        and for a str: resolve it with `typing.get_type_hints` first."""
        return (_readers or _make_readers())[0].read(annotation)

    @staticmethod
    def _of_field(annotation: object) -> TypeSchema:
        """Like from_annotation(), for a field: native code holds the instances of other classes as Python objects."""
        return (_readers or _make_readers())[1].read(annotation)

    @staticmethod
    def from_type_index(type_index: int, args: Iterable[TypeSchema] = ()) -> TypeSchema:
        """Return the schema of a registered type, by its index. ValueError for an index without a type."""
        origin = ORIGIN_OF_INDEX.get(type_index)
        if origin is None:
            origin = _core.type_info(type_index)[0]
        return TypeSchema(str(origin), args, type_index, type_key=KEPT_NAME_OF_INDEX.get(type_index))

    @staticmethod
    def from_json_str(s: str) -> TypeSchema:
        """Return the schema in a JSON str, as in the "type_schema" of metadata. ValueError if it is not JSON."""
        from json import loads

        return TypeSchema.from_json_obj(loads(s))

    @staticmethod
    def from_json_obj(obj: dict[str, Any]) -> TypeSchema:
        """Return the schema in parsed JSON: ``{"type": name, "args": [...], "named_args": {...}, "fallback": {...}}``.

        Items of "args" that are not objects (the length of an array) are ignored. TypeError for any other form.
        """
        if not isinstance(obj, dict) or "type" not in obj:
            raise TypeError(f"expected schema dict with a 'type', got {_shown(obj)}")
        name = obj["type"]
        if len(obj) == 1 and type(name) is str and name in _leaves:
            return _leaves[name]
        if not isinstance(name, str):
            raise TypeError(f"the type of a schema must be a str, got {_shown(name)}")
        origin = ORIGIN_OF_NAME.get(name, name)
        fallback = TypeSchema.from_json_obj(obj["fallback"]) if "fallback" in obj else None
        groups = _groups_of_json(obj["named_args"]) if "named_args" in obj else None
        args: Any = obj.get("args")
        has_args = isinstance(args, (list, tuple))
        if name == "std::function" and has_args and len(args) == 2 and isinstance(args[1], (list, tuple)):
            params = tuple(map(TypeSchema.from_json_obj, args[1]))  # an older form: [result, [parameter, ...]]
            groups, has_args = {"return": (TypeSchema.from_json_obj(args[0]),), "params": params}, False
        own_args: tuple[TypeSchema, ...] | None = ()
        if has_args:
            own_args = tuple([TypeSchema.from_json_obj(arg) for arg in args if isinstance(arg, dict)])
        elif origin == "tuple" and "args" not in obj:
            own_args = None
        array = obj.get("array")
        kept_name = name if name in KEPT_NAMES else None
        is_form = isinstance(array, str) and array.isprintable() and not set(array) & set('"\\')
        form = array if is_form else None
        return TypeSchema(origin, own_args, UNKNOWN, fallback, groups, kept_name, form)

    def to_json(self) -> dict[str, Any]:
        """Return the schema in the form that from_json_obj() reads."""
        result: dict[str, Any] = {"type": self.type_key or self.origin}
        if self.args or (self.args is not None and self.origin == "tuple"):
            result["args"] = [arg.to_json() for arg in self.args]
        if self.named_args is not None:
            result["named_args"] = {name: [arg.to_json() for arg in args] for name, args in self.named_args.items()}
        if self.fallback is not None:
            result["fallback"] = self.fallback.to_json()
        if self.array is not None:
            result["array"] = self.array
        return result

    # --- printed -----------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return self._print(None, False, frozenset())

    def repr(self, ty_map: Names | None = None) -> str:
        """Same as output_repr()."""
        return self._print(ty_map, False, frozenset())

    def output_repr(self, ty_map: Names | None = None) -> str:
        """Return the annotation for values of the schema: ``"int | None"``, ``"Map[str, int]"``, ``"Callable[[int],
        str]"``.

        `ty_map` returns the name to print for an origin.
        """
        return self._print(ty_map, False, frozenset())

    def input_repr(self, ty_map: Names | None = None) -> str:
        """Return the annotation for values that convert to the schema. If the `__ffi_convert__` of a type accepts other
        values, and its attribute `__ffi_convert_type_schema__` is set, that schema replaces the type."""
        return self._print(ty_map, True, frozenset())

    def _print(self, ty_map: Names | None, is_input: bool, widened: frozenset[int]) -> str:
        index = self.origin_type_index
        if self.fallback is not None and index == UNKNOWN and self.origin not in ("tuple", "list", "dict"):
            return self.fallback._print(ty_map, is_input, widened)
        if is_input and index >= _core.TYPE_INDEX_OBJECT and index not in widened:
            wider = _core.type_attr(index, "__ffi_convert_type_schema__")
            if wider is not None:
                return _schema_of(wider)._print(ty_map, True, widened | {index})
        origin = self.origin if ty_map is None else ty_map(self.origin)
        if self.array is not None:
            if self.array[:1] == "[" and getattr(ty_map, "shows_forms", False):
                return f"{self.origin}{self.array}"
            annotated = "Annotated" if ty_map is None else ty_map("typing.Annotated")
            return f'{annotated}[{origin}, "{self.array}"]'
        if origin == "Callable":
            return self._print_callable(ty_map, is_input, widened)
        if origin in ("Optional", "Union"):
            return " | ".join(dict.fromkeys(self._alternatives(ty_map, is_input, widened)))
        args = [arg._print(ty_map, is_input, widened) for arg in self.args or ()]
        if self.origin == "tuple" and self.args == ():
            return f"{origin}[()]"
        if args:
            return f"{origin}[{', '.join(args)}]"
        any_arguments = getattr(ty_map, "any_arguments", None)
        return origin if any_arguments is None else f"{origin}{any_arguments(self.origin)}"

    def _alternatives(self, ty_map: Names | None, is_input: bool, widened: frozenset[int]) -> list[str]:
        """Return the annotations of the alternatives of an Optional or Union, also of those inside of it."""
        found = []
        for arg in self.args or ():
            if arg.origin in ("Optional", "Union"):
                found += arg._alternatives(ty_map, is_input, widened)
            else:
                found.append(arg._print(ty_map, is_input, widened))
        return [*found, "None"] if self.origin == "Optional" else found

    def _print_callable(self, ty_map: Names | None, is_input: bool, widened: frozenset[int]) -> str:
        if not self.named_args:
            return "Callable[..., Any]"
        result = self.named_args["return"][0]._print(ty_map, is_input, widened)
        if "params" not in self.named_args:
            return f"Callable[..., {result}]"
        names = getattr(ty_map, "inverse", ty_map)  # the caller supplies the parameters of a function
        params = ", ".join(arg._print(names, is_input, widened) for arg in self.named_args["params"])
        return f"Callable[[{params}], {result}]"

    # --- used --------------------------------------------------------------------------------------------------------

    def is_subtype_of(self, target_cls: type) -> bool:
        """Whether values of the schema are native objects of a class or of its subclasses. False for other classes."""
        target = INDEX_OF_CLASS.get(target_cls)
        index = self.origin_type_index
        if target is None or index < _core.TYPE_INDEX_OBJECT:
            return False
        return target == index or target in _core.type_info(index)[6]

    def _restoring_checks(self) -> list[Check]:
        """Return the checks that make the value of a field from its native value."""
        if self.check is not None:
            return [self.check] if self.check.restores else []
        if self.origin not in ("Optional", "Union"):
            return []
        return [check for arg in self.args or () for check in arg._restoring_checks()]

    def _describe(self) -> Description:
        """Return the schema in the form of `_core`: operation, type index, name in messages, schemas of the arguments.
        TypeError for an origin that is not a type. A type may be registered later, so the constructor does not check
        this."""
        origin, index = self.origin, self.origin_type_index
        args = self.args or ()
        if self.check is not None:
            return "checked", -1 - self.check.number, self.check.name, (_checked(self, None),)
        if index == _core.TYPE_INDEX_ANY:
            return "any", _core.TYPE_INDEX_NONE, "Any", ()
        if origin in PLAIN_OPS:
            return PLAIN_OPS[origin], INDEX_OF_ORIGIN[origin], origin, ()
        if origin in CONTAINERS:
            return (*CONTAINERS[origin], args)
        if origin == "tuple":
            array = _core.TYPE_INDEX_ARRAY
            return ("sequence", array, "tuple", (_ANY,)) if self.args is None else ("tuple", array, "tuple", args)
        if origin == "Optional":
            return "optional", _core.TYPE_INDEX_NONE, f"{args[0]._in_messages()} | None", args
        if origin == "Union":
            order = sorted(args, key=lambda arg: arg.check is None or not arg.check.comes_first)
            return "union", _core.TYPE_INDEX_NONE, " | ".join(arg._in_messages() for arg in args), tuple(order)
        if index < _core.TYPE_INDEX_OBJECT:
            index = _core.type_key_to_index(origin)
        if index < _core.TYPE_INDEX_OBJECT:
            raise TypeError(f"unknown TypeSchema origin: {origin!r}")
        lineage = (*_core.type_info(index)[6], index)
        for op in ("int", "str"):
            if _core.type_key_to_index(f"ffi.{op.capitalize()}Enum") in lineage:
                return f"{op} enum", index, origin, ()
        return "object", index, origin, ()

    def _in_messages(self) -> str:
        """Return the name of an alternative in messages."""
        return str(self) if self.check is None else self.check.name

    if TYPE_CHECKING:

        def convert(self, value: object, /) -> CAny:
            """Return the value as a value of this schema. TypeError, with the path to the mismatch, if it cannot be
            converted.

            These conversions are made: bool and int to float, bool to int, int to bool; str to dtype and Device;
            between list, tuple, Array and List, and between dict, Map and Dict; values with a protocol for another
            value; and every value that a type's `__ffi_convert__` converts to its instances. A native container whose
            items need no conversion is returned unchanged.
            """

        def check_value(self, value: object, /) -> None:
            """TypeError if convert() would reject the value."""


# __init__ sets attributes with these, because __setattr__ refuses.
_set_origin, _set_args, _set_index = (
    TypeSchema.__dict__[name].__set__ for name in ("origin", "args", "origin_type_index")
)
_set_fallback, _set_named_args, _set_type_key, _set_array, _set_check = (
    TypeSchema.__dict__[name].__set__ for name in ("fallback", "named_args", "type_key", "array", "check")
)


def _checked(schema: TypeSchema, check: Check | None) -> TypeSchema:
    """Return a schema with another check."""
    return TypeSchema(
        schema.origin,
        schema.args,
        schema.origin_type_index,
        schema.fallback,
        schema.named_args,
        schema.type_key,
        schema.array,
        check,
    )


# --- arguments ------------------------------------------------------------------------------------------------------


def _shown(value: object) -> str:
    return type(value).__name__


def _arguments(origin: str, args: Iterable[TypeSchema] | None) -> tuple[TypeSchema, ...] | None:
    """Return the arguments of an origin, checked; Any for the items of a container without arguments."""
    if args is None:
        if origin == "tuple":
            return None
        args = ()
    args = args if type(args) is tuple else tuple(args)
    n = len(args)
    for arg in args:
        if not isinstance(arg, TypeSchema):
            raise TypeError(f"schema arguments must be TypeSchema instances, got {_shown(arg)}")
    if origin in CONTAINERS:
        n_full = 1 if CONTAINERS[origin][0] == "sequence" else 2
        if n not in (0, n_full):
            raise ValueError(f"{origin} must have 0 or {n_full} argument{'s' * (n_full > 1)}, got {n}")
        return args or (_ANY,) * n_full
    if origin == "Union" and n < 2:
        raise ValueError(f"Union must have at least two arguments, got {n}")
    if origin == "Optional" and n != 1:
        raise ValueError(f"Optional must have exactly one argument, got {n}")
    return args


def _named_arguments(groups: Mapping[str, Iterable[TypeSchema]]) -> dict[str, tuple[TypeSchema, ...]]:
    if not isinstance(groups, dict):
        raise TypeError(f"named_args must be a dict from names to lists of schemas, got {_shown(groups)}")
    result = {}
    for name, group in groups.items():
        if not isinstance(name, str) or not name:
            raise ValueError(f"the names in named_args must be nonempty strs, got {name!r}")
        if not isinstance(group, (list, tuple)):
            raise TypeError(f"named_args[{name!r}] must be a list of TypeSchema instances, got {_shown(group)}")
        for arg in group:
            if not isinstance(arg, TypeSchema):
                raise TypeError(
                    f"named_args[{name!r}] must be a list of TypeSchema instances, got one of {_shown(arg)}"
                )
        result[name] = tuple(group)
    return result


_CALLABLE_GROUPS = frozenset(("return", "params"))


def _callable_arguments(
    args: tuple[TypeSchema, ...], groups: dict[str, tuple[TypeSchema, ...]] | None
) -> tuple[tuple[TypeSchema, ...], dict[str, tuple[TypeSchema, ...]] | None]:
    """Return a Callable's arguments. (result, parameter, ...) is an older form of the named groups; in it a function
    without parameters looks like one whose parameters are unknown."""
    if args and groups is None:
        groups = {"return": args[:1]}
        if len(args) > 1:
            groups["params"] = args[1:]
        args = ()
    if groups is not None:
        if args or not _CALLABLE_GROUPS.issuperset(groups):
            raise ValueError("Callable uses only the named groups return and params")
        if len(groups.get("return", ())) != 1:
            raise ValueError("the group return of a Callable must contain exactly one type")
    return args, groups


def _groups_of_json(groups: Any) -> dict[str, tuple[TypeSchema, ...]]:
    if not isinstance(groups, dict):
        raise TypeError(f"named_args must be a dict from names to lists of schemas, got {_shown(groups)}")
    result = {}
    for name, group in groups.items():
        if not isinstance(name, str) or not name or not isinstance(group, list):
            raise TypeError(f"named_args must be a dict from names to lists, got {name!r}: {_shown(group)}")
        result[name] = tuple(map(TypeSchema.from_json_obj, group))
    return result


def _index_of(origin: str) -> int:
    if origin in ("Optional", "Union"):
        return STRUCTURAL
    index = INDEX_OF_ORIGIN.get(origin)
    if index is None:
        index = _core.type_key_to_index(origin)
        return index if index >= 0 else UNKNOWN
    return index


def _make_readers() -> Readers:
    global _readers
    from .annotation import AnnotationReader, FieldReader  # on first use: the module needs `typing`

    _readers = AnnotationReader(TypeSchema, _checked), FieldReader(TypeSchema, _checked)
    return _readers


def _schema_of(value: Any) -> TypeSchema:
    """Return a schema from any form of a type attribute. TypeError for a value that is not a schema."""
    if isinstance(value, TypeSchema):
        return value
    try:
        return TypeSchema.from_json_str(value) if isinstance(value, str) else TypeSchema.from_json_obj(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"the type attribute __ffi_convert_type_schema__ must be a schema: {error}") from error


_readers: Readers | None = None
_ANY = TypeSchema("Any")
# The schemas of types that always exist and need no arguments, by their names in JSON.
_leaves = {origin: TypeSchema(origin) for origin in PLAIN_OPS}
_leaves.update({name: _leaves[origin] for name, origin in ORIGIN_OF_NAME.items() if origin in _leaves})
for _name in KEPT_NAMES:
    del _leaves[_name]
del _name
