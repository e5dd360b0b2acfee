/* Debug mode: reports of mistakes, to a Python hook or, without a hook, to stderr followed by abort(). */
#include "debug_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/platform/fork.h"
#include "hpy_runtime/context/hook.h"

static PyObject *hook; /* owned, guarded by hook_lock */
FH_LOCK(hook_lock, "debug hook", FH_RANK_PLAIN);

PyObject *fhpy_debug_report_set_hook(PyObject *new_hook) {
  Py_IncRef(new_hook);
  fh_mutex_lock(&hook_lock);
  PyObject *old = hook;
  hook = new_hook;
  fh_mutex_unlock(&hook_lock);
  return old;
}

void fhpy_debug_report(const char *format, ...) {
  char text[1024];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  fh_mutex_lock(&hook_lock);
  /* An own reference: another thread may replace the hook while it runs. */
  PyObject *callable = hook;
  Py_IncRef(callable);
  fh_mutex_unlock(&hook_lock);
  if (callable == NULL) {
    fprintf(stderr, "ffi_hpy debug mode: %s\n", text);
    fflush(stderr);
    abort();
  }
  fhpy_hook_call(callable, text);
  Py_DecRef(callable);
}
