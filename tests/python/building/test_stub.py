"""Type annotations for the registrations of native libraries: ffi_hpy.stub and the command ffi-hpy-stubgen."""

import json
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from support import run_main
from support.native_build import compile_cxx

import ffi_hpy
import ffi_hpy.testing
from ffi_hpy.core import TypeSchema
from ffi_hpy.stub import cli, consts, layout, lib_state
from ffi_hpy.stub.file_utils import FileInfo, collect_files
from ffi_hpy.stub.utils import NamedTypeSchema, ObjectInfo

PACKAGE = Path(ffi_hpy.__file__).resolve().parent

PYTHON = consts.PYTHON_SYNTAX
BEGIN, END = PYTHON.begin, PYTHON.end


@pytest.fixture
def stubgen(capsys):
    """Return a function that runs the command in this process and returns its exit status, stdout and stderr."""

    return partial(run_main, cli.main, capsys)


def region(stub, *lines):
    return "".join(f"{line}\n" for line in (f"{BEGIN} {stub}", *lines, END))


@pytest.mark.parametrize("n", [0, 1, 2**20 - 30, 2**20, 2**21 - 1, 2**22 + 5])
def test_a_bound_library_is_known_by_its_symbol_anywhere_in_the_file(tmp_path, n):
    from ffi_hpy._bind.finder import is_bound

    file = tmp_path / "shapes.so"
    symbol = b"__tvm_ffi_ffi_hpy_execute_shapes"
    file.write_bytes(bytes(n) + symbol + bytes(n // 2 + 1))
    assert is_bound(str(file))
    assert is_bound(str(file), "shapes")
    assert not is_bound(str(file), "shape")
    file.write_bytes(bytes(n) + symbol[:20] + bytes(n))
    assert not is_bound(str(file))
    assert not is_bound(str(tmp_path / "none.so"))


# --- a package from nothing -----------------------------------------------------------------------------------------


def stubgen_alone(*arguments):
    """Run the command in a new process, where only the arguments load libraries; return its exit status, stdout and
    stderr."""
    command = [sys.executable, "-m", "ffi_hpy.stub.cli", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_a_package_is_made_works_and_stays_as_it_is(extension_path, tmp_path):
    def init(*more):
        names = ["--init-pypkg", "no-such-distribution", "--init-lib", "pairs", "--init-prefix", "ffi_hpy_test."]
        return stubgen_alone(tmp_path, "--dlls", extension_path, *names, *more)

    status, said, complaints = init("--dry-run", "--verbose")
    assert (status, complaints) == (0, "")
    assert "+class IntPair(_ffi_Object):" in said.splitlines()
    assert not (tmp_path / "ffi_hpy_test").exists()

    assert init()[0] == 0
    api = tmp_path / "ffi_hpy_test" / "_ffi_api.py"
    text = api.read_text()
    assert "    def gil_state_blocking() -> int: ...\n" in text
    assert "        def __init__(self, a: int, b: int, /) -> None: ...\n" in text
    assert (
        "        @staticmethod\n        def product(_0: int, _1: int, /) -> int:\n"
        '            """Product of two numbers."""\n'
    ) in text
    assert (tmp_path / "ffi_hpy_test" / "py.typed").exists()
    assert init() == (0, "", "")
    assert stubgen_alone(tmp_path, "--dlls", extension_path, "--check") == (0, "", "")
    assert api.read_text() == text

    program = """
import ffi_hpy_test
pair = ffi_hpy_test.IntPair(3, 4)
print(pair.sum(), ffi_hpy_test.IntPair.product(3, 4), type(ffi_hpy_test.gil_state()).__name__)
print(ffi_hpy_test._ffi_api._LIB.make_pair(1, 1).a)
print(sorted(ffi_hpy_test.__all__))
print([name for name in dir(ffi_hpy_test) if not name.startswith("_") and name not in ffi_hpy_test.__all__])
"""
    shutil.copyfile(extension_path, tmp_path / "libpairs.so")
    environ = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    environ["PYTHONPATH"] = os.pathsep.join([str(tmp_path), str(Path(ffi_hpy.__file__).parents[1])])
    done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    exported = ["IntPair", "gil_state", "gil_state_blocking", "gil_state_nonblocking"]
    assert done.stdout == f"7 12 int\n1\n{exported}\n[]\n"


def test_handwritten_code_stays(stubgen, extension_path, tmp_path):
    package = tmp_path / "ffi_hpy_test"
    package.mkdir()
    by_hand = '"""Mine."""\n\nimport os\n\n' + region("__all__") + "\nclass Other:\n    here = os.sep\n"
    (package / "_ffi_api.py").write_text(by_hand)
    (package / "__init__.py").write_text("# tvm-ffi-stubgen(skip-file)\n")
    names = ["--init-pypkg", "x", "--init-lib", "pairs", "--init-prefix", "ffi_hpy_test."]
    assert stubgen(tmp_path, "--dlls", extension_path, *names)[0] == 0
    lines = (package / "_ffi_api.py").read_text().splitlines()
    assert [line for line in by_hand.splitlines() if line not in lines] == []
    assert lines.count(f"{BEGIN} __all__") == 1
    compile("\n".join(lines), "_ffi_api.py", "exec")
    assert lines.index(f"{BEGIN} import-section") < lines.index("import os")
    assert '"IntPair",' in lines
    assert (package / "__init__.py").read_text() == "# tvm-ffi-stubgen(skip-file)\n"


def test_folders_between_become_packages_and_odd_prefixes_are_named(stubgen, tmp_path):
    prefix = f"stub_t{os.getpid()}_{id(tmp_path)}"
    names = [f"{prefix}.a.b.f", f"{prefix}.not-a-name.g"]
    for name in names:
        ffi_hpy.register_global_func(name, lambda: None)
    try:
        init = ["--init-pypkg", "x", "--init-lib", "y", "--init-prefix", f"{prefix}."]
        status, _, complaints = stubgen(tmp_path, *init)
    finally:
        for name in names:
            ffi_hpy.remove_global_func(name)
    assert status == 0
    assert f"no file is made for '{prefix}.not-a-name'" in complaints
    made = sorted(path.relative_to(tmp_path / prefix).as_posix() for path in tmp_path.rglob("*.py"))
    assert made == ["__init__.py", "_ffi_api.py", "a/__init__.py", "a/b/__init__.py", "a/b/_ffi_api.py"]
    assert "_LIB = " in (tmp_path / prefix / "_ffi_api.py").read_text()
    assert "LIB = " not in (tmp_path / prefix / "a" / "b" / "_ffi_api.py").read_text()


def test_the_import_section_names_the_package_whose_command_runs(tmp_path):
    (tmp_path / "both.py").write_text(region("import-section") + region("global/testing"))
    lines = {}
    for program in (["ffi_hpy.stub.cli"], ["ffi_hpy.dropin", "tvm-ffi-stubgen"]):
        command = [sys.executable, "-m", *program, "--imports", "ffi_hpy.testing", str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        lines[program[0]] = (tmp_path / "both.py").read_text().splitlines()
    assert "from ffi_hpy import init_ffi_api as _FFI_INIT_FUNC" in lines["ffi_hpy.stub.cli"]
    assert "from tvm_ffi import init_ffi_api as _FFI_INIT_FUNC" in lines["ffi_hpy.dropin"]
    command = shutil.which("ffi-hpy-stubgen", path=str(Path(sys.executable).parent))
    if command is not None:  # not installed, but run from a folder
        assert "--init-pypkg" in subprocess.run([command, "--help"], capture_output=True, text=True).stdout


# --- --check and errors ---------------------------------------------------------------------------------------------


def test_check_fails_with_a_diff_and_writes_nothing(stubgen, tmp_path):
    file = tmp_path / "api.py"
    file.write_text(region("global/testing", "def add_one(): ..."))
    before = file.read_bytes()
    status, said, complaints = stubgen(tmp_path, "--check")
    assert (status, complaints) == (1, "")
    assert f"[Stale] {file}\n" in said
    assert "-def add_one(): ..." in said.splitlines()
    assert "+    def add_one(_0: int, /) -> int: ..." in said.splitlines()
    assert file.read_bytes() == before
    assert stubgen(tmp_path)[0] == 0
    assert stubgen(tmp_path, "--check") == (0, "", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (region("nonsense/x"), "Unknown stub type `nonsense/x` at line 1"),
        ("# tvm-ffi-stubgen(x y): z\n", "Unknown stub type at line 1"),
        (f"\n{END}\n", "Unmatched `# tvm-ffi-stubgen(end)` at line 2"),
        (f"{BEGIN} __all__\n", "Unclosed stub block: line 1"),
        (f"{BEGIN} __all__\n{BEGIN} __all__\n", "Nested stub not permitted at line 2"),
        ("# tvm-ffi-stubgen(field): a -> b\n", "Unknown directive `field` at line 1"),
        ("# tvm-ffi-stubgen(ty-map): a\n", "`ty-map` at line 1 must be KEY -> NAME, got 'a'"),
        ("# tvm-ffi-stubgen(import-object): a;maybe\n", "must be NAME;True or False;ALIAS, got 'a;maybe'"),
        (
            region("object/no.such.Type"),
            "`object/no.such.Type` (line 1): the type is no longer registered",
        ),
        (region("global/no.such", "x"), "`global/no.such` at line 1: no loaded library registers such functions"),
    ],
)
def test_a_file_that_cannot_be_processed_fails_and_the_others_are_processed(stubgen, tmp_path, text, expected):
    (tmp_path / "bad.py").write_text(text)
    (tmp_path / "good.py").write_text(region("global/testing"))
    status, _, complaints = stubgen(tmp_path)
    assert status == 2
    assert complaints.startswith(f"ffi-hpy-stubgen: {tmp_path / 'bad.py'}: ")
    assert expected in complaints
    assert complaints.count("\n") == 1
    assert (tmp_path / "bad.py").read_text() == text
    assert "def add_one(" in (tmp_path / "good.py").read_text()


def test_a_library_that_cannot_be_loaded_or_read_fails(stubgen, tmp_path, monkeypatch):
    (tmp_path / "fails.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(str(tmp_path))
    for arguments, expected in (
        ([tmp_path, "--imports", "no_such_module"], "--imports no_such_module: No module named 'no_such_module'"),
        ([tmp_path, "--imports", "fails"], "--imports fails: ZeroDivisionError: division by zero"),
        ([tmp_path, "--dlls", "no_such.so"], "--dlls no_such.so: "),
        ([tmp_path / "missing.py"], f"{tmp_path / 'missing.py'}: "),
        (["--coverage-out", tmp_path], f"--coverage-out {tmp_path}: "),
        ([], "at least one PATH is required"),
        ([tmp_path, "--init-lib", "x"], "--init-pypkg, --init-lib, and --init-prefix must be provided together"),
        ([tmp_path, "--indent", "0"], "--indent must be at least 1, got 0"),
        ([tmp_path, "--check", "--init-lib=x", "--init-pypkg=x", "--init-prefix=x"], "--check cannot be combined"),
    ):
        status, _, complaints = stubgen(*arguments)
        assert status == 2
        assert expected in complaints


def test_a_library_whose_registration_fails_is_an_error_with_the_reason(stubgen, tmp_path):
    library = shutil.copy(compile_cxx("init_twice.cc", PACKAGE / "include", "-DKIND=3"), tmp_path / "fails.so.1")
    status, _, complaints = stubgen(tmp_path, "--dlls", library)
    assert status == 2
    reason = f"Cannot load library {library}: its initialisation failed: not today"
    assert complaints == f"ffi-hpy-stubgen: --dlls {library}: {reason}\n"


def test_a_file_with_wrong_marks_is_not_added_to(stubgen, tmp_path):
    package = tmp_path / "testing"
    package.mkdir()
    (package / "_ffi_api.py").write_text(END)
    status, _, complaints = stubgen(tmp_path, "--init-pypkg=x", "--init-lib=y", "--init-prefix=testing.")
    assert status == 2
    assert complaints.splitlines()[-1] == f"ffi-hpy-stubgen: {package / '_ffi_api.py'}: Unmatched `{END}` at line 1"
    assert (package / "_ffi_api.py").read_text() == END


def test_an_import_section_is_where_its_first_line_can_be(stubgen, tmp_path):
    file = tmp_path / "later.py"
    rest = region("import-section") + region("global/testing")
    future = "from __future__ import annotations\n"
    for before, is_first in (("# x\n'''x'''\n\n", True), (f"{future}import os\n", False), (f"'x'\n{future}", True)):
        file.write_text(before + rest)
        assert stubgen(file)[0] == 0
        text = file.read_text()
        assert text.count("    def add_one(") == 1
        assert text.count(future) == is_first + before.count(future)
        compile(text, "later.py", "exec")
    for before in ("import os\n", "'x'\n'y'\n", "if\n"):
        file.write_text(before + rest)
        status, _, complaints = stubgen(file)
        assert status == 2
        assert "`import-section` at line " in complaints
        assert "must begin with `from __future__ import annotations`" in complaints
        assert file.read_text() == before + rest


def test_line_ends_stay_unchanged(tmp_path, stubgen):
    file = tmp_path / "dos.py"
    file.write_bytes((region("global/testing") + "x = 1\n").replace("\n", "\r\n").encode())
    assert stubgen(file)[0] == 0
    content = file.read_bytes()
    assert b"def add_one(" in content
    assert content.count(b"\n") == content.count(b"\r\n")


def test_text_outside_of_the_regions_stays_byte_for_byte(tmp_path, stubgen):
    by_hand = 'page = "\u2028 and \x85"\n\x0c\nlatin = "\x1c"\n'
    for before, after, newline in (
        (by_hand, by_hand, "\n"),
        ("\ufeff", by_hand, "\n"),  # a byte order mark, as editors on Windows write it
        ("", "x = 1\r\n", "\n"),  # mixed line ends
        (by_hand, by_hand, "\r\n"),
    ):
        file = tmp_path / "odd.py"
        before, after, empty = (text.replace("\n", newline) for text in (before, after, region("global/testing")))
        file.write_bytes(f"{before}{empty}{after}".encode())
        assert stubgen(file)[0] == 0
        content = file.read_bytes().decode()
        assert content.startswith(f"{before}{BEGIN} global/testing{newline}# fmt: off{newline}")
        assert content.endswith(f"{newline}# fmt: on{newline}{END}{newline}{after}")
        assert stubgen(file, "--check") == (0, "", "")


def test_a_file_without_marks_may_have_any_encoding(tmp_path, stubgen):
    (tmp_path / "old.py").write_bytes("# coding: latin-1\nname = 'é'\n".encode("latin-1"))
    assert stubgen(tmp_path) == (0, "", "")
    (tmp_path / "old.py").write_bytes(f"{BEGIN} __all__\n{END} é\n".encode("latin-1"))
    status, _, complaints = stubgen(tmp_path)
    assert status == 2
    assert f"{tmp_path / 'old.py'}: 'utf-8' codec can't decode" in complaints


def test_a_full_disk_leaves_a_file_unchanged(tmp_path, stubgen, monkeypatch):
    file = tmp_path / "mine.py"
    file.write_text(region("global/testing") + "x = 1\n")
    file.chmod(0o640)
    before = file.read_bytes()

    def fill_up(path, content):
        with path.open("wb") as stream:
            stream.write(content[:10])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", fill_up)
        status, _, complaints = stubgen(file)
    assert status == 2
    assert f"{file}: [Errno 28] No space left on device" in complaints
    assert [(path, path.read_bytes()) for path in tmp_path.iterdir()] == [(file, before)]
    assert stubgen(file)[0] == 0
    assert file.stat().st_mode & 0o777 == 0o640


def test_folders_are_searched_without_hidden_files(tmp_path):
    for name in ("b.py", "a/c.pyi", "a/d.txt", ".git/e.py", "__pycache__/f.py", ".#b.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(region("__all__"))
    found = [
        info.path.relative_to(tmp_path.resolve()).as_posix() for info in collect_files([tmp_path], {".py", ".pyi"})
    ]
    assert found == ["b.py", "a/c.pyi"]
    assert (
        FileInfo.from_file(tmp_path / "a" / "d.txt") is not None
    )  # the command reads files that an argument names, whatever their suffix


def test_the_library_is_exported_by_files_that_call_it_as_tvm_ffi_does(tmp_path, stubgen):
    file = tmp_path / "api.py"
    load = "# tvm-ffi-stubgen(import-object): ffi.libinfo.load_lib_module;False;_FFI_LOAD_LIB\n"
    for name, is_exported in (("LIB", True), ("_LIB", False)):
        file.write_text(f'{load}{name} = _FFI_LOAD_LIB("x", "y")\n{region("global/testing")}{region("__all__")}')
        assert stubgen(file)[0] == 0
        assert ('"LIB",' in file.read_text().splitlines()) == is_exported


def test_no_class_is_made_of_a_type_that_has_no_name_for_one(stubgen, tmp_path):
    prefix = f"stub_c{os.getpid()}_{id(tmp_path)}"

    @ffi_hpy.dataclasses.py_class(f"{prefix}.lambda")
    class Odd(ffi_hpy.Object):
        x: int

    status, _, complaints = stubgen(tmp_path, "--init-pypkg=x", "--init-lib=y", f"--init-prefix={prefix}.")
    assert status == 0
    assert f"no class is made for '{prefix}.lambda', whose last part cannot be the name of one" in complaints
    compile((tmp_path / prefix / "_ffi_api.py").read_text(), "_ffi_api.py", "exec")


def test_registered_names_are_found_by_their_prefix():
    assert {func.name for func in lib_state.collect_global_funcs()["testing"]} >= {"add_one", "echo"}
    assert "testing.TestIntPair" in lib_state.collect_type_keys()["testing"]
    keys = ["testing.TestObjectDerived", "testing.TestIntPair", "testing.TestObjectBase"]
    ordered = [info.type_key for info in lib_state.toposort_objects(keys)]
    assert ordered == ["testing.TestIntPair", "testing.TestObjectBase", "testing.TestObjectDerived"]


# --- layout ---------------------------------------------------------------------------------------------------------


def test_every_registered_type_gets_a_verdict(stubgen, tmp_path):
    assert stubgen("--coverage-out", tmp_path / "report.json") == (0, "", "")
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["ffi.Object"]["verdict"] == "complete"
    assert report["testing.TestIntPair"]["own_bytes"] == [24, 40]
    assert report["ffi.Function"]["reason"] == "layout-unknown"
    assert report["ffi.Module"]["reason"] == "uncovered-bytes"
    assert set(report) >= set(lib_state.collect_type_keys()["testing"])


def test_a_verdict_explains_each_byte():
    def info(key, parent, size, *fields):
        schemas = [
            NamedTypeSchema(name, TypeSchema("int"), offset=offset, size=size, alignment=size)
            for name, offset, size in fields
        ]
        return ObjectInfo(schemas, [], key, parent, ancestors=[parent] if parent else [], total_size=size)

    types = [
        info("root", None, 24),
        info("whole", "root", 40, ("b", 32, 4), ("a", 24, 8)),
        info("hidden", "root", 48, ("a", 24, 8), ("b", 40, 8)),
        info("over", "root", 32, ("a", 24, 8), ("b", 28, 4)),
        info("past", "root", 24, ("a", 24, 8)),
        info("unknown", "root", None),
    ]
    verdicts = layout.classify({one.type_key: one for one in types})
    assert {key: verdict.reason for key, verdict in verdicts.items()} == {
        "root": None,
        "whole": None,
        "hidden": "uncovered-bytes",
        "over": "field-overlap",
        "past": "field-overlap",
        "unknown": "layout-unknown",
    }
    assert verdicts["whole"].padding == [layout.ByteRange(36, 40)]
    assert verdicts["hidden"].uncovered == [layout.ByteRange(32, 40)]
    assert verdicts["hidden"].detail == "bytes [32, 40) of [24, 48) are not accounted for by reflected fields"
