/* any_hash.c - hash and equality of values, with the hooks of their types.
 *
 * Both are part of the ABI: C++ clients compute them inline (any_compare.h), and search maps that this library has
 * filled. So every hash here is fixed. */
#include "any_hash.h"

#include "compare_hook.h"
#include "reflect.h"
#include "str.h"

/* ---- Hash and equality ---- */

static bool is_text(const TVMFFIAny *any) {
  return any->type_index == kTVMFFISmallStr || any->type_index == kTVMFFIStr;
}
static bool is_bytes(const TVMFFIAny *any) {
  return any->type_index == kTVMFFISmallBytes || any->type_index == kTVMFFIBytes;
}

int fh_any_hash(const TVMFFIAny *any, uint64_t *out) {
  TVMFFIByteArray content;
  /* Uses the index of the object form for both forms, so that a string has one hash for either place of its content. */
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
      if (fh_compare_hook_hash(hook, any, &hashed) != 0) return -1;
      value = (uint64_t)hashed;
    }
  }
  *out = fh_span_hash_combine((uint64_t)(int64_t)any->type_index, value);
  return 0;
}

int fh_any_equal(const TVMFFIAny *a, const TVMFFIAny *b, int *out) {
  TVMFFIByteArray a_content, b_content;
  *out = fh_any_same(a, b); /* first, so that a value always equals itself, without a call of a hook */
  if (*out) return 0;
  if (is_text(a) && is_text(b)) {
    *out = fh_str_content(a, &a_content) && fh_str_content(b, &b_content) && fh_span_same(a_content, b_content);
    return 0;
  }
  if (is_bytes(a) && is_bytes(b)) {
    *out = fh_bytes_content(a, &a_content) && fh_bytes_content(b, &b_content) && fh_span_same(a_content, b_content);
    return 0;
  }
  /* Other plain data is equal only if its bits are. A hook is called for two objects of exactly one type. */
  if (a->type_index != b->type_index || !fh_any_is_object(a)) return 0;
  const TVMFFIAny *hook = fh_reflect_attr(fh_reflect_column(FH_ATTR_ANY_EQUAL), a->type_index);
  int64_t equal;
  if (hook == NULL) return 0;
  if (fh_compare_hook_equal(hook, a, b, &equal) != 0) return -1;
  *out = equal != 0;
  return 0;
}
