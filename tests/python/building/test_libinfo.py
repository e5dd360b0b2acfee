"""The paths of the package's files, the search for other packages' libraries, and the command ffi-hpy-config."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import IS_DEBUG, run_python
from support.native_build import BINARIES, compile_cxx

import ffi_hpy
from ffi_hpy import libinfo

PACKAGE = Path(ffi_hpy.__file__).resolve().parent


def run_config(*arguments, program=("-m", "ffi_hpy.config"), cwd=None, status=0):
    done = subprocess.run([sys.executable, *program, *arguments], capture_output=True, text=True, cwd=cwd)
    assert (done.returncode, done.stderr if status == 0 else "") == (status, "")
    return done.stdout if status == 0 else done.stderr


def install_distribution(folder, name, files, **records):
    """Install a distribution: its files and their record."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    if files is not None:
        (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    for record, text in records.items():
        (info / record.replace("_json", ".json").replace("_txt", ".txt")).write_text(text)


def touch(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder of distributions, without environment variables that affect the search for libraries."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    monkeypatch.setenv("PATH", "")
    return folder


# --- this package's own files ---------------------------------------------------------------------------------------


def test_the_package_has_the_files_that_it_lists():
    assert libinfo.find_libtvm_ffi() == str(BINARIES / "lib" / "libtvm_ffi.so")
    assert Path(libinfo.find_include_path(), "tvm", "ffi", "c_api.h").is_file()
    assert Path(libinfo.find_dlpack_include_path(), "dlpack", "dlpack.h").is_file()
    assert Path(libinfo.find_cmake_path(), "tvm_ffi-config.cmake").is_file()
    assert Path(libinfo.find_pkgconfig_path(), "tvm_ffi.pc").is_file()
    assert Path(libinfo.find_debug_path(), "ffi_hpy_gdb.py").is_file()
    assert Path(libinfo.find_source_path(), "CMakeLists.txt").is_file()
    assert Path(libinfo.find_cython_lib()).is_file()
    assert libinfo.include_paths() == [str(PACKAGE / "include")]


def test_a_missing_file_of_this_system_is_a_runtime_error_that_names_it():
    with pytest.raises(RuntimeError, match=r"only packages for Windows have: expected .*tvm_ffi\.lib"):
        libinfo.find_windows_implib()
    with pytest.raises(RuntimeError, match="Cython"):
        libinfo.find_python_helper_include_path()


# --- libraries of other packages ------------------------------------------------------------------------------------


@pytest.mark.thread_unsafe(reason="the path of modules and the environment are the process's")
class TestFindLibrary:
    def test_files_that_a_distribution_lists_come_first(self, site, tmp_path):
        listed = touch(site / "inside" / "lib" / "libfound.so")
        touch(tmp_path / "extra" / "libfound.so")
        install_distribution(site, "lists-it", ["inside/lib/other.txt", "inside/lib/libfound.so"])
        assert libinfo.find_library("lists-it", "found", [tmp_path / "extra"]) == listed.resolve()

    def test_extra_folders_come_before_the_project_and_the_environment(self, site, tmp_path, monkeypatch):
        extra = touch(tmp_path / "extra" / "libfound.so")
        monkeypatch.setenv("LD_LIBRARY_PATH", str(touch(tmp_path / "ld" / "libfound.so").parent))
        install_distribution(site, "editable", [], direct_url_json=editable(tmp_path / "project"))
        touch(tmp_path / "project" / "build" / "libfound.so")
        assert libinfo.find_library("editable", "found", [tmp_path / "extra"]) == extra.resolve()

    def test_a_file_that_is_listed_and_gone_is_looked_for_elsewhere(self, site, tmp_path):
        extra = touch(tmp_path / "extra" / "libfound.so")
        install_distribution(site, "lost-it", ["inside/libfound.so"])
        assert libinfo.find_library("lost-it", "found", [tmp_path / "extra"]) == extra.resolve()

    @pytest.mark.parametrize("part", ["build/lib", "build", "lib"])
    def test_an_editable_installation_is_found_by_its_project(self, site, tmp_path, part):
        built = touch(tmp_path / "a project" / part / "libfound.so")
        install_distribution(site, "editable", [], direct_url_json=editable(tmp_path / "a project"))
        assert libinfo.find_library("editable", "found") == built.resolve()
        with pytest.raises(RuntimeError):
            libinfo.find_library("editable", "found", use_fallback_build_path=False)

    def test_an_editable_installation_is_found_by_its_python_package(self, site, tmp_path, monkeypatch):
        built = touch(tmp_path / "project" / "src" / "found_inside" / "libfound.so")
        touch(built.with_name("__init__.py"))
        monkeypatch.syspath_prepend(str(built.parents[1]))
        names = "no.such.name\nno_such_name\nfound_inside\n"
        origin = editable(tmp_path / "project")
        install_distribution(site, "editable", [], direct_url_json=origin, top_level_txt=names)
        assert libinfo.find_library("editable", "found") == built.resolve()

    @pytest.mark.parametrize("record", ["", "{", "[]", '{"url": "file:///x"}', '{"dir_info": {"editable": true}}'])
    def test_a_record_that_says_nothing_of_a_project_is_passed_over(self, site, record):
        install_distribution(site, "strange", ["a.txt"], direct_url_json=record)
        with pytest.raises(RuntimeError, match="the files that the distribution 'strange' lists"):
            libinfo.find_library("strange", "found")

    @pytest.mark.parametrize("variable", ["LD_LIBRARY_PATH", "PATH"])
    def test_the_environment_comes_last(self, site, tmp_path, monkeypatch, variable):
        found = touch(tmp_path / "two" / "libfound.so")
        monkeypatch.setenv(variable, os.pathsep.join(["", str(tmp_path / "one"), str(tmp_path / "two")]))
        assert libinfo.find_library("missing", "found") == found.resolve()
        with pytest.raises(RuntimeError):
            libinfo.find_library("missing", "found", use_env_path=False)

    def test_the_core_itself_is_found(self, site):
        assert libinfo.find_library("missing", "tvm_ffi") == BINARIES / "lib" / "libtvm_ffi.so"

    def test_the_error_lists_the_searched_folders(self, site, tmp_path, monkeypatch):
        install_distribution(site, "lost-it", ["a/libgone.so", "b.txt"])
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))
        with pytest.raises(RuntimeError) as caught:
            libinfo.find_library("lost-it", "gone", [tmp_path])
        assert str(caught.value).splitlines() == [
            "Cannot find library libgone.so of 'lost-it'; searched:",
            "  the files that the distribution 'lost-it' lists",
            f"  {tmp_path}",
            f"  {BINARIES / 'lib'}",
            f"  {tmp_path / 'bin'}",
        ]

    def test_the_error_says_that_a_distribution_is_missing_or_lists_no_files(self, site):
        with pytest.raises(RuntimeError, match="no distribution 'no-such-thing' is installed"):
            libinfo.find_library("no-such-thing", "gone")
        install_distribution(site, "by-hand", None)
        with pytest.raises(RuntimeError, match="'by-hand', which does not list its files"):
            libinfo.find_library("by-hand", "gone")

    def test_a_folder_that_is_not_a_path_is_a_type_error(self, tmp_path):
        with pytest.raises(TypeError, match=r"extra_lib_paths\[1\] must be a pathlib\.Path, got str: '/x'"):
            libinfo.find_library("missing", "gone", [tmp_path, "/x"])


