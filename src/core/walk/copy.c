/* copy.c - deep copies of values.
 *
 * An object's copy is made and put into the memo before its children are copied. A child that refers back to the object
 * finds that copy, so a cycle needs no second pass. Until its children are copied, the copy is incomplete, and other
 * copies of the cycle, and foreign code that gets these, may see it in this state.
 *
 * An object's fields are read from its shallow copy, not from the object: another thread may assign a field during the
 * copy, and then the copy has one value and the object another.
 *
 * The memo has only objects that may occur again. An object whose only reference is the place where it was found needs
 * no entry, so for a tree only the root has one. */
#include "nested.h"

#include "core/container/hashmap.h"
#include "core/container/list.h"
#include "core/object/any_own.h"
#include "core/object/error.h"
#include "core/object/field_access.h"
#include "core/object/function.h"
#include "core/object/global.h"
#include "core/object/type.h"

/* The data of each frame of the walk. */
typedef struct {
  TVMFFIAny copy; /* owned */
  TVMFFIAny key;  /* for a map: the copied key whose value is being copied; owned */
  TVMFFIObject *original; /* borrowed, as the object of a frame is */
  bool is_known;   /* the copy is in the memo, so other copies may refer to it already */
} progress;

typedef struct {
  fh_walk walk;
  fh_memo copies; /* for objects that may occur again: the copy, with one reference owned here */
  /* The index of ffi.Enum; -1 while it is not registered, and then no object is an enum. */
  int32_t enum_type;
} copier;

/* ---- Copies without their children ---- */

/* Whether an object is its own copy: it cannot change, or it exists once, as an enum variant and a module do. */
static bool is_leaf(const copier *c, const TVMFFIObject *obj) {
  switch (obj->type_index) {
  case kTVMFFIStr:
  case kTVMFFIBytes:
  case kTVMFFIShape:
  case kTVMFFIBigInt:
  case kTVMFFIModule: return true;
  case kTVMFFIArray:
  case kTVMFFIList:
  case kTVMFFIMap:
  case kTVMFFIDict: return false;
  default: return fh_type_is_instance(obj->type_index, c->enum_type);
  }
}

/* An Array's copy that other code may see before it is complete holds the original items until then, so that foreign
 * code that reads it finds items of the right types. */
static fh_seq_object *start_array(const fh_walk_frame *f, bool is_known) {
  if (is_known) return fh_seq_from_views(kTVMFFIArray, (const TVMFFIAny *)f->source, f->n_children);
  return fh_seq_new_array(f->n_children);
}

/* Whether Python copies such objects, which have no fields. The copy of a function is the function itself. */
static bool is_copied_by_python(int32_t type_index) {
  return type_index == kTVMFFITensor || type_index == kTVMFFIOpaquePyObject || type_index == kTVMFFIFunction;
}

/* Makes an owned copy by the operations of the Python package; InternalError if it is not loaded. */
static int copy_by_python(TVMFFIObject *obj, TVMFFIAny *out) {
  TVMFFIAny value = fh_any_object(obj);
  int answered = is_copied_by_python(obj->type_index) ? fh_global_ask_python("copy", &value, 1, out) : 0;
  if (answered != 0) return answered > 0 ? 0 : -1;
  return fh_error_raise(FH_INTERNAL_ERROR,
                        "Cannot deep copy object of type \"%s\" because it is not copy-constructible",
                        fh_type_name(obj->type_index));
}

/* Makes an owned object by the type's __ffi_shallow_copy__, with the field values of the original, or by Python. The
 * copy must have the type of the original, because setters then write at the offsets of the type's fields. TypeError
 * for a copy of another type. */
