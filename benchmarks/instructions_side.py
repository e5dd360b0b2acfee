"""One side of instructions.py: a process under callgrind that runs each row twice and labels the counts.

Usage: instructions_side.py ffi_hpy|tvm_ffi|nanobind LIBRARY NAMED MARKS N WORD..., where LIBRARY is that of the testing
types, or the module of calls_nanobind.cc; NAMED is the library of calls_named.cc, or "-" without the rows of ffi_hpy
that need it; MARKS is the library of callgrind_marks.c; each WORD is a row of ROWS.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import sys
from pathlib import Path
from typing import Any

from side import ROWS as STATEMENTS
from side import make_loop, names_of

NOT_NAMED = "-"
"""The argument NAMED without a library."""

# The rows about named parameters, which tvm_ffi has not.
NAMED_ROWS = {
    "call by names": "take_named(a=1, b=2)",
    "constructor by position": "NamedPair(1, 2)",
    "constructor by names": "NamedPair(a=1, b=2)",
}

# The rows about the check of an integer's range, of our headers alone.
RANGE_ROWS = {f"{name} in": f"take_{name}(7)" for name in ("int8", "int32", "int64")}

# The rows about copies of containers and of an object of a py_class.
COPIED_ROWS = {
    "copy of a List": "copy.copy(one_list)",
    "copy of a Dict": "copy.copy(one_dict)",
    "py_class object copied": "copy.copy(point)",
    "deep copy of a List": "copy.deepcopy(one_list)",
    "deep copy of a Map": "copy.deepcopy(one_map)",
    "deep copy of a Dict": "copy.deepcopy(one_dict)",
    "deep copy of an Array of objects": "copy.deepcopy(one_objects)",
    "deep copy of a py_class object": "copy.deepcopy(point)",
}

# nanobind's statement for each row. The statement of the two other sides is in side.py or in MORE.
ROWS = {
    "no argument": "nop()",
    "three ints": "take_ints(1, 2, 3)",
    "int echoed": "echo(7)",
    "float": "echo_float(1.5)",
    "object in": "take_object(obj)",
    "object echoed": "echo_object(obj)",
    "str of 4 in": "take_text('abcd')",
    "NumPy array": "take_array(array)",
    "field read": "obj.a",
    "field set": "obj.a = 7",
    "method call": "obj.sum()",
    "object made": "Pair(1, 2)",
    "object made by keywords": None,
    **NAMED_ROWS,
    **dict.fromkeys(RANGE_ROWS),
    "callback": "call(function)",
    "py_class object made": None,
    "py_class object made by keywords": None,
    "py_class field read": None,
    "py_class text field read": None,
    "Array item": None,
    "Map item": None,
    "function looked up by name": None,
    "copy": None,
    "deep copy": None,
    "deep copy, nested": None,
    "from_dlpack of a NumPy array": None,
    "numpy.from_dlpack": None,
    "deep copy of an Array": None,
    **dict.fromkeys(COPIED_ROWS),
    "Array of 10 compared": None,
    "Array of 10 and a tuple compared": None,
    "Array of 10 objects compared": None,
    "Array of 10 hashed": None,
    "List of 10 compared": None,
    "List of 10 hashed": None,
    "Map of 10 compared": None,
    "Map of 10 hashed": None,
    "Dict of 10 compared": None,
    "Dict of 10 hashed": None,
    "bare callback": None,
    "bare copy": None,
    "bare deep copy": None,
}

# The bare rows show the interpreter's own cost with an empty callee: C code calls a Python function, and a __copy__ and
# a __deepcopy__ in C.
MORE = {
    "object made by keywords": "Simple(x=1, y=2)",
    "function looked up by name": "look_up('testing.nop')",
    "deep copy of an Array": "copy.deepcopy(ten)",
    **COPIED_ROWS,
    "from_dlpack of a NumPy array": "from_dlpack(array)",
    "numpy.from_dlpack": "numpy_from_dlpack(tensor)",
    "Array of 10 compared": "one_array == other_array",
    "Array of 10 and a tuple compared": "one_array == a_tuple",
    "Array of 10 objects compared": "one_objects == other_objects",
    "Array of 10 hashed": "hash(one_array)",
    "List of 10 compared": "one_list == other_list",
    "List of 10 hashed": "hash(one_list)",
    "Map of 10 compared": "one_map == other_map",
    "Map of 10 hashed": "hash(one_map)",
    "Dict of 10 compared": "one_dict == other_dict",
    "Dict of 10 hashed": "hash(one_dict)",
    "bare callback": "partial()",
    "bare copy": "copy.copy(bare)",
    "bare deep copy": "copy.deepcopy(bare)",
}

WARM_UP = 300  # calls after which the interpreter has specialized the loop


def nanobind_names(module: str) -> dict[str, Any]:
    import numpy as np

    sys.path.insert(0, str(Path(module).parent))
    rows = importlib.import_module("calls_nanobind")
    names = {name: value for name, value in vars(rows).items() if not name.startswith("_")}
    return {**names, "obj": rows.Pair(1, 2), "array": np.zeros(4, dtype="float32"), "function": lambda: None}


class Bare(list):  # type: ignore[type-arg]
    __copy__ = list.clear
    __deepcopy__ = list.count


def more_names(package: str) -> dict[str, Any]:
    import numpy as np

    ffi = importlib.import_module(package)
    bare = {"partial": functools.partial(lambda: None), "bare": Bare()}
    bare.update(pairs_of_containers(ffi))
    return {**bare, "look_up": ffi.get_global_func, "from_dlpack": ffi.from_dlpack, "numpy_from_dlpack": np.from_dlpack}


def pairs_of_containers(ffi: Any) -> dict[str, Any]:
    """Return two equal containers of each class, and two Arrays of the same objects."""
    Pair = importlib.import_module(f"{ffi.__name__}.testing").TestIntPair
    objects, entries = [Pair(i, i) for i in range(10)], {f"k{i}": i for i in range(10)}
    names: dict[str, Any] = {"a_tuple": tuple(range(10))}
    for one in ("one", "other"):
        names[f"{one}_array"], names[f"{one}_list"] = ffi.Array(range(10)), ffi.List(range(10))
        names[f"{one}_map"], names[f"{one}_dict"] = ffi.Map(entries), ffi.Dict(entries)
        names[f"{one}_objects"] = ffi.Array(objects)
    return names


def named_names(library: str) -> dict[str, Any]:
    """Return ffi_hpy's names for NAMED_ROWS and RANGE_ROWS."""
    ffi = importlib.import_module("ffi_hpy")
    ffi.load_module(library)
    pair = importlib.import_module("ffi_hpy.dataclasses").c_class("bench.NamedPair")
    NamedPair = pair(type(ffi.Object)("NamedPair", (ffi.Object,), {}))
    functions = ("take_named", "take_int8", "take_int32", "take_int64")
    return {"NamedPair": NamedPair, **{name: ffi.get_global_func(f"bench.{name}") for name in functions}}


def count_rows(statements: dict[str, str], names: dict[str, Any], marks: str, n: int) -> None:
    """Run each statement n and 2 n times, and the empty loop, and label the counts."""
    mark = ctypes.CDLL(marks).mark
    mark.argtypes = [ctypes.c_char_p]
    for row, statement in {"": "pass", **statements}.items():
        loop = make_loop(statement, names)
        loop(WARM_UP)
        for n_calls in (n, 2 * n):
            mark(b"")
            loop(n_calls)
            mark(f"{n_calls} {row}".encode())


def main() -> None:
    kind, library, named, marks, count, *wanted = sys.argv[1:]
    names = nanobind_names(library) if kind == "nanobind" else {**names_of(kind, library), **more_names(kind)}
    if kind == "ffi_hpy" and named != NOT_NAMED:
        names.update(named_names(named))
    ours = {**NAMED_ROWS, **RANGE_ROWS}
    absent = dict.fromkeys(ours) if kind == "tvm_ffi" else ours
    statements = ROWS if kind == "nanobind" else {**STATEMENTS, **MORE, **absent}
    known = {row: statements[row] for row in wanted}
    count_rows({row: text for row, text in known.items() if text is not None}, names, marks, int(count))


if __name__ == "__main__":
    main()
