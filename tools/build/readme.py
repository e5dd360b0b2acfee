"""Adapts README.md for the package's page on an index, which does not have the files of the checkout.

A link to a file of the checkout becomes a link into the project's sources, at the address that pyproject.toml names
`Source`. Without that address the link is reduced to its text, and pictures are removed.
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
    """Return the address of the project's sources, "" if there is none."""
    found = _SOURCE.search(pyproject.read_text(encoding="utf-8"))
    return found[1] if found else ""


def describe(readme: str, source: str) -> str:
    """Return the text of README.md with links into `source` in place of links to files, or without such links."""
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
