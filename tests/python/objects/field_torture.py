"""Threads that assign a field while other threads read its object in every way.

    field_torture.py [--seconds S] [--only WORD]... [--each]

One combination is a class (defined in Python, or of a native library), an operation, a kind of field, and whether each
reader has its own object or all readers share one. Each combination runs for S seconds, or longer until each reader has
read LEAST times, and prints a line at the end. With --each every combination runs in a separate process, and the
program prints a table of the combinations that crash. --only selects the combinations whose name contains the word.
"""

# ruff: noqa: UP045 - annotations are evaluated, also by Python 3.9
from __future__ import annotations

import argparse
import collections
import copy
import itertools
import os
import pickle
import subprocess
import sys
import threading
import time
from typing import Any, Callable, Optional

import ffi_hpy
import ffi_hpy.structural
import ffi_hpy.testing
from ffi_hpy import serialization
from ffi_hpy.dataclasses import py_class

N_READERS = 2
LEAST = 20
SWITCH_SECONDS = 1e-4
"""Under the GIL, threads take turns after this time. With the usual 5 ms a thread has LEAST turns after 0.1 s."""


@py_class("torture.Leaf", structural_eq="tree", eq=True, order=True, unsafe_hash=True)
class Leaf(ffi_hpy.Object):
    number: int = 0


@py_class("torture.Node", structural_eq="tree", eq=True, order=True, unsafe_hash=True)
class Node(ffi_hpy.Object):
    v_any: Any = None
    v_str: str = ""
    v_bytes: bytes = b""
    v_optional: Optional[str] = None
    v_object: Optional[Leaf] = None
    v_callable: Optional[Callable[..., Any]] = None
    v_tuple: tuple[str, int] = ("", 0)
    v_dtype: Optional[ffi_hpy.dtype] = None


LONG = "a text so long that it is on the heap, number "


def text(n: int) -> str:
    return f"{LONG}{n}"


VALUES: dict[str, dict[str, Callable[[int], Any]]] = {
    "python": {
        "v_any": lambda n: text(n) if n % 3 else n if n % 2 else [text(n)],
        "v_str": text,
        "v_bytes": lambda n: text(n).encode(),
        "v_optional": lambda n: text(n) if n % 2 else None,
        "v_object": lambda n: Leaf(n) if n % 5 else None,
        "v_callable": lambda n: lambda: n,
        "v_tuple": lambda n: (text(n), n),
        "v_dtype": lambda n: ffi_hpy.dtype("float32" if n % 2 else "int8"),
    },
    "library": {
        "v_string": text,
        "v_bytes": lambda n: text(n).encode(),
        "v_opt_str": lambda n: text(n) if n % 2 else None,
        "v_arr_str": lambda n: [text(n)] * (n % 4),
        "v_map_str_int": lambda n: {text(n): n},
        "v_variant": lambda n: text(n) if n % 2 else [n],
    },
}
"""The values that are assigned, by kind of field."""


def make(owner: str) -> Any:
    return Node() if owner == "python" else ffi_hpy.testing._SchemaAllTypes.make_with(1, 2.0, "s")


def nothing(value: Any) -> None:
    return None


def same(value: Any) -> Any:
    return value


def look_up(kind: type) -> Callable[[Any, Any], Any]:
    def run(obj: Any, other: Any) -> Any:
        table = kind({obj: 1})
        return obj in table, other in table

    return run


def replace(obj: Any, other: Any) -> Any:
    return obj.__replace__() if hasattr(obj, "__replace__") else None


def to_graph(obj: Any, other: Any) -> Any:
    return serialization.to_json_graph_str(obj)


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "repr": lambda obj, other: repr(obj),
    "copy": lambda obj, other: copy.copy(obj),
    "deepcopy": lambda obj, other: copy.deepcopy(obj),
    "eq": lambda obj, other: obj == other,
    "lt": lambda obj, other: obj < other,
    "hash": lambda obj, other: hash(obj),
    "pickle": lambda obj, other: pickle.dumps(obj),
    "to_json_graph_str": to_graph,
    "structural_equal": lambda obj, other: ffi_hpy.structural.structural_equal(obj, other),
    "structural_hash": lambda obj, other: ffi_hpy.structural.structural_hash(obj),
    "walk": lambda obj, other: ffi_hpy.structural.structural_walk(obj, (str, nothing)),
    "map": lambda obj, other: ffi_hpy.structural.structural_map(obj, (str, same)),
    "replace": replace,
    "map_key": look_up(ffi_hpy.Map),
    "dict_key": look_up(ffi_hpy.Dict),
}

COMBINATIONS = [
    f"{owner}/{operation}/{field}/{holder}"
    for owner in VALUES
    for operation, field, holder in itertools.product(OPERATIONS, VALUES[owner], ("own", "shared"))
]


def run(name: str, seconds: float) -> None:
    """Run a combination, and print how often the operation worked or which errors it raised."""
    owner, operation_name, field, holder = name.split("/")
    operation, value_of = OPERATIONS[operation_name], VALUES[owner][field]
    shared, other = make(owner), make(owner)
    objects = [shared if holder == "shared" else make(owner) for _ in range(N_READERS)]
    outcomes: list[list[str]] = [[] for _ in objects]  # one list per reader, because threads may read its length
    ends = time.monotonic() + seconds
    setattr(other, field, value_of(1))

    def is_over() -> bool:
        return time.monotonic() > ends and all(len(each) >= LEAST for each in outcomes)

    def write() -> None:
        for n in itertools.count():
            value = value_of(n)
            for obj in objects:
                setattr(obj, field, value)
            if is_over():
                break

    def read(obj: Any, seen: list[str]) -> None:
        while not is_over():
            try:
                getattr(obj, field)
                operation(obj, other)
                seen.append("worked")
            except Exception as error:  # also KeyError: the hash of a key changes with its fields
                seen.append(f"{type(error).__name__}: {error}"[:60])

    threads = [threading.Thread(target=write)]
    threads += [threading.Thread(target=read, args=pair) for pair in zip(objects, outcomes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(name, dict(collections.Counter(itertools.chain(*outcomes)).most_common(2)), flush=True)


def run_each(names: list[str], seconds: float) -> int:
    """Run each combination in a separate process. Return the number of crashes."""
    crashed = collections.Counter[str]()
    for name in names:
        done = subprocess.run(
            [sys.executable, __file__, "--only", name, "--seconds", str(seconds)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60 + 20 * seconds,
            env={**os.environ, "PYTHONFAULTHANDLER": "0"},
        )
        if done.returncode != 0:
            crashed[name.split("/")[0]] += 1
            print("crashes:", name, done.returncode, flush=True)
    print(f"{sum(crashed.values())} of {len(names)} combinations crash", dict(crashed))
    return sum(crashed.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.05, help="of each combination")
    parser.add_argument("--only", action="append", default=[], help="a part of the names of combinations")
    parser.add_argument("--each", action="store_true", help="a process for each combination")
    options = parser.parse_args()
    names = [name for name in COMBINATIONS if all(word in name for word in options.only)]
    if options.each:
        return 1 if run_each(names, options.seconds) else 0
    sys.setswitchinterval(SWITCH_SECONDS)
    for name in names:
        run(name, options.seconds)
    print(f"{len(names)} combinations")
    return 0


if __name__ == "__main__":
    sys.exit(main())
