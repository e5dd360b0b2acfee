"""The registries: global functions, and classes for native types."""

import json
import sys
import types
import weakref

import pytest
from support import FREES_AT_ONCE, collect_garbage, is_gone, parallelize, run_python, unique_name

import ffi_hpy
from ffi_hpy import _core
from ffi_hpy.registry import class_for_type_index


@pytest.fixture
def new_type_key(testing):
    """Return a function that makes native types that no library has registered."""
    import ctypes

    class Bytes(ctypes.Structure):
        _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]

    def make(parent_key="ffi.Object"):
        key = unique_name("test_type").encode()
        allocate = ffi_hpy.LIB.TVMFFITypeGetOrAllocIndex
        allocate.restype = ctypes.c_int32
        parent = _core.type_key_to_index(parent_key)
        depth = len(_core.type_info(parent)[6]) + 1
        index = allocate(ctypes.byref(Bytes(key, len(key))), -1, depth, 0, 1, parent)
        assert index > 0
        return key.decode()

    return make


@pytest.fixture
def switching_often():
    """Make the interpreter switch threads as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


# --- global functions -----------------------------------------------------------------------------------------------


def test_a_registered_function_is_found(testing):
    name = unique_name()
    made = ffi_hpy.register_global_func(name, lambda x: x + 1)
    assert isinstance(made, ffi_hpy.Function)
    assert ffi_hpy.get_global_func(name)(1) == 2
    assert ffi_hpy.get_global_func(name).same_as(made)
    assert name in ffi_hpy.list_global_func_names()
    ffi_hpy.remove_global_func(name)


def test_register_global_func_is_a_decorator_with_a_name():
    name = unique_name()

    @ffi_hpy.register_global_func(name)
    def decorated(x):
        return x * 2

    assert isinstance(decorated, ffi_hpy.Function)
    assert ffi_hpy.get_global_func(name)(4) == 8


def test_register_global_func_is_a_decorator_without_a_name():
    def decorated(x):
        return x * 3

    decorated.__name__ = unique_name()
    assert ffi_hpy.register_global_func(decorated)(4) == 12
    assert ffi_hpy.get_global_func(decorated.__name__)(4) == 12


def test_a_native_function_can_be_registered_under_a_second_name(testing):
    name = unique_name()
    ffi_hpy.register_global_func(name, testing.add_one)
    assert ffi_hpy.get_global_func(name)(1) == 2
    assert ffi_hpy.get_global_func(name).same_as(testing.add_one)


def test_a_name_is_taken_once_unless_overridden():
    name = unique_name()
    ffi_hpy.register_global_func(name, lambda: 1)
    first = ffi_hpy.get_global_func(name)
    with pytest.raises(RuntimeError, match=name):
        ffi_hpy.register_global_func(name, lambda: 2)
    assert ffi_hpy.get_global_func(name)() == 1
    ffi_hpy.register_global_func(name, lambda: 3, override=True)
    assert ffi_hpy.get_global_func(name)() == 3
    assert first() == 1
    ffi_hpy.register_global_func(unique_name(), lambda: 4, override=True)


def test_a_removed_function_stays_usable(testing):
    name = unique_name()
    ffi_hpy.register_global_func(name, lambda: 1)
    function = ffi_hpy.get_global_func(name)
    ffi_hpy.remove_global_func(name)
    assert function() == 1
    assert ffi_hpy.get_global_func(name, allow_missing=True) is None
    assert name not in ffi_hpy.list_global_func_names()
    ffi_hpy.remove_global_func(name)


def test_the_registry_releases_removed_and_replaced_functions():
    import weakref

    class Callback:
        def __call__(self):
            return 1

    name, refs = unique_name(), []
    for _ in range(3):
        callback = Callback()
        refs.append(weakref.ref(callback))
        ffi_hpy.register_global_func(name, callback, override=True)
        del callback
    assert [is_gone(ref) for ref in refs] == [True, True, False]
    ffi_hpy.remove_global_func(name)
    assert is_gone(refs[2])


class Counted:
    def __call__(self):
        return 1


@pytest.mark.skipif(not FREES_AT_ONCE, reason="objects are freed late here")
def test_a_function_that_was_called_once_is_freed_without_a_collection():
    name, callback = unique_name(), Counted()
    ref = weakref.ref(callback)
    ffi_hpy.register_global_func(name, callback)
    del callback
    assert [ffi_hpy.get_global_func(name)() for _ in range(100)] == [1] * 100
    kept = ffi_hpy.get_global_func(name)
    ffi_hpy.remove_global_func(name)
    assert kept() == 1
    del kept
    assert ref() is None


def test_a_function_that_was_called_often_is_freed_too():
    name, callback = unique_name(), Counted()
    ref = weakref.ref(callback)
    ffi_hpy.register_global_func(name, callback)
    del callback
    shared = ffi_hpy.get_global_func(name)
    assert parallelize(lambda _, function=shared: [function() for _ in range(100)]) == [[1] * 100] * 4
    ffi_hpy.remove_global_func(name)
    assert shared() == 1
    del shared
    collect_garbage(lambda: ref() is None)
    assert ref() is None


def test_a_function_may_be_given_other_names():
    name = unique_name()
    ffi_hpy.register_global_func(name, lambda: 1)
    first, second = ffi_hpy.get_global_func(name), ffi_hpy.get_global_func(name)
    for new in ("another", "another", "third", name):
        first.__name__ = new
        assert (first.__name__, second.__name__) == (new, name)
    with pytest.raises(TypeError, match=name):
        first(x=1)


def test_a_function_may_remove_itself():
    name = unique_name()

    def remove_itself():
        ffi_hpy.remove_global_func(name)
        return "still here"

    ffi_hpy.register_global_func(name, remove_itself)
    assert ffi_hpy.get_global_func(name)() == "still here"


def test_an_unknown_function_is_a_value_error():
    with pytest.raises(ValueError, match=r"Cannot find global function no\.such\.function"):
        ffi_hpy.get_global_func("no.such.function")
    assert ffi_hpy.get_global_func("no.such.function", allow_missing=True) is None
    assert ffi_hpy.get_global_func("", allow_missing=True) is None


@pytest.mark.parametrize("wrong", [None, 3, b"testing.echo"], ids=repr)
def test_a_name_that_is_not_a_str_is_a_type_error(wrong):
    with pytest.raises(TypeError, match="must be str"):
        ffi_hpy.get_global_func(wrong)


@pytest.mark.parametrize("wrong", [3, "text", [len]], ids=repr)
def test_an_object_that_cannot_be_called_is_not_registered(wrong):
    name = unique_name()
    with pytest.raises(TypeError, match=f"expected a callable for '{name}', got "):
        ffi_hpy.register_global_func(name, wrong)
    assert ffi_hpy.get_global_func(name, allow_missing=True) is None


def test_names_may_hold_any_text():
    for suffix in ("größe", "日本", "with space", "a\0b", "x" * 1000):
        name = unique_name() + suffix
        ffi_hpy.register_global_func(name, lambda suffix=suffix: suffix)
        assert ffi_hpy.get_global_func(name)() == suffix
        assert name in ffi_hpy.list_global_func_names()


def test_metadata_of_a_function_is_read(testing):
    metadata = ffi_hpy.get_global_func_metadata("testing.schema_id_int")
    assert (metadata["bool_attr"], metadata["int_attr"], metadata["str_attr"]) == (True, 1, "hello")
    name = unique_name()
    ffi_hpy.register_global_func(name, lambda: 1)
    assert ffi_hpy.get_global_func_metadata(name) == {}
    with pytest.raises(RuntimeError, match=r"no.such.function"):
        ffi_hpy.get_global_func_metadata("no.such.function")


SCHEMAS = """
import ctypes, json, sys
if len(sys.argv) > 1:
    ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
