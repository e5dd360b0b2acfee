"""Numbers, times, paths and texts of the standard library in libraries that are bound with ffi_hpy/bind.h."""

from __future__ import annotations

import array
import collections
import collections.abc
import ctypes
import datetime
import decimal
import inspect
import math
import operator
import os
import sys
import types
from pathlib import Path

import pytest
from support import needs_one_wrapper, needs_threads, parallelize

import ffi_hpy

pytestmark = needs_one_wrapper


def refused():
    """Expect that no overload accepts the arguments."""
    return pytest.raises(TypeError, match="incompatible function arguments")


class Text(str):
    pass


class Whole(int):
    pass


class Index:
    """An object that is an int by `__index__` alone."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


MOMENT = datetime.datetime(2023, 4, 5, 12, 30, 0, 123456)
UTC = datetime.timezone.utc


@pytest.fixture(scope="module")
def bound(import_bound):
    """The module of bound_standard.cc."""
    return import_bound("bound_standard")


# --- times ------------------------------------------------------------------------------------------------------------


def test_a_time_is_a_datetime(bound):
    before = datetime.datetime.now()
    assert before - datetime.timedelta(seconds=1) < bound.now() < before + datetime.timedelta(minutes=5)
    for moment in (MOMENT, datetime.datetime(1969, 12, 31, 23, 59, 59, 1), datetime.datetime(1900, 1, 1)):
        assert bound.time(moment) == moment
    assert bound.time(datetime.date(2023, 4, 5)) == datetime.datetime(2023, 4, 5)
    assert bound.time(datetime.time(1, 2, 3, 4)) == datetime.datetime(1970, 1, 1, 1, 2, 3, 4)
    assert bound.nanoseconds(MOMENT, datetime.timedelta(minutes=1)) == MOMENT + datetime.timedelta(minutes=1)
    assert bound.nanoseconds(MOMENT, 0.5) == MOMENT + datetime.timedelta(seconds=0.5)
    for wrong in (None, 42, 4.5, datetime.timedelta(1), "now"):
        with refused():
            bound.time(wrong)


def test_a_time_with_a_time_zone_is_a_moment(bound):
    zone = datetime.timezone(datetime.timedelta(hours=5))
    assert bound.count(datetime.datetime(1970, 1, 1, 0, 0, 0, 7, UTC)) == 7
    assert bound.count(datetime.datetime(1970, 1, 1, 5, 0, 0, 7, zone)) == 7
    assert bound.time(MOMENT.replace(tzinfo=UTC)) == MOMENT.replace(tzinfo=UTC).astimezone().replace(tzinfo=None)
    assert bound.count(datetime.datetime.min.replace(tzinfo=UTC)) < 0


def test_a_float_is_a_duration_only_by_a_conversion(bound):
    assert bound.exact_duration(datetime.timedelta(seconds=2)) == 2000
    with refused():
        bound.exact_duration(2.0)
    assert bound.duration_or_float(2.0) == "float"
    assert bound.duration_or_float(datetime.timedelta(seconds=2)) == "duration"


def test_a_duration_is_a_timedelta(bound):
    for length in (
        datetime.timedelta(days=1, seconds=2, microseconds=3),
        datetime.timedelta(microseconds=-1),
        datetime.timedelta(0),
    ):
        assert bound.duration(length) == bound.steady(length) == length
        assert bound.duration(length.total_seconds()) == length
    assert bound.hours(datetime.timedelta(minutes=119)) == datetime.timedelta(hours=1)
    difference = bound.float_duration(43.789012, 1.123456)
    assert abs(difference.total_seconds() - 42.665556) < 1e-5
    for wrong in (None, 42, MOMENT, "1", math.nan, math.inf, 1e300, datetime.timedelta.max):
        with refused():
            bound.duration(wrong)


def test_a_member_has_its_own_resolution(bound):
    stamps = bound.Stamps()
    stamps.milliseconds = MOMENT
    assert stamps.milliseconds == MOMENT.replace(microsecond=123000)
    stamps.hours = MOMENT.replace(tzinfo=UTC)
    assert stamps.hours.minute in (0, 15, 30, 45)


# --- numbers ----------------------------------------------------------------------------------------------------------


def test_complex_numbers(bound):
    class Other:
        def __complex__(self):
            return 1 + 2j

    class Own(complex):
        pass

    assert [bound.complex(z) for z in (1j, 2, 3.5, True, 10**30, Own(1, 2), Other())] == [
        *(1j, 2, 3.5, 1, complex(10**30), 1 + 2j, 1 + 2j)
    ]
    assert type(bound.complex(1)) is complex
    assert bound.complex_strict(2.7 - 3.2j) == 2.7 - 3.2j
    assert bound.complex_float(2.7 - 3.2j) == 2.700000047683716 - 3.200000047683716j
    assert bound.complex_float_strict(0.5 + 1j) == 0.5 + 1j
    assert bound.complexes([1j, 2]) == [1j, 2]
    for wrong in ([], "1", b"1", None, object()):
        with refused():
            bound.complex(wrong)
    for wrong in (0, 0.0, Own(1, 2), Other()):
        with refused():
            bound.complex_strict(wrong)
    for wrong in (1.1 + 2j, 1 + 2.1j):  # which a float cannot hold
        with refused():
            bound.complex_float_strict(wrong)


def test_a_number_of_numpy_with_another_meaning_is_not_a_real_number(bound):
    numpy = pytest.importorskip("numpy")
    for wrong in (numpy.complex128(1 + 2j), numpy.timedelta64(5, "ns"), numpy.datetime64(5, "ns")):
        for function, argument in ((bound.real, wrong), (bound.reals, [1.0, wrong]), (bound.whole, [1, wrong])):
            with refused():
                function(argument)
        if not isinstance(wrong, numpy.complex128):
            with refused():
                bound.complex(wrong)
    assert bound.complexes(collections.deque([numpy.complex128(1 + 2j), 2])) == [1 + 2j, 2]


def test_objects_by_key_need_pairs(bound):
    class Rows(collections.UserDict):
        def items(self):
            return self.data["rows"]

    assert bound.n_objects(Rows(rows=[(1, []), [2, {}]])) == 2
    for rows in ([(1, 2, 3), (4, 5, 6)], ["ab", "cd"], [1, 2]):
        with refused():
            bound.n_objects(Rows(rows=rows))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        *(([1], "vector"), ((1,), "vector"), (range(2), "vector"), (array.array("i", [1]), "vector")),
        *((collections.deque([1]), "vector"), ({1}, "set"), (frozenset([1]), "set"), ({1: 2}, "map")),
        *((types.MappingProxyType({1: 2}), "map"), ({1: 2}.keys(), "set")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_class_of_a_container_selects_the_overload(bound, value, kind):
    assert bound.kind(value) == kind


def test_a_set_takes_a_sequence_before_a_later_overload(bound):
    assert [bound.kind_turned(value) for value in (["a"], {"a"}, {1: 2})] == ["set", "set", "map"]


class Zero:
    """A scalar in an array without axes, as NumPy's are."""

    def __init__(self, number):
        self.number = number

    def __dlpack__(self, **options):
        return ffi_hpy._core.memory_capsule(self, ctypes.addressof(self.number), (), (), self.form, (1, 0), False)

    def __dlpack_device__(self):
        return (1, 0)

    @property
    def form(self):
        return (0, 64, 1) if isinstance(self.number, ctypes.c_int64) else (2, 64, 1)

    def __index__(self):
        return operator.index(self.number.value)


