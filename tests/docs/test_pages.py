"""The pages for authors of libraries say what is so: each block is compiled and run, each output is compared."""

from __future__ import annotations

import pytest
from blocks import Block, headings, read_links
from pages import ALL_PAGES, NATIVE_PAGES, cases, read, told
from project import ROOT, Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PAGES = read(NATIVE_PAGES)
LINKS = [(page, link) for page in ALL_PAGES for link in read_links((ROOT / page).read_text())]
CASES = cases(PAGES)


@pytest.mark.parametrize("case", CASES)
def test_a_block_does_what_the_page_says(case: str, project_of: Callable[[str, list[Block]], Project]) -> None:
    block = CASES[case]
    if block.not_run:
        pytest.skip(block.not_run)
    with told():
        project_of(block.page, PAGES[block.page]).run_up_to(block)


@pytest.mark.parametrize("page", PAGES)
def test_the_program_of_a_page_ends_well(page: str, project_of: Callable[[str, list[Block]], Project]) -> None:
    project = project_of(page, PAGES[page])
    with told():
        project.run_up_to(PAGES[page][-1])
        project.end()


@pytest.mark.parametrize(("page", "link"), LINKS)
def test_a_link_leads_to_a_file(page: str, link: str) -> None:
    path, _, heading = link.partition("#")
    target = (ROOT / page).parent / path if path else ROOT / page
    assert target.exists()
    assert not heading or heading in headings(target.read_text())
