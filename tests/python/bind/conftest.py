"""Fixtures for libraries that are bound with ffi_hpy/bind.h."""

from __future__ import annotations

import importlib
import shutil
import sys

import pytest


@pytest.fixture(scope="session")
def import_bound(compile_era, tmp_path_factory):
    """Import the module of a source in `native`. The module needs neither the core nor Python when it is linked."""
    folder = tmp_path_factory.mktemp("bound")

    def import_one(name, *flags):
        file = folder / f"{name}.so"
        if not file.exists():  # a file that is mapped must not be written
            shutil.copy(
                compile_era(f"{name}.cc", "own", "-pthread", flags=("-O2", "-fvisibility=hidden", *flags)), file
            )
        importlib.invalidate_caches()
        sys.path.insert(0, str(folder))
        try:
            return importlib.import_module(name)
        finally:
            sys.path.remove(str(folder))

    return import_one
