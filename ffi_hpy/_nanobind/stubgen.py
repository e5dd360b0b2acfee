"""Writes the stubs of bound modules, with the options of nanobind's command.

    python -m nanobind.stubgen -m MODULE [-o FILE | -O FOLDER] [-r] [-i FOLDER] [-M FILE] [-p FILE] [-q] ...

In an environment where ffi_hpy answers for nanobind, or by CMake's nanobind_add_stub(). ffi-hpy-stubgen writes the
stubs.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ffi_hpy._nanobind.patterns import read_patterns
from ffi_hpy._nanobind.stub_class import ReplacePattern, StubGen
from ffi_hpy.stub.bound import import_bound_part, stubs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ReplacePattern", "StubGen", "main"]


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m nanobind.stubgen", description="Write stubs of bound modules.")
    add = parser.add_argument
    add("-m", "--module", dest="modules", action="append", default=[], required=True, help="import this module")
    add("-o", "--output-file", type=Path, metavar="FILE", help="write the stub to this file")
    add("-O", "--output-dir", type=Path, metavar="FOLDER", help="write the stubs into this folder")
    add("-r", "--recursive", action="store_true", help="write the stubs of submodules, too")
    add("-i", "--import", dest="imports", action="append", default=[], metavar="FOLDER", help="import from this folder")
    add("-M", "--marker-file", type=Path, action="append", default=[], metavar="FILE", help="make this file, py.typed")
    add(
        "-p",
        "--pattern-file",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="replace the entries that the file names",
    )
    add(
        "-P",
        "--include-private",
        action="store_true",
        help="add the functions and values called _NAME or NAME_ to the stub",
    )
    add("-D", "--exclude-docstrings", action="store_true", help="leave docstrings out")
    add("--exclude-values", action="store_true", help="has no effect: default values are short")
    add("-q", "--quiet", action="store_true", help="print errors only")
    asked = parser.parse_args(arguments)
    if asked.output_file and (asked.output_dir or asked.recursive or len(asked.modules) > 1):
        parser.error("--output-file is for one stub")
    return asked


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Returns the exit status: 1 if a module cannot be imported or is not bound with ffi_hpy."""
    asked = _parse(arguments)
    for folder in asked.imports:
        sys.path.insert(0, folder)
    os.environ["NB_STUBGEN"] = "1"  # tells libraries why they are imported
    patterns = read_patterns(asked.pattern_file)
    for name in asked.modules:
        try:
            module, library = import_bound_part(name)
        except ImportError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
        inside = module.__name__[len(library.__name__) :].split(".")[:-1]  # the folders of a submodule
        last = library.__name__.rpartition(".")[2]
        folder = asked.output_dir or Path(str(library.__file__)).parent.joinpath(*[each or last for each in inside])
        texts = stubs_of(module, library.__name__, asked.include_private)
        if not asked.recursive:
            texts = dict([next(iter(texts.items()))])
        for path, text in texts.items():
            target = asked.output_file or folder / (path if asked.recursive else f"{name.rpartition('.')[2]}.pyi")
            target.parent.mkdir(parents=True, exist_ok=True)
            own = [part for part in path.with_suffix("").parts if part != "__init__"]
            qualified = ".".join([*name.split(".")[:-1], *own])
            target.write_text(patterns.apply(text, qualified, not asked.exclude_docstrings), encoding="utf-8")
            if not asked.quiet:
                print(f"{name}: {target}")
    for path in asked.marker_file:
        path.touch()
    if not asked.quiet:
        for query in patterns.unused():
            print(f"no member matches the pattern {query}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
