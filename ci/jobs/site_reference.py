"""The pages of the Python reference and the names on each, ordered by subject for readers who look for a feature."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ci.lib.folders import ROOT
from ci.lib.messages import Missing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
    "objects": "Object ObjectConvertible register_object leaks",
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
"""Public names, or modules with all their public names."""

MODULES = ("access_path", "cpp", "dataclasses", "dropin", "hpy", "hpy_debug", "libinfo", "serialization", "structural")
INTRODUCED = ("structural",)
"""Modules whose page has the module's text and then each name."""
INHERITED = {
    "Device": "device_type index",
    "Error": "kind message backtrace cause extra_context update_backtrace",
    "Object": "same_as is_ id_",
    "Tensor": "shape strides ndim byte_offset data_ptr numel size is_contiguous",
}
"""The inherited members of classes that derive from a class in C."""
WITHOUT_TEXT = ("LIB", "__version__", "__version_tuple__")


def reference_pages() -> Iterator[tuple[str, str]]:
    """Yield the path of each page below the reference, and its text. Raises Missing for a public name without a
    page."""
    listed = {name for names in NAMES.values() for name in names.split()}
    lost = {*public_names()} - listed - {*WITHOUT_TEXT}
    if lost:
        raise Missing(f"ci/jobs/site_reference.py has no page for {' '.join(sorted(lost))}")
    for page, title in TITLES.items():
        entries = (entry for name in NAMES[page].split() for entry in entries_of(name))
        yield f"{page}.md", "\n".join([f"# {title}", "", *entries])


def entries_of(name: str) -> Iterator[str]:
    """Yield the MkDocs placeholders for a name; for a module, the placeholder of its text and those of its names."""
    if name in INTRODUCED:
        yield entry_of(name, "show_root_heading: false", "members: false")
    elif name in MODULES:
        yield entry_of(name, "members: false")
        for member in public_names(name):
            yield entry_of(f"{name}.{member}")
    elif name in INHERITED:
        yield entry_of(name, f"inherited_members: [{', '.join(INHERITED[name].split())}]")
    else:
        yield entry_of(name)


def entry_of(name: str, *options: str) -> str:
    """Return the placeholder that MkDocs replaces by the documentation of a name."""
    place = name
    if source_of(name).exists() and name not in MODULES:  # a module of this name also exists, and defines it
        place = f"{name}.{name.rpartition('.')[2]}"
        options = (*options, f"heading: {PACKAGE}.{name}", f"toc_label: {PACKAGE}.{name}")
    lines = "".join(f"      {option}\n" for option in options)
    return f"::: {PACKAGE}.{place}\n" + (f"    options:\n{lines}" if lines else "")


def source_of(module: str) -> Path:
    """Return the path of a module's source, which may not exist."""
    folder = ROOT.joinpath(PACKAGE, *module.split("."))
    return folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")


def public_names(module: str = "") -> list[str]:
    """Return a module's `__all__`; it is parsed and not imported, because the checkout has no binary."""
    source = source_of(module) if module else ROOT / PACKAGE / "__init__.py"
    for node in ast.parse(source.read_text()).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return list(ast.literal_eval(node.value))
    raise Missing(f"{source.relative_to(ROOT)} has no __all__")
