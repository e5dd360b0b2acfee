"""Checks the HTML of the built site and prints the problems; run by ci/jobs/site.py in the environment of its tools.

    python check_pages.py FOLDER VERSION

FOLDER has the input in `pages` and the output in `html`. Each page has text beyond headings, the version, and the link
to the repository; each block of code in a known language is highlighted; the search, with the ranking of the theme,
finds the pages of FOUND.
"""

from __future__ import annotations

import html
import json
import re
import sys
from collections import Counter
from pathlib import Path

HIGHLIGHTED = ("c", "cc", "cmake", "cpp", "cuda", "python", "rust", "sh", "toml")
NO_PAGES = ("404.html",)  # a server shows it in place of a missing page

FOUND = {
    "TypedFunction": ("reference/headers/function.html",),
    "kwargs": ("docs/signatures.html",),
}
"""The first results of a search."""

_ARTICLE = re.compile(r"<article[^>]*>(.*)</article>", re.DOTALL)
_HEADING = re.compile(r"<(h[1-6])\b.*?</\1>", re.DOTALL)
_BLOCK = re.compile(r'<div class="language-(\w+) highlight"><pre>(.*?)</pre>', re.DOTALL)
_FENCE = re.compile(r"^ *```(\w+)", re.MULTILINE)
_CLONE = re.compile(r"^git clone (\S+)\.git$", re.MULTILINE)


def check_page(page: str, source: str | None, version: str, repository: str) -> list[str]:
    """Return the problems of a page with this HTML and, unless the page has no file, this Markdown."""
    wrong = []
    article = _ARTICLE.search(page)
    text = re.sub(r"<[^>]*>", "", _HEADING.sub("", article[1])) if article else ""
    if len(text.split()) < 3:
        wrong.append("has no text beyond headings")
    if f"ffi_hpy {version}" not in re.sub(r"<title>.*?</title>", "", page, flags=re.DOTALL):
        wrong.append(f"does not show the version {version}")
    if f'href="{repository}"' not in page:
        wrong.append(f"has no link to {repository}")
    blocks = _BLOCK.findall(page)
    for language, content in blocks:
        if language in HIGHLIGHTED and not re.search(r'<span class="[a-z]', content):
            wrong.append(f"has a block of {language} that is not highlighted: {html.unescape(content)[:60]!r}")
    asked = Counter(language for language in _FENCE.findall(source or "") if language in HIGHLIGHTED)
    lost = asked - Counter(language for language, _ in blocks)
    wrong += [f"shows {n} of its blocks of {language} as text" for language, n in lost.items()]
    return wrong


class Search:
    """The index of the site, searched as by the theme: a term is the beginning of a word; a word of a title counts for
    more, and a page for more than a section."""

    def __init__(self, built: Path) -> None:
        from lunr import lunr  # only the environment of the site's tools has it
        from lunr.builder import Builder
        from lunr.stop_word_filter import stop_word_filter
        from lunr.tokenizer import Tokenizer

        index = json.loads((built / "search" / "search_index.json").read_text())
        separator = re.compile(index["config"]["separator"])
        fields = [{"field_name": "title", "boost": 1000}, "text"]
        documents = [{**entry, "text": re.sub(r"<[^>]*>", " ", entry["text"])} for entry in index["docs"]]
        for entry in documents:
            for name in ("title", "text"):
                entry[name] = [str(token) for token in Tokenizer(entry[name], separator=separator)]
        builder = Builder()
        builder.pipeline.add(stop_word_filter)  # the theme looks for whole words, not for stems
        self._index = lunr(ref="location", fields=fields, documents=documents, builder=builder)

    def find(self, word: str) -> list[str]:
        """Return the pages that contain the beginning of a word, the best first."""
        scores: Counter[str] = Counter()
        for result in self._index.search(f"{word.lower()}*"):
            page, _, section = result["ref"].partition("#")
            score = result["score"] * (2 if section else 5)
            scores[page] = max(scores[page], score)
        return [page for page, _ in scores.most_common()]


def main(folder: Path, version: str) -> int:
    built = folder / "html"
    wrong: list[str] = []
    clone = _CLONE.search((folder / "pages" / "README.md").read_text())
    repository = clone[1] if clone else "the address that README.md lacks"
    names = sorted(path.relative_to(built).as_posix() for path in built.rglob("*.html"))
    for name in names:
        if name in NO_PAGES:
            continue
        source = (folder / "pages" / name).with_suffix(".md")
        if name == "index.html":
            source = source.with_name("README.md")
        text = source.read_text() if source.exists() else None
        wrong += [f"{name}: {line}" for line in check_page((built / name).read_text(), text, version, repository)]
    search = Search(built)
    for word, pages in FOUND.items():
        found = search.find(word)
        if set(found[: len(pages)]) != set(pages):
            wrong.append(f"the search for {word} finds {found[:5]}, and should find {', '.join(pages)} first")
    print("\n".join(wrong) if wrong else f"{len(names)} pages checked")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