def test_an_array_without_axes_is_a_number(bound):
    for function in (bound.int, bound.unsigned):
        assert function(Zero(ctypes.c_int64(5))) == 5
        with refused():
            function(Zero(ctypes.c_double(5.5)))
    with refused():
        bound.unsigned(Zero(ctypes.c_int64(-5)))
    assert bound.int(bound.CountedPart()) == bound.unsigned(bound.CountedPart()) == 7
    for wrong in (2**64, -1, "1", [1], None, object()):
        with refused():
            bound.unsigned(wrong)
    assert bound.unsigned(2**64 - 1) == 2**64 - 1


# --- paths and texts --------------------------------------------------------------------------------------------------


def test_paths(bound):
    class Named:
        def __init__(self, name):
            self.name = name

        def __fspath__(self):
            return self.name

    for given in (Path("foo/bar"), "foo/bar", b"foo/bar", Named("foo/bar"), Named(b"foo/bar")):
        found = bound.parent(given)
        assert isinstance(found, Path)
        assert found == Path("foo")
    assert bound.parent(Path("\U0001f34a/x")) == Path("\U0001f34a")
    assert bound.parent("") == Path()
    if sys.platform != "win32":  # a name of a file that is not UTF-8
        name = os.fsdecode(b"a\xff/b")
        assert bound.parent(name) == bound.parent(os.fsencode(name)) == bound.parent(Path(name)) == Path(name).parent
    for wrong in (3, None, [], Named(3)):
        with refused():
            bound.parent(wrong)


