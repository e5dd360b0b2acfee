"""The ranges of C++ integers: OverflowError for a value outside the range, in arguments, fields, items and results."""

import collections
import ctypes
import decimal
import enum
import fractions
import math
import re
import struct

import pytest
from support import needs_one_wrapper

import ffi_hpy


@pytest.fixture(scope="module")
def numbers(compile_era):
    ffi_hpy.load_module(compile_era("numbers.cc", "own"))
    return lambda name: ffi_hpy.get_global_func(f"numbers.{name}")


@pytest.fixture(scope="module")
def Numbers(numbers):
    @ffi_hpy.register_object("numbers.Numbers")
    class Numbers(ffi_hpy.Object):
        pass

    return Numbers


def signed(bits):
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def unsigned(bits):
    return 0, 2**bits - 1


RANGES = {
    "bool": (0, 1),
    "int8": signed(8),
    "uint8": unsigned(8),
    "int16": signed(16),
    "uint16": unsigned(16),
    "char16": unsigned(16),
    "int32": signed(32),
    "uint32": unsigned(32),
    "int64": signed(64),
    "uint64": unsigned(64),
    "long_long": signed(64),
    "unsigned_long_long": unsigned(64),
    "char32": unsigned(32),
    "size": unsigned(64),
    "color": unsigned(8),
    "plain": unsigned(32),
    "wide": unsigned(64),
}
FIELDS = {
    "flag": "bool",
    "i8": "int8",
    "u8": "uint8",
    "i16": "int16",
    "u16": "uint16",
    "i32": "int32",
    "u32": "uint32",
    "i64": "int64",
    "u64": "uint64",
    "size": "size",
    "color": "color",
}
EMPTY = {
    **dict.fromkeys((*FIELDS, "letter", "f32", "f64"), 0),
    **dict.fromkeys(("maybe", "maybe64")),
    **dict.fromkeys(("words", "bytes"), ()),
}
"""Arguments of the constructor of Numbers."""


@pytest.mark.parametrize("name", RANGES)
def test_an_argument_is_refused_exactly_outside_the_range_of_its_type(numbers, name):
    echo, (low, high) = numbers(name), RANGES[name]
    for value in (low, high, low + 1, high - 1):
        assert echo(value) == value
    for value in (low - 1, high + 1, low - 2**32, high + 2**32, 2**40 + 5, -40000, 2**64 + 5, -(2**200), 2**3000):
        if not low <= value <= high:
            with pytest.raises(OverflowError) as caught:
                echo(value)
            message = str(caught.value)
            assert message.startswith(f"Value out of range on argument #0 `x` when calling: `numbers.{name}(x: ")
            assert message.endswith(f", which is outside the range {low} to {high}")
            assert abs(value) > 2**1024 or f"` but got {value}, which" in message


def test_char_and_wchar_have_the_ranges_of_the_processor_and_a_bool_is_an_int(numbers):
    assert numbers("char")(127) == 127
    for value in (-129, 256, 2**40):
        with pytest.raises(OverflowError, match=rf"got {value}, which is outside the range (-128 to 127|0 to 255)"):
            numbers("char")(value)
    assert numbers("wchar")(2**31 - 1) == 2**31 - 1
    for value in (-(2**31) - 1, 2**32, 2**40):
        with pytest.raises(OverflowError, match=rf"got {value}, which is outside the range (-2147483648|0) to \d+$"):
            numbers("wchar")(value)
    assert [numbers(name)(True) for name in ("int8", "uint64", "bool", "double")] == [1, 1, True, 1.0]
    with pytest.raises(TypeError, match=r"Mismatched type on argument #0 .* got `float`"):
        numbers("int8")(2.0)


