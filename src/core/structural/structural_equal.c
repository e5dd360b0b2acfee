/* structural_equal.c - structural equality, and the first place where two values differ.
 *
 * One walk over pairs, up to the first difference. Free variables and DAG nodes become counterparts once their contents
 * are found equal: two memos store that as a bijection between the left and the right side. Runs of leaves in sequences
 * are compared without a step of the walk for each leaf. The path to a difference is collected while the frames are
 * closed. */
#include "operations.h"

#include <math.h>

#include "core/container/hashmap.h"
#include "core/container/seq.h"
#include "core/fields/access_path.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/str.h"
#include "core/object/type.h"
#include "core/walk/nested.h"
#include "structural.h"

#define CALLBACK_NAME "__s_equal__.fn_equal"

typedef struct {
  fh_walk walk; /* a walk of pairs */
  fh_memo right_of, left_of; /* bound objects to their counterparts; both retain, so the words are valid pointers */
  fh_memo equal; /* equal pairs of shared objects and containers; retains */
  /* the place of the difference, from the inside outwards; NULL if the caller needs no path */
  fh_structural_path *path;
  int32_t hook_region; /* region of the contents of the objects whose hook is running */
  int skip_tensors;
} comparer;

/* The data of a frame, in addition to its children. */
typedef struct {
  int32_t kind;
  int32_t region, inner_region;
  int8_t is_shared; /* one of the two may occur again */
  int8_t is_kept;   /* if they are equal now, they always will be, and are remembered: for shared ones only */
  int8_t n_own, n_of_other_own; /* references of a child, on each side, that do not make it shared */
  TVMFFIAny right_key; /* for maps: the key of the lookup on the right side, borrowed */
} frame_data;

/* OPENED: the frame of two objects is on top now, or (for a comparison without the walk) their contents decide. */
typedef enum { DIFFERENT = 0, EQUAL = 1, OPENED = 2, FAILED = -1 } verdict;

static verdict verdict_of(bool is_equal) { return is_equal ? EQUAL : DIFFERENT; }

/* ---- Leaves ---- */

static bool is_text(const TVMFFIAny *value) {
  return value->type_index == kTVMFFIStr || value->type_index == kTVMFFISmallStr;
}

/* Compares strings or bytes; a cell and an object may have the same content. */
static bool same_content(const TVMFFIAny *a, const TVMFFIAny *b) {
  TVMFFIByteArray content_a, content_b;
  if (is_text(a) != is_text(b)) return false;
  if (fh_str_content(a, &content_a)) return fh_str_content(b, &content_b) && fh_span_same(content_a, content_b);
  if (fh_bytes_content(a, &content_a)) return fh_bytes_content(b, &content_b) && fh_span_same(content_a, content_b);
  return false;
}

/* Compares type and bits, so 0.0 and -0.0 differ; but all NaNs are equal. */
static int same_plain(const TVMFFIAny *a, const TVMFFIAny *b) {
  if (a->type_index == kTVMFFIFloat && isnan(a->v_float64)) return isnan(b->v_float64);
  return fh_any_same(a, b);
}

static bool same_shape(const TVMFFIObject *a, const TVMFFIObject *b) {
  const TVMFFIShapeCell *shape_a = TVMFFIShapeGetCellPtr((void *)(uintptr_t)a);
  const TVMFFIShapeCell *shape_b = TVMFFIShapeGetCellPtr((void *)(uintptr_t)b);
  if (shape_a->size != shape_b->size) return false;
  return shape_a->size == 0 || memcmp(shape_a->data, shape_b->data, shape_a->size * sizeof(*shape_a->data)) == 0;
}

static bool same_type_of_tensor(const DLTensor *a, const DLTensor *b) {
  if (a->ndim != b->ndim) return false;
  for (int32_t i = 0; i < a->ndim; ++i) {
    if (a->shape[i] != b->shape[i]) return false;
  }
  return a->dtype.code == b->dtype.code && a->dtype.bits == b->dtype.bits && a->dtype.lanes == b->dtype.lanes;
}

