"""Lifetimes: callbacks and Python objects that native code owns, and the absence of leaks in long use."""

import copy
import gc
import pickle
import random
import sys
import weakref

import pytest
from support import (
    FREES_AT_ONCE,
    IS_DEBUG,
    IS_OVER_CFFI,
    IS_PYPY,
    NO_GIL,
    REFUSES_FINALIZERS,
    collect_garbage,
    is_gone,
    parallelize,
    run_python,
)

import ffi_hpy
import ffi_hpy.testing
from ffi_hpy import _core, core
from ffi_hpy._values.plain import OpaquePtr

counts_references = pytest.mark.skipif(not FREES_AT_ONCE, reason="only where references are counted")


class Thing:
    """A class with weak references and a __call__."""

    def __call__(self, *args):
        return args


def test_a_function_keeps_its_callable_alive():
    thing = Thing()
    ref = weakref.ref(thing)
    function = ffi_hpy.convert(thing)
    del thing
    assert ref() is not None
    assert function(1) == (1,)
    del function
    assert is_gone(ref)


def test_native_code_keeps_a_callable_alive(extension):
    thing = Thing()
    ref = weakref.ref(thing)
    stored = extension.store_value(thing)
    del thing
    collect_garbage(lambda: ref() is None)
    assert ref() is not None
    assert extension.take_stored(stored)(1) == (1,)
    assert is_gone(ref)


def test_native_code_keeps_an_unknown_object_alive(extension):
    class Unknown:
        pass

    value = Unknown()
    ref = weakref.ref(value)
    stored = extension.store_value([value, "a text of some length"])
    del value
    collect_garbage(lambda: ref() is None)
    assert ref() is not None
    assert extension.take_stored(stored)[0] is ref()
    assert is_gone(ref)


def test_a_temporary_callback_is_freed_after_the_call(testing):
    thing = Thing()
    ref = weakref.ref(thing)
    testing.apply(thing, 1)
    del thing
    assert is_gone(ref)


def test_arguments_and_result_of_a_callback_are_freed(testing):
    refs = []

    class Unknown:
        pass

    def callback(x):
        made = Unknown()
        refs.extend([weakref.ref(x), weakref.ref(made)])
        return [made]

    value = Unknown()
    testing.apply(callback, value)
    del value
    assert [is_gone(ref) for ref in refs] == [True, True]


def test_arguments_are_freed_when_one_of_them_is_refused(testing):
    class Unknown:
        pass

    value, thing = Unknown(), Thing()
    refs = [weakref.ref(value), weakref.ref(thing)]
    with pytest.raises(UnicodeEncodeError):
        testing.echo(value, [thing, {"a": value}], thing, "\ud800")
    del value, thing
    assert [is_gone(ref) for ref in refs] == [True, True]


def test_objects_that_native_code_drops_are_freed_whatever_it_keeps():
    choose = random.Random(9)
    functions, refs = [], []
    for _ in range(80 if FREES_AT_ONCE else 30):  # each round may run collections
        if functions and choose.random() < 0.5:
            at = choose.randrange(len(functions))
            del functions[at]
            assert is_gone(refs.pop(at))
        else:
            thing = Thing()
            functions.append(ffi_hpy.convert(thing))
            refs.append(weakref.ref(thing))
            del thing


@pytest.mark.skipif(IS_DEBUG, reason="in hpy's debug mode objects that native code drops wait for the next call")
def test_collections_alone_free_the_items_of_a_container():
    ended = []

    class Noted:
        def __del__(self):
            ended.append(True)

    items = ffi_hpy.List([Noted()])
    del items
    for _ in range(6):  # an idle program: no call of ffi_hpy
        gc.collect()
    assert ended == [True]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
