/* structural_hash.c - the structural hash.
 *
 * Clients may store the numbers, so the order of combination is fixed: the hash of the type's key, the size of a
 * container, then the children. Free variables in definitions are numbered in the order in which their contents are
 * complete, and so are DAG nodes; their addresses do not count. Map pairs are combined in the order of their keys'
 * hashes, because equal maps may differ in the order of pairs. Runs of leaves in sequences need no step of the walk. */
#include "operations.h"

#include <math.h>
#include <stdlib.h>

#include "core/container/hashmap.h"
#include "core/container/seq.h"
#include "core/object/bigint.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/str.h"
#include "core/object/type.h"
#include "core/platform/mem.h"
#include "core/walk/nested.h"
#include "structural.h"

#define CALLBACK_NAME "__s_hash__.fn_hash"

/* A pair of an open map: maps are hashed in the order of their keys' hashes. */
typedef struct {
  uint64_t key_hash;
  TVMFFIAny value; /* borrowed from the frame */
} sorted_pair;

typedef struct {
  fh_walk walk;
  fh_memo memo; /* objects that may occur again, to their hashes; retains */
  sorted_pair *pairs; /* of all open maps; each frame's pairs follow those of the frame below */
  size_t n_pairs, n_pairs_room;
  int32_t hook_region; /* region of the contents of the object whose hook is running */
  uint32_t n_free_vars, n_dag_nodes;
  int skip_tensors;
} hasher;

/* The data of a frame, in addition to its children. */
typedef struct {
  uint64_t hash; /* hash of the children so far */
  size_t first_pair, next_pair, end_pair; /* of a map */
  int32_t kind;
  int32_t region, inner_region;
  int16_t is_kept; /* goes into the memo, because it may occur again */
  int16_t n_own;   /* references of a child that do not make it shared */
} frame_data;

/* The hash of the type's key, which is the same in every process; 0 for a type that is not registered. */
static uint64_t type_hash(int32_t type_index) {
  const TVMFFITypeInfo *info = fh_type_find(type_index);
  return info != NULL ? info->type_key_hash : 0;
}

/* ---- Leaves ---- */

/* Hashes a string, bytes or a large integer by its bytes. */
static uint64_t hash_content(int32_t type_index, TVMFFIByteArray content) {
  return fh_span_hash_combine((uint64_t)type_index, fh_span_hash(content.data, content.size));
}

/* Hashes a value in a cell, by type and bits. All NaNs have one hash. A short string hashes by its content, like an
 * object with that content. */
static inline uint64_t hash_plain(const TVMFFIAny *value) {
  TVMFFIByteArray content;
  TVMFFIAny nan;
  switch (value->type_index) {
  case kTVMFFISmallStr: fh_str_content(value, &content); return hash_content(kTVMFFIStr, content);
  case kTVMFFIFloat:
    nan = fh_any_float((double)NAN);
    if (isnan(value->v_float64)) value = &nan;
    break;
  default: break;
  }
  return fh_span_hash_combine((uint64_t)(int64_t)value->type_index, value->v_uint64);
}

/* Short bytes in a cell hash like plain data, by their single word of content. So a Bytes object whose content would
 * fit a cell hashes like that cell. */
static uint64_t hash_bytes(TVMFFIByteArray content) {
  if (content.size > FH_STR_SMALL_MAX) return hash_content(kTVMFFIBytes, content);
  TVMFFIAny small = fh_any_none();
  small.type_index = kTVMFFISmallBytes;
  memcpy(small.v_bytes, content.data, content.size);
  return hash_plain(&small);
}

static uint64_t hash_shape(const TVMFFIObject *obj) {
  const TVMFFIShapeCell *cell = TVMFFIShapeGetCellPtr((void *)(uintptr_t)obj);
  uint64_t hash = fh_span_hash_combine(type_hash(kTVMFFIShape), cell->size);
  for (size_t i = 0; i < cell->size; ++i) hash = fh_span_hash_combine(hash, (uint64_t)cell->data[i]);
  return hash;
}