/* Compares shapes and data types, then the bytes. FAILED for tensors whose bytes cannot be read here. */
static verdict compare_tensors(const comparer *c, TVMFFIObject *a, TVMFFIObject *b) {
  const DLTensor *tensor_a = TVMFFITensorGetDLTensorPtr(a), *tensor_b = TVMFFITensorGetDLTensorPtr(b);
  const char *data_a, *data_b;
  size_t n_bytes, n_bytes_b;
  if (a == b) return EQUAL;
  if (!same_type_of_tensor(tensor_a, tensor_b)) return DIFFERENT;
  if (c->skip_tensors) return EQUAL;
  if (fh_structural_tensor_bytes(tensor_a, &data_a, &n_bytes) != 0) return FAILED;
  if (fh_structural_tensor_bytes(tensor_b, &data_b, &n_bytes_b) != 0) return FAILED;
  return verdict_of(n_bytes == 0 || memcmp(data_a, data_b, n_bytes) == 0);
}

/* OPENED: they are not leaves, and their contents decide. */
static verdict compare_leaves(const comparer *c, const TVMFFIAny *a, const TVMFFIAny *b) {
  if (a->type_index != b->type_index) return verdict_of(same_content(a, b));
  if (!fh_any_is_object(a)) return verdict_of(same_plain(a, b));
  switch (a->type_index) {
  case kTVMFFIStr:
  case kTVMFFIBytes: return verdict_of(same_content(a, b));
  case kTVMFFIBigInt:
    return verdict_of(fh_span_same(TVMFFIBigIntGetContentByteArray(a), TVMFFIBigIntGetContentByteArray(b)));
  case kTVMFFIShape: return verdict_of(same_shape(a->v_obj, b->v_obj));
  case kTVMFFITensor: return compare_tensors(c, a->v_obj, b->v_obj);
  default: return OPENED;
  }
}

/* ---- Counterparts ---- */

static TVMFFIObject *counterpart(const fh_memo *memo, const TVMFFIObject *obj) {
  const uint64_t *found = fh_memo_find(memo, obj, NULL);
  return found != NULL ? (TVMFFIObject *)(uintptr_t)*found : NULL;
}

/* From now on `a` and `b` are equal only to each other. */
static int bind_objects(comparer *c, TVMFFIObject *a, TVMFFIObject *b) {
  if (fh_memo_put(&c->right_of, a, NULL, (uint64_t)(uintptr_t)b) != 0) return -1;
  return fh_memo_put(&c->left_of, b, NULL, (uint64_t)(uintptr_t)a);
}

/* A key translated to the other side. */
static TVMFFIAny translate(const fh_memo *memo, const TVMFFIAny *key) {
  TVMFFIObject *other = fh_any_is_object(key) ? counterpart(memo, key->v_obj) : NULL;
  return other != NULL ? fh_any_object(other) : *key;
}

static bool is_bound_kind(int32_t kind) {
  return kind == kTVMFFISEqHashKindFreeVar || kind == kTVMFFISEqHashKindDAGNode;
}

/* Compares the identities of two objects. OPENED: their contents decide. */
static verdict compare_identity(const comparer *c, int32_t kind, const TVMFFIObject *a, const TVMFFIObject *b) {
  switch (kind) {
  case kTVMFFISEqHashKindUniqueInstance: return verdict_of(a == b);
  case kTVMFFISEqHashKindConstTreeNode: return a == b ? EQUAL : OPENED;
  case kTVMFFISEqHashKindDAGNode:
  /* Bound objects are equal only to each other; the contents decide if neither side is bound. */
  case kTVMFFISEqHashKindFreeVar: {
    const TVMFFIObject *bound = counterpart(&c->right_of, a);
    if (bound != NULL) return verdict_of(bound == b);
    return counterpart(&c->left_of, b) != NULL ? DIFFERENT : OPENED;
  }
  default: return OPENED;
  }
}

/* The contents are equal: decides whether the objects, or containers, are, and remembers that. A free variable outside
 * of definitions equals only itself. Objects that cannot occur again need not be remembered. */
