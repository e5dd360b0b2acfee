"""Annotations: names and their imports, signatures."""

from __future__ import annotations

import ast
import builtins
import inspect
import keyword
import re
from dataclasses import dataclass, field
from math import isfinite

from ..._types.arriving import arriving
from ..._types.parameters import NO_DEFAULT, ShownDefault
from . import consts as PC
from .protocols import ANY_OPERAND, DEPENDENT, follow_protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any, Callable

    from ...core import TypeSchema
    from ..utils import FuncInfo, ObjectInfo

    TypeMap = Callable[[str], str]

_NAMES = re.compile(r"[\w.]+")
"""The names in an annotation, such as ``ffi.Device | str``."""

_SOURCE_NAMES = re.compile(r"""'[^']*'|"[^"]*"|(?<![\w.])([A-Za-z_]\w*(?:\.\w+)+)""")
"""The texts in source code of Python, and as a group the names with dots."""
_ANY_ARGUMENTS = {
    "tuple": "Any, ...",
    "set": "Any",
    "frozenset": "Any",
    "collections.abc.Iterable": "Any",
    "collections.abc.Iterator": "Any",
    "collections.abc.Sequence": "Any",
    "collections.abc.Set": "Any",
    "collections.abc.Mapping": "Any, Any",
    "os.PathLike": "str",
}
"""The text in brackets behind the name of a generic class whose arguments are unknown."""
_STARS = {"args": "*", "kwargs": "**"}

__all__ = [
    "OVERRIDE",
    "Head",
    "ImportItem",
    "PythonImports",
    "TypeNames",
    "arriving_type",
    "doc_lines",
    "documented",
    "in_source",
    "is_name",
    "render_func",
    "render_func_signature",
    "render_object_ffi_init",
    "render_object_init",
    "render_object_methods",
    "unnamable",
    "written_lines",
]


def is_name(text: str) -> bool:
    """Whether Python accepts the name; native names can be any str."""
    return text.isidentifier() and not keyword.iskeyword(text)


# --- imports --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, init=False)
class ImportItem:
    """``from mod import name as alias``, possibly for type checkers only. `mod` is empty for ``import name``."""

    mod: str
    name: str
    type_checking_only: bool = False
    alias: str | None = None

    def __init__(self, full_name: str, type_checking_only: bool = False, alias: str | None = None) -> None:
        mod, _, name = full_name.rpartition(".")
        head, dot, rest = mod.partition(".")
        for attribute, value in (
            ("mod", PC.MOD_MAP.get(head, head) + dot + rest),
            ("name", name),
            ("type_checking_only", type_checking_only),
            ("alias", alias),
        ):
            object.__setattr__(self, attribute, value)

    @classmethod
    def of_module(cls, name: str, alias: str | None = None) -> ImportItem:
        """Return ``import name as alias``."""
        item = cls("", alias=alias)
        object.__setattr__(item, "name", name)
        return item

    @property
    def name_with_alias(self) -> str:
        """The text after ``import``."""
        return self.name if self.alias is None else f"{self.name} as {self.alias}"

    @property
    def full_name(self) -> str:
        """The full name, with the Python module."""
        return f"{self.mod}.{self.name}"

    @property
    def exposed_name(self) -> str:
        """The name in the file that imports it."""
        return self.alias or (self.name if self.mod else self.name.partition(".")[0])


@dataclass
class Head:
    """The beginning of a file: the lines that may precede imports from __future__, and those imports."""

    n_lines: int = 0
    is_all: bool = True
    """Whether the file contains nothing else."""
    has_annotations: bool = False
    """Whether annotations are imported from __future__, which leaves the file's annotations unevaluated."""

    @staticmethod
    def of(lines: list[str]) -> Head:
        """Return the head of a file, or of its beginning; an empty head for text that is not Python."""
        head = Head()
        try:
            statements = ast.parse("\n".join(lines)).body
        except (SyntaxError, ValueError):
            return Head(is_all=False)
        for i, statement in enumerate(statements):
            is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
            is_doc = i == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if not (is_future or is_doc):
                head.is_all = False
                break
            head.n_lines = statement.end_lineno or statement.lineno
            if isinstance(statement, ast.ImportFrom):
                head.has_annotations |= any(name.name == "annotations" for name in statement.names)
        return head