/* Hashes shape and data type, then the bytes; -1 with an error pending if these cannot be read here. */
static int hash_tensor(const hasher *h, const TVMFFIObject *obj, uint64_t *out) {
  const DLTensor *tensor = TVMFFITensorGetDLTensorPtr((void *)(uintptr_t)obj);
  TVMFFIAny dtype = fh_any_dtype(tensor->dtype);
  uint64_t hash = fh_span_hash_combine(type_hash(kTVMFFITensor), (uint64_t)tensor->ndim);
  for (int32_t i = 0; i < tensor->ndim; ++i) hash = fh_span_hash_combine(hash, (uint64_t)tensor->shape[i]);
  hash = fh_span_hash_combine(hash, dtype.v_uint64);
  if (!h->skip_tensors) {
    const char *data;
    size_t n_bytes;
    if (fh_structural_tensor_bytes(tensor, &data, &n_bytes) != 0) return -1;
    hash = fh_span_hash_combine(hash, fh_span_hash(data, n_bytes));
  }
  *out = hash;
  return 0;
}

static int hash_object_leaf(const hasher *h, const TVMFFIAny *value, uint64_t *out) {
  switch (value->type_index) {
  case kTVMFFIStr: *out = hash_content(kTVMFFIStr, fh_str_object_bytes(value->v_obj)); return 1;
  case kTVMFFIBytes: *out = hash_bytes(fh_str_object_bytes(value->v_obj)); return 1;
  case kTVMFFIBigInt: *out = hash_content(kTVMFFIBigInt, TVMFFIBigIntGetContentByteArray(value)); return 1;
  case kTVMFFIShape: *out = hash_shape(value->v_obj); return 1;
  case kTVMFFITensor: return hash_tensor(h, value->v_obj, out) == 0 ? 1 : -1;
  default: return 0;
  }
}

/* The hash of a value without children: 1, 0 if it has children, -1. */
static inline int hash_leaf(const hasher *h, const TVMFFIAny *value, uint64_t *out) {
  if (fh_any_is_object(value)) return hash_object_leaf(h, value, out);
  *out = hash_plain(value);
  return 1;
}

/* ---- Maps ---- */

static int compare_pairs(const void *a, const void *b) {
  uint64_t hash_a = ((const sorted_pair *)a)->key_hash, hash_b = ((const sorted_pair *)b)->key_hash;
  return (hash_a > hash_b) - (hash_a < hash_b);
}

/* Sorts by insertion, as most maps are small and the hashes of consecutive integers almost in order; if that takes many
 * moves, by qsort. */
static void sort_pairs(sorted_pair *pairs, size_t n) {
  /* The number of moves that insertion may still make: linear, so a bad order costs little more than qsort alone. */
  size_t n_moves = 8 * n + 64;
  for (size_t n_sorted = 1; n_sorted < n; ++n_sorted) {
    sorted_pair pair = pairs[n_sorted];
    size_t i = n_sorted;
    for (; i > 0 && pairs[i - 1].key_hash > pair.key_hash; --i) pairs[i] = pairs[i - 1];
    pairs[i] = pair;
    n_moves -= n_sorted - i < n_moves ? n_sorted - i : n_moves;
    if (n_moves != 0) continue;
    qsort(pairs, n, sizeof(*pairs), compare_pairs);
    return;
  }
}

/* The hash of a key: 1, or 0 for an object that has not occurred before, and for a container. Hashing such an object
 * here could number its variables, in an order that depends on the order of the pairs. */
static bool hash_key(const hasher *h, const TVMFFIAny *key, uint64_t *out) {
  if (!fh_any_is_object(key) || key->type_index == kTVMFFIStr || key->type_index == kTVMFFIBytes ||
      key->type_index == kTVMFFIBigInt) {
    return hash_leaf(h, key, out) == 1;
  }
  if (fh_seq_is(key) || fh_hashmap_is(key)) return false;
  const uint64_t *known = fh_memo_find(&h->memo, key->v_obj, NULL);
  if (known != NULL) *out = *known;
  return known != NULL;
}

/* A key has no hash yet, and may have one at another visit: the containers around it are not kept. The object around
 * these containers is kept, and so is not visited again. */
static void leave_out_key(hasher *h) {
  for (size_t i = fh_walk_depth(&h->walk); i-- > 0;) {
    fh_walk_frame *f = fh_walk_at(&h->walk, i);
    frame_data *data = (frame_data *)fh_walk_data(f);
    if ((f->shape != FH_WALK_ITEMS && f->shape != FH_WALK_PAIRS) || !data->is_kept) return;
    data->is_kept = 0;
  }
}