@pytest.mark.skipif(sys.platform == "win32", reason="the names of files are text there")
def test_a_name_that_is_not_text_is_kept(bound):
    name = Path(os.fsdecode(b"dir\xff/file"))
    assert bound.bytes_of(name) == b"dir\xff/file"
    assert bound.parent(name) == Path(os.fsdecode(b"dir\xff"))


def test_wide_strings(bound):
    for text in ("", "abc", "ä\u20ac", "\U0001f388", "x" * 100):
        assert bound.wide(text) == text
        assert bound.wide_size(text) == len(text.encode("utf-16-le" if sys.platform == "win32" else "utf-32-le")) // (
            2 if sys.platform == "win32" else 4
        )
    for wrong in (b"abc", 1, None):
        with refused():
            bound.wide(wrong)
    with pytest.raises(ValueError, match="not a character"):
        bound.bad_wide()


# --- containers -------------------------------------------------------------------------------------------------------


def test_arrays_have_their_length(bound):
    for given in ([1, 2, 3], (1, 2, 3), range(1, 4)):
        assert bound.array(given) == [2, 2, 3]
    assert bound.arrays(["a", "b"]) == "ab"
    for wrong in ([1, 2], [1, 2, 3, 4], [1, 2, "3"], "123", 3, None):
        with refused():
            bound.array(wrong)


def test_short_texts_in_containers_stay(bound):
    for texts in ([], ["a"], ["short", "a longer text", ""], ["1234567", "12345678", "x"] * 5):
        assert bound.joined(texts) == "".join(f"{text}." for text in texts)
        assert bound.mapped({str(10 + i): text for i, text in enumerate(texts)}) == bound.joined(texts)
    assert bound.joined([None, "x"]) == "-x."
    assert bound.mapped({"a longer key": "a longer text"}) == "a longer text."
    assert (bound.optional_text("hi"), bound.optional_text(None)) == ("hi.", "-")
    assert (bound.text_or_int("hi"), bound.text_or_int(3)) == ("hi.", "int")


@pytest.mark.thread_unsafe(reason="the library counts the copies of all threads")
@pytest.mark.parametrize(
    ("name", "wrap"),
    [
        ("in_vector", lambda value: [value]),
        ("in_optional", lambda value: value),
        ("in_tuple", lambda value: (value,)),
        ("in_variant", lambda value: value),
        ("in_variant_first", lambda value: value),
        ("in_map", lambda value: {1: value}),
    ],
)
def test_an_item_is_copied_once(bound, name, wrap):
    value = bound.CountedPart()
    bound.take_counts()
    getattr(bound, name)(wrap(value))
    assert bound.take_counts() == (1, 0)


@pytest.mark.parametrize("name", ["number_in", "number_at"])
def test_a_variant_has_alternatives_that_cannot_be_assigned_or_made_without_arguments(bound, name):
    find = getattr(bound, name)
    assert (find(bound.FixedPart()), find(bound.GivenPart(5)), find(7)) == (3, 5, 7)
    with pytest.raises(TypeError):
        find("text")


def test_a_sequence_without_iter_is_a_sequence(bound):
    class Old:
        def __len__(self):
            return 2

        def __getitem__(self, i):
            return (7, "x")[i]

    assert bound.shape_of(Old()) == bound.shape_of((7, "x")) == "x7"


TEXTS = [
    "",
    "1234567",
    "12345678",
    "x" * 254,
    "x" * 255,
    "x" * 256,
    "x" * 257,
    "x" * 5000,
    "\u00e4\u4e2d\U0001f600" * 9,
]


