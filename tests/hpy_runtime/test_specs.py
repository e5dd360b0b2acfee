"""HPyType_FromSpec: the refusals with their messages, and the legacy code that a universal module may have."""

import subprocess
import sys

import pytest
from test_hpy_runtime import HERE, IS_PYPY, collect, collecting_always, compile_universal, load_runtime

LEGACY, OBJECT = -1, 0  # HPyType_BuiltinShape


@pytest.fixture(scope="module")
def specs_path(tmp_path_factory):
    return compile_universal(HERE / "specs.c", tmp_path_factory.mktemp("specs") / "specs.hpy0.so")


@pytest.fixture(scope="module")
def specs(specs_path):
    return load_runtime().load("specs", specs_path)


# ---- refused ----


@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        ("no name", SystemError, "expects a name, got NULL"),
        ("unknown shape", ValueError, "'specs.Made': no builtin_shape is 42"),
        ("negative basicsize", ValueError, "got basicsize -1, itemsize 0"),
        ("negative itemsize", ValueError, "got basicsize 16, itemsize -1"),
        ("member without struct", TypeError, "member 'value' needs a basicsize that is not 0"),
        ("slot twice", TypeError, "slot 66 is given twice"),
        ("module slot", TypeError, "slot 2001 is a module's, not a type's"),
        ("unknown kind", TypeError, "no HPyDef of kind 9"),
        ("gc without traverse", ValueError, "HPy_TPFLAGS_HAVE_GC needs an HPy_tp_traverse slot"),
        ("call with items", TypeError, r"HPy_tp_call cannot be used with an itemsize \(8\)"),
        ("call and offset", TypeError, "HPy_tp_call and a member '__vectorcalloffset__' exclude each other"),
        ("legacy with struct", TypeError, "HPyType_BuiltinShape_Legacy with basicsize 32 is a struct that begins"),
        ("legacy with slots", TypeError, "legacy slot 66 is written for one interpreter's C API"),
        ("legacy with call", TypeError, "HPy_tp_call needs a struct"),
        ("pure with legacy slots", TypeError, "cannot specify .legacy_slots without setting .builtin_shape="),
    ],
)
def test_a_specification_that_contradicts_itself_is_refused(specs, name, error, text):
    with pytest.raises(error, match=text):
        specs.make(name)


@pytest.mark.parametrize("slot", [0, -1, 47, 49, 52, 62, 81, 1001, 4711])
def test_an_unknown_slot_is_refused_with_its_number(specs, slot):
    with pytest.raises(TypeError, match=rf"'specs\.Made': HPy 0\.9 has no slot {slot}$"):
        specs.make("slot=", slot)


@pytest.mark.thread_unsafe
def test_refusals_do_not_leak(specs):
    before = len(object.__subclasses__())
    for _ in range(50):
        with pytest.raises(TypeError):
            specs.make("slot twice")
    collect()
    assert len(object.__subclasses__()) <= before


@pytest.mark.skipif(not IS_PYPY, reason="CPython has room for them in a class")
@pytest.mark.parametrize("name", ["metaclass with member", "metaclass with call"])
def test_a_metaclass_that_needs_room_in_a_class_is_refused_on_pypy(specs, name):
    with pytest.raises(TypeError, match="is not supported on PyPy, where classes have no room for it"):
        specs.make(name, type)


# ---- legacy ----


@pytest.mark.parametrize("name", ["legacy", "legacy with no slots"])
def test_a_legacy_type_without_a_struct_is_made(specs, name):
    T = specs.make(name)
    assert (specs.shape_of(T), specs.shape_of(specs.make("good"))) == (LEGACY, OBJECT)
    assert repr(T()) == "a pair"
    assert T().is_struct()

    class Sub(T):
        pass

    assert Sub().is_struct()
    assert specs.shape_of(Sub) == LEGACY


def test_objects_that_hpy_did_not_make_have_the_legacy_shape(specs):
    assert [specs.shape_of(t) for t in (int, object, type)] == [LEGACY] * 3


def test_a_legacy_type_has_legacy_bases_only(specs):
    assert specs.make("legacy", specs.make("legacy")).__mro__[-1] is object
    with pytest.raises(TypeError, match=r"^A legacy type should not inherit its memory layout from a pure type$"):
        specs.make("legacy", specs.make("good"))
    assert specs.shape_of(specs.make("good", specs.make("legacy"))) == OBJECT


# ---- accepted ----


