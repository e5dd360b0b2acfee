"""ffi_hpy importable as tvm_ffi: ffi_hpy.dropin."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import run_python

import ffi_hpy
from ffi_hpy import dropin

INSTALL = "from ffi_hpy import dropin; dropin.install()\n"


def run_dropin(*arguments, cwd=None):
    command = [sys.executable, "-m", "ffi_hpy.dropin", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd)


def test_names_of_tvm_ffi_are_those_of_ffi_hpy():
    program = (
        INSTALL
        + """
import ffi_hpy, tvm_ffi, tvm_ffi.core
import tvm_ffi.container as container
from tvm_ffi import Array
from tvm_ffi.registry import register_object
assert tvm_ffi is ffi_hpy
assert tvm_ffi.core is ffi_hpy.core
assert container is ffi_hpy.container
assert Array is ffi_hpy.Array
assert ffi_hpy.__spec__.name == "ffi_hpy", ffi_hpy.__spec__
dropin.install()
import sys
assert len([f for f in sys.meta_path if type(f).__module__ == "ffi_hpy.dropin"]) == 1
print("all the same")
"""
    )
    assert run_python(program) == "all the same\n"


def test_a_module_that_ffi_hpy_lacks_is_not_found():
    program = (
        INSTALL
        + """
try:
    import tvm_ffi.no_such_module
except ModuleNotFoundError as error:
    print(error.name)
"""
    )
    assert run_python(program) == "tvm_ffi.no_such_module\n"


def test_the_distribution_is_answered_for():
    program = (
        INSTALL
        + """
from importlib import metadata
print(metadata.version("apache-tvm-ffi"), metadata.version("apache_tvm_ffi"), metadata.version("ffi-hpy"))
print(metadata.distribution("apache-tvm-ffi").metadata["Name"])
print(any(f.name == "libtvm_ffi.so" and f.locate().exists() for f in metadata.files("apache-tvm-ffi")))
dropin.uninstall()
try:
    metadata.version("apache-tvm-ffi")
except metadata.PackageNotFoundError:
    print("gone")
"""
    )
    versions, name, has_library, end = run_python(program).splitlines()
    ours = __import__("importlib.metadata").metadata.version("ffi-hpy")
    assert versions.split() == ["0.1.15.post2", "0.1.15.post2", ours]
    assert (name, has_library, end) == ("apache-tvm-ffi", "True", "gone")


def test_it_cannot_replace_a_tvm_ffi_that_is_there(tmp_path):
    (tmp_path / "tvm_ffi.py").write_text("")
    program = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import tvm_ffi
from ffi_hpy import dropin
try:
    dropin.install()
except RuntimeError as error:
    print(error)
"""
    assert "comes too late: tvm_ffi is imported already" in run_python(program)


def test_a_script_runs_unchanged(tmp_path):
    (tmp_path / "beside.py").write_text("")
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, tvm_ffi, beside\nprint(__name__, sys.argv[1:], tvm_ffi.Array([1, 2]))\nsys.exit(3)\n"
    )
    done = run_dropin(script, "a", "-m")
    assert (done.stdout, done.stderr, done.returncode) == ("__main__ ['a', '-m'] (1, 2)\n", "", 3)


def test_a_module_runs_unchanged(tmp_path):
    (tmp_path / "program.py").write_text("import sys, tvm_ffi\nprint(__name__, sys.argv[1:], len(tvm_ffi.List([1])))\n")
    done = run_dropin("-m", "program", "x", cwd=tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == ("__main__ ['x'] 1\n", "", 0)


def test_code_runs_unchanged():
    done = run_dropin("-c", "import sys, tvm_ffi; print(__name__, sys.argv, tvm_ffi.__name__)", "x")
    assert (done.stdout, done.stderr) == ("__main__ ['-c', 'x'] ffi_hpy\n", "")


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [([], 2, "program.py"), (["-m"], 2, "-m needs an argument"), (["no-such-file.py"], 2, "no-such-file.py")],
    ids=["nothing", "no module", "no file"],
)
def test_wrong_usage_is_an_error_with_the_reason(arguments, status, says):
    done = run_dropin(*arguments)
    assert done.returncode == status
    assert says in done.stderr


def test_the_version_is_the_requested_one():
    program = """
import ffi_hpy, importlib.metadata
from ffi_hpy import dropin
print(ffi_hpy.__version__ == importlib.metadata.version("ffi-hpy"), end=" ")
dropin.install()
import tvm_ffi
print(tvm_ffi.__version__, tvm_ffi.__version_tuple__, tvm_ffi._version.version, end=" ")
dropin.uninstall()
print(ffi_hpy.__version__ == importlib.metadata.version("ffi-hpy"))
"""
    numbers = tuple(int(part) if part.isdecimal() else part for part in dropin.ABI_VERSION.split("."))
    assert run_python(program) == f"True {dropin.ABI_VERSION} {numbers} {dropin.ABI_VERSION} True\n"


