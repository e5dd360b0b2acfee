"""Module: loading libraries, and looking up their functions."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support import collect_garbage, run_python
from support.native_build import BINARIES, PACKAGE, compile_c, compile_cxx

import ffi_hpy
from ffi_hpy.module import LibraryNotFoundError, ModulePropertyMask


def is_loaded(path):
    return os.fsencode(path) in Path("/proc/self/maps").read_bytes()  # names need not be UTF-8


@pytest.fixture
def fresh_copy(plain_path, tmp_path):
    """Return a function that makes copies of the plain library that were never loaded."""
    import itertools

    count = itertools.count()

    def make():
        return Path(shutil.copy(plain_path, tmp_path / f"copy{next(count)}.so"))

    return make


def test_functions_are_attributes_and_items(plain):
    assert plain.sum(1, 2) == 3
    assert plain["sum"](1, 2) == 3
    assert plain.get_function("sum")(1, 2) == 3
    assert isinstance(plain.sum, ffi_hpy.Function)


def test_an_attribute_is_looked_up_once(plain_path):
    module = ffi_hpy.load_module(plain_path)
    assert module.sum is module.sum


def test_calling_a_module_calls_its_main_function(plain):
    assert plain(1, 2, 3) == 6
    assert plain.entry_name == "main"


def test_a_module_shows_its_kind(plain):
    assert plain.kind == "library"
    assert plain.implements_function("sum")
    assert not plain.implements_function("nonsense")
    assert plain.is_runnable()
    assert plain.is_binary_serializable()
    assert not plain.is_compilation_exportable()
    assert plain.get_property_mask() == ModulePropertyMask.BINARY_SERIALIZABLE | ModulePropertyMask.RUNNABLE
    assert list(plain.imports) == []


def test_metadata_and_documentation_are_found(plain):
    assert plain.get_function_metadata("short") == {"nonblocking": True, "note": "a short one"}
    assert plain.get_function_doc("short") == "Sum of any number of ints, at once."
    assert plain.get_function_metadata("sum") is None
    assert plain.get_function_doc("sum") is None


def test_a_path_may_be_any_path_object(plain_path):
    assert ffi_hpy.load_module(plain_path).sum(1) == 1
    assert ffi_hpy.load_module(str(plain_path)).sum(1) == 1
    assert ffi_hpy.load_module(os.path.relpath(plain_path)).sum(1) == 1


def test_a_path_with_other_letters_works(plain_path, tmp_path):
    folder = tmp_path / "größe 日本"
    folder.mkdir(exist_ok=True)
    shutil.copy(plain_path, folder / "lib.so")
    assert ffi_hpy.load_module(folder / "lib.so").sum(1) == 1


# --- missing files and names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["missing/lib.so", "missing.so", "missing"])
def test_a_missing_file_is_an_error_with_its_path(tmp_path, name):
    for path in (str(tmp_path / name), f"./{os.path.relpath(tmp_path / name)}"):
        with pytest.raises(LibraryNotFoundError, match="no such file") as caught:
            ffi_hpy.load_module(path)
        assert isinstance(caught.value, FileNotFoundError)
        assert isinstance(caught.value, RuntimeError)
        assert path in str(caught.value)


def test_a_name_that_no_loader_finds_is_an_error_with_the_name():
    with pytest.raises(RuntimeError, match=r"no_such_library_anywhere.so"):
        ffi_hpy.load_module("no_such_library_anywhere.so")


@pytest.mark.parametrize(
    "content", [b"", b"This is not a library.\n", b"\x7fELF" + bytes(60)], ids=["empty", "text", "header"]
)
def test_a_file_that_is_not_a_library_is_an_error_with_its_path(tmp_path, content):
    path = tmp_path / "fake.so"
    path.write_bytes(content)
    with pytest.raises(RuntimeError, match=str(path)):
        ffi_hpy.load_module(path)


def test_a_folder_is_an_error_with_its_path(tmp_path):
    folder = tmp_path / "folder.so"
    folder.mkdir(exist_ok=True)
    with pytest.raises(RuntimeError, match=str(folder)):
        ffi_hpy.load_module(folder)


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.8, 0.99])
def test_a_truncated_library_is_an_error_with_the_reason(fresh_copy, share):
    path = fresh_copy()
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(RuntimeError, match=rf"{path.name}: it is truncated or damaged: .*, and the file has \d+"):
        ffi_hpy.load_module(path)
    path.write_bytes(whole)
    assert ffi_hpy.load_module(path).sum(1, 2) == 3  # the refused file was not cached


def test_a_library_that_is_partly_zeros_is_an_error_with_the_reason(fresh_copy):
    path = fresh_copy()
    whole = path.read_bytes()
    path.write_bytes(whole[:1024] + bytes(len(whole) - 1024))
    with pytest.raises(RuntimeError, match=rf"{path.name}: it is damaged"):
        ffi_hpy.load_module(path)


def test_the_error_for_a_file_that_is_not_a_library_names_its_format(fresh_copy, tmp_path):
    script = tmp_path / "script.so"
    script.write_text("GROUP ( libm.so.6 )\n")
    with pytest.raises(RuntimeError, match=r"script.so: it is not an ELF file, but text: is it a linker script\?"):
        ffi_hpy.load_module(script)
    pipe = tmp_path / "pipe.so"
    os.mkfifo(pipe)
    with pytest.raises(RuntimeError, match=r"pipe.so: it is a pipe"):
        ffi_hpy.load_module(pipe)
    other = fresh_copy()
    content = bytearray(other.read_bytes())
    content[18:20] = b"\x02\x00"  # SPARC
    other.write_bytes(content)
    with pytest.raises(
        RuntimeError, match=rf"{other.name}: it is not for this machine: it is a library for sparc, and "
    ):
        ffi_hpy.load_module(other)
    for name, content, words in (
        ("a.dll", b"MZ" + bytes(58) + b"\x40\0\0\0PE\0\0\x64\x86" + bytes(18), r"a program for Windows \(x86_64\)"),
        ("b.so", b"\xcf\xfa\xed\xfe\x0c\0\0\x01\0\0\0\0\x06\0\0\0", r"a library for macOS \(arm64\)"),
        ("c.so", b"!<arch>\n", "a static archive: link it into a shared library"),
        ("d.so", b"\0asm\1\0\0\0", "WebAssembly"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(RuntimeError, match=rf"/{name}: it is not an ELF file, but {words}$"):
            ffi_hpy.load_module(tmp_path / name)
    link = tmp_path / "link.so"
    link.symlink_to("nowhere")
    with pytest.raises(RuntimeError, match=r"link\.so"):
        ffi_hpy.load_module(link)


def test_a_path_with_a_nul_is_a_value_error_that_shows_it(plain_path, plain):
    for path in (f"{plain_path}\0.so", os.fsencode(plain_path) + b"\0.so", "\0"):
        with pytest.raises(ValueError, match=r"expected a path without a NUL, got '.*\\x00"):
            ffi_hpy.load_module(path)
    with pytest.raises(ValueError, match=r"Expected a path without a NUL but got `/tmp/a\\0b`"):
        plain.write_to_file("/tmp/a\0b")


def test_a_file_name_need_not_be_utf8(plain_path, tmp_path):
    path = os.fsencode(tmp_path) + b"/lib\xff\xfe.so"
    shutil.copy(plain_path, path)
    assert ffi_hpy.load_module(path).sum(1) == 1
    assert ffi_hpy.load_module(os.fsdecode(path)).sum(1) == 1
    assert ffi_hpy.load_module(Path(os.fsdecode(path))).sum(1) == 1
    other = path.replace(b"lib", b"two")
    shutil.copy(plain_path, other)
    os.truncate(other, 1000)
    with pytest.raises(RuntimeError, match="truncated"):
        ffi_hpy.load_module(other)
    with pytest.raises(LibraryNotFoundError):
        ffi_hpy.load_module(path + b".missing")


def test_a_truncated_hpy_module_is_an_import_error_with_the_reason(tmp_path):
    whole = (BINARIES / "_core.hpy0.so").read_bytes()
    path = tmp_path / "half.hpy0.so"
    path.write_bytes(whole[: len(whole) // 2])
    program = """
