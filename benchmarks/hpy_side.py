"""One side of benchmarks/hpy.py: times calls of the module `rows` on request.

Reads lines `ROW N` and answers each with the ns per call of N calls, minus the cost of the empty loop. Usage:
hpy_side.py ffi_hpy|hpy|capi FILE
"""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

from side import serve_rows

ROWS = {
    "no argument": "noargs()",
    "one argument": "onearg(obj)",
    "three arguments": "varargs(1, 2, 3)",
    "keyword": "keywords(1, key=2)",
    "attribute get": "get_attr(obj, 'number')",
    "attribute get by C string": "get_attr_s(obj)",
    "member read": "obj.number",
    "item get": "get_item(mapping, 'key')",
    "item get by index": "get_item_i(items)",
    "object": "Plain()",
    "object with traverse": "Traced()",
    "list of 10, builder": "build_list(obj)",
    "list of 10, append": "append_list(obj)",
    "long echoed": "echo_long(123456789)",
    "str echoed": "echo_text('hello')",
}


def load(kind: str, path: str) -> Any:
    spec = importlib.util.spec_from_file_location("rows", path)
    assert spec is not None
    if kind == "ffi_hpy":
        return importlib.import_module("ffi_hpy.hpy").load("rows", path, spec)
    if kind == "hpy":
        return importlib.import_module("hpy.universal").load("rows", path, spec)
    return importlib.util.module_from_spec(spec)


def main() -> None:
    sys.path.pop(0)  # the folder of this file, in which hpy.py would hide the package hpy
    module = load(sys.argv[1], sys.argv[2])
    if sys.argv[1] == "capi":
        module.__spec__.loader.exec_module(module)
    names = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    names.update(obj=module.Plain(), mapping={"key": 1}, items=[1, 2, 3])
    serve_rows(ROWS, names)


if __name__ == "__main__":
    main()
