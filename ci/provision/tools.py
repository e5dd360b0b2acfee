"""Commands from PyPI, kept in the cache; and uv, configured to search for packages where pip does."""

from __future__ import annotations

import ast
import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ci.lib.folders import cache_dir, locked
from ci.lib.messages import say
from ci.lib.process import output_of

if TYPE_CHECKING:
    from collections.abc import Mapping

# pip's option: (uv's variable, the separator of several values in it)
_FROM_PIP = {
    "index-url": ("UV_DEFAULT_INDEX", None),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "no-index": ("UV_NO_INDEX", None),
    "cert": ("SSL_CERT_FILE", None),
}


def pip_settings() -> dict[str, str]:
    """Return pip's configured options, from its files and from PIP_*; empty without pip."""
    rank = {"global": 0, "install": 1, ":env:": 2}
    done = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True)
    found: dict[str, tuple[int, str]] = {}
    for line in done.stdout.splitlines():
        match = re.fullmatch(r"(\S+?)\.([a-z-]+)=(.*)", line)
        if match and match[1] in rank:
            found[match[2]] = max(found.get(match[2], (-1, "")), (rank[match[1]], str(ast.literal_eval(match[3]))))
    return {option: value for option, (_, value) in found.items()}


@functools.cache
def uv_environ() -> tuple[tuple[str, str], ...]:
    """Return the variables that make uv search where pip does; the caller's own settings for uv win."""
    settings = {"UV_CACHE_DIR": str(cache_dir() / "uv-cache"), "UV_INDEX_STRATEGY": "unsafe-best-match"}
    for option, value in pip_settings().items():
        if option in _FROM_PIP:
            variable, separator = _FROM_PIP[option]
            settings[variable] = separator.join(value.split()) if separator else value
    return tuple((name, value) for name, value in settings.items() if name not in os.environ)


@functools.cache
def tool(name: str) -> str:
    """Return the command `name`: from PATH, else from its package on PyPI, kept in the cache. Raises Missing."""
    on_path = shutil.which(name)
    if on_path and _runs(on_path):
        return on_path
    folder = cache_dir() / "tools" / name
    command = folder / "bin" / name
    with locked(folder.with_name(f".{name}.lock")):
        if not _runs(command):
            say(f"{name}: installing it from PyPI ...")
            output_of([sys.executable, "-m", "venv", "--clear", folder])
            output_of([folder / "bin" / "python", "-m", "pip", "install", name])
            output_of([command, "--version"])
    return str(command)


def _runs(command: str | Path) -> bool:
    try:
        return subprocess.run([str(command), "--version"], capture_output=True).returncode == 0
    except OSError:
        return False


def run_uv(*arguments: str | Path, environ: Mapping[str, str] | None = None) -> None:
    """Run uv with the package index of pip's configuration. Raises Missing if it fails."""
    output_of([tool("uv"), *arguments], {**dict(uv_environ()), **(environ or {})})
