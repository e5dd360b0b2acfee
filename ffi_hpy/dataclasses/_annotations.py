"""The meaning of annotations in the bodies of classes.

Names are looked up by Python's rules, in the module of the class that has the annotation; then among the classes that
`py_class()` decorated, by their `__name__`, first the classes of the same module. Local classes are found only for
classes that the same thread decorated, because threads that run one function have local classes with the same names. So
classes can name each other, and themselves, before the module has the name, and even if the name is imported for type
checkers only.
"""

from __future__ import annotations

import builtins
import re
import sys
import threading
import types
import typing
import weakref
from dataclasses import InitVar
from typing import Any

from .._start.fork import importing
from .._types.annotation import is_unpacked
from .._types.class_annotations import forward_annotations
from ..core import TypeSchema
from .field import KW_ONLY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Hints = dict[type, dict[str, Any]]
    Namespace = dict[str, Any]
    Table = dict[str, dict[str, type]]

__all__ = [
    "announce",
    "describe_unresolved",
    "in_class",
    "is_defined",
    "owners_of",
    "resolve",
    "resolve_function",
    "withdraw",
]

# Class name -> module name -> class, without classes that are local to a function. Each change is one dict operation,
# so threads may change it at the same time. The time of a look-up does not depend on the number of classes.
_announced: Table = {}


class _Own(threading.local):
    """A table of that form for each thread, with all classes that the thread announced, including local ones."""

    def __init__(self) -> None:
        self.announced: Table = {}


_own = _Own()
# For each class, the table of the thread that announced it, because another thread may complete the class.
_seen_by: weakref.WeakKeyDictionary[type, Table] = weakref.WeakKeyDictionary()


def announce(cls: type) -> None:
    """Make a class known to annotations."""
    _seen_by[cls] = _own.announced
    for announced in (_own.announced,) if "<locals>" in cls.__qualname__ else (_own.announced, _announced):
        announced.setdefault(cls.__name__, {})[cls.__module__] = cls


def withdraw(cls: type) -> None:
    """Undo `announce`, unless a later class has the name."""
    for announced in (_seen_by.pop(cls, {}), _announced):
        modules = announced.get(cls.__name__, {})
        if modules.get(cls.__module__) is cls:
            modules.pop(cls.__module__, None)


def owners_of(cls: type, is_registered: Any) -> list[type]:
    """Return the classes whose annotations are fields of `cls`, bases first: itself, and bases that are not native
    types (mixins), unless the nearest native base has them already."""
    registered = next((base for base in cls.__mro__[1:] if is_registered(base)), object)
    known = {*registered.__mro__, object}
    return [base for base in reversed(cls.__mro__) if base not in known and forward_annotations(base)]


def resolve(cls: type, owners: Iterable[type]) -> tuple[Hints, set[str]]:
    """Return the annotations of each owner as types, and the names that are not defined yet, "" for attributes. As long
    as names are missing, the annotations are incomplete.

    Any other exception of an evaluation is raised, unless an earlier annotation lacks a name.
    """
    hints: Hints = {}
    missing: set[str] = set()
    for owner in owners:
        hints[owner] = {}
        for name, annotation in forward_annotations(owner).items():
            try:
                hints[owner][name] = _evaluate(cls, owner, annotation)
            except NameError as error:
                missing.add(_missing_name(error))
            except AttributeError:  # of a module that is being imported
                missing.add("")
            except Exception:
                if not missing:
                    raise
    return hints, missing


def resolve_function(cls: type, function: Any) -> dict[str, Any] | None:
    """Return the annotations of a method of a class as types, None while they contain undefined names."""
    globalns = getattr(function, "__globals__", {})
    localns = _known_classes(cls, cls, forward_annotations(function).values(), globalns)
    localns.update({variable.__name__: variable for variable in getattr(function, "__type_params__", ())})
    annotated = function if sys.version_info >= (3, 10) else _readable_function(function)
    try:
        hints: dict[str, Any] = _with_classes(
            cls, localns, lambda: typing.get_type_hints(annotated, globalns, localns, **_EXTRAS)
        )
        for hint in hints.values():
            _evaluate_parts(hint, {})
    except (NameError, AttributeError):
        return None
    return hints


def is_defined(cls: type, name: str) -> bool:
    """Whether a name that annotations of a class lacked may be defined now."""
    module = getattr(sys.modules.get(cls.__module__), "__dict__", {})
    return not name or name in module or _find_class(cls, name, is_known=False) is not None


