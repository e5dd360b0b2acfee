/* sequence.c - containers between Python and bound libraries: one type for each class of Python, all with the cell of
 * an ffi.Array. A binding converts such an object to a list, tuple, set or dict as soon as it gets the object; other
 * callers get an Array or a Map. */
#include "sequence.h"

#include "core/container/hashmap.h"
#include "core/container/list.h"
#include "core/object/any.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/global.h"
#include "core/object/object_new.h"
#include "core/object/str.h"
#include "core/object/type.h"

/* Written by each import of a bound library, always with the same indices, before the library can make containers. */
static int32_t types[kFfiHpyNumContainers];

int fh_sequence_init(void) {
  static const char *const keys[kFfiHpyNumContainers] = {"ffi_hpy.List", "ffi_hpy.Tuple", "ffi_hpy.Set",
                                                         "ffi_hpy.Dict"};
  for (int i = 0; i < kFfiHpyNumContainers; ++i) {
    int32_t index = fh_type_add(fh_base_bytes(keys[i]), -1, 1, 0, false, kTVMFFIObject);
    if (index < 0) return -1;
    fh_atomic_store_relaxed_i32(&types[i], index);
  }
  return 0;
}

/* The kind of a container of a bound library; kFfiHpyNumContainers for other types. */
static uint32_t kind_of(int32_t type_index) {
  uint32_t kind = 0;
  while (kind < kFfiHpyNumContainers && fh_atomic_load_relaxed_i32(&types[kind]) != type_index) ++kind;
  return kind;
}

const char *fh_sequence_class_name(int32_t type_index) {
  static const char *const names[kFfiHpyNumContainers + 1] = {"list", "tuple", "set", "dict", NULL};
  return type_index < kTVMFFIDynObjectBegin ? NULL : names[kind_of(type_index)]; /* types[] may be 0 */
}

int fh_sequence_container_new(uint32_t kind, size_t n, TVMFFIObjectHandle *out) {
  *out = fh_seq_new_typed(fh_atomic_load_relaxed_i32(&types[kind]), (int64_t)n);
  return *out != NULL ? 0 : -1;
}

/* The keys and values of a Map, or of a copy of a Dict, which other threads may change. */
static int pairs_of(fh_hashmap_object *map, TVMFFIAny *out) {
  fh_hashmap_object *kept = NULL;
  if (map->header.type_index == kTVMFFIDict) map = kept = fh_hashmap_copy(map, kTVMFFIMap);
  TVMFFIObjectHandle made = NULL;
  if (map != NULL && fh_sequence_container_new(kFfiHpyDict, 2 * (size_t)map->size, &made) == 0) {
    uint64_t position = fh_hashmap_begin(map);
    TVMFFIAny *items = fh_seq_items((fh_seq_object *)made);
    ((fh_seq_object *)made)->cell.size = 2 * (int64_t)map->size;
    for (uint64_t i = 0; i < map->size; ++i, position = fh_hashmap_next(map, position)) {
      const fh_hashmap_pair *pair = fh_hashmap_at(map, position);
      fh_any_copy(&pair->key, &items[2 * i]);
      fh_any_copy(&pair->value, &items[2 * i + 1]);
    }
    *out = fh_any_object(made);
  }
  fh_object_release(kept);
  return made != NULL ? 0 : -1;
}

int fh_sequence_ask(const char *function_name, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *out) {
  TVMFFIByteArray name = fh_base_bytes(function_name);
  TVMFFIObjectHandle function = NULL;
  if (TVMFFIFunctionGetGlobal(&name, &function) != 0) return -1;
  if (function == NULL) return 0;
  int rc = fh_function_call(function, args, n_args, out);
  fh_object_release(function);
  return rc;
}

const ffi_hpy_python_values *fh_sequence_python;

/* Asks Python for the items, or keys and values, of another object. Python returns None for an object without items. */
static int ask(const TVMFFIAny *value, bool wants_pairs, TVMFFIAny *out) {
  const char *form = wants_pairs ? NULL : fh_bytes_description(value); /* of the bytes of a memoryview */
  TVMFFIAny args[2] = {*value, fh_any_none()};
  if (form != NULL && fh_str_from_cstr(form, &args[1]) != 0) return -1;
  bool has_elements = form != NULL || value->type_index == kTVMFFITensor;
  if (!wants_pairs && !has_elements && fh_sequence_python != NULL) return fh_sequence_python->read_items(value, out);
  const char *name = wants_pairs ? "ffi_hpy.bind_pairs" : has_elements ? "ffi_hpy.bind_elements" : "ffi_hpy.bind_items";
  int rc = fh_sequence_ask(name, args, form != NULL ? 2 : 1, out);
  fh_any_drop(&args[1]);
  if (rc != 0 || out->type_index == kTVMFFIArray || out->type_index == kTVMFFINone) return rc;
  fh_any_drop(out);
  *out = fh_any_none();
  return 0;
}

