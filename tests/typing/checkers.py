"""Runs type checkers in a folder where they find the installed package and not the checkout."""

from __future__ import annotations

import json
import subprocess
import sys

__all__ = ["mypy_says", "pyright_says", "run_checker"]

PYTHON_VERSION = "3.11"
_PYRIGHT_SETTINGS = {
    "typeCheckingMode": "strict",
    "pythonVersion": PYTHON_VERSION,
    "reportUnnecessaryTypeIgnoreComment": "error",
}


def mypy_says(folder, *arguments):
    """Return the output of mypy --strict for files."""
    options = ["--strict", "--config-file", "", "--python-version", PYTHON_VERSION, "--no-error-summary"]
    status, said = run_checker("mypy", folder, *options, "--enable-error-code", "ignore-without-code", *arguments)
    assert "error:" not in said or status != 0
    return said


def pyright_says(folder):
    """Return the output of pyright's strictest mode for all files in the folder."""
    (folder / "pyrightconfig.json").write_text(json.dumps(_PYRIGHT_SETTINGS))
    status, said = run_checker("pyright", folder, "--project", folder)
    lines = said.splitlines()
    assert (status != 0) == (not lines[-1].startswith("0 errors")), said
    return "\n".join(lines[:-1])


def run_checker(checker, folder, *arguments, python=sys.executable):
    """Return exit status and output of a type checker in a folder; it searches packages where an interpreter does."""
    option = {"pyright": "--pythonpath", "mypy": "--python-executable"}.get(checker)
    interpreter = [option, python] if option else []
    command = [sys.executable, "-m", checker, *interpreter, *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder)
    return done.returncode, done.stdout
