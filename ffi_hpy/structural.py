"""Structural comparison, hashing, visiting and rewriting of nested values.

Two values are structurally equal if they have the same shape and contents. The type of an object determines the fields
that count, and the fields that introduce variables (`structural_eq` of a type and of its fields).

A callback argument is ``(type, callback)``, ``((type, type, ...), callback)``, a sequence of these, or a bare callback
for everything; the first one whose type matches a value is called. A type is a class for native objects, or int, bool,
float, str, bytes, type(None), or ``typing.Any`` (or ``object``) for everything.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from enum import IntEnum

from . import _core, _ffi_api
from ._start.fork import importing
from ._start.late import find_attributes
from ._values.object import Object
from .registry import register_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .access_path import AccessPath

__all__ = [
    "DefRegionKind",
    "InplaceMode",
    "StructuralKey",
    "StructuralMutator",
    "StructuralVisitor",
    "VisitInterrupt",
    "WalkOrder",
    "WalkResult",
    "get_first_structural_mismatch",
    "structural_equal",
    "structural_hash",
    "structural_map",
    "structural_mutate",
    "structural_visit",
    "structural_walk",
]

if not TYPE_CHECKING:  # names that tvm_ffi has here
    __getattr__ = find_attributes(__name__)

# No C header names the numbers of the next three classes: the core and the C++ headers each define them.


class WalkOrder(IntEnum):
    """Whether a value's callback is called before or after the callbacks of its children."""

    PREORDER = 0
    POSTORDER = 1


class WalkResult(IntEnum):
    """A result of a walk's callback: continue, or continue but skip this value's children (in preorder)."""

    ADVANCE = 0
    SKIP = 1


class InplaceMode(IntEnum):
    """Whether a callback of structural_mutate() may change its value in place, because nothing else refers to it."""

    DISALLOW = 0
    ALLOW = 1


class DefRegionKind(IntEnum):
    """Whether variables in this region are definitions: not at all, anywhere below, or directly."""

    NONE = _core.DEF_REGION_NONE
    DEF_PATTERN = _core.DEF_REGION_PATTERN
    DEF_SIMPLE = _core.DEF_REGION_SIMPLE
    DEF_RECURSIVE = DEF_PATTERN  # the names of 0.1.13
    DEF_NON_RECURSIVE = DEF_SIMPLE


# --- comparison -----------------------------------------------------------------------------------------------------


def structural_equal(lhs: Any, rhs: Any, map_free_vars: bool = False, skip_tensor_content: bool = False) -> bool:
    """Compare two values structurally and recursively, by the rules of their types.

    Args:
        lhs: a value.
        rhs: a value.
        map_free_vars: whether free variables may correspond to each other, one to one.
        skip_tensor_content: whether tensors are compared by shape and data type alone.

    Returns:
        Whether they are equal. An Array never equals a List, nor 1 the number 1.0.

    Raises:
        TypeError: for objects of a type without structural comparison, such as functions.

    Examples:
        >>> ffi_hpy.structural_equal([1, {"a": 2}], [1, {"a": 2}])
        True
    """
    return bool(_ffi_api.StructuralEqual(lhs, rhs, map_free_vars, skip_tensor_content))


def structural_hash(value: Any, map_free_vars: bool = False, skip_tensor_content: bool = False) -> int:
    """Hash a value by its structure.

    Args:
        value: any value.
        map_free_vars: as in structural_equal().
        skip_tensor_content: as in structural_equal().

    Returns:
        A signed 64-bit number, the same for structurally equal values, in this process.

    Raises:
        TypeError: for objects of a type without structural comparison.
    """
    return _ffi_api.StructuralHash(value, map_free_vars, skip_tensor_content)  # type: ignore[no-any-return]


