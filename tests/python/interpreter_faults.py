"""Programs that show faults of an interpreter, or of NumPy: none imports ffi_hpy.

    interpreter_faults.py NAME

Tests that leave something out because of such a fault name its program in this file. Each program prints "fine", or the
fault.
"""

from __future__ import annotations

import collections
import copy
import ctypes
import functools
import gc
import itertools
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn


def fork_children(use: Callable[[], object], n: int = 2000) -> None:
    """Fork children that use the same objects as threads of the parent; report a child that hangs."""

    def stay_busy() -> None:
        while True:
            use()

    for _ in range(6):
        threading.Thread(target=stay_busy, daemon=True).start()
    said = "fine"
    for i in range(n):
        child = os.fork()
        if child == 0:
            signal.alarm(5)
            use()
            os._exit(0)
        if os.waitpid(child, 0)[1] != 0:
            said = f"child {i} hangs"
            break
    print(said, flush=True)
    os._exit(0)


def dict_of_free_threads() -> None:
    """CPython 3.13.5, 3.14.7 without the GIL: a dict's lock, handed to a waiting thread, stays locked in the child."""
    shared = {i: i for i in range(10)}

    def use() -> None:
        shared.get(3)
        shared[3] = 4
        shared.copy()
        shared.pop(5, 0)
        shared.setdefault(5, 1)

    fork_children(use)


def lru_cache() -> None:
    """PyPy 7.3: functools.lru_cache has a lock that stays locked in the child."""
    answers = functools.lru_cache(maxsize=10)(str)
    fork_children(lambda: [answers(i) for i in range(20)])


def guard_of_threads() -> None:
    """CPython 3.15: the end of a child waits for threads of the parent that were inside PyGILState_Ensure."""
    libc = ctypes.CDLL(None)
    function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda argument: None)

    def call_from_native_threads() -> None:
        thread = ctypes.c_ulong()
        while True:
            if libc.pthread_create(ctypes.byref(thread), None, function, None) == 0:
                libc.pthread_join(thread, None)

    for _ in range(3):
        threading.Thread(target=call_from_native_threads, daemon=True).start()
    for i in range(60):
        child = os.fork()
        if child == 0:
            signal.alarm(5)
            sys.exit()
        if os.waitpid(child, 0)[1] != 0:
            print(f"child {i} hangs", flush=True)
            break
    else:
        print("fine", flush=True)
    os._exit(0)


def modules_at_exit() -> None:
    """CPython 3.13 without the GIL: the ending interpreter waits for the lock of sys.modules, which a stopped daemon
    thread holds. Three runs in eight hang."""
    program = "import sys, threading, time\nget = sys.modules.get\ndef work():\n    while True: get('os')\n"
    program += "for _ in range(4): threading.Thread(target=work, daemon=True).start()\ntime.sleep(0.05)"
    try:
        for _ in range(40):
            subprocess.run([sys.executable, "-c", program], check=True, timeout=10)
    except subprocess.TimeoutExpired:
        print("the program hangs at its end")
    else:
        print("fine")


def class_in_daemon_thread() -> None:
    """CPython 3.14 without the GIL: the ending interpreter waits for the lock of all classes, which a stopped daemon
    thread holds. One run in 400 hangs on a busy machine."""
    program = "import threading\ndef work():\n    while True: type('Mine', (Exception,), {})\n"
    program += "for _ in range(2): threading.Thread(target=work, daemon=True).start()"
    runs = [sys.executable, "-c", program]
    try:
        for _ in range(500):
            together = [subprocess.Popen(runs) for _ in range(6)]
            for process in together:
                process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        print("the program hangs at its end")
        for process in together:
            process.kill()
    else:
        print("fine")


