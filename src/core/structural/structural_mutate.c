/* structural_mutate.c - this library's mutator: it calls callbacks by type and stores its position on a walk.
 *
 * A task is a value to mutate. Starting it calls its callback and its hook, or opens a frame for its contents. The
 * changes of the children of all open frames are in one list. Closing a frame applies its part of the list, in place or
 * to a copy. A result is Unchanged or an owned replacement.
 *
 * A value may change in place if only the walk and the container around the value refer to it, and if that container
 * may change in place, too. References are counted when a value is started, and again when its changes are applied,
 * because callbacks may keep references. */
#include "operations.h"

#include "core/object/any_own.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/object_new.h"
#include "structural.h"
#include "structural_change.h"
#include "visit_context.h"

#define MUTATOR "ffi.StructuralMutator"

/* Foreign code may keep the mutator and use it again after the mutation. */
typedef struct {
  fh_mutator_object base;
  fh_structural_use use;
  fh_walk walk;
  fh_structural_callbacks callbacks;
  fh_mutate_order order;
  fh_structural_changes changes; /* of all open frames; each frame's changes follow those of the frame below */
  fh_memo remap; /* objects with an identity to the position of their replacement in `remapped`; retains */
  fh_seq_object *remapped; /* List of their replacements */
} our_mutator;

/* The data of a frame, in addition to its children. */
typedef struct {
  size_t first_change;
  TVMFFIAny held;  /* owned: the replacement by a callback, whose contents this frame reads; or Unchanged */
  TVMFFIAny child; /* borrowed: the child that is being mutated */
  fh_structural_place place; /* place of the child */
  int32_t kind;
  int32_t region, inner_region;
  int32_t is_inplace;
  int32_t is_bare; /* only the contents are mutated: no callback for the object itself */
  /* number of references to the object from the walk and its container; any others belong to other owners */
  int32_t n_own;
} frame_data;

/* A value, and how to mutate it. */
typedef struct {
  TVMFFIAny value; /* borrowed, or `held` */
  TVMFFIAny held;  /* owned, as in frame_data */
  int32_t region;
  int32_t may_inplace; /* may be changed in place if there are no other references to it */
  int32_t is_bare;
  int32_t n_own;
} task;

/* The outcome of a task: FAILED with an error pending, DONE with a result, or OPENED: its frame is on top. */
typedef enum { FAILED = -1, DONE = 0, OPENED = 1 } verdict;

static frame_data *data_of(fh_walk_frame *f) { return (frame_data *)fh_walk_data(f); }
static frame_data *top_data(const our_mutator *m) { return data_of(fh_walk_top(&m->walk)); }

/* ---- Replacements of objects ---- */

static int check_identity(const TVMFFIAny *var) {
  if (fh_any_is_object(var)) return 0;
  return fh_error_raise(FH_TYPE_ERROR, "Variable-remap key must be an object-backed value");
}

/* The caller owns *out: None without a replacement. */
static int remap_get(const our_mutator *m, const TVMFFIAny *var, TVMFFIAny *out) {
  *out = fh_any_none();
  if (check_identity(var) != 0) return -1;
  const uint64_t *number = fh_memo_find(&m->remap, var->v_obj, NULL);
  if (number != NULL) fh_any_copy(&fh_seq_items(m->remapped)[*number], out);
  return 0;
}

/* Stores the replacement of an object, which may be Unchanged: then a DAG node is not mutated again. A memo entry only
 * has room for a number, so the owned value is in a List, and the memo has its position. */
static int remap_set(our_mutator *m, const TVMFFIAny *var, const TVMFFIAny *mapped) {
  TVMFFIAny owned;
  if (check_identity(var) != 0) return -1;
  if (m->remapped == NULL && (m->remapped = fh_seq_new_list(0)) == NULL) return -1;
  if (fh_any_own(mapped, &owned) != 0) return -1;
  const uint64_t *known = fh_memo_find(&m->remap, var->v_obj, NULL);
  if (known != NULL) {
    fh_seq_swap(m->remapped, (int64_t)*known, &owned);
    fh_any_drop(&owned);
    return 0;
  }
  if (fh_seq_push(m->remapped, owned) != 0) return -1;
  return fh_memo_put(&m->remap, var->v_obj, NULL, (uint64_t)(fh_seq_size(m->remapped) - 1));
}

