"""The interpreter of a page: receives blocks and runs them one after the other, as one program.

    python session.py FD

Each line of stdin is a block, [name of the page, line of its fence, code] as JSON. After each block, this program
writes a line to FD: the traceback as a JSON string, "" if there is none.
"""

from __future__ import annotations

import importlib
import json
import linecache
import os
import signal
import sys
import traceback
from types import ModuleType

_lines: list[str] = []
"""The received part of the page, for tracebacks: the blocks at their lines."""


def run(page: str, line: int, code: str, names: dict[str, object]) -> str:
    """Run a block whose first line follows `line`, and return the traceback."""
    _lines.extend("\n" * (line - len(_lines)))
    _lines.extend(code.splitlines(keepends=True))
    linecache.cache[page] = (0, None, _lines, page)
    importlib.invalidate_caches()  # earlier commands may have installed packages
    try:
        exec(compile("\n" * line + code, page, "exec"), names)
    except BaseException:
        return traceback.format_exc()
    finally:
        sys.stdout.flush()
    return ""


def main(answers: int) -> None:
    program = sys.modules["__main__"] = ModuleType("__main__")
    sys.path[0] = ""  # the page's folder, not that of this file
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job inherits it ignored
    for line in sys.stdin:
        answer = run(*json.loads(line), program.__dict__)
        os.write(answers, json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
