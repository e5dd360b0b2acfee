"""The links of pages to each other lead somewhere."""

from __future__ import annotations

import pytest
from blocks import read_headings, read_links
from pages import ALL_PAGES
from project import ROOT

LINKS = [(page, link) for page in ALL_PAGES for link in read_links((ROOT / page).read_text())]


@pytest.mark.parametrize(("page", "link"), LINKS)
def test_a_link_leads_to_a_file(page: str, link: str) -> None:
    path, _, heading = link.partition("#")
    target = (ROOT / page).parent / path if path else ROOT / page
    assert target.exists()
    assert not heading or heading in read_headings(target.read_text())
