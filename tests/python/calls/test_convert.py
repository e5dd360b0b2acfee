"""Conversion of values of other classes for native code: protocols, converters, and convert()."""

import ctypes
import decimal
import enum
import fractions
import math
import numbers
from typing import Any, Optional, Union

import pytest
from support import unique_name

import ffi_hpy
from ffi_hpy import convert
from ffi_hpy.dataclasses import py_class


class AsInt:
    def __tvm_ffi_int__(self):
        return 42


class AsFloat:
    def __tvm_ffi_float__(self):
        return 2.5


class AsValue:
    def __tvm_ffi_value__(self):
        return ["nested", AsInt()]


class AsAddress:
    def __tvm_ffi_opaque_ptr__(self):
        return 4096


class AsStream:
    def __cuda_stream__(self):
        return (0, 8192)


@pytest.mark.parametrize(
    ("value", "expected"), [(AsInt(), 42), (AsFloat(), 2.5), (AsValue(), ["nested", 42])], ids=repr
)
def test_a_class_may_define_its_native_value(testing, value, expected):
    assert testing.echo(value) == expected
    assert testing.apply(lambda x: x, value) == expected
    assert testing.echo([value]) == [expected]


@pytest.mark.parametrize(
    ("value", "address"), [(AsAddress(), 4096), (AsStream(), 8192), (ctypes.c_void_p(77), 77)], ids=repr
)
def test_an_address_arrives_as_one(testing, value, address):
    returned = testing.echo(value)
    assert type(returned) is ctypes.c_void_p
    assert returned.value == address
    assert testing.echo(returned).value == address


@pytest.mark.parametrize(
    ("method", "wanted", "answers"),
    [
        ("__cuda_stream__", "(version, address), two ints", [None, 5, (), (0,), (0, None), (0, "x"), (0, 1, 2), "ab"]),
        ("__tvm_ffi_opaque_ptr__", "an address, an int", [None, "x", (0, 1), 2.5]),
        ("__dlpack_data_type__", "(type code, bits, lanes), three ints", [None, 5, (), (2, 32), (2, "32", 1)]),
        ("__dlpack_device__", "(device type, index), two ints", [None, 5, (1,), (1, 0, 0), (1, None), ("x", "y")]),
        ("__tvm_ffi_int__", "an int", [None, "x", ()]),
        ("__tvm_ffi_float__", "a float", [None, "x", ()]),
    ],
)
def test_a_protocol_method_that_returns_nonsense_is_named(testing, method, wanted, answers):
    for answer in answers:
        cls = type("Said", (), {method: lambda self, answer=answer: answer})
        with pytest.raises(TypeError) as caught:
            testing.echo(cls())
        given = f"a tuple of {len(answer)}" if isinstance(answer, tuple) else type(answer).__name__
        assert str(caught.value) == f"Said.{method}() must return {wanted}, it returned {given}"


def test_a_null_address_goes_through(testing):
    assert testing.echo(ctypes.c_void_p(None)).value is None


def test_numbers_of_other_classes_go_in(testing):
    class Color(enum.IntEnum):
        RED = 3

    class Half(float):
        pass

    assert testing.echo(Color.RED) == 3
    assert type(testing.echo(Color.RED)) is int
    assert testing.echo(Half(0.5)) == 0.5
    assert testing.echo(fractions.Fraction(1, 4)) == 0.25


ARRAY_METHODS = {
    "__dlpack__": lambda self, **options: pytest.fail("asked for its memory"),
    "__dlpack_device__": lambda self: pytest.fail("asked for its device"),
}
"""NumPy's scalars may get these methods, too (numpy#32029)."""


def array_like(base):
    """Return a class of numbers or strings with all attributes of array classes."""
    table = ffi_hpy.Tensor.__dict__.get("__dlpack_c_exchange_api__")
    tables = {} if table is None else {"__dlpack_c_exchange_api__": table}
    return type(base.__name__, (base,), {**ARRAY_METHODS, **tables})


@numbers.Real.register
class OwnReal:
    def __float__(self):
        return 2.5


@numbers.Integral.register
class OwnIntegral:
    def __index__(self):
        return 25

    __int__ = __index__


class Level(array_like(int), enum.Enum):
    LOW = 7


