"""The results that benchmarks/scaling.py computes from its sides' answers. The sides are fakes; nothing is timed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
import scaling
from scaling import LOOP, Ended, Result, judge, measure, result_of
from sides import Side, ask
from steady import Timed, at_usual_speed, speedup

from ci.lib.messages import Missing

ROW = "field read"  # goals: own 1.9 times as many calls, shared 1.5 times
OWN = (ROW, "own")


class StandIn:
    """A fake side, which answers with calls per second by the number of threads, from lists with one value per round;
    the empty loop is as fast as the machine that `loop` describes."""

    def loop(self, n):
        return n * 1e6

    def __init__(self, **answers):
        self.answers = {int(name[1:]): list(values) for name, values in answers.items()}
        self.n_deaths = 0

    def ns(self, row, mode, n, seconds):
        if row == LOOP:
            return self.loop(n)
        if not self.answers.get(n):
            raise Missing("it died")
        return self.answers[n].pop(0)

    def restart(self):
        self.n_deaths += 1
        if self.n_deaths > 1:
            raise Missing("it does not start")


def results_of(**pairs):
    return {kind: Result(10.0, {2: ratio}, [1e8, 1e8, 1e8]) for kind, ratio in pairs.items()}


def test_a_ratio_is_the_median_of_the_rounds_ratios():
    side = StandIn(t1=[1e6, 2e6, 1e6], t2=[2e6, 4e6, 1e6])
    result = measure([OWN], {"ffi_hpy": side}, [1, 2], 3)[OWN]["ffi_hpy"]
    assert result.speedup == {1: 1.0, 2: 2.0}
    assert result.ns == pytest.approx(1000)


def timed(*rates, loop=1e6):
    return [Timed(rate, loop) for rate in rates]


def test_a_round_in_which_the_threads_never_ran_together_is_left_out():
    assert result_of({1: timed(1e6, 1e6), 2: timed(0, 1.5e6, loop=2e6)}, 1e6).speedup[2] == 1.5
    assert 2 not in result_of({1: timed(1e6, 1e6), 2: timed(0, 0)}, 1e6).speedup
    assert result_of({1: timed(0, 0), 2: timed(1e6, 1e6)}, 1e6) is None


def test_a_round_in_which_the_machine_changed_its_speed_is_left_out():
    one = [*timed(1e6), *timed(1.7e6, loop=1.7e6), *timed(1e6)]
    two = timed(1.9e6, 1.9e6, 1.9e6, loop=2e6)
    assert speedup(one, two, 2) == pytest.approx(1.9)
    assert speedup(one, [*two[:2], *timed(1.9e6, loop=1.1e6)], 2) == pytest.approx(1.9)


def test_on_a_machine_that_never_has_whole_cores_all_rounds_count():
    one, two = timed(1e6, 1e6, 1e6), timed(1.2e6, 1.3e6, 1.4e6, loop=1.2e6)
    assert speedup(one, two, 2) == pytest.approx(1.3)


def test_times_are_those_at_the_usual_speed_of_the_machine():
    assert at_usual_speed([*timed(1e6), *timed(2e6, loop=2e6), *timed(0)], 1e6) == [1e6, 1e6, 0]
    assert result_of({1: timed(3e6, loop=2e6)}, 1e6).ns == pytest.approx(1e9 / 1.5e6)


def test_a_side_without_the_row_is_asked_once():
    side = StandIn(t1=[-1, 1e6], t2=[2e6])
    assert measure([OWN], {"nanobind": side}, [1, 2], 3) == {OWN: {}}
    assert side.answers == {1: [1e6], 2: [2e6]}


class Mortal(StandIn):
    """Dies of the first row that it is asked for, and answers the others."""

    def ns(self, row, mode, n, seconds):
        if (row, mode) == OWN:
            raise Missing("it died")
        return super().ns(row, mode, n, seconds)


def test_a_process_that_died_is_started_again(tmp_path, capsys):
    script = tmp_path / "side.py"
    script.write_text(
        "import os, sys\n"
        "print('ready', flush=True)\n"
        "for line in sys.stdin:\n"
        "    os._exit(1) if line.startswith('bad') else print(5, flush=True)\n"
    )
    sides = {"peer": Side(Path(sys.prefix), str(script), "peer", tmp_path, threads=True)}
    assert [ask(sides, "peer", row) for row in ("good", "bad", "good")] == [5, -1, 5]
    assert sides["peer"].n_deaths == 1
    sides["peer"].close()
    assert "the process that timed 'bad' died" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["ffi_hpy", "nanobind"])
def test_a_side_that_dies_of_a_row_is_timed_in_the_other_rows(kind, capsys):
    sides = {kind: Mortal(t1=[1e6, 1e6], t2=[2e6, 2e6])}
    found = measure([OWN, (ROW, "shared")], sides, [1, 2], 2)
    assert list(found[OWN]) == []
    assert found[ROW, "shared"][kind].speedup[2] == 2.0
    assert sides[kind].n_deaths == 1  # the second round does not ask again for the row
    assert "it died" in capsys.readouterr().err


def test_a_side_that_does_not_start_again_is_left_out_from_then_on(capsys):
    ours, peer = StandIn(t1=[1e6, 1e6], t2=[2e6, 2e6]), StandIn(t1=[1e6, 1e6], t2=[2e6])
    peer.n_deaths = 1
    sides = {"ffi_hpy": ours, "nanobind": peer}
    found = measure([OWN], sides, [1, 2], 2)
    assert list(found[OWN]) == ["ffi_hpy", "nanobind"]
    assert list(sides) == ["ffi_hpy"]
    assert "it does not start" in capsys.readouterr().err


def test_no_row_is_timed_when_the_time_is_over(monkeypatch):
    side, kept = StandIn(t1=[1e6, 1e6], t2=[2e6, 2e6]), []
    clock = iter((1, 3))
    monkeypatch.setattr(scaling.time, "monotonic", lambda: next(clock))
    with pytest.raises(Ended, match="after 1 of 2 rows of round 1"):
        measure([OWN, (ROW, "shared")], {"ffi_hpy": side}, [1, 2], 2, ends=2, keep=kept.append)
    assert side.answers == {1: [1e6], 2: [2e6]}
    assert [list(found[OWN]) for found in kept] == [["ffi_hpy"]]


ANSWERS = """
import os, pathlib, signal, sys
starts = pathlib.Path(sys.argv[2])
starts.write_text(starts.read_text() + sys.argv[1])
assert sys.argv[1] != "b" or starts.read_text().count("b") < 2, "it does not start again"
print("ready", flush=True)
for n, line in enumerate(sys.stdin):
    if sys.argv[1] == "b" and n == 2:
        os._exit(1)
    if sys.argv[1] == "a" and n == 12:
        os.kill(os.getppid(), signal.SIGTERM)
    print(line.split("\\t")[-2] + "e6", flush=True)