static int copy_shallow(TVMFFIObject *obj, TVMFFIAny *out) {
  TVMFFIObject *hook;
  if (fh_hook_find(FH_ATTR_SHALLOW_COPY, obj->type_index, &hook) != 0) return -1;
  if ((hook == NULL ? copy_by_python(obj, out) : fh_field_access_copy(hook, obj, out)) != 0) return -1;
  if (out->type_index == obj->type_index) return 0;
  fh_hook_raise_result(FH_ATTR_SHALLOW_COPY, obj, fh_type_name(obj->type_index), out);
  fh_any_drop(out);
  return -1;
}

/* *out becomes the target for the copies of the children: an empty container with room for them, except for
 * start_array's, or a shallow copy. -1 with an error pending. */
static int start_copy(const fh_walk_frame *f, bool is_known, TVMFFIAny *out) {
  void *made;
  switch (f->obj->type_index) {
  case kTVMFFIArray: made = start_array(f, is_known); break;
  case kTVMFFIList: made = fh_seq_new_list(f->n_children); break;
  case kTVMFFIMap:
  case kTVMFFIDict: made = fh_hashmap_new(f->obj->type_index, (uint64_t)f->n_children / 2); break;
  default: return copy_shallow(f->obj, out);
  }
  *out = fh_any_object(made);
  return made != NULL ? 0 : -1;
}

static bool is_own_copy(const copier *c, const TVMFFIAny *value) {
  return !fh_any_is_object(value) || is_leaf(c, value->v_obj);
}

/* Whether all children of a sequence or a Map are their own copies. */
static bool is_flat(const copier *c, const fh_walk_frame *f) {
  if (f->obj->type_index == kTVMFFIMap) {
    const fh_hashmap_object *map = (const fh_hashmap_object *)f->obj;
    uint64_t position = f->position;
    for (fh_hashmap_pair *pair; (pair = fh_hashmap_at(map, position)) != NULL;) {
      if (!is_own_copy(c, &pair->key) || !is_own_copy(c, &pair->value)) return false;
      position = fh_hashmap_next(map, position);
    }
    return true;
  }
  if (f->shape != FH_WALK_ITEMS) return false;
  const TVMFFIAny *items = fh_walk_items(&c->walk, f);
  for (int64_t i = 0; i < f->n_children; ++i) {
    if (!is_own_copy(c, &items[i])) return false;
  }
  return true;
}

/* Copies such a container in one step. */
static int copy_flat(const copier *c, const fh_walk_frame *f, TVMFFIAny *out) {
  int32_t type_index = f->obj->type_index;
  void *made = type_index == kTVMFFIMap
                   ? (void *)fh_hashmap_copy((const fh_hashmap_object *)f->obj, type_index)
                   : (void *)fh_seq_from_views(type_index, fh_walk_items(&c->walk, f), f->n_children);
  *out = fh_any_object(made);
  return made != NULL ? 0 : -1;
}

/* Puts a copy into the memo, which owns a reference; free_copier releases it. */
static int remember(copier *c, const TVMFFIObject *obj, TVMFFIObject *copy) {
  if (fh_memo_put(&c->copies, obj, NULL, (uint64_t)(uintptr_t)copy) != 0) return -1;
  fh_object_retain(copy);
  return 0;
}

/* ---- Putting a child's copy into its parent's; steals the child ---- */

/* Foreign code may see a copy that is in the memo before it is complete. So an Array's items are swapped for their
 * copies one by one, and a List grows under its lock. */
static int put_item(const fh_walk_frame *f, const progress *p, TVMFFIAny *child) {
  fh_seq_object *seq = (fh_seq_object *)p->copy.v_obj;
  if (f->obj->type_index == kTVMFFIArray) {
    if (!p->is_known) return fh_seq_push(seq, *child);
    fh_seq_swap(seq, f->n_done - 1, child);
    fh_any_drop(child);
    return 0;
  }
  return p->is_known ? fh_list_append(seq, *child) : fh_seq_push(seq, *child);
}

