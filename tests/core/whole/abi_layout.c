/* abi_layout.c - compile-only: every size, offset and number of the tvm-ffi ABI and of DLPack 1.3. Compiled as C11 and
 * as C++17, for 64-bit systems. */
#include <stddef.h>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

#ifdef __cplusplus
#define CHECK(cond) static_assert(cond, #cond)
#else
#define CHECK(cond) _Static_assert(cond, #cond)
#endif
#define SIZE(type, n) CHECK(sizeof(type) == (n))
#define AT(type, member, n) CHECK(offsetof(type, member) == (n))
#define NUMBER(name, n) CHECK((int)(name) == (n))
#define MEMBER_SIZE(type, member, n) CHECK(sizeof(((type *)0)->member) == (n))

SIZE(void *, 8);

/* ---- DLPack ---- */
NUMBER(DLPACK_MAJOR_VERSION, 1);
NUMBER(DLPACK_MINOR_VERSION, 3);
NUMBER(DLPACK_FLAG_BITMASK_READ_ONLY, 1);
NUMBER(DLPACK_FLAG_BITMASK_IS_COPIED, 2);
NUMBER(DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED, 4);
NUMBER(kDLCPU, 1);
NUMBER(kDLCUDA, 2);
NUMBER(kDLCUDAHost, 3);
NUMBER(kDLOpenCL, 4);
NUMBER(kDLVulkan, 7);
NUMBER(kDLMetal, 8);
NUMBER(kDLVPI, 9);
NUMBER(kDLROCM, 10);
NUMBER(kDLROCMHost, 11);
NUMBER(kDLExtDev, 12);
NUMBER(kDLCUDAManaged, 13);
NUMBER(kDLOneAPI, 14);
NUMBER(kDLWebGPU, 15);
NUMBER(kDLHexagon, 16);
NUMBER(kDLMAIA, 17);
NUMBER(kDLTrn, 18);
NUMBER(kDLInt, 0);
NUMBER(kDLUInt, 1);
NUMBER(kDLFloat, 2);
NUMBER(kDLOpaqueHandle, 3);
NUMBER(kDLBfloat, 4);
NUMBER(kDLComplex, 5);
NUMBER(kDLBool, 6);
NUMBER(kDLFloat8_e3m4, 7);
NUMBER(kDLFloat8_e4m3, 8);
NUMBER(kDLFloat8_e4m3b11fnuz, 9);
NUMBER(kDLFloat8_e4m3fn, 10);
NUMBER(kDLFloat8_e4m3fnuz, 11);
NUMBER(kDLFloat8_e5m2, 12);
NUMBER(kDLFloat8_e5m2fnuz, 13);
NUMBER(kDLFloat8_e8m0fnu, 14);
NUMBER(kDLFloat6_e2m3fn, 15);
NUMBER(kDLFloat6_e3m2fn, 16);
NUMBER(kDLFloat4_e2m1fn, 17);
SIZE(DLDeviceType, 4);
SIZE(DLPackVersion, 8);
AT(DLPackVersion, major, 0);
AT(DLPackVersion, minor, 4);
SIZE(DLDevice, 8);
AT(DLDevice, device_type, 0);
AT(DLDevice, device_id, 4);
SIZE(DLDataType, 4);
AT(DLDataType, code, 0);
AT(DLDataType, bits, 1);
AT(DLDataType, lanes, 2);
SIZE(DLTensor, 48);
AT(DLTensor, data, 0);
AT(DLTensor, device, 8);
AT(DLTensor, ndim, 16);
AT(DLTensor, dtype, 20);
AT(DLTensor, shape, 24);
AT(DLTensor, strides, 32);
AT(DLTensor, byte_offset, 40);
SIZE(DLManagedTensor, 64);
AT(DLManagedTensor, dl_tensor, 0);
AT(DLManagedTensor, manager_ctx, 48);
AT(DLManagedTensor, deleter, 56);
SIZE(DLManagedTensorVersioned, 80);
AT(DLManagedTensorVersioned, version, 0);
AT(DLManagedTensorVersioned, manager_ctx, 8);
AT(DLManagedTensorVersioned, deleter, 16);
AT(DLManagedTensorVersioned, flags, 24);
AT(DLManagedTensorVersioned, dl_tensor, 32);
SIZE(DLPackExchangeAPIHeader, 16);
AT(DLPackExchangeAPIHeader, version, 0);
AT(DLPackExchangeAPIHeader, prev_api, 8);
SIZE(DLPackExchangeAPI, 56);
AT(DLPackExchangeAPI, header, 0);
AT(DLPackExchangeAPI, managed_tensor_allocator, 16);
AT(DLPackExchangeAPI, managed_tensor_from_py_object_no_sync, 24);
AT(DLPackExchangeAPI, managed_tensor_to_py_object_no_sync, 32);
AT(DLPackExchangeAPI, dltensor_from_py_object_no_sync, 40);
AT(DLPackExchangeAPI, current_work_stream, 48);