import sys
import ffi_hpy.hpy as hpy

def refused(name, path):
    try:
        hpy.load(name, path)
    except (ImportError, ValueError) as error:
        return type(error).__name__, str(error), getattr(error, "path", None)

kind, text, path = refused("half", sys.argv[1])
assert (kind, path) == ("ImportError", sys.argv[1]) and "half.hpy0.so: it is truncated or damaged" in text, text
for name, path in (("ha\\0lf", "half.hpy0.so"), ("half", "ha\\0lf.hpy0.so"), ("half", b"ha\\0lf.hpy0.so")):
    kind, text, _ = refused(name, path)
    assert kind == "ValueError" and "without a NUL" in text, text
"""
    run_python(program, path)


def lacking(name):
    return compile_c("lacking.c", PACKAGE / "include", f"-DLACKING={name}", link=("-ltvm_ffi",))


@pytest.mark.parametrize("name", ["TVMFFINameOfTomorrow", "_ZN3tvm3ffi8TomorrowEv"])
def test_a_library_of_a_future_version_is_refused_with_the_name_that_it_needs(name):
    path = lacking(name)
    with pytest.raises(RuntimeError, match=rf"{path}.*needs {name}, which tvm-ffi .* does not have: .*newer version"):
        ffi_hpy.load_module(path)


def test_a_library_that_lacks_a_foreign_name_is_loaded_and_may_do_without():
    assert ffi_hpy.load_module(lacking("somebody_elses_function")).there(1, 2) == 2


def init_twice(kind, folder):
    """Compile native/init_twice.cc, and copy the library to two paths."""
    built = compile_cxx("init_twice.cc", PACKAGE / "include", f"-DKIND={kind}")
    return [shutil.copy(built, folder / f"{which}.so") for which in ("first", "second")]


LOAD_TWICE = """
import sys, ffi_hpy
first, second = sys.argv[1:]
for path in (first, second, second, first):
    try:
        ffi_hpy.load_module(path)
        print("loaded")
    except RuntimeError as error:
        print(str(error).replace(path, "PATH"))
