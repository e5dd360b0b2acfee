"""The tracebacks of exceptions that pass through native code. `error` uses these modules."""
