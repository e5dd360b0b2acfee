/* visit_context.c - the type VisitErrorContext, and finding the paths of its objects.
 *
 * Finding is a depth-first walk over all paths of a value, with the objects of the context as a pattern that is matched
 * from the outermost on. An object is visited once for each path that leads to it, so shared objects multiply the work;
 * a cycle ends at the limit of depth, with a ValueError. */
#include "visit_context.h"

#include "core/container/list.h"
#include "core/container/stripe.h"
#include "core/fields/access_path.h"
#include "core/fields/builtin.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/reflect.h"
#include "core/object/str.h"
#include "core/object/type.h"
#include "core/platform/atomic.h"
#include "core/platform/mem.h"
#include "core/walk/walk.h"

FH_STATIC_ASSERT(sizeof(fh_visit_context_object) == 40, "ABI");

static const fh_builtin_type context_type;
static int32_t context_index; /* written once, by the load-time constructor */

int32_t fh_visit_context_type(void) { return context_index; }

/* ---- Adding objects ---- */

/* Finds or makes the context of an error; NULL without memory. Borrowed from the error. Several threads may add objects
 * to one error, because callbacks may return one Error in all of them. */
static fh_visit_context_object *context_of(TVMFFIObject *error) {
  void **place = (void **)&TVMFFIErrorGetCellPtr(error)->extra_context;
  fh_visit_context_object *context = NULL;
  TVMFFIObject *before = fh_atomic_load_acquire_ptr(place); /* pairs with the exchange below */
  while (before == NULL || before->type_index != context_index) {
    if (context == NULL && (context = (fh_visit_context_object *)fh_builtin_new(&context_type)) == NULL) return NULL;
    context->previous = before; /* with the error's reference, which the exchange moves to the context */
    if (fh_atomic_cas_seq_cst_ptr(place, (void **)&before, context)) return context;
  }
  if (context != NULL) { /* another thread was faster */
    context->previous = NULL;
    fh_object_release(context);
  }
  return (fh_visit_context_object *)(void *)before;
}

/* Adds an object to the context, with a reference. -1 with an error pending, if memory runs out. */
static int note_object(TVMFFIObject *error, TVMFFIObject *obj) {
  fh_visit_context_object *context = context_of(error);
  if (context == NULL) return -1;
  TVMFFIAny view = fh_any_object(obj), item;
  fh_any_copy(&view, &item);
  fh_seq_object *pattern = fh_builtin_get_object(&context->pattern);
  int rc = fh_list_append(pattern, item);
  fh_object_release(pattern);
  return rc;
}

void fh_visit_context_note(const TVMFFIAny *value) {
  if (!fh_any_is_object(value)) return;
  /* Taken and put back, because adding to a List may raise another error, which is dropped: the first error must be
   * reported. All threads share the static MemoryError, so it must not be changed. */
  TVMFFIObject *error = fh_error_take();
  if (error == NULL) return;
  if (!fh_error_is_memory_error(error) && note_object(error, value->v_obj) != 0) fh_error_clear();
  fh_error_put(error);
}

/* ---- Finding ---- */

typedef struct {
  fh_walk walk;
  /* The pattern. Of its n_wanted objects, n_matched are open on the current path. The next one to match is
   * wanted[n_wanted - 1 - n_matched]. */
  TVMFFIObject **wanted; /* borrowed from `items`; the outermost last */
  int64_t n_wanted, n_matched;
  TVMFFIAny *items; /* owned */
  int64_t n_items;
  fh_seq_object *results; /* List of paths */
  bool allow_prefix;
} finder;

typedef struct {
  int32_t is_match;  /* the object is part of the pattern and counted in n_matched */
  int64_t n_results; /* number of results when the frame was opened */
} frame_data;

/* Copies the objects of the pattern without adjacent repetitions: a mutation adds an object twice if its callback fails
 * in the default mutation of that object. `items` keeps them alive, because other threads may change the List. */
static int take_pattern(finder *f, const fh_visit_context_object *context) {
  fh_seq_object *pattern = fh_builtin_get_object(&context->pattern);
  int rc = fh_list_copy_items(pattern, &f->items, &f->n_items);
  fh_object_release(pattern);
  if (rc != 0) return -1;
  f->wanted = (TVMFFIObject **)fh_mem_alloc((size_t)f->n_items * sizeof(*f->wanted));
  if (f->wanted == NULL) return fh_error_raise_no_memory();
  for (int64_t i = 0; i < f->n_items; ++i) {
    if (!fh_any_is_object(&f->items[i])) continue;
    TVMFFIObject *obj = f->items[i].v_obj;
    if (f->n_wanted == 0 || f->wanted[f->n_wanted - 1] != obj) f->wanted[f->n_wanted++] = obj;
  }
  return 0;
}

/* Makes a path with the step of a label: a new reference, NULL with an error pending. Only values of a map have labels
 * here. */
