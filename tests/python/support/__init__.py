"""Shared code of the tests: threads on a barrier, fresh interpreters, unique names, and a check for freed objects."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import subprocess
import sys
import sysconfig
import threading
import time
import uuid

import pytest

import ffi_hpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    import weakref
    from collections.abc import Callable
    from typing import Any

IS_PYPY = sys.implementation.name == "pypy"
IS_DEBUG = os.environ.get("FFI_HPY_CONTEXT") == "debug"
"""Whether the binding runs in the debug mode of the PyPI package hpy."""
IS_OWN_DEBUG = ffi_hpy._core.CONTEXT_NAME == "HPy Debug Mode ABI (ffi_hpy)"
"""Whether the binding runs in our debug mode, which FFI_HPY_DEBUG=1 selects."""
IS_OVER_CFFI = ffi_hpy._core.CALLS == "cffi"
IS_CFFI_ON_CPYTHON = IS_OVER_CFFI and not IS_PYPY
"""Whether FFI_HPY_CFFI=1 selects the cffi backend where no JIT hides and compiles it: its frames are in tracebacks, and
count for the recursion limit."""
REFUSES_FINALIZERS = IS_PYPY and not IS_OVER_CFFI
HAS_DICT = hasattr(ffi_hpy._core.CObject.__new__(ffi_hpy._core.CObject), "__dict__")  # PyPy gives HPy objects one
FREES_AT_ONCE = ffi_hpy._core.HAS_EXTENSION and not IS_OVER_CFFI and not IS_PYPY
"""Whether objects that native code drops are freed at once; the cffi backend, PyPy and other HPy contexts free them
later."""

TESTED_LIBRARY = os.environ.get("FFI_HPY_TESTED_LIBRARY", "")
"""Path of a testing library to use in place of ours; a process can have only one."""

NO_GIL = not getattr(sys, "_is_gil_enabled", lambda: True)()
COPIES_LISTS = bool(sysconfig.get_config_var("Py_GIL_DISABLED") or IS_OWN_DEBUG) and not (IS_OVER_CFFI or IS_DEBUG)
"""Whether lists and dicts are copied before their items are converted, because other threads may change them."""
CALLS_COPY_LISTS = COPIES_LISTS or IS_OVER_CFFI
"""Whether calls do so."""

NO_THREADS = "hpy's debug mode shares its contexts between threads, and has none for threads that Python did not start"
needs_threads = pytest.mark.skipif(IS_DEBUG, reason=NO_THREADS)
needs_one_wrapper = pytest.mark.skipif(IS_DEBUG, reason="hpy's debug mode makes several wrappers of one object")
needs_identity = pytest.mark.skipif(IS_OWN_DEBUG, reason="in our debug mode each access gets another wrapper")
needs_buffers = pytest.mark.skipif(
    IS_CFFI_ON_CPYTHON and sys.version_info < (3, 12), reason="classes written in Python have no buffers before 3.12"
)

PROGRAM_SECONDS = 120

ENOUGH_ROUNDS = 6
"""The collections that free everything that collections will ever free; PyPy takes five for a memoryview of native
memory. On PyPy a collection takes about 0.1 s, because it visits the objects of pytest, too."""

KEEPS_THREAD_STATES = """
import ctypes
class Allocator(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("context", "malloc", "calloc", "realloc", "free")]
allocator, raw = Allocator(), 0
ctypes.pythonapi.PyMem_GetAllocator(raw, ctypes.byref(allocator))
allocator.free = ctypes.cast(ctypes.CDLL(None).abs, ctypes.c_void_p)  # frees nothing
ctypes.pythonapi.PyMem_SetAllocator(raw, ctypes.byref(allocator))
"""
"""Programs that end while daemon threads attach begin with this on CPython up to 3.13, which crashes if it frees their
states: interpreter_faults.py state_of_daemon_thread. With the GIL one in 1,600 of these programs crashes, on a busy
machine."""

SLOW_IMPORTS = """
import sys
from importlib.abc import Loader
from importlib.machinery import PathFinder

