"""Native types defined in Python: declarations, the behaviour of their types, and failing definitions."""

# ruff: noqa: UP045 - annotations are evaluated, also by Python 3.9

from __future__ import annotations

import copy
import inspect
import pickle
import sys
import threading
import weakref
from typing import Any, ClassVar, Optional

import pytest
from support import HAS_DICT, IS_PYPY, collect_garbage, is_gone, needs_threads, parallelize, run_python, unique_name

import ffi_hpy
from ffi_hpy import Object, _core, method
from ffi_hpy.dataclasses import KW_ONLY, MISSING, Field, field, fields, init_property, is_dataclass, py_class, replace


def key(name="class"):
    return unique_name(f"test_py_class.{name}")


@py_class(key("Point"), eq=True, order=True, unsafe_hash=True)
class Point(Object):
    x: int
    y: float = 0.5


@py_class(key("Node"))
class Node(Object):
    value: Any
    next: Optional[Node] = None
    children: list[Any] = field(default_factory=list)


# --- construction ---------------------------------------------------------------------------------------------------


def test_fields_are_given_by_position_by_name_and_by_default():
    for p in (Point(1, 2.5), Point(x=1, y=2.5), Point(1, y=2.5), Point(y=2.5, x=1)):
        assert (p.x, p.y) == (1, 2.5)
    assert Point(1).y == 0.5
    assert Point(1, MISSING).y == 0.5
    assert Point(1, y=MISSING).y == 0.5


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, r"missing required argument: 'x'"),
        ((), {"y": 1.0}, r"missing required argument: 'x'"),
        ((1, 2.0, 3), {}, r"takes at most 2 positional argument\(s\), but 3 were given"),
        ((1,), {"x": 2}, r"got multiple values for argument 'x'"),
        ((1,), {"z": 2}, r"got an unexpected keyword argument 'z'"),
        ((1,), {"x\0z": 2}, r"got an unexpected keyword argument 'x\\x00z'"),
        (("a",), {}, r"(?s)x.*expected int, got str"),
        ((1, "a"), {}, r"(?s)y.*expected float, got str"),
    ],
)
def test_wrong_arguments_are_reported(args, kwargs, message):
    with pytest.raises(TypeError, match=message):
        Point(*args, **kwargs)


def test_a_name_that_is_not_interned_is_as_good():
    names = ["".join(["x"]), bytes([0x79]).decode()]
    made = Point(**dict(zip(names, (1, 2.5))))
    assert (made.x, made.y) == (1, 2.5)

    @py_class(key())
    class Long(Object):
        longer_name: int
        other_name: int = 3

    name = "".join(["longer", "_name"])
    made = Long(**{name: 1})
    assert (made.longer_name, made.other_name) == (1, 3)
    assert name is not sys.intern(name)


def test_values_are_converted_in_the_order_of_the_fields_and_once_each():
    seen = []

    class Number:
        def __init__(self, value):
            self.value = value

        def __tvm_ffi_int__(self):
            seen.append(self.value)
            if self.value < 0:
                raise ZeroDivisionError("no number")
            return self.value

    @py_class(key())
    class Three(Object):
        a: int
        b: int = 5
        c: int = 7

    made = Three(c=Number(3), a=Number(1))
    assert (made.a, made.b, made.c, seen) == (1, 5, 3, [1, 3])
    seen.clear()
    with pytest.raises((TypeError, ZeroDivisionError)):
        Three(Number(1), c=Number(2), b=Number(-1))
    assert seen == [1, -1]
    seen.clear()
    with pytest.raises(TypeError, match="unexpected keyword argument 'd'"):
        Three(Number(1), d=Number(2))
    assert seen == [1]


def test_a_class_of_many_fields_is_made_by_keywords():
    names = [f"field_{i}" for i in range(70)]
    Many = py_class(key("Many"))(type("Many", (Object,), {"__annotations__": dict.fromkeys(names, int)}))
    made = Many(0, **{name: i for i, name in enumerate(names) if i > 0})
    assert [getattr(made, name) for name in names] == list(range(70))


def test_a_keyword_only_field_is_none_by_position():
    @py_class(key())
    class Mixed(Object):
        a: int = 1
        _: KW_ONLY
        b: int
        c: int = 3

    assert str(inspect.signature(Mixed.__init__)).count("*") == 1
    assert (Mixed(b=2).a, Mixed(b=2).c) == (1, 3)
    with pytest.raises(TypeError, match="missing required keyword-only argument: 'b'"):
        Mixed(1)
    with pytest.raises(TypeError, match="at most 1 positional"):
        Mixed(1, 2)


