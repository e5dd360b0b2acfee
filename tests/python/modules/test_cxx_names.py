"""The C++ functions that clients link by mangled name, called from C++ compiled against the headers of both eras."""

import pytest
from support import run_python
from support.native_build import BINARIES, ERAS, RULES, listed_names, read_library

import ffi_hpy

CXX_NAMES = listed_names(RULES[1])


@pytest.fixture(params=ERAS)
def era(request):
    return request.param


@pytest.fixture
def names_path(compile_era, era):
    """Path of the library compiled from native/cxx_names.cc."""
    return compile_era("cxx_names.cc", era)


@pytest.fixture
def names(names_path):
    return ffi_hpy.load_module(names_path)


# --- presence ---------------------------------------------------------------------------------------------------------


def names_of_the_abi(library):
    """Return the functions and class data of tvm::ffi that apache-tvm-ffi's libtvm_ffi.so exports."""
    names = {name for name, binding in read_library(library).exports.items() if binding != "unique"}
    return {
        name for name in names if name.startswith(("_ZN3tvm3ffi", "_ZTIN3tvm3ffi", "_ZTSN3tvm3ffi", "_ZTVN3tvm3ffi"))
    }


def test_the_list_of_names_equals_the_exports_of_both_eras(era_headers):
    libraries = [include.parent / "lib" / "libtvm_ffi.so" for include in era_headers.values()]
    assert set().union(*map(names_of_the_abi, libraries)) == CXX_NAMES


def test_the_bridge_exports_the_list():
    assert set(read_library(BINARIES / "lib" / "libtvm_ffi_cxx.so").exports) == CXX_NAMES


def test_the_bridge_runs_with_the_oldest_runtime():
    asked = read_library(BINARIES / "lib" / "libtvm_ffi_cxx.so").versions
    assert {version for version in asked if "CXX" in version} == {"GLIBCXX_3.4", "CXXABI_1.3", "CXXABI_1.3.2"}


def test_the_client_links_every_name_of_the_list(compile_era):
    imported = set()
    for era in ERAS:
        library = read_library(compile_era("cxx_names.cc", era))
        imported |= library.imports
        assert "libtvm_ffi_cxx.so" not in library.needed
    # The class data of Error is in every library that throws; these two are found in the first library that has them.
    assert {name for name in CXX_NAMES if "5Error" not in name and not name.startswith("_ZTS")} <= imported


LOAD = {
    "load_module": "module = ffi_hpy.load_module(path)",
    "ctypes": "import ctypes; ctypes.CDLL(path); module = ffi_hpy.load_module(path)",
    "ctypes, all names at once": """
import ctypes, os
ctypes.CDLL(path, os.RTLD_NOW | os.RTLD_GLOBAL)
module = ffi_hpy.load_module(path)
""",
}


@pytest.mark.parametrize("how", LOAD)
def test_the_names_are_found_however_a_library_is_loaded(names_path, how):
    program = f"import sys, ffi_hpy\npath = sys.argv[1]\n{LOAD[how]}\nprint(module.repr_print([1, 'a']))"
    assert run_python(program, names_path) == '(1, "a")\n'


def test_a_host_without_python_gets_them_with_its_first_library(names_path, plain_path):
    program = """
import ctypes, sys
from pathlib import Path
core = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
class Bytes(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]
class Any(ctypes.Structure):
    _fields_ = [("type_index", ctypes.c_int32), ("padding", ctypes.c_uint32), ("text", ctypes.c_char_p)]
load, name = ctypes.c_void_p(), b"ffi.ModuleLoadFromFile"
assert core.TVMFFIFunctionGetGlobal(ctypes.byref(Bytes(name, len(name))), ctypes.byref(load)) == 0
def is_there():
    return "libtvm_ffi_cxx.so" in Path("/proc/self/maps").read_text()
print(is_there())
for path in sys.argv[2:]:
    module = Any(0, 0, None)
    status = core.TVMFFIFunctionCall(load, ctypes.byref(Any(8, 0, path.encode())), 1, ctypes.byref(module))
    print(status, module.type_index, is_there())
"""
    output = run_python(program, BINARIES / "lib" / "libtvm_ffi.so", plain_path, names_path)
    assert output == "False\n0 73 True\n0 73 True\n"


