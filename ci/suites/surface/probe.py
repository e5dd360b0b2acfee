"""Describes the names of tvm_ffi that a program can reach: run by the Python of an environment, prints JSON.

Without an argument it describes all that the installed tvm_ffi defines: by module the names, by name what a call takes
and, of a public class, the members. With one, the description to compare with, it looks these names up in what answers
for tvm_ffi here.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import pkgutil
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

PACKAGE = "tvm_ffi"
ORDINARY = set(dir(type("Ordinary", (), {}))) - {"__init__"}  # what every class has


def parameters_of(value: object) -> dict[str, str | None] | None:
    """The parameters of a call by name, each with its default as text; None if it takes anything, or cannot tell."""
    try:
        signature = inspect.signature(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    parameters = signature.parameters.values()
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return None
    return {p.name: "" if p.default is p.empty else re.sub(r" at 0x\w+|\w+\.", "", repr(p.default)) for p in parameters}


def describe(value: object, is_public: bool) -> dict[str, Any]:
    """What can be told of one name."""
    found: dict[str, Any] = {"parameters": parameters_of(value) if is_public and callable(value) else None}
    if is_public and isinstance(value, type):
        names = [name for name in dir(value) if name not in ORDINARY]
        found["members"] = {name: describe_member(value, name) for name in names}
    return found


def describe_member(cls: type, name: str) -> dict[str, Any]:
    member = inspect.getattr_static(cls, name, None)
    is_function = callable(member) and not isinstance(member, type) and not name.startswith("_")
    return {"parameters": parameters_of(member) if is_function else None}


def imported_by(module: ModuleType) -> set[str]:
    """Names that the source of a module imports from outside of the package."""
    file = getattr(module, "__file__", None)
    names: set[str] = set()
    if file is None or not file.endswith(".py"):
        return names
    for node in ast.walk(ast.parse(Path(file).read_text())):
        if isinstance(node, ast.Import):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and not (node.module or "").startswith(PACKAGE):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def is_own(value: object) -> bool:
    """Whether a value is the package's: no module, class or function of another one, and no type variable."""
    if isinstance(value, TypeVar):
        return False
    home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    is_one = isinstance(value, ModuleType) or callable(value)
    return not is_one or not isinstance(home, str) or home.partition(".")[0] == PACKAGE


def list_all() -> dict[str, Any]:
    """Describe all modules of the package that can be imported here."""
    package = importlib.import_module(PACKAGE)
    found = pkgutil.walk_packages(package.__path__, f"{PACKAGE}.", onerror=lambda name: None)
    described: dict[str, Any] = {}
    for name in [PACKAGE, *(module.name for module in found)]:
        try:
            module = importlib.import_module(name)
        except ImportError:  # it needs PyTorch
            continue
        outside = imported_by(module)
        described[name] = {}
        for key in sorted(set(dir(module)) - outside):
            value = getattr(module, key)
            if not (key.startswith("__") and key.endswith("__")) and is_own(value):
                described[name][key] = describe(value, not key.startswith("_"))
    return described


def look_up(wanted: dict[str, Any]) -> dict[str, Any]:
    """Describe what answers to these names here."""
    described: dict[str, Any] = {}
    for name, keys in wanted.items():
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        described[name] = {}
        for key, theirs in keys.items():
            if hasattr(module, key):
                value = getattr(module, key)
                described[name][key] = found = describe(value, not key.startswith("_"))
                for member in theirs.get("members", ()):
                    if hasattr(value, member):
                        found.setdefault("members", {}).setdefault(member, describe_member(value, member))
    return described


if __name__ == "__main__":
    answer = look_up(json.loads(Path(sys.argv[1]).read_text())) if sys.argv[1:] else list_all()
    json.dump(answer, sys.stdout)