import ffi_hpy
names = [name for name in ffi_hpy.list_global_func_names() if name.startswith("ffi.")]
schemas = {name: ffi_hpy.get_global_func_metadata(name).get("type_schema", "null") for name in names}
print(json.dumps({name: json.loads(schema) for name, schema in schemas.items()}))
"""


def test_functions_of_the_core_have_the_schemas_of_the_reference(upstream):
    theirs = json.loads(run_python(SCHEMAS, upstream / "tvm_ffi" / "lib" / "libtvm_ffi.so"))
    ours = json.loads(run_python(SCHEMAS))
    assert len(theirs) > 90
    assert {name: ours.get(name) for name in theirs} == theirs


def test_init_ffi_api_fills_a_module(testing):
    namespace = unique_name("space").replace(".", "_")
    for name in ("one", "two", "deeper.three"):
        ffi_hpy.register_global_func(f"{namespace}.{name}", lambda name=name: name)
    ffi_hpy.register_global_func(f"{namespace}x.four", lambda: "four")
    for given in (namespace, f"tvm.{namespace}"):
        module = types.ModuleType(unique_name("module"))
        sys.modules[module.__name__] = module
        ffi_hpy.init_ffi_api(given, module.__name__)
        assert {name for name in vars(module) if not name.startswith("__")} == {"one", "two"}
        assert (module.one(), module.two()) == ("one", "two")
        assert module.one.__name__ == "one"


def test_init_ffi_api_wants_a_module_that_is_imported():
    name = unique_name("no_such_module")
    with pytest.raises(KeyError, match=f"no module '{name}' is imported"):
        ffi_hpy.init_ffi_api("testing", name)


# --- types ----------------------------------------------------------------------------------------------------------


def test_an_unknown_type_key_is_a_value_error():
    with pytest.raises(ValueError, match=r"Cannot find object type index for no\.such\.type"):
        ffi_hpy.register_object("no.such.type")(type("Wrong", (ffi_hpy.Object,), {}))
    assert _core.type_key_to_index("no.such.type") == -1


def test_a_class_that_is_not_an_object_class_is_refused(new_type_key):
    key = new_type_key()
    with pytest.raises(TypeError, match=r"does not derive from ffi_hpy\.Object"):
        ffi_hpy.register_object(key)(type("Wrong", (), {}))
    with pytest.raises(TypeError, match="must derive from CObject"):
        _core.class_register(_core.type_key_to_index(key), int)


def test_threads_that_need_a_class_for_a_type_get_the_same_one(new_type_key, switching_often):
    for _ in range(30):
        index = _core.type_key_to_index(new_type_key())
        classes = [None] * 4

        def work(i, index=index, classes=classes):
            classes[i] = class_for_type_index(index)

        parallelize(work, 4)
        assert {*classes} == {_core.class_offer(index, None)}


def test_a_class_that_is_registered_is_not_replaced_by_one_that_another_thread_makes(new_type_key, switching_often):
    for _ in range(30):
        key = new_type_key()
        index = _core.type_key_to_index(key)
        registered = type("Registered", (ffi_hpy.Object,), {})

        def work(i, index=index, key=key, registered=registered):
            if i == 0:
                ffi_hpy.register_object(key)(registered)
            else:
                class_for_type_index(index)

        parallelize(work, 4)
        assert _core.class_offer(index, None) is registered
    with pytest.raises(TypeError, match=r"class_offer\(\) argument 2 must derive from CObject"):
        _core.class_offer(index, int)


def test_register_object_has_three_forms(new_type_key):
    class First(ffi_hpy.Object):
        pass

    assert ffi_hpy.register_object(new_type_key())(First) is First
    key = new_type_key()
    second = type(ffi_hpy.Object)(key, (ffi_hpy.Object,), {})
    assert ffi_hpy.register_object(second) is second
    key = new_type_key()
    third = type(ffi_hpy.Object)(key, (ffi_hpy.Object,), {})
    assert ffi_hpy.register_object()(third) is third
    assert third.__tvm_ffi_type_info__.type_key == key


def test_a_class_registered_later_takes_over(new_type_key):
    key = new_type_key()
    index = _core.type_key_to_index(key)
    made = _core.class_offer(index, None)
    assert made is None
    first = ffi_hpy.register_object(key)(type(ffi_hpy.Object)("First", (ffi_hpy.Object,), {}))
    assert _core.class_offer(index, None) is first
    second = ffi_hpy.register_object(key)(type(ffi_hpy.Object)("Second", (ffi_hpy.Object,), {}))
    assert _core.class_offer(index, None) is second


@pytest.mark.parametrize("is_derived", [False, True])
def test_objects_of_a_class_that_was_replaced_come_back_as_instances_of_the_one_that_counts(
    testing, new_type_key, is_derived
):
    """Earlier objects come back as their wrappers, found in the instance map, and so do objects of subclasses; later
    objects of the old class come back as instances of the new class."""
    key = unique_name()

    @ffi_hpy.dataclasses.py_class(key)
    class First(ffi_hpy.Object):
        x: int

    @ffi_hpy.dataclasses.py_class(unique_name())
    class Holder(ffi_hpy.Object):
        value: First

    before = First(1)
    base = First if is_derived else ffi_hpy.Object
    second = ffi_hpy.register_object(key)(type(ffi_hpy.Object)("Second", (base,), {}))
    replaced, derived = First(2), type("Sub", (First,), {})(3)
    for use in (
        testing.echo,
        lambda x: ffi_hpy.Array([x])[0],
        lambda x: ffi_hpy.Dict({1: x})[1],
        lambda x: Holder(x).value,
    ):
        if _core.KEEPS_IDENTITY:
            assert use(before) is before
            own = second(4)
            assert use(own) is own
            assert use(derived) is derived
        returned = use(replaced)
        assert type(returned) is second
        assert (returned.x, returned.same_as(replaced)) == (replaced.x, True)


def test_attributes_that_a_class_defines_stay(testing):
    @ffi_hpy.register_object("testing.TestCompare")
    class Compare(ffi_hpy.Object):
        key = "my own"

        def __init__(self):
            self.__ffi_init__(1, "x", 3)

    assert Compare.key == Compare().key == "my own"
    assert Compare().name == "x"


def test_an_object_cannot_be_made_of_a_type_without_a_constructor(new_type_key):
    cls = ffi_hpy.register_object(new_type_key())(type(ffi_hpy.Object)("Cls", (ffi_hpy.Object,), {}))
    with pytest.raises(TypeError, match="Cls has no registered constructor"):
        cls()
    with pytest.raises(TypeError, match="has no registered constructor"):
        ffi_hpy.Object().__ffi_init__()


def test_the_keys_of_all_types_are_listed(new_type_key):
    key = new_type_key("testing.TestObjectBase")
    keys = ffi_hpy.registry.get_registered_type_keys()
    assert {key, "ffi.Object", "ffi.Array", "testing.TestIntPair"} <= set(keys)
    info = _core.type_info(_core.type_key_to_index(key))
    assert info[:2] == (key, _core.type_key_to_index("testing.TestObjectBase"))
