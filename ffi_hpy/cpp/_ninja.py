"""Writes the steps of a build for ninja, and runs ninja."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ._dialect import DEPENDENCIES, OUT
from ._errors import BuildError
from ._headers import note_headers, remove_outdated
from ._toolchain import end_of, find_ninja

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["NINJA_FILE", "Step", "ninja_text", "run_ninja"]

NINJA_FILE = "build.ninja"
_WORK = "FFI_HPY_WORK"
"""The environment variable that contains the folder of unfinished files. So the steps are the same in every build."""
_LOGS = (".ninja_log", ".ninja_deps")
_IDLE = b"ninja: no work to do."
_STATUS = "[ffi_hpy %f/%t] "
NOTICE_AFTER = 2.0
"""Seconds after which a build prints a notice to standard error."""


@dataclass(frozen=True)
class Step:
    """A command that makes a file from others. With `lists_in` it lists its further inputs, in a file ("gcc") or in its
    output ("msvc").

    The command runs again if an input or a listed file is newer than its output, or if the command, `made_by` or
    `stamp` has changed. `made_by` and `stamp` stand for the versions of tools and for the content of inputs.
    """

    output: str
    inputs: tuple[str, ...]
    words: tuple[str, ...]
    made_by: str = ""
    stamp: str = ""
    lists_in: str = ""

    @property
    def depfile(self) -> str:
        """The file in which the command lists its dependencies; "" if it does not use a file."""
        return f"{self.output}.d" if self.lists_in == "gcc" else ""

    @property
    def shown(self) -> str:
        """The command as a person would type it."""
        words = self._words(self.output, self.depfile)
        return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)

    @property
    def run(self) -> str:
        """The command for the shell. The command writes to another path and then renames the output into place: a
        process may have the old file mapped, and the output of an interrupted command must never look finished. The
        command of a killed build cannot rename anything, because its folder is removed before the next build begins."""
        return self.run_in_cmd() if sys.platform == "win32" else self.run_in_sh()

    def run_in_sh(self) -> str:
        """`run` for systems where ninja starts sh."""
        steps = [" ".join(map(_quote_for_sh, self.words))]
        if self.depfile:
            steps.append(f'mv -f "$part".d {shlex.quote(self.depfile)}')
        steps.append(f'mv -f "$part" {shlex.quote(self.output)}')
        part = shlex.quote(Path(self.output).name)
        return f'part="${_WORK}"/{part}; {" && ".join(steps)} # {self.made_by} {self.stamp}'

    def run_in_cmd(self) -> str:
        """`run` for Windows, where ninja starts a program: cmd, which reads the text between the outermost quotes.
        BuildError for a word that cmd would read as a variable."""
        for word in self.words:
            if "%" in word:
                raise BuildError(f"a path or a flag has a percent sign, which cmd cannot pass on: {word!r}")
        part = f"%{_WORK}%\\{Path(self.output).name}"
        steps = [_quote_for_cmd(self._words(part, f"{part}.d"))]
        moves = [(f"{part}.d", self.depfile)] if self.depfile else []
        for made, final in (*moves, (part, self.output)):
            steps.append(_quote_for_cmd(["move", "/y", made, final.replace("/", "\\")]) + " >nul")
        return f'cmd /d /s /c "set FFI_HPY_STAMP={self.made_by} {self.stamp}&& {" && ".join(steps)}"'

    def _words(self, output: str, listed: str) -> list[str]:
        return [word.replace(OUT, output).replace(DEPENDENCIES, listed) for word in self.words]


def ninja_text(steps: Sequence[Step], work: Path) -> str:
    """Return the content of ninja's file for making the output of the last step, with its logs in the folder `work`.

    BuildError for a step that cannot be written in ninja's language.
    """
    lines = ["ninja_required_version = 1.3", f"builddir = {_word(work.name)}"]
    for i, step in enumerate(steps):
        lines += [f"rule step{i}", f"  command = {step.run.replace('$', '$$')}"]
        lines += [f"  deps = {step.lists_in}"] if step.lists_in else []
        lines += [f"  depfile = {_word(step.depfile)}"] if step.depfile else []
        lines.append(f"build {_word(step.output)}: step{i} {' '.join(map(_word, step.inputs))}")
    lines += [f"default {_word(steps[-1].output)}", ""]
    for line in lines:
        if any(character in line for character in "\n\r\0"):
            raise BuildError(
                f"a path or a flag has a line break or a null character, which ninja cannot read: {line!r}"
            )
    return "\n".join(lines)


def _quote_for_sh(word: str) -> str:
    named = {OUT: '"$part"', DEPENDENCIES: '"$part".d'}
    parts = [part for part in re.split(f"({OUT}|{DEPENDENCIES})", word) if part]
    return "".join(named.get(part) or shlex.quote(part) for part in parts) or "''"


def _quote_for_cmd(words: Sequence[str]) -> str:
    """Quote the words for cmd, which reads & and similar characters literally only inside quotes."""
    quoted = (subprocess.list2cmdline([word]) for word in words)
    return " ".join(f'"{word}"' if set(word) & set("&|<>^()") and '"' not in word else word for word in quoted)


def _word(path: str) -> str:
    """A path, escaped for ninja."""
    return path.replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


def run_ninja(folder: Path, work: Path, steps: Sequence[Step], name: str, verbose: bool | None = None) -> None:
    """Build the missing and outdated files in a locked folder. Unfinished files are in `work`, a private folder.
    BuildError with the commands that failed and their output.

    MAX_JOBS in the environment is the number of commands that may run at once. With `verbose`, or with
    TVM_FFI_CPP_EXTENSION_LOG_BUILD=1 there, all commands and their output are written to standard error, line by line.
    By default only a notice is written if the build takes longer than NOTICE_AFTER; with False, nothing.
    """
    command = [find_ninja(), "-v", *_jobs()]
    remove_outdated(folder)
    _move(_LOGS, folder, work)
    environ = {**os.environ, "NINJA_STATUS": _STATUS, _WORK: work.name}
    environ["VSLANG"] = "1033"  # ninja finds headers in MSVC's output by an English text
    if os.environ.get("TVM_FFI_CPP_EXTENSION_LOG_BUILD", "0") in ("1", "stdout", "stderr"):
        verbose = True

    def shown(line: bytes) -> str:
        text = line.decode(errors="replace")
        for step in steps:
            text = text.replace(step.run, step.shown)
        return text.replace(f"{work.name}/", "")

    written: list[bytes] = []
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, cwd=folder, env=environ, **options) as process:  # type: ignore[call-overload]
        try:
            if verbose:
                for line in process.stdout:
                    written.append(line)
                    print(shown(line), end="", file=sys.stderr, flush=True)
            else:
                written += _wait(process, name, verbose is None).splitlines(True)
        except BaseException:
            process.kill()
            raise
    status = process.returncode
    if status in (0, 1):  # otherwise commands may still run, and ninja's records may not match the files
        if not any(_IDLE in line for line in written):
            note_headers(folder, work, _dependencies(command[0], folder))
        _move(_LOGS, work, folder)
    if status != 0:
        lines = _of_compilers(map(shown, written))
        if status != 1 or not lines:
            lines.append(f"ninja {end_of(status)}\n")
        raise BuildError(f"{name!r} does not build, in {folder}:\n{''.join(lines)}")


def _wait(process: subprocess.Popen[bytes], name: str, gives_notice: bool) -> bytes:
    """Return the output of a process after it has ended. The notice goes to standard error, because a user who waits
    for a program that seems to hang has not configured its logging."""
    try:
        return process.communicate(timeout=NOTICE_AFTER if gives_notice else None)[0]
    except subprocess.TimeoutExpired:
        print(f"ffi_hpy.cpp: compiling {name!r}; verbose=True shows how", file=sys.stderr, flush=True)
    return process.communicate()[0]


def run_alone(build_dir: str) -> None:
    """Run ninja in a folder with a build.ninja from another program. BuildError with ninja's output if that fails."""
    command = [find_ninja(), "-v", *_jobs()]
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, cwd=build_dir, **options)  # type: ignore[call-overload]
    if done.returncode != 0:
        raise BuildError(f"ninja {end_of(done.returncode)}, in {build_dir}:\n{done.stdout.decode(errors='replace')}")