/* ---- Callbacks ---- */

/* Calls the callback for a value: *out is its result; 0 without a callback; 1; -1. */
static int call_back(our_mutator *m, const TVMFFIAny *value, int32_t region, bool may_inplace, TVMFFIAny *out) {
  const fh_structural_entry *entry = fh_structural_callbacks_find(&m->callbacks, value->type_index);
  *out = fh_mutator_unchanged();
  if (entry == NULL) return 0;
  /* Called with (value, mutator[, may_inplace]) in the order OWNED, otherwise with (value[, region]). */
  bool is_owner = m->order == FH_MUTATE_OWNED;
  TVMFFIAny args[3] = {*value, is_owner ? fh_any_object(m) : fh_any_int(region), fh_any_int(may_inplace)};
  if (fh_walk_enter_hook(&m->walk) != 0) return -1;
  m->base.region = region;
  int rc = fh_function_call(entry->func, args, 1 + is_owner + entry->gets_more, out);
  fh_walk_leave_hook(&m->walk);
  if (rc == 0) rc = fh_mutator_take_result(out);
  if (rc != 0) fh_visit_context_note(value);
  return rc != 0 ? -1 : 1;
}

/* Calls the callback that comes after the contents. The argument of the callback is the mutated `value`, which is *out
 * on entry. *out becomes the result of the callback, and stays if that is Unchanged. */
static int call_back_after(our_mutator *m, const TVMFFIAny *value, int32_t region, TVMFFIAny *out) {
  TVMFFIAny made = *out, given;
  const TVMFFIAny *seen = made.type_index == kTVMFFIUnchanged ? value : &made;
  int rc = call_back(m, seen, region, 0, &given);
  if (rc >= 0 && given.type_index == kTVMFFIUnchanged) return 0;
  fh_any_drop(&made);
  *out = given;
  return rc < 0 ? -1 : 0;
}

/* ---- One value ---- */

/* Whether the value itself may change in place: all enclosing values may, and there are no references beyond its
 * n_own. */
static bool may_change(const task *t) {
  return t->may_inplace && fh_any_is_object(&t->value) && fh_object_is_own(t->value.v_obj, (uint32_t)t->n_own);
}

/* Pushes the contents on the walk, which borrows the value: from `held`, the frame below, or the caller of the mutator.
 * Steals `held` on OPENED. */
static verdict open_frame(our_mutator *m, const task *t, bool is_inplace, int32_t kind) {
  if (fh_walk_push(&m->walk, &t->value) != 0) return FAILED;
  frame_data *data = top_data(m);
  data->first_change = m->changes.n_items;
  data->held = t->held;
  data->kind = kind;
  data->region = t->region;
  data->inner_region = fh_structural_inner_region(t->region, kind);
  data->is_inplace = is_inplace;
  data->is_bare = t->is_bare;
  data->n_own = t->n_own;
  return OPENED;
}

/* Mutates an object without a hook. An existing replacement is the result. A variable that is not being defined stays.
 * Any other object is copied if a field changes, so its type must have a copy. */
static verdict descend_object(our_mutator *m, const task *t, TVMFFIAny *out) {
  int32_t kind = fh_structural_find_kind(t->value.type_index);
  if (kind == kTVMFFISEqHashKindFreeVar || kind == kTVMFFISEqHashKindDAGNode) {
    if (remap_get(m, &t->value, out) != 0) return FAILED;
    if (out->type_index != kTVMFFINone) return DONE;
    *out = fh_mutator_unchanged();
    if (kind == kTVMFFISEqHashKindFreeVar && t->region == kTVMFFIDefRegionKindNone) return DONE;
  }
  if (fh_mutator_check_copy(t->value.type_index) != 0) return FAILED;
  return open_frame(m, t, 0, kind);
}

/* The hook is foreign: it may call the mutator again, from the region of the value. */
static verdict descend_by_hook(our_mutator *m, const TVMFFIAny *hook, const task *t, TVMFFIAny *out) {
  if (fh_walk_enter_hook(&m->walk) != 0) return FAILED;
  m->base.region = t->region;
  int rc = fh_mutator_call_hook(hook, &m->base, &t->value, out);
  fh_walk_leave_hook(&m->walk);
  return rc != 0 ? FAILED : DONE;
}

