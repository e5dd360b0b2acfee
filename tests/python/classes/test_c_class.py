"""c_class: classes for native types as dataclasses; and the names of ffi_hpy.testing."""

import collections
import copy
import functools
import inspect
import pickle
import pydoc
import sys
import threading
import typing
import weakref

import pytest
from support import parallelize, run_python, unique_name

import ffi_hpy
from ffi_hpy import Object, testing
from ffi_hpy.dataclasses import MISSING, Field, c_class, fields, is_dataclass, py_class, replace
from ffi_hpy.dataclasses._comparison import EQUALITY, ORDER, recursive_hash
from ffi_hpy.testing import (
    TestCompare,
    TestCustomCompare,
    TestEqWithoutHash,
    TestFrozenCxx,
    TestIntPair,
    TestNonCopyable,
    TestObjectBase,
    TestObjectDerived,
    _TestCxxAutoInit,
    _TestCxxAutoInitChild,
    _TestCxxAutoInitSimple,
    _TestCxxClassBase,
    _TestCxxClassDerived,
    _TestCxxClassDerivedDerived,
    _TestCxxEnumHolder,
    _TestCxxIntEnum,
    _TestCxxNoAutoInit,
    _TestCxxStrEnum,
)

# A type has one class. Second classes for a type are made in fresh interpreters.


# --- construction -----------------------------------------------------------------------------------------------------


def test_init_is_a_method_however_it_is_called():
    pair = TestIntPair.__new__(TestIntPair)
    assert TestIntPair.__init__(pair, 1, 2) is None
    assert (pair.a, pair.b) == (1, 2)
    other = TestIntPair.__new__(TestIntPair)
    assert other.__init__(3, 4) is None
    assert (other.a, other.b) == (3, 4)
    other.__init__(5, 6)  # the first object is replaced by a new one
    assert (other.a, other.b) == (5, 6)
    assert TestIntPair.__init__.__name__ == "__init__"
    assert TestIntPair.__init__.__qualname__ == "TestIntPair.__init__"
    assert list(inspect.signature(TestIntPair.__init__).parameters) == ["self", "a", "b"]
    for wrong in ((), (pair,), (pair, 1), (pair, "a", 2)):
        with pytest.raises(TypeError):
            TestIntPair.__init__(*wrong)


@py_class("test_c_class.Shown")
class Shown(Object):
    x: int
    y: float = 2.0


@pytest.mark.parametrize(
    "method", [TestIntPair.__init__, Shown.__init__, TestIntPair.sum], ids=lambda m: m.__qualname__
)
def test_a_method_is_pickled_and_copied_by_its_name_like_a_function(method):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(method, protocol)) is method
    assert copy.copy(method) is method
    assert copy.deepcopy([method, method]) == [method, method]
    assert weakref.ref(method)() is method


def test_a_method_of_a_class_that_has_no_global_name_is_not_pickled_but_copied():
    @py_class(unique_name("test_c_class.Hidden"))
    class Hidden(Object):
        x: int

    assert copy.deepcopy(Hidden.__init__) is Hidden.__init__
    with pytest.raises((pickle.PicklingError, AttributeError), match="Hidden"):
        pickle.dumps(Hidden.__init__)


@pytest.mark.parametrize("cls", [TestIntPair, Shown])
def test_an_init_has_the_signature_of_a_function(cls):
    init, module = cls.__init__, sys.modules[cls.__module__]
    assert (init.__module__, inspect.getmodule(init)) == (cls.__module__, module)
    assert inspect.isroutine(init)
    assert typing.get_type_hints(init) == {}
    assert init.__code__.co_flags & inspect.CO_VARKEYWORDS
    assert "def init(" in inspect.getsource(init)
    assert pydoc.plain(pydoc.render_doc(init)).splitlines()[0].endswith(f"in module {cls.__module__}")
    wrapper = functools.wraps(init)(lambda self: None)
    assert (wrapper.__module__, wrapper.__qualname__) == (cls.__module__, f"{cls.__name__}.__init__")
    assert cls(1, 2).__init__.__module__ == cls.__module__
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = init.no_such_name


