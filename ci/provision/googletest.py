"""GoogleTest, as Debian packages it: its headers, libraries and sources, unpacked into the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ci.provision.debian import unpacked

if TYPE_CHECKING:
    from pathlib import Path


def googletest_sources() -> Path:
    """Return the folder of GoogleTest's sources, for a machine without Debian's libraries. Raises Missing."""
    sources = "usr/src/googletest/googletest"
    return unpacked("googletest", "googletest", f"{sources}/src/gtest-all.cc") / sources


def googletest_flags() -> tuple[list[str], list[str]]:
    """Return the compiler flags and the linker flags of tests. Raises Missing."""
    root = unpacked("googletest", "libgtest-dev", "usr/lib/*/libgtest_main.a")
    libraries = next(iter(root.glob("usr/lib/*/libgtest_main.a"))).parent
    return ["-isystem", str(root / "usr" / "include")], [f"-L{libraries}", "-lgtest_main", "-lgtest", "-lpthread"]
