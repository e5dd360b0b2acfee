"""The pages for authors of libraries say what is so: each block is compiled and run, each output is compared."""

from __future__ import annotations

import pytest
from blocks import Block
from pages import NATIVE_PAGES, cases, read, told
from project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PAGES = read(NATIVE_PAGES)
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
