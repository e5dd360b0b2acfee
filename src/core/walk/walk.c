/* walk.c - the traversal of values: two stacks in growing arrays, one of frames, one of values.
 *
 * A frame is an open object, or an open pair. `values` holds owned copies of children that may change while they are
 * read: a List's items, a Dict's pairs. A frame's part of `values` begins at its `mark`, after the parts of the frames
 * below, so popping a frame cuts `values` there. Arrays and Maps are read in place, because they do not change once
 * they are shared.
 *
 * A frame holds no reference to its object. The frame below keeps it alive: as an item in place, as a copy in `values`,
 * or in `held`, which has the field values that were returned last. The client keeps alive the root, and the arguments
 * of a hook's callback.
 *
 * Getters, hooks and deleters are foreign: they may call back into the client, which then pushes and pops on the same
 * walk. So the state is complete before they run, and pointers to frames and values are read again afterwards. */
#include "walk.h"

#include "core/container/hashmap.h"
#include "core/container/seq.h"
#include "core/container/stripe.h"
#include "core/object/error.h"
#include "core/object/str.h"
#include "core/object/type.h"
#include "core/platform/mem.h"

/* ---- Room ---- */

/* Makes room for n_more values. -1 without memory, with no error pending, because copy_children calls this under a
 * stripe lock, where no error may be raised. */
static int reserve_values(fh_walk *walk, size_t n_more) {
  return fh_mem_reserve((void **)&walk->values, &walk->n_values_room, walk->n_values, n_more, sizeof(*walk->values));
}

/* Adds slots that are filled later; there must be room. */
static void add_slots(fh_walk *walk, size_t n) {
  for (; n != 0; --n) walk->values[walk->n_values++] = fh_any_none();
}

/* ---- Creation and destruction ---- */

void fh_walk_init(fh_walk *walk, fh_walk_flags flags, int64_t skip_flags, size_t client_bytes) {
  memset(walk, 0, sizeof(*walk));
  /* A multiple of 8, so that every frame in the array is aligned. */
  walk->frame_bytes = sizeof(fh_walk_frame) + ((client_bytes + 7) & ~(size_t)7);
  walk->flags = flags;
  walk->skip_flags = skip_flags;
}

void fh_walk_free(fh_walk *walk) {
  fh_walk_unwind(walk, 0);
  fh_mem_free(walk->frames);
  fh_mem_free(walk->values);
  fh_memo_free(&walk->open);
}

/* ---- Opening one object: children that must be copied go to `values` ---- */

/* Under the lock: 0, or -1 without memory. */
static int copy_list(fh_walk *walk, const fh_seq_object *list) {
  if (reserve_values(walk, (size_t)list->cell.size) != 0) return -1;
  for (int64_t i = 0; i < list->cell.size; ++i) {
    fh_any_copy(&fh_seq_items(list)[i], &walk->values[walk->n_values++]);
  }
  return 0;
}

/* As copy_list. */
static int copy_dict(fh_walk *walk, const fh_hashmap_object *dict) {
  if (reserve_values(walk, (size_t)dict->size * 2) != 0) return -1;
  uint64_t position = fh_hashmap_begin(dict);
  for (fh_hashmap_pair *pair; (pair = fh_hashmap_at(dict, position)) != NULL;) {
    /* the size of a client's table is less than its number of pairs */
    if (walk->n_values_room - walk->n_values < 2) break;
    fh_any_copy(&pair->key, &walk->values[walk->n_values++]);
    fh_any_copy(&pair->value, &walk->values[walk->n_values++]);
    position = fh_hashmap_next(dict, position);
  }
  return 0;
}

/* Copies a List's items or a Dict's pairs under its lock. The error is raised after the lock. */
static int copy_children(fh_walk *walk, const TVMFFIObject *obj, int64_t *n) {
  size_t n_before = walk->n_values;
  fh_shared_note note = fh_stripe_read(obj);
  int rc = obj->type_index == kTVMFFIList ? copy_list(walk, (const fh_seq_object *)obj)
                                          : copy_dict(walk, (const fh_hashmap_object *)obj);
  fh_stripe_read_end(obj, note);
  /* Counted, because a client's table may hold fewer pairs than its size says. */
  *n = (int64_t)(walk->n_values - n_before);
  return rc == 0 ? 0 : fh_error_raise_no_memory();
}

/* Objects that will be read soon are prefetched: in a large value each of them is a cache miss. */
#define N_AHEAD 8

