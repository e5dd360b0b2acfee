"""The choice of the tarball of CPython's sources."""

from __future__ import annotations

import pytest

from ci.lib.matrix import BY_NAME
from ci.lib.messages import Missing
from ci.provision import tarballs
from ci.provision.interpreters import SOURCES
from ci.provision.tarballs import find_tarball


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """The folder that the variable names, and the folder next to the checkout; both are empty."""
    chosen, shared = tmp_path / "chosen", tmp_path / "shared"
    chosen.mkdir()
    shared.mkdir()
    monkeypatch.setenv(tarballs.VARIABLE, str(chosen))
    monkeypatch.setattr(tarballs, "SHARED", shared)
    return chosen, shared


def put(folder, *names):
    for name in names:
        (folder / name).touch()


def test_the_folder_that_the_variable_names_comes_first(folders):
    chosen, shared = folders
    put(chosen, "Python-3.14.2.tar.xz")
    put(shared, "Python-3.14.7.tar.xz")
    assert find_tarball((3, 14)) == chosen / "Python-3.14.2.tar.xz"


def test_the_folder_beside_the_checkout_comes_next(folders):
    chosen, shared = folders
    put(chosen, "Python-3.13.5.tar.xz")
    put(shared, "cpython-3.14.7.tar.xz")
    assert find_tarball((3, 14)) == shared / "cpython-3.14.7.tar.xz"


def test_without_the_variable_the_folder_beside_the_checkout_is_searched(folders, monkeypatch):
    _, shared = folders
    monkeypatch.delenv(tarballs.VARIABLE)
    put(shared, "cpython-3.14.7.tar.xz")
    assert find_tarball((3, 14)) == shared / "cpython-3.14.7.tar.xz"


def test_the_newest_release_is_taken(folders):
    chosen, _ = folders
    put(chosen, "Python-3.14.2.tar.xz", "Python-3.14.10.tgz", "Python-3.14.9.tar.gz", "Python-3.14.0rc1.tar.xz")
    assert find_tarball((3, 14)).name == "Python-3.14.10.tgz"


def test_a_release_is_newer_than_its_candidates_and_betas(folders):
    chosen, _ = folders
    names = ["Python-3.15.0a7.tar.xz", "Python-3.15.0b2.tar.xz", "Python-3.15.0rc1.tar.xz", "Python-3.15.0.tar.xz"]
    for name in names:
        put(chosen, name)
        assert find_tarball((3, 15)).name == name


def test_a_file_that_only_looks_like_a_tarball_is_ignored(folders):
    chosen, _ = folders
    put(chosen, "Python-3.14.7.tar.xz.asc", "python-3.14.7.zip", "Python-3.1.4.tar.xz", "README.md")
    with pytest.raises(Missing):
        find_tarball((3, 14))


def test_a_folder_that_does_not_exist_is_an_empty_one(folders, monkeypatch):
    chosen, shared = folders
    monkeypatch.setenv(tarballs.VARIABLE, str(chosen / "nowhere"))
    put(shared, "Python-3.14.7.tar.xz")
    assert find_tarball((3, 14)) == shared / "Python-3.14.7.tar.xz"


def test_one_line_names_the_missing_tarball_and_the_folders(folders, monkeypatch):
    chosen, _ = folders
    with pytest.raises(Missing) as raised:
        find_tarball((3, 15))
    assert str(raised.value) == (
        f"no Python-3.15.*.tar.xz in {chosen} (FFI_HPY_SOURCES) or ../shared/sources beside the checkout"
    )
    monkeypatch.delenv(tarballs.VARIABLE)
    with pytest.raises(Missing) as raised:
        find_tarball((3, 15))
    assert str(raised.value) == (
        "no Python-3.15.*.tar.xz in a folder that FFI_HPY_SOURCES names, or in ../shared/sources beside the checkout"
    )


@pytest.mark.parametrize("name", ["cp313t", "cp314t", "cp315t"])
def test_tarballs_come_before_sources_that_need_the_network(name):
    labels = [source.label for source in SOURCES[name]]
    assert labels[:5] == ["cache", "pyenv", "PATH", "tarball", "uv"]
    assert labels[5].endswith("source")


def test_every_interpreter_has_sources():
    assert SOURCES.keys() == BY_NAME.keys()
