"""The tests of pages can fail: they report a page with wrong output, and a page with a block that never runs."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from blocks import PageError, read_blocks
from project import BlockError, Project


def run(page: str, folder: Path) -> None:
    """Run all blocks of a page."""
    blocks = read_blocks("page.md", page)
    project = Project(blocks, folder)
    try:
        project.run_up_to(blocks[-1])
        project.end()
    finally:
        project.kill()


def fenced(language: str, text: str, said: str = "") -> str:
    return f"{said}\n```{language}\n{text}\n```\n\n"


SOURCE = fenced("c", "/* one.c */\nint one(void) {")
REST = fenced("c", "/* one.c, continued */\n  return 1;\n}")
COMPILE = fenced("sh", "cc -shared -fPIC one.c -o one.so")


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ("    x = 1\n", "page.md:1: indented code: a fence names the language"),
        (fenced("ruby", "1"), "page.md:2: `ruby` is not a language that the tests know"),
        (fenced("", "1"), "page.md:2: `` is not a language that the tests know"),
        (fenced("cc", "int x;"), "page.md:2: a block of cc names its file in the first line"),
        (fenced("text", "1"), "page.md:2: text is the output of the block before it, which prints nothing"),
        (SOURCE + fenced("text", "1"), "text is the output of the block before it"),
        (SOURCE + REST, "page.md:2: no block uses one.c"),
        (REST + COMPILE, "page.md:2: one.c has no beginning that it could continue"),
        (fenced("sh", "true", "<!-- not run -->"), "page.md:2: '<!-- not run -->' says nothing"),
        (fenced("sh", "true", "<!-- is not run: x -->"), "page.md:2: '<!-- is not run: x -->' says nothing"),
        (fenced("sh", "true", "<!-- fails: x -->"), "page.md:2: '<!-- fails: x -->' says nothing"),
        (
            "<!-- not run: x -->\n\nText.\n" + fenced("sh", "true"),
            "page.md: '<!-- not run: x -->' stands before no block",
        ),
        (fenced("sh", "true") + "<!-- fails -->\n", "page.md: '<!-- fails -->' stands before no block"),
        (fenced("sh", "true", "<!-- on: jython -->"), "page.md:2: jython is none of cpython, pypy"),
        ("<details>\n```sh\ntrue\n```\n</details>\n", "stands before no block"),
        ("<details>\n\n" + fenced("sh", "true") + "</details>\n", "page.md:4: '<details>' says nothing"),
    ],
)
def test_a_page_with_a_block_that_never_runs_is_refused(page: str, reason: str) -> None:
    with pytest.raises(PageError, match=re.escape(reason)):
        read_blocks("page.md", page)


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (fenced("python", "print(1)"), "page.md:2 prints something else"),
        (fenced("python", "print(1)") + fenced("text", "2"), "Expected:\n    2\nGot:\n    1"),
        (fenced("python", "x = 1\n1 / 0"), 'File "page.md", line 4, in <module>'),
        (fenced("python", "import warnings\nwarnings.warn('x')"), "UserWarning: x"),
        (fenced("python", "raise SystemExit(0)"), "SystemExit"),
        (fenced("python", "import os\nos.abort()"), "ended with status -6"),
        (fenced("python", "import atexit, os\natexit.register(os._exit, 3)"), "ended with status 3"),
        (fenced("sh", "echo said; exit 3"), "page.md:2: exit status 3:\nsaid"),
        (fenced("sh", "false\ntrue"), "page.md:2: exit status 1"),
        (fenced("sh", "true", "<!-- fails -->"), "page.md:2: exit status 0"),
        (fenced("sh", "echo 1") + fenced("text", "2"), "page.md:2 prints something else"),
        (fenced("console", "$ echo 1\n1\n$ echo 2\n3"), "page.md:2 prints something else"),
        (SOURCE + COMPILE, "error: expected"),
        (fenced("c", "/* one.c */\nint f(int x) { return 1; }") + COMPILE, "unused parameter"),
    ],
)
def test_a_page_with_wrong_output_is_reported(page: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(BlockError, match=re.escape(reason)):
        run(page, tmp_path)


def test_blocks_of_a_page_are_one_project(tmp_path: Path) -> None:
    page = SOURCE + REST + COMPILE
    page += fenced("python", "import ctypes\none = ctypes.CDLL('./one.so').one")
    page += fenced("python", "print('a', one(), 'b')") + fenced("text", "a ... b")
    page += fenced("sh", "exit 3", "<!-- not run: it fails -->")
    page += fenced("sh", "ls missing", "<!-- fails -->") + fenced(
        "text", "ls: ...missing...: No such file or directory"
    )
    page += fenced("json", '{"x": 1}', "<!-- file: sub/x.json -->") + fenced("console", '$ cat sub/x.json\n{"x": 1}')
    run(page, tmp_path)


def test_a_page_about_a_folder_works_on_a_copy_of_it(tmp_path: Path) -> None:
    files, folder = tmp_path / "files", tmp_path / "folder"
    (files / "build").mkdir(parents=True)
    folder.mkdir()
    (files / "x.txt").write_text("1")
    (files / "build" / "x.txt").write_text("2")
    blocks = read_blocks(
        "page.md", fenced("sh", "cat *.txt */*.txt; rm x.txt", "<!-- fails -->") + fenced("text", "1cat: ...")
    )
    Project(blocks, folder, files).run_up_to(blocks[0])
    assert (files / "x.txt").exists()


def test_the_blocks_after_a_failed_block_fail(tmp_path: Path) -> None:
    blocks = read_blocks("page.md", fenced("sh", "false") + fenced("sh", "true"))
    project = Project(blocks, tmp_path)
    with pytest.raises(BlockError, match="exit status 1"):
        project.run_up_to(blocks[0])
    with pytest.raises(BlockError, match=r"page.md:7 needs page.md:2, which failed"):
        project.run_up_to(blocks[1])


def test_a_block_that_needs_a_command_says_why_it_does_not_run() -> None:
    page = fenced("sh", "no-such-command", "<!-- needs: no-such-command -->") + fenced("sh", "sh", "<!-- needs: sh -->")
    assert [block.not_run for block in read_blocks("page.md", page)] == ["no-such-command is missing", ""]


def test_a_page_marks_blocks_of_one_implementation(tmp_path: Path) -> None:
    here, elsewhere = "cpython", "pypy"
    if sys.implementation.name == elsewhere:
        here, elsewhere = elsewhere, here
    page = fenced("python", "print(1)") + fenced("text", "2") + fenced("text", "1", f"<!-- on: {here} -->")
    page += fenced("python", "print(1)") + fenced("text", "1") + fenced("text", "2", f"<!-- on: {elsewhere} -->")
    page += fenced("sh", "false", f"<!-- on: {elsewhere} -->")
    run(page, tmp_path)
    with pytest.raises(BlockError, match="exit status 1"):
        run(fenced("sh", "false", f"<!-- on: {here} -->"), tmp_path / "page")


def test_exported_variables_hold_for_later_blocks(tmp_path: Path) -> None:
    page = fenced("sh", "export WORD=said") + fenced("sh", 'echo "$WORD"') + fenced("text", "said")
    run(page + fenced("python", "import os\nprint(os.environ['WORD'])") + fenced("text", "said"), tmp_path)


def test_only_a_walk_runs_blocks_that_change_an_environment() -> None:
    page = fenced("sh", "true", "<!-- walk: it changes something -->")
    assert read_blocks("page.md", page)[0].not_run == "it changes something; ci/newcomer runs it"
    assert read_blocks("page.md", page, walks=True)[0].not_run == ""
