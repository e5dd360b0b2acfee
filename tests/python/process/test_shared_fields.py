"""Objects that threads share while one thread assigns a field: objects of built-in types, and copies."""

import copy
from typing import Any

import pytest
from support import IS_DEBUG, IS_OWN_DEBUG, NO_THREADS, parallelize, race, unique_name

import ffi_hpy
from ffi_hpy import _core, structural
from ffi_hpy.access_path import AccessPath
from ffi_hpy.dataclasses import EnumState, IntEnum, StrEnum, entry, py_class
from ffi_hpy.serialization import from_json_graph_str, to_json_graph_str

pytestmark = pytest.mark.skipif(IS_DEBUG, reason=NO_THREADS)

LONG = "a text so long that it is on the heap"


def setter_of(cls: Any, name: str) -> Any:
    """Return the setter of a field of a class, although the field cannot be assigned."""
    info = cls.__tvm_ffi_type_info__
    while all(field.name != name for field in info.fields):
        info = info.parent_type_info
    return next(field.setter for field in info.fields if field.name == name)


def test_a_structural_key_may_change_while_others_compare_it():
    key, other = structural.StructuralKey([LONG]), structural.StructuralKey([LONG])
    set_key = setter_of(structural.StructuralKey, "key")

    def change():
        set_key(key, ffi_hpy.Array([LONG]))

    def read():
        for _ in range(100):
            assert key == other

    race(read, read, lambda: copy.copy(key), change, change, seconds=1)


def test_an_access_path_may_change_while_others_read_it():
    root = AccessPath.root()
    path, other = (root.attr(LONG).array_item(1).map_item(LONG) for _ in range(2))
    set_parent, set_step = setter_of(AccessPath, "parent"), setter_of(AccessPath, "step")

    def change():
        set_parent(path, root.attr(LONG).array_item(1))
        set_step(path, root.map_item(LONG).step)

    def read():
        for _ in range(20):
            assert path == other
            assert len(path.to_steps()) == 3
        assert other.is_prefix_of(path)
        assert repr(path) == repr(other)
        assert copy.copy(path) == other

    race(read, read, change, change, seconds=1)


def test_a_step_may_change_while_others_read_it():
    step = AccessPath.root().map_item(LONG).step
    set_kind, set_key = setter_of(type(step), "kind"), setter_of(type(step), "key")

    def change():
        for kind in range(6):
            set_kind(step, kind)
            set_key(step, f"{LONG}, {kind}")

    race(lambda: repr(step), lambda: step.key, lambda: copy.copy(step), change, change, seconds=1)


def test_a_variant_may_change_while_others_read_it():
    class Word(StrEnum, type_key=unique_name()):
        one = entry(value="one")

    set_text = setter_of(Word, "_str_index")
    listed = ffi_hpy.List([Word.one])

    def change():
        for i in range(10):
            set_text(Word.one, f"{LONG}, {i}")

    race(
        lambda: repr(listed), lambda: to_json_graph_str(listed), lambda: Word.one._str_index, change, change, seconds=1
    )


def test_the_tables_of_an_enum_may_be_replaced_while_others_look_into_them():
    class Color(IntEnum, type_key=unique_name()):
        red = entry(value=1)
        green = entry(value=2)

    @py_class(unique_name())
    class Painted(ffi_hpy.Object):
        color: Color

    state = _core.type_attr(Color.__tvm_ffi_type_info__.type_index, "__ffi_enum__")
    set_indexes, set_entries = setter_of(EnumState, "indexes"), setter_of(EnumState, "entries")
    indexes, entries = dict(state.indexes.items()), list(state.entries)
    painted, graph = Painted(Color.red), to_json_graph_str(ffi_hpy.Array([Color.green]))

    def change():
        set_indexes(state, ffi_hpy.Dict(indexes))
        set_entries(state, ffi_hpy.List(entries))

    def read():
        painted.color = 2
        for found in (painted.color, from_json_graph_str(graph)[0]):
            assert found.same_as(Color.green)
            assert found is Color.green or IS_OWN_DEBUG  # which has several wrappers of one object
        assert list(Color) == [Color.red, Color.green]
        assert len(copy.copy(state).entries) == 2

    race(read, read, change)


def test_an_interrupt_may_change_while_others_read_it():
    interrupt = structural.VisitInterrupt(LONG)
    set_value = setter_of(structural.VisitInterrupt, "value")
    race(
        lambda: repr(interrupt),
        lambda: copy.copy(interrupt),
        lambda: interrupt.value,
        lambda: set_value(interrupt, str(LONG)),
        lambda: set_value(interrupt, str(LONG)),
    )


def test_a_deep_copy_shares_nothing_with_an_object_that_another_thread_assigns():
    @py_class(unique_name())
    class Box(ffi_hpy.Object):
        content: Any = 1

    box, content = Box(), ffi_hpy.List([1])

    def assign():
        for _ in range(100):
            box.content = content
            box.content = 1

    def read():
        copied = copy.deepcopy(box).content
        assert copied == 1 or not copied.same_as(content)

    race(read, read, assign, seconds=1)


def test_callbacks_of_several_walks_may_return_one_error():
    @py_class(unique_name())
    class Payload(ffi_hpy.Object):
        number: int

    def fail(i):
        error = errors[i]
        with pytest.raises(ValueError, match="shared"):
            structural.structural_walk([[LONG]], (str, lambda _: error))

    for i in range(100):
        payload = Payload(i)
        errors = [ffi_hpy.Error("ValueError", "shared", "", None, payload)] * 4
        parallelize(fail)
        assert errors[0].extra_context.prev_error_context.same_as(payload)
