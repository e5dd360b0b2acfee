"""Ctrl-C while native code runs: a real SIGINT, in a separate process."""

import pytest
from support import IS_DEBUG, IS_OWN_DEBUG, needs_threads, run_python
from support.native_build import PACKAGE, Missing, compile_c

import ffi_hpy

LONG, SHORT = 100_000, 300  # milliseconds: longer than a test may take, and long enough to receive a signal

HEAD = f"""
import os, signal, sys, threading, time
import ffi_hpy
wait = ffi_hpy.load_module(sys.argv[1])
LONG, SHORT = {LONG}, {SHORT}
signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupt_when(is_ready):
    def work():
        while not is_ready():
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=work).start()

def is_running():
    return wait.steps() > 10
"""


@pytest.fixture(scope="session")
def wait_path():
    """Path of the library compiled from native/wait.c."""
    try:
        return compile_c("wait.c", PACKAGE / "include")
    except Missing as reason:
        pytest.fail(str(reason), pytrace=False)


@pytest.fixture
def run(wait_path):
    """Return a function that runs a program after HEAD and returns its output."""
    return lambda program, **options: run_python(HEAD + program, wait_path, **options)


@pytest.mark.parametrize("keep_gil", [False, True])
@pytest.mark.parametrize("name", ["poll", "poll_legacy"])
@needs_threads
def test_native_code_that_checks_for_signals_is_interrupted(run, name, keep_gil):
    program = f"""
function = wait.get_function("{name}")
function.release_gil = {not keep_gil}
if {keep_gil}:  # no other thread runs during the call
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
else:
    interrupt_when(is_running)
try:
    function(LONG)
except KeyboardInterrupt as error:
    print(type(error).__name__, error.args)
print(function(1))
"""
    assert run(program) == "KeyboardInterrupt ()\nNone\n"


@needs_threads
def test_native_code_without_checks_is_interrupted_after_it_returns(run):
    program = """
interrupt_when(is_running)
reached = []
try:
    wait.sleep(SHORT)
    for i in range(1000):
        reached.append(i)
except KeyboardInterrupt:
    print("interrupted", len(reached) < 1000, wait.steps() >= SHORT)
"""
    assert run(program) == "interrupted True True\n"


@needs_threads
@pytest.mark.skipif(IS_OWN_DEBUG, reason="in debug mode an interrupt around a callback may come out as another error")
def test_interrupts_at_any_moment_leave_no_harm(run):
    program = """
import gc, weakref
import ffi_hpy.testing
echo, apply = ffi_hpy.get_global_func("testing.echo"), ffi_hpy.get_global_func("testing.apply")
make = ffi_hpy.testing.TestIntPair
pair, refs, n_raised, n_caught = make(1, 2), [], 0, 0
sys.unraisablehook = lambda told: None  # of interrupted finalizers
class Callback:
    def __call__(self, *args):
        return args[0]
def step():
    callback = Callback()
    refs.append(weakref.ref(callback))
    echo(pair), echo("a text of some length"), echo([pair, {"a": pair}])
    apply(callback, pair)
    echo(make(1, 2)._move())
    for item in ffi_hpy.Array([pair, 1, "a text of some length"]):
        pass
def steps():  # a function, because CPython's handlers do not cover a jump back to the loop's beginning
    global may_interrupt
    while time.monotonic() < end or n_raised <= 10 and time.monotonic() < end + 60:  # a busy machine needs longer
        may_interrupt = True  # again where a finalizer dropped the exception
        step()
may_interrupt = False
def interrupt(number, frame):
    global may_interrupt, n_raised
    if may_interrupt:  # only where it is caught, and once: the next may come while this one is on its way
        may_interrupt = False
        n_raised += 1
        raise KeyboardInterrupt
signal.signal(signal.SIGINT, interrupt)
def storm():
    while not is_over:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.001)
is_over = False
storming = threading.Thread(target=storm)
storming.start()
end = time.monotonic() + 1
is_done = False
while not is_done:
    try:
        steps()
        is_done, may_interrupt = True, False
    except KeyboardInterrupt:
        n_caught += 1
is_over = True
storming.join()
signal.signal(signal.SIGINT, signal.SIG_IGN)
for _ in range(10):
    gc.collect()
    try:
        echo(1)
    except KeyboardInterrupt:  # of a finalizer, where the last one came
        n_caught += 1
lost = sum(ref() is not None for ref in refs)  # one at most by each interrupt, in the very step where it came
print(n_raised > 10, 0 < n_caught <= n_raised, lost <= n_raised, echo([pair])[0].sum())
"""
    assert run(program) == "True True True 3\n"