/* The first two cache lines of an object: the header, and the first of its items or fields. */
static inline void prefetch(const TVMFFIAny *item) {
  if (!fh_any_is_object(item)) return;
  FH_PREFETCH(item->v_obj);
  FH_PREFETCH((const char *)item->v_obj + 64);
}

static void prefetch_first(const TVMFFIAny *items, int64_t n) {
  for (int64_t i = 0; i < n && i < N_AHEAD; ++i) prefetch(&items[i]);
}

/* Prefetches for item i of n, which is being read. */
static inline void prefetch_after(const TVMFFIAny *items, int64_t i, int64_t n) {
  if (n - i > N_AHEAD) prefetch(&items[i + N_AHEAD]);
}

/* Sets the kind and the place of the children of f->obj. An object that is not a container is read field by field:
 * strings and tensors have no fields, and neither have types that are not registered. -1 with an error pending, if
 * memory runs out for copies. */
static int open_object(fh_walk *walk, fh_walk_frame *f) {
  TVMFFIObject *obj = f->obj;
  switch (obj->type_index) {
  case kTVMFFIArray:
    f->shape = FH_WALK_ITEMS;
    f->source = fh_seq_items((const fh_seq_object *)obj);
    f->n_children = fh_seq_size((const fh_seq_object *)obj);
    prefetch_first((const TVMFFIAny *)f->source, f->n_children);
    return 0;
  case kTVMFFIMap:
    f->shape = FH_WALK_PAIRS;
    f->source = obj;
    f->position = fh_hashmap_begin((const fh_hashmap_object *)obj);
    f->n_children = 2 * fh_hashmap_size((const fh_hashmap_object *)obj);
    return 0;
  case kTVMFFIList: f->shape = FH_WALK_ITEMS; return copy_children(walk, obj, &f->n_children);
  case kTVMFFIDict: f->shape = FH_WALK_PAIRS; return copy_children(walk, obj, &f->n_children);
  default: break;
  }
  f->shape = FH_WALK_FIELDS;
  f->n_children = -1;
  f->cursor = fh_reflect_fields(fh_type_find(obj->type_index));
  return 0;
}

/* Opens the other side of a pair; the children of a List are copied, those of a Dict are looked up one by one. A map
 * gets one slot in `values`, where fh_walk_lookup stores the value that it has copied from a Dict. */
static int open_other(fh_walk *walk, fh_walk_frame *f) {
  TVMFFIObject *other = f->other;
  f->n_of_other = -1;
  switch (other->type_index) {
  case kTVMFFIArray:
    f->n_of_other = fh_seq_size((const fh_seq_object *)other);
    prefetch_first(fh_seq_items((const fh_seq_object *)other), f->n_of_other);
    return 0;
  case kTVMFFIList: return copy_children(walk, other, &f->n_of_other);
  case kTVMFFIMap: f->n_of_other = 2 * fh_hashmap_size((const fh_hashmap_object *)other); break;
  case kTVMFFIDict:
    fh_stripe_lock(other);
    f->n_of_other = 2 * fh_hashmap_size((const fh_hashmap_object *)other);
    fh_stripe_unlock(other);
    break;
  default: return 0;
  }
  if (reserve_values(walk, 1) != 0) return fh_error_raise_no_memory();
  add_slots(walk, 1);
  return 0;
}

/* ---- Frames ---- */

/* Adds a new frame's objects to the set of open ones. An object with one reference cannot occur again, because the
 * place where it was found has that reference. A pair cannot occur again if one of its objects cannot. A mark is always
 * added: its hook may pass the objects back to the client. */
static int add_to_open(fh_walk *walk, fh_walk_frame *f, bool is_mark) {
  if (!(walk->flags & FH_WALK_CYCLES)) return 0;
  if (!is_mark && fh_object_use_count(f->obj) == 1) return 0;
  if (!is_mark && f->other != NULL && fh_object_use_count(f->other) == 1) return 0;
  /* An outer frame has the entry already, and removes it when it is popped. */
  if (fh_memo_find(&walk->open, f->obj, f->other) != NULL) return 0;
  f->is_in_open_set = fh_memo_put(&walk->open, f->obj, f->other, 0) == 0;
  return f->is_in_open_set ? 0 : -1;
}

