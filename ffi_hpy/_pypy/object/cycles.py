"""The search for cycles that go through native objects.

PyPy's collector sees no references of native objects, and a callable that native code owns is alive because
`py_owners.owned` refers to it. The search lets the collector see both, for one collection:

1. `binding.closed_groups` finds the native objects to which only wrappers and other such objects refer
   (src/hpy_module/collect/scan.c). Each of them gets a `_Node`, which refers to the nodes of the objects that it holds,
   to the callable that it owns, and to its kept wrapper. Each wrapper refers to the node of its object.
2. `owned` and `identity.kept` drop their references to these callables and wrappers. A `_Witness` refers to all nodes,
   and nothing refers to the witness.
3. A collection runs. A node that it has reached without the witness is alive: its weak reference shows that. A node
   whose weak reference is dead is garbage, but not lost: the finalizer of the witness has all nodes.
4. The finalizer gives `owned` and `kept` the values of the live nodes back. The finalizer drops the callables that are
   garbage and breaks cycles of native objects; the next collection finalizes the wrappers.

PyPy orders finalizers: of the unreachable objects with finalizers it looks at the oldest first, and clears the weak
references to all that this one reaches. The wrappers behind it then wait for a later collection. So a witness must be
older than the wrappers, and it is used up; `_witnesses` has a thousand, made at import. A wrapper that is older than
the last thousand searches, and has been alive during all of them, seems to be alive forever.

Other threads may run at any time. These threads see stand-ins in `owned`, which lead to the callables. All that looks
like garbage is scanned again before it is given up: if a thread has taken a reference, everything is put back.
"""

from __future__ import annotations

import gc
import os
import sys
from collections import deque
from functools import cache
from time import perf_counter
from weakref import ref

from ..context.backend import address_of, core, new_words, words_at
from ..context.binding import binding
from ..context.numbers import FUNCTION, OPAQUE_PY_OBJECT
from ..context.py_owners import (
    CALL_AT,
    DROP_AT,
    StandIn,
    end_waiting,
    finish,
    free_block,
    n_owned,
    owned,
    owned_at,
    owner_new,
)
from .handle import has_finalizer, run_finalizer
from .identity import LISTED, NOT_KEPT, OwnRef, find_all, keep, kept, pinned, restore, unlist
from .objects import every_wrapper, let_find, type_index_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, ClassVar

__all__ = ["find_callable", "search"]


class _Node:
    """A native object, or a value of C++ (at the address 0), as the collector shall see it."""

    __slots__ = ("__weakref__", "address", "number", "targets", "value", "wrapper")

    def __init__(self, address: int) -> None:
        self.address = address
        self.number = -1  # of the callable in `owned`; -1: none
        self.value: Any = None  # the callable
        self.wrapper: Any = None  # if it is kept
        self.targets: list[_Node] = []


class _Witness:
    """Refers to all nodes and to the wrappers that refer to nodes, while a collection runs."""

    __slots__ = ("finalizable", "found", "nodes", "wrappers")

    finalizable: list[tuple[ref[Any], Any]]  # wrappers whose `__del__` must find the cycle whole
    found: list[ref[_Node]]
    nodes: list[_Node]
    wrappers: list[Any]

    def __del__(self) -> None:
        try:
            _end(self)
        except BaseException as interruption:  # a signal handler raised
            finish(_end, self, interruption)


def _end(witness: _Witness) -> None:
    if hasattr(witness, "nodes"):
        _settle(witness, [there() is not None for there in witness.found])


_N_WITNESSES = 1000
_witnesses = deque([_Witness() for _ in range(_N_WITNESSES if sys.implementation.name == "pypy" else 0)])


class _State:
    """Facts that a search leaves to later ones."""

    unproven: ClassVar[dict[int, tuple[int, int]]] = {}
    """The objects that have owners outside of closed groups, by key (_owned_by_native): the id, and how many searches
    have found this."""
    earliest = perf_counter() + 2.0
    """When an automatic collection may search again."""
    n_owned = 0  # the least number of Python objects that native code has owned since the last search
    n_garbage = 0  # nodes found by the collection in progress
    has_finalized = False  # it has called finalizers


_MOST_ROUNDS = 3
_MOST_TIMES = 2
"""Automatic collections do not search for the sake of an object that more searches have found to have other owners. The
C binding's wrappers are such owners for some time, after they have ended."""
_LATER, _LATER_IF_USEFUL = 50, 4
"""An automatic collection searches again after this many times the duration of the last search, so that searches take
2 % of the time, unless they find garbage."""
_MANY, _GROWTH = 10_000, 2
"""An automatic collection searches at once if native code owns more than _MANY Python objects, and more than _GROWTH
times the least number since the last search. Otherwise a program that makes garbage faster than the other searches find
it would fill the memory."""
is_on = os.environ.get("FFI_HPY_COLLECT") != "0"

# --- the graph ----------------------------------------------------------------------------------------------------


