"""Stubs of libraries that are bound with ffi_hpy/bind.h."""

from __future__ import annotations

import datetime
import re
import shutil
import subprocess
import sys
from collections import abc

import pytest
from support import IS_DEBUG, IS_OWN_DEBUG, run_python

pytestmark = pytest.mark.skipif(
    IS_DEBUG or IS_OWN_DEBUG, reason="in debug modes each access gets another wrapper, without the author's words"
)

STUB = r'''
# Written by ffi-hpy-stubgen: do not edit.
# mypy: disable-error-code="misc, overload-cannot-match, overload-overlap, override"

from builtins import list as _list, tuple as _tuple
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from ffi_hpy import Object
from typing import Any, Callable, ClassVar, Final, Literal, Sized, TypeVar, final, overload
from weakref import ReferenceType
from . import inner as inner

class Color(Enum):
    """A "color"."""
    red = 1
    green = 2
    """Like grass."""
    def next(self) -> Color:
        """The one behind it."""
        ...
    def mix(self, other: Color = Color.red) -> Color: ...
    @staticmethod
    def parse(arg: str, /) -> Color: ...
    @property
    def is_warm(self) -> bool:
        """Like fire."""
        ...

class TooSmall(ValueError):
    ...

class Shape(Object):
    """A shape.

    With sides.
    """
    class Size(Enum):
        small = 0
        large = 1

    class Part(Object):
        def __init__(self) -> None: ...
        def of(self, shape: _Shape | None) -> _Shape: ...

    @property
    def sides(self) -> _list[float]:
        """Lengths."""
        ...
    @sides.setter
    def sides(self, value: Iterable[float], /) -> None: ...
    @property
    def label(self) -> str: ...
    def __init__(self) -> None:
        """Makes a shape."""
        ...
    def count(self) -> int: ...
    def list(self) -> _list[float]: ...
    def Shape(self) -> _Shape: ...
    @staticmethod
    def make(Size: _Shape.Size = _Shape.Size.large) -> _Shape: ...
    def __eq__(self, arg: object, /) -> bool: ...
    def __len__(self) -> int: ...
    limit: ClassVar[int]
    n_made: ClassVar[int] = ...
    """How many."""
    n_kinds: Final[int] = ...
    size = count
    @classmethod
    def of(cls, n: int = 3) -> _Shape: ...

@final
class Written(Sized):
    @property
    def color(self, /) -> Color: ...
    @color.setter
    def color(self, value: int | Color, /) -> None: ...
    def __init__(self, *, color: Literal['a.b'] = 'a.b') -> None: ...
    def __len__(self, /) -> int:
        """None."""
        ...
    def mark(self, value: bool = bool(1)) -> None: ...

T = TypeVar("T", bound=Shape)
LIMIT: int
def limit(x: int | None = LIMIT) -> int: ...
def part(arg: Shape.Part, /) -> Shape.Size: ...
def same(arg: T, /) -> T:
    """It."""
    ...

class Square(Shape):
    @property
    def area(self) -> float: ...
    @area.setter
    def area(self, value: float, /) -> None: ...
    @overload
    def __init__(self, side: float) -> None: ...
    @overload
    def __init__(self, side: float, color: Color = Color.green) -> None: ...
    def count(self, n: int) -> int: ...

@overload
def scale(n: int = 2, text: str = "a'b") -> int:
    """Scales\\a number."""
    ...
@overload
def scale(x: float) -> float: ...
def first(arg: Mapping[str, Sequence[int]], /) -> list[int]: ...
def tuple(arg: _tuple[int, Color], /) -> _tuple[int, Color]: ...
def nothing() -> _tuple[()]: ...
def apply(f: Callable[[list[int]], int] | None = None, shape: Shape = ..., strict: Shape = ...) -> int: ...
def find(color: Color | None = Color.red) -> Color | None: ...
def unbound(arg: Any, /) -> None: ...
def unbound_pair(arg: Sequence[Mapping[int, Any]], /) -> None: ...
def weak(arg: ReferenceType[Any], /) -> ReferenceType[Any]: ...
# 'class' is not a name for Python: it is there for getattr()
answer: int
numbers: list[int]
table: dict[str, float]
pair: _tuple[int, str]
best: Color
find_color = find
Numbers = list[int]
def _hidden() -> None: ...
__all__ = ['Color', 'Shape']
_Shape = Shape
'''[1:]
INNER = r'''
# Written by ffi-hpy-stubgen: do not edit.
# mypy: disable-error-code="misc, overload-cannot-match, overload-overlap, override"
"""A module inside."""

from .. import Color, Square
from . import deep as deep

def color_of(square: Square) -> Color: ...
'''[1:]


