"""GoogleTest, as Debian packages it: its headers, libraries and sources, unpacked into the cache."""

from __future__ import annotations

from pathlib import Path

from ci.lib.folders import cache_dir, locked
from ci.lib.messages import Missing, say
from ci.provision.debian import debian, release, unpack


def _unpacked(package: str, inside: str) -> Path:
    """Return the folder of an unpacked Debian package, recognized by a file `inside`. Raises Missing."""
    folder = cache_dir() / "googletest"
    root = folder / "root"
    with locked(folder.with_name(".googletest.lock")):
        if not list(root.glob(inside)):
            say("googletest: fetching Debian's ...")
            root.mkdir(parents=True, exist_ok=True)
            try:
                unpack(debian(release(), "deb"), [package], root, cache_dir() / "logs" / "googletest.log")
            except Missing as reason:
                raise Missing(f"no googletest from Debian: {reason}") from None
    return root


def googletest_sources() -> Path:
    """Return the folder of GoogleTest's sources, for a machine without Debian's libraries. Raises Missing."""
    sources = "usr/src/googletest/googletest"
    return _unpacked("googletest", f"{sources}/src/gtest-all.cc") / sources


def googletest_flags() -> tuple[list[str], list[str]]:
    """Return the compiler flags and the linker flags of tests. Raises Missing."""
    root = _unpacked("libgtest-dev", "usr/lib/*/libgtest_main.a")
    libraries = next(iter(root.glob("usr/lib/*/libgtest_main.a"))).parent
    return ["-isystem", str(root / "usr" / "include")], [f"-L{libraries}", "-lgtest_main", "-lgtest", "-lpthread"]
