/* compare_hook.c - hooks of hashing and equality, in the calling conventions of all releases.
 *
 * Native hash functions returned int64_t up to 0.1.14, and return an Any (Int, or Error) since. Equality returned bool,
 * and returns an Any (Bool, or Error). Where FH_OLDER_HOOKS is 1, an Any is returned in the first two integer
 * registers, and an int64_t or a bool in the first. So a native function of either convention is called through the
 * newer type, and the first word of the result shows the convention. For equality that is certain: a bool has 0 or 1 in
 * its lowest byte, and the indices of Bool and Error do not. A hash may be any number, so 1 and 67 look like an Int and
 * an Error; then the equality function of the same type decides, because both are compiled for the same release. On
 * other machines only the newer convention works. */
#include "compare_hook.h"

#include "core/platform/atomic.h"
#include "core/platform/mem.h"
#include "core/platform/span.h"
#include "core/platform/sync.h"
#include "error.h"
#include "function.h"
#include "type.h"

/* The newer convention. Hooks of the older one are called through these types as well. */
typedef TVMFFIAny (*native_hash)(const TVMFFIAny *value);
typedef TVMFFIAny (*native_equal)(const TVMFFIAny *a, const TVMFFIAny *b);

/* ---- Native functions, as the code of Functions ---- */

/* Converts the result of a native function to the result of a Function: an Error is raised. */
static int give_result(TVMFFIAny returned, TVMFFIAny *result) {
  if (returned.type_index == kTVMFFIError) {
    fh_error_put(returned.v_obj);
    return -1;
  }
  *result = returned;
  return 0;
}

/* Whether equality returned a bool. A newer function that breaks the contract by returning None or an Int looks like an
 * older one that returned false or true. */
static bool is_bool(const TVMFFIAny *returned) { return ((uint32_t)returned->type_index & 0xff) <= 1; }

/* `native` is the function's address. */
static int call_native_equal(void *native, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  if (fh_function_check_count("__any_equal__", n_args, 2) != 0) return -1;
  TVMFFIAny returned = ((native_equal)(uintptr_t)native)(&args[0], &args[1]);
  if (FH_OLDER_HOOKS && is_bool(&returned)) returned = fh_any_bool(returned.type_index & 1);
  return give_result(returned, result);
}

typedef enum { UNKNOWN, OLDER, NEWER } convention;

/* A native hash function, whose convention the first calls reveal. */
typedef struct {
  native_hash function;
  const TVMFFITypeAttrColumn *equality; /* the column of __any_equal__ */
  int32_t convention; /* atomic; changes only once, from UNKNOWN: all threads find the same value */
} hasher;

/* The equality hook of a type, read as clients read a column; NULL if it has none. */
static const TVMFFIAny *find_equality(const TVMFFITypeAttrColumn *column, int32_t type_index) {
  /* acquire, size first, then data, then the cell: pairs with the stores in reflect.c */
  if (type_index < 0 || type_index >= fh_atomic_load_acquire_i32(&column->size)) return NULL;
  const TVMFFIAny *cells = (const TVMFFIAny *)fh_atomic_load_acquire_ptr((void *const *)(const void *)&column->data);
  return fh_atomic_load_acquire_i32(&cells[type_index].type_index) != kTVMFFINone ? &cells[type_index] : NULL;
}

/* The convention of the native equality function of the value's type. */
static convention find_by_equality(const hasher *hash, const TVMFFIAny *value) {
  const TVMFFIAny *hook = find_equality(hash->equality, value->type_index);
  void *native =
      hook != NULL && hook->type_index == kTVMFFIFunction ? fh_function_self(hook->v_obj, call_native_equal) : NULL;
  if (native == NULL) return UNKNOWN;
  TVMFFIAny returned = ((native_equal)(uintptr_t)native)(value, value);
  if (is_bool(&returned)) return OLDER;
  fh_any_drop(&returned); /* it may be an Error */
  return NEWER;
}

