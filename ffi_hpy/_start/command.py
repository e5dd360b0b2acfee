"""Tells whether this process is the command ffi-hpy-config. Needed before the binding is loaded, because that command
also works where the binding cannot be loaded."""

from __future__ import annotations

import os
import sys

__all__ = ["is_config_command"]

_CONFIG = f"{(__package__ or '').rpartition('.')[0]}.config"


def is_config_command() -> bool:
    """Whether this process is ffi-hpy-config, or `python -m ffi_hpy.config` (which only Python 3.10 and later tell)."""
    program: str = (getattr(sys, "argv", None) or [""])[0]  # a program that embeds Python may not set it
    if program != "-m":
        return os.path.basename(program) == "ffi-hpy-config"  # noqa: PTH119
    words = getattr(sys, "orig_argv", ())
    return ("-m", _CONFIG) in zip(words, words[1:])
