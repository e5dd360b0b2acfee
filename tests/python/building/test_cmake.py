"""CMake projects that use the package: find_package(), add_subdirectory(), and the helper functions.

CMake behaves the same on every interpreter, so ci/requirements/test.txt installs it for one.
"""

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from support import IS_DEBUG, IS_OWN_DEBUG
from support.cmake_project import CMAKE, Project
from support.native_build import BINARIES, ROOT, read_library

import ffi_hpy
from ffi_hpy import dropin, libinfo

pytestmark = pytest.mark.same_everywhere

PACKAGE = Path(ffi_hpy.__file__).resolve().parent

if CMAKE is None:
    pytest.skip("ci/requirements/test.txt has CMake for one interpreter", allow_module_level=True)
if IS_DEBUG or IS_OWN_DEBUG:
    pytest.skip("programs that CMake builds know nothing of debug modes", allow_module_level=True)


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


ANSWER_C = """
#include <tvm/ffi/c_api.h>
TVM_FFI_DLL_EXPORT int32_t __tvm_ffi_answer(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result);
TVM_FFI_DLL_EXPORT int32_t __tvm_ffi_answer(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  TVMFFIVersion version;
  (void)self, (void)args, (void)num_args;
  TVMFFIGetVersion(&version);
  result->type_index = kTVMFFIInt;
  result->v_int64 = 42 + 0 * version.major;
  return 0;
}
"""

# A program that fails unless the core has started. The program uses a C++ name, as C++ programs do.
PROGRAM_C = """
#include <stdio.h>
#include <tvm/ffi/c_api.h>
void _ZN3tvm3ffi9ReprPrintERKNS0_3AnyE(void);
static void (*volatile repr)(void) = _ZN3tvm3ffi9ReprPrintERKNS0_3AnyE;
static int is_there(const char* name, size_t size) {
  TVMFFIByteArray text = {name, size};
  TVMFFIObjectHandle found = NULL;
  if (TVMFFIFunctionGetGlobal(&text, &found) != 0 || found == NULL) return 0;
  TVMFFIObjectDecRef(found);
  return 1;
}
int main(void) {
  printf("%d %d\\n", is_there("ffi.Array", 9), repr != NULL);
  return 0;
}
"""


# --- find_package() -------------------------------------------------------------------------------------------------


def test_a_library_and_a_program_find_headers_and_core(project):
    lists = """
add_library(user SHARED user.c)
target_link_libraries(user PRIVATE tvm_ffi::header tvm_ffi::shared)
add_executable(program program.c)
target_link_libraries(program PRIVATE tvm_ffi::shared)
"""
    project.write(lists, user_c=ANSWER_C, program_c=PROGRAM_C).configure()
    project.make()
    assert ffi_hpy.load_module(project.build / "libuser.so").answer() == 42
    assert "libtvm_ffi_cxx.so" not in read_library(project.build / "libuser.so").needed
    assert "libtvm_ffi_cxx.so" in read_library(project.build / "program").needed
    assert project.run("program") == "1 1\n"


def test_a_library_that_may_leave_no_name_undefined_links_the_cxx_names(project):
    lists = """
add_library(user SHARED program.c)
tvm_ffi_configure_target(user)
target_link_libraries(user PRIVATE tvm_ffi::cxx)
target_link_options(user PRIVATE LINKER:--no-undefined)
"""
    project.write(lists, program_c=PROGRAM_C).configure()
    project.make()
    assert "libtvm_ffi_cxx.so" in read_library(project.build / "libuser.so").needed


def test_a_version_that_is_too_new_or_of_another_series_is_refused(project):
    wanted = ["0.1", "0.1.5", "0.1.15", "0.1...<0.2", "0.1.3...0.1.15", "0.1.16", "0.2", "1.0", "0.0.9"]
    wanted += ["0.1.3...0.1.14", "0.1.3...<0.1.15", "0.2...1.0"]
    lists = "cmake_minimum_required(VERSION 3.19)\nproject(user LANGUAGES NONE)\n"
    for version in wanted:
        lists += f"find_package(tvm_ffi {version} CONFIG QUIET)\n"
        lists += f'message("({version} ${{tvm_ffi_FOUND}})")\nunset(tvm_ffi_DIR CACHE)\n'
    said = project.write(lists).configure()
    assert re.findall(r"\((\S+) 1\)", said) == ["0.1", "0.1.5", "0.1.15", "0.1...<0.2", "0.1.3...0.1.15"]


