"""The classes of values: objects, text and bytes, devices, functions."""
