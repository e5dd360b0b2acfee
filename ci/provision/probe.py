"""The check that an executable is the wanted interpreter: the executable runs a program that describes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ci.lib.messages import Missing, last_line
from ci.lib.process import output_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ci.lib.matrix import Interpreter

PROBE = """
import json, os, sys, sysconfig
try:
    __import__(sys.argv[1] or "sys")
    has_module = True
except ImportError:
    has_module = False
print(json.dumps({
    "executable": os.path.realpath(sys.executable),
    "implementation": sys.implementation.name,
    "version": list(sys.implementation.version[:3]),
    "language": list(sys.version_info[:2]),
    "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "has_module": has_module,
    "has_headers": os.path.isfile(os.path.join(sysconfig.get_path("include"), "Python.h")),
}))
"""


def check(executable: Path, wanted: Interpreter) -> Path:
    """Return the real path of `executable`. Raises Missing if it is not `wanted`."""
    # -I: the caller's PYTHON* variables and the current folder must not change the answer.
    command = [str(executable), "-I", "-c", PROBE, wanted.needs_module or ""]
    try:
        found = json.loads(last_line(output_of(command, timeout=60)))
    except ValueError:
        raise Missing(f"{executable} does not run Python code") from None
    reason = mismatch(found, wanted)
    if reason:
        raise Missing(f"{executable} {reason}")
    return Path(found["executable"])


def mismatch(found: Mapping[str, Any], wanted: Interpreter) -> str | None:
    """Return the difference between the output of PROBE and `wanted`, None if they agree."""
    version = tuple(found["version"])
    is_called = f"{found['implementation']} {'.'.join(map(str, version))}"
    if found["implementation"] != wanted.implementation or version[:2] != wanted.version:
        return f"is {is_called}"
    if wanted.implementation == "cpython" and tuple(found["language"]) != wanted.version:
        return f"is {is_called} but runs Python {'.'.join(map(str, found['language']))}"
    if version < wanted.at_least:
        return f"is {is_called}, older than {'.'.join(map(str, wanted.at_least))}"
    if found["free_threaded"] != wanted.free_threaded:
        return "is free-threaded" if found["free_threaded"] else "is not free-threaded"
    if not found["has_module"]:
        return f"is {is_called} without {wanted.needs_module}"
    if not found["has_headers"]:
        return f"is {is_called} without its C headers"
    return None


def first_good(candidates: Sequence[Path], wanted: Interpreter, none: str) -> Path:
    """Return the first candidate that passes the check. Raises Missing with all reasons, or with `none`."""
    reasons = []
    for candidate in candidates:
        try:
            return check(candidate, wanted)
        except Missing as reason:
            reasons.append(str(reason))
    raise Missing(", ".join(reasons) or none)
