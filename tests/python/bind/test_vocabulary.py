"""Names of nanobind's API: objects by hand, frozen and generic classes, enums of strings, warnings of mistakes."""

from __future__ import annotations

import enum
import os
import pydoc
import subprocess
import sys
import types
import warnings
from pathlib import Path

import pytest
from support import collect_garbage, needs_identity, needs_one_wrapper

pytestmark = [
    needs_one_wrapper,
    needs_identity,
    pytest.mark.thread_unsafe(reason="the library counts the objects of all threads"),
]


@pytest.fixture
def bound(import_bound):
    """The module of bound_vocabulary.cc. A test leaves no value behind."""
    module = import_bound("bound_vocabulary")
    collect_garbage(lambda: module.alive() == 0)
    assert module.alive() == 0
    yield module
    collect_garbage(lambda: module.alive() == 0)
    assert module.alive() == 0


# --- objects by hand --------------------------------------------------------------------------------------------------


def test_an_object_refers_to_a_part_and_keeps_the_whole(bound):
    pair = bound.Pair()
    part = bound.reference(pair, pair)
    assert (part.n, bound.state(part)) == (2, (True, False, "bound_vocabulary.Value"))
    del pair
    collect_garbage()
    assert (part.n, bound.alive()) == (2, 2)


def test_an_object_owns_a_value_that_new_has_made(bound):
    taken = bound.take()
    assert (taken.n, bound.state(taken)[:2], bound.alive()) == (7, (True, True), 1)


def test_a_value_is_destroyed_and_another_replaces_it(bound):
    for make in (lambda: bound.Value(1), bound.take):
        value = make()
        bound.destruct(value)
        assert (bound.alive(), bound.state(value)[:2]) == (0, (False, False))
        with pytest.warns(RuntimeWarning, match="instance of type 'bound_vocabulary.Value'"), pytest.raises(TypeError):
            _ = value.n
        bound.destruct(value)
        other = bound.Value(5)
        bound.destruct_and_move(value, other)
        assert (value.n, other.n, bound.state(value)[:2]) == (5, 0, (True, True))
        bound.copy(other, value)
        bound.copy(other, other)
        assert (other.n, bound.alive()) == (5, 2)
        del other
        collect_garbage()
        assert bound.alive() == 1
        bound.zero(value)
        assert value.n == 0
        del value
        collect_garbage()


def test_the_state_of_a_value(bound):
    value = bound.Value(1)
    bound.set_state(value, True, False)
    assert bound.state(value)[:2] == (True, False)
    bound.set_state(value, False, False)
    assert bound.state(value)[:2] == (False, False)
    bound.set_state(value, True, True)
    assert (value.n, bound.state(value)[:2]) == (1, (True, True))
    part = bound.Pair().first
    for change in (lambda: bound.destruct(part), lambda: bound.set_state(part, True, True)):
        with pytest.raises(RuntimeError, match="belongs to another object"):
            change()
    assert part.n == 1


def test_attributes_and_entries(bound):
    class Open(bound.Value):
        pass

    value = Open(1)
    value.extra = 2
    assert bound.attributes(value) == {"extra": 2}
    if sys.implementation.name != "pypy":
        assert (bound.attributes(bound.Value(1)), bound.attributes(3)) == (None, None)
    assert isinstance(bound.entry(Open, "n"), type(vars(bound.Value)["n"]))
    assert (bound.entry(Open, "__name__"), bound.entry(Open, "missing")) == (None, None)


# --- classes ----------------------------------------------------------------------------------------------------------


def test_the_dict_of_a_class_changes_the_class(bound):
    class Derived(bound.Value):
        own = 1

    entries = bound.class_dict(Derived)
    assert isinstance(entries, dict)
    assert (entries["own"], entries.get("n"), entries["__module__"]) == (1, None, __name__)
    bound.set_in_class_dict(Derived, "set", [2])
    assert (Derived.set, Derived.more, Derived(1).set) == ([2], [2], [2])
    assert bound.class_dict(Derived)["set"] is Derived.set
    entries.update(own=3)
    entries |= {"also": 4}
    assert (entries.setdefault("later", 5), entries.pop("also"), Derived.own, Derived.later) == (5, 4, 3, 5)
    del entries["later"]
    assert not hasattr(Derived, "also")
    assert not hasattr(Derived, "later")
    assert "later" not in entries
    with pytest.raises(KeyError):
        del entries["missing"]
    with pytest.raises(TypeError, match=r"immutable type 'bound_vocabulary\.Frozen'"):
        bound.set_in_class_dict(bound.Frozen, "set", 1)
    assert "set" not in bound.class_dict(bound.Frozen)


