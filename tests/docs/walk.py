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

SECONDS = 600  # for one command, which may fetch many packages


def walk(page: str, folder: Path) -> int:
    """Run all blocks of a page and return how many they were. Raises BlockError or PageError."""
    folder.mkdir()
    (folder / "ffi_hpy").symlink_to(ROOT)
    environ = {**os.environ, "TVM_FFI_CACHE_DIR": str(folder / "cache"), "LC_ALL": "C", "PYTHONUTF8": "1"}
    blocks = read_blocks(page, (ROOT / page).read_text(), walks=True)
    project = Project(blocks, folder, files_of(page), environ, SECONDS)
    n_run = 0
    try:
        for block in blocks:
            if block.language == OUTPUT or block.not_run:
                continue
            started = time.monotonic()
            project.run_up_to(block)
            print(f"{block.place} {block.file or block.language}: ok ({time.monotonic() - started:.1f} s)", flush=True)
            n_run += 1
        project.end()
    finally:
        project.kill()
    return n_run


def main(folder: Path, pages: list[str]) -> int:
    n_run = 0
    try:
        for number, page in enumerate(pages):
            n_run += walk(page, folder / f"{number}-{Path(page).stem}")
    except (BlockError, PageError, subprocess.TimeoutExpired) as wrong:
        print(wrong)
        print(f"{n_run} passed, 1 failed")
        return 1
    print(f"{n_run} passed")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
