"""The pages of the Python reference: what is on each, in the order of a reader who looks for a thing by what it is."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ci.lib.folders import ROOT
from ci.lib.messages import Missing

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = "ffi_hpy"

TITLES = {
    "functions": "Functions",
    "objects": "Objects and classes",
    "dataclasses": "Dataclasses",
    "containers": "Containers",
    "values": "Text, types of elements, devices",
    "tensors": "Tensors and streams",
    "errors": "Errors",
    "modules": "Modules",
    "cpp": "Inline builds",
    "structural": "Structure",
    "serialization": "Serialization",
    "files": "Where files are",
    "hpy": "HPy modules",
}

NAMES = {
    "functions": """
        register_global_func get_global_func get_global_func_metadata list_global_func_names remove_global_func
        init_ffi_api convert convert_func Function""",
    "objects": "Object ObjectConvertible register_object",
    "dataclasses": "method dataclasses",
    "containers": "Array List Map Dict",
    "values": "String Bytes dtype Device device DLDeviceType",
    "tensors": "Tensor Shape from_dlpack StreamContext use_raw_stream use_torch_stream get_raw_stream",
    "errors": "Error register_error",
    "modules": "load_module system_lib Module",
    "cpp": "cpp",
    "structural": """
        structural structural_equal structural_hash get_first_structural_mismatch StructuralKey structural_visit
        structural_walk structural_map structural_mutate StructuralVisitor StructuralMutator VisitInterrupt WalkOrder
        WalkResult DefRegionKind InplaceMode access_path""",
    "serialization": "serialization",
    "files": "libinfo dropin",
    "hpy": "hpy hpy_debug",
}
"""Public names, or modules all of whose public names are meant."""

MODULES = ("dataclasses", "cpp", "access_path", "serialization", "libinfo", "dropin", "hpy", "hpy_debug")
INTRODUCED = ("structural",)
"""Modules of which the page has the text, and the names one by one."""
WITHOUT_TEXT = ("LIB", "__version__", "__version_tuple__")


def reference_pages() -> Iterator[tuple[str, str]]:
    """Give the path of each page below the reference, and its text. Raises Missing for a name that has no place."""
    listed = {name for names in NAMES.values() for name in names.split()}
    lost = {*public_names()} - listed - {*WITHOUT_TEXT}
    if lost:
        raise Missing(f"ci/jobs/site_reference.py has no page for {' '.join(sorted(lost))}")
    for page, title in TITLES.items():
        entries = (entry_of(name) for name in NAMES[page].split())
        yield f"{page}.md", "\n".join([f"# {title}", "", *entries])


def entry_of(name: str) -> str:
    """Return what MkDocs puts the documentation of a name in place of."""
    options = []
    if name in INTRODUCED:
        options = ["show_root_heading: false", "members: false"]
    elif name in MODULES:
        options = ["show_root_full_path: true", "members: true"]
    lines = "".join(f"      {option}\n" for option in options)
    return f"::: {PACKAGE}.{name}\n" + (f"    options:\n{lines}" if lines else "")


def public_names() -> list[str]:
    """Return the package's `__all__`, which is read and not imported: the checkout has no binary."""
    tree = ast.parse((ROOT / PACKAGE / "__init__.py").read_text())
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return list(ast.literal_eval(node.value))
    raise Missing(f"{PACKAGE}/__init__.py has no __all__")