@dataclass
class PythonImports:
    """The imports of a file; `has_lib_load` if it loads its library. `head` is the text before the imports, `functions`
    are the names of the functions in the file's regions."""

    items: list[ImportItem] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    has_lib_load: bool = False
    head: Head = field(default_factory=Head)


class TypeNames:
    """Converts the names of types to the names in annotations, and records the imports of these in `imports`.

    `ty_map` contains types with other names. A name with another meaning gets an alias: `taken` contains the names with
    another meaning at the place of the annotations; `defined` contains the type keys of classes that the file defines.
    """

    def __init__(
        self,
        ty_map: dict[str, str],
        imports: list[ImportItem],
        taken: Collection[str] = (),
        defined: Collection[str] = (),
    ) -> None:
        self.inverse = self
        self._ty_map = ty_map
        self._imports = imports
        self._taken = set(taken)
        self._defined = {item.name: item.full_name for item in map(ImportItem, defined)}

    def __call__(self, name: str) -> str:
        if name in self._ty_map:
            return _NAMES.sub(lambda found: self._name(found[0]), self._ty_map[name])
        return self._name(name)

    def _name(self, full_name: str) -> str:
        if "." not in full_name:
            if not is_name(full_name) and full_name != "None":
                return self("Any")  # a C++ type without a Python class
            if full_name not in self._taken or not hasattr(builtins, full_name):
                return full_name
            full_name = f"builtins.{full_name}"
        if not all(map(is_name, full_name.split("."))):
            full_name = PC.TY_MAP_DEFAULTS["Object"]  # a class cannot have that name
        item = ImportItem(full_name, type_checking_only=True)
        for alias in (None, f"_{item.name}", f"_{item.full_name.replace('.', '_')}"):
            item = ImportItem(full_name, type_checking_only=True, alias=alias)
            if self._is_free_for(item):
                break
        if item not in self._imports:
            self._imports.append(item)
        return item.exposed_name

    def any_arguments(self, origin: str) -> str:
        """Return the arguments of a generic class, in brackets, where they are unknown; "" for another class."""
        arguments = _ANY_ARGUMENTS.get(origin)
        return "" if arguments is None else f"[{re.sub('[a-zA-Z]+', lambda found: self(found[0]), arguments)}]"

    def for_parameters(self) -> TypeNames:
        """Return names for parameters, which accept wider types; a mapping of the user applies to both. A callback
        receives its parameters, so the roles are reversed for them."""
        names = self._with(PC.TY_MAP_INPUT_DEFAULTS)
        names.inverse, self.inverse = self, names
        return names

    def for_results(self) -> TypeNames:
        """Return names for results, which have the class that arrives; a mapping of the user stays."""
        names = self._with(PC.TY_MAP_RESULT_DEFAULTS)
        names.inverse = self.inverse
        return names

    def _with(self, defaults: dict[str, str]) -> TypeNames:
        names = TypeNames({**self._ty_map, **_replaced(self._ty_map, defaults)}, self._imports)
        names._taken, names._defined = self._taken, self._defined
        return names

    def _is_free_for(self, wanted: ImportItem) -> bool:
        """Whether the name has no other meaning in this file."""
        name = wanted.exposed_name
        if name in self._taken or self._defined.get(name, wanted.full_name) != wanted.full_name:
            return False
        return all(item.full_name == wanted.full_name for item in self._imports if item.exposed_name == name)


def _replaced(ty_map: dict[str, str], defaults: dict[str, str]) -> dict[str, str]:
    """Return the defaults for names that the user does not map."""
    return {name: other for name, other in defaults.items() if ty_map.get(name) in (None, PC.TY_MAP_DEFAULTS.get(name))}


# --- signatures -----------------------------------------------------------------------------------------------------

OVERRIDE = "  # type: ignore[override,unused-ignore]"
"""Follows a definition that may differ from the definition that it overrides, for type checkers."""
_OPERATOR = "  # type: ignore[misc,override,unused-ignore]"
"""Follows an operator that may differ from the same operator with the operands exchanged, or in place."""