"""
REFUSED = "Cannot load library PATH: its initialisation failed: "


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (0, "Global Function `test_module.init` is already registered"),
        (1, "Metadata of type `test_module.Thing` is already registered"),
    ],
    ids=["function", "type"],
)
def test_a_library_that_registers_a_name_that_is_taken_is_refused(kind, reason, tmp_path):
    said = run_python(LOAD_TWICE, *init_twice(kind, tmp_path)).splitlines()
    assert said[1].startswith(REFUSED + reason)
    assert [said[0], *said[2:]] == ["loaded", REFUSED + "as it did before", "loaded"]


@pytest.mark.parametrize("kind", [2, 3], ids=["field", "exception"])
def test_a_library_that_fails_while_it_is_loaded_is_refused_each_time(kind, tmp_path):
    reason = {2: 'Duplicate field name "size" in type "test_module.Thing"', 3: "not today"}[kind]
    said = run_python(LOAD_TWICE, *init_twice(kind, tmp_path)).splitlines()
    assert said[0] == REFUSED + reason
    assert said[2:] == [REFUSED + "as it did before"] * 2


def test_a_library_that_loads_a_broken_one_is_not_broken(tmp_path):
    outer, _ = init_twice(0, tmp_path)
    inner = compile_cxx("init_twice.cc", PACKAGE / "include", "-DKIND=3")
    program = """
