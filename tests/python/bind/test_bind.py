"""Libraries that are bound with ffi_hpy/bind.h: import, functions, classes, enums, exceptions, the standard library."""

from __future__ import annotations

import collections
import ctypes
import enum
import errno
import functools
import gc
import importlib
import inspect
import itertools
import operator
import os
import pickle
import sys
import threading
import types
import weakref
from pathlib import Path

import pytest
from support import (
    CALLS_COPY_LISTS,
    IS_OVER_CFFI,
    IS_PYPY,
    collect_garbage,
    needs_identity,
    needs_one_wrapper,
    needs_threads,
    parallelize,
    run_python,
    unique_name,
)

import ffi_hpy
from ffi_hpy import _core

pytestmark = needs_one_wrapper

meetings = itertools.count()


@pytest.fixture(scope="module")
def bound(import_bound):
    """The module of bound.cc."""
    return import_bound("bound")


# --- the module -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "kind", "message"),
    [
        ("name", TypeError, "'a'"),
        ("value", ValueError, "^made no letter$"),
        ("base", AttributeError, "NoSuchError"),
        ("default", OverflowError, "`f`: parameter `x`: the default is 256, which is outside the range 0 to 255"),
    ],
)
def test_a_definition_that_fails_aborts_the_import(import_bound, monkeypatch, way, kind, message):
    monkeypatch.setenv("BOUND_BADLY", way)
    with pytest.raises(kind, match=message):
        import_bound("bound_badly")
    assert "bound_badly" not in sys.modules


def test_a_program_needs_no_other_import_before(bound):
    """Each site folder's .pth files are read at the start of an interpreter; here also twice."""
    program = """
import site, sys
folder, library = sys.argv[1:]
for _ in range(2):
    site.addsitedir(folder)
names = [getattr(finder, "__module__", "") for finder in sys.meta_path]
assert names.count("ffi_hpy._bind.finder") == (sys.implementation.name == "pypy"), names
assert "ffi_hpy" not in sys.modules
sys.path.insert(0, library)
import bound
print(bound.inner.twice(4))
"""
    folders = Path(ffi_hpy.__file__).parents[1], Path(bound.__file__).parent
    assert run_python(program, *folders) == "8\n"


def test_the_module_is_an_ordinary_module(bound):
    assert (bound.__name__, bound.answer, bound.title) == ("bound", 42, "a title")
    assert bound.__file__.endswith("bound.so")
    assert sys.modules["bound"] is importlib.import_module("bound") is bound
    assert (bound.inner.twice(4), bound.inner.__name__, bound.inner.__doc__) == (8, "bound.inner", "A module inside.")
    assert (bound.inner.Late.__module__, bound.inner.Late.__qualname__) == ("bound.inner", "Late")


@pytest.mark.thread_unsafe(reason="it reloads a module")
def test_a_module_that_is_reloaded_stays_as_it_is(bound, monkeypatch):
    monkeypatch.syspath_prepend(Path(bound.__file__).parent)
    contents = dict(vars(bound))
    assert importlib.reload(bound) is bound
    assert all(value is contents[name] for name, value in vars(bound).items() if not name.startswith("__"))


@pytest.mark.thread_unsafe(reason="it imports modules by their files")
def test_a_library_has_several_modules(import_bound):
    first = import_bound("bound_several")
    folder = Path(first.__file__).parent
    if not (folder / "bound_other.so").exists():
        (folder / "bound_other.so").symlink_to("bound_several.so")
    second = import_bound("bound_other")
    assert (second.size(first.Part()), hasattr(second, "Part"), hasattr(first, "size")) == (3, False, False)


@pytest.mark.thread_unsafe(reason="several threads would write one file")
def test_a_library_that_cannot_be_loaded_is_an_import_error(import_bound):
    with pytest.raises(ImportError, match="variable_of_no_library"):
        import_bound("bound_lacking")
    assert "bound_lacking" not in sys.modules


# --- functions --------------------------------------------------------------------------------------------------------


def test_names_defaults_and_overloads(bound):
    assert (bound.add(1), bound.add(1, 2), bound.add(b=4, a=1), bound.add(1, b=3)) == (2, 3, 5, 4)
    assert (bound.add("a"), bound.add("a", "b"), bound.add(b="c", a="a")) == ("a!", "ab", "ac")
    assert bound.describe(1) == "1.000000T-"
    assert bound.describe(z="z", x=2.5) == "2.500000Tz"
    assert bound.describe(1, z=None, y=False) == "1.000000F-"
    assert bound.many(0) == 16
    assert bound.many(0, r=5, c=3) == 22
    assert bound.nothing() is None
    assert [bound.kind(x) for x in (1, 1.5, "x", [1], range(2), bound.Dog("d"))] == [
        *("int", "float", "str", "list", "list", "Animal")
    ]


@pytest.mark.parametrize("args", [(), (1, 2, 3), (1.5,), (None,), (1, "a"), ([],)])
def test_arguments_that_do_not_fit(bound, args):
    with pytest.raises(TypeError) as caught:
        bound.add(*args)
    lines = str(caught.value).splitlines()
    assert lines[0] == "add(): incompatible function arguments. The following argument types are supported:"
    assert lines[1:3] == ["    1. add(a: int, b: int = 1) -> int", "    2. add(a: str, b: str = '!') -> str"]
    assert lines[4].startswith("Invoked with types: ")


