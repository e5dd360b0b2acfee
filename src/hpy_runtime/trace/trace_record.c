/* Trace mode: totals in atomic words, and the hooks. Time is monotonic; the time of a call includes nested calls. */
#include "trace.h"

#include <stdio.h>
#include <string.h>

#include "core/platform/atomic.h"
#include "core/platform/system.h"
#include "hpy_runtime/context/context.h"
#include "hpy_runtime/context/hook.h"

/* By place. Relaxed: a total does not order other memory accesses. */
static uint64_t totals[TRACE_N_TOTALS][sizeof(HPyContext) / sizeof(void *)];

/* Globals like an extension's, which a thread may load while another thread stores (ctx_store.c). */
static HPyGlobal hooks[TRACE_N_HOOKS];
static FH_THREAD_LOCAL bool is_in_hook;

/* ---- names ---- */

/* In the order of their places. The table has two groups of constants: before all entries, and between them. */
static const char names[] =
#define ENTRY0(R, name) SPECIAL(name)
#define ENTRY1(R, name, A) SPECIAL(name)
#define ENTRY2(R, name, A, B) SPECIAL(name)
#define ENTRY3(R, name, A, B, C) SPECIAL(name)
#define ENTRY4(R, name, A, B, C, D) SPECIAL(name)
#define SPECIAL(name) #name "\0"
#include "hpy_runtime/context/entries.def"
    ;

/* Returns the place of the entry after `place`. */
static size_t next_place(size_t place) {
  return place == TRACE_PLACE(DelItem_s) ? TRACE_PLACE(Capsule_New) : place + 1;
}

static const char *name_of(size_t place) {
  const char *name = names;
  for (size_t p = TRACE_PLACE(Dup); p < place; p = next_place(p)) name += strlen(name) + 1;
  return name;
}

/* ---- calls ---- */

static void tell(FhpyTraceHook which, size_t place) {
  /* acquire: pairs with the exchange of the store */
  if (is_in_hook || fh_atomic_load_acquire_ptr((void *const *)(void *)&hooks[which]._i) == NULL) return;
  HPyContext *ctx = &fhpy_context.base;
  HPy hook = ctx->ctx_Global_Load(ctx, hooks[which]);
  char text[64];
  snprintf(text, sizeof(text), "ctx_%s", name_of(place));
  is_in_hook = true;
  if (!HPy_IsNull(hook)) fhpy_hook_call(to_py(hook), text);
  is_in_hook = false;
  ctx->ctx_Close(ctx, hook);
}

/* A detached thread runs no Python: before Reenter, and after Leave. */

uint64_t fhpy_trace_record_enter(size_t place) {
  fh_atomic_add_relaxed_u64(&totals[TRACE_CALLS][place], 1);
  if (place != TRACE_PLACE(ReenterPythonExecution)) tell(TRACE_ON_ENTER, place);
  return fh_clock_now();
}

void fhpy_trace_record_leave(size_t place, uint64_t start) {
  fh_atomic_add_relaxed_u64(&totals[TRACE_NANOSECONDS][place], fh_clock_now() - start);
  if (place != TRACE_PLACE(LeavePythonExecution)) tell(TRACE_ON_EXIT, place);
}

/* ---- for Python ---- */

void fhpy_trace_record_set_hook(FhpyTraceHook which, PyObject *hook) {
  HPyContext *ctx = &fhpy_context.base;
  ctx->ctx_Global_Store(ctx, &hooks[which], to_hpy(hook));
}

PyObject *fhpy_trace_record_totals(FhpyTraceTotal which) {
  PyObject *dict = PyDict_New();
  for (size_t p = TRACE_PLACE(Dup); dict != NULL && p <= TRACE_PLACE(CallMethod); p = next_place(p)) {
    PyObject *name = PyUnicode_FromFormat("ctx_%s", name_of(p));
    PyObject *total = PyLong_FromUnsignedLongLong(fh_atomic_load_relaxed_u64(&totals[which][p]));
    int rc = name != NULL && total != NULL ? PyDict_SetItem(dict, name, total) : -1;
    Py_DecRef(name), Py_DecRef(total);
    if (rc == 0) continue;
    Py_DecRef(dict);
    dict = NULL;
  }
  return dict;
}