def test_a_double_accepts_an_int_of_any_size_whose_double_is_finite(numbers):
    for name in ("double", "float"):
        assert numbers(name)(2**70) == float(2**70)
        assert numbers(name)(-(2**100)) == -float(2**100)
    assert numbers("double")(2**1023 + 1) == float(2**1023 + 1)
    assert numbers("double")(2**53 + 1) == float(2**53 + 1)
    for value in (2**1024, -(2**1024), 10**400):
        with pytest.raises(OverflowError, match=r"on argument #0 `x` .* outside the range of a float"):
            numbers("double")(value)
    with pytest.raises(OverflowError, match=r"on argument #0 `x` .* outside the range of a float"):
        numbers("float")(2**200)


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("array", [1, 2, 300], "Array[index 2: 300, which is outside the range 0 to 255]"),
        ("list", ffi_hpy.List([1, 2**15]), "List[index 1: 32768, which is outside the range -32768 to 32767]"),
        ("map", {1: 2, 128: 2}, "Map[some key is 128, which is outside the range -128 to 127, V] at key 128"),
        ("map", {1: 256}, "Map[K, some value is 256, which is outside the range 0 to 255] at key 1"),
        ("optional", -1, "-1, which is outside the range 0 to 255"),
        ("tuple", (256, "a"), "Array[index 0: 256, which is outside the range 0 to 255]"),
        ("variant", 256, "256, which is outside the range 0 to 255"),
        ("vector", [1, 300], "list[index 1: 300, which is outside the range 0 to 255]"),
        ("vector64", [1, 2**64], "list[index 1: 18446744073709551616, which is outside the range 0 to 2**64-1]"),
        ("shape", (1, 2**64), "Array[index 1: 18446744073709551616, which is outside the range -2**63 to 2**63-1]"),
        ("colors", [200, 256], "Array[index 1: 256, which is outside the range 0 to 255]"),
        ("vector_of_colors", [200, -1], "list[index 1: -1, which is outside the range 0 to 255]"),
        ("vector_of_colors", [2**32], "list[index 0: 4294967296, which is outside the range 0 to 255]"),
        (
            "map_of_plains",
            {2**32: 0},
            "Map[some key is 4294967296, which is outside the range 0 to 4294967295, V] at key 4294967296",
        ),
        ("map_of_plains", {1: 256}, "Map[K, some value is 256, which is outside the range 0 to 255] at key 1"),
        ("std_array", [1, 300], "list[index 1: 300, which is outside the range -128 to 127]"),
        ("std_tuple", (128, 0.5), "tuple[index 0: 128, which is outside the range -128 to 127]"),
        ("std_map", {1: -1}, "dict[K, some value is -1, which is outside the range 0 to 255] at key 1"),
        ("std_optional", 300, "300, which is outside the range 0 to 255"),
        ("std_variant", 300, "300, which is outside the range 0 to 255"),
    ],
)
def test_items_are_refused_outside_the_range_of_their_type(numbers, name, value, found):
    with pytest.raises(OverflowError) as caught:
        numbers(name)(value)
    for power in ("2**64-1", "2**63-1", "-2**63"):
        found = found.replace(power, str(eval(power)))
    assert str(caught.value).endswith(f"but got {found}")


def test_an_extent_of_a_shape_is_an_integer_of_64_bits(numbers):
    for value in (2**63, -(2**63) - 1, 2**70, 2**6000):
        with pytest.raises(OverflowError) as caught:
            numbers("shape")(ffi_hpy.Shape([1, value]))
        message = str(caught.value)
        assert message.startswith(
            "Value out of range on argument #1 when calling: `ffi.Shape`. Expected `int` but got "
        )
        assert value == 2**6000 or f" got {value}, which" in message
        assert message.endswith(", which is outside the range -9223372036854775808 to 9223372036854775807")
        assert caught.value.__context__ is None
    assert numbers("shape")(ffi_hpy.Shape([2**63 - 1, -(2**63)])) == (2**63 - 1, -(2**63))
    with pytest.raises(TypeError, match=r"Expected `ffi\.Shape` but got `Array\[index 1: str\]` for `x`$"):
        numbers("shape")((1, "a"))


