"""Methods of C++ classes that Python classes override."""

import sys
import threading
import weakref
from types import SimpleNamespace

import pytest
from support import IS_CFFI_ON_CPYTHON, IS_PYPY, collect_garbage, run_python
from support.native_build import PACKAGE, Missing, compile_cxx

import ffi_hpy

pytestmark = pytest.mark.skipif(not ffi_hpy._core.KEEPS_IDENTITY, reason="debug modes make a wrapper for each access")


@pytest.fixture(scope="module")
def library():
    """Path of the library compiled from native/overrides.cc."""
    try:
        return compile_cxx("overrides.cc", PACKAGE / "include")
    except Missing as reason:
        pytest.fail(str(reason), pytrace=False)


@pytest.fixture(scope="module")
def native(library):
    """The functions of native/overrides.cc, and classes for its types."""
    ffi_hpy.load_module(library)

    @ffi_hpy.register_object("overrides.Shape")
    class Shape(ffi_hpy.Object):
        pass

    @ffi_hpy.register_object("overrides.Square")
    class Square(Shape):
        def is_round(self):
            """In a registered class, for calls from Python only: its objects may come from C++."""
            return "never"

    names = [name for name in ffi_hpy.registry.list_global_func_names() if name.startswith("overrides.")]
    functions = {name.partition(".")[2]: ffi_hpy.get_global_func(name) for name in names}
    return SimpleNamespace(Shape=Shape, Square=Square, **functions)


def disc_class(native):
    """Make a Python class that overrides some methods. Each caller changes its own class."""

    class Disc(native.Shape):
        __slots__ = ("__dict__",)

        def area(self):
            return 3 * self.size**2

        def describe(self, full, numbers):
            return f"{type(self).__name__} {full} {list(numbers)} {super().describe(full, numbers)}"

        def grow(self, by):
            self.grown = by
            super().grow(by * 10)

        def corners(self):
            return 0

    return Disc


# --- calls ------------------------------------------------------------------------------------------------------------


def test_cpp_calls_the_method_of_the_python_object(native):
    Disc = disc_class(native)
    seen = []

    class Seen(Disc):
        def area(self):
            seen.append(self)
            return super().area() + 1

    disc = Seen(2)
    assert native.area(disc) == 13.0
    assert seen[0] is disc
    assert native.total([disc, native.Shape(1), native.Square(3), Disc(1)]) == 13 + 0.5 + 9 + 3


def test_super_calls_the_implementation_in_cpp_which_calls_overrides_of_other_methods(native):
    Disc = disc_class(native)
    assert native.describe(Disc(1), True, [1, 2]) == f"Disc True [1, 2] full 2 of {3:f}"


def test_a_method_may_change_the_object_and_return_nothing(native):
    Disc = disc_class(native)
    disc = Disc(1)
    assert native.grow(disc, 2) is None
    assert (disc.size, disc.grown) == (21, 2)


def test_objects_without_override_use_the_implementation_of_their_cpp_class(native):
    class Same(native.Square):
        def other(self):
            return "other"

    for square in (native.Square(3), native.make_square(3), Same(3)):
        assert (native.area(square), native.corners(square), native.is_round(square)) == (9.0, 4, False)
    assert native.area(native.make_tile(3)) == -1


def test_a_class_of_cpp_inherits_overridable_methods(native):
    class Round(native.Square):
        def is_round(self):
            return True

        def area(self):
            return -super().area()

    assert (native.is_round(Round(3)), native.area(Round(3)), native.corners(Round(3))) == (True, -9.0, 4)


def test_several_levels_of_python_classes_and_bases_that_are_not_objects(native):

    Disc = disc_class(native)

    class Mixin:
        def corners(self):
            return super().corners() + 5

    class Below(Mixin, Disc):
        def area(self):
            return super().area() / 2

    class Lowest(Below):
        pass

    lowest = Lowest(2)
    assert (native.area(lowest), native.corners(lowest)) == (6.0, 5)
    Mixin.area = lambda self: super(Mixin, self).area() + 100
    del Below.area
    assert native.area(lowest) == 112


def test_a_method_of_the_registered_class_is_not_an_override(native):
    square = native.Square(1)
    assert (square.is_round(), native.is_round(square)) == ("never", False)


def test_static_and_class_methods_override(native):
    class Static(native.Shape):
        @staticmethod
        def area():
            return 7

        @classmethod
        def corners(cls):
            return len(cls.__name__)

    assert (native.area(Static(1)), native.corners(Static(1))) == (7.0, 6)


