"""By what a stand-in is known: the distribution apache-tvm-ffi that is ffi_hpy."""

from __future__ import annotations

__all__ = ["ABI_VERSION", "INSTALLER", "NAME", "installed_version"]

NAME = "apache-tvm-ffi"
ABI_VERSION = "0.1.15.post2"
"""The release of apache-tvm-ffi whose ABI and names ffi_hpy follows."""
INSTALLER = "ffi_hpy.dropin"
"""What the file INSTALLER says, by which a stand-in is told from the real apache-tvm-ffi."""


def installed_version() -> str | None:
    """Return the version that the environment's stand-in has, None where none is installed."""
    import importlib.metadata  # which costs more than ffi_hpy, and few programs ask

    context = importlib.metadata.DistributionFinder.Context(name=NAME)
    for found in importlib.metadata.MetadataPathFinder.find_distributions(context):
        if (found.read_text("INSTALLER") or "").strip() == INSTALLER:
            return found.metadata["Version"]
    return None