def describe_unresolved(cls: type, owners: Iterable[type]) -> str:
    """Describe, for a message, the annotations that cannot be evaluated, and the reasons."""
    found = []
    for owner in owners:
        for name, annotation in forward_annotations(owner).items():
            try:
                _evaluate(cls, owner, annotation)
            except Exception as error:
                text = annotation if isinstance(annotation, str) else getattr(annotation, "__forward_arg__", annotation)
                found.append(f"{name}: {text} ({error})")
    return ", ".join(found)


def _missing_name(error: NameError) -> str:
    """Return the name that an annotation lacks; "" if the error does not contain it. Python 3.9 has it only in the
    message, as the last word in quotes."""
    return str(getattr(error, "name", None) or (re.findall(r"'(\w+)'", str(error)) or [""])[-1])


# --- evaluation -------------------------------------------------------------------------------------------------------

_EXTRAS: dict[str, Any] = {"include_extras": True} if sys.version_info >= (3, 11) else {}
_UNION = "_ffi_hpy_Union"  # the name of typing.Union in rewritten annotations


def _readable(annotation: Any) -> Any:
    """Return an annotation that this Python can evaluate: before 3.10, classes have no `|`."""
    if sys.version_info >= (3, 10):
        return annotation
    if isinstance(annotation, str):
        return _without_bars(annotation)
    if isinstance(annotation, typing.ForwardRef):
        return typing.ForwardRef(_without_bars(annotation.__forward_arg__))
    args = getattr(annotation, "__args__", None)
    if isinstance(args, tuple) and hasattr(annotation, "copy_with"):
        return annotation.copy_with(tuple(map(_readable, args)))
    return annotation


def _without_bars(text: str) -> str:
    """Return the text of an annotation with `Union[a, b]` in place of `a | b`."""
    if "|" not in text:
        return text
    with importing:
        import ast

    class Rewriter(ast.NodeTransformer):
        def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
            self.generic_visit(node)
            if not isinstance(node.op, ast.BitOr):
                return node
            both = ast.Tuple(elts=[node.left, node.right], ctx=ast.Load())
            return ast.Subscript(value=ast.Name(id=_UNION, ctx=ast.Load()), slice=both, ctx=ast.Load())

    try:
        return ast.unparse(Rewriter().visit(ast.parse(text, mode="eval")))
    except SyntaxError:
        return text  # the evaluation raises it


def _readable_function(function: Any) -> Any:
    """Return an object with the annotations of a function that this Python can evaluate."""

    def readable() -> None: ...

    readable.__annotations__ = {name: _readable(each) for name, each in function.__annotations__.items()}
    return readable


def _texts_in(annotation: Any) -> Iterator[str]:
    """Yield the strings in an annotation that may name classes."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__forward_arg__", None)
    if isinstance(text, str):
        yield text
        return
    args = getattr(annotation, "__args__", ())
    for part in (*(args if isinstance(args, tuple) else ()), getattr(annotation, "__origin__", None)):
        if part is not None and not isinstance(part, type):
            yield from _texts_in(part)


def _known_classes(cls: type, owner: type, annotations: Iterable[Any], globalns: Namespace) -> Namespace:
    """Return the announced classes and type parameters that the strings in annotations may name, by name."""
    found: Namespace = {}
    texts = (text for annotation in annotations for text in _texts_in(annotation))
    for name in {word for text in texts for word in re.findall(r"[^\W\d]\w*", text)}:
        known = _find_class(cls, name, name in globalns or hasattr(builtins, name))
        if known is not None:
            found[name] = known
    found[owner.__name__] = owner
    found[cls.__name__] = cls
    found[_UNION] = typing.Union
    found.update({variable.__name__: variable for variable in getattr(owner, "__type_params__", ())})
    return found


def _find_class(cls: type, name: str, is_known: bool) -> type | None:
    """Return the announced class of a name: the class of the module of `cls`, or else, unless the name has another
    definition, the latest class of another module."""
    homes = [announced.get(name, {}) for announced in (_seen_by.get(cls, _own.announced), _announced)]
    for modules in homes:
        if cls.__module__ in modules:
            return modules.get(cls.__module__)
    elsewhere = [] if is_known else [known for modules in reversed(homes) for known in list(modules.values())]
    return elsewhere[-1] if elsewhere else None


def _with_classes(cls: type, localns: Namespace, evaluate: Callable[[], Any]) -> Any:
    """Return the result of an evaluation. Announced classes that it lacks are added to its names, because an alias may
    name classes that are not in the annotation's own text."""
    while True:
        try:
            return evaluate()
        except NameError as error:
            name = _missing_name(error)
            known = None if name in localns else _find_class(cls, name, is_known=False)
            if known is None:
                raise
            localns[name] = known


