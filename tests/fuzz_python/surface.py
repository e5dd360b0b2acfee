"""The callables to fuzz: every public function and class of the package with its members, and the global functions."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
import sys
from dataclasses import dataclass

import bound
import typed
from values import KNOWN_NAMES

import ffi_hpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Any

# Names that are not called, by their beginning, with the reason.
NOT_CALLED = {
    "ffi_hpy.LIB": "is ctypes' view of the core: calls through it have no types",
    "ffi_hpy.config": "is the program ffi-hpy-config; it prints, and ends the process",
    "ffi_hpy.core.OpaquePyObject._adopt": "takes the address of an object",
    "ffi_hpy.cpp": "runs compilers",
    "ffi_hpy.dataclasses.gen_abi_cpp.main": "writes files to given paths",
    "ffi_hpy.dropin": "replaces modules of the process, and runs programs",
    "ffi_hpy.hpy": "opens shared libraries by path, and runs their code",
    "ffi_hpy.hpy_debug": "sets hooks that end the process",
    "ffi_hpy.libinfo.load_lib": "opens shared libraries by path, and runs their code",
    "ffi_hpy.stub.cli": "is a program that writes files",
    "ffi_hpy.stub.file_utils": "writes files to given paths, and walks whole folders",
    "ffi_hpy.stub.roll_out": "writes files to given paths",
    "ffi_hpy.testing.run_with_gpu_lock": "waits for a lock that other processes share",
    "ffi_hpy.testing.run_check_signal": "waits for the seconds that it is given",
    "ffi_hpy.utils.FileLock": "waits for a file that another lock holds, which may be one of this very thread",
    "ffi_hpy.utils.lockfile": "waits for a file that another lock holds, which may be one of this very thread",
    "ffi_hpy.utils.embed_cubin": "runs the linker",
    "ffi_hpy.use_torch_stream": "imports torch",
    "ffi_hpy.stream.use_torch_stream": "imports torch",
    "ffi_hpy.Function.__from_extern_c__": "takes the address of a C function, and calls it",
    "ffi_hpy.Function.__from_mlir_packed_safe_call__": "takes the address of a C function, and calls it",
    "global ffi.FunctionFromExternC": "takes the address of a C function, and calls it",
    "global ffi.MakeFieldGetter": "takes the address of a C function, and calls it",
    "global ffi.MakeFieldSetter": "takes the address of a C function, and calls it",
    "global ffi.ModuleWriteToFile": "writes files to given paths",
    "global ffi.ModuleLoadFromFile": "opens shared libraries by path, and runs their code",
    "global ffi.Module.load_from_file": "opens shared libraries by path, and runs their code",
    "global ffi_hpy.catch_cxx": "is for the C++ headers alone: takes addresses of C++ objects",
    "global ffi_hpy.fail_load": "is for the C++ headers alone: takes addresses of C++ objects",
    "global ffi_hpy.load_cxx": "is for the C++ headers alone: takes addresses of C++ objects",
    "global ffi_hpy.module_attach_cxx": "is for the C++ headers alone: takes addresses of C++ objects",
    "global ffi_hpy.native_default": "is for the C++ headers alone: takes addresses of C++ objects",
    "global ffi_hpy.visit_context_symbols": "is for the C++ headers alone: takes addresses of C++ objects",
    "global testing.run_check_signal": "waits for the seconds that it is given",
}
_NO_MEMBERS = {"__doc__", "__dict__", "__module__", "__slots__", "__weakref__", "__abstractmethods__", "_abc_impl"}
_NO_MEMBERS |= {"__annotations__", "__orig_bases__", "__parameters__", "__subclasshook__", "__init_subclass__"}
_OFTEN = (ffi_hpy.Array, ffi_hpy.List, ffi_hpy.Map, ffi_hpy.Dict, ffi_hpy.Tensor, ffi_hpy.Function, ffi_hpy.Object)
_BUILTIN = (object, str, bytes, tuple, int, float, list, dict, type, BaseException, Exception)


@dataclass(frozen=True)
class Target:
    """A callable. `owner` is the class of a member; `hints` are the kinds of value for each parameter."""

    name: str
    callable: Any
    owner: type | None = None
    member: str = ""
    hints: tuple[tuple[str, ...], ...] = ()


def find_targets() -> list[Target]:
    """Return all targets, always in the same order."""
    found: dict[str, Target] = {}
    seen: set[int] = set()
    members: set[tuple[type, str]] = (
        set()
    )  # keyed by the defining class, so that an inherited member comes once; and again for each class in _OFTEN
    for module in modules():
        for name, value in sorted(vars(module).items()):
            full = f"{module.__name__}.{name}"
            if name.startswith("__") or not callable(value) or id(value) in seen or not _is_ours(value):
                continue
            if name.startswith("_") and not isinstance(value, type):
                continue
            seen.add(id(value))
            if isinstance(value, type):
                for home, target in _of_class(full, value):
                    if value in _OFTEN or home not in members:
                        members.add(home)
                        found[target.name] = target
            else:
                found[full] = Target(full, value, hints=_hints_of(value))
    for target in _bound():
        found[f"{target.name} {target.hints}"] = target
    for name in sorted(ffi_hpy.list_global_func_names()):
        if name.startswith(("ffi", "testing")):
            found[f"global {name}"] = Target(
                f"global {name}", ffi_hpy.get_global_func(name), hints=_hints_of_global(name)
            )
    return [target for name, target in found.items() if not name.startswith(tuple(NOT_CALLED))]


def _bound() -> Iterator[Target]:
    """Yield the targets of the bound library: each overload of its functions, and of the methods of its classes."""
    for module in (bound.MODULE, bound.MODULE.inner):
        for name, value in sorted(vars(module).items()):
            if isinstance(value, ffi_hpy.Function):
                for hints in _hints_of_overloads(value):
                    yield Target(f"{module.__name__}.{name}", value, hints=hints)
    for full, cls in bound.CLASSES.items():
        for hints in _hints_of_overloads(cls.__init__):
            yield Target(full, cls, hints=hints[1:])
        for name in sorted(vars(cls)):
            is_enums = name.startswith("_") and hasattr(cls, "__members__")
            if name in _NO_MEMBERS or name.startswith(("_ffi_", "_abc_")) or is_enums:
                continue
            member = getattr(cls, name, None)
            for hints in _hints_of_overloads(member):
                yield Target(f"{full}.{name}", member, cls, name, hints)


def _hints_of_overloads(function: Any) -> list[tuple[tuple[str, ...], ...]]:
    overloads = typed.overloads_of(function) or [()]
    return [tuple((annotation,) for annotation in annotations) for annotations in overloads]


def modules() -> Iterator[ModuleType]:
    """Yield the public modules."""
    yield ffi_hpy
    for found in pkgutil.walk_packages(ffi_hpy.__path__, "ffi_hpy."):
        if any(part.startswith("_") for part in found.name.split(".")) or found.name.startswith(tuple(NOT_CALLED)):
            continue
        yield importlib.import_module(found.name)


def _is_ours(value: Any) -> bool:
    home = getattr(value, "__module__", None)
    return isinstance(value, ffi_hpy.Function) or (isinstance(home, str) and home.partition(".")[0] == "ffi_hpy")


def _of_class(full: str, cls: type) -> Iterator[tuple[tuple[type, str], Target]]:
    """Yield the targets of a class, each with its defining class and its name there."""
    yield (cls, ""), Target(full, cls, hints=_hints_of(cls))
    for name in sorted(dir(cls)):
        owner = next((base for base in cls.__mro__ if name in base.__dict__), object)
        if name in _NO_MEMBERS or owner in _BUILTIN or owner.__module__ in ("typing", "enum"):
            continue
        if _is_inside(owner, name):
            continue
        try:
            value = getattr(cls, name)
        except Exception:  # attributes of instances only
            value = None
        yield (owner, name), Target(f"{full}.{name}", value, cls, name, _hints_of(value))


def _is_inside(owner: type, name: str) -> bool:
    """Return whether a name is internal to a class of `_core` that is written in Python, because it handles raw
    pointers. The class in C has the public names."""
    is_of_core = owner.__module__.startswith("ffi_hpy._pypy") or vars(ffi_hpy._core).get(owner.__name__) is owner
    if not is_of_core or not name.startswith("_"):
        return False
    binding = getattr(sys.modules.get("ffi_hpy._pypy.context.binding"), "binding", None)  # None if the class is in C
    return binding is not None and not hasattr(getattr(binding, owner.__name__, None), name)


def _hints_of(value: Any) -> tuple[tuple[str, ...], ...]:
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (ValueError, TypeError):
        return ()
    hints = []
    for parameter in parameters:
        words = () if parameter.annotation is parameter.empty else re.findall(r"\w+", str(parameter.annotation))
        hints.append(_known((parameter.name,) if not words else tuple(words)))
    return tuple(hints)


def _hints_of_global(name: str) -> tuple[tuple[str, ...], ...]:
    try:
        schema = json.loads((ffi_hpy.get_global_func_metadata(name) or {}).get("type_schema", "{}"))
        params = schema["named_args"]["params"]
    except (KeyError, TypeError, ValueError):
        first = re.match(r"ffi\.(Array|List|Map|Dict|Module|StructuralVisitor|StructuralMutator)", name)
        return ((first[1],),) if first else ()
    return tuple(_known(tuple(re.findall(r"\w+", json.dumps(param)))) for param in params)


def _known(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in words if word in KNOWN_NAMES)