def editable(project):
    project.mkdir(exist_ok=True)
    return f'{{"url": "{project.as_uri()}", "dir_info": {{"editable": true}}}}'


def test_a_library_is_loaded_as_a_module(plain_path, tmp_path):
    shutil.copyfile(plain_path, tmp_path / "libplain.so")
    module = libinfo.load_lib_module("missing", "plain", extra_lib_paths=[tmp_path])
    assert isinstance(module, ffi_hpy.Module)
    assert module.kind == "library"


def test_a_library_is_loaded_with_ctypes():
    core = libinfo.load_lib_ctypes("ffi-hpy", "tvm_ffi", "RTLD_LOCAL")
    assert isinstance(core, ctypes.CDLL)
    assert core.TVMFFIGetVersion
    with pytest.raises(ValueError, match="mode must be 'RTLD_GLOBAL' or 'RTLD_LOCAL', got 'RTLD_NOW'"):
        libinfo.load_lib_ctypes("ffi-hpy", "tvm_ffi", "RTLD_NOW")


def test_a_truncated_library_is_an_os_error_with_the_reason(plain_path, tmp_path):
    (tmp_path / "libcut.so").write_bytes(plain_path.read_bytes()[:2000])
    with pytest.raises(OSError, match=r"libcut.so: it is truncated or damaged"):
        libinfo.load_lib_ctypes("missing", "cut", "RTLD_LOCAL", extra_lib_paths=[tmp_path])


def test_a_library_whose_registration_fails_is_an_os_error(tmp_path):
    shutil.copy(compile_cxx("init_twice.cc", PACKAGE / "include", "-DKIND=3"), tmp_path / "libfails.so")
    with pytest.raises(OSError, match=r"libfails.so: its initialisation failed: not today"):
        libinfo.load_lib_ctypes("missing", "fails", "RTLD_GLOBAL", extra_lib_paths=[tmp_path])


