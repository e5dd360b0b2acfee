"""A clang that can build fuzzers: the one on PATH if it can, otherwise Debian's, unpacked into the cache."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from ci.lib.folders import cache_dir, locked
from ci.lib.messages import Missing, last_line, say
from ci.provision.debian import Apt, release, unpack

FLAGS = ("-g", "-fsanitize=fuzzer,address,undefined")
PROBE = """
#include <stddef.h>
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n) { return data == NULL && n == 1; }
"""


def find_obstacle(clang: Path) -> str | None:
    """Return the reason why `clang` cannot build a fuzzer that runs here, None if it can."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "probe.c"), Path(folder, "probe")
        source.write_text(PROBE)
        for command in ([clang, *FLAGS, source, "-o", program], [program, "-runs=1"]):
            try:
                done = subprocess.run(
                    [str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True
                )
            except OSError as error:
                return f"cannot be run: {error.strerror}"
            if done.returncode != 0:
                return last_line(done.stderr)
    return None


def on_path() -> Path | None:
    """Return a clang on PATH that can build fuzzers."""
    found = shutil.which("clang")
    return Path(found) if found and find_obstacle(Path(found)) is None else None


# --- Debian's clang -------------------------------------------------------------------------------------------------


def default_version(apt: Apt, log: Path) -> str:
    """Return the default clang version of the release."""
    versions = {name.partition("-")[2] for name in apt.lacking(["clang"], log) if name.startswith("clang-")}
    if len(versions) != 1:
        raise Missing(f"package clang of {apt.suite} should name one version, not {sorted(versions)}")
    return versions.pop()


def fetch(folder: Path, log: Path) -> None:
    """Unpack clang into `folder`, with a script that starts it there."""
    suite = release()
    version = default_version(Apt(suite, "deb"), log)
    compiler = [f"clang-{version}", f"libclang-common-{version}-dev", f"libclang-rt-{version}-dev"]
    # Libraries of the machine are not fetched again: programs that clang links use the machine's libraries, too.
    installed = Apt(suite, "deb", status="/var/lib/dpkg/status")
    needed = dict.fromkeys([*compiler, *installed.lacking(compiler, log)])
    root = folder / "root"
    root.mkdir(parents=True)
    unpack(installed, list(needed), root, log)
    script = folder / "clang"
    script.write_text(
        '#!/bin/sh\nroot="$(dirname "$0")/root"\n'
        f'LD_LIBRARY_PATH="$(echo "$root"/usr/lib/*-linux-gnu):$root/usr/lib/llvm-{version}/lib" '
        f'exec "$root/usr/lib/llvm-{version}/bin/clang" "$@"\n'
    )
    script.chmod(0o755)


def from_debian() -> Path:
    """Return the clang in the cache; fetch it if it is missing or does not work. Raises Missing."""
    folder = cache_dir() / "clang" / "debian"
    clang = folder / "clang"
    with locked(folder.with_name(".debian.lock")):
        if clang.exists() and find_obstacle(clang) is None:
            return clang
        shutil.rmtree(folder, ignore_errors=True)
        say("clang: fetching Debian's ...")
        try:
            fetch(folder, cache_dir() / "logs" / "clang.log")
        except Missing as reason:
            raise Missing(f"no clang with libFuzzer on PATH, and none from Debian: {reason}; install one") from None
        obstacle = find_obstacle(clang)
    if obstacle:
        raise Missing(f"{clang} cannot build fuzzers: {obstacle}")
    return clang


def find_fuzzing_clang() -> Path:
    """Return the clang on PATH if it can build fuzzers, otherwise Debian's. Raises Missing."""
    return on_path() or from_debian()


def find_clang() -> list[str]:
    """Return the command words of that clang; `--driver-mode=g++` makes it clang++. Raises Missing."""
    return [str(find_fuzzing_clang())]