def test_many_fields():
    names = [f"f{i}" for i in range(100)]
    cls = type(Object)("Many", (Object,), {"__annotations__": dict.fromkeys(names, int), "__module__": __name__})
    py_class(key())(cls)
    made = cls(*range(50), **{name: i for i, name in enumerate(names) if i >= 50})
    assert [getattr(made, name) for name in names] == list(range(100))
    with pytest.raises(TypeError, match="'f99'"):
        cls(*range(99))


def test_a_field_without_argument_has_its_default_or_nothing():
    @py_class(key())
    class Partial(Object):
        a: int
        b: int = field(init=False)
        c: str = field(default="x", init=False)
        d: Optional[int] = field(init=False)

    made = Partial(1)
    assert (made.a, made.b, made.c, made.d) == (1, 0, "x", None)
    with pytest.raises(TypeError, match="unexpected keyword argument 'b'"):
        Partial(1, b=2)


def test_mutable_defaults_are_made_for_each_object():
    @py_class(key())
    class Defaults(Object):
        a: list[int] = field(default=[1])
        b: dict[str, int] = field(default_factory=dict)

    first, second = Defaults(), Defaults()
    first.a.append(2)
    first.b["k"] = 1
    assert list(second.a) == [1]
    assert len(second.b) == 0


class Witness:
    pass


def test_a_factory_that_raises_is_heard_and_nothing_is_left():
    def fail():
        raise KeyError("no value today")

    @py_class(key())
    class Failing(Object):
        a: Any
        b: int = field(default_factory=fail)

    witness = Witness()
    ref = weakref.ref(witness)
    for _ in range(10):
        with pytest.raises(KeyError, match="no value today"):
            Failing(witness)
    assert Failing(witness, 1).b == 1
    del witness
    assert is_gone(ref)


def test_a_field_s_value_is_freed_with_the_object_or_by_the_next_value():
    refs = []

    def witness():
        made = Witness()
        refs.append(weakref.ref(made))
        return made

    node = Node(witness(), Node(witness()), [witness()])
    node.value = None
    assert is_gone(refs[0])
    assert refs[1]() is not None
    del node
    assert is_gone(refs[1])
    assert is_gone(refs[2])


def test_the_error_of_a_factory_of_the_wrong_type_names_the_field():
    @py_class(key())
    class Wrong(Object):
        a: int = field(default_factory=lambda: "text")
        b: int = field(default="text")

    with pytest.raises(TypeError, match=r"(?s)a.*expected int, got str"):
        Wrong()
    with pytest.raises(TypeError, match=r"(?s)b.*expected int, got str"):
        Wrong(1)
    assert Wrong(1, 2).b == 2


def test_a_factory_that_makes_its_own_class():
    depth = []

    def nested():
        depth.append(1)
        return Recursive() if len(depth) < 5 else None

    @py_class(key())
    class Recursive(Object):
        inner: Optional[Recursive] = field(default_factory=nested)

    made = Recursive()
    assert made.inner.inner.inner.inner.inner is None


NESTED_IN_C = """
import functools
import ffi_hpy
from ffi_hpy.dataclasses import field, py_class

factory = functools.partial(int)

@py_class("test_py_class.NestedInC")
class Nested(ffi_hpy.Object):
    inner: object = field(default_factory=factory)

class Derived(Nested):
    pass

for cls in (Nested, Derived):
    factory.__setstate__((cls, (), {}, {}))
    try:
        cls()
    except RecursionError:
        print("RecursionError")
factory.__setstate__((int, (), {}, {}))
print(Nested().inner)
"""


@pytest.mark.thread_unsafe(reason="starts a process that does nothing with threads")
def test_a_factory_written_in_c_that_makes_its_own_class_is_a_recursion_error():
    assert run_python(NESTED_IN_C) == "RecursionError\n" * 2 + "0\n"


def test_post_init_runs_at_the_end_and_may_raise():
    @py_class(key())
    class Checked(Object):
        x: int

        @init_property
        def double(self) -> int:
            return 2 * self.x

        def __post_init__(self):
            if self.double < 0:
                raise ValueError("x must not be negative")

    assert Checked(2).double == 4
    with pytest.raises(ValueError, match="must not be negative"):
        Checked(-1)
    assert "double" not in inspect.signature(Checked.__init__).parameters


