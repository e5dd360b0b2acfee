"""Wrappers of native objects, the memory of calls, and errors."""
