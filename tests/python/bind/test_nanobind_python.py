"""Sources for nanobind that use `PyObject *` and functions of Python.h: they compile without Python.h, and work."""

import array
import ctypes
import math
import operator
import signal
import sys

import pytest
from support import (
    FREES_AT_ONCE,
    IS_CFFI_ON_CPYTHON,
    IS_DEBUG,
    IS_OWN_DEBUG,
    IS_PYPY,
    collect_garbage,
    needs_identity,
    needs_one_wrapper,
)

import ffi_hpy
from ffi_hpy import libinfo


@pytest.fixture(scope="module")
def python(import_bound):
    return import_bound("nanobind_python", f"-I{libinfo.find_nanobind_include_path()}")


VALUES = (
    *(None, True, False, 0, 1, -1, 2**61 - 1, 2**61, -(2**61), -(2**61) - 1, 2**63 - 1, -(2**63), 2**63, 10**30),
    *(0.0, -0.0, 1.0, -1.5, 0.1, 1e-300, 1e300, 5e-324, math.inf, -math.inf, math.pi, 2.0**-255, 2.0**256),
    *("", "a", "seven b", "eight by", "a\0b", "äöü", "a text that is longer than a word", b"", b"seven b", b"\0\xff"),
    *((), (1, 2), len, int),
)


@pytest.mark.parametrize("way", ["through_pointer", "through_owned_pointer"])
def test_a_pointer_has_the_whole_value(python, way):
    for value in VALUES:
        result = getattr(python, way)(value)
        assert (type(result), repr(result)) == (type(value), repr(value))
        assert python.is_one_pointer(value)


def test_a_float_that_is_not_a_number_passes_through_a_pointer(python):
    assert math.isnan(python.through_pointer(math.nan))


@needs_identity
@needs_one_wrapper
def test_an_object_passes_through_a_pointer_as_itself(python):
    for value in (object(), [1], {}, python, python.Owner(None)):
        assert python.through_pointer(value) is value
        assert python.through_owned_pointer(value) is value


@pytest.mark.parametrize("value", ["a text that is longer than a word", b"bytes that are longer than a word"])
def test_a_text_that_a_library_passes_on_is_of_the_class_of_python(python, value):
    assert type(python.through_pointer(value)) is type(value)
    args, named = python.many(value, name=value)
    assert [type(each) for each in (*args, *named.values(), *python.in_list(value))] == [type(value)] * 4


def test_a_null_pointer_is_an_empty_handle(python):
    assert python.is_null()


def test_an_empty_object_is_not_a_result(python):
    with pytest.raises(TypeError, match="returned an empty object"):
        python.empty()
    with pytest.raises(KeyError, match="not there"):
        python.empty_with_error()


def test_a_class_notes_the_alias_that_is_its_base(python):
    assert python.BoxOfInt.__bases__ == (python.Box,)
    assert python.BoxOfInt.__orig_bases__ == (python.Box[int],)


def test_constants_and_classes_have_addresses(python):
    assert python.none() is None
    assert (python.is_bool_class(bool), python.is_bool_class(int)) == (True, False)
    assert python.int_class() is int


def test_an_address_is_a_capsule(python):
    address = python.address()
    assert 'capsule object "nb_handle" at 0x' in repr(address)
    assert (python.number_at(address), python.number_at(None), python.null_address()) == (42, 0, None)
    assert python.number_at(ctypes.c_void_p(ffi_hpy._core.capsule_read(address)[0])) == 42
    assert python.number_at.__doc__.splitlines()[0] == (
        "number_at(address: typing_extensions.CapsuleType | None) -> int"
    )


def test_a_capsule_of_another_name_is_not_an_address(python):
    for value in (python.other_capsule(), object(), 1, "nb_handle"):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            python.number_at(value)


@needs_identity
@needs_one_wrapper
def test_references_of_cpp_and_of_python_are_counted(python):
    values = [], python.Field(), python.Owner(None)
    assert [python.added_references(value) for value in values] == [3, 3, 3]
    assert python.references(None) == python.references(7) == python.references("short") >= 2**30
    if not hasattr(sys, "getrefcount"):
        assert python.references(values[0]) > 2**30
        return
    for value in values:
        before = python.references(value)
        several = [value] * 10
        assert python.references(value) == before + 10
        assert several