def test_an_error_has_the_name_and_the_position_of_the_parameter_that_refuses_its_argument(bound):
    for arguments, expected in (
        (
            ((1, "a"), {}),
            [
                *("Invoked with types: int, str", "    1. argument #1 `b` has the type str"),
                "    2. argument #0 `a` has the type int",
            ],
        ),
        (
            ((1,), {"b": [2]}),
            [
                *("Invoked with types: int, list", "    1. argument #1 `b` has the type list"),
                "    2. argument #0 `a` has the type int",
            ],
        ),
        (((1, 2, 3), {}), ["Invoked with types: int, int, int"]),  # no parameter refuses one of them
        (((1.5,), {}), ["Invoked with types: float"]),  # it is the only one
    ):
        args, kwargs = arguments
        with pytest.raises(TypeError) as caught:
            bound.add(*args, **kwargs)
        assert str(caught.value).splitlines()[4 : 4 + len(expected)] == expected
    with pytest.raises(TypeError, match=r"\n    1\. argument #2 `z` has the type list$") as caught:
        bound.describe(1, z=[])
    assert "\nInvoked with types: int, kwargs = { z: list }\n" in str(caught.value)  # not the default between them
    with pytest.raises(TypeError, match=r"\nInvoked with types: int, kwargs = \{ c: str, r: int \}\n"):
        bound.many(0, r=5, c="x")


def test_keywords_that_do_not_fit(bound):
    with pytest.raises(TypeError, match="unexpected keyword argument 'c'"):
        bound.add(1, c=2)
    with pytest.raises(TypeError, match="multiple values for argument 'a'"):
        bound.add(1, a=2)
    with pytest.raises(TypeError, match="missing 1 required argument: 'a'"):
        bound.add(b=2)
    with pytest.raises(TypeError):
        bound.only_float(1)
    assert bound.only_float(1.0) == 1.0


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("int8", -(2**7), 2**7 - 1), ("uint8", 0, 2**8 - 1), ("int64", -(2**63), 2**63 - 1), ("uint64", 0, 2**64 - 1)],
)
def test_numbers_keep_their_value_or_are_refused(bound, name, low, high):
    function = getattr(bound, name)
    assert (function(low), function(high), function(True)) == (low, high, 1)
    for outside in (low - 1, high + 1, 2**70, -(2**70)):
        with pytest.raises(TypeError) as caught:
            function(outside)
        lines = str(caught.value).splitlines()
        assert lines[-2:] == [
            "Invoked with types: int",
            f"    1. argument #0 `arg` is {outside}, which is outside the range {low} to {high}",
        ]
    for wrong in (1.0, "1", None):
        with pytest.raises(TypeError) as caught:
            function(wrong)
        assert "outside" not in str(caught.value)


def test_numbers_outside_the_range_are_named(bound):
    for arguments in ({"b": 2**31, "a": -(2**31) - 1}, {"a": -(2**31) - 1, "b": 2**31}):
        with pytest.raises(TypeError) as caught:
            bound.add(**arguments)
        assert str(caught.value).splitlines()[-3:] == [
            "    1. argument #0 `a` is -2147483649, which is outside the range -2147483648 to 2147483647",
            "    1. argument #1 `b` is 2147483648, which is outside the range -2147483648 to 2147483647",
            "    2. argument #0 `a` has the type int",
        ]
    assert bound.uint8(Index(7)) == 7
    for value in (300, -1, 2**70):
        with pytest.raises(TypeError) as caught:
            bound.uint8(Index(value))
        assert str(caught.value).endswith(f"argument #0 `arg` is {value}, which is outside the range 0 to 255")


