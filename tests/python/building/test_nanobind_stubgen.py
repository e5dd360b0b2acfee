"""`python -m nanobind.stubgen` for modules that are written in Python: the package around a bound library."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.same_everywhere

INIT = '''
"""Shapes."""
from __future__ import annotations
import collections.abc as cabc
import os
from typing import TypeVar
from shapes_package import tools
from shapes_package.tools import Tool as Hammer, sharpen

T = TypeVar("T")
LIMIT = 3
sizes: dict[str, int] = {}
_hidden = 1

def first(items: cabc.Sequence[T], *, start=0, tool: Hammer | None = None) -> T:
    """The first one."""
    return items[start]
'''
TOOLS = '''
import enum, sys, typing

class Kind(enum.Enum):
    blunt = 1

class Tool:
    """A tool."""
    weight: float
    made = 0

    class Handle: ...

    def __init__(self, weight=1.0, kind=Kind.blunt):
        self.weight = weight

    @classmethod
    def make(cls) -> "Tool": return cls()
    @staticmethod
    def of(kind: Kind): ...
    @property
    def length(self) -> int: return 1
    @length.setter
    def length(self, value: int) -> None: ...

class Saw(Tool): ...

def sharpen(tool: Tool) -> None: ...

if sys.version_info >= (3, 11):
    @typing.overload
    def grind(tool: int) -> int: ...
    @typing.overload
    def grind(tool: str) -> str:
        """By name."""
def grind(tool): return tool
'''
STUB_OF_INIT = '''
# Written by ffi-hpy-stubgen: do not edit.
"""Shapes."""

from collections.abc import Sequence
from shapes_package.tools import Tool
from typing import Any, TypeVar
from shapes_package import tools as tools
from shapes_package.tools import Tool as Hammer
from shapes_package.tools import sharpen as sharpen

T = TypeVar("T")
LIMIT: int
sizes: dict[str, int]
def first(items: Sequence[T], *, start: Any = 0, tool: Tool | None = None) -> T:
    """The first one."""
    ...

first_again = first
'''[1:]
STUB_OF_TOOLS = '''
# Written by ffi-hpy-stubgen: do not edit.

from enum import Enum
from typing import Any, overload

class Kind(Enum):
    blunt = 1

class Tool:
    """A tool."""
    weight: float
    made: int
    class Handle:
        ...
    def __init__(self, weight: Any = 1.0, kind: Any = ...) -> None: ...
    @classmethod
    def make(cls) -> Tool: ...
    @staticmethod
    def of(kind: Kind) -> Any: ...
    @property
    def length(self) -> int: ...
    @length.setter
    def length(self, value: int) -> None: ...

class Saw(Tool):
    ...

def sharpen(tool: Tool) -> None: ...
@overload
def grind(tool: int) -> int: ...
@overload
def grind(tool: str) -> str:
    """By name."""
    ...
'''[1:]


@pytest.fixture
def folder(tmp_path):
    """A folder with the package."""
    package = tmp_path / "shapes_package"
    package.mkdir()
    (package / "__init__.py").write_text(INIT)
    (package / "tools.py").write_text(TOOLS)
    return tmp_path


def run(folder, *options):
    command = [sys.executable, "-m", "ffi_hpy._nanobind.stubgen", "-q", "-m", "shapes_package", *options]
    subprocess.run(command, cwd=folder, check=True)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="earlier versions do not keep overloads")
def test_a_package_has_a_stub_for_each_module(folder):
    (folder / "patterns.nb").write_text("shapes_package.__suffix__:\n    first_again = first\n")
    run(folder, "-r", "-O", "out", "-p", "patterns.nb")
    out = folder / "out"
    assert {path.name for path in out.iterdir()} == {"__init__.pyi", "tools.pyi"}
    assert (out / "__init__.pyi").read_text() == STUB_OF_INIT
    assert (out / "tools.pyi").read_text() == STUB_OF_TOOLS


def test_private_members_are_left_out(folder):
    run(folder, "-o", "a.pyi")
    run(folder, "-o", "b.pyi", "-P")
    assert "_hidden" not in (folder / "a.pyi").read_text()
    assert "\n_hidden: int\n" in (folder / "b.pyi").read_text()