def test_the_signature_is_that_of_the_fields():
    parameters = inspect.signature(_TestCxxAutoInitChild).parameters
    assert [(name, p.kind.name, p.default, p.annotation) for name, p in parameters.items()] == [
        ("parent_required", "POSITIONAL_OR_KEYWORD", inspect.Parameter.empty, int),
        ("child_required", "POSITIONAL_OR_KEYWORD", inspect.Parameter.empty, int),
        ("parent_default", "POSITIONAL_OR_KEYWORD", 5, int),
        ("child_kw_only", "KEYWORD_ONLY", inspect.Parameter.empty, int),
    ]
    assert _TestCxxAutoInit.__match_args__ == ("a", "d")
    assert _TestCxxAutoInit.__init__.__qualname__ == "_TestCxxAutoInit.__init__"


def test_missing_means_the_default():
    made = _TestCxxAutoInit(1, MISSING, c=2)
    assert (made.a, made.b, made.c, made.d) == (1, 42, 2, 99)
    assert TestObjectBase(v_i64=MISSING, v_str="s").v_i64 == 10


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: _TestCxxAutoInitSimple(), "missing required argument: 'x'"),
        (lambda: _TestCxxAutoInitSimple(1), "missing required argument: 'y'"),
        (lambda: _TestCxxAutoInitSimple(1, 2, 3), "takes at most 2 positional"),
        (lambda: _TestCxxAutoInitSimple(1, 2, y=2), "multiple values for argument 'y'"),
        (lambda: _TestCxxAutoInitSimple(1, 2, z=2), "unexpected keyword argument 'z'"),
        (lambda: _TestCxxAutoInitSimple("1", 2), r"field 'x':\n  Cannot convert"),
        (lambda: _TestCxxAutoInitSimple(1, y=None), r"field 'y':\n  Cannot convert"),
        (lambda: _TestCxxAutoInit(1), "missing required keyword-only argument: 'c'"),
        (lambda: _TestCxxAutoInit(1, c=1, b=2), "unexpected keyword argument 'b'"),
        (lambda: TestIntPair(1), "Expected 2 but got 1"),
        (lambda: TestIntPair("a", 1), "Expected `int` but got"),
        (lambda: _TestCxxNoAutoInit(), "cannot be constructed directly"),
        (lambda: _TestCxxNoAutoInit(1, 2), "cannot be constructed directly"),
    ],
)
def test_wrong_arguments_are_reported(make, message):
    with pytest.raises(TypeError, match=message):
        make()


def test_a_second_init_makes_another_object():
    for made, again in ((_TestCxxAutoInitSimple(1, 2), (3, 4)), (TestIntPair(1, 2), (3, 4))):
        before = copy.copy(made)
        made.__init__(*again)
        assert [getattr(made, name) for name in made.__match_args__] == [3, 4]
        assert [getattr(before, name) for name in made.__match_args__] == [1, 2]


def test_an_init_is_for_its_own_type():
    made = _TestCxxClassDerived.__new__(_TestCxxClassDerived)
    with pytest.raises(TypeError, match=r"super\(\).__init__\(\)` is not supported"):
        TestObjectBase.__init__(made)
    with pytest.raises(TypeError, match=r"__ffi_init__\(\)` on a `_TestCxxClassDerived` is not supported"):
        _TestCxxClassBase.__ffi_init__(made, 1, 2)
    with pytest.raises(ValueError, match="no native object"):
        made.v_f64  # noqa: B018


def test_a_python_subclass_for_the_same_type_is_constructed_like_it():
    class Pair(TestIntPair):
        """Not registered: native code returns instances of its base."""

        def total(self):
            return self.a + self.b

    assert Pair(1, 2).total() == 3
    assert repr(Pair(3, 4)) == "testing.TestIntPair(a=3, b=4)"


