"""Object: identity, handles that move, and the metaclass."""

import copy
import pickle
import threading
import weakref

import pytest
from support import HAS_DICT, collect_garbage, needs_identity, needs_one_wrapper, unique_name

import ffi_hpy
from ffi_hpy import _core
from ffi_hpy.dataclasses import py_class

NO_HANDLE = "has no native object: it was moved away or never initialised"


def test_a_class_without_slots_gets_empty_ones():
    class Plain(ffi_hpy.Object):
        pass

    class Deeper(Plain):
        pass

    assert Plain.__slots__ == ()
    assert Deeper.__slots__ == ()


@pytest.mark.skipif(HAS_DICT, reason="PyPy gives every HPy object a __dict__")
def test_instances_have_no_dict_unless_the_class_asks_for_one():
    class Plain(ffi_hpy.Object):
        pass

    class WithDict(ffi_hpy.Object):
        __slots__ = ("__dict__",)

    plain, with_dict = Plain.__new__(Plain), WithDict.__new__(WithDict)
    assert not hasattr(plain, "__dict__")
    with pytest.raises(AttributeError):
        plain.note = 1
    with_dict.note = 1
    assert with_dict.note == 1


@pytest.mark.parametrize("slots", ["__weakref__", ("__weakref__",), ["__dict__", "__weakref__"]])
def test_a_class_may_ask_for_weak_references_everywhere(slots):
    class Weak(ffi_hpy.Object):
        __slots__ = slots

    instance = Weak.__new__(Weak)
    assert weakref.ref(instance)() is instance


def test_a_class_may_declare_further_slots():
    class WithSlot(ffi_hpy.Object):
        __slots__ = ("note",)

    instance = WithSlot.__new__(WithSlot)
    instance.note = [1]
    assert instance.note == [1]


def test_objects_are_abstract_base_classes_too():
    from abc import abstractmethod

    class Abstract(ffi_hpy.Object):
        @abstractmethod
        def work(self):
            """Do it."""

    assert Abstract.__abstractmethods__ == {"work"}


def second_wrapper(testing, pair):
    """Return another wrapper of the object: callbacks receive their own wrapper."""
    seen = []
    testing.apply(seen.append, pair)
    assert seen[0] is not pair
    return seen[0]


def test_two_wrappers_of_one_object_are_equal_and_hash_alike(testing, classes):
    pair = classes.TestIntPair(1, 2)
    again = second_wrapper(testing, pair)
    assert again == pair
    assert not (again != pair)  # noqa: SIM202
    assert hash(again) == hash(pair)
    assert again.same_as(pair)
    assert again.is_(pair)
    assert {pair: "found"}[again] == "found"


def test_two_objects_of_equal_contents_are_not_equal(classes):
    one, other = classes.TestIntPair(1, 2), classes.TestIntPair(1, 2)
    assert one != other
    assert not one.same_as(other)
    assert not one.is_(other)


@pytest.mark.parametrize("other", [None, 1, "text", object()], ids=repr)
def test_an_object_equals_nothing_that_is_not_an_object(classes, other):
    pair = classes.TestIntPair(1, 2)
    assert pair != other
    assert not (pair == other)  # noqa: SIM201
    assert not pair.same_as(other)


def test_objects_have_no_order(classes):
    with pytest.raises(TypeError):
        classes.TestIntPair(1, 2) < classes.TestIntPair(1, 2)  # noqa: B015


def test_use_count_counts_wrappers(testing, classes):
    pair = classes.TestIntPair(1, 2)
    assert pair.__use_count__() == 1
    again = second_wrapper(testing, pair)
    assert pair.__use_count__() == again.__use_count__() == 2
    assert testing.object_use_count(pair) == 2


def test_type_index_is_that_of_the_type(classes):
    index = _core.type_key_to_index("testing.TestIntPair")
    assert classes.TestIntPair(1, 2).__type_index__() == index
    assert _core.type_info(index)[0] == "testing.TestIntPair"


def test_repr_shows_the_fields(classes):
    assert repr(classes.TestIntPair(1, 2)) == "testing.TestIntPair(a=1, b=2)"


# --- handles that move ----------------------------------------------------------------------------------------------