/* A key's copy waits in p->key for the copy of its value. */
static int put_pair(const fh_walk_frame *f, progress *p, TVMFFIAny *child) {
  fh_hashmap_pair pair;
  if (f->n_done % 2 != 0) {
    p->key = *child;
    return 0;
  }
  pair.key = p->key;
  pair.value = *child;
  p->key = fh_any_none();
  return fh_hashmap_put((fh_hashmap_object *)p->copy.v_obj, &pair);
}

/* The setter gets a view and copies it, so `child` is dropped in any case. */
static int put_field(const fh_walk_frame *f, const progress *p, TVMFFIAny *child) {
  const TVMFFIFieldInfo *field = fh_walk_field(f);
  int rc = fh_reflect_set(field, p->copy.v_obj, child);
  fh_any_drop(child);
  return rc;
}

static int put_child(const copier *c, TVMFFIAny *child) {
  fh_walk_frame *f = fh_walk_top(&c->walk);
  progress *p = (progress *)fh_walk_data(f);
  switch (f->shape) {
  case FH_WALK_ITEMS: return put_item(f, p, child);
  case FH_WALK_PAIRS: return put_pair(f, p, child);
  default: return put_field(f, p, child);
  }
}

/* ---- Objects that may occur again ---- */

/* Whether both the original and its incomplete copy refer to the original child, at the place of the child's copy. -1
 * with an error pending. */
static int is_held_twice(fh_walk_frame *f, const TVMFFIAny *child) {
  const progress *p = (const progress *)fh_walk_data(f);
  TVMFFIAny held;
  if (f->shape == FH_WALK_ITEMS) {
    return f->obj->type_index == kTVMFFIArray && p->is_known &&
           fh_any_same(&fh_seq_items((fh_seq_object *)p->copy.v_obj)[f->n_done - 1], child);
  }
  if (f->shape != FH_WALK_FIELDS) return 0;
  /* The child comes from the copy. */
  if (fh_reflect_get(fh_walk_field(f), p->original, &held) != 0) return -1;
  bool is_same = fh_any_same(&held, child);
  fh_any_drop(&held);
  return is_same;
}

/* Whether the child of the innermost frame may occur again. The incomplete copy may refer to the original child, too: a
 * shallow copy by its field, a copied Array by its item. One of these two references does not count, or every child
 * would look shared. -1 with an error pending. */
static int is_shared_child(const copier *c, fh_walk_frame *f, const TVMFFIAny *child) {
  int gives_copies = fh_walk_gives_copies(f);
  if (!fh_any_is_object(child) || !fh_walk_is_shared(child->v_obj, gives_copies)) return 0;
  uint32_t n_more = fh_object_use_count(child->v_obj) - (gives_copies ? 2 : 1);
  /* With one more reference, its owner decides. A leaf is an exception: it never gets into the memo. */
  if (n_more != 1 || is_leaf(c, child->v_obj)) return 1;
  int is_held = is_held_twice(f, child);
  return is_held < 0 ? -1 : !is_held;
}

/* ---- The loop ---- */

/* Copies the container of the innermost frame, which is flat, and closes it: 1; -1 with an error pending. */
static int close_flat(copier *c, const fh_walk_frame *f, bool is_shared, TVMFFIAny *out) {
  TVMFFIObject *obj = f->obj;
  int rc = copy_flat(c, f, out);
  fh_walk_pop(&c->walk);
  bool is_root = fh_walk_depth(&c->walk) == 0; /* its copy is the last one, so the memo is not read */
  if (rc != 0 || !is_shared || is_root) return rc == 0 ? 1 : -1;
  if (remember(c, obj, out->v_obj) == 0) return 1;
  fh_any_drop(out);
  return -1;
}

