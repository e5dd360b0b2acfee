"""The pages for users of Python are correct on every interpreter: each block is run, each output compared."""

from __future__ import annotations

from page_tests import *  # noqa: F403
from pages import PYTHON_PAGES, read

PAGES = read(PYTHON_PAGES)
