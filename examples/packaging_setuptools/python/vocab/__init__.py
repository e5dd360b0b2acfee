"""Package vocab."""

# tvm-ffi-stubgen(begin): export/_ffi_api
# fmt: off
# isort: off
import typing as _typing
from ._ffi_api import *  # noqa: F403
if not _typing.TYPE_CHECKING:
    from ._ffi_api import __all__ as _ffi_api__all__
    __all__ = [*globals().get("__all__", []), *_ffi_api__all__]
# isort: on
# fmt: on
# tvm-ffi-stubgen(end)
