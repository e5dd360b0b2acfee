"""Structural comparison, keys, walks and rewriting; access paths; the JSON graph."""

import pickle
import typing

import pytest

import ffi_hpy
from ffi_hpy import Array, Dict, List, Map, VisitInterrupt, WalkOrder, WalkResult
from ffi_hpy.access_path import AccessKind, AccessPath
from ffi_hpy.serialization import from_json_graph_str, to_json_graph_str
from ffi_hpy.structural import (
    StructuralKey,
    get_first_structural_mismatch,
    structural_equal,
    structural_hash,
    structural_map,
    structural_mutate,
    structural_visit,
    structural_walk,
)

NESTED = {"a": [1, {"b": (2, [None, "x"])}], "c": []}

# --- comparison -----------------------------------------------------------------------------------------------------


def test_equal_structures_are_equal_and_hash_alike():
    other = {"c": [], "a": [1, {"b": (2, [None, "x"])}]}
    assert structural_equal(NESTED, other)
    assert structural_hash(NESTED) == structural_hash(other)
    assert not structural_equal(NESTED, {"a": 1})
    assert not structural_equal(Array([1]), List([1]))
    assert not structural_equal(1, 1.0)


def test_the_first_mismatch_is_a_pair_of_paths():
    left, right = Map(NESTED), Map({"a": [1, {"b": (2, [None, "y"])}], "c": []})
    assert get_first_structural_mismatch(left, left) is None
    ours, theirs = get_first_structural_mismatch(left, right)
    expected = AccessPath.root().map_item("a").array_item(1).map_item("b").array_item(1).array_item(1)
    assert ours == theirs == expected
    shorter, _ = get_first_structural_mismatch([1], [1, 2])
    assert [step.kind for step in shorter.to_steps()] == [AccessKind.ARRAY_ITEM_MISSING]


def test_keys_find_equal_structures():
    table = {StructuralKey([1, {"a": 2}]): "first", StructuralKey([2]): "second"}
    assert table[StructuralKey([1, {"a": 2}])] == "first"
    assert StructuralKey([1]) != StructuralKey([2])
    assert StructuralKey([1]) != 3
    assert StructuralKey([1]).__hash__() == structural_hash([1])
    assert Map({StructuralKey("a key of some length"): 1})[StructuralKey("a key of some length")] == 1


def test_a_function_has_no_structure():
    function = ffi_hpy.convert(lambda: None)
    with pytest.raises(TypeError, match=r"ffi\.Function"):
        structural_equal([function], [ffi_hpy.convert(lambda: None)])


# --- walks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "expected"),
    [("pre", ["Array", 1, "Array", 2.5, "x"]), ("post", [1, 2.5, "x", "Array", "Array"]), (WalkOrder.PREORDER, None)],
    ids=str,
)
def test_a_walk_meets_everything_in_order(order, expected):
    seen = []
    callbacks = [(Array, lambda value: seen.append("Array")), ((int, float, str), seen.append)]
    assert structural_walk([1, [2.5, "x"]], callbacks, order=order) is None
    assert seen == (expected or ["Array", 1, "Array", 2.5, "x"])


def test_a_walk_can_skip_and_stop():
    seen = []
    assert (
        structural_walk(
            [[1], 2], [(Array, lambda a: WalkResult.SKIP if len(a) == 1 else None), (int, seen.append)], order="pre"
        )
        is None
    )
    assert seen == [2]
    found = structural_walk([1, 2, 3], (int, lambda n: VisitInterrupt({"found": n}) if n == 2 else None))
    assert dict(found.value) == {"found": 2}


@pytest.mark.parametrize("everything", [typing.Any, object])
def test_one_callback_can_take_everything(everything):
    kinds = []
    structural_walk([1, "a"], (everything, lambda value: kinds.append(type(value).__name__)))
    structural_walk([1], lambda value: kinds.append(type(value).__name__))
    assert kinds == ["int", "str", "Array", "int", "Array"]


@pytest.mark.parametrize(
    ("callbacks", "says"),
    [(3, "not int"), (["x"], "must be"), ([(int, 3)], "must be"), ((dict, print), "not <class 'dict'>")],
    ids=str,
)
def test_callbacks_that_are_none_are_refused(callbacks, says):
    with pytest.raises(TypeError, match=says):
        structural_walk([1], callbacks)
    with pytest.raises(ValueError, match="'sideways'"):
        structural_walk([1], print, order="sideways")