@needs_threads
@pytest.mark.skipif(IS_OWN_DEBUG, reason="in debug mode an interrupt around a callback may come out as another error")
def test_each_of_many_interrupts_arrives(run):
    program = """
import gc
import ffi_hpy.testing
from typing import Any
from ffi_hpy.dataclasses import py_class
echo, apply = ffi_hpy.get_global_func("testing.echo"), ffi_hpy.get_global_func("testing.apply")
make = ffi_hpy.testing.TestIntPair
pair = make(1, 2)
@py_class("interrupt.Holder")
class Holder(ffi_hpy.Object):
    a: Any
    b: Any
class Came(BaseException):
    pass
class Value:
    def __tvm_ffi_value__(self):
        return [pair, make(5, 6)]
def step():
    echo(make(1, 2)), echo([pair, {"a": make(3, 4)}])
    apply(lambda x: x, pair)
    holder = Holder(make(1, 2), [1, make(3, 4)])
    holder.a = Value()
    for _ in ffi_hpy.Map({"a": holder, "b": holder.b}).items():
        pass
    ffi_hpy.List([holder]).append(pair)
def steps():
    while time.monotonic() < end or len(raised) <= 10 and time.monotonic() < end + 60:  # a busy machine needs longer
        step()
IS_PYPY, locks = sys.implementation.name == "pypy", ffi_hpy._start.fork._locks
raised, caught, may_interrupt = [], [], False
def interrupt(number, frame):
    global may_interrupt
    name = frame.f_code.co_filename
    if frame.f_code.co_name == "__del__":  # PyPy asks for signals before the `try` of a finalizer, and drops exceptions
        return
    if IS_PYPY and any(lock._is_owned() for lock in locks):  # it may raise between the end of a `with` and the release
        return
    if may_interrupt and ("ffi_hpy" in name or name == "<string>"):  # not in a finalizer of the library
        may_interrupt = False
        came = Came(len(raised))
        raised.append(came)
        raise came
signal.signal(signal.SIGINT, interrupt)
def storm():
    while not is_over:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.001)
is_over = False
storming = threading.Thread(target=storm)
storming.start()
end = time.monotonic() + 2
is_done = False
while not is_done:
    try:
        may_interrupt = True
        steps()
        is_done, may_interrupt = True, False
    except Came as came:
        caught.append(came)
is_over = True
storming.join()
signal.signal(signal.SIGINT, signal.SIG_IGN)
for _ in range(3):
    gc.collect()
    try:
        echo(1)
    except Came as came:
        caught.append(came)
print(len(raised) > 10, [came for came in raised if came not in caught], len(caught) - len(raised))
"""
    assert run(program) == "True [] 0\n"


@needs_threads
def test_an_interrupt_passes_callbacks_and_native_code_around_it(run):
    program = """
interrupt_when(is_running)
seen = []
def callback():
    try:
        wait.poll(LONG)
    except KeyboardInterrupt as error:
        seen.append(error)
        raise
outer = ffi_hpy.convert(lambda f: f())
try:
    outer(callback)
except KeyboardInterrupt as error:
    print(error is seen[0])
"""
    assert run(program) == "True\n"


@needs_threads
def test_a_handler_that_raises_another_exception_decides_the_result(run):
    program = """
class Stop(Exception):
    pass
def handler(number, frame):
    raise Stop(number)
signal.signal(signal.SIGINT, handler)
interrupt_when(is_running)
try:
    wait.poll(LONG)
except Stop as error:
    print(error.args == (signal.SIGINT,))
"""
    assert run(program) == "True\n"


@needs_threads
def test_a_handler_that_raises_nothing_lets_native_code_go_on(run):
    program = """
handled = []
signal.signal(signal.SIGINT, lambda number, frame: handled.append(number))
interrupt_when(is_running)
print(wait.poll(SHORT), handled == [signal.SIGINT])
"""
    assert run(program) == "None True\n"


@needs_threads
def test_native_code_on_another_thread_leaves_the_signal_to_the_main_thread(run):
    program = """
results = []
worker = threading.Thread(target=lambda: results.append(wait.poll(SHORT)))
is_waiting = False
worker.start()
interrupt_when(lambda: is_waiting and is_running())
try:
    is_waiting = True  # from here on, not within Thread.start()
    while worker.is_alive():
        time.sleep(0.01)
    print("not interrupted")
except KeyboardInterrupt:
    worker.join()
    print("interrupted", results)
"""
    assert run(program) == "interrupted [None]\n"


@needs_threads
def test_a_native_thread_may_ask_for_signals(extension, wait_path):
    wait = ffi_hpy.load_module(wait_path)
    assert extension.call_on_thread(wait.poll, 5) is None


@pytest.mark.skipif(IS_DEBUG, reason="a thread interrupts, and hpy's debug mode has no contexts for several")
def test_an_unhandled_interrupt_exits_the_program_as_everywhere(wait_path):
    import signal
    import subprocess
    import sys

    program = HEAD + "interrupt_when(is_running)\nwait.poll(LONG)\n"
    done = subprocess.run([sys.executable, "-c", program, str(wait_path)], capture_output=True, text=True, timeout=60)
    assert done.returncode in (-signal.SIGINT, 130, 1), done.stderr
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")
