"""The classes of native objects but containers: functions, errors, tensors."""
