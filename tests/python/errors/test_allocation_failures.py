"""Every allocation fails once: the result is an error or a value, no leak, no crash. The program is
allocation_sweep.py."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from support import IS_DEBUG, IS_OVER_CFFI, IS_OWN_DEBUG, IS_PYPY, TESTED_LIBRARY
from support.native_build import BINARIES, PACKAGE, Missing, compile_preload, core_without_pool

PROGRAM = Path(__file__).with_name("allocation_sweep.py")
SUBJECTS = re.findall(r"^@subject\ndef (\w+)", PROGRAM.read_text(), re.M)
SECONDS = 240
IS_FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

pytestmark = [
    pytest.mark.thread_unsafe(reason="a program in each of four threads tells nothing that one does not"),
    pytest.mark.skipif(IS_PYPY, reason="PyPy ends when it is out of memory"),
    pytest.mark.skipif(IS_OVER_CFFI, reason="it is about the allocations of the C binding"),
    pytest.mark.skipif(IS_DEBUG or IS_OWN_DEBUG, reason="debug modes allocate for themselves"),
    pytest.mark.skipif(bool(TESTED_LIBRARY), reason="it is about our own libraries"),
    pytest.mark.skipif(sys.platform != "linux", reason="malloc is replaced in a way that only glibc has"),
]


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process whose core has no pool and whose allocations can be made to fail."""
    try:
        core, preloaded = core_without_pool(), compile_preload("failing_malloc.c")
    except Missing as reason:
        pytest.fail(str(reason), pytrace=False)
    folder = tmp_path_factory.mktemp("package")
    package = folder / PACKAGE.name
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "include"))
    shutil.copyfile(core, package / BINARIES.relative_to(PACKAGE) / "lib" / "libtvm_ffi.so")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "FFI_HPY_"))}
    return {**kept, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "LD_PRELOAD": str(preloaded)}


@pytest.mark.same_everywhere
@pytest.mark.parametrize("subject", SUBJECTS)
def test_each_allocation_may_fail(environ: dict[str, str], subject: str) -> None:
    if subject == "exchange_tensors":
        pytest.importorskip("numpy")
    command = [sys.executable, "-X", "faulthandler", str(PROGRAM), subject]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    counts = [line.rsplit(maxsplit=2) for line in done.stdout.splitlines()]
    expected = ["native one", "native rest", "python one", "python rest"]
    if IS_FREE_THREADED:  # this interpreter crashes when an allocation fails
        expected = expected[:2]
    assert [sweep for sweep, _, _ in counts] == expected
    assert IS_FREE_THREADED or any(int(n_errors) > 0 for _, _, n_errors in counts)