def arriving_type(schema: TypeSchema) -> TypeSchema:
    """Return the schema of the values that a result or a field has. Under the name of tvm_ffi, stubs are as there."""
    return arriving(schema) if PC.TY_MAP_RESULT_DEFAULTS else schema


def render_func_signature(
    func: FuncInfo, ty_map: TypeMap, indent: int, input_ty_map: TypeMap | None = None, note: str = ""
) -> str:
    """Return the line of a function; `ty_map` returns the names of types, `input_ty_map` the names in parameters if
    they differ.

    ValueError if the type of `func` is not a function type.
    """
    params, result = func.signature()
    any_name = ty_map("Any") if params is None or result.origin == "Any" else ""
    arrives = result if func.has_python_results else arriving_type(result)
    returns = any_name if result.origin == "Any" else arrives.repr(ty_map)
    words = ["self"] if func.is_member else []
    if params is None:
        words.append(f"*args: {any_name}")
    else:
        words += _arguments(func, params, input_ty_map or ty_map)
        if func.is_member:
            words, returns = follow_protocol(func.name, words, returns, list(params), arrives, ty_map)
    return f"{' ' * indent}def {func.name}({', '.join(words)}) -> {returns}: ...{note}"


def render_func(
    func: FuncInfo, ty_map: TypeMap, indent: int, input_ty_map: TypeMap | None = None, note: str = ""
) -> list[str]:
    """Return the lines of a function: the line of render_func_signature(), with the author's documentation if there is
    some."""
    if func.written is not None:
        return written_lines(func.written, func.doc, ty_map, indent)
    line = render_func_signature(func, ty_map, indent, input_ty_map, note)
    return documented(line, func.doc, indent, note)


def written_lines(text: str, doc: str, ty_map: TypeMap, indent: int) -> list[str]:
    """Return the lines of a function with the signature that its author has written, and with its documentation."""
    *before, last = [f"{' ' * indent}{line.strip()}" for line in in_source(text, ty_map).strip().split("\n")]
    return [*before, *documented(f"{last}: ...", doc, indent)]


def in_source(text: str, ty_map: TypeMap) -> str:
    """Return source code of Python, in which names with dots become names of this file."""
    return _SOURCE_NAMES.sub(lambda found: ty_map(found[0]) if found[1] else found[0], text)


def documented(line: str, doc: str, indent: int, note: str = "") -> list[str]:
    """Return the lines of a function whose `line` ends with `note`, with its documentation if there is some."""
    if not doc.strip():
        return [line]
    head = line[: len(line) - len(note)]
    # "..." marks the missing body: with only a docstring, the function would return None
    space = " " * (2 * indent)
    return [f"{head[: -len(' ...')]}{note}", *doc_lines(doc, space), f"{space}..."]


def doc_lines(doc: str, space: str) -> list[str]:
    """Return documentation as the lines of a literal, each after `space`."""
    text = inspect.cleandoc(doc).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if not text.strip():
        return [f'{space}""""""']
    lines = [f"{space}{text_line}".rstrip() for text_line in text.splitlines()]
    lines[0] = f'{space}"""{lines[0].strip()}'
    return [*lines, f'{space}"""'] if len(lines) > 1 or lines[0].endswith('"') else [f'{lines[0]}"""']


def render_object_methods(
    info: ObjectInfo,
    ty_map: TypeMap,
    indent: int,
    input_ty_map: TypeMap | None = None,
    inherited: Collection[str] = (),
    is_implemented: bool = False,
) -> list[str]:
    """Return the lines of the methods except the constructor, overloads next to each other.

    A method with a name in `inherited` gets a comment for type checkers that it may differ from the method that it
    overrides. Outside .pyi files overloads need an implementation; they get one if it `is_implemented`.
    """
    by_name: dict[str, list[FuncInfo]] = {}
    for method in info.methods:
        if method.name != "__ffi_init__":
            by_name.setdefault(method.name, []).append(method)
    space = " " * indent
    lines = []
    for name, overloads in by_name.items():
        methods = overloads[:1] if name in ANY_OPERAND and PC.TY_MAP_RESULT_DEFAULTS else overloads
        if not is_name(name):
            lines.append(unnamable(name, indent))
            continue
        note = OVERRIDE if name in inherited else ""
        if name in DEPENDENT and PC.TY_MAP_RESULT_DEFAULTS:
            note = _OPERATOR
        for i, method in enumerate(methods):
            if len(methods) > 1:
                lines.append(f"{space}@overload{'' if i else note}")
            if not method.is_member:
                lines.append(f"{space}@staticmethod")
            own_note = note if len(methods) == 1 else ""
            lines += render_func(method, ty_map, indent, input_ty_map, own_note)
        if is_implemented and len(methods) > 1:
            lines += [] if methods[0].is_member else [f"{space}@staticmethod"]
            words = ["self", "*args"] if methods[0].is_member else ["*args"]
            lines.append(f"{space}def {name}({', '.join(words)}: {ty_map('Any')}) -> {ty_map('Any')}: ...")
    return lines


