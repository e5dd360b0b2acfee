"""The option --version of the package's commands."""

from __future__ import annotations

import argparse

from .own_version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["PrintVersion"]


class PrintVersion(argparse.Action):
    """Prints the command's name and the version of ffi_hpy."""

    def __init__(self, option_strings: list[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help="print ffi_hpy's version")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"{parser.prog} {VERSION}")
        parser.exit()