def test_a_written_init_begins_with_an_empty_object():
    @py_class(key("Base"), init=False)
    class Base(Object):
        x: int

        def __init__(self, x):
            """Half of it."""
            assert self.x == 0
            self.x = x // 2

    @py_class(key("Child"))
    class Child(Base):
        y: int

    @py_class(key("Other"), init=False)
    class Other(Base):
        y: int

        def __init__(self, x, y):
            super().__init__(x)
            self.y = y

    assert Base(4).x == 2
    assert Base.__init__.__doc__ == "Half of it."
    assert (Child(4, 5).x, Child(4, 5).y) == (4, 5)
    assert (Other(4, 5).x, Other(4, 5).y) == (2, 5)


def test_initialising_twice_changes_nothing():
    p = Point(1, 2.0)
    p.__init__(3, 4.0)
    assert (p.x, p.y) == (1, 2.0)


def test_a_call_runs_the_functions_that_python_sets_later(monkeypatch):
    made = []

    def new(cls, *args, **kwargs):
        made.append((cls, args, kwargs))
        return Object.__new__(cls)

    class Base(Object):
        pass

    @py_class(key())
    class Whole(Base):
        a: int
        b: int = 2

    class Derived(Whole):
        pass

    def numbers():
        return [(each.a, each.b) for cls in (Whole, Derived) for each in (cls(1), cls(a=1), cls(1, b=3))]

    expected = [(1, 2), (1, 2), (1, 3)] * 2
    assert numbers() == expected
    with monkeypatch.context() as change:
        change.setattr(Base, "__new__", new, raising=False)  # also of the classes that derive from it
        assert numbers() == expected
    assert made == [
        (cls, *given) for cls in (Whole, Derived) for given in (((1,), {}), ((), {"a": 1}), ((1,), {"b": 3}))
    ]
    written = Whole.__init__
    with monkeypatch.context() as change:
        change.setattr(Whole, "__init__", lambda self, *args, **kwargs: written(self, 7, b=8))
        assert numbers() == [(7, 8)] * 6
        change.delattr(Whole, "__init__")
        assert Whole(1, a=2).__chandle__() == 0  # that of Object, which makes nothing
    assert (numbers(), len(made)) == (expected, 6)


def test_a_metaclass_may_call_the_class():
    calls = []

    class Counting(type(Object)):
        pass

    @py_class(key())
    class Counted(Object, metaclass=Counting):
        a: int

    assert (Counted(1).a, Counted(a=2).a) == (1, 2)
    Counting.__call__ = lambda cls, *args, **kwargs: calls.append(cls) or type.__call__(cls, *args, **kwargs)
    assert (Counted(1).a, Counted(a=2).a, calls) == (1, 2, [Counted, Counted])


@pytest.mark.skipif(not hasattr(_core, "class_call"), reason="type.__call__ makes the instances here")
def test_an_initializer_makes_the_instances_of_a_class():
    made = []

    @py_class(key())
    class Own(Object):
        a: int
        b: float = 0.5

        def __new__(cls, *args, **kwargs):
            made.append(cls)
            return super().__new__(cls)

    class Derived(Own):
        pass

    assert (Own(1).a, made) == (1, [Own])
    _core.class_call(Own, _core.Initializer(Own.__tvm_ffi_type_info__.type_index, MISSING))
    for each in (Own(1, 2.5), Own(a=1, b=2.5), Own(1, b=2.5), Own(b=2.5, a=1), Own(1, **{"".join(["b"]): 2.5})):
        assert (type(each), each.a, each.b) == (Own, 1, 2.5)
    assert (Derived(a=1).b, made) == (0.5, [Own, Derived])
    for args, kwargs in (((), {}), ((1, 2, 3), {}), ((1,), {"a": 1}), ((1,), {"c": 1}), (("a",), {}), ((), {"a": "a"})):
        with pytest.raises(TypeError, match="__ffi_init__"):
            Own(*args, **kwargs)
    del made[:]
    _core.class_call(Own, None)
    assert (Own(a=1).a, made) == (1, [Own])


def test_a_class_without_init_cannot_be_called():
    @py_class(key(), init=False)
    class Closed(Object):
        x: int

    with pytest.raises(TypeError, match="cannot be constructed directly"):
        Closed(1)


# --- access ---------------------------------------------------------------------------------------------------------


def test_values_are_converted_when_they_are_assigned():
    node = Node(1)
    node.value = [1, 2]
    node.next = Node("text of some length")
    assert list(node.value) == [1, 2]
    assert node.next.value == "text of some length"
    node.next = None
    assert node.next is None
    for wrong in (1, "a", Point(1), [node]):
        with pytest.raises(TypeError, match="expected"):
            node.next = wrong
    with pytest.raises(AttributeError):
        del node.next
    if not HAS_DICT:
        with pytest.raises(AttributeError):
            node.nothing = 1


