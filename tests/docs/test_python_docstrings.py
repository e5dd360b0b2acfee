"""The docstrings of public names are correct on every interpreter."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import docstrings
import pytest
from project import ROOT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PUBLIC = {name: value for module in docstrings.MODULES for name, value in docstrings.public_objects(module)}

OF_EVERY_PROPERTY = "Value of the attribute of an object."
"""PyPy 7.3's docstring of all properties in C."""


def test_the_examples_of_docstrings_print_the_shown_output(tmp_path: Path) -> None:
    output = run_examples(docstrings.MODULES, tmp_path)
    assert int(output.split()[-2]) > 80


def test_an_example_with_wrong_output_is_reported(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text('__all__ = ["f"]\ndef f():\n    """F.\n\n    >>> 1 + 1\n    3\n    """\n')
    with pytest.raises(AssertionError, match=r"Got:\s+2"):
        run_examples(("wrong",), tmp_path)


def test_every_public_name_has_a_docstring() -> None:
    assert [name for name, value in PUBLIC.items() if not docstrings.text_of(value)] == []


def test_a_docstring_lists_the_existing_parameters() -> None:
    wrong = []
    for name, value in PUBLIC.items():
        listed, there = docstrings.documented_parameters(value), docstrings.parameters_of(value)
        if listed is not None and there is not None and listed != there:
            wrong.append(f"{name}: {listed}, and there are {there}")
    assert wrong == []


def test_a_function_documents_its_parameters() -> None:
    functions = {name: value for name, value in PUBLIC.items() if not isinstance(value, type)}
    silent = [
        name
        for name, value in functions.items()
        if docstrings.parameters_of(value) and docstrings.documented_parameters(value) is None
    ]
    assert silent == []


def test_docstrings_in_c_equal_those_of_the_declarations() -> None:
    """Type checkers and the site read the docstrings of the declaration, help() reads the others."""
    import ffi_hpy
    from ffi_hpy import _core

    # Programs use the other C classes only through classes that derive from them
    shown = ("CObject.", "Device.", "Error.", "Function", "Tensor.")
    differing = []
    for owner, path in (
        (_core, "_core.pyi"),
        (ffi_hpy, "_tensor.py"),
        (ffi_hpy, "_containers/sequence.py"),
        (ffi_hpy, "_containers/mapping.py"),
    ):
        tree = ast.parse((ROOT / "ffi_hpy" / path).read_text())
        for name, declared in declared_docstrings(tree.body):
            if owner is _core and not name.startswith(shown):
                continue
            value: Any = owner
            for part in name.split("."):
                value = getattr(value, part, None)
            text = docstrings.text_of(value)
            if value is not None and declared.split() != text.split() and text != OF_EVERY_PROPERTY:
                differing.append(name)
    assert differing == []


def declared_docstrings(body: list[ast.stmt], prefix: str = "") -> list[tuple[str, str]]:
    """Return the public names in a source, also those for type checkers only, with their docstrings."""
    found = []
    for node in body:
        if isinstance(node, ast.If):
            found += declared_docstrings(node.body, prefix)
        elif isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_"):
            text = ast.get_docstring(node)
            if text:
                found.append((prefix + node.name, text))
            if isinstance(node, ast.ClassDef):
                found += declared_docstrings(node.body, f"{prefix}{node.name}.")
    return found


def run_examples(modules: tuple[str, ...], folder: Path) -> str:
    """Run the examples of modules in a folder and return the output. Fails if an example is wrong."""
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    environ = {**os.environ, "PYTHONPATH": path, "TVM_FFI_CACHE_DIR": str(folder / "builds")}
    done = subprocess.run(
        [sys.executable, docstrings.__file__, *modules],
        cwd=folder,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout
