"""Tells whether a worker hangs, on a machine that may be busy."""

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
IDLE_PART = 1 / 500  # of a processor: who uses less for long is waiting, however busy the machine is
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def processor_seconds(pid: int) -> float:
    """What a process has used so far, one that has ended too until it is waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def watch(worker: subprocess.Popen[bytes], readers: list[Reader], hang_seconds: float) -> bool:
    """Wait for the end of a worker; True if a call took too long, and the worker was ended.

    It takes too long if it uses so many seconds of the processor, or next to nothing of it for as long. What takes its
    time because others use the processor is no hang.
    """
    seen: list[int] = []
    began = used_before = 0.0  # of the processor's time: when the call began, and when it was last seen at work
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
            worker.send_signal(signal.SIGUSR1)  # faulthandler shows where the threads are
            time.sleep(1)
            worker.kill()
            worker.wait()
            return True
