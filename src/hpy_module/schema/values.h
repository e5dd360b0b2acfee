/* An array of owned values for a container. */
#ifndef FFI_HPY_SCHEMA_VALUES_H_
#define FFI_HPY_SCHEMA_VALUES_H_

#include <tvm/ffi/c_api.h>

/* Zero-initialised is empty. */
typedef struct FbValues {
  TVMFFIAny *data; /* of which n are set */
  int32_t n;
} FbValues;

/* Allocates room for n values. Returns 0, or -1 if memory is exhausted. */
int fb_values_begin(FbValues *values, int64_t n);
void fb_values_end(FbValues *values);
/* Like fb_values_end, on an attached thread on which an exception may be raised. */
void fb_values_abandon(FbValues *values);

#endif /* FFI_HPY_SCHEMA_VALUES_H_ */
