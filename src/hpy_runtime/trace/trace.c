/* Trace mode: the third context, which counts and times the calls of its entries. */
#include "trace.h"

#include <stdio.h>
#include <string.h>

#include "core/platform/atomic.h"
#include "core/platform/fork.h"
#include "core/platform/system.h"
#include "hpy_runtime/context/context.h"
#include "hpy_runtime/context/threads.h"

/* --- totals and hooks --------------------------------------------------------------------------------------------- */

/* Totals in atomic words, and the hooks. Time is monotonic; the time of a call includes nested calls. An entry is
 * identified by its place: the number of words before it in HPyContext. */
#define TRACE_PLACE(name) (offsetof(HPyContext, ctx_##name) / sizeof(void *))

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
#undef SPECIAL
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

/* Returns the time. */
static uint64_t begin_call(size_t place) {
  fh_atomic_add_relaxed_u64(&totals[TRACE_CALLS][place], 1);
  if (place != TRACE_PLACE(ReenterPythonExecution)) tell(TRACE_ON_ENTER, place);
  return fh_clock_now();
}

static void end_call(size_t place, uint64_t start) {
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

/* --- the context -------------------------------------------------------------------------------------------------- */

/* The context. Each entry is a function of a few instructions, which puts its place before its arguments
 * and jumps to one common function. This keeps 180 wrappers small.
 *
 * The common function does not know the types of the arguments that it passes on. The function relies on a property
 * that the calling conventions of 64-bit processors share, although ISO C does not guarantee it: an argument or a
 * result that is an integer, a pointer or a struct of one word is passed in a word, at a position independent of the
 * other arguments, and surplus words are harmless. Arguments that are passed differently, of type double, have their
 * own functions. */

typedef intptr_t Word;
typedef Word (*Entry)(HPyContext *, Word, Word, Word, Word);

_Static_assert(sizeof(Word) == 8 && sizeof(HPy) == sizeof(Word) && sizeof(Entry) == sizeof(Word),
               "words hold arguments of every kind");

static HPyContext *const real = &fhpy_context.base;
static FhpyContext trace_context; /* filled once and constant afterwards */

/* Functions that only jump need no unwind information. */
#if defined(__has_attribute)
#if __has_attribute(nouwtable)
#define JUMP __attribute__((nouwtable))
#endif
#endif
#ifndef JUMP
#define JUMP
#endif

static FH_NOINLINE Word pass_on(size_t place, Word a, Word b, Word c, Word d) {
  uint64_t start = begin_call(place);
  Word result = ((const Entry *)(const void *)real)[place](real, a, b, c, d);
  end_call(place, start);
  return result;
}

#define ENTRY0(R, name) SPECIAL(name)
#define ENTRY1(R, name, A) SPECIAL(name)
#define ENTRY2(R, name, A, B) SPECIAL(name)
#define ENTRY3(R, name, A, B, C) SPECIAL(name)
#define ENTRY4(R, name, A, B, C, D) SPECIAL(name)
#define SPECIAL(name) \
  JUMP static Word name(CTX, Word a, Word b, Word c, Word d) { return pass_on(TRACE_PLACE(name), a, b, c, d); }
#include "hpy_runtime/context/entries.def"
#undef SPECIAL

/* ---- entries with a double ---- */

static HPy float_from_double(CTX, double value) {
  uint64_t start = begin_call(TRACE_PLACE(Float_FromDouble));
  HPy result = real->ctx_Float_FromDouble(real, value);
  end_call(TRACE_PLACE(Float_FromDouble), start);
  return result;
}
static double as_double(size_t place, double (*entry)(HPyContext *, HPy), HPy h) {
  uint64_t start = begin_call(place);
  double result = entry(real, h);
  end_call(place, start);
  return result;
}
static double float_as_double(CTX, HPy h) {
  return as_double(TRACE_PLACE(Float_AsDouble), real->ctx_Float_AsDouble, h);
}
static double long_as_double(CTX, HPy h) { return as_double(TRACE_PLACE(Long_AsDouble), real->ctx_Long_AsDouble, h); }

/* ---- the table ---- */

static void fill_table(void) {
  static const FhpyThreads threads = {FHPY_THREADS_MAGIC, fhpy_threads_attach, fhpy_threads_detach};
  trace_context = fhpy_context;
  HPyContext *ctx = &trace_context.base;
  ctx->name = FHPY_TRACE_CONTEXT_NAME;
  ctx->_private = (void *)&threads;
#define SPECIAL(entry) ctx->ctx_##entry = (void *)entry;
#include "hpy_runtime/context/entries.def"
  ctx->ctx_Float_FromDouble = float_from_double;
  ctx->ctx_Float_AsDouble = float_as_double;
  ctx->ctx_Long_AsDouble = long_as_double;
  /* As in HPy: the interpreter calls the first entry, which passes its context on to the extension; the second does not
   * return. */
  ctx->ctx_CallRealFunctionFromTrampoline = real->ctx_CallRealFunctionFromTrampoline;
  ctx->ctx_FatalError = real->ctx_FatalError;
}

FH_ONCE(table_filled, "trace context");

HPyContext *fhpy_trace_context_get(void) {
  fh_once_run(&table_filled, fill_table);
  return &trace_context.base;
}
