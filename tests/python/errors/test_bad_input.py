"""Bad input causes a clear error, without losses or crashes: one test for each promise.

Most promises have detailed tests elsewhere. Here each is tested through the public API, and everything must work
afterwards.
"""

import copy
import re
import typing

import pytest
from support import IS_PYPY, run_python

import ffi_hpy


@pytest.fixture(autouse=True)
def still_working(testing):
    """Check after a test that everything still works."""
    yield
    assert testing.echo("still here") == "still here"
    assert testing.add_one(1) == 2


@pytest.mark.parametrize("arguments", [(), (1, 2), (1,) * 40], ids=len)
def test_wrong_number_of_arguments_names_function_and_both_numbers(testing, arguments):
    with pytest.raises(TypeError, match=rf"testing\.add_one.*Expected 1 but got {len(arguments)} arguments"):
        testing.add_one(*arguments)


@pytest.mark.parametrize(
    ("wrong", "given"),
    [
        ("x", "ffi.SmallStr"), ("a longer text", "ffi.String"), (None, "None"), (1.5, "float"), ([1], "ffi.Array"),
        ((), "ffi.Array"), ({}, "ffi.Map"), (b"", "ffi.SmallBytes"), (lambda: 0, "ffi.Function"),
        (ffi_hpy.dtype("int8"), "DataType"),
    ],
    ids=repr,
)  # fmt: skip
def test_wrong_type_of_an_argument_names_function_position_and_both_types(testing, wrong, given):
    with pytest.raises(
        TypeError, match=rf"argument #0 .*testing\.add_one.*Expected `int` but got `{re.escape(given)}`"
    ):
        testing.add_one(wrong)


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**100], ids=["just above", "just below", "googol"])
def test_an_int_beyond_int64_is_refused_for_an_int64_parameter(testing, number):
    with pytest.raises(TypeError, match=r"argument #0 .*testing\.add_one.*Expected `int` but got `ffi\.BigInt`"):
        testing.add_one(number)


def test_a_number_class_that_fails_passes_its_error_on(testing):
    import numbers

    class Broken(int):
        pass

    class Failing:
        def __index__(self):
            raise ZeroDivisionError("no number today")

        def __int__(self):
            raise ZeroDivisionError("no number today")

    numbers.Integral.register(Failing)
    with pytest.raises((ZeroDivisionError, TypeError), match=r"no number today|expected an int, got Failing"):
        testing.echo(Failing())
    assert testing.echo(Broken(5)) == 5


def test_text_with_lone_surrogates_is_a_unicode_error(testing):
    with pytest.raises(UnicodeEncodeError, match=r"testing\.echo\(\) argument 1: surrogates not allowed"):
        testing.echo("\ud83d")


def test_an_unknown_global_function_is_a_value_error():
    with pytest.raises(ValueError, match=r"Cannot find global function no\.such"):
        ffi_hpy.get_global_func("no.such")


def test_an_unknown_type_key_is_a_value_error():
    with pytest.raises(ValueError, match=r"no\.such"):
        ffi_hpy.register_object("no.such")(type(ffi_hpy.Object)("NoSuch", (ffi_hpy.Object,), {}))


def test_an_unknown_type_key_in_native_code_is_an_error():
    with pytest.raises((ValueError, TypeError, RuntimeError), match=r"no\.such"):
        ffi_hpy._ffi_api.MakeObjectFromPackedArgs("no.such")


def test_a_library_that_is_missing_no_library_or_without_the_symbol(plain, tmp_path):
    with pytest.raises(RuntimeError, match=r"missing.so"):
        ffi_hpy.load_module(tmp_path / "missing.so")
    (tmp_path / "text.so").write_text("text")
    with pytest.raises(RuntimeError, match=r"text.so"):
        ffi_hpy.load_module(tmp_path / "text.so")
    with pytest.raises(AttributeError, match="__tvm_ffi_no_such_symbol"):
        plain.no_such_symbol  # noqa: B018


