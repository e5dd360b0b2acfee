"""One side of scaling.py: a process whose threads make calls at the same time, on request.

Reads lines `ROW MODE THREADS SECONDS` and answers each with the calls per second of all threads together while all of
them ran (overlap.py), including the loop's own cost; with 0 if they never ran together, with -1 if this side has no
such row. The answer to `class made BUSY N` is the average time in milliseconds of making one of N classes next to BUSY
threads.

Threads live as long as the process: each thread makes its private objects itself, because the interpreter uses objects
of the own thread cheaply.

Usage: scaling_side.py ffi_hpy|bound|tvm_ffi|nanobind|pybind11|plain LIBRARY-OR-MODULE [--more LIBRARY] [--keep-gil]
"""

from __future__ import annotations

import argparse
import ast
import queue
import resource
import statistics
import sys
import sysconfig
import threading
import time
from typing import Any, Callable

from overlap import Part, Stamp, is_enough, parts_together, rate_together
from scaling_names import Names, names_of
from scaling_rows import ROWS
from side import make_loop, serve

BATCH_SECONDS = 0.0002  # short, so that a lost core spoils few; long against a stamp
TRIES = 10  # attempts to have all threads run for half of the given time


def stamp() -> Stamp:
    return Stamp(time.perf_counter_ns(), resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw)


class Worker:
    """A thread with private objects that runs its orders and returns their results."""

    def __init__(self, names: Names, shared: dict[str, Any]) -> None:
        self.names, self.shared, self.own = names, shared, dict[str, Any]()
        self.orders: queue.SimpleQueue[Callable[[], Any]] = queue.SimpleQueue()
        self.results: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self) -> None:
        while True:
            try:
                self.results.put(self.orders.get()())
            except BaseException as error:
                self.results.put(error)
                raise

    def result(self) -> Any:
        result = self.results.get()
        if isinstance(result, BaseException):
            raise result
        return result

    def loop_of(self, row: str, mode: str) -> Any:
        """Return a loop over the row's statement; its code and its function object are private to this thread, too."""
        statement = ROWS[row].statement
        used = {}
        for name in names_in(statement):
            if name in self.names.values:
                used[name] = self.names.values[name]
                continue
            made = self.own if mode == "own" else self.shared
            if name not in made:  # only private objects: the main thread has made the shared ones
                made[name] = self.names.makers[name]()
            used[name] = made[name]
        return make_loop(statement, used)

    def run(self, row: str, mode: str, n: int, seconds: float, barrier: threading.Barrier) -> list[Stamp]:
        loop = self.loop_of(row, mode)
        loop(n)
        barrier.wait()
        stamps = [stamp()]
        end = stamps[0].at + int(seconds * 1e9)
        while stamps[-1].at < end:
            loop(n)
            stamps.append(stamp())
        return stamps


def names_in(statement: str) -> list[str]:
    """Return the names that a statement reads."""
    nodes = [node for node in ast.walk(ast.parse(statement)) if isinstance(node, ast.Name)]
    return [node.id for node in nodes if isinstance(node.ctx, ast.Load)]


class Side:
    def __init__(self, names: Names) -> None:
        self.names, self.shared = names, dict[str, Any]()
        self.workers: list[Worker] = []
        self.batches: dict[tuple[str, str, int], int] = {}

    def has(self, row: str) -> bool:
        return all(name in self.names.values or name in self.names.makers for name in names_in(ROWS[row].statement))

    def try_all(self) -> None:
        """Run each statement once, so that a broken statement fails at once."""
        for row, described in ROWS.items():
            for mode in described.modes:
                if self.has(row):
                    self.prepare(row, 1)
                    self.seconds(row, mode, 1)

    def prepare(self, row: str, n_threads: int) -> None:
        """Make the shared objects and the threads."""
        for name in names_in(ROWS[row].statement):
            if name in self.names.makers and name not in self.shared:
                self.shared[name] = self.names.makers[name]()
        while len(self.workers) < n_threads:
            self.workers.append(Worker(self.names, self.shared))

    def batch_of(self, row: str, mode: str, n_threads: int) -> int:
        """Return the number of calls that a thread makes in BATCH_SECONDS while the other threads contend with it."""
        if (row, mode, n_threads) not in self.batches:
            if n_threads == 1:
                n = 1
                while self.seconds(row, mode, n) < BATCH_SECONDS / 4:
                    n *= 2
                took = min(self.seconds(row, mode, n) for _ in range(5))
            else:
                n = self.batch_of(row, mode, 1)
                stamps = self.run_together(row, mode, n_threads, n, 20 * BATCH_SECONDS)[0]
                took = statistics.median(after.at - before.at for before, after in zip(stamps, stamps[1:])) / 1e9
            self.batches[row, mode, n_threads] = max(1, round(n * BATCH_SECONDS / took))
        return self.batches[row, mode, n_threads]

    def seconds(self, row: str, mode: str, n: int) -> float:
        worker = self.workers[0]

        def timed() -> float:
            loop = worker.loop_of(row, mode)
            loop(n)
            start = time.thread_time()
            loop(n)
            return time.thread_time() - start

        worker.orders.put(timed)
        return float(worker.result())

    def rate(self, row: str, mode: str, n_threads: int, seconds: float) -> float:
        if not self.has(row):
            return -1
        self.prepare(row, n_threads)
        n = self.batch_of(row, mode, n_threads)
        parts = [Part(0, 0)] * n_threads
        for _ in range(TRIES):
            found = parts_together(self.run_together(row, mode, n_threads, n, seconds))
            parts = [part.plus(more) for part, more in zip(parts, found)]
            if is_enough(parts, int(seconds * 0.5e9)):
                break
        return rate_together(parts, n) or 0.0

    def run_together(self, row: str, mode: str, n_threads: int, n: int, seconds: float) -> list[list[Stamp]]:
        barrier = threading.Barrier(n_threads)
        chosen = self.workers[:n_threads]
        for worker in chosen:
            worker.orders.put(lambda worker=worker: worker.run(row, mode, n, seconds, barrier))
        return [worker.result() for worker in chosen]

    def class_made(self, n_busy: int, n: int) -> float:
        """Return the milliseconds of making a class while threads are busy with independent code."""
        if self.names.make_class is None:
            return -1
        is_over = threading.Event()

        def be_busy() -> None:
            while not is_over.is_set():
                for _ in range(20_000):
                    pass

        threads = [threading.Thread(target=be_busy) for _ in range(n_busy)]
        for thread in threads:
            thread.start()
        start = time.perf_counter()
        for _ in range(n):
            self.names.make_class()
        took = time.perf_counter() - start
        is_over.set()
        for thread in threads:
            thread.join()
        return took / n * 1e3


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("kind")
    parser.add_argument("file")
    parser.add_argument("--more")
    parser.add_argument("--keep-gil", action="store_true")
    options = parser.parse_args()
    side = Side(names_of(options.kind, options.file, options.more, options.keep_gil))
    side.try_all()
    if sysconfig.get_config_var("Py_GIL_DISABLED") and sys._is_gil_enabled():  # an imported module turned it on
        print("its GIL is on", flush=True)
        return

    def answer(row: str, *rest: str) -> float:
        if row == "class made":
            return side.class_made(int(rest[0]), int(rest[1]))
        return side.rate(row, rest[0], int(rest[1]), float(rest[2]))

    serve(answer)


if __name__ == "__main__":
    main()
