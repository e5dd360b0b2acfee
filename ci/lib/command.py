"""The start and end of a command: its options, its help, its exit status."""

from __future__ import annotations

import argparse
import sys
from typing import Callable, Optional

from ci.lib.matrix import UnknownName
from ci.lib.messages import Missing, say

Main = Callable[[argparse.ArgumentParser], Optional[int]]


def run_command(main: Main, program: str, doc: str | None) -> None:
    """Run `main()` with a parser whose help is the docstring of the command `program`, as run_main() does."""
    summary, _, details = (doc or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog=program, description=summary, epilog=details, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    run_main(lambda: main(parser), program)


def run_main(main: Callable[[], int | None], program: str) -> None:
    """Run `main()` as the process: its result is the exit status. Missing is one line on stderr and status 1,
    UnknownName one line and status 2."""
    try:
        sys.exit(main())
    except Missing as reason:
        say(f"{program}: {reason}")
        sys.exit(1)
    except UnknownName as reason:
        say(f"{program}: {reason}")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


def parse_with_rest(parser: argparse.ArgumentParser) -> tuple[argparse.Namespace, list[str]]:
    """Return the command's own options, and the arguments after `--` for another program."""
    words = sys.argv[1:]
    split = words.index("--") if "--" in words else len(words)
    return parser.parse_args(words[:split]), words[split + 1 :]
