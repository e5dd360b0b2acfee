"""A page as a project: its files are written to a separate folder, its programs and commands run there in order, and
their output is compared with the output on the page."""

from __future__ import annotations

import doctest
import itertools
import json
import os
import select
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from blocks import COMMANDS, OUTPUT, Block, PageError

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

SECONDS = 240  # per block: builds by pip take longest, most of it in pip
WARNINGS = "-Wall -Wextra -Werror"
_MADE = ("build", "dist", "*.egg-info", "*.so", "__pycache__")  # files of people who work in an example's folder
_COMPILERS = {"cc": ("CC", ("cc", "gcc", "clang")), "c++": ("CXX", ("c++", "g++", "clang++"))}


class BlockError(AssertionError):
    """The result of a block differs from the page."""


class Project:
    """A page's blocks, its folder, and its interpreter, which starts with the first block of Python.

    Variables that a command exports stay set for the later blocks, as in a terminal.
    """

    def __init__(
        self,
        blocks: list[Block],
        folder: Path,
        files: Path | None = None,
        environ: dict[str, str] | None = None,
        seconds: float = SECONDS,
    ) -> None:
        """Use `folder`, which is empty; with a copy of the folder `files` if the page is about these files.

        The default of `environ` is make_environ(). `seconds` is the time limit of a command.
        """
        self.blocks = blocks
        self._folder = folder / "page"
        if files is None:
            self._folder.mkdir()
        else:
            shutil.copytree(files, self._folder, ignore=shutil.ignore_patterns(*_MADE))
        self._environ = make_environ(folder) if environ is None else environ
        self._exported = folder / "exported"
        self._seconds = seconds
        self._session: Session | None = None
        self._n_done = 0
        self._broken = ""  # the place of the block that failed

    def run_up_to(self, block: Block) -> None:
        """Run a block, and first the blocks before it that have not run yet. Raises BlockError."""
        for index in range(self._n_done, self.blocks.index(block) + 1):
            self._n_done = index + 1
            if self.blocks[index].not_run:
                continue
            if self._broken:
                raise BlockError(f"{block.place} needs {self._broken}, which failed")
            self._broken = self.blocks[index].place
            self._run(index)
            self._broken = ""

    def end(self) -> None:
        """End the interpreter. Raises BlockError if its exit status is not 0."""
        if self._session is not None:
            session, self._session = self._session, None
            session.end()

    def kill(self) -> None:
        """Kill the interpreter if it still runs."""
        if self._session is not None:
            self._session.kill()

    def _run(self, index: int) -> None:
        block = self.blocks[index]
        if block.file:
            self._write(block)
        elif block.language == "console":
            for command, expected in read_console(block.text):
                self._check(block, self._shell(block, command), expected)
        elif block.language in COMMANDS:
            output = self._shell(block, block.text)
            expected = self._expected(index)
            if expected is not None:
                self._check(block, output, expected)
        elif block.language == "python":
            self._session = self._session or Session(self._folder, self._environ)
            self._check(block, self._session.run(block), self._expected(index) or "")

    def _write(self, block: Block) -> None:
        path = self._folder / block.file
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a" if block.continues else "w") as stream:
            stream.write(block.text)

    def _shell(self, block: Block, command: str) -> str:
        """Return the output of a command, including stderr, as a terminal shows it."""
        told = f"trap 'env -0 > {shlex.quote(str(self._exported))}' EXIT"
        done = subprocess.run(
            ["sh", "-eu", "-c", f"{told}\n{command}"],
            cwd=self._folder,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=self._seconds,
        )
        if (done.returncode != 0) != block.fails:
            raise BlockError(f"{block.place}: exit status {done.returncode}:\n{done.stdout}")
        variables = self._exported.read_text().split("\0")[:-1]
        self._environ = dict(variable.split("=", 1) for variable in variables)
        return done.stdout

    def _expected(self, index: int) -> str | None:
        """Return the text that follows a block, if there is one; a variant for this implementation wins."""
        after = itertools.takewhile(lambda block: block.language == OUTPUT, self.blocks[index + 1 :])
        texts = [block.text for block in after if not block.not_run]
        return texts[-1] if texts else None

    @staticmethod
    def _check(block: Block, output: str, expected: str) -> None:
        """Compare the output with the page; `...` matches anything, as in a doctest."""
        example = doctest.Example("", expected.rstrip() + "\n")
        checker = doctest.OutputChecker()
        output = output.rstrip() + "\n"
        if not checker.check_output(example.want, output, doctest.ELLIPSIS):
            raise BlockError(f"{block.place} prints something else\n" + checker.output_difference(example, output, 0))


