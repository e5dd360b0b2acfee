/* hashmap_layout.c - hash and equality of keys that are not plain data: strings, bytes and objects, whose types may
 * have hooks.
 *
 * fh_any_hash and fh_any_equal run those hooks. Under a lock no foreign code may run, so a caller with a lock forbids
 * hooks, and a key that needs one makes the whole operation stop before any pair has changed. */
#include "hashmap_layout.h"

#include "core/object/any_hash.h"
#include "core/object/reflect.h"

/* BigInt's hooks are this library's own and run no foreign code. */
static bool has_foreign_hook(const TVMFFIAny *key, fh_reflect_attr_id id) {
  return key->type_index >= kTVMFFIStaticObjectBegin && key->type_index != kTVMFFIBigInt &&
         fh_reflect_attr(fh_reflect_column(id), key->type_index) != NULL;
}

int fh_hashmap_hash_other(const TVMFFIAny *key, fh_hashmap_hooks hooks, uint64_t *out) {
  if (hooks == FH_HASHMAP_NO_HOOKS && has_foreign_hook(key, FH_ATTR_ANY_HASH)) return FH_HASHMAP_NEEDS_HOOK;
  return fh_any_hash(key, out);
}

int fh_hashmap_equal_other(const TVMFFIAny *a, const TVMFFIAny *b, fh_hashmap_hooks hooks, int *out) {
  /* fh_any_equal calls the hook only for two objects of one type */
  if (hooks == FH_HASHMAP_NO_HOOKS && a->type_index == b->type_index && has_foreign_hook(a, FH_ATTR_ANY_EQUAL)) {
    return FH_HASHMAP_NEEDS_HOOK;
  }
  return fh_any_equal(a, b, out);
}
