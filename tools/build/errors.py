"""The only error of the build: a missing part of this machine, described in one line."""

from __future__ import annotations


class BuildError(Exception):
    """The build cannot go on. The message is one line for a person: the missing part, and the remedy."""
