"""The meaning of annotations in the bodies of classes.

Names are looked up as Python does, in the module of the class that has the annotation; then among the classes that
`py_class()` decorated, by their `__name__`, those of the same module first. Local classes are found for classes
that the same thread decorated, because threads that run one function have local classes of the same names. So classes
can name each other, and themselves, before the module has the name, or even if the name is imported for type checkers
only.
"""

from __future__ import annotations

import sys
import threading
import typing
import weakref
from typing import Any

from .._types.class_annotations import forward_annotations
from .field import KW_ONLY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Hints = dict[type, dict[str, Any]]

__all__ = ["Namespace", "announce", "describe_unresolved", "owners_of", "resolve", "resolve_function", "withdraw"]

Namespace = dict[str, Any]

# module name -> class name -> class, without classes that are local to a function. Each change is one dict operation,
# so threads may change it at the same time.
_announced: dict[str, dict[str, type]] = {}


class _Own(threading.local):
    """A table of that form for each thread, with all classes that the thread announced, local ones included."""

    def __init__(self) -> None:
        self.announced: dict[str, dict[str, type]] = {}


_own = _Own()
# By class, the table of the thread that announced it, because another thread may complete the class.
_seen_by: weakref.WeakKeyDictionary[type, dict[str, dict[str, type]]] = weakref.WeakKeyDictionary()


def announce(cls: type) -> None:
    """Make a class known to annotations."""
    _seen_by[cls] = _own.announced
    for announced in (_own.announced,) if "<locals>" in cls.__qualname__ else (_own.announced, _announced):
        announced.setdefault(cls.__module__, {})[cls.__name__] = cls


def withdraw(cls: type) -> None:
    """Undo `announce`, unless a later class has the name."""
    for announced in (_seen_by.pop(cls, {}), _announced):
        named = announced.get(cls.__module__, {})
        if named.get(cls.__name__) is cls:
            named.pop(cls.__name__, None)


def owners_of(cls: type, is_registered: Any) -> list[type]:
    """The classes whose annotations are fields of `cls`, bases first: itself, and bases that are not native types
    (mixins), unless the nearest native base has them already."""
    registered = next((base for base in cls.__mro__[1:] if is_registered(base)), object)
    known = {*registered.__mro__, object}
    return [base for base in reversed(cls.__mro__) if base not in known and forward_annotations(base)]


def resolve(cls: type, owners: Iterable[type]) -> Hints | None:
    """The annotations of each owner as types, None while they contain names that are not defined yet.

    Any other exception of their evaluation is passed on.
    """
    try:
        return _resolve_all(cls, owners, all_modules=False)
    except (NameError, AttributeError):  # the latter: of a module that is being imported
        pass
    try:
        return _resolve_all(cls, owners, all_modules=True)
    except (NameError, AttributeError):
        return None


def resolve_function(cls: type, function: Any) -> dict[str, Any] | None:
    """The annotations of a method of a class as types, None while they contain names that are not defined yet."""
    globalns = getattr(function, "__globals__", {})
    extras: dict[str, Any] = {"include_extras": True} if sys.version_info >= (3, 11) else {}
    for all_modules in (False, True):
        _, localns = _namespaces(cls, cls, all_modules)
        try:
            return typing.get_type_hints(function, globalns=globalns, localns=localns, **extras)
        except (NameError, AttributeError):
            pass
    return None


def describe_unresolved(cls: type, owners: Iterable[type]) -> str:
    """The annotations that cannot be evaluated, and why, for a message."""
    found = []
    for owner in owners:
        globalns, localns = _namespaces(cls, owner, all_modules=True)
        for name, annotation in forward_annotations(owner).items():
            try:
                _evaluate(owner, annotation, globalns, localns)
            except Exception as error:
                text = annotation if isinstance(annotation, str) else getattr(annotation, "__forward_arg__", annotation)
                found.append(f"{name}: {text} ({error})")
    return ", ".join(found)


def _resolve_all(cls: type, owners: Iterable[type], all_modules: bool) -> Hints:
    hints: Hints = {}
    for owner in owners:
        globalns, localns = _namespaces(cls, owner, all_modules)
        hints[owner] = {
            name: _evaluate(owner, annotation, globalns, localns)
            for name, annotation in forward_annotations(owner).items()
        }
    return hints


def _namespaces(cls: type, owner: type, all_modules: bool) -> tuple[Namespace, Namespace]:
    localns: Namespace = {}
    sources = (_announced, _seen_by.get(cls, _own.announced))
    if all_modules:
        for announced in sources:
            for named in list(announced.values()):
                localns.update(named)
    for announced in sources:
        localns.update(announced.get(cls.__module__, {}))
    localns[owner.__name__] = owner
    localns[cls.__name__] = cls
    return getattr(sys.modules.get(owner.__module__), "__dict__", {}), localns


def _evaluate(owner: type, annotation: Any, globalns: Namespace, localns: Namespace) -> Any:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__forward_arg__", None)
    if annotation is KW_ONLY or (isinstance(text, str) and text.rpartition(".")[2] == "KW_ONLY"):
        return KW_ONLY  # also if its name was imported inside a function
    if isinstance(annotation, str):
        annotation = eval(annotation, globalns, localns)
    if annotation is None or (isinstance(annotation, type) and not hasattr(annotation, "__args__")):
        return type(None) if annotation is None else annotation
    shim = type(owner.__name__, (), {"__annotations__": {"it": annotation}, "__module__": owner.__module__})
    extras: dict[str, Any] = {"include_extras": True} if sys.version_info >= (3, 11) else {}
    return typing.get_type_hints(shim, globalns=globalns, localns=localns, **extras)["it"]