def test_an_exception_of_a_callback_comes_out():
    error = KeyError("from the callback")

    def fail(value):
        raise error

    for use in (structural_walk, structural_map):
        with pytest.raises(KeyError) as caught:
            use([[1]], (int, fail))
        assert caught.value is error


def test_a_visit_goes_where_its_callbacks_go():
    seen = []

    def visit(value, visitor):
        seen.append(len(value))
        return visitor.default_visit(value[0])

    def stop(value, visitor):
        seen.append("int")
        return VisitInterrupt(value) if value == 2 else None

    result = structural_visit([[1, 2, 3], [4]], [(Array, visit), (int, stop)])
    assert (seen, result.value) == ([2, "int", "int"], 2)


# --- rewriting ------------------------------------------------------------------------------------------------------


def test_a_map_shares_unchanged_values():
    kept = Array(["x"])
    root = Array([kept, [1], {"k": 2}])
    mapped = structural_map(root, (int, lambda n: n + 10))
    assert mapped == [["x"], [11], Map({"k": 12})]
    assert mapped[0].same_as(kept)
    assert root == [["x"], [1], Map({"k": 2})]
    assert structural_map(root, (bytes, lambda b: b)).same_as(root)


def test_a_mutation_goes_where_its_callbacks_go():
    def mutate(value, mutator):
        return Array([mutator.mutate(value[0]), "end"])

    assert structural_mutate([[1, 2], 3], [(Array, mutate), (int, lambda n, mutator: -n)]) == [[-1, "end"], "end"]
    modes = []
    structural_mutate([1], (int, lambda n, mutator, mode: modes.append(mode)))
    assert modes == [0]
    with pytest.raises(TypeError, match=r"\(value, mutator\)"):
        structural_mutate([1], (int, lambda n: n))


# --- access paths ---------------------------------------------------------------------------------------------------


def test_a_path_is_its_steps():
    root = AccessPath.root()
    path = root.attr("field").array_item(3).map_item("key")
    assert [(step.kind, step.key) for step in path.to_steps()] == [
        (AccessKind.ATTR, "field"), (AccessKind.ARRAY_ITEM, 3), (AccessKind.MAP_ITEM, "key"),
    ]  # fmt: skip
    missing = (root.attr_missing("field"), root.array_item_missing(3), root.map_item_missing("key"))
    assert [(path.step.kind, path.step.key) for path in missing] == [
        (AccessKind.ATTR_MISSING, "field"), (AccessKind.ARRAY_ITEM_MISSING, 3), (AccessKind.MAP_ITEM_MISSING, "key"),
    ]  # fmt: skip
    assert (root.depth, path.depth) == (0, 3)
    assert path.parent == root.attr("field").array_item(3)
    assert path != root.attr("field").array_item(3).map_item_missing("key")
    assert path.parent.is_prefix_of(path)
    assert not path.is_prefix_of(path.parent)
    assert hash(path) == hash(root.attr("field").array_item(3).map_item("key"))
    assert root.parent is None
    assert path != 3
    with pytest.raises(ValueError, match=r"AccessPath\.root"):
        AccessPath()


# --- the JSON graph -------------------------------------------------------------------------------------------------


def test_a_graph_keeps_values_and_sharing():
    shared = List([1])
    value = Array([shared, shared, Map(NESTED), b"bytes", ffi_hpy.dtype("int8x4"), ffi_hpy.device("cuda:1")])
    back = from_json_graph_str(to_json_graph_str(value, {"made by": "a test"}))
    assert structural_equal(list(back)[2:], list(value)[2:])
    back[0].append(2)
    assert list(back[1]) == [1, 2]


@pytest.mark.parametrize("value", [Array([1, "x"]), List([1, [2]]), Map({"a": 1}), Dict({"a": [None]})], ids=repr)
def test_containers_can_be_pickled(value):
    back = pickle.loads(pickle.dumps(value))
    assert type(back) is type(value)
    assert back == value


def test_a_value_that_is_not_a_graph_is_an_error():
    with pytest.raises(TypeError, match=r"ffi\.Function"):
        to_json_graph_str([ffi_hpy.convert(lambda: None)])
    for text in ("", "{", "[]", '{"root_index": 7, "nodes": []}'):
        with pytest.raises((ValueError, TypeError)):
            from_json_graph_str(text)
