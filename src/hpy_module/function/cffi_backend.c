/* The C part of the cffi backend (ffi_hpy/_pypy): the native side of its callbacks.
 *
 * Such a callback is a C function made by cffi, which acquires the GIL when it is called. On a thread that already
 * holds the GIL it would deadlock; this binding's native calls run on such threads. An object that is released inside
 * the garbage collector may not run Python code at all: its decref is deferred (drop.h). */
#include "function.h"

#include <stdlib.h>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

#include "callback.h"
#include "core/platform/system.h"
#include "function_call.h"
#include "hpy_module/context/call.h"
#include "hpy_module/context/drop.h"
#include "hpy_module/context/error_slot.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/thread.h"

/* Made by cffi. Written once during the import. */
static TVMFFISafeCallType call_in_python;
static TVMFFIObject *(*error_in_python)(void *payload);

static bool is_pending(void);

/* Ensures that an error is pending after a callback that had too little stack to set one. Returns -1. */
static FH_NOINLINE int settle_failure(void) {
  if (!is_pending()) {
    TVMFFIErrorSetRaisedFromCStr("RecursionError", "maximum recursion depth exceeded: callbacks within callbacks");
  }
  return -1;
}

/* --- stack -------------------------------------------------------------------------------------------------------- */

/* A callback runs only if this much of the thread's stack is left, or a quarter of a small stack. PyPy 7.3 compares the
 * stack with the limit that a program has set (sys.setrecursionlimit), and crashes if the thread's own stack ends
 * earlier. Python code needs 768 KB up to the usual limit. */
enum { ROOM = 1024 * 1024 };

typedef struct Stack {
  uintptr_t end; /* lowest address; 0 if the system does not report it */
  size_t room; /* SIZE_MAX: not determined yet */
} Stack;

static FH_NOINLINE void find_stack(Stack *stack) {
  size_t size = 0;
  if (!fh_thread_stack(&stack->end, &size)) stack->end = 0;
  stack->room = size / 4 < ROOM ? size / 4 : ROOM;
}

/* A coroutine may run on a separate stack, whose end is unknown. The distance is then large, and the check passes. */
FH_INLINE bool has_stack(void) {
  static FH_THREAD_LOCAL Stack stack = {0, SIZE_MAX};
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (FH_LIKELY(here - stack.end >= stack.room)) return true;
  if (stack.room == SIZE_MAX) find_stack(&stack);
  return here - stack.end >= stack.room;
}

FH_INLINE int call_callback(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  return FH_LIKELY(has_stack() && call_in_python(self, args, n, result) == 0) ? 0 : settle_failure();
}

/* Releases the GIL if a native call of the C binding keeps it on this thread. Returns the context of that call, for
 * reacquire, or NULL. Within such a call Python code may run, too: a converter or a deleter. If that code calls native
 * code by cffi, the GIL is released already. */
FH_INLINE HPyContext *release(HPyThreadState *state) {
  HPyContext *held = fb_thread_held_take();
  if (FH_LIKELY(held == NULL)) return NULL;
  if (!fb_thread_has_gil()) {
    fb_thread_held_put(held);
    return NULL;
  }
  *state = HPy_LeavePythonExecution(held);
  return held;
}

FH_INLINE void reacquire(HPyContext *held, HPyThreadState state) {
  if (FH_LIKELY(held == NULL)) return;
  HPy_ReenterPythonExecution(held, state);
  fb_thread_held_put(held);
}

/* Whether Python code runs until the process ends: on PyPy. On CPython a function of cffi would crash after that. */
static bool never_ends;

/* Whether a function of cffi must not be called. */
FH_INLINE bool has_ended(void) { return !never_ends && FH_UNLIKELY(fb_thread_is_refused()); }

/* The safe_call of a callback; self is the FbDeferred that its deleter will push. */
static int call_from_cffi(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  if (has_ended()) return fb_callback_refuse();
  HPyThreadState state = {0};
  HPyContext *held = release(&state);
  int rc = call_callback(self, args, n, result);
  reacquire(held, state);
  /* As in all functions here that call Python code, because CPython ends threads there. The mark comes last, so that
   * the call is not a tail call. */
  fb_thread_mark_frame();
  return rc;
}

/* The deleter of callbacks, and of native objects that own a Python object; self is the FbDeferred made with them. */
static void backend_drop(void *self) { fb_deferred_push(self); }

/* --- pending errors ----------------------------------------------------------------------------------------------- */

/* An exception that leaves a callback stays pending as a payload (error_deferred.h): its FbDeferred. */
static TVMFFIObject *payload_make(void *payload) {
  if (has_ended()) {
    fb_deferred_push(payload);
    (void)fb_callback_refuse();
    return fb_error_slot_take_object();
  }
  HPyThreadState state = {0};
  HPyContext *held = release(&state);
  TVMFFIObject *error = error_in_python(payload);
  reacquire(held, state);
  fb_thread_mark_frame();
  return error;
}