def test_a_wrapper_that_was_never_initialised_has_no_handle(classes):
    empty = classes.TestIntPair.__new__(classes.TestIntPair)
    assert empty.__chandle__() == 0
    assert empty.__use_count__() == 0
    assert "chandle=None" in repr(empty)


def test_move_handle_from_empties_the_other_wrapper(classes):
    source = classes.TestIntPair(1, 2)
    handle = source.__chandle__()
    target = classes.TestIntPair.__new__(classes.TestIntPair)
    target.__move_handle_from__(source)
    assert (target.__chandle__(), source.__chandle__()) == (handle, 0)
    assert (target.a, target.__use_count__()) == (1, 1)


def test_move_handle_from_drops_the_earlier_object(testing, classes):
    first, second = classes.TestIntPair(1, 2), classes.TestIntPair(3, 4)
    witness = second_wrapper(testing, first)
    first.__move_handle_from__(second)
    assert witness.__use_count__() == 1
    assert first.a == 3


def test_move_handle_from_itself_changes_nothing(classes):
    pair = classes.TestIntPair(1, 2)
    pair.__move_handle_from__(pair)
    assert (pair.a, pair.__use_count__()) == (1, 1)


def test_move_handle_from_refuses_values_that_are_not_objects(classes):
    pair = classes.TestIntPair(1, 2)
    with pytest.raises(TypeError, match="must be a CObject, not int"):
        pair.__move_handle_from__(3)
    assert pair.a == 1


def use_field(pair, testing):
    return pair.a


def use_method(pair, testing):
    return pair.sum()


def use_as_argument(pair, testing):
    return testing.echo(pair)


def use_in_a_list(pair, testing):
    return testing.echo([1, pair])


def use_type_index(pair, testing):
    return pair.__type_index__()


def use_moved_again(pair, testing):
    return testing.echo(pair._move())


@pytest.mark.parametrize(
    "use", [use_field, use_method, use_as_argument, use_in_a_list, use_type_index, use_moved_again]
)
def test_a_wrapper_without_a_handle_refuses_to_be_used(testing, classes, use):
    pair, elsewhere = classes.TestIntPair(1, 2), classes.TestIntPair.__new__(classes.TestIntPair)
    elsewhere.__move_handle_from__(pair)
    with pytest.raises(ValueError, match=NO_HANDLE):
        use(pair, testing)
    assert elsewhere.a == 1


def test_two_wrappers_without_a_handle_can_be_compared_and_hashed(classes):
    one, other = (classes.TestIntPair.__new__(classes.TestIntPair) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)


def test_a_moved_argument_arrives_with_one_reference(testing, classes):
    pair = classes.TestIntPair(1, 2)
    assert testing.apply(lambda x: x.__use_count__(), pair) > 1
    pair = classes.TestIntPair(1, 2)
    assert testing.apply(lambda x: x.__use_count__(), pair._move()) == 1
    assert pair.__chandle__() == 0


def test_a_callee_that_takes_a_moved_argument_leaves_the_wrapper_empty(testing, classes):
    pair = classes.TestIntPair(1, 2)
    returned = testing.echo(pair._move())
    assert pair.__chandle__() == 0
    assert (returned.a, returned.__use_count__()) == (1, 1)
    with pytest.raises(ValueError, match=NO_HANDLE):
        pair.a  # noqa: B018


def test_a_callee_that_does_not_take_a_moved_argument_leaves_it(testing, classes):
    pair = classes.TestIntPair(1, 2)
    testing.nop(pair._move())
    assert pair.a == 1


def test_an_rvalue_ref_is_made_of_an_object_only(classes):
    pair = classes.TestIntPair(1, 2)
    assert isinstance(pair._move(), ffi_hpy.core.ObjectRValueRef)
    assert isinstance(ffi_hpy.core.ObjectRValueRef(obj=pair), ffi_hpy.core.ObjectRValueRef)
    for wrong, says in (
        ((), "missing required argument: 'obj'"),
        ((3,), "expected a CObject, got int"),
        ((pair, pair), "at most 1"),
    ):
        with pytest.raises(TypeError, match=says):
            ffi_hpy.core.ObjectRValueRef(*wrong)


def test_init_handle_by_constructor_steals_the_function_s_result(testing, classes):
    pair = classes.TestIntPair.__new__(classes.TestIntPair)
    made = classes.TestIntPair(5, 6)
    pair.__init_handle_by_constructor__(testing.echo, made)
    assert pair.same_as(made)
    assert pair.__use_count__() == 2


