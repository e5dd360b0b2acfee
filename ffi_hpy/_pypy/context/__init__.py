"""What knows nothing of Python's wrappers: C types and functions, the hooks, the way to the binding in C."""