def test_an_error_in_a_callback_inside_a_callback(testing):
    def inner():
        raise KeyError("inner")

    def outer():
        try:
            testing.apply(inner)
        except KeyError as error:
            raise ValueError("outer") from error

    with pytest.raises(ValueError, match="outer") as caught:
        testing.apply(outer)
    assert caught.value.__cause__.args == ("inner",)


def test_arrays_that_are_not_contiguous_or_read_only(extension):
    np = pytest.importorskip("numpy")
    good = np.zeros(2, dtype="float32")
    with pytest.raises(ValueError, match="must be contiguous"):
        extension.add_one(np.zeros(4, dtype="float32")[::2], good)
    good.flags.writeable = False
    with pytest.raises(BufferError, match=r"read-?only"):
        extension.add_one(good, good)


def test_a_wrapper_whose_handle_was_moved_away(testing, classes):
    pair = classes.TestIntPair(1, 2)
    testing.echo(pair._move())
    with pytest.raises(ValueError, match="this TestIntPair has no native object: it was moved away"):
        testing.echo(pair)
    with pytest.raises(ValueError, match="has no native object"):
        pair.sum()


@ffi_hpy.dataclasses.py_class("bad_input.Holder")
class Holder(ffi_hpy.Object):
    anything: typing.Any
    array: ffi_hpy.Array


def test_a_move_of_a_moved_object(testing):
    gone, good = ffi_hpy.Array([1]), ffi_hpy.Array([2])
    holder, move = Holder(1, good), gone._move()
    assert testing.echo(move) == [1]
    for use in (
        lambda: testing.echo(move),
        lambda: testing.echo([move]),
        lambda: testing.echo({1: (move,)}),
        lambda: ffi_hpy.convert([move]),
        lambda: ffi_hpy.List().append(move),
        lambda: ffi_hpy.Map({1: move}),
    ):
        with pytest.raises(ValueError, match="this Array has no native object: it was moved away"):
            use()
    for use in (
        lambda: Holder(move, good),
        lambda: Holder(1, move),
        lambda: setattr(holder, "anything", move),
        lambda: setattr(holder, "array", move),
    ):
        with pytest.raises(TypeError, match=r"expected [\w.]+, got ffi_hpy\._core\.ObjectRValueRef"):
            use()
    assert holder.anything == 1
    assert holder.array == [2]


def test_one_object_moved_twice_in_a_call(testing, classes):
    pair = classes.TestIntPair(1, 2)
    with pytest.raises(RuntimeError, match="cannot be moved away while a call uses it"):
        testing.apply(lambda *a: None, pair._move(), pair._move())
    assert pair.a == 1


def test_an_object_passed_and_moved_in_one_call(testing, classes):
    pair = classes.TestIntPair(1, 2)
    with pytest.raises(RuntimeError, match="cannot be moved away while a call uses it"):
        testing.apply(lambda *a: None, pair, pair._move())
    assert testing.echo(pair._move()).a == 1


def test_a_function_is_not_given_away():
    function = ffi_hpy.convert(lambda: 7)
    with pytest.raises(TypeError, match="the handle of a Function cannot be moved away"):
        function._move()
    with pytest.raises(TypeError, match="the handle of a Function cannot be moved away"):
        ffi_hpy.Object().__move_handle_from__(function)
    assert function() == 7


def test_a_failure_without_an_error_is_reported(plain):
    with pytest.raises(RuntimeError, match=r"fail_without_error\(\) returned failure without setting an error"):
        plain.fail_without_error()
    with pytest.raises(IndexError, match=r"^raised in C$"):
        plain.fail()
    with pytest.raises(RuntimeError, match="without setting an error"):
        plain.fail_without_error()


def test_a_result_that_has_no_python_form_is_a_type_error(plain):
    with pytest.raises(TypeError, match="type index 60, which has no Python form"):
        plain.return_nonsense()