# --- ffi-hpy-config -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("--includedir", str(PACKAGE / "include")),
        ("--dlpack-includedir", str(PACKAGE / "include")),
        ("--cmakedir", str(PACKAGE / "share" / "cmake" / "tvm_ffi")),
        ("--nanobind-includedir", str(PACKAGE / "_nanobind" / "include")),
        ("--nanobind-cmakedir", str(PACKAGE / "_nanobind" / "cmake")),
        ("--sourcedir", str(PACKAGE)),
        ("--libfiles", str(BINARIES / "lib" / "libtvm_ffi.so")),
        ("--libdir", str(BINARIES / "lib")),
        ("--libs", "-ltvm_ffi"),
        ("--cython-lib-path", str(BINARIES / "_core.hpy0.so")),
        ("--cxxflags", f"-I{PACKAGE}/include -std=c++17"),
        ("--cflags", f"-I{PACKAGE}/include"),
        ("--ldflags", f"-L{BINARIES}/lib"),
    ],
)
def test_config_prints(option, expected, capsys):
    from ffi_hpy import config

    assert config.main([option]) == 0
    assert capsys.readouterr().out == f"{expected}\n"


def test_config_as_a_module_a_command_and_a_dropin_prints_the_same():
    programs = [("-m", "ffi_hpy.config"), ("-m", "ffi_hpy.dropin", "tvm-ffi-config")]
    programs.append(("-m", "ffi_hpy.dropin", "-m", "tvm_ffi.config"))
    command = shutil.which("ffi-hpy-config", path=str(Path(sys.executable).parent))
    if command is not None:  # not installed, but run from a folder
        programs.append((command,))
    said = {run_config("--libs", "--libdir", program=program) for program in programs}
    assert said == {f"{BINARIES}/lib\n-ltvm_ffi\n"}


@pytest.mark.same_everywhere
def test_config_prints_in_the_order_of_tvm_ffi_config():
    options = ["--ldflags", "--libs", "--cxxflags", "--sourcedir", "--libdir", "--includedir"]
    assert run_config(*options) == "".join(run_config(option) for option in reversed(options))


def test_config_without_an_option_prints_its_help():
    assert "--cxxflags" in run_config()


@pytest.mark.same_everywhere
@pytest.mark.parametrize(
    ("folder", "read"), [("it's $odd", 'eval "set -- $({})"'), ("it's_$ödd", "set -- $({})")], ids=["space", "none"]
)
def test_flags_are_quoted_for_a_shell_where_a_path_has_a_space(tmp_path, folder, read):
    package = tmp_path / folder / "ffi_hpy"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    program = tmp_path / "ffi-hpy-config"
    program.write_text("import sys\nfrom ffi_hpy.config import main\nsys.exit(main())\n")
    command = [sys.executable, str(program)]
    environ = {**os.environ, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}

    def said_by(shell):
        return subprocess.run(
            ["sh", "-c", shell, *command], env=environ, capture_output=True, text=True, check=True
        ).stdout

    assert said_by('"$0" "$1" --includedir') == f"{package}/include\n"
    for option, words in (
        ("--cxxflags", [f"-I{package}/include", "-std=c++17"]),
        ("--cflags", [f"-I{package}/include"]),
        ("--ldflags", [f"-L{package / BINARIES.relative_to(PACKAGE)}/lib"]),
    ):
        call = f'"$0" "$1" {option}'
        said = said_by(f'{read.format(call)}; printf "%s\\n" "$@"')
        assert said.splitlines() == words


def test_config_needs_no_binary(tmp_path):
    package = tmp_path / "ffi_hpy"
    binaries = package / BINARIES.relative_to(PACKAGE)
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    if sys.version_info >= (3, 10):  # older versions do not tell a package that one of its modules runs as a program
        assert run_config("--includedir", cwd=tmp_path) == f"{package}/include\n"
        said = run_config("--libdir", cwd=tmp_path, status=1)
        assert said == f"ffi-hpy-config: Cannot find the core: expected {binaries}/lib/libtvm_ffi.so\n"
    program = tmp_path / "ffi-hpy-config"  # the script that an installer makes for the entry point
    program.write_text("import sys\nfrom ffi_hpy.config import main\nsys.exit(main())\n")
    assert run_config("--cflags", program=(str(program),)) == f"-I{package}/include\n"


def test_an_import_looks_at_no_arguments_where_the_binary_can_be_loaded():
    program = "import sys; sys.argv[:] = ['ffi-hpy-config', '--libs']; import ffi_hpy; print(ffi_hpy.convert([1, 2]))"
    assert run_python(program) == "(1, 2)\n"


@pytest.mark.skipif(IS_DEBUG, reason="hpy's own debug mode imports ctypes")
def test_importing_libinfo_imports_no_ctypes():
    program = (
        "import sys; before = set(sys.modules); import ffi_hpy.libinfo; print('ctypes' in set(sys.modules) - before)"
    )
    assert run_python(program) == "False\n"
