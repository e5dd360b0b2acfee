"""All pages of the repository, by their readers."""

from __future__ import annotations

from blocks import Block, read_blocks
from project import ROOT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

# The tests of these pages run on every interpreter.
PYTHON_PAGES = ("docs/python.md",)

_PLACES = ("*.md", "docs/**/*.md", "examples/**/*.md", "ffi_hpy/*.md", "src/**/*.md")
ALL_PAGES = tuple(sorted(path.relative_to(ROOT).as_posix() for place in _PLACES for path in ROOT.glob(place)))
NATIVE_PAGES = tuple(page for page in ALL_PAGES if page not in PYTHON_PAGES)


def read(pages: tuple[str, ...]) -> dict[str, list[Block]]:
    """Return the blocks of the pages that have blocks."""
    blocks = {page: read_blocks(page, (ROOT / page).read_text()) for page in pages}
    return {page: those for page, those in blocks.items() if those}


def files_of(page: str) -> Path | None:
    """Return the folder of the example that a page describes. None for a page that shows all of its files."""
    return (ROOT / page).parent if page.startswith("examples/") else None