def test_the_version_is_that_of_the_abi(project):
    lists = "cmake_minimum_required(VERSION 3.18)\nproject(user LANGUAGES NONE)\n"
    lists += 'find_package(tvm_ffi CONFIG REQUIRED)\nmessage("<${tvm_ffi_VERSION}>")\n'
    assert f"<{dropin.ABI_VERSION.partition('.post')[0]}>" in project.write(lists).configure()


def test_the_error_of_a_wrong_version_names_the_present_version(project):
    lists = (
        "cmake_minimum_required(VERSION 3.18)\nproject(user LANGUAGES NONE)\nfind_package(tvm_ffi 99 CONFIG REQUIRED)\n"
    )
    assert "tvm_ffi-config.cmake, version: 0.1.15" in project.write(lists).configure(status=1)


def test_the_error_of_a_package_names_the_missing_file(project):
    copy = project.folder / "copy" / "share"
    shutil.copytree(PACKAGE / "share", copy)
    project.write("add_library(user SHARED user.c)")
    said = project.configure(status=1, tvm_ffi_ROOT=str(copy / "cmake" / "tvm_ffi"))
    assert f"ffi_hpy is not installed completely: {copy.parent}/include/tvm/ffi/c_api.h is missing" in said


def test_finding_it_runs_no_python_and_two_folders_may_find_it(project):
    below = project.folder / "below"
    below.mkdir()
    (below / "CMakeLists.txt").write_text("find_package(tvm_ffi CONFIG REQUIRED)\ntvm_ffi_configure_target(user)\n")
    lists = "add_library(user SHARED user.c)\nset(Python_EXECUTABLE missing)\nadd_subdirectory(below)\n"
    assert "Configuring done" in project.write(lists, user_c=ANSWER_C).configure()


def test_scikit_build_core_finds_the_package():
    from importlib import metadata

    try:
        text = metadata.distribution("ffi-hpy").read_text("entry_points.txt") or ""
    except metadata.PackageNotFoundError:
        pytest.skip("ffi_hpy is not installed, but run from a folder")
    roots = text.partition("[cmake.root]")[2].partition("[")[0].split("\n")
    assert {f"{name} = ffi_hpy.share.cmake.tvm_ffi" for name in ("ffi_hpy", "tvm_ffi")}.issubset(roots)
    assert Path(PACKAGE, "share", "cmake", "tvm_ffi", "tvm_ffi-config.cmake").is_file()


# --- add_subdirectory() ---------------------------------------------------------------------------------------------


def test_add_subdirectory_builds_the_core_shared_and_static(project):
    lists = f"""
cmake_minimum_required(VERSION 3.18)
project(user LANGUAGES C CXX)
add_subdirectory("{libinfo.find_source_path()}" tvm_ffi)
add_executable(shared program.c)
target_link_libraries(shared PRIVATE tvm_ffi::shared)
add_executable(static program.c)
target_link_libraries(static PRIVATE tvm_ffi::static)
add_library(user SHARED user.c)
tvm_ffi_configure_target(user)
"""
    project.write(lists, program_c=PROGRAM_C, user_c=ANSWER_C).configure()
    project.make()
    assert project.run("shared") == project.run("static") == "1 1\n"
    assert read_library(project.build / "lib" / "libtvm_ffi.so").soname == "libtvm_ffi.so"
    built = read_library(project.build / "lib" / "libtvm_ffi.so").exports
    prebuilt = [read_library(BINARIES / "lib" / name).exports for name in ("libtvm_ffi.so", "libtvm_ffi_cxx.so")]
    assert {*prebuilt[0], *prebuilt[1]} <= set(built)
    assert not any("tvm_ffi" in name for name in read_library(project.build / "static").needed)
    project.cmake("--install", "build", "--prefix", "out")
    assert (project.folder / "out" / "lib" / "libtvm_ffi.so").is_file()
    assert (project.folder / "out" / "include" / "tvm" / "ffi" / "c_api.h").is_file()


