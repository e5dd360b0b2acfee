"""Detects whether a worker hangs, on a machine that may be busy."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from journal import Reader

START_SECONDS = 120.0  # until the first call
IDLE_PART = 1 / 500  # of a processor: a process below this rate for long is waiting, even on a busy machine
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process, also of an ended process before it is waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def watch(worker: subprocess.Popen[bytes], readers: list[Reader], hang_seconds: float) -> bool:
    """Wait for the end of a worker; return True if a call took too long and the worker was killed.

    A call takes too long if it uses `hang_seconds` of processor time, or almost none for `hang_seconds`. A call that
    only waits for a busy processor is not a hang.
    """
    seen: list[int] = []
    began = used_before = 0.0  # processor time at the start of the call, and at the last sign of work
    awake = time.monotonic()
    while True:
        try:
            worker.wait(0.1)
        except subprocess.TimeoutExpired:
            pass
        except BaseException:
            worker.kill()
            worker.wait()
            raise
        else:
            return False
        calls, used, now = [reader.call() for reader in readers], processor_seconds(worker.pid), time.monotonic()
        limit = hang_seconds if calls[0] >= 0 else START_SECONDS
        if calls != seen:
            seen, began, used_before, awake = calls, used, used, now
        elif used - used_before > limit * IDLE_PART:
            used_before, awake = used, now
        if used - began > limit or now - awake > limit:
            worker.send_signal(signal.SIGUSR1)  # faulthandler prints the stacks of all threads
            time.sleep(1)
            worker.kill()
            worker.wait()
            return True
