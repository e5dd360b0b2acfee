/* Trace mode: the context. Each entry is a function of a few instructions, which puts its place before its arguments
 * and jumps to one common function. This keeps 180 wrappers small.
 *
 * The common function does not know the types of the arguments that it passes on. It relies on a property that the
 * calling conventions of 64-bit processors share, although ISO C does not guarantee it: an argument or a result that is
 * an integer, a pointer or a struct of one word is passed in a word, at a position independent of the other arguments,
 * and surplus words are harmless. Arguments that are passed differently, of type double, have their own functions. */
#include "trace.h"

#include "core/platform/fork.h"
#include "hpy_runtime/context/context.h"
#include "hpy_runtime/context/threads.h"

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
  uint64_t start = fhpy_trace_record_enter(place);
  Word result = ((const Entry *)(const void *)real)[place](real, a, b, c, d);
  fhpy_trace_record_leave(place, start);
  return result;
}

#define ENTRY0(R, name) SPECIAL(name)
#define ENTRY1(R, name, A) SPECIAL(name)
#define ENTRY2(R, name, A, B) SPECIAL(name)
#define ENTRY3(R, name, A, B, C) SPECIAL(name)
#define ENTRY4(R, name, A, B, C, D) SPECIAL(name)
#define SPECIAL(name)                                                      \
  JUMP static Word name(HPyContext *ctx, Word a, Word b, Word c, Word d) { \
    (void)ctx;                                                             \
    return pass_on(TRACE_PLACE(name), a, b, c, d);                         \
  }
#include "hpy_runtime/context/entries.def"
#undef SPECIAL

/* ---- entries with a double ---- */

static HPy float_from_double(HPyContext *ctx, double value) {
  (void)ctx;
  uint64_t start = fhpy_trace_record_enter(TRACE_PLACE(Float_FromDouble));
  HPy result = real->ctx_Float_FromDouble(real, value);
  fhpy_trace_record_leave(TRACE_PLACE(Float_FromDouble), start);
  return result;
}
static double as_double(size_t place, double (*entry)(HPyContext *, HPy), HPy h) {
  uint64_t start = fhpy_trace_record_enter(place);
  double result = entry(real, h);
  fhpy_trace_record_leave(place, start);
  return result;
}
static double float_as_double(HPyContext *ctx, HPy h) {
  return (void)ctx, as_double(TRACE_PLACE(Float_AsDouble), real->ctx_Float_AsDouble, h);
}
static double long_as_double(HPyContext *ctx, HPy h) {
  return (void)ctx, as_double(TRACE_PLACE(Long_AsDouble), real->ctx_Long_AsDouble, h);
}

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
