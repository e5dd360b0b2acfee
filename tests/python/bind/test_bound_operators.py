"""Operators of bound classes; calls that get bound objects together with values of other kinds."""

from __future__ import annotations

import threading
import weakref

import pytest
from support import collect_garbage, needs_identity, needs_one_wrapper

pytestmark = [needs_one_wrapper, needs_identity]


@pytest.fixture(scope="module")
def lib(import_bound):
    return import_bound("bound_operators")


class Other:
    """An operand with operators for everything."""

    def __radd__(self, other):
        return "radd"

    def __eq__(self, other):
        return "eq"

    def __gt__(self, other):
        return "gt"

    def __rsub__(self, other):
        return "rsub"

    def __rfloordiv__(self, other):
        return "rfloordiv"

    __hash__ = None


# --- operators --------------------------------------------------------------------------------------------------------


def test_an_operator_takes_an_operand_of_its_parameter(lib):
    a, b = lib.Point(1, 2), lib.Point(3, 4)
    total = a + b
    assert (total.x, type(total), a == lib.Point(1, 2), a == b, a != b) == (4.0, lib.Point, True, False, True)
    assert (a.__add__(b).x, lib.Point.__add__(a, b).x, a.__eq__(b), a.__ne__(b)) == (4.0, 4.0, False, True)


@pytest.mark.parametrize("operand", [3, None, 2.5, "text", b"bytes", (), [1], {1: 2}, {1}, object(), int, len, 2**70])
def test_an_operator_returns_not_implemented_for_other_operands(lib, operand):
    point, box = lib.Point(1, 2), lib.Box(3)
    assert point.__add__(operand) is NotImplemented
    assert point.__iadd__(operand) is NotImplemented
    assert (point == operand, point != operand, operand == point) == (False, True, False)
    assert (box == operand, box != operand) == ((operand == 3), (operand != 3))
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+"):
        point + operand


