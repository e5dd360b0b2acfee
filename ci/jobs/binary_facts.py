"""Prints the headers, imports and exports of binaries for macOS and Windows as JSON: a list with an object for each
file.

python binary_facts.py FILE...     in an environment that has lief
"""

from __future__ import annotations

import json
import sys
from typing import Any

import lief

_FLAT = -2  # symbols that are looked up in all libraries


def of_macho(path: str) -> dict[str, Any]:
    """Return the facts about a file for macOS. Symbols of removed code are still listed, but not bound."""
    binary = lief.MachO.parse(path).at(0)
    bound = {
        (each.symbol.name, "*" if each.library_ordinal == _FLAT else each.library.name if each.has_library else "")
        for each in binary.bindings
        if each.has_symbol
    }
    own = [each.name for each in binary.libraries if each.command == lief.MachO.LoadCommand.TYPE.ID_DYLIB]
    return {
        "machine": binary.header.cpu_type.name,
        "name": own[0] if own else "",
        "libraries": [each.name for each in binary.libraries if each.name not in own],
        "folders": [each.path for each in binary.rpaths],
        "oldest": ".".join(map(str, binary.build_version.minos)),
        "is_signed": binary.has_code_signature,
        "exports": sorted({_in_c(symbol.name) for symbol in binary.exported_symbols}),
        "imports": sorted([_in_c(name), library] for name, library in bound),
    }


def _in_c(name: str) -> str:
    """Return the name without the underscore that macOS puts before the names of C."""
    return name[1:] if name.startswith("_") else name


def of_pe(path: str) -> dict[str, Any]:
    """Return the facts about a file for Windows."""
    binary = lief.PE.parse(path)
    export = binary.get_export() if binary.has_exports else None
    return {
        "machine": binary.header.machine.name,
        "name": export.name if export is not None else "",
        "libraries": [each.name for each in binary.imports],
        "exports": sorted(each.name for each in export.entries) if export is not None else [],
        "imports": [[entry.name, each.name] for each in binary.imports for entry in each.entries],
        "flags": sorted(flag.name for flag in binary.optional_header.dll_characteristics_lists),
    }


if __name__ == "__main__":
    print(json.dumps([of_macho(path) if lief.is_macho(path) else of_pe(path) for path in sys.argv[1:]]))
