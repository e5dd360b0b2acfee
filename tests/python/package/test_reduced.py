"""The package's Python in the wheel (tools/build/python_source.py): the same program, without non-public docstrings."""

import ast
import sys

import pytest
from support.native_build import ROOT

sys.path.insert(0, str(ROOT))
from tools.build.python_source import reduce_source

sys.path.remove(str(ROOT))

SOURCE = '''\
#!/usr/bin/env python3
"""Its text: not a # comment."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Public"]
number: int = 1  # why, in a word: \u00e4
"""About the number."""


class Public:
    """Shown."""

    size: int

    def method(self, first: Any, *rest: dict[str, int], last: str = "#") -> tuple[int, ...]:
        """Shown, too."""
        return (first,)  # as it came

    def _private(self) -> None:
        """Not shown."""


def _inner() -> Any:
    """Not shown.

    In three lines.
    """
    return Public
'''

REDUCED = '''\
#!/usr/bin/env python3
"""Its text: not a # comment."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Public"]
number: int = 1
"""About the number."""


class Public:
    """Shown."""

    size: int

    def method(self, first: Any, *rest: dict[str, int], last: str = "#") -> tuple[int, ...]:
        """Shown, too."""
        return (first,)

    def _private(self) -> None:
        pass


def _inner() -> Any:




    return Public
'''

BARE = """\
#!/usr/bin/env python3




TYPE_CHECKING = False




number = 1



class Public:




    def method(self, first, *rest, last = "#") :

        return (first,)

    def _private(self) :
        pass


def _inner() :




    return Public
"""


def test_public_docstrings_stay():
    assert reduce_source(SOURCE, ("public.py",)) == REDUCED


def test_a_bare_folder_has_no_annotations():
    assert reduce_source(SOURCE, ("_pypy", "folder", "module.py")) == BARE


def test_a_private_module_keeps_its_docstring_if_it_asks_for_it():
    source = '"""About it."""\n\nprint({})\n'
    assert reduce_source(source.format("__doc__"), ("_module.py",)) == source.format("__doc__")
    assert reduce_source(source.format("1"), ("_module.py",)) == "\n\nprint(1)\n"


def test_a_private_class_keeps_the_docstrings_of_the_methods_that_others_inherit():
    source = 'class _Base:\n    {}\n    def both(self):\n        """Shown."""\n    def _one(self):\n        {}\n'
    assert reduce_source(source.format('"""Not."""', '"""Not."""'), ("public.py",)) == source.format(
        "", "pass"
    ).replace("    \n", "\n")


class _WithoutTexts(ast.NodeTransformer):
    """Removes strings that are statements, and statements without effect."""

    def visit_Expr(self, node: ast.Expr) -> "ast.Expr | None":
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else node

    def visit_Pass(self, node: ast.Pass) -> None:
        return None


MODULES = sorted(path.relative_to(ROOT / "ffi_hpy") for path in (ROOT / "ffi_hpy").rglob("*.py"))


@pytest.mark.same_everywhere
@pytest.mark.thread_unsafe(reason="it takes long, and there is nothing to share")
@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_reduced_module_is_the_same_program(module):
    source = (ROOT / "ffi_hpy" / module).read_text(encoding="utf-8")
    reduced = reduce_source(source, module.parts)
    assert reduced.count("\n") == source.count("\n")
    if module.parts[0] == "_pypy":
        compile(reduced, str(module), "exec")
    else:
        program = ast.dump(_WithoutTexts().visit(ast.parse(source)))
        assert ast.dump(_WithoutTexts().visit(ast.parse(reduced))) == program