def _dependencies(ninja: str, folder: Path) -> dict[str, list[str]]:
    """Return the files that each object file was compiled from, as listed by its compiler."""
    found: dict[str, list[str]] = {}
    paths: list[str] = []
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    done = subprocess.run([ninja, "-t", "deps"], cwd=folder, **options)  # type: ignore[call-overload]
    for line in os.fsdecode(done.stdout).split("\n"):
        if line.startswith(" "):
            paths.append(line.strip())
        elif line:
            paths = found.setdefault(line.rpartition(": #deps")[0], [])
    return found


def _move(names: Iterable[str], source: Path, target: Path) -> None:
    for name in names:
        try:
            (source / name).replace(target / name)
        except FileNotFoundError:
            pass  # nothing was built yet


def _jobs() -> list[str]:
    jobs = os.environ.get("MAX_JOBS", "").strip()
    if jobs and not (jobs.isdecimal() and int(jobs) > 0):
        raise ValueError(f"MAX_JOBS must be a positive number, got {jobs!r}")
    return ["-j", jobs] if jobs else []


def _of_compilers(lines: Iterable[str]) -> list[str]:
    """Return the lines without ninja's own progress messages."""
    progress = (_STATUS.partition(" ")[0], "ninja: Entering directory", "ninja: build stopped")
    return [line for line in lines if not line.startswith(progress)]
