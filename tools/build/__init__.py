"""The build of ffi_hpy's binaries: used by setup.py, not at run time."""