def render_object_init(
    info: ObjectInfo,
    ty_map: TypeMap,
    indent: int,
    input_ty_map: TypeMap | None = None,
    is_implemented: bool = False,
) -> list[str]:
    """Return the lines of ``__init__``. The parameters are from the constructor that the library wrote, otherwise they
    are the fields that it takes. There may be several overloads, see render_object_methods()."""
    if not info.has_init:
        return []
    parameters = _parameters_of_init(info, input_ty_map or ty_map)
    return _render_constructors("__init__", parameters, ty_map, indent, "", is_implemented)


def render_object_ffi_init(
    info: ObjectInfo,
    ty_map: TypeMap,
    indent: int,
    input_ty_map: TypeMap | None = None,
    inherited: Collection[str] = (),
    is_implemented: bool = False,
) -> list[str]:
    """Return the lines of ``__ffi_init__``, the native constructor."""
    written = _written_constructors(info)
    if not written and not info.has_init:
        return []
    names = input_ty_map or ty_map
    parameters = [_parameters_from_method(method, names) for method in written]
    note = OVERRIDE if "__ffi_init__" in inherited else ""
    parameters = parameters or [_parameters_from_fields(info, names)]
    return _render_constructors("__ffi_init__", parameters, ty_map, indent, note, is_implemented)


def _render_constructors(
    name: str, parameters: list[list[str]], ty_map: TypeMap, indent: int, note: str, is_implemented: bool
) -> list[str]:
    space = " " * indent
    lines = [f"{space}def {name}({', '.join(['self', *words])}) -> None: ..." for words in parameters]
    if len(lines) == 1:
        return [lines[0] + note]
    lines = [line for definition in lines for line in (f"{space}@overload", definition)]
    lines[0] += note
    return [*lines, *([f"{space}def {name}(self, *args: {ty_map('Any')}) -> None: ..."] if is_implemented else [])]


def _written_constructors(info: ObjectInfo) -> list[FuncInfo]:
    return [method for method in info.methods if method.name == "__ffi_init__"]


def _parameters_of_init(info: ObjectInfo, ty_map: TypeMap) -> list[list[str]]:
    """Return the parameters of each constructor."""
    written = _written_constructors(info)
    if not written:
        return [_parameters_from_fields(info, ty_map)]
    if len(written) > 1:
        return [_parameters_from_method(method, ty_map) for method in written]
    if written[0].names is not None:
        return [_parameters_from_method(written[0], ty_map)]
    params, _ = written[0].signature()
    takes = None if params is None else [schema.repr() for schema in params[1 if written[0].is_member else 0 :]]
    if takes == [f.schema.repr() for f in info.init_fields] and not any(f.kw_only for f in info.init_fields):
        # The fields in their order provide the names, which are for reading only: the constructor has none
        words = [f"{f.name}: {f.schema.repr(ty_map)}" for f in info.init_fields if is_name(f.name)]
        if words and len(words) == len(takes):
            return [[*words, "/"]]
    return [_parameters_from_method(written[0], ty_map)]


def _parameters_from_method(method: FuncInfo, ty_map: TypeMap) -> list[str]:
    params, _ = method.signature()
    if params is None:
        return [f"*args: {ty_map('Any')}"]
    return _arguments(method, params, ty_map, is_bound=False)


