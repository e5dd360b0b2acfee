"""The docstrings of public names that build libraries are correct: their examples are compiled."""

from __future__ import annotations

from pathlib import Path

import docstrings
from test_python_docstrings import run_examples


def test_the_examples_of_library_builders_print_the_shown_output(tmp_path: Path) -> None:
    output = run_examples(docstrings.NATIVE_MODULES, tmp_path)
    assert int(output.split()[-2]) > 4
