"""What `_core` is on PyPy: the hot half of the binding in Python over cffi, which PyPy's JIT compiles into the caller."""