# --- changes of the class ---------------------------------------------------------------------------------------------


def test_a_method_that_the_class_gets_or_loses_later_counts_for_existing_objects(native):
    Disc = disc_class(native)

    class Below(Disc):
        pass

    disc, below, plain = Disc(1), Below(1), native.Shape(1)
    original = Disc.area
    Disc.area = lambda self: 8
    assert (native.area(disc), native.area(below), native.area(plain)) == (8, 8, 0.5)
    Below.area = original
    assert (native.area(disc), native.area(below)) == (8, 3)
    del Below.area, Disc.area
    assert (native.area(disc), native.area(below)) == (0.5, 0.5)
    Disc.area = original
    assert (native.area(disc), native.area(below)) == (3, 3)


def test_the_first_override_may_come_after_the_first_object(native):
    class Empty(native.Shape):
        pass

    empty = Empty(1)
    assert native.area(empty) == 0.5
    Empty.area = lambda self: 6
    assert native.area(empty) == 6


def test_a_class_is_asked_for_overrides_once_until_it_changes(native):
    asked = []

    class Asked(type(native.Shape)):
        def __getattribute__(cls, name):
            asked.append(name)
            return super().__getattribute__(name)

    class Disc(native.Shape, metaclass=Asked):
        def area(self):
            return 3

    disc = Disc(1)
    assert "__mro__" in asked
    asked.clear()
    for _ in range(1000):
        assert native.area(disc) == 3  # overridden
        native.grow(disc, 0)
    assert asked == []
    Disc.grow = lambda self, by: None
    assert "__mro__" in asked


# --- conversion and errors --------------------------------------------------------------------------------------------


def test_a_result_that_does_not_convert_is_an_error_that_names_the_method(native):
    class Wrong(native.Shape):
        value = "text"

        def area(self):
            return self.value

        corners = area

    message = r"return value when calling: `.*Wrong\.area`. Expected `float` but got `str`"
    with pytest.raises(TypeError, match=message):
        native.area(Wrong(1))
    Wrong.value = 2**40
    with pytest.raises(
        OverflowError, match=r"return value when calling: `.*Wrong\.corners`. Expected `int` but got 1099511627776"
    ):
        native.corners(Wrong(1))
    Wrong.value = True
    assert (native.area(Wrong(1)), native.corners(Wrong(1))) == (1.0, 1)


def test_an_override_with_other_parameters_raises_its_type_error(native):
    class Wrong(native.Shape):
        def describe(self, full):
            return ""

    with pytest.raises(TypeError, match=r"describe\(\) takes 2 positional arguments but 3 were given"):
        native.describe(Wrong(1), True, [])


def test_values_of_any_type_pass_unchanged(native):
    class Echo(native.Shape):
        def anything(self, value):
            return [value, self]

    echo = Echo(1)
    got = native.anything(echo, echo)
    assert got[0] is echo
    assert got[1] is echo
    assert native.anything(native.Shape(1), 5) == 5


def test_the_exception_of_an_override_reaches_the_caller_unchanged(native):
    Disc = disc_class(native)

    class Stop(BaseException):
        pass

    raised = Stop("here")

    def area(self):
        raise raised

    Disc.area = area
    with pytest.raises(Stop) as caught:
        native.total([Disc(1)])
    assert caught.value is raised


def test_a_pure_virtual_method_without_override_names_class_and_method(native):
    class Open(native.Shape):
        def area(self):
            return 1

    message = r"`(.*Open|overrides\.Shape)` does not implement the pure virtual method `corners`"
    for shape in (native.Shape(1), Open(1)):
        with pytest.raises(NotImplementedError, match=message):
            native.corners(shape)
        with pytest.raises(NotImplementedError, match=message):
            shape.corners()


def test_a_name_that_is_not_declared_is_an_error_of_the_author(native):
    Disc = disc_class(native)
    with pytest.raises(RuntimeError, match=r"`overrides\.Shape\.aera` is not registered as overridable"):
        native.misspelt(Disc(1))
    for shape, area in ((native.Shape(1), 0.5), (native.make_square(3), 9)):
        assert native.misspelt(shape) == area  # not of a class of Python: C++ does not look the name up


def test_endless_recursion_is_an_error(native):
    class Endless(native.Shape):
        def area(self):
            return native.area(self)

    with pytest.raises(RecursionError):
        native.area(Endless(1))