static verdict finish_objects(comparer *c, TVMFFIObject *a, TVMFFIObject *b, const frame_data *data) {
  bool is_free_var = data->kind == kTVMFFISEqHashKindFreeVar;
  if (is_free_var && a != b && data->region == kTVMFFIDefRegionKindNone) return DIFFERENT;
  if (!data->is_shared) return EQUAL;
  if (is_bound_kind(data->kind)) return bind_objects(c, a, b) == 0 ? EQUAL : FAILED;
  return !data->is_kept || fh_memo_put(&c->equal, a, b, 1) == 0 ? EQUAL : FAILED;
}

/* ---- Hooks ---- */

static verdict compare_values(comparer *c, const TVMFFIAny *a, const TVMFFIAny *b, int32_t region, bool is_shared);

/* fn_equal(a, b, region, name of their field) */
FH_CODE(call_back) {
  comparer *c = (comparer *)self;
  TVMFFIByteArray name;
  int32_t region;
  if (fh_structural_arg_region(CALLBACK_NAME, args, 2, c->hook_region, &region) != 0) return -1;
  verdict outcome = compare_values(c, &args[0], &args[1], region, 1); /* the hook may pass them again */
  if (outcome == FAILED) return -1;
  /* The hook knows the role of the values in its object: the name becomes a step of the path. */
  if (outcome == DIFFERENT && c->path != NULL) {
    if (fh_function_arg_str(CALLBACK_NAME, args, 3, &name) != 0) return -1;
    if (fh_structural_path_add_same(c->path, FH_ACCESS_ATTR, &args[3]) != 0) return -1;
  }
  *result = fh_any_bool(outcome == EQUAL);
  return 0;
}

/* __s_equal__(a, b, fn_equal) */
static verdict compare_by_hook(comparer *c, TVMFFIObject *hook, TVMFFIObject *a, TVMFFIObject *b, int32_t region) {
  TVMFFIAny result;
  int32_t outer_region = c->hook_region;
  size_t n_steps = c->path != NULL ? c->path->n_steps : 0;
  /* The region of an outer hook is restored afterwards: hooks can be nested. */
  c->hook_region = region;
  int rc = fh_hook_call(&c->walk, hook, a, b, call_back, 4, c, &result);
  c->hook_region = outer_region;
  if (rc != 0) return FAILED;
  if (result.type_index == kTVMFFIBool || result.type_index == kTVMFFIInt) {
    bool is_equal = result.v_int64 != 0;
    /* The hook treats the objects as equal in spite of a difference that its callback found. */
    if (is_equal && c->path != NULL) fh_structural_path_cut(c->path, n_steps);
    return verdict_of(is_equal);
  }
  fh_hook_raise_result(FH_ATTR_S_EQUAL, a, "bool", &result);
  fh_any_drop(&result);
  return FAILED;
}

/* ---- The loop ---- */

/* Opens a pair. Without a path, different sizes decide at once; with a path, the walk continues to the first
 * difference. */
static verdict open_frame(comparer *c, const TVMFFIAny *a, const TVMFFIAny *b, const frame_data *data) {
  if (fh_walk_push_pair(&c->walk, a, b) != 0) return FAILED;
  fh_walk_frame *f = fh_walk_top(&c->walk);
  frame_data *own = (frame_data *)fh_walk_data(f);
  *own = *data;
  if (!data->is_shared) { /* else all their children are shared: they can occur again with them */
    own->n_own = fh_walk_gives_copies(f) ? 2 : 1;
    own->n_of_other_own = fh_walk_other_gives_copies(f) ? 2 : 1;
  }
  if (c->path != NULL || f->n_children == f->n_of_other || f->shape == FH_WALK_FIELDS) return OPENED;
  fh_walk_pop(&c->walk); /* of different length, and the caller needs no path */
  return DIFFERENT;
}

/* Starts the comparison of two values. OPENED: their frame is on top. Cheap checks come first: leaves, identities, then
 * the hook or the contents. */