def test_endless_recursion_between_python_and_native_code_is_a_recursion_error():
    program = """
import ffi_hpy
f = ffi_hpy.convert(lambda: f())
try:
    f()
except RecursionError as error:
    print(type(error).__name__)
print(ffi_hpy.convert(lambda: 7)())
"""
    assert run_python(program) == "RecursionError\n7\n"


def test_deleting_the_members_of_the_package_does_not_crash():
    program = """
import ffi_hpy
f = ffi_hpy.convert(lambda x: x)
for name in list(vars(ffi_hpy)):
    if not name.startswith("__"):
        delattr(ffi_hpy, name)
print(f([1, "two"]))
"""
    assert run_python(program) == '(1, "two")\n'


@pytest.mark.parametrize(
    "name", ["CObject", "DataType", "Device", "ObjectRValueRef", "PlainValue", "Tensor", "Error", "Function"]
)
def test_objects_made_without_their_init_do_not_crash(name):
    program = """
import sys
from ffi_hpy import _core, core
cls = getattr(core, sys.argv[1], None) or getattr(_core, sys.argv[1])
try:
    made = cls.__new__(cls)
except TypeError:
    sys.exit()
for attribute in dir(made):
    try:
        value = getattr(made, attribute)
        if callable(value) and attribute not in ("__class__", "__new__", "__init_subclass__", "__subclasshook__"):
            value()
    except (TypeError, ValueError, AttributeError):
        pass
repr(made), str(made), hash(made), made == made
try:
    _core.convert(made)
except (TypeError, ValueError):
    pass
"""
    assert run_python(program, name) == ""


@pytest.mark.parametrize("n", range(3))
def test_a_long_name_is_cut_between_two_characters(testing, n):
    long = "x" * n + "\u00e9" * 1000
    given = type(long[:200], (), {})()
    with pytest.raises(TypeError, match=rf"^type key must be str, not x{{{n}}}\u00e9+$"):
        ffi_hpy._core.type_key_to_index(given)
    with pytest.raises(TypeError, match=rf"must be integers or slices, not x{{{n}}}\u00e9+$"):
        ffi_hpy.List([1])[given]
    callee = ffi_hpy.convert(lambda *arguments: None)
    callee.__name__ = long
    assert "\ufffd" not in repr(callee)
    with pytest.raises(TypeError, match=rf"^x{{{n}}}\u00e9+$"):
        callee(keyword=1)
    with pytest.raises(UnicodeEncodeError, match=rf": x{{{n}}}\u00e9+: surrogates not allowed"):
        callee("\ud800")

    class Index:
        def __index__(self):
            return 77

        def __str__(self):
            return long

    with pytest.raises(IndexError, match=rf"List index x{{{n}}}\u00e9+ is out of range"):
        ffi_hpy.List([1])[Index()]


def test_a_keyword_is_compared_as_a_whole(testing):
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'require_alignment\\x00zz'"):
        ffi_hpy._core.from_dlpack(1, **{"require_alignment\0zz": 1})
    with pytest.raises(TypeError, match=r"got keyword argument 'a\\x00b'"):
        testing.echo(1, **{"a\0b": 2})


@pytest.mark.skipif(IS_PYPY, reason="an object with __index__ alone does not count as a number on PyPy")
def test_a_type_error_of_a_number_comes_out(testing):
    import numbers

    class Failing:
        def __index__(self):
            raise TypeError("mine")

    class Lacking:
        pass

    numbers.Integral.register(Failing)
    numbers.Integral.register(Lacking)
    with pytest.raises(TypeError, match=r"^mine$"):
        testing.echo(Failing())
    with pytest.raises(TypeError, match=r"echo\(\) argument 1: expected an int, got Lacking"):
        testing.echo(Lacking())


class LengthlessTuple(tuple):
    __slots__ = ()

    def __len__(self):
        raise KeyError("mine")


