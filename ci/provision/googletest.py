"""GoogleTest, as Debian packages it: its headers and libraries, unpacked into the cache."""

from __future__ import annotations

from pathlib import Path

from ci.lib.folders import cache_dir, locked
from ci.lib.messages import Missing, say
from ci.provision.debian import debian, release, unpack


def googletest_flags() -> tuple[list[str], list[str]]:
    """Return the flags to compile tests with, and those to link them with. Raises Missing."""
    root = _unpacked("googletest", "libgtest-dev", "usr/lib/*/libgtest_main.a")
    libraries = next(iter(root.glob("usr/lib/*/libgtest_main.a"))).parent
    return ["-isystem", str(root / "usr" / "include")], [f"-L{libraries}", "-lgtest_main", "-lgtest", "-lpthread"]


def googletest_sources() -> tuple[list[str], list[Path]]:
    """Return the flags to compile tests and its sources with, and these, for another system. Raises Missing."""
    sources = "usr/src/googletest/googletest/src"
    root = _unpacked("googletest-sources", "googletest", f"{sources}/gtest-all.cc") / sources
    flags = ["-isystem", str(root.parent / "include"), "-isystem", str(root.parent)]
    return flags, [root / "gtest-all.cc", root / "gtest_main.cc"]


def _unpacked(name: str, package: str, wanted: str) -> Path:
    """Return the folder with the files of a package, which has to have what matches `wanted`. Raises Missing."""
    folder = cache_dir() / name
    root = folder / "root"
    with locked(folder.with_name(f".{name}.lock")):
        if not list(root.glob(wanted)):
            say("googletest: fetching Debian's ...")
            root.mkdir(parents=True, exist_ok=True)
            try:
                unpack(debian(release(), "deb"), [package], root, cache_dir() / "logs" / f"{name}.log")
            except Missing as reason:
                raise Missing(f"no googletest from Debian: {reason}") from None
    return root