def test_a_frozen_class(bound):
    for change in (lambda: setattr(bound.Frozen, "extra", 1), lambda: delattr(bound.Frozen, "__init__")):
        with pytest.raises(TypeError, match=r"immutable type 'bound_vocabulary\.Frozen'"):
            change()
    assert type(bound.Frozen()) is bound.Frozen
    assert not isinstance(object(), bound.Frozen)
    assert not issubclass(int, bound.Frozen)

    class Open(bound.Frozen):
        extra = 1

    Open.extra = 2
    assert (Open().extra, bound.freeze(int)) == (2, False)
    assert bound.freeze(bound.FrozenToo) is True
    with pytest.raises(TypeError, match=r"mutable base 'bound_vocabulary\.Value'"):
        bound.freeze(bound.Converted)


def test_a_generic_class(bound):
    assert isinstance(bound.Generic[int], types.GenericAlias)
    assert (bound.Generic[int].__origin__, bound.Generic[int].__args__) == (bound.Generic, (int,))


def test_a_class_without_a_destructor(bound):
    assert bound.endless() is bound.endless()


def test_a_private_trampoline(bound):
    class Loud(bound.Speaker):
        def speak(self):
            return "!" + super().speak()

    assert (bound.speak(Loud()), bound.speak(bound.Speaker())) == ("!...", "...")


def test_an_operator_returns_the_class(bound):
    number = bound.Number(2) + bound.Number(3)
    assert (type(number), number.n, (-number).n) == (bound.Number, 5, -5)


def test_keep_alive_keeps_the_converted_argument(bound):
    value = bound.Value(5)
    result = bound.converted(value)
    assert (result.n, bound.alive()) == (106, 3)
    del value
    collect_garbage()
    assert bound.alive() == 2
    del result
    collect_garbage()
    assert bound.alive() == 0


def test_a_cast_never_refers_to_a_converted_object(bound):
    assert bound.cast_converted(bound.Value(5)) == (6, False, False)
    converted = bound.Converted(bound.Value(5))
    assert bound.cast_converted(converted) == (6, True, True)


def test_a_class_that_is_bound_twice(bound):
    with pytest.warns(RuntimeWarning, match="type 'Again' was already registered") as seen:
        bound.bind_again(bound)
    assert seen[0].filename == __file__
    assert bound.Again is bound.Value
    assert (bound.Value(4).n, bound.Value(4).twice()) == (4, 8)


def test_a_value_that_cpp_shares(bound):
    bound.share()
    first = bound.shared()
    assert (first.count(), bound.state(first)[:2]) == (2, (True, False))
    bound.unshare()
    assert first.count() == 1


def test_a_failing_conversion_is_reported(bound, capfd):
    with pytest.raises(TypeError):
        bound.converted(object())
    assert capfd.readouterr().err == ""
    bound.warn_of_conversions(False)
    bound.warn_of_conversions(True)
    value = bound.Value(1)
    bound.destruct(value)
    with pytest.warns(RuntimeWarning), pytest.raises(TypeError):
        bound.converted(value)


# --- properties -------------------------------------------------------------------------------------------------------


def test_further_arguments_of_properties(bound):
    box = bound.Box()
    value = box.value = bound.Value(3)
    assert box.value is value
    box.value = None
    assert box.value is None
    box.n = 4
    assert (box.n, pydoc.getdoc(bound.Box.n)) == (4, "The number.")
    with pytest.raises(TypeError):
        box.n = 2.5


# --- enums ------------------------------------------------------------------------------------------------------------


def test_an_enum_of_strings(bound):
    mode = bound.Mode
    assert issubclass(mode, str)
    assert issubclass(mode, enum.Enum)
    assert [(each.name, each.value, each.__doc__) for each in mode] == [
        *(("read", "r", None), ("write", "w", "Changes the file.")),
    ]
    assert (mode.read == "r", mode("w") is mode.write, repr(mode.read), str(mode.write)) == (
        *(True, True, "Mode.read", "Mode.write"),
    )
    assert (bound.mode(mode.read), bound.mode(mode.write), bound.mode("w")) == (0, 1, 1)
    assert bound.to_mode(1) is mode.write
    for wrong in ("x", 0, None, bound.Color.red):
        with pytest.raises(TypeError):
            bound.mode(wrong)
    with pytest.raises(ValueError, match="99 is not a valid Mode"):
        bound.to_mode(99)