def stand_in(name, base=object, **methods):
    """Return a scalar class that imitates NumPy's."""
    generic = type("generic", (), {"__module__": "numpy"})
    return array_like(type(name, (generic,) if base is object else (base, generic), {"__module__": "numpy", **methods}))


@numbers.Real.register
class Infinite:
    """A number whose float is infinite. Without `equals` the number itself is finite."""

    def __init__(self, number, equals=False):
        self.number, self.equals = number, equals

    def __float__(self):
        return self.number

    def __eq__(self, other):
        return self.equals

    def __ne__(self, other):
        return True

    def __str__(self):
        return "1e999"

    __hash__ = None


@pytest.mark.parametrize("number", [math.inf, -math.inf])
def test_a_number_of_another_class_with_an_infinite_float_is_that_float_only_if_both_are_equal(number):
    echo = ffi_hpy.get_global_func("testing.echo")
    assert echo(Infinite(number, equals=True)) == number
    with pytest.raises(
        OverflowError, match=r"^testing\.echo\(\) argument 1: 1e999, which is outside the range of a float"
    ):
        echo(Infinite(number))


SINGLE = [
    (array_like(int)(3), 3, int),
    (array_like(int)(2**70), 2**70, int),
    (array_like(float)(0.5), 0.5, float),
    (array_like(str)("text of more than 7 bytes"), "text of more than 7 bytes", str),
    (array_like(bytes)(b"bytes"), b"bytes", bytes),
    (Level.LOW, 7, int),
    (array_like(fractions.Fraction)(1, 4), 0.25, float),
    (array_like(OwnReal)(), 2.5, float),
    (array_like(OwnIntegral)(), 25, int),
    (stand_in("float64", float)(0.5), 0.5, float),
]


@pytest.mark.parametrize(("value", "expected", "cls"), SINGLE, ids=lambda value: type(value).__name__)
def test_a_number_or_a_text_stays_one_whatever_array_methods_its_class_has(testing, value, expected, cls):
    def as_native(returned):
        return isinstance(returned, cls) and not isinstance(returned, type(value)) and returned == expected

    assert as_native(testing.echo(value))
    assert as_native(testing.echo([1, (value,)])[1][0])
    assert as_native(testing.echo({"key": [value]})["key"][0])
    assert as_native(ffi_hpy.convert(lambda: value)())
    assert as_native(ffi_hpy.convert(lambda: {"key": value})()["key"])
    assert testing.echo({value: 1})[expected] == 1
    assert as_native(ffi_hpy.Array([value])[0])
    assert as_native(next(iter(ffi_hpy.Map({value: 2}))))
    assert ffi_hpy.Map({expected: 2})[value] == 2
    assert convert(value) in (value, expected)


@pytest.mark.parametrize(("value", "expected", "cls"), SINGLE, ids=lambda value: type(value).__name__)
def test_a_schema_takes_a_number_or_a_text_whatever_array_methods_its_class_has(value, expected, cls):
    if type(expected) is int and expected >= 2**63:
        annotations = [Any]  # a schema's int has 64 bits
    else:
        annotations = [Any, cls, Optional[cls], Union[cls, list], list[cls], dict[str, cls], tuple[cls, int]]
    for annotation in annotations:
        origin = getattr(annotation, "__origin__", None)
        wrap = {list: lambda v: [v], dict: lambda v: {"k": v}, tuple: lambda v: (v, 1)}.get(origin, lambda v: v)
        schema = ffi_hpy.core.TypeSchema.from_annotation(annotation)
        assert plain(ffi_hpy._core.cany_value(schema.convert(wrap(value)))) == wrap(expected), annotation


def test_a_field_takes_a_number_or_a_text_whatever_array_methods_its_class_has():
    @py_class(unique_name("SingleFields"))
    class Fields(ffi_hpy.Object):
        real: float
        whole: int
        flag: bool
        text: str
        maybe: Optional[float]
        anything: Any

    values = [array_like(cls)(value) for cls, value in ((float, 0.5), (int, 3), (int, 1), (str, "text"), (int, 4))]
    made = Fields(*values, array_like(float)(0.25))
    assert [getattr(made, name) for name in Fields.__match_args__] == [0.5, 3, True, "text", 4, 0.25]
    made.real, made.whole, made.maybe, made.anything = values[1], values[2], values[0], values[3]
    assert [made.real, made.whole, made.maybe, made.anything] == [3, 1, 0.5, "text"]


