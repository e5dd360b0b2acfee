"""Operators and protocols that C++ registers under Python's names."""

import copy
import math
import operator
import pickle
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from support import IS_PYPY, unique_name

import ffi_hpy


@pytest.fixture(scope="module", params=["own", "new"])
def types(request, compile_era):
    """Classes for the types of native/operators.cc, compiled against our headers and against apache-tvm-ffi's."""
    era = request.param
    ffi_hpy.load_module(compile_era("operators.cc", era, "-ltvm_ffi"))
    names = ["Num", "OnlyEqual", "BelowEqual", "Hashed", "Counter", "Range", "Guard", "Closed", "Task", "Bytes", "All"]
    classes = {}
    for name in names:
        base = classes["OnlyEqual"] if name == "BelowEqual" else ffi_hpy.Object
        classes[name] = ffi_hpy.register_object(f"operators.{era}.{name}")(type(base)(name, (base,), {}))
    return SimpleNamespace(**classes)


class Other:
    """Answers for every operand on its left, and for `==`."""

    def __radd__(self, other):
        return "radd"

    def __rpow__(self, other):
        return "rpow"

    def __gt__(self, other):
        return "gt"

    def __eq__(self, other):
        return True

    __hash__ = None


# --- arithmetic -------------------------------------------------------------------------------------------------------


def test_operands_that_fit_go_to_the_native_function(types):
    num = types.Num(6)
    assert (num + types.Num(2)).value == 8
    assert (num * 2).value == (2 * num).value == 12
    assert (num**2).value == pow(num, 2).value == 36
    assert (num / 2).value == (num / types.Num(2)).value == 3
    assert (3 + num).value == 306
    assert (-num).value == -6


def test_an_operand_that_does_not_fit_lets_the_other_side_answer(types):
    num = types.Num(6)
    assert num + Other() == "radd"
    assert num ** Other() == "rpow"
    assert types.OnlyEqual(1) < Other() == "gt"
    for operate in (operator.add, operator.sub, operator.truediv, operator.pow, operator.iadd):
        for operand in ("x", None, 1.5, object()):
            with pytest.raises(TypeError, match="unsupported operand type"):
                operate(num, operand)
    assert num.__add__("x") is NotImplemented
    assert num.__radd__("x") is NotImplemented
    with pytest.raises(TypeError):
        "x" + num


def test_an_exception_of_the_function_itself_arrives(types):
    with pytest.raises(TypeError, match="a negative number"):
        types.Num(6) - types.Num(-1)
    with pytest.raises(TypeError, match="Mismatched number of arguments"):
        pow(types.Num(6), 2, 3)


def test_an_operator_in_place_keeps_or_replaces_the_object(types):
    num = before = types.Num(6)
    num += 1  # the native function returns nothing
    assert num is before
    assert num.value == 7
    num *= 2  # it returns the object
    assert num.same_as(before)
    assert num.value == 14
    num += types.Num(1)  # __iadd__ does not take it, so Python uses __add__
    assert num is not before
    assert num.value == 15


ARITHMETIC = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "xor", "or"),
    "divmod",
)
ORDERINGS = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
"""Each with the name that Python calls on the other operand."""

AnswersAll = type(
    "AnswersAll",
    (),
    {
        **{f"__r{name}__": lambda self, other, name=name: f"r{name}" for name in ARITHMETIC},
        **{f"__{name}__": lambda self, other, name=name: name for name in ORDERINGS},
    },
)


@pytest.mark.parametrize("name", [*ARITHMETIC, *ORDERINGS])
def test_each_operator_goes_to_the_function_of_its_name(types, name):
    one = types.All(6)
    operate = divmod if name == "divmod" else getattr(operator, f"__{name}__")
    reflected = ORDERINGS.get(name, f"r{name}")
    assert operate(one, 2) == f"{name} 6 2"
    assert operate(2, one) == f"{reflected} 6 2"
    assert operate(one, AnswersAll()) == reflected
    for operand in (None, 1.5, object()):
        for left, right in ((one, operand), (operand, one)):
            with pytest.raises(TypeError, match=r"unsupported operand type|not supported between"):
                operate(left, right)
    assert getattr(one, f"__{name}__")("x") is getattr(one, f"__{reflected}__")("x") is NotImplemented