/* Mutates the contents of the value: DONE with *out, or OPENED if they are on the walk now. */
static verdict descend(our_mutator *m, const task *t, bool is_inplace, TVMFFIAny *out) {
  int32_t type_index = t->value.type_index;
  /* A hook that changes in place is used only if that is allowed; other hooks make copies. */
  const TVMFFIAny *hook = is_inplace ? fh_reflect_attr(fh_reflect_column(FH_ATTR_S_INPLACE), type_index) : NULL;
  if (hook == NULL) hook = fh_reflect_attr(fh_reflect_column(FH_ATTR_S_MUTATE), type_index);
  verdict outcome = DONE;
  *out = fh_mutator_unchanged();
  if (hook == NULL) {
    if (fh_any_is_object(&t->value)) outcome = descend_object(m, t, out);
  } else if (fh_mutator_is_container_hook(hook)) {
    outcome = open_frame(m, t, is_inplace, kTVMFFISEqHashKindUnsupported);
  } else if (!fh_mutator_is_leaf_hook(hook)) {
    outcome = descend_by_hook(m, hook, t, out);
  }
  if (outcome == FAILED) fh_visit_context_note(&t->value);
  return outcome;
}

/* A callback may replace the value before its contents are read: the replacement goes to t->held. The new value may
 * change in place if the old one might and t->held has the only reference to it. */
static int call_back_before(our_mutator *m, task *t, bool *is_inplace) {
  TVMFFIAny given;
  int rc = call_back(m, &t->value, t->region, 0, &given);
  if (rc < 0) return -1;
  if (fh_mutator_keeps(&given, &t->value)) {
    fh_any_drop(&given);
    return 0;
  }
  t->held = t->value = given;
  *is_inplace = *is_inplace && fh_any_is_object(&given) && fh_object_is_own(given.v_obj, 1);
  t->n_own = 1;
  return 0;
}

/* Starts mutating a value: DONE with *out, or OPENED. In the order OWNED an existing callback does all the work; a
 * callback before the contents may replace the value; a callback after them is called here without a frame, or by
 * close_frame. */
static verdict start_task(our_mutator *m, task *t, TVMFFIAny *out) {
  bool is_inplace = may_change(t);
  TVMFFIAny original = t->value;
  if (m->order == FH_MUTATE_OWNED && !t->is_bare) {
    int rc = call_back(m, &t->value, t->region, is_inplace, out);
    if (rc != 0) return rc < 0 ? FAILED : DONE;
  }
  if (m->order == FH_MUTATE_MAP_PRE && !t->is_bare && call_back_before(m, t, &is_inplace) != 0) return FAILED;
  verdict outcome = descend(m, t, is_inplace, out);
  if (outcome == OPENED) return OPENED;
  if (outcome == DONE && out->type_index == kTVMFFIUnchanged) {
    *out = t->held; /* the contents did not change: the result is the replacement, if there is one */
  } else {
    fh_any_drop(&t->held);
  }
  if (outcome == DONE && m->order == FH_MUTATE_MAP_POST && !t->is_bare) {
    outcome = call_back_after(m, &original, t->region, out) == 0 ? DONE : FAILED;
  }
  return outcome;
}

/* ---- The walk ---- */

/* Makes the result for the object of the frame on top from its changes. Variables and DAG nodes get an entry in the
 * memo, so that they are mutated once. */
static int make_result(our_mutator *m, TVMFFIAny *out) {
  fh_walk_frame *f = fh_walk_top(&m->walk);
  const frame_data *data = data_of(f);
  TVMFFIAny var = fh_any_object(f->obj);
  *out = fh_mutator_unchanged();
  if (m->changes.n_items != data->first_change) {
    bool is_inplace = data->is_inplace && fh_object_is_own(f->obj, (uint32_t)data->n_own);
    if (fh_structural_changes_apply(&m->changes, data->first_change, &m->walk, is_inplace, out) != 0) return -1;
    /* Copying and setters are foreign code, which may move the frames. */
    data = top_data(m);
  }
  if (!fh_structural_is_remapped(data->kind, data->region, out)) return 0;
  return remap_set(m, &var, out);
}