import sys, ffi_hpy
outer, inner = sys.argv[1:]
ffi_hpy.register_global_func("test_module.inner_path", lambda: inner)
ffi_hpy.load_module(outer)
print(ffi_hpy.get_global_func("test_module.inner")().replace(inner, "PATH"))
"""
    assert run_python(program, outer, inner) == f"{REFUSED}not today\n"


def test_where_no_module_is_loaded_a_failure_aborts_the_process(tmp_path):
    program = "import sys, ctypes, ffi_hpy; ctypes.CDLL(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", program, init_twice(3, tmp_path)[0]], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == -signal.SIGABRT
    assert "not today" in done.stderr


@pytest.mark.parametrize("name", ["lib.nonsense", "lib"])
def test_an_extension_without_a_loader_is_an_error_with_the_path(plain_path, tmp_path, name):
    path = Path(shutil.copy(plain_path, tmp_path / name))
    with pytest.raises(RuntimeError, match=str(path)):
        ffi_hpy.load_module(path)


@pytest.mark.parametrize("wrong", [None, 3, ["x"]], ids=repr)
def test_a_path_of_the_wrong_type_is_a_type_error(wrong):
    with pytest.raises(TypeError):
        ffi_hpy.load_module(wrong)


def test_a_missing_function_is_an_attribute_error_with_the_symbol(plain, plain_path):
    for find in (plain.get_function, plain.__getitem__, lambda name: getattr(plain, name)):
        with pytest.raises(
            AttributeError, match=r"^Module has no function 'nonsense': __tvm_ffi_nonsense is missing in the"
        ) as caught:
            find("nonsense")
        assert str(plain_path) in str(caught.value)
    assert not hasattr(plain, "nonsense")
    assert getattr(plain, "nonsense", None) is None


def test_a_name_with_two_underscores_is_not_looked_up(plain):
    with pytest.raises(AttributeError, match="__nonsense__"):
        plain.__nonsense__  # noqa: B018


def test_a_function_name_that_is_not_a_str_is_refused(plain):
    with pytest.raises(ValueError, match="found by str, not int"):
        plain[3]
    with pytest.raises(TypeError):
        plain.get_function(3)


# --- lifetime -------------------------------------------------------------------------------------------------------


def test_a_library_stays_loaded_by_default(fresh_copy):
    path = fresh_copy()
    ffi_hpy.load_module(path)
    collect_garbage(lambda: not is_loaded(path))
    assert is_loaded(path)


def test_a_module_goes_with_its_last_reference_if_asked_but_its_code_stays(fresh_copy):
    path = fresh_copy()
    module = ffi_hpy.load_module(path, keep_module_alive=False)
    assert module.__use_count__() == 1
    function = module.get_function("sum")
    del module
    collect_garbage()
    assert function(1, 2) == 3  # a function outlives its module
    del function
    collect_garbage()
    assert is_loaded(path)  # its objects may outlive it, and its code frees them


def test_a_function_outlives_its_module(fresh_copy):
    function = ffi_hpy.load_module(fresh_copy(), keep_module_alive=False).sum
    assert function(1, 2) == 3


def test_an_error_outlives_the_library_that_raised_it(fresh_copy):
    path = fresh_copy()
    module = ffi_hpy.load_module(path, keep_module_alive=False)
    with pytest.raises(IndexError, match="raised in C") as caught:
        module.fail()
    error = caught.value.__tvm_ffi_error__
    del caught, module
    collect_garbage(lambda: not is_loaded(path))
    assert (error.kind, error.message) == ("IndexError", "raised in C")


# --- imports --------------------------------------------------------------------------------------------------------


def test_functions_of_imported_modules_are_found_when_asked_for(extension_path, plain_path):
    module, imported = ffi_hpy.load_module(extension_path), ffi_hpy.load_module(plain_path)
    module.import_module(imported)
    assert [m.same_as(imported) for m in module.imports] == [True]
    assert module.get_function("sum", query_imports=True)(1, 2) == 3
    with pytest.raises(AttributeError):
        module.get_function("sum")
    module.clear_imports()
    assert len(module.imports) == 0


def test_modules_that_import_each_other_are_refused(extension_path, plain_path):
    one, other = ffi_hpy.load_module(extension_path), ffi_hpy.load_module(plain_path)
    one.import_module(other)
    with pytest.raises(RuntimeError, match=r"(?i)cycl|import this one"):
        other.import_module(one)
    with pytest.raises(RuntimeError, match=r"(?i)cycl|import this one"):
        one.import_module(one)
    with pytest.raises(TypeError):
        one.import_module(3)


def test_a_system_library_has_no_functions_of_others():
    module = ffi_hpy.system_lib()
    assert module.kind == "system_lib" or module.kind == "library"
    with pytest.raises(AttributeError, match="no function 'sum'"):
        module.get_function("sum")
    assert ffi_hpy.system_lib().same_as(module)


def test_a_library_that_crashes_on_load_is_not_hidden(tmp_path, plain_path):
    program = """
import sys, ffi_hpy
for path in sys.argv[1:]:
    try:
        ffi_hpy.load_module(path)
    except RuntimeError as error:
        print(type(error).__name__)
print(ffi_hpy.load_module(sys.argv[-1]).sum(4, 5))
"""
    missing = tmp_path / "missing.so"
    assert run_python(program, missing, plain_path) == "LibraryNotFoundError\n9\n"