@pytest.mark.parametrize("number", [0, 1, -1, 2**63 - 1, -(2**63)])
def test_integers_of_64_bits(number):
    assert Point(number).x == number


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1])
def test_integers_beyond_64_bits(number):
    with pytest.raises((TypeError, OverflowError)):
        Point(number)
    p = Point(1)
    with pytest.raises((TypeError, OverflowError)):
        p.x = number
    assert p.x == 1


def test_a_field_is_of_its_class_only():
    with pytest.raises(TypeError):
        Point.__dict__["x"].__get__(Node(1), Node)
    with pytest.raises(TypeError):
        Point.__dict__["x"].__get__("text", str)
    assert isinstance(Point.x, ffi_hpy.core.FFIProperty)


def test_frozen_fields_are_set_by_their_descriptor_only():
    @py_class(key(), frozen=True)
    class Frozen(Object):
        x: int
        y: int = 2

    made = Frozen(1)
    with pytest.raises(AttributeError):
        made.x = 2
    Frozen.x.set(made, 3)
    assert made.x == 3
    assert replace(made, y=5).y == 5
    with pytest.raises(TypeError):
        Frozen.x.set(made, "text")


def test_objects_from_native_code_are_instances():
    made = ffi_hpy.convert([Node(Point(1, 2.0))])[0]
    assert type(made) is Node
    assert type(made.value) is Point
    assert made.value == Point(1, 2.0)


@needs_threads
def test_objects_are_deleted_with_all_they_hold_on_any_thread():
    class Held:
        pass

    def made(held):
        return Node(1, Node(Point(2)), [Node(held), "text of some length"])

    held = [[Held() for _ in range(100)] for _ in range(4)]
    refs = [weakref.ref(one) for share in held for one in share]
    nodes = [list(map(made, share)) for share in held]
    held.clear()
    collect_garbage()
    assert all(ref() is not None for ref in refs)
    parallelize(lambda i: nodes[i].clear())
    assert all(map(is_gone, refs))


def test_cycles_do_not_stop_anything():
    node = Node(1)
    node.next = node
    node.children.append(node)
    assert node.next.next.value == 1
    node.next = None
    node.children.clear()
    assert node.next is None


# --- copies, pickling, comparison -----------------------------------------------------------------------------------


def test_copies():
    node = Node(Point(1), None, [1])
    shallow, deep = copy.copy(node), copy.deepcopy(node)
    node.children.append(2)
    node.value.x = 5
    assert (list(shallow.children), shallow.value.x) == ([1, 2], 5)
    assert (list(deep.children), deep.value.x) == ([1], 1)
    assert replace(node, value=3).value == 3
    with pytest.raises(TypeError):
        replace(node, nothing=3)


def test_pickling():
    node = Node(Point(1, 2.0), Node("text of some length"), [1, "a", None])
    again = pickle.loads(pickle.dumps(node))
    assert type(again) is Node
    assert again.value == Point(1, 2.0)
    assert again.next.value == "text of some length"
    assert list(again.children) == [1, "a", None]


def test_comparison_by_value_where_asked_for():
    assert Point(1, 2.0) == Point(1, 2.0) != Point(1, 3.0)
    assert Point(1) < Point(2) <= Point(2) > Point(1) >= Point(1)
    assert hash(Point(1)) == hash(Point(1))
    assert len({Point(1), Point(1), Point(2)}) == 2
    assert Node(1) != Node(1)
    assert Point(1).__eq__(Node(1)) is NotImplemented
    with pytest.raises(ValueError, match="order=True requires eq=True"):
        py_class(key(), order=True)


def test_repr_shows_the_selected_fields():
    type_key = key("Shown")

    @py_class(type_key)
    class Shown(Object):
        a: int
        b: int = field(default=2, repr=False)

    assert repr(Shown(1)) == f"{type_key}(a=1)"