def test_a_none_member_is_none(specs):
    o = specs.make("none members")()
    assert (o.none, o.none_readonly) == (None, None)
    with pytest.raises((SystemError, TypeError)):  # CPython raises the former
        o.none = None
    with pytest.raises(AttributeError):
        o.none_readonly = None


@pytest.mark.thread_unsafe
def test_finalizers_run_once_for_objects_that_python_sees_and_for_others(specs, capfd):
    T = specs.make("finalized")
    before = specs.finalized_count()
    for _ in range(10):
        T()
        specs.make_and_drop(T)
    collect()
    assert specs.finalized_count() - before == 20
    assert capfd.readouterr() == ("", "")


# ---- the shapes ----

SHAPES = {0: object, 2: int, 3: float, 4: str, 5: tuple, 6: list}


@pytest.mark.parametrize("shape", SHAPES)
def test_an_instance_of_each_shape_is_made_in_c_and_in_python_and_keeps_its_struct(specs, shape):
    T = specs.make("shape=", shape)
    assert specs.shape_of(T) == shape

    class Sub(T):
        pass

    made = [specs.make_with(t, number) for number in range(1, 50) for t in (T, Sub)]
    made += [T(), Sub()]
    collect()
    assert [specs.number_of(o, shape) for o in made] == [n for n in range(1, 50) for _ in range(2)] + [0, 0]
    if shape != 0:
        assert made == [SHAPES[shape]()] * 100


def test_the_struct_of_a_type_is_there_for_each_class(specs):
    T = specs.make("shape=", 1)
    made = [T(f"C{i}", (), {}) for i in range(50)]
    assert [specs.number_of(o, 1) for o in made] == [0] * 50


BUILTIN = [object, int, float, str, tuple, list, dict, bytes, ValueError, complex]


@pytest.mark.parametrize("builtin", BUILTIN)
def test_generic_new_makes_an_empty_object_of_a_built_in_type_and_of_its_subclasses(specs, builtin):
    class Sub(builtin):
        def __new__(cls):
            raise AssertionError("HPyType_GenericNew does not run it")

    for T in (builtin, Sub):
        made = [specs.generic_new(T) for _ in range(20)]
        assert [type(o) for o in made] == [T] * 20
        if builtin not in (object, ValueError):
            assert made == [builtin()] * 20
            assert repr(made) == repr([builtin()] * 20)


def test_a_class_cannot_be_made_without_a_name(specs):
    for make in (lambda: specs.generic_new(type), lambda: specs.make_with(specs.make("shape=", 1), 1)):
        with pytest.raises(TypeError, match=r"takes (exactly 3|1 or 3) arguments"):
            make()


# ---- all at once ----

STRESS = """
import gc, sys
from importlib.machinery import ExtensionFileLoader
from test_hpy_runtime import load_runtime

specs = load_runtime().load("specs", sys.argv[1])
if hasattr(gc, "set_threshold"):
    gc.set_threshold(1)
def use(T):
    o = T()
    o.value = [o, T]
    class Sub(T):
        pass
    s = Sub()
    s.value, s.more = (o, s), Sub
    return s
kept = []
for i in range(40):
    T = specs.make("good")
    kept.append(use(specs.make("good", T)))
    kept.append(use(T))
    if i % 4 == 0:
        gc.collect()
        del kept[::2]
again = load_runtime().load("specs", sys.argv[1])
assert again is not specs and repr(again.make("legacy")()) == "a pair"
assert all(s.value[1] is s for s in kept)
order = int(sys.argv[2])
if order == 0:
    del specs, again, kept
if order == 1:
    sys.kept, sys.runtime = kept, sys.modules.pop("ffi_hpy._hpy", None)
if order == 2:
    import atexit
    atexit.register(lambda k=kept, m=specs: use(m.make("good")))
if order == 3:
    class AtEnd:
        def __del__(self, kept=kept, specs=specs):
            kept.clear(), specs.shape_of(int)
    kept[0].more = end = AtEnd()
print("end")
"""


@pytest.mark.parametrize("order", range(4))
def test_types_and_instances_survive_stress_reimport_and_any_order_of_exit(specs_path, order):
    command = [sys.executable, "-X", "faulthandler", "-c", STRESS, specs_path, str(order)]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


@pytest.mark.thread_unsafe  # the threshold is global to the process
def test_refused_specifications_survive_stress(specs):
    with collecting_always():
        for _ in range(30):
            with pytest.raises(TypeError):
                specs.make("slot twice")
            with pytest.raises(TypeError):
                specs.make("legacy", specs.make("good"))
