"""The Debian packages that the commands need. Only ci/system installs them."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from ci.lib.messages import Missing
from ci.lib.process import clean_environ, output_of

if TYPE_CHECKING:
    from collections.abc import Sequence

NEEDS = {
    "compile C and C++": ("gcc", "g++"),
    "test the printers for gdb": ("gdb",),
    "compile free-threaded CPython": (
        "gcc",
        "make",
        "libbz2-dev",
        "libffi-dev",
        "liblzma-dev",
        "libreadline-dev",
        "libsqlite3-dev",
        "libssl-dev",
        "uuid-dev",
        "zlib1g-dev",
    ),
}
"""Packages, by the purpose that needs them."""


def require(purpose: str) -> None:
    """Raise Missing if a package for a purpose is not installed."""
    lacking = find_lacking(purpose)
    if lacking:
        raise Missing(describe(purpose, lacking))


def find_lacking(purpose: str) -> list[str]:
    """Return the packages for a purpose that are not installed. Raises Missing if this cannot be found out."""
    query = ["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\n"]
    installed = output_of(query, timeout=60).splitlines()
    return [package for package in NEEDS[purpose] if f"{package} installed" not in installed]


def describe(purpose: str, lacking: Sequence[str]) -> str:
    """Return the line with the missing packages, their purpose, and the command that installs them."""
    command = f"apt-get install --no-install-recommends {' '.join(lacking)}"
    return f"Debian packages are missing to {purpose}: `ci/system --install` installs them, or `{command}`"


def install(packages: Sequence[str]) -> None:
    """Install Debian packages. Raises Missing if this fails or the user is not root."""
    if os.geteuid() != 0:
        raise Missing("only root can install Debian packages")
    _apt_get("update")  # if it fails, existing lists may be enough
    if _apt_get("--yes", "--no-install-recommends", "install", *packages) != 0:
        raise Missing("apt-get could not install the missing packages, see above")


def _apt_get(*words: str) -> int:
    """Run apt-get for the system, and return its exit status."""
    environ = clean_environ({"DEBIAN_FRONTEND": "noninteractive"})
    return subprocess.run(["apt-get", "-q", *words], env=environ, cwd="/", stdin=subprocess.DEVNULL).returncode
