"""A program that repeats one action, each time with another failing allocation.

    allocation_sweep.py SUBJECT

First, allocations of our own libraries fail, then those that the interpreter makes for our libraries: one at a time,
and then that one together with all later ones. The core must have no pool, and native/failing_malloc.c must be
preloaded. Each run must give a result or a MemoryError, and must not leak. Prints the number of failed allocations, and
the number of errors. Exit status: 0, or 1 with the problem on stderr.
"""

from __future__ import annotations

import ctypes
import gc
import itertools
import sys
import sysconfig

import ffi_hpy
from ffi_hpy import testing
from ffi_hpy.dataclasses import py_class

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Subject = Callable[[], object]

N_WARM = 1
"""Runs with a failing allocation before blocks are counted, to fill caches."""
COUNTED = (3, 40, 40)
"""Runs between two counts. If a few runs leave blocks, which may be the interpreter's, more runs decide."""
MOST = 3000

IS_FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
"""Without the GIL, CPython 3.14 itself crashes when it cannot allocate a list, and frees blocks at any time."""

subjects: dict[str, Callable[[], Subject]] = {}
keeps_memory = {"define_class"}
"""Subjects that keep memory also when they succeed."""


def subject(make: Callable[[], Subject]) -> Callable[[], Subject]:
    """Register the subject that a function makes."""
    subjects[make.__name__] = make
    return make


# --- the subjects ---------------------------------------------------------------------------------------------------

echo = ffi_hpy.get_global_func("testing.echo")
nop = ffi_hpy.get_global_func("testing.nop")
numbers = itertools.count()


def passing(*values: Any) -> Subject:
    return lambda: [echo(value) for value in values]


@subject
def pass_numbers() -> Subject:
    return passing(None, True, 1, 2.5, 1 << 40, 1 << 70, -(1 << 200))


@subject
def pass_text() -> Subject:
    return passing("small", "large" * 20, "ü" * 30, b"small", b"large" * 20, bytearray(b"x" * 40))


@subject
def refuse_text() -> Subject:
    def run() -> None:
        for text in ("\udc80", "text" * 9 + "\udc80"):
            try:
                echo(text)
            except UnicodeEncodeError:
                pass

    return run


@subject
def refuse_a_type() -> Subject:
    point = Point(1)

    def run() -> None:
        try:
            point.x = "text"
        except TypeError:
            pass
        try:
            nop_typed("text" * 9)
        except TypeError:
            pass

    nop_typed = ffi_hpy.get_global_func("testing.add_one")
    return run


@subject
def pass_containers() -> Subject:
    return passing([1, 2, 3], (1, "two", [3]), {"a": 1, "b": [2, {"c": 3}]}, [], {}, list(range(40)))


@subject
def pass_objects() -> Subject:
    array, pair = ffi_hpy.Array([1]), testing.TestIntPair(1, 2)
    return passing(array, pair, echo, object(), ffi_hpy.device("cuda:1"), ffi_hpy.dtype("float32x4"))


@subject
def pass_shapes() -> Subject:
    shape = ffi_hpy.Shape((1, 2, 3))
    make = ffi_hpy.get_global_func("ffi.Shape")
    return lambda: (echo(shape), make(1 << 40, 5, 6), echo((1, 2, ffi_hpy.Shape((4, 1 << 50)))))


@subject
def walk_maps() -> Subject:
    mapping, nested = ffi_hpy.Map({i: i for i in range(70)}), ffi_hpy.Map({"key" * 9: ["text" * 9, 1 << 70]})

    def run() -> None:
        for _ in mapping.items():
            pass
        dict(nested)
        list(nested.values())

    return run


@subject
def pass_many() -> Subject:
    arguments = [*range(20), *("text" * 9 for _ in range(20))]
    return lambda: nop(*arguments)


@subject
def pass_a_callback() -> Subject:
    return passing(lambda x: x)


@subject
def call_back() -> Subject:
    callback = ffi_hpy.convert("{} {} {}".format)
    return lambda: callback(1, "two" * 9, [3])


@subject
def raise_natively() -> Subject:
    fail = ffi_hpy.get_global_func("testing.test_raise_error")

    def run() -> None:
        try:
            fail("ValueError", "a message " * 9)
        except ValueError:
            pass

    return run


