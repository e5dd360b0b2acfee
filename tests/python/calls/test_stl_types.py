"""Types of C++'s standard library and containers as parameters and results (extra/stl.h, chrono.h, complex.h,
filesystem.h): any sequence or mapping goes in, and the class in the signature comes out."""

from __future__ import annotations

import array
import collections
import ctypes
import datetime
import decimal
import inspect
import pathlib
import re
import subprocess
import sys
import types
import typing
import weakref

import pytest
from support import IS_DEBUG, IS_OWN_DEBUG, collect_garbage, is_gone

import ffi_hpy
from ffi_hpy import Array, Dict, List, Map

try:
    import numpy
except ImportError:
    numpy = None

needs_numpy = pytest.mark.skipif(numpy is None, reason="needs NumPy")


@pytest.fixture(scope="module")
def stl(compile_era):
    """The functions of stl_types.cc."""
    ffi_hpy.load_module(compile_era("stl_types.cc", "own", flags=("-std=c++20", "-O0")))

    class Functions:
        def __getattr__(self, name):
            return ffi_hpy.get_global_func(f"stl_types.{name}")

    return Functions()


class Sequence:
    """A sequence without a base class."""

    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class Stranger:
    """A class that native code does not know."""


# --- sequences and mappings -------------------------------------------------------------------------------------------

SEQUENCES = {
    "list": list,
    "tuple": tuple,
    "range": lambda items: range(items[0], items[-1] + 1),
    "deque": collections.deque,
    "array": lambda items: array.array("h", items),
    "memoryview": lambda items: memoryview(bytes(items)),
    "memoryview of numbers": lambda items: memoryview(array.array("q", items)),
    "strided memoryview": lambda items: memoryview(array.array("i", [part for item in items for part in (item, 9)]))[
        ::2
    ],
    "keys": lambda items: dict.fromkeys(items).keys(),
    "values": lambda items: dict(enumerate(items)).values(),
    "frozenset": frozenset,
    "UserList": collections.UserList,
    "class": lambda items: Sequence(*items),
    "Array": Array,
    "List": List,
    "Shape": ffi_hpy.Shape,
}
"""Functions that make a sequence of the items, which are consecutive."""


@pytest.mark.parametrize("name", ["ints", "vector", "Array", "List", "list", "forward_list", "multiset", "optional"])
def test_any_sequence_is_accepted(stl, name):
    for make in SEQUENCES.values():
        assert list(getattr(stl, name)(make([1, 2]))) == [1, 2]


@pytest.mark.parametrize("name", SEQUENCES)
def test_any_sequence_is_an_array_of_fixed_length_or_a_set(stl, name):
    assert list(stl.array(SEQUENCES[name]([3, 4, 5]))) == [3, 4, 5]
    assert stl.set(SEQUENCES[name]([3, 4, 5])) == stl.unordered_ints(SEQUENCES[name]([3, 4, 5])) == {3, 4, 5}
    assert stl.set(collections.deque([2, 1, 2])) == stl.unordered_ints([2, 1, 2]) == {1, 2}


def test_sequences_are_accepted_inside_of_others(stl):
    rows = [range(2), collections.deque([2.5]), memoryview(array.array("f", [0.5]))]
    assert [list(row) for row in stl.nested(rows)] == [[0, 1], [2.5], [0.5]]
    view = memoryview(bytes(range(6))).cast("B", [2, 3])
    assert [list(row) for row in stl.nested(view)] == [[0, 1, 2], [3, 4, 5]]
    assert list(stl.unordered_map({1: range(2)})[1]) == [0, 1]
    assert list(stl.Tuple(collections.deque([1, "x"]))) == list(stl.pair(collections.deque([1, "x"]))) == [1, "x"]


@needs_numpy
def test_arrays_of_any_real_dtype_are_accepted(stl):
    for code in "?bBhHiIlLqQefd":
        given = numpy.array([[1, 0, 1], [0, 0, 1]], code)
        assert list(stl.vector(given[0])) == [1, 0, 1]
        assert list(stl.vector(given[::-1, 2])) == [1, 1]
        assert [list(row) for row in stl.nested(given.T)] == [[1, 0], [0, 0], [1, 1]]
        assert list(stl.vector(given[0, :0])) == []
    assert list(stl.ints(numpy.array([-(2**63), 2**63 - 1]))) == [-(2**63), 2**63 - 1]
    assert list(stl.vector(numpy.array([0.1, 65504, float("inf")], "e"))) == pytest.approx(
        [0.1, 65504, float("inf")], 1e-3
    )


