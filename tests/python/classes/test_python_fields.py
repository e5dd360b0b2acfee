"""Fields of a py_class whose class has no native type: native code holds the Python object itself."""

import collections
import copy
import datetime
import decimal
import fractions
import gc
import io
import operator
import pathlib
import pickle
import re
import typing
import weakref
from typing import Optional

import pytest
from support import FREES_AT_ONCE, unique_name

import ffi_hpy
from ffi_hpy.dataclasses import field, py_class


class User:
    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return isinstance(other, User) and other.name == self.name

    def __hash__(self):
        return hash(self.name)


class Model:
    def __init__(self, factor=2):
        self.factor = factor

    def __call__(self, x):
        return self.factor * x


class Place(typing.NamedTuple):
    x: int
    y: int


class Runs(typing.Protocol):
    def run(self): ...


class Count(int):
    pass


class Refused(ValueError):
    pass


class Table(typing.TypedDict):
    a: int


def sample(annotation, **options):
    body = {"__annotations__": {"x": annotation}, "__module__": __name__}
    cls = type(ffi_hpy.Object)("Sample", (ffi_hpy.Object,), body)
    return py_class(unique_name("python_fields.Sample"), **options)(cls)


FIELDS = {
    "datetime": (datetime.datetime, datetime.datetime(2020, 1, 2), datetime.date(2020, 1, 2)),
    "timedelta": (datetime.timedelta, datetime.timedelta(1), 1.0),
    "path": (pathlib.PurePath, pathlib.PurePath("a"), "a"),
    "set": (typing.Set[int], {1, 2}, [1]),  # noqa: UP006
    "frozenset": (typing.FrozenSet[str], frozenset("ab"), {"a"}),  # noqa: UP006
    "complex": (complex, 1 + 2j, "1"),
    "decimal": (decimal.Decimal, decimal.Decimal("1.5"), 1.5),
    "deque": (typing.Deque[int], collections.deque([1]), [1]),  # noqa: UP006
    "plain class": (User, User("a"), "a"),
    "class with __call__": (Model, Model(), len),
    "named tuple": (Place, Place(1, 2), (1, 2)),
    "subclass of int": (Count, Count(3), 3),
    "exception": (Refused, Refused("a"), ValueError("a")),
    "class": (typing.Type[int], bool, 3),  # noqa: UP006
    "pattern": (typing.Pattern[str], re.compile("a"), "a"),
    "range": (range, range(3), [0]),
    "ordered dict": (collections.OrderedDict, collections.OrderedDict(a=1), {"a": 1}),
    "bytearray": (bytearray, bytearray(b"a"), b"a"),
    "iterator": (typing.Iterator[int], iter([1]), [1]),
}


@pytest.mark.parametrize(("annotation", "value", "wrong"), FIELDS.values(), ids=list(FIELDS))
def test_a_field_keeps_the_object_and_refuses_another_class(annotation, value, wrong):
    cls = sample(annotation)
    one = cls(value)
    assert one.x is value
    with pytest.raises(TypeError, match=r"field 'x':\s+expected [\w.]+, got [\w.]+$"):
        cls(wrong)
    with pytest.raises(TypeError, match=r"\.x: expected "):
        one.x = wrong
    assert one.x is value
    one.x = value
    assert one.x is value
    optional = sample(Optional[annotation])
    assert optional(None).x is None
    assert optional(value).x is value
    with pytest.raises(TypeError, match=r"field 'x':\s+expected [\w.]+, got "):
        optional(wrong)


def test_a_class_that_refuses_isinstance_takes_any_object():
    table = {"a": 1}
    assert sample(Table)(table).x is table
    user = User("a")
    assert sample(Runs)(user).x is user


def test_a_field_for_files_takes_any_object():
    file = io.StringIO()
    for annotation in (typing.TextIO, typing.IO[str], typing.BinaryIO):
        assert sample(annotation)(file).x is file


def test_a_class_whose_instances_turn_into_native_values_is_refused():
    class Turns:
        def __tvm_ffi_value__(self):
            return 5

    class Converts(ffi_hpy.ObjectConvertible):
        def asobject(self):
            return ffi_hpy.Array([1])

    for cls in (Turns, Converts):
        with pytest.raises(TypeError, match="Cannot convert"):
            sample(cls)