@subject
def raise_through_native() -> Subject:
    callback = ffi_hpy.convert({}.__getitem__)

    def run() -> None:
        try:
            callback(1)
        except KeyError:
            pass

    return run


@subject
def make_containers() -> Subject:
    def run() -> None:
        ffi_hpy.Array(["text" * 9, 1, [2, 3]])
        ffi_hpy.List([1, 2.5, None])
        ffi_hpy.Map({"a": 1, "key" * 9: [2]})
        ffi_hpy.Dict({i: str(i) * 9 for i in range(12)})

    return run


@subject
def read_containers() -> Subject:
    array, mapping = ffi_hpy.Array(["text" * 9, 1, [2, 3]]), ffi_hpy.Map({"a": 1, "key" * 9: [2]})

    def run() -> None:
        list(array), array[0], array[1:], array + [1], array.index(1), len(array), 1 in array  # noqa: RUF005
        list(mapping), mapping["a"], list(mapping.items()), mapping.get("b"), "key" * 9 in mapping
        repr(array), repr(mapping), str(array), hash(array), array == array, mapping == mapping

    return run


@subject
def change_containers() -> Subject:
    def run() -> None:
        items = ffi_hpy.List([1])
        for i in range(6):
            items.append("text" * 9 * i)
        items[0] = [1, 2]
        items.extend([3, 4])
        items.insert(1, "x" * 40)
        items.pop()
        del items[0]
        entries = ffi_hpy.Dict({})
        for i in range(20):
            entries[i] = "text" * 9
        entries.pop(3)
        del entries[4]
        entries.update({"a": 1})

    return run


@subject
def make_an_object() -> Subject:
    return lambda: (testing.TestIntPair(1, 2), testing.TestObjectDerived(v_map={"a": 1}, v_array=[1, 2, 3]))


@py_class("allocation_sweep.Point")
class Point(ffi_hpy.Object):
    x: int
    name: str = "origin" * 9
    more: list[int] = ffi_hpy.dataclasses.field(default_factory=lambda: [1, 2])


@subject
def make_a_python_object() -> Subject:
    return lambda: Point(1, more=[1, 2, 3])


@subject
def change_fields() -> Subject:
    point = Point(1)

    def run() -> None:
        point.x = 1 << 40
        point.name = "somewhere else" * 9
        point.more = [4, 5, 6]
        point.more, point.name, point.x  # noqa: B018

    return run


@subject
def compare_objects() -> Subject:
    one, other = Point(1, more=[1, 2, 3]), Point(1, more=[1, 2, 3])

    def run() -> None:
        ffi_hpy.structural_equal(one, other)
        ffi_hpy.structural_hash(one)
        repr(one)

    return run


@subject
def copy_objects() -> Subject:
    import copy
    import pickle

    point = Point(1, more=[1, 2, 3])

    def run() -> None:
        copy.copy(point)
        copy.deepcopy(point)
        pickle.loads(pickle.dumps(point))

    return run


@subject
def exchange_tensors() -> Subject:
    import numpy as np

    tensor = ffi_hpy.from_dlpack(np.arange(6.0).reshape(2, 3))
    exporter = Exporter(tensor)

    def run() -> None:
        taken = ffi_hpy.from_dlpack(exporter)
        echo(taken), taken.shape, taken.strides, taken.dtype, taken.device
        ffi_hpy.from_dlpack(taken)
        tensor.__dlpack__()
        tensor.__dlpack__(max_version=(1, 0))

    return run


class Exporter:
    """Exports a tensor, as another library does."""

    def __init__(self, tensor: ffi_hpy.Tensor) -> None:
        self.tensor = tensor

    def __dlpack__(self, **kwargs: Any) -> object:
        return self.tensor.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.tensor.__dlpack_device__()


@subject
def register_a_function() -> Subject:
    def run() -> None:
        ffi_hpy.register_global_func("allocation_sweep.function", lambda x: x, override=True)
        try:
            ffi_hpy.get_global_func("allocation_sweep.function")(1)
        finally:
            ffi_hpy.remove_global_func("allocation_sweep.function")

    return run


