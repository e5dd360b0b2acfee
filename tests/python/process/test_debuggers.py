"""The printers for debuggers: gdb shows the values of a stopped process."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest
from support import IS_DEBUG, IS_OWN_DEBUG, IS_PYPY

from ffi_hpy import libinfo

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="gdb starts processes on Linux"),
    pytest.mark.skipif(IS_DEBUG or IS_OWN_DEBUG or IS_PYPY, reason="the printers do not depend on the interpreter"),
]

SHOWN = {
    "none": "None",
    "number": "42",
    "truth": "True",
    "ratio": "2.5",
    "dtype": "float32x4",
    "device": "cuda:1",
    "small": '"it\'s"',
    "large": "'a text of more than 7 bytes'",
    "bytes": r"b'\x00\x01'",
    "array": '[1, "it\'s", [2], None]',
    "many": f"[{', '.join(map(str, range(100)))}, ...]",
    "pairs": "{'b': 1, 'a': 2}",
    "dense": "{{{}}}".format(", ".join(f"{i}: {i * i}" for i in range(40))),
    "shape": "Shape(2, 3)",
    "error": "<ValueError: too small>",
    "function": r"<ffi.Function at ADDRESS>",
    "null": "None",
    "point": "<printed.Point at ADDRESS>",
    "reference": "<printed.Point at ADDRESS>",
    "pointer": "<printed.Point at ADDRESS>",
    "*pointer": "<printed.Point at ADDRESS>",
    "*address": f"[{', '.join(map(str, range(100)))}, ...]",
    "cell": "7",
    "owned": "None",
    "variant": "'either'",
    "broken": "<unreadable: Cannot access memory at address ADDRESS>",
}

SHOWN_BOUND = {
    "given": "'text'",
    "list": "[1, 2]",
    "set": "{3}",
    "tuple": "(4, 'a text of many letters')",
    "dict": "{5: [6], 7: []}",
    "empty": "<empty>",
}


@pytest.fixture(scope="module")
def session(compile_era):
    """Return a function that returns gdb's texts for some expressions, at the breakpoint."""
    gdb = shutil.which("gdb")
    if gdb is None:
        pytest.fail("gdb is missing: `ci/system --install` installs it", pytrace=False)
    library = compile_era("printed.cc", "own", flags=("-O0", "-g"))

    def run(expressions, *commands, is_bound=False):
        program = f"import ffi_hpy; ffi_hpy.load_module({str(library)!r}).show(7)"
        if is_bound:
            program = f"from ffi_hpy.cpp import _bound; _bound.import_library({str(library)!r}, 'printed')"
            program += ".show_bound('text')"
        start = ["set confirm off", "set width 0", "set breakpoint pending on", "break stop_here", "run", "up"]
        shows = [f"python print('<<', gdb.parse_and_eval({each!r}).format_string(), '>>')" for each in expressions]
        words = [word for command in (*commands, *start, *shows, "kill") for word in ("-ex", command)]
        command = [gdb, "-nx", "-batch", *words, "--args", sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        found = re.findall(r"<< (.*?) >>", done.stdout)
        assert len(found) == len(expressions), done.stdout + done.stderr
        return found

    return run


def test_gdb_shows_values_as_python_does(session):
    printers = f"source {libinfo.find_debug_path()}/ffi_hpy_gdb.py"
    texts = [re.sub("0x[0-9a-f]+", "ADDRESS", text) for text in session(SHOWN, printers)]
    assert dict(zip(SHOWN, texts)) == SHOWN


def test_gdb_shows_the_objects_of_bound_libraries(session):
    printers = f"source {libinfo.find_debug_path()}/ffi_hpy_gdb.py"
    assert dict(zip(SHOWN_BOUND, session(SHOWN_BOUND, printers, is_bound=True))) == SHOWN_BOUND


def test_gdb_alone_shows_the_members(session):
    """So it is the printers that show the values."""
    (text,) = session(["many"])
    assert "data_" in text
