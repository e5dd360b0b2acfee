"""The processes that a command starts: short ones with captured output, long ones with a log; and how to stop all of
them."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from ci.lib.messages import Missing, last_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

LONGEST_SECONDS = 1500

# Variables that change the behaviour of a Python process or the packages that it sees.
_NOT_INHERITED = ("PYTHONPATH", "PYTHONHOME", "PYTHON_GIL", "PYTHONSTARTUP", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")


def clean_environ(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment for our Python processes, without inherited variables that change Python and without
    bytecode."""
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", **(extra or {})}


def output_of(
    command: Sequence[str | Path],
    extra: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float | None = None,
) -> str:
    """Return the stdout of `command`; stderr is captured. Raises Missing if the command fails or takes too long."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words,
            env=clean_environ(extra),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        raise Missing(f"{words[0]} gave no answer in {timeout:g} s") from None
    except OSError as error:
        raise Missing(f"{words[0]} cannot be run: {error.strerror}") from None
    if done.returncode != 0:
        shown, *more = " ".join(words).splitlines()
        shown += " ..." if more else ""
        raise Missing(f"{shown}: exit status {done.returncode}: {last_line(done.stderr or done.stdout)}")
    return done.stdout


# --- long processes -------------------------------------------------------------------------------------------------

_running: set[subprocess.Popen[bytes]] = set()
_is_stopping = threading.Event()


@contextlib.contextmanager
def workers(n: int) -> Iterator[ThreadPoolExecutor]:
    """Yield an executor with n threads. An exception, also Ctrl-C, kills their processes, and no new one starts."""
    with ThreadPoolExecutor(n) as pool:
        try:
            yield pool
        except BaseException:
            stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def check_going_on() -> None:
    """Raise Missing if everything is being stopped. Code that runs many short commands calls this before each."""
    if _is_stopping.is_set():
        raise Missing("stopped")


def run_logged(
    command: Sequence[str],
    log: Path,
    environ: Mapping[str, str],
    cwd: Path,
    seconds: float | None = LONGEST_SECONDS,
) -> int:
    """Run `command` with its output in `log` and return its exit status; kill it after `seconds`.

    Raises Missing if everything is being stopped.
    """
    check_going_on()
    with log.open("wb") as stream:
        child = subprocess.Popen(
            command,
            cwd=cwd,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        _running.add(child)
        if _is_stopping.is_set():  # stop() ran between check_going_on() and add()
            kill(child)
        try:
            return child.wait(seconds)
        except subprocess.TimeoutExpired:
            kill(child)
            stream.write(f"\nkilled after {seconds:g} s\n".encode())
            return child.wait()
        except BaseException:
            kill(child)
            raise
        finally:
            _running.discard(child)


def closing_line(text: str, status: int) -> str:
    """Return a runner's last line; add the exit status if the line does not show the failure."""
    words = last_line(text).strip("= ")
    if status < 0:
        fatal = re.search(r"^.*Fatal Python error: .*$", text, re.MULTILINE)  # follows the name of the test
        words = fatal[0] if fatal else words
        return f"{words} [killed by {signal.Signals(-status).name}]"
    return words


def kill(child: subprocess.Popen[bytes]) -> None:
    """Kill a child that has its own session, with its children."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def stop() -> None:
    """Kill all processes of run_logged, and let it start no new ones."""
    _is_stopping.set()
    for child in list(_running):
        kill(child)
