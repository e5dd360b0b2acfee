/* Looking up functions of the core. */
#include "core_function.h"

static TVMFFIObject *look_up(FbCoreFunction *self) {
  TVMFFIByteArray name = {self->name, strlen(self->name)};
  TVMFFIObjectHandle fresh = NULL;
  if (TVMFFIFunctionGetGlobal(&name, &fresh) != 0) return NULL;
  if (fresh == NULL) {
    char message[160];
    snprintf(message, sizeof(message), "the global function %s is missing from the core", self->name);
    TVMFFIErrorSetRaisedFromCStr("RuntimeError", message);
    return NULL;
  }
  TVMFFIObject *expected = NULL;
  /* Acquire and release pair with each other: whoever sees the pointer sees the function. */
  if (atomic_compare_exchange_strong_explicit(&self->found, &expected, fresh, memory_order_acq_rel,
                                              memory_order_acquire)) {
    return fresh;
  }
  TVMFFIObjectDecRef(fresh);
  return expected;
}

TVMFFIObject *fb_core_function_get(FbCoreFunction *self) {
  TVMFFIObject *found = atomic_load_explicit(&self->found, memory_order_acquire);
  return FB_LIKELY(found != NULL) ? found : look_up(self);
}

int fb_core_function_call(FbCoreFunction *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  *result = (TVMFFIAny){0};
  TVMFFIObject *function = fb_core_function_get(self);
  if (function == NULL) return -1;
  return ((const TVMFFIFunctionCell *)(function + 1))->safe_call(function, args, n_args, result);
}
