"""`_core` on PyPy: the hot part of the binding in Python over cffi, which the JIT compiles into the caller."""