/* ---- Version ---- */
NUMBER(TVM_FFI_VERSION_MAJOR, 0);
NUMBER(TVM_FFI_VERSION_MINOR, 1);
NUMBER(TVM_FFI_VERSION_PATCH, 16);
SIZE(TVMFFIVersion, 12);
AT(TVMFFIVersion, major, 0);
AT(TVMFFIVersion, minor, 4);
AT(TVMFFIVersion, patch, 8);

/* ---- Type indices ---- */
SIZE(TVMFFITypeIndex, 4);
NUMBER(kTVMFFIAny, -1);
NUMBER(kTVMFFINone, 0);
NUMBER(kTVMFFIInt, 1);
NUMBER(kTVMFFIBool, 2);
NUMBER(kTVMFFIFloat, 3);
NUMBER(kTVMFFIOpaquePtr, 4);
NUMBER(kTVMFFIDataType, 5);
NUMBER(kTVMFFIDevice, 6);
NUMBER(kTVMFFIDLTensorPtr, 7);
NUMBER(kTVMFFIRawStr, 8);
NUMBER(kTVMFFIByteArrayPtr, 9);
NUMBER(kTVMFFIObjectRValueRef, 10);
NUMBER(kTVMFFISmallStr, 11);
NUMBER(kTVMFFISmallBytes, 12);
NUMBER(kTVMFFIUnchanged, 13);
NUMBER(kTVMFFIStaticObjectBegin, 64);
NUMBER(kTVMFFIObject, 64);
NUMBER(kTVMFFIStr, 65);
NUMBER(kTVMFFIBytes, 66);
NUMBER(kTVMFFIError, 67);
NUMBER(kTVMFFIFunction, 68);
NUMBER(kTVMFFIShape, 69);
NUMBER(kTVMFFITensor, 70);
NUMBER(kTVMFFIArray, 71);
NUMBER(kTVMFFIMap, 72);
NUMBER(kTVMFFIModule, 73);
NUMBER(kTVMFFIOpaquePyObject, 74);
NUMBER(kTVMFFIList, 75);
NUMBER(kTVMFFIDict, 76);
NUMBER(kTVMFFIVisitInterrupt, 77);
NUMBER(kTVMFFIBigInt, 78);
NUMBER(kTVMFFIStaticObjectEnd, 79);
NUMBER(kTVMFFIDynObjectBegin, 128);