/* Copies the pairs of the map on top and sorts them by the hashes of their keys. A pair whose key has no hash is left
 * out; only the map's size, which is part of the hash, counts it. */
static int take_pairs(hasher *h) {
  fh_walk_frame *f = fh_walk_top(&h->walk);
  frame_data *data = (frame_data *)fh_walk_data(f);
  sorted_pair pair;
  TVMFFIAny key;
  fh_walk_step step;
  data->first_pair = data->next_pair = data->end_pair = h->n_pairs;
  if (f->n_children == 0) return 0;
  size_t n_more = (size_t)f->n_children / 2;
  if (fh_mem_reserve((void **)&h->pairs, &h->n_pairs_room, h->n_pairs, n_more, sizeof(*h->pairs)) != 0)
    return fh_error_raise_no_memory();
  while ((step = fh_walk_next_key(&h->walk, &key, &pair.value)) == FH_WALK_CHILD) {
    if (hash_key(h, &key, &pair.key_hash)) {
      h->pairs[h->n_pairs++] = pair;
    } else {
      leave_out_key(h);
    }
  }
  if (step == FH_WALK_ERROR) return -1;
  data->end_pair = h->n_pairs;
  if (data->end_pair != data->first_pair) sort_pairs(&h->pairs[data->first_pair], data->end_pair - data->first_pair);
  return 0;
}

/* The next value of the map on top, after its key's hash is combined. A hash that several keys have counts once, and
 * their values are left out: their order is not determined. */
static fh_walk_step next_value(const hasher *h, frame_data *data, TVMFFIAny *child) {
  while (data->next_pair < data->end_pair) {
    size_t i = data->next_pair, end = i + 1;
    uint64_t key_hash = h->pairs[i].key_hash;
    while (end < data->end_pair && h->pairs[end].key_hash == key_hash) ++end;
    data->next_pair = end;
    data->hash = fh_span_hash_combine(data->hash, key_hash);
    if (end > i + 1) continue;
    *child = h->pairs[i].value;
    return FH_WALK_CHILD;
  }
  return FH_WALK_END;
}

/* ---- Objects ---- */

/* Converts *hash from the hash of the contents to the hash of the object. A definition and a DAG node get the next
 * number; a variable that is not defined here only has its address. An object that may occur again goes into the
 * memo. */
static int finish_object(hasher *h, TVMFFIObject *obj, const frame_data *data, uint64_t *hash) {
  if (data->kind == kTVMFFISEqHashKindFreeVar) {
    *hash = data->region != kTVMFFIDefRegionKindNone ? fh_span_hash_combine(*hash, h->n_free_vars++)
                                                     : (uint64_t)(uintptr_t)obj;
  } else if (data->kind == kTVMFFISEqHashKindDAGNode) {
    *hash = fh_span_hash_combine(*hash, h->n_dag_nodes++);
  }
  return data->is_kept ? fh_memo_put(&h->memo, obj, NULL, *hash) : 0;
}

static int hash_value(hasher *h, const TVMFFIAny *value, int32_t region, bool is_shared, uint64_t *out);

/* fn_hash(value, hash, region): returns `hash` combined with the hash of the value. */
FH_CODE(call_back) {
  hasher *h = (hasher *)self;
  int64_t hash;
  int32_t region;
  uint64_t hash_of_value;
  if (fh_function_arg_int(CALLBACK_NAME, args, 1, &hash) != 0) return -1;
  if (fh_structural_arg_region(CALLBACK_NAME, args, 2, h->hook_region, &region) != 0) return -1;
  if (hash_value(h, &args[0], region, 1, &hash_of_value) != 0) return -1; /* the hook may pass it again */
  *result = fh_any_int((int64_t)fh_span_hash_combine((uint64_t)hash, hash_of_value));
  return 0;
}

/* __s_hash__(object, hash so far, fn_hash) */
static int hash_by_hook(hasher *h, TVMFFIObject *hook, TVMFFIObject *obj, int32_t region, uint64_t *hash) {
  TVMFFIAny result, so_far = fh_any_int((int64_t)*hash);
  int32_t outer_region = h->hook_region;
  h->hook_region = region;
  int rc = fh_hook_call_value(&h->walk, hook, obj, &so_far, call_back, 3, h, &result);
  h->hook_region = outer_region;
  if (rc != 0) return -1;
  if (result.type_index == kTVMFFIInt) {
    *hash = result.v_uint64;
    return 0;
  }
  fh_hook_raise_result(FH_ATTR_S_HASH, obj, "int", &result);
  fh_any_drop(&result);
  return -1;
}