def plain(converted):
    if isinstance(converted, ffi_hpy.Array):
        return tuple(converted)
    if isinstance(converted, ffi_hpy.List):
        return list(converted)
    return dict(converted) if isinstance(converted, (ffi_hpy.Map, ffi_hpy.Dict)) else converted


@pytest.mark.parametrize("name", ["float64", "float32", "float16", "int64", "uint8", "str_", "bytes_"])
def test_a_scalar_of_numpy_stays_one_whatever_array_methods_its_class_has(testing, name):
    numpy = pytest.importorskip("numpy")
    scalar = getattr(numpy, name)
    value, expected = (
        (scalar(b"3"), b"3") if name == "bytes_" else (scalar("3"), "3") if name == "str_" else (scalar(3), 3)
    )
    value = array_like(scalar)(value)
    for returned in (testing.echo(value), testing.echo([value])[0], ffi_hpy.convert(lambda: value)()):
        assert returned == expected
        assert type(returned) in (int, float, str, bytes)


def test_a_value_that_is_not_a_number_for_native_code_stays_opaque_whatever_array_methods_it_has(testing):
    for value in (
        array_like(complex)(1j),
        array_like(decimal.Decimal)("0.5"),
        stand_in("void")(),
        stand_in("complex64")(),
    ):
        assert testing.echo(value) is value
        assert testing.echo([value])[0] is value
    assert type(convert(stand_in("void")())) is ffi_hpy.core.OpaquePyObject


def test_from_dlpack_asks_a_number_for_its_memory():
    class Number(float):
        def __dlpack__(self, **options):
            raise BufferError("read-only")

    with pytest.raises(BufferError, match="read-only"):
        ffi_hpy.from_dlpack(Number(1))


def test_an_annotation_of_a_number_class_with_array_methods_is_not_a_tensor():
    with pytest.raises(TypeError, match="Cannot convert"):
        ffi_hpy.core.TypeSchema.from_annotation(array_like(float))


def test_an_object_in_disguise_is_passed_as_the_object(testing, classes):
    pair = classes.TestIntPair(1, 2)

    class Disguise:
        def __tvm_ffi_object__(self):
            return pair

    class Convertible(ffi_hpy.ObjectConvertible):
        def asobject(self):
            return pair

    assert testing.echo(Disguise()).same_as(pair)
    assert testing.echo(Convertible()).same_as(pair)
    assert testing.TestIntPairSum(Disguise()) == 3


def test_an_object_made_for_the_call_lives_during_it(testing, classes):
    class Maker:
        def __tvm_ffi_object__(self):
            return classes.TestIntPair(20, 22)

    assert testing.TestIntPairSum(Maker()) == 42
    assert testing.apply(lambda pair: pair.sum(), Maker()) == 42


def test_an_object_convertible_must_say_its_object(testing):
    class Lazy(ffi_hpy.ObjectConvertible):
        pass

    with pytest.raises(NotImplementedError, match="Lazy does not define asobject"):
        testing.echo(Lazy())


def test_an_error_of_a_converter_comes_out(testing):
    class Broken:
        def __tvm_ffi_value__(self):
            raise ZeroDivisionError("broken converter")

    with pytest.raises(ZeroDivisionError, match="broken converter"):
        testing.echo(Broken())
    with pytest.raises(ZeroDivisionError, match="broken converter"):
        testing.echo({"a": [Broken()]})


def test_a_converter_that_gives_itself_is_a_value_error(testing):
    class Endless:
        def __tvm_ffi_value__(self):
            return self

    with pytest.raises((ValueError, RecursionError)):
        testing.echo(Endless())


def test_a_moved_object_can_come_from_a_converter_a_container_or_a_callback(testing, classes):
    class Moving:
        def __init__(self):
            self.pair = classes.TestIntPair(1, 2)

        def __tvm_ffi_value__(self):
            return self.pair._move()

    moving = Moving()
    assert testing.echo(moving).sum() == 3
    assert moving.pair.__chandle__() == 0
    pairs = [classes.TestIntPair(i, 2) for i in range(3)]
    assert testing.echo([pairs[0]._move()])[0].a == 0
    assert testing.echo({"k": pairs[1]._move()})["k"].a == 1
    assert testing.apply(lambda: pairs[2]._move()).a == 2
    assert [pair.__chandle__() for pair in pairs] == [0, 0, 0]


