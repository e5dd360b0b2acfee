"""A handle whose tracker another thread has closed: it works until then, and debug mode reports later uses."""

import subprocess
import sys
import threading

import pytest
from test_hpy_runtime import HERE, compile_universal, load_runtime

from ffi_hpy import hpy_debug

pytestmark = pytest.mark.thread_unsafe  # the tracker and the hook are global to the process


@pytest.fixture(scope="module")
def tracked_path(tmp_path_factory):
    return compile_universal(HERE / "tracked.c", tmp_path_factory.mktemp("tracked") / "tracked.hpy0.so")


@pytest.fixture(scope="module")
def tracked(tracked_path):
    return load_runtime().load("tracked", tracked_path, debug=True)


def in_thread(function, *arguments):
    results = []
    thread = threading.Thread(target=lambda: results.append(function(*arguments)))
    thread.start()
    thread.join()
    return results[0]


def test_a_tracker_may_be_opened_used_and_closed_by_three_threads(tracked):
    in_thread(tracked.track, ("a", "value"))
    assert in_thread(tracked.use) == "('a', 'value')"
    assert tracked.end() is None


def test_a_handle_of_a_tracker_that_another_thread_closed_is_reported(tracked):
    reports = []
    hpy_debug.set_on_invalid_handle(reports.append)
    try:
        tracked.track(("a", "value"))
        in_thread(tracked.end)
        tracked.use()
    finally:
        hpy_debug.set_on_invalid_handle(None)
    assert len(reports) == 1
    assert "opened by tracked.track" in reports[0]
    assert "closed by tracked.end" in reports[0]


def test_without_a_hook_it_ends_the_process_with_the_report(tracked_path):
    program = (
        "import sys, threading; from test_hpy_runtime import load_runtime\n"
        "tracked = load_runtime().load('tracked', sys.argv[1], debug=True)\n"
        "tracked.track([1])\n"
        "thread = threading.Thread(target=tracked.end); thread.start(); thread.join()\n"
        "tracked.use()\n"
    )
    command = [sys.executable, "-c", program, tracked_path]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode < 0
    assert "closed by tracked.end" in done.stderr
