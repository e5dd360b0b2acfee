"""ci/newcomer can fail: it reports the place of the block whose result differs from its page."""

from __future__ import annotations

from pathlib import Path

import pytest
import walk


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose files are pages."""
    folder = tmp_path / "pages"
    folder.mkdir()
    monkeypatch.setattr(walk, "ROOT", folder)
    return folder


def test_a_walk_ends_at_the_block_that_does_something_else(
    pages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (pages / "one.md").write_text("```sh\nls ../ffi_hpy\n```\n\n```text\none.md\n```\n\n```sh\nexit 3\n```\n")
    assert walk.main(tmp_path, ["one.md"]) == 1
    done, place, *_, closing = capsys.readouterr().out.splitlines()
    assert done.startswith("one.md:1 sh: ok (")
    assert place == "one.md:9: exit status 3:"
    assert closing == "1 passed, 1 failed"


def test_each_page_is_walked_in_an_empty_folder(
    pages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (pages / "one.md").write_text("<!-- walk: it is an example -->\n```sh\nls\ntouch made\n```\n")
    assert walk.main(tmp_path, ["one.md", "one.md"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 passed"
