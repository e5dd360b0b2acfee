/* c_env_api.h - the tvm-ffi C ABI, second part: the environment of a call. Streams, the tensor allocator, signals, and
 * the symbols of modules. The contracts of c_api.h hold. */
#ifndef TVM_FFI_EXTRA_C_ENV_API_H_
#define TVM_FFI_EXTRA_C_ENV_API_H_

#include <tvm/ffi/c_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A device queue, e.g. a cudaStream_t. Recorded here, never owned. */
typedef void *TVMFFIStreamHandle;

/** Records the calling thread's stream for a device. *opt_out_original_stream becomes the former one, unless the
 * pointer is NULL. */
TVM_FFI_DLL int TVMFFIEnvSetStream(int32_t device_type, int32_t device_id, TVMFFIStreamHandle stream,
                                   TVMFFIStreamHandle *opt_out_original_stream);

/** The calling thread's stream for a device; NULL, the default stream, if none was recorded. Cannot fail. */
TVM_FFI_DLL TVMFFIStreamHandle TVMFFIEnvGetStream(int32_t device_type, int32_t device_id);

/** Sets the calling thread's tensor allocator, and the process-wide one too if write_to_global_context is nonzero.
 * *opt_out_original_allocator becomes the thread's former one, unless the pointer is NULL. */
TVM_FFI_DLL int TVMFFIEnvSetDLPackManagedTensorAllocator(DLPackManagedTensorAllocator allocator,
                                                         int write_to_global_context,
                                                         DLPackManagedTensorAllocator *opt_out_original_allocator);

/** The thread's allocator, else the process-wide one, else NULL. Cannot fail. */
TVM_FFI_DLL DLPackManagedTensorAllocator TVMFFIEnvGetDLPackManagedTensorAllocator(void);

/** Makes a Tensor like the prototype, with the current allocator. RuntimeError if there is none; otherwise the error
 * that the allocator reports. */
TVM_FFI_DLL int TVMFFIEnvTensorAlloc(DLTensor *prototype, TVMFFIObjectHandle *out);

/** Lets the host language handle its signals. -1 means that an exception of that language is pending, and no Error of
 * this ABI. 0 if no host is registered. */
TVM_FFI_DLL int TVMFFIEnvCheckSignals(void);

/** Registers the host: call it with "PyErr_CheckSignals", "PyGILState_Ensure" and "PyGILState_Release" and their
 * addresses. ValueError for any other name. */
TVM_FFI_DLL int TVMFFIEnvRegisterCAPI(const char *name, void *symbol);

/** Finds the function of that name, first among the imports of the module `library_ctx`, then among the global
 * functions. Borrowed: the module keeps it alive. */
TVM_FFI_DLL int TVMFFIEnvModLookupFromImports(TVMFFIObjectHandle library_ctx, const char *func_name,
                                              TVMFFIObjectHandle *out);

/** Registers a pointer, which is stored into the exported variable `name` of every library that is loaded later. */
TVM_FFI_DLL int TVMFFIEnvModRegisterContextSymbol(const char *name, void *symbol);

/** Registers a symbol of the "system library", for code that is linked into the program. */
TVM_FFI_DLL int TVMFFIEnvModRegisterSystemLibSymbol(const char *name, void *symbol);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* TVM_FFI_EXTRA_C_ENV_API_H_ */
