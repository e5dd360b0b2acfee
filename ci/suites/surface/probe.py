"""Describes the reachable names of tvm_ffi as JSON; the Python of an environment runs this program.

Without an argument the program describes all names that the installed tvm_ffi defines: by module the names, by name the
parameters and, for a public class, the members. With an argument, a description to compare with, the program looks
these names up in the tvm_ffi that is importable here.
"""

from __future__ import annotations

import ast
import contextlib
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
ORDINARY = set(dir(type("Ordinary", (), {}))) - {"__init__"}  # the attributes of every class


def parameters_of(value: object) -> dict[str, list[str]] | str:
    """Return the parameters of a callable by name, each with its kind (``/`` positional only, ``*`` keyword only, else
    empty) and its default as str; "any" if the callable takes any arguments, "unknown" if it has no signature."""
    try:
        signature = inspect.signature(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "unknown"
    parameters = signature.parameters.values()
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return "any"
    ways = {inspect.Parameter.POSITIONAL_ONLY: "/", inspect.Parameter.KEYWORD_ONLY: "*"}
    return {p.name: [ways.get(p.kind, ""), "" if p.default is p.empty else text_of(p.default)] for p in parameters}


def text_of(value: object) -> str:
    """Return a value as str, without the parts that differ between packages and processes."""
    return re.sub(r" at 0x\w+|\w+\.", "", repr(value))


def constant_of(value: object) -> str | None:
    """Return a plain value as str, None for other values. Versions and paths differ between packages."""
    if isinstance(value, (tuple, list, set, frozenset)):
        return None if any(constant_of(item) is None for item in value) else f"{len(value)} items"
    return text_of(value) if isinstance(value, (bool, int, float, str, type(None))) else None


def describe(value: object, is_public: bool) -> dict[str, Any]:
    """Return the description of one name, except its members."""
    return {
        "parameters": parameters_of(value) if is_public and callable(value) else None,
        "constant": constant_of(value),
    }


def describe_member(cls: type, name: str) -> dict[str, Any]:
    """Return the description of one member of a class."""
    member = inspect.getattr_static(cls, name, None)
    if isinstance(member, (classmethod, staticmethod)):
        member = getattr(cls, name)
    is_function = callable(member) and not isinstance(member, type) and not name.startswith("_")
    parameters = parameters_of(member) if is_function else None
    if isinstance(parameters, dict):
        parameters.pop("self", None)
    constant = None if name.startswith("__") else constant_of(getattr(cls, name, ...))
    return {"parameters": parameters, "constant": constant}


def imported_by(module: ModuleType) -> set[str]:
    """Return the names that the source of a module imports from outside of the package."""
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
    """Return whether a value is the package's: not a module, another package's class or function, or a type
    variable."""
    if isinstance(value, TypeVar):
        return False
    home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    is_one = isinstance(value, ModuleType) or callable(value)
    return not is_one or not isinstance(home, str) or home.partition(".")[0] == PACKAGE


def list_all() -> dict[str, Any]:
    """Return the description of all modules of the package that can be imported here."""
    package = importlib.import_module(PACKAGE)
    modules = pkgutil.walk_packages(package.__path__, f"{PACKAGE}.", onerror=lambda name: None)
    described: dict[str, Any] = {}
    told: set[object] = set()  # described classes: each is described once, under its first name
    for name in [PACKAGE, *(module.name for module in modules)]:
        try:
            module = importlib.import_module(name)
        except ImportError:  # the module needs PyTorch
            continue
        outside = imported_by(module)
        described[name] = {}
        for key in sorted(set(dir(module)) - outside):
            value = getattr(module, key)
            if not (key.startswith("__") and key.endswith("__")) and is_own(value):
                described[name][key] = found = describe(value, not key.startswith("_"))
                if isinstance(value, type) and value in told:
                    found["parameters"] = None
                elif isinstance(value, type) and not key.startswith("_"):
                    told.add(value)
                    members = [member for member in dir(value) if member not in ORDINARY]
                    found["members"] = {member: describe_member(value, member) for member in members}
    return described


def look_up(wanted: dict[str, Any]) -> dict[str, Any]:
    """Return the description of these names in the package that is importable here."""
    described: dict[str, Any] = {}
    modules = {}
    for name in wanted:
        with contextlib.suppress(ModuleNotFoundError):
            modules[name] = importlib.import_module(name)
    for name, module in modules.items():
        keys = wanted[name]
        described[name] = {}
        for key, theirs in keys.items():
            if hasattr(module, key):
                value = getattr(module, key)
                described[name][key] = answer = describe(value, not key.startswith("_"))
                for member in theirs.get("members", ()):
                    if hasattr(value, member):
                        answer.setdefault("members", {})[member] = describe_member(value, member)
    return described


if __name__ == "__main__":
    answer = look_up(json.loads(Path(sys.argv[1]).read_text())) if sys.argv[1:] else list_all()
    json.dump(answer, sys.stdout)