@pytest.mark.parametrize("first", ["add_subdirectory({} first)", "find_package(tvm_ffi CONFIG REQUIRED)"])
def test_parts_of_a_project_that_each_add_it_share_the_first(project, first):
    folder = f'"{libinfo.find_source_path()}"'
    lists = "cmake_minimum_required(VERSION 3.18)\nproject(user LANGUAGES C)\n"
    lists += f"{first.format(folder)}\nadd_subdirectory({folder} second)\nfind_package(tvm_ffi CONFIG REQUIRED)\n"
    lists += "add_library(user SHARED user.c)\ntvm_ffi_configure_target(user)\n"
    lists += 'get_target_property(imported tvm_ffi::shared IMPORTED)\nmessage("imported: ${imported}")\n'
    said = project.write(lists, user_c=ANSWER_C).configure()
    assert f"imported: {'TRUE' if first.startswith('find') else 'FALSE'}" in said


def test_a_checkout_is_added_as_it_is(project):
    lists = "cmake_minimum_required(VERSION 3.18)\nproject(user LANGUAGES C)\n"
    lists += f'add_subdirectory("{ROOT}" ffi_hpy EXCLUDE_FROM_ALL)\n'
    lists += "get_target_property(folders tvm_ffi::header INTERFACE_INCLUDE_DIRECTORIES)\n"
    lists += "get_target_property(sources tvm_ffi_objs SOURCES)\nlist(LENGTH sources n)\n"
    lists += 'message("(${folders}) ${n} sources")\n'
    n_sources = len(list((ROOT / "src" / "core").rglob("*.c")))
    said = project.write(lists).configure()
    assert f"{ROOT}/include" in said
    assert f"{n_sources} sources" in said


@pytest.mark.parametrize("option", ["TVM_FFI_BUILD_TESTS", "TVM_FFI_BUILD_PYTHON_MODULE"])
def test_add_subdirectory_refuses_unsupported_builds(project, option):
    lists = "cmake_minimum_required(VERSION 3.18)\nproject(user LANGUAGES C)\n"
    lists += f'add_subdirectory("{libinfo.find_source_path()}" tvm_ffi)\n'
    assert f"{option}: this builds the core only" in project.write(lists).configure(f"-D{option}=ON", status=1)


# --- errors of the helper functions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("tvm_ffi_configure_target(no_such)", "tvm_ffi_configure_target(no_such): the target 'no_such' does not exist"),
        ("tvm_ffi_configure_target(user LINK_STATIC ON)", "unknown arguments: LINK_STATIC;ON"),
        ("tvm_ffi_configure_target(user STUB_DIR)", "no value for STUB_DIR"),
        ("tvm_ffi_configure_target(user STUB_INIT ON)", "STUB_INIT, STUB_PKG and STUB_PREFIX need a STUB_DIR"),
        ("tvm_ffi_configure_target(user STUB_DIR . STUB_PKG x)", "they need STUB_INIT ON"),
        ("tvm_ffi_configure_target(user STUB_DIR . STUB_TARGET C)", "STUB_TARGET must be python or rust, got 'C'"),
        ("tvm_ffi_install(user DESTINATION)", "tvm_ffi_install(user): no value for DESTINATION"),
        ("tvm_ffi_embed_bin_into(user SYMBOL x)", "tvm_ffi_embed_bin_into(user): BIN is required"),
        ("tvm_ffi_embed_bin_into(user SYMBOL x-y BIN z)", "SYMBOL must be an identifier in C, got 'x-y'"),
        ("add_tvm_ffi_cubin(kernel CUDA k.cu)", "add_tvm_ffi_cubin(kernel): the language CUDA is not enabled"),
        ("add_tvm_ffi_fatbin(kernel)", "add_tvm_ffi_fatbin(kernel): CUDA, a source file, is required"),
        ("set(CMAKE_CUDA_ARCHITECTURES 80 90)\nadd_tvm_ffi_cubin(k CUDA k.cu)", "a CUBIN is for one architecture"),
    ],
)
def test_a_wrong_call_raises_an_error_that_names_the_fault(project, call, expected):
    said = project.write(f"add_library(user INTERFACE)\n{call}\n", languages="NONE").configure(status=1)
    assert expected in said


