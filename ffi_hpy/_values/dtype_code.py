"""DataTypeCode: DLPack's type codes. In a separate file, loaded on first use, because `enum` is slow to import."""

from __future__ import annotations

from enum import IntEnum

from .. import _core

__all__ = ["DataTypeCode"]


class DataTypeCode(IntEnum):
    """DLPack's type codes. The binding has the first and the last code of the small floats, which are consecutive."""

    INT = _core.TYPE_CODE_INT
    UINT = _core.TYPE_CODE_UINT
    FLOAT = _core.TYPE_CODE_FLOAT
    HANDLE = _core.TYPE_CODE_HANDLE
    BFLOAT = _core.TYPE_CODE_BFLOAT
    BOOL = _core.TYPE_CODE_BOOL
    Float8E3M4 = _core.TYPE_CODE_FLOAT8_FIRST
    Float8E4M3 = Float8E3M4 + 1
    Float8E4M3B11FNUZ = Float8E4M3 + 1
    Float8E4M3FN = Float8E4M3B11FNUZ + 1
    Float8E4M3FNUZ = Float8E4M3FN + 1
    Float8E5M2 = Float8E4M3FNUZ + 1
    Float8E5M2FNUZ = Float8E5M2 + 1
    Float8E8M0FNU = Float8E5M2FNUZ + 1
    Float6E2M3FN = Float8E8M0FNU + 1
    Float6E3M2FN = Float6E2M3FN + 1
    Float4E2M1FN = _core.TYPE_CODE_FLOAT4_LAST
