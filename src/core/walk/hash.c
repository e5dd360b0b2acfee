/* hash.c - deep hash of a value.
 *
 * Mixing: a word is mixed into a state by a multiplication and an addition, then the high bits of the state are folded
 * down twice. The result is a bijection in the state and in the word. Sequences and fields are mixed into one state in
 * order. Maps add up the hashes of their pairs, so that the order of pairs does not matter.
 *
 * Cycles. Equal values may close a cycle at different depths: a list of itself equals a list of a list of itself. When
 * a cycle is found, the hash starts again and only reads LEVELS objects deep: equal values look alike to any depth. */
#include "nested.h"

#include "core/object/any_own.h"
#include "core/object/bigint.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/global.h"
#include "core/object/str.h"
#include "core/object/type.h"

#define LEVELS 4

typedef struct {
  fh_walk walk;
  fh_memo known[LEVELS]; /* hashes of objects that may occur again, by their depth; all in [0] without a limit */
  bool has_limit;
  int found_cycle;
} hasher;

/* The data of each frame of the walk. */
typedef struct {
  uint64_t state;
  uint64_t key; /* for a map: the hash of the key whose value is being hashed */
  bool is_known; /* has an entry in the memo */
} progress;

/* ---- Mixing ---- */

static uint64_t mix(uint64_t state, uint64_t word) {
  uint64_t mixed = state * 0xd6e8feb86659fd93u + word + 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ (mixed >> 32)) * 0xff51afd7ed558ccdu;
  return mixed ^ (mixed >> 29);
}

static uint64_t mix_bytes(uint64_t state, const char *data, size_t n_bytes) {
  uint64_t word;
  /* The length comes first, so the zeros that pad the last word cannot look like content. */
  state = mix(state, n_bytes);
  for (; n_bytes >= sizeof(word); n_bytes -= sizeof(word), data += sizeof(word)) {
    memcpy(&word, data, sizeof(word));
    state = mix(state, word);
  }
  word = 0;
  if (n_bytes != 0) memcpy(&word, data, n_bytes);
  return mix(state, word);
}

/* ---- Values without children ---- */

/* Equal floats have one hash: both zeros, and all NaNs. */
static uint64_t hash_float(double value) {
  uint64_t bits;
  if (value == 0) value = 0; /* -0.0 too */
  memcpy(&bits, &value, sizeof(bits));
  return mix(kTVMFFIFloat, value != value ? (uint64_t)0x7ff8 << 48 : bits);
}

static uint64_t hash_dtype(DLDataType dtype) {
  return mix(kTVMFFIDataType, ((uint64_t)dtype.code << 32) | ((uint64_t)dtype.bits << 16) | dtype.lanes);
}

/* Hashes values in cells. Short strings and bytes hash like objects with the same content; the rest by type and
 * bits. */
static uint64_t hash_plain(const TVMFFIAny *value) {
  TVMFFIByteArray content;
  switch (value->type_index) {
  case kTVMFFIBool: return mix(kTVMFFIBool, value->v_int64 != 0);
  case kTVMFFIFloat: return hash_float(value->v_float64);
  case kTVMFFIDataType: return hash_dtype(value->v_dtype);
  case kTVMFFISmallStr: fh_str_content(value, &content); return mix_bytes(kTVMFFIStr, content.data, content.size);
  case kTVMFFISmallBytes: fh_bytes_content(value, &content); return mix_bytes(kTVMFFIBytes, content.data, content.size);
  default: return mix((uint64_t)(int64_t)value->type_index, value->v_uint64);
  }
}

/* The hash of an object whose content this library reads directly: 1, or 0 for any other object. These objects need no
 * frame, hook or memo. */
static bool hash_leaf(const TVMFFIAny *value, uint64_t *out) {
  TVMFFIByteArray content;
  switch (value->type_index) {
  case kTVMFFIStr:
  case kTVMFFIBytes: content = fh_str_object_bytes(value->v_obj); break;
  case kTVMFFIBigInt: content = TVMFFIBigIntGetContentByteArray(value); break;
  case kTVMFFIShape: {
    const TVMFFIShapeCell *cell = TVMFFIShapeGetCellPtr(value->v_obj);
    content.data = (const char *)cell->data;
    content.size = cell->size * sizeof(*cell->data);
    break;
  }
  default: return false;
  }
  *out = mix_bytes((uint64_t)value->type_index, content.data, content.size);
  return true;
}

/* The start of the hash of an object, and the whole hash for an object that is too deep, or inside of itself. */
static uint64_t hash_type(const TVMFFIObject *obj) {
  const TVMFFITypeInfo *info = fh_type_find(obj->type_index);
  return mix(0, info != NULL ? info->type_key_hash : (uint64_t)(int64_t)obj->type_index);
}

