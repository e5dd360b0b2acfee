"""The version, under the names of tvm_ffi._version."""

from __future__ import annotations

from . import __version__, __version_tuple__

__all__ = ["__version__", "__version_tuple__", "version", "version_tuple"]

version, version_tuple = __version__, __version_tuple__
__commit_id__ = commit_id = None
