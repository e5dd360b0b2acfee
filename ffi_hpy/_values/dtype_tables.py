"""Tables about data types that are attributes of `dtype`: created on first use, because NumPy is slow to import."""

from __future__ import annotations

from .dtype_code import DataTypeCode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["FLOAT_CODES", "INTEGER_CODES", "names_of_numpy_types"]

INTEGER_CODES = {DataTypeCode.INT, DataTypeCode.UINT}
FLOAT_CODES = set(DataTypeCode) - INTEGER_CODES - {DataTypeCode.HANDLE, DataTypeCode.BOOL}

_OF_NUMPY = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
_OF_ML_DTYPES = "bfloat16 float8_e4m3fn float8_e5m2 float4_e2m1fn"


def names_of_numpy_types() -> dict[Any, str]:
    """Return names by numpy.dtype, including those of the package ml_dtypes. Packages that are not installed have no
    entries."""
    try:
        import numpy
    except ImportError:
        return {}
    names: dict[Any, str] = {numpy.dtype(name): name for name in _OF_NUMPY.split()}
    try:
        import ml_dtypes  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return names
    for name in _OF_ML_DTYPES.split():
        scalar = getattr(ml_dtypes, name, None)  # older releases have fewer types
        if scalar is not None:
            names[numpy.dtype(scalar)] = name
    return names