/* The hash of a complete object, which is never hash_type: an entry of the memo with that number belongs to an open
 * object. */
static uint64_t finished_hash(const TVMFFIObject *obj, uint64_t hash) { return hash != hash_type(obj) ? hash : ~hash; }

/* ---- Hooks ---- */

static int hash_value(hasher *h, const TVMFFIAny *value, uint64_t *out);

/* fn_hash(value) -> int */
FH_CODE(hash_back) {
  uint64_t hash;
  if (hash_value((hasher *)self, &args[0], &hash) != 0) return -1;
  *result = fh_any_int((int64_t)hash);
  return 0;
}

/* Refuses a type that defines its equality but no hash: equal objects would have unequal hashes. */
static int check_equality(const TVMFFIObject *obj) {
  if (fh_reflect_attr(fh_reflect_column(FH_ATTR_EQ), obj->type_index) == NULL &&
      fh_reflect_attr(fh_reflect_column(FH_ATTR_COMPARE), obj->type_index) == NULL) {
    return 0;
  }
  return fh_error_raise(FH_VALUE_ERROR,
                        "Type `%s` defines __ffi_eq__ or __ffi_compare__ but not __ffi_hash__: expected a hash that is "
                        "the same for equal objects",
                        fh_type_name(obj->type_index));
}

static int call_hook(hasher *h, TVMFFIObject *hook, TVMFFIObject *obj, uint64_t *out) {
  TVMFFIAny result;
  if (fh_hook_call(&h->walk, hook, obj, NULL, hash_back, 1, h, &result) != 0) return -1;
  if (result.type_index == kTVMFFIInt || result.type_index == kTVMFFIBool) {
    *out = finished_hash(obj, (uint64_t)result.v_int64);
    return 0;
  }
  fh_hook_raise_result(FH_ATTR_HASH, obj, "int", &result);
  fh_any_drop(&result);
  return -1;
}

/* ---- Objects that may occur again ---- */

/* With a limit the hash of an object depends on the depth to which it is read, so each depth has its own memo. */
static fh_memo *memo_at(hasher *h, size_t depth) { return &h->known[h->has_limit ? depth : 0]; }

static int put_known(hasher *h, size_t depth, const TVMFFIObject *obj, uint64_t hash) {
  return fh_memo_put(memo_at(h, depth), obj, NULL, hash);
}

/* The hash of an object that has occurred before: 1; 0 if it has not; -1. Without a limit an object has an entry as
 * soon as it is entered. */
static int find_known(hasher *h, const TVMFFIObject *obj, uint64_t *out) {
  size_t depth = fh_walk_depth(&h->walk);
  const uint64_t *word = fh_memo_find(memo_at(h, depth), obj, NULL);
  if (word == NULL) return !h->has_limit && put_known(h, depth, obj, hash_type(obj)) != 0 ? -1 : 0;
  *out = *word;
  /* The entry of an open object: the result will be discarded. */
  if (!h->has_limit && *word == hash_type(obj)) h->found_cycle = 1;
  return 1;
}

/* ---- Python objects ---- */

/* The hash of the Python object of an object, or the object's address if it has none: 1, or -1. As in comparisons, an
 * outermost Function counts only by its type. */
static int hash_by_python(const hasher *h, const TVMFFIAny *value, uint64_t *out) {
  TVMFFIAny answer;
  *out = hash_type(value->v_obj);
  if (value->type_index == kTVMFFIFunction && fh_walk_depth(&h->walk) == 0) return 1;
  if (fh_global_ask_python("hash", value, 1, &answer) < 0) return -1;
  bool is_answered = answer.type_index == kTVMFFIInt;
  *out = mix(*out, is_answered ? (uint64_t)answer.v_int64 : (uint64_t)(uintptr_t)value->v_obj);
  fh_any_drop(&answer);
  return 1;
}

/* ---- The loop ---- */

/* The hash of an object that is not a leaf, if it is available at once: 1; 0 after entering it; -1. */
static int hash_object(hasher *h, const TVMFFIAny *value, bool is_shared, uint64_t *out) {
  TVMFFIObject *obj = value->v_obj, *hook = NULL;
  size_t depth = fh_walk_depth(&h->walk);
  if (fh_is_python_held(obj->type_index)) return hash_by_python(h, value, out);
  /* Types with static indices have no hooks here, as in comparisons. */
  if (obj->type_index >= kTVMFFIStaticObjectEnd) {
    if (fh_hook_find(FH_ATTR_HASH, obj->type_index, &hook) != 0) return -1;
    if (hook == NULL && check_equality(obj) != 0) return -1;
    if (hook != NULL) is_shared = true; /* a hook may call back with the same object */
  }
  int known = is_shared ? find_known(h, obj, out) : 0;
  if (known != 0) return known;
  /* This replaces the mark of find_known, if there is one. */
  if (hook != NULL) {
    return call_hook(h, hook, obj, out) != 0 || put_known(h, depth, obj, *out) != 0 ? -1 : 1;
  }
  if (fh_walk_push(&h->walk, value) != 0) return -1;
  progress *p = (progress *)fh_walk_data(fh_walk_top(&h->walk));
  p->state = hash_type(obj);
  p->is_known = is_shared;
  return 0;
}

