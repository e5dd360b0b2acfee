"""README.md for the page of the package on an index, where nothing of the checkout lies beside it.

A link to a file of the checkout leads to the project's sources, by the address that pyproject.toml gives as `Source`;
without one it is its text alone, and pictures are left out.
"""

from __future__ import annotations

import re
from pathlib import Path

_SOURCE = re.compile(r'^Source = "([^"]+?)/?"$', re.MULTILINE)
_FENCE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[(?P<text>[^]\[]+)\]\((?P<target>[^)\s]+)\)")
_SAID = re.compile(r"^<!-- .* -->\n", re.MULTILINE)
_PICTURE = re.compile(r"<picture>.*?</picture>\n*", re.DOTALL)
_ATTRIBUTE = re.compile(r'(?<=src=")(?!\w+://)|(?<=srcset=")(?!\w+://)')


def read_source(pyproject: Path) -> str:
    """The address of the project's sources, "" where there is none."""
    found = _SOURCE.search(pyproject.read_text(encoding="utf-8"))
    return found[1] if found else ""


def describe(readme: str, source: str) -> str:
    """The text of README.md without links to files, or with such as lead to `source`."""
    parts = _FENCE.split(_SAID.sub("", readme))
    return "".join(part if part.startswith("```") else _with_links(part, source) for part in parts)


def _with_links(text: str, source: str) -> str:
    def link(match: re.Match[str]) -> str:
        target = match["target"]
        if "://" in target or target.startswith("#"):
            return match[0]
        return f"[{match['text']}]({source}/blob/HEAD/{target})" if source else match["text"]

    text = _ATTRIBUTE.sub(f"{source}/raw/HEAD/", text) if source else _PICTURE.sub("", text)
    return _LINK.sub(link, text)