def _evaluate(cls: type, owner: type, annotation: Any) -> Any:
    """Return the type for an annotation in the body of `owner`, whose fields `cls` has, with its parts evaluated."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__forward_arg__", None)
    if annotation is KW_ONLY or (isinstance(text, str) and text.rpartition(".")[2] == "KW_ONLY"):
        return KW_ONLY  # even if its name was imported inside a function
    if annotation is None or (isinstance(annotation, type) and not hasattr(annotation, "__args__")):
        return type(None) if annotation is None else annotation
    globalns = getattr(sys.modules.get(owner.__module__), "__dict__", {})
    localns = _known_classes(cls, owner, [annotation], globalns)
    annotation = _readable(annotation)
    if isinstance(annotation, str):
        written = annotation
        annotation = _with_classes(cls, localns, lambda: eval(written, globalns, localns))
        if annotation is None or (isinstance(annotation, type) and not hasattr(annotation, "__args__")):
            return type(None) if annotation is None else annotation
    shim = type(owner.__name__, (), {"__annotations__": {"it": annotation}, "__module__": owner.__module__})
    hint = _with_classes(cls, localns, lambda: typing.get_type_hints(shim, globalns, localns, **_EXTRAS))["it"]
    _evaluate_parts(hint, {})
    return hint


def _evaluate_parts(annotation: Any, seen: dict[int, Any]) -> None:
    """Evaluate the aliases of `type` statements in a type, and the bounds and constraints of its variables: Python
    evaluates them at first use, in their own scopes. NameError as long as a name in them is not defined."""
    if id(annotation) in seen or (isinstance(annotation, type) and not hasattr(annotation, "__args__")):
        return
    seen[id(annotation)] = annotation
    args = annotation if isinstance(annotation, list) else getattr(annotation, "__args__", ())
    parts = [getattr(annotation, "__origin__", None), *(args if isinstance(args, (list, tuple)) else ())]
    if hasattr(type(annotation), "__value__"):  # not of the alias, where this evaluates it and hides an AttributeError
        parts.append(annotation.__value__)
    elif type(annotation) is typing.TypeVar:
        parts += [annotation.__bound__, *annotation.__constraints__]
    elif isinstance(annotation, InitVar):
        parts.append(annotation.type)
    for part in parts:
        _evaluate_parts(part, seen)


# --- names that mean a class only inside a class ----------------------------------------------------------------------

_VARIABLES = (typing.TypeVar, getattr(typing, "ParamSpec", typing.TypeVar))
_UNION_TYPE = getattr(types, "UnionType", None)  # of `a | b`, from Python 3.10 on


def in_class(annotation: Any, cls: type) -> Any:
    """Return an annotation in a class with the class in place of `Self`, and in place of a type variable its bound,
    the union of its constraints, or Any: a native field has one type in all parametrizations of a generic class."""
    if isinstance(annotation, type) and not hasattr(annotation, "__args__"):
        return annotation
    if isinstance(annotation, _VARIABLES):
        return _type_for(annotation)
    if getattr(annotation, "_name", None) == "Self" and not hasattr(annotation, "__args__"):
        return cls  # that of typing or of typing_extensions
    if isinstance(annotation, list):  # the parameters of a Callable, as an argument of an alias
        return [in_class(each, cls) for each in annotation]
    args = getattr(annotation, "__args__", None)
    is_literal = getattr(annotation, "__origin__", None) is typing.Literal
    if not isinstance(args, tuple) or is_literal or is_unpacked(annotation):
        return annotation
    replaced = tuple([in_class(arg, cls) for arg in args])
    if all(new is old for new, old in zip(replaced, args)):
        return annotation
    if _UNION_TYPE is not None and isinstance(annotation, _UNION_TYPE):
        return typing.Union[replaced]
    origin = annotation.__origin__
    is_callable = getattr(origin, "__name__", "") == "Callable"
    if is_callable and ... in replaced:  # also a ParamSpec behind other parameters, on 3.9
        replaced = (..., replaced[-1])
    if hasattr(annotation, "copy_with"):
        return annotation.copy_with(replaced)
    return origin[[*replaced[:-1]], replaced[-1]] if is_callable and replaced[0] is not ... else origin[replaced]


def _type_for(variable: Any) -> Any:
    """Return the type of the values of a type variable: Any if its bound or a constraint has no schema, such as a class
    of Python, a name, or a type with variables."""
    if not hasattr(variable, "__constraints__"):  # a ParamSpec; on 3.9 it pretends to be an instance of TypeVar
        return ...  # any parameters
    found = typing.Union[variable.__constraints__] if variable.__constraints__ else variable.__bound__
    if found is None:
        return Any
    try:
        TypeSchema.from_annotation(found)
    except TypeError:
        return Any
    return found