def test_a_program_sees_the_same_state_as_under_python_itself(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "program.py").symlink_to(tmp_path / "program.py")
    for file in ("program.py", str(Path("link", "program.py"))):
        plain = subprocess.run([sys.executable, file, "a"], capture_output=True, text=True, timeout=120, cwd=tmp_path)
        assert run_dropin(file, "a", cwd=tmp_path).stdout == plain.stdout != ""


PROGRAM = """
import atexit, os, pickle, sys, threading
class Point: pass
def late():
    started.wait()
    print(type(pickle.loads(pickle.dumps(Point()))))
started = threading.Event()
threading.Thread(target=late).start()
atexit.register(lambda: print(sys.modules["__main__"].Point))
where: int = os.path.dirname(__file__)
print(__file__, sys.argv, sys.path[0], __spec__, __package__, __doc__, type(__builtins__), type(__loader__))
print(getattr(late, "__annotations__", None), globals().get("__annotations__"), late.__code__.co_filename)
started.set()
"""


# --- programs that a program starts ---------------------------------------------------------------------------------


def test_tvm_ffi_is_importable_in_programs_that_the_program_starts(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        """
import multiprocessing, os, subprocess, sys, tvm_ffi

def work():
    import tvm_ffi
    assert tvm_ffi.__name__ == "ffi_hpy"

def said(*command, without=""):
    environ = {name: value for name, value in os.environ.items() if name != without}
    return subprocess.run(command, env=environ, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()

if __name__ == "__main__":
    code = "import importlib.metadata as m; print(m.version('apache-tvm-ffi'));"
    code += "import tvm_ffi.core as c; print(c.__name__)"
    print(said(sys.executable, "-c", code).split())
    # Without site-packages it has no ffi_hpy of its own, and no hpy for FFI_HPY_CONTEXT=debug
    code = "import tvm_ffi; print(tvm_ffi.Array([1]))"
    print(said(sys.executable, "-S", "-c", code, without="FFI_HPY_CONTEXT"))
    print(said(sys.executable, "-m", "tvm_ffi.config", "--libs"), said("tvm-ffi-config", "--libs"))
    print(said("tvm-ffi-stubgen", "--help").split()[:2])
    child = multiprocessing.get_context("spawn").Process(target=work)
    child.start()
    child.join()
    print(child.exitcode)
"""
    )
    done = run_dropin(script, cwd=tmp_path)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "['0.1.15.post2', 'ffi_hpy.core']",
        "(1,)",
        "-ltvm_ffi -ltvm_ffi",
        "['usage:', 'ffi-hpy-stubgen']",
        "0",
    ]


def test_the_environment_is_restored_afterwards():
    program = """
import os, sys
from ffi_hpy import dropin
os.environ["PYTHONPATH"] = os.pathsep.join(["/a", "", "/b"])
before, path = dict(os.environ), list(sys.path)
dropin.install()
assert (dict(os.environ), sys.path) == (before, path)
dropin.install(children=True)
dropin.install(children=True)
folders = os.environ["PYTHONPATH"].split(os.pathsep)
assert folders[0].endswith("_dropin") and folders[1:] == ["/a", "", "/b"], folders
assert os.environ["PATH"].endswith(os.pathsep + before["PATH"])
assert os.environ["FFI_HPY_DROPIN"] == sys.executable
dropin.uninstall()
assert (dict(os.environ), sys.path) == (before, path)
print("as before")
"""
    assert run_python(program) == "as before\n"


def test_a_command_outside_of_a_dropin_run_names_its_requirement(tmp_path):
    command = Path(ffi_hpy.__file__).with_name("_dropin") / "bin" / "tvm-ffi-config"
    environ = {name: value for name, value in os.environ.items() if name != "FFI_HPY_DROPIN"}
    done = subprocess.run([str(command)], capture_output=True, text=True, env=environ)
    assert done.returncode != 0
    assert "FFI_HPY_DROPIN: is set by python -m ffi_hpy.dropin" in done.stderr


def test_the_distribution_that_children_find_has_the_version_of_the_abi():
    folder = Path(ffi_hpy.__file__).with_name("_dropin") / f"apache_tvm_ffi-{dropin.ABI_VERSION}.dist-info"
    assert f"\nVersion: {dropin.ABI_VERSION}\n" in (folder / "METADATA").read_text()


@pytest.mark.parametrize("arguments", [[], ["json.tool"]])
def test_a_module_that_is_not_of_the_package_is_not_run(arguments):
    run = Path(ffi_hpy.__file__).with_name("_run.py")
    done = subprocess.run([sys.executable, str(run), *arguments], capture_output=True, text=True)
    assert done.returncode == 2
    assert "MODULE ARGUMENT..., a module of ffi_hpy or tvm_ffi" in done.stderr
