"""The tracebacks of exceptions that pass through native code. `error` stands on these modules."""
