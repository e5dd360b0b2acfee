/* What the half of the binding that is written in Python (ffi_hpy/_pypy) needs of C: the native side of its callbacks.
 *
 * Such a callback is a C function that cffi made, which takes the interpreter when it is called. It would wait for ever
 * on a thread that holds the interpreter already, which is so while this binding calls native code. And what ends in
 * the collector's own work may not run Python code at all: it waits (later.h). */
#include "covered.h"

#include <stdlib.h>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

#include "core/platform/thread.h"
#include "function_call.h"
#include "hpy_module/context/error_slot.h"
#include "hpy_module/context/later.h"
#include "hpy_module/context/raise.h"
#include "hpy_module/context/thread.h"
#include "hpy_module/context/tuple.h"

/* Made by cffi, written once during the import. */
static TVMFFISafeCallType call_in_python;
static TVMFFIObject *(*error_in_python)(void *payload);

static bool is_pending(void);

/* What a callback says that found too little stack to say more. Returns -1. */
static FH_NOINLINE int settle_failure(void) {
  if (!is_pending()) {
    TVMFFIErrorSetRaisedFromCStr("RecursionError", "maximum recursion depth exceeded: callbacks within callbacks");
  }
  return -1;
}

/* --- stack -------------------------------------------------------------------------------------------------------- */

/* A callback begins only where so much of the thread's stack is left, or a quarter of a small one. PyPy 7.3 compares
 * the stack with the limit that a program has set (sys.setrecursionlimit), and ends the process where the thread's own
 * stack ends before. Python code needs 768 KB up to the usual limit. */
enum { ROOM = 1024 * 1024 };

typedef struct Stack {
  uintptr_t end; /* lowest address; 0 where the system does not tell */
  size_t room; /* SIZE_MAX: not asked yet */
} Stack;

static FH_NOINLINE void find_stack(Stack *stack) {
  size_t size = 0;
  if (!fh_thread_stack(&stack->end, &size)) stack->end = 0;
  stack->room = size / 4 < ROOM ? size / 4 : ROOM;
}

/* Also on a stack that is not the thread's, of a coroutine: of its end nothing is known, and the distance is large. */
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

/* safe_call of a callback: self is the FbLater that its deleter will push. */
static int covered_call(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  HPyContext *held = fb_thread_held_take();
  if (FH_LIKELY(held == NULL)) return call_callback(self, args, n, result);
  HPyThreadState state = HPy_LeavePythonExecution(held);
  int rc = call_callback(self, args, n, result);
  HPy_ReenterPythonExecution(held, state);
  fb_thread_held_put(held);
  return rc;
}

/* The deleter of callbacks, and of Python objects in native ones: self is the FbLater that was made with them. */
static void covered_drop(void *self) { fb_later_push(self); }

/* --- pending errors ----------------------------------------------------------------------------------------------- */

/* An exception that leaves a callback is pending as it is (error_deferred.h): the payload is the FbLater of it. */
static TVMFFIObject *payload_make(void *payload) {
  HPyContext *held = fb_thread_held_take();
  if (FH_LIKELY(held == NULL)) return error_in_python(payload);
  HPyThreadState state = HPy_LeavePythonExecution(held);
  TVMFFIObject *error = error_in_python(payload);
  HPy_ReenterPythonExecution(held, state);
  fb_thread_held_put(held);
  return error;
}

static const fh_error_payload_operations operations = {payload_make, covered_drop};

/* Whether the thread has a pending error. */
static bool is_pending(void) {
  void *payload = fb_error_slot_take_payload(&operations);
  TVMFFIObjectHandle error = payload == NULL ? fb_error_slot_take_object() : NULL;
  if (payload != NULL) fb_error_slot_put_payload(payload, &operations);
  fb_error_slot_put_object(error);
  return payload != NULL || error != NULL;
}

/* Makes a payload the pending error. 0, or -1 where the core takes error objects only. */
static int64_t covered_put(int64_t payload) {
  return fb_error_slot_put_payload((void *)(intptr_t)payload, &operations) ? 0 : -1;
}

/* Takes what is pending: a payload of ours, or 0 and the error object in *error. */
static int64_t covered_take(int64_t error) {
  void *payload = fb_error_slot_take_payload(&operations);
  TVMFFIObjectHandle object = payload == NULL ? fb_error_slot_take_object() : NULL;
  memcpy((void *)(intptr_t)error, &object, sizeof(object));
  return (int64_t)(intptr_t)payload;
}

/* Gives up the reference to the object in a word, which is 0 afterwards: once, however often it is called. Python code
 * that a signal has interrupted does not know whether a call has been made. */
static int64_t covered_end(int64_t word) {
  TVMFFIObjectHandle object, nothing = NULL;
  memcpy(&object, (void *)(intptr_t)word, sizeof(object));
  memcpy((void *)(intptr_t)word, &nothing, sizeof(nothing));
  TVMFFIObjectDecRef(object);
  return 0;
}

/* --- signals ------------------------------------------------------------------------------------------------------ */

static int (*question_in_python)(void);

/* What the core calls for TVMFFIEnvCheckSignals. */
static int covered_question(void) {
  HPyContext *held = fb_thread_held_take();
  if (FH_LIKELY(held == NULL)) return question_in_python();
  HPyThreadState state = HPy_LeavePythonExecution(held);
  int rc = question_in_python();
  HPy_ReenterPythonExecution(held, state);
  fb_thread_held_put(held);
  return rc;
}

static int64_t address_of(void (*function)(void)) {
  int64_t address = 0;
  memcpy(&address, &function, sizeof(function));
  return address;
}

HPyDef_METH(fb_covered_cover, "cover", HPyFunc_VARARGS,
            .doc = "Given the addresses of the functions that run callbacks, make errors of exceptions and ask for "
                   "signals, 0 for one that comes later, the addresses of what these need.")
static HPy fb_covered_cover_impl(HPyContext *ctx, HPy self, const HPy *args, size_t nargs) {
  (void)self;
  if (nargs != 3) return fb_raise(ctx, ctx->h_TypeError, "cover() takes three addresses");
  void *call = HPyLong_AsVoidPtr(ctx, args[0]), *make = HPyLong_AsVoidPtr(ctx, args[1]);
  void *ask = HPyLong_AsVoidPtr(ctx, args[2]);
  if (HPyErr_Occurred(ctx)) return HPy_NULL;
  if (call != NULL) memcpy(&call_in_python, &call, sizeof(call));
  if (make != NULL) memcpy(&error_in_python, &make, sizeof(make));
  if (ask != NULL) {
    memcpy(&question_in_python, &ask, sizeof(ask));
    TVMFFIEnvRegisterCAPI("PyErr_CheckSignals", (void *)(uintptr_t)&covered_question);
  }
  fb_later_is_used = true;
  fb_thread_cover();
  fb_function_call_settle();
  const int64_t addresses[] = {address_of((void (*)(void))covered_call), address_of((void (*)(void))covered_drop),
                               address_of((void (*)(void))fb_later_new), address_of((void (*)(void))fb_later_next),
                               address_of((void (*)(void))free),         address_of((void (*)(void))covered_put),
                               address_of((void (*)(void))covered_take), address_of((void (*)(void))covered_end),
                               (int64_t)(intptr_t)&fb_later_first};
  return fb_tuple_of_ints(ctx, addresses, sizeof(addresses) / sizeof(addresses[0]));
}
