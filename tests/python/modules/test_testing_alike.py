"""Our testing library against apache-tvm-ffi's: the same tests, the same descriptions, the same outcomes.

A process can load only one of them, so this file starts other processes.
"""

import difflib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import IS_DEBUG, run_python
from support.native_build import BINARIES, read_library

from ffi_hpy.testing import _library

pytestmark = [
    pytest.mark.thread_unsafe(reason="starts processes that say the same each time"),
    pytest.mark.skipif(IS_DEBUG, reason="the compared values do not depend on handles"),
]

HERE = Path(__file__).resolve().parent


@pytest.mark.same_everywhere
def test_the_other_library_passes_the_same_tests(upstream_testing_library):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_testing_library.py"]
    done = subprocess.run(
        command,
        cwd=HERE,
        env={**os.environ, "FFI_HPY_TESTED_LIBRARY": str(upstream_testing_library)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert " passed" in done.stdout


# --- registrations ----------------------------------------------------------------------------------------------------

DESCRIBE = """
import ctypes, json, sys
import ffi_hpy
from ffi_hpy import _core, _ffi_api, registry
from ffi_hpy._values.plain import OpaquePtr
ffi_hpy.load_module(sys.argv[1])
ATTRIBUTES = [
    "__ffi_new__", "__ffi_init__", "__ffi_shallow_copy__", "__ffi_convert__", "__ffi_type_final__", "__ffi_hash__",
    "__ffi_eq__", "__ffi_compare__", "__ffi_repr__", "__ffi_enum__", "__s_visit__", "__s_equal__", "__s_hash__",
    "__s_mutate__", "__any_hash__", "__any_equal__", "__data_to_json__", "__data_from_json__",
]

class Bytes(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]
class Field(ctypes.Structure):
    _fields_ = [
        ("name", Bytes), ("doc", Bytes), ("metadata", Bytes), ("flags", ctypes.c_int64), ("size", ctypes.c_int64),
        ("alignment", ctypes.c_int64), ("offset", ctypes.c_int64), ("getter", ctypes.c_void_p),
        ("setter", ctypes.c_void_p), ("value", ctypes.c_int64 * 2), ("static_type", ctypes.c_int32),
    ]
class Metadata(ctypes.Structure):
    _fields_ = [("doc", Bytes), ("creator", ctypes.c_void_p), ("size", ctypes.c_int32), ("kind", ctypes.c_int32)]
class Info(ctypes.Structure):
    _fields_ = [("index", ctypes.c_int32), ("depth", ctypes.c_int32), ("key", Bytes), ("ancestors", ctypes.c_void_p),
                ("hash", ctypes.c_uint64), ("n_fields", ctypes.c_int32), ("n_methods", ctypes.c_int32),
                ("fields", ctypes.POINTER(Field)), ("methods", ctypes.c_void_p), ("metadata", ctypes.POINTER(Metadata))]
get_info = ffi_hpy.LIB.TVMFFIGetTypeInfo
get_info.restype = ctypes.POINTER(Info)

def default(field):
    return field[-1] if not isinstance(field[-1], ffi_hpy.Object) else repr(field[-1])

def describe(key):
    index = _core.type_key_to_index(key)
    info, (_, parent, doc, size, fields, methods, _) = get_info(index).contents, _core.type_info(index)
    raw = [info.fields[i] for i in range(info.n_fields)]
    about = info.metadata.contents if info.metadata else None
    return {
        "parent": _core.type_info(parent)[0],
        "about": [doc, size, about and bool(about.creator), about and about.kind],
        "fields": [[*field[:-1], default(field), r.alignment, bool(r.setter)] for field, r in zip(fields, raw)],
        "methods": [list(method[:-1]) for method in methods],
        "attributes": {name: type(_core.type_attr(index, name)).__name__ for name in ATTRIBUTES},
        "repr of the enum": repr(_core.type_attr(index, "__ffi_enum__")),
    }

keys = sorted(str(key) for key in registry.get_registered_type_keys() if key.startswith("testing."))
names = sorted(name for name in ffi_hpy.list_global_func_names() if name.startswith("testing."))
module = ffi_hpy.load_module(sys.argv[1])
print(json.dumps({
    "types": {key: describe(key) for key in keys},
    "functions": {name: str(_ffi_api.GetGlobalFuncMetadata(name)) for name in names},
    "exported": {name: [module.get_function_metadata(name), module.get_function_doc(name)] for name in (
        "testing_dll_schema_id_int", "testing_dll_test_add_with_docstring")},
}, default=str))
"""


def test_both_describe_themselves_alike(upstream_testing_library):
    ours, theirs = (
        json.loads(run_python(DESCRIBE, path)) for path in (_library.TESTING_LIBRARY, upstream_testing_library)
    )
    frozen = ours["types"].pop("testing.TestFrozenCxx")
    assert [field[0] for field in frozen["fields"]] == ["value", "tag"]
    assert theirs["types"].pop("testing.TestFrozenCxx")["fields"] == []  # so it has no field that could be frozen
    for part in ("types", "functions", "exported"):
        assert ours[part].keys() == theirs[part].keys()
        for name, mine in ours[part].items():
            assert mine == theirs[part][name], name


def test_both_export_the_same_symbols(upstream_testing_library):
    ours, theirs = (
        {name for name in read_library(Path(path)).exports if "tvm_ffi" in name.lower() and not name.startswith("_Z")}
        for path in (_library.TESTING_LIBRARY, upstream_testing_library)
    )
    assert ours == theirs
    assert read_library(Path(_library.TESTING_LIBRARY)).soname == read_library(upstream_testing_library).soname


# --- results of calls -------------------------------------------------------------------------------------------------

OUTCOMES = """
import json, sys
import ffi_hpy
from ffi_hpy import _core, _ffi_api, registry
from ffi_hpy._values.plain import OpaquePtr
ffi_hpy.load_module(sys.argv[1])
get = ffi_hpy.get_global_func
index_of = lambda key: _core.type_key_to_index("testing." + key)

def class_of(key):
    cls = type(ffi_hpy.Object)(key, (ffi_hpy.Object,), {})
    registry._bind(cls, registry.info_of_index(index_of(key)), init=True)
    return cls

class Opaque:
    def __repr__(self):
        return "Opaque"

pair = class_of("TestIntPair")(1, 2)
base = class_of("TestObjectBase")(3)
VALUES = [
    0, 1, True, False, 2**40, -1, 1.5, float("inf"), None, "", "a", "a text of some length", b"", b"x", b"bytes" * 5,
    [], [1], [True], ["x"], [1.5, None], [[1]], [None, 3], {}, {"a": 1}, {1: "a"}, {"a": True}, {"a": [1]},
    {"a": ["x"]},
    _ffi_api.List(), _ffi_api.List(1), _ffi_api.List(True), _ffi_api.List("x"), _ffi_api.Dict(), _ffi_api.Dict("a", 1),
    _ffi_api.Dict("a", "b"), _ffi_api.Dict(1, 2), Opaque(), len, ffi_hpy.device("cuda:1"), ffi_hpy.dtype("int8"),
    "cpu", "cuda:1", "cuda:", "cuda:x", ":1", "cuda:1:2", "webgpu:3", "int4", "float32x4", OpaquePtr(5),
    ffi_hpy.Shape((1, 2)), _ffi_api.Shape, pair, base, [pair], {"p": pair}, [1, [2]],
]

def outcome(f, *args):
    try:
        value = f(*args)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    text = "a function" if isinstance(value, ffi_hpy.Function) else repr(value)
    return f"{type(value).__name__} {text}"

rows = {}
LEFT_OUT = {"apply", "echo", "run_check_signal", "get_add_one_c_symbol", "get_mlir_add_one_c_symbol"}
for name in sorted(ffi_hpy.list_global_func_names()):
    if name.startswith("testing.") and name[8:] not in LEFT_OUT:
        f = get(name)
        for i, value in enumerate(VALUES):
            rows[f"{name} {i}"] = outcome(f, value)
        rows[f"{name} none"], rows[f"{name} five"] = outcome(f), outcome(f, 1, 2, 3, 4, 5)
for name in ("schema_id_object", "schema_id_any", "echo"):  # arguments that the caller gives away
    rows[f"moved {name}"] = outcome(get("testing." + name), class_of("TestIntPair")(7, 8)._move())

every = class_of("SchemaAllTypes").make_with(1, 2.5, "s")
holder = class_of("TestObjectPtrHolder")(base)
edges = class_of("TestDeepCopyEdges")(1, pair)
for owner in (every, holder, edges):
    for field in type(owner).__tvm_ffi_type_info__.fields:
        for i, value in enumerate(VALUES):
            def write():
                setattr(owner, field.name, value)
                return getattr(owner, field.name)
            rows[f"set {field.name} {i}"] = outcome(write)

# Two wrong arguments would be told in the order that a C++ compiler chose, so one of them is right
HOOKS = {"__ffi_hash__": 1, "__ffi_eq__": 2, "__ffi_compare__": 2}
for key in sorted(str(key)[8:] for key in registry.get_registered_type_keys() if key.startswith("testing.")):
    if key == "TestFrozenCxx":
        continue
    index = index_of(key)
    for attribute in ("__ffi_new__", "__ffi_init__", "__ffi_shallow_copy__", "__ffi_convert__", *HOOKS):
        f = _core.type_attr(index, attribute)
        if f is None:
            continue
        if attribute != "__ffi_new__" or "Holder" not in key:  # in C++ nothing may look at these objects
            rows[f"{key}.{attribute}()"] = outcome(f)
        if attribute != "__ffi_init__":
            rows[f"{key}.{attribute}(1)"] = outcome(f, 1)
        rows[f"{key}.{attribute}(pair)"] = outcome(f, pair)
        rows[f"{key}.{attribute}(many)"] = outcome(f, *range(9))
        if attribute in HOOKS:
            objects = [class_of(key)(k, "text") for k in range(HOOKS[attribute])]
            rows[f"{key}.{attribute} called"] = outcome(f, *objects, lambda *keys: sum(keys) == 1 or len(keys))
visit = _core.type_attr(index_of("TestVisitHook"), "__s_visit__")
rows["visit"], rows["visit wrong"] = outcome(visit), outcome(visit, 1, 2)
for name in ("Alpha", "Beta", "Gamma"):
    rows[f"variant {name}"] = outcome(get("testing.enum_variant_get"), name)
print(json.dumps(rows))
"""


def test_both_come_to_the_same(upstream_testing_library):
    ours, theirs = (
        json.loads(run_python(OUTCOMES, path)) for path in (_library.TESTING_LIBRARY, upstream_testing_library)
    )
    assert len(ours) > 3000
    assert sum("Error: " in text for text in ours.values()) > 1000
    different = [line for line in difflib.ndiff(as_lines(theirs), as_lines(ours)) if line[0] in "-+"]
    assert different == []


def as_lines(rows):
    return [f"{name}: {text}" for name, text in rows.items()]


# --- two in one process -----------------------------------------------------------------------------------------------

SECOND = """
import sys, ffi_hpy
ffi_hpy.load_module(sys.argv[1])
import ffi_hpy.testing
loaded = {line.split()[-1] for line in open("/proc/self/maps") if "libtvm_ffi_testing" in line}
print(len(loaded), loaded == {sys.argv[1]}, ffi_hpy.testing.TestIntPair(1, 2).sum(), ffi_hpy.testing.echo(5))
"""


def test_the_package_takes_the_library_that_is_there(upstream_testing_library):
    assert run_python(SECOND, upstream_testing_library) == "1 True 3 5\n"


def test_another_library_after_ours_is_refused(upstream_testing_library):
    program = """
import sys, ffi_hpy.testing
try:
    ffi_hpy.load_module(sys.argv[1])
except RuntimeError as error:
    print("refused" if "testing" in str(error) else error)
ours = ffi_hpy.load_module(ffi_hpy.testing._library.TESTING_LIBRARY)
print(ffi_hpy.testing.add_one(1), ours.testing_dll_schema_id_int(3))
"""
    assert run_python(program, upstream_testing_library) == "refused\n2 3\n"


def test_our_library_works_on_the_other_core(upstream):
    program = """
import ctypes, sys
core = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
class Bytes(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]
class Any(ctypes.Structure):
    _fields_ = [("type_index", ctypes.c_int32), ("padding", ctypes.c_uint32), ("value", ctypes.c_int64)]
def function(name):
    handle = ctypes.c_void_p()
    assert core.TVMFFIFunctionGetGlobal(ctypes.byref(Bytes(name, len(name))), ctypes.byref(handle)) == 0
    return handle
def call(name, *numbers):
    args, result = (Any * len(numbers))(*(Any(1, 0, number) for number in numbers)), Any(0, 0, 0)
    status = core.TVMFFIFunctionCall(function(name), args, len(numbers), ctypes.byref(result))
    return status, result.type_index, result.value
assert not function(b"testing.add_one")
ctypes.CDLL(sys.argv[2])
print(call(b"testing.add_one", 41), call(b"testing.schema_no_args"), call(b"testing.add_one")[0])
"""
    reference = upstream / "tvm_ffi" / "lib" / "libtvm_ffi.so"
    assert run_python(program, reference, _library.TESTING_LIBRARY) == "(0, 1, 42) (0, 1, 1) -1\n"


def test_a_core_that_lacks_a_function_is_reported_on_stderr(tmp_path):
    """If the core lacks a required function, the library registers nothing, and reports the reason."""
    program = """
import sys, ffi_hpy
ffi_hpy.remove_global_func("ffi.ListAppend")
try:
    import ffi_hpy.testing
except ImportError as error:
    print("registered nothing" in str(error))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout == "True\n", done.stderr
    assert "the core has no ffi.ListAppend" in done.stderr


def test_it_is_small():
    assert (BINARIES / "lib" / "libtvm_ffi_testing.so").stat().st_size < 120_000
