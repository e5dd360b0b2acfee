/* structural_visit.c - this library's visitor: it calls callbacks by type and stores its position on a walk.
 *
 * Starting a value calls its callback and, if the value has contents, opens a frame for them. The loop handles the next
 * child of the frame on top, or closes that frame. Only hooks and callbacks that call the visitor again use the C
 * stack: each such call owns the frames from its own base on. */
#include "operations.h"

#include "core/container/hashmap.h"
#include "core/container/seq.h"
#include "core/object/any_own.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/object_new.h"
#include "core/object/type.h"
#include "structural.h"
#include "visit_context.h"

#define VISITOR "ffi.StructuralVisitor"

/* Foreign code may keep the visitor and use it again after the visit. */
typedef struct {
  fh_visitor_object base;
  fh_structural_use use;
  fh_walk walk;
  fh_structural_callbacks callbacks;
  fh_visit_order order;
} our_visitor;

/* The data of a frame, in addition to its children. */
typedef struct {
  int32_t region, inner_region;
  int32_t is_bare; /* only the contents are visited: no callback for the object itself */
} frame_data;

/* The outcome of a value: FAILED with an error pending; DONE; STOPPED by a VisitInterrupt; OPENED: its contents have a
 * frame now; SKIPPED: a callback has handled the value completely. */
typedef enum { FAILED = FH_VISIT_FAILED, DONE = FH_VISIT_ON, STOPPED = FH_VISIT_STOPPED, OPENED, SKIPPED } verdict;

/* ---- Callbacks ---- */

/* A callback of a walk may also return an integer: 1 skips the contents of the value, any other continues. Steals the
 * result; *interrupt becomes a VisitInterrupt. */
static verdict take_walk_result(TVMFFIAny *result, TVMFFIAny *interrupt) {
  if (result->type_index == kTVMFFIInt || result->type_index == kTVMFFIBool)
    return result->v_int64 == 1 ? SKIPPED : DONE;
  return (verdict)fh_visitor_take_result(result, "a callback of a structural walk", interrupt);
}

/* Calls the callback for a value: SKIPPED if the value needs no more work; DONE also without a callback. */
static verdict call_back(our_visitor *v, const TVMFFIAny *value, int32_t region, TVMFFIAny *interrupt) {
  const fh_structural_entry *entry = fh_structural_callbacks_find(&v->callbacks, value->type_index);
  TVMFFIAny args[2] = {*value, fh_any_int(region)}, result;
  if (entry == NULL) return DONE;
  if (v->order == FH_VISIT_OWNED) args[1] = fh_any_object(v);
  if (fh_walk_enter_hook(&v->walk) != 0) return FAILED;
  /* The callback may query the visitor's region, or call it again, from this region. */
  v->base.region = region;
  int rc = fh_function_call(entry->func, args, v->order == FH_VISIT_OWNED || entry->gets_more ? 2 : 1, &result);
  fh_walk_leave_hook(&v->walk);
  if (rc != 0) return FAILED;
  if (v->order != FH_VISIT_OWNED) return take_walk_result(&result, interrupt);
  verdict outcome = (verdict)fh_visitor_take_result(&result, "a callback of a structural visit", interrupt);
  return outcome == DONE ? SKIPPED : outcome;
}

/* ---- One value ---- */

/* The walk borrows the value: the frame below, or the caller of the visitor, has a reference. Containers have no
 * structural kind, so they pass on their region. */
static verdict open_frame(our_visitor *v, const TVMFFIAny *value, int32_t region, bool is_bare) {
  if (fh_walk_push(&v->walk, value) != 0) return FAILED;
  frame_data *data = (frame_data *)fh_walk_data(fh_walk_top(&v->walk));
  data->region = data->inner_region = region;
  data->is_bare = is_bare;
  if (!fh_seq_is(value) && !fh_hashmap_is(value)) {
    data->inner_region = fh_structural_inner_region(region, fh_structural_find_kind(value->type_index));
  }
  return OPENED;
}

