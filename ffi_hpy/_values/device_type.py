"""DLDeviceType: DLPack's device types. In a separate file, loaded on first use, because `enum` is slow to import."""

from __future__ import annotations

from enum import IntEnum

from .. import _core

__all__ = ["DLDeviceType"]


class DLDeviceType(IntEnum):
    """DLPack's device types."""

    kDLCPU = _core.DEVICE_TYPE_CPU
    kDLCUDA = _core.DEVICE_TYPE_CUDA
    kDLCUDAHost = _core.DEVICE_TYPE_CUDA_HOST
    kDLOpenCL = _core.DEVICE_TYPE_OPENCL
    kDLVulkan = _core.DEVICE_TYPE_VULKAN
    kDLMetal = _core.DEVICE_TYPE_METAL
    kDLVPI = _core.DEVICE_TYPE_VPI
    kDLROCM = _core.DEVICE_TYPE_ROCM
    kDLROCMHost = _core.DEVICE_TYPE_ROCM_HOST
    kDLExtDev = _core.DEVICE_TYPE_EXT_DEV
    kDLCUDAManaged = _core.DEVICE_TYPE_CUDA_MANAGED
    kDLOneAPI = _core.DEVICE_TYPE_ONEAPI
    kDLWebGPU = _core.DEVICE_TYPE_WEBGPU
    kDLHexagon = _core.DEVICE_TYPE_HEXAGON
    kDLMAIA = _core.DEVICE_TYPE_MAIA
    kDLTrn = _core.DEVICE_TYPE_TRN


DLDeviceType.__module__ = (__package__ or "").rpartition(".")[0]  # the module that programs import it from