class Slow(Loader):
    def __init__(self, loader):
        self.loader = loader

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        during_import()
        self.loader.exec_module(module)
        after_import()

class Finder:
    @staticmethod
    def find_spec(full, path, target=None):
        if full not in slow_modules:
            return None
        spec = PathFinder.find_spec(full, path)
        spec.loader = Slow(spec.loader)
        return spec

def after_import():
    pass

slow_modules = ()
sys.meta_path.insert(0, Finder)
"""
"""Programs that begin with this define `slow_modules`, the full names of modules, and `during_import`, a function that
runs before each of these modules, and perhaps `after_import`."""

_count = itertools.count()
_process = uuid.uuid4().hex[:8]


def unique_name(prefix: str = "test") -> str:
    """Return a name that no other test and no other thread uses."""
    return f"{prefix}.{_process}.n{next(_count)}"


def parallelize(work: Callable[[int], Any], n_threads: int = 4) -> list[Any]:
    """Return the results of work(0), work(1), ..., which start at the same moment, each on a separate thread."""
    if IS_DEBUG:
        pytest.skip(NO_THREADS)
    barrier = threading.Barrier(n_threads)
    results: list[Any] = [None] * n_threads
    errors: list[BaseException] = []

    def run(i: int) -> None:
        try:
            barrier.wait()
            results[i] = work(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def race(*works: Callable[[], Any], allowed: tuple[type[Exception], ...] = (), seconds: float = 0.4) -> None:
    """Run each function repeatedly on a separate thread, with the shortest possible switch interval. Errors of the
    classes in `allowed` are expected."""
    end = time.monotonic() + seconds
    stop = threading.Event()

    def work(i: int) -> None:
        try:
            while time.monotonic() < end and not stop.is_set():
                try:
                    works[i]()
                except allowed:
                    pass
        finally:
            stop.set()

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        parallelize(work, len(works))
    finally:
        sys.setswitchinterval(before)


def is_gone(ref: weakref.ref[Any]) -> bool:
    """Return whether an unreferenced object is freed: at once with reference counts, otherwise after a collection."""
    if FREES_AT_ONCE:
        return ref() is None
    collect_garbage(lambda: ref() is None)
    return ref() is None


def collect_garbage(is_done: Callable[[], bool] | None = None, n_rounds: int | None = None) -> None:
    """Collect garbage until `is_done()`: some interpreters free objects late. The default of `n_rounds`, the most
    collections, is 10; without `is_done` it is ENOUGH_ROUNDS, because each collection then takes place."""
    drain = ffi_hpy.convert(lambda: None)
    if n_rounds is None:
        n_rounds = 10 if is_done else ENOUGH_ROUNDS
    for _ in range(n_rounds):
        if is_done and is_done():
            return
        gc.collect()
        drain()  # a native call frees the objects that native code dropped on other threads


def run_python(
    program: str, *arguments: object, environ: dict[str, str] | None = None, has_daemon_threads: bool = False
) -> str:
    """Return the output of a program in a fresh interpreter, which must end with exit status 0 and print nothing on
    stderr. has_daemon_threads: the interpreter ends while daemon threads use it."""
    if has_daemon_threads and sys.version_info < (3, 14) and not IS_PYPY:
        program = KEEPS_THREAD_STATES + program
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", program, *map(str, arguments)],
        env={**os.environ, **(environ or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PROGRAM_SECONDS,
    )
    if done.returncode < 0:
        ended = f"was killed by {signal.Signals(-done.returncode).name}"
    else:
        ended = f"ended with exit status {done.returncode}"
    assert done.returncode == 0, f"the program {ended}; its stderr:\n{done.stderr}"
    assert not done.stderr, f"the program wrote to stderr:\n{done.stderr}"
    return done.stdout


def run_main(main: Callable[[list[str]], Any], capsys: Any, *arguments: object) -> tuple[Any, str, str]:
    """Run a command in this process and return its exit status, stdout and stderr."""
    try:
        status = main([str(argument) for argument in arguments])
    except SystemExit as stopped:
        status = stopped.code
    return (status, *capsys.readouterr())