def test_init_handle_by_constructor_refuses_a_function_that_returns_no_object(testing, classes):
    pair = classes.TestIntPair(1, 2)
    with pytest.raises(TypeError, match="must return an object"):
        pair.__init_handle_by_constructor__(testing.echo, 3)
    with pytest.raises(TypeError, match="argument 1 must be a Function"):
        pair.__init_handle_by_constructor__(lambda: 3)
    with pytest.raises(TypeError):
        pair.__init_handle_by_constructor__()
    assert pair.a == 1


def test_init_handle_by_constructor_passes_errors_on(testing, classes):
    pair = classes.TestIntPair(1, 2)
    with pytest.raises(KeyError, match="no"):
        pair.__init_handle_by_constructor__(testing.test_raise_error, "KeyError", "no")
    assert pair.a == 1


# --- copies and pickles ---------------------------------------------------------------------------------------------


class WithAttributes(ffi_hpy.Array):
    __slots__ = ("__dict__",)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_an_object_is_pickled_with_its_graph_and_attributes(classes, protocol):
    array = ffi_hpy.Array([1, "a text of some length", [2.5, None, 2**70]])
    assert pickle.loads(pickle.dumps(array, protocol)) == array
    decorated = WithAttributes([1])
    decorated.note = ["mine"]
    back = pickle.loads(pickle.dumps(decorated, protocol))
    assert (type(back), back, back.note) == (WithAttributes, [1], ["mine"])
    empty = pickle.loads(pickle.dumps(ffi_hpy.Array.__new__(ffi_hpy.Array), protocol))
    assert empty.__chandle__() == 0


def test_the_state_of_an_object_can_be_given_to_another(classes):
    pair = classes.TestIntPair(3, 4)
    other = classes.TestIntPair.__new__(classes.TestIntPair)
    other.__setstate__(pair.__getstate__())
    assert (other.a, other.b) == (3, 4)
    assert not other.same_as(pair)
    assert copy.copy(pair).b == copy.deepcopy(pair).b == 4


def test_a_function_is_pickled_by_its_name_or_its_python_callable(testing):
    for value in (testing.echo, ffi_hpy.convert(abs)):
        (inside,), outside = pickle.loads(pickle.dumps((ffi_hpy.Array([value]), value)))
        assert inside(-4) == outside(-4) == value(-4)
        assert type(outside) is ffi_hpy.Function
    (inside,) = pickle.loads(pickle.dumps(ffi_hpy.Array([ffi_hpy.get_global_func("ffi.ArraySize")])))
    assert inside([1, 2]) == 2


@ffi_hpy.register_global_func("test_object.doubled", override=True)
def doubled(x):
    return 2 * x


class Listed(list):
    def __call__(self, x):
        return len(self) + x


def test_a_registered_function_is_pickled_by_the_name_of_its_module_or_its_global_name():
    tripled = f"test_object.tripled_{threading.get_ident()}"
    ffi_hpy.register_global_func(tripled, lambda x: 3 * x, override=True)
    for name, result in (("test_object.doubled", 8), (tripled, 12)):
        function = ffi_hpy.get_global_func(name)
        assert pickle.loads(pickle.dumps(function))(4) == result
        assert pickle.loads(pickle.dumps(ffi_hpy.Array([function])))[0](4) == result


def test_a_callable_that_is_a_sequence_is_pickled_as_a_function():
    function = ffi_hpy._core.function_from_callable(Listed([1, 2]))
    back, (inside,) = pickle.loads(pickle.dumps((function, ffi_hpy.Array([function]))))
    assert (type(back), back(3), inside(3)) == (ffi_hpy.Function, 5, 5)