def test_callables_arrive_as_functions(testing):
    class Callable:
        def __call__(self, x):
            return x + 1

        def method(self, x):
            return x + 2

        @classmethod
        def of_class(cls, x):
            return x + 3

    for value, expected in ((Callable(), 11), (Callable().method, 12), (Callable.of_class, 13), (abs, 10), (int, 10)):
        function = testing.echo(value)
        assert isinstance(function, ffi_hpy.Function)
        assert function(10) == expected


def test_an_exception_arrives_as_an_error(testing):
    error = testing.echo(KeyError("x"))
    assert type(error) is ffi_hpy.Error
    assert (error.kind, error.message) == ("KeyError", "'x'")


def test_convert_gives_the_native_form():
    assert type(convert([1, 2])) is ffi_hpy.Array
    assert type(convert((1, 2))) is ffi_hpy.Array
    assert type(convert({"a": 1})) is ffi_hpy.Map
    assert type(convert("text")) is ffi_hpy.String
    assert type(convert(b"bytes")) is ffi_hpy.Bytes
    assert type(convert(lambda: 1)) is ffi_hpy.Function
    assert type(convert(ValueError("x"))) is ffi_hpy.Error
    assert type(convert(object())) is ffi_hpy.core.OpaquePyObject


@pytest.mark.parametrize("value", [None, True, 1, 1.5, ffi_hpy.device("cpu"), ffi_hpy.dtype("int8")], ids=repr)
def test_convert_returns_native_values_unchanged(value):
    assert convert(value) is value


def test_convert_leaves_objects_alone(classes):
    pair = classes.TestIntPair(1, 2)
    assert convert(pair) is pair


def test_an_opaque_object_holds_its_python_object(testing):
    value = object()
    opaque = convert(value)
    assert opaque.pyobject() is value
    assert testing.echo(opaque) is value
    assert convert([value])[0] is value
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        ffi_hpy.core.OpaquePyObject()


def test_the_marks_for_no_value_and_for_keywords_are_single():
    assert ffi_hpy.core.MISSING.same_as(ffi_hpy._ffi_api.GetInvalidObject())
    assert ffi_hpy.core.KWARGS.same_as(ffi_hpy._ffi_api.GetKwargsObject())
    assert not ffi_hpy.core.MISSING.same_as(ffi_hpy.core.KWARGS)


def test_an_unknown_core_function_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"no global function 'ffi\.NoSuchThing'"):
        ffi_hpy._ffi_api.NoSuchThing  # noqa: B018


@pytest.mark.parametrize(
    "made", ["datetime64('2020-01-01')", "timedelta64(5, 's')", "timedelta64(5, 'D')", "void(b'abc')"]
)
def test_a_numpy_scalar_that_is_neither_number_nor_text_is_passed_as_it_is(testing, made):
    np = pytest.importorskip("numpy")
    value = eval(f"np.{made}", {"np": np})
    assert testing.echo(value) is value
    assert testing.echo([value])[0] is value
    assert ffi_hpy.convert(lambda: value)() is value
    assert ffi_hpy.List([value])[0] is value
    assert isinstance(convert(value), ffi_hpy.core.OpaquePyObject)
    assert ffi_hpy.core.TypeSchema("Any").convert(value) is not None
    for number in ("int", "float"):
        with pytest.raises(TypeError, match=f"expected {number}, got numpy.{type(value).__name__}"):
            ffi_hpy.core.TypeSchema(number).check_value(value)
    with pytest.raises(TypeError, match="Expected `int` but got"):
        testing.add_one(value)


def test_numpy_scalars_that_are_numbers_or_text_are_passed_as_such(testing):
    np = pytest.importorskip("numpy")
    numbers = [(np.int8(3), 3), (np.uint64(2**63), 2**63), (np.bool_(True), True), (np.longdouble(2.5), 2.5)]
    for value, expected in [*numbers, (np.str_("text"), "text"), (np.bytes_(b"raw"), b"raw")]:
        passed = testing.echo(value)
        assert passed == expected
        assert type(passed) is type(expected)
