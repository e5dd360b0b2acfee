/* hashmap_key.h - hash and equality of keys, with or without foreign code. */
#ifndef FH_HASHMAP_KEY_H_
#define FH_HASHMAP_KEY_H_

#include "core/platform/span.h"
#include "hashmap_object.h"

/* fh_any_hash and fh_any_equal; they return FH_HASHMAP_NEEDS_HOOK if they would run foreign code that `hooks`
 * forbids. */
int fh_hashmap_hash_other(const TVMFFIAny *key, fh_hashmap_hooks hooks, uint64_t *out);
int fh_hashmap_equal_other(const TVMFFIAny *a, const TVMFFIAny *b, fh_hashmap_hooks hooks, int *out);

/* Hash and equality of any keys. Plain data, for which the bits of the cell decide, is handled inline. */
static inline int fh_hashmap_is_plain(const TVMFFIAny *key) { return key->type_index < kTVMFFISmallStr; }
static inline int fh_hashmap_key_hash(const TVMFFIAny *key, fh_hashmap_hooks hooks, uint64_t *out) {
  if (!fh_hashmap_is_plain(key)) return fh_hashmap_hash_other(key, hooks, out);
  *out = fh_span_hash_combine((uint64_t)(int64_t)key->type_index, key->v_uint64);
  return 0;
}
static inline int fh_hashmap_key_equal(const TVMFFIAny *a, const TVMFFIAny *b, fh_hashmap_hooks hooks, int *out) {
  *out = fh_any_same(a, b);
  return *out || fh_hashmap_is_plain(a) ? 0 : fh_hashmap_equal_other(a, b, hooks, out);
}

#endif /* FH_HASHMAP_KEY_H_ */
