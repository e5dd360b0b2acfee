"""The docstrings of public names: their lists of parameters, and their examples.

    python docstrings.py MODULE...

runs all examples of modules, one after the other in one process, because they define types and functions permanently.
Prints the examples with different output, and the number of examples; exit status 1 if any differs.
"""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import inspect
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MODULES = (
    *("ffi_hpy", "ffi_hpy.access_path", "ffi_hpy.container", "ffi_hpy.dataclasses", "ffi_hpy.dropin", "ffi_hpy.error"),
    *("ffi_hpy.hpy", "ffi_hpy.libinfo", "ffi_hpy.module", "ffi_hpy.registry", "ffi_hpy.serialization"),
    *("ffi_hpy.stream", "ffi_hpy.structural"),
)
NATIVE_MODULES = ("ffi_hpy.cpp", "ffi_hpy.cpp.nvrtc")
"""Modules whose examples are compiled."""

_PARAMETERS = re.compile(r"^Args:\n((?:    .*(?:\n|$))+)", re.MULTILINE)
_ENTRY = re.compile(r"^    (\S[^:]*): ", re.MULTILINE)


def public_objects(module: str) -> Iterator[tuple[str, Any]]:
    """Yield the functions and classes that a module exports, and the methods that its classes have from the package."""
    found = importlib.import_module(module)
    for name in found.__all__:
        value = getattr(found, name)
        if not callable(value):
            continue
        yield f"{module}.{name}", value
        for member in dir(value) if isinstance(value, type) else ():
            if is_public_member(value, member):
                yield f"{module}.{name}.{member}", getattr(value, member)


def is_public_member(cls: type, name: str) -> bool:
    """Return whether a class has that method or property from a class of the package. Fields are left out, because the
    libraries of native types document their fields."""
    owner = next((base for base in cls.__mro__ if name in vars(base)), type)
    is_field = hasattr(vars(owner).get(name), "set") or name in vars(owner).get("__slots__", ())
    return not name.startswith("_") and owner.__module__.partition(".")[0] == "ffi_hpy" and not is_field


def text_of(value: object) -> str:
    """Return the docstring, without the signature line of functions in C."""
    text = inspect.getdoc(value) or ""
    return text.partition("--\n\n")[2] or text


def documented_parameters(value: object) -> list[str] | None:
    """Return the parameters that the docstring of a value lists, None if it lists none."""
    section = _PARAMETERS.search(text_of(value))
    return None if section is None else _ENTRY.findall(section[1])


def parameters_of(value: Any) -> list[str] | None:
    """Return the public parameters, spelled as in a docstring; None if they are unknown, as for some functions in C."""
    if isinstance(value, type):
        init = vars(value).get("__init__") or vars(value).get("__new__")
        if not inspect.isfunction(init) and not isinstance(init, staticmethod):
            return None
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    names = [f"{stars.get(p.kind, '')}{p.name}" for p in parameters if not p.name.startswith("_") and p.name != "self"]
    return None if names == ["*args", "**kwargs"] else names  # PyPy's answer for functions in C


def run_examples(modules: list[str]) -> int:
    """Run the examples of modules, those of each docstring separately. Return an exit status."""
    done: set[str] = set()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    has_numpy = importlib.util.find_spec("numpy") is not None
    for module in modules:
        for name, value in public_objects(module):
            text = text_of(value)
            if text in done or (not has_numpy and "import numpy" in text):
                continue
            done.add(text)
            names = {"ffi_hpy": importlib.import_module("ffi_hpy"), "__name__": "__main__"}
            test = doctest.DocTestParser().get_doctest(text, names, name, name, 0)
            runner.run(test)
    print(f"{runner.tries} examples")
    return 1 if runner.failures else 0


if __name__ == "__main__":
    sys.exit(run_examples(sys.argv[1:]))