static verdict start_values(comparer *c, const TVMFFIAny *a, const TVMFFIAny *b, int32_t region, bool is_shared) {
  verdict outcome = compare_leaves(c, a, b);
  if (outcome != OPENED) return outcome;
  frame_data data;
  memset(&data, 0, sizeof(data));
  data.region = data.inner_region = region;
  data.is_shared = data.is_kept = (int8_t)is_shared;
  if (is_shared && fh_memo_find(&c->equal, a->v_obj, b->v_obj) != NULL) return EQUAL;
  if (fh_seq_is(a) || fh_hashmap_is(a)) return open_frame(c, a, b, &data);
  if (fh_structural_kind(a->v_obj, &data.kind) != 0) return FAILED;
  outcome = compare_identity(c, data.kind, a->v_obj, b->v_obj);
  if (outcome != OPENED) return outcome;
  data.inner_region = fh_structural_inner_region(region, data.kind);
  TVMFFIObject *hook;
  if (fh_hook_find(FH_ATTR_S_EQUAL, a->type_index, &hook) != 0) return FAILED;
  if (hook == NULL) return open_frame(c, a, b, &data);
  outcome = compare_by_hook(c, hook, a->v_obj, b->v_obj, data.inner_region);
  return outcome == EQUAL ? finish_objects(c, a->v_obj, b->v_obj, &data) : outcome;
}

/* A key of the map on top is its own counterpart and may get another one at another visit, so the enclosing objects are
 * not remembered as equal. All frames around a frame that is not kept are not kept either; hooks have frames without
 * data. */
static void keep_none(comparer *c) {
  for (size_t i = fh_walk_depth(&c->walk); i-- > 0;) {
    fh_walk_frame *f = fh_walk_at(&c->walk, i);
    frame_data *data = (frame_data *)fh_walk_data(f);
    if (!data->is_kept && f->shape != FH_WALK_NOTHING) return;
    data->is_kept = 0;
  }
}

/* The next value of a map, with the value of the translated key on the right side. A key that is a bound variable or
 * node is looked up as its counterpart, any other key unchanged. */
static fh_walk_step next_value(comparer *c, TVMFFIAny *a, TVMFFIAny *b) {
  TVMFFIAny key;
  fh_walk_step step = fh_walk_next_key(&c->walk, &key, a);
  if (step != FH_WALK_CHILD) return step;
  TVMFFIAny right_key = translate(&c->right_of, &key);
  if (fh_any_is_object(&key) && key.type_index != kTVMFFIStr && right_key.v_obj == key.v_obj) keep_none(c);
  ((frame_data *)fh_walk_data(fh_walk_top(&c->walk)))->right_key = right_key;
  step = fh_walk_lookup(&c->walk, &right_key, b);
  return step == FH_WALK_END ? FH_WALK_ONLY_LEFT : step;
}

/* Skips equal leaves that follow in two sequences, up to the first pair that differs or that are not leaves. */
static int pass_leaves(comparer *c) {
  int64_t n, n_other, i = 0;
  const TVMFFIAny *items = fh_walk_rest(&c->walk, &n), *others = fh_walk_rest_of_other(&c->walk, &n_other);
  verdict outcome = EQUAL;
  if (n_other < n) n = n_other;
  while (i < n && (outcome = compare_leaves(c, &items[i], &others[i])) == EQUAL) ++i;
  fh_walk_take(&c->walk, i);
  return outcome == FAILED ? -1 : 0;
}

/* The next children of the frame on top, their region, and whether one of them may occur again: by itself, or with the
 * frame's objects. A getter may move the frame. */
static fh_walk_step next_children(comparer *c, TVMFFIAny *a, TVMFFIAny *b, int32_t *region, bool *is_shared) {
  const fh_walk_frame *f = fh_walk_top(&c->walk);
  if (f->shape == FH_WALK_ITEMS && pass_leaves(c) != 0) return FH_WALK_ERROR;
  fh_walk_step step = f->shape == FH_WALK_PAIRS ? next_value(c, a, b) : fh_walk_next_pair(&c->walk, a, b);
  if (step != FH_WALK_CHILD) return step;
  fh_walk_frame *top = fh_walk_top(&c->walk);
  const frame_data *data = (const frame_data *)fh_walk_data(top);
  *region = data->inner_region;
  if (top->shape == FH_WALK_FIELDS) *region = fh_structural_field_region(*region, fh_walk_field(top)->flags);
  *is_shared = (fh_any_is_object(a) && fh_object_use_count(a->v_obj) > (uint32_t)data->n_own) ||
               (fh_any_is_object(b) && fh_object_use_count(b->v_obj) > (uint32_t)data->n_of_other_own);
  return step;
}