@pytest.mark.parametrize("name", ARITHMETIC[:-1])
def test_each_operator_in_place_keeps_the_object(types, name):
    one, operate = types.All(6), getattr(operator, f"__i{name}__")
    assert operate(one, 2) is one
    assert one.value == 2
    if name != "pow" or IS_PYPY or sys.version_info >= (3, 10):  # CPython 3.9 asks no other function after __ipow__
        assert operate(one, AnswersAll()) == f"r{name}"
    for operand in (None, 1.5, object()):
        with pytest.raises(TypeError, match="unsupported operand type"):
            operate(one, operand)
    assert one.value == 2


# --- comparison and hash ----------------------------------------------------------------------------------------------


def test_unequal_is_the_negation_of_the_native_equality(types):
    for one, two in ((types.OnlyEqual, types.OnlyEqual), (types.OnlyEqual, types.BelowEqual)):
        assert one(1) == two(1)
        assert (one(1) != two(1)) is False
        assert one(1) != two(2)
        assert (one(1) == two(2)) is False
    assert types.OnlyEqual(1).__ne__("x") is NotImplemented
    assert types.Hashed(3) != -3  # its own __ne__
    assert (types.Hashed(3) != 3) is False


def test_an_operand_that_cannot_be_compared_is_unequal(types):
    for one in (types.OnlyEqual(1), types.Hashed(1)):
        for operand in ("x", None, 1.5, [1], object()):
            assert one != operand
            assert (one == operand) is False
    assert types.OnlyEqual(1) == Other()
    assert types.OnlyEqual(1) in [Other()]
    with pytest.raises(TypeError, match="not supported between"):
        operator.lt(types.OnlyEqual(1), 1)
    assert types.Hashed(1) != 2**70


def test_overloads_find_no_number_outside_their_range(types):
    three = types.Bytes(3)
    assert (three == 3, three == "3", 3 in three, "3" in three) == (True,) * 4
    if ".own." in types.Bytes.__tvm_ffi_type_info__.type_key:  # apache-tvm-ffi's headers accept the lowest bits
        for number in (259, 2**70):
            assert (three == number, three != number, number in three) == (False, True, False)
    assert (three == 1.5, 1.5 in three) == (False, False)


def test_an_ordering_works_from_either_side(types):
    assert types.OnlyEqual(1) < types.OnlyEqual(2)
    assert types.OnlyEqual(2) > types.OnlyEqual(1)
    assert sorted([types.OnlyEqual(2), types.OnlyEqual(1)])[0] == types.OnlyEqual(1)


def test_a_class_with_equality_alone_has_no_hash(types):
    for cls in (types.OnlyEqual, types.BelowEqual):
        assert cls.__hash__ is None
        with pytest.raises(TypeError, match="unhashable type"):
            hash(cls(1))
    assert hash(types.Hashed(5)) == 5
    assert {types.Hashed(5): 1}


def test_a_class_may_define_its_hash_or_comparison(types):
    key = types.OnlyEqual.__tvm_ffi_type_info__.type_key
    try:

        @ffi_hpy.register_object(key)
        class Hashed(ffi_hpy.Object):
            def __hash__(self):
                return 7

        @ffi_hpy.register_object(key)
        class Compared(ffi_hpy.Object):
            def __eq__(self, other):
                return other == "x"

        @ffi_hpy.dataclasses.c_class(key, unsafe_hash=True, init=False)
        class Dataclass(ffi_hpy.Object):
            pass

        assert hash(Hashed(1)) == 7
        assert (Hashed(1) != Hashed(1)) is False
        assert Compared(1) == "x"
        assert (Compared(1) != "x") is False
        assert Compared.__hash__ is None
        assert Dataclass.__hash__ is not None
    finally:
        ffi_hpy.register_object(key)(types.OnlyEqual)


def test_unequal_follows_the_equality_of_a_class_in_python():
    class Answers:
        def __eq__(self, other):
            return True

    class Yes(ffi_hpy.Object):
        def __eq__(self, other):
            return True

    class Mixed(Answers, ffi_hpy.Object):
        pass

    class Late(ffi_hpy.Object):
        pass

    Late.__eq__ = Answers.__eq__
    for cls in (Yes, Mixed, Late):
        one = cls.__new__(cls)
        assert one == 1
        assert (one != 1) is False
    key = ffi_hpy.structural.StructuralKey
    assert (key([1]) != key([1])) is False
    assert key([1]) != key([2])
    plain = ffi_hpy.Object.__new__(ffi_hpy.Object)
    assert plain != 1
    assert (plain != plain) is False