class LengthlessDict(dict):
    __slots__ = ()

    def __len__(self):
        raise KeyError("mine")


class OddMapping(dict):
    """A dict whose items() returns tuples that raise in __len__."""

    def items(self):
        return [LengthlessTuple(("a", 1))]


@pytest.mark.parametrize(
    "use",
    [
        lambda testing: testing.echo(OddMapping()),
        lambda testing: ffi_hpy.Map(OddMapping()),
        lambda testing: copy.deepcopy(ffi_hpy.Array([1]), LengthlessDict()),
        lambda testing: copy.deepcopy(ffi_hpy.testing.TestIntPair(1, 2), LengthlessDict()),
    ],
    ids=["mapping", "Map", "memo of a container", "memo of an object"],
)
def test_a_length_that_raises(testing, use):
    try:  # PyPy has no reason to ask for some of the lengths
        use(testing)
    except KeyError as error:
        assert error.args == ("mine",)  # noqa: PT017 - the call may return as well


@pytest.mark.parametrize("index", [-128, True, 2**62, ffi_hpy.Array([]).__type_index__()])
def test_room_for_an_object_of_a_class_that_is_not_bound(index):
    room = ffi_hpy.get_global_func("ffi_hpy.bind_room")
    with pytest.raises(TypeError, match="Expected the index of a bound class but got"):
        room(index)


class AnswersToAnyName:
    """A class whose instances pass for a method's object unless the method checks the type."""

    def __getattr__(self, name):
        return 4096


@pytest.mark.parametrize(
    "method",
    [
        ffi_hpy.Object.__type_index__, ffi_hpy.Object.__use_count__, ffi_hpy.Object.__chandle__,
        ffi_hpy.Array.__len__, ffi_hpy.Map.__len__, ffi_hpy.Dict.__len__, ffi_hpy.List.clear,
        ffi_hpy.testing.TestIntPair.__copy__, ffi_hpy.testing.TestIntPair.__deepcopy__,
        lambda self: ffi_hpy.Array.__getitem__(self, 0), lambda self: ffi_hpy.Map.__getitem__(self, 0),
        lambda self: ffi_hpy.Object.__move_handle_from__(self, ffi_hpy.Array([1])),
        lambda self: ffi_hpy.Array.__init__(self, [1]), lambda self: ffi_hpy.error.Error.kind.__get__(self),
    ],
)  # fmt: skip
def test_a_method_called_with_something_else(method):
    with pytest.raises(TypeError):
        method(AnswersToAnyName())


@pytest.mark.parametrize("value", [5, None, AnswersToAnyName(), ffi_hpy.Array([1])], ids=lambda one: type(one).__name__)
def test_an_exception_with_an_error_that_is_none(testing, value):
    exception = KeyError("own")
    exception.__tvm_ffi_error__ = value

    def fail():
        raise exception

    with pytest.raises(KeyError, match="own") as raised:
        testing.apply(fail)
    assert raised.value is exception
    exception.__tvm_ffi_error__ = value
    assert testing.echo(exception).message == "'own'"


@pytest.mark.parametrize(
    "index", [2**31, 2**32, 2**32 + ffi_hpy.Array([]).__type_index__(), 2**62, -(2**31) - 1, 2**64]
)
@pytest.mark.parametrize(
    "use",
    [
        ffi_hpy.registry.class_for_type_index, ffi_hpy._core.type_info,
        lambda index: ffi_hpy._core.class_offer(index, None), lambda index: ffi_hpy._core.stream_get(1, index),
        lambda index: ffi_hpy._core.type_attr(index, "__any_hash__"),
        lambda index: ffi_hpy.from_dlpack(ffi_hpy.Tensor, require_alignment=index),
    ],
)  # fmt: skip
def test_an_int_beyond_32_bits_is_refused(use, index):
    with pytest.raises(OverflowError):
        use(index)