@needs_identity
@needs_one_wrapper
def test_an_accessor_borrows_a_key_that_is_a_variable(python):
    assert python.references_of_key() == (0, 1, 7, 7, 7)


def test_an_accessor_has_a_pointer(python):
    assert python.item("text", "__len__")() == 4


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        (True, ["bool", "int"]),
        (1, ["int"]),
        (2**70, ["int"]),
        (1.5, ["float"]),
        ("a", ["str"]),
        (b"a", ["bytes"]),
        ([], ["list"]),
        ((), ["tuple"]),
        ({}, ["dict"]),
        (int, ["callable"]),
        (None, []),
    ],
)
def test_checks_by_cpythons_names(python, value, kinds):
    assert python.checks(value) == kinds


def test_numbers_by_cpythons_names(python):
    assert python.doubled(21) == 42
    assert python.doubled(-1) == -2
    with pytest.raises(TypeError):
        python.doubled("a")
    with pytest.raises(OverflowError):
        python.doubled(2**70)


def test_containers_by_cpythons_names(python):
    made = python.made()
    assert made == ({"list": [0.0, 1 / 3, 2 / 3]}, ("a text that is longer than a word", b"a\0b"))
    assert [type(part) for part in made] == [dict, tuple]
    assert python.get({"a": 1}, "a") == 1
    assert python.get({}, "a") == "nothing"
    assert python.get({}, []) == "nothing"
    assert python.total([0.5, 1, 2]) == 3.5


