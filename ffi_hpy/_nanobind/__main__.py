"""The command `python -m nanobind`: prints the folders of the headers and of CMake's functions."""

from __future__ import annotations

import argparse
import sys

from ffi_hpy import _nanobind

__all__ = ["main"]


def main() -> int:
    """Print the answer to each option, a line each."""
    parser = argparse.ArgumentParser(prog="python -m nanobind", description="Print where ffi_hpy's nanobind is.")
    parser.add_argument("--version", action="version", version=_nanobind.__version__)
    parser.add_argument("--include_dir", action="store_true", help="the folder of the headers")
    parser.add_argument("--cmake_dir", action="store_true", help="the folder for CMake's nanobind_ROOT")
    asked = parser.parse_args()
    if asked.include_dir:
        print(_nanobind.include_dir())
    if asked.cmake_dir:
        print(_nanobind.cmake_dir())
    if not (asked.include_dir or asked.cmake_dir):
        parser.print_help()
    return 0


if __name__ == "__main__":
    sys.exit(main())
