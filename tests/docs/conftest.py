"""The projects of the pages, each of which the tests of its blocks share."""

from __future__ import annotations

from pathlib import Path

import pytest
from blocks import Block
from project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(scope="module")
def project_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str, list[Block]], Project]]:
    """Gives the project of a page with these blocks."""
    made: dict[str, Project] = {}

    def project_of(page: str, blocks: list[Block]) -> Project:
        if page not in made:
            made[page] = Project(blocks, tmp_path_factory.mktemp(Path(page).stem))
        return made[page]

    yield project_of
    for project in made.values():
        project.kill()
