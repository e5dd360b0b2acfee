"""Function: calls of native functions from Python, and of Python functions from native code."""

import math

import pytest
from support import IS_DEBUG, IS_PYPY, collect_garbage, needs_identity, parallelize, unique_name

import ffi_hpy
from ffi_hpy import _core

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

PLAIN_VALUES = [
    None, True, False, 0, 1, -1, INT64_MAX, INT64_MIN, 0.0, -1.5, math.inf, 1e-310,
    "", "a", "7 bytes", "eight by", "ä", "日本語", "\U0001f600" * 3, "x" * 10000,
    b"", b"\0", b"7 bytes", b"eight by", b"x" * 10000,
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN_VALUES, ids=lambda value: repr(value)[:20])
def test_echo_returns_a_plain_value(testing, value):
    returned = testing.echo(value)
    assert returned == value
    assert isinstance(returned, type(value))


class OwnInt(int):
    pass


def test_ints_around_the_edges_of_their_digits_come_back_as_they_are(testing):
    edges = [0, 5, 256, 2**15, 2**30, 2**31, 2**45, 2**60, 2**62, 2**63, 2**64]
    numbers = sorted({sign * edge + near for edge in edges for sign in (1, -1) for near in (-7, -6, -1, 0, 1)})
    for number in numbers:
        returned = testing.echo(number)
        assert returned == number
        assert type(returned) is int
        assert testing.echo(number, 1.5, "x") == number


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 20])
def test_ints_are_passed_in_order_among_other_values(testing, n):
    for odd_one in (2**40, OwnInt(2**29), True, None, 1.5, "text", [1]):
        for at in range(n):
            given = list(range(100, 100 + n))
            given[at] = odd_one
            assert list(testing.apply(lambda *got: got, *given)) == given


class OwnFloat(float):
    pass


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 20])
@pytest.mark.parametrize("first", [None, True, False, 1.5, -0.0, 7, 2**62, "text", OwnFloat(2.5)], ids=repr)
def test_values_that_are_not_ints_are_passed_in_order(first, n):
    function = ffi_hpy.convert(lambda *got: got)
    for odd_one in (None, True, False, 0.1, -math.inf, 5e-324, OwnFloat(1e300), 2**40, "text"):
        for at in range(1, n):
            given = [first, *([0.25, None, 3, False, True] * n)[: n - 1]]
            given[at] = odd_one
            assert [repr(value) for value in function(*given)] == [repr(value) for value in given]
    assert list(function(*[first] * n)) == [first] * n


def test_an_int_of_a_derived_class_is_passed_as_its_value(testing):
    for number in (OwnInt(7), OwnInt(-(2**30)), OwnInt(2**62)):
        returned = testing.echo(number)
        assert returned == number
        assert type(returned) is int


def test_echo_returns_a_nan_and_the_sign_of_zero(testing):
    assert math.isnan(testing.echo(math.nan))
    assert math.copysign(1, testing.echo(-0.0)) == -1


@pytest.mark.parametrize("value", PLAIN_VALUES, ids=lambda value: repr(value)[:20])
def test_a_callback_gets_and_returns_a_plain_value(testing, value):
    got = []

    def callback(x):
        got.append(x)
        return x

    assert testing.apply(callback, value) == value
    assert got == [value]
    assert isinstance(got[0], type(value))


def test_echo_returns_structured_values(testing):
    assert testing.echo(ffi_hpy.device("cuda", 3)) == ffi_hpy.device("cuda", 3)
    assert testing.echo(ffi_hpy.dtype("int8x4")) == "int8x4"
    assert testing.echo(ffi_hpy.Shape((2, 3))) == (2, 3)
    assert isinstance(testing.echo(ffi_hpy.Shape((2, 3))), ffi_hpy.Shape)
    assert testing.echo([1, "two", None]) == [1, "two", None]
    assert dict(testing.echo({"a": 1})) == {"a": 1}


def test_echo_returns_the_same_unknown_python_object(testing):
    class Unknown:
        pass

    value = Unknown()
    assert testing.echo(value) is value
    assert testing.apply(lambda x: x is value, value) is True


def test_echo_returns_the_same_object(testing, classes):
    pair = classes.TestIntPair(1, 2)
    assert testing.echo(pair).same_as(pair)


def test_echo_returns_a_function(testing):
    function = testing.echo(lambda x: x + 1)
    assert isinstance(function, ffi_hpy.Function)
    assert function(1) == 2


def test_add_one_adds_one(testing):
    assert testing.add_one(41) == 42
    assert testing.add_one(True) == 2


def test_apply_calls_a_python_callback(testing):
    assert testing.apply(lambda *args: sum(args), 1, 2, 3) == 6