def state_of_daemon_thread() -> None:
    """CPython 3.13 without the GIL: the ending interpreter frees the state of a daemon thread that has begun to attach,
    and the thread uses the freed state. One child in 40 crashes, because freed states are unmapped here, and because
    the main thread interrupts the daemon thread at any instruction."""
    unmapping = {"MALLOC_MMAP_THRESHOLD_": "8192", "MALLOC_TOP_PAD_": "0"}
    if not unmapping.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **unmapping})
    release_gil = ctypes.CDLL(None).abs
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    def attach_again() -> None:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        while True:
            release_gil(1)

    class Waits:
        def __init__(self, thread: int | None) -> None:
            self.wait = functools.partial(time.sleep, 0.002)
            self.wake = functools.partial(os.sched_setscheduler, thread, os.SCHED_OTHER, os.sched_param(0))

        def __del__(self) -> None:  # the state of the daemon thread is freed
            self.wake(), self.wait()

    for i in range(2000):
        child = os.fork()
        if child == 0:
            thread = threading.Thread(target=attach_again, daemon=True)
            thread.start()
            sys.waits = Waits(thread.native_id)  # type: ignore[attr-defined]
            time.sleep(0.005)
            sys.exit()
        status = os.waitpid(child, 0)[1]
        if status != 0:
            print(f"child {i} is killed by {signal.Signals(status & 127).name}")
            return
    print("fine")


def exhausted_dict_iterator() -> None:
    """PyPy 7.3: pickling or copying an exhausted dict iterator is a segmentation fault."""
    child = os.fork()
    if child == 0:
        iterator = iter({1: 2})
        next(iterator), next(iterator, None)
        copy.copy(iterator)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    print("fine" if status == 0 else f"ends by signal {status & 127}", flush=True)


class Refusing(tuple):
    """A tuple that cannot be read."""

    def __iter__(self) -> NoReturn:
        raise ValueError("not now")


items = [1, Refusing((1, 2)), 2]


def sequence_get_item() -> None:
    """PyPy 8: PySequence_GetItem of a list creates a C object for each item; if one raises, the collector releases the
    uninitialized entries after it.

    A dict whose __len__ raises does the same.

    Uninitialized memory is mostly zero in a fresh process: MALLOC_PERTURB_=90 in the environment fills it.
    """
    api = ctypes.CDLL(None)
    for function in (api.PyPyImport_AddModule, api.PyPyObject_GetAttrString, api.PyPySequence_GetItem):
        function.restype = ctypes.c_void_p
    module = ctypes.c_void_p(api.PyPyImport_AddModule(b"__main__"))
    native = ctypes.c_void_p(api.PyPyObject_GetAttrString(module, b"items"))
    try:
        api.PyPySequence_GetItem(native, 0)
    except ValueError:
        pass
    gc.collect()  # aborts the process
    print("fine")


def returns_refusing(*args: object) -> Refusing:
    return items[1]  # type: ignore[return-value]


def call_no_args() -> None:
    """PyPy 8: C code calls a function that returns a tuple whose __iter__ raises, which aborts the process."""
    api = ctypes.CDLL(None)
    for function in (api.PyPyImport_AddModule, api.PyPyObject_GetAttrString, api.PyPyObject_CallNoArgs):
        function.restype = ctypes.c_void_p
    module = ctypes.c_void_p(api.PyPyImport_AddModule(b"__main__"))
    callback = ctypes.c_void_p(api.PyPyObject_GetAttrString(module, b"returns_refusing"))
    api.PyPyObject_CallNoArgs(callback)  # aborts the process
    print("fine")


def descriptor_of_class() -> None:
    """PyPy 8: passing the descriptor of a class's __dict__ or __weakref__ to C code aborts the process."""
    api = ctypes.CDLL(None)
    for function in (api.PyPyImport_AddModule, api.PyPyObject_GetAttrString):
        function.restype = ctypes.c_void_p
    module = ctypes.c_void_p(api.PyPyImport_AddModule(b"__main__"))
    for _ in range(100):
        global descriptor
        descriptor = vars(type("Made", (), {}))["__dict__"]
        api.PyPy_DecRef(ctypes.c_void_p(api.PyPyObject_GetAttrString(module, b"descriptor")))
        gc.collect()  # aborts the process
    print("fine")


def copy_enumerate() -> None:
    """PyPy: copying an enumerate object that was advanced aborts the process; on PyPy 8, so does pickling it."""
    advanced = enumerate([])
    next(advanced, None)
    copy.copy(advanced)  # aborts the process
    print("fine")


