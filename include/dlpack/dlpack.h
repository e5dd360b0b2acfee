/* dlpack.h - the DLPack 1.3 binary interface: how libraries describe tensors to each other.
 *
 * Written for ffi_hpy from the published layout of DLPack 1.3 (https://dmlc.github.io/dlpack). Plain C11, also C++11.
 * This file has the include guard of the original, so a source file uses whichever copy it includes first. */
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define DLPACK_EXTERN_C extern "C"
#else
#define DLPACK_EXTERN_C
#endif

#ifdef _WIN32
#ifdef DLPACK_EXPORTS
#define DLPACK_DLL __declspec(dllexport)
#else
#define DLPACK_DLL __declspec(dllimport)
#endif
#else
#define DLPACK_DLL
#endif

#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 3

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the producer. Another major version has another layout: a consumer may then only call the deleter. A
 * later minor version adds codes and never moves a member. */
typedef struct {
  uint32_t major;
  uint32_t minor;
} DLPackVersion;

/* The type of device that has the memory. */
#ifdef __cplusplus
typedef enum : int32_t {
#else
typedef enum {
#endif
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3, /* pinned host memory, cudaMallocHost */
  kDLOpenCL = 4,
  kDLVulkan = 7,
  kDLMetal = 8,
  kDLVPI = 9,
  kDLROCM = 10,
  kDLROCMHost = 11, /* pinned host memory, hipMallocHost */
  kDLExtDev = 12,   /* a device that an extension defines */
  kDLCUDAManaged = 13,
  kDLOneAPI = 14,
  kDLWebGPU = 15,
  kDLHexagon = 16,
  kDLMAIA = 17,
  kDLTrn = 18
} DLDeviceType;

typedef struct {
  DLDeviceType device_type;
  int32_t device_id; /* 0 if there is only one */
} DLDevice;

/* The type of one lane of an element. */
typedef enum {
  kDLInt = 0U,
  kDLUInt = 1U,
  kDLFloat = 2U, /* IEEE 754 */
  kDLOpaqueHandle = 3U,
  kDLBfloat = 4U,
  kDLComplex = 5U, /* real part first; `bits` counts both parts */
  kDLBool = 6U,
  kDLFloat8_e3m4 = 7U,
  kDLFloat8_e4m3 = 8U,
  kDLFloat8_e4m3b11fnuz = 9U,
  kDLFloat8_e4m3fn = 10U,
  kDLFloat8_e4m3fnuz = 11U,
  kDLFloat8_e5m2 = 12U,
  kDLFloat8_e5m2fnuz = 13U,
  kDLFloat8_e8m0fnu = 14U,
  kDLFloat6_e2m3fn = 15U,
  kDLFloat6_e3m2fn = 16U,
  kDLFloat4_e2m1fn = 17U
} DLDataTypeCode;

/* Element type: `lanes` values of `bits` bits each. 4 bytes. */
typedef struct {
  uint8_t code; /* a DLDataTypeCode */
  uint8_t bits;
  uint16_t lanes; /* 1 for scalars; a negative int16 here is a scalable vector (a tvm-ffi convention) */
} DLDataType;

/* A borrowed tensor. An item has item_size = (bits * lanes + 7) / 8 bytes. Element (i0, i1, ...) starts at data +
 * byte_offset + sum(i_k * strides[k]) * item_size. */
typedef struct {
  void *data;           /* may be NULL for a tensor without elements */
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;       /* ndim extents; may be NULL when ndim is 0 */
  int64_t *strides;     /* ndim strides in elements; NULL means compact row-major before DLPack 1.2 */
  uint64_t byte_offset; /* from data to the first element */
} DLTensor;

/* A tensor with its owner, as in DLPack before 1.0. A consumer that takes ownership calls deleter(self) exactly once,
 * unless deleter is NULL. */
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

/* Bits of DLManagedTensorVersioned.flags. */
#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL)
#define DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED (1UL << 2UL)

/* A tensor with its owner and version. The first three members keep their place in every later major version. */
typedef struct DLManagedTensorVersioned {
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags; /* DLPACK_FLAG_BITMASK_* */
  DLTensor dl_tensor;
} DLManagedTensorVersioned;

/* ---- The DLPack C exchange API: the functions of an array library for C callers, stored as the type attribute
 * __dlpack_c_exchange_api__. Every function returns 0 or -1. NoSync: the function neither waits for nor orders work on
 * a device stream. */

/* Makes a tensor with the prototype's shape, dtype and device. On failure it calls SetError(error_ctx, kind, message)
 * and returns -1. The caller does not need an attached thread state. */
typedef int (*DLPackManagedTensorAllocator)(DLTensor *prototype, DLManagedTensorVersioned **out, void *error_ctx,
                                            void (*SetError)(void *error_ctx, const char *kind, const char *message));
/* Makes an owned description of the Python object's memory. */
typedef int (*DLPackManagedTensorFromPyObjectNoSync)(void *py_object, DLManagedTensorVersioned **out);
/* Fills in a borrowed description, valid while the Python object lives and is not changed. */
typedef int (*DLPackDLTensorFromPyObjectNoSync)(void *py_object, DLTensor *out);
/* Returns the stream on which the library currently queues its work for that device. */
typedef int (*DLPackCurrentWorkStream)(DLDeviceType device_type, int32_t device_id, void **out_current_stream);
/* Makes a Python object that takes ownership of the tensor. */
typedef int (*DLPackManagedTensorToPyObjectNoSync)(DLManagedTensorVersioned *tensor, void **out_py_object);

/* `prev_api` links to a table of an older major version, or is NULL. */
typedef struct DLPackExchangeAPIHeader {
  DLPackVersion version;
  struct DLPackExchangeAPIHeader *prev_api;
} DLPackExchangeAPIHeader;

/* Lives as long as the process. Only dltensor_from_py_object_no_sync may be NULL. */
typedef struct DLPackExchangeAPI {
  DLPackExchangeAPIHeader header;
  DLPackManagedTensorAllocator managed_tensor_allocator;
  DLPackManagedTensorFromPyObjectNoSync managed_tensor_from_py_object_no_sync;
  DLPackManagedTensorToPyObjectNoSync managed_tensor_to_py_object_no_sync;
  DLPackDLTensorFromPyObjectNoSync dltensor_from_py_object_no_sync;
  DLPackCurrentWorkStream current_work_stream;
} DLPackExchangeAPI;

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* DLPACK_DLPACK_H_ */