@pytest.mark.parametrize("kind", ["value", "iterator"])
def test_a_value_that_cannot_be_copied_keeps_its_reference(IntPair, copied, kind):
    witness = IntPair(1, 2)
    value = core.CAny(witness) if kind == "value" else iter(ffi_hpy.Array([witness] * 100))
    collect_garbage(n_rounds=4)  # the conversion may leave a wrapper behind
    before = witness.__use_count__()
    for _ in range(20):
        try:
            copied(value)
        except (TypeError, pickle.PicklingError, DeprecationWarning):  # the last one comes from CPython's own iterators
            pass
    collect_garbage(n_rounds=4)  # until then an incomplete copy may hold a reference
    assert witness.__use_count__() == before


def test_an_object_is_freed_with_its_last_wrapper(testing, extension, IntPair):
    witness = IntPair(1, 2)
    array = ffi_hpy.Array([witness, witness])
    assert witness.__use_count__() == 3
    copies = [extension.take_stored(extension.store_value(witness))]
    for _ in range(3):
        testing.apply(copies.append, witness)
    assert witness.__use_count__() == (6 if ffi_hpy._core.KEEPS_IDENTITY else 7)
    del copies, array
    collect_garbage(lambda: witness.__use_count__() == 1)
    assert witness.__use_count__() == 1


def test_a_cycle_through_native_code_can_be_broken(extension):
    thing = Thing()
    ref = weakref.ref(thing)
    thing.function = ffi_hpy.convert(thing)  # no collector sees the reference that native code owns
    thing.function = None
    del thing
    assert is_gone(ref)


@counts_references
def test_references_return_to_where_they_were(testing, extension):
    thing, unknown, text = Thing(), object.__new__(Thing), "x" * 1000

    def use():
        testing.apply(thing, unknown, text)
        testing.echo([thing, unknown, {"a": text}])
        extension.take_stored(extension.store_value(thing))
        extension.take_stored(extension.store_value((unknown, text)))
        extension.call_on_thread(thing, unknown)
        with pytest.raises(UnicodeEncodeError):
            testing.echo(thing, unknown, text, "\ud800")
        with pytest.raises(TypeError):
            testing.add_one(unknown)

    use()
    before = [sys.getrefcount(x) for x in (thing, unknown, text)]
    for _ in range(20):
        use()
    assert [sys.getrefcount(x) for x in (thing, unknown, text)] == before


@counts_references
def test_a_call_keeps_the_reference_counts_of_singletons(testing):
    """From 3.12 on they are immortal: their counts never change."""
    singletons = (None, True, False, (), "", 7, int)
    before = [sys.getrefcount(x) for x in singletons]
    for _ in range(1000):
        for x in singletons:
            testing.echo(x)
        testing.apply(lambda *args: args[0], *singletons)
    after = [sys.getrefcount(x) for x in singletons]
    slack = 100 if sys.version_info < (3, 12) else 0
    assert all(abs(a - b) <= slack for a, b in zip(after, before)), (before, after)


LEAK_PROGRAM = """
import gc, itertools, resource, sys
import ffi_hpy

count = itertools.count()

module = ffi_hpy.load_module(sys.argv[1])
ffi_hpy.load_module(sys.argv[2])
echo = ffi_hpy.get_global_func("testing.echo")
apply = ffi_hpy.get_global_func("testing.apply")
raise_error = ffi_hpy.get_global_func("testing.test_raise_error")

@ffi_hpy.register_object("ffi_hpy_test.IntPair")
class IntPair(ffi_hpy.Object):
    pass

class Unknown:
    pass

def fail():
    raise KeyError("x")

def objects():
    pair = IntPair(1, 2)
    echo(pair), echo(pair._move())

def texts():
    echo("a text of some length"), echo(b"bytes of some length"), echo(ffi_hpy.Shape((1, 2)))

def containers():
    echo([1, "a text of some length", {"a": [Unknown()]}]), list(ffi_hpy.Array([1, 2])), dict(ffi_hpy.Map({1: 2}))

def callbacks():
    apply(lambda *a: list(a), 1, "a text of some length", Unknown()), echo(lambda: 1)()

def errors():
    for call in (lambda: raise_error("ValueError", "boo"), lambda: apply(fail), lambda: echo([2**64])[0],
                 lambda: echo("\\ud800")):
        try:
            call()
        except Exception:
            pass

def stores():
    module.drop_on_thread(module.store_value(Unknown())), module.take_stored(module.store_value(lambda: 1))

def lookups():
    module.get_function("pair_sum"), ffi_hpy.get_global_func("testing.echo")
    ffi_hpy.device("cuda:1"), ffi_hpy.dtype("int8x4")

def names():
    name = f"test.name{next(count)}"
    ffi_hpy.register_global_func(name, echo)
    ffi_hpy.get_global_func(name)
    ffi_hpy.remove_global_func(name)

work = globals()[sys.argv[3]]

def resident():
    gc.collect()
    echo(None)
    gc.collect()
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()

n, bound = map(int, sys.argv[4:])
for _ in range(20):  # PyPy compiles for ten of them, and an emulator translates the code once more
    before = resident()
    for _ in range(n):
        work()
    grown = (resident() - before) / n
    if grown < bound:
        break
print(grown)
"""