def test_members_and_their_numbers(bound):
    color = bound.Color
    assert (repr(color.red), str(color.green), color.blue.__name__, color.__name__) == (
        *("Color.red", "Color.green", "blue", "Color"),
    )
    assert (bound.color(4), bound.color(color.red), bound.exact_color(color.red)) == (4, 1, 1)
    for call, wrong in ((bound.color, 3), (bound.color, 2.0), (bound.exact_color, 1), (bound.color, bound.Mode.read)):
        with pytest.raises(TypeError):
            call(wrong)
    both = bound.Access.read | bound.Access.write
    assert (repr(both), str(bound.Access.read)) in (("Access.read|write", "Access.read"),)
    assert (bound.access(both), bound.access(3)) == (3, 3)
    with pytest.raises(TypeError):
        bound.access(8)


def test_without_conversions_a_member_is_not_its_text(bound):
    mode = bound.Mode
    assert (bound.exact_mode(mode.read), bound.exact_mode(mode=mode.write), bound.exact_mode()) == (0, 1, 1)
    assert bound.exact_modes([mode.read, mode.write]) == 2
    for wrong in ("r", 0, bound.Color.red, None):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            bound.exact_mode(wrong)


def test_without_conversions_a_float_is_not_of_a_derived_class(bound):
    class Float(float):
        pass

    assert bound.exact_float(1.5) == 1.5
    for wrong in (Float(1.5), 1, True):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            bound.exact_float(wrong)


# --- arguments --------------------------------------------------------------------------------------------------------


def test_the_object_of_a_constructor_may_be_named(bound):
    value = bound.Named.__new__(bound.Named)
    bound.Named.__init__(self=value, number=4)
    assert value.number == 4
    for arguments in ({"number": 4}, {}):
        with pytest.raises(TypeError, match="needs an object to be called on"):
            bound.Named.__init__(**arguments)


def test_a_name_with_a_lone_surrogate_is_refused_as_any_other_name(bound):
    with pytest.raises(TypeError, match=r"kwargs = \{ \?: int \}"):
        bound.color(**{"\udc80": 1})


def test_a_mapping_whose_items_are_not_pairs_does_not_fit(bound):
    class Table(dict):
        def items(self):
            return [1, 2]

    assert bound.sum_of_map({"a": 1, "b": 2}) == 3
    with pytest.raises(TypeError, match="incompatible function arguments"):
        bound.sum_of_map(Table(a=1))


# --- errors -----------------------------------------------------------------------------------------------------------


def test_a_cast_of_a_class_that_is_not_bound_is_an_error_of_casts(bound):
    assert bound.cast_unbound(True) == "std::bad_cast"
    with pytest.raises(RuntimeError, match=r"^std::bad_cast$") as caught:
        bound.cast_unbound(False)
    assert isinstance(caught.value.__cause__, TypeError)
    assert "` is not bound" in str(caught.value.__cause__)


def test_the_text_of_an_error(bound):
    def fail():
        raise ValueError("bad")

    class Silent(Exception):
        def __str__(self):
            raise RuntimeError

    def fail_silently():
        raise Silent

    text = bound.text_of_error(fail)
    assert text.startswith("Traceback (most recent call last):\n")
    assert text.endswith("ValueError: bad")
    assert 'in fail\n    raise ValueError("bad")' in text
    assert "Silent" in bound.text_of_error(fail_silently)


def test_the_text_of_an_error_marks_letters_that_utf_8_cannot_encode(bound):
    code = compile("def f():\n raise ValueError('bad')\nf()", "odd\udc80.py", "exec")
    text = bound.text_of_error(lambda: exec(code, {}))
    assert "odd<unencodable 0xdc80>.py" in text
    assert text.endswith("ValueError: bad")


def test_a_pending_error_is_kept_in_a_scope(bound):
    seen = []
    with pytest.raises(KeyError, match="kept"):
        bound.error_in_scope(lambda: seen.append(1))
    with pytest.raises(ZeroDivisionError):
        bound.error_in_scope(lambda: 1 / 0)
    assert seen == [1]


def test_a_warning_that_is_an_error_is_reported(bound, monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda info: seen.append(info.exc_type))
    value = bound.Value(1)
    bound.destruct(value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError, match="incompatible"):
            _ = value.n
    assert seen == [RuntimeWarning]


def test_the_end_of_python(bound):
    assert bound.is_alive() is True
    folder = str(Path(bound.__file__).parent)
    code = f"import sys, ffi_hpy; sys.path.insert(0, {folder!r}); import bound_vocabulary as m; assert m.is_alive()"
    environment = {**os.environ, "SHOW_THE_END": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    answers = ("0\n", "1\n") if sys.implementation.name == "pypy" else ("0\n",)  # PyPy still answers
    assert (done.returncode, done.stdout in answers, done.stderr) == (0, True, "")