class Index:
    """An object that is an int by `__index__` alone."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


def test_an_object_that_is_refused_for_another_reason_than_its_range_keeps_its_class(bound):
    for arguments, line in (
        ((Index(5), 1), f"argument #0 `x` has the type {__name__}.Index"),
        ((1, Index(300)), "argument #1 `y` is 300, which is outside the range -128 to 127"),
    ):
        with pytest.raises(TypeError) as caught:
            bound.only_int(*arguments)
        assert str(caught.value).splitlines()[-1] == f"    1. {line}"
    with pytest.raises(TypeError, match=rf"argument #0 `x`\[1\] has the type {__name__}\.Index$"):
        bound.only_ints([1, Index(5)])
    with pytest.raises(TypeError, match=rf"argument #0 `arg0` has the type {__name__}\.Index$"):
        bound.color_beside(Index(10**6), 1)


def test_an_array_that_does_not_fit_is_named_by_its_class(bound):
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(3)
    for value, name in ((array, "numpy.ndarray"), (ffi_hpy.from_dlpack(array), "ffi_hpy.Tensor")):
        with pytest.raises(TypeError, match=rf"Invoked with types: {name}"):
            bound.uint8(value)
        with pytest.raises(TypeError, match=rf"argument #0 `v`\[1\] has the type {name}$"):
            bound.vector([1, value])


class Text(str):
    pass


class Real(float):
    pass


Pair = collections.namedtuple("Pair", "a b")


def check_the_name_in_errors(bound, value):
    cls = type(value)
    name = cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
    with pytest.raises(TypeError, match=f"Invoked with types: {name}$"):
        bound.uint8(value)
    with pytest.raises(TypeError, match=rf"argument #0 `v`\[1\] has the type {name}$"):
        bound.vector([1, value])
    for call in (
        lambda: bound.only_int(1, value),
        lambda: bound.only_int(1, y=value),
    ):
        reason = rf"argument #1 `y` has the type {name}"
        with pytest.raises(TypeError, match=rf"Invoked with types: int, {name}\n    1. {reason}$"):
            call()
    dog = bound.Dog("a")
    with pytest.raises(TypeError, match=rf"Invoked with types: bound\.Dog, {name}\b"):
        dog.age = value


@needs_identity
def test_an_object_of_a_subclass_that_does_not_fit_is_named_by_its_class(bound):
    class Hound(bound.Dog):
        pass

    check_the_name_in_errors(bound, Hound("b"))


def test_an_argument_that_does_not_fit_is_named_by_its_class(bound):
    for value in (
        *(lambda: 0, Index, ffi_hpy.get_global_func("ffi.Array")),
        *(
            bytearray(b"x"),
            bytearray(b"a long one"),
            collections.OrderedDict(),
            Text("x"),
            Text("a long one"),
            Pair(1, 2),
        ),
        *(Real(1.5), {1: 2}, collections.deque([1]), 1j, ffi_hpy.Array([1]), ffi_hpy.Map({1: 2})),
        *((1, 2), [1, 2], ffi_hpy.List([1]), ffi_hpy.Dict({1: 2}), ffi_hpy.Shape([1])),
        *(b"x", b"a long one", memoryview(b"x"), memoryview(b"a long one")),
        *(ffi_hpy.dtype("int8"), ffi_hpy.device("cpu"), ctypes.c_void_p(4)),
        bound.Dog("a"),
    ):
        check_the_name_in_errors(bound, value)


def test_text(bound):
    assert (bound.char("x"), bound.view("abc"), bound.view("x" * 100)) == ("x", 3, 100)
    for wrong in ("", "ab", 1, b"a", None):
        with pytest.raises(TypeError):
            bound.char(wrong)
    with pytest.raises(TypeError):
        bound.view(b"bytes")


@needs_identity
def test_help_shows_the_declaration(bound):
    signature = "(x: float, y: bool = True, z: str | None = None) -> str"
    assert str(inspect.signature(bound.describe)).replace("Optional[str]", "str | None") == signature
    assert bound.describe.__doc__ == f"describe{signature}"
    with pytest.raises(TypeError, match=r"1\. describe\(x: float, y: bool = True, z: str \| None = None\) -> str"):
        bound.describe([])
    lines = ["add(a: int, b: int = 1) -> int", "add(a: str, b: str = '!') -> str"]
    assert (
        bound.add.__doc__
        == "{}\n{}\n\nOverloaded function.\n\n1. ``{}``\n\nAdds numbers.\n\n2. ``{}``\n\nJoins.".format(*lines, *lines)
    )
    signature = inspect.signature(bound.next_color)
    assert (signature.parameters["color"].annotation, signature.return_annotation) == (bound.Color, bound.Color)
    assert str(inspect.signature(bound.Animal)) == "(name: str)"
    assert "age" in inspect.signature(bound.Dog.__init__).parameters or "args" in str(inspect.signature(bound.Dog))
    assert bound.Animal.__doc__ == "An animal."
    assert (bound.Animal.name.__doc__, bound.Dog.age.__doc__) == ("The name.", "In years.")
    assert inspect.signature(bound.vector).return_annotation == list[int]
    assert inspect.signature(bound.tuple).return_annotation == tuple[str, float]


@needs_threads
def test_a_call_guard_releases_the_gil(bound):
    meeting = next(meetings)
    assert parallelize(lambda _: bound.meet(meeting, 4), 4) == [None] * 4  # else the first one waits for the others


# --- exceptions -------------------------------------------------------------------------------------------------------


EXCEPTIONS = [
    *((0, IndexError), (1, ValueError), (2, ValueError), (3, ValueError), (4, ValueError), (5, OverflowError)),
    *((6, MemoryError), (7, TypeError), (8, RuntimeError), (9, RuntimeError), (10, KeyError), (11, StopIteration)),
    *((13, ValueError), (14, TypeError), (15, RuntimeError)),
]


@pytest.mark.parametrize(("which", "kind"), EXCEPTIONS)
def test_exceptions_of_cpp(bound, which, kind):
    with pytest.raises(kind) as caught:
        getattr(bound, "raise")(which)
    assert type(caught.value) is kind


@pytest.mark.parametrize(("which", "kind"), [*EXCEPTIONS, (17, FileNotFoundError)])
def test_exceptions_of_cpp_on_every_path(bound, which, kind):
    door = bound.Door(-1)
    door.kept = which
    for throws in (
        lambda: bound.Door(which),
        lambda: door.open(which),
        lambda: door[which],
        lambda: door.which,
        lambda: setattr(door, "which", which),
        lambda: bound.apply(lambda _: getattr(bound, "raise")(which), 1),
    ):
        with pytest.raises(kind) as caught:
            throws()
        assert type(caught.value) is kind
        assert which != 17 or caught.value.filename == "/no [where]/a"


def test_exceptions_of_the_author(bound):
    with pytest.raises(bound.TooSmall, match=r"^m$") as caught:
        getattr(bound, "raise")(12)
    assert isinstance(caught.value, ValueError)
    assert bound.TooSmall.__module__ == "bound"
    for which, message in ((8, "m"), (9, "odd [Odd]"), (15, "m [Broken]"), (99, "a C++ exception of type `int`")):
        with pytest.raises(RuntimeError) as caught:
            getattr(bound, "raise")(which)
        assert str(caught.value).replace("(anonymous namespace)::", "") == message


def test_an_exception_that_another_is_nested_in_is_its_cause(bound):
    with pytest.raises(IndexError, match=r"^outer$") as caught:
        getattr(bound, "raise")(19)
    middle = caught.value.__cause__
    assert (type(middle), str(middle)) == (IndexError, "outer")
    assert (type(middle.__cause__), str(middle.__cause__)) == (bound.TooSmall, "inner")


@pytest.mark.parametrize(
    ("which", "shown"),
    [
        (0, "RuntimeError('outer')"),
        (1, "IndexError('outer')"),
        (2, "FileNotFoundError(2, 'outer: No such file or directory')"),
        (3, "TooSmall('outer')"),
        (4, "KeyError('outer')"),
        (5, "RuntimeError('outer [Broken]')"),
    ],
)
def test_an_exception_with_an_exception_inside_keeps_its_class_and_its_message(bound, which, shown):
    with pytest.raises(Exception, match="outer") as caught:
        bound.raise_nested(which)
    assert repr(caught.value).replace("(anonymous namespace)::", "") == shown
    assert (type(caught.value.__cause__), str(caught.value.__cause__)) == (bound.TooSmall, "inner")
    assert caught.value.__suppress_context__


def test_errors_of_the_system_have_errno_and_the_names_of_files(bound):
    for which, names in ((16, (None, None)), (17, ("/no [where]/a", os.fsdecode(b"/no [where]/\xff")))):
        with pytest.raises(FileNotFoundError) as caught:
            getattr(bound, "raise")(which)
        assert (caught.value.errno, caught.value.filename, caught.value.filename2) == (errno.ENOENT, *names)


# --- enums ------------------------------------------------------------------------------------------------------------


def test_enums_are_enums_of_python(bound):
    color = bound.Color
    assert issubclass(color, enum.Enum)
    assert [(c.name, c.value) for c in color] == [("red", 1), ("green", 2), ("blue", 4)]
    assert (color.__module__, color.__qualname__, color.__doc__) == ("bound", "Color", "Colors.")
    assert color.green.__doc__ == "Like grass."
    assert bound.next_color(color.red) is color.green
    assert bound.next_color() is color.green
    assert bound.colors([color.red, color.blue]) == [color.red, color.blue]
    for wrong in (7, 2.0, "red", None, bound.Level.low, object()):
        with pytest.raises(TypeError):
            bound.next_color(wrong)
    with pytest.raises(ValueError, match="99"):
        bound.bad_color()


def test_arithmetic_enums_and_flags(bound):
    assert (bound.level(bound.Level.high), bound.low, bound.high + 1) == (10, bound.Level.low, 11)
    assert bound.level(bound.Level.high) is bound.Level.high
    assert issubclass(bound.Level, enum.IntEnum)
    both = bound.Access.read | bound.Access.write
    assert bound.access(both) is both
    assert [bound.access(member) for member in bound.Access] == list(bound.Access)
    with pytest.raises(TypeError):
        bound.access(bound.Color.red)
    assert issubclass(bound.Access, enum.Flag)


@pytest.mark.parametrize("wrong", [1, 11, -1, 2**32, 2**32 + 10, 2**70])
def test_an_int_that_is_not_a_member_is_refused(bound, wrong):
    assert bound.level(10) is bound.Level.high
    for function, argument, place in (
        (bound.level, wrong, "`arg`"),
        (bound.next_color, wrong + 7, "`color`"),
        (bound.colors, [1, wrong + 7], "`arg`[1]"),
    ):
        with pytest.raises(TypeError, match="incompatible function arguments") as caught:
            function(argument)
        number = wrong if function is bound.level else wrong + 7
        said = f"    1. argument #0 {place} is {number}, which is not a member"
        assert str(caught.value).splitlines()[-1] == said


def test_combinations_of_arithmetic_flags(bound):
    bold, italic, wide = bound.Style
    assert bound.style(bold | wide) == 129
    assert bound.style(~bold) & (bold | italic | wide) == italic | wide
    for wrong in (256, 257, 2**40, 2**64 + 1, -(2**64), 2**70):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            bound.style(wrong)


# --- classes ----------------------------------------------------------------------------------------------------------


def test_a_class_with_its_base(bound):
    dog = bound.Dog("bo", age=4)
    assert (dog.name, dog.age, dog.double_age, dog.speak()) == ("bo", 4, 8, "bo: woof!")
    assert isinstance(dog, bound.Animal)
    assert (bound.greet(dog), bound.greet(animal=bound.Animal("a"))) == ("bo: woof!", "...")
    assert (type(dog).__module__, type(dog).__qualname__, bound.Dog.__mro__[1]) == ("bound", "Dog", bound.Animal)
    dog.name = "zed"
    dog.age = 7
    assert (dog.name, dog.age, bound.Dog.puppy(name="p").age, bound.Dog(dog).age) == ("zed", 7, 0, 7)
    with pytest.raises(ValueError, match="a negative age"):
        dog.age = -1
    with pytest.raises(AttributeError):
        dog.double_age = 1
    with pytest.raises(AttributeError):
        dog.other = 1
    with pytest.raises(ValueError, match="a negative age"):
        bound.Dog("x", -1)
    for wrong in ((1,), ("a", "b"), (), ("a", 1, 2)):
        with pytest.raises(TypeError):
            bound.Dog(*wrong)
    for wrong in (dog, None, 3):
        with pytest.raises(TypeError):
            dog.name = wrong


@pytest.mark.thread_unsafe(reason="it changes a class that threads share")
def test_a_call_of_a_class_runs_the_functions_that_python_has_set(bound, monkeypatch):
    made = []

    def new(cls, *args, **kwargs):
        made.append((cls, args, kwargs))
        return ffi_hpy.Object.__new__(cls)

    class Puppy(bound.Dog):
        pass

    with monkeypatch.context() as change:
        change.setattr(bound.Animal, "__new__", new, raising=False)  # also of Dog, which derives from it
        assert (bound.Dog("a", age=1).age, Puppy("b", 2).age, bound.Animal("c").name) == (1, 2, "c")
    assert made == [(bound.Dog, ("a",), {"age": 1}), (Puppy, ("b", 2), {}), (bound.Animal, ("c",), {})]
    written = bound.Dog.__init__
    with monkeypatch.context() as change:
        change.setattr(bound.Dog, "__init__", lambda self, *args, **kwargs: written(self, "by Python", 3))
        assert (bound.Dog("a", 1).name, bound.Dog(age=2).name, Puppy().name) == ("by Python",) * 3
    assert (bound.Dog("a", 1).name, len(made)) == ("a", 3)


@pytest.mark.skipif(not hasattr(_core, "class_call"), reason="type.__call__ makes the instances here")
@pytest.mark.thread_unsafe(reason="it changes a class that threads share")
def test_a_function_makes_the_instances_of_a_class(bound):
    calls = []

    def make(*args):
        calls.append(args)
        return bound.Animal("made") if args[:1] != (3,) else args[0]

    try:
        _core.class_call(bound.Dog, ffi_hpy.convert(make))
        assert (type(bound.Dog("a", 1)), calls) == (bound.Dog, [("a", 1)])
        with pytest.raises(TypeError, match="must return an object, it returned a value of type index 1"):
            bound.Dog(3)
    finally:
        _core.class_call(bound.Dog, None)
    assert (bound.Dog("a", 1).age, len(calls)) == (1, 2)
    for wrong in ((bound.Dog,), (bound.Dog, 3), (3, None)):
        with pytest.raises(TypeError, match="takes a class, and a Function, an Initializer or None"):
            _core.class_call(*wrong)


def test_a_class_without_a_constructor(bound):
    with pytest.raises(TypeError):
        bound.Engine()


def test_operators(bound):
    old, young = bound.Dog("old", 9), bound.Dog("young", 1)
    assert (young < old, old > young, old == bound.Dog("x", 9), old != young) == (True, True, True, True)
    assert (old == 9, old != "x", hash(old), len(old), old("sits")) == (False, True, 9, 3, "old sits")
    assert (old + 1).age == 10
    with pytest.raises(TypeError):
        _ = old + "x"
    with pytest.raises(TypeError):
        _ = old < 3


def test_none_is_a_null_pointer(bound):
    assert (bound.is_null(None), bound.is_null(bound.Dog("d")), bound.no_animal()) == (True, False, None)
    assert (bound.is_null_by_default(), bound.is_null_by_default(None)) == (True, True)
    for function in (bound.greet, bound.is_null_strict, bound.is_null_unnamed):
        with pytest.raises(TypeError):
            function(None)


@needs_identity
def test_policies_of_results(bound):
    rex = bound.rex()
    assert rex is bound.rex()
    assert rex is bound.rex_pointer()
    copy = bound.rex_copy()
    assert copy is not rex
    copy.age += 1
    assert copy.age == rex.age + 1
    assert type(bound.new_animal()) is bound.Dog  # the dynamic type
    assert type(bound.unique_animal()) is bound.Dog
    dog = bound.Dog("d", 1)
    assert dog.older() is dog
    assert (dog.older(years=3).age, dog.is_same(dog)) == (5, True)
    with pytest.raises(TypeError, match="rv_policy"):
        bound.copy_pinned()
    assert bound.Pinned().n == 1


@needs_identity
def test_a_part_keeps_the_whole(bound):
    line = bound.Line(bound.Point(1, 2), bound.Point(x=3))
    start = line.start
    start.x = 10
    assert line.start.x == 10
    assert line.start is start
    del line
    collect_garbage()
    assert (start.x, start.y) == (10, 2)
    whole = bound.Line(bound.Point(), bound.Point())
    whole.start = bound.Point(5, 6)
    assert whole.start.y == 6


def test_a_base_at_another_address(bound):
    car = bound.Car()
    assert (car.n, car.count(), car.power, bound.count_wheels(car)) == (4, 4, 90, 4)
    car.n = 3
    assert bound.count_wheels(car) == 3
    assert bound.Wide().is_aligned


def test_functions_have_the_name_of_their_module_by_which_pickle_finds_them(bound):
    for function, module, name in ((bound.add, "bound", "add"), (bound.inner.twice, "bound.inner", "twice")):
        assert (function.__module__, function.__name__, function.__qualname__) == (module, name, name)
        assert pickle.loads(pickle.dumps(function)) is function
    other = ffi_hpy.convert(len)
    assert (other.__module__, ffi_hpy.Function.__module__) == ("ffi_hpy", "ffi_hpy")
    assert other.__qualname__ == other.__name__
    assert pickle.loads(pickle.dumps(ffi_hpy.Function)) is ffi_hpy.Function


def test_attributes_and_weak_references(bound):
    point = bound.Point()
    point.label = "p"
    assert point.label == "p"
    assert weakref.ref(point)() is point
    if not (IS_PYPY or IS_OVER_CFFI):  # where all objects have weak references
        with pytest.raises(TypeError):
            weakref.ref(bound.Line(point, point))


@pytest.mark.thread_unsafe(reason="the library has one pointer for all threads")
@needs_identity
def test_holders(bound):
    dog = bound.shared_dog(4)
    assert bound.same_shared(dog) is dog
    mine = bound.Dog("mine", 2)
    assert bound.same_shared(mine) is mine
    assert bound.same_shared(None) is None
    bound.keep(mine)
    assert bound.kept() is mine
    bound.keep(None)


@pytest.mark.thread_unsafe(reason="the library has one pointer for all threads")
@needs_identity
def test_objects_end_with_their_last_owner(bound):
    collect_garbage()
    before = bound.n_alive()
    dogs = [bound.Dog("d"), bound.new_animal(), bound.unique_animal(), bound.shared_dog(1), bound.rex_copy()]
    assert bound.n_alive() == before + len(dogs)
    bound.keep(dogs[0])
    del dogs
    collect_garbage()
    assert bound.n_alive() == before + 1
    bound.keep(None)
    collect_garbage()
    assert bound.n_alive() == before


@needs_identity
def test_a_subclass_of_python_stays_itself(bound):
    class Puppy(bound.Dog):
        def __init__(self, name):
            super().__init__(name, 0)
            self.toys = ["ball"]

    puppy = Puppy("p")
    assert (puppy.toys, puppy.age, bound.greet(puppy), weakref.ref(puppy)() is puppy) == (["ball"], 0, "p: woof!", True)
    kennel = bound.Kennel()
    kennel.add(puppy)
    number = id(puppy)
    del puppy
    gc.collect()
    (back,) = kennel.dogs
    assert (type(back), back.toys, id(back)) == (Puppy, ["ball"], number)


@needs_identity
def test_other_languages_see_the_class(bound):
    info = bound.Dog.__tvm_ffi_type_info__
    assert (info.type_key, info.parent_type_info.type_key) == ("bound.Dog", "bound.Animal")
    assert [field.name for field in info.fields] == ["age", "double_age"]
    assert {"older", "puppy", "__ffi_init__"} <= {method.name for method in info.methods}
    dog = bound.Dog("d", 3)
    assert ffi_hpy.List([dog])[0] is dog
    getter = {field.name: field.getter for field in info.fields}
    with pytest.raises(TypeError, match="bound C\\+\\+ class"):

        @ffi_hpy.dataclasses.py_class(unique_name("test.Extended"))
        class Extended(bound.Dog):
            extra: int

    assert getter["double_age"](dog) == 6


def test_a_class_that_is_not_bound(bound):
    with pytest.raises(TypeError, match="incompatible"):
        bound.use_unbound(3)
    assert isinstance(bound.unbound(), bound.inner.Late)


# --- the standard library ---------------------------------------------------------------------------------------------


def test_containers_are_those_of_python(bound):
    for items in ([1, 2], (1, 2), {1: 0, 2: 0}.keys(), range(1, 3), (i for i in (1, 2)), ffi_hpy.Array([1, 2])):
        result = bound.vector(items)
        assert type(result) is list
        assert result == [1, 2, 7]
    assert bound.bools([True, False]) == [True, False]
    assert (bound.tuple((1, "a")), bound.tuple([1, "a"]), bound.empty_tuple()) == (("a", 2.5), ("a", 2.5), ())
    assert (bound.pair([1, 2]), type(bound.pair((1, 2)))) == ((2, 1), tuple)
    assert bound.map({"a": [1, 2]}) == {"a": [1, 2], "new": [1]}
    assert type(bound.map({})) is dict
    assert bound.hash_map({1: 2, 3: 4.5}) == {1: 2.0, 3: 4.5}
    assert (bound.set({1, 2}), bound.set([1])) == ({1, 2, 9}, {1, 9})
    assert bound.hash_set({"a", "b"}) == {"a", "b"}
    assert (bound.optional(None), bound.optional(3), bound.optional()) == (None, 3, None)
    assert [bound.variant(x) for x in (1, "x", 2.5, None)] == [1, "x", 2.5, None]
    assert bound.nested([[1], (2, 3)]) == [[1], [2, 3]]


@pytest.mark.parametrize("n", [0, 1, 16, 17, 1000])
def test_containers_of_all_sizes(bound, n):
    numbers = list(range(n))
    assert bound.vector(numbers) == bound.vector(tuple(numbers)) == [*numbers, 7]
    assert bound.set(set(numbers)) == {*numbers, 9}
    assert bound.hash_map(dict(zip(numbers, numbers))) == dict(zip(numbers, numbers))
    texts = bound.counted(n)
    assert texts == ["a text of 20 letters"] * n
    assert {type(text) for text in texts} <= {str}  # not a subclass


def test_containers_inside_of_containers(bound):
    result = bound.tuple_of_lists()
    assert result == ([1], {2: bound.Color.red})
    assert [type(result), *map(type, result)] == [tuple, list, dict]
    with pytest.raises(TypeError, match="unhashable"):
        bound.set_of_lists()


def test_any_iterable_and_any_mapping_is_an_argument(bound):
    class Numbers:
        def __iter__(self):
            return iter((1, 2))

    class Table(collections.UserDict):
        pass

    for items in (
        Numbers(),
        frozenset((1, 2)),
        collections.deque((1, 2)),
        ffi_hpy.List([1, 2]),
        bytearray(b"").split(),
        memoryview(b"ab"),
    ):
        assert bound.vector(items) == [*items, 7]
    for table in (Table({1: 2}), types.MappingProxyType({1: 2}), ffi_hpy.Map({1: 2}), ffi_hpy.Dict({1: 2})):
        assert bound.hash_map(table) == {1: 2.0}
        with pytest.raises(TypeError):
            bound.vector(table)

    class Fails:
        def __iter__(self):
            raise LookupError("mine")

    with pytest.raises(TypeError, match=r"Invoked with types: .*Fails\n\nReading an argument raised LookupError: mine"):
        bound.vector(Fails())


class Rows(collections.UserDict):
    """A mapping whose items() has the given rows."""

    def items(self):
        return self.data["rows"]


@pytest.mark.parametrize("rows", [[(1, 2, 3), (4, 5, 6)], ["ab", "cd"], [[1], [2]], [1, 2], [(1, 2), None]], ids=repr)
def test_items_that_are_not_pairs_are_not_a_mapping(bound, rows):
    with pytest.raises(TypeError, match=r"incompatible function arguments(?s:.*)Invoked with types: .*Rows"):
        bound.hash_map(Rows(rows=rows))
    assert bound.hash_map(Rows(rows=[(1, 2), [3, 4]])) == {1: 2.0, 3: 4.0}


def test_keys_stay_distinct(bound):
    assert bound.float_keys({0.5: 1, 0.25: 2}) == {0.5: 1, 0.25: 2}
    with pytest.raises(TypeError, match="raised ValueError: two keys of the mapping are one key"):
        bound.float_keys({0.1: 1, 0.1 + 1e-12: 2})


def test_a_list_that_changes_during_its_conversion(bound):
    items = [1, None, 3]

    class Shrinks:
        def __tvm_ffi_int__(self):
            items.clear()
            return 2

    items[1] = Shrinks()
    if CALLS_COPY_LISTS:
        assert bound.vector(items) == [1, 2, 3, 7]
        return
    with pytest.raises(IndexError):
        bound.vector(items)


def test_callables_get_containers_of_python(bound):
    seen = []

    def keep(*args):
        seen.extend(args)
        return ("x", "y")

    assert bound.give_containers(keep) == ["x", "y"]
    assert seen == [[1, 2], (3, True), {4}, {5: 6}]
    assert [type(value) for value in seen] == [list, tuple, set, dict]
    assert bound.give_containers(lambda *args: []) == []


def test_containers_pass_from_cpp_to_cpp(bound):
    assert bound.use_reverser(bound.reverser()) == [3, 2, 1]
    assert bound.reverser()([1], {2: 3}) == [3, 1]


@needs_identity
def test_objects_in_containers_stay_themselves(bound):
    dogs = [bound.Dog("a", 1), bound.Dog("b", 2)]
    assert all(found is dog for found, dog in zip(bound.same_dogs(dogs), dogs))
    colors = [bound.Color.red, bound.Color.blue]
    assert all(found is color for found, color in zip(bound.colors(colors), colors))


def test_containers_that_do_not_fit(bound):
    for wrong in ("ab", [1, "x"], 3, {1: 2}, None, [2**40], b"ab", [None]):
        with pytest.raises((TypeError, OverflowError)):
            bound.vector(wrong)
    for function, wrong in ((bound.tuple, (1,)), (bound.pair, (1, 2, 3)), (bound.map, {1: []}), (bound.map, [])):
        with pytest.raises(TypeError):
            function(wrong)


def test_containers_of_objects(bound):
    points = [bound.Point(1, 2), bound.Point(3, 4)]
    result = bound.points(points)
    assert [(p.x, p.y) for p in result] == [(1, 2), (3, 4), (7, 8)]
    bound.move_points(points)
    assert [p.x for p in points] == [2, 4]
    with pytest.raises(TypeError):
        bound.points([None])


def test_callables(bound):
    assert (bound.apply(lambda x: 2 * x, 4), bound.multiplier(3)(5), bound.apply(bound.multiplier(2), 4)) == (9, 15, 9)

    def fail(x):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        bound.apply(fail, 1)
    with pytest.raises(TypeError, match="expected int as the result of a callable"):
        bound.apply(lambda x: "text", 1)
    outside = rf"{2**31}, which is outside the range -{2**31} to {2**31 - 1}$"
    with pytest.raises(TypeError, match=rf"expected int as the result of a callable, but `result` is {outside}"):
        bound.apply(lambda x: 2**31, 1)
    with pytest.raises(TypeError, match=rf"expected list\[int\] as the .* but `result`\[1\] is {outside}"):
        bound.use_reverser(lambda numbers, names: [1, 2**31])
    with pytest.raises(TypeError):
        bound.apply(3, 1)


@needs_identity
def test_tools_for_nanobind_read_the_overloads_of_a_function(bound):
    assert bound.add.__nb_signature__ == (
        (r"def add(a: int, b: int = \0) -> int", "Adds numbers.", (1,)),
        (r"def add(a: str, b: str = \0) -> str", "Joins.", ("!",)),
    )
    ((_, _, (color,)),) = bound.next_color.__nb_signature__
    assert repr(color) == "Color.red"
    assert not hasattr(ffi_hpy.Function, "__nb_signature__")
    assert not hasattr(ffi_hpy.convert(len), "__nb_signature__")


class Twice:
    def __call__(self, x):
        return 2 * x


@pytest.mark.parametrize("function", [lambda x: 2 * x, (2).__mul__, functools.partial(operator.mul, 2), Twice()])
def test_a_callable_comes_back_from_cpp_as_itself(bound, function):
    assert bound.echo_callback(function) is function
    assert bound.apply(bound.echo_callback(function), 4) == 9


@pytest.mark.thread_unsafe(reason="the library has one pointer for all threads")
@needs_threads
def test_a_callable_lives_as_long_as_cpp_keeps_it(bound):
    function = Twice()
    known = weakref.ref(function)
    bound.set_callback(function)
    del function
    collect_garbage()
    assert bound.call_on_thread(4) == 8
    bound.set_callback(None)
    collect_garbage(lambda: known() is None)
    assert known() is None


@pytest.mark.skipif(not hasattr(sys, "getrefcount"), reason="the interpreter counts no references")
def test_a_call_leaves_the_reference_count_of_a_callable(bound):
    function = Twice()

    def use():
        assert bound.apply(function, 1) == 3
        assert bound.apply(lambda x: bound.apply(function, x), 1) == 4
        assert bound.echo_callback(function) is function

    use()
    before = sys.getrefcount(function)  # the cffi backend releases the last references in the next call
    for _ in range(20):  # more than functions wait for the next calls
        use()
    assert sys.getrefcount(function) == before


def test_a_function_of_cpp_comes_back_from_cpp_as_a_function(bound):
    assert isinstance(bound.echo_callback(bound.multiplier(3)), ffi_hpy.Function)
    assert bound.echo_callback(bound.multiplier(3))(5) == 15


@pytest.mark.thread_unsafe(reason="the library has one pointer for all threads")
@needs_threads
def test_a_callable_runs_on_a_thread_of_cpp(bound):
    seen = []
    bound.set_callback(lambda x: seen.append(threading.get_ident()) or x + 1)
    assert bound.call_on_thread(4) == 5
    assert seen[0] != threading.get_ident()
    bound.set_callback(None)


@needs_identity
@needs_threads
def test_threads_share_functions_and_objects(bound):
    dogs = [bound.Dog(f"d{i}", i) for i in range(8)]

    def work(i):
        for n in range(200):
            dog = dogs[(i + n) % 8]
            assert bound.same_shared(dog) is dog
            assert bound.add(i, b=n) == i + n
            assert bound.vector([n]) == [n, 7]
            assert bound.rex() is bound.rex()
            dog.name = f"d{n}"
        return True

    assert parallelize(work, 4) == [True] * 4


@needs_identity
@needs_threads
@pytest.mark.skipif(not IS_OVER_CFFI, reason="the binding in C does not mark objects")
def test_threads_that_find_an_object_at_once_share_its_wrapper(bound, monkeypatch):
    from ffi_hpy._pypy.object import objects

    let_wait = objects.let_wait
    found = []

    def find_first(wrapper):
        thread = threading.Thread(target=lambda: found.append(bound.rex()))
        thread.start()
        thread.join()
        let_wait(wrapper)

    collect_garbage()  # the wrapper of an earlier test
    monkeypatch.setattr(objects, "let_wait", find_first)
    assert bound.rex() is found[0] is bound.rex()
    assert len(found) == 1
