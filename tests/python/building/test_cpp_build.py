"""ffi_hpy.cpp.build and load: when sources are rebuilt, by which compiler, and concurrent builds. In C, for speed."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from support import needs_threads, parallelize, run_python
from support.native_build import find_c_compiler

import ffi_hpy
from ffi_hpy import _optional_torch_c_dlpack, cpp
from ffi_hpy.cpp import _toolchain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.thread_unsafe(reason="it changes the environment of the process")

SOURCE = """
#include <tvm/ffi/c_api.h>
#ifdef WITH_HEADER
#include "level.h"
#else
#define LEVEL %d
#endif
TVM_FFI_DLL_EXPORT int __tvm_ffi_level(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  result->type_index = kTVMFFIInt;
  result->v_int64 = LEVEL;
  return 0;
}
"""

# A compiler that records each file it compiles. If its folder has a file `stop`, it dies half-way. If there is a file
# `hold`, it removes `hold`, compiles, and waits for a file `go` before it writes the object file.
COMPILER = """#!/bin/sh
here=${0%/*}
case " $* " in
*" -c "*)
  echo "$$" >>"$here/compiled"
  if mv "$here/hold" "$here/held" 2>/dev/null; then
    for word do [ "$last" = -o ] && output=$word; last=$word; done
    {compiler} "$@" && mv "$output" "$here/kept.o" || exit
    echo "$PPID" >"$here/step" && mv "$here/step" "$here/compiled_old"
    while [ ! -e "$here/go" ]; do sleep 0.02; done
    cp "$here/kept.o" "$output"
    exit
  fi
  if [ -e "$here/stop" ]; then
    for word do [ "$last" = -o ] && printf half >"$word"; last=$word; done
    touch "$here/stopped"
    exec sleep 60
  fi ;;
esac
exec {compiler} "$@"
"""


class Place:
    """A folder with a source file, a cache, and a compiler that records its inputs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source = folder / "level.c"
        self.cache = folder / "cache"
        self.compiler = folder / "compiler"
        command, *words = find_c_compiler()
        self.compiler.write_text(COMPILER.replace("{compiler}", shlex.join([shutil.which(command) or command, *words])))
        self.compiler.chmod(0o755)
        self.write(1)

    def write(self, level: int) -> None:
        self.source.write_text(SOURCE % level)

    @property
    def n_compiled(self) -> int:
        notes = self.folder / "compiled"
        return len(notes.read_text().split()) if notes.exists() else 0

    def load(self, **options: object) -> int:
        return cpp.load("level", sources=self.source, **options).level()


@pytest.fixture
def place(tmp_path, monkeypatch):
    made = Place(tmp_path)
    monkeypatch.setenv("TVM_FFI_CACHE_DIR", str(made.cache))
    monkeypatch.setenv("CC", str(made.compiler))
    return made


# --- when sources are rebuilt -----------------------------------------------------------------------------------------


def test_an_existing_library_is_not_built_again(place):
    first = cpp.build("level", sources=place.source)
    assert Path(first).parent.parent == place.cache
    assert ffi_hpy.load_module(first).level() == 1
    assert cpp.build("level", sources=[str(place.source)]) == first
    assert place.n_compiled == 1
    other = cpp.build("level", sources=place.source, extra_cflags=["-g"])
    assert other != first
    assert place.n_compiled == 2


def test_other_content_is_built_and_loaded_again_whatever_its_time(place):
    assert place.load() == 1
    times = place.source.stat()
    for level in (2, 3):
        place.write(level)
        os.utime(place.source, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert place.load() == level
    assert place.load() == 3
    assert place.n_compiled == 3
    assert len(list(place.cache.iterdir())) == 1


def test_a_library_that_registers_names_is_not_loaded_again(place):
    registers = "\nvoid *reference(void) { return (void *)TVMFFIFunctionSetGlobal; }\n"
    for level in (1, 2):
        place.source.write_text(SOURCE % level + registers)
        if level == 1:
            assert place.load() == 1
    with pytest.raises(RuntimeError, match=r"Cannot load .*level\.so again: it was rebuilt"):
        place.load()


def test_a_header_that_changes_is_noticed(place):
    header = place.folder / "include" / "level.h"
    header.parent.mkdir()
    options = {"extra_cflags": ["-DWITH_HEADER"], "extra_include_paths": [header.parent]}
    for level in (7, 8):
        header.write_text(f"#define LEVEL {level}\n")
        assert place.load(**options) == level
    assert place.n_compiled == 2
    header.write_text("#define LEVEL 7\n")
    os.utime(header, (0, 0))  # as in an archive
    assert place.load(**options) == 7
    assert place.load(**options) == 7
    assert place.n_compiled == 3
    header.unlink()
    with pytest.raises(cpp.BuildError, match=r"level\.h"):
        place.load(**options)


def test_another_compiler_builds_again(place, monkeypatch):
    first = cpp.build("level", sources=place.source)
    other = place.folder / "other"
    shutil.copy(place.compiler, other)
    monkeypatch.setenv("CC", str(other))
    assert cpp.build("level", sources=place.source) != first
    monkeypatch.setenv("CC", f"'{place.compiler}' -DUNUSED")
    assert cpp.build("level", sources=place.source) != first
    assert place.n_compiled == 3


def test_a_build_directory_is_where_the_files_are(place, monkeypatch):
    monkeypatch.chdir(place.folder)
    shutil.copy(place.source, "second.c")
    Path("second.c").write_text("int not_exported(void) { return 2; }\n")
    merged = cpp.build("both", sources=["level.c", Path("second.c")], build_directory="here", output="both.o")
    assert merged == str(place.folder / "here" / "both.o")
    library = cpp.build("both", sources=merged, build_directory="here")
    assert library == str(place.folder / "here" / "both.so")
    assert ffi_hpy.load_module(library).level() == 1
    assert not place.cache.exists()


# --- failures ---------------------------------------------------------------------------------------------------------


def test_a_failed_build_can_be_repaired(place):
    place.source.write_text("\n\nint f(void) { return missing; }\n")
    with pytest.raises(cpp.BuildError, match=r"level\.c:3:.*missing") as raised:
        place.load()
    assert str(place.compiler) in str(raised.value), "the command is not shown"
    assert "unfinished" not in str(raised.value)
    assert list(place.cache.rglob("*.so")) == []
    place.write(5)
    assert place.load() == 5


def test_a_build_that_is_killed_leaves_nothing_half_written(place):
    stop, stopped = place.folder / "stop", place.folder / "stopped"
    stop.touch()
    program = f"from ffi_hpy import cpp; cpp.build('level', sources={str(place.source)!r})"
    # A separate session, so that the whole process group can be killed
    child = subprocess.Popen([sys.executable, "-c", program], start_new_session=True)
    try:
        wait_until(lambda: stopped.exists() or child.poll() is not None)
        assert stopped.exists()
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    (folder,) = place.cache.iterdir()
    (unfinished,) = folder.glob("unfinished-*")
    assert [p for p in folder.rglob("*") if p.suffix in (".o", ".so") and unfinished not in p.parents] == []
    stop.unlink()
    assert place.load() == 1
    assert list(folder.glob("unfinished*")) == []


def wait_until(is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.01)


def has_ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.same_everywhere
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are watched through /proc")
def test_a_compiler_that_outlives_its_build_changes_nothing_of_the_next_one(place):
    (place.folder / "hold").touch()
    program = f"from ffi_hpy import cpp; cpp.build('level', sources={str(place.source)!r})"
    child = subprocess.Popen([sys.executable, "-c", program])
    noted = place.folder / "compiled_old"
    try:
        wait_until(lambda: noted.exists() or child.poll() is not None)
        assert noted.exists()
    finally:
        child.kill()  # ninja and the compiler continue
        child.wait()
    place.write(2)
    assert place.load() == 2
    step = int(noted.read_text())
    assert not has_ended(step)
    (place.folder / "go").touch()
    wait_until(lambda: has_ended(step))
    n_compiled = place.n_compiled
    assert load_elsewhere(place) == 2
    assert place.n_compiled == n_compiled
    place.write(1)
    assert load_elsewhere(place) == 1
    assert place.n_compiled == n_compiled + 1


def load_elsewhere(place: Place) -> int:
    program = f"from ffi_hpy import cpp; print(cpp.load('level', sources={str(place.source)!r}).level())"
    return int(run_python(program))


def test_a_build_is_not_possible_where_nothing_can_be_written(place, monkeypatch):
    blocked = place.folder / "blocked"
    blocked.touch()
    monkeypatch.setenv("TVM_FFI_CACHE_DIR", str(blocked / "cache"))
    with pytest.raises(cpp.BuildError, match=r"'level' cannot be built in .*blocked.*TVM_FFI_CACHE_DIR can name"):
        place.load()
    with pytest.raises(cpp.BuildError, match=r"cannot be built in .*build_directory can name another folder"):
        place.load(build_directory=blocked)
    monkeypatch.delenv("TVM_FFI_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "expanduser", no_home)
    with pytest.raises(cpp.BuildError, match=r"no folder can keep builds: no home.*TVM_FFI_CACHE_DIR can name one"):
        place.load()
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(Tensor=type("Tensor", (), {})))
    _optional_torch_c_dlpack.load_torch_c_dlpack_extension()  # it also searches the cache, and finds nothing


def no_home(path: Path) -> Path:
    raise RuntimeError("no home")


def test_folders_may_have_any_name_but_one_with_a_line_break(place, monkeypatch):
    odd = place.folder / 'it\'s a "very" $ODD: näme & more'
    odd.mkdir()
    (odd / "level.h").write_text("#define LEVEL 9\n")
    source = odd / "lev el.c"
    shutil.copy(place.source, source)
    monkeypatch.setenv("TVM_FFI_CACHE_DIR", str(odd))
    options = {"extra_cflags": ["-DWITH_HEADER"], "extra_include_paths": [odd]}
    for level in (9, 10):
        (odd / "level.h").write_text(f"#define LEVEL {level}\n")
        assert cpp.load("level", sources=source, **options).level() == level
    broken = place.folder / "two\nlines.c"
    shutil.copy(source, broken)
    with pytest.raises(cpp.BuildError, match="a line break or a null character, which ninja cannot read"):
        cpp.build("level", sources=broken)


def test_where_the_current_folder_is_gone_absolute_paths_work(place, monkeypatch):
    gone = place.folder / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert place.load() == 1
    for options in ({"sources": "level.c"}, {"sources": place.source, "build_directory": "level.c"}):
        with pytest.raises(FileNotFoundError, match=r"level\.c is relative, and the current folder does not exist"):
            cpp.build("level", **options)


def test_a_compiler_that_is_killed_is_an_error_that_says_so(place, monkeypatch):
    place.compiler.write_text("#!/bin/sh\nkill -9 $$\n")
    with pytest.raises(cpp.BuildError, match="compiler --version was killed by signal 9"):
        place.load()
    place.compiler.write_text("#!/bin/sh\n[ $1 = --version ] && exec echo 1\nkill -9 $$\n")
    with pytest.raises(cpp.BuildError, match=r"(?s)does not build.*-c .*level\.c.*Killed"):
        place.load()


def test_the_output_is_none_of_the_files_of_the_build(place):
    for output in ("lock", "build.ninja", "headers.json", "objects"):
        with pytest.raises(ValueError, match=f"output must not be {output!r}, which is another file of the build"):
            cpp.build("level", sources=place.source, output=output)
    other = place.folder / "other.c"
    other.write_text("int other;\n")
    path = cpp.build(
        "level", sources=[place.source, other], output="level.0.o"
    )  # the build's name for the object file of a source
    assert ffi_hpy.load_module(cpp.build("linked", sources=path)).level() == 1


def test_a_ninja_that_is_killed_is_an_error_that_says_so(place, monkeypatch):
    ninja = place.folder / "ninja"
    ninja.write_text('#!/bin/sh\n[ "$1" = --version ] && exec echo 1.11\nkill -9 $$\n')
    ninja.chmod(0o755)
    monkeypatch.setenv("PATH", str(place.folder), prepend=os.pathsep)
    with pytest.raises(cpp.BuildError, match=r"does not build, in .*\n.*ninja was killed by signal 9"):
        place.load()


@pytest.mark.parametrize(
    ("variable", "suffix", "language"), [("CC", ".c", "C"), ("CXX", ".cc", "C[+][+]")], ids=["c", "c++"]
)
def test_a_missing_compiler_is_named(place, monkeypatch, variable, suffix, language):
    source = place.source.with_suffix(suffix)
    source.write_text("int x;\n")
    monkeypatch.setenv(variable, "no-such-compiler -O2")
    with pytest.raises(cpp.BuildError, match=f"{variable} names 'no-such-compiler' as {language} compiler"):
        cpp.build("level", sources=source)
    monkeypatch.delenv(variable)
    monkeypatch.setenv("PATH", str(place.folder))
    with pytest.raises(
        cpp.BuildError, match=f"no {language} compiler was found: none of .* is on PATH; {variable} names one"
    ):
        cpp.build("level", sources=source)


def test_ninja_is_found_beside_python_or_reported_as_missing(place, monkeypatch):
    ninja = _toolchain.find_ninja()
    monkeypatch.setenv("PATH", str(place.folder))
    monkeypatch.setattr(sys, "executable", str(Path(ninja).with_name("python")))
    assert _toolchain.find_ninja() == ninja
    monkeypatch.setattr(sys, "executable", "")
    monkeypatch.setitem(sys.modules, "ninja", None)
    with pytest.raises(cpp.BuildError, match="pip install ninja"):
        cpp.build("level", sources=place.source)


def test_wrong_sources_are_refused(place):
    with pytest.raises(ValueError, match="sources must name at least one file"):
        cpp.build("level")
    with pytest.raises(FileNotFoundError, match=r"cpp_files: the file .*not_there\.cc does not exist"):
        cpp.build("level", cpp_files="not_there.cc")
    with pytest.raises(TypeError, match="sources must be paths, got a int"):
        cpp.build("level", sources=1)
    text = place.folder / "notes.txt"
    text.touch()
    with pytest.raises(ValueError, match=r"sources end with .*\.cpp.*, got .*notes\.txt"):
        cpp.build("level", sources=text)
    assert not place.cache.exists()


def test_max_jobs_is_a_number_and_a_log_is_written_when_asked_for(place, monkeypatch, capfd):
    monkeypatch.setenv("MAX_JOBS", "many")
    with pytest.raises(ValueError, match="MAX_JOBS must be a positive number, got 'many'"):
        place.load()
    monkeypatch.setenv("MAX_JOBS", "1")
    monkeypatch.setenv("TVM_FFI_CPP_EXTENSION_LOG_BUILD", "1")
    assert place.load() == 1
    assert f"{place.compiler} -fPIC -O2" in capfd.readouterr().err


def test_a_long_build_prints_a_notice_and_a_verbose_one_its_commands(place, monkeypatch, capfd):
    monkeypatch.setattr("ffi_hpy.cpp._ninja.NOTICE_AFTER", 0.0)
    cpp.build("level", sources=place.source)
    assert capfd.readouterr().err == "ffi_hpy.cpp: compiling 'level'; verbose=True shows how\n"
    cpp.build("silent", sources=place.source, verbose=False)
    assert capfd.readouterr().err == ""
    cpp.build("verbose", sources=place.source, verbose=True)
    said = capfd.readouterr().err
    assert f"{place.compiler} -fPIC -O2" in said
    assert "verbose=True" not in said


# --- concurrent builds ------------------------------------------------------------------------------------------------


@pytest.mark.same_everywhere
@needs_threads
def test_threads_and_processes_build_once(place):
    program = f"""
from ffi_hpy import _optional_torch_c_dlpack, cpp
assert cpp.load("level", sources={str(place.source)!r}).level() == 1
"""
    children = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(3)]
    levels = parallelize(lambda _: place.load())
    assert [child.wait() for child in children] == [0] * 3
    assert levels == [1] * len(levels)
    assert place.n_compiled == 1


@needs_threads
def test_threads_build_different_texts_at_once(place):
    def work(i: int) -> int:
        source = place.folder / f"level{i}.c"
        source.write_text(SOURCE % i)
        return cpp.load("level", sources=source).level()

    assert parallelize(work) == list(range(4))