@pytest.mark.thread_unsafe(reason="a long program, the same for each thread")
@pytest.mark.parametrize(
    "work", ["objects", "texts", "containers", "callbacks", "errors", "stores", "lookups", "names"]
)
def test_ten_thousand_repetitions_leave_nothing_behind(extension_path, testing_library, work):
    bound = 12
    bytes_each = float(run_python(LEAK_PROGRAM, extension_path, testing_library, work, 10_000, bound))
    # Caches, allocators and just-in-time compilers grow at first; only growth in every round is a leak.
    assert bytes_each < bound


KEEPS_TYPES = IS_PYPY and ffi_hpy._core.HAS_EXTENSION and not IS_OVER_CFFI
KEPT = "PyPy 8 keeps each type of which C code has met an instance, 3.13t each one made after a thread began"
can_end = pytest.mark.skipif(KEEPS_TYPES or (NO_GIL and sys.version_info < (3, 14)), reason=KEPT)


def made_classes():
    """Return functions that make a class, pass an instance of it to native code, and return the class."""
    testing_pair = ffi_hpy.testing.TestIntPair
    echo = ffi_hpy.get_global_func("testing.echo")

    def pass_instance(name, bases, body, *arguments):
        cls = type(bases[0] if bases else object)(name, bases, body)
        echo(cls(*arguments))
        return cls

    return {
        "unknown": lambda: pass_instance("Made", (), {}),
        "converter": lambda: pass_instance("Made", (), {"__tvm_ffi_value__": lambda self: 1}),
        "number": lambda: pass_instance("Made", (int,), {}, 3),
        "text": lambda: pass_instance("Made", (ffi_hpy.String,), {}, "a text of some length"),
        "error": lambda: pass_instance("Made", (ValueError,), {}, "text"),
        "subclass": lambda: pass_instance("Made", (testing_pair,), {}, 1, 2),
        "array": lambda: pass_instance("Made", (ffi_hpy.Array,), {}, [1]),
    }


CLASSES = ("unknown", "converter", "number", "text", "error", "subclass", "array")


@can_end
@pytest.mark.parametrize("which", CLASSES)
def test_a_class_is_freed_after_an_instance_went_to_native_code(testing, which):
    make = made_classes()[which]
    for _ in range(3 if IS_PYPY else 1):  # PyPy's JIT may compile code that keeps one of the classes
        ref = weakref.ref(make())
        collect_garbage(lambda ref=ref: ref() is None)
        if ref() is None:
            return
    pytest.fail("the class is still there")


@pytest.mark.parametrize("which", CLASSES)
def test_a_class_at_the_address_of_another_is_not_taken_for_it(testing, which):
    make = made_classes()
    for _ in range(3 if IS_PYPY else 8):
        make[which]()
        collect_garbage(n_rounds=1)
        made = [make[other]() for other in CLASSES for _ in range(3)]
        values = [testing.echo(cls.__new__(cls)) for cls in made[:3]]
        assert [type(value) for value in values] == made[:3]
        assert testing.echo(make["converter"]()()) == 1
        assert testing.echo(make["number"]()(7)) == 7