def get_first_structural_mismatch(
    lhs: Any, rhs: Any, map_free_vars: bool = False, skip_tensor_content: bool = False
) -> tuple[AccessPath, AccessPath] | None:
    """Find where two values differ. Parameters and errors are as for structural_equal().

    Args:
        lhs: a value.
        rhs: a value.
        map_free_vars: whether free variables may correspond to each other.
        skip_tensor_content: whether tensors are compared by shape and data type alone.

    Returns:
        The paths to the first difference in `lhs` and in `rhs`; None if the values are structurally equal.

    Examples:
        >>> left, right = ffi_hpy.get_first_structural_mismatch([1, {"a": 2}], [1, {"a": 3}])
        >>> left
        <root>[1]["a"]
    """
    return _ffi_api.GetFirstStructuralMismatch(  # type: ignore[no-any-return]
        lhs, rhs, map_free_vars, skip_tensor_content
    )


@register_object("ffi.StructuralKey")
class StructuralKey(Object):
    """A value that compares and hashes structurally, as a key of dict, Map or Dict.

    Args:
        key: the value, which must not change while it is a key.

    Examples:
        >>> cache = {ffi_hpy.StructuralKey([1, 2]): "found"}
        >>> cache[ffi_hpy.StructuralKey([1, 2])]
        'found'
    """

    key: Any
    """The value."""
    hash_i64: int
    """The structural_hash() of the value."""

    def __init__(self, key: Any) -> None:
        self.__init_handle_by_constructor__(_ffi_api.StructuralKey, key)

    def __hash__(self) -> int:
        return self.hash_i64

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StructuralKey) and bool(_ffi_api.StructuralKeyEqual(self, other))


# --- visiting -------------------------------------------------------------------------------------------------------


@register_object("ffi.VisitInterrupt")
class VisitInterrupt(Object):
    """Returned by a callback to end a walk or visit; the walk or visit then returns it.

    Args:
        value: any value, for the caller.
    """

    value: Any
    """The value for the caller."""

    def __init__(self, value: Any = None) -> None:
        self.__init_handle_by_constructor__(_ffi_api.VisitInterrupt, value)


@register_object("ffi.StructuralVisitor", init=False)
class StructuralVisitor(Object):
    """The visitor with which a callback of structural_visit() continues; valid while the callback runs."""

    def visit(self, value: Any) -> VisitInterrupt | None:
        """Visit a value: call its callback if there is one, else visit its children.

        Args:
            value: any value.

        Returns:
            The VisitInterrupt that ends the visit; the callback must return it, too. None if the visit goes on.
        """
        return _ffi_api.StructuralVisitorVisit(self, value)  # type: ignore[no-any-return]

    def default_visit(self, value: Any) -> VisitInterrupt | None:
        """Visit the children of a value, whether or not there is a callback for it.

        Args:
            value: any value.

        Returns:
            The VisitInterrupt that ends the visit; the callback must return it, too. None if the visit goes on.
        """
        return _ffi_api.StructuralVisitorDefaultVisit(self, value)  # type: ignore[no-any-return]

    @property
    def def_region_kind(self) -> DefRegionKind:
        """The region that the visit is in."""
        return DefRegionKind(_ffi_api.StructuralVisitorDefRegionKind(self))

    def with_def_region_kind(self, kind: int, callback: Callable[[], Any]) -> Any:
        """Call a function while the visit is in another region.

        Args:
            kind: a DefRegionKind.
            callback: a function without arguments.

        Returns:
            The result of the function.
        """
        return _ffi_api.StructuralVisitorWithDefRegionKind(self, kind, callback)


