"""Opens each page of a folder in a headless browser and prints its problems; run by ci/jobs/site_look.py.

    python look_at_pages.py FOLDER BROWSER [PICTURES]

A page must request only existing files of the folder, its links must lead to existing files and headings, and the
console must stay empty. PICTURES is a folder for a screenshot of each page.
"""

from __future__ import annotations

import functools
import http.server
import sys
import threading
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

FOUND = {"callback": ("", 1), "TypedFunction": ("function.h", 1), "kwargs": ("Names, defaults and help", 3)}
"""A title among the first results of a search, and their number; an empty title is part of every title."""

SECONDS = 120  # per page

_IDS = "[...document.querySelectorAll('[id],[name]')].flatMap(e => [e.id, e.name])"
_LINKS = "[...document.querySelectorAll('a[href]')].map(e => e.href)"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/favicon.ico":  # browsers request it without a link
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *_: object) -> None:
        pass


def serve(folder: Path) -> str:
    """Serve a folder until the process ends, and return its URL."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


class Look:
    """One browser's view of the pages of a folder."""

    def __init__(self, browser: Browser, folder: Path, here: str) -> None:
        self._browser = browser
        self._folder = folder
        self._here = here
        self._ids: dict[str, set[str]] = {}
        self._headings: list[tuple[str, str, str]] = []  # page, the page that it links to, heading

    def open(self, name: str, picture: Path | None) -> list[str]:
        """Open a page and return its problems."""
        wrong: list[str] = []
        page = self._browser.new_page()
        page.on("console", lambda said: said.type in ("error", "warning") and wrong.append(f"console: {said.text}"))
        page.on("pageerror", lambda error: wrong.append(f"script: {error}"))
        page.on("response", lambda answer: answer.status >= 400 and wrong.append(f"{answer.status}: {answer.url}"))
        page.on("request", lambda asked: self._is_ours(asked.url) or wrong.append(f"asks for {asked.url}"))
        page.goto(self._here + name, wait_until="load", timeout=1000 * SECONDS)
        self._ids[name] = set(page.evaluate(_IDS))
        wrong += [line for link in page.evaluate(_LINKS) for line in self._wrong_link(name, link)]
        if picture:
            picture.parent.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=str(picture))
        page.close()
        return list(dict.fromkeys(wrong))

    def lost_headings(self) -> list[tuple[str, str]]:
        """Return the links to missing headings, each with its page, after all pages were opened."""
        return [
            (page, f"{there}#{heading} does not exist")
            for page, there, heading in dict.fromkeys(self._headings)
            if there in self._ids and heading not in self._ids[there]
        ]

    def _is_ours(self, address: str) -> bool:
        return address.startswith((self._here, "data:", "blob:"))

    def _wrong_link(self, name: str, link: str) -> list[str]:
        address, _, heading = link.partition("#")
        if not address.startswith(self._here):
            return []
        there = address[len(self._here) :].partition("?")[0]
        there += "index.html" if there.endswith("/") or not there else ""
        if heading and not heading.startswith("_"):
            self._headings.append((name, there, heading))
        return [] if (self._folder / there).is_file() else [f"links to {there}, which is not there"]


def search_for(browser: Browser, here: str, word: str) -> list[str]:
    """Return the results of the search on the first page."""
    page = browser.new_page()
    page.goto(here + "index.html", wait_until="load")
    page.fill("input[name=query]", word)
    page.wait_for_selector(".md-search-result__item", timeout=20_000)
    found = page.locator(".md-search-result__item h1").all_inner_texts()
    page.close()
    return list(found)


def names_of(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))


def main(folder: Path, chromium: str, pictures: Path | None) -> int:
    here = serve(folder)
    wrong: list[tuple[str, str]] = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        look = Look(browser, folder, here)
        names = names_of(folder)
        for name in names:
            picture = (pictures / name).with_suffix(".png") if pictures else None
            wrong += [(name, line) for line in look.open(name, picture)]
        wrong += look.lost_headings()
        for word, (title, n_first) in FOUND.items():
            found = search_for(browser, here, word)[:n_first]
            if not any(title in one for one in found):
                wrong.append(("index.html", f"the search for {word} finds {found}, not {title!r}"))
        browser.close()
    for name, line in wrong:
        print(f"{name}: {line}")
    n_wrong = len({name for name, _ in wrong})
    print(f"{len(names) - n_wrong} passed, {n_wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]) if len(sys.argv) > 3 else None))
