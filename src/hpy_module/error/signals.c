/* Signals that arrive while native code runs: the function that the core calls for TVMFFIEnvCheckSignals. */
#include "signals.h"

#include <tvm/ffi/extra/c_env_api.h>

#include "core/platform/system.h"
#include "hpy_module/context/hook.h"
#include "hpy_module/context/thread.h"

/* The interpreter's PyErr_CheckSignals. NULL on PyPy, whose function of that name does nothing: PyPy runs handlers
 * between two steps of any Python code. Written once during the import. */
static int (*check_in_interpreter)(void);

/* Calls a function of the package that runs a few steps of Python code, between which PyPy calls signal handlers.
 * Returns 0, or -1 with the exception of a handler raised. */
static int check_in_python(HPyContext *ctx) {
  HPy result = fb_hook_call(ctx, FB_HOOK_CHECK_SIGNALS, NULL, 0);
  if (HPy_IsNull(result)) return -1;
  HPy_Close(ctx, result);
  return 0;
}

/* Runs on any thread, attached or not. Interpreters run handlers on their main thread only; on other threads there is
 * nothing to run. */
static int check_signals(void) {
  FbThread attach;
  if (fb_thread_attach(&attach) != 0) return 0; /* the interpreter is about to exit and delivers no more signals */
  int rc = 0;
  if (HPyErr_Occurred(attach.ctx)) {
    rc = -1; /* usually the exception of an earlier check in this call */
  } else {
    rc = check_in_interpreter != NULL ? check_in_interpreter() : check_in_python(attach.ctx);
  }
  fb_thread_detach(&attach);
  return rc == 0 ? 0 : -1;
}

void fb_signals_connect(void) {
  void *symbol = fh_loader_find_anywhere("PyErr_CheckSignals");
  if (symbol != NULL && !fb_context_is_pypy) memcpy(&check_in_interpreter, &symbol, sizeof(symbol));
  /* PyGILState_Ensure and PyGILState_Release, which the core would call around the check, are not registered:
   * check_signals attaches by itself. */
  TVMFFIEnvRegisterCAPI("PyErr_CheckSignals", (void *)(uintptr_t)&check_signals);
}
