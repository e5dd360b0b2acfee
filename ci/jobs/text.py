"""The check of all text of the checkout for problems that formatters ignore: lines of more than 120 columns, comments
that open with "The same" (meaningless without the comment before), paths and names of missing files, and the words and
openings of sentences that ci/jobs/words.py refuses."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from ci.jobs.words import check_the_check as check_the_words
from ci.jobs.words import find_words
from ci.lib.messages import Missing

COLUMNS = 120

NOT_CHECKED = {
    "docs/plots/": "drawn by benchmarks/scaling.py",
    "tests/fuzz/seeds/": "inputs, each byte of which is meant",
}
"""Files and folders without a check, each with the reason."""

_FENCE = re.compile(r"\s*```(\w*)")
_OPENS_WITH_SAME = re.compile(r'(?:/\*+|//[/!]?|#|""")[\s*]*the same\b', re.IGNORECASE)
_FOLDERS = "benchmarks|ci|docs|examples|ffi_hpy|tests|tools|src/(?:core|cxx_abi|hpy_module|hpy_runtime|testing)"
_PATH = re.compile(rf"(?<![\w./*-])(?:{_FOLDERS})/[\w/.-]*\w\.(?:c|h|cc|def|py|pyi|md|txt|cmake)\b(?![\w*(])")

_ABOUT_SOURCES = re.compile(r"CONTRIBUTING\.md|docs/design\.md|(?:ci|ffi_hpy|src|tests)/(?:\w+/)*README\.md")
"""Pages that describe the sources: a name of a file in backticks is the name of one of ours."""
_QUOTED_FILE = re.compile(r"`((?:[\w.-]+/)*\w[\w-]*\.(?:c|h|cc|def|py))`")
_FOREIGN = {"Python.h", "hpy.h"}


def tracked_files(root: Path) -> list[str]:
    """Return the files of a checkout that git tracks or would add. Raises Missing."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as reason:
        raise Missing(f"git must list the files of the checkout: {reason}") from None
    return sorted(name for name in listed.split("\0") if name and (root / name).is_file())


def read_texts(root: Path) -> dict[str, str]:
    """Return the text of each checked file, by its name."""
    texts = {}
    for name in tracked_files(root):
        data = (root / name).read_bytes()
        if not name.startswith(tuple(NOT_CHECKED)) and b"\0" not in data:
            texts[name] = data.decode(errors="replace")
    return texts


def find_violations(texts: dict[str, str], files: set[str]) -> list[str]:
    """Return the violations in the texts of a checkout with these files: FILE:LINE and a sentence each."""
    found = []
    for name, text in texts.items():
        found += [f"{name}:{line}: more than {COLUMNS} columns" for line in find_long_lines(name, text)]
        for match in _OPENS_WITH_SAME.finditer(text):
            found.append(f'{name}:{line_of(match)}: a comment opens with "The same"')
        for match in _PATH.finditer(text):
            if files.isdisjoint((match[0], f"include/{match[0]}")):
                found.append(f"{name}:{line_of(match)}: {match[0]} does not exist")
        if _ABOUT_SOURCES.fullmatch(name):
            for match in _QUOTED_FILE.finditer(text):
                if match[1] not in _FOREIGN and not any(f"/{file}".endswith(f"/{match[1]}") for file in files):
                    found.append(f"{name}:{line_of(match)}: no file is called {match[1]}")
        found += find_words(name, text)
    return found


def line_of(match: re.Match[str]) -> int:
    """Return the line where a match begins."""
    return match.string.count("\n", 0, match.start()) + 1


def find_long_lines(name: str, text: str) -> list[int]:
    """Return the lines that are too long and could be broken. A URL at the end of a line cannot be broken, nor can the
    statement of a .pth file, nor, in Markdown, a row of a table or the output of a program (a block of the language
    `text`)."""
    is_markdown, fence = name.endswith(".md"), ""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        mark = _FENCE.match(line) if is_markdown else None
        if mark:
            fence = "" if fence else mark[1] or "text"
        if is_markdown:
            is_whole = line.lstrip().startswith("|") or fence == "text"
        else:
            is_whole = name.endswith(".pth") and line.startswith("import ")
        if len(line) > COLUMNS and not is_whole and "://" not in line.split()[-1]:
            found.append(number)
    return found


# --- the check of the check -----------------------------------------------------------------------------------------

_LONG, _SAME, _CI = "word " * COLUMNS, "The same", "ci/"  # split, so that this file passes
_PLANTED = {
    "a.c": f"int a; /* {_LONG}*/\n/* {_SAME} of b. */\n/**\n * {_SAME} of c. */\nint b; /* not {_SAME} */\n",
    "b.md": f"| {_LONG} |\n\n```text\n{_LONG}\n```\n{_LONG}\nsee `{_CI}lost.py`, {_CI}kept.py, src/user.c\n",
    "c.py": f'"""{_SAME} as a."""\nurl = "{"x" * COLUMNS}"\n# http://{"x" * COLUMNS}\n# see {_CI}lost.py: {_LONG}',
    "src/README.md": f"`lost.h`, `low/lost.c`, `README.md`, `kept.py`, `{_CI}kept.py`, `Python.h`",
}
_PLANTED_FILES = {*_PLANTED, f"{_CI}kept.py"}
_PLANTED_VIOLATIONS = [
    "a.c:1: more than 120 columns",
    'a.c:2: a comment opens with "The same"',
    'a.c:3: a comment opens with "The same"',
    "b.md:6: more than 120 columns",
    f"b.md:7: {_CI}lost.py does not exist",
    "c.py:2: more than 120 columns",
    "c.py:4: more than 120 columns",
    'c.py:1: a comment opens with "The same"',
    f"c.py:4: {_CI}lost.py does not exist",
    "src/README.md:1: no file is called lost.h",
    "src/README.md:1: no file is called low/lost.c",
]


def check_the_check() -> None:
    """Check that planted violations are found."""
    found = find_violations(_PLANTED, _PLANTED_FILES)
    if found != _PLANTED_VIOLATIONS:
        raise Missing(f"the check of text finds {found} where it should find {_PLANTED_VIOLATIONS}")


def check_text(root: Path) -> list[str]:
    """Return the violations in the text of a checkout. Raises Missing."""
    check_the_check()
    check_the_words()
    return find_violations(read_texts(root), set(tracked_files(root)))
