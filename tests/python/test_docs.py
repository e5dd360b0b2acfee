"""The programs in the documentation run: the Python blocks of each page, one after the other."""

from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

from ffi_hpy import _core

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = Sybil(parsers=[PythonCodeBlockParser()])


@pytest.mark.skipif(not _core.KEEPS_IDENTITY, reason="in debug modes an object has several wrappers")
@pytest.mark.thread_unsafe(reason="the pages register global names, and answer for tvm_ffi for a while")
@pytest.mark.parametrize("page", ["python.md"])
def test_the_programs_of_a_page_run(page):
    examples = list(PAGES.parse(DOCS / page))
    assert len(examples) > 5
    for example in examples:
        example.evaluate()
