"""nanobind's side of calls.py: a process that times calls into the module of calls_nanobind.cc on request.

Reads lines `ROW N` and answers each as side.py does. Usage: nanobind_side.py nanobind FILE
"""

from __future__ import annotations

import sys

from instructions_side import ROWS, nanobind_names
from side import serve_rows


def main() -> None:
    statements = {row: statement for row, statement in ROWS.items() if statement is not None}
    serve_rows(statements, nanobind_names(sys.argv[2]))


if __name__ == "__main__":
    main()
