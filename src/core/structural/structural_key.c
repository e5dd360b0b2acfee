/* structural_key.c - the type StructuralKey: a value with its structural hash, and the hooks by which Map and Dict
 * compare such keys. The hash is computed once, so a key whose value changes later keeps its hash. */
#include "operations.h"

#include "core/fields/builtin.h"
#include "core/object/any_own.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/reflect.h"
#include "core/platform/atomic.h"

FH_STATIC_ASSERT(sizeof(fh_structural_key_object) == 48 && offsetof(fh_structural_key_object, hash) == 40, "ABI");

#define KEY "ffi.StructuralKey"

static const fh_builtin_type key_type;
static int32_t key_index; /* written once, by the load-time constructor */

int32_t fh_structural_key_type(void) { return key_index; }

fh_structural_key_object *fh_structural_key_new(const TVMFFIAny *key) {
  fh_structural_key_object *made = (fh_structural_key_object *)fh_builtin_new(&key_type);
  uint64_t hash;
  if (made == NULL) return NULL;
  if (fh_any_own(key, &made->key) == 0 && fh_structural_hash(&made->key, 0, 0, &hash) == 0) {
    made->hash = (int64_t)hash;
    return made;
  }
  fh_object_release(made);
  return NULL;
}

static int64_t hash_of(const fh_structural_key_object *key) {
  /* relaxed: a setter may write it */
  return (int64_t)fh_atomic_load_relaxed_u64((const uint64_t *)&key->hash);
}

int fh_structural_key_equal(const fh_structural_key_object *a, const fh_structural_key_object *b, int *out) {
  *out = a == b;
  if (*out || hash_of(a) != hash_of(b)) return 0;
  TVMFFIAny key_a = fh_builtin_get_any(&a->key), key_b = fh_builtin_get_any(&b->key);
  int rc = fh_structural_equal(&key_a, &key_b, 0, 0, out);
  fh_any_drop(&key_a);
  fh_any_drop(&key_b);
  return rc;
}

/* ---- Hooks of maps, in the native convention that any_hash.c calls ---- */

static const fh_structural_key_object *key_of(const TVMFFIAny *value) {
  return (const fh_structural_key_object *)(const void *)value->v_obj;
}

static TVMFFIAny any_hash(const TVMFFIAny *value) { return fh_any_int(hash_of(key_of(value))); }

/* Returns a Bool, or the error of the comparison as the result. */
static TVMFFIAny any_equal(const TVMFFIAny *a, const TVMFFIAny *b) {
  int is_equal;
  if (fh_structural_key_equal(key_of(a), key_of(b), &is_equal) == 0) return fh_any_bool(is_equal);
  return fh_any_object(fh_error_take());
}

/* ---- The type ---- */

/* __ffi_init__(key) -> StructuralKey */
FH_CODE(init_key) {
  if (fh_function_check_count(KEY ".__ffi_init__", n_args, 1) != 0) return -1;
  return fh_any_give_object(fh_structural_key_new(&args[0]), result);
}

static const fh_builtin_field key_fields[] = {
    {.name = "key",
     .metadata = FH_SCHEMA(FH_SCHEMA_ANY),
     .kind = FH_BUILTIN_ANY,
     .offset = offsetof(fh_structural_key_object, key)},
    {.name = "hash_i64",
     .metadata = FH_SCHEMA(FH_SCHEMA_INT),
     .kind = FH_BUILTIN_INT,
     .offset = offsetof(fh_structural_key_object, hash)},
    {.name = NULL},
};

static const fh_builtin_method key_methods[] = {
    {.name = "__ffi_init__",
     .doc = "A key for any value; its structural hash is computed once, here.",
     .metadata = FH_SCHEMA(FH_SCHEMA_FUNCTION(FH_SCHEMA_OBJECT, FH_SCHEMA_ANY)),
     .flags = kTVMFFIFieldFlagBitMaskIsStaticMethod,
     .call = init_key},
    {.name = NULL},
};

/* The creator makes an empty key, for callers that then set its fields, including the stored hash, such as the reader
 * of graphs. */
FH_BUILTIN_TYPE(key, .key = KEY, .is_final = 1, .total_bytes = sizeof(fh_structural_key_object), .fields = key_fields,
                .methods = key_methods);

void fh_structural_key_init(void) {
  key_index = fh_builtin_register(&key_type);
  fh_builtin_set_function(key_index, "__ffi_init__", init_key);
  fh_builtin_set_native(key_index, "__any_hash__", (void *)(uintptr_t)&any_hash);
  fh_builtin_set_native(key_index, "__any_equal__", (void *)(uintptr_t)&any_equal);
}
