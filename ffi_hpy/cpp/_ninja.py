"""Steps of a build as ninja's file, and ninja's run over them."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from dataclasses import dataclass

from ._errors import BuildError
from ._toolchain import find_ninja

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

__all__ = ["NINJA_FILE", "OUT", "PART", "Step", "ninja_text", "run_ninja"]

NINJA_FILE = "build.ninja"
PART = ".ffi_hpy-part"
"""The end of the name of what a step has not finished: it gets its name when it is whole."""
OUT = "\0out"
"""Stands for the output among the words of a step."""
_STATUS = "[ffi_hpy %f/%t] "


@dataclass(frozen=True)
class Step:
    """A command that makes a file of others; `depfile` is where it lists what else it has read.

    It runs again when an input or what it has read is newer than its output, and when the command is another, or
    `made_by` or `stamp`, which tell the versions of tools from each other, and the content of inputs.
    """

    output: str
    inputs: tuple[str, ...]
    words: tuple[str, ...]
    made_by: str = ""
    stamp: str = ""
    depfile: str = ""

    @property
    def shown(self) -> str:
        """The command as a person would write it."""
        return shlex.join(self.output if word is OUT else word for word in self.words)

    @property
    def run(self) -> str:
        """For the shell: the output is renamed into its place, because a process may have the one there mapped, and so
        that one of an interrupted command is never taken for whole."""
        words = ['"$part"' if word is OUT else shlex.quote(word) for word in self.words]
        part, output = shlex.quote(f"{self.output}."), shlex.quote(self.output)
        command = f'part={part}$${PART}; {" ".join(words)} && mv -f "$part" {output}'
        return f'{command} || {{ rm -f "$part"; exit 1; }} # {self.made_by} {self.stamp}'


def ninja_text(steps: Sequence[Step]) -> str:
    """The text of a file for ninja that makes the output of the last step."""
    lines = ["ninja_required_version = 1.3"]
    for i, step in enumerate(steps):
        lines += [f"rule step{i}", f"  command = {step.run.replace('$', '$$')}"]
        if step.depfile:
            lines += ["  deps = gcc", f"  depfile = {_word(step.depfile)}"]
        lines.append(f"build {_word(step.output)}: step{i} {' '.join(map(_word, step.inputs))}")
    lines += [f"default {_word(steps[-1].output)}", ""]
    return "\n".join(lines)


def _word(path: str) -> str:
    """A path as ninja reads one."""
    return path.replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


def run_ninja(folder: Path, steps: Sequence[Step], name: str) -> None:
    """Make what is missing or out of date. BuildError with the commands that failed and what they said.

    MAX_JOBS in the environment is how many commands may run at once. With TVM_FFI_CPP_EXTENSION_LOG_BUILD=1 all
    commands, and what they say, are written to standard error.
    """
    command = [find_ninja(), "-v", *_jobs()]
    environ = {**os.environ, "NINJA_STATUS": _STATUS}
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, cwd=folder, env=environ, **options)  # type: ignore[call-overload]
    said = done.stdout.decode(errors="replace")
    for step in steps:
        said = said.replace(step.run, step.shown)
    if os.environ.get("TVM_FFI_CPP_EXTENSION_LOG_BUILD", "0") in ("1", "stdout", "stderr"):
        print(said, end="", file=sys.stderr)
    if done.returncode != 0:
        raise BuildError(f"{name!r} does not build, in {folder}:\n{''.join(_of_compilers(said.splitlines(True)))}")


def _jobs() -> list[str]:
    jobs = os.environ.get("MAX_JOBS", "").strip()
    if jobs and not (jobs.isdecimal() and int(jobs) > 0):
        raise ValueError(f"MAX_JOBS must be a positive number, got {jobs!r}")
    return ["-j", jobs] if jobs else []


def _of_compilers(lines: Iterable[str]) -> list[str]:
    """Without what ninja says of its own progress."""
    progress = (_STATUS.partition(" ")[0], "ninja: Entering directory", "ninja: build stopped")
    return [line for line in lines if not line.startswith(progress)]
