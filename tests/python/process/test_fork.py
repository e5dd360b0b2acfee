"""Children of fork: no child hangs, whatever the other threads of the parent are doing, and each child can use
everything."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import IS_DEBUG, SLOW_IMPORTS, needs_threads, run_python
from support.native_build import PACKAGE, ROOT, Missing, compile_c

HAMMER = Path(__file__).with_name("fork_hammer.py")

N_CHILDREN = int(os.environ.get("FFI_HPY_FORKS", "100"))
"""The number of forks for all tests together; ci/test sets it for the plain run of an interpreter."""

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
    pytest.mark.skipif(IS_DEBUG, reason="hpy's debug mode keeps its records of handles without a lock"),
    pytest.mark.thread_unsafe,  # the programs start their own threads
]


@pytest.fixture(scope="module")
def busy_path() -> Path:
    """Path of the library compiled from native/busy.c."""
    try:
        return compile_c("busy.c", PACKAGE / "include", "-pthread")
    except Missing as reason:
        pytest.fail(str(reason), pytrace=False)


def hammer(n_children: int, *libraries: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(HAMMER), str(n_children), *map(str, libraries)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"exit status {done.returncode}:\n{done.stderr[-8000:]}"
    assert done.stdout.splitlines()[-1] == str(n_children)


# --- locks are declared for fork --------------------------------------------------------------------------------------

C_LOCKS = re.compile(r"\b(pthread_(?:mutex|rwlock|spinlock|once|cond)_t|atomic_flag|mtx_t|call_once|std::mutex)\b")
OWN_LOCKS = re.compile(r"^(?:static|extern) fh_(?:mutex|mutex_apart|once|shared) \w", re.MULTILINE)
EMBEDDED_LOCKS = re.compile(r"^ +fh_(?:mutex|shared) \w+;", re.MULTILINE)
PYTHON_LOCKS = re.compile(r"\b(?:allocate_lock|(?:R?Lock|Condition|Semaphore|Event|Barrier)\()")


def undeclared_locks(sources: dict[str, str]) -> list[str]:
    """Return the files with locks that are not declared for fork."""
    bad = []
    for name, text in sources.items():
        if name.endswith(".py"):
            made = [line for line in text.splitlines() if PYTHON_LOCKS.search(line) and "new_lock()" not in line]
            is_bad = bool(made)
        else:
            is_bad = bool(C_LOCKS.search(text) or OWN_LOCKS.search(text))
            is_bad = is_bad or (bool(EMBEDDED_LOCKS.search(text)) and "FH_FORK_LOCKS(" not in text)
        if is_bad:
            bad.append(name)
    return bad


def read_sources() -> dict[str, str]:
    """Return the sources by name, except those that declare locks."""
    files = [path for ending in ("c", "h", "cc") for path in (ROOT / "src").rglob(f"*.{ending}")]
    files += (ROOT / "ffi_hpy").rglob("*.py")
    texts = {path.relative_to(ROOT).as_posix(): path.read_text() for path in files}
    makers = {
        "src/core/platform/sync.h",
        "src/core/platform/sync.c",
        "src/core/platform/fork.h",
        "src/core/platform/fork.c",
        "src/core/platform/hazard.h",
        "ffi_hpy/_start/fork.py",
    }
    assert makers < texts.keys()
    return {name: text for name, text in texts.items() if name not in makers}


def test_every_lock_is_declared_where_fork_finds_it():
    assert undeclared_locks(read_sources()) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.c", "static pthread_mutex_t lock;\n"),
        ("a.c", "static atomic_flag busy;\n"),
        ("a.c", "static fh_mutex lock;\n"),
        ("a.c", "static fh_shared lock;\n"),
        ("a.h", "typedef struct {\n  fh_mutex lock;\n} stripe;\n"),
        ("a.cc", "std::mutex lock;\n"),
        ("a.py", "lock = threading.Lock()\n"),
    ],
)
def test_a_lock_that_is_declared_otherwise_is_found(name, text):
    assert undeclared_locks({name: text, "b.c": 'FH_LOCK(lock, "b", FH_RANK_PLAIN);\n'}) == [name]


# --- children ---------------------------------------------------------------------------------------------------------


def test_children_use_everything_while_threads_of_python_do(plain_path):
    hammer(N_CHILDREN // 2, plain_path)


@needs_threads
def test_children_use_everything_while_threads_of_native_code_do(plain_path, busy_path):
    hammer(N_CHILDREN // 2, plain_path, busy_path)


def test_pools_of_multiprocessing_work_beside_threads():
    program = """