def structural_walk(
    root: Any,
    callbacks: Any = (),
    with_def_region_kind: Any = (),
    order: str | WalkOrder = "post",
) -> VisitInterrupt | None:
    """Call callbacks for a value and everything in it.

    A shared object is visited once for each occurrence; map keys are not visited.

    Args:
        root: the value.
        callbacks: callback(value), in one of the forms that `ffi_hpy.structural` lists. The callback returns None, a
            WalkResult, or a VisitInterrupt to end the walk.
        with_def_region_kind: the same for callback(value, DefRegionKind).
        order: "pre" (a value before its children), "post" or a WalkOrder.

    Returns:
        The VisitInterrupt from a callback; None if no callback returned one.

    Raises:
        TypeError: for callbacks of another form.
        ValueError: for another order.

    Examples:
        >>> ffi_hpy.structural_walk([1, [2, 3]], (int, print))
        1
        2
        3
    """
    name = "structural_walk"
    return _ffi_api.StructuralWalk(  # type: ignore[no-any-return]
        root, _entries(name, callbacks), _entries(name, with_def_region_kind, _with_kind), _order_of(order, name)
    )


def structural_visit(root: Any, callbacks: Any = ()) -> VisitInterrupt | None:
    """Visit a value with callbacks that control the visit.

    Args:
        root: the value.
        callbacks: callback(value, visitor), in one of the forms that `ffi_hpy.structural` lists. The callback continues
            with visitor.visit(child) or visitor.default_visit(value), or skips the children, and returns None or a
            VisitInterrupt.

    Returns:
        The VisitInterrupt from a callback; None if no callback returned one.

    Raises:
        TypeError: for callbacks of another form.
    """
    return _ffi_api.StructuralVisit(root, _entries("structural_visit", callbacks))  # type: ignore[no-any-return]


# --- rewriting ------------------------------------------------------------------------------------------------------


@register_object("ffi.StructuralMutator", init=False)
class StructuralMutator(Object):
    """The mutator with which a callback of structural_mutate() continues; valid while the callback runs."""

    def mutate(self, value: Any) -> Any:
        """Rewrite a value: call its callback if there is one, else rewrite its children.

        Args:
            value: any value.

        Returns:
            The replacement.
        """
        return _ffi_api.StructuralMutatorMutate(self, value)

    def default_mutate(self, value: Any) -> Any:
        """Rewrite the children of a value, whether or not there is a callback for it.

        Args:
            value: any value.

        Returns:
            The value itself if nothing has changed, else the replacement.
        """
        return _ffi_api.StructuralMutatorDefaultMutate(self, value)

    def var_remap_get(self, var: Object) -> Any | None:
        """Return the replacement of a variable, None if it is not mapped.

        Args:
            var: the variable.
        """
        return _ffi_api.StructuralMutatorVarRemapGet(self, var)

    def var_remap_set(self, var: Object, mapped_value: Any) -> None:
        """Map a variable to a replacement from here on.

        Args:
            var: the variable.
            mapped_value: the replacement.
        """
        _ffi_api.StructuralMutatorVarRemapSet(self, var, mapped_value)

    @property
    def def_region_kind(self) -> DefRegionKind:
        """The region that the rewriting is in."""
        return DefRegionKind(_ffi_api.StructuralMutatorDefRegionKind(self))

    def with_def_region_kind(self, kind: int, callback: Callable[[], Any]) -> Any:
        """Call a function while the rewriting is in another region.

        Args:
            kind: a DefRegionKind.
            callback: a function without arguments.

        Returns:
            The result of the function.
        """
        return _ffi_api.StructuralMutatorWithDefRegionKind(self, kind, callback)


def structural_mutate(root: Any, callbacks: Any = ()) -> Any:
    """Rewrite a value with callbacks that control the rewriting.

    The result shares unchanged parts with the old value; objects with other references are not changed.

    Args:
        root: the value.
        callbacks: callback(value, mutator), or callback(value, mutator, inplace_mode), in one of the forms that
            `ffi_hpy.structural` lists. The callback returns the replacement of the value.

    Returns:
        The rewritten value.

    Raises:
        TypeError: for callbacks of another form.
    """
    entries = _entries("structural_mutate", callbacks)
    return _ffi_api.StructuralMutate(root, [(index, callback, _takes_mode(callback)) for index, callback in entries])


