"""What a build raises."""

from __future__ import annotations

__all__ = ["BuildError"]


class BuildError(RuntimeError):
    """A build failed: a compiler's or linker's output is in the message, or what is missing and how to get it."""
