"""hpy 0.9, implemented by ffi_hpy: `hpy.universal`, `hpy.debug`, `hpy.trace` and `hpy.devel`.

The package also replaces the hpy of PyPy 7.3, whose headers are for PyPy's own runtime and not for HPy 0.9.
"""