def test_structural_kinds():
    @py_class(key("Var"), structural_eq="var")
    class Var(Object):
        name: str = field(structural_eq="ignore")

    @py_class(key("Fun"))
    class Fun(Object):
        params: list[Var] = field(structural_eq="def")
        body: list[Var]
        note: str = field(default="", structural_eq="ignore")

    @py_class(key("One"), structural_eq="singleton")
    class One(Object):
        pass

    def fun(n, note):
        x, y = Var("x" + n), Var("y" + n)
        return Fun([x, y], [y, x], note)

    assert ffi_hpy.structural_equal(fun("1", "a"), fun("2", "b"))
    assert ffi_hpy.structural_hash(fun("1", "a")) == ffi_hpy.structural_hash(fun("2", "b"))
    assert not ffi_hpy.structural_equal(Fun([], [Var("x")]), Fun([], [Var("x")]))
    one = One()
    assert ffi_hpy.structural_equal(one, one)
    assert not ffi_hpy.structural_equal(one, One())
    with pytest.raises(ValueError, match="structural_eq must be one of"):
        py_class(key(), structural_eq="tree-like")
    with pytest.raises(ValueError, match="structural_eq must be one of"):
        field(structural_eq="unknown")


# --- inheritance ----------------------------------------------------------------------------------------------------


def test_a_child_has_its_parents_fields_first():
    @py_class(key("Child"))
    class Child(Point):
        flag: bool
        z: int = 7

    made = Child(1, True, 2.0)
    assert (made.x, made.y, made.flag, made.z) == (1, 2.0, True, 7)
    assert [f.name for f in fields(Child)] == ["x", "y", "flag", "z"]
    assert isinstance(made, Point)
    assert Child.__match_args__ == ("x", "y", "flag", "z")
    offsets = [f.offset for f in Child.__tvm_ffi_type_info__.fields]
    assert offsets == [40, 48]


def test_a_child_that_defines_a_field_again():
    @py_class(key("Child"))
    class Child(Point):
        y: str = "text"

    made = Child(1)
    assert (made.x, made.y) == (1, "text")
    assert Child(1, "other").y == "other"
    assert [f.name for f in fields(Child)] == ["x", "y"]


def test_a_plain_subclass_may_have_a_dict_or_slots():
    class WithDict(Point):
        if not HAS_DICT:
            __slots__ = ("__dict__",)

    class WithSlots(Point):
        __slots__ = ("note",)

    a, b = WithDict(1), WithSlots(2, 3.0)
    a.anything = b.note = "kept"
    assert (a.anything, b.note, a.x, b.y) == ("kept", "kept", 1, 3.0)
    assert type(a) is WithDict


def test_mixins_add_their_fields():
    class Mixin:
        shared: int = field(default=1, metadata={"k": []})

    @py_class(key("A"))
    class A(Mixin, Object):
        a: int = 2

    @py_class(key("B"))
    class B(Mixin, Object):
        shared: int = 5

    assert (A().shared, A().a, B().shared) == (1, 2, 5)
    assert isinstance(Mixin.__dict__["shared"], Field)
    assert fields(A)[0].metadata["k"] is Mixin.__dict__["shared"].metadata["k"]


# --- names that are defined later -----------------------------------------------------------------------------------


def test_classes_may_name_each_other():
    @py_class(key("Left"))
    class Left(Object):
        right: Optional[LaterRight] = None

    assert is_dataclass(Left)
    with pytest.raises(TypeError, match=r"Cannot instantiate Left.*right: Optional\[LaterRight\]"):
        Left()

    @py_class(key("Right"))
    class LaterRight(Object):
        left: Left

    assert Left(LaterRight(Left())).right.left.right is None


def test_a_class_that_waits_can_be_defined_again():
    type_key = key("Again")

    def define():
        @py_class(type_key)
        class Waiting(Object):
            other: NeverDefinedAnywhere  # noqa: F821

        return Waiting

    first = define()
    define()
    with pytest.raises(TypeError, match="was replaced"):
        first()

    @py_class(type_key)
    class Good(Object):
        x: int

    assert Good(1).x == 1
    with pytest.raises(ValueError, match="already registered"):
        py_class(type_key)(type(Object)("Other", (Object,), {}))


def test_a_child_waits_for_its_parent():
    @py_class(key("Parent"))
    class Parent(Object):
        other: LaterOther

    @py_class(key("Child"))
    class Child(Parent):
        x: int

    @py_class(key("Other"))
    class LaterOther(Object):
        pass

    made = Child(LaterOther(), 3)
    assert made.x == 3
    assert Child.__tvm_ffi_type_info__.fields[0].offset == 32


def test_a_written_init_waits_too():
    @py_class(key("Waiting"), init=False)
    class Waiting(Object):
        x: int
        other: Optional[LaterThing]

        def __init__(self, x):
            self.x = x

    @py_class(key("Thing"))
    class LaterThing(Object):
        pass

    made = Waiting(3)
    assert (made.x, made.other) == (3, None)


# --- definitions that fail ------------------------------------------------------------------------------------------


