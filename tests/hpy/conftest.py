"""Compiles universal HPy modules for the tests of ffi_hpy.hpy. HPY_INCLUDE names the folder with hpy.h."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MODULE = Path(__file__).with_name("module.c")


@pytest.fixture(scope="session")
def include() -> str:
    if "HPY_INCLUDE" not in os.environ:
        pytest.skip("the headers of HPy are not here: set HPY_INCLUDE")
    return os.environ["HPY_INCLUDE"]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, include: str) -> Callable[..., Path]:
    """Return a function that compiles module.c as the module `name`, with macros, once, and returns the file."""
    folder = tmp_path_factory.mktemp("modules")
    compiling = threading.Lock()

    def build(name: str, *macros: str) -> Path:
        target = folder / "-".join([name, *macros]).replace("=", "-") / f"{name}.hpy0.so"
        with compiling:  # a test may run in several threads
            if not target.exists():
                target.parent.mkdir(exist_ok=True)
                flags = ["-std=gnu11", "-fPIC", "-shared", "-DHPY_ABI_UNIVERSAL", f"-DNAME={name}"]
                flags += [f"-D{macro}" for macro in macros]
                subprocess.run(["cc", *flags, "-isystem", include, str(MODULE), "-o", str(target)], check=True)
        return target

    return build


@pytest.fixture
def placed(built: Callable[..., Path], tmp_path: Path) -> Callable[..., Path]:
    """Return a function that puts module.c, compiled as for `built`, at a path below the test's folder."""

    def place(inside: str, *macros: str) -> Path:
        target = tmp_path / inside
        name = target.name.partition(".")[0]
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(built(target.parent.name if name == "__init__" else name, *macros), target)
        return target

    return place
