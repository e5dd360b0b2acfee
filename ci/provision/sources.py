"""Existing builds of interpreters: from pyenv, from PATH, and downloads by uv."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from ci.lib.folders import cache_dir
from ci.lib.messages import Missing, last_line
from ci.lib.process import output_of
from ci.provision.entries import add_entry
from ci.provision.probe import first_good
from ci.provision.tools import tool

if TYPE_CHECKING:
    from ci.lib.matrix import Interpreter


def from_pyenv(wanted: Interpreter) -> Path:
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    candidates = [
        executable for name in wanted.executables for executable in sorted(root.glob(f"versions/*/bin/{name}"))
    ]
    return first_good(candidates, wanted, none="none there")


def from_path(wanted: Interpreter) -> Path:
    # A pyenv shim answers with the real executable, or fails the check.
    found = [shutil.which(name, path=folder) for folder in os.get_exec_path() for name in wanted.executables]
    candidates = dict.fromkeys(Path(path) for path in found if path)
    return first_good(list(candidates), wanted, none="none there")


class Uv:
    """Downloads with `uv python install`, until a download shows that the server is out of reach."""

    def __init__(self) -> None:
        self.out_of_reach = False

    def find(self, wanted: Interpreter) -> Path:
        if self.out_of_reach:
            raise Missing("its downloads are out of reach, as found before in this run")
        return add_entry(wanted, lambda staging, final: self.install(wanted))

    def install(self, wanted: Interpreter) -> str:
        """Have uv install `wanted` into a folder of the cache, and return the path of the executable."""
        uv = tool("uv")
        # Short timeouts, for machines without downloads. Each is for one connection or read, so a slow download
        # continues.
        settings = {
            "UV_PYTHON_INSTALL_DIR": str(cache_dir() / "uv"),
            "UV_HTTP_TIMEOUT": "10",
            "UV_HTTP_CONNECT_TIMEOUT": "10",
            "UV_HTTP_RETRIES": "0",
        }
        try:
            output_of(
                [uv, "python", "install", "--no-bin", wanted.uv_name],
                settings,
                timeout=900,
            )
        except Missing as reason:
            self.out_of_reach = "No download found" not in str(reason)
            raise
        found = output_of(
            [uv, "python", "find", "--managed-python", "--system", wanted.uv_name],
            settings,
            timeout=60,
        )
        return last_line(found)