# --- stubs ----------------------------------------------------------------------------------------------------------

# Registers cmake_user.add_one, as a C++ library would, with its type.
REGISTERS_C = """
#include <tvm/ffi/c_api.h>
static int add_one(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self, (void)num_args;
  *result = args[0];
  result->v_int64 += 1;
  return 0;
}
__attribute__((constructor)) static void load(void) {
  static const char name[] = "cmake_user.add_one";
  static const char metadata[] =
      "{\\"type_schema\\":\\"{\\\\\\"type\\\\\\":\\\\\\"ffi.Function\\\\\\",\\\\\\"args\\\\\\":"
      "[{\\\\\\"type\\\\\\":\\\\\\"int\\\\\\"},{\\\\\\"type\\\\\\":\\\\\\"int\\\\\\"}]}\\"}";
  TVMFFIMethodInfo info = {.name = {name, sizeof name - 1}, .metadata = {metadata, sizeof metadata - 1}};
  TVMFFIObjectHandle function;
  if (TVMFFIFunctionCreate(NULL, add_one, NULL, &function) != 0) return;
  info.method.type_index = kTVMFFIFunction;
  info.method.v_ptr = function;
  TVMFFIFunctionSetGlobalFromMethodInfo(&info, 0);
  TVMFFIObjectDecRef(function);
}
"""

STUBS = """
add_library(cmake_user SHARED cmake_user.c)
tvm_ffi_configure_target(cmake_user STUB_DIR python STUB_INIT ON)
"""


def test_stubs_are_made_after_the_link_by_any_python_and_stay_as_they_are(project):
    elsewhere = shutil.which("python3", path=os.defpath)  # a Python without ffi_hpy
    arguments = [f"-DPython_EXECUTABLE={elsewhere or sys.executable}"]
    project.write(STUBS, cmake_user_c=REGISTERS_C).configure(*arguments)
    project.make()
    api = project.folder / "python" / "cmake_user" / "_ffi_api.py"
    text = api.read_text()
    assert "from ffi_hpy import init_ffi_api as _FFI_INIT_FUNC\n" in text
    assert "    def add_one(_0: int, /) -> int: ...\n" in text
    assert 'LIB = _FFI_LOAD_LIB("cmake_user", "cmake_user")' in text
    (project.folder / "cmake_user.c").write_text(REGISTERS_C + "\n")
    assert "written" not in project.make()
    assert api.read_text() == text


def test_in_a_dropin_run_the_stubs_import_tvm_ffi(project):
    project.write(STUBS, cmake_user_c=REGISTERS_C).configure(FFI_HPY_DROPIN=sys.executable)
    project.make()
    text = (project.folder / "python" / "cmake_user" / "_ffi_api.py").read_text()
    assert "from tvm_ffi import init_ffi_api as _FFI_INIT_FUNC\n" in text


def test_stubs_that_cannot_be_made_fail_the_build(project):
    (project.folder / "python").mkdir()
    (project.folder / "python" / "wrong.py").write_text("# tvm-ffi-stubgen(end)\n")
    lists = STUBS.replace(" STUB_INIT ON", "")
    project.write(lists, cmake_user_c=REGISTERS_C).configure(f"-DPython_EXECUTABLE={sys.executable}")
    assert "wrong.py: Unmatched" in project.make(status=1)