class Index:
    """An object that is an int by `__index__` alone."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


class Real(Index):
    def __float__(self):
        return self.number + 0.5


@pytest.mark.parametrize("name", RANGES)
def test_an_object_with_index_is_the_int_that_it_gives(numbers, name):
    if name == "bool":
        with pytest.raises(TypeError, match=rf"got `{__name__}\.Index` for `x`$"):
            numbers(name)(Index(1))
        return
    low, high = RANGES[name]
    for value in (low, high):
        assert numbers(name)(Index(value)) == value
    for value in (low - 1, high + 1, 2**70, -(2**200)):
        with pytest.raises(
            OverflowError, match=rf"on argument #0 `x` .* got {value}, which is outside the range {low}"
        ):
            numbers(name)(Index(value))


@pytest.mark.parametrize(
    ("name", "wrap", "place"),
    [
        ("array", lambda x: [1, x], "Array[index 1: {}]"),
        ("vector", lambda x: (1, x), "tuple[index 1: {}]"),
        ("map", lambda x: {1: x}, "Map[K, some value is {}] at key 1"),
        ("optional", lambda x: x, "{}"),
        ("std_map", lambda x: {1: x}, "dict[K, some value is {}] at key 1"),
        ("std_optional", lambda x: x, "{}"),
        ("std_variant", lambda x: x, "{}"),
    ],
)
def test_an_item_with_index_is_the_int_that_it_gives(numbers, name, wrap, place):
    result = numbers(name)(wrap(Index(7)))
    assert (7 if type(result) is int else list(result)) == (list(wrap(7)) if type(result) is not int else result)
    with pytest.raises(OverflowError) as caught:
        numbers(name)(wrap(Index(300)))
    assert str(caught.value).endswith("but got " + place.format("300, which is outside the range 0 to 255"))


def test_an_object_with_float_or_index_is_the_float_that_it_gives(numbers, Numbers):
    assert [numbers(name)(Real(2)) for name in ("double", "float", "optional_float")] == [2.5] * 3
    assert [numbers("double")(Index(value)) for value in (3, 2**70)] == [3.0, 2.0**70]
    assert numbers("floats")([1, Real(1), Index(2)])[1] == 1.5
    for value in (Index(2**2000), Index(-(2**1024))):
        with pytest.raises(OverflowError, match=r"on argument #0 `x` .* which is outside the range of a float"):
            numbers("double")(value)
    with pytest.raises(TypeError, match=rf"Expected `int` but got `{__name__}\.Real2` for `x`"):
        numbers("int8")(type("Real2", (), {"__float__": lambda self: 1.0, "__module__": __name__})())


def test_a_finite_number_does_not_become_an_infinite_float(numbers):
    big, infinite = decimal.Decimal("1e400"), decimal.Decimal("-Infinity")
    for name, wrap in (("double", lambda x: x), ("float", lambda x: x), ("floats", lambda x: [1, x])):
        with pytest.raises(OverflowError, match=r"^1E\+400, which is outside the range of a float$"):
            numbers(name)(wrap(big))
        result = numbers(name)(wrap(infinite))
        assert (result[1] if name == "floats" else result) == -math.inf
    with pytest.raises(OverflowError, match=r"^1E\+400, which is outside the range of a float$"):
        numbers("call_float")(lambda x: big)
    no_order = type("Infinite", (), {"__float__": lambda self: math.inf})()
    assert numbers("double")(no_order) == math.inf


def test_a_finite_number_of_numpy_does_not_become_an_infinite_float(numbers):
    numpy = pytest.importorskip("numpy")
    big = numpy.longdouble("1e400")
    if numpy.isinf(big):
        pytest.skip("a long double is a double here")
    for name, wrap in (("double", lambda x: x), ("floats", lambda x: [1, x])):
        with pytest.raises(OverflowError, match=r"argument 1: 1e\+400, which is outside the range of a float$"):
            numbers(name)(wrap(big))
    for value in (numpy.longdouble("inf"), numpy.longdouble("-1e308")):
        assert numbers("double")(value) == float(value)


def test_a_field_and_the_result_of_a_callback_take_objects_with_index(numbers, Numbers):
    one = Numbers(**{**EMPTY, "u8": Index(5), "f64": Real(1)})
    assert (one.u8, one.f64) == (5, 1.5)
    one.i16, one.f32 = Index(-7), Real(2)
    assert (one.i16, one.f32) == (-7, 2.5)
    with pytest.raises(
        OverflowError, match=r"numbers\.Numbers\.u8: Cannot convert 300, which is outside the range 0 to"
    ):
        one.u8 = Index(300)
    assert numbers("call")(lambda n: Index(n)) == 1
    with pytest.raises(OverflowError, match=r"Cannot convert 300, which is outside the range 0 to 255, to `int`"):
        numbers("call")(lambda n: Index(300))


def with_methods(**methods):
    return type("Made", (), {"__module__": __name__, **methods})()


@pytest.mark.parametrize("error", [TypeError, ValueError])
def test_an_object_whose_conversion_says_that_it_is_not_a_number_leaves_the_other_types(numbers, error):
    def fail(self):
        raise error("not one number")

    items = {"__len__": lambda self: 2, "__getitem__": lambda self, i: [1.0, 2.0][i]}
    for method in ("__float__", "__index__"):
        both = with_methods(**items, **{method: fail})
        assert list(numbers("one_or_all")(both)) == [1, 2]
        for name in ("double", "int8") if method == "__index__" else ("double",):
            with pytest.raises(TypeError, match=rf"^Mismatched .* got `{__name__}\.Made` for `x`$"):
                numbers(name)(with_methods(**{method: fail}))
    assert list(numbers("one_or_all")(with_methods(**items, __float__=lambda self: 7.0, __index__=lambda self: 7))) == [
        *(1, 2)
    ]
    for name in ("double", "int8"):
        with pytest.raises(TypeError, match=r"^Mismatched type on argument #0"):
            numbers(name)(with_methods(__index__=None, __float__=None))


def test_numbers_of_numpy_with_another_meaning_are_not_real_numbers(numbers):
    numpy = pytest.importorskip("numpy")
    for wrong in (numpy.complex128(1 + 2j), numpy.timedelta64(5, "ns"), numpy.datetime64(5, "ns")):
        for name, argument in (("double", wrong), ("int8", wrong), ("floats", [1, wrong]), ("one_or_all", wrong)):
            with pytest.raises(TypeError, match=rf"numpy\.{type(wrong).__name__}"):
                numbers(name)(argument)


def test_an_exception_of_index_arrives(numbers):
    def fail(self):
        raise ZeroDivisionError("no number")

    for name, wrap in (("int8", lambda x: x), ("double", lambda x: x), ("vector", lambda x: [x])):
        with pytest.raises(ZeroDivisionError, match="no number"):
            numbers(name)(wrap(type("Failing", (), {"__index__": fail})()))


def test_an_array_in_place_of_a_number_is_named_by_its_class(numbers):
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(3)
    for value, name in ((array, r"numpy\.ndarray"), (ffi_hpy.from_dlpack(array), r"ffi_hpy\.Tensor")):
        with pytest.raises(TypeError, match=rf"Expected `int` but got `{name}` for `x`$"):
            numbers("int8")(value)
        with pytest.raises(TypeError, match=rf"but got `list\[index 1: {name}\]` for `x`$"):
            numbers("vector")([1, value])
        with pytest.raises(TypeError, match=r"Cannot convert from type `ffi_hpy\.Tensor` to `int`"):
            numbers("call")(lambda n, value=value: value)


class Text(str):
    pass


class Whole(int):
    pass


class Share(float):
    pass


class Bits(bytes):
    pass


class Colour(enum.IntEnum):
    RED = 1


class Word(str, enum.Enum):
    A = "a"


class Letter(enum.Enum):  # the class has items, its members have none
    A = "a"


class Numbered(enum.Enum):
    ONE = "a"

    def __index__(self):
        return 1

    def __float__(self):
        return 1.5


Pair = collections.namedtuple("Pair", "a b")
GIVEN = (
    *(bytearray(b"x"), bytearray(b"a longer one"), memoryview(b"x"), Bits(b"x"), b"x", b"a longer one"),
    *(collections.OrderedDict(), collections.defaultdict(int), {}, Pair(1, 2), (1, 2), [1], range(2), {1}),
    *(Text("x"), Text("a longer one"), Word.A, "x", 1j, decimal.Decimal(1), fractions.Fraction(1, 2), Share(1.5), 1.5),
    *(ffi_hpy.Array([1]), ffi_hpy.Map({}), ffi_hpy.List([1]), ffi_hpy.Dict({}), ffi_hpy.Shape([1])),
    *(ffi_hpy.dtype("int8"), ffi_hpy.device("cpu"), ctypes.c_void_p(4), ValueError("x"), len, lambda: 0),
)
"""Values that are not integers."""


def name_of(value):
    cls = type(value)
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


@pytest.mark.parametrize("value", GIVEN, ids=lambda value: type(value).__name__)
def test_a_refused_argument_is_named_by_its_class(numbers, Numbers, value):
    made, name = Numbers(**EMPTY), re.escape(name_of(value))
    for call in (
        lambda: numbers("int8")(value),
        lambda: numbers("int8")(x=value),
        lambda: numbers("unnamed")(value),
        lambda: numbers("first_of_two")(value),
        lambda: numbers("first_of_two")(value, [1]),
        lambda: made.add(value),
    ):
        with pytest.raises(TypeError, match=rf"Expected `int` but got `{name}`( for `\w+`)?$"):
            call()
    with pytest.raises(TypeError, match=rf"^numbers\.Numbers\.i8: Cannot convert from type `{name}` to `int`$"):
        made.i8 = value
    with pytest.raises(TypeError, match=rf"Cannot convert from type `{name}` to `int`"):
        Numbers(**{**EMPTY, "i8": value})
    with pytest.raises(TypeError, match=rf"but got `list\[index 0: tuple\[index 1: {name}\]\]` for `x`$"):
        numbers("nested_vector")([(1, value)])
    with pytest.raises(TypeError, match=rf"but got `Map\[K, some value is {name}\] at key 2` for `x`$"):
        numbers("map")({1: 2, 2: value})


@pytest.mark.parametrize("key", [Text("x"), Word.A, Pair(1, 2), "x"], ids=lambda key: type(key).__name__)
def test_a_refused_key_is_named_by_its_class(numbers, key):
    with pytest.raises(TypeError, match=rf"but got `dict\[some key is {re.escape(name_of(key))}, V\]"):
        numbers("std_map")({1: 2, key: 3})


def test_a_sequence_with_a_number_outside_the_range_is_named_by_its_class(numbers):
    with pytest.raises(OverflowError, match=rf"but got {__name__}\.Pair\[index 1: 300, which is outside"):
        numbers("vector")(Pair(1, 300))


@pytest.mark.parametrize("value", [Whole(1), Colour.RED, Letter.A, Share(1.5), True, 1.5, None], ids=repr)
def test_a_refused_number_is_named_by_its_class(numbers, value):
    name = "None" if value is None else re.escape(name_of(value))
    with pytest.raises(TypeError, match=rf"but got `{name}` for `x`$"):
        numbers("array")(value)
    if value is not None:
        with pytest.raises(TypeError, match=rf"but got `{name}` for `y`$"):
            numbers("first_of_two")(1, value)


def test_a_member_of_an_enum_is_a_number_by_its_own_methods(numbers):
    assert (numbers("int8")(Numbered.ONE), numbers("double")(Numbered.ONE)) == (1, 1.5)


def test_the_argument_of_another_call_keeps_its_name(numbers):
    for value, name in ((Text("x"), "str"), (Whole(1), "int"), (collections.OrderedDict(), "dict")):
        with pytest.raises(TypeError, match=rf"when calling: `numbers\.array\(.*but got `{name}` for `x`$"):
            numbers("call_array_with")(value)
    with pytest.raises(TypeError, match=r"Cannot convert from type `str` to `int`$"):
        numbers("cast_to_int")(Text("x"))
    error = numbers("error_of_array")(Text("x"))
    assert error.message.endswith("but got `str` for `x`")
    assert error.extra_context is None


def test_the_message_of_a_named_class_is_that_of_the_error(numbers):
    with pytest.raises(TypeError) as caught:
        numbers("int8")(bytearray())
    assert caught.value.__tvm_ffi_error__.message == str(caught.value)
    assert caught.value.__tvm_ffi_error__.kind == "TypeError"
    assert caught.value.__tvm_ffi_error__.extra_context is None


def test_a_refusal_that_leaves_a_callback_stays_the_same_exception(numbers):
    raised = []

    def refused(_):
        try:
            numbers("call_array_with")(Text("x"))
        except TypeError as error:
            raised.append(error)
            raise

    with pytest.raises(TypeError) as caught:
        numbers("call")(refused)
    assert caught.value is raised[0]


@needs_one_wrapper
def test_a_subclass_in_place_of_a_number_is_named(numbers, Numbers):
    class Derived(Numbers):
        pass

    with pytest.raises(TypeError, match=rf"Expected `int` but got `{__name__}\.test_a_sub.*\.Derived` for `x`$"):
        numbers("int8")(Derived(**EMPTY))


def test_another_argument_in_place_of_a_number_is_named_by_its_class(numbers, Numbers):
    for value, name in (
        (Numbers(**EMPTY), r"numbers\.Numbers"),
        (b"x", "bytes"),
        (memoryview(b"x"), "memoryview"),
        (ffi_hpy.Error("ValueError", "x", ""), r"ffi_hpy\.Error"),
        (lambda: 0, "function"),
        (Index, "type"),
        (print, type(print).__name__),
        (numbers("int8"), r"ffi_hpy\.Function"),
        ((1, 2), "tuple"),
        ([1, 2], "list"),
        (ffi_hpy.List([1]), r"ffi_hpy\.List"),
        (ffi_hpy.Dict({1: 2}), r"ffi_hpy\.Dict"),
    ):
        with pytest.raises(TypeError, match=rf"Expected `int` but got `{name}` for `x`$"):
            numbers("int8")(value)


def test_an_enum_is_an_item_a_default_and_a_result(numbers):
    assert list(numbers("colors")([0, 255])) == list(numbers("vector_of_colors")(range(0, 256, 255))) == [0, 255]
    assert numbers("map_of_plains")({2**32 - 1: 255}) == {2**32 - 1: 255}
    assert numbers("defaulted_color")() == 200
    assert numbers("call_color")(lambda color: color + 55) == 255
    for value in (-1, 256, 200 + 2**32):
        with pytest.raises(OverflowError, match=rf"Cannot convert {value}, which is outside the range 0 to 255, to"):
            numbers("call_color")(lambda color, value=value: value)
    with pytest.raises(OverflowError, match=r"^`numbers.refused`: parameter `level`: the default is 256, which"):
        numbers("define_color")()
    assert ffi_hpy.get_global_func("numbers.refused", allow_missing=True) is None


def test_a_variant_takes_the_first_type_in_whose_range_the_value_is(numbers):
    assert [numbers("wider")(value) for value in (5, 2**40, -(2**63))] == [5, 2**40, -(2**63)]
    assert [numbers("optional")(value) for value in (None, 255)] == [None, 255]


def test_an_unsigned_result_beyond_int64_is_that_int(numbers, Numbers):
    for value in (2**63, 2**64 - 1):
        assert [numbers(name)(value) for name in ("uint64", "size", "wide")] == [value] * 3
        assert list(numbers("vector64")([value, 1])) == [value, 1]


ALL = 2**64 - 1


@pytest.mark.parametrize(
    ("name", "value", "wrong"),
    [
        ("array64", [1, ALL], [ALL, -1]),
        ("list64", [1, ALL], [ALL, 2**64]),
        ("map64", {1: ALL, ALL: 1}, {ALL: -1}),
        ("dict64", {"a": ALL}, {"a": -1}),
        ("tuple64", (ALL, "a"), (-1, "a")),
        ("optional64", ALL, -1),
        ("variant64", ALL, 2**64),
        ("std_map64", {1: ALL, ALL: 1}, {-1: 1}),
        ("std_set64", {1, ALL}, {2**64}),
        ("std_pair64", (ALL, [ALL]), (ALL, [-1])),
        ("std_optional64", ALL, 2**64),
        ("std_variant64", ALL, -1),
    ],
)
def test_an_item_is_an_unsigned_integer_of_64_bits_like_a_parameter(numbers, name, value, wrong):
    result = numbers(name)(value)
    assert list(result) == list(value) if name == "std_pair64" else result == value
    assert numbers(name)(result) == result
    with pytest.raises(
        OverflowError, match=r"argument #0 `x` .*, which is outside the range 0 to 18446744073709551615"
    ):
        numbers(name)(wrong)


def test_a_key_beyond_int64_is_found(numbers):
    assert numbers("look_up")({1: "a", ALL: "b"}, ALL) == "b"
    assert numbers("look_up")(ffi_hpy.Map({2**63: "c"}), 2**63) == "c"
    with pytest.raises(KeyError):
        numbers("look_up")({1: "a"}, ALL)


def test_a_field_keeps_items_beyond_int64(Numbers):
    one = Numbers(**EMPTY)
    one.maybe64, one.words = ALL, [1, ALL]
    assert (one.maybe64, list(one.words)) == (ALL, [1, ALL])
    assert list(Numbers(**{**EMPTY, "words": [ALL]}).words) == [ALL]
    with pytest.raises(
        OverflowError, match=r"^numbers.Numbers.words: .*\[index 1: -1, which is outside the range 0 to"
    ):
        one.words = [1, -1]


FLOAT_MAX = 3.4028234663852886e38


@pytest.mark.parametrize(
    ("name", "wrap", "unwrap"),
    [
        ("float", lambda x: x, lambda result: result),
        ("optional_float", lambda x: x, lambda result: result),
        ("floats", lambda x: [1.0, x], lambda result: result[1]),
        ("floats", lambda x: ffi_hpy.List([x]), lambda result: result[0]),
        ("vector_of_floats", lambda x: [1.0, x], lambda result: result[1]),
        ("map_of_floats", lambda x: {"a": x}, lambda result: result["a"]),
    ],
)
def test_a_float_does_not_become_infinite(numbers, name, wrap, unwrap):
    for value in (FLOAT_MAX, -FLOAT_MAX, 1e-300, math.inf, -math.inf):
        assert struct.pack("f", unwrap(numbers(name)(wrap(value)))) == struct.pack("f", value)
    assert math.isnan(unwrap(numbers(name)(wrap(math.nan))))
    for value in (1e300, -1e39, 3.4028235677973366e38, 2**128):
        with pytest.raises(OverflowError) as caught:
            numbers(name)(wrap(value))
        message = str(caught.value)
        assert message.startswith(f"Value out of range on argument #0 `x` when calling: `numbers.{name}(x: ")
        assert f"{value}, which is outside the range of a float, -{FLOAT_MAX} to {FLOAT_MAX}" in message


def test_a_field_and_the_result_of_a_callback_do_not_become_infinite(numbers, Numbers):
    one = Numbers(**EMPTY)
    one.f32 = math.inf
    for value in (1e300, -1e300):
        with pytest.raises(OverflowError, match=rf"numbers.Numbers.f32: Cannot convert {re.escape(str(value))}, which"):
            one.f32 = value
    assert one.f32 == math.inf
    with pytest.raises(OverflowError, match=r"field 'f32'(?s:.*) 1e\+300, which is outside the range of a float"):
        Numbers(**{**EMPTY, "f32": 1e300})
    assert numbers("call_float")(lambda x: x) == FLOAT_MAX
    with pytest.raises(OverflowError, match=r"Cannot convert 1e\+39, which is outside the range of a float"):
        numbers("call_float")(lambda x: 1e39)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("byte", 300, "numbers.DefaultedByte.level: the default is 300, which is outside the range 0 to 255"),
        (
            "float",
            -1e300,
            "numbers.DefaultedFloat.level: the default is -1e+300, which is outside the range of a float,",
        ),
        (
            "bytes",
            [1, -1],
            "numbers.DefaultedBytes.level: the default is list[index 1: -1, which is outside the range",
        ),
    ],
)
def test_a_default_outside_the_range_is_refused_at_registration(numbers, name, value, message):
    assert numbers(f"define_{name}")(value).startswith(f"OverflowError: {message}")


def test_a_default_of_a_parameter_is_checked_at_registration(numbers):
    assert (numbers("defaulted")(), numbers("defaulted")(7)) == (ALL, 7)
    assert numbers("defaulted").__doc__.startswith(f"defaulted(x: int = {ALL})")
    assert numbers("define_word")(ALL) == ""
    with pytest.raises(OverflowError, match=r"^`numbers.refused`: parameter `level`: the default is 300, which"):
        numbers("define_parameter")()
    assert ffi_hpy.get_global_func("numbers.refused", allow_missing=True) is None


def test_the_result_of_a_callback_is_checked(numbers):
    assert numbers("call")(lambda n: n + 1) == 2
    with pytest.raises(OverflowError, match=r"Cannot convert 300, which is outside the range 0 to 255, to `int`"):
        numbers("call")(lambda n: 300)
    assert numbers("call64")(lambda n: n) == ALL
    with pytest.raises(OverflowError, match=r"Cannot convert -1, which is outside the range 0 to"):
        numbers("call64")(lambda n: -1)


@pytest.mark.parametrize("name", ["bytes", "ints", "doubles", "colors"])
def test_an_item_that_python_has_put_into_a_shared_container_is_checked_when_it_is_read(numbers, name):
    def sum_after(item, key, value):
        def change(items, entries):
            items.append(item)
            entries[key] = value

        one = 1.0 if name == "doubles" else 1
        return list(numbers(f"sum_of_{name}_after")(ffi_hpy.List([one]), ffi_hpy.Dict({one: one}), change))

    assert sum_after(2, 3, 4) == [3, 3, 9, 1]
    assert sum_after(True, 3, False) == [2, 2, 5, 1]
    wrong = {"bytes": 300, "ints": 2**63, "doubles": 2**1024, "colors": -1}[name]
    for places in ((wrong, 3, 4), (2, wrong, 4), (2, 3, wrong)):
        with pytest.raises(OverflowError, match=r"^Cannot convert .*, which is outside the range "):
            sum_after(*places)
    for other in ("text", None) if name == "doubles" else (1.5, "text", None):
        with pytest.raises(TypeError, match=r"^Cannot convert from type `(float|str|None)` to `"):
            sum_after(other, 3, 4)


def test_a_message_without_names_counts_the_argument(numbers, Numbers):
    with pytest.raises(OverflowError, match=re.escape("argument #0 when calling: `numbers.unnamed(0: int)")):
        numbers("unnamed")(300)
    with pytest.raises(OverflowError, match=r"argument #1 `by` when calling"):
        Numbers(**EMPTY).add(256)


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_is_refused_exactly_outside_the_range_of_its_type(Numbers, name):
    one, (low, high) = Numbers(**EMPTY), RANGES[FIELDS[name]]
    for value in (low, high):
        setattr(one, name, value)
        assert getattr(one, name) == value
    for value in (low - 1, high + 1, low - 2**64, high + 2**64):
        with pytest.raises(OverflowError) as caught:
            setattr(one, name, value)
        message = str(caught.value)
        assert message.startswith(
            f"numbers.Numbers.{name}: Cannot convert {value}, which is outside the range {low} to"
        )
        assert getattr(one, name) == high
        with pytest.raises(OverflowError, match=rf"__ffi_init__\(\) field '{name}'(?s:.*) {value}, which is outside"):
            Numbers(**{**EMPTY, name: value})


def test_other_fields_check_their_parts(Numbers):
    one = Numbers(**EMPTY)
    one.f64 = 2**70
    assert one.f64 == float(2**70)
    for name, value in (("f64", 2**1024), ("maybe", 128), ("bytes", [1, 256]), ("letter", 256)):
        with pytest.raises(OverflowError, match=rf"numbers.Numbers.{name}: .* outside the range"):
            setattr(one, name, value)
    with pytest.raises(TypeError, match=r"numbers.Numbers.u8: "):
        one.u8 = "1"
