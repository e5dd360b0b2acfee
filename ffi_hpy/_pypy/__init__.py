"""What `_core` is on PyPy: the hot half of the binding in Python over cffi, which the JIT compiles into the caller."""
