"""The rows of scaling.py, one statement each, and the goals for two threads on two cores.

scaling_names.py defines the names in a statement. A row is timed with objects that each thread has made for itself
(own), with objects of another thread that all threads share (shared), or both. All threads always share functions and
classes. `py_class` is a class defined in Python with that decorator; peers have a C++ class instead.
"""

from __future__ import annotations

from typing import NamedTuple

OWN, SHARED, BOTH = ("own",), ("shared",), ("own", "shared")
OWN_GOAL = 1.9


class Row(NamedTuple):
    """A row. `shared_goal` is the least ratio of the calls of two threads to those of one, on shared objects; None: no
    goal."""

    statement: str
    modes: tuple[str, ...]
    shared_goal: float | None = None

    def goal(self, mode: str) -> float | None:
        return OWN_GOAL if mode == "own" else self.shared_goal


ROWS = {
    "loop alone": Row("pass", OWN),
    "function": Row("nop()", SHARED, 1.9),
    "function of three ints": Row("three(1, 2, 3)", SHARED, 1.9),
    "int echoed": Row("echo_int(7)", SHARED, 1.9),
    "function object of its own": Row("own_nop()", OWN),
    "function looked up by name": Row("look_up('testing.nop')", SHARED, 1.9),
    "field read": Row("obj.a", BOTH, 1.5),
    "field set": Row("point.x = 7", BOTH, None),
    "field that is an object": Row("record.point", BOTH, 1.0),
    "field that is text": Row("record.name", BOTH, 1.0),
    "method": Row("obj.sum()", BOTH, 1.9),
    # The method is in tvm_ffi's testing library and takes a counted reference, so threads contend for the count.
    "method that takes a counted reference": Row("counted.sum()", BOTH, 1.9),
    "py_class field read": Row("point.x", BOTH, 1.5),
    "py_class field read, a class for each": Row("lone.x", OWN),
    "object made": Row("Pair(1, 2)", OWN),
    "py_class object made": Row("Point(1, 2.5)", OWN),
    "object in": Row("take(obj)", BOTH, 1.0),
    "object echoed (identity lookup)": Row("echo(obj)", BOTH, 1.0),
    "Array item": Row("ints[50]", BOTH, 1.5),
    "Array item, an object": Row("objects[50]", BOTH, 1.0),
    "Array of 100 iterated": Row("for _ in ints: pass", BOTH, 1.5),
    "Array of 100 objects iterated": Row("for _ in objects: pass", BOTH, 1.0),
    "List item": Row("items[50]", BOTH, 1.9),
    "List item set": Row("items[50] = 7", BOTH, None),
    "Map item by text": Row("text_map['k5']", BOTH, 1.5),
    "Dict item": Row("int_dict[5]", BOTH, 1.9),
    "Dict item set": Row("int_dict[5] = 6", BOTH, None),
    "NumPy array in": Row("take_array(array)", BOTH, 1.0),
    "from_dlpack of a NumPy array": Row("from_dlpack(array)", BOTH, 1.0),
    "numpy.from_dlpack": Row("numpy_from_dlpack(tensor)", BOTH, 1.0),
    "callback through native code": Row("call(callback)", BOTH, 1.0),
    # The function is module-level: the interpreter does not count its frames' references to such a function, unlike to
    # a closure.
    "callback of a module's function": Row("call(module_callback)", SHARED, 1.0),
    # A counted reference, as with the method above.
    "callback, the function counted by native code": Row("apply(callback)", BOTH, 1.0),
    "deep copy": Row("deepcopy(obj)", BOTH, 1.0),
    "error raised and caught": Row("caught(fail)", SHARED, 1.9),
}

CLASS_MADE_GOAL_MS = 1.0
CLASS_MADE_BUSY = (0, 1, 4)
"""The numbers of busy threads next to the thread that makes a class; the busy threads run independent Python code. The
goal is for the last number."""