@pytest.fixture(scope="module")
def library(compile_era):
    """The library of the module `stubbed`."""
    return compile_era("stubbed.cc", "own", flags=("-O0", "-fvisibility=hidden"))


@pytest.fixture
def folder(library, tmp_path):
    """A folder with the library as stubbed.so."""
    shutil.copy(library, tmp_path / "stubbed.so")
    return tmp_path


def stubgen(folder, *arguments):
    """Run the command in a folder, and return its exit status, stdout and stderr."""
    command = [sys.executable, "-m", "ffi_hpy.stub.cli", *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def written(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*.pyi"))}


@pytest.mark.parametrize("argument", ["stubbed", "stubbed.so"])
def test_the_stub_has_everything_that_the_module_defines(folder, argument):
    status, said, complaint = stubgen(folder, argument)
    assert (status, complaint) == (0, "")
    stubs = written(folder)
    assert stubs.pop("stubbed/__init__.pyi") == STUB
    assert stubs.pop("stubbed/inner/__init__.pyi") == INNER
    deep = stubs.pop("stubbed/inner/deep.pyi").splitlines()
    assert {"from .. import Square", "def twice(x: int) -> int: ...", "def same(square: Square) -> Square: ..."} <= set(
        deep
    )
    assert not stubs
    assert said.count(": written") == 3
    assert stubgen(folder, argument, "--check") == (0, "", "")  # a folder of that name exists now


@pytest.mark.same_everywhere
def test_check_finds_stubs_that_are_out_of_date(folder):
    assert stubgen(folder, "stubbed", "--check")[0] == 1
    assert stubgen(folder, "stubbed", "--dry-run")[::2] == (0, "")
    assert not written(folder)
    stubgen(folder, "stubbed")
    path = folder / "stubbed/inner/deep.pyi"
    path.write_text(path.read_text().replace("int", "str"))
    stub = folder / "stubbed.pyi"  # as from a build in which the module had no submodule
    stub.write_text(path.read_text())
    status, said, _ = stubgen(folder, "stubbed", "--check")
    assert status == 1
    assert "-def twice(x: str) -> str: ..." in said
    assert stub.exists()
    assert stubgen(folder, "stubbed")[0] == 0
    assert "x: int" in path.read_text()
    assert not stub.exists()


def test_a_folder_for_the_stubs(folder):
    assert stubgen(folder, "stubbed.so", "--output", "typings")[0] == 0
    assert written(folder / "typings")["stubbed/__init__.pyi"] == STUB
    assert not (folder / "stubbed").exists()


def test_files_of_others_stay(folder):
    (folder / "stubbed").mkdir()
    (folder / "stubbed/__init__.pyi").write_text("def mine() -> None: ...\n")
    status, _, complaint = stubgen(folder, "stubbed.so")
    assert (status, "has not written this file" in complaint) == (2, True)
    assert written(folder) == {"stubbed/__init__.pyi": "def mine() -> None: ...\n"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["json"], "json: not a library that is bound with ffi_hpy/bind.h"),
        (["no_such_module"], "no_such_module: No module named 'no_such_module'"),
        (["other.so"], "other.so: not a library that ffi_hpy/bind.h has bound as the module 'other'"),
        (["missing.py", "--output", "x"], "--output is for the stubs of bound modules"),
        (["missing.py"], "missing.py: "),
    ],
)
def test_a_module_that_is_not_bound_is_refused(folder, arguments, message):
    (folder / "other.so").write_bytes(b"no library")
    status, _, complaint = stubgen(folder, *arguments)
    assert (status, message in complaint) == (2, True), complaint


