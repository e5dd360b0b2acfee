"""What a build raises."""

from __future__ import annotations

__all__ = ["BuildError"]


class BuildError(RuntimeError):
    """A build failed. The message has the output of the compiler or linker, or tells what is missing and how to get
    it."""

    __module__ = __package__ or ""  # where programs import it from