@subject
def define_class() -> Subject:
    def run() -> None:
        body = {"__annotations__": {"x": int, "y": "list[str]"}, "__module__": __name__, "y": ["text"]}
        py_class(f"allocation_sweep.Class{next(numbers)}")(type("Class", (ffi_hpy.Object,), body))

    return run


@subject
def describe_types() -> Subject:
    classes = [testing.TestIntPair, testing.TestObjectDerived, Point]

    def run() -> None:
        for cls in classes:
            ffi_hpy._core.type_info(cls.__tvm_ffi_type_info__.type_index)

    return run


@subject
def look_up() -> Subject:
    def run() -> None:
        ffi_hpy.get_global_func("testing.add_one")(1)
        ffi_hpy.get_global_func("no.such.function" * 3, allow_missing=True)

    return run


# --- failing --------------------------------------------------------------------------------------------------------


class Failing:
    """Makes the n-th allocation from the start fail, and with `how` "rest" also all later ones."""

    def __init__(self, where: str, how: str) -> None:
        preloaded = ctypes.CDLL(None)
        if where != "native" and preloaded.hook_python() != 0:
            raise RuntimeError("the allocators of this interpreter cannot be replaced")
        self._fail_nth = preloaded["fail_nth" if where == "native" else f"fail_nth_of_{where}"]
        self._failed = preloaded.failed
        self._fail_nth.argtypes = [ctypes.c_int64, ctypes.c_int]
        self._fail_nth.restype = None
        self._all = int(how == "rest")

    def start(self, n: int) -> None:
        self._fail_nth(n, self._all)

    def stop(self) -> bool:
        """Stop failing; return whether there was an n-th allocation."""
        n_failed = self._failed()
        self._fail_nth(0, 0)
        return bool(n_failed != 0)


def attempt(run: Subject, failing: Failing, n: int) -> tuple[bool, bool]:
    """Return whether an allocation failed, and whether that caused an error."""
    is_error = False
    failing.start(n)
    try:
        run()
    except MemoryError:
        is_error = True
    finally:
        has_failed = failing.stop()
    return has_failed, is_error


# The interpreter caches looked-up attribute names by their address: some thousands of blocks.
clear_type_cache = getattr(sys, "_clear_type_cache", lambda: None)


def live_blocks() -> int:
    """Return the number of live blocks of our own libraries and of the interpreter."""
    gc.collect()
    clear_type_cache()
    return int(LIVE()) + (0 if IS_FREE_THREADED else sys.getallocatedblocks())


def blocks_left(run: Subject, failing: Failing, n: int) -> int:
    """Return the number of blocks that several runs leak; 0 if there is less than one per run."""
    left = 0
    for n_times in COUNTED:
        before = live_blocks()
        for _ in range(n_times):
            attempt(run, failing, n)
        left = live_blocks() - before
        if left < n_times:
            return 0
    return left


LIVE = ctypes.CDLL(None).live_blocks
LIVE.restype = ctypes.c_int64


def sweep(run: Subject, failing: Failing, counts: bool) -> Iterator[bool]:
    """Yield for each n whether the failure was an error."""
    for n in range(1, MOST):
        for _ in range(N_WARM):
            has_failed, is_error = attempt(run, failing, n)
        if not has_failed:
            return
        left = blocks_left(run, failing, n) if counts else 0
        if left:
            raise AssertionError(f"{left} blocks are left of {COUNTED[-1]} times")
        yield is_error
    raise AssertionError(f"more than {MOST} allocations")


def main() -> int:
    (name,) = sys.argv[1:]
    run = subjects[name]()
    for _ in range(3):
        run()
    gc.collect()
    gc.freeze()
    for where, how in itertools.product(("native",) if IS_FREE_THREADED else ("native", "python"), ("one", "rest")):
        n_failed = n_errors = 0
        try:
            for is_error in sweep(run, Failing(where, how), counts=name not in keeps_memory):
                n_failed += 1
                n_errors += is_error
        except BaseException:
            print(f"{name}, {where}, {how}: with allocation {n_failed + 1} failing:", file=sys.stderr, flush=True)
            raise
        print(where, how, n_failed, n_errors, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