def pickle_dict_iterator() -> None:
    """PyPy 8: a dict iterator that was advanced cannot be pickled."""
    advanced = iter({})
    next(advanced, None)
    pickle.dumps(advanced)  # aborts the process
    print("fine")


def half_compared() -> None:
    """NumPy 2.0, the last version for CPython 3.9: comparing a float16 with a value that raises at the second call
    crashes."""
    import numpy

    class Raising(str):
        __slots__ = ("is_asked",)

        def __str__(self) -> str:
            if hasattr(self, "is_asked"):
                raise ValueError
            self.is_asked = True
            return "x"

    child = os.fork()
    if child == 0:
        numpy.float16(0) == Raising()  # noqa: B015 - the comparison itself
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    print(f"killed by {signal.Signals(status).name}" if status else "fine", flush=True)


def deque_repeated() -> None:
    """CPython: repeating a deque until memory runs out raises a SystemError without an exception set."""
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    try:
        collections.deque([1]) * (1 << 47)
    except MemoryError:
        print("fine")
    except SystemError as error:
        print(error)


def growth_of(use: Callable[[], object], n: int) -> None:
    """Print the bytes of memory that each use leaks."""
    marks = []
    for _ in range(3):
        for _ in range(n):
            use()
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        with open("/proc/self/statm") as stream:  # noqa: PTH123 - the programs import little
            marks.append(int(stream.read().split()[1]) * resource.getpagesize())
    growth = (marks[2] - marks[1]) / n
    print("fine" if growth < 20 else f"{growth:.0f} bytes each")


def run_on_thread(target: Callable[[], object]) -> None:
    thread = threading.Thread(target=target)
    thread.start()
    thread.join()


def functions_of_threads() -> None:
    """CPython 3.13 without the GIL: the memory of a function that was made on a thread is not reused, unless the
    function is nested in another function."""

    def make() -> None:
        types.FunctionType(growth_of.__code__, {})

    growth_of(lambda: run_on_thread(make), 3000)


def wide_text() -> None:
    """PyPy's C API: copies of a non-ASCII str stay after C code has read the str."""
    api = ctypes.CDLL(None)
    for function in (api.PyPyImport_AddModule, api.PyPyObject_GetAttrString, api.PyPyUnicode_AsUTF8AndSize):
        function.restype = ctypes.c_void_p
    module = ctypes.c_void_p(api.PyPyImport_AddModule(b"__main__"))

    def read() -> None:
        global text
        text = "x" * 1000 + "\u20ac"
        native = ctypes.c_void_p(api.PyPyObject_GetAttrString(module, b"text"))
        api.PyPyUnicode_AsUTF8AndSize(native, ctypes.byref(ctypes.c_ssize_t()))
        api.PyPy_DecRef(native)

    growth_of(read, 3000)


def threads_that_ended() -> None:
    """PyPy 8: some memory of each ended thread stays."""
    growth_of(lambda: run_on_thread(int), 20000)


def interned_names() -> None:
    """CPython from 3.12 on: names in code stay forever."""
    numbers = itertools.count()
    growth_of(lambda: compile(f"name{next(numbers)} = 1", "", "exec"), 30000)


def strided_bytes() -> None:
    """PyPy: the bytes of a memoryview over strided memory of a C library are those without the strides."""
    import numpy

    found = memoryview(numpy.arange(4, dtype="uint8")[::2]).tobytes()
    print("fine" if found == bytes([0, 2]) else f"fault: {list(found)} in place of [0, 2]")


FAULTS = (
    dict_of_free_threads,
    lru_cache,
    guard_of_threads,
    modules_at_exit,
    class_in_daemon_thread,
    state_of_daemon_thread,
    exhausted_dict_iterator,
    sequence_get_item,
    call_no_args,
    descriptor_of_class,
    copy_enumerate,
    pickle_dict_iterator,
    half_compared,
    deque_repeated,
    functions_of_threads,
    wide_text,
    threads_that_ended,
    interned_names,
    strided_bytes,
)

if __name__ == "__main__":
    {function.__name__: function for function in FAULTS}[sys.argv[1]]()
