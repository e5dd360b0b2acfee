"""The check of late imports: it finds planted imports by strings, and planted entries of the table that are wrong."""

from __future__ import annotations

import pytest

from ci.jobs.layers_late import check_late, find_late_violations
from ci.jobs.layers_python import PACKAGE, Source, find_violations, layer_of, read_imports
from ci.lib.folders import ROOT

LAYERS = {"start": "_start", "below": "low other", "above": "high", "package": PACKAGE}
TABLE = 'LATE = {"low: names": {"high": "f g=h"}, "low": {".": "high"}}\n_PACKAGE = (__package__ or "").strip()\n'
MODULES = {
    "": "",
    "_start.late": TABLE,
    "low": 'find_late("low: names", "f")\nfind_late("low: names", name)\n__getattr__ = find_attributes(__name__)\n',
    "other": "",
    "high": "def f(): ...\nif True:\n    h = 1\n",
}


def violations_of(importers=(), setters=(), **modules):
    """Return the problems of the planted modules, some of them replaced; `late` replaces the table."""
    texts = {**MODULES, **{"_start.late" if name == "late" else name: text for name, text in modules.items()}}
    sources = [Source(name, name == "", text) for name, text in texts.items()]
    return find_late_violations(sources, LAYERS, dict.fromkeys(importers, "planted"), dict.fromkeys(setters, "planted"))


def test_right_late_imports_have_no_problems():
    assert violations_of() == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("from importlib import import_module\n", "import_module"),
        ('import importlib\n\n\nimportlib.import_module("high")\n', "import_module"),
        ('high = __import__("high")\n', "__import__"),
        ('import runpy\nrunpy.run_module("high")\n', "run_module"),
    ],
)
def test_an_import_by_a_string_elsewhere_is_a_problem(text, name):
    line = text.count("\n")
    assert violations_of(other=text) == [f"other imports by a string: {name}, line {line}"]
    assert violations_of(other=text, importers=["other"]) == []


def test_an_exception_that_is_no_longer_needed_is_a_problem():
    assert violations_of(importers=["other"]) == ["other is listed, but no longer imports by a string"]


def test_only_one_module_sets_hooks():
    assert violations_of(high=f"{MODULES['high']}_core.set_hooks(f=f)\n") == ["high sets hooks: set_hooks, line 4"]
    assert violations_of(high=f"{MODULES['high']}_core.set_hooks(f=f)\n", setters=["high"]) == []


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ('"low: names": {"higher": "f"}', "low needs higher.f, but the module higher does not exist"),
        ('"low: names": {"high": "f gone"}', "low needs high.gone, which is not defined there"),
        (
            '"low: names": {"high": "f", ".": "other"}',
            "low needs other, which is not above it: use an import statement",
        ),
    ],
)
def test_an_entry_of_the_table_that_is_wrong_is_a_problem(entry, problem):
    late = f'LATE = {{{entry}, "low": {{".": "high"}}}}\n'
    assert violations_of(late=late) == [f"_start.late: {problem}"]


def test_an_entry_for_a_module_that_is_imported_anyway_is_a_problem():
    late = 'LATE = {"high": {"other": "name"}}\n'
    high = "from .other import name as alias\n__getattr__ = find_attributes(__name__)\n"
    assert violations_of(late=late, low="", other="name = 1\n", high=high) == [
        "_start.late: high needs other.name, which it imports anyway"
    ]


def test_a_module_asks_only_for_its_own_entries_and_each_entry_is_asked_for():
    other = 'find_late("low: names", "f")\n__getattr__ = find_attributes(__name__)\n'
    assert violations_of(other=other) == [
        "other asks for 'low: names', line 1: _start.late has no such entry of this module",
        "other asks for 'other', line 2: _start.late has no such entry of this module",
    ]
    low = 'find_late("low: names", "h")\n'
    assert violations_of(low=low) == [
        "low asks for 'low: names', line 1: the entry has no 'h'",
        "_start.late: nothing asks for the entry 'low'",
    ]


def test_an_edge_of_the_table_may_point_upwards_and_a_statement_may_not():
    low = Source("low", False, MODULES["low"] + "def later():\n    from .high import f\n")
    high = Source("high", False, MODULES["high"])
    assert find_violations(LAYERS, read_imports([low, high])) == [
        "low (below) imports high (above), which is above it: function, line 5"
    ]
    assert layer_of("low", LAYERS) == "below"


def test_the_package_has_no_problems():
    problems, counts = check_late(ROOT)
    assert problems == []
    assert counts.endswith(", 0 violations")