def test_a_function_without_a_name_is_not_pickled(testing):
    nameless = ffi_hpy.Function.__from_extern_c__(testing.get_add_one_c_symbol())
    for value in (ffi_hpy.Array([nameless]), nameless):
        with pytest.raises(TypeError, match="cannot pickle"):
            pickle.dumps(value)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (None, "expected a dict, got NoneType"),
        (5, "expected a dict, got int"),
        ({}, "expected the keys 'handle' and perhaps 'objects' and 'attributes', got []"),
        ({"attributes": {}}, "got [\"'attributes'\"]"),
        ({"handle": None, 5: 6}, "got [\"'handle'\", '5']"),
        ({"handle": 5}, "expected a str or None as 'handle', got int"),
        ({"handle": None, "attributes": None}, "expected a dict with str keys as 'attributes', got NoneType"),
        ({"handle": None, "attributes": {5: 6}}, "expected a dict with str keys as 'attributes', got dict"),
        ({"handle": None, "attributes": {"note": 1}}, "an instance of this class has no attributes, got ['note']"),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    "make",
    [
        lambda: ffi_hpy.Array([1]),
        lambda: ffi_hpy.List([1]),
        lambda: ffi_hpy.Map({}),
        lambda: ffi_hpy.Dict({}),
        lambda: ffi_hpy.Error("E", "m", ""),
        lambda: ffi_hpy.convert(len),
        lambda: ffi_hpy.convert(object()),
        lambda: ffi_hpy.access_path.AccessPath.root(),
        lambda: ffi_hpy.Array.__new__(ffi_hpy.Array),
    ],
    ids=["Array", "List", "Map", "Dict", "Error", "Function", "OpaquePyObject", "AccessPath", "without an object"],
)
def test_a_state_that_is_none_is_refused_by_its_name(make, state, said):
    value = make()
    before = value.__chandle__()
    if "no attributes" in said and hasattr(value, "__dict__"):
        value.__setstate__(state)
        assert value.note == 1
        return
    with pytest.raises(TypeError) as caught:
        value.__setstate__(state)
    assert str(caught.value).startswith(f"{type(value).__name__}.__setstate__() takes the result of __getstate__(): ")
    assert said in str(caught.value)
    assert value.__chandle__() == before


def test_a_state_of_another_class_is_refused():
    array = ffi_hpy.Array([1])
    with pytest.raises(TypeError, match=r"^Array\.__setstate__\(\): the graph is of an instance of Map$"):
        array.__setstate__(ffi_hpy.Map({"k": 1}).__getstate__())
    assert array == [1]
    for nonsense in ("", "nonsense", "{}", "[]", '{"root_index": 0, "nodes": [{"type": "int", "data": 1}]}'):
        with pytest.raises((TypeError, ValueError)):
            array.__setstate__({"handle": nonsense})
        assert array == [1]


# --- methods for attributes -------------------------------------------------------------------------------------------


@py_class(f"{unique_name('attributes')}.Noted")
class Noted(ffi_hpy.Object):
    v: int


def methods_that_note(names):
    """Return methods for attributes that append the names of the attributes to `names`, and refuse `refused`."""

    def assign(self, name, value):
        names.append(name)
        if name == "refused":
            raise AttributeError(name)
        object.__setattr__(self, name, value)

    def access(self, name):
        names.append(name)
        return object.__getattribute__(self, name)

    def lookup(self, name):
        names.append(name)
        raise AttributeError(name)

    return {"__setattr__": assign, "__getattribute__": access, "__getattr__": lookup}


def noting_class(way, methods):
    slots = {"__slots__": ("__dict__",)}
    if way == "body":
        return type("Derived", (Noted,), {**slots, **methods})
    if way == "mixin":
        return type("Derived", (type("Mixin", (), {"__slots__": (), **methods}), Noted), slots)
    made = type("Derived", (Noted,), slots)
    for name, method in methods.items():
        setattr(made, name, method)
    return made


@needs_one_wrapper
@needs_identity
@pytest.mark.parametrize("way", ["body", "mixin", "later"])
def test_methods_of_a_class_for_attributes_get_only_those_of_the_program(way):
    names = []
    cls = noting_class(way, methods_that_note(names))
    derived = cls(3)
    assert derived.v == 3
    derived.own = 4
    with pytest.raises(AttributeError, match="refused"):
        derived.refused = 5
    with pytest.raises(AttributeError, match="missing"):
        _ = derived.missing
    kept = ffi_hpy.List([derived])
    del derived
    collect_garbage()
    assert (kept[0].own, kept[0].v) == (4, 3)
    assert {"v", "own", "refused", "missing"} <= set(names)
    assert not [name for name in names if name.startswith("_") and not name.startswith("__")]