@pytest.mark.parametrize("n", [0, 1, 8, 9, 16, 17, 300])
def test_containers_of_any_size_are_copied(bound, n):
    texts = [[text] * i for i, text in enumerate(TEXTS)] + [
        [str(i) for i in range(n)],
        [*TEXTS, "a\0b", "a\0 longer text"],
    ]
    table = {f"key {i}": texts if i == 0 else [] for i in range(n)}
    numbers = {7**i for i in range(min(n, 22))}
    for _ in range(3):
        assert bound.texts(table) == bound.texts(collections.OrderedDict(table)) == table
        assert bound.texts({key: tuple(map(tuple, value)) for key, value in table.items()}) == table
        assert bound.numbers(numbers) == bound.numbers(frozenset(numbers)) == bound.numbers(list(numbers)) == numbers
        assert bound.table(dict.fromkeys(numbers, 0.5)) == dict.fromkeys(numbers, 0.5)


def test_items_that_do_not_fit(bound):
    class Own(str):
        __slots__ = ()

    assert bound.texts({"a": [["text", Own("an own text")]]}) == {"a": [["text", "an own text"]]}
    assert bound.table({True: 1, 2: 10**30}) == {1: 1.0, 2: 1e30}
    deep: list[object] = []
    for _ in range(200):
        deep = [deep, "a longer text"]
    for wrong in (
        ["a longer text", 1],
        ["a longer text", object()],
        ["a longer text", ["x"]],
        [{"a longer text"}],
        deep,
    ):
        with refused():
            bound.texts({"a longer key": [["a longer text"], wrong]})
    with pytest.raises(TypeError, match="incompatible function arguments"):
        bound.texts({"a": [["a longer text", "\udc80"]]})
    assert bound.texts({"a": [["a longer text"]]}) == {"a": [["a longer text"]]}
    for wrong, name in (([], "list"), ({}, "dict"), (set(), "set"), ("text", "str"), ("a longer text", "str")):
        with pytest.raises(TypeError, match=f"Invoked with types: {name}$"):
            bound.time(wrong)


def test_an_argument_that_is_kept_stays_as_it_was(bound):
    kept = [(bound.keep([str(i) * 20, i, None]), bound.keep(f"{i}: a longer text")) for i in range(50)]
    assert bound.texts({"a": [TEXTS]}) == {"a": [TEXTS]}
    assert [(list(items), text) for items, text in kept] == [
        ([str(i) * 20, i, None], f"{i}: a longer text") for i in range(50)
    ]


@needs_threads
def test_a_list_may_change_while_a_call_reads_it(bound):
    words = ["a longer text"] * 20

    def work(number):
        for _ in range(200):
            if number == 0:
                words.append("another longer text")
                del words[20:]
            read = bound.texts({"a": [words]})
            assert set(read["a"][0]) <= {"a longer text", "another longer text"}
        return True

    assert parallelize(work, 4) == [True] * 4


def test_a_value_is_found_if_python_knows_it(bound):
    assert bound.is_known(bound.CountedPart())


def test_signatures_name_the_accepted_types_and_the_returned_type(bound):
    with pytest.raises(TypeError) as caught:
        bound.types()
    assert (
        "types(v: collections.abc.Sequence[int], m: collections.abc.Mapping[str, collections.abc.Sequence[int]], "
        "s: collections.abc.Set[int]) -> dict[str, set[int]]"
    ) in str(caught.value)
    signature = inspect.signature(bound.types)
    assert signature.parameters["v"].annotation == collections.abc.Sequence[int]
    assert signature.parameters["m"].annotation == collections.abc.Mapping[str, collections.abc.Sequence[int]]
    assert signature.return_annotation == dict[str, set[int]]
    assert inspect.signature(bound.time).return_annotation is datetime.datetime
    assert inspect.signature(bound.parent).return_annotation is Path
    with pytest.raises(TypeError, match=r"duration\(arg: datetime.timedelta \| float"):
        bound.duration(3)