def test_fields_that_are_enums_accept_the_values_of_singletons():
    made = _TestCxxEnumHolder(20, opcode="*")
    assert made.priority.same_as(_TestCxxIntEnum.high)
    assert made.opcode.same_as(_TestCxxStrEnum.mul)
    made.priority = 10
    assert made.priority.same_as(_TestCxxIntEnum.low)
    for wrong in (lambda: _TestCxxEnumHolder(99, "*"), lambda: _TestCxxEnumHolder(10, opcode="/")):
        with pytest.raises((TypeError, ValueError)):
            wrong()
    with pytest.raises(TypeError):
        _TestCxxEnumHolder(10, "*", "one too many")


def test_post_init_and_written_methods():
    assert run_python(WRITTEN) == "[(3, 2), 'post', 'mine', 'post']\nTrue False\n42 True\nFalse\n"


WRITTEN = """
from ffi_hpy import Object
import ffi_hpy.testing._library as library
from ffi_hpy.dataclasses import c_class
library.load()
said = []

@c_class("testing.TestCxxAutoInitSimple", eq=True, order=True, unsafe_hash=True)
class Simple(Object):
    x: int
    y: int
    def __post_init__(self):
        said.append((self.x + 2, self.y) if not said else "post")
    def __ne__(self, other):
        return False
    def __hash__(self):
        return 42
    def __lt__(self, other):
        return True

Simple(1, 2), Simple(y=2, x=1)
said.append("mine")
a, b = Simple(1, 2), Simple(1, 2)
said.pop(), said.pop()
said.append("post")
print(said)
print(a == a, a == b)  # __eq__ stays that of objects, as __ne__ is written
print(hash(a), a < b)
print("__ge__" in Simple.__dict__)
"""


# --- frozen -----------------------------------------------------------------------------------------------------------


def test_frozen_fields_refuse_assignment():
    made = TestFrozenCxx(1, "a")
    for name, value in (("value", 2), ("tag", "b")):
        with pytest.raises(AttributeError):
            setattr(made, name, value)
        with pytest.raises(AttributeError):
            delattr(made, name)
    assert (made.value, made.tag) == (1, "a")
    assert all(f.frozen for f in fields(TestFrozenCxx))


def test_frozen_fields_can_still_be_set_explicitly():
    made = TestFrozenCxx(1, "a")
    TestFrozenCxx.value.set(made, 5)
    assert made.value == 5
    with pytest.raises(TypeError):
        TestFrozenCxx.value.set(made, "x")
    other = replace(made, tag="c")
    assert (other.value, other.tag, made.tag) == (5, "c", "a")
    for name in ("nothing", "__copy__"):
        with pytest.raises(TypeError, match=rf"TestFrozenCxx\.__replace__\(\) got an unexpected keyword .* '{name}'"):
            replace(made, **{name: 1})


def test_inherited_fields_stay_as_their_class_defines_them():
    program = """
import ffi_hpy
from ffi_hpy import Object
import ffi_hpy.testing._library as library
from ffi_hpy.dataclasses import c_class, field
library.load()

@c_class("testing.TestCxxAutoInitParent")
class Parent(Object):
    parent_required: int
    parent_default: int = field(default=1)  # for type checkers

@c_class("testing.TestCxxAutoInitChild", frozen=True)
class Child(Parent):
    child_required: int
    child_kw_only: int

child = Child(1, 2, child_kw_only=3)
child.parent_required = 7
child.parent_default = 8
try:
    child.child_required = 1
except AttributeError:
    print(child)
"""
    assert run_python(program) == (
        "testing.TestCxxAutoInitChild(parent_required=7, parent_default=8, child_required=2, child_kw_only=3)\n"
    )


# --- comparison and hash ----------------------------------------------------------------------------------------------


def test_equality_and_order_are_of_the_fields():
    a, b, c = (_TestCxxClassDerived(1, 2, x) for x in (3.0, 3.0, 4.0))
    assert a == b
    assert (a != b) is False
    assert a != c
    assert a < c
    assert a <= b
    assert c > a
    assert c >= a
    assert not a < b
    assert hash(a) == hash(b) != hash(c)
    assert len({a, b, c}) == 2


