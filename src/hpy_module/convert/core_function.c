/* Functions of the core, looked up by name at first use.
 *
 * These functions fill gaps of the C ABI. The binding calls them through their handles, without a wrapper. The core may
 * be apache-tvm-ffi's, where some of them are missing. */
#include "core_function.h"

#include <stdio.h>

#include "core/platform/atomic.h"
#include "hpy_module/context/py_owner.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/error/error.h"
#include "hpy_module/object/class_table.h"

/* Returns a new reference, or NULL. Leaves no error pending in either case. */
static TVMFFIObject *look_up(const FbCoreFunction *self) {
  TVMFFIByteArray name = {self->name, strlen(self->name)};
  TVMFFIObjectHandle found = NULL;
  if (self->type_index == 0) {
    if (TVMFFIFunctionGetGlobal(&name, &found) != 0) fb_error_slot_clear();
    return found;
  }
  const TVMFFIAny *attr = fb_type_attr_find(self->type_index, &name);
  if (attr == NULL || attr->type_index != kTVMFFIFunction) return NULL;
  TVMFFIObjectIncRef(attr->v_obj);
  return attr->v_obj;
}

TVMFFIObject *fb_core_function_find(FbCoreFunction *self) {
  /* Acquire and release pair: a thread that reads the pointer sees a complete function. */
  TVMFFIObject *found = fh_atomic_load_acquire(&self->found);
  if (FH_LIKELY(found != NULL)) return found;
  TVMFFIObject *fresh = look_up(self), *expected = NULL;
  if (fresh == NULL || fh_atomic_cas_acq_rel(&self->found, &expected, fresh)) {
    return fresh;
  }
  /* another thread stored its reference first */
  TVMFFIObjectDecRef(fresh);
  return expected;
}

/* Like fb_core_function_find, but sets a native error if the core has no such function. */
static TVMFFIObject *get(FbCoreFunction *self) {
  TVMFFIObject *found = fb_core_function_find(self);
  if (FH_LIKELY(found != NULL)) return found;
  char message[160];
  snprintf(message, sizeof(message), "the function %s is missing from the core", self->name);
  TVMFFIErrorSetRaisedFromCStr("RuntimeError", message);
  return NULL;
}

int fb_core_function_call(FbCoreFunction *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  TVMFFIObject *function = get(self);
  return function == NULL ? -1 : fb_core_function_call_handle(function, args, n_args, result);
}

int fb_core_function_run(HPyContext *ctx, FbCoreFunction *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  int rc;
  if (FH_LIKELY(!fb_thread_saves_state())) {
    rc = fb_core_function_call(self, args, n, result);
  } else {
    /* A callback from the core must find the context of this call. A PyObject owner that is dropped during the call may
     * have to wait for a context: see fb_py_owner_drain. */
    FbThreadState outer;
    fb_thread_enter(ctx, false, &outer);
    rc = fb_core_function_call(self, args, n, result);
    fb_thread_leave(&outer);
    fb_py_owner_drain(ctx);
  }
  if (FH_LIKELY(rc == 0)) return 0;
  fb_error_raise_pending(ctx, self->name);
  return -1;
}