/* ---- The loop ---- */

/* Opens the frame of a value that is not a leaf. For a container the number of items or pairs is combined first. */
static int open_frame(hasher *h, const TVMFFIAny *value, const frame_data *initial) {
  if (fh_walk_push(&h->walk, value) != 0) return -1;
  fh_walk_frame *f = fh_walk_top(&h->walk);
  frame_data *data = (frame_data *)fh_walk_data(f);
  *data = *initial;
  data->n_own = fh_walk_gives_copies(f) ? 2 : 1;
  if (f->shape == FH_WALK_FIELDS) return 0;
  /* The contents of a shared container can occur again with it, if the container cannot be kept. */
  if (data->is_kept) data->n_own = 0;
  bool is_map = f->shape == FH_WALK_PAIRS;
  data->hash = fh_span_hash_combine(data->hash, (uint64_t)(is_map ? f->n_children / 2 : f->n_children));
  return is_map ? take_pairs(h) : 0;
}

/* The hash of an Array that contains only leaves, which needs no frame; for any other Array, opens the frame after its
 * first leaves. */
static int start_array(hasher *h, const TVMFFIAny *value, const frame_data *initial, uint64_t *out) {
  const fh_seq_object *array = (const fh_seq_object *)(const void *)value->v_obj;
  const TVMFFIAny *items = fh_seq_items(array);
  int64_t n = fh_seq_size(array), i = 0;
  uint64_t hash = fh_span_hash_combine(initial->hash, (uint64_t)n), hash_of_item = 0;
  int is_leaf = 1;
  while (i < n && (is_leaf = hash_leaf(h, &items[i], &hash_of_item)) == 1) {
    hash = fh_span_hash_combine(hash, hash_of_item);
    ++i;
  }
  *out = hash;
  if (is_leaf != 0) return is_leaf;
  if (open_frame(h, value, initial) != 0) return -1;
  ((frame_data *)fh_walk_data(fh_walk_top(&h->walk)))->hash = hash;
  fh_walk_take(&h->walk, i);
  return 0;
}

/* Starts hashing a value: 1 with its hash, 0 if its frame is open, -1. Containers have no structural kind. */
static int start_value(hasher *h, const TVMFFIAny *value, int32_t region, bool is_shared, uint64_t *out) {
  int is_leaf = hash_leaf(h, value, out);
  if (is_leaf != 0) return is_leaf;
  TVMFFIObject *obj = value->v_obj;
  frame_data data = {
      .hash = type_hash(value->type_index), .region = region, .inner_region = region, .is_kept = (int16_t)is_shared};
  const uint64_t *known = is_shared ? fh_memo_find(&h->memo, obj, NULL) : NULL;
  if (known != NULL) {
    *out = *known;
    return 1;
  }
  if (value->type_index == kTVMFFIArray) return start_array(h, value, &data, out);
  if (fh_seq_is(value) || fh_hashmap_is(value)) return open_frame(h, value, &data);
  if (fh_structural_kind(obj, &data.kind) != 0) return -1;
  data.inner_region = fh_structural_inner_region(region, data.kind);
  TVMFFIObject *hook;
  if (fh_hook_find(FH_ATTR_S_HASH, value->type_index, &hook) != 0) return -1;
  if (hook == NULL) return open_frame(h, value, &data);
  *out = data.hash;
  if (hash_by_hook(h, hook, obj, data.inner_region, out) != 0) return -1;
  return finish_object(h, obj, &data, out) == 0 ? 1 : -1;
}

/* Hashes the next leaves in the sequence on top, without a step of the walk for each. */
static int take_leaves(hasher *h) {
  frame_data *data = (frame_data *)fh_walk_data(fh_walk_top(&h->walk));
  int64_t n, i = 0;
  const TVMFFIAny *items = fh_walk_rest(&h->walk, &n);
  uint64_t hash = data->hash, hash_of_item = 0;
  int is_leaf = 1;
  while (i < n && (is_leaf = hash_leaf(h, &items[i], &hash_of_item)) == 1) {
    hash = fh_span_hash_combine(hash, hash_of_item);
    ++i;
  }
  data->hash = hash;
  fh_walk_take(&h->walk, i);
  return is_leaf < 0 ? -1 : 0;
}

