"""The parts that do not use Python wrappers: C types and functions, the hooks, the access to the C binding."""
