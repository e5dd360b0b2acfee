"""Rust's cargo, and the dependencies of apache-tvm-ffi's crates: from cargo's registry or, if it is out of reach,
Debian.

Debian's crates are source packages from the unstable suite, unpacked and not installed, and kept in the cache.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from ci.lib.folders import ROOT, cache_dir, locked
from ci.lib.messages import Missing, say
from ci.lib.process import clean_environ
from ci.provision.debian import Apt, unpack
from ci.provision.envs import python_of

SUITE = "sid"  # the only suite with all crates
NEEDED = ("linkme", "paste", "proc-macro-error", "proc-macro2", "quote", "syn-1")
FETCH_SECONDS = 120


def find_cargo() -> Path:
    """Return the path of cargo. Raises Missing."""
    found = shutil.which("cargo") or shutil.which(str(Path.home() / ".cargo" / "bin" / "cargo"))
    if found is None:
        raise Missing("cargo is not on PATH or in ~/.cargo/bin; install Rust")
    return Path(found)


def cargo_environ(workspace: Path, env: Path) -> dict[str, str]:
    """Return the variables with which cargo builds `workspace` against the package installed in `env`.

    cargo's output is kept in build/cargo. Raises Missing.
    """
    commands = ROOT / "build" / "cargo" / f"bin-{env.name}"
    commands.mkdir(parents=True, exist_ok=True)
    script = commands / "tvm-ffi-config"  # upstream's build scripts run it
    script.write_text(f'#!/bin/sh\nexec "{python_of(env).with_name("ffi-hpy-config")}" "$@"\n')
    script.chmod(0o755)
    environ = {
        "PATH": os.pathsep.join([str(commands), str(find_cargo().parent), os.environ.get("PATH", os.defpath)]),
        "CARGO_TARGET_DIR": str(ROOT / "build" / "cargo" / "target"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    home = _debian_home()
    if not home.is_dir() and not _can_fetch(workspace):
        say("cargo: its registry is out of reach; fetching Debian's packages of the crates ...")
        _fetch_debian(home)
    return {**environ, "CARGO_HOME": str(home)} if home.is_dir() else environ


def prebuild(workspace: Path, environ: dict[str, str], *arguments: str) -> None:
    """Build a part of a workspace in advance. Errors are ignored here: the build that needs the part reports them."""
    command = [str(find_cargo()), "build", "--quiet", "--manifest-path", str(workspace / "Cargo.toml"), *arguments]
    subprocess.run(command, env=clean_environ(environ), stdin=subprocess.DEVNULL, capture_output=True)


def _debian_home() -> Path:
    """Return the CARGO_HOME whose configuration replaces the registry's crates by Debian's."""
    return cache_dir() / "crates" / "debian"


def _can_fetch(workspace: Path) -> bool:
    """Return whether cargo has all crates of its registry, or can fetch them."""
    command = [str(find_cargo()), "fetch", "--manifest-path", str(workspace / "Cargo.toml")]
    try:
        return subprocess.run(command, capture_output=True, timeout=FETCH_SECONDS).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _fetch_debian(home: Path) -> None:
    log = cache_dir() / "logs" / "crates.log"
    with locked(home.with_name(f".{home.name}.lock")):
        if home.is_dir():
            return
        made = home.with_name(f"{home.name}.new")
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
        try:
            apt = Apt(SUITE, "deb")
            wanted = apt.lacking([f"librust-{name}-dev" for name in NEEDED], log)
            unpack(apt, [name for name in wanted if name.startswith("librust-")], made, log)
        except Missing as reason:
            raise Missing(f"cargo's registry is out of reach, and Debian's crates too: {reason}") from None
        sources = home / "usr" / "share" / "cargo" / "registry"
        (made / "config.toml").write_text(
            '[source.crates-io]\nreplace-with = "debian"\n\n'
            f'[source.debian]\ndirectory = "{sources}"\n\n[net]\noffline = true\n'
        )
        made.rename(home)
