/* Debug mode: the context. Most entries are generated from the lists entries.def and appended.def: they call the plain
 * context's entry. A handle among the arguments is looked up, and a resulting object gets a handle. */
#include "debug.h"

#include "core/platform/fork.h"
#include "debug_handle.h"
#include "debug_report.h"
#include "hpy_runtime/context/context.h"
#include "hpy_runtime/context/entry_kinds.h"
#include "hpy_runtime/context/threads.h"

/* `real` is the plain context, whose entries do the work. debug_context is filled once and constant afterwards. */
static HPyContext *const real = &fhpy_context.base;
static FhpyContext debug_context;

#define ARGUMENT(kind, x, entry) IF_HANDLE(kind, debug_unwrap(x, entry), x)
#define RESULT(kind, x) IF_HANDLE(kind, debug_wrap(x), x)

/* ---- the entries of the lists. ENTRYn defines the function of an entry with n parameters; REAL is the table with the
 * plain context's entry, because the appended entries are in a larger struct. ---- */

#define ENTRY0(R, name) \
  static T_##R name(CTX) { RETURN(R, REAL->ctx_##name(real)) }
#define ENTRY1(R, name, A) \
  static T_##R name(CTX, T_##A a) { RETURN(R, REAL->ctx_##name(real, ARGUMENT(A, a, #name))) }
#define ENTRY2(R, name, A, B)                                                       \
  static T_##R name(CTX, T_##A a, T_##B b) {                                        \
    RETURN(R, REAL->ctx_##name(real, ARGUMENT(A, a, #name), ARGUMENT(B, b, #name))) \
  }
#define ENTRY3(R, name, A, B, C)                                                                           \
  static T_##R name(CTX, T_##A a, T_##B b, T_##C c) {                                                      \
    RETURN(R, REAL->ctx_##name(real, ARGUMENT(A, a, #name), ARGUMENT(B, b, #name), ARGUMENT(C, c, #name))) \
  }
#define ENTRY4(R, name, A, B, C, D)                                                                       \
  static T_##R name(CTX, T_##A a, T_##B b, T_##C c, T_##D d) {                                            \
    RETURN(R, REAL->ctx_##name(real, ARGUMENT(A, a, #name), ARGUMENT(B, b, #name), ARGUMENT(C, c, #name), \
                               ARGUMENT(D, d, #name)))                                                    \
  }
#define SPECIAL(name)
#define REAL real
#include "hpy_runtime/context/entries.def"
#undef REAL
#define REAL (&fhpy_context)
#include "hpy_runtime/context/appended.def"
#undef REAL
#undef ENTRY0
#undef ENTRY1
#undef ENTRY2
#undef ENTRY3
#undef ENTRY4

/* ---- entries that do more ---- */

static void close_handle(CTX, HPy h) { fhpy_debug_handle_close(h); }

/* The result is stored through a pointer, for which the lists have no kind. The result is null for a variable without a
 * value, and stays null when it is wrapped. */
static int32_t context_var_get(CTX, HPy var, HPy default_value, HPy *result) {
  int32_t rc = real->ctx_ContextVar_Get(real, debug_unwrap(var, "ContextVar_Get"),
                                        debug_unwrap(default_value, "ContextVar_Get"), result);
  *result = debug_wrap(*result);
  return rc;
}

/* The function is not in a list of definitions, so it gets its name here, from the type of the object. */
static int set_call_function(CTX, HPy h, HPyCallFunction *function) {
  HPy object = debug_unwrap(h, "SetCallFunction");
  const char *type = real->ctx_Type_GetName(real, to_hpy(type_of(to_py(object))));
  if (type == NULL) return -1;
  fhpy_debug_name_add((HPyCFunction)(void (*)(void))function->impl, type, "(call function)");
  return real->ctx_SetCallFunction(real, object, function);
}

/* ---- the table ---- */

/* Fills the handles from *first up to the member at `end`, which are consecutive in the context. Each record owns a
 * reference forever: closing a constant is a mistake and is reported. */
static void wrap_constants(HPy *first, const HPy *from, const void *end) {
  for (HPy *h = first; (const void *)h < end; ++h, ++from) {
    Py_IncRef(to_py(*from));
    *h = fhpy_debug_record_open(to_py(*from), HANDLE_CONSTANT);
  }
}

/* The constants are two groups of members of HPy's context, and one appended member. */
static void fill_constants(FhpyContext *table) {
  HPyContext *ctx = &table->base;
  wrap_constants(&ctx->h_None, &real->h_None, &ctx->ctx_Dup);
  wrap_constants(&ctx->h_ComplexType, &real->h_ComplexType, &ctx->ctx_Capsule_New);
  wrap_constants(&table->h_DictType, &fhpy_context.h_DictType, &table->ctx_AsStruct_Dict);
}

/* Fills the whole table. _private has the functions that attach native threads, in place of the extension. The groups
 * come after the lists; no entry is in both. */
static void fill_table(void) {
  static const FhpyThreads threads = {FHPY_THREADS_MAGIC, fhpy_threads_attach, fhpy_threads_detach};
  FhpyContext *table = &debug_context;
  HPyContext *ctx = &table->base;
  ctx->name = FHPY_DEBUG_CONTEXT_NAME;
  ctx->_private = (void *)&threads;
  ctx->abi_version = HPY_ABI_VERSION;
  fill_constants(table);
#define ENTRY0(R, name) INTO->ctx_##name = name;
#define ENTRY1(R, name, A) INTO->ctx_##name = name;
#define ENTRY2(R, name, A, B) INTO->ctx_##name = name;
#define ENTRY3(R, name, A, B, C) INTO->ctx_##name = name;
#define ENTRY4(R, name, A, B, C, D) INTO->ctx_##name = name;
#define INTO ctx
#include "hpy_runtime/context/entries.def"
#undef INTO
#define INTO table
#include "hpy_runtime/context/appended.def"
#undef INTO
  fhpy_debug_array_fill(ctx);
  fhpy_debug_builder_fill(ctx);
  fhpy_debug_tracker_fill(ctx);
  fhpy_debug_check_fill(table);
  fhpy_debug_text_fill(ctx);
  ctx->ctx_Close = close_handle;
  ctx->ctx_ContextVar_Get = context_var_get;
  ctx->ctx_SetCallFunction = set_call_function;
  ctx->ctx_CallRealFunctionFromTrampoline = fhpy_debug_call;
}

FH_ONCE(table_filled, "debug context"); /* filling opens handles, which takes records_lock under this once */

HPyContext *fhpy_debug_context_get(void) {
  fh_once_run(&table_filled, fill_table);
  HPyContext *ctx = &debug_context.base;
  return fhpy_context_check(ctx, sizeof(debug_context)) < 0 ? NULL : ctx;
}
