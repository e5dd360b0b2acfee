"""The pages, by who reads them."""

from __future__ import annotations

from blocks import Block, read_blocks
from project import ROOT

# About the inside of this repository: they show nothing that a user of the package would run.
NOT_FOR_USERS = ("docs/debugging.md", "docs/design.md")
# These run on every interpreter.
PYTHON_PAGES = ("docs/python.md",)

ALL_PAGES = ("README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")))
NATIVE_PAGES = tuple(page for page in ALL_PAGES if page not in (*NOT_FOR_USERS, *PYTHON_PAGES))


def read(pages: tuple[str, ...]) -> dict[str, list[Block]]:
    """The blocks of pages."""
    return {page: read_blocks(page, (ROOT / page).read_text()) for page in pages}
