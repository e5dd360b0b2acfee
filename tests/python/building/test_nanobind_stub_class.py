"""The class StubGen of nanobind.stubgen, by which programs write stubs."""

import ast
import inspect
import re
from types import ModuleType

import pytest

from ffi_hpy._nanobind.patterns import read_patterns
from ffi_hpy._nanobind.stubgen import ReplacePattern, StubGen

pytestmark = pytest.mark.same_everywhere


@pytest.fixture
def module():
    """A module with a submodule and a value that cannot be compared."""

    class Rows(list):
        def __eq__(self, other):
            raise ValueError("no truth value")

        __hash__ = None

    made = ModuleType("stub_class_module", "Shapes.")
    made.inner = ModuleType("stub_class_module.inner")
    made.rows = Rows()
    made._hidden = 1
    return made


@pytest.fixture
def writer(module):
    """A writer without members."""
    return StubGen(module)


def test_a_stub_has_the_members_and_exports_the_submodules_of_a_module(module):
    writer = StubGen(module, include_docstrings=False)
    writer.put(module)
    stub = writer.get()
    assert "from stub_class_module import inner as inner\n" in stub
    assert "\nrows: " in stub
    assert '"""Shapes."""' not in stub
    assert "_hidden" not in stub


def test_patterns_replace_members_of_the_stub(module):
    pattern = ReplacePattern(re.compile(r"stub_class_module\.rows"), ["\\from typing import Final", "rows: Final = 1"])
    writer = StubGen(module, patterns=[pattern])
    writer.put(module)
    assert "from typing import Final\n" in writer.get()
    assert "\nrows: Final = 1" in writer.get()


@pytest.mark.parametrize("text", ['has """ inside', 'ends with "', "ends with \\", "two\nlines"])
def test_a_docstring_becomes_source_code(writer, text):
    assert inspect.cleandoc(ast.literal_eval(writer.format_docstr(text, 1).strip())).strip() == text


@pytest.mark.parametrize(
    ("text", "shown", "modules"),
    [
        ("collections.abc.Sized | None", "Sized | None", set()),
        ("email.Missing.Part", "email.Missing.Part", {"email"}),
        ("1e5.real", "1e5.real", set()),
    ],
)
def test_names_with_dots_become_names_of_the_stub(writer, text, shown, modules):
    import email  # noqa: F401

    assert (writer.simplify_types(text), writer.module_refs) == (shown, modules)


def test_an_overload_has_its_defaults_and_a_class_without_annotation(writer):
    text = "def make(cls: type[dict[str, int]], n: int = \\0, rest: object = \\1) -> None"
    writer.put_nb_overload(None, (text, "Makes.", (3, object())), is_classmethod=True)
    assert writer.output.startswith("def make(cls, n: int = 3, rest: object = ...) -> None:\n")
    assert "Makes." in writer.output


def test_a_property_without_a_getter_is_an_attribute(writer):
    class Setter:
        __nb_signature__ = (("def size(self, arg: collections.abc.Sized, /) -> None", None, None),)

    writer.put_property(property(fset=Setter()), "size")
    writer.put_property(property(fset=lambda self, value: None), "any_size")
    assert writer.output == "size: Sized\nany_size: Any\n"


def test_imports_have_one_line_for_each_module_and_no_repeated_name(module):
    module.overload = None
    writer = StubGen(module)
    assert writer.bind("typing", "overload") == "_overload"
    assert writer.bind("numpy") == "numpy"
    assert writer.bind("numpy", name="numpy", export=True) == "numpy"
    assert writer.bind("numpy") == "numpy"
    assert writer.bind("a.b") == "a.b"
    assert [writer.bind("a.c", name=name) for name in ("d", "c")] == ["d", "c"]
    lines = [line for line in writer.get().splitlines() if "import " in line]
    assert lines == [
        "from typing import overload as _overload",
        "import a.b",
        "import numpy as numpy",
        "from a import c as c, c as d",
    ]


def test_a_pattern_for_a_place_without_a_member_has_no_docstring(module, tmp_path):
    pattern = ReplacePattern(re.compile(r"shapes\.__prefix__"), ["\\doc"])
    with pytest.raises(RuntimeError, match=r"\\doc"):
        StubGen(module, patterns=[pattern]).apply_pattern("shapes.__prefix__", None)
    (tmp_path / "patterns.nb").write_text("shapes.__prefix__:\n    \\doc\n")
    with pytest.raises(RuntimeError, match=r"\\doc"):
        read_patterns([tmp_path / "patterns.nb"]).apply("x: int\n", "shapes")


def test_a_pattern_is_applied_to_one_value(module):
    pattern = ReplacePattern(re.compile(r"shapes\.(\w+)"), ["def \\1():", "    \\doc"])
    writer = StubGen(module, patterns=[pattern])
    assert writer.apply_pattern("shapes.area", len)
    assert not writer.apply_pattern("other", len)
    assert len.__doc__.splitlines()[0] in writer.output