def test_a_library_may_be_linked_with_no_undefined_names(compile_era, era):
    path = compile_era("cxx_names.cc", era, "-Wl,--no-undefined", "-ltvm_ffi", "-ltvm_ffi_cxx")
    program = "import sys, ffi_hpy\nprint(ffi_hpy.load_module(sys.argv[1]).repr_print([1]))"
    assert run_python(program, path) == "(1,)\n"


def test_without_the_bridge_everything_but_the_names_works(names_path, plain_path, tmp_path):
    program = """
import sys, shutil
from pathlib import Path
import importlib.util
package = Path(importlib.util.find_spec("ffi_hpy").origin).parent
copy = Path(sys.argv[1]) / "ffi_hpy"
shutil.copytree(package, copy)
(copy / "lib" / "libtvm_ffi_cxx.so").unlink()
sys.path.insert(0, sys.argv[1])
import ffi_hpy
assert Path(ffi_hpy.__file__).parent == copy
print(ffi_hpy.load_module(sys.argv[2]).sum(1, 2))
try:
    ffi_hpy.load_module(sys.argv[3])
except RuntimeError as error:
    print("it needs _ZT" in str(error))
print("libstdc++" in Path("/proc/self/maps").read_text())
"""
    folder = tmp_path / "without"
    folder.mkdir(exist_ok=True)
    assert run_python(program, folder, plain_path, names_path) == "3\nTrue\nFalse\n"


# --- behaviour --------------------------------------------------------------------------------------------------------


def test_deep_copy(names):
    inner = ffi_hpy.convert([1, "a text of some length"])
    copy = names.deep_copy([inner])
    assert list(copy[0]) == [1, "a text of some length"]
    assert not copy[0].same_as(inner)


@pytest.mark.parametrize(
    ("value", "text"), [(1, "1"), ([1, "a", None], '(1, "a", None)'), (["x" * 20], f'("{"x" * 20}",)')]
)
def test_repr_print(names, value, text):
    assert names.repr_print(value) == text


def test_recursive_hash(names):
    assert names.recursive_hash([1, "a"]) == names.recursive_hash([1, "a"]) != names.recursive_hash([1, "b"])


@pytest.mark.parametrize(
    ("left", "right", "answers"),
    [
        (1, 2, [False, True, True, False, False]),
        ([2, 1], [1, 2], [False, False, False, True, True]),
        ([1, "a"], [1, "a"], [True, False, True, False, True]),
    ],
)
def test_recursive_comparisons(names, left, right, answers):
    assert list(names.recursive_compare(left, right)) == answers


def test_recursive_comparison_throws_for_unordered_values(names):
    with pytest.raises(TypeError, match=r"int.*ffi\.SmallStr"):
        names.recursive_compare([1], ["a"])


def test_structural_equality_and_hash(names):
    assert names.structural_equal([1, [2]], [1, [2]], False, False) is True
    assert names.structural_equal([1, [2]], [1, [3]], True, True) is False
    assert list(names.structural_mismatch([1, [2]], [1, [2]])) == [False]
    assert list(names.structural_mismatch([1, [2]], [1, [3]])) == [True, 2, 2]
    hashed = names.structural_hash([1, [2]], False, False)
    assert hashed == names.structural_hash([1, [2]], False, False) != names.structural_hash([1, [3]], False, False)


def test_the_flags_of_structural_equality_arrive(names, testing):
    np = pytest.importorskip("numpy")
    one, other = (ffi_hpy.from_dlpack(np.full(3, value, dtype="float32")) for value in (1, 2))
    assert names.structural_equal(one, other, False, False) is False
    assert names.structural_equal(one, other, False, True) is True
    assert names.structural_hash(one, False, True) == names.structural_hash(other, False, True)
    assert names.structural_hash(one, False, False) != names.structural_hash(other, False, False)


def test_json_graph(names):
    graph = names.to_json_graph([1, "a text of some length"], None)
    assert set(graph) == {"root_index", "nodes"}
    assert list(names.from_json_graph(graph)) == [1, "a text of some length"]
    assert names.to_json_graph([1], {"by": "me"})["metadata"]["by"] == "me"


def test_json_text(names):
    value = names.json_parse('[1, 2.5, "abc", null]')
    assert list(value) == [1, 2.5, "abc", None]
    assert names.json_stringify(value) == '[1,2.5,"abc",null]'
    assert names.json_stringify_indented([1, [2]], 2) == "[\n  1,\n  [\n    2\n  ]\n]"


