/* device.c - names of devices: the name of DLPack's device type, a colon, the device's number. */
#include "device.h"

#include <stdio.h>

/* By device type. A number that DLPack does not define leaves a gap, which is NULL. */
static const char *const names[] = {
    [kDLCPU] = "cpu",
    [kDLCUDA] = "cuda",
    [kDLCUDAHost] = "cuda_host",
    [kDLOpenCL] = "opencl",
    [kDLVulkan] = "vulkan",
    [kDLMetal] = "metal",
    [kDLVPI] = "vpi",
    [kDLROCM] = "rocm",
    [kDLROCMHost] = "rocm_host",
    [kDLExtDev] = "ext_dev",
    [kDLCUDAManaged] = "cuda_managed",
    [kDLOneAPI] = "oneapi",
    [kDLWebGPU] = "webgpu",
    [kDLHexagon] = "hexagon",
    [kDLMAIA] = "maia",
    [kDLTrn] = "trn",
};

/* NULL for a number without a name. */
static const char *type_name(int32_t device_type) {
  size_t i = (size_t)device_type; /* a negative number becomes too large */
  return i < FH_COUNT_OF(names) ? names[i] : NULL;
}

void fh_device_print(DLDevice device, char *buffer) {
  /* An unknown device of a later DLPack is printed by its number: printing a value must not fail. */
  const char *name = type_name((int32_t)device.device_type);
  if (name == NULL) {
    snprintf(buffer, FH_DEVICE_TEXT_MAX, "unknown(%d):%d", (int)device.device_type, (int)device.device_id);
  } else {
    snprintf(buffer, FH_DEVICE_TEXT_MAX, "%s:%d", name, (int)device.device_id);
  }
}
