"""hpy 0.9, answered by ffi_hpy: `hpy.universal`, `hpy.debug`, `hpy.trace` and `hpy.devel`.

Also on PyPy 7.3, which has an hpy of its own: its headers go with its own runtime, and not with HPy 0.9.
"""
