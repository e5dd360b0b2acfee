"""Virtual functions of bound classes that classes of Python override: ffi_hpy/trampoline.h."""

from __future__ import annotations

import sys
import weakref
from pathlib import Path

import pytest
from support import (
    IS_CFFI_ON_CPYTHON,
    IS_PYPY,
    collect_garbage,
    needs_identity,
    needs_one_wrapper,
    needs_threads,
    parallelize,
    run_python,
)

from ffi_hpy import _core

pytestmark = [needs_one_wrapper, needs_identity]


@pytest.fixture(scope="module")
def bound(import_bound):
    """The module of bound_classes.cc."""
    return import_bound("bound_classes")


def test_cpp_calls_the_override(bound):
    class Dachshund(bound.Animal):
        def name(self):
            return "Dachshund"

        def what(self):
            return "yap"

    dog = Dachshund()
    assert [bound.go(dog) for _ in range(3)] == ["Dachshund says yap"] * 3
    assert (dog.name(), dog.what(), bound.Animal.name(dog)) == ("Dachshund", "yap", "Animal")
    assert bound.self_of(dog) is dog


def test_the_base_is_called_without_an_override(bound):
    class Plain(bound.Dog):
        pass

    assert (bound.go(Plain("woof")), bound.go(bound.Dog("wau")), bound.go(bound.Cat())) == (
        "Dog says woof",
        "Dog says wau",
        "Animal says meow",
    )


@pytest.mark.skipif(not hasattr(_core, "init_method") or not _core.HAS_EXTENSION, reason="Python code makes objects")
@pytest.mark.thread_unsafe(reason="calls are counted")
def test_no_code_of_the_package_makes_further_objects_of_a_class(bound):
    class Loud(bound.Dog):
        def __init__(self, sound):
            super().__init__(sound + "!")

    class Quiet(bound.Cat):
        pass

    class Louder(Loud):
        pass

    names, made = set(), [Loud("woof"), Quiet(), Louder("wau")]
    sys.setprofile(lambda frame, event, argument: names.add(frame.f_code.co_name))
    try:
        made += [Loud("woof"), Quiet(), Louder("wau")]
    finally:
        sys.setprofile(None)
    assert names == {"__init__", test_no_code_of_the_package_makes_further_objects_of_a_class.__name__}
    assert [bound.go(each) for each in made] == [
        "Dog says woof!",
        "Animal says meow",
        "Dog says wau!",
    ] * 2


def test_further_objects_of_a_class_have_its_overrides(bound):
    def make_class(name):
        return type("Named", (bound.Dog,), {"name": lambda self: name})

    for i in range(20):  # classes that end, and other classes in their memory
        cls = make_class(str(i))
        below = type("Below", (cls,), {"what": lambda self: "wau"})
        for _ in range(3):
            assert bound.go(cls("woof")) == f"{i} says woof"
            assert bound.go(below("woof")) == f"{i} says wau"
        cls.name = lambda self: "later"
        assert (bound.go(cls("woof")), bound.go(below("woof"))) == ("later says woof", "later says wau")
        del cls.name
        assert bound.go(cls("woof")) == "Dog says woof"


def test_further_objects_of_a_class_are_checked(bound):
    class Loud(bound.Dog):
        pass

    assert [Loud("woof").what() for _ in range(3)] == ["woof"] * 3
    dog = Loud("woof")
    with pytest.raises(TypeError, match="not supported"):
        bound.Animal.__init__(dog)
    for wrong in ((), (1,), ("a", "b")):
        with pytest.raises(TypeError):
            Loud(*wrong)
    assert (dog.what(), Loud("yap").what()) == ("woof", "yap")
    with pytest.raises(TypeError):
        bound.Dog.__init__(3, "woof")
    with pytest.raises(TypeError):
        bound.Dog.__init__()


def test_super_calls_the_base(bound):
    class Loud(bound.Dog):
        def name(self):
            return super().name() + "!"

        def what(self):
            return bound.name_of(self) + super().what()

    class Louder(Loud):
        def name(self):
            return super().name() + "!"

    loud, louder = Loud("woof"), Louder("wau")
    assert (bound.name_of(loud), loud.name(), bound.name_of(louder)) == ("Dog!", "Dog!", "Dog!!")
    assert bound.go(louder) == "Dog!! says Dog!!wau"


def test_an_override_of_another_name_and_one_called_by_the_base(bound):
    class Adder(bound.Animal):
        def plus(self, a, b):
            return super().plus(a, b) + 100

        def twice(self, x):
            return super().twice(x) + 1000

    adder = Adder()
    assert (bound.add(adder, 1, 2), bound.twice(adder, 3)) == (103, 1106)
    assert (adder.plus(1, 2), adder.twice(3), bound.Animal.twice(adder, 3)) == (103, 1106, 106)


def test_a_pure_function_needs_an_override(bound):
    class Incomplete(bound.Animal):
        pass

    with pytest.raises(RuntimeError, match=r"Incomplete::what\(\)'\): tried to call a pure virtual function!"):
        bound.go(Incomplete())
    with pytest.raises(RuntimeError, match=r"bound_classes.Animal::what\(\)"):
        bound.go(bound.Animal())
    with pytest.raises(RuntimeError, match=r"Incomplete::what\(\)"):
        Incomplete().what()


