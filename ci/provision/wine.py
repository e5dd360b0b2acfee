"""Wine, which runs programs for Windows: Debian's packages, unpacked in the cache."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from ci.lib.folders import cache_dir, locked
from ci.lib.messages import Missing, say
from ci.lib.process import output_of
from ci.provision.debian import debian, release, unpack
from ci.provision.envs import build_env

PACKAGES = ("wine64", "libwine", "libunwind8", "libz-mingw-w64")
"""The packages for programs without a window; user32.dll is linked to zlib1.dll."""
TARGET = "x86_64-windows-gnu"
_RUN = """\
#!/bin/sh
here="$(dirname "$(readlink -f "$0")")"
export WINEPREFIX="$here/prefix" WINEARCH=win64 WINEDEBUG="${WINEDEBUG:--all}"
export WINEDLLOVERRIDES="mscoree,mshtml,winemenubuilder.exe="
export LD_LIBRARY_PATH="$here/root/usr/lib/x86_64-linux-gnu"
export WINEDLLPATH="$LD_LIBRARY_PATH/wine" WINESERVER="$here/root/usr/lib/wine/wineserver64"
exec "$here/root/usr/lib/wine/wine64" "$@"
"""


def windows_compiler(driver: str = "cc") -> list[str]:
    """Return the command words of zig as a compiler of C, or of C++ ("c++"), for 64-bit Windows. Raises Missing."""
    return [str(build_env() / "python"), "-m", "ziglang", driver, "-target", TARGET]


def wine_runner() -> Path:
    """Return the command that runs its first argument, a program for Windows. Raises Missing."""
    folder = cache_dir() / "wine"
    with locked(folder.with_name(".wine.lock")):
        if not folder.exists():
            say("Wine: fetching Debian's, and making its drive C ...")
            with tempfile.TemporaryDirectory(dir=cache_dir(), prefix=".new-") as scratch:
                made = Path(scratch, "wine")
                _make(made)
                made.rename(folder)
    return folder / "run"


def _make(folder: Path) -> None:
    root = folder / "root"
    root.mkdir(parents=True)
    try:
        unpack(debian(release(), "deb"), PACKAGES, root, cache_dir() / "logs" / "wine.log")
    except Missing as reason:
        raise Missing(f"no Wine from Debian: {reason}") from None
    libraries = root / "usr" / "lib" / "x86_64-linux-gnu" / "wine"
    shutil.rmtree(libraries / "i386-windows")  # no 32-bit programs are run
    shutil.rmtree(root / "usr" / "lib" / "debug", ignore_errors=True)
    shutil.copy(root / "usr" / "x86_64-w64-mingw32" / "lib" / "zlib1.dll", libraries / "x86_64-windows")
    server = root / "usr" / "lib" / "wine" / "wineserver"  # the package's command is a script with installed paths
    server.unlink()
    server.symlink_to("wineserver64")
    run = folder / "run"
    run.write_text(_RUN)
    run.chmod(0o755)
    output_of([run, libraries / "x86_64-windows" / "hostname.exe"], timeout=600)  # the first program creates drive C