def test_objects_of_unrelated_classes_are_not_compared():
    a = _TestCxxClassDerived(1, 2, 3.0)
    assert a != TestIntPair(1, 2)
    assert a != 1
    assert a.__eq__(1) is NotImplemented
    assert a.__lt__(TestIntPair(1, 2)) is NotImplemented
    with pytest.raises(TypeError, match="not supported between"):
        a < 1  # noqa: B015
    with pytest.raises(TypeError, match="not supported between"):
        a >= TestIntPair(1, 2)  # noqa: B015


def test_objects_of_related_classes_are_compared():
    a = _TestCxxClassDerived(1, 2, 3.0, 4.0)
    b = _TestCxxClassDerivedDerived(1, 2, 3.0, True, 4.0)
    assert a != b
    assert b != a
    assert isinstance(a == b, bool)


def test_without_eq_it_is_identity():
    assert TestIntPair(1, 2) != TestIntPair(1, 2)
    pair = TestIntPair(1, 2)
    assert pair == pair
    assert ffi_hpy._ffi_api.RecursiveEq(pair, TestIntPair(1, 2))


def test_hooks_of_the_type_decide():
    is_equal, is_less = EQUALITY["__eq__"], ORDER["__lt__"]
    assert is_equal(TestCustomCompare(1, "a"), TestCustomCompare(1, "b"))
    assert is_less(TestCustomCompare(1, "a"), TestCustomCompare(2, "a"))
    assert is_equal(TestCompare(1, "a", 2), TestCompare(1, "a", 3))
    with pytest.raises((TypeError, ValueError), match="__ffi_hash__"):
        recursive_hash(TestEqWithoutHash(1, "a"))


def test_an_object_that_was_moved_away_is_reported():
    gone = _TestCxxClassDerived(1, 2, 3.0)
    there = _TestCxxClassDerived(1, 2, 3.0)
    testing.nop(gone._move())
    empty = TestIntPair.__new__(TestIntPair)
    for call in (
        lambda: hash(_TestCxxClassDerived.__new__(_TestCxxClassDerived)),
        lambda: there == _TestCxxClassDerived.__new__(_TestCxxClassDerived),
        lambda: _TestCxxClassDerived.__new__(_TestCxxClassDerived) < there,
        lambda: copy.copy(empty),
        lambda: copy.deepcopy(empty),
        lambda: replace(empty, a=1),
    ):
        with pytest.raises(ValueError, match="no native object"):
            call()
    assert repr(empty) == "TestIntPair(chandle=None)"


# --- strings, copies --------------------------------------------------------------------------------------------------


def test_repr_is_of_the_fields_and_an_str():
    text = repr(TestObjectDerived({"k": TestIntPair(1, 2)}, [1, "text" * 40]))
    assert type(text) is str
    assert text.startswith("testing.TestObjectDerived(v_i64=10, v_f64=10, v_str=")
    assert "testing.TestIntPair(a=1, b=2)" in text
    assert "text" * 40 in text


def test_copies():
    inner = TestIntPair(1, 2)
    made = TestObjectDerived({"k": inner}, [inner])
    shallow, deep = copy.copy(made), copy.deepcopy(made)
    assert type(shallow) is type(deep)  # another test may have registered a class
    assert isinstance(deep, ffi_hpy.Object)
    assert not shallow.same_as(made)
    assert shallow.v_map.same_as(made.v_map)
    assert not deep.v_map.same_as(made.v_map)
    assert deep.v_array[0].same_as(deep.v_map["k"])  # two references to one object stay references to one object
    assert not deep.v_array[0].same_as(inner)
    both = copy.deepcopy([made, made])
    assert both[0] is both[1]
    assert copy.deepcopy(made, {}).v_array[0].b == 2
    with pytest.raises(TypeError, match="at most"):
        made.__deepcopy__({}, 1)


