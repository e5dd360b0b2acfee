"""Resident memory stays level however often objects, strings, callbacks and cycles are made and dropped."""

import pytest
from support import IS_OVER_CFFI, IS_PYPY, run_python

from ffi_hpy import _core

PROGRAM = """
import ctypes, gc, itertools, resource, sys
import ffi_hpy
from ffi_hpy import testing

libc = ctypes.CDLL(None)
echo = ffi_hpy.get_global_func("testing.echo")
apply = ffi_hpy.get_global_func("testing.apply")
longest = "x" * 3000
longest_bytes = longest.encode()
lengths = itertools.cycle(range(3001))
numbers = itertools.count()

class Cycle(ffi_hpy.List):
    __slots__ = ("__dict__",)

class Thing:
    pass

class Text(str):
    pass

def objects():
    testing.TestIntPair(1, 2)

def echoed_objects():
    echo(testing.TestIntPair(1, 2))

def containers():
    ffi_hpy.Array([1, 2])

def texts():
    echo(longest[: next(lengths)])

def wide_texts():
    echo(longest[: next(lengths) // 3] + "\\u20ac")

def data():
    echo(longest_bytes[: next(lengths)])

def texts_of_a_subclass():
    echo(Text(longest[: next(lengths)]))

def keys():
    ffi_hpy.Map({longest[: next(lengths)]: 1})

def callbacks():
    number = next(numbers)
    assert ffi_hpy.convert(lambda: number)() == number

def passed_callbacks():
    number = next(numbers)
    assert apply(lambda value: value + number, 1) == 1 + number

def things():
    echo(Thing())

def cycles():
    cycle = Cycle([1])
    cycle.itself = cycle

def cycles_through_a_callback():
    def make(value):
        thing = Thing()
        thing.value, thing.itself = value, thing
        return thing
    apply(make, apply(make, 1))

def leak():
    libc.malloc(8)

work = globals()[sys.argv[1]]
n = int(sys.argv[2])

def resident():
    for _ in range(3):
        gc.collect()
        echo(None)  # a native call frees objects that other threads have released
    getattr(libc, "malloc_trim", int)(0)
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()

def repeat(n):
    for _ in range(n):
        work()

repeat(n)
growths, before = [], resident()
while len(growths) < PARTS and (not growths or min(growths) >= BOUND):
    repeat(n)
    after = resident()
    growths.append((after - before) / n)
    before = after
print(min(growths))
"""

N = 50_000
BOUND = 12
"""Bytes per repetition. One-time growth of interpreters and allocators is in some of the parts; a leak is in all
parts."""
PARTS = 16
"""The most parts: the heap of PyPy 8 needs twelve of them to reach its final size."""


frees_wide_text = pytest.mark.skipif(
    IS_PYPY and _core.HAS_EXTENSION and not IS_OVER_CFFI,
    reason="PyPy's C API keeps a copy of text beyond ASCII that C code reads: interpreter_faults.py wide_text",
)


def growth_of(work: str) -> float:
    return float(run_python(PROGRAM.replace("BOUND", str(BOUND)).replace("PARTS", str(PARTS)), work, N))


@pytest.mark.thread_unsafe(reason="a long program, the same for each thread")
@pytest.mark.parametrize(
    "work",
    [
        *("objects", "echoed_objects", "containers", "texts", "data", "texts_of_a_subclass", "keys"),
        *("callbacks", "passed_callbacks", "things", "cycles", "cycles_through_a_callback"),
        pytest.param("wide_texts", marks=frees_wide_text),
    ],
)
def test_memory_stays_level(work):
    assert growth_of(work) < BOUND


@pytest.mark.thread_unsafe(reason="a long program, the same for each thread")
@pytest.mark.once
def test_a_leak_of_a_few_bytes_each_is_seen():
    assert growth_of("leak") > BOUND
