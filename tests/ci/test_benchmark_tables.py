"""The tables, goals and verdicts that the benchmarks print. Nothing is timed here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
import calls
import instructions
from scaling_table import read_lines, table_of

from ci.lib.messages import markdown_table

HEADING = "row,mode,side,threads,ns_of_one_thread,speedup,goal_for_two\n"


def lines_of(tmp_path, *lines):
    file = tmp_path / "s.csv"
    file.write_text(HEADING + "".join(f"{line}\n" for line in lines))
    return read_lines(file)


def test_a_page_s_table_has_each_mode_beside_the_best_peer_and_python(tmp_path):
    lines = lines_of(
        tmp_path,
        *("field,own,ours,2,20.4,1.991,1.9", "field,own,tvm_ffi,2,75,0.61,1.9", "field,own,nanobind,2,47,0.42,1.9"),
        *("field,own,Python,2,9,1.5,1.9", "field,shared,ours,2,21,1.6,", "field,shared,pybind11,2,90,0.7,"),
    )
    heading, line = table_of(lines)
    assert heading[3:] == ["own x2", "best peer", "Python", "shared x2", "best peer", "Python"]
    assert line == ["field", "20", "47 nanobind", "1.99", "0.61 tvm_ffi", "1.50", "1.60", "0.70 pybind11", "-"]


def test_a_page_s_table_is_that_of_the_most_threads(tmp_path):
    lines = lines_of(tmp_path, "field,own,ours,1,20,1.0,1.9", "field,own,ours,2,20,1.9,1.9", "field,own,ours,8,20,7.1,")
    assert table_of(lines)[0][3] == "own x8"
    assert table_of(lines)[1][3] == "7.10"


def test_a_markdown_table_has_a_rule_below_its_heading():
    assert markdown_table([["a", "b"], [1, 2]]) == "| a | b |\n|---|---|\n| 1 | 2 |"


@pytest.mark.parametrize(("ours", "verdict"), [(114.0, "met"), (116.0, "not met")])
def test_instructions_are_compared_with_nanobind(ours, verdict):
    counts = {"ffi_hpy": {"no argument": ours, "float": 900.0}, "nanobind": {"no argument": 100.0, "float": 1.0}}
    assert instructions.judge("no argument", counts) == ("1.15", verdict)
    assert instructions.judge("float", counts) == ("", "")  # a row without a goal
    assert instructions.judge("no argument", {"ffi_hpy": counts["ffi_hpy"]}) == ("", "")


def test_a_call_names_the_goal_that_it_misses():
    times = {"ffi_hpy": [30.0, 30.0], "tvm_ffi": [100.0, 100.0], "nanobind": [20.0, 20.0]}
    assert calls.line_of("no argument", "kept", times)[-1] == "above 1.15 of nanobind"
    assert calls.line_of("no argument", "released", times)[-1] == "met"
    assert calls.line_of("object made", "kept", {"ffi_hpy": [251.0], "tvm_ffi": [1000.0]})[-1] == "above 250 ns"


def test_a_ratio_of_calls_is_the_median_of_the_rounds_ratios():
    line = calls.line_of("float", "kept", {"ffi_hpy": [10.0, 40.0, 10.0], "tvm_ffi": [20.0, 80.0, 100.0]})
    assert line[2:7] == ["10.0", "80.0", "-", "0.50", "-"]
