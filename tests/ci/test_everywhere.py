"""Merging unpacked wheels into the wheel for every system; the wheels here are made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.lib.messages import Missing
from ci.provision.everywhere import add_system, move_binaries, retag

WHEEL = "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-one\nTag: py3-none-other\n"


@pytest.fixture
def make(tmp_path):
    """Return a function that makes an unpacked wheel for a system, with its binaries moved."""

    def make(system, library="lib/libtvm_ffi.so", **files):
        tree = tmp_path / system
        binaries = {"ffi_hpy/_hpy.so": system, f"ffi_hpy/{library}": system}
        others = {"ffi_hpy/__init__.py": "", "x.dist-info/WHEEL": WHEEL, "x.dist-info/RECORD": system}
        for name, text in {**binaries, **others, **files}.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(text)
        move_binaries(tree, Path("_systems", system))
        retag(tree)
        return tree

    return make


def files_of(tree):
    return sorted(path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file())


def test_each_system_has_its_binaries_in_a_separate_folder(make):
    made = make("x86_64-linux")
    add_system(make("aarch64-windows", library="lib/tvm_ffi.dll"), made, "second.whl")
    assert files_of(made) == [
        "ffi_hpy/__init__.py",
        "ffi_hpy/_systems/aarch64-windows/_hpy.so",
        "ffi_hpy/_systems/aarch64-windows/lib/tvm_ffi.dll",
        "ffi_hpy/_systems/x86_64-linux/_hpy.so",
        "ffi_hpy/_systems/x86_64-linux/lib/libtvm_ffi.so",
        "x.dist-info/WHEEL",
    ]
    assert (made / "ffi_hpy/_systems/aarch64-windows/_hpy.so").read_text() == "aarch64-windows"


def test_its_metadata_are_of_any_platform(make):
    text = (make("x86_64-linux") / "x.dist-info" / "WHEEL").read_text()
    assert text == "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@pytest.mark.parametrize(
    ("files", "odd"),
    [
        ({"ffi_hpy/__init__.py": "another text"}, "ffi_hpy/__init__.py"),
        ({"more.txt": "", "even_more.txt": ""}, "even_more.txt, more.txt"),
    ],
)
def test_other_files_must_be_the_same_for_all_systems(make, files, odd):
    plain, other = make("x86_64-linux"), make("aarch64-linux", **files)
    for tree, made in ((other, plain), (plain, other)):
        with pytest.raises(Missing, match=f"^a.whl differs from the wheels for other systems in {odd}$"):
            add_system(tree, made, "a.whl")
