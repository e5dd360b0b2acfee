"""The code blocks of a page, as markdown-it reads them. The page itself defines the meaning of a block:

- its language, after the fence: `sh` and `console` are commands, `text` is the output of the block before it, `python`
  runs in the page's interpreter, other languages are files;
- a comment in its first line that is a path, or a path and `, continued`: a file of the page's folder;
- an HTML comment right before the fence: `<!-- file: PATH -->`, `<!-- fails -->` for commands that must fail,
  `<!-- needs: COMMAND -->` for blocks that run only if there is such a command, `<!-- not run: REASON -->`, or
  `<!-- walk: REASON -->` for blocks that only ci/newcomer runs, in an environment that it may change;
- `<!-- on: pypy -->` (or `cpython`) for blocks of this implementation only. A second output with that comment follows
  the first, and replaces it on that implementation.

A page has no other HTML except pictures, one for a light page and one for a dark page: other comments would have no
effect, and a fence inside HTML is not a block.
"""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from markdown_it.token import Token

COMMANDS = ("sh", "console")
OUTPUT = "text"
SOURCES = ("c", "cc", "cuda", "rust")
FILES = (*SOURCES, "cmake", "json", "meson", "python", "toml", "yaml")

_NAMED = re.compile(r"(?:#|//|/\*) ([\w./-]+\.\w+)(, continued)?(?: \*/)?")
_PICTURE = re.compile(r' src(?:set)?="([^"]+)"')
_SAID = re.compile(r"<!-- (file|fails|needs|not run|on|walk)(?:: (.+))? -->")
IMPLEMENTATIONS = ("cpython", "pypy")


class PageError(Exception):
    """A page has a block that never runs."""


@dataclass(frozen=True)
class Block:
    """A code block. `line` is the line of its fence, from 1; `file` is the file that the block is (a part of), else
    ""."""

    page: str
    line: int
    language: str
    text: str
    file: str = ""
    continues: bool = False
    fails: bool = False
    not_run: str = ""
    on: str = ""  # its implementation, if it is for one only
    never_runs: bool = False  # on no machine

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def is_source(self) -> bool:
        return bool(self.file) and not self.not_run


def read_blocks(page: str, text: str, walks: bool = False) -> list[Block]:
    """Return the blocks of a page, in order; `walks` is true for ci/newcomer. Raises PageError for an invalid block."""
    blocks: list[Block] = []
    tokens = MarkdownIt("commonmark").parse(text)
    for before, token in zip([None, *tokens], tokens):
        said = before.content.strip() if before and before.type == "html_block" else ""
        if token.type == "fence":
            blocks.append(_block_of(page, token, said, walks))
        elif said:
            raise PageError(f"{page}: {said!r} stands before no block")
        elif token.type == "code_block":
            raise PageError(f"{page}:{_line_of(token)}: indented code: a fence names the language")
    if tokens and tokens[-1].type == "html_block":
        raise PageError(f"{page}: {tokens[-1].content.strip()!r} stands before no block")
    _check_order(blocks)
    return blocks


def read_links(text: str) -> list[str]:
    """Return the targets of the links and pictures of a page, except those on other sites."""
    tokens = (child for token in MarkdownIt("commonmark").parse(text) for child in token.children or ())
    links = (link for token in tokens for link in _links_of(token))
    return [link for link in links if "://" not in link]


def _links_of(token: Token) -> list[str]:
    if token.type == "link_open":
        return [str(token.attrGet("href"))]
    return _PICTURE.findall(token.content) if token.type == "html_inline" else []


def read_headings(text: str) -> list[str]:
    """Return the headings of a page, spelled as in links."""
    tokens = MarkdownIt("commonmark").parse(text)
    titles = (after.content for token, after in zip(tokens, tokens[1:]) if token.type == "heading_open")
    return [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]


def _line_of(token: Token) -> int:
    assert token.map is not None  # all blocks have one
    return token.map[0] + 1


def _block_of(page: str, token: Token, said: str, walks: bool) -> Block:
    line = _line_of(token)
    language = token.info.strip()
    key, value = _read_said(f"{page}:{line}", said)
    named = _NAMED.fullmatch(token.content.partition("\n")[0])
    file = value if key == "file" else named[1] if named and language in FILES else ""
    block = Block(
        page,
        line,
        language,
        token.content,
        file,
        continues=bool(named and named[2]),
        fails=key == "fails",
        not_run=_why_not(key, value, walks),
        on=value if key == "on" else "",
        never_runs=key == "not run",
    )
    if block.on and block.on not in IMPLEMENTATIONS:
        raise PageError(f"{block.place}: {block.on} is none of {', '.join(IMPLEMENTATIONS)}")
    if language not in (*COMMANDS, *FILES, OUTPUT):
        raise PageError(f"{block.place}: `{language}` is not a language that the tests know")
    if not file and language not in (*COMMANDS, OUTPUT, "python") and not block.not_run:
        raise PageError(f"{block.place}: a block of {language} names its file in the first line")
    return block


def _why_not(key: str, value: str, walks: bool) -> str:
    """Return the reason why a block does not run here; "" if it does."""
    if key == "needs":
        return "" if shutil.which(value) else f"{value} is missing"
    if key == "on":
        return "" if value == sys.implementation.name else f"it is of {value}"
    if key == "walk":
        return "" if walks else f"{value}; ci/newcomer runs it"
    return value if key == "not run" else ""


def _read_said(place: str, said: str) -> tuple[str, str]:
    if not said:
        return "", ""
    found = _SAID.fullmatch(said)
    if not found or (found[1] == "fails") != (found[2] is None):
        raise PageError(f"{place}: {said!r} says nothing that the tests know")
    return found[1], found[2] or ""


def _check_order(blocks: list[Block]) -> None:
    """Check that each output follows the block that printed it, and that the parts of a file follow its beginning."""
    begun: set[str] = set()
    for before, block in zip([None, *blocks], blocks):
        if block.language == OUTPUT and block.on and before is not None and before.language == OUTPUT:
            continue
        if block.language == OUTPUT and not block.not_run and (before is None or not _prints(before)):
            raise PageError(f"{block.place}: text is the output of the block before it, which prints nothing")
        if block.continues and block.file not in begun:
            raise PageError(f"{block.place}: {block.file} has no beginning that it could continue")
        begun.add(block.file)
    for block in blocks:
        if block.is_source and block.language in (*SOURCES, "python") and not _is_used(block, blocks):
            raise PageError(f"{block.place}: no block uses {block.file}")


def _prints(block: Block) -> bool:
    return not block.file and block.language in ("sh", "python")


def _is_used(source: Block, blocks: list[Block]) -> bool:
    """Return whether a block that runs, or that configures a build tool, names the file or the file's package."""
    path = Path(source.file)
    name = path.parent.name if path.name == "__init__.py" else path.stem
    word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    running = (b for b in blocks if not b.never_runs)
    users = (b for b in running if b.file != source.file and b.language not in (*SOURCES, OUTPUT))
    return any(word.search(block.text) for block in users)
