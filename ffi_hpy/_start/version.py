"""The option --version of the package's commands."""

from __future__ import annotations

import argparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["PrintVersion"]


class PrintVersion(argparse.Action):
    """Prints the command's name and the version of the installed distribution, which is looked up only then."""

    def __init__(self, option_strings: list[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help="print ffi_hpy's version")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib import metadata

        try:
            print(f"{parser.prog} {metadata.version('ffi-hpy')}")
        except metadata.PackageNotFoundError:
            parser.exit(1, f"{parser.prog}: no installer knows of this ffi_hpy, and so it has no version\n")
        parser.exit()