def make_bad(annotations, **body):
    return type(Object)("Bad", (Object,), {"__annotations__": annotations, "__module__": __name__, **body})


@pytest.mark.parametrize(
    ("annotations", "body", "error"),
    [
        ({"x": int, "y": object()}, {}, TypeError),
        ({"x": "1 +"}, {}, SyntaxError),
        ({"x": "1 / 0"}, {}, ZeroDivisionError),
        ({"x": int}, {"x": field(unknown=1)}, TypeError),
        ({"x": int}, {"__ffi_type_attr_names__": "text"}, TypeError),
        ({"x": int}, {"__ffi_field_markers__": (1,)}, TypeError),
        ({"x": int}, {"__ffi_repr__": classmethod(lambda cls: "")}, TypeError),
    ],
)
def test_a_definition_that_fails_leaves_its_key(annotations, body, error):
    type_key = key("Failed")
    with pytest.raises(error):
        py_class(type_key)(make_bad(annotations, **body))
    good = py_class(type_key)(make_bad({"y": int}))
    assert good(2).y == 2
    assert not hasattr(Object, "x")


def test_a_hook_that_raises_aborts_the_definition():
    type_key = key("Hooked")

    def hook(info, own):
        assert [f.name for f in own] == ["x"]
        raise RuntimeError("not like this")

    hook.__ffi_on_fields_resolved__ = True
    with pytest.raises(RuntimeError, match="not like this"):
        py_class(type_key)(make_bad({"x": int}, hook=hook))
    assert py_class(type_key)(make_bad({"x": int}))(1).x == 1


def test_a_failed_class_cannot_be_used():
    failed = make_bad({"x": "1 / 0"})
    with pytest.raises(ZeroDivisionError):
        py_class(key())(failed)
    assert not is_dataclass(failed)
    with pytest.raises(TypeError, match="its definition failed: ZeroDivisionError"):
        failed(1)


def test_a_failure_of_one_class_is_not_that_of_another():
    @py_class(key("Broken"))
    class Broken(Object):
        x: SoonThere
        y: int = field(default=1, unknown_option=2)

    @py_class(key("SoonThere"))
    class SoonThere(Object):
        pass

    assert SoonThere() is not None
    with pytest.raises(TypeError, match="unrecognized field options: unknown_option"):
        Broken(SoonThere())


def test_classes_that_cannot_be_decorated():
    with pytest.raises(TypeError, match="must inherit from"):
        py_class(key())(type("Plain", (), {}))
    with pytest.raises(TypeError, match="expected str or type"):
        py_class(3)
    with pytest.raises(ValueError, match="already registered"):
        py_class("ffi.Array")(make_bad({}))


def test_a_key_keeps_its_parent():
    type_key = key()
    with pytest.raises(ZeroDivisionError):
        py_class(type_key)(make_bad({"x": "1 / 0"}))
    with pytest.raises(ValueError, match="registered below"):
        py_class(type_key)(type(Object)("Child", (Point,), {}))


# --- native protocols -----------------------------------------------------------------------------------------------


def test_a_method_checks_no_annotation_of_its_parameters():
    @py_class(key("Scaled"))
    class Scaled(Object):
        factor: int = 2

        @method
        def times(self, n: int) -> int:
            return self.factor * n

    native = next(each.func for each in Scaled.__tvm_ffi_type_info__.methods if each.name == "times")
    for times in (Scaled().times, lambda n: native(Scaled(), n)):
        assert (times(3), times("ab"), times(1.5)) == (6, "abab", 3.0)


def test_methods_that_are_marked_are_native():
    @py_class(key())
    class Counter(Object):
        n: int

        @method
        def plus(self, k: int) -> int:
            return self.n + k

        @method
        @staticmethod
        def zero() -> int:
            return 0

        def private(self):
            return 1

    methods = {m.name: m for m in Counter.__tvm_ffi_type_info__.methods}
    assert {"plus", "zero"} <= set(methods)
    assert "private" not in methods
    assert methods["plus"].func(Counter(1), 2) == 3
    assert methods["zero"].func() == 0
    assert methods["zero"].is_static
    assert Counter(1).plus(2) == 3
    with pytest.raises(TypeError, match="classmethod"):
        method(classmethod(lambda cls: 1))
    with pytest.raises(TypeError, match="callable"):
        method(3)