static const fh_error_payload_operations operations = {payload_make, backend_drop};

/* Whether the thread has a pending error. */
static bool is_pending(void) {
  void *payload = fb_error_slot_take_payload(&operations);
  TVMFFIObjectHandle error = payload == NULL ? fb_error_slot_take_object() : NULL;
  if (payload != NULL) fb_error_slot_put_payload(payload, &operations);
  fb_error_slot_put_object(error);
  return payload != NULL || error != NULL;
}

/* Makes a payload the pending error. Returns 0, or -1 if the core accepts only error objects. */
static int64_t backend_put(int64_t payload) {
  return fb_error_slot_put_payload((void *)(intptr_t)payload, &operations) ? 0 : -1;
}

/* Takes the pending error: returns our payload, or 0 with the error object in *error. */
static int64_t backend_take(int64_t error) {
  void *payload = fb_error_slot_take_payload(&operations);
  TVMFFIObjectHandle object = payload == NULL ? fb_error_slot_take_object() : NULL;
  memcpy((void *)(intptr_t)error, &object, sizeof(object));
  return (int64_t)(intptr_t)payload;
}

/* Releases the reference in a word and sets the word to 0, so that a second call does nothing. Python code that a
 * signal has interrupted does not know whether its call was made. */
static int64_t backend_end(int64_t word) {
  TVMFFIObjectHandle object, nothing = NULL;
  memcpy(&object, (void *)(intptr_t)word, sizeof(object));
  memcpy((void *)(intptr_t)word, &nothing, sizeof(nothing));
  TVMFFIObjectDecRef(object);
  return 0;
}

/* --- weak references to native objects ---------------------------------------------------------------------------- */

static int64_t backend_weak_new(int64_t object) {
  fb_weak_take((TVMFFIObject *)(intptr_t)object);
  return 0;
}

static int64_t backend_weak_end(int64_t object) {
  fb_weak_drop((TVMFFIObject *)(intptr_t)object);
  return 0;
}

/* --- signals ------------------------------------------------------------------------------------------------------ */

static int (*question_in_python)(void);

/* The core calls this function for TVMFFIEnvCheckSignals. */
static int backend_question(void) {
  if (has_ended()) return 0; /* no more signals are delivered */
  HPyThreadState state = {0};
  HPyContext *held = release(&state);
  int rc = question_in_python();
  reacquire(held, state);
  fb_thread_mark_frame();
  return rc;
}

static int64_t address_of(void (*function)(void)) {
  int64_t address = 0;
  memcpy(&address, &function, sizeof(function));
  return address;
}

HPyDef_METH(fb_cffi_backend_start, "start_cffi_backend", HPyFunc_VARARGS,
            .doc = "Given the addresses of the functions that run callbacks, make errors of exceptions and ask for "
                   "signals, 0 for one that comes later, and whether Python code runs until the process ends: the "
                   "addresses of the values that these need.")
static HPy fb_cffi_backend_start_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  if (nargs != 4) return fb_raise(ctx, ctx->h_TypeError, "start_cffi_backend() takes three addresses and a bool");
  void *call = HPyLong_AsVoidPtr(ctx, args[0]), *make = HPyLong_AsVoidPtr(ctx, args[1]);
  void *ask = HPyLong_AsVoidPtr(ctx, args[2]);
  never_ends = HPy_IsTrue(ctx, args[3]) == 1;
  if (HPyErr_Occurred(ctx)) return HPy_NULL;
  if (call != NULL) memcpy(&call_in_python, &call, sizeof(call));
  if (make != NULL) memcpy(&error_in_python, &make, sizeof(make));
  if (ask != NULL) {
    memcpy(&question_in_python, &ask, sizeof(ask));
    TVMFFIEnvRegisterCAPI("PyErr_CheckSignals", (void *)(uintptr_t)&backend_question);
  }
  fb_deferred_is_used = true;
  fb_thread_use_cffi_backend();
  fb_function_call_settle();
  const int64_t addresses[] = {address_of((void (*)(void))call_from_cffi),
                               address_of((void (*)(void))backend_drop),
                               address_of((void (*)(void))fb_deferred_new),
                               address_of((void (*)(void))fb_deferred_next),
                               address_of((void (*)(void))free),
                               address_of((void (*)(void))backend_put),
                               address_of((void (*)(void))backend_take),
                               address_of((void (*)(void))backend_end),
                               address_of((void (*)(void))backend_weak_new),
                               address_of((void (*)(void))backend_weak_end),
                               (int64_t)(intptr_t)&fb_deferred_first};
  return fb_tuple_of_ints(ctx, addresses, sizeof(addresses) / sizeof(addresses[0]));
}
