"""The files that MANIFEST.in puts into the sdist: all of a checkout, so that its tests run there."""

from support.native_build import ROOT

MADE = ("build", "dist", "__pycache__")
"""Folders that do not belong to the sources."""


def test_every_folder_of_the_sources_is_in_the_sdist():
    rules = [line.split() for line in (ROOT / "MANIFEST.in").read_text().splitlines()]
    grafted = {folder for rule, folder, *_ in rules if rule in ("graft", "recursive-include")}
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")}
    folders = {name for name in folders if name not in MADE and not name.endswith(".egg-info")}
    assert folders - grafted == set()


def test_every_page_is_in_the_sdist():
    rules = [line.split() for line in (ROOT / "MANIFEST.in").read_text().splitlines()]
    included = {name for rule, *names in rules if rule == "include" for name in names}
    assert {path.name for path in ROOT.glob("*.md")} - included == {"README.md"}  # setuptools adds it by itself
