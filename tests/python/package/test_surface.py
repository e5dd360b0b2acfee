"""The names of the package: those of tvm_ffi that it has, and their docstrings."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import pickle
import pkgutil
from pathlib import Path
from types import ModuleType

import pytest
from support import run_python

import ffi_hpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MISSING = Path(__file__).with_name("surface_missing.txt")
# Modules without __all__ whose functions and classes are public.
_BY_DEFINITION = {"libinfo", "stream", "access_path", "config", "utils.kwargs_wrapper", "utils.lockfile"}
_BY_DEFINITION |= {"utils.unpack_dataclass", "utils.embed_cubin"}
# Internal modules of upstream that no program imports.
_INSIDE = {"_version", "_tensor", "stub.rust_generator", "dataclasses.enum", "dataclasses.gen_abi_cpp"}


# --- upstream's names -----------------------------------------------------------------------------------------------


def names_of_upstream(root: Path) -> Iterator[tuple[str, str]]:
    """Yield module (relative to the package) and name of everything that a program may import from tvm_ffi."""
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if module in _INSIDE:
            continue
        body = ast.parse(path.read_text()).body
        for name in sorted(listed_in(body) | (defined_in(body) if module in _BY_DEFINITION else set())):
            yield module, name
        if module == "":
            yield from (("", name) for name in sorted(imported_in(body)))
    for name in sorted(declared_in(ast.parse((root / "core.pyi").read_text()).body)):
        yield "core", name


def listed_in(body: list[ast.stmt]) -> set[str]:
    """Return the literal contents of __all__."""
    for statement in body:
        if isinstance(statement, ast.Assign) and any(getattr(t, "id", "") == "__all__" for t in statement.targets):
            return {item.value for item in getattr(statement.value, "elts", ()) if isinstance(item, ast.Constant)}
    return set()


def defined_in(body: list[ast.stmt]) -> set[str]:
    found = (s.name for s in body if isinstance(s, (ast.ClassDef, ast.FunctionDef)))
    return {name for name in found if not name.startswith("_")}


def imported_in(body: list[ast.stmt]) -> set[str]:
    """Return the names that a package has because it imports them from its own modules."""
    inside = (node for statement in body for node in ast.walk(statement))  # upstream's imports are inside a condition
    statements = [node for node in inside if isinstance(node, ast.ImportFrom) and node.level == 1]
    names = {alias.asname or alias.name for s in statements for alias in s.names}
    return {name for name in names if not name.startswith("_")}


def declared_in(body: list[ast.stmt]) -> set[str]:
    """Return the run-time declarations of a stub file."""
    found = {s.name for s in body if isinstance(s, (ast.ClassDef, ast.FunctionDef))}
    return found | {s.target.id for s in body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)}


def is_there(module: str, name: str) -> bool:
    try:
        home = importlib.import_module(f"ffi_hpy.{module}".rstrip("."))
    except ModuleNotFoundError:
        return False
    return hasattr(home, name)


def listed_as_missing() -> set[tuple[str, str]]:
    lines = (line.split("#")[0].split() for line in _MISSING.read_text().splitlines())
    return {("" if module == "ffi_hpy" else module, name) for module, *names in filter(None, lines) for name in names}


def test_names_of_tvm_ffi_are_there_except_for_the_listed_ones(upstream):
    missing = {(module, name) for module, name in names_of_upstream(upstream / "tvm_ffi") if not is_there(module, name)}
    listed = listed_as_missing()
    assert sorted(missing - listed) == [], "names that tvm_ffi has and ffi_hpy lacks"
    assert sorted(listed - missing) == [], f"these are there now: take them off {_MISSING.name}"


def test_all_of_tvm_ffi_is_in_ours_except_for_the_listed_ones(upstream):
    theirs = listed_in(ast.parse((upstream / "tvm_ffi" / "__init__.py").read_text()).body)
    assert len(theirs) > 50
    assert {("", name) for name in theirs - set(ffi_hpy.__all__)} <= listed_as_missing()


def test_top_level_modules_of_tvm_ffi_are_importable_by_their_names(upstream):
    theirs = {path.stem for path in (upstream / "tvm_ffi").glob("*.py")} - {"__init__", "_version"}
    assert "_dtype" in theirs
    assert [name for name in sorted(theirs) if importlib.util.find_spec(f"ffi_hpy.{name}") is None] == []


# --- our own names --------------------------------------------------------------------------------------------------


def our_modules() -> Iterator[ModuleType]:
    """Yield every public module that this interpreter can import."""
    yield ffi_hpy
    for found in pkgutil.walk_packages(ffi_hpy.__path__, "ffi_hpy."):
        if not any(part.startswith("_") for part in found.name.split(".")):
            try:
                yield importlib.import_module(found.name)
            except ImportError:
                if found.name not in ("ffi_hpy.hpy", "ffi_hpy.hpy_debug"):  # these two need our own HPy runtime
                    raise


MODULES = list(our_modules())
each_module = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)


# A module without its own names, and helpers of tests, which are imported by name.
_WITHOUT_ALL = {"ffi_hpy.stub", "ffi_hpy.testing", "ffi_hpy.testing.testing"}


@each_module
def test_a_module_has_a_docstring_and_lists_its_exports(module):
    assert module.__doc__
    assert hasattr(module, "__all__") or module.__name__ in _WITHOUT_ALL
    exported = getattr(module, "__all__", ())
    assert len(set(exported)) == len(exported)
    assert [name for name in exported if not hasattr(module, name)] == []


@each_module
def test_each_export_of_a_module_has_a_docstring(module):
    undocumented = []
    for name in getattr(module, "__all__", ()):
        value = getattr(module, name)
        if isinstance(value, (ModuleType, type)) or (callable(value) and type(value).__module__ != "typing"):
            undocumented += [] if has_own_doc(value) else [name]
            if isinstance(value, type) and value.__module__.startswith("ffi_hpy"):
                undocumented += [f"{name}.{member}" for member in members_without_doc(value)]
    assert undocumented == []


@each_module
def test_the_classes_that_a_module_exports_can_be_pickled(module):
    values = [getattr(module, name) for name in getattr(module, "__all__", ())]
    classes = [value for value in values if isinstance(value, type)]
    assert [cls for cls in classes if pickle.loads(pickle.dumps(cls)) is not cls] == []


def has_own_doc(value: object) -> bool:
    """Return whether a class, function or module has its own docstring, neither inherited nor generated."""
    if isinstance(value, type):
        doc = value.__dict__.get("__doc__")
        made_up = doc is not None and doc.startswith(f"{value.__name__}(") and hasattr(value, "__dataclass_fields__")
        return bool(doc) and not made_up
    return bool(getattr(value, "__doc__", None))


def members_without_doc(cls: type) -> Iterator[str]:
    """Yield the public members without a docstring, except those that a native library registered and may document."""
    info = vars(cls).get("__tvm_ffi_type_info__")
    registered = {member.name for member in (*info.fields, *info.methods)} if info is not None else set()
    for name, member in vars(cls).items():
        if name in registered:
            continue
        is_member = callable(member) or isinstance(member, (property, staticmethod, classmethod))
        if (
            not name.startswith("_")
            and is_member
            and not isinstance(member, type)
            and not inspect.getdoc(getattr(cls, name))
        ):
            yield name


def test_the_binary_documents_its_types_and_their_members():
    from ffi_hpy import _core

    types = [value for name, value in vars(_core).items() if isinstance(value, type) and not name.startswith("_")]
    assert types
    undocumented = [cls.__name__ for cls in types if not cls.__doc__]
    undocumented += [f"{cls.__name__}.{name}" for cls in types for name in members_without_doc(cls)]
    assert undocumented == []


FOUND_LATE = """
import builtins, importlib, ffi_hpy
from ffi_hpy._start.late import LATE, find_late, names_of
for key in LATE:
    if ":" in key:
        missing = [name for name in names_of(key) if find_late(key, name) is None]
    else:
        module = importlib.import_module(f"ffi_hpy.{key}".rstrip("."))
        missing = [name for name in names_of(key) if getattr(module, name, None) is None]
        missing += [name for name in names_of(key) if hasattr(builtins, name) and name in vars(module)]
    print(*(f"{key}: {name}" for name in missing), end="")
"""


def test_late_names_exist_and_hide_no_name_of_python_from_the_functions_of_their_module():
    assert run_python(FOUND_LATE) == ""