def test_a_library_whose_initialisation_fails_fails_the_build_with_the_reason(project):
    fails = """
#include <tvm/ffi/tvm_ffi.h>
TVM_FFI_STATIC_INIT_BLOCK() { throw std::runtime_error("not today"); }
"""
    project.write(STUBS.replace("user.c)", "user.cc)"), languages="C CXX", cmake_user_cc=fails)
    project.configure(f"-DPython_EXECUTABLE={sys.executable}")
    said = project.make(status=1)
    assert "its initialisation failed: not today" in said
    assert "Aborted" not in said
    assert "Error 134" not in said


def test_a_missing_or_old_python_is_reported_where_stubs_are_asked_for(project):
    old = project.folder / "python3.8"
    pretend = "import sys; sys.version_info = (3, 8, 10, 'final', 0)"
    old.write_text(f'#!/bin/sh\nshift\nexec "{sys.executable}" -c "{pretend}\n$1"\n')
    old.chmod(0o755)
    missing = project.folder / "missing"
    for python, found in ((missing, f"found: {missing}"), (old, f"found: {old} 3.8")):
        project.write(STUBS, cmake_user_c=REGISTERS_C)
        said = project.configure(f"-DPython_EXECUTABLE={python}", status=1)
        assert "tvm_ffi_configure_target(cmake_user): STUB_DIR needs Python 3.9 or later" in said
        assert found in said
        assert "Python_EXECUTABLE can name one" in said
        shutil.rmtree(project.build)


# --- compiler options -----------------------------------------------------------------------------------------------