def structural_map(
    root: Any,
    callbacks: Any = (),
    with_def_region_kind: Any = (),
    order: str | WalkOrder = "post",
) -> Any:
    """Rewrite a value and everything in it. Map keys stay.

    The result shares unchanged parts with the old value; objects with other references are not changed.

    Args:
        root: the value.
        callbacks: callback(value), in one of the forms that `ffi_hpy.structural` lists. The callback returns the
            replacement of the value.
        with_def_region_kind: the same for callback(value, DefRegionKind).
        order: "pre" (a value before its children), "post" or a WalkOrder.

    Returns:
        The rewritten value.

    Raises:
        TypeError: for callbacks of another form.
        ValueError: for another order.

    Examples:
        >>> ffi_hpy.structural_map([1, [2, 3]], (int, lambda x: 10 * x))
        (10, (20, 30))
    """
    name = "structural_map"
    return _ffi_api.StructuralMap(
        root, _entries(name, callbacks), _entries(name, with_def_region_kind, _with_kind), _order_of(order, name)
    )


# --- callbacks ------------------------------------------------------------------------------------------------------


def _with_kind(callback: Callable[..., Any]) -> Callable[..., Any]:
    return lambda value, kind: callback(value, DefRegionKind(kind))


def _takes_mode(callback: Callable[..., Any]) -> bool:
    """Whether a callback of structural_mutate() takes a third parameter; TypeError if it does not take two either."""
    with importing:  # it costs as much as all other code of this module
        import inspect
    try:
        signature = inspect.signature(callback)
    except (TypeError, ValueError):  # some native callables have no signature
        return False
    for n_arguments in (3, 2):
        try:
            signature.bind(*range(n_arguments))
        except TypeError:
            continue
        return n_arguments == 3
    raise TypeError(f"structural_mutate callback must accept (value, mutator) or (value, mutator, mode): {callback!r}")


def _entries(name: str, callbacks: Any, adapt: Callable[[Any], Any] | None = None) -> list[tuple[int, Any]]:
    """Return pairs of type index and callback, in the form that native code takes."""
    if callable(callbacks):
        callbacks = ((object, callbacks),)
    elif isinstance(callbacks, tuple) and len(callbacks) == 2 and callable(callbacks[1]):
        callbacks = (callbacks,)
    elif not isinstance(callbacks, Sequence) or isinstance(callbacks, (str, bytes)):
        raise TypeError(
            f"{name} callbacks must be a callback, (type, callback), ((type, ...), callback), or a sequence of these "
            f"pairs, not {type(callbacks).__name__}"
        )
    entries = []
    for entry in callbacks:
        if not isinstance(entry, tuple) or len(entry) != 2 or not callable(entry[1]):
            raise TypeError(f"{name} callbacks within a sequence must be (type, callback) tuples, not {entry!r}")
        types, callback = entry
        native = callback if adapt is None else adapt(callback)
        entries += [(_type_index_of(cls, name), native) for cls in (types if isinstance(types, tuple) else (types,))]
    return entries


_ANY = -1
_BUILTIN_KEYS = {int: "int", bool: "bool", float: "float", str: "ffi.String", bytes: "ffi.Bytes", type(None): "None"}


def _type_index_of(cls: Any, name: str) -> int:
    if cls is object or cls is getattr(sys.modules.get("typing"), "Any", object):
        return _ANY
    key = _BUILTIN_KEYS.get(cls)
    if key is not None:
        return _core.type_key_to_index(key)
    info = getattr(cls, "__tvm_ffi_type_info__", None)
    if info is None:
        raise TypeError(
            f"{name} callback type must be a class for native objects, a builtin or typing.Any, not {cls!r}"
        )
    return info.type_index  # type: ignore[no-any-return]


def _order_of(order: str | WalkOrder, name: str) -> int:
    if order not in ("pre", "post") and not isinstance(order, WalkOrder):
        raise ValueError(f"{name} order must be 'pre', 'post' or a WalkOrder, not {order!r}")
    return int(order in ("post", WalkOrder.POSTORDER))
