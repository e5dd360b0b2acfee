/* Writes native values that own nothing: plain values and views of objects. */
#ifndef FFI_HPY_CONVERT_PUT_H_
#define FFI_HPY_CONVERT_PUT_H_

#include <stdint.h>
#include <string.h>
#include <tvm/ffi/c_api.h>

#include "core/platform/base.h"

/* Makes *out the value with one store of 16 bytes. A C++ callee copies the value with one load of 16 bytes. An x86-64
 * processor forwards one 16-byte store to such a load; after two stores of 8 bytes, the load waits until both have
 * reached the cache. */
FH_INLINE void fb_put(TVMFFIAny *out, int32_t type_index, int64_t payload) {
#if defined(__x86_64__) && defined(__GNUC__)
  typedef int64_t Words __attribute__((vector_size(16), aligned(8), may_alias));
  *(Words *)out = (Words){type_index, payload}; /* zero_padding is the upper half of the first word */
#else
  out->type_index = type_index;
  out->zero_padding = 0;
  out->v_int64 = payload;
#endif
}

FH_INLINE void fb_put_float(TVMFFIAny *out, double number) {
  int64_t payload;
  memcpy(&payload, &number, sizeof(payload));
  fb_put(out, kTVMFFIFloat, payload);
}

FH_INLINE void fb_put_object(TVMFFIAny *out, TVMFFIObject *object) {
  fb_put(out, object->type_index, (int64_t)(intptr_t)object);
}

#endif /* FFI_HPY_CONVERT_PUT_H_ */
