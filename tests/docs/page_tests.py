"""The tests of pages, for test modules that import them and define PAGES: the blocks of each page, by its name.
conftest.py provides their arguments."""

from __future__ import annotations

import contextlib

import pytest
from blocks import Block
from project import BlockError, Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["test_a_block_behaves_as_the_page_shows", "test_the_program_of_a_page_ends_well"]


def test_a_block_behaves_as_the_page_shows(block: Block, project_of: Callable[[str], Project]) -> None:
    if block.not_run:
        pytest.skip(block.not_run)
    with told():
        project_of(block.page).run_up_to(block)


def test_the_program_of_a_page_ends_well(page: str, project_of: Callable[[str], Project]) -> None:
    project = project_of(page)
    with told():
        project.run_up_to(project.blocks[-1])
        project.end()


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Report a page's fault without the tests' stack, which says nothing about the page."""
    try:
        yield
    except BlockError as wrong:
        raise pytest.fail.Exception(str(wrong), pytrace=False) from None