def test_a_callback_may_call_a_callback(testing):
    assert testing.apply(lambda: testing.apply(lambda: testing.add_one(1))) == 2


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 16, 17, 40])
def test_any_number_of_arguments_goes_in(plain, n):
    assert plain.sum(*range(n)) == sum(range(n))


def test_a_call_without_arguments_has_an_array_of_none(testing, plain):
    has_array = plain.has_array
    for has_array.release_gil in (True, False):
        assert has_array() is True
        assert testing.apply(has_array) is True


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 16, 17, 40])
def test_any_number_of_arguments_reaches_a_callback(n):
    function = ffi_hpy.convert(lambda *args: list(args))
    expected = [i if i % 2 else f"text number {i}" for i in range(n)]
    assert function(*expected) == expected


@pytest.mark.parametrize("n", [0, 1, 6, 7, 8, 9, 40])
@pytest.mark.parametrize("other", [5, -1, 2**62, True, 1.5, None, "text", "pair"], ids=repr)
def test_arguments_after_an_object_are_passed_in_order(classes, n, other):
    pair = classes.TestIntPair(1, 2)
    got = []
    function = ffi_hpy.convert(lambda *args: got.extend(args))
    expected = [*range(n), pair if other == "pair" else other, *range(n)]
    assert function(pair, *expected) is None
    assert [type(item) for item in got] == [type(item) for item in [pair, *expected]]
    for item, sent in zip(got, [pair, *expected]):
        assert item.same_as(pair) if sent is pair else item == sent


def test_an_object_cannot_be_moved_away_while_it_is_an_argument_and_can_be_again_afterwards(testing, classes):
    pair = classes.TestIntPair(3, 4)

    def move(argument, number):
        with pytest.raises(RuntimeError, match="while a call uses it"):
            testing.echo(pair._move())
        return argument.a + number

    def fail(argument, number):
        raise KeyError(number)

    assert ffi_hpy.convert(move)(pair, 10) == 13
    with pytest.raises(KeyError, match="7"):
        ffi_hpy.convert(fail)(pair, 7)
    assert testing.echo(pair._move()).b == 4


@needs_identity
def test_a_callback_that_moves_its_argument_back_leaves_the_caller_its_object():
    use_count = ffi_hpy.get_global_func("testing.object_use_count")
    counts = []

    def give_back(x):
        collect_garbage(n_rounds=2)
        counts.append(use_count(x))
        return x._move()

    function = ffi_hpy.convert(give_back)
    for _ in range(2):
        array = ffi_hpy.Array([1, 2])
        function(array)
        collect_garbage(n_rounds=2)
        function(array._move())
    assert counts == [2, 1, 2, 1]


def test_keyword_arguments_are_refused_by_name(testing):
    with pytest.raises(TypeError, match=r"testing\.echo\(\) takes positional arguments only, got keyword .*'value'"):
        testing.echo(value=1)
    with pytest.raises(TypeError, match="'y'"):
        testing.echo(1, y=2)
    assert testing.echo(1) == 1


def test_a_function_has_the_name_it_was_found_by(testing, plain):
    assert testing.echo.__name__ == "testing.echo"
    assert plain.sum.__name__ == "sum"
    assert ffi_hpy.convert(len).__name__ == ""


def test_a_name_can_be_set_and_is_in_messages():
    function = ffi_hpy.convert(lambda x: x)
    function.__name__ = "größe"
    assert function.__name__ == "größe"
    with pytest.raises(UnicodeEncodeError, match=r"größe\(\) argument 1: surrogates"):
        function("\ud800")
    with pytest.raises((TypeError, AttributeError), match="delete"):
        del function.__name__
    assert function.__name__ == "größe"


@pytest.mark.skipif(
    IS_PYPY and not ffi_hpy._core.HAS_EXTENSION,
    reason="PyPy 7.3 drops the exceptions of HPy setters; a name is an attribute it must make itself",
)
def test_a_name_that_is_not_a_str_is_refused():
    function = ffi_hpy.convert(lambda x: x)
    with pytest.raises(TypeError, match="must be str, not int"):
        function.__name__ = 3


def test_functions_are_equal_when_they_are_the_same_native_function(testing):
    name = unique_name()
    ffi_hpy.register_global_func(name, lambda: 1)
    first, second = ffi_hpy.get_global_func(name), ffi_hpy.get_global_func(name)
    ffi_hpy.remove_global_func(name)
    assert first == second
    assert hash(first) == hash(second)
    assert first != testing.echo


def test_a_function_cannot_be_made_directly():
    with pytest.raises(TypeError, match="cannot be made directly"):
        ffi_hpy.Function()


def test_a_function_at_an_address_is_called(testing):
    function = _core.function_from_address(testing.get_add_one_c_symbol())
    assert function(1) == 2


