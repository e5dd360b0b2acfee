"""The exception of builds."""

from __future__ import annotations

__all__ = ["BuildError"]


class BuildError(RuntimeError):
    """A build failed. The message contains the output of the compiler or linker, or names the missing program and how
    to get it."""

    __module__ = __package__ or ""  # the module that programs import it from