/* ---- Other enumerations ---- */
SIZE(TVMFFIObjectDeleterFlagBitMask, 4);
NUMBER(kTVMFFIObjectDeleterFlagBitMaskStrong, 1);
NUMBER(kTVMFFIObjectDeleterFlagBitMaskWeak, 2);
NUMBER(kTVMFFIObjectDeleterFlagBitMaskBoth, 3);
SIZE(TVMFFIBacktraceUpdateMode, 4);
NUMBER(kTVMFFIBacktraceUpdateModeReplace, 0);
NUMBER(kTVMFFIBacktraceUpdateModeAppend, 1);
SIZE(TVMFFIFieldFlagBitMask, 4);
NUMBER(kTVMFFIFieldFlagBitMaskWritable, 1);
NUMBER(kTVMFFIFieldFlagBitMaskHasDefault, 2);
NUMBER(kTVMFFIFieldFlagBitMaskIsStaticMethod, 4);
NUMBER(kTVMFFIFieldFlagBitMaskSEqHashIgnore, 8);
NUMBER(kTVMFFIFieldFlagBitMaskSEqHashDefPattern, 16);
NUMBER(kTVMFFIFieldFlagBitMaskDefaultFromFactory, 32);
NUMBER(kTVMFFIFieldFlagBitMaskReprOff, 64);
NUMBER(kTVMFFIFieldFlagBitMaskCompareOff, 128);
NUMBER(kTVMFFIFieldFlagBitMaskHashOff, 256);
NUMBER(kTVMFFIFieldFlagBitMaskInitOff, 512);
NUMBER(kTVMFFIFieldFlagBitMaskKwOnly, 1024);
NUMBER(kTVMFFIFieldFlagBitSetterIsFunctionObj, 2048);
NUMBER(kTVMFFIFieldFlagBitMaskSEqHashDefSimple, 4096);
SIZE(TVMFFISEqHashKind, 4);
NUMBER(kTVMFFISEqHashKindUnsupported, 0);
NUMBER(kTVMFFISEqHashKindTreeNode, 1);
NUMBER(kTVMFFISEqHashKindFreeVar, 2);
NUMBER(kTVMFFISEqHashKindDAGNode, 3);
NUMBER(kTVMFFISEqHashKindConstTreeNode, 4);
NUMBER(kTVMFFISEqHashKindUniqueInstance, 5);
SIZE(TVMFFIDefRegionKind, 4);
NUMBER(kTVMFFIDefRegionKindNone, 0);
NUMBER(kTVMFFIDefRegionKindPattern, 1);
NUMBER(kTVMFFIDefRegionKindSimple, 2);

/* ---- Structures ---- */
SIZE(TVMFFIObjectHandle, 8);
SIZE(TVMFFIStreamHandle, 8);
SIZE(TVMFFIObject, 24);
AT(TVMFFIObject, combined_ref_count, 0);
AT(TVMFFIObject, type_index, 8);
AT(TVMFFIObject, __padding, 12);
AT(TVMFFIObject, deleter, 16);
AT(TVMFFIObject, __ensure_align, 16);
SIZE(TVMFFIAny, 16);
AT(TVMFFIAny, type_index, 0);
AT(TVMFFIAny, zero_padding, 4);
AT(TVMFFIAny, small_str_len, 4);
AT(TVMFFIAny, v_int64, 8);
AT(TVMFFIAny, v_float64, 8);
AT(TVMFFIAny, v_ptr, 8);
AT(TVMFFIAny, v_c_str, 8);
AT(TVMFFIAny, v_obj, 8);
AT(TVMFFIAny, v_dtype, 8);
AT(TVMFFIAny, v_device, 8);
AT(TVMFFIAny, v_bytes, 8);
AT(TVMFFIAny, v_uint64, 8);
MEMBER_SIZE(TVMFFIAny, v_bytes, 8);
SIZE(TVMFFIByteArray, 16);
AT(TVMFFIByteArray, data, 0);
AT(TVMFFIByteArray, size, 8);
SIZE(TVMFFIShapeCell, 16);
AT(TVMFFIShapeCell, data, 0);
AT(TVMFFIShapeCell, size, 8);
SIZE(TVMFFISeqCell, 32);
AT(TVMFFISeqCell, data, 0);
AT(TVMFFISeqCell, size, 8);
AT(TVMFFISeqCell, capacity, 16);
AT(TVMFFISeqCell, data_deleter, 24);
SIZE(TVMFFIErrorCell, 72);
AT(TVMFFIErrorCell, kind, 0);
AT(TVMFFIErrorCell, message, 16);
AT(TVMFFIErrorCell, backtrace, 32);
AT(TVMFFIErrorCell, update_backtrace, 48);
AT(TVMFFIErrorCell, cause_chain, 56);
AT(TVMFFIErrorCell, extra_context, 64);
SIZE(TVMFFIFunctionCell, 16);
AT(TVMFFIFunctionCell, safe_call, 0);
AT(TVMFFIFunctionCell, cpp_call, 8);
SIZE(TVMFFIOpaqueObjectCell, 8);
AT(TVMFFIOpaqueObjectCell, handle, 0);
SIZE(TVMFFIObjectAllocHeader, 8);
AT(TVMFFIObjectAllocHeader, delete_space, 0);
SIZE(TVMFFICustomAllocator, 16);
AT(TVMFFICustomAllocator, allocate, 0);
AT(TVMFFICustomAllocator, context, 8);
SIZE(TVMFFIFieldInfo, 120);
AT(TVMFFIFieldInfo, name, 0);
AT(TVMFFIFieldInfo, doc, 16);
AT(TVMFFIFieldInfo, metadata, 32);
AT(TVMFFIFieldInfo, flags, 48);
AT(TVMFFIFieldInfo, size, 56);
AT(TVMFFIFieldInfo, alignment, 64);
AT(TVMFFIFieldInfo, offset, 72);
AT(TVMFFIFieldInfo, getter, 80);
AT(TVMFFIFieldInfo, setter, 88);
AT(TVMFFIFieldInfo, default_value_or_factory, 96);
AT(TVMFFIFieldInfo, field_static_type_index, 112);
SIZE(TVMFFIMethodInfo, 72);
AT(TVMFFIMethodInfo, name, 0);
AT(TVMFFIMethodInfo, doc, 16);
AT(TVMFFIMethodInfo, metadata, 32);
AT(TVMFFIMethodInfo, flags, 48);
AT(TVMFFIMethodInfo, method, 56);
SIZE(TVMFFITypeMetadata, 32);
AT(TVMFFITypeMetadata, doc, 0);
AT(TVMFFITypeMetadata, creator, 16);
AT(TVMFFITypeMetadata, total_size, 24);
AT(TVMFFITypeMetadata, structural_eq_hash_kind, 28);
SIZE(TVMFFITypeAttrColumn, 16);
AT(TVMFFITypeAttrColumn, data, 0);
AT(TVMFFITypeAttrColumn, size, 8);
AT(TVMFFITypeAttrColumn, begin_index, 12);
SIZE(TVMFFITypeInfo, 72);
AT(TVMFFITypeInfo, type_index, 0);
AT(TVMFFITypeInfo, type_depth, 4);
AT(TVMFFITypeInfo, type_key, 8);
AT(TVMFFITypeInfo, type_ancestors, 24);
AT(TVMFFITypeInfo, type_key_hash, 32);
AT(TVMFFITypeInfo, num_fields, 40);
AT(TVMFFITypeInfo, num_methods, 44);
AT(TVMFFITypeInfo, fields, 48);
AT(TVMFFITypeInfo, methods, 56);
AT(TVMFFITypeInfo, metadata, 64);