/* Pushes a zeroed frame; NULL with an error pending and the walk unchanged. */
static fh_walk_frame *push_frame(fh_walk *walk, TVMFFIObject *obj, TVMFFIObject *other, bool is_mark) {
  if (walk->n_frames == FH_WALK_MAX_DEPTH) {
    fh_error_raise(FH_VALUE_ERROR, "Expected a value nested at most %d deep", FH_WALK_MAX_DEPTH);
    return NULL;
  }
  if (fh_mem_reserve((void **)&walk->frames, &walk->n_frames_room, walk->n_frames, 1, walk->frame_bytes) != 0) {
    fh_error_raise_no_memory();
    return NULL;
  }
  fh_walk_frame *f = fh_walk_at(walk, walk->n_frames);
  memset(f, 0, walk->frame_bytes);
  f->obj = obj;
  f->other = other;
  f->mark = walk->n_values;
  if (add_to_open(walk, f, is_mark) != 0) return NULL;
  /* The frame counts only now, so an earlier failure has nothing to undo. */
  walk->n_frames += 1;
  return f;
}

static int push_objects(fh_walk *walk, TVMFFIObject *obj, TVMFFIObject *other) {
  fh_walk_frame *f = push_frame(walk, obj, other, 0);
  if (f == NULL) return -1;
  if (open_object(walk, f) == 0 && (other == NULL || open_other(walk, f) == 0)) return 0;
  /* Drops the children that were copied before the failure. */
  fh_walk_pop(walk);
  return -1;
}

int fh_walk_push(fh_walk *walk, const TVMFFIAny *value) { return push_objects(walk, value->v_obj, NULL); }

int fh_walk_push_pair(fh_walk *walk, const TVMFFIAny *a, const TVMFFIAny *b) {
  return push_objects(walk, a->v_obj, b->v_obj);
}

int fh_walk_push_mark(fh_walk *walk, TVMFFIObject *obj, TVMFFIObject *other) {
  return push_frame(walk, obj, other, 1) != NULL ? 0 : -1;
}

void fh_walk_pop(fh_walk *walk) {
  fh_walk_frame *f = fh_walk_top(walk);
  if (f->is_in_open_set) fh_memo_erase(&walk->open, f->obj, f->other);
  size_t mark = f->mark;
  TVMFFIObject *held = f->held[0], *other_held = f->held[1];
  /* The frame is gone before anything is released: a deleter may use this walk. */
  walk->n_frames -= 1;
  fh_object_release(held);
  fh_object_release(other_held);
  while (walk->n_values > mark) fh_any_drop(&walk->values[--walk->n_values]);
}

void fh_walk_unwind(fh_walk *walk, size_t depth) {
  while (walk->n_frames > depth) fh_walk_pop(walk);
}

bool fh_walk_is_open(const fh_walk *walk, const TVMFFIObject *a, const TVMFFIObject *b) {
  return fh_memo_find(&walk->open, a, b) != NULL;
}

int fh_walk_enter_hook(fh_walk *walk) {
  if (walk->n_hooks == FH_WALK_MAX_HOOKS) {
    return fh_error_raise(FH_VALUE_ERROR, "Expected at most %d hooks to call back within one another",
                          FH_WALK_MAX_HOOKS);
  }
  walk->n_hooks += 1;
  return 0;
}

/* ---- Fields ---- */

/* Whether an ancestor has a field of that name at that place, which was returned already. A field that the walk skips
 * was not returned. The cursor's depth is one more than the level of the field's own type. */
static bool is_redeclared(const fh_reflect_cursor *cursor, int64_t skip_flags, const TVMFFIFieldInfo *field) {
  const TVMFFITypeInfo *info = cursor->info;
  int32_t level = cursor->depth - 1;
  if (!fh_reflect_may_repeat(level < info->type_depth ? info->type_ancestors[level] : info)) return false;
  for (int32_t depth = 0; depth < level; ++depth) {
    const TVMFFIFieldInfo *at = fh_reflect_own_field(info->type_ancestors[depth], field->name);
    if (at != NULL && at->offset == field->offset && !(at->flags & skip_flags)) return true;
  }
  return false;
}

const TVMFFIFieldInfo *fh_walk_next_field(fh_reflect_cursor *cursor, int64_t skip_flags) {
  for (const TVMFFIFieldInfo *field; (field = fh_reflect_next_field(cursor)) != NULL;) {
    if (field->flags & skip_flags) continue;
    /* Level 0 is ffi.Object, which has no fields, so a field of level 1 cannot repeat one. */
    if (cursor->depth > 2 && is_redeclared(cursor, skip_flags, field)) continue;
    return field;
  }
  return NULL;
}

/* Reads a field of `obj` (side 0) or `other` (side 1) of the frame on top. *out is borrowed from `held`, whose former
 * value is released first. The getter is foreign and may push and pop on this walk; so may deleters. */