def test_calls_by_cpythons_names(python):
    assert python.call(lambda *args, **named: (args, named), (1, "b"), {"c": 2}) == ((1, "b"), {"c": 2})
    assert python.call_with_two(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        python.call_with_two(divmod, 7, 0)


def test_a_captured_handle_of_a_module_stays_valid(python):
    assert [python.made() for _ in range(20)]  # values in the memory of a module's object that has ended
    assert python.modules() == (python, python.inner, math)


@pytest.mark.parametrize("n", [0, 3, 7, 8, 30])
def test_bytes_without_data_are_filled_in_afterwards(python, n):
    assert python.filled_bytes(n) == bytes(ord("a") + i % 26 for i in range(n))


def test_a_handle_of_an_attribute_outlives_the_expression(python):
    class Value:
        number = 2.5 + 1j
        none = None

        @property
        def items(self):
            return [object, 2]

    assert python.handles_of_temporaries(Value()) == (2.5 + 1j, object, Value, [object, 2], None)


def test_errors_by_cpythons_names(python):
    assert python.attribute_or(1, "no_such_name", "otherwise") == "otherwise"
    assert python.attribute_or(1, "real", "otherwise") == 1
    with pytest.raises(LookupError, match="not here"):
        python.set_error()
    with pytest.raises(ValueError, match="5 is wrong"):
        python.format_error(5)
    assert python.catch_and_go_on(lambda: 1 // 0) == 1


@pytest.mark.parametrize(
    ("value", "args"), [(KeyError("k", 1), ("k", 1)), (None, ()), ((2, "two"), (2, "two")), ([3], ([3],))]
)
def test_an_error_is_made_of_a_class_and_a_value(python, value, args):
    with pytest.raises(KeyError) as raised:
        python.set_error_object(KeyError, value)
    assert raised.value.args == args
    if isinstance(value, KeyError):
        assert raised.value is value


@pytest.mark.thread_unsafe(reason="the main thread handles signals")
@pytest.mark.skipif(not hasattr(signal, "raise_signal"), reason="raise_signal() is missing")
def test_a_check_of_signals_runs_the_handler(python):
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        signal.raise_signal(signal.SIGINT)
        python.check_signals()
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [1]


def test_threads_may_run_while_a_block_lasts(python):
    assert python.sum_without_gil([1, 2, 3]) == 6


@pytest.mark.thread_unsafe(reason="the library records the calls of one thread")
def test_a_call_policy_has_pointers_of_the_arguments(python):
    python.take_seen()
    assert python.shorten("abc") == "bc"
    assert python.take_seen() == ["abc", "abc"]
    assert python.shorten("swap me") == " text that is longer than a word"
    assert python.take_seen() == ["a text that is longer than a word"] * 2
    with pytest.raises(RuntimeError, match="thrown"):
        python.shorten("throw")
    assert python.take_seen() == ["throw"]
    with pytest.raises(TypeError):
        python.shorten(1)
    assert python.take_seen() == [1]


def test_functions_of_a_class_in_cpythons_form_are_methods(python):
    owner = python.Owner("item")
    assert len(owner) == 3
    assert repr(owner) == "an Owner"
    assert owner[0] == "item"
    with pytest.raises(IndexError, match="one item"):
        owner[1]


def test_operators_in_cpythons_form_are_methods(python):
    money = python.Money
    assert (money(250) - money(50)).cents == 200
    assert (money(250) - 1).cents == 150
    assert (3 - money(50)).cents == 250
    assert (-money(5)).cents == -5
    assert operator.index(money(7)) == 7
    assert money.__doc__ == "An amount."
    amount = money(1)
    before = amount
    amount += money(2)
    assert (amount.cents, before.cents) == (3, 3)
    with pytest.raises(TypeError, match="unsupported operand"):
        money(1) - "1"
    with pytest.raises(TypeError, match="unsupported operand"):
        "1" - money(1)


def test_a_comparison_in_cpythons_form_is_six_methods(python):
    money = python.Money
    assert money(100) == 1
    assert money(100) != money(101)
    assert money(100) < money(101) <= money(101)
    assert money(101) > money(100) >= 1
    assert money(1) != "1"
    with pytest.raises(TypeError, match="not supported between"):
        money(1) < "1"  # noqa: B015


def test_sequences_in_cpythons_form_have_items(python):
    amount = python.Money(1234)
    assert (list(amount), amount[-1], amount[-2]) == ([12, 34], 34, 12)
    assert 34 in amount
    assert 33 not in amount
    amount[-1] = 5
    assert amount.cents == 1205
    del amount[1]
    assert amount.cents == 1200
    with pytest.raises(TypeError, match="only the cents"):
        amount[0] = 1
    with pytest.raises(IndexError, match="two parts"):
        amount[2]
    assert (amount().cents, amount(1, 2).cents, amount(1, a=1, b=2).cents) == (1200, 1202, 1401)


SIMPLE, WRITABLE, FORMAT, ND, STRIDES, FULL_RO = 0, 1, 4, 8, 0x18, 0x11C  # CPython's numbers


def test_the_memory_of_objects_is_read(python):
    for data in (b"a", b"bytes that are longer than a word", bytearray(b"bytearray"), memoryview(b"view")):
        described = python.described(data, FULL_RO)
        assert described[:-1] == (data[:1], len(data), 1, type(data) is not bytearray, "B", [len(data)], [1], True)
        assert type(described[-1]) is type(data)
        assert python.described(data, SIMPLE)[4:7] == (None, [], [])
        assert python.described(data, ND)[4:7] == (None, [len(data)], [])
    numbers = array.array("d", [1, 2, 3])
    assert python.described(numbers, FORMAT | STRIDES)[1:7] == (24, 8, False, "d", [3], [8])
    table = memoryview(bytes(6)).cast("B", (2, 3))
    assert python.described(table, FULL_RO)[1:8] == (6, 1, True, "B", [2, 3], [3, 1], False)


def test_memory_is_written_and_then_free(python):
    data = bytearray(b"abc")
    python.described(data, WRITABLE)
    assert data == b"Xbc"
    data.append(1)  # which fails while the memory is exported
    with pytest.raises(BufferError, match="read-only"):
        python.described(b"abc", WRITABLE)
    with pytest.raises(BufferError, match="not contiguous"):
        python.described(memoryview(b"abcd")[::2], SIMPLE)
    with pytest.raises(TypeError, match="bytes-like"):
        python.described(3, SIMPLE)
    assert [python.has_memory(each) for each in (b"a", data, 3, "text", [])] == [True, True, False, False, False]


@pytest.mark.thread_unsafe(reason="the threads would change one memory")
def test_memory_of_cpp_is_a_memoryview(python):
    with pytest.raises(TypeError, match="read-only"):
        python.memory(False)[0] = 1
    view = python.memory(True)
    view[0] = ord("S")
    assert (bytes(python.memory(False)), python.shared_memory()) == (b"Shared", b"Shared")
    view[0] = ord("s")
    assert python.viewed(view) == b"shared"
    data = bytearray(b"a bytearray")
    with python.view_of(data) as seen:
        assert python.viewed(seen) == b"a bytearray"
    data.append(1)  # which fails while the memory is exported
    with pytest.raises(TypeError):
        python.view_of(1)


class Path:
    def __fspath__(self):
        return "a/path"


def test_operations_by_cpythons_names(python):
    class Number(int):
        pass

    values = (1, 0.5, [1], (1,), {1: 1}, b"1", Number(1), True)
    exact = [tuple(int(kind is type(value)) for kind in (int, float, list, tuple, dict, bytes)) for value in values]
    assert [python.exact(value) for value in values] == exact
    for a, b in ((7, 2), (0.5, 3), (2, 2)):
        expected = [a + b, a - b, a * b, a / b, a // b, a % b]
        for answer in (a < b, a <= b, a == b, a != b, a > b, a >= b):
            expected += [answer, answer]
        assert python.computed(a, b) == expected
    assert python.as_index(3) == (3, True, False)
    assert python.as_index(python.Money(4)) == (4, True, False)
    with pytest.raises(TypeError, match="integer"):
        python.as_index(0.5)
    assert python.text_of(3.14159, ".2f") == ("3.14", "3.14159")
    assert (python.path_of(Path()), python.path_of("p"), python.path_of(b"p")) == ("a/path", "p", b"p")
    with pytest.raises(TypeError, match=r"os\.PathLike"):
        python.path_of(3)
    assert python.is_subtype() == (1, 0)


@needs_identity  # each wrapper of a constructor describes the overload that was the newest when the wrapper was made
@needs_one_wrapper
def test_a_constructor_is_documented(python):
    assert python.Owner.__init__.__doc__ == "__init__(self, arg: object | None, /) -> None"
    lines = python.Point.__init__.__doc__.splitlines()
    assert lines[:4] == [
        "__init__(self) -> None",
        "__init__(self, x: int, y: int = 2) -> None",
        "__init__(self, name: str) -> None",
        "__init__(self, arg: collections.abc.Sequence[int], /) -> None",
    ]
    assert "A point of the plane." in lines


def test_a_class_without_a_constructor_is_an_error_with_the_reason(python):
    with pytest.raises(TypeError, match="Box: no constructor defined"):
        python.Box()


sees_references = pytest.mark.skipif(
    IS_CFFI_ON_CPYTHON or IS_DEBUG or IS_OWN_DEBUG or IS_PYPY,
    reason="debug modes do not see the references of native objects; test_bound_cycles.py tests the search of PyPy",
)


@sees_references
@pytest.mark.thread_unsafe(reason="it counts the values that are alive in the process")
def test_the_collector_finds_cycles_by_a_function_in_cpythons_form(python):
    before = python.n_alive()
    box = []
    box.append(python.Owner(box))
    del box
    collect_garbage(lambda: python.n_alive() == before)
    assert python.n_alive() == before


@sees_references
@pytest.mark.thread_unsafe(reason="it waits for the garbage of one thread")
def test_a_member_that_a_function_visits_too_is_counted_once(python):
    field = python.Field()
    kept = [field]
    field.value = kept
    collect_garbage()
    assert field.value is kept
    del field
    collect_garbage()
    assert kept[0].value is kept


@needs_one_wrapper
@pytest.mark.skipif(not FREES_AT_ONCE, reason="it needs objects that end at once")
def test_an_intrusive_count_has_a_pointer_of_its_object(python):
    counted = python.Counted()
    assert counted.value() == 7
    assert python.same_counted(counted) is counted
    assert python.is_pythons(counted)
