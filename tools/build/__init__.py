"""How the binaries of ffi_hpy are built: used by setup.py, and by nothing at run time."""