def test_hooks_of_native_code_are_called_and_inherited():
    @py_class(key("Parity"))
    class Parity(Object):
        n: int

        def __ffi_repr__(self, print_value):
            return f"<{print_value(self.n)}>"

        def __s_equal__(self, other, compare):
            return self.n % 2 == other.n % 2

        def __s_hash__(self, seed, hash_value):
            return self.n % 2

    @py_class(key("Child"))
    class Child(Parity):
        pass

    assert repr(Parity(3)) == "<3>"
    assert ffi_hpy.structural_equal(Parity(1), Parity(3))
    assert ffi_hpy.structural_equal(Child(1), Child(3))
    assert not ffi_hpy.structural_equal(Child(1), Child(2))


def test_class_variables_are_not_fields():
    @py_class(key())
    class Counted(Object):
        count: ClassVar[int] = 3
        x: int

    assert Counted.count == 3
    assert [f.name for f in fields(Counted)] == ["x"]


def test_a_body_may_grow_while_it_is_looked_at():
    class Growing:
        def __init__(self):
            self.owner = None

        @property
        def __ffi_method__(self):
            setattr(self.owner, f"more{len(self.owner.__dict__)}", 1)
            return False

        def __call__(self):
            raise AssertionError("never called")

    class Plain(Object):
        a: int
        b = Growing()

    Plain.__dict__["b"].owner = Plain
    assert py_class(key())(Plain)(3).a == 3
    assert any(name.startswith("more") for name in Plain.__dict__)


# --- threads --------------------------------------------------------------------------------------------------------


@needs_threads
def test_many_threads_define_classes():
    def work(i):
        made = []
        for k in range(20):

            @py_class(key(f"T{i}"), eq=True)
            class Local(Object):
                x: int
                y: str = "default text"

            made.append(Local(k))
        return [m.x for m in made]

    assert parallelize(work) == [list(range(20))] * 4


@needs_threads
def test_a_class_is_derived_while_another_thread_sets_attributes_of_its_base():
    base = py_class(key())(type(Object)("Base", (Object,), {"__annotations__": {"a": int}}))
    is_over = threading.Event()

    def change():
        while not is_over.is_set():
            base.more = 1
            del base.more

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(30 if IS_PYPY else 100):  # there one round may take a seventh of a second
            derived = py_class(key())(type(Object)("Derived", (base,), {"__annotations__": {"b": int}}))
            assert derived(1, 2).b == 2
    finally:
        is_over.set()
        thread.join()


@needs_threads
def test_names_mean_the_classes_of_the_thread_that_defines():
    def work(i):
        @py_class(key("Outer"))
        class OfThread(Object):
            inner: InnerOfThread

        @py_class(key("Inner"))
        class InnerOfThread(Object):
            x: int

        return OfThread(InnerOfThread(i)).inner.x

    assert parallelize(work) == [0, 1, 2, 3]


@needs_threads
def test_many_threads_complete_one_class():
    for _ in range(10):
        name = unique_name("Shared").replace(".", "_")
        space = {"py_class": py_class, "Object": Object, "Optional": Optional, "key": key, "__name__": __name__}
        exec(f"@py_class(key())\nclass First(Object):\n    x: int\n    other: 'Optional[{name}]' = None\n", space)
        sys.modules[__name__].__dict__[name] = Point
        try:
            results = parallelize(lambda i, cls=space["First"]: cls(i, Point(i)).other.x)
        finally:
            del sys.modules[__name__].__dict__[name]
        assert results == [0, 1, 2, 3]


@needs_threads
def test_many_threads_want_one_key():
    type_key = key("Wanted")

    def work(_):
        try:
            return py_class(type_key)(make_bad({"x": int}))
        except ValueError:
            return None

    winners = [cls for cls in parallelize(work) if cls is not None]
    assert len(winners) == 1
    assert winners[0](1).x == 1


@needs_threads
def test_threads_write_and_read_one_field():
    node = Node("text of some length, number 0")

    def work(i):
        for k in range(500):
            node.value = f"text of some length, number {k % 10}" if i % 2 else [i, k]
            value = node.value
            assert len(value) == 2 or str(value).startswith("text")

    parallelize(work)


@needs_threads
def test_threads_write_and_read_one_object_field():
    @py_class(key("Holder"))
    class Holder(Object):
        held: Point

    holder = Holder(Point(0))

    def work(i):
        for k in range(500):
            if i % 2:
                holder.held = Point(k % 10)
            held = holder.held
            assert 0 <= held.x < 10
            assert held.__use_count__() >= 1

    parallelize(work)


