"""Python values as arguments, native values as results."""