/* Closes the frame on top; on -1 `unwind` closes it. */
static int close_frame(our_mutator *m, TVMFFIAny *out) {
  if (make_result(m, out) != 0) {
    fh_any_drop(out);
    return -1;
  }
  /* Copied before the frame is popped. The object stays alive: `held`, the frame below, or the caller has a reference
   * to it. */
  frame_data data = *top_data(m);
  TVMFFIAny value = fh_any_object(fh_walk_top(&m->walk)->obj);
  fh_walk_pop(&m->walk);
  int rc = 0;
  if (m->order == FH_MUTATE_MAP_POST && !data.is_bare) rc = call_back_after(m, &value, data.region, out);
  if (rc == 0 && out->type_index == kTVMFFIUnchanged) {
    *out = data.held;
  } else {
    fh_any_drop(&data.held);
  }
  return rc;
}

/* Stores the result of a child, which it steals, in the frame on top. */
static int put_child(our_mutator *m, TVMFFIAny *out) {
  const frame_data *data = top_data(m);
  if (!fh_mutator_keeps(out, &data->child)) return fh_structural_changes_add(&m->changes, &data->place, out);
  fh_any_drop(out);
  return 0;
}

/* The next child of the frame on top as a task. */
static fh_walk_step next_task(our_mutator *m, task *t) {
  const fh_walk_frame *f = fh_walk_top(&m->walk);
  bool is_map = f->shape == FH_WALK_PAIRS, is_copy = fh_walk_gives_copies(f);
  TVMFFIAny child, key = fh_any_none();
  fh_walk_step step = is_map ? fh_walk_next_key(&m->walk, &key, &child) : fh_walk_next(&m->walk, &child);
  if (step != FH_WALK_CHILD) return step;
  fh_walk_frame *top = fh_walk_top(&m->walk); /* a getter may have moved it */
  frame_data *data = data_of(top);
  data->child = child;
  data->place.key = key;
  data->place.index = top->n_done - 1;
  data->place.field = top->shape == FH_WALK_FIELDS ? fh_walk_field(top) : NULL;
  t->value = child;
  t->held = fh_mutator_unchanged();
  t->may_inplace = data->is_inplace;
  t->is_bare = 0;
  t->n_own = is_copy ? 2 : 1;
  t->region = data->inner_region;
  if (data->place.field != NULL) t->region = fh_structural_field_region(t->region, data->place.field->flags);
  return step;
}

/* Closes the frames beyond `base` after an error, and adds their objects to the error's context. */
static void unwind(our_mutator *m, size_t base, size_t n_changes) {
  while (fh_walk_depth(&m->walk) > base) {
    TVMFFIAny value = fh_any_object(fh_walk_top(&m->walk)->obj), held = top_data(m)->held;
    fh_visit_context_note(&value);
    fh_walk_pop(&m->walk);
    fh_any_drop(&held);
  }
  fh_structural_changes_cut(&m->changes, n_changes);
}

/* Makes one step: `outcome` is that of the last child, or OPENED if its frame is on top now. */
static verdict step_once(our_mutator *m, verdict outcome, TVMFFIAny *out) {
  task next;
  if (outcome == DONE && put_child(m, out) != 0) return FAILED;
  switch (next_task(m, &next)) {
  case FH_WALK_CHILD: return start_task(m, &next, out);
  case FH_WALK_END: return close_frame(m, out) == 0 ? DONE : FAILED;
  default: return FAILED;
  }
}

/* Mutates a value recursively, on top of the frames that are open already. -1 leaves the walk and the changes as they
 * were, and *out None. */
static int run_task(our_mutator *m, task *t, TVMFFIAny *out) {
  size_t base = fh_walk_depth(&m->walk), n_changes = m->changes.n_items;
  verdict outcome = start_task(m, t, out);
  while (outcome != FAILED && fh_walk_depth(&m->walk) > base) outcome = step_once(m, outcome, out);
  if (outcome == DONE) return 0;
  unwind(m, base, n_changes);
  *out = fh_any_none();
  return -1;
}

/* ---- The mutator ---- */

