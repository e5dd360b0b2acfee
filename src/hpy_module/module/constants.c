/* Every number comes from the header that defines it, so that Python has no copies. ffi_hpy/_core.pyi declares them. */
#include "parts.h"

#include <ffi_hpy/c_bind.h>
#include <stddef.h>
#include <tvm/ffi/c_api.h>

#include "hpy_module/object/type_tag.h"

/* Names are arrays, because each pointer would need a relocation when the binary is loaded. */
static const struct {
  char name[32];
  int32_t value;
} numbers[] = {
    /* TVMFFITypeIndex */
    {"TYPE_INDEX_ANY", kTVMFFIAny},
    {"TYPE_INDEX_NONE", kTVMFFINone},
    {"TYPE_INDEX_INT", kTVMFFIInt},
    {"TYPE_INDEX_BOOL", kTVMFFIBool},
    {"TYPE_INDEX_FLOAT", kTVMFFIFloat},
    {"TYPE_INDEX_OPAQUE_PTR", kTVMFFIOpaquePtr},
    {"TYPE_INDEX_DATA_TYPE", kTVMFFIDataType},
    {"TYPE_INDEX_DEVICE", kTVMFFIDevice},
    {"TYPE_INDEX_DL_TENSOR_PTR", kTVMFFIDLTensorPtr},
    {"TYPE_INDEX_RAW_STR", kTVMFFIRawStr},
    {"TYPE_INDEX_BYTE_ARRAY_PTR", kTVMFFIByteArrayPtr},
    {"TYPE_INDEX_OBJECT_RVALUE_REF", kTVMFFIObjectRValueRef},
    {"TYPE_INDEX_SMALL_STR", kTVMFFISmallStr},
    {"TYPE_INDEX_SMALL_BYTES", kTVMFFISmallBytes},
    {"TYPE_INDEX_OBJECT", kTVMFFIObject},
    {"TYPE_INDEX_STR", kTVMFFIStr},
    {"TYPE_INDEX_BYTES", kTVMFFIBytes},
    {"TYPE_INDEX_FUNCTION", kTVMFFIFunction},
    {"TYPE_INDEX_TENSOR", kTVMFFITensor},
    {"TYPE_INDEX_ARRAY", kTVMFFIArray},
    {"TYPE_INDEX_MAP", kTVMFFIMap},
    {"TYPE_INDEX_LIST", kTVMFFIList},
    {"TYPE_INDEX_DICT", kTVMFFIDict},
    {"TYPE_INDEX_BIG_INT", kTVMFFIBigInt},
    {"TYPE_INDEX_DYNAMIC_BEGIN", kTVMFFIDynObjectBegin},
    /* TVMFFIFieldFlagBitMask */
    {"FIELD_WRITABLE", kTVMFFIFieldFlagBitMaskWritable},
    {"FIELD_HAS_DEFAULT", kTVMFFIFieldFlagBitMaskHasDefault},
    {"FIELD_IS_STATIC_METHOD", kTVMFFIFieldFlagBitMaskIsStaticMethod},
    {"FIELD_STRUCTURAL_IGNORE", kTVMFFIFieldFlagBitMaskSEqHashIgnore},
    {"FIELD_STRUCTURAL_DEF_PATTERN", kTVMFFIFieldFlagBitMaskSEqHashDefPattern},
    {"FIELD_STRUCTURAL_DEF_SIMPLE", kTVMFFIFieldFlagBitMaskSEqHashDefSimple},
    {"FIELD_DEFAULT_FROM_FACTORY", kTVMFFIFieldFlagBitMaskDefaultFromFactory},
    {"FIELD_REPR_OFF", kTVMFFIFieldFlagBitMaskReprOff},
    {"FIELD_COMPARE_OFF", kTVMFFIFieldFlagBitMaskCompareOff},
    {"FIELD_HASH_OFF", kTVMFFIFieldFlagBitMaskHashOff},
    {"FIELD_INIT_OFF", kTVMFFIFieldFlagBitMaskInitOff},
    {"FIELD_KW_ONLY", kTVMFFIFieldFlagBitMaskKwOnly},
    {"FIELD_SETTER_IS_FUNCTION", kTVMFFIFieldFlagBitSetterIsFunctionObj},
    /* TVMFFISEqHashKind */
    {"STRUCTURE_UNSUPPORTED", kTVMFFISEqHashKindUnsupported},
    {"STRUCTURE_TREE", kTVMFFISEqHashKindTreeNode},
    {"STRUCTURE_FREE_VAR", kTVMFFISEqHashKindFreeVar},
    {"STRUCTURE_DAG", kTVMFFISEqHashKindDAGNode},
    {"STRUCTURE_CONST_TREE", kTVMFFISEqHashKindConstTreeNode},
    {"STRUCTURE_UNIQUE_INSTANCE", kTVMFFISEqHashKindUniqueInstance},
    /* Flags in the result of classify_with_protocols() */
    {"PROTOCOL_OBJECT", FB_PROTOCOL_OBJECT},
    {"PROTOCOL_VALUE", FB_PROTOCOL_VALUE},
    {"PROTOCOL_CONVERT", FB_PROTOCOL_CONVERT},
    {"PROTOCOL_MAPPING", FB_PROTOCOL_MAPPING},
    {"PROTOCOL_WRAPPER", FB_PROTOCOL_WRAPPER},
    {"PROTOCOL_LAZY_BITS", FB_PROTOCOL_LAZY_BITS},
    {"PROTOCOL_INDEX", FB_PROTOCOL_INDEX},
    {"PROTOCOL_FLOAT", FB_PROTOCOL_FLOAT},
    /* TVMFFIDefRegionKind */
    {"DEF_REGION_NONE", kTVMFFIDefRegionKindNone},
    {"DEF_REGION_PATTERN", kTVMFFIDefRegionKindPattern},
    {"DEF_REGION_SIMPLE", kTVMFFIDefRegionKindSimple},
    /* DLDeviceType */
    {"DEVICE_TYPE_CPU", kDLCPU},
    {"DEVICE_TYPE_CUDA", kDLCUDA},
    {"DEVICE_TYPE_CUDA_HOST", kDLCUDAHost},
    {"DEVICE_TYPE_OPENCL", kDLOpenCL},
    {"DEVICE_TYPE_VULKAN", kDLVulkan},
    {"DEVICE_TYPE_METAL", kDLMetal},
    {"DEVICE_TYPE_VPI", kDLVPI},
    {"DEVICE_TYPE_ROCM", kDLROCM},
    {"DEVICE_TYPE_ROCM_HOST", kDLROCMHost},
    {"DEVICE_TYPE_EXT_DEV", kDLExtDev},
    {"DEVICE_TYPE_CUDA_MANAGED", kDLCUDAManaged},
    {"DEVICE_TYPE_ONEAPI", kDLOneAPI},
    {"DEVICE_TYPE_WEBGPU", kDLWebGPU},
    {"DEVICE_TYPE_HEXAGON", kDLHexagon},
    {"DEVICE_TYPE_MAIA", kDLMAIA},
    {"DEVICE_TYPE_TRN", kDLTrn},
    /* DLDataTypeCode */
    {"TYPE_CODE_INT", kDLInt},
    {"TYPE_CODE_UINT", kDLUInt},
    {"TYPE_CODE_FLOAT", kDLFloat},
    {"TYPE_CODE_HANDLE", kDLOpaqueHandle},
    {"TYPE_CODE_BFLOAT", kDLBfloat},
    {"TYPE_CODE_BOOL", kDLBool},
    {"TYPE_CODE_FLOAT8_FIRST", kDLFloat8_e3m4},
    {"TYPE_CODE_FLOAT4_LAST", kDLFloat4_e2m1fn},
    {"DLPACK_MAJOR_VERSION", DLPACK_MAJOR_VERSION},
    {"DLPACK_MINOR_VERSION", DLPACK_MINOR_VERSION},
    /* ffi_hpy/c_bind.h, for the cffi backend, in words of 8 bytes: members of ffi_hpy_bind_api, the place of the first
     * overload behind the handle of a Function, and, in words of 4 bytes, a member of ffi_hpy_first_overload */
    {"BIND_STR_DELETER", offsetof(ffi_hpy_bind_api, str_deleter) / 8},
    {"BIND_FUNCTION_CALL", offsetof(ffi_hpy_bind_api, function_call) / 8},
    {"BIND_FIRST_OVERLOAD", (sizeof(TVMFFIObject) + sizeof(TVMFFIFunctionCell)) / 8},
    {"BIND_BORROWS", offsetof(ffi_hpy_first_overload, borrows) / 4},
    {"BIND_UNLISTED", FFI_HPY_UNLISTED},
    {"OBJECT_HEADER_BYTES", sizeof(TVMFFIObject)},
    {"OBJECT_ALIGNMENT", _Alignof(TVMFFIObject)},
};

int fb_constants_add(HPyContext *ctx, HPy module) {
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i) {
    HPy number = HPyLong_FromInt32_t(ctx, numbers[i].value);
    if (HPy_IsNull(number)) return -1;
    int rc = HPy_SetAttr_s(ctx, module, numbers[i].name, number);
    HPy_Close(ctx, number);
    if (rc != 0) return -1;
  }
  return 0;
}