/* The convention of a hash function that returned this for the value; the newer one if nothing decides. */
static convention find_convention(hasher *hash, const TVMFFIAny *value, const TVMFFIAny *returned) {
  /* acquire and release pair with each other; no other data depends on it */
  convention found = (convention)fh_atomic_load_acquire_i32(&hash->convention);
  if (found != UNKNOWN) return found;
  bool is_any =
      returned->zero_padding == 0 && (returned->type_index == kTVMFFIInt || returned->type_index == kTVMFFIError);
  found = is_any ? find_by_equality(hash, value) : OLDER;
  if (found == UNKNOWN) return NEWER;
  fh_atomic_store_release_i32(&hash->convention, found);
  return found;
}

FH_CODE(call_native_hash) {
  hasher *hash = (hasher *)self;
  if (fh_function_check_count("__any_hash__", n_args, 1) != 0) return -1;
  TVMFFIAny returned = hash->function(&args[0]);
  if (FH_OLDER_HOOKS && find_convention(hash, &args[0], &returned) == OLDER) {
    int64_t number; /* the contents of the first register */
    memcpy(&number, &returned, sizeof(number));
    returned = fh_any_int(number);
  }
  return give_result(returned, result);
}

static int new_hash(void *native, const TVMFFITypeAttrColumn *equality, TVMFFIObjectHandle *out) {
  hasher *hash = (hasher *)fh_mem_alloc(sizeof(*hash));
  if (hash == NULL) return fh_error_raise_no_memory();
  hash->function = (native_hash)(uintptr_t)native;
  hash->equality = equality;
  hash->convention = UNKNOWN;
  if (fh_function_new(hash, call_native_hash, fh_mem_free, out) == 0) return 0;
  fh_mem_free(hash);
  return -1;
}

int fh_compare_hook_adapt(TVMFFIByteArray attr_name, TVMFFIAny *value, const TVMFFITypeAttrColumn *equality) {
  TVMFFIObjectHandle function;
  int rc;
  if (value->type_index != kTVMFFIOpaquePtr || value->v_ptr == NULL) return 0;
  if (fh_span_same(attr_name, FH_LITERAL("__any_hash__"))) {
    rc = new_hash(value->v_ptr, equality, &function);
  } else if (fh_span_same(attr_name, FH_LITERAL("__any_equal__"))) {
    rc = fh_function_new(value->v_ptr, call_native_equal, NULL, &function);
  } else {
    return 0;
  }
  if (rc == 0) *value = fh_any_object(function); /* the old value, an address, owned nothing */
  return rc;
}

/* ---- Calls ---- */

/* Calls a hook, whose result must be of type `wanted`, Int or Bool. */
static int call_hook(const TVMFFIAny *hook, const char *hook_name, const TVMFFIAny *args, int32_t n_args,
                     int32_t wanted, int64_t *out) {
  TVMFFIAny result = fh_any_none();
  if (hook->type_index != kTVMFFIFunction) {
    return fh_error_raise(FH_TYPE_ERROR, "Expected a function or an ffi.Function as `%s` but got `%s`", hook_name,
                          fh_type_name(hook->type_index));
  }
  /* BigInt's hooks are this library's own: they may run under a lock. */
  if (args[0].type_index != kTVMFFIBigInt) fh_sync_check_unlocked("a hash or equality hook");
  if (TVMFFIFunctionGetCellPtr(hook->v_obj)->safe_call(hook->v_obj, args, n_args, &result) != 0) return -1;
  if (result.type_index == wanted) {
    *out = result.v_int64;
    return 0;
  }
  if (result.type_index == kTVMFFIError) return give_result(result, &result);
  fh_error_raise(FH_TYPE_ERROR, "Expected `%s` to return `%s` but got `%s`", hook_name, fh_type_name(wanted),
                 fh_type_name(result.type_index));
  fh_any_drop(&result);
  return -1;
}

int fh_compare_hook_hash(const TVMFFIAny *hook, const TVMFFIAny *any, int64_t *out) {
  return call_hook(hook, "__any_hash__", any, 1, kTVMFFIInt, out);
}

int fh_compare_hook_equal(const TVMFFIAny *hook, const TVMFFIAny *a, const TVMFFIAny *b, int64_t *out) {
  TVMFFIAny args[2] = {*a, *b};
  return call_hook(hook, "__any_equal__", args, 2, kTVMFFIBool, out);
}
