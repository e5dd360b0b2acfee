/* Debug mode: the context. Most entries are generated from the lists entries.def and debug_appended.def.
 *
 * The lists name the kind of each parameter and of the result. For a kind K, T_K is the C type, U_K converts an
 * argument for the plain context's entry, and R_K returns that entry's result. Only handles are converted: U_handle
 * looks the object up, R_handle opens a handle for it. */
#include "debug.h"

#include "core/platform/fork.h"
#include "debug_handle.h"
#include "debug_report.h"
#include "hpy_runtime/context/context.h"
#include "hpy_runtime/context/threads.h"

/* ---- kinds ---- */

typedef bool T_boolean;
typedef HPyCapsule_Destructor *T_capsule_destructor;
typedef _HPyCapsule_key T_capsule_key;
typedef double T_double;
typedef HPyField T_field;
typedef HPyField *T_field_address;
typedef HPyGlobal T_global;
typedef HPyGlobal *T_global_address;
typedef HPy T_handle;
typedef HPy_hash_t T_hash;
typedef int T_int;
typedef int32_t T_int32;
typedef int64_t T_int64;
typedef void T_none;
typedef cpy_PyObject *T_object;
typedef void *T_pointer;
typedef void **T_pointer_address;
typedef HPyType_BuiltinShape T_shape;
typedef size_t T_size;
typedef HPy_SourceKind T_source_kind;
typedef HPy_ssize_t T_ssize;
typedef HPy_ssize_t *T_ssize_address;
typedef const char *T_text;
typedef HPyThreadState T_thread_state;
typedef HPy_UCS4 T_ucs4;
typedef uint32_t T_uint32;
typedef uint64_t T_uint64;
typedef const wchar_t *T_wide;

/* `real` is the plain context, whose entries do the work. debug_context is filled once and constant afterwards. */
static HPyContext *const real = &fhpy_context.base;
static FhpyContext debug_context;

/* Converts an argument for the plain context's entry. A kind other than handle is unchanged. */
#define U_handle(x, entry) debug_unwrap(x, entry)
#define U_boolean(x, entry) x
#define U_capsule_destructor(x, entry) x
#define U_capsule_key(x, entry) x
#define U_double(x, entry) x
#define U_field(x, entry) x
#define U_field_address(x, entry) x
#define U_global(x, entry) x
#define U_global_address(x, entry) x
#define U_int(x, entry) x
#define U_int32(x, entry) x
#define U_int64(x, entry) x
#define U_object(x, entry) x
#define U_pointer(x, entry) x
#define U_pointer_address(x, entry) x
#define U_size(x, entry) x
#define U_source_kind(x, entry) x
#define U_ssize(x, entry) x
#define U_ssize_address(x, entry) x
#define U_text(x, entry) x
#define U_thread_state(x, entry) x
#define U_uint32(x, entry) x
#define U_uint64(x, entry) x
#define U_wide(x, entry) x

/* Converts the result of the plain context's entry. */
#define R_handle(call) return debug_wrap(call);
#define R_none(call) call;
#define R_boolean(call) return call;
#define R_double(call) return call;
#define R_hash(call) return call;
#define R_int(call) return call;
#define R_int32(call) return call;
#define R_int64(call) return call;
#define R_object(call) return call;
#define R_pointer(call) return call;
#define R_shape(call) return call;
#define R_size(call) return call;
#define R_ssize(call) return call;
#define R_text(call) return call;
#define R_thread_state(call) return call;
#define R_ucs4(call) return call;
#define R_uint32(call) return call;
#define R_uint64(call) return call;

/* ---- the entries of the lists. ENTRYn defines the function of an entry with n parameters; REAL is the table with the
 * plain context's entry, because the appended entries are in a larger struct. ---- */

#define ENTRY0(R, name) \
  static T_##R name(CTX) { R_##R(REAL->ctx_##name(real)) }
#define ENTRY1(R, name, A) \
  static T_##R name(CTX, T_##A a) { R_##R(REAL->ctx_##name(real, U_##A(a, #name))) }
#define ENTRY2(R, name, A, B) \
  static T_##R name(CTX, T_##A a, T_##B b) { R_##R(REAL->ctx_##name(real, U_##A(a, #name), U_##B(b, #name))) }
#define ENTRY3(R, name, A, B, C)                                                     \
  static T_##R name(CTX, T_##A a, T_##B b, T_##C c) {                                \
    R_##R(REAL->ctx_##name(real, U_##A(a, #name), U_##B(b, #name), U_##C(c, #name))) \
  }
#define ENTRY4(R, name, A, B, C, D)                                                                   \
  static T_##R name(CTX, T_##A a, T_##B b, T_##C c, T_##D d) {                                        \
    R_##R(REAL->ctx_##name(real, U_##A(a, #name), U_##B(b, #name), U_##C(c, #name), U_##D(d, #name))) \
  }
#define SPECIAL(name)
#define REAL real
#include "hpy_runtime/context/entries.def"
#undef REAL
#define REAL (&fhpy_context)
#include "debug_appended.def"
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
#include "debug_appended.def"
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