@pytest.mark.parametrize("name", ["map", "Map", "Dict"])
def test_any_mapping_is_accepted(stl, name):
    ordinary = {"a": 1, "b": 2}
    for given in (
        ordinary,
        types.MappingProxyType(ordinary),
        collections.UserDict(ordinary),
        collections.ChainMap({"a": 1}, {"b": 2}),
        collections.OrderedDict(ordinary),
        Map(ordinary),
        Dict(ordinary),
    ):
        assert dict(getattr(stl, name)(given).items()) == ordinary


@pytest.mark.parametrize(
    "given",
    [
        "ab",
        b"ab",
        bytearray(b"ab"),
        {1: 2},
        iter([1]),
        (i for i in [1]),
        1,
        None,
        Stranger(),
        memoryview(b"a")[0:0].cast("c"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_other_values_are_not_sequences(stl, given):
    if type(given) is memoryview:
        assert list(stl.ints(given)) == []  # no item has the wrong type
        return
    with pytest.raises(TypeError, match=r"Expected `list\[int\]` but got `.*` for `value`$"):
        stl.ints(given)


@pytest.mark.parametrize(
    ("name", "given", "end"),
    [
        ("ints", [1, 2.5], "`list[int]` but got `list[index 1: float]` for `value`"),
        ("ints", collections.deque([1, 2, "x"]), "`list[int]` but got `collections.deque[index 2: str]` for `value`"),
        ("ints", array.array("d", [1]), "`list[int]` but got `array.array[index 0: float]` for `value`"),
        ("ints", [1, Stranger()], f"`list[int]` but got `list[index 1: {__name__}.Stranger]` for `value`"),
        ("unnamed", range(1), "`list[str]` but got `range[index 0: int]`"),
        ("nested", [[1], [2, "x"]], "`list[list[float]]` but got `list[index 1: list[index 1: str]]` for `value`"),
        ("array", range(4), "`list[int] of length 3` but got `range[size=4]` for `value`"),
        ("array", (1, "x", 3), "`list[int] of length 3` but got `tuple[index 1: str]` for `value`"),
        ("set", {"a"}, "`set[int]` but got `set[index 0: str]` for `value`"),
        ("Array", ("a",), "`Array<int>` but got `Array[index 0: str]` for `value`"),
        ("map", {"a": "b"}, "`dict[str, int]` but got `dict[K, some value is str] at key 'a'` for `value`"),
        ("map", {1: 2}, "`dict[str, int]` but got `dict[some key is int, V] at key 1` for `value`"),
        ("string", Stranger(), f"`str` but got `{__name__}.Stranger` for `value`"),
        ("pair", (1, 2), "`tuple[int, str]` but got `tuple[index 1: int]` for `value`"),
        ("variant", 2.5, "`None | int | str | list[float]` but got `float` for `value`"),
        ("shared", 1, "`stl_types.Node | None` but got `int` for `value`"),
    ],
)
def test_a_wrong_item_is_named_in_the_words_of_python(stl, name, given, end):
    with pytest.raises(TypeError) as caught:
        getattr(stl, name)(given)
    said = str(caught.value)
    assert said.startswith(f"Mismatched type on argument #0 when calling: `stl_types.{name}(")
    assert said.endswith(f"Expected {end}")
    assert "std::" not in said
    assert "\n" not in said


def test_the_error_of_a_sequence_itself_arrives(stl):
    class Broken(Sequence):
        def __getitem__(self, i):
            raise LookupError("no item") if i == 1 else KeyError(i)

    with pytest.raises(KeyError):
        stl.ints(Broken(1, 2))


def test_programs_distinguish_values_as_before(stl):
    assert not stl.narrow(range(3))
    assert not stl.is_tensor(range(3))
    value = range(3)
    assert ffi_hpy.get_global_func("testing.echo")(value) is value


@needs_numpy
def test_arrays_that_native_code_cannot_share_are_read_as_numbers(stl):
    numbers = numpy.arange(3)
    fixed = numbers.copy()
    fixed.flags.writeable = False
    swapped = [numbers.astype(numpy.dtype(code).newbyteorder()) for code in ("i2", "u4", "i8", "u8")]
    for given in (fixed, fixed[::-1][::-1], *swapped, numbers.astype(object), numpy.broadcast_to(fixed, 3)):
        for function in (stl.ints, stl.list, stl.array, stl.optional, stl.Array, stl.List):
            assert list(function(given)) == [0, 1, 2]
        assert stl.set(given) == {0, 1, 2}
        assert list(stl.unordered_map({1: given})[1]) == [0, 1, 2]
        assert [list(row) for row in stl.nested([given, given, [1]])] == [[0, 1, 2], [0, 1, 2], [1]]
    for code in (">f2", ">f4", ">f8", "<f4", "<f8", "longdouble", ">i8"):
        matrix = numpy.array([[0.5, -1], [2, 65504]]).astype(code)
        matrix.flags.writeable = False
        assert [list(row) for row in stl.nested(matrix)] == matrix.astype("f8").tolist()
    assert list(stl.vector(numpy.array([1.5, numpy.inf], "longdouble"))) == [1.5, float("inf")]
    assert list(stl.deque(numpy.array(["a", "b"]))) == ["a", "b"]
    assert list(stl.complexes(numpy.array([1j, 2]))) == [1j, 2]
    with pytest.raises(OverflowError, match=r"argument #0 .*index 1: 9223372036854775808, which is outside"):
        stl.ints(numpy.array([1, 2**63], ">u8"))
    node = stl.make_unique(1)
    for given in (fixed, swapped[0], numbers.astype("longdouble")):
        node.weights = given
        assert list(node.weights) == [0, 1, 2]
        node.weights = []
    with pytest.raises(BufferError):
        node.value = fixed
    if numpy.finfo("longdouble").maxexp > 1024:
        with pytest.raises(OverflowError, match=r"vector\(\) argument 1: .*e\+4000, which is outside the range of"):
            stl.vector(numpy.array([1, numpy.longdouble(10) ** 4000]))


@needs_numpy
def test_arrays_of_text_bytes_and_times_are_sequences(stl):
    days = numpy.array(["2020-01-01", "2021-02-03"], "M8[D]")
    assert list(stl.dates(days)) == days.tolist()
    assert list(stl.durations(numpy.array([1, 2], "m8[ms]"))) == [1e-3 * datetime.timedelta(seconds=n) for n in (1, 2)]
    assert list(stl.durations(numpy.array([1500], "m8[ns]").astype("m8[s]"))) == [datetime.timedelta()]
    assert list(stl.Bytes(numpy.array([b"a", b"bc"]))) == [b"a", b"bc"]


@needs_numpy
def test_an_array_with_other_elements_is_refused_by_one_sentence(stl):
    days = numpy.array(["2020-01-01"], "M8[D]")
    for wrong, found in (
        (numpy.array([1j]), "complex"),
        (numpy.array(["a"]), "str"),
        (numpy.array([b"a"]), "bytes"),
        (days, "datetime.date"),
        (numpy.array([1], "m8[us]"), "datetime.timedelta"),
        (numpy.array([None]), "None"),
    ):
        with pytest.raises(TypeError, match=rf"Expected `list\[int\]` but got `.*\[index 0: {found}\]` for `value`$"):
            stl.ints(wrong)
        with pytest.raises(TypeError, match=rf"index 0: {found}"):
            stl.unordered_map({1: wrong})
    for wrong in (days.astype("M8[ns]"), numpy.array([1], "m8[Y]"), numpy.zeros(1, "i4,i4")):
        for refused in (lambda: stl.ints(wrong), lambda: stl.nested([[1], wrong])):  # noqa: B023
            with pytest.raises(TypeError) as caught:
                refused()
            assert str(caught.value).endswith(
                f"() argument 1: Python has no class for the elements of an array of dtype {wrong.dtype}"
            )
        for refused in (lambda: stl.is_tensor(wrong), lambda: stl.string(wrong)):  # noqa: B023
            with pytest.raises(BufferError) as caught:
                refused()
            assert str(caught.value) == f"a tensor cannot have the elements of an array of dtype {wrong.dtype}"


@needs_numpy
def test_masked_elements_are_not_numbers(stl):
    masked = numpy.ma.array([1, 2, 3], mask=[False, True, False])
    sentence = r"^the array has masked elements: pass array\.filled\(value\) or array\.compressed\(\)$"
    node = stl.make_unique(1)
    for refused in (
        lambda: stl.ints(masked),
        lambda: stl.vector(masked.astype(">f4")),
        lambda: stl.nested([[1], masked]),
        lambda: stl.unordered_map({1: masked}),
        lambda: stl.axes(masked),
        lambda: stl.duration(numpy.ma.masked),
        *[lambda: stl.call(lambda: masked)] * (not (IS_DEBUG or IS_OWN_DEBUG)),  # another error there
        lambda: setattr(node, "weights", masked),
        lambda: setattr(node, "value", numpy.ma.masked),
        lambda: Array([masked]),
        lambda: Map({1: masked}),
    ):
        with pytest.raises(ValueError, match=sentence):
            refused()
    whole = numpy.ma.array([1, 2, 3])
    whole.flags.writeable = True
    for given in (whole, numpy.ma.array([1, 2, 3], mask=[False] * 3), masked[::2], whole.astype(">i2")):
        numbers = given.data.tolist()
        assert list(stl.ints(given)) == numbers
        assert list(stl.nested([given])[0]) == numbers
        assert stl.call(lambda: given.astype("i8")) == len(numbers)  # noqa: B023
    assert stl.axes(whole) == 1


@needs_numpy
def test_small_floats_and_integers_of_ml_dtypes_are_numbers(stl):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for name in (
        "bfloat16",
        "float8_e4m3fn",
        "float8_e5m2",
        "float8_e4m3fnuz",
        "float8_e5m2fnuz",
        "float8_e4m3b11fnuz",
    ):
        numbers = numpy.array([0.5, -1.5, 2]).astype(getattr(ml_dtypes, name))
        assert list(stl.vector(numbers)) == [0.5, -1.5, 2]
        numbers.flags.writeable = False
        assert list(stl.Array(numpy.arange(3)[1:])) == [1, 2]
        assert list(stl.vector(numbers)) == [0.5, -1.5, 2]
    for name in ("int4", "uint4", "float4_e2m1fn", "float6_e2m3fn", "float8_e3m4"):
        if hasattr(ml_dtypes, name):
            numbers = numpy.array([0, 1, 2]).astype(getattr(ml_dtypes, name))
            assert list(stl.vector(numbers)) == [0, 1, 2]
            assert "int" not in name or list(stl.ints(numbers)) == [0, 1, 2]


@needs_numpy
def test_an_array_of_another_byte_order_is_refused_as_a_tensor_by_one_sentence(stl):
    swapped = numpy.arange(3.0).astype(numpy.dtype("f8").newbyteorder())
    sentence = r"^the array's elements are not in the byte order of this machine: pass array.astype\(.*\)$"
    for refused in (lambda: stl.is_tensor(swapped), lambda: stl.string(swapped)):
        with pytest.raises(BufferError, match=sentence):
            refused()


@needs_numpy
def test_an_overload_that_needs_no_conversion_comes_first(stl):
    node = stl.make_unique(1)
    assert node.take(numpy.zeros(3)) == -1
    assert stl.is_tensor(numpy.zeros(3))
    assert node.take([1, 2]) == 2
    assert node.take(range(3)) == 3


def test_fields_and_results_of_callbacks_take_any_sequence(stl):
    node = stl.make_unique(1)
    node.weights = range(3)
    assert list(node.weights) == [0, 1, 2]
    assert stl.call(lambda: range(4)) == 4
    assert stl.map_by(lambda values: {-value for value in values}, range(3)) == {0, -1, -2}


def test_bytes_of_a_memoryview_arrive_as_bytes():
    echo = ffi_hpy.get_global_func("testing.echo")
    for given in (b"", b"short", b"a text of more than 7 bytes"):
        assert echo(memoryview(given)) == given
    numbers = array.array("d", [1, 2.5])
    assert echo(memoryview(numbers)) == numbers.tobytes()
    assert hash(echo(memoryview(b"short"))) == hash(b"short")


# --- single values ----------------------------------------------------------------------------------------------------

NOON = datetime.datetime(2024, 5, 6, 12, 30, 15, 250000)
UTC = datetime.timezone.utc

VALUES = {
    "string_view": ["", "short", "a text of more than 7 bytes, \u00e9\U0001f600"],
    "wstring": ["", "\u00e9\U0001f600", "x" * 40],
    "u16string": ["", "\u00e9\U0001f600", "x" * 40],
    "monostate": [None],
    "complex": [1 + 2j, -0.5j],
    "duration": [datetime.timedelta(0), datetime.timedelta(days=-1, milliseconds=5)],
    "steady_time": [datetime.timedelta(microseconds=3)],
    "system_time": [NOON, datetime.datetime(1969, 1, 1)],
    "date": [datetime.date(2024, 2, 29), datetime.date(1, 1, 1)],
    "time": [datetime.time(), datetime.time(23, 59, 59, 999999)],
    "path": [pathlib.Path("a/b"), pathlib.Path("\u00e9")],
    "set": [set(), {1, 2}],
    "unordered_set": [{"a", "b"}],
    "set_of_sets": [{frozenset((1, 2)), frozenset()}],
    "optional": [None],
    "variant": [None, 3, "x"],
    "shared": [None],
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_comes_back_unchanged(stl, name):
    for value in VALUES[name]:
        found = getattr(stl, name)(value)
        assert found == value
        assert isinstance(found, type(value))


def test_other_classes_convert(stl):
    assert stl.complex(3) == 3
    assert stl.complex(2.5) == 2.5
    assert list(stl.complexes([1, 2j])) == [1, 2j]
    assert stl.duration(2.5) == datetime.timedelta(seconds=2.5)
    assert stl.seconds(3) == datetime.timedelta(seconds=3)
    assert stl.system_time(NOON.date()) == datetime.datetime(2024, 5, 6)
    assert stl.system_time(datetime.time(1, 2)) == datetime.datetime(1970, 1, 1, 1, 2)
    zone = datetime.timezone(datetime.timedelta(hours=5))
    moment = NOON.replace(tzinfo=zone)
    assert stl.system_time(moment).astimezone(UTC) == moment
    assert stl.path("a/b") == stl.path(b"a/b") == pathlib.Path("a/b")
    if numpy is not None:
        assert stl.complex(numpy.complex64(1 + 2j)) == 1 + 2j
        assert list(stl.complexes(collections.deque([numpy.complex128(1 + 2j), 3]))) == [1 + 2j, 3]


def test_a_time_is_read_as_a_time_even_if_it_has_a_float(stl):
    class Length(datetime.timedelta):
        def __float__(self):
            return 7.0

    assert stl.seconds(Length(seconds=2)) == stl.duration(Length(seconds=2)) == datetime.timedelta(seconds=2)
    assert (
        stl.seconds(decimal.Decimal("0.5")) == stl.duration(decimal.Decimal("0.5")) == datetime.timedelta(seconds=0.5)
    )


@needs_numpy
def test_a_time_of_numpy_is_not_a_number_of_seconds(stl):
    for wrong in (numpy.timedelta64(5, "ns"), numpy.datetime64(5, "ns")):
        for name in ("seconds", "duration", "complex"):
            with pytest.raises(TypeError, match=rf"numpy\.{type(wrong).__name__}"):
                getattr(stl, name)(wrong)


def test_a_complex_number_with_a_part_outside_the_range_is_refused(stl):
    for given in (1e39j, complex(-1e39, 1), 1e39, 2**200):
        with pytest.raises(OverflowError, match=r"on argument #0 `value` .* which is outside the range of a float"):
            stl.small_complex(given)
    with pytest.raises(OverflowError, match="index 1: 1e"):
        stl.complexes([1j, 1e39j])
    with pytest.raises(OverflowError, match=r"an integer of more than \d+ bits, which is outside"):
        stl.complex(2**2000)
    assert stl.small_complex(complex("inf+1j")) == complex("inf+1j")


def test_a_long_double_that_no_double_can_hold_is_an_error(stl):
    assert stl.large(-2) == -2e300
    assert stl.large(float("inf")) == float("inf")
    assert stl.large_complex(2) == complex(1, 2e300)
    if ctypes.sizeof(ctypes.c_longdouble) > ctypes.sizeof(ctypes.c_double):
        for function in (stl.large, stl.large_complex):
            for factor in (1e10, -1e10):
                with pytest.raises(OverflowError, match="a long double is too large to fit in a double"):
                    function(factor)


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("complex", "1j", "complex"),
        ("path", 3, "pathlib.Path"),
        ("duration", "3", "datetime.timedelta"),
        ("system_time", 3, "datetime.datetime"),
        ("system_time", datetime.timedelta(1), "datetime.datetime"),
        ("date", datetime.time(1), "datetime.date"),
        ("date", [2024, 1, 257], "datetime.date"),
        ("date", [2024, 13, 1], "datetime.date"),
        ("date", [2**16 + 2024, 1, 1], "datetime.date"),
        ("time", datetime.date(2024, 1, 2), "datetime.time"),
        ("wstring", b"x", "str"),
        ("monostate", 0, "None"),
    ],
)
def test_a_value_of_another_class_is_refused(stl, name, given, expected):
    with pytest.raises(TypeError, match=rf"Expected `{expected}` but got `"):
        getattr(stl, name)(given)


def test_a_time_that_does_not_fit_is_refused(stl):
    with pytest.raises(OverflowError, match="64 bits"):
        stl.duration(datetime.timedelta.max)


@pytest.mark.parametrize(
    ("name", "given", "end"),
    [
        ("duration", datetime.timedelta(microseconds=1500), ", which is finer than milliseconds` for `value`"),
        ("duration", datetime.timedelta(microseconds=-1), ", which is finer than milliseconds` for `value`"),
        ("duration", 0.0015, "`0.0015 seconds, which is finer than milliseconds` for `value`"),
        ("durations", [1, 0.25, 0.0001], "index 2: 0.0001 seconds, which is finer than milliseconds]` for `value`"),
        ("hours", datetime.timedelta(minutes=90), ", which is finer than hours` for `value`"),
        ("frames", 0.5001, "`0.5001 seconds, which is finer than 1/24 seconds` for `value`"),
        ("frames", -0.041668, "`-0.041668 seconds, which is finer than 1/24 seconds` for `value`"),
        ("moment", NOON.replace(microsecond=7), ", which is finer than seconds` for `value`"),
        ("minute", datetime.time(1, 2, 3), "`datetime.time(1, 2, 3), which is finer than minutes` for `value`"),
        ("date", NOON, "Expected `datetime.date` but got `datetime.datetime` for `value`"),
    ],
)
def test_a_time_that_is_finer_than_the_unit_of_the_parameter_is_refused(stl, name, given, end):
    with pytest.raises(TypeError) as caught:
        getattr(stl, name)(given)
    assert str(caught.value).endswith(end)
    if isinstance(given, datetime.timedelta):
        assert repr(given) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "given", "end"),
    [
        ("hours", datetime.timedelta(hours=256), ", which is outside the range of 8 bits of hours"),
        ("hours", datetime.timedelta(hours=-1), ", which is outside the range of 8 bits of hours"),
        (
            "nanoseconds",
            datetime.timedelta(microseconds=2**63 // 1000 + 1),
            "outside the range of 64 bits of nanoseconds",
        ),
        ("system_time", datetime.datetime(1500, 1, 1, tzinfo=UTC), "outside the range of 64 bits of nanoseconds"),
        *[
            (name, given, f"{shown}, which is outside the range of 64 bits of microseconds")
            for name in ("duration", "hours", "seconds")
            for given, shown in [
                *[(given, repr(given)) for given in (datetime.timedelta.min, datetime.timedelta.max)],
                *([(float("nan"), "nan seconds"), (-1e300, "-1e+300 seconds")] if name != "seconds" else []),
            ]
        ],
    ],
)
def test_a_time_outside_the_range_of_the_parameter_is_refused(stl, name, given, end):
    with pytest.raises(OverflowError) as caught:
        getattr(stl, name)(given)
    assert str(caught.value).startswith(f"Value out of range on argument #0 `value` when calling: `stl_types.{name}(")
    assert str(caught.value).endswith(end)


@pytest.mark.parametrize("given", [datetime.datetime.min, datetime.datetime.max], ids=str)
def test_a_time_beyond_the_local_time_of_the_system_is_refused(stl, given):
    with pytest.raises(
        OverflowError, match=f"{re.escape(repr(given))}, which is outside|is outside the range of the system"
    ):
        stl.system_time(given)


def test_a_time_keeps_its_value_in_the_unit_of_the_parameter(stl):
    assert stl.hours(datetime.timedelta(hours=255)) == datetime.timedelta(hours=255)
    assert stl.frames(0.5) == datetime.timedelta(seconds=0.5)
    for microseconds in (41666, 41667, -41666, -41667, 3600_000_000 + 41667):  # a whole number of frames, rounded
        given = datetime.timedelta(microseconds=microseconds)
        assert abs(stl.frames(given) - given) <= datetime.timedelta(microseconds=1)
    assert stl.seconds(0.000001) == datetime.timedelta(microseconds=1)
    assert stl.seconds(0.57) == datetime.timedelta(seconds=0.57)
    for count in (2**63 // 1000, -(2**63) // 1000 + 1, 1):
        assert stl.nanoseconds(datetime.timedelta(microseconds=count)) == datetime.timedelta(microseconds=count)
    assert [stl.unit(1), stl.unit(0.5), stl.unit(datetime.timedelta(microseconds=1))] == [0, 1, 1]


def test_a_result_beyond_the_range_of_the_class_is_an_error(stl):
    for name in ("most_hours", "most_ticks", "endless"):
        with pytest.raises(OverflowError, match="do not fit into 64 bits of microseconds"):
            getattr(stl, name)()
    with pytest.raises(OverflowError, match="90000000000 microseconds do not fit into a time of day"):
        stl.late()


def test_a_time_of_day_with_a_zone_is_refused(stl):
    with pytest.raises(ValueError, match="has a zone, which a time of day in C"):
        stl.time(datetime.time(1, tzinfo=UTC))


def test_smart_pointers_share_the_object(stl):
    collect_garbage()
    before = stl.n_alive()
    made = stl.make_shared(5)
    assert stl.get_kept().same_as(made)
    assert stl.shared(made).same_as(made)
    assert made.value == 5
    stl.drop_kept()
    assert stl.n_alive() == before + 1
    del made
    collect_garbage()
    assert stl.n_alive() == before
    unique = stl.make_unique(7)
    assert stl.shared(unique).same_as(unique)
    del unique
    collect_garbage()
    assert stl.n_alive() == before
    stl.make_shared(6)
    collect_garbage()
    assert stl.get_kept().value == 6  # C++ still has it
    stl.drop_kept()
    collect_garbage()
    assert stl.n_alive() == before


def test_a_field_may_be_a_shared_pointer(stl):
    collect_garbage()
    before = stl.n_alive()
    first, second = stl.make_unique(1), stl.make_unique(2)
    assert first.next is None
    first.next = second
    assert first.next.same_as(second)
    del second
    collect_garbage()
    assert first.next.value == 2
    with pytest.raises(TypeError, match=r"stl_types\.Node\.next.* `stl_types.Node | None`"):
        first.next = 3
    first.next = None
    collect_garbage()
    assert stl.n_alive() == before + 1


@pytest.mark.skipif(not ffi_hpy._core.KEEPS_IDENTITY, reason="debug modes preserve no wrappers")
def test_a_shared_pointer_keeps_an_object_of_a_python_subclass(stl):
    class Own(type(stl.make_unique(0))):
        __slots__ = ("__dict__", "__weakref__")

    def drop():
        own = Own(2)
        own.note = "kept"
        holder.next = own
        return id(own), weakref.ref(own)

    holder = stl.make_unique(1)
    number, ref = drop()
    collect_garbage(n_rounds=2)
    again = holder.next
    assert (type(again), id(again), again.note, again.value) == (Own, number, "kept", 2)
    assert stl.shared(again) is again
    del again
    collect_garbage(n_rounds=2)
    assert ref() is holder.next
    holder.next = None
    assert is_gone(ref)


# --- signatures -------------------------------------------------------------------------------------------------------

RESULTS = {
    "vector": ([1.5], Array, "Array[float]"),
    "array": ([1, 2, 3], Array, "Array[int]"),
    "list": ([1], Array, "Array[int]"),
    "deque": (["a"], Array, "Array[str]"),
    "pair": ((1, "x"), Array, "Array[int | str]"),
    "tuple": ((1, "x", True), Array, "Array[int | str | bool]"),
    "Tuple": ((1, "x"), Array, "Array[int | str]"),
    "nested": ([[1.0]], Array, "Array[Array[float]]"),
    "Array": ([1], Array, "Array[int]"),
    "List": ([1], List, "List[int]"),
    "map": ({"a": 1}, Map, "Map[str, int]"),
    "unordered_map": ({1: [2.0]}, Map, "Map[int, Array[float]]"),
    "Map": ({"a": 1}, Map, "Map[str, int]"),
    "Dict": ({"a": 1}, Dict, "Dict[str, int]"),
    "set": ({1}, set, "set[int]"),
    "unordered_set": ({"a"}, set, "set[str]"),
    "set_of_sets": ([{1}], set, "set[frozenset[int]]"),
    "multiset": ([1], Array, "Array[int]"),
    "complex": (1j, complex, "complex"),
    "wstring": ("x", str, "str"),
    "duration": (1.0, datetime.timedelta, "timedelta"),
    "system_time": (NOON, datetime.datetime, "datetime"),
    "date": (datetime.date(2024, 1, 2), datetime.date, "date"),
    "time": (datetime.time(1), datetime.time, "time"),
    "path": ("x", pathlib.Path, "Path"),
    "nothing": (None, type(None), "None"),
    "color": (1, int, "int"),
    "bytes": (b"x", bytes, "bytes"),
    "dtype": ("int8", ffi_hpy.dtype, "dtype"),
    "device": ("cpu", ffi_hpy.Device, "Device"),
    "error": (ValueError("x"), ffi_hpy.Error, "Error"),
    "module": (ffi_hpy.system_lib(), ffi_hpy.Module, "Module"),
}


@pytest.fixture(scope="module")
def stub(stl, compile_era, tmp_path_factory):
    """The stub of all functions of stl_types.cc."""
    file = tmp_path_factory.mktemp("stub") / "api.py"
    file.write_text("# tvm-ffi-stubgen(begin): global/stl_types\n# tvm-ffi-stubgen(end)\n")
    library = compile_era("stl_types.cc", "own", flags=("-std=c++20", "-O0"))
    command = [sys.executable, "-m", "ffi_hpy.stub.cli", "--dlls", str(library), str(file)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return file.read_text()


@pytest.mark.parametrize("name", RESULTS)
def test_the_class_in_signature_help_and_stub_arrives(stl, stub, name):
    given, cls, shown = RESULTS[name]
    function = getattr(stl, name)
    found = function() if name == "nothing" else function(given)
    assert isinstance(found, cls)
    assert type(found) is cls or cls is pathlib.Path
    annotation = inspect.signature(function).return_annotation
    assert (typing.get_origin(annotation) or annotation) is (cls if name != "nothing" else None)
    assert function.__doc__.partition(" -> ")[2] == shown
    (promised,) = re.findall(rf"^    def {name}\(.*\) -> (.*): \.\.\.$", stub, re.MULTILINE)
    assert re.sub(r"\b_", "", promised) == shown  # the name of a class, where a function has it, too, begins with _


def test_the_class_of_a_shape_is_in_the_signature(stl):
    shape = stl.shape([1, 2])
    assert inspect.signature(stl.shape).return_annotation is type(shape) is ffi_hpy.Shape
    assert typing.get_type_hints(stl.shape)["value"] is ffi_hpy.Shape
    assert stl.shape.__doc__.startswith("shape(value: Shape) -> Shape")


def test_a_message_about_an_array_has_the_name_of_the_python_class(stl):
    expected = "`stl_types.axes(tensor: Tensor) -> int`. Expected `Tensor` but got `list` for `tensor`"
    with pytest.raises(TypeError) as caught:
        stl.axes([1.0])
    assert str(caught.value) == f"Mismatched type on argument #0 when calling: {expected}"


def test_a_sequence_whose_items_have_no_end_is_read_to_its_length(stl):
    class Endless:
        def __len__(self):
            return 3

        def __getitem__(self, i):
            if i > 10:
                raise AssertionError
            return 2 * i

    assert list(stl.ints(Endless())) == [0, 2, 4]


def test_no_item_of_a_set_is_lost_to_a_nan(stl):
    nan = float("nan")
    for items in ([1.0, nan], [nan, 1.0], [3.0, nan, 1.0, 2.0], [1, 2, 3, nan]):
        with pytest.raises(ValueError, match=r"nan and another item cannot both be in a `set\[float\]`"):
            stl.floats(items)
        assert len(stl.unordered_floats(items)) == len(items)
    (found,) = stl.floats([nan])
    assert found != found
    assert stl.floats([2, True, 1.0]) == {1.0, 2.0}


def test_keys_stay_distinct(stl):
    assert stl.float_keys({0.5: 1, 0.25: 2}) == {0.5: 1, 0.25: 2}
    with pytest.raises(ValueError, match="two keys of the mapping are one key as `dict"):
        stl.float_keys({0.1: 1, 0.1 + 1e-12: 2})