"""


def sides_of_processes(folder):
    """Return two sides: `b` dies in its third answer and cannot be started again; `a` sends SIGTERM in its 13th."""
    script, starts = folder / "side.py", folder / "starts"
    script.write_text(ANSWERS)
    starts.write_text("")
    ours = Side(Path(sys.prefix), str(script), "a", starts, threads=True)
    return {"ffi_hpy": ours, "nanobind": Side(Path(sys.prefix), str(script), "b", starts, threads=True)}


def test_rows_are_kept_if_a_side_does_not_start_again_and_if_the_program_is_ended(tmp_path, monkeypatch, capsys):
    file = tmp_path / "found.csv"
    words = ["scaling.py", "field", "--threads", "2", "--rounds", "2", "--csv", str(file)]
    monkeypatch.setattr(sys, "argv", words)
    assert scaling.time_all(scaling.read_options(), sides_of_processes(tmp_path)) == 1
    shown = capsys.readouterr()
    assert "the process that timed" in shown.err
    assert "its other rows are left out" in shown.err
    assert "ended by SIGTERM" in shown.err
    rows = [line.split(",")[:4] for line in file.read_text().splitlines()[1:]]
    assert rows == [[*row, "ours", n] for row in scaling.wanted_rows(["field"])[:3] for n in "12"]
    assert f"{ROW}  own     1000.0" in shown.out


def test_the_goal_depends_on_the_shared_objects():
    assert judge(ROW, "own", results_of(ffi_hpy=1.8)) == ("1.9", "not met")
    assert judge(ROW, "shared", results_of(ffi_hpy=1.8)) == ("1.5", "met")


def test_the_best_peer_is_named_where_ours_is_below_it():
    assert judge(ROW, "shared", results_of(ffi_hpy=1.6, nanobind=1.8, pybind11=1.7))[1] == "below nanobind"
    assert judge(ROW, "shared", results_of(ffi_hpy=1.6, nanobind=1.62))[1] == "met"
    slow = results_of(ffi_hpy=1.6, tvm_ffi=1.8)
    slow["tvm_ffi"] = slow["tvm_ffi"]._replace(ns=10 * slow["ffi_hpy"].ns)
    assert judge(ROW, "shared", slow)[1] == "scales less than tvm_ffi, makes more calls"
    assert judge(ROW, "own", results_of(ffi_hpy=1.95, tvm_ffi=2.6))[1] == "met"
    assert judge(ROW, "shared", results_of(ffi_hpy=1.6, plain=2.0))[1] == "met"


def test_one_thread_may_not_become_slower():
    ours = results_of(ffi_hpy=2.0)
    slower = {**ours, "before": Result(9.0, {2: 2.0}, [1.1e8, 1.1e8, 5e8])}
    assert judge(ROW, "own", slower)[1] == "1.10 of the time before"
    as_fast = {**ours, "before": Result(9.0, {2: 2.0}, [1e8, 0, 1.04e8])}
    assert judge(ROW, "own", as_fast)[1] == "met"


def test_a_goal_without_a_measurement_has_no_verdict():
    assert judge(ROW, "own", {"ffi_hpy": Result(10.0, {}, [])}) == ("-", "")


def test_threads_are_doubled_up_to_the_cores(monkeypatch):
    for cores, counts in ((1, [1]), (2, [1, 2]), (8, [1, 2, 4, 8]), (12, [1, 2, 4, 8, 12])):
        monkeypatch.setattr(scaling.os, "sched_getaffinity", lambda _, n=cores: range(n))
        assert scaling.thread_counts() == counts
