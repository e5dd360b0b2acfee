"""The pages for authors of libraries are correct: each block is compiled and run, each output is compared."""

from __future__ import annotations

from page_tests import *  # noqa: F403
from pages import NATIVE_PAGES, read

PAGES = read(NATIVE_PAGES)