@cache
def _find_closure_call() -> int:
    """Return the function that is the entry point of all native functions that are made of a function and a value."""
    out = new_words(1)
    if core.function_new(owner_new(None), CALL_AT, DROP_AT, out) != 0:
        raise MemoryError
    entry: int = words_at(out[0])[3]
    core.decref(out[0])
    return entry


def find_callable(address: int) -> Any:
    """Return the Python callable that a native function is made of; None for another function, and without one."""
    if not address:
        return None
    words = words_at(address)
    return owned_at(words[5]) if words[3] == _find_closure_call() and words[6] == CALL_AT else None


def _number_of(address: int, closure_call: int) -> int:
    """Return the number of the Python object that a native object owns, -1 if it owns none of ours."""
    kind = type_index_at(address)
    words = words_at(address)
    block = 0
    if kind == FUNCTION:  # a header of 3 words, a cell of 2, and the closure
        if words[3] == closure_call and words[6] == CALL_AT:
            block = words[5]
    elif kind == OPAQUE_PY_OBJECT and words[4] == DROP_AT:
        block = words[3]
    number: int = words_at(block)[1] if block else -1
    return number


def _scan(wrappers: list[Any], owners: set[int]) -> list[_Node]:
    """Return the nodes of the closed groups that own a callable, or contain one of `owners`. Only the given wrappers
    are known to refer to native objects."""
    pins = pinned()
    first: list[int] = []
    others: list[int] = []
    is_busy = bool(pins)
    for wrapper in wrappers:
        address = wrapper._ffi_address
        if wrapper._ffi_uses or address in pins:
            is_busy = True
        elif address:
            (first if address in owners else others).append(address)
    words = _words_of(first + others)
    graph = binding.closed_groups(address_of(words), len(first), len(first) + len(others), is_busy)
    if not graph:
        return []
    try:
        return _read(words_at(graph))
    finally:
        free_block(graph)


def _words_of(addresses: list[int]) -> Any:
    words = new_words(len(addresses) + 1)
    for i, address in enumerate(addresses):
        words[i] = address
    return words


def _read(words: Any) -> list[_Node]:
    nodes = []
    at = 1
    for _ in range(words[0]):
        nodes.append(_Node(words[at]))
        at += 2 + words[at + 1]
    at = 1
    for node in nodes:
        n = words[at + 1]
        node.targets = [nodes[words[at + 2 + i]] for i in range(n)]
        at += 2 + n
    return nodes


def _find_every_wrapper() -> list[ref[Any]]:
    """Return weak references to all wrappers, and register them, so that later searches find them in the instance
    map."""
    found: list[ref[Any]] = []
    for wrapper in every_wrapper():
        found.append(OwnRef(wrapper))
        let_find(wrapper)
    return found


def _collect() -> None:
    """Collect garbage, and run finalizers, in the finalizer of a collection. If gc.disable() has been called, PyPy's
    gc.collect() refuses to be called there, unless finalizers are disabled once more."""
    try:
        gc.collect()
    except ValueError:
        gc.disable_finalizers()  # type: ignore[attr-defined]
        try:
            gc.collect()
        finally:
            gc.enable_finalizers()  # type: ignore[attr-defined]


def _find_groups(closure_call: int) -> tuple[list[_Node], list[Any]]:
    """Return the nodes of the closed groups that own Python objects, and all known wrappers."""
    end_waiting()  # the C binding's wrappers that the collection has ended leave their references to a later call
    wrappers = find_all()
    nodes = _scan(wrappers, set(kept))
    keys = _name_values(nodes, closure_call)
    if not keys.issuperset(_unproven(0)):
        found = _find_every_wrapper()
        _collect()  # the list of all objects may have begun a collection, which takes them all for alive
        end_waiting()
        wrappers = [wrapper for wrapper in (there() for there in found) if wrapper is not None]
        nodes = _scan(wrappers, set(kept))
        keys = _name_values(nodes, closure_call)
    _State.unproven = {
        key: (identity, _n_times(key, identity) + 1) for key, identity in _owned_by_native() if key not in keys
    }
    return nodes, wrappers


def _name_values(nodes: list[_Node], closure_call: int) -> set[int]:
    """Set the numbers of nodes. Returns the keys of the objects that they own."""
    for node in nodes:
        if node.address:
            node.number = _number_of(node.address, closure_call)
    return {node.number for node in nodes}.union([node.address for node in nodes])


def _owned_by_native() -> Iterator[tuple[int, int]]:
    """Yield the key of each Python object that native code owns, and its id. The key is the number of a callable, and
    the address of the object of a kept wrapper."""
    for number, value in enumerate(owned):
        if value is not None:
            yield number, id(value)
    for address, strong in list(kept.items()):
        for wrapper in list(strong):
            yield address, id(wrapper)


def _n_times(key: int, identity: int) -> int:
    """Return how many searches have found that an object has other owners."""
    known, n = _State.unproven.get(key, (0, 0))
    return n if known == identity else 0