static fh_access_path_object *extend_by_label(fh_access_path_object *path, const fh_walk_label *label) {
  TVMFFIAny key = fh_any_int(label->index);
  if (label->place == FH_WALK_AT_ITEM) return fh_access_path_extend(path, FH_ACCESS_ARRAY_ITEM, &key);
  if (label->place != FH_WALK_AT_FIELD) return fh_access_path_extend(path, FH_ACCESS_MAP_ITEM, &label->key);
  if (fh_str_from_bytes(label->field->name, &key) != 0) return NULL;
  fh_access_path_object *longer = fh_access_path_extend(path, FH_ACCESS_ATTR, &key);
  fh_any_drop(&key);
  return longer;
}

/* Adds the path of the labels of the first n frames. */
static int add_result(finder *f, size_t n) {
  fh_access_path_object *path = fh_access_path_root();
  for (size_t i = 0; i < n && path != NULL; ++i) {
    fh_walk_label label = fh_walk_label_of(&f->walk, fh_walk_at(&f->walk, i));
    fh_access_path_object *longer = extend_by_label(path, &label);
    fh_object_release(path);
    path = longer;
  }
  return path != NULL ? fh_seq_push(f->results, fh_any_object(path)) : -1;
}

/* Checks a value, and opens it unless it ends a path. The innermost object of the pattern is not opened: its path is
 * complete. */
static int enter_value(finder *f, const TVMFFIAny *value) {
  if (!fh_any_is_object(value)) return 0;
  bool is_match = f->n_matched < f->n_wanted && f->wanted[f->n_wanted - 1 - f->n_matched] == value->v_obj;
  if (is_match && f->n_matched + 1 == f->n_wanted) return add_result(f, fh_walk_depth(&f->walk));
  if (fh_walk_push(&f->walk, value) != 0) return -1;
  frame_data *data = (frame_data *)fh_walk_data(fh_walk_top(&f->walk));
  data->is_match = is_match;
  data->n_results = fh_seq_size(f->results);
  f->n_matched += is_match;
  return 0;
}

/* Closes the object on top. With allow_prefix it is the end of a path if objects of the pattern are open, no path was
 * found inside of it, and it is not a container. The root is left out: its path would have no steps. */
static int leave_object(finder *f) {
  fh_walk_frame *top = fh_walk_top(&f->walk);
  const frame_data *data = (const frame_data *)fh_walk_data(top);
  size_t n_labels = fh_walk_depth(&f->walk) - 1;
  bool is_end = top->shape == FH_WALK_FIELDS && f->n_matched > 0 && data->n_results == fh_seq_size(f->results);
  int rc = f->allow_prefix && is_end && n_labels != 0 ? add_result(f, n_labels) : 0;
  f->n_matched -= data->is_match;
  fh_walk_pop(&f->walk);
  return rc;
}

static int find_all(finder *f, const TVMFFIAny *root) {
  if (enter_value(f, root) != 0) return -1;
  while (fh_walk_depth(&f->walk) != 0) {
    TVMFFIAny child, key;
    /* Only the values of maps are checked: a visit does not enter keys. */
    bool is_map = fh_walk_top(&f->walk)->shape == FH_WALK_PAIRS;
    fh_walk_step step = is_map ? fh_walk_next_key(&f->walk, &key, &child) : fh_walk_next(&f->walk, &child);
    if (step == FH_WALK_ERROR) return -1;
    if ((step == FH_WALK_END ? leave_object(f) : enter_value(f, &child)) != 0) return -1;
  }
  return 0;
}

int fh_visit_context_find(const TVMFFIAny *root, const fh_visit_context_object *context, bool allow_prefix,
                          TVMFFIAny *out) {
  finder f;
  memset(&f, 0, sizeof(f));
  f.allow_prefix = allow_prefix;
  fh_walk_init(&f.walk, FH_WALK_PLAIN, 0, sizeof(frame_data));
  f.results = fh_seq_new_list(0);
  fh_seq_object *array = NULL;
  if (f.results != NULL && take_pattern(&f, context) == 0 && (f.n_wanted == 0 || find_all(&f, root) == 0)) {
    array = fh_seq_from_views(kTVMFFIArray, fh_seq_items(f.results), fh_seq_size(f.results));
  }
  fh_walk_free(&f.walk);
  fh_seq_drop_items(f.items, f.n_items);
  fh_mem_free(f.wanted);
  fh_object_release(f.results);
  return fh_any_give_object(array, out);
}

/* ---- The type ---- */

static int set_previous(void *field, const TVMFFIAny *value) {
  return fh_builtin_set_object(field, value, kTVMFFIObject, 1, "Optional<ffi.Object>");
}

static const fh_builtin_field context_fields[] = {
    {.name = "reverse_visit_pattern",
     .metadata = FH_SCHEMA(FH_SCHEMA_GENERIC("ffi.List", FH_SCHEMA_OBJECT)),
     .kind = FH_BUILTIN_LIST,
     .offset = offsetof(fh_visit_context_object, pattern),
     .setter = fh_builtin_set_object_list},
    {.name = "prev_error_context",
     .metadata = FH_SCHEMA(FH_SCHEMA_OPTIONAL(FH_SCHEMA_OBJECT)),
     .kind = FH_BUILTIN_OBJECT,
     .offset = offsetof(fh_visit_context_object, previous),
     .setter = set_previous},
    {.name = NULL},
};

