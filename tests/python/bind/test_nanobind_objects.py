"""Libraries that were written for nanobind: objects of Python, their classes, and arguments that are None."""

from __future__ import annotations

import array
import collections
import ctypes
import datetime
import threading
import types

import pytest
from support import IS_PYPY, collect_garbage, needs_identity, needs_one_wrapper

from ffi_hpy import libinfo

pytestmark = [needs_one_wrapper, needs_identity]


@pytest.fixture(scope="module")
def objects(import_bound):
    return import_bound("nanobind_objects", f"-I{libinfo.find_nanobind_include_path()}")


class Thing:
    def __init__(self):
        self.text, self.items, self.number = "a", [1, 2], 5


def test_variables_of_the_classes_refer_to_nothing_at_first(objects):
    assert objects.is_any_valid() is False
    assert objects.empty_arguments() == ((), {})


def test_a_library_defines_a_class_of_objects(objects):
    assert objects.total(collections.Counter("aab")) == 3
    assert objects.total.__doc__ == "total(arg: collections.Counter, /) -> int"
    with pytest.raises(TypeError):
        objects.total([1])


def test_an_attribute_becomes_an_object_of_any_class(objects):
    thing = Thing()
    assert objects.converted(thing) == ("a", [1, 2], "5", True)
    assert objects.converted(thing)[1] is thing.items
    assert objects.returned(thing) is thing.items
    assert objects.appended_to(thing) is thing.items
    assert thing.items == [1, 2, 3]


def test_a_class_is_recognized_as_a_class(objects):
    assert [objects.is_type(each) for each in (int, objects.Item, 5)] == [(True, True), (True, True), (False, True)]


def test_attributes_and_handles_have_the_operators_that_assign(objects):
    assert objects.in_place(Thing()) == (6, 2)
    assert objects.in_place_handle([1], [2]) == [1, 2]
    with pytest.raises(TypeError):
        objects.in_place_handle({1}, [2])


def test_a_mapping_contains_a_key(objects):
    for values in ({"a": 1}, types.MappingProxyType({"a": 1}), collections.UserDict(a=1)):
        assert objects.contains(values, 1) == (False, True)


class ByNumber:
    def __getitem__(self, index):
        return [1, 2][index]


class Endless:
    def __next__(self):
        return 1


class Table:
    def __getitem__(self, key):
        return key

    def keys(self):
        return ["a"]


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        (array.array("d", [1]), (True, False, True, False, True)),
        (ByNumber(), (True, False, True, False, True)),
        ("text", (True, False, True, False, True)),
        (Table(), (True, True, True, False, True)),
        ({}, (False, True, True, False, True)),
        (types.MappingProxyType({}), (False, True, True, False, True)),
        (Endless(), (False, False, False, True, True)),
        (iter([]), (False, False, True, True, True)),
        ({1}, (False, False, True, False, True)),
        (5, (False, False, False, False, True)),
    ],
)
def test_methods_make_a_value_a_sequence_a_mapping_or_an_iterator(objects, value, kinds):
    assert objects.kinds(value) == kinds


def test_an_array_of_numpy_is_a_sequence_and_a_number_is_not(objects):
    np = pytest.importorskip("numpy")
    assert objects.kinds(np.zeros(2)) == (True, False, True, False, True)
    assert objects.kinds(np.float32(1))[:2] == (False, False)


def test_iterators_are_equal_at_one_item(objects):
    assert objects.iterators([1, 2]) == (True, False, True)


def test_a_capsule_may_have_no_name(objects):
    assert objects.capsule_names() == (True, "number", True, True, True)
    with pytest.raises(ValueError, match="number"):
        objects.capsule_of_other_name()


@pytest.mark.parametrize("name", [None, "a name", "\u00e9" * 100])
def test_a_capsule_is_one_of_the_interpreter(objects, name):
    before = objects.n_capsules_ended()
    capsule = objects.new_capsule(name)
    assert type(capsule).__name__ == "PyCapsule"
    assert objects.capsule_name(capsule) == name
    if not IS_PYPY:
        is_valid = ctypes.pythonapi.PyCapsule_IsValid
        is_valid.argtypes = (ctypes.py_object, ctypes.c_char_p)
        assert is_valid(capsule, None if name is None else name.encode())
    del capsule
    collect_garbage()
    assert objects.n_capsules_ended() - before == 1


@pytest.mark.skipif(IS_PYPY, reason="datetime is written in Python there")
def test_a_capsule_of_another_library_is_read(objects):
    assert objects.capsule_name(datetime.datetime_CAPI) == "datetime.datetime_CAPI"


@pytest.mark.parametrize("value", [1, "text", object(), None])
def test_another_object_is_not_a_capsule(objects, value):
    with pytest.raises(TypeError, match="incompatible function arguments"):
        objects.capsule_name(value)


class Unequal:
    def __eq__(self, other):
        return False

    def __ne__(self, other):
        return True

    __hash__ = None


def test_an_object_equals_itself(objects):
    nan = float("nan")
    assert objects.is_same_or_equal(Unequal, Unequal) == (True, False)
    unequal = Unequal()
    assert objects.is_same_or_equal(unequal, unequal) == (True, False)
    assert objects.is_same_or_equal(unequal, Unequal()) == (False, True)
    assert objects.is_same_or_equal(nan, 1.0) == (False, True)
    assert objects.is_same_or_equal(1, 1.0) == (True, False)


def test_objects_of_a_class_with_an_equality_stay_keys(objects):
    one, same = objects.Equal(1), objects.Equal(1)
    assert one == same
    assert {one: "a"}[one] == "a"

    class Derived(objects.Equal):
        def __eq__(self, other):
            return True

    assert Derived.__hash__ is None