def _unproven(most: int) -> list[int]:
    """Return the keys of the objects that at most so many searches have found to have other owners."""
    return [key for key, identity in _owned_by_native() if _n_times(key, identity) <= most]


# --- one collection -----------------------------------------------------------------------------------------------


def _prepare() -> bool:
    """Show the graph to the collector, with a witness that nothing refers to. Returns False if there is none."""
    nodes, wrappers = _find_groups(_find_closure_call())
    if not any(node.number >= 0 or node.address in kept for node in nodes):
        return False
    by_address = {node.address: node for node in nodes if node.address}
    witness = _witnesses.popleft()
    _witnesses.append(_Witness())
    witness.wrappers = [wrapper for wrapper in wrappers if wrapper._ffi_address in by_address]
    witness.finalizable = [(OwnRef(wrapper), wrapper) for wrapper in wrappers if has_finalizer(wrapper)]
    witness.found = [ref(node) for node in nodes]
    witness.nodes = nodes
    try:
        _show(witness, by_address)
    except BaseException:  # a signal handler raised
        _settle(witness, [True] * len(nodes))
        del witness.nodes
        raise
    return True


def _show(witness: _Witness, by_address: dict[int, _Node]) -> None:
    for wrapper in witness.wrappers:
        address = wrapper._ffi_address
        if address not in by_address:  # a thread has just moved the object away
            continue
        wrapper._ffi_node = node = by_address[address]
        strong = kept.get(address)
        if strong and strong[0] is wrapper:
            node.wrapper = wrapper
            strong.clear()
    for node, there in zip(witness.nodes, witness.found):
        if node.number >= 0:
            node.value = owned[node.number]
            owned[node.number] = StandIn(there)


def _put_back(nodes: list[_Node]) -> None:
    for node in nodes:
        if node.number >= 0 and type(owned[node.number]) is StandIn:
            owned[node.number] = node.value
        if node.wrapper is not None:
            restore(node.wrapper)
            keep(node.wrapper)


def _settle(witness: _Witness, is_alive: list[bool]) -> None:
    """Put back the live objects, and release the garbage. Finalizers of classes run first, and then another collection
    decides, because they may resurrect objects."""
    _put_back([node for node, alive in zip(witness.nodes, is_alive) if alive])
    dead = [node for node, alive in zip(witness.nodes, is_alive) if not alive]
    addresses = {node.address for node in dead if node.address}
    wrappers = [wrapper for wrapper in witness.wrappers if wrapper._ffi_address in addresses]
    for wrapper in witness.wrappers:
        try:
            del wrapper._ffi_node
        except AttributeError:  # a signal has interrupted this function, and it runs again
            pass
    if not dead:
        return
    if not addresses.issubset([node.address for node in _scan(wrappers, addresses)]):
        _put_back(dead)  # a thread refers to an object
        _restore_all(wrappers)
        return
    waiting = [wrapper for there, wrapper in witness.finalizable if there() is None]
    if waiting:
        _put_back(dead)
        _restore_all(wrappers + waiting)
        _State.has_finalized = True
        for wrapper in waiting:
            run_finalizer(wrapper)
    else:
        _give_up(dead, wrappers)


def _restore_all(wrappers: list[Any]) -> None:
    for wrapper in wrappers:
        if wrapper._ffi_listing >= NOT_KEPT:
            restore(wrapper)


def _give_up(nodes: list[_Node], wrappers: list[Any]) -> None:
    _State.n_garbage += len(nodes)
    words = _words_of([wrapper._ffi_address for wrapper in wrappers])
    for node in nodes:
        if node.number >= 0 and type(owned[node.number]) is StandIn:
            owned[node.number] = None
        if node.wrapper is not None:  # it shall end, although native garbage refers to its object
            unlist(node.address, node.wrapper)
            node.wrapper._ffi_listing = LISTED
    binding.closed_break(address_of(words), len(wrappers))


def _search_once() -> bool:
    """Return whether another search may find more."""
    n_before = _State.n_garbage
    _State.has_finalized = False
    if _prepare():
        _collect()
    if _State.has_finalized:
        return True
    if _State.n_garbage == n_before:
        return False
    _collect()  # finalizes the wrappers
    return bool(_unproven(1))  # other owners may have ended with them


def search(is_explicit: bool) -> bool:
    """Free cycles through native objects. A search that the program has not asked for may be left out.
    Returns whether it has found any."""
    begin, n = perf_counter(), n_owned() + len(kept)
    _State.n_owned = min(_State.n_owned, n)
    is_due = begin >= _State.earliest or n > _GROWTH * max(_State.n_owned, _MANY // _GROWTH)
    if not is_on or not (is_explicit or (is_due and _unproven(_MOST_TIMES))):
        return False
    _State.n_garbage = 0
    for _ in range(_MOST_ROUNDS):
        if not _search_once():
            break
    now = perf_counter()
    _State.n_owned = n_owned() + len(kept)
    _State.earliest = now + (now - begin) * (_LATER_IF_USEFUL if _State.n_garbage else _LATER)
    return _State.n_garbage != 0
