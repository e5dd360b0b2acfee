/* any_hash.c - hash and equality of values, with the hooks of their types.
 *
 * Both are part of the ABI: C++ clients compute them inline (any_compare.h), and search maps that this library has
 * filled. So every number here is fixed. */
#include "any_hash.h"

#include "core/platform/sync.h"
#include "error.h"
#include "reflect.h"
#include "str.h"

/* ---- Hooks: __any_hash__ and __any_equal__ are a native function or a Function ----
 *
 * The native convention changed between releases: hash functions returned int64_t and now return an Any (Int, or
 * Error); equality returned bool and now returns an Any (Bool, or Error). On the machines named below an Any comes back
 * in the first two integer registers, and an int64_t or a bool in the first. So a hook of either convention is called
 * through the newer type, and the first word of the result tells which it was. The first word of an Any is the index of
 * Int or Error with zero padding, which is improbable as a hash. An older hash function that returns one of these, 1 or
 * 67, is mostly a simple one that leaves the second register alone, so the call puts a mark there. A bool has 0 or 1 in
 * its lowest byte, which the indices of Bool and Error have not. On other machines only the newer convention works. */
#if defined(__x86_64__) || defined(__aarch64__)
#if !defined(_WIN32)
#define OLDER_HOOKS 1
#endif
#endif

/* The newer convention. A hook of the older one is called through these types as well. A hash function has one
 * argument: the mark is in the result's second register, that of the third argument on x86-64, of the second on ARM. */
#define MARK 0x9b05688c2b3e6c1fu /* any number that is no likely hash */
typedef TVMFFIAny (*native_hash)(const TVMFFIAny *value, uint64_t mark, uint64_t same_mark);
typedef TVMFFIAny (*native_equal)(const TVMFFIAny *a, const TVMFFIAny *b);

/* Takes what a hook returned. A value of type `wanted`, Int or Bool, goes to *out; an Error becomes the pending one;
 * for any other value a TypeError is raised. */
static int take_hook_result(TVMFFIAny *result, int32_t wanted, const char *hook_name, int64_t *out) {
  if (result->type_index == wanted) {
    *out = result->v_int64;
    return 0;
  }
  if (result->type_index == kTVMFFIError) {
    fh_error_put(result->v_obj);
    return -1;
  }
  fh_error_raise(FH_TYPE_ERROR, "Expected `%s` to return `%s` but got `%s`", hook_name, fh_type_name(wanted),
                 fh_type_name(result->type_index));
  fh_any_drop(result);
  return -1;
}

static int call_function_hook(const TVMFFIAny *hook, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  *result = fh_any_none();
  return TVMFFIFunctionGetCellPtr(hook->v_obj)->safe_call(hook->v_obj, args, n_args, result);
}

/* BigInt's hooks are this library's own: they may run under a lock. */
static void check_unlocked(const TVMFFIAny *any) {
  if (any->type_index != kTVMFFIBigInt) fh_sync_check_unlocked("a hash or equality hook");
}

static int call_hash_hook(const TVMFFIAny *hook, const TVMFFIAny *any, int64_t *out) {
  TVMFFIAny result;
  check_unlocked(any);
  if (hook->type_index == kTVMFFIOpaquePtr) {
    result = ((native_hash)(uintptr_t)hook->v_ptr)(any, MARK, MARK);
#ifdef OLDER_HOOKS
    int is_newer = result.zero_padding == 0 && (result.type_index == kTVMFFIInt || result.type_index == kTVMFFIError) &&
                   result.v_uint64 != MARK;
    if (!is_newer) {
      memcpy(out, &result, sizeof *out); /* the first register was the hash itself */
      return 0;
    }
#endif
  } else if (call_function_hook(hook, any, 1, &result) != 0) {
    return -1;
  }
  return take_hook_result(&result, kTVMFFIInt, "__any_hash__", out);
}

/* With OLDER_HOOKS, a newer hook that breaks the contract by returning None or an Int passes for an older one that
 * returned false or true. */
static int call_equal_hook(const TVMFFIAny *hook, const TVMFFIAny *a, const TVMFFIAny *b, int64_t *out) {
  TVMFFIAny result;
  check_unlocked(a);
  if (hook->type_index == kTVMFFIOpaquePtr) {
    result = ((native_equal)(uintptr_t)hook->v_ptr)(a, b);
#ifdef OLDER_HOOKS
    if (((uint32_t)result.type_index & 0xff) <= 1) { /* a bool: only its lowest byte means something */
      *out = result.type_index & 1;
      return 0;
    }
#endif
  } else {
    TVMFFIAny args[2] = {*a, *b};
    if (call_function_hook(hook, args, 2, &result) != 0) return -1;
  }
  return take_hook_result(&result, kTVMFFIBool, "__any_equal__", out);
}

/* ---- Hash and equality ---- */

static int is_text(const TVMFFIAny *any) { return any->type_index == kTVMFFISmallStr || any->type_index == kTVMFFIStr; }
static int is_bytes(const TVMFFIAny *any) {
  return any->type_index == kTVMFFISmallBytes || any->type_index == kTVMFFIBytes;
}

int fh_any_hash(const TVMFFIAny *any, uint64_t *out) {
  TVMFFIByteArray content;
  /* The index of the object form stands for both forms, so that a text has one hash wherever its content lies. */
  if (is_text(any) && fh_str_content(any, &content)) {
    *out = fh_span_hash_combine(kTVMFFIStr, fh_span_hash(content.data, content.size));
    return 0;
  }
  if (is_bytes(any) && fh_bytes_content(any, &content)) {
    *out = fh_span_hash_combine(kTVMFFIBytes, fh_span_hash(content.data, content.size));
    return 0;
  }
  /* Plain data: its bits. An object: its address, unless its type has a hook. */
  uint64_t value = any->v_uint64;
  if (fh_any_is_object(any)) {
    const TVMFFIAny *hook = fh_reflect_attr(fh_reflect_column(FH_ATTR_ANY_HASH), any->type_index);
    int64_t hashed;
    if (hook != NULL) {
      if (call_hash_hook(hook, any, &hashed) != 0) return -1;
      value = (uint64_t)hashed;
    }
  }
  *out = fh_span_hash_combine((uint64_t)(int64_t)any->type_index, value);
  return 0;
}

int fh_any_equal(const TVMFFIAny *a, const TVMFFIAny *b, int *out) {
  TVMFFIByteArray a_content, b_content;
  *out = fh_any_same(a, b); /* first, so that a value always equals itself, and no hook is asked about that */
  if (*out) return 0;
  if (is_text(a) && is_text(b)) {
    *out = fh_str_content(a, &a_content) && fh_str_content(b, &b_content) && fh_span_same(a_content, b_content);
    return 0;
  }
  if (is_bytes(a) && is_bytes(b)) {
    *out = fh_bytes_content(a, &a_content) && fh_bytes_content(b, &b_content) && fh_span_same(a_content, b_content);
    return 0;
  }
  /* Other plain data is equal by its bits only. A hook is asked about two objects of exactly one type. */
  if (a->type_index != b->type_index || !fh_any_is_object(a)) return 0;
  const TVMFFIAny *hook = fh_reflect_attr(fh_reflect_column(FH_ATTR_ANY_EQUAL), a->type_index);
  int64_t equal;
  if (hook == NULL) return 0;
  if (call_equal_hook(hook, a, b, &equal) != 0) return -1;
  *out = equal != 0;
  return 0;
}
