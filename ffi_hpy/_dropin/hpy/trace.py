"""HPy's trace mode under its public names."""

from ._trace import get_call_counts, get_durations, get_frequency, set_trace_functions

__all__ = ["get_call_counts", "get_durations", "get_frequency", "set_trace_functions"]