@can_end
@pytest.mark.skipif(IS_PYPY, reason="PyPy refuses weak references to a class that is ending, and abc asks for them")
def test_a_class_that_its_instance_passes_on_while_it_ends_is_not_remembered(testing):
    seen = []

    class Last:
        def __del__(self):
            seen.append(type(testing.echo(self)) is type(self))

    instance = Last()
    instance.itself = instance
    ref = weakref.ref(Last)
    del instance, Last
    collect_garbage(lambda: ref() is None)
    assert ref() is None
    assert seen == [True]
    # New classes get the addresses of freed classes.
    made = [type("Made", (), {"__tvm_ffi_value__": lambda self: 1}) for _ in range(200)]
    assert {testing.echo(cls()) for cls in made} == {1}
    assert {testing.echo(type("Number", (int,), {})(5)) for _ in range(200)} == {5}


@can_end
def test_a_class_that_is_resurrected_is_passed_on_as_before(testing):
    saved = []

    class Back:
        def __del__(self):
            saved.append(self)

        def __tvm_ffi_value__(self):
            return 41

    instance = Back()
    assert testing.echo(instance) == 41
    instance.itself = instance
    del instance, Back
    collect_garbage(lambda: bool(saved))
    assert [testing.echo(saved[0]) for _ in range(3)] == [41] * 3


def test_threads_make_and_drop_classes_while_others_pass_instances(testing):
    class Lasting:
        def __tvm_ffi_value__(self):
            return 1

    lasting = Lasting()

    def work(i):
        for n in range(300):
            made = type("Made", (), {"__tvm_ffi_value__": lambda self, n=n: n})
            assert testing.echo(made()) == n
            assert testing.echo(lasting) == 1
            assert testing.echo(type("Number", (int,), {})(n)) == n
            if i == 0 and n % 50 == 0:
                gc.collect()

    parallelize(work, 3)


class Finalized:
    def __del__(self):
        pass


class Counted:
    n = 0

    def __del__(self):
        Counted.n += 1


@pytest.mark.skipif(REFUSES_FINALIZERS, reason="PyPy refuses __del__ in native classes")
@pytest.mark.thread_unsafe(reason="counts the objects that all threads destroy")
@pytest.mark.parametrize("base", [ffi_hpy.List, ffi_hpy.Object, ffi_hpy.Device, ffi_hpy.Function])
def test_a_finalizer_runs_whether_or_not_a_mixin_has_it(base):
    class Mixed(Counted, base):
        pass

    class Own(base):
        def __del__(self):
            Counted.n += 1

    Counted.n = 0
    arguments = ([1],) if base is ffi_hpy.List else ("cpu",) if base is ffi_hpy.Device else ()
    for cls in (Mixed, Own):
        made = cls(*arguments)
        del made
    collect_garbage(lambda: Counted.n == 2)
    assert Counted.n == 2


@pytest.mark.skipif(not REFUSES_FINALIZERS, reason="others finalize these objects as all others")
@pytest.mark.parametrize(
    "base",
    [
        *(ffi_hpy.List, ffi_hpy.Object, ffi_hpy.Tensor, ffi_hpy.Device, ffi_hpy.Function),
        *(core.CObject, core.TypeSchema, _core.FieldSlot, _core.CMapping, core.DataType),
    ],
)
def test_a_subclass_of_a_native_class_does_not_inherit_a_finalizer(base):
    with pytest.raises(TypeError, match=r"Both.__del__: this PyPy cannot finalize"):
        type(base)("Both", (Finalized, base), {})


@pytest.mark.parametrize("base", [_core.CAny, _core.Initializer, _core.ObjectRValueRef, OpaquePtr])
def test_a_native_class_that_is_not_a_base_refuses_subclasses(base):
    with pytest.raises(TypeError, match="is not an acceptable base type"):
        type("Sub", (base,), {"__slots__": ()})
