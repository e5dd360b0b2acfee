"""The end of the interpreter: whatever objects are alive then, the program ends silently with its own exit status."""

import pytest
from support import IS_CFFI_ON_CPYTHON, needs_threads, run_python

lets_threads_call_late = pytest.mark.skipif(
    IS_CFFI_ON_CPYTHON, reason="cffi attaches to an interpreter that has ended, and crashes"
)

HEAD = """
import sys, threading
import ffi_hpy
module = ffi_hpy.load_module(sys.argv[1])
plain = ffi_hpy.load_module(sys.argv[2])

@ffi_hpy.register_object("ffi_hpy_test.IntPair")
class IntPair(ffi_hpy.Object):
    pass

class Unknown:
    def __call__(self, *args):
        return list(args)
"""

LIVE = """
kept = [IntPair(1, 2), ffi_hpy.Array([1, IntPair(3, 4)]), ffi_hpy.Map({"a": Unknown()}), ffi_hpy.convert(Unknown()),
        plain.sum, ffi_hpy.convert(ValueError("x")), ffi_hpy.convert("a text of some length"), ffi_hpy.device("cuda:1")]
ffi_hpy.register_global_func("exit.callback", Unknown())
ffi_hpy.register_global_func("exit.closure", lambda: kept)
module.store_value(Unknown())
module.store_value(lambda: kept)
module.store_value([kept[0], Unknown(), {"k": lambda: 1}])
"""


@pytest.fixture
def run(extension_path, plain_path):
    """Return a function that runs a program after HEAD and returns its output."""

    def run_program(program, **options):
        return run_python(HEAD + program, extension_path, plain_path, **options)

    return run_program


def test_everything_is_alive_at_exit(run):
    assert run(LIVE + "print('end')") == "end\n"


def test_everything_made_on_a_second_thread_is_alive_at_exit(run):
    indented = "\n".join("    " + line for line in LIVE.splitlines())
    program = "t = threading.Thread(target=work)\nt.start()\nt.join()\nprint('end')\n"
    assert run(f"def work():\n    global kept\n{indented}\n{program}") == "end\n"


def test_a_second_thread_ends_last(run):
    program = """
go = threading.Event()
def work():
    go.wait()
    for _ in range(1000):
        ffi_hpy.convert([1, "a text of some length"]), ffi_hpy.convert(lambda: 1)(), IntPair(1, 2).sum()
    print('end')
threading.Thread(target=work).start()
go.set()
"""
    assert run(LIVE + program) == "end\n"


@needs_threads
def test_a_daemon_thread_is_in_native_code_at_exit(run):
    program = """
waiting = threading.Event()
def work():
    waiting.set()
    module.rendezvous(1, 2)  # the other never comes
threading.Thread(target=work, daemon=True).start()
waiting.wait()
print('end')
"""
    assert run(LIVE + program) == "end\n"


@needs_threads
def test_daemon_threads_call_native_code_at_exit(run):
    program = """
started = threading.Barrier(3)
f = ffi_hpy.convert(Unknown())
pair = IntPair(1, 2)
def call():
    f(1, "a text of some length"), pair.sum(), ffi_hpy.convert([pair])
call()  # the first call looks into sys.modules, see modules_at_exit in interpreter_faults.py
def work():
    started.wait()
    try:
        while True:
            call()
    except RuntimeError as error:  # a thread that calls back too late gets an error
        assert "began to exit" in str(error)
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
started.wait()
print('end')
"""
    assert run(LIVE + program, has_daemon_threads=True) == "end\n"


@needs_threads
@lets_threads_call_late
def test_native_threads_call_back_at_exit(run):
    program = """
called = [threading.Event() for _ in range(2)]
for event in called:
    module.call_until_failure(event.set)
for event in called:
    event.wait()
print('end', flush=True)
"""
    assert run(LIVE + program) == "end\n"


@needs_threads
@lets_threads_call_late
def test_native_threads_drop_python_objects_at_exit(run):
    program = """
import time
dropped = []  # no Event: a finalizer may run while its own thread is inside Event.set
class Dropped:
    def __del__(self):
        dropped.append(1)
class Calling:
    def __del__(self):
        try:
            ffi_hpy.convert(lambda x: x)([1, IntPair(1, 2)])
        except RuntimeError as error:
            assert "began to exit" in str(error)
for cls in (Dropped, Calling, Unknown):
    things = [cls() for _ in range(3000)]
    module.drop_slowly([ffi_hpy.convert(things[0]), *things])
    del things
import gc
while not dropped:  # the first of them on its way, the last ones find no interpreter
    time.sleep(0.01)
    gc.collect()
    ffi_hpy.convert(lambda: None)()
print('end', flush=True)
"""
    assert run(LIVE + program) == "end\n"


@needs_threads
def test_daemon_threads_raise_and_register_at_exit(run):
    program = """
started = threading.Barrier(3)
# made before the threads start: see class_in_daemon_thread in interpreter_faults.py
classes = [type("Mine", (Exception,), {}) for _ in range(50)]
def fail():
    raise ValueError("again")
f = ffi_hpy.convert(fail)
def call(i, n):
    try:
        f()
    except ValueError:
        pass
    ffi_hpy.register_error(f"Kind{i}.{n % 50}", classes[n % 50])
    ffi_hpy.register_global_func(f"exit.daemon{i}.{n % 50}", fail, override=True)
call(0, 0)  # the first call looks into sys.modules, see modules_at_exit in interpreter_faults.py
def work(i):
    started.wait()
    n = 0
    try:
        while True:
            n += 1
            call(i, n)
    except RuntimeError as error:  # a thread that calls back too late gets an error
        assert "began to exit" in str(error)
for i in range(2):
    threading.Thread(target=work, args=(i,), daemon=True).start()
started.wait()
print('end', flush=True)
"""
    assert run(LIVE + program, has_daemon_threads=True) == "end\n"


def test_a_callback_runs_in_an_atexit_function(run):
    program = """
import atexit
@atexit.register
def at_exit():
    print(ffi_hpy.convert(lambda x: x + 1)(1), IntPair(1, 2).sum(), ffi_hpy.Array([1, 2]))
print('end')
"""
    assert run(LIVE + program) == "end\n2 3 (1, 2)\n"


def test_an_object_that_uses_native_code_when_it_is_finalized(run):
    program = """
class Finalized:
    def __init__(self):
        self.pair = IntPair(1, 2)
        self.f = ffi_hpy.convert(lambda x: x)
    def __del__(self):
        try:
            self.f(self.pair.sum())
        except Exception:
            pass
alive = Finalized()
alive.myself = alive
module.store_value(Finalized())
print('end')
"""
    assert run(LIVE + program) == "end\n"


@pytest.mark.parametrize("ending", ["sys.exit(0)", "import os; sys.stdout.flush(); os._exit(0)", "raise SystemExit"])
def test_every_way_to_end_is_silent(run, ending):
    assert run(f"{LIVE}\nprint('end')\n{ending}") == "end\n"


def test_the_package_is_taken_apart_before_the_end(run):
    program = """
import gc
for name in [name for name in sys.modules if name.startswith("ffi_hpy")]:
    del sys.modules[name]
del ffi_hpy, module, plain, IntPair
gc.collect()
print('end')
"""
    assert run(LIVE + program) == "end\n"


def test_an_exception_with_native_frames_is_alive_at_exit(run):
    program = """
try:
    module.raise_error("kept")
except RuntimeError as error:
    kept_error = error
try:
    ffi_hpy.convert(lambda x: [][x])(1)
except IndexError as error:
    kept_chain = error
print('end')
"""
    assert run(LIVE + program) == "end\n"