/* The next child of the frame on top, and its region. */
static fh_walk_step next_child(hasher *h, TVMFFIAny *child, int32_t *region) {
  fh_walk_frame *f = fh_walk_top(&h->walk);
  frame_data *data = (frame_data *)fh_walk_data(f);
  *region = data->inner_region;
  if (f->shape == FH_WALK_PAIRS) return next_value(h, data, child);
  if (f->shape == FH_WALK_ITEMS) return take_leaves(h) == 0 ? fh_walk_next(&h->walk, child) : FH_WALK_ERROR;
  fh_walk_step step = fh_walk_next(&h->walk, child);
  if (step == FH_WALK_CHILD) {
    *region = fh_structural_field_region(*region, fh_walk_field(fh_walk_top(&h->walk))->flags);
  }
  return step;
}

/* Closes the frame on top. */
static int close_frame(hasher *h, uint64_t *out) {
  fh_walk_frame *f = fh_walk_top(&h->walk);
  frame_data *data = (frame_data *)fh_walk_data(f);
  *out = data->hash;
  if (f->shape == FH_WALK_PAIRS) h->n_pairs = data->first_pair;
  if (f->shape == FH_WALK_FIELDS) {
    if (finish_object(h, f->obj, data, out) != 0) return -1;
  } else if (data->is_kept && fh_memo_put(&h->memo, f->obj, NULL, *out) != 0) {
    return -1;
  }
  fh_walk_pop(&h->walk);
  return 0;
}

/* Continues until only `base` frames are open. A complete hash is combined into the frame below; the hash of the last
 * frame above `base` is the result, *out. */
static int hash_open(hasher *h, size_t base, uint64_t *out) {
  while (fh_walk_depth(&h->walk) > base) {
    TVMFFIAny child;
    int32_t region;
    uint64_t hash;
    /* Before the step, in which a getter may move the frame. */
    uint32_t n_own = (uint32_t)((const frame_data *)fh_walk_data(fh_walk_top(&h->walk)))->n_own;
    fh_walk_step step = next_child(h, &child, &region);
    if (step == FH_WALK_ERROR) return -1;
    if (step == FH_WALK_END) {
      if (close_frame(h, &hash) != 0) return -1;
    } else {
      bool is_shared = fh_any_is_object(&child) && fh_object_use_count(child.v_obj) > n_own;
      int is_done = start_value(h, &child, region, is_shared, &hash);
      if (is_done < 0) return -1;
      if (is_done == 0) continue;
    }
    *out = hash;
    if (fh_walk_depth(&h->walk) == base) break;
    frame_data *data = (frame_data *)fh_walk_data(fh_walk_top(&h->walk));
    data->hash = fh_span_hash_combine(data->hash, hash);
  }
  return 0;
}

/* The hash of a value, also for fn_hash. is_shared: whether it may occur again. On -1 the walk and the pairs are
 * restored, because a hook may continue after an error of its callback. */
static int hash_value(hasher *h, const TVMFFIAny *value, int32_t region, bool is_shared, uint64_t *out) {
  size_t base = fh_walk_depth(&h->walk), n_pairs = h->n_pairs;
  int is_done = start_value(h, value, region, is_shared, out);
  if (is_done > 0) return 0;
  if (is_done == 0 && hash_open(h, base, out) == 0) return 0;
  fh_walk_unwind(&h->walk, base);
  h->n_pairs = n_pairs;
  return -1;
}

int fh_structural_hash(const TVMFFIAny *value, int map_free_vars, int skip_tensors, uint64_t *out) {
  hasher h;
  memset(&h, 0, sizeof(h));
  fh_walk_init(&h.walk, FH_WALK_PLAIN, kTVMFFIFieldFlagBitMaskSEqHashIgnore, sizeof(frame_data));
  h.memo.retains = 1;
  h.skip_tensors = skip_tensors;
  int32_t region = map_free_vars ? kTVMFFIDefRegionKindPattern : kTVMFFIDefRegionKindNone;
  int rc = hash_value(&h, value, region, 0, out);
  fh_walk_free(&h.walk);
  fh_memo_free(&h.memo);
  fh_mem_free(h.pairs);
  return rc;
}
