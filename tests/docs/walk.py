"""Runs pages as a new user does, who has a Python, compilers, an empty folder and a checkout next to it. Prints a line
for each block; at the first block that differs from the page, prints its place and its output, and stops.

    python walk.py FOLDER PAGE...

All files go to FOLDER, where `ffi_hpy` is the checkout; FOLDER/bin has the commands of this Python. Only the pages
themselves install packages. Exit status: 0 if all blocks behave as shown, 1 if not.
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

SECONDS = 600  # per command, which may fetch many packages


def walk(page: str, folder: Path) -> Iterator[str]:
    """Run the blocks of a page, and yield a line after each. Raises BlockError or PageError."""
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