/* ---- The place of the difference ---- */

/* Adds the step from the frame to the children that it returned last. */
static int add_label(comparer *c, fh_walk_frame *f) {
  fh_walk_label label = fh_walk_label_of(&c->walk, f);
  TVMFFIAny key = fh_any_int(label.index);
  switch (label.place) {
  case FH_WALK_AT_ITEM: return fh_structural_path_add_same(c->path, FH_ACCESS_ARRAY_ITEM, &key);
  case FH_WALK_AT_FIELD: {
    if (fh_str_from_bytes(label.field->name, &key) != 0) return -1;
    int rc = fh_structural_path_add_same(c->path, FH_ACCESS_ATTR, &key);
    fh_any_drop(&key);
    return rc;
  }
  default: /* a value of a map: keys are looked up and never compared as children */
    return fh_structural_path_add(c->path, FH_ACCESS_MAP_ITEM, &label.key, FH_ACCESS_MAP_ITEM,
                                  &((frame_data *)fh_walk_data(f))->right_key);
  }
}

/* Adds the steps from frame `base` to the place of the frame on top, and pops to `base`. */
static int add_labels(comparer *c, size_t base) {
  while (fh_walk_depth(&c->walk) > base) {
    if (c->path != NULL && add_label(c, fh_walk_top(&c->walk)) != 0) return -1;
    fh_walk_pop(&c->walk);
  }
  return 0;
}

/* One side of a sequence or map on top has more than the other; pops the frame. The frame's step says on which side an
 * item or key is missing, so it replaces the label that add_labels would add for this frame. */
static int add_missing(comparer *c, fh_walk_step step) {
  fh_walk_frame *f = fh_walk_top(&c->walk);
  fh_walk_label label = fh_walk_label_of(&c->walk, f);
  TVMFFIAny key = fh_any_int(label.index);
  int rc = 0;
  if (c->path != NULL && f->shape == FH_WALK_PAIRS) {
    rc = fh_structural_path_add(c->path, FH_ACCESS_MAP_ITEM, &label.key, FH_ACCESS_MAP_ITEM_MISSING,
                                &((frame_data *)fh_walk_data(f))->right_key);
  } else if (c->path != NULL && step == FH_WALK_ONLY_LEFT) {
    rc = fh_structural_path_add(c->path, FH_ACCESS_ARRAY_ITEM, &key, FH_ACCESS_ARRAY_ITEM_MISSING, &key);
  } else if (c->path != NULL) {
    rc = fh_structural_path_add(c->path, FH_ACCESS_ARRAY_ITEM_MISSING, &key, FH_ACCESS_ARRAY_ITEM, &key);
  }
  if (rc == 0) fh_walk_pop(&c->walk);
  return rc;
}

/* The right map has all keys of the left one and more: adds the step to its first extra key. Pops the frame on top. */
static int add_key_of_right(comparer *c) {
  fh_walk_frame *f = fh_walk_top(&c->walk);
  TVMFFIAny left = fh_any_object(f->obj), right = fh_any_object(f->other), key, value, left_key;
  fh_walk_step step;
  if (fh_walk_push_pair(&c->walk, &right, &left) != 0) return -1; /* now each key of the right map is looked up */
  while ((step = fh_walk_next_key(&c->walk, &key, &value)) == FH_WALK_CHILD) {
    left_key = translate(&c->left_of, &key);
    step = fh_walk_lookup(&c->walk, &left_key, &value);
    if (step == FH_WALK_CHILD) continue;
    if (step == FH_WALK_ERROR) break;
    if (fh_structural_path_add(c->path, FH_ACCESS_MAP_ITEM_MISSING, &left_key, FH_ACCESS_MAP_ITEM, &key) != 0)
      return -1;
    break;
  }
  if (step == FH_WALK_ERROR) return -1;
  fh_walk_pop(&c->walk);
  fh_walk_pop(&c->walk);
  return 0;
}