# --- ranges and sequences -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "moment", [datetime.datetime.max, datetime.datetime(2263, 1, 1), datetime.datetime(1500, 1, 1)], ids=str
)
def test_a_time_that_64_bits_of_nanoseconds_cannot_hold_is_refused(bound, moment):
    with refused() as caught:
        bound.time(moment)
    if moment != datetime.datetime.max:  # beyond the local time of some systems
        assert str(caught.value).endswith("argument #0 `arg` is outside the range of the time in C++")
    assert bound.count(moment.replace(tzinfo=UTC)) == (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(
        microseconds=1
    )


def test_a_duration_outside_the_range_is_an_error(bound):
    epoch = datetime.datetime(1970, 1, 1)
    for wrong in (datetime.timedelta(days=200_000), datetime.timedelta(days=-200_000), 1e11, float("nan")):
        with refused() as caught:
            bound.nanoseconds(epoch, wrong)
        assert str(caught.value).endswith("argument #1 `arg1` is outside the range of the time in C++")
    for wrong in (datetime.timedelta.max, datetime.timedelta.min, float("inf")):
        for function in (bound.duration, bound.steady):
            with refused() as caught:
                function(wrong)
            assert str(caught.value).endswith("argument #0 `arg` is outside the range of the time in C++")
    assert bound.hours(datetime.timedelta(days=200_000)) == datetime.timedelta(days=200_000)
    with pytest.raises(OverflowError, match="the time does not fit into 64 bits of microseconds"):
        bound.most_hours()


def test_a_number_that_a_float_cannot_hold_is_refused(bound):
    for wrong in (1e39, -1e39, 2**200):
        with refused():
            bound.single(wrong)
    for right in (float("inf"), 2**100, -0.5):
        assert bound.single(right) == right
    assert bound.single(0.1) == pytest.approx(0.1)
    assert bound.real(2**1000) == 2**1000
    for wrong in (2**1100, 1j):
        with refused():
            bound.real(wrong)


def test_a_finite_number_that_a_float_cannot_hold_is_refused(bound):
    wrong = decimal.Decimal("1e400")
    for function, argument in ((bound.real, wrong), (bound.single, wrong), (bound.reals, [1.0, wrong])):
        with refused():
            function(argument)
    assert bound.real(decimal.Decimal("-Infinity")) == -math.inf


def test_an_object_of_a_class_below_int_is_its_number_everywhere(bound):
    class Below(int):
        pass

    assert [bound.cast_to_int(Below(7)), bound.single(Below(7)), bound.real(Below(7))] == [7, 7.0, 7.0]


def test_the_error_of_a_number_itself_is_in_the_message(bound):
    def fail(self):
        raise ZeroDivisionError("no number")

    by_index, by_float = (type("Wrong", (), {name: fail})() for name in ("__index__", "__float__"))
    for function, argument in (
        *((bound.text_or_int, by_index), (bound.reals, [by_index]), (bound.reals, [1, by_float])),
        *((bound.real, by_float), (bound.real, by_index)),
    ):
        with refused() as caught:
            function(argument)
        assert str(caught.value).endswith("Reading an argument raised ZeroDivisionError: no number")
    with refused() as caught:
        bound.real("text")
    assert "Reading an argument" not in str(caught.value)


def test_no_item_of_a_set_is_lost_to_a_nan(bound):
    nan = float("nan")
    for items in ([1.0, nan], (nan, 1.0), {3.0, nan, 2.0}):
        with refused() as caught:
            bound.floats(items)
        assert str(caught.value).endswith("raised ValueError: nan and another item cannot both be in a set")
    assert len(bound.floats([nan])) == 1
    assert bound.distant([1.0, 1.1, 5.0]) == 2  # the order of this set takes the first two for one
    assert bound.floats([1, True, 2.5]) == {1.0, 2.5}


def test_an_interrupt_in_the_method_of_a_number_aborts_the_call(bound):
    def interrupt(self):
        raise KeyboardInterrupt

    number = type("Interrupts", (), {"__float__": interrupt})()
    for function, argument in ((bound.real, number), (bound.reals, [number])):
        with pytest.raises(KeyboardInterrupt):
            function(argument)


def test_the_items_of_a_memoryview_are_read(bound):
    assert bound.reals(memoryview(array.array("d", [1, 2.5]))) == [1, 2.5]
    assert bound.whole(memoryview(b"ab")) == [97, 98]
    assert bound.rows(memoryview(bytes(range(6))).cast("B", [2, 3])) == [[0, 1, 2], [3, 4, 5]]
    assert bound.numbers(memoryview(array.array("q", [5, 5, -1]))) == {-1, 5}
    assert bound.whole(memoryview(b"")) == []
    for wrong in (b"ab", b"a longer text", memoryview(array.array("d", [1]))):
        with refused():
            bound.whole(wrong)


def test_the_elements_of_any_array_are_read(bound):
    numpy = pytest.importorskip("numpy")
    for code in "?bBhHiIlLqQefdg":
        given = numpy.array([[1, 0, 1], [0, 0, 1]], code)
        assert bound.reals(given[0]) == [1, 0, 1]
        assert bound.reals(given[0].astype(given.dtype.newbyteorder())) == [1, 0, 1]
        assert bound.reals(given[::-1, 2]) == [1, 1]
        assert bound.rows(given.T) == [[1, 0], [0, 0], [1, 1]]
        assert bound.rows(list(given)) == [[1, 0, 1], [0, 0, 1]]
    assert bound.words(numpy.array(["a", "bc"])) == ["a", "bc"]
    assert bound.complexes(numpy.array([1, 2j])) == [1, 2j]
    assert bound.durations(numpy.array([1, 2], "m8[s]")) == [datetime.timedelta(seconds=n) for n in (1, 2)]
    for wrong in (numpy.array(1.0), numpy.zeros((2, 2)), numpy.array([1j])):
        with refused():
            bound.reals(wrong)
    for wrong in (numpy.complex64(1j), numpy.array(1j)):
        with refused():
            bound.real(wrong)


def test_small_types_of_ml_dtypes_are_read(bound):
    numpy = pytest.importorskip("numpy")
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4"):
        numbers = numpy.array([0, 1, 2]).astype(getattr(ml_dtypes, name))
        assert bound.reals(numbers) == [0, 1, 2]
        assert "int" not in name or bound.whole(numbers) == [0, 1, 2]


@pytest.mark.parametrize(
    ("function", "args", "line"),
    [
        ("types", ([1, "x"], {}, ()), "argument #0 `v`[1] has the type str"),
        ("types", (range(2**31 - 1, 2**31 + 1), {}, ()), f"argument #0 `v`[1] is {2**31}, which is outside the range "),
        ("types", ([1], {"a": [1], "b": [1, None]}, ()), "argument #1 `m`['b'][1] has the type None"),
        ("types", ([1], {3: [1]}, ()), "argument #1 `m`: the key 3 has the type int"),
        ("types", ([1], {"a": [1], "b": [1, Text("x")]}, ()), f"argument #1 `m`['b'][1] has the type {__name__}.Text"),
        ("types", ([1], {"a": [1], Whole(3): [1]}, ()), f"argument #1 `m`: the key 3 has the type {__name__}.Whole"),
        ("types", ([1], {"1": Text("x")}, ()), f"argument #1 `m`['1'] has the type {__name__}.Text"),
        (
            "types",
            ([1], {}, {2**31}),
            f"argument #2 `s`[0] is {2**31}, which is outside the range -{2**31} to {2**31 - 1}",
        ),
        ("types", ([1, datetime], {}, ()), "argument #0 `v`[1] has the type module"),
        ("types", ([1, UTC], {}, ()), "argument #0 `v`[1] has the type datetime.timezone"),
        ("array", ([1, 2],), " has 2 items instead of 3"),
        ("shape_of", ((1, 2),), "[1] has the type int"),
        ("rows", ([[1], [2, "x"]],), "[1][1] has the type str"),
        ("durations", ([1.5, "x"],), "[1] has the type str"),
        ("text_or_int", (2**31,), f"` is {2**31}, which is outside the range -{2**31} to {2**31 - 1}"),
        ("single", (1e39,), " is 1e+39, which is outside the range of a float"),
        ("single", (-(2**130),), f" is {-(2**130)}, which is outside the range of a float"),
        ("real", (2**1024,), f" is {2**1024}, which is outside the range of a double"),
        ("real", (2**5000,), " is an integer of more than 4992 bits, which is outside the range of a double"),
        ("reals", ([1, -(2**1100)],), f"[1] is {-(2**1100)}, which is outside the range of a double"),
        ("real", (Index(2**1024),), f" is {2**1024}, which is outside the range of a double"),
        ("reals", ([1, Index(2**1100)],), f"[1] is {2**1100}, which is outside the range of a double"),
        ("text_or_int", (Index(2**31),), f"` is {2**31}, which is outside the range -{2**31} to {2**31 - 1}"),
        ("types", ([1, Index(2**70)], {}, ()), f"argument #0 `v`[1] is {2**70}, which is outside the range"),
    ],
)
def test_an_error_names_the_index_of_the_value_that_does_not_fit(bound, function, args, line):
    with refused() as caught:
        getattr(bound, function)(*args)
    found = [each for each in str(caught.value).splitlines() if each.startswith("    1. ")][-1]
    assert line in found
