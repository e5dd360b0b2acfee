"""tvm_ffi answered by ffi_hpy: ffi_hpy.dropin."""

import subprocess
import sys

import pytest
from support import run_python

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
    [([], 2, "program.py"), (["-m"], 2, "-m wants an argument"), (["no-such-file.py"], 1, "no-such-file.py")],
    ids=["nothing", "no module", "no file"],
)
def test_wrong_usage_says_so(arguments, status, says):
    done = run_dropin(*arguments)
    assert done.returncode == status
    assert says in done.stderr
