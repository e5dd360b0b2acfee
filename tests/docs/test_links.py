"""Pages are reachable: their links to each other work, README.md lists them in an order, and they keep that order."""

from __future__ import annotations

import pytest
from blocks import read_headings, read_links
from pages import ALL_PAGES
from project import ROOT

LINKS = [(page, link) for page in ALL_PAGES for link in read_links((ROOT / page).read_text())]
DOCS = [page for page in ALL_PAGES if page.startswith("docs/")]
IN_ORDER = list(dict.fromkeys(link for page, link in LINKS if page == "README.md" and link in DOCS))


@pytest.mark.parametrize(("page", "link"), LINKS)
def test_a_link_leads_to_a_file(page: str, link: str) -> None:
    path, _, heading = link.partition("#")
    target = (ROOT / page).parent / path if path else ROOT / page
    assert target.exists()
    assert not heading or heading in read_headings(target.read_text())


@pytest.mark.parametrize("page", DOCS)
def test_a_page_is_listed_and_leads_to_the_next_one(page: str) -> None:
    assert page in IN_ORDER
    last = (ROOT / page).read_text().rstrip().splitlines()[-1]
    if page != IN_ORDER[-1]:
        assert last.startswith("Next: ")
        assert f"docs/{read_links(last)[0]}" == IN_ORDER[IN_ORDER.index(page) + 1]
