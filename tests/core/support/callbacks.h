/* callbacks.h - callbacks and hooks that fail, and the lists of callbacks that walks and mutations expect. */
#ifndef TEST_CALLBACKS_H_
#define TEST_CALLBACKS_H_

#include "core/object/error.h"

#include "support/nodes.h"

static inline int failing_callback(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self);
  FH_UNUSED(args);
  FH_UNUSED(n_args);
  FH_UNUSED(result);
  return fh_error_raise("KeyError", "from the callback");
}
static inline int failing_hook(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self);
  FH_UNUSED(args);
  FH_UNUSED(n_args);
  FH_UNUSED(result);
  return fh_error_raise("KeyError", "from the hook");
}

/* One entry (type, function); steals the function. */
static inline TVMFFIAny callback_entry(int32_t type_index, TVMFFIAny func) { return make_array(i64(type_index), func); }
static inline TVMFFIAny no_entries(void) { return make_seq(kTVMFFIArray, NULL, 0); }

#endif /* TEST_CALLBACKS_H_ */