def test_python_asks_the_other_operand(lib):
    point, other = lib.Point(1, 2), Other()
    assert (point + other, point == other, lib.Box(1) == other) == ("radd", "eq", "eq")
    assert (lib.Box(1) - other, lib.Box(1) // other) == ("rsub", "rfloordiv")  # the methods need one more argument


def test_each_overload_of_an_operator_is_tried(lib):
    box = lib.Box(3)
    assert (box == lib.Box(3), box == lib.Box(4), box == 3, box == 4, box == 3.5) == (True, False, True, False, False)
    assert (box == lib.Point(1, 2), box == None) == (False, False)  # noqa: E711 - the operator is meant


def test_an_operator_gets_python_objects(lib):
    assert (lib.Box(1) < "text", lib.Box(1) < object(), lib.Box(-1) < object()) == (True, False, True)


def test_an_operator_without_a_result_keeps_the_object(lib):
    box = same = lib.Box(1)
    box += 2
    assert (box is same, box.number) == (True, 3)
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+="):
        box += "text"
    point = same = lib.Point(1, 2)
    point += lib.Point(1, 1)
    assert (point is same, point.x) == (True, 2.0)
    point += point
    assert (point is same, point.x) == (True, 4.0)


def test_an_error_inside_of_an_operator_is_raised(lib):
    with pytest.raises(ValueError, match="not today"):
        lib.Box(1) * 2


def test_an_operator_with_defaults(lib):
    assert (lib.Box(1) ** 2, pow(lib.Box(1), 2, 5)) == (3, -1)
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \*\* or pow"):
        lib.Box(1) ** "text"


@pytest.mark.parametrize(
    ("item", "is_contained"),
    [
        (3, True),
        (4, False),
        (3.0, True),
        (3.5, False),
        ("3", False),
        (None, False),
        (2**70, False),
        (float("nan"), False),
    ],
)
def test_an_item_that_does_not_convert_is_not_contained(lib, item, is_contained):
    assert (item in lib.Box(3)) is is_contained


def test_a_call_without_an_operand_is_a_mistake(lib):
    for call in (lib.Point(1, 2).__add__, lib.Point.__add__, lib.Box(1).__iadd__):
        with pytest.raises(TypeError):
            call()


def test_a_subclass_overrides_an_operator(lib):
    class Named(lib.Point):
        def __add__(self, other):
            result = super().__add__(other)
            return result if result is NotImplemented else ("named", result.x)

    assert Named(1, 2) + lib.Point(3, 4) == ("named", 4.0)
    with pytest.raises(TypeError, match="unsupported"):
        Named(1, 2) + 3


@pytest.mark.filterwarnings("ignore:ffi_hpy. attempted to access an uninitialized instance")
def test_an_operand_without_an_object(lib):
    class Empty(lib.Point):
        def __init__(self):
            """Leaves out the constructor of the parent."""

    point = lib.Point(1, 2)
    for use in (
        lambda: point + Empty(),
        lambda: Empty() + point,
        lambda: point.dot(Empty()),
        lambda: Empty().dot(point),
    ):
        with pytest.raises(TypeError, match=r"incompatible function arguments|unsupported operand"):
            use()


# --- calls with several objects ---------------------------------------------------------------------------------------


def test_objects_and_values_of_other_kinds(lib):
    a, b = lib.Point(1, 2), lib.Point(3, 4)
    assert a.mix("a text of 20 letters", [1, 2], lib.Color.blue, b, lambda point: point.x) == "a text of 20 letters244"
    assert a.mix("é", (), lib.Color.red, a, lambda point: 1) == "é012"
    with pytest.raises(TypeError, match=r"mix\(\): incompatible function arguments"):
        a.mix("text", [1], lib.Color.blue, 3, lambda point: point.x)
    with pytest.raises(TypeError, match=r"mix\(\): incompatible function arguments"):
        a.mix("text", ["x"], lib.Color.blue, b, lambda point: point.x)


def test_a_result_that_is_an_argument_is_the_same_object(lib):
    a, b = lib.Point(1, 2), lib.Point(3, 4)
    assert (a.first(b) is a, a.second(b) is b, a.first(a) is a, a.second(a) is a) == (True, True, True, True)


def test_the_error_of_a_call_with_objects(lib):
    a, b = lib.Point(1, 2), lib.Point(3, 4)
    with pytest.raises(ValueError, match="a text of 20 letters"):
        a.fail(b, "a text of 20 letters")
    with pytest.raises(TypeError, match=r"Invoked with types: bound_operators\.Point, bound_operators\.Box"):
        a.dot(lib.Box(1))
    with pytest.raises(LookupError, match="inside"):
        a.mix("text", [1], lib.Color.red, b, call_that_raises)
    assert a.dot(b) == 11.0


def call_that_raises(point):
    raise LookupError("inside")


def test_more_objects_than_fit_on_the_stack(lib):
    points = [lib.Point(i, 0) for i in range(9)]
    assert points[0].many(*points[1:]) == 36.0


def test_a_constructor_with_objects_and_values_of_other_kinds(lib):
    point, text, numbers = lib.Point(1, 2), "a text of 20 letters", [1, 2, 3]
    label = lib.Label(point, text, numbers)
    assert (label.x, label.text, label.numbers) == (1.0, text, numbers)
    assert (lib.Label(label, lib.Point(3, 4)).x, lib.Label(point, "é", (1,)).numbers) == (3.0, [1])
    with pytest.raises(ValueError, match="a label needs a text"):
        lib.Label(point, "", numbers)
    for wrong in ((point, text, ["x"]), (3, text, numbers), (point, text), (label, label), (point, object(), numbers)):
        with pytest.raises(TypeError, match=r"__init__\(\): incompatible function arguments"):
            lib.Label(*wrong)
    assert lib.Keeper(numbers, point).kept is numbers


def test_a_call_keeps_nothing_of_its_objects(lib):
    class Kept(lib.Point):
        pass

    a, b = Kept(1, 2), Kept(3, 4)
    ends = [weakref.ref(a), weakref.ref(b)]
    for _ in range(3):
        assert (a.dot(b), (a + b).x, a.first(b) is a) == (11.0, 4.0, True)
        with pytest.raises(ValueError, match="text"):
            a.fail(b, "text")
        assert a.__add__("text") is NotImplemented
    del a, b
    collect_garbage()
    assert [end() for end in ends] == [None, None]


def test_threads_call_with_the_same_objects(lib):
    a, b, failures = lib.Point(1, 2), lib.Point(3, 4), []

    def work():
        for _ in range(2000):
            if (a.dot(b), (a + b).x, a == b, a.first(b) is a, a == "text") != (11.0, 4.0, False, True, False):
                failures.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
