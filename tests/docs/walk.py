"""Walks pages as somebody who is new does, who has a Python, compilers, an empty folder and a checkout beside it: a
line for each block, and at the first that does not do what the page says its place and what it did.

    python walk.py FOLDER PAGE...

Everything is made in FOLDER, where `ffi_hpy` is the checkout; FOLDER/bin is what this Python is called by. Nothing is
installed but by the pages themselves. Exit status: 0 all do, 1 one does not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from blocks import OUTPUT, PageError, read_blocks
from pages import files_of
from project import ROOT, BlockError, Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 600  # for one command, which may fetch many packages


def walk(page: str, folder: Path) -> Iterator[str]:
    """Run the blocks of a page, and give a line for each when it has run. Raises BlockError or PageError."""
    folder.mkdir()
    (folder / "ffi_hpy").symlink_to(ROOT)
    environ = {**os.environ, "TVM_FFI_CACHE_DIR": str(folder / "cache"), "LC_ALL": "C", "PYTHONUTF8": "1"}
    blocks = read_blocks(page, (ROOT / page).read_text(), walks=True)
    project = Project(blocks, folder, files_of(page), environ, SECONDS)
    try:
        for block in blocks:
            if block.language == OUTPUT or block.not_run:
                continue
            started = time.monotonic()
            project.run_up_to(block)
            yield f"{block.place} {block.file or block.language}: ok ({time.monotonic() - started:.1f} s)"
        project.end()
    finally:
        project.kill()


def main(folder: Path, pages: list[str]) -> int:
    n_run = 0
    try:
        for number, page in enumerate(pages):
            for line in walk(page, folder / f"{number}-{Path(page).stem}"):
                print(line, flush=True)
                n_run += 1
    except (BlockError, PageError, subprocess.TimeoutExpired) as wrong:
        print(wrong)
        print(f"{n_run} passed, 1 failed")
        return 1
    print(f"{n_run} passed")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
