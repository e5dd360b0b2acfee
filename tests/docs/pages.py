"""The pages for users, and how the tests go through their blocks."""

from __future__ import annotations

import contextlib

import pytest
from blocks import OUTPUT, Block, read_blocks
from project import ROOT, BlockError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# About the inside of this repository: they show nothing that a user of the package would run.
NOT_FOR_USERS = ("docs/debugging.md", "docs/design.md")
# Without a compiler: these run on every interpreter.
PYTHON_PAGES = ("docs/python.md",)

ALL_PAGES = ("README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")))
NATIVE_PAGES = tuple(page for page in ALL_PAGES if page not in (*NOT_FOR_USERS, *PYTHON_PAGES))


def read(pages: tuple[str, ...]) -> dict[str, list[Block]]:
    return {page: read_blocks(page, (ROOT / page).read_text()) for page in pages}


def cases(pages: dict[str, list[Block]]) -> dict[str, Block]:
    """All blocks but outputs, which belong to the blocks before them, by the name of their test."""
    blocks = (block for blocks in pages.values() for block in blocks)
    return {f"{block.place}-{block.language}": block for block in blocks if block.language != OUTPUT}


@contextlib.contextmanager
def told() -> Iterator[None]:
    """What a page does wrong is told without the stack of the tests, in which there is nothing to see."""
    try:
        yield
    except BlockError as wrong:
        raise pytest.fail.Exception(str(wrong), pytrace=False) from None