/* The hash of any value if it is available at once: 1; 0 after entering an object; -1. Beyond the limit an object only
 * has the hash of its type, which is the same for all equal objects. */
static int hash_or_enter(hasher *h, const TVMFFIAny *value, bool is_shared, uint64_t *out) {
  if (!fh_any_is_object(value)) {
    *out = hash_plain(value);
    return 1;
  }
  if (hash_leaf(value, out)) return 1;
  if (!h->has_limit || fh_walk_depth(&h->walk) < LEVELS) return hash_object(h, value, is_shared, out);
  *out = hash_type(value->v_obj);
  return 1;
}

/* Adds a child's hash to its parent's. n_done is odd if the child is a key: its hash waits for that of the value. The
 * sum over pairs does not depend on their order. */
static void add_to_parent(fh_walk_frame *f, uint64_t child) {
  progress *p = (progress *)fh_walk_data(f);
  if (f->shape != FH_WALK_PAIRS)
    p->state = mix(p->state, child);
  else if (f->n_done % 2 != 0)
    p->key = child;
  else
    p->state += mix(mix(0, p->key), child);
}

/* Returns the hash of the innermost object, which is done, and closes it. */
static int close_object(hasher *h, uint64_t *out) {
  fh_walk_frame *f = fh_walk_top(&h->walk);
  const progress *p = (const progress *)fh_walk_data(f);
  *out = finished_hash(f->obj, mix(p->state, (uint64_t)f->n_done));
  int rc = p->is_known ? put_known(h, fh_walk_depth(&h->walk) - 1, f->obj, *out) : 0;
  fh_walk_pop(&h->walk);
  return rc;
}

/* Handles one child, or the end, of the innermost object: 1 with a hash in *out, 0 after entering, -1. */
static int hash_next(hasher *h, uint64_t *out) {
  TVMFFIAny child;
  const fh_walk_frame *f;
  switch (fh_walk_next(&h->walk, &child)) {
  case FH_WALK_CHILD:
    f = fh_walk_top(&h->walk);
    return hash_or_enter(h, &child, fh_any_is_object(&child) && fh_walk_is_shared(child.v_obj, fh_walk_gives_copies(f)),
                         out);
  case FH_WALK_END: return close_object(h, out) != 0 ? -1 : 1;
  default: return -1;
  }
}

/* The hash of a value, also from within a hook. */
static int hash_value(hasher *h, const TVMFFIAny *value, uint64_t *out) {
  size_t depth = fh_walk_depth(&h->walk);
  int done = hash_or_enter(h, value, 1, out);
  while (done >= 0 && fh_walk_depth(&h->walk) > depth) {
    done = hash_next(h, out);
    if (done == 1 && fh_walk_depth(&h->walk) > depth) add_to_parent(fh_walk_top(&h->walk), *out);
  }
  fh_walk_unwind(&h->walk, depth);
  return done < 0 ? -1 : 0;
}

/* Leaves empty memos, for the second pass. */
static void free_known(hasher *h) {
  for (int i = 0; i < LEVELS; ++i) fh_memo_free(&h->known[i]);
}

int fh_hash_nested(const TVMFFIAny *value, int64_t *out) {
  hasher h;
  TVMFFIAny root;
  uint64_t hash;
  if (fh_any_own(value, &root) != 0) return -1;
  memset(&h, 0, sizeof(h));
  fh_walk_init(&h.walk, FH_WALK_PLAIN, kTVMFFIFieldFlagBitMaskHashOff | kTVMFFIFieldFlagBitMaskCompareOff,
               sizeof(progress));
  for (int i = 0; i < LEVELS; ++i) h.known[i].retains = 1;
  int rc = hash_value(&h, &root, &hash);
  /* The result of the first pass depends on the place where it found the cycle; the second pass has the limit
   * instead. */
  if (rc == 0 && h.found_cycle) {
    free_known(&h);
    h.has_limit = true;
    rc = hash_value(&h, &root, &hash);
  }
  free_known(&h);
  fh_walk_free(&h.walk);
  fh_any_drop(&root);
  *out = rc == 0 ? (int64_t)hash : 0;
  return rc;
}