# --- life of the object -----------------------------------------------------------------------------------------------


def test_an_override_is_found_while_only_cpp_holds_the_object(native):
    Disc = disc_class(native)
    held = ffi_hpy.Array([Disc(2), native.Shape(2)])
    held[0].name = "first"
    collect_garbage()
    assert native.total(held) == 12.5
    assert native.area_on_thread(held[0]) == 12
    assert type(held[0]) is Disc
    assert held[0].name == "first"


@pytest.mark.skipif(IS_CFFI_ON_CPYTHON, reason="cffi attaches to an interpreter that has ended, and crashes")
@pytest.mark.parametrize("way", ["at_exit", "at_exit_on_thread"])
def test_a_call_after_the_interpreter_began_to_exit_is_an_error(library, way):
    program = """
import sys, ffi_hpy
ffi_hpy.load_module(sys.argv[1])
@ffi_hpy.register_object("overrides.Shape")
class Shape(ffi_hpy.Object):
    pass
class Own(Shape):
    def area(self):
        return 1
ffi_hpy.get_global_func("overrides." + sys.argv[2])(Own(1))
"""
    refused = "RuntimeError: a Python callback was called after the interpreter began to exit\n"
    runs_at_exit = "1\n"  # PyPy runs Python code until the process ends
    assert run_python(program, library, way) == (runs_at_exit if IS_PYPY else refused)


def test_a_constructor_calls_the_implementation_in_cpp(native):
    Disc = disc_class(native)
    assert Disc(1).area_at_construction == 0.5


def test_a_call_during_destruction_is_an_error(native):
    class Last(native.Shape):
        def area(self):
            return 1

    Last(-1)
    collect_garbage()
    assert "Last.area` was called during the destruction of its object" in native.last_words()
    native.Shape(-1)
    collect_garbage()
    assert native.last_words() == f"{0.5:f}"


def test_a_copy_made_by_cpp_is_not_of_the_python_class(native):
    Disc = disc_class(native)
    disc = Disc(2)
    other = native.copy(disc)
    assert type(other) is native.Shape
    assert native.area(other) == 0.5
    assert native.area(disc) == 12


def test_an_object_that_is_moved_to_another_wrapper_follows_the_wrapper(native):
    Disc = disc_class(native)
    disc, plain, other = Disc(2), native.Shape.__new__(native.Shape), Disc.__new__(Disc)
    plain.__move_handle_from__(disc)
    assert native.area(plain) == 0.5
    other.__move_handle_from__(plain)
    assert native.area(other) == 12
    other.__move_handle_from__(native.Shape(1))
    assert native.area(other) == 3


def test_a_constructor_that_python_chooses_makes_an_object_of_the_class(native):
    make_square = native.make_square

    class Chosen(native.Square):
        def __init__(self, size):
            self.__init_handle_by_constructor__(make_square, size)

        def is_round(self):
            return True

    assert native.is_round(Chosen(1)) is True


def test_classes_and_objects_end(native):
    if sys.version_info[:2] == (3, 13) and not getattr(sys, "_is_gil_enabled", lambda: True)():
        pytest.skip("3.13 without the GIL makes classes immortal when a second thread starts")

    class Ends(native.Shape):
        __slots__ = ("__weakref__",)

        def area(self):
            return super().area()

    assert native.area(Ends(1)) == 0.5
    watch = weakref.ref(Ends)
    del Ends
    collect_garbage(lambda: watch() is None)
    assert watch() is None


# --- threads ----------------------------------------------------------------------------------------------------------


def test_a_thread_that_python_does_not_know_calls_an_override(native):
    Disc = disc_class(native)

    def area(self):
        raise KeyError("on a thread")

    assert native.area_on_thread(Disc(1)) == 3
    Disc.area = area
    assert native.area_on_thread(Disc(1)) == "KeyError: 'on a thread'"


def test_threads_call_while_the_class_changes(native):
    class Shared(native.Shape):
        pass

    shapes, wrong = [Shared(1) for _ in range(10)], []

    def call():
        for _ in range(200):
            areas = {native.area(shape) for shape in [*shapes, Shared(1)]}
            if not areas <= {0.5, 9.0}:
                wrong.append(areas)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        Shared.area = lambda self: 9
        del Shared.area
    for thread in threads:
        thread.join()
    assert not wrong
    assert native.area(shapes[0]) == 0.5