def _parameters_from_fields(info: ObjectInfo, ty_map: TypeMap) -> list[str]:
    """Return the parameters without a default first, in the constructor's order; then the keyword-only parameters."""
    if not all(is_name(f.name) for f in info.init_fields):
        return [f"*args: {ty_map('Any')}", f"**kwargs: {ty_map('Any')}"]
    words = {
        f.name: f"{f.name}: {f.schema.repr(ty_map)}{f' = {_literal(f.schema.default)}' if f.has_default else ''}"
        for f in info.init_fields
    }
    by_position = sorted((f for f in info.init_fields if not f.kw_only), key=lambda f: f.has_default)
    by_name = [f for f in info.init_fields if f.kw_only]
    star = ["*"] if by_name else []
    return [*(words[f.name] for f in by_position), *star, *(words[f.name] for f in by_name)]


def _literal(default: object) -> str:
    """Return the default of a field as Python source; "..." for a default that only the library can create."""
    if isinstance(default, str):
        return repr(str(default))
    is_plain = default is None or isinstance(default, (bool, int)) or (isinstance(default, float) and isfinite(default))
    return repr(default) if is_plain else "..."


def _arguments(func: FuncInfo, params: Collection[TypeSchema], ty_map: TypeMap, is_bound: bool = True) -> list[str]:
    """Return the parameters after `self`: with their names or, if they have none, as positional-only."""
    first = 1 if func.is_member else 0
    names = func.names
    if names is None or len(names) != len(params) or not all(map(is_name, names)):
        kept = list(params)[first:]
        n_before = first if is_bound else 0
        words = [f"{name}: {each.repr(ty_map)}" for name, each in zip(_unnamed(func, len(kept), n_before), kept)]
        return [*words, "/"] if words or (func.is_member and is_bound) else []
    is_optional, shown, kinds = False, [], func.kinds or ("",) * len(params)
    for name, schema, default, kind in list(zip(names, params, func.defaults, kinds))[first:]:
        if kind in _STARS:
            shown.append(f"{_STARS[kind]}{name}: {ty_map('Any')}")
            continue
        if kind == "keyword" and not any(word.startswith("*") for word in shown):
            shown.append("*")
        # Python refuses a parameter without a default behind one that has a default
        is_optional = kind != "keyword" and (is_optional or default is not NO_DEFAULT)
        shown.append(_argument(name, schema, ... if is_optional and default is NO_DEFAULT else default, ty_map))
    n_positional = len([kind for kind in kinds[first:] if kind == "positional"])
    return [*shown[:n_positional], "/", *shown[n_positional:]] if n_positional else shown


def _argument(name: str, schema: TypeSchema, default: Any, ty_map: TypeMap) -> str:
    shown = schema.repr(ty_map)
    if default is NO_DEFAULT:
        return f"{name}: {shown}"
    if not isinstance(default, ShownDefault):
        return f"{name}: {shown} = {_literal(default)}"
    accepts_none = schema.origin in ("Any", "None", "Optional")
    none = " | None" if default.text == "None" and not accepts_none else ""
    text = in_source(default.text, ty_map) if default.is_written else _source_of(default.text, schema, ty_map)
    return f"{name}: {shown}{none} = {text}"


def _source_of(text: str, schema: TypeSchema, ty_map: TypeMap) -> str:
    """Return the repr() of a default as Python source: as it is, the name of a member of an enum, or "..."."""
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        inner = schema.args[0] if schema.origin == "Optional" and schema.args else schema
        member = re.fullmatch(r"<?(\w+)\.(\w+)(: .*>)?", text)
        if member is None or inner.origin.rpartition(".")[2] != member[1]:
            return "..."
        return f"{inner.repr(ty_map)}.{member[2]}"
    return text


def _unnamed(func: FuncInfo, n: int, n_before: int) -> list[str]:
    """Return names for n parameters without a name: for a bound library the names in help(), for other libraries the
    numbers."""
    if not func.has_python_results:
        return [f"_{i}" for i in range(n_before, n_before + n)]
    return ["arg"] if n == 1 else [f"arg{i}" for i in range(n)]


def unnamable(name: str, indent: int) -> str:
    """Return the comment in place of a member that Python cannot name."""
    return f"{' ' * indent}# {name!r} is not a name for Python: it is there for getattr()"
