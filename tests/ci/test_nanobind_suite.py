"""ci/nanobind-suite: the statements that it leaves out of sources, and its answer without sources."""

from __future__ import annotations

import argparse

import pytest

from ci.lib.command import run_main
from ci.lib.messages import Missing
from ci.suites.foreign import Allowance, Outcome, counts_of
from ci.suites.nanobind import run
from ci.suites.nanobind.statements import Removal, read_removals, remove


def without(source, *texts):
    return remove(source, [Removal("a.cpp", text, "a reason") for text in texts])


def test_a_statement_of_several_lines_is_removed_and_the_lines_stay():
    source = 'int a;\nm.def("x", [](int) {\n  return ";)";  // )\n});\nint b;'
    assert without(source, '"x"') == "int a;\n\n\n;\nint b;"


def test_a_link_of_a_chain_is_removed_and_its_semicolon_stays():
    source = 'c.def("a", &A)\n .def("b", [] {\n   return 1;\n })\n .def("c", &C);'
    assert without(source, '"b"') == 'c.def("a", &A)\n\n\n\n .def("c", &C);'
    assert without(source, '"c"').endswith(" })\n;")


def test_functions_and_templates_are_removed():
    source = "template <int N>\nint f(int a)\n{\n  return a;\n}\nint g();"
    assert without(source, "template <int N>") == "\n\n\n\n\nint g();"


def test_a_statement_before_a_closing_bracket_is_removed_up_to_it():
    assert without("if (x) { y(\n  z) }", "z") == "if (x) { y(\n) }"


def test_an_entry_that_fits_no_line_is_an_error():
    with pytest.raises(Missing, match=r"no line of a\.cpp contains: nothing"):
        without("int a;", "nothing")


def test_the_list_has_reasons(tmp_path):
    assert all(removal.reason and removal.file.startswith("test_") for removal in read_removals())
    (tmp_path / "removed.txt").write_text('# comment\na.cpp | m.def("x" | it counts\n    references\n')
    assert read_removals(tmp_path / "removed.txt") == [Removal("a.cpp", 'm.def("x"', "it counts references")]


def test_the_short_form_passes_without_sources(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["ci/nanobind-suite", "--short", "--sources", str(tmp_path)])
    assert run.main(argparse.ArgumentParser()) == 0
    assert f"nothing is tested: {tmp_path}/tests is not there" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["ci/nanobind-suite", "--sources", str(tmp_path)])
    with pytest.raises(Missing):
        run.main(argparse.ArgumentParser())


def test_an_unknown_name_is_wrong_usage(monkeypatch, capsys):
    for arguments in (["strange"], ["--on", "cp20"]):
        monkeypatch.setattr("sys.argv", ["ci/nanobind-suite", *arguments])
        with pytest.raises(SystemExit) as end:
            run_main(lambda: run.main(argparse.ArgumentParser()), "ci/nanobind-suite")
        assert end.value.code == 2
    assert "known names: abi accessor" in capsys.readouterr().err


def test_a_test_that_passes_by_chance_is_not_an_error():
    outcome = Outcome("test_a.py")
    allowances = [Allowance("*", "::one", "by chance: an address"), Allowance("*", "::two", "a name")]
    outcome.judge({"test_a.py::one": "passed", "test_a.py::two": "passed"}, allowances)
    assert outcome.failed == ["test_a.py::two passes, and is listed as an exception"]
    assert counts_of([outcome]) == [1, 1, 0, 0]
