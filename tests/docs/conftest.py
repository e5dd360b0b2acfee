"""Parametrizes the tests of page_tests.py: blocks, pages, and the projects of pages, each shared by the page's
blocks."""

from __future__ import annotations

from pathlib import Path

import pytest
from blocks import OUTPUT
from pages import files_of
from project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize the tests. Outputs have no separate tests: they belong to the blocks before them."""
    pages = getattr(metafunc.module, "PAGES", {})
    if "block" in metafunc.fixturenames:
        blocks = [block for blocks in pages.values() for block in blocks if block.language != OUTPUT]
        metafunc.parametrize("block", blocks, ids=[f"{block.place}-{block.language}" for block in blocks])
    elif "project_of" in metafunc.fixturenames:
        metafunc.parametrize("page", pages)


@pytest.fixture(scope="module")
def project_of(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Project]]:
    """Yield a function that returns the project of a page."""
    made: dict[str, Project] = {}

    def project_of(page: str) -> Project:
        if page not in made:
            folder = tmp_path_factory.mktemp(Path(page).stem)
            made[page] = Project(request.module.PAGES[page], folder, files_of(page))
        return made[page]

    yield project_of
    for project in made.values():
        project.kill()
