"""The one error of the build: something that this machine lacks, said in one line."""

from __future__ import annotations


class BuildError(Exception):
    """The build cannot go on. The message is one line for a person: what is missing, and what to do about it."""