def test_invalid_json_is_an_exception_or_a_message(names):
    with pytest.raises(ValueError, match="line 1 column 3") as caught:
        names.json_parse("[1")
    value, message = names.json_try_parse("[1")
    assert (value, message) == (None, str(caught.value))
    value, message = names.json_try_parse("[1]")
    assert (list(value), message) == ([1], "")


def test_access_paths(compile_era, testing_library):
    names = ffi_hpy.load_module(compile_era("cxx_names.cc", "new"))
    make = ffi_hpy.get_global_func("ffi.MakeObjectFromPackedArgs")

    def holder(value, child):
        return make("testing.TestDeepCopyEdges", "v_any", value, "v_obj", child)

    target, other = (ffi_hpy.get_global_func("testing.make_unregistered_object")() for _ in range(2))
    assert list(names.find_access_paths(holder(None, target), target, False)) == [1]
    assert list(names.find_access_paths(holder([other, [target]], holder(target, other)), target, False)) == [3, 2]
    assert list(names.find_access_paths(holder([other], other), target, False)) == []


# --- thrown errors ----------------------------------------------------------------------------------------------------


def test_their_exceptions_are_caught_as_error_and_as_exception(names):
    seen = {name: list(what) for name, what in names.caught_from_values(lambda: None).items()}
    assert seen["DeepCopy"] == ["nothing"]  # copies share functions
    seen["DeepCopy"] = list(names.caught_from_values(ffi_hpy.testing.TestNonCopyable(1))["DeepCopy"])
    unsupported = ["StructuralEqual", "GetFirstMismatch", "StructuralHash", "ToJSONGraph", "FromJSONGraph", "Stringify"]
    for name in ["DeepCopy", *unsupported]:
        caught_as, kind, what, is_in_flight = seen.pop(name)
        assert (caught_as, is_in_flight) == ("Error", False), name
        assert kind in ("TypeError", "ValueError", "InternalError", "RuntimeError"), name
        assert what, name
    assert set(map(tuple, seen.values())) == {("nothing",)}


def test_a_parse_error_is_caught(names):
    assert list(names.caught_from_parse("[]")) == ["nothing"]
    assert list(names.caught_from_parse("["))[:2] == ["Error", "ValueError"]


def test_a_function_that_is_not_registered_is_an_error_with_its_name(names_path):
    program = """
import sys, ffi_hpy
module = ffi_hpy.load_module(sys.argv[1])
ffi_hpy.remove_global_func("ffi.ReprPrint")
try:
    module.repr_print(1)
except RuntimeError as error:
    print(error)
"""
    assert run_python(program, names_path) == "Expected a global function ffi.ReprPrint but there is none\n"


def test_a_function_that_returns_something_else_is_a_type_error(names_path):
    program = """
import sys, ffi_hpy
module = ffi_hpy.load_module(sys.argv[1])
ffi_hpy.register_global_func("ffi.ReprPrint", lambda x: 5, override=True)
ffi_hpy.register_global_func("ffi.RecursiveEq", lambda x, y: "yes", override=True)
ffi_hpy.register_global_func("ffi.ModuleLoadFromFile", lambda path: [path], override=True)
for ask in (lambda: module.repr_print(1), lambda: module.recursive_eq(1, 1), lambda: module.load_module("x.so")):
    try:
        ask()
    except TypeError as error:
        print(error)
"""
    assert run_python(program, names_path) == (
        "Expected str from ffi.ReprPrint but got int\n"
        "Expected int from ffi.RecursiveEq but got ffi.SmallStr\n"
        "Expected ffi.Module from ffi.ModuleLoadFromFile but got ffi.Array\n"
    )


def test_an_exception_of_python_goes_through_cxx_as_itself(names_path):
    program = """
import sys, ffi_hpy
module = ffi_hpy.load_module(sys.argv[1])
thrown = LookupError("from a hook")
@ffi_hpy.register_global_func("ffi.ReprPrint", override=True)
def fail(value):
    raise thrown
try:
    module.repr_print(1)
except LookupError as error:
    print(error is thrown)
"""
    assert run_python(program, names_path) == "True\n"


@pytest.mark.parametrize("arguments", [(), (1, 2), (None, None)], ids=repr)
def test_the_catcher_refuses_values_that_are_not_functions(arguments):
    with pytest.raises(TypeError, match="expected the addresses of a function and its state"):
        ffi_hpy.get_global_func("ffi_hpy.catch_cxx")(*arguments)
