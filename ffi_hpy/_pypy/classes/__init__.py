"""The classes of native objects, except containers: functions, errors, tensors."""
