"""The site of the documentation: its pages are laid out as in the checkout, and MkDocs builds it with --strict."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from ci.jobs.header_members import Headers
from ci.jobs.result import Result
from ci.jobs.site_headers import header_pages, navigation
from ci.jobs.site_reference import reference_pages
from ci.lib.folders import REQUIREMENTS, ROOT
from ci.lib.process import clean_environ, closing_line, run_logged
from ci.provision.envs import tool_env

SITE = ROOT / "build" / "site"
CONFIG = ROOT / "docs" / "site" / "mkdocs.yml"
DOXYFILE = CONFIG.with_name("Doxyfile")
CHECK = Path(__file__).with_name("check_pages.py")
VERSION = ROOT / "ffi_hpy" / "_start" / "own_version.py"
INDEX = SITE / "html" / "index.html"

PLACES = ("*.md", "docs/*.md", "docs/plots/*.svg", "examples/*/README.md", "ffi_hpy/**/*.md", "src/*/README.md")
"""The files of the checkout that belong to the site."""

HEADERS = "      - C and C++: HEADERS"
"""The line of mkdocs.yml in whose place the list of the headers' pages comes."""

_LINK = re.compile(r"\[(?P<text>[^]\n]*(?:\n[^]\n]*)?)\]\((?P<target>[^)\s]+)\)")
_FENCE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)


def lay_out(site: Path) -> None:
    """Fill an empty folder with the input of MkDocs: its configuration and the pages."""
    pages = site / "pages"
    files = sorted({path for place in PLACES for path in ROOT.glob(place)})
    for path in files:
        target = pages / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            target.write_text(with_links(path, set(files)))
        else:
            shutil.copyfile(path, target)
    for name, text in reference_pages():
        target = pages / "reference" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    (site / "checkout").symlink_to(ROOT)


def lay_out_headers(site: Path, headers: Headers) -> None:
    """Add the pages of the headers, and the configuration, which lists them."""
    for name, text in header_pages(headers):
        target = site / "pages" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    lines = CONFIG.read_text().split("\n")
    at = lines.index(HEADERS)
    indent = HEADERS[: HEADERS.index("- ")]
    lines[at : at + 1] = [f"{indent}- C and C++:", *(f"{indent}    {line}" for line in navigation(headers))]
    (site / "mkdocs.yml").write_text("\n".join(lines))


def with_links(path: Path, files: set[Path]) -> str:
    """Return a page in which each link to a file outside of the site is replaced by its text."""

    def link(match: re.Match[str]) -> str:
        target = match["target"].partition("#")[0]
        if "://" in target or not target:
            return match[0]
        there = (path.parent / target).resolve()
        if there.is_dir() and there / "README.md" in files:
            return f"[{match['text']}]({target}/README.md)"
        return match[0] if there in files else match["text"]

    parts = _FENCE.split(path.read_text())
    return "".join(part if part.startswith("```") else _LINK.sub(link, part) for part in parts)


def build_site(log: Path) -> int:
    """Build the site from scratch at SITE, and return an exit status; warnings are errors. Raises Missing."""
    shutil.rmtree(SITE, ignore_errors=True)
    SITE.mkdir(parents=True)
    lay_out(SITE)
    tools = tool_env("tool-site", REQUIREMENTS / "site.txt")
    path = f"{tools}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    environ = clean_environ({"PATH": path, "NO_MKDOCS_2_WARNING": "1", "SITE_NAME": f"ffi_hpy {own_version()}"})
    status = run_logged([str(tools / "doxygen"), str(DOXYFILE)], log, environ, SITE)
    if status:
        return status
    headers = Headers(SITE / "xml")
    lost = headers.without_comment()
    if lost:
        with log.open("a") as stream:
            stream.write("".join(f"{line}\n" for line in lost))
        return 1
    lay_out_headers(SITE, headers)
    status = run_logged([str(tools / "mkdocs"), "build", "--strict"], log, environ, SITE)
    return status or run_logged([str(tools / "python"), str(CHECK), str(SITE), own_version()], log, environ, ROOT)


def own_version() -> str:
    """Return the version of the package, without an import of the package."""
    return re.findall(r'^VERSION = "(.*)"$', VERSION.read_text(), re.MULTILINE)[0]


def run_site(wheel: Path, log: Path) -> Result:
    """Build the site and count its pages."""
    status = build_site(log)
    n_pages = sum(1 for _ in INDEX.parent.rglob("*.html")) if status == 0 else None
    closing = closing_line(log.read_text(errors="replace"), status)
    return Result("site", "ok" if status == 0 else "FAILED", passed=n_pages, closing=closing)
