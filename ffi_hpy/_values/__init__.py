"""The classes of values: objects, strings and bytes, devices, functions."""