def test_a_method_of_the_type_replaces_those_of_its_ancestors():
    @ffi_hpy.dataclasses.py_class(unique_name("operators.Above"))
    class Above(ffi_hpy.Object):
        @ffi_hpy.method
        def __eq__(self, other: Any) -> bool:
            return False

        @ffi_hpy.method
        def name(self) -> str:
            return "above"

    key = unique_name("operators.Below")

    @ffi_hpy.dataclasses.py_class(key)
    class Below(Above):
        @ffi_hpy.method
        def __eq__(self, other: Any) -> bool:
            return True

        @ffi_hpy.method
        def name(self) -> str:
            return "below"

    @ffi_hpy.register_object(key)
    class Replaced(ffi_hpy.Object):  # its bases have no members of Above
        pass

    one = Replaced()
    assert one.name() == "below"
    assert one == 1
    assert (one != 1) is False


# --- protocols --------------------------------------------------------------------------------------------------------


def test_numbers_come_out(types):
    num = types.Num(3)
    assert bool(num) is True
    assert bool(types.Num(0)) is False
    assert float(num) == 3.5
    assert int(num) == operator.index(num) == 3
    assert [10, 11, 12, 13][num] == 13
    assert num(4) == 7
    assert str(num) == "Num"


def test_an_object_is_a_container(types):
    numbers = types.Range(3)
    assert len(numbers) == 3
    assert bool(types.Range(0)) is False
    assert list(numbers) == [0, 1, 2]
    assert next(iter(numbers)) == 0
    assert 2 in numbers
    assert 3 not in numbers
    assert numbers[1] == 1
    for other in ("x", None, 0.5, math.inf, math.nan, 2**70, 1e30, [1], object()):
        assert (other in numbers) is (other in range(3)) is False
    for equal in (2.0, True, 0.0):
        assert (equal in numbers) is (equal in range(3)) is True
    with pytest.raises(TypeError, match=r"^an error of its own$"):
        operator.contains(numbers, -5)
    with pytest.raises(IndexError):
        numbers[3]


def test_an_object_is_its_own_iterator(types):
    counter = types.Counter(3)
    assert iter(counter).same_as(counter)
    assert next(counter) == 0
    assert list(counter) == [1, 2]


def test_reversed_returns_an_iterator(types):
    numbers = reversed(types.Range(2))
    assert next(numbers) == 0
    assert list(numbers) == [1]
    assert list(numbers) == []


def test_an_object_is_a_context(types):
    with types.Guard(True) as guard:
        pass
    assert list(guard.log) == ["entered", "left"]
    with types.Guard(True) as guard:
        raise KeyError("swallowed")
    assert list(guard.log) == ["entered", "failed"]
    with pytest.raises(KeyError, match="not swallowed"), types.Guard(False):
        raise KeyError("not swallowed")
    closed = types.Closed()
    with closed:
        assert closed.is_open
    assert not closed.is_open
    with pytest.raises(KeyError), closed:
        raise KeyError
    assert not closed.is_open


def test_an_object_is_awaited(types):
    async def wait(value):
        return await types.Task(value)

    def result_of(coroutine):
        with pytest.raises(StopIteration) as ended:
            coroutine.send(None)
        return ended.value.value

    assert result_of(wait(42)) == 42
    assert result_of(wait("text")) == "text"
    assert result_of(wait(None)) is None
    assert result_of(wait(types.Task(7))) == 7


# --- copies -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps], ids=lambda f: f.__name__)
def test_the_error_of_a_copy_names_the_missing_default_constructor(types, copied):
    class Derived(types.Num):
        pass

    for value in (types.Num(1), Derived(2)):
        with pytest.raises(TypeError, match=r"`operators\.\w+\.Num` has no constructor without arguments") as caught:
            copied(value)
        assert f".{type(value).__qualname__}' object: the type" in str(caught.value)
        assert "ToJSONGraph" not in str(caught.value)
        assert caught.value.__context__ is None