/* ---- Prototypes: a pointer of the written-out type accepts the function only if the types agree ---- */
typedef TVMFFIObjectHandle h;
typedef const TVMFFIByteArray *text;
typedef struct {
  void (*get_version)(TVMFFIVersion *);
  int (*inc_ref)(h);
  int (*dec_ref)(h);
  int (*create_opaque)(void *, int32_t, void (*)(void *), h *);
  TVMFFICustomAllocator *(*get_allocator)(void);
  int (*set_allocator)(TVMFFICustomAllocator *);
  int (*key_to_index)(text, int32_t *);
  int (*function_create)(void *, TVMFFISafeCallType, void (*)(void *), h *);
  int (*function_get_global)(text, h *);
  int (*any_to_owned)(const TVMFFIAny *, TVMFFIAny *);
  int (*function_call)(h, TVMFFIAny *, int32_t, TVMFFIAny *);
  void (*error_move)(h *);
  void (*error_set)(h);
  void (*error_set_cstr)(const char *, const char *);
  void (*error_set_parts)(const char *, const char **, int32_t);
  int (*error_create)(text, text, text, h *);
  int (*error_create_with)(text, text, text, h, h, h *);
  int (*from_dlpack)(DLManagedTensor *, int32_t, int32_t, h *);
  int (*to_dlpack)(h, DLManagedTensor **);
  int (*from_dlpack_versioned)(DLManagedTensorVersioned *, int32_t, int32_t, h *);
  int (*to_dlpack_versioned)(h, DLManagedTensorVersioned **);
  int (*unsafe_view)(h, const DLTensor *, h *);
  int (*string_from)(text, TVMFFIAny *);
  int (*bytes_from)(text, TVMFFIAny *);
  int (*bigint_from)(text, TVMFFIAny *);
  TVMFFIByteArray (*bigint_content)(const TVMFFIAny *);
  int (*dtype_from)(text, DLDataType *);
  int (*dtype_to)(const DLDataType *, TVMFFIAny *);
  int (*set_global)(text, h, int);
  int (*set_global_info)(const TVMFFIMethodInfo *, int);
  int (*register_field)(int32_t, const TVMFFIFieldInfo *);
  int (*register_method)(int32_t, const TVMFFIMethodInfo *);
  int (*register_metadata)(int32_t, const TVMFFITypeMetadata *);
  int (*register_attr)(int32_t, text, const TVMFFIAny *);
  const TVMFFITypeAttrColumn *(*get_column)(text);
  text (*backtrace)(const char *, int, const char *, int);
  int32_t (*get_or_alloc)(text, int32_t, int32_t, int32_t, int32_t, int32_t);
  const TVMFFITypeInfo *(*get_type_info)(int32_t);
  int (*init_once)(void **, int (*)(void **));
  int (*deinit_once)(void **, int (*)(void *));
  int (*set_stream)(int32_t, int32_t, TVMFFIStreamHandle, TVMFFIStreamHandle *);
  TVMFFIStreamHandle (*get_stream)(int32_t, int32_t);
  int (*set_tensor_allocator)(DLPackManagedTensorAllocator, int, DLPackManagedTensorAllocator *);
  DLPackManagedTensorAllocator (*get_tensor_allocator)(void);
  int (*tensor_alloc)(DLTensor *, h *);
  int (*check_signals)(void);
  int (*register_c_api)(const char *, void *);
  int (*lookup_from_imports)(h, const char *, h *);
  int (*register_context_symbol)(const char *, void *);
  int (*register_system_lib_symbol)(const char *, void *);
} prototypes;
SIZE(prototypes, 50 * 8);