def test_the_exception_of_an_override_passes_through_cpp(bound):
    class Failing(bound.Dog):
        def name(self):
            raise LookupError("mine")

        def what(self):
            return 3

    failing = Failing("x")
    for _ in range(2):
        with pytest.raises(LookupError, match="mine"):
            bound.name_of(failing)
    Failing.name = lambda self: "n"
    with pytest.raises(RuntimeError, match="bad_cast"):
        bound.go(failing)


def test_a_change_of_the_class_counts_at_once(bound):
    class Changing(bound.Dog):
        pass

    class Below(Changing):
        pass

    dogs = [Changing("a"), Below("b")]
    assert [bound.name_of(dog) for dog in dogs] == ["Dog", "Dog"]
    Changing.name = lambda self: "new"
    assert [bound.name_of(dog) for dog in dogs] == ["new", "new"]
    Below.name = lambda self: "below"
    assert [bound.name_of(dog) for dog in dogs] == ["new", "below"]
    del Changing.name, Below.name
    assert [bound.name_of(dog) for dog in dogs] == ["Dog", "Dog"]


def test_a_class_is_asked_for_an_override_once_until_it_changes(bound):
    asked = []

    class Asked(type(bound.Dog)):
        def __getattribute__(cls, name):
            asked.append(name)
            return super().__getattribute__(name)

    class Puppy(bound.Dog, metaclass=Asked):
        def name(self):
            return "Puppy"

    puppy = Puppy("x")
    asked.clear()
    assert bound.go(puppy) == "Puppy says x"
    assert asked.count("__mro__") == 2  # for `name`, which is overridden, and for `what`
    asked.clear()
    for _ in range(1000):
        assert bound.go(puppy) == "Puppy says x"
    assert asked == []
    Puppy.what = lambda self: "y"
    assert bound.go(puppy) == "Puppy says y"
    assert "__mro__" in asked


@pytest.mark.thread_unsafe(reason="it replaces a method of a class")
def test_a_replaced_method_of_the_bound_class_is_not_an_override(bound):
    class Rufus(bound.Dog):
        def name(self):
            return "Rufus"

    plain, rufus, old = bound.Dog("w"), Rufus("w"), bound.Dog.name
    try:
        bound.Dog.name = lambda self: "Max"
        assert (bound.name_of(plain), bound.name_of(rufus)) == ("Dog", "Rufus")
    finally:
        del bound.Dog.name
    assert bound.Animal.name is old


def test_a_mixin_overrides(bound):
    class Mixin:
        def name(self):
            return "mixed"

    class Mixed(Mixin, bound.Dog):
        pass

    class Unrelated:
        pass

    class Other(Unrelated, bound.Dog):
        pass

    assert (bound.name_of(Mixed("x")), bound.name_of(Other("x"))) == ("mixed", "Dog")
    Unrelated.name = lambda self: "late"
    assert bound.name_of(Other("x")) == "late"


@pytest.mark.thread_unsafe(reason="other threads keep objects alive for a while")
def test_classes_end_with_their_last_object(bound):
    if sys.version_info[:2] == (3, 13) and not getattr(sys, "_is_gil_enabled", lambda: True)():
        pytest.skip("3.13 without the GIL makes classes immortal when a second thread starts")

    def make():
        class Short(bound.Dog):
            def name(self):
                return "short"

        assert bound.name_of(Short("x")) == "short"
        return weakref.ref(Short)

    classes = [make() for _ in range(5)]
    collect_garbage(lambda: [cls() for cls in classes].count(None) >= 4)
    assert [cls() for cls in classes].count(None) >= 4


@needs_threads
def test_overrides_run_on_any_thread(bound):
    class Puppy(bound.Dog):
        def name(self):
            return "Puppy" + super().name()

    dog = Puppy("x")
    assert bound.go_on_thread(dog) == "PuppyDog"

    def work(_):
        return {bound.name_of(dog) for _ in range(200)} == {"PuppyDog"}

    assert parallelize(work, 4) == [True] * 4


# --- the end ----------------------------------------------------------------------------------------------------------


def test_during_destruction_the_implementation_in_cpp_is_called(bound):
    class Brief(bound.Animal):
        def name(self):
            return "Brief"

        def what(self):
            return "brief"

    brief = Brief()
    assert bound.go(brief) == "Brief says brief"
    collect_garbage()
    bound.last_words()  # of animals that other tests have left
    words = []
    del brief
    collect_garbage(lambda: words.append(bound.last_words()) or words[-1] != "")
    assert words[-1].startswith("Animal; override('bound_classes.Animal::what()'): tried to call a pure virtual")


AT_EXIT = """
import sys
sys.path.insert(0, sys.argv[1])
import bound_classes

class Late(bound_classes.Animal):
    def name(self):
        return "Late"

getattr(bound_classes, sys.argv[2])(Late())
"""


@pytest.mark.skipif(IS_CFFI_ON_CPYTHON, reason="cffi attaches to an interpreter that has ended, and crashes")
@pytest.mark.parametrize("way", ["use_at_exit", "use_at_exit_on_thread"])
def test_a_call_after_the_interpreter_began_to_exit_is_an_error(bound, way):
    refused = "RuntimeError: a Python callback was called after the interpreter began to exit\n"
    runs_at_exit = "Late\n"  # PyPy runs Python code until the process ends
    assert run_python(AT_EXIT, Path(bound.__file__).parent, way) == (runs_at_exit if IS_PYPY else refused)