def test_a_module_is_imported_beside_the_folder_of_its_stubs(folder):
    """A module of a package is named with the package, as its classes are, so packages do not share type keys."""
    package = folder / "shapes"
    package.mkdir()
    shutil.move(folder / "stubbed.so", package)
    (package / "__init__.py").write_text("import ffi_hpy\n")
    assert stubgen(folder, "shapes.stubbed")[0] == 0
    assert set(written(folder)) == {
        f"shapes/stubbed/{name}.pyi" for name in ("__init__", "inner/__init__", "inner/deep")
    }
    assert written(folder)["shapes/stubbed/__init__.pyi"] == STUB
    assert written(folder)["shapes/stubbed/inner/__init__.pyi"] == INNER
    program = """
import sys
sys.path.insert(0, sys.argv[1])
from shapes import stubbed
import shapes.stubbed.inner
print(stubbed.Square(2).area, stubbed.inner.deep.twice(4), stubbed.Shape.__tvm_ffi_type_info__.type_key)
print(stubbed.find(), shapes.stubbed.inner.color_of(stubbed.Square(1)))
"""
    shown = ["4.0 8 shapes.stubbed.Shape", "Color.red Color.red"]
    assert run_python(program, folder).splitlines() == shown


def test_the_methods_of_an_enum_have_names_and_signatures(folder):
    program = """
import inspect, sys
sys.path.insert(0, sys.argv[1])
import ffi_hpy, stubbed
red, green = stubbed.Color
print(green.mix(), red.mix(other=green), green.next(), stubbed.Color.parse("x"), inspect.signature(red.mix))
"""
    shown = "Color.green Color.red Color.green Color.red (other: stubbed.Color = Color.red) -> stubbed.Color\n"
    assert run_python(program, folder) == shown


@pytest.mark.parametrize(("options", "is_shown"), [((), False), (("-P",), True)])
def test_the_command_of_nanobind_leaves_private_members_out(folder, options, is_shown):
    command = [sys.executable, "-m", "ffi_hpy._nanobind.stubgen", "-q", "-m", "stubbed", "-o", "out.pyi", *options]
    subprocess.run(command, cwd=folder, check=True)
    stub = (folder / "out.pyi").read_text()
    assert ("def _hidden() -> None: ..." in stub) == is_shown
    assert "def same(arg: T, /) -> T:" in stub


@pytest.mark.parametrize("name", ["stubbed.inner", "stubbed.inner.deep"])
def test_the_command_of_nanobind_writes_the_stub_of_a_submodule(folder, name):
    command = [sys.executable, "-m", "ffi_hpy._nanobind.stubgen", "-q", "-r", "-m"]
    subprocess.run([*command, "stubbed", "-O", "whole"], cwd=folder, check=True)
    subprocess.run([*command, name, "-O", "part"], cwd=folder, check=True)
    whole = {path.read_text() for path in (folder / "whole" / "stubbed").rglob("*.pyi")}
    parts = {path.read_text() for path in (folder / "part").rglob("*.pyi")}
    assert parts
    assert parts <= whole


def test_members_that_python_code_has_set_are_in_the_stub(folder):
    program = """
import ast, enum, sys
sys.path.insert(0, sys.argv[1])
import ffi_hpy, stubbed
from ffi_hpy.stub.bound import stubs_of
class Derived(stubbed.Shape):
    __module__ = "stubbed"
    def half(self) -> int: return 2
class Odd(enum.Enum):
    __module__ = "stubbed"
    one = object()
    two = "2"
stubbed.Derived, stubbed.Odd, stubbed.visible = Derived, Odd, stubbed._hidden
stubbed.Shape.shown = stubbed.Shape._kept = staticmethod(stubbed.nothing)
text = next(iter(stubs_of(stubbed, has_private=False).values()))
ast.parse(text)
for start in ("class Derived", "class Odd"):
    print(text[text.index(start):].split("\\n\\n")[0])
print("def visible() -> None: ..." in text, "_hidden" in text, "_kept" in text)
"""
    shown = """
class Derived(Shape):
    def half(self) -> int: ...
class Odd(Enum):
    one = ...
    two = '2'
True False False
"""
    assert run_python(program, folder) == shown[1:]


