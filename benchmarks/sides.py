"""The benchmarks' end of side.py and hpy_side.py: a process that times rows."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from ci.lib.messages import Missing
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
        self.kind = kind
        self.process = subprocess.Popen(
            [str(python_of(env)), str(HERE / script), kind, str(file), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=clean_environ(extra),
        )
        if not threads:
            os.sched_setaffinity(self.process.pid, {max(os.sched_getaffinity(0))})
        assert self.process.stdout is not None
        answer = self.process.stdout.readline().strip()
        if answer != "ready":
            raise Missing(f"{kind} could not be benchmarked ({answer or 'see above'})")

    def ns(self, *request: object) -> float:
        """Return the nanoseconds for a request: the row comes first, the number of calls last."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(*request, sep="\t", file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise Missing(f"{self.kind}: the process that timed {request[0]!r} died")
        return float(answer)

    def close(self) -> None:
        self.process.communicate("")
