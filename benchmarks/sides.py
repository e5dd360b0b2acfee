"""The benchmarks' end of side.py and hpy_side.py: a process that times rows."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from ci.lib.messages import Missing, say
from ci.lib.process import clean_environ
from ci.provision.envs import python_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HERE = Path(__file__).resolve().parent


class Side:
    """A process that answers a line of words, separated by tabs, with a number. `kind` is its first argument,
    `arguments` follow after the file, and `extra` is added to its environment.

    Compared processes run on one core, in turn: the cores of a virtual machine differ in speed because their hosts have
    other guests, and the system would leave every process on its first core. `threads` says that this process needs all
    cores.
    """

    def __init__(
        self,
        env: Path,
        script: str,
        kind: str,
        file: Path,
        extra: Mapping[str, str] | None = None,
        arguments: Sequence[str] = (),
        *,
        threads: bool = False,
    ) -> None:
        self.kind, self.n_deaths = kind, 0
        self.command = [str(python_of(env)), str(HERE / script), kind, str(file), *arguments]
        self.environ = clean_environ(extra)
        self.threads = threads
        self.process = self.start()

    def start(self) -> subprocess.Popen[str]:
        """Start the process. Raises Missing if the process cannot be benchmarked."""
        process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.environ
        )
        if not self.threads:
            os.sched_setaffinity(process.pid, {max(os.sched_getaffinity(0))})
        assert process.stdout is not None
        answer = process.stdout.readline().strip()
        if answer != "ready":
            process.kill()
            process.communicate()
            raise Missing(f"{self.kind} could not be benchmarked ({answer or 'see above'})")
        return process

    def restart(self) -> None:
        """Start a new process after the old one died. Raises Missing if the new one cannot be benchmarked."""
        self.n_deaths += 1
        self.process.kill()
        self.process.communicate()
        self.process = self.start()

    def ns(self, *request: object) -> float:
        """Return the nanoseconds for a request: the row comes first, the number of calls last."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        answer = ""
        with contextlib.suppress(BrokenPipeError):  # the process died after its last answer
            print(*request, sep="\t", file=self.process.stdin, flush=True)
            answer = self.process.stdout.readline()
        if not answer:
            raise Missing(f"{self.kind}: the process that timed {request[0]!r} died")
        return float(answer)

    def close(self) -> None:
        self.process.communicate("")


def ask(sides: dict[str, Side], kind: str, *request: object) -> float:
    """Return the answer of a side, or -1 if its process dies of the request or the side is gone.

    The process is then started again, so that the side's other rows are still timed. A side that cannot be started
    again is removed from `sides`.
    """
    if kind not in sides:
        return -1
    try:
        return sides[kind].ns(*request)
    except Missing as reason:
        say(str(reason))
    try:
        sides[kind].restart()
    except Missing as reason:
        say(f"{reason}; its other rows are left out")
        del sides[kind]
    return -1
