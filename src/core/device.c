/* device.c - names of devices. */
#include "device.h"

#include <stdio.h>

const char *fh_device_type_name(int32_t device_type) {
  switch (device_type) {
  case kDLCPU: return "cpu";
  case kDLCUDA: return "cuda";
  case kDLCUDAHost: return "cuda_host";
  case kDLOpenCL: return "opencl";
  case kDLVulkan: return "vulkan";
  case kDLMetal: return "metal";
  case kDLVPI: return "vpi";
  case kDLROCM: return "rocm";
  case kDLROCMHost: return "rocm_host";
  case kDLExtDev: return "ext_dev";
  case kDLCUDAManaged: return "cuda_managed";
  case kDLOneAPI: return "oneapi";
  case kDLWebGPU: return "webgpu";
  case kDLHexagon: return "hexagon";
  case kDLMAIA: return "maia";
  case kDLTrn: return "trn";
  default: return "unknown";
  }
}

void fh_device_print(DLDevice device, char *buffer) {
  const char *name = fh_device_type_name((int32_t)device.device_type);
  if (strcmp(name, "unknown") == 0) {
    snprintf(buffer, FH_DEVICE_TEXT_MAX, "unknown(%d):%d", (int)device.device_type, (int)device.device_id);
  } else {
    snprintf(buffer, FH_DEVICE_TEXT_MAX, "%s:%d", name, (int)device.device_id);
  }
}