/* Closes the frame on top after its children: decides for its objects. */
static verdict close_frame(comparer *c) {
  fh_walk_frame *f = fh_walk_top(&c->walk);
  if (f->shape == FH_WALK_PAIRS && f->n_children != f->n_of_other) {
    /* only with a path: without one open_frame has decided already */
    return add_key_of_right(c) == 0 ? DIFFERENT : FAILED;
  }
  frame_data data = *(const frame_data *)fh_walk_data(f);
  bool is_done = f->shape != FH_WALK_FIELDS && !data.is_kept;
  verdict outcome = is_done ? EQUAL : finish_objects(c, f->obj, f->other, &data);
  fh_walk_pop(&c->walk);
  return outcome;
}

/* Handles the next children of the frame on top, or its end. */
static verdict step_once(comparer *c) {
  TVMFFIAny a, b;
  int32_t region;
  bool is_shared;
  fh_walk_step step = next_children(c, &a, &b, &region, &is_shared);
  switch (step) {
  case FH_WALK_CHILD: return start_values(c, &a, &b, region, is_shared);
  case FH_WALK_END: return close_frame(c);
  case FH_WALK_ERROR: return FAILED;
  default: return add_missing(c, step) == 0 ? DIFFERENT : FAILED;
  }
}

/* is_shared: whether one of the two may occur again. */
static verdict compare_values(comparer *c, const TVMFFIAny *a, const TVMFFIAny *b, int32_t region, bool is_shared) {
  size_t base = fh_walk_depth(&c->walk);
  verdict outcome = start_values(c, a, b, region, is_shared);
  while (outcome != FAILED && outcome != DIFFERENT && fh_walk_depth(&c->walk) > base) outcome = step_once(c);
  if (outcome == DIFFERENT && add_labels(c, base) != 0) outcome = FAILED;
  fh_walk_unwind(&c->walk, base);
  return outcome;
}

/* The caller must hold references to the values. */
static verdict compare(const TVMFFIAny *a, const TVMFFIAny *b, int map_free_vars, int skip_tensors,
                       fh_structural_path *path) {
  comparer c;
  memset(&c, 0, sizeof(c));
  fh_walk_init(&c.walk, FH_WALK_PLAIN, kTVMFFIFieldFlagBitMaskSEqHashIgnore, sizeof(frame_data));
  c.right_of.retains = c.left_of.retains = c.equal.retains = 1;
  c.path = path;
  c.skip_tensors = skip_tensors;
  int32_t region = map_free_vars ? kTVMFFIDefRegionKindPattern : kTVMFFIDefRegionKindNone;
  verdict outcome = compare_values(&c, a, b, region, 0);
  fh_walk_free(&c.walk);
  fh_memo_free(&c.right_of);
  fh_memo_free(&c.left_of);
  fh_memo_free(&c.equal);
  return outcome;
}

int fh_structural_equal(const TVMFFIAny *a, const TVMFFIAny *b, int map_free_vars, int skip_tensors, int *out) {
  verdict outcome = compare(a, b, map_free_vars, skip_tensors, NULL);
  *out = outcome == EQUAL;
  return outcome == FAILED ? -1 : 0;
}

int fh_structural_mismatch(const TVMFFIAny *a, const TVMFFIAny *b, int map_free_vars, int skip_tensors,
                           TVMFFIAny *out) {
  fh_structural_path path = {NULL, 0, 0};
  verdict outcome = compare(a, b, map_free_vars, skip_tensors, &path);
  *out = fh_any_none();
  int rc = outcome == FAILED ? -1 : outcome == EQUAL ? 0 : fh_structural_path_finish(&path, out);
  fh_structural_path_free(&path);
  return rc;
}
