"""README.md is also shown without the checkout, so no link leads to a file."""

from __future__ import annotations

import re
from pathlib import Path

from tools.build.readme import describe, read_source

ROOT = Path(__file__).resolve().parents[2]
README = """
# Name

See [a page](docs/classes.md#part), [a site](https://example.org) and [below](#below).

<picture><source media="(prefers-color-scheme: dark)" srcset="docs/dark.svg"><img
alt="a plot" src="docs/light.svg"></picture>

<!-- not run: it is an example -->
```sh
echo "[a page](docs/classes.md)"
```
"""


def test_without_an_address_a_link_is_its_text_and_a_picture_is_left_out() -> None:
    text = describe(README, "")
    assert "See a page, [a site](https://example.org) and [below](#below)." in text
    assert "picture" not in text
    assert "not run" not in text


def test_with_an_address_links_and_pictures_lead_there() -> None:
    text = describe(README, "https://example.org/name")
    assert "[a page](https://example.org/name/blob/HEAD/docs/classes.md#part)" in text
    assert 'srcset="https://example.org/name/raw/HEAD/docs/dark.svg"' in text
    assert 'src="https://example.org/name/raw/HEAD/docs/light.svg"' in text


def test_code_stays_as_it_is() -> None:
    assert 'echo "[a page](docs/classes.md)"' in describe(README, "")


def test_the_address_is_that_of_pyproject(tmp_path: Path) -> None:
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text('[project.urls]\nSource = "https://example.org/name/"\n')
    assert read_source(pyproject) == "https://example.org/name"
    pyproject.write_text("[project]\n")
    assert read_source(pyproject) == ""


def test_our_own_has_no_link_to_a_file() -> None:
    text = describe((ROOT / "README.md").read_text(), "")
    outside_of_code = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"\]\((?!https://|#)", outside_of_code) == []
    assert "<img" not in text