def test_a_deep_copy_leaves_the_expected_entries_in_the_memo():
    made, memo = TestIntPair(1, 2), {}
    deep = copy.deepcopy(made, memo)
    assert memo == {id(made): deep, id(memo): [made]}
    assert memo[id(memo)][0] is made
    assert copy.deepcopy(made, memo) is deep
    other = TestIntPair(3, 4)
    copy.deepcopy(other, memo)
    assert [kept is one for kept, one in zip(memo[id(memo)], (made, other))] == [True, True]


@pytest.mark.parametrize(
    "made", [ffi_hpy.Array([1]), ffi_hpy.List([1]), ffi_hpy.Map({1: 2}), ffi_hpy.Dict({1: 2})], ids=type
)
def test_a_deep_copy_of_a_container_leaves_the_same_in_the_memo(made):
    memo = {}
    copied = copy.deepcopy(made, memo)
    assert copied == made
    assert copied is not made
    assert memo[id(memo)] == [made]
    assert copy.deepcopy([made, made], memo)[1] is copied


def test_a_deep_copy_takes_any_memo():
    made = TestIntPair(1, 2)
    for memo in (None, 7, {"a": 1}, collections.OrderedDict(), collections.defaultdict(list)):
        assert made.__deepcopy__(memo).b == 2


def test_copying_an_object_without_a_copy_is_an_error():
    with pytest.raises(TypeError, match="`TestNonCopyable` does not support copy"):
        copy.copy(TestNonCopyable(1))
    with pytest.raises((TypeError, RuntimeError), match="copy"):
        copy.deepcopy(TestNonCopyable(1))
    with pytest.raises(TypeError, match="does not support copy"):
        replace(TestNonCopyable(1), value=2)


# --- the decorator ----------------------------------------------------------------------------------------------------


def test_fields_are_described():
    described = {f.name: f for f in fields(_TestCxxAutoInit)}
    assert list(described) == ["a", "b", "c", "d"]
    assert all(isinstance(f, Field) and f.type is int for f in described.values())
    assert (described["b"].init, described["b"].default) == (False, 42)
    assert (described["c"].kw_only, described["c"].default) == (True, MISSING)
    assert is_dataclass(_TestCxxAutoInit)
    assert not is_dataclass(ffi_hpy.Array([1]))
    hidden = {f.name: f for f in fields(TestCompare)}
    assert (hidden["ignored_field"].compare, hidden["key"].compare) == (False, True)


def test_a_field_without_annotation_is_warned_about():
    program = """
import sys, warnings
from ffi_hpy import Object
import ffi_hpy.testing._library as library
from ffi_hpy.dataclasses import c_class
library.load()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    @c_class("testing.TestCxxKwOnly")
    class KwOnly(Object):
        x: int
        y: "NothingThatIsThere"
print([(w.category.__name__, "w, z" in str(w.message), w.filename) for w in caught])
print(KwOnly(x=1, y=2, z=3).w)
"""
    assert run_python(program) == "[('UserWarning', True, '<string>')]\n100\n"


def test_the_decorator_refuses_wrong_classes():
    with pytest.raises(ValueError, match=r"Cannot find object type index for testing\.Nothing"):
        c_class("testing.Nothing")(type(ffi_hpy.Object)("Nothing", (ffi_hpy.Object,), {}))
    with pytest.raises(TypeError, match="does not derive from"):
        c_class("testing.TestIntPair")(type("Plain", (), {}))
    assert testing.TestIntPair(1, 2).sum() == 3


def test_a_placeholder_of_a_field_does_not_hide_the_field():
    program = """
from ffi_hpy import Object
import ffi_hpy.testing._library as library
from ffi_hpy.dataclasses import c_class, field
library.load()
@c_class("testing.TestObjectBase")
class Base(Object):
    v_i64: int = field(default=3, doc="for readers")
    v_f64: float = 1.5
    v_str: str
print(Base(), Base.v_f64, Base().v_i64)
"""
    assert run_python(program) == 'testing.TestObjectBase(v_i64=10, v_f64=10, v_str="hello") 1.5 10\n'