UNIONS = [
    (typing.Union[float, fractions.Fraction], fractions.Fraction(1, 3), 0.5),
    (typing.Union[int, Count], Count(3), 4),
    (typing.Union[dict, collections.OrderedDict], collections.OrderedDict(a=1), {"a": 1}),
    (typing.Union[typing.Callable[[int], int], Model], Model(), None),
    (typing.Union[bytes, bytearray], bytearray(b"a"), b"a"),
    (typing.Union[typing.Tuple[int, int], Place], Place(1, 2), (1, 2)),  # noqa: UP006
]


@pytest.mark.parametrize(("annotation", "value", "other"), UNIONS, ids=[str(each[0]) for each in UNIONS])
def test_a_union_keeps_the_instance_of_a_class_and_converts_other_values(annotation, value, other):
    cls = sample(annotation)
    assert cls(value).x is value
    if other is not None:
        made = cls(other).x
        assert made == other
        assert type(made) is not type(value)


def test_a_float_stays_a_float_beside_complex():
    cls = sample(typing.Union[float, complex])
    assert [type(cls(value).x) for value in (1.5, 1, 2j)] == [float, float, complex]


def test_a_default_that_all_instances_would_change_is_refused():
    for annotation, default in ((typing.Set[int], set()), (bytearray, bytearray())):  # noqa: UP006
        body = {"__annotations__": {"x": annotation}, "x": default, "__module__": __name__}
        cls = type(ffi_hpy.Object)("Shared", (ffi_hpy.Object,), body)
        with pytest.raises(ValueError, match=r"mutable default <class '\w+'> for field x is not allowed"):
            py_class(unique_name("python_fields.Shared"))(cls)


def test_a_complex_field_takes_other_numbers():
    one = sample(complex)(2)
    assert (one.x, type(one.x)) == (2, complex)
    one.x = 0.5
    assert (one.x, type(one.x)) == (0.5, complex)


def test_items_and_alternatives_are_checked():
    paths = sample(typing.List[pathlib.PurePath])  # noqa: UP006
    assert paths([pathlib.PurePath("a")]).x == [pathlib.PurePath("a")]
    with pytest.raises(TypeError, match=r"element \[1\]: expected pathlib\S*\.PurePath, got str"):
        paths([pathlib.PurePath("a"), "b"])
    users = sample(typing.Dict[str, User])  # noqa: UP006
    assert users({"a": User("a")}).x["a"].name == "a"
    with pytest.raises(TypeError, match=r"value for key 'b': expected \w+\.User, got int"):
        users({"b": 1})
    either = sample(typing.Union[int, pathlib.PurePath])
    assert (either(3).x, either(pathlib.PurePath("a")).x) == (3, pathlib.PurePath("a"))
    with pytest.raises(TypeError, match=r"expected int \| pathlib\S*\.PurePath, got str"):
        either("a")


def test_a_set_is_changed_in_place():
    @py_class(unique_name("python_fields.Tagged"))
    class Tagged(ffi_hpy.Object):
        tags: typing.Set[str] = field(default_factory=set)  # noqa: UP006
        made: datetime.date = datetime.date(2020, 1, 2)

    one, other = Tagged(), Tagged()
    one.tags.add("a")
    assert (one.tags, other.tags, one.made) == ({"a"}, set(), datetime.date(2020, 1, 2))
    assert "tags={'a'}, made=datetime.date(2020, 1, 2)" in repr(one)


OTHERS = {
    "datetime": datetime.datetime(2021, 1, 2),
    "timedelta": datetime.timedelta(2),
    "path": pathlib.PurePath("b"),
    "set": {2, 3},
    "frozenset": frozenset("cd"),
    "complex": 1 + 3j,
    "decimal": decimal.Decimal("2.5"),
    "deque": collections.deque([2]),
    "plain class": User("b"),
    "named tuple": Place(1, 3),
    "subclass of int": Count(4),
    "class": int,
    "pattern": re.compile("b"),
    "range": range(4),
    "ordered dict": collections.OrderedDict(a=2),
    "bytearray": bytearray(b"b"),
}
"""For each kind whose values are equal to their copies: a value that differs from that in FIELDS."""


@pytest.mark.parametrize("name", OTHERS)
def test_objects_with_such_fields_are_compared_and_copied(name):
    annotation, value, _ = FIELDS[name]
    one = sample(annotation, eq=True, unsafe_hash=True)(value)
    cls = type(one)
    other = cls(OTHERS[name])
    deep = copy.deepcopy(one)
    assert one == cls(value)
    assert deep == one
    assert one != other
    if type(value).__hash__ is None:
        with pytest.raises(TypeError, match="unhashable"):
            hash(one)
    else:
        assert hash(one) == hash(deep)
        assert hash(one) != hash(other)
    assert type(deep.x) is type(value)
    assert copy.copy(one).x is value


