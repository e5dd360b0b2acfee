/* overload.c - calls of functions with overloads, names and defaults.
 *
 * The overloads of a Function are a list that only grows, at its end. A call reads it without a lock. The first pass
 * takes the first overload that accepts the arguments as they are, the second pass the first that converts them. A
 * single overload needs only the second pass. */
#include "overload.h"

#include "core/object/any.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/opaque.h"
#include "core/object/text.h"
#include "core/object/type.h"
#include "core/platform/fork.h"
#include "core/platform/mem.h"

enum { N_ON_STACK = 16 };

/* Guards adding to the list of any Function. */
FH_LOCK(adding_lock, "overloads", FH_RANK_PLAIN);

FH_INLINE const ffi_hpy_overload *next_of(const ffi_hpy_overload *overload) {
  /* acquire: pairs with the release in fh_overload_function_add */
  return (const ffi_hpy_overload *)fh_atomic_load_acquire_ptr((void *const *)(const void *)&overload->next);
}

/* Whether an argument says that the caller leaves it out: names allow that in the middle. */
FH_INLINE bool is_left_out(const TVMFFIAny *arg) {
  return arg->type_index >= kTVMFFIStaticObjectBegin && arg->v_obj == fh_sentinel_missing();
}

/* Writes all arguments of an overload: the given ones, and defaults. Returns false if they do not fit. */
static bool complete(const ffi_hpy_overload *overload, const TVMFFIAny *given, uint32_t n_given, TVMFFIAny *all) {
  for (uint32_t i = 0; i < overload->n_params; ++i) {
    const ffi_hpy_param *param = &overload->params[i];
    if (i < n_given && !is_left_out(&given[i])) {
      all[i] = given[i];
    } else if (param->flags & kFfiHpyParamHasDefault) {
      all[i] = param->default_value;
    } else {
      return false;
    }
  }
  return true;
}

static int call_one(const ffi_hpy_overload *overload, const TVMFFIAny *args, uint32_t n_args, uint32_t flags,
                    TVMFFIAny *result) {
  if (n_args > overload->n_params || n_args < overload->n_required) return FFI_HPY_NEXT_OVERLOAD;
  bool is_whole = n_args == overload->n_params;
  for (uint32_t i = overload->n_required; is_whole && i < n_args; ++i) is_whole = !is_left_out(&args[i]);
  if (FH_LIKELY(is_whole)) return overload->call(overload, args, flags, result);
  TVMFFIAny on_stack[N_ON_STACK], *all = on_stack;
  if (overload->n_params > N_ON_STACK) {
    all = (TVMFFIAny *)fh_mem_alloc(overload->n_params * sizeof(*all));
    if (all == NULL) return fh_error_raise_no_memory();
  }
  int rc = FFI_HPY_NEXT_OVERLOAD;
  if (complete(overload, args, n_args, all)) rc = overload->call(overload, all, flags, result);
  if (all != on_stack) fh_mem_free(all);
  return rc;
}

/* --- the error of a call that no overload accepts ----------------------------------------------------------------- */

/* The class of an argument in Python's words. */
static const char *class_of(const TVMFFIAny *arg) {
  switch (arg->type_index) {
  case kTVMFFIRawStr:
  case kTVMFFISmallStr:
  case kTVMFFIStr: return "str";
  case kTVMFFIByteArrayPtr:
  case kTVMFFISmallBytes:
  case kTVMFFIBytes: return "bytes";
  case kTVMFFIArray: return "list";
  case kTVMFFIMap: return "dict";
  case kTVMFFIOpaquePyObject: return "object";
  default: return fh_type_name(arg->type_index);
  }
}

static FH_COLD int raise_mismatch(const ffi_hpy_overload *first, const TVMFFIAny *args, uint32_t n_args) {
  fh_text text = {0};
  const char *name = first->signature;
  size_t n_name = strcspn(name, "(");
  int rc = fh_text_add(&text, name, n_name);
  rc |= fh_text_add_cstr(&text, "(): incompatible function arguments. The following argument types are supported:");
  uint32_t number = 1;
  for (const ffi_hpy_overload *each = first; each != NULL; each = next_of(each), ++number) {
    rc |= fh_text_add_format(&text, "\n    %u. ", (unsigned)number);
    rc |= fh_text_add_cstr(&text, each->signature);
  }
  rc |= fh_text_add_cstr(&text, "\n\nInvoked with types: ");
  rc |= fh_text_add(&text, name, n_name);
  for (uint32_t i = 0; i < n_args; ++i) {
    rc |= fh_text_add_cstr(&text, i == 0 ? "(" : ", ");
    rc |= fh_text_add_cstr(&text, class_of(&args[i]));
  }
  rc |= fh_text_add_cstr(&text, n_args == 0 ? "()" : ")");
  if (rc == 0) (void)fh_error_raise(FH_TYPE_ERROR, "%.*s", (int)text.n_bytes, text.data);
  fh_text_free(&text);
  return -1;
}

/* --- Functions ---------------------------------------------------------------------------------------------------- */

/* Any call of a Function with defaults or several overloads, or with a wrong number of arguments. */
static FH_NOINLINE int call_any(const ffi_hpy_overload *first, const TVMFFIAny *args, uint32_t n, TVMFFIAny *result) {
  uint32_t pass = next_of(first) == NULL ? FFI_HPY_CONVERT : 0;
  for (;; pass = FFI_HPY_CONVERT) {
    for (const ffi_hpy_overload *each = first; each != NULL; each = next_of(each)) {
      int rc = call_one(each, args, n, pass, result);
      if (FH_LIKELY(rc != FFI_HPY_NEXT_OVERLOAD)) return rc;
    }
    if (pass == FFI_HPY_CONVERT) return raise_mismatch(first, args, n);
  }
}

static int call_overloads(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  const ffi_hpy_overload *first = (const ffi_hpy_overload *)self;
  uint32_t n = (uint32_t)n_args;
  bool is_simple = n == first->n_params && n == first->n_required && next_of(first) == NULL;
  if (FH_UNLIKELY(!is_simple)) return call_any(first, args, n, result);
  int rc = first->call(first, args, FFI_HPY_CONVERT, result);
  return FH_LIKELY(rc != FFI_HPY_NEXT_OVERLOAD) ? rc : raise_mismatch(first, args, n);
}

static void destroy_all(void *self) {
  for (ffi_hpy_overload *each = (ffi_hpy_overload *)self; each != NULL;) {
    ffi_hpy_overload *next = each->next;
    each->destroy(each);
    each = next;
  }
}

int fh_overload_function_new(ffi_hpy_overload *overload, TVMFFIObjectHandle *out) {
  overload->next = NULL;
  return fh_function_new(overload, call_overloads, destroy_all, out);
}

int fh_overload_function_add(TVMFFIObjectHandle function, ffi_hpy_overload *overload) {
  ffi_hpy_overload *last = (ffi_hpy_overload *)fh_function_self(function, call_overloads);
  if (last == NULL) return fh_error_raise(FH_TYPE_ERROR, "Expected a function of bind.h but got another one");
  overload->next = NULL;
  fh_mutex_lock(&adding_lock);
  while (last->next != NULL) last = last->next;
  /* release: pairs with next_of */
  fh_atomic_store_release_ptr((void **)(void *)&last->next, overload);
  fh_mutex_unlock(&adding_lock);
  return 0;
}
