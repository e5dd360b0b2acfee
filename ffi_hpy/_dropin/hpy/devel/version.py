"""The release of hpy that hpy.devel follows."""

__version__ = "0.9.0"
__git_revision__ = "ffi_hpy"