/* Visits the contents of the value: DONE, or OPENED if they are on the walk now. */
static verdict descend(our_visitor *v, const TVMFFIAny *value, int32_t region, bool is_bare, TVMFFIAny *interrupt) {
  const TVMFFIAny *hook = fh_reflect_attr(fh_reflect_column(FH_ATTR_S_VISIT), value->type_index);
  if (hook == NULL && !fh_any_is_object(value)) return DONE;
  /* The containers' own hooks would visit by recursion; a frame does not recurse. */
  if (hook == NULL || fh_visitor_is_container_hook(hook)) return open_frame(v, value, region, is_bare);
  if (fh_walk_enter_hook(&v->walk) != 0) return FAILED;
  v->base.region = region;
  TVMFFIAny result = fh_visitor_call_hook(hook, &v->base, *value);
  verdict outcome = (verdict)fh_visitor_take_result(&result, "__s_visit__", interrupt);
  fh_walk_leave_hook(&v->walk);
  return outcome;
}

/* Starts visiting a value. A callback after the contents is called here only for a value without a frame; otherwise by
 * close_frame. After an error this function adds the value to the error's context, and visit_open adds the enclosing
 * values. */
static verdict start_value(our_visitor *v, const TVMFFIAny *value, int32_t region, TVMFFIAny *interrupt) {
  verdict outcome = DONE;
  if (value->type_index == kTVMFFINone) return DONE;
  if (v->order != FH_VISIT_WALK_POST) outcome = call_back(v, value, region, interrupt);
  if (outcome == SKIPPED) return DONE;
  if (outcome == DONE) outcome = descend(v, value, region, 0, interrupt);
  if (outcome == DONE && v->order == FH_VISIT_WALK_POST) outcome = call_back(v, value, region, interrupt);
  if (outcome == FAILED) fh_visit_context_note(value);
  return outcome == SKIPPED ? DONE : outcome;
}

/* Closes the frame on top, which has no more children. A bare frame is not a visit of the object itself, so it gets no
 * callback. */
static verdict close_frame(our_visitor *v, TVMFFIAny *interrupt) {
  fh_walk_frame *f = fh_walk_top(&v->walk);
  const frame_data *data = (const frame_data *)fh_walk_data(f);
  verdict outcome = DONE;
  if (v->order == FH_VISIT_WALK_POST && !data->is_bare) {
    TVMFFIAny value = fh_any_object(f->obj);
    outcome = call_back(v, &value, data->region, interrupt);
  }
  /* the frame stays open: visit_open adds its object to the context */
  if (outcome == FAILED || outcome == STOPPED) return outcome;
  fh_walk_pop(&v->walk);
  return DONE;
}

static verdict step_once(our_visitor *v, TVMFFIAny *interrupt) {
  const fh_walk_frame *f = fh_walk_top(&v->walk);
  /* Only the values of a map are visited. */
  bool is_map = f->shape == FH_WALK_PAIRS;
  TVMFFIAny child, key;
  fh_walk_step step = is_map ? fh_walk_next_key(&v->walk, &key, &child) : fh_walk_next(&v->walk, &child);
  if (step == FH_WALK_ERROR) return FAILED;
  if (step == FH_WALK_END) return close_frame(v, interrupt);
  fh_walk_frame *top = fh_walk_top(&v->walk); /* a getter may have moved it */
  int32_t region = ((const frame_data *)fh_walk_data(top))->inner_region;
  if (top->shape == FH_WALK_FIELDS) region = fh_structural_field_region(region, fh_walk_field(top)->flags);
  return start_value(v, &child, region, interrupt);
}

/* Continues until only `base` frames are open; `outcome` is that of the last value. After an error it adds the open
 * objects to the error's context, except bare ones, which start_value adds if the callback that requested their
 * contents fails, too. */
