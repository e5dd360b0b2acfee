"""The check of the wheels' binaries: the libraries that they need, and the largest pages with which they can be
mapped."""

from pathlib import Path

from ci.jobs.elf import Library
from ci.jobs.exports import find_small_pages

ARM = Path("ffi_hpy-1-py3-none-manylinux_2_17_aarch64.whl")
INTEL = Path("ffi_hpy-1-py3-none-manylinux_2_17_x86_64.whl")


def library(page):
    return Library("", {}, set(), set(), (), (), page)


def test_a_binary_for_arm_has_to_be_mapped_with_pages_of_64_kib():
    (problem,) = find_small_pages({"lib/a.so": library(1 << 12), "lib/b.so": library(1 << 16)}, ARM)
    assert problem == "a.so: can be mapped with pages of 4096 bytes, and aarch64 may have 65536"


def test_elsewhere_pages_of_4_kib_will_do():
    assert find_small_pages({"lib/a.so": library(1 << 12)}, INTEL) == []