def flags_of(project, *options):
    """Configure, and return the compiler options about optimization and visibility, by source file."""
    project.configure("-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options)
    commands = json.loads((project.build / "compile_commands.json").read_text())
    is_wanted = re.compile(r"-O\w|-fvisibility=\w+").fullmatch
    wanted = {Path(each["file"]).name: filter(is_wanted, each["command"].split()) for each in commands}
    return {name: sorted(flags, key=lambda flag: flag[:2] != "-O") for name, flags in wanted.items()}


def test_code_is_optimized_and_its_symbols_are_hidden_unless_the_project_chooses(project):
    lists = """
foreach(name IN ITEMS plain slow before after)
  add_library(${name} SHARED ${name}.cc)
endforeach()
add_library(in_c SHARED in_c.c)
target_compile_options(slow PRIVATE -O0)
set_target_properties(before PROPERTIES CXX_VISIBILITY_PRESET default)
foreach(name IN ITEMS plain slow before after in_c)
  tvm_ffi_configure_target(${name})
endforeach()
set_target_properties(after PROPERTIES CXX_VISIBILITY_PRESET protected)
"""
    names = ("plain_cc", "slow_cc", "before_cc", "after_cc", "in_c_c")
    project.write(lists, languages="C CXX", **dict.fromkeys(names, ""))
    hidden = "-fvisibility=hidden"
    assert flags_of(project) == {
        "plain.cc": ["-O2", hidden],
        "slow.cc": ["-O2", "-O0", hidden],  # the last one counts
        "before.cc": ["-O2", "-fvisibility=default"],
        "after.cc": ["-O2", "-fvisibility=protected"],
        "in_c.c": ["-O2"],
    }
    assert flags_of(project, "-DCMAKE_CXX_FLAGS=-g -O1")["plain.cc"] == ["-O1", hidden]
    debug = flags_of(project, "-DCMAKE_CXX_FLAGS=", "-DCMAKE_BUILD_TYPE=Debug")
    assert (debug["plain.cc"], debug["in_c.c"]) == ([hidden], [])
    assert flags_of(project, "-DCMAKE_BUILD_TYPE=Release")["plain.cc"] == ["-O3", hidden]


# --- other helpers --------------------------------------------------------------------------------------------------


def test_a_file_is_embedded_and_again_when_it_changes(project):
    lists = """
add_library(inside SHARED inside.c)
tvm_ffi_configure_target(inside)
tvm_ffi_embed_bin_into(inside SYMBOL one BIN "${CMAKE_CURRENT_SOURCE_DIR}/one file.bin")
tvm_ffi_embed_bin_into(inside SYMBOL two BIN "${CMAKE_CURRENT_SOURCE_DIR}/two.bin")
add_executable(program program.c)
target_link_libraries(program PRIVATE inside)
"""
    inside = """
#include <stddef.h>
extern const unsigned char __tvm_ffi__cubin_one[], __tvm_ffi__cubin_one_end[], __tvm_ffi__cubin_two[];
size_t size_of_one(void) { return (size_t)(__tvm_ffi__cubin_one_end - __tvm_ffi__cubin_one); }
int first_of_two(void) { return __tvm_ffi__cubin_two[0]; }
"""
    program = """
#include <stdio.h>
size_t size_of_one(void);
int first_of_two(void);
int main(void) { return printf("%d %c\\n", (int)size_of_one(), first_of_two()) < 0; }
"""
    (project.folder / "one file.bin").write_bytes(b"12345")
    (project.folder / "two.bin").write_bytes(b"xyz")
    project.write(lists, inside_c=inside, program_c=program).configure()
    project.make()
    assert project.run("program") == "5 x\n"
    assert not any("cubin" in name for name in read_library(project.build / "libinside.so").exports)
    assert "no work to do" in project.make()
    (project.folder / "two.bin").write_bytes(b"abc")
    project.make()
    assert project.run("program") == "5 a\n"


def test_targets_are_made_of_an_object_library(project):
    lists = """
add_library(mine_objs OBJECT user.c)
set_target_properties(mine_objs PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_link_libraries(mine_objs PUBLIC tvm_ffi::header)
tvm_ffi_add_target_from_obj(mine mine_objs)
target_link_libraries(mine_shared PRIVATE tvm_ffi::shared)
target_sources(mine_testing PRIVATE user.c)
target_link_libraries(mine_testing PRIVATE tvm_ffi::shared)
"""
    project.write(lists, user_c=ANSWER_C).configure()
    project.make()
    made = sorted(path.name for path in (project.build / "lib").iterdir())
    assert made == ["libmine.so", "libmine_static.a", "libmine_testing.so"]
    assert ffi_hpy.load_module(project.build / "lib" / "libmine.so").answer() == 42


def test_static_libraries_are_kept_inside_and_paths_out(project):
    lists = """
add_library(helper STATIC helper.c)
set_target_properties(helper PROPERTIES POSITION_INDEPENDENT_CODE ON)
add_library(user SHARED user.c)
target_link_libraries(user PRIVATE helper)
tvm_ffi_configure_target(user)
tvm_ffi_hide_static_linked_lib_symbols(user)
"""
    user = "const char* helper(void);\nconst char* of_user(void);\n"
    user += "const char* of_user(void) { return __FILE__[0] ? __FILE__ : helper(); }\n"
    project.write(lists, user_c=user, helper_c='const char* helper(void) { return "x"; }\n').configure()
    project.make()
    library = project.build / "libuser.so"
    assert "of_user" in read_library(library).exports
    assert "helper" not in read_library(library).exports
    assert f"{project.folder}/user.c".encode() not in library.read_bytes()


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is missing")
def test_cuda_code_is_compiled_and_embedded(project):
    lists = """
add_tvm_ffi_cubin(kernel CUDA kernel.cu)
add_executable(program program.c)
tvm_ffi_embed_bin_into(program SYMBOL kernel BIN "$<TARGET_OBJECTS:kernel>")
"""
    program = """
#include <stdio.h>
extern const char __tvm_ffi__cubin_kernel[];
int main(void) { return printf("%.3s\\n", __tvm_ffi__cubin_kernel + 1) < 0; }
"""
    kernel = 'extern "C" __global__ void add_one(float *x) { x[threadIdx.x] += 1; }\n'
    project.write(lists, languages="C CUDA", program_c=program, kernel_cu=kernel)
    project.configure("-DCMAKE_CUDA_ARCHITECTURES=90")
    project.make()
    assert project.run("program") == "ELF\n"
    assert len(list(project.build.rglob("kernel.cubin"))) == 1