static fh_visit_verdict visit_open(our_visitor *v, size_t base, verdict outcome, TVMFFIAny *interrupt) {
  while (outcome != FAILED && outcome != STOPPED && fh_walk_depth(&v->walk) > base) outcome = step_once(v, interrupt);
  while (fh_walk_depth(&v->walk) > base) {
    const fh_walk_frame *f = fh_walk_top(&v->walk);
    TVMFFIAny value = fh_any_object(f->obj);
    if (outcome == FAILED && !((const frame_data *)(const void *)(f + 1))->is_bare) fh_visit_context_note(&value);
    fh_walk_pop(&v->walk);
  }
  return outcome == FAILED ? FH_VISIT_FAILED : outcome == STOPPED ? FH_VISIT_STOPPED : FH_VISIT_ON;
}

/* ---- The visitor ---- */

/* The visitor's table entry: visits a value with its callback, from the current region of the visitor. Foreign code
 * calls it from within callbacks and hooks, and after the visit if it has kept the visitor. */
static TVMFFIAny table_visit(fh_visitor_object *visitor, TVMFFIAny value) {
  our_visitor *v = (our_visitor *)visitor;
  if (fh_structural_use_begin(&v->use, VISITOR) != 0) return fh_visitor_make_result(FH_VISIT_FAILED, fh_any_none());
  size_t base = fh_walk_depth(&v->walk);
  int32_t region = v->base.region;
  TVMFFIAny interrupt = fh_any_none(), owned;
  fh_visit_verdict outcome = FH_VISIT_FAILED;
  if (fh_any_own(&value, &owned) == 0) {
    outcome = visit_open(v, base, start_value(v, &owned, region, &interrupt), &interrupt);
    fh_any_drop(&owned);
  }
  v->base.region = region;
  fh_structural_use_end(&v->use);
  return fh_visitor_make_result(outcome, interrupt);
}

/* The address of this table distinguishes this library's visitors from those of other libraries. */
static const fh_visitor_table our_table = {table_visit};

/* Visits only the contents, without the callback of the value: that callback may be the caller. */
TVMFFIAny fh_structural_visit_default(fh_visitor_object *visitor, TVMFFIAny value) {
  if (visitor->table != &our_table) return fh_visitor_default(visitor, value);
  our_visitor *v = (our_visitor *)visitor;
  TVMFFIAny interrupt = fh_any_none();
  if (fh_structural_use_begin(&v->use, VISITOR) != 0) return fh_visitor_make_result(FH_VISIT_FAILED, interrupt);
  size_t base = fh_walk_depth(&v->walk);
  int32_t region = v->base.region;
  fh_visit_verdict outcome = visit_open(v, base, descend(v, &value, region, 1, &interrupt), &interrupt);
  v->base.region = region;
  fh_structural_use_end(&v->use);
  return fh_visitor_make_result(outcome, interrupt);
}

static void end_visitor(void *self) {
  our_visitor *v = (our_visitor *)self;
  fh_structural_callbacks_free(&v->callbacks);
  fh_walk_free(&v->walk);
}
static void delete_visitor(void *self, int flags);
static const fh_object_owner owner = {delete_visitor, end_visitor};
static void delete_visitor(void *self, int flags) { fh_object_delete_owner(&owner, self, flags, 1); }

int fh_structural_visit(const TVMFFIAny *root, fh_structural_callbacks callbacks, fh_visit_order order,
                        TVMFFIAny *out) {
  our_visitor *v = (our_visitor *)fh_object_new(sizeof(*v), fh_visitor_type(), delete_visitor);
  *out = fh_any_none();
  if (v == NULL) {
    fh_structural_callbacks_free(&callbacks);
    return -1;
  }
  v->base.table = &our_table;
  v->base.region = kTVMFFIDefRegionKindNone;
  v->callbacks = callbacks;
  v->order = order;
  fh_walk_init(&v->walk, FH_WALK_PLAIN, kTVMFFIFieldFlagBitMaskSEqHashIgnore, sizeof(frame_data));
  TVMFFIAny result = table_visit(&v->base, *root);
  fh_visit_verdict outcome = fh_visitor_take_result(&result, "a visit", out);
  fh_object_release(v);
  return outcome == FH_VISIT_FAILED ? -1 : 0;
}