/* The entry to the mutator: from the function that starts a mutation, and from hooks and callbacks that call it. The
 * caller holds a reference to `value`, the 1 in the task: if that is the only one, the value may change in place. */
static int mutate_value(our_mutator *m, const TVMFFIAny *value, bool may_inplace, bool is_bare, TVMFFIAny *out) {
  *out = fh_any_none();
  if (fh_structural_use_begin(&m->use, MUTATOR) != 0) return -1;
  int32_t region = m->base.region;
  task t = {*value, fh_mutator_unchanged(), region, may_inplace, is_bare, 1};
  int rc = run_task(m, &t, out);
  m->base.region = region;
  fh_structural_use_end(&m->use);
  return rc;
}

static TVMFFIAny table_mutate(fh_mutator_object *mutator, TVMFFIAny value) {
  TVMFFIAny out;
  int rc = mutate_value((our_mutator *)mutator, &value, 0, 0, &out);
  return fh_mutator_make_result(rc, out);
}
static TVMFFIAny table_mutate_inplace(fh_mutator_object *mutator, TVMFFIAny value) {
  TVMFFIAny out;
  int rc = mutate_value((our_mutator *)mutator, &value, 1, 0, &out);
  return fh_mutator_make_result(rc, out);
}
static TVMFFIAny table_remap_get(fh_mutator_object *mutator, TVMFFIAny var) {
  our_mutator *m = (our_mutator *)mutator;
  TVMFFIAny out = fh_any_none();
  int rc = fh_structural_use_begin(&m->use, MUTATOR);
  if (rc == 0) {
    rc = remap_get(m, &var, &out);
    fh_structural_use_end(&m->use);
  }
  return fh_mutator_make_result(rc, out);
}
static TVMFFIAny table_remap_set(fh_mutator_object *mutator, TVMFFIAny var, TVMFFIAny mapped) {
  our_mutator *m = (our_mutator *)mutator;
  int rc = fh_structural_use_begin(&m->use, MUTATOR);
  if (rc == 0) {
    rc = remap_set(m, &var, &mapped);
    fh_structural_use_end(&m->use);
  }
  return fh_mutator_make_result(rc, fh_any_none());
}

/* The address of this table distinguishes this library's mutators from those of other libraries. */
static const fh_mutator_table our_table = {table_mutate, table_mutate_inplace, table_remap_get, table_remap_set};

int fh_structural_mutate_default(fh_mutator_object *mutator, const TVMFFIAny *value, TVMFFIAny *out) {
  if (mutator->table != &our_table) return fh_mutator_default(mutator, value, out);
  return mutate_value((our_mutator *)mutator, value, 0, 1, out);
}

static void end_mutator(void *self) {
  our_mutator *m = (our_mutator *)self;
  fh_structural_callbacks_free(&m->callbacks);
  fh_structural_changes_free(&m->changes);
  fh_walk_free(&m->walk);
  fh_memo_free(&m->remap);
  fh_object_release(m->remapped);
}
static void delete_mutator(void *self, int flags);
static const fh_object_owner owner = {delete_mutator, end_mutator};
static void delete_mutator(void *self, int flags) { fh_object_delete_owner(&owner, self, flags, 1); }

int fh_structural_mutate(TVMFFIAny root, fh_structural_callbacks callbacks, fh_mutate_order order, TVMFFIAny *out) {
  our_mutator *m = (our_mutator *)fh_object_new(sizeof(*m), fh_mutator_type(), delete_mutator);
  *out = fh_any_none();
  if (m == NULL) {
    fh_structural_callbacks_free(&callbacks);
    fh_any_drop(&root);
    return -1;
  }
  m->base.table = &our_table;
  m->base.region = kTVMFFIDefRegionKindNone;
  m->callbacks = callbacks;
  m->order = order;
  m->remap.retains = 1;
  fh_walk_init(&m->walk, FH_WALK_PLAIN, kTVMFFIFieldFlagBitMaskSEqHashIgnore, sizeof(frame_data));
  int rc = mutate_value(m, &root, 1, 0, out);
  if (rc == 0 && out->type_index == kTVMFFIUnchanged) {
    *out = root;
  } else {
    fh_any_drop(&root);
  }
  fh_object_release(m);
  return rc;
}
