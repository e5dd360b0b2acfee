"""Device: the location of a tensor's memory."""

from __future__ import annotations

from operator import index as _as_int

from .. import _core
from .._start.fork import importing
from .._start.similar import did_you_mean
from .plain import checked_int

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, SupportsIndex

__all__ = ["Device", "device"]

_TYPE_OF_NAME = {
    "cpu": _core.DEVICE_TYPE_CPU,
    "cuda": _core.DEVICE_TYPE_CUDA,
    "cuda_host": _core.DEVICE_TYPE_CUDA_HOST,
    "opencl": _core.DEVICE_TYPE_OPENCL,
    "vulkan": _core.DEVICE_TYPE_VULKAN,
    "metal": _core.DEVICE_TYPE_METAL,
    "vpi": _core.DEVICE_TYPE_VPI,
    "rocm": _core.DEVICE_TYPE_ROCM,
    "rocm_host": _core.DEVICE_TYPE_ROCM_HOST,
    "ext_dev": _core.DEVICE_TYPE_EXT_DEV,
    "cuda_managed": _core.DEVICE_TYPE_CUDA_MANAGED,
    "oneapi": _core.DEVICE_TYPE_ONEAPI,
    "webgpu": _core.DEVICE_TYPE_WEBGPU,
    "hexagon": _core.DEVICE_TYPE_HEXAGON,
    "maia": _core.DEVICE_TYPE_MAIA,
    "trn": _core.DEVICE_TYPE_TRN,
}
_NAME_OF_TYPE = {code: name for name, code in _TYPE_OF_NAME.items()}
_TYPE_OF_NAME.update(mps=_core.DEVICE_TYPE_METAL, wgpu=_core.DEVICE_TYPE_WEBGPU)  # other frameworks' names
_TYPE_OF_OLD_NAME = {  # names of targets, accepted by tvm_ffi until 0.1.12
    "c": _core.DEVICE_TYPE_CPU,
    "llvm": _core.DEVICE_TYPE_CPU,
    "test": _core.DEVICE_TYPE_CPU,
    "nvptx": _core.DEVICE_TYPE_CUDA,
    "cl": _core.DEVICE_TYPE_OPENCL,
}


class Device(_core.PlainValue):
    """A device: its DLPack type and its index among the devices of that type.

    Immutable; compares and hashes by value. The device need not exist.

    Args:
        device_type: a name such as "cuda" or "cuda:1", or the number of a DLDeviceType.
        index: the index among the devices of that type, 0 by default. An index in the name takes precedence.

    Raises:
        ValueError: for an unknown or malformed name, and for a negative number.
        TypeError: for an index that is not an integer.

    Examples:
        >>> ffi_hpy.Device("cuda:1") == ffi_hpy.Device("cuda", 1) == ffi_hpy.Device(2, 1)
        True
    """

    __slots__ = ()

    # Subclasses in programs may have their own tables, and a __device_type_name__
    _DEVICE_NAME_TO_TYPE: ClassVar[dict[str, int]] = _TYPE_OF_NAME
    _DEVICE_TYPE_TO_NAME: ClassVar[dict[int, str]] = _NAME_OF_TYPE

    def __init__(self, device_type: str | SupportsIndex, index: SupportsIndex | None = None) -> None:
        if isinstance(device_type, str):
            code, named_index = _parse(device_type, self._DEVICE_NAME_TO_TYPE)
        elif hasattr(device_type, "__index__"):
            code, named_index = _as_int(device_type), None
        else:
            raise TypeError(
                f"expected a device's name, such as 'cuda:1', or its number, got {type(device_type).__name__}"
            )
        given_index = 0 if index is None else _as_int(index)
        number = given_index if named_index is None else named_index
        self._word = (
            checked_int(code, "device type", 0, 0x7FFFFFFF)
            | checked_int(number, "device index", -0x80000000, 0x7FFFFFFF) << 32
        )

    @property
    def device_type(self) -> int:
        """DLPack device type, a number of DLDeviceType."""
        return self._word & 0xFFFFFFFF

    @property
    def index(self) -> int:
        """Which of the devices of that type."""
        return self._word >> 32

    @property
    def type(self) -> str:
        """The name of this device type, as Device() accepts it; unknown_ and the number for a type without a name."""
        return self.__device_type_name__()

    def __device_type_name__(self) -> str:
        code = self.device_type
        return self._DEVICE_TYPE_TO_NAME.get(code) or f"unknown_{code}"

    def dlpack_device_type(self) -> int:
        """DLPack device type, one of DLDeviceType."""
        return self.device_type

    def __str__(self) -> str:
        return f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        return f"device(type={self.type!r}, index={self.index})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.device_type, self.index)

    def __eq__(self, other: object) -> bool:
        return self._word == other._word if isinstance(other, Device) else NotImplemented

    def __hash__(self) -> int:
        return self._word


def device(device_type: str | SupportsIndex | Device, index: SupportsIndex | None = None) -> Device:
    """Return a device. A Device is returned unchanged.

    Args:
        device_type: as for Device, whose errors apply; or a Device.
        index: the index among the devices of that type.

    Examples:
        >>> ffi_hpy.device("cuda:1")
        device(type='cuda', index=1)
    """
    if isinstance(device_type, Device) and index is None:
        return device_type
    return _CLASS_DEVICE(device_type, index)  # type: ignore[arg-type]


_CLASS_DEVICE: type[Device] = Device  # replaced by _hooks.set_class_device()


def _create_device_from_tuple(cls: type[Device], device_type: int, device_id: int) -> Device:
    """Return an instance of `cls`, by DLPack type and index, for code written for tvm_ffi.core."""
    return cls(device_type, device_id)


def _parse(text: str, types: dict[str, int]) -> tuple[int, int | None]:
    """Return type and index of "name:index", or of "name" with None as the index. Text after a blank is ignored."""
    name, colon, number = text.partition(" ")[0].partition(":")
    code = types.get(name)
    if code is None and name in _TYPE_OF_OLD_NAME:
        with importing:
            from .._start.release import is_before
        code = _TYPE_OF_OLD_NAME[name] if is_before((0, 1, 13)) else None
    if code is None:
        if name in _TYPE_OF_OLD_NAME:
            raise ValueError(f"Unknown device: {text}")
        meant = ". Did you mean 'cuda'?" if name == "gpu" else did_you_mean(name, types)
        raise ValueError(f"Unknown device: {text}{meant or '. Known are ' + ', '.join(types)}")
    if not colon:
        return code, None
    try:
        return code, int(number)
    except ValueError:
        raise ValueError(f"Invalid device index in {text!r}") from None