int fh_sequence_container_items(const TVMFFIAny *value, uint32_t flags, TVMFFIAny *out) {
  bool wants_pairs = (flags & FFI_HPY_PAIRS) != 0;
  *out = fh_any_none();
  if (!fh_any_is_object(value) || value->type_index == kTVMFFIStr) return 0; /* a text is not a sequence */
  if (fh_hashmap_is(value)) return wants_pairs ? pairs_of((fh_hashmap_object *)(void *)value->v_obj, out) : 0;
  if (fh_seq_is(value)) {
    if (wants_pairs) return 0;
    const fh_seq_object *seq = (const fh_seq_object *)(const void *)value->v_obj;
    fh_seq_object *copy = fh_list_copy(seq, kTVMFFIArray); /* other threads may change a List */
    if (copy == NULL) return -1;
    *out = fh_any_object(copy);
    return 0;
  }
  uint32_t kind = kind_of(value->type_index);
  bool is_sequence = kind == kFfiHpyList || kind == kFfiHpyTuple || (flags & kFfiHpyCastConvert) != 0 ||
                     fh_bytes_description(value) != NULL;
  if (kind != kFfiHpyNumContainers) {
    if (wants_pairs ? kind == kFfiHpyDict : kind != kFfiHpyDict && is_sequence) fh_any_copy(value, out);
    return 0;
  }
  return wants_pairs || is_sequence ? ask(value, wants_pairs, out) : 0;
}

/* --- for other languages ------------------------------------------------------------------------------------------ */

/* Containers inside of more containers than this stay as they are: each level has a frame on the stack. */
enum { DEEPEST = 200 };

static int make_native(TVMFFIAny *value, int depth);

/* Makes the items readable, in place, and the object an Array. The caller has the only reference. */
static int become_array(fh_seq_object *seq, int depth) {
  int rc = 0;
  for (int64_t i = 0; rc == 0 && i < fh_seq_size(seq); ++i) rc = make_native(&fh_seq_items(seq)[i], depth + 1);
  seq->header.type_index = kTVMFFIArray;
  return rc;
}

/* Returns a Map of the keys and values in turn; NULL with an error pending. */
static fh_hashmap_object *map_of(const fh_seq_object *pairs) {
  int64_t n = fh_seq_size(pairs) / 2;
  fh_hashmap_object *map = fh_hashmap_new(kTVMFFIMap, (uint64_t)n);
  for (int64_t i = 0; map != NULL && i < n; ++i) {
    fh_hashmap_pair pair;
    fh_any_copy(&fh_seq_items(pairs)[2 * i], &pair.key);
    fh_any_copy(&fh_seq_items(pairs)[2 * i + 1], &pair.value);
    if (fh_hashmap_put(map, &pair) == 0) continue;
    fh_object_release(map);
    map = NULL;
  }
  return map;
}

static int make_native(TVMFFIAny *value, int depth) {
  uint32_t kind = value->type_index < kTVMFFIDynObjectBegin ? kFfiHpyNumContainers : kind_of(value->type_index);
  if (kind == kFfiHpyNumContainers || depth == DEEPEST) return 0;
  fh_seq_object *seq = (fh_seq_object *)(void *)value->v_obj;
  *value = fh_any_none();
  if (!fh_object_is_own(seq, 1)) { /* a function may return a container that it keeps */
    fh_seq_object *copy = fh_seq_from_views(kTVMFFIArray, fh_seq_items(seq), fh_seq_size(seq));
    fh_object_release(seq);
    seq = copy;
  }
  int rc = seq == NULL ? -1 : become_array(seq, depth);
  if (rc == 0 && kind == kFfiHpyDict) {
    fh_hashmap_object *map = map_of(seq);
    if (map != NULL) *value = fh_any_object(map);
    rc = map != NULL ? 0 : -1;
  } else if (rc == 0) {
    *value = fh_any_object(seq);
    return 0;
  }
  fh_object_release(seq);
  return rc;
}

int fh_sequence_make_native(TVMFFIAny *value) { return make_native(value, 0); }
