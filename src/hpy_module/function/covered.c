/* What the half of the binding that is written in Python (ffi_hpy/_pypy) needs of C: the native side of its callbacks.
 *
 * Such a callback is a C function that cffi made, which takes the interpreter when it is called. It would wait for ever
 * on a thread that holds the interpreter already, which is so while this binding calls native code. And what ends in
 * the collector's own work may not run Python code at all: it waits (later.h). */
#include "covered.h"

#include <stdlib.h>
#include <tvm/ffi/c_api.h>

#include "hpy_module/context/later.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/context/tuple.h"

static TVMFFISafeCallType call_in_python; /* written once during the import */

/* safe_call of a callback: self is the FbLater that its deleter will push. */
static int covered_call(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  HPyContext *held = fb_thread_held_take();
  if (FH_LIKELY(held == NULL)) return call_in_python(self, args, n, result);
  HPyThreadState state = HPy_LeavePythonExecution(held);
  int rc = call_in_python(self, args, n, result);
  HPy_ReenterPythonExecution(held, state);
  fb_thread_held_put(held);
  return rc;
}

/* The deleter of callbacks, and of Python objects in native ones: self is the FbLater that was made with them. */
static void covered_drop(void *self) { fb_later_push(self); }

static int64_t address_of(void (*function)(void)) {
  int64_t address = 0;
  memcpy(&address, &function, sizeof(function));
  return address;
}

HPyDef_METH(fb_covered_cover, "cover", HPyFunc_O,
            .doc = "Given the address of the function that runs callbacks, the addresses of what it needs.")
static HPy fb_covered_cover_impl(HPyContext *ctx, HPy self, HPy arg) {
  (void)self;
  void *code = HPyLong_AsVoidPtr(ctx, arg);
  if (code == NULL && HPyErr_Occurred(ctx)) return HPy_NULL;
  memcpy(&call_in_python, &code, sizeof(code));
  fb_later_is_used = true;
  fb_thread_cover();
  const int64_t addresses[] = {address_of((void (*)(void))covered_call), address_of((void (*)(void))covered_drop),
                               address_of((void (*)(void))fb_later_new), address_of((void (*)(void))fb_later_take),
                               address_of((void (*)(void))free), (int64_t)(intptr_t)&fb_later_first};
  return fb_tuple_of_ints(ctx, addresses, sizeof(addresses) / sizeof(addresses[0]));
}
