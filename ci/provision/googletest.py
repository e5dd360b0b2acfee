"""GoogleTest, as Debian packages it: its headers and libraries, unpacked into the cache."""

from __future__ import annotations

from ci.lib.folders import cache_dir, locked
from ci.lib.messages import Missing, say
from ci.provision.debian import debian, release, unpack


def googletest_flags() -> tuple[list[str], list[str]]:
    """Return the flags to compile tests with, and those to link them with. Raises Missing."""
    folder = cache_dir() / "googletest"
    root = folder / "root"
    with locked(folder.with_name(".googletest.lock")):
        if not list(root.glob("usr/lib/*/libgtest_main.a")):
            say("googletest: fetching Debian's ...")
            root.mkdir(parents=True, exist_ok=True)
            try:
                unpack(debian(release(), "deb"), ["libgtest-dev"], root, cache_dir() / "logs" / "googletest.log")
            except Missing as reason:
                raise Missing(f"no googletest from Debian: {reason}") from None
    libraries = next(iter(root.glob("usr/lib/*/libgtest_main.a"))).parent
    return ["-isystem", str(root / "usr" / "include")], [f"-L{libraries}", "-lgtest_main", "-lgtest", "-lpthread"]