const prototypes *abi_layout_prototypes(void);
const prototypes *abi_layout_prototypes(void) {
  static const prototypes all = {
      TVMFFIGetVersion,
      TVMFFIObjectIncRef,
      TVMFFIObjectDecRef,
      TVMFFIObjectCreateOpaque,
      TVMFFIGetCustomAllocator,
      TVMFFISetCustomAllocator,
      TVMFFITypeKeyToIndex,
      TVMFFIFunctionCreate,
      TVMFFIFunctionGetGlobal,
      TVMFFIAnyViewToOwnedAny,
      TVMFFIFunctionCall,
      TVMFFIErrorMoveFromRaised,
      TVMFFIErrorSetRaised,
      TVMFFIErrorSetRaisedFromCStr,
      TVMFFIErrorSetRaisedFromCStrParts,
      TVMFFIErrorCreate,
      TVMFFIErrorCreateWithCauseAndExtraContext,
      TVMFFITensorFromDLPack,
      TVMFFITensorToDLPack,
      TVMFFITensorFromDLPackVersioned,
      TVMFFITensorToDLPackVersioned,
      TVMFFITensorCreateUnsafeView,
      TVMFFIStringFromByteArray,
      TVMFFIBytesFromByteArray,
      TVMFFIBigIntFromByteArray,
      TVMFFIBigIntGetContentByteArray,
      TVMFFIDataTypeFromString,
      TVMFFIDataTypeToString,
      TVMFFIFunctionSetGlobal,
      TVMFFIFunctionSetGlobalFromMethodInfo,
      TVMFFITypeRegisterField,
      TVMFFITypeRegisterMethod,
      TVMFFITypeRegisterMetadata,
      TVMFFITypeRegisterAttr,
      TVMFFIGetTypeAttrColumn,
      TVMFFIBacktrace,
      TVMFFITypeGetOrAllocIndex,
      TVMFFIGetTypeInfo,
      TVMFFIHandleInitOnce,
      TVMFFIHandleDeinitOnce,
      TVMFFIEnvSetStream,
      TVMFFIEnvGetStream,
      TVMFFIEnvSetDLPackManagedTensorAllocator,
      TVMFFIEnvGetDLPackManagedTensorAllocator,
      TVMFFIEnvTensorAlloc,
      TVMFFIEnvCheckSignals,
      TVMFFIEnvRegisterCAPI,
      TVMFFIEnvModLookupFromImports,
      TVMFFIEnvModRegisterContextSymbol,
      TVMFFIEnvModRegisterSystemLibSymbol,
  };
  return &all;
}
