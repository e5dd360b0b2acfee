"""Tells whether this process is the command ffi-hpy-config. Needed before the binding is loaded, because that command
also works where the binding cannot be loaded."""

from __future__ import annotations

import os
import sys

__all__ = ["is_config_command"]

_PROGRAMS = ("ffi-hpy-config", "tvm-ffi-config")
_MODULES = (f"{(__package__ or '').rpartition('.')[0]}.config", "tvm_ffi.config")


def is_config_command() -> bool:
    """Whether this process is ffi-hpy-config, or `python -m ffi_hpy.config` (which only Python 3.10 and later tell), or
    that under tvm_ffi's name."""
    program: str = (getattr(sys, "argv", None) or [""])[0]  # a program that embeds Python may not set it
    if program != "-m":
        return os.path.basename(program) in _PROGRAMS  # noqa: PTH119
    words = getattr(sys, "orig_argv", ())
    return any(("-m", module) in zip(words, words[1:]) for module in _MODULES)


_is_config_mode = is_config_command  # its name in tvm_ffi