def test_python_orders_objects_with_such_fields():
    due = sample(datetime.date, eq=True, order=True)
    early, late = due(datetime.date(2020, 1, 1)), due(datetime.date(2021, 1, 1))
    assert [early < late, early <= late, early > late, early >= late] == [True, True, False, False]
    assert [late < early, late <= early, late > early, late >= early] == [False, False, True, True]
    assert early <= due(datetime.date(2020, 1, 1))
    users = sample(User, eq=True, order=True)
    with pytest.raises(TypeError, match="not supported between instances of 'User' and 'User'"):
        operator.lt(users(User("a")), users(User("b")))
    sets = sample(typing.Set[int], eq=True, order=True)  # noqa: UP006
    with pytest.raises(TypeError, match="have no order"):
        operator.lt(sets({1}), sets({2}))


def test_functions_in_fields_are_equal_if_their_callables_are():
    cls = sample(typing.Callable, eq=True, unsafe_hash=True, order=True)
    assert cls(len) == cls(len)
    assert hash(cls(len)) == hash(cls(len))
    assert cls(len) != cls(abs)
    assert hash(cls(len)) != hash(cls(abs))
    native, other = ffi_hpy.get_global_func("ffi.Array"), ffi_hpy.get_global_func("ffi.List")
    assert cls(native) == cls(native)
    assert hash(cls(native)) == hash(cls(native))
    assert cls(native) != cls(other)
    assert cls(native) != cls(len)
    with pytest.raises(TypeError, match="have an order"):
        operator.lt(cls(len), cls(abs))


@py_class("python_fields.Pickled", eq=True)
class Pickled(ffi_hpy.Object):
    user: User
    model: Model
    rule: typing.Callable[[int], int]
    places: typing.List[Place] = field(default_factory=list)  # noqa: UP006
    other: typing.Any = None


def test_pickle_writes_the_python_objects_by_its_own_rules():
    user = User("a")
    one = Pickled(user, Model(3), len, [Place(1, 2)], other=user)
    back, again = pickle.loads(pickle.dumps((one, user)))
    assert (back.user.name, back.model(2), back.rule("abc")) == ("a", 6, 3)
    assert back.user is back.other is again
    assert (back.places[0].x, type(back.places[0])) == (1, Place)
    user.one = one
    back = pickle.loads(pickle.dumps(one))
    assert back.user.one is back
    one.rule = lambda x: x
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(one)


def test_a_python_object_of_native_code_is_pickled_and_copied():
    value = ffi_hpy.core.OpaquePyObject({1, 2})
    for made in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert type(made) is ffi_hpy.core.OpaquePyObject
        assert made.pyobject() == {1, 2}
    assert copy.copy(value).pyobject() is value.pyobject()
    assert copy.deepcopy(value).pyobject() is not value.pyobject()


def test_a_graph_without_a_pickle_refuses_python_objects():
    one = Pickled(User("a"), Model(), len)
    with pytest.raises(TypeError, match=r"`ffi\.(OpaquePyObject|Function)` does not support ToJSONGraph"):
        ffi_hpy.serialization.to_json_graph_str(one)
    state = one.__getstate__()
    with pytest.raises(TypeError, match="which only a pickle can contain"):
        ffi_hpy.serialization.from_json_graph_str(state["handle"])
    for objects in ([], state["objects"][:1], [User("a"), Model(), 5]):
        with pytest.raises(ValueError, match=r"the graph has (the Python object|a function)"):
            Pickled.__new__(Pickled).__setstate__({**state, "objects": objects})
    with pytest.raises(TypeError, match="expected a list as 'objects', got int"):
        Pickled.__new__(Pickled).__setstate__({**state, "objects": 5})


@pytest.mark.skipif(not FREES_AT_ONCE, reason="the test counts live objects")
def test_a_cycle_through_such_a_field_is_collected():
    cls = sample(User)
    users = []
    for _ in range(10):
        user = User("a")
        user.holder = cls(user)
        users.append(weakref.ref(user))
    del user
    for _ in range(3):
        gc.collect()
    assert [each() for each in users] == [None] * 10