static int read_field(fh_walk *walk, const TVMFFIFieldInfo *field, int side, TVMFFIAny *out) {
  fh_walk_frame *f = fh_walk_top(walk);
  TVMFFIObject *obj = side == 0 ? f->obj : f->other, *old = f->held[side];
  /* Cleared first: if the getter fails, popping the frame must not release `old` again. */
  f->held[side] = NULL;
  fh_object_release(old);
  if ((f->is_alone ? fh_reflect_get_alone(field, obj, out) : fh_reflect_get(field, obj, out)) != 0) return -1;
  if (fh_any_is_object(out)) fh_walk_top(walk)->held[side] = out->v_obj;
  return 0;
}

/* `b` is NULL for one side. */
static fh_walk_step step_field(fh_walk *walk, fh_walk_frame *f, TVMFFIAny *a, TVMFFIAny *b) {
  const TVMFFIFieldInfo *field = fh_walk_next_field(&f->cursor, walk->skip_flags);
  if (field == NULL) return FH_WALK_END;
  /* Before the getters run: afterwards `f` may have moved. */
  f->field = field;
  f->n_done += 1;
  if (read_field(walk, field, 0, a) != 0) return FH_WALK_ERROR;
  if (b != NULL && read_field(walk, field, 1, b) != 0) return FH_WALK_ERROR;
  return FH_WALK_CHILD;
}

/* ---- Items and pairs ---- */

const TVMFFIAny *fh_walk_items(const fh_walk *walk, const fh_walk_frame *f) {
  return f->source != NULL ? (const TVMFFIAny *)f->source : walk->values + f->mark;
}

/* The items of `other`: an Array's in place, a List's in `values`, after those of `obj` if these are copies, too. */
static const TVMFFIAny *items_of_other(const fh_walk *walk, const fh_walk_frame *f) {
  if (f->other->type_index == kTVMFFIArray) return fh_seq_items((const fh_seq_object *)f->other);
  return walk->values + f->mark + (f->source != NULL ? 0 : (size_t)f->n_children);
}

const TVMFFIAny *fh_walk_rest(const fh_walk *walk, int64_t *n) {
  const fh_walk_frame *f = fh_walk_top(walk);
  *n = f->n_done < f->n_children ? f->n_children - f->n_done : 0;
  return fh_walk_items(walk, f) + f->n_done;
}

const TVMFFIAny *fh_walk_rest_of_other(const fh_walk *walk, int64_t *n) {
  const fh_walk_frame *f = fh_walk_top(walk);
  *n = f->n_done < f->n_of_other ? f->n_of_other - f->n_done : 0;
  return items_of_other(walk, f) + f->n_done;
}

/* A Map's current pair, NULL past the end: its key is child 2k, its value 2k + 1. */
static const fh_hashmap_pair *map_pair(const fh_walk_frame *f) {
  return fh_hashmap_at((const fh_hashmap_object *)f->source, f->position);
}

static void pass_pair(fh_walk_frame *f) {
  f->position = fh_hashmap_next((const fh_hashmap_object *)f->source, f->position);
}

/* Returns the next key or value of a Map. The position advances only when the next key is requested: until then
 * fh_walk_label_of finds the key of the current value there. */
static fh_walk_step step_map(fh_walk_frame *f, TVMFFIAny *child) {
  bool is_key = f->n_done % 2 == 0;
  if (is_key && f->n_done != 0) pass_pair(f);
  const fh_hashmap_pair *pair = map_pair(f);
  if (pair == NULL) return FH_WALK_END;
  *child = is_key ? pair->key : pair->value;
  f->n_done += 1;
  return FH_WALK_CHILD;
}

fh_walk_step fh_walk_next(fh_walk *walk, TVMFFIAny *child) {
  fh_walk_frame *f = fh_walk_top(walk);
  if (f->shape == FH_WALK_FIELDS) return step_field(walk, f, child, NULL);
  if (f->n_done == f->n_children) return FH_WALK_END;
  if (f->shape == FH_WALK_PAIRS && f->source != NULL) return step_map(f, child);
  /* An Array in place, or the copies of a List or Dict: all are arrays of single children. */
  const TVMFFIAny *items = fh_walk_items(walk, f);
  prefetch_after(items, f->n_done, f->n_children);
  *child = items[f->n_done++];
  return FH_WALK_CHILD;
}

