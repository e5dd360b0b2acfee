/* compare_hook.c - hooks of hashing and equality, in the conventions of all releases.
 *
 * Native hash functions returned int64_t up to 0.1.14, and return an Any (Int, or Error) since. Equality returned bool,
 * and returns an Any (Bool, or Error). On the machines named below an Any comes back in the first two integer
 * registers, and an int64_t or a bool in the first. So a native function of either convention is called through the
 * newer type, and the first word of the result tells which it was. The first word of an Any is the index of Int or
 * Error with zero padding, which is improbable as a hash. An older hash function that returns one of these, 1 or 67, is
 * mostly a simple one that leaves the second register alone, so the call puts a mark there. A bool has 0 or 1 in its
 * lowest byte, which the indices of Bool and Error have not. On other machines only the newer convention works. */
#include "compare_hook.h"

#include "core/platform/span.h"
#include "core/platform/sync.h"
#include "error.h"
#include "function.h"
#include "type.h"

#if defined(__x86_64__) || defined(__aarch64__)
#if !defined(_WIN32)
#define OLDER_HOOKS 1
#endif
#endif

/* ---- Native functions, as the code of Functions whose `self` is the address ---- */

/* The newer convention. A hook of the older one is called through these types as well. A hash function has one
 * argument: the mark is in the result's second register, that of the third argument on x86-64, of the second on ARM. */
#define MARK 0x9b05688c2b3e6c1fu /* any number that is no likely hash */
typedef TVMFFIAny (*native_hash)(const TVMFFIAny *value, uint64_t mark, uint64_t same_mark);
typedef TVMFFIAny (*native_equal)(const TVMFFIAny *a, const TVMFFIAny *b);

/* What a native function returned, as the result of a Function: an Error is raised. */
static int give_result(TVMFFIAny returned, TVMFFIAny *result) {
  if (returned.type_index == kTVMFFIError) {
    fh_error_put(returned.v_obj);
    return -1;
  }
  *result = returned;
  return 0;
}

static int call_native_hash(void *native, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  if (fh_function_check_count("__any_hash__", n_args, 1) != 0) return -1;
  TVMFFIAny returned = ((native_hash)(uintptr_t)native)(args, MARK, MARK);
#ifdef OLDER_HOOKS
  int is_newer = returned.zero_padding == 0 && returned.v_uint64 != MARK &&
                 (returned.type_index == kTVMFFIInt || returned.type_index == kTVMFFIError);
  if (!is_newer) {
    int64_t hash; /* the first register */
    memcpy(&hash, &returned, sizeof hash);
    returned = fh_any_int(hash);
  }
#endif
  return give_result(returned, result);
}

/* With OLDER_HOOKS, a newer hook that breaks the contract by returning None or an Int passes for an older one that
 * returned false or true. */
static int call_native_equal(void *native, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  if (fh_function_check_count("__any_equal__", n_args, 2) != 0) return -1;
  TVMFFIAny returned = ((native_equal)(uintptr_t)native)(&args[0], &args[1]);
#ifdef OLDER_HOOKS
  if (((uint32_t)returned.type_index & 0xff) <= 1) { /* a bool: only its lowest byte means something */
    returned = fh_any_bool(returned.type_index & 1);
  }
#endif
  return give_result(returned, result);
}

int fh_compare_hook_adapt(TVMFFIByteArray attr_name, TVMFFIAny *value) {
  TVMFFIObjectHandle function;
  TVMFFISafeCallType call;
  if (value->type_index != kTVMFFIOpaquePtr || value->v_ptr == NULL) return 0;
  if (fh_span_same(attr_name, FH_LITERAL("__any_hash__"))) {
    call = call_native_hash;
  } else if (fh_span_same(attr_name, FH_LITERAL("__any_equal__"))) {
    call = call_native_equal;
  } else {
    return 0;
  }
  if (fh_function_new(value->v_ptr, call, NULL, &function) != 0) return -1;
  *value = fh_any_object(function); /* an address owned nothing */
  return 0;
}

/* ---- Calls ---- */

/* Calls a hook, whose result is to be of type `wanted`, Int or Bool. */
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