FH_BUILTIN_TYPE(context, .key = "ffi.VisitErrorContext", .is_final = 1, .total_bytes = sizeof(fh_visit_context_object),
                .fields = context_fields);

void fh_visit_context_init(void) { context_index = fh_builtin_register(&context_type); }

/* --- tables of callbacks ----------------------------------------------------------------------------------------- */

/* Tables of callbacks by type.
 *
 * A table is a short list that is searched from the front. The first entry that matches counts, so special types must
 * come before general ones. */

static bool is_int(const TVMFFIAny *value) {
  return value->type_index == kTVMFFIInt || value->type_index == kTVMFFIBool;
}

/* Reads one entry of the table, which gains a reference to the Function: 1, or 0 if it is something else. *asked is the
 * type index in the entry, of 64 bits. May run under a lock: it raises and releases nothing. */
static bool read_entry(const fh_seq_object *seq, bool is_marked, int gets_more, fh_structural_entry *out,
                       int64_t *asked) {
  if (fh_seq_size(seq) != 2 + is_marked) return false;
  const TVMFFIAny *items = fh_seq_items(seq);
  if (!is_int(&items[0]) || items[1].type_index != kTVMFFIFunction || (is_marked && !is_int(&items[2]))) return false;
  *asked = items[0].v_int64;
  out->type_index = (int32_t)*asked;
  out->gets_more = is_marked ? items[2].v_int64 != 0 : gets_more;
  out->func = items[1].v_obj;
  fh_object_retain(out->func);
  return true;
}

static bool take_entry(const TVMFFIAny *value, bool is_marked, int gets_more, fh_structural_entry *out,
                       int64_t *asked) {
  if (!fh_seq_is(value)) return false;
  fh_stripe_lock(value->v_obj); /* it may be a List */
  bool is_entry = read_entry((const fh_seq_object *)(const void *)value->v_obj, is_marked, gets_more, out, asked);
  fh_stripe_unlock(value->v_obj);
  return is_entry;
}

int fh_structural_callbacks_add(fh_structural_callbacks *callbacks, const char *name, const TVMFFIAny *args, int32_t i,
                                bool is_marked, int gets_more) {
  const char *expected = is_marked ? "Array<Tuple<int, ffi.Function, bool>>" : "Array<Tuple<int, ffi.Function>>";
  TVMFFIAny *items;
  int64_t n;
  if (!fh_seq_is(&args[i])) return fh_function_raise_type(name, i, expected, &args[i]);
  /* A copy, because another thread may change a List while its entries are read. */
  if (fh_list_copy_items((const fh_seq_object *)(const void *)args[i].v_obj, &items, &n) != 0) return -1;
  size_t n_bytes = (size_t)(callbacks->n_entries + n) * sizeof(*callbacks->entries);
  fh_structural_entry *entries = (fh_structural_entry *)fh_mem_realloc(callbacks->entries, n_bytes);
  int rc = entries != NULL ? 0 : fh_error_raise_no_memory();
  if (rc == 0) callbacks->entries = entries;
  /* After an error the entries so far stay in the table, for fh_structural_callbacks_free. */
  for (int64_t k = 0; k < n && rc == 0; ++k) {
    fh_structural_entry *entry = &entries[callbacks->n_entries];
    int64_t asked;
    if (take_entry(&items[k], is_marked, gets_more, entry, &asked)) {
      callbacks->n_entries += 1;
      if (asked != entry->type_index)
        rc = fh_error_raise(FH_VALUE_ERROR, "Expected a type index but got %lld", (long long)asked);
    } else {
      rc = fh_error_raise(FH_TYPE_ERROR,
                          "Mismatched type on argument #%d when calling: `%s`. Expected `%s` but item %lld is none",
                          (int)i, name, expected, (long long)k);
    }
  }
  fh_seq_drop_items(items, n);
  return rc;
}

void fh_structural_callbacks_free(fh_structural_callbacks *callbacks) {
  for (int64_t i = 0; i < callbacks->n_entries; ++i) fh_object_release(callbacks->entries[i].func);
  fh_mem_free(callbacks->entries);
}

/* Whether a value of type_index is of the wanted type. Both forms of strings are one type, and so are both forms of
 * bytes. Other plain data matches its own index only, objects also their ancestors. */
static bool matches(int32_t type_index, int32_t wanted) {
  if (type_index == wanted || wanted == kTVMFFIAny) return true;
  if (wanted == kTVMFFIStr) return type_index == kTVMFFISmallStr;
  if (wanted == kTVMFFIBytes) return type_index == kTVMFFISmallBytes;
  return type_index >= kTVMFFIStaticObjectBegin && wanted >= kTVMFFIStaticObjectBegin &&
         fh_type_is_instance(type_index, wanted);
}

const fh_structural_entry *fh_structural_callbacks_find(const fh_structural_callbacks *callbacks, int32_t type_index) {
  for (int64_t i = 0; i < callbacks->n_entries; ++i) {
    if (matches(type_index, callbacks->entries[i].type_index)) return &callbacks->entries[i];
  }
  return NULL;
}