class Session:
    """The interpreter of a page, see session.py."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        self._files = {stream: folder.parent / f"python.{stream}" for stream in ("stdout", "stderr")}
        self._answers, answers = os.pipe()
        python = shutil.which("python", path=environ["PATH"]) or "python"
        with self._files["stdout"].open("wb") as stdout, self._files["stderr"].open("wb") as stderr:
            self._child = subprocess.Popen(
                [python, "-W", "error", str(HERE / "session.py"), str(answers)],
                cwd=folder,
                env=environ,
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr,
                pass_fds=[answers],
            )
        os.close(answers)
        self._n_read = 0

    def run(self, block: Block) -> str:
        """Run a block and return its stdout."""
        assert self._child.stdin is not None
        message = [Path(block.page).name, block.line, block.text]
        self._child.stdin.write(json.dumps(message).encode() + b"\n")
        self._child.stdin.flush()
        answer = self._answer()
        if answer != '""\n':
            why = json.loads(answer) if answer else self._ending()
            raise BlockError(f"{block.place}:\n{why}")
        output = self._files["stdout"].read_text()
        self._n_read, before = len(output), self._n_read
        return output[before:]

    def end(self) -> None:
        assert self._child.stdin is not None
        self._child.stdin.close()
        try:
            status = self._child.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self._child.kill()
            status = self._child.wait()
        os.close(self._answers)
        if status != 0:
            raise BlockError(f"the page's interpreter: {self._ending()}")

    def kill(self) -> None:
        self._child.kill()
        self._child.communicate()

    def _answer(self) -> str:
        """Return the next line, or its beginning if the interpreter ends or takes too long."""
        line = b""
        while not line.endswith(b"\n"):
            if not select.select([self._answers], [], [], SECONDS)[0]:
                self._child.kill()
            part = os.read(self._answers, 1 << 16)
            if not part:
                break
            line += part
        return line.decode()

    def _ending(self) -> str:
        return f"ended with status {self._child.wait(SECONDS)}:\n{self._files['stderr'].read_text()}"


def read_console(text: str) -> list[tuple[str, str]]:
    """Return the commands of a console, which follow `$ `, each with its output."""
    parts: list[tuple[str, str]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            parts.append((line[2:], ""))
        elif parts:
            command, output = parts[-1]
            parts[-1] = (command, f"{output}{line}\n")
        else:
            raise PageError(f"a console begins with a command, `$ ...`, not with {line!r}")
    return parts


def make_environ(folder: Path) -> dict[str, str]:
    """Return the environment of a page: PATH begins with compilers with all warnings as errors, then this Python's
    commands.

    pip builds with the packages installed here, and installs into a folder that only this page uses.
    """
    commands = folder / "bin"
    commands.mkdir()
    for name, (variable, candidates) in _COMPILERS.items():
        words = os.environ.get(variable, "").split() or [next(filter(shutil.which, candidates), candidates[0])]
        script = commands / name
        compiler = shlex.join([shutil.which(words[0]) or words[0], *words[1:]])
        script.write_text(f'#!/bin/sh\nexec {compiler} {WARNINGS} "$@"\n')
        script.chmod(0o755)
    path = [str(commands), str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    kept = {name: value for name, value in os.environ.items() if name not in ("CC", "CXX", "PYTHONPATH")}
    own = {"PIP_TARGET": "site", "PYTHONPATH": "site", "TVM_FFI_CACHE_DIR": "cache"}
    return {
        **kept,
        **{name: str(folder / value) for name, value in own.items()},
        "PATH": os.pathsep.join(path),
        "LC_ALL": "C",
        "PYTHONUTF8": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # for pip, 0 means no isolation
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
    }