/* The copy of a value if it is available at once: 1; 0 after entering the value; -1. */
static int copy_or_enter(copier *c, const TVMFFIAny *value, bool is_shared, TVMFFIAny *out) {
  if (is_own_copy(c, value)) {
    fh_any_copy(value, out);
    return 1;
  }
  TVMFFIObject *obj = value->v_obj;
  const uint64_t *known = is_shared ? fh_memo_find(&c->copies, obj, NULL) : NULL;
  if (known != NULL) {
    TVMFFIAny copy = fh_any_object((void *)(uintptr_t)*known);
    fh_any_copy(&copy, out);
    return 1;
  }
  /* If a step below fails, free_copier drops the references of the frame. */
  if (fh_walk_push(&c->walk, value) != 0) return -1;
  fh_walk_frame *f = fh_walk_top(&c->walk);
  if (is_flat(c, f)) return close_flat(c, f, is_shared, out);
  progress *p = (progress *)fh_walk_data(f);
  p->is_known = is_shared;
  p->original = obj;
  if (start_copy(f, is_shared, &p->copy) != 0) return -1;
  if (f->shape == FH_WALK_FIELDS) fh_walk_read_fields_of(f, p->copy.v_obj);
  return is_shared && remember(c, obj, p->copy.v_obj) != 0 ? -1 : 0;
}

/* Closes the innermost object: its copy goes to its parent, or is the result. */
static int close_object(copier *c, TVMFFIAny *result) {
  /* The copy is read first: the walk does not release the client's data that it pops. */
  TVMFFIAny copy = ((progress *)fh_walk_data(fh_walk_top(&c->walk)))->copy;
  fh_walk_pop(&c->walk);
  if (fh_walk_depth(&c->walk) != 0) return put_child(c, &copy);
  *result = copy;
  return 0;
}

static int copy_next(copier *c, TVMFFIAny *result) {
  TVMFFIAny child, copy;
  switch (fh_walk_next(&c->walk, &child)) {
  case FH_WALK_CHILD: break;
  case FH_WALK_END: return close_object(c, result);
  default: return -1;
  }
  fh_walk_frame *f = fh_walk_top(&c->walk);
  int is_shared = is_shared_child(c, f, &child);
  int rc = is_shared < 0 ? -1 : copy_or_enter(c, &child, is_shared > 0, &copy);
  if (rc != 1) return rc;
  f = fh_walk_top(&c->walk); /* a push may have moved it */
  /* A field whose value is its own copy is not set, so it needs no setter. */
  if (f->shape != FH_WALK_FIELDS || !fh_any_same(&child, &copy)) return put_child(c, &copy);
  fh_any_drop(&copy); /* the shallow copy contains it */
  return 0;
}

/* Drops the copies of frames that an error has left open, and the memo's references. */
static void free_copier(copier *c) {
  for (; fh_walk_depth(&c->walk) != 0; fh_walk_pop(&c->walk)) {
    progress *p = (progress *)fh_walk_data(fh_walk_top(&c->walk));
    fh_any_drop(&p->copy);
    fh_any_drop(&p->key);
  }
  for (size_t i = 0; i < c->copies.n_slots; ++i) {
    const fh_memo_entry *entry = &c->copies.entries[i];
    if (entry->a != NULL) fh_object_release((void *)(uintptr_t)entry->word);
  }
  fh_walk_free(&c->walk);
  fh_memo_free(&c->copies);
}

int fh_copy_deep(const TVMFFIAny *value, TVMFFIAny *out) {
  copier c;
  TVMFFIAny root, result = fh_any_none();
  *out = fh_any_none();
  if (fh_any_own(value, &root) != 0) return -1;
  fh_walk_init(&c.walk, FH_WALK_PLAIN, 0, sizeof(progress));
  memset(&c.copies, 0, sizeof(c.copies));
  c.copies.retains = 1;
  c.enum_type = fh_type_find_key(FH_LITERAL("ffi.Enum"));
  int rc = copy_or_enter(&c, &root, 1, &result);
  /* 1 means that the root is its own copy: the loop has nothing to do. */
  if (rc > 0) rc = 0;
  while (rc == 0 && fh_walk_depth(&c.walk) != 0) rc = copy_next(&c, &result);
  free_copier(&c);
  fh_any_drop(&root);
  if (rc == 0) *out = result;
  return rc;
}
