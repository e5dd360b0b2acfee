"""The class StubGen of nanobind.stubgen, by which programs write stubs."""

import ast
import inspect
import re
import sys
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


def test_each_match_of_a_pattern_counts_once(module):
    rows = ReplacePattern(re.compile(r"stub_class_module\.rows"), ["rows: int"])
    writer = StubGen(module, patterns=[rows, rows, ReplacePattern(re.compile("nothing"), [])])
    writer.put(module)
    stubs = [writer.get() for _ in range(3)]
    assert (rows.matches, writer.patterns.unused()) == (1, ["nothing"])
    assert stubs == [stubs[0]] * 3
    writer.put(1, "rows_again")
    assert "rows_again" not in writer.get()
    assert rows.matches == 2


@pytest.mark.parametrize("text", ['has """ inside', 'ends with "', "ends with \\", "two\nlines"])
def test_a_docstring_becomes_source_code(writer, text):
    assert inspect.cleandoc(ast.literal_eval(writer.format_docstr(text, 1).strip())).strip() == text


@pytest.mark.parametrize(
    ("text", "shown", "modules"),
    [
        ("fractions.Fraction | float", "Fraction | float", set()),
        ("colorsys.Palette.Shade", "colorsys.Palette.Shade", {"colorsys"}),
        ("lazy_module_of_test.Palette.Shade", "lazy_module_of_test.Palette.Shade", {"lazy_module_of_test"}),
        ("0.25.hex", "0.25.hex", set()),
    ],
)
def test_names_with_dots_become_names_of_the_stub(writer, monkeypatch, text, shown, modules):
    import colorsys  # noqa: F401
    import fractions  # noqa: F401

    def fail(name):
        raise RuntimeError(f"{name} cannot be loaded")

    lazy = ModuleType("lazy_module_of_test")
    lazy.__getattr__ = fail
    monkeypatch.setitem(sys.modules, "lazy_module_of_test", lazy)
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
    writer.put_property(property(fset=lambda self, value: None, doc="How many."), "any_size")
    assert writer.output == 'size: Sized\nany_size: Any\n"""How many."""\n'


def lines_of_imports(writer):
    return [line for line in writer.get().splitlines() if "import " in line]


def test_a_name_of_the_module_is_not_the_name_of_an_import(module):
    module.Fraction = None
    writer = StubGen(module)
    name = writer.bind("fractions", "Fraction")
    assert name != "Fraction"
    assert lines_of_imports(writer) == [f"from fractions import Fraction as {name}"]


def test_imports_have_one_line_for_each_name(writer):
    for name in (None, "wave", None, "sound"):
        assert writer.bind("wave", name=name, export=name == "wave") == (name or "wave")
    assert writer.bind("sheet.cell") == "sheet.cell"
    assert [writer.bind("sheet.row", name=name) for name in ("line", "row")] == ["line", "row"]
    assert lines_of_imports(writer) == [
        *(
            "import sheet.cell",
            "import wave as sound",
            "import wave as wave",
            "from sheet import row as line, row as row",
        )
    ]


def test_an_import_under_another_name_leaves_the_one_under_its_own(writer):
    assert [writer.bind("json"), writer.bind("json", name="js")] == ["json", "js"]
    assert lines_of_imports(writer) == ["import json", "import json as js"]


def test_patterns_keep_their_flags_and_count_the_members_that_they_find(module):
    found = ReplacePattern(re.compile(r"\.ROWS$", re.IGNORECASE), ["rows: list"])
    missed = ReplacePattern(re.compile(r"\.Rows$"), [])
    writer = StubGen(module, patterns=[missed, found])
    writer.put(module)
    assert "\nrows: list\n" in writer.get()
    assert (found.matches, missed.matches) == (1, 0)


def test_the_arguments_have_the_positions_of_nanobind(module):
    module.made_by = "Shapes 1"
    arguments = (module, False, False, True, True, False, 5, None, True, None)
    assert len(arguments) == len(inspect.signature(StubGen).parameters)
    writer = StubGen(*arguments)
    writer.put(module)
    assert "_hidden" in writer.get()
    assert '"""Shapes."""' not in writer.get()
    writer.put_nb_overload(None, ("def area(self, by: int = \\0, to: int = \\1) -> int", None, (1234, 12345)))
    assert writer.output.endswith("def area(self, by: int = 1234, to: int = ...) -> int: ...\n")


def test_the_stubs_of_submodules_are_written_beside_the_file_of_the_stub(module, tmp_path, capsys):
    module.inner.deeper = ModuleType("stub_class_module.inner.deeper")
    module.inner.count = 1
    module.inner.deeper.level = 2
    StubGen(module, recursive=True, quiet=False, output_file=tmp_path / "__init__.pyi").put(module)
    assert "\ncount: int" in (tmp_path / "inner" / "__init__.pyi").read_text()
    assert "\nlevel: int" in (tmp_path / "inner" / "deeper.pyi").read_text()
    assert capsys.readouterr().out.count(str(tmp_path)) == 2
    assert not (tmp_path / "__init__.pyi").exists()


@pytest.mark.parametrize("text", ["", "  \n "])
def test_an_empty_docstring_is_source_code(writer, text):
    writer.put_docstr(text)
    assert writer.output == '""""""\n'
    writer.module.__doc__ = text
    ast.parse(writer.get())


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