@pytest.mark.thread_unsafe(reason="starts threads of its own")
def test_many_threads_make_compare_and_copy():
    shared = TestObjectDerived({"k": 1}, [1, 2, 3])

    def work(i):
        for k in range(200):
            made = _TestCxxClassDerived(i, k, 1.0)
            assert made == _TestCxxClassDerived(i, k, 1.0)
            assert hash(made) == hash(copy.copy(made))
            assert copy.deepcopy(shared).v_array[2] == 3
            assert repr(made).startswith("testing.TestCxxClassDerived(")
        return i

    assert parallelize(work) == [0, 1, 2, 3]


def test_many_threads_decorate_classes_for_one_type():
    program = """
import threading
from ffi_hpy import Object
import ffi_hpy.testing._library as library
from ffi_hpy.dataclasses import c_class, fields
library.load()
barrier, made = threading.Barrier(4), []
def work():
    barrier.wait()
    @c_class("testing.TestCxxAutoInitSimple", eq=True)
    class Simple(Object):
        x: int
        y: int
    made.append(Simple)
    assert Simple(1, 2) == Simple(1, 2)
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print(len(made), {tuple(f.name for f in fields(cls)) for cls in made})
"""
    assert run_python(program) == "4 {('x', 'y')}\n"


# --- ffi_hpy.testing --------------------------------------------------------------------------------------------------


def test_objects_by_reflection():
    made = testing.create_object("testing.TestObjectBase", v_i64=5)
    assert (made.v_i64, made.v_str) == (5, "hello")
    assert testing.make_unregistered_object().v2 == 42
    assert testing.add_one(41) == 42
    with pytest.raises(TypeError, match="does not have field"):
        testing.create_object("testing.TestObjectBase", nothing=5)
    with pytest.raises(RuntimeError, match="Cannot find type"):
        testing.create_object("testing.Nothing")


@pytest.mark.thread_unsafe(reason="sets the environment")
def test_the_lock_for_a_device_lets_one_in(tmp_path, monkeypatch):
    monkeypatch.setenv("TVM_FFI_TEST_LOCK_DIR", str(tmp_path / "locks"))
    inside, overlaps = [], []

    def work(value):
        inside.append(value)
        overlaps.append(len(inside))
        threading.Event().wait(0.01)
        inside.remove(value)
        return value * 2

    threads = [threading.Thread(target=testing.run_with_gpu_lock, args=(work, i)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert overlaps == [1, 1, 1, 1]
    assert testing.run_with_gpu_lock(work, value=4) == 8
    assert (tmp_path / "locks" / "gpu.lock").exists()


def test_marks_for_versions_of_python():
    from ffi_hpy.testing.testing import requires_py310, requires_py312

    assert requires_py310.name == requires_py312.name == "skipif"
    with pytest.raises(AttributeError, match="requires_py4"):
        testing.testing.requires_py4  # noqa: B018


@pytest.mark.parametrize(
    "use",
    [
        "ffi_hpy.testing.echo(1)",
        "ffi_hpy.get_global_func('testing.echo')(1)",
        "ffi_hpy.register_object('testing.TestIntPair')(type('Pair', (ffi_hpy.Object,), {}))(1, 2)",
    ],
    ids=["module", "function", "type"],
)
def test_the_library_is_loaded_at_the_first_use_of_its_names(use):
    program = f"""
import ffi_hpy
there = lambda: "testing.echo" in ffi_hpy.list_global_func_names()
assert ffi_hpy.get_global_func("other.echo", allow_missing=True) is None
print(there(), end=" ")
{use}
print(there())
assert ffi_hpy.get_global_func("testing.nothing", allow_missing=True) is None
import ffi_hpy.dropin
ffi_hpy.dropin.install()
import tvm_ffi.testing
from tvm_ffi.testing.testing import TestIntPair
print(tvm_ffi.testing is ffi_hpy.testing, tvm_ffi.testing.TestIntPair is TestIntPair)
"""
    assert run_python(program) == "False True\nTrue True\n"
