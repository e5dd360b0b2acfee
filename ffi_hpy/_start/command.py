"""Detects whether this process is a command that also works if the binding fails to load: ffi-hpy-config, or the report
of `python -m ffi_hpy`. The module runs before the binding is loaded."""

from __future__ import annotations

import os
import sys

__all__ = ["is_config_command", "is_report_command"]

_PROGRAMS = ("ffi-hpy-config", "tvm-ffi-config")
_PACKAGE = (__package__ or "").rpartition(".")[0]


def is_config_command() -> bool:
    """Whether this process is ffi-hpy-config, `python -m ffi_hpy.config` (detected on Python 3.10 and later only), or
    either under tvm_ffi's name."""
    program: str = (getattr(sys, "argv", None) or [""])[0]  # a program that embeds Python may not set it
    if program != "-m":
        return os.path.basename(program) in _PROGRAMS  # noqa: PTH119
    return _runs(f"{_PACKAGE}.config") or _runs("tvm_ffi.config")


def is_report_command() -> bool:
    """Whether this process is `python -m ffi_hpy` (detected on Python 3.10 and later only)."""
    program: str = (getattr(sys, "argv", None) or [""])[0]
    return program == "-m" and _runs(_PACKAGE)


def _runs(module: str) -> bool:
    words = getattr(sys, "orig_argv", ())
    return ("-m", module) in zip(words, words[1:])


_is_config_mode = is_config_command  # its name in tvm_ffi