def test_a_function_at_an_address_gets_its_context(plain_path, plain):
    import ctypes

    address = ctypes.cast(ctypes.CDLL(str(plain_path)).__getattr__("__tvm_ffi_context"), ctypes.c_void_p).value
    assert _core.function_from_address(address, None, 4096)() == 4096
    assert _core.function_from_address(address)() == 0
    assert plain.context() == 0


def test_address_zero_is_refused():
    with pytest.raises(ValueError, match="must not be 0"):
        _core.function_from_address(0)
    with pytest.raises(TypeError):
        _core.function_from_address("not an address")


def test_function_from_callable_refuses_objects_that_cannot_be_called():
    with pytest.raises(TypeError, match="expected a callable, got int"):
        _core.function_from_callable(3)


def test_a_function_can_be_passed_through_a_callback(testing):
    assert testing.apply(lambda f, x: f(x), testing.add_one, 1) == 2


def test_a_callback_whose_result_cannot_be_converted_is_an_error(testing):
    with pytest.raises((UnicodeEncodeError, RuntimeError, TypeError), match="return value of a callback"):
        testing.apply(lambda: "\ud800")


# --- subclasses -----------------------------------------------------------------------------------------------------


cannot_call_subclasses = pytest.mark.skipif(IS_DEBUG, reason="hpy 0.9.0 cannot call instances of subclasses")


class Compiled(ffi_hpy.Function):
    """A function with an attribute."""

    def __init__(self, source):
        self.source = source


@cannot_call_subclasses
def test_a_subclass_takes_a_function_over_which_stays(testing):
    function = ffi_hpy.convert(lambda x: x + 1)
    compiled = Compiled("x + 1")
    assert compiled.__chandle__() == 0
    compiled.__move_handle_from__(function)
    assert (compiled(1), function(1), compiled.source) == (2, 2, "x + 1")
    assert compiled.same_as(function)
    assert testing.echo(compiled).same_as(function)
    assert testing.apply(compiled, 41) == 42
    with pytest.raises(TypeError, match="positional arguments only"):
        compiled(x=1)


@cannot_call_subclasses
def test_a_subclass_can_be_filled_by_a_native_function(testing):
    compiled = Compiled("")
    compiled.__init_handle_by_constructor__(testing.echo, lambda: 5)
    assert compiled() == 5


@cannot_call_subclasses
def test_a_subclass_without_a_function_is_an_error_with_the_reason():
    compiled = Compiled("")
    with pytest.raises(ValueError, match="this Compiled has no native object"):
        compiled(1)
    for arguments in [(), (compiled,), (ffi_hpy.convert([1]), 2), ("text",)]:
        with pytest.raises(ValueError, match="no native object"):
            compiled(*arguments)
    with pytest.raises(ValueError, match="no native object"):
        ffi_hpy.convert(lambda f: f)(compiled)
    assert repr(compiled) == "Compiled(chandle=None)"


@cannot_call_subclasses
def test_a_function_is_taken_over_once(testing, classes):
    compiled, function = Compiled(""), ffi_hpy.convert(lambda: 1)
    with pytest.raises(TypeError, match="of a function only"):
        compiled.__move_handle_from__(classes.TestIntPair(1, 2))
    with pytest.raises(ValueError, match="no native object"):
        compiled.__move_handle_from__(Compiled(""))
    compiled.__move_handle_from__(function)
    with pytest.raises(TypeError, match="cannot be moved away"):
        compiled.__move_handle_from__(ffi_hpy.convert(lambda: 2))
    with pytest.raises(TypeError, match="cannot be moved away"):
        function.__move_handle_from__(testing.echo)
    pair = classes.TestIntPair(1, 2)
    with pytest.raises(TypeError, match="cannot be moved away"):
        pair.__move_handle_from__(function)
    assert (compiled(), function(), pair.a) == (1, 1, 1)


def test_of_many_threads_that_fill_a_function_one_wins():
    for _ in range(20):
        compiled = Compiled("")

        def work(i, compiled=compiled):
            try:
                compiled.__move_handle_from__(ffi_hpy.convert(lambda: i))
            except TypeError:
                return None
            return compiled()

        winners = [result for result in parallelize(work) if result is not None]
        assert winners == [compiled()]


# --- handles and strings --------------------------------------------------------------------------------------------


def test_the_handle_has_several_forms(testing):
    function = testing.echo
    assert function.id_ == function.__chandle__() == function.__ctypes_handle__().value != 0
    assert Compiled("").id_ == 0
    assert Compiled("").__ctypes_handle__().value is None


def test_the_text_of_a_function_has_its_name(testing):
    assert repr(testing.echo) == f"<Function testing.echo at {testing.echo.__chandle__():#x}>"
    assert repr(ffi_hpy.convert(len)).startswith("<Function at 0x")