def test_methods_of_cpp_for_attributes(objects):
    value = objects.Attributes()
    assert value.magic == 42
    value.x = 3
    value.y = 4
    with pytest.raises(AttributeError, match="other"):
        _ = value.other
    assert [value][0].log() == "xy7"


@pytest.mark.parametrize("value", [5, None, object(), int])
def test_a_constructor_of_another_object(objects, value):
    with pytest.raises(TypeError, match="Equal"):
        objects.Equal.__init__(value, 1)


@pytest.mark.parametrize("value", [5, True, "text", None, 1.5])
def test_bytes_are_made_of_buffers_and_iterables_alone(objects, value):
    with pytest.raises(TypeError, match="cannot convert"):
        objects.bytes_of(value)
    assert objects.bytes_of(bytearray(b"ab")) == objects.bytes_of([97, 98]) == objects.bytes_of(b"ab") == b"ab"


def test_a_submodule_may_have_no_documentation(objects):
    assert objects.inner.__doc__ is None
    assert objects.size == 3


def test_a_function_becomes_an_attribute_of_its_scope(objects):
    module = types.ModuleType("scope")
    objects.set_function(module)
    assert module.next(x=1) == 2


@pytest.mark.parametrize("name", ["takes_handle", "takes_any"])
def test_a_parameter_refuses_none(objects, name):
    assert getattr(objects, name)(1) is False
    with pytest.raises(TypeError, match="incompatible function arguments"):
        getattr(objects, name)(None)


def test_a_constructor_of_the_author_refuses_none(objects):
    objects.Placed(1)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        objects.Placed(None)


def test_none_is_an_argument_where_the_author_says_so(objects):
    assert objects.takes_none(None)
    assert objects.has_default()
    assert objects.has_default(None)
    assert objects.takes_none.__doc__ == "takes_none(arg: object | None, /) -> bool"
    assert objects.has_default.__doc__ == "has_default(value: object | None = None) -> bool"


def test_none_is_for_the_overload_that_accepts_it(objects):
    assert (objects.takes(None), objects.takes(1)) == ("optional", "object")


def test_none_as_the_value_of_a_member(objects):
    item = objects.Item()
    item.optional = None
    assert item.optional is None
    for set_value in (item.set, lambda value: setattr(item, "value", value)):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            set_value(None)
        set_value(5)
        assert item.value == 5


def test_a_member_without_a_value_is_a_type_error(objects):
    with pytest.raises(TypeError):
        print(objects.Item().value)


def test_a_cast_that_fails_throws_the_exception_of_cpp(objects):
    assert (objects.cast_fails(5), objects.cast_fails("a")) == (5, -1)


@pytest.mark.parametrize(("which", "kind"), [(0, BufferError), (1, RuntimeError)])
def test_exceptions_by_their_type(objects, which, kind):
    with pytest.raises(kind, match="by its type"):
        objects.throw_type(which)


def test_the_next_overload_may_have_a_reason(objects):
    assert objects.skips(2) == 2.0


def test_an_error_without_a_cause_is_chained_to_nothing(objects):
    with pytest.raises(TypeError, match="no cause") as caught:
        objects.chain_nothing()
    assert caught.value.__cause__ is None


def test_overloads_get_python_objects_if_one_of_them_does(objects):
    for value in ([1, [2]], {1: 2}, (1, 2), len, object()):
        assert objects.itself(value) is value
    assert objects.itself(1, 2) == "two numbers"


def test_methods_get_python_objects_if_one_overload_does(objects):
    values = [1, [2]]
    several = objects.Several(values)
    assert several.value is values
    assert objects.Several(1, 2).value == 3
    assert (several.itself(values), several.itself(1, 2), objects.Several.list(values)) == (values, 2, values)
    assert several.itself(values) is values
    assert objects.Several.list(values) is values


def test_a_callback_returns_python_objects(objects):
    values, table = [1, [2]], {1: 2}
    for value in (values, table, (1, 2), len):
        assert objects.call(lambda given: given, value) is value
    assert objects.call_for_list(lambda given: values if given is table else [], table) is values
    assert objects.call_first([lambda: values]) is values


def test_an_override_returns_python_objects(objects):
    values, table, pair = [1, [2]], {1: 2}, (1, 2)

    class Mine(objects.Source):
        def object(self, given):
            assert super().object(given) is given
            return given

        def list(self):
            assert super().list() == []
            return values

        def dict(self):
            return table

        def objects(self):
            return [values]

        def tuple(self):
            return pair

    found = objects.read(Mine(), table)
    assert [a is b for a, b in zip(found, (table, values, table, values, pair))] == [True] * 5


class Real(float):
    """As numpy.float64, a class that derives from float."""


def test_an_overload_refuses_conversions_although_another_one_does_not(objects):
    assert (objects.exact(1.5), objects.exact("a")) == ("float", "str")
    for value in (Real(1.5), 1):
        with pytest.raises(TypeError):
            objects.exact(value)


def test_a_bool_is_an_int_only_by_a_conversion(objects):
    assert [objects.int_or_bool(each) for each in (True, 1)] == ["bool", "int"]
    assert [objects.alternative(each) for each in (True, 1)] == [1, 0]
    assert [objects.fits_int(each) for each in (True, 1)] == [False, True]
    assert (objects.int_of(True), objects.int_only(1), objects.number_of(True)) == (1, 1, 1)
    with pytest.raises(TypeError):
        objects.int_only(True)


@pytest.mark.thread_unsafe(reason="the flag is one for all threads")
def test_one_overload_releases_the_gil(objects):
    thread = threading.Thread(target=objects.wait)
    thread.start()
    objects.set()
    thread.join()
    objects.wait(1)


def test_a_visitor_may_change_itself(objects):
    assert objects.Visited().visited() == 1