/* The items at the next index of two sequences, until the longer one ends. */
static fh_walk_step step_items(fh_walk *walk, fh_walk_frame *f, TVMFFIAny *a, TVMFFIAny *b) {
  int64_t i = f->n_done;
  int on_left = i < f->n_children, on_right = i < f->n_of_other;
  if (!on_left && !on_right) return FH_WALK_END;
  const TVMFFIAny *items = fh_walk_items(walk, f), *others = items_of_other(walk, f);
  prefetch_after(items, i, f->n_children);
  prefetch_after(others, i, f->n_of_other);
  f->n_done += 1;
  *a = on_left ? items[i] : fh_any_none();
  *b = on_right ? others[i] : fh_any_none();
  if (on_left && on_right) return FH_WALK_CHILD;
  return on_left ? FH_WALK_ONLY_LEFT : FH_WALK_ONLY_RIGHT;
}

fh_walk_step fh_walk_next_key(fh_walk *walk, TVMFFIAny *key, TVMFFIAny *value) {
  fh_walk_frame *f = fh_walk_top(walk);
  if (f->n_done == f->n_children) return FH_WALK_END;
  if (f->source != NULL) { /* a Map: key and value at once */
    if (f->n_done != 0) pass_pair(f);
    const fh_hashmap_pair *pair = map_pair(f);
    if (pair == NULL) return FH_WALK_END;
    *key = pair->key;
    *value = pair->value;
    f->n_done += 2;
    return FH_WALK_CHILD;
  }
  fh_walk_step step = fh_walk_next(walk, key);
  return step == FH_WALK_CHILD ? fh_walk_next(walk, value) : step;
}

/* A Map's value is read in place, a Dict's is copied to the frame's slot. */
fh_walk_step fh_walk_lookup(fh_walk *walk, const TVMFFIAny *key, TVMFFIAny *value) {
  const fh_walk_frame *f = fh_walk_top(walk);
  const fh_hashmap_object *map = (const fh_hashmap_object *)f->other;
  /* An index and not an address: the lookup's hooks may push, which moves the values. */
  size_t slot = f->mark + (f->source != NULL ? 0 : (size_t)f->n_children);
  int found;
  *value = fh_any_none();
  if (!fh_walk_other_gives_copies(f)) {
    fh_hashmap_pair *pair;
    found = fh_hashmap_find(map, key, FH_HASHMAP_HOOKS, &pair);
    if (found == 1) *value = pair->value;
  } else {
    TVMFFIAny got, old;
    found = fh_hashmap_get(map, key, &got);
    old = walk->values[slot]; /* after the lookup, whose hooks may have moved the values */
    walk->values[slot] = *value = got;
    fh_any_drop(&old);
  }
  if (found < 0) return FH_WALK_ERROR;
  return found == 1 ? FH_WALK_CHILD : FH_WALK_END;
}

/* Returns the next value of the left map, and the value of the equal key in the right one. */
static fh_walk_step step_pair(fh_walk *walk, TVMFFIAny *a, TVMFFIAny *b) {
  TVMFFIAny key;
  fh_walk_step step = fh_walk_next_key(walk, &key, a);
  if (step != FH_WALK_CHILD) return step;
  step = fh_walk_lookup(walk, &key, b);
  return step == FH_WALK_END ? FH_WALK_ONLY_LEFT : step;
}

fh_walk_step fh_walk_next_pair(fh_walk *walk, TVMFFIAny *a, TVMFFIAny *b) {
  fh_walk_frame *f = fh_walk_top(walk);
  switch (f->shape) {
  case FH_WALK_FIELDS: return step_field(walk, f, a, b);
  case FH_WALK_ITEMS: return step_items(walk, f, a, b);
  case FH_WALK_PAIRS: return step_pair(walk, a, b);
  default: return FH_WALK_END;
  }
}

/* ---- The place of the walk ---- */

fh_walk_label fh_walk_label_of(const fh_walk *walk, const fh_walk_frame *f) {
  fh_walk_label label;
  memset(&label, 0, sizeof(label));
  if (f->n_done == 0) return label;
  int64_t last = f->n_done - 1;
  switch (f->shape) {
  case FH_WALK_ITEMS:
    label.place = FH_WALK_AT_ITEM;
    label.index = last;
    break;
  case FH_WALK_FIELDS:
    label.place = FH_WALK_AT_FIELD;
    label.field = f->field;
    break;
  case FH_WALK_PAIRS: {
    const fh_hashmap_pair *pair = f->source != NULL ? map_pair(f) : NULL;
    label.place = last % 2 == 0 ? FH_WALK_AT_KEY : FH_WALK_AT_VALUE;
    /* Copies are stored as key, value, key, value. In place the Map's position is still at the pair of the last
     * child. */
    if (f->source == NULL)
      label.key = walk->values[f->mark + (size_t)(last - last % 2)];
    else if (pair != NULL)
      label.key = pair->key;
    break;
  }
  default: break;
  }
  return label;
}
