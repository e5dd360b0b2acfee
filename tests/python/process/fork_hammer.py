"""A program that forks children while threads use every part of the runtime; each child uses every part, too, and must
end.

    fork_hammer.py N_CHILDREN PLAIN_LIBRARY [BUSY_LIBRARY]

Python threads are busy, and also native threads if the library compiled from native/busy.c is given. Half of the
children end with os._exit(), half let the interpreter end. Prints the number of children that ended well. Exit status:
0, or 1 with the problem on stderr. SIGALRM ends a child that hangs, after the child has printed its threads' stacks on
stderr.
"""

from __future__ import annotations

import copy
import faulthandler
import itertools
import os
import signal
import sys
import threading
import warnings
from typing import Any

import ffi_hpy
from ffi_hpy import testing
from ffi_hpy.dataclasses import py_class
from ffi_hpy.serialization import from_json_graph_str, to_json_graph_str

CHILD_SECONDS = 100
"""Far beyond the time of a slow machine: only a child that hangs takes this long."""
IS_FREE_THREADED = not getattr(sys, "_is_gil_enabled", lambda: True)()
"""CPython without the GIL stops other threads for a fork, but the locks of dicts that it has already handed to waiting
threads stay locked in the child: dict_of_free_threads in interpreter_faults.py. So no thread runs Python code."""
N_THREADS = 0 if IS_FREE_THREADED else 3
N_NATIVE_THREADS = 3
AT_ONCE = 4
"""The number of children at a time, so that each has its share of a core."""

warnings.simplefilter("ignore", DeprecationWarning)  # CPython 3.12 and later warn about forks in a process with threads
numbers = itertools.count()
shared_list = ffi_hpy.List([1, 2, 3])
shared_dict = ffi_hpy.Dict({"a": 1})
is_over = threading.Event()


@py_class("test.fork.Shared")
class Shared(ffi_hpy.Object):
    a: int
    b: Any = None


shared_object = Shared(1)


class Unknown:
    """A class without a conversion: native code gets the instance itself."""


# --- work of all threads and children ---------------------------------------------------------------------------------


def use_functions(number: int) -> None:
    name = f"fork.{os.getpid()}.{number % 5}.{threading.get_ident()}"
    ffi_hpy.register_global_func(name, lambda x: x, override=True)
    assert ffi_hpy.get_global_func(name)(number) == number
    ffi_hpy.remove_global_func(name)
    assert ffi_hpy.get_global_func("testing.add_one")(number) == number + 1


def use_containers(number: int) -> None:
    shared_list.append(f"a text of some length {number}")
    if len(shared_list) > 50:
        shared_list.clear()
    shared_dict[number % 7] = [number]
    assert len(ffi_hpy.Array([number, "text"])) == 2
    ffi_hpy.Map({"a": number, "b": [number]})["b"]


def use_wrappers(number: int) -> None:
    value = Unknown()
    assert ffi_hpy.get_global_func("testing.echo")(value) is value
    shared_object.a, shared_object.b = number, [number]
    assert isinstance(shared_object.a, int)
    assert len(shared_object.b) == 1
    pair = testing.TestIntPair(number, 2)
    assert ffi_hpy.Array([pair])[0].a == number
    copy.copy(pair)


def use_callbacks(number: int) -> None:
    def fail(x: Any) -> None:
        raise ValueError(f"no {x}")

    try:
        ffi_hpy.convert(fail)(number)
    except ValueError:
        pass
    assert ffi_hpy.convert(lambda x: [x])(number)[0] == number


def use_json(number: int) -> None:
    value = ffi_hpy.Array([number, {"a": 0.5}, None])
    assert from_json_graph_str(to_json_graph_str(value))[0] == number
    repr(value)
    ffi_hpy.structural_hash(value)


def use_modules(number: int) -> None:
    module = ffi_hpy.load_module(plain_path)
    assert module.implements_function("sum")
    assert module["sum"](number, 1) == number + 1


def use_classes(number: int) -> None:
    if number % 1000 == 0:

        @py_class(f"test.fork.C{os.getpid()}.{next(numbers)}")
        class Made(ffi_hpy.Object):
            a: int
            b: str

        made = Made(number, "text")
        assert made.a == number


USES = (use_functions, use_containers, use_wrappers, use_callbacks, use_json, use_modules, use_classes)


def stay_busy() -> None:
    for number in itertools.count():
        if is_over.is_set():
            return
        for use in USES:
            use(number)


# --- children ---------------------------------------------------------------------------------------------------------


def be_a_child() -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(CHILD_SECONDS)
    faulthandler.dump_traceback_later(CHILD_SECONDS - 10)
    for number in (0, 1):
        for use in USES:
            use(number)
    thread = threading.Thread(target=use_wrappers, args=(1,))
    thread.start()
    thread.join()


def fork_children(n_children: int) -> list[int]:
    """Fork that many children; return the exit statuses of failed children. In a child: raise SystemExit."""
    running: set[int] = set()
    bad = []
    for i in range(n_children):
        child = os.fork()
        if child == 0:
            be_a_child()
            if i % 2 == 0:
                os._exit(0)
            is_over.set()
            sys.exit(0)
        running.add(child)
        while len(running) >= AT_ONCE or (running and i == n_children - 1):
            ended, status = os.wait()
            running.discard(ended)
            if status != 0:
                bad.append(status)
                return bad
    return bad


def main() -> None:
    threads = [threading.Thread(target=stay_busy, daemon=True) for _ in range(N_THREADS)]
    for thread in threads:
        thread.start()
    busy = ffi_hpy.load_module(sys.argv[3]) if len(sys.argv) > 3 else None
    if busy is not None:
        callback = None if IS_FREE_THREADED else ffi_hpy.convert(lambda number: [number])
        busy["start"](N_NATIVE_THREADS, callback)
    parent = os.getpid()
    try:
        bad = fork_children(int(sys.argv[1]))
    finally:
        if os.getpid() == parent:
            is_over.set()
            if busy is not None:
                busy["stop"]()
            for thread in threads:
                thread.join()
    if bad:
        sys.exit(f"children ended with status {bad}")
    print(sys.argv[1])


plain_path = sys.argv[2]
main()