import multiprocessing, threading, warnings
import ffi_hpy
warnings.simplefilter("ignore", DeprecationWarning)
is_over = threading.Event()

def stay_busy():
    while not is_over.is_set():
        ffi_hpy.register_global_func("fork.busy", lambda: 1, override=True)
        ffi_hpy.remove_global_func("fork.busy")

def work(n):
    ffi_hpy.register_global_func("fork.work", lambda x: x, override=True)
    return len(ffi_hpy.List(range(n))) + ffi_hpy.get_global_func("fork.work")(n)

if __name__ == "__main__":
    thread = threading.Thread(target=stay_busy)
    thread.start()
    with multiprocessing.get_context("fork").Pool(4, maxtasksperchild=2) as pool:
        print(sum(pool.map(work, range(60), chunksize=1)))
    is_over.set()
    thread.join()
"""
    assert run_python(program) == f"{sum(range(60)) * 2}\n"


def test_a_child_completes_a_class_that_another_thread_had_begun():
    program = """
import os, threading, warnings
import ffi_hpy
from ffi_hpy.dataclasses import py_class
warnings.simplefilter("ignore", DeprecationWarning)
has_begun, may_end = threading.Event(), threading.Event()

@py_class("test.fork.Waiting")
class Waiting(ffi_hpy.Object):
    a: "Later"

definition, = ffi_hpy.dataclasses._pending._waiting.values()
attempt = definition._attempt

def attempt_slowly():
    if threading.current_thread() is thread:
        has_begun.set()
        may_end.wait()
    return attempt()

definition._attempt = attempt_slowly
Later = int
thread = threading.Thread(target=lambda: Waiting(a=1))
thread.start()
has_begun.wait()
child = os.fork()
if child == 0:
    os._exit(0 if Waiting(a=2).a == 2 else 1)
_, status = os.waitpid(child, 0)
may_end.set()
thread.join()
print(status, Waiting(a=3).a)
"""
    assert run_python(program) == "0 3\n"


# --- imports ----------------------------------------------------------------------------------------------------------

WITH_SLOW_MODULES = f"""
{SLOW_IMPORTS}
import os, sys, threading, warnings
import ffi_hpy
from ffi_hpy._start import fork
warnings.simplefilter("ignore", DeprecationWarning)

slow_modules = ("ffi_hpy.serialization", "colorsys")
def import_colorsys():
    with fork.importing:
        import colorsys

def status_of_child():
    child = os.fork()
    if child == 0:
        os._exit(0 if ffi_hpy.serialization.to_json_graph_str(1) else 1)
    return os.waitpid(child, 0)[1]
"""


def test_a_fork_waits_for_an_import_of_another_thread():
    program = """
is_begun, is_forking = threading.Event(), threading.Event()
os.register_at_fork(before=is_forking.set)  # runs before the package's function, which is older

def during_import():
    is_begun.set()
    is_forking.wait()

thread = threading.Thread(target=lambda: ffi_hpy.serialization)
thread.start()
is_begun.wait()
print(status_of_child())
thread.join()
"""
    assert run_python(WITH_SLOW_MODULES + program) == "0\n"


def test_a_thread_forks_within_its_own_import():
    program = """
def during_import():
    child = os.fork()
    if child == 0:
        os._exit(0)
    print(os.waitpid(child, 0)[1])

ffi_hpy.serialization
print(status_of_child())
"""
    assert run_python(WITH_SLOW_MODULES + program) == "0\n0\n"


def test_two_threads_fork_within_their_own_imports():
    program = """
fork.PATIENCE = 0.1
both = threading.Barrier(2)

def during_import():
    both.wait()
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0

thread = threading.Thread(target=import_colorsys)
thread.start()
ffi_hpy.serialization
thread.join()
print(status_of_child())
"""
    assert run_python(WITH_SLOW_MODULES + program) == "0\n"


def test_an_import_may_begin_while_a_fork_waits_for_another():
    program = """
is_begun, is_forking, has_imported = threading.Event(), threading.Event(), threading.Event()
os.register_at_fork(before=is_forking.set)

def during_import():
    if threading.current_thread() is first:
        is_begun.set()
        has_imported.wait()

def import_another():
    is_forking.wait()
    import_colorsys()
    has_imported.set()

first = threading.Thread(target=lambda: ffi_hpy.serialization)
second = threading.Thread(target=import_another)
first.start()
is_begun.wait()
second.start()
print(status_of_child())
first.join()
second.join()
"""
    assert run_python(WITH_SLOW_MODULES + program) == "0\n"
