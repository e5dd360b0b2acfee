"""The HPy runtime: tests of features that HPy's own test suite does not cover.

FFI_HPY_RUNTIME names the runtime to test (a path to _hpy.so; default: the runtime of ffi_hpy). HPY_INCLUDE names the
folder with hpy.h (default: that of the installed hpy).
"""

import contextlib
import gc
import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

IS_PYPY = sys.implementation.name == "pypy"
needs_c_cycles = pytest.mark.skipif(IS_PYPY, reason="PyPy's collector does not follow the references of C structs")


def load_runtime():
    path = os.environ.get("FFI_HPY_RUNTIME")
    if path is None:
        import ffi_hpy._hpy

        return ffi_hpy._hpy
    loader = importlib.machinery.ExtensionFileLoader("_hpy", path)
    spec = importlib.util.spec_from_file_location("_hpy", path, loader=loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def hpy_include():
    if "HPY_INCLUDE" in os.environ:
        return os.environ["HPY_INCLUDE"]
    spec = importlib.util.find_spec("hpy")
    if spec is None:
        pytest.skip("the headers of HPy are not here: set HPY_INCLUDE or install hpy")
    return str(Path(next(iter(spec.submodule_search_locations))) / "devel" / "include")


def compile_universal(source, target):
    # no -Wextra: HPy's macros omit initializers
    subprocess.run(
        [
            "cc",
            "-std=c11",
            "-O2",
            "-g",
            "-fPIC",
            "-shared",
            "-Wall",
            "-Werror",
            "-DHPY_ABI_UNIVERSAL",
            "-isystem",
            hpy_include(),
            str(source),
            "-o",
            str(target),
        ],
        check=True,
    )
    return str(target)


@pytest.fixture(scope="session")
def runtime():
    return load_runtime()


@pytest.fixture(scope="session")
def probe_path(tmp_path_factory):
    return compile_universal(HERE / "probe.c", tmp_path_factory.mktemp("probe") / "probe.hpy0.so")


@pytest.fixture(scope="session", params=["universal", "debug"])
def probe(request, runtime, probe_path, tmp_path_factory):
    """The probe, in each mode of the runtime; a file can be loaded in one mode only."""
    if request.param == "universal":
        return runtime.load("probe", probe_path)
    path = tmp_path_factory.mktemp("probe_debug") / "probe.hpy0.so"
    path.write_bytes(Path(probe_path).read_bytes())
    return runtime.load("probe", str(path), debug=True)


@pytest.fixture
def with_extension(probe):
    if probe.extension(1) is None:
        pytest.skip("the debug context has no extension")


def skip_if_types_are_immortal():
    if sys.version_info[:2] == (3, 13) and not getattr(sys, "_is_gil_enabled", lambda: True)():
        pytest.skip("free-threaded 3.13 makes every type immortal once a second thread was started")


def collect():
    """Collect garbage: PyPy frees the memory of C extensions one collection after the finalizers ran."""
    for _ in range(4 if IS_PYPY else 1):
        gc.collect()


@contextlib.contextmanager
def collecting_always():
    """Run the block with a collection at every allocation. PyPy has no threshold, so the block has no effect there."""
    if IS_PYPY:
        yield
        return
    thresholds = gc.get_threshold()
    gc.set_threshold(1)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def destroyed_by(probe, make):
    """Return how often each destroy function ran for the objects that make() drops."""
    collect()  # garbage of earlier tests
    before = probe.destroyed_counts()
    make()
    collect()
    return tuple(b - a for a, b in zip(before, probe.destroyed_counts()))


# ---- loading ----


def test_loading_leaves_the_gil_as_it_was(probe):
    if not hasattr(sys, "_is_gil_enabled"):
        pytest.skip("an interpreter without the question")
    import sysconfig

    assert sys._is_gil_enabled() is not bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def test_module_attributes_come_from_spec_and_path(runtime, probe_path):
    spec = importlib.machinery.ModuleSpec("pkg.probe", None, origin="elsewhere")
    module = runtime.load("pkg.probe", probe_path, spec)
    assert (module.__name__, module.__file__, module.__package__) == ("pkg.probe", probe_path, "pkg")
    assert module.__spec__ is spec
    assert module.__doc__ == "a probe"
    assert module.nop.__module__ == "pkg.probe"


def test_missing_file_is_an_import_error_that_names_it(runtime, tmp_path):
    missing = str(tmp_path / "missing.hpy0.so")
    with pytest.raises(ImportError, match=re.escape(missing)):
        runtime.load("probe", missing)


def test_wrong_module_name_is_an_import_error_that_names_the_symbol(runtime, probe_path):
    with pytest.raises(ImportError, match=r"probe\.hpy0\.so does not define get_required_hpy_major_version_other"):
        runtime.load("other", probe_path)


def test_wrong_argument_counts_and_types_are_type_errors(runtime):
    with pytest.raises(TypeError, match="got 1 arguments"):
        runtime.load("probe")
    with pytest.raises(TypeError):
        runtime.load(1, "x")


# ---- functions ----


def test_each_signature_receives_its_arguments(probe):
    o = object()
    assert probe.nop() is None
    assert probe.same(o) is o
    assert probe.add_one(41) == 42
    assert probe.pack(1, o, "x") == (1, o, "x")
    assert probe.pack() == ()
    assert probe.pack_all(1, a=2, b=3) == [1, 2, 3]
    for wrong in (lambda: probe.nop(1), lambda: probe.same(), lambda: probe.pack(a=1)):
        with pytest.raises(TypeError):
            wrong()


def test_error_of_a_conversion_reaches_the_caller(probe):
    with pytest.raises(OverflowError):
        probe.add_one(2**63)
    with pytest.raises(TypeError):
        probe.add_one("x")


def test_call_and_call_method(probe):
    assert probe.call_with(lambda a, b=0: (a, b), 1, 2, ("b",)) == (1, 2)
    assert probe.call_with(len, "abc", None) == 3
    assert probe.upper("abc") == "ABC"
    with pytest.raises(TypeError, match="kwnames"):
        probe.call_with(len, 1, 2, ["b"])


def test_global_keeps_its_value_and_drops_the_old_one(probe):
    class Thing:
        pass

    thing = Thing()
    gone = weakref.ref(thing)
    probe.remember(thing)
    del thing
    assert probe.recall() is gone()
    probe.remember(None)
    collect()
    assert gone() is None


def test_globals_survive_stores_and_loads_from_several_threads(probe):
    n_threads = 4
    barrier = threading.Barrier(n_threads)
    failures = []

    def work(i):
        barrier.wait()
        for k in range(5000):
            if i % 2:
                probe.remember([i, k])
            elif (value := probe.recall()) is not None and len(value) != 2:
                failures.append(value)

    probe.remember(None)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(n_threads)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    probe.remember(None)
    assert failures == []


# ---- types ----


def test_struct_is_zeroed_and_members_and_getset_work(probe):
    b = probe.Base("v")
    assert (b.number, b.value, b.double) == (7, "v", 14)
    b.double = 20
    b.value = 3
    assert (b.number, b.value) == (10, 3)
    b.number = 7
    with pytest.raises(TypeError, match="cannot be deleted"):
        del b.double
    assert (probe.Base.__name__, probe.Base.__module__, probe.Base.__doc__) == ("Base", "probe", "the base")
    assert probe.Base().value is None


def test_each_destroy_runs_once_from_derived_to_base(probe):
    assert destroyed_by(probe, lambda: probe.Base()) == (1, 0, 0)
    assert destroyed_by(probe, lambda: probe.Derived()) == (1, 1, 0)
    assert issubclass(probe.Derived, probe.Base)


def test_python_subclass_is_destroyed_once_with_its_dict_and_finalizer(probe):
    finalized = []

    class Sub(probe.Base):
        def __del__(self):
            finalized.append(self.number)

    def make():
        s = Sub([1])
        s.attribute = weakref.WeakSet()

    assert destroyed_by(probe, make) == (1, 0, 0)
    assert finalized == [7]


@needs_c_cycles
def test_cycles_through_fields_are_collected(probe):
    def make():
        b = probe.Base()
        b.value = [b]

    assert destroyed_by(probe, make) == (1, 0, 0)


@needs_c_cycles
def test_python_subclass_and_its_instances_form_a_collectable_cycle(probe):
    skip_if_types_are_immortal()

    def make():
        class Sub(probe.Base):
            pass

        Sub.instance = Sub()
        return weakref.ref(Sub)

    gone = make()
    collect()
    assert gone() is None


def test_finalizer_may_resurrect(probe):
    kept = []

    class Sub(probe.Adder):
        def __del__(self):
            kept.append(self)

    def make():
        Sub(5)

    assert destroyed_by(probe, make) == (0, 0, 0)
    assert kept[0](1) == 6
    kept[0].__class__.__del__ = lambda self: None
    assert destroyed_by(probe, kept.clear) == (0, 0, 1)


@pytest.mark.skipif(IS_PYPY, reason="PyPy has no reference counts to ask for")
def test_type_references_are_balanced(probe):
    class Sub(probe.Adder):
        pass

    def count():
        return sys.getrefcount(probe.Adder), sys.getrefcount(Sub), sys.getrefcount(probe.Base)

    collect()
    before = count()
    for _ in range(100):
        probe.Adder(), Sub(), probe.Base(), probe.Derived()
        probe.make_adder(Sub)
    collect()
    # A deferred count, which is a huge number, omits the current references of the interpreter's stack and caches.
    assert all(abs(a - b) < (10 if b > 2**32 else 1) for a, b in zip(count(), before))


def test_hpy_type_on_a_python_class_keeps_the_dict_of_that_class(probe):
    class Plain:
        pass

    top = probe.make_on(Plain, 0, False)
    gone = []

    def make():
        o = top()
        o.attribute = type("Thing", (), {"__del__": lambda self: gone.append(1)})()

    make()
    collect()
    assert gone == [1]


def test_hpy_type_on_a_python_subclass_of_an_hpy_type(probe):
    class Middle(probe.Base):
        pass

    top = probe.make_on(Middle, 0, True)

    def make():
        o = top("v")
        o.attribute = o

    assert destroyed_by(probe, make) == (1, 1, 0)


@pytest.mark.skipif(IS_PYPY, reason="PyPy keeps slots elsewhere: they are not in the way of a struct")
def test_struct_on_top_of_a_class_that_is_in_its_place_is_refused(probe):
    class Middle(probe.Base):
        __slots__ = ("x",)

    with pytest.raises(TypeError, match=r"a struct .basicsize 64. cannot have the base .*Middle"):
        probe.make_on(Middle, 64, True)
    assert probe.make_on(probe.Base, 64, True)("v").value == "v"


def test_new_wants_an_hpy_type(probe):
    for wrong in (int, 3):
        with pytest.raises(TypeError, match="HPy_New expects a type"):
            probe.make_adder(wrong)


# ---- callables ----


def test_call_slot(probe):
    a = probe.Adder(10)
    assert a() == 10
    assert a(1, 2, 3) == 16
    assert a.__call__(1) == 11
    with pytest.raises(TypeError):
        a("x")
    assert callable(a)
    assert not callable(probe.Base())


def test_call_slot_survives_a_python_subclass(probe):
    class Sub(probe.Adder):
        def __init__(self, start):
            super().__init__(start)
            self.note = "kept"

    class SubSub(Sub):
        __slots__ = ("more",)

        def __new__(cls, *args):
            return super().__new__(cls, *args)

    for cls in (Sub, SubSub):
        s = cls(1)
        assert s(2) == 3
        assert s.note == "kept"
    assert probe.make_adder(Sub)(4) == 4


def test_call_slot_survives_a_larger_struct_in_hpy(probe):
    b = probe.BigAdder(1)
    b.fill()
    assert b(2) == 3

    class Sub(probe.BigAdder):
        pass

    s = Sub(5)
    s.fill()
    assert s(2) == 7


def test_set_call_function_changes_one_instance(probe):
    a, b = probe.Adder(1), probe.Adder(1)
    a.set_negate()
    assert (a(5), b(5)) == (-5, 6)


# ---- metaclasses ----


def test_metaclass_with_a_struct(probe):
    T = probe.make_type(probe.Meta, ())
    U = probe.make_type(probe.Meta, (T,))
    assert type(T) is probe.Meta
    assert U.__mro__ == (U, T, object)
    T.set_tag(11), U.set_tag(22)
    assert (T.get_tag(), U.get_tag()) == (11, 22)
    assert T(1)(2) == 3
    assert U(1)(2) == 3

    class Sub(U):
        __slots__ = ("x",)

    Sub.set_tag(33)
    assert type(Sub) is probe.Meta
    assert Sub.get_tag() == 33
    assert T.get_tag() == 11
    s = Sub(1)
    s.x = 4
    assert s(s.x) == 5


def test_classes_made_in_python_have_the_struct_of_their_metaclass(probe):
    made = [probe.Meta(f"Made{i}", (), {}) for i in range(100)]
    made += [type.__new__(probe.Meta, "ByType", (), {})] if IS_PYPY else []  # CPython refuses this

    class SubMeta(probe.Meta):
        pass

    class Sub(made[0], metaclass=SubMeta):
        pass

    made.append(Sub)
    assert [T.get_tag() for T in made] == [0] * len(made)
    for tag, T in enumerate(made):
        T.set_tag(tag)
    assert [T.get_tag() for T in made] == list(range(len(made)))


def test_a_type_with_a_metaclass_is_one_among_the_subclasses_of_its_base(probe):
    T = probe.make_type(probe.Meta, ())
    U = probe.make_type(probe.Meta, (T,))
    collect()
    assert T.__subclasses__() == [U]
    assert (U.__module__, U.__name__, U.__qualname__) == ("probe", "Adder", "Adder")
    assert sorted(vars(U)) == sorted(vars(probe.make_type(type, (probe.Adder,))))


@pytest.mark.skipif(IS_PYPY, reason="PyPy never collects a type that was made in C, whatever its class")
def test_types_with_a_metaclass_are_collected(probe):
    skip_if_types_are_immortal()
    gone = weakref.ref(probe.make_type(probe.Meta, ()))
    collect()
    assert gone() is None


def test_metaclass_of_a_base_is_taken_over(probe):
    T = probe.make_type(probe.Meta, ())
    U = probe.make_type(type, (T,))
    assert type(U) is probe.Meta
    with pytest.raises(TypeError, match=r"[Mm]etaclass"):
        probe.make_type(int, ())


def test_metaclass_with_its_own_new_is_refused(probe):
    class Meta(type):
        def __new__(cls, *args):
            return super().__new__(cls, *args)

    with pytest.raises(TypeError, match="__new__"):
        probe.make_type(Meta, ())


# ---- slots ----


def test_buffer_length_bool_and_subscript(probe):
    q = probe.Quad()
    assert len(q) == 4
    assert not q
    assert q[3] == 0
    view = memoryview(q)
    view[0] = 9
    assert q[0] == 9
    assert q
    assert view.tolist() == [9, 0, 0, 0]
    with pytest.raises(IndexError, match="expected 0 to 3"):
        q[4]


# ---- the extension ----


def test_extension_is_found_and_knows_the_type_word(probe, with_extension):
    for o in (1, "x", [], probe.Base(), probe.Base):
        assert probe.extension(o) is True


def test_error_take_returns_the_instance_with_its_traceback(probe, with_extension):
    def fail():
        raise KeyError("k")

    error = probe.catch(fail)
    assert type(error) is KeyError
    assert error.args == ("k",)
    assert error.__traceback__.tb_frame.f_code.co_name == "fail"


def test_error_restore_keeps_instance_and_traceback(probe, with_extension):
    original = ValueError("v")

    def fail():
        raise original

    with pytest.raises(ValueError, match=str(original)) as caught:
        probe.catch(fail, True)
    assert caught.value is original
    names = []
    tb = original.__traceback__
    while tb is not None:
        names.append(tb.tb_frame.f_code.co_name)
        tb = tb.tb_next
    assert names[-1] == "fail"


def test_thread_attach_nests(probe, with_extension):
    assert probe.attach_twice() == 1


def test_a_thread_is_known_attached_and_detached(probe, with_extension):
    other, attached, detached = range(3)  # as in extension.h
    between = other if IS_PYPY else detached
    assert probe.thread_states() == 100 * attached + 10 * between + attached


def test_getset_new_makes_a_descriptor(probe, with_extension):
    class Sub(probe.Base):
        pass

    Sub.answer = probe.add_getset(Sub)
    assert Sub().answer == 42
    assert Sub.answer.__doc__ == "the answer"
    with pytest.raises(AttributeError):
        Sub().answer = 1


def test_a_type_with_descriptor_slots_makes_descriptors(probe, with_extension):
    class Descriptor(probe.add_descriptor()):
        pass

    class Owner:
        field = Descriptor()

    assert isinstance(Owner.field, Descriptor)
    owner = Owner()
    owner.field = [1]
    assert owner.field == [1]
    assert "field" not in vars(owner)
    del owner.field
    assert owner.field is None


# ---- all at once ----


def test_stress_with_a_collection_at_every_allocation(probe):
    with collecting_always():
        for k in range(10 if IS_PYPY else 50):  # a collection of PyPy takes half a second in a process of all tests
            T = probe.make_type(probe.Meta, ())
            T.set_tag(k)
            b = probe.Derived([T])
            b.value = [b, T(1), probe.BigAdder(2)]
            probe.remember(b)
            if IS_PYPY:
                gc.collect()
            assert (T.get_tag(), b.value[1](1)) == (k, 2)
    probe.remember(None)


def test_types_are_made_and_called_from_several_threads(probe):
    n_threads = 4
    barrier = threading.Barrier(n_threads)
    results = []

    def work():
        barrier.wait()
        for k in range(50):
            T = probe.make_type(probe.Meta, ())
            results.append(T(k)(1) == k + 1 and probe.Derived([k]).value == [k])

    threads = [threading.Thread(target=work) for _ in range(n_threads)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 200
    assert all(results)