@needs_threads
def test_classes_that_wait_for_each_other_in_two_threads_do_not_wait_forever():
    classes = [make_bad({"x": int}), make_bad({"x": int})]
    both = threading.Barrier(2)

    def hook_of(i):
        def hook(info, own):
            both.wait()
            classes[1 - i](1)

        hook.__ffi_on_fields_resolved__ = True
        return hook

    def work(i):
        classes[i].hook = hook_of(i)
        try:
            return py_class(key())(classes[i])(1).x
        except (RuntimeError, TypeError) as error:
            return str(error)

    results = parallelize(work, 2)
    assert any("while it is being defined" in str(result) for result in results), results


def test_the_error_of_a_child_names_the_class_that_failed():
    @py_class(key("Parent"))
    class Parent(Object):
        x: AppearsSoon
        y: int = field(default=1, unknown_option=2)

    @py_class(key("Child"))
    class Child(Parent):
        z: int

    @py_class(key("AppearsSoon"))
    class AppearsSoon(Object):
        pass

    with pytest.raises(TypeError, match="unrecognized field options: unknown_option"):
        Child(1, 2, 3)


@needs_threads
def test_a_hook_that_uses_its_class_from_within_is_refused():
    def hook(info, own):
        with pytest.raises(RuntimeError, match="while it is being defined"):
            info.type_cls(1)

    hook.__ffi_on_fields_resolved__ = True
    assert py_class(key())(make_bad({"x": int}, hook=hook))(1).x == 1


# --- the end of the interpreter -------------------------------------------------------------------------------------

PROGRAM = """
import threading, sys
from typing import Any, Optional
from ffi_hpy import Object
from ffi_hpy.dataclasses import py_class, field

@py_class("exit.Node")
class Node(Object):
    value: Any
    other: "Optional[Node]" = None
    made: Any = field(default_factory=lambda: [object()])

@py_class("exit.Waiting")
class Waiting(Object):
    other: "Nothing"

kept = [Node(i, Node(lambda: kept), [Node("text of some length")]) for i in range(10)]
kept[0].other = kept[0]
"""


def test_instances_are_alive_at_exit():
    assert run_python(PROGRAM + "print('end')") == "end\n"


@needs_threads
def test_instances_end_on_a_thread_that_ends_last():
    program = """
def work():
    import time
    local = [Node(i, Node(object())) for i in range(100)]
    go.wait()
    while local: local.pop()
    print('end')
go = threading.Event()
threading.Thread(target=work).start()
go.set()
"""
    assert run_python(PROGRAM + program) == "end\n"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="co_qualname of code objects, which the other way needs")
@pytest.mark.skipif(IS_PYPY, reason="CPython without a GIL needs it")
@pytest.mark.parametrize("stops", [False, True], ids=["by assignment", "without a stop of all threads"])
def test_a_generated_init_has_the_names_of_its_class(monkeypatch, stops):
    from ffi_hpy._start import named

    monkeypatch.setattr(named, "_STOPS_THREADS", stops)

    @py_class(key())
    class Plain(Object):
        x: int

        def __post_init__(self):
            self.x += 1

    @py_class(key())
    class Written(Object):
        x: int

        def __init__(self, x: int):
            """As it was written."""
            self.x = x

    for cls in (Plain, Written):
        init = cls.__init__
        assert (init.__name__, init.__qualname__, init.__module__) == (
            "__init__",
            f"{cls.__qualname__}.__init__",
            __name__,
        )
        assert list(inspect.signature(cls).parameters) == ["x"]
    assert Plain(1).x == 2
    assert Written(1).x == 1
    assert Written.__init__.__doc__ == "As it was written."
    with pytest.raises(TypeError, match=r"missing|required"):
        Plain()


@py_class(key("Named"))
class Named(Object):
    element: ffi_hpy.dtype
    place: ffi_hpy.Device
    numbers: dict[str, int]


@pytest.mark.parametrize("char", ["é", "€", "😀"])
def test_a_long_string_is_cut_between_characters_in_the_message_of_a_mismatch(char):
    good = {"element": "int8", "place": "cpu", "numbers": {}}
    named = Named(**good)
    for n in range(4):
        text = "a" * n + char * 9000
        for name, value in {"element": text, "place": text, "numbers": {text: "x"}}.items():
            with pytest.raises(TypeError, match=char) as assigned:
                setattr(named, name, value)
            with pytest.raises(TypeError, match=char) as made:
                Named(**{**good, name: value})
            assert "\ufffd" not in f"{assigned.value}{made.value}"


def test_a_field_copies_no_other_object():
    for value in (ffi_hpy.Array([1]), ffi_hpy.Device("cpu"), None):
        with pytest.raises(TypeError, match="requires a 'Field' object but received a"):
            Field.__copy__(value)