def test_programs_write_the_stub_of_a_bound_module(folder):
    program = """
import sys
sys.path.insert(0, sys.argv[1])
import ffi_hpy, stubbed
from ffi_hpy._nanobind.stubgen import StubGen
writer = StubGen(stubbed, include_private=True)
writer.put(stubbed)
print(writer.get(), end="")
"""
    assert run_python(program, folder) == STUB.replace("from . import inner", "from stubbed import inner")


@pytest.mark.same_everywhere
def test_a_class_inside_of_a_class_is_imported_from_the_module(tmp_path, monkeypatch):
    from ffi_hpy.stub.bound_names import BoundNames

    (tmp_path / "module_of_nested.py").write_text("class A:\n    class B: ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    imports = []
    names = BoundNames(imports, "m", ())
    assert names("module_of_nested.A.B") == "A.B"
    assert names("collections.abc.Sized") == "Sized"
    assert [(item.mod, item.name) for item in imports] == [("module_of_nested", "A"), ("collections.abc", "Sized")]


# --- results ----------------------------------------------------------------------------------------------------------

RESULTS = {
    "truth": (True, "bool"),
    "number": (1, "int"),
    "real": (1, "float"),
    "text": ("x", "str"),
    "complex_number": (1j, "complex"),
    "data": (b"x", "bytes"),
    "rows": ([(1, 2.5), range(2)], "list[list[float]]"),
    "two": (range(2), "list[int]"),
    "pair": (["x", 1], "tuple[str, int]"),
    "nothing": ((), "tuple[()]"),
    "table": ({(1, 2): 3}, "dict[tuple[int, int], int]"),
    "numbers": ({1: 2}.keys(), "set[int]"),
    "perhaps": ((1,), "list[int] | None"),
    "either": (None, "float | None"),
    "duration": (1.5, "timedelta"),
    "moment": (datetime.date(2024, 1, 2), "datetime"),
    "path": ("x", "Path"),
    "any_tuple": ((1,), "tuple[Any, ...]"),
    "any_list": ([1], "list[Any]"),
    "any_dict": ({1: 2}, "dict[Any, Any]"),
    "any_frozenset": (frozenset({1}), "frozenset[Any]"),
    "part": (slice(1), "slice"),
    "function": (len, "Callable[[Sequence[int]], int]"),
    "any_iterator": (iter([1]), "Iterator[Any]"),
    "made": (None, "Point"),
    "made_iterator": (None, "Iterator[int]"),
    "no_value": (None, "None"),
}


def test_a_result_has_the_class_that_its_stub_and_its_help_promise(import_bound, tmp_path):
    module = import_bound("bound_results")
    shutil.copy(module.__file__, tmp_path / "bound_results.so")
    status, _, complaint = stubgen(tmp_path, "bound_results")
    assert (status, complaint) == (0, "")
    promises = dict(re.findall(r"^def (\w+)\(.*\) -> (.*): \.\.\.$", written(tmp_path)["bound_results.pyi"], re.M))
    for name, (given, promised) in RESULTS.items():
        function = getattr(module, name)
        found = function(*([given] if name not in ("made", "made_iterator", "no_value") else []))
        assert promises[name] == promised
        shown = re.sub(r"[\w.]+\.(?=\w)", "", function.__doc__.rpartition(" -> ")[2])
        without_any = re.sub(r"\[Any.*\]$", "", promised)  # the help shows a bare class, for which the stub has [Any]
        assert {*shown.split(" | ")} == {*without_any.split(" | ")}
        outer = set(re.sub(r"\[.*\]", "", promised).split(" | "))
        classes = {cls.__name__ for cls in type(found).__mro__[:-1]} | ({"None"} if found is None else set())
        is_one = isinstance(found, abc.Iterator) if outer == {"Iterator"} else callable(found)
        assert outer & classes or (outer <= {"Iterator", "Callable"} and is_one), (name, type(found))
