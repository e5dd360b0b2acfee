/* access_path.c - the types AccessStep and AccessPath: the location of a value inside another value.
 *
 * A path is an immutable linked list that begins with its last step and ends in the root, which has no step. Extending
 * it is O(1) and shares everything; comparing two paths stops at the first object that both share. Structural
 * comparison reports by paths where two values differ. Types and methods are those of the reference, whose C++ class
 * has the same fields.
 *
 * This file does not change a path, but the setters of the fields can, also while another thread follows the path. So
 * code that follows a path owns each object that it has read. */
#include "access_path.h"

#include "builtin.h"
#include "core/container/seq.h"
#include "core/object/any_hash.h"
#include "core/object/any_own.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/reflect.h"
#include "core/object/str.h"
#include "core/object/text.h"
#include "core/object/type.h"
#include "core/platform/atomic.h"

FH_STATIC_ASSERT(sizeof(fh_access_step_object) == 48 && offsetof(fh_access_step_object, key) == 32, "ABI");
FH_STATIC_ASSERT(sizeof(fh_access_path_object) == 48 && offsetof(fh_access_path_object, depth) == 40, "ABI");

#define STEP_KEY "ffi.reflection.AccessStep"
#define PATH_KEY "ffi.reflection.AccessPath"

/* Defined at the end, because their initializers need the functions below. */
static const fh_builtin_type step_type, path_type;
static int32_t step_index, path_index; /* written once, by the load-time constructor */

/* ---- Creation ---- */

/* A position between a path and its root. NULL is after the root. */
typedef struct {
  const fh_access_path_object *path;
  void *owned; /* the path, unless it is the starting point */
} place;

static place start_at(const fh_access_path_object *path) {
  place at = {path, NULL};
  return at;
}
static void leave(place *at) { fh_object_release(at->owned); }
static void go_up(place *at) {
  void *parent = fh_builtin_get_object(&at->path->parent);
  leave(at);
  at->path = at->owned = parent;
}

/* Owned; NULL for the root. */
static fh_access_step_object *step_of(const place *at) {
  return at->path != NULL ? fh_builtin_get_object(&at->path->step) : NULL;
}
static int32_t depth_of(const fh_access_path_object *path) { return fh_atomic_load_relaxed_i32(&path->depth); }
static int32_t kind_of(const fh_access_step_object *step) { return fh_atomic_load_relaxed_i32(&step->kind); }

fh_access_path_object *fh_access_path_root(void) { return (fh_access_path_object *)fh_builtin_new(&path_type); }

/* Steals the step, also on failure. A NULL step means that an error is pending. */
static fh_access_path_object *extend_by_step(fh_access_path_object *path, TVMFFIObject *step) {
  fh_access_path_object *longer = step != NULL ? fh_access_path_root() : NULL;
  if (longer == NULL) {
    fh_object_release(step);
    return NULL;
  }
  fh_object_retain(path);
  longer->parent = &path->header;
  longer->step = step;
  longer->depth = depth_of(path) + 1;
  return longer;
}

static TVMFFIObject *new_step(fh_access_kind kind, const TVMFFIAny *key) {
  fh_access_step_object *step = (fh_access_step_object *)fh_builtin_new(&step_type);
  if (step == NULL) return NULL;
  step->kind = kind;
  if (fh_any_own(key, &step->key) == 0) return &step->header;
  fh_object_release(step);
  return NULL;
}

fh_access_path_object *fh_access_path_extend(fh_access_path_object *path, fh_access_kind kind, const TVMFFIAny *key) {
  return extend_by_step(path, new_step(kind, key));
}

/* ---- Comparing ---- */

/* Compares two steps: 0, or -1 if a hook of a key fails. Compares the kinds first: only keys of steps of one kind are
 * compared, which may run a hook. */
static int compare_steps(const fh_access_step_object *a, const fh_access_step_object *b, int *out) {
  *out = kind_of(a) == kind_of(b);
  if (!*out) return 0;
  TVMFFIAny key_a = fh_builtin_get_any(&a->key), key_b = fh_builtin_get_any(&b->key);
  int rc = fh_any_equal(&key_a, &key_b, out);
  fh_any_drop(&key_a);
  fh_any_drop(&key_b);
  return rc;
}

/* Compares two paths of the same length: 0 with *out set, or -1 if a hook of a key fails. Two paths are equal from the
 * first path object on that both share. A client can make a path with a wrong depth, so the loop does not rely on the
 * lengths and checks both ends. Releases both places. */
static int compare_chains(place a, place b, int *out) {
  int rc = 0, is_end = 0;
  for (*out = 1; rc == 0 && *out && !is_end && a.path != b.path;) {
    fh_access_step_object *step_a = step_of(&a), *step_b = step_of(&b);
    is_end = step_a == NULL || step_b == NULL;
    if (is_end) {
      *out = step_a == step_b;
    } else if ((rc = compare_steps(step_a, step_b, out)) == 0) {
      go_up(&a);
      go_up(&b);
    }
    fh_object_release(step_a);
    fh_object_release(step_b);
  }
  leave(&a);
  leave(&b);
  return rc;
}

/* The path of that depth, without the last steps. */
static place prefix_of(const fh_access_path_object *path, int32_t depth) {
  place at = start_at(path);
  while (at.path != NULL && depth_of(at.path) > depth) go_up(&at);
  return at;
}

/* ---- Methods ---- */

static int arg_path(const char *name, const TVMFFIAny *args, int32_t i, fh_access_path_object **out) {
  TVMFFIObject *obj;
  if (fh_function_arg_object(name, args, i, path_index, &obj) != 0) return -1;
  *out = (fh_access_path_object *)(void *)obj;
  return 0;
}

FH_CODE(call_root) {
  if (fh_function_check_count(PATH_KEY "._root", n_args, 0) != 0) return -1;
  return fh_any_give_object(fh_access_path_root(), result);
}

FH_CODE(call_extend) {
  const char *name = PATH_KEY "._extend";
  fh_access_path_object *path;
  TVMFFIObject *step;
  if (fh_function_check_count(name, n_args, 2) != 0 || arg_path(name, args, 0, &path) != 0) return -1;
  if (fh_function_arg_object(name, args, 1, step_index, &step) != 0) return -1;
  fh_object_retain(step);
  return fh_any_give_object(extend_by_step(path, step), result);
}

/* The six methods that make a step of their second argument. */
static int extend_by(const char *name, fh_access_kind kind, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  fh_access_path_object *path;
  TVMFFIByteArray text;
  TVMFFIAny key;
  int64_t index;
  if (fh_function_check_count(name, n_args, 2) != 0 || arg_path(name, args, 0, &path) != 0) return -1;
  /* The kinds differ in the type of a key: a name, an index, or any value. A missing member has the same type of
   * key. */
  key = args[1];
  if (kind == FH_ACCESS_ATTR || kind == FH_ACCESS_ATTR_MISSING) {
    if (fh_function_arg_str(name, args, 1, &text) != 0) return -1;
  } else if (kind == FH_ACCESS_ARRAY_ITEM || kind == FH_ACCESS_ARRAY_ITEM_MISSING) {
    if (fh_function_arg_int(name, args, 1, &index) != 0) return -1;
    key = fh_any_int(index);
  }
  return fh_any_give_object(fh_access_path_extend(path, kind, &key), result);
}

/* A Function does not know its name, so each method is a C function that passes its name and kind on. */
#define EXTENDING(function, name, kind) \
  FH_CODE(function) { return extend_by(PATH_KEY "." name, kind, args, n_args, result); }
EXTENDING(call_attr, "_attr", FH_ACCESS_ATTR)
EXTENDING(call_array_item, "_array_item", FH_ACCESS_ARRAY_ITEM)
EXTENDING(call_map_item, "_map_item", FH_ACCESS_MAP_ITEM)
EXTENDING(call_attr_missing, "_attr_missing", FH_ACCESS_ATTR_MISSING)
EXTENDING(call_array_item_missing, "_array_item_missing", FH_ACCESS_ARRAY_ITEM_MISSING)
EXTENDING(call_map_item_missing, "_map_item_missing", FH_ACCESS_MAP_ITEM_MISSING)

/* Compares the first path with the second one, or, if the second may be longer, with its beginning. */
static int compare_paths(const char *name, const TVMFFIAny *args, int32_t n_args, bool may_be_longer,
                         TVMFFIAny *result) {
  fh_access_path_object *a, *b;
  int is_equal = 0;
  if (fh_function_check_count(name, n_args, 2) != 0 || arg_path(name, args, 0, &a) != 0) return -1;
  if (arg_path(name, args, 1, &b) != 0) return -1;
  int32_t depth = depth_of(a);
  if (depth == depth_of(b) || (may_be_longer && depth < depth_of(b))) {
    if (compare_chains(start_at(a), prefix_of(b, depth), &is_equal) != 0) return -1;
  }
  *result = fh_any_bool(is_equal);
  return 0;
}

FH_CODE(call_is_prefix_of) { return compare_paths(PATH_KEY "._is_prefix_of", args, n_args, true, result); }

FH_CODE(call_path_equal) { return compare_paths(PATH_KEY "._path_equal", args, n_args, false, result); }

/* The steps in order; NULL with an error pending. The depth may be wrong, because a client can make a path, so it is
 * not used. */
static fh_seq_object *to_steps(const fh_access_path_object *path) {
  fh_seq_object *steps = NULL, *found = fh_seq_new_list(0);
  fh_access_step_object *step;
  place at = start_at(path);
  int rc = found != NULL ? 0 : -1;
  for (; rc == 0 && (step = step_of(&at)) != NULL; go_up(&at)) rc = fh_seq_push(found, fh_any_object(step));
  leave(&at);
  if (rc == 0) {
    /* The path begins with its last step. */
    TVMFFIAny *items = fh_seq_items(found);
    for (int64_t i = 0, last = fh_seq_size(found) - 1; i < last; ++i, --last) {
      TVMFFIAny item = items[i];
      items[i] = items[last];
      items[last] = item;
    }
    steps = fh_seq_from_views(kTVMFFIArray, items, fh_seq_size(found));
  }
  fh_object_release(found);
  return steps;
}

FH_CODE(call_to_steps) {
  const char *name = PATH_KEY "._to_steps";
  fh_access_path_object *path;
  if (fh_function_check_count(name, n_args, 1) != 0 || arg_path(name, args, 0, &path) != 0) return -1;
  return fh_any_give_object(to_steps(path), result);
}

/* ---- __ffi_repr__(object, fn_repr) ---- */

static int arg_repr(const char *name, const TVMFFIAny *args, int32_t n_args, int32_t type_index, TVMFFIObject **obj,
                    TVMFFIObject **fn_repr) {
  if (fh_function_check_count(name, n_args, 2) != 0) return -1;
  if (fh_function_arg_object(name, args, 0, type_index, obj) != 0) return -1;
  return fh_function_arg_object(name, args, 1, kTVMFFIFunction, fn_repr);
}

/* Appends the result of fn_repr for a value. A result that is not a string is left out. */
static int add_repr(TVMFFIObject *fn_repr, const TVMFFIAny *value, fh_text *text) {
  TVMFFIAny shown;
  TVMFFIByteArray content;
  if (fh_function_call(fn_repr, value, 1, &shown) != 0) return -1;
  int rc = fh_str_content(&shown, &content) ? fh_text_add(text, content.data, content.size) : 0;
  fh_any_drop(&shown);
  return rc;
}

/* The end of both functions: returns the string as a value, if rc is 0. Frees `text`. */
static int return_text(int rc, fh_text *text, TVMFFIAny *result) {
  if (rc == 0) rc = fh_str_new(text->data, text->n_bytes, result);
  fh_text_free(text);
  return rc;
}

/* ".name", "[key]", or "[<missing:key>]". */
FH_CODE(repr_step) {
  TVMFFIObject *obj, *fn_repr;
  TVMFFIByteArray name;
  fh_text text = {NULL, 0, 0};
  if (arg_repr(STEP_KEY ".__ffi_repr__", args, n_args, step_index, &obj, &fn_repr) != 0) return -1;
  const fh_access_step_object *step = (const fh_access_step_object *)(const void *)obj;
  TVMFFIAny key = fh_builtin_get_any(&step->key);
  int32_t kind = kind_of(step);
  int rc;
  if (kind == FH_ACCESS_ATTR && fh_str_content(&key, &name)) {
    rc = fh_text_add_cstr(&text, ".") != 0 ? -1 : fh_text_add(&text, name.data, name.size);
  } else {
    /* Also for an attribute whose key is not a string, which a client can make. */
    bool is_missing = kind >= FH_ACCESS_ATTR_MISSING;
    rc = fh_text_add_cstr(&text, is_missing ? "[<missing:" : "[");
    if (rc == 0) rc = add_repr(fn_repr, &key, &text);
    if (rc == 0) rc = fh_text_add_cstr(&text, is_missing ? ">]" : "]");
  }
  fh_any_drop(&key);
  return return_text(rc, &text, result);
}

/* "<root>" and the steps, each by fn_repr, so that a hook of a step's type is called. */
FH_CODE(repr_path) {
  TVMFFIObject *obj, *fn_repr;
  fh_text text = {NULL, 0, 0};
  if (arg_repr(PATH_KEY ".__ffi_repr__", args, n_args, path_index, &obj, &fn_repr) != 0) return -1;
  fh_seq_object *steps = to_steps((const fh_access_path_object *)(const void *)obj);
  if (steps == NULL) return -1;
  int rc = fh_text_add_cstr(&text, "<root>");
  for (int64_t i = 0; rc == 0 && i < fh_seq_size(steps); ++i) rc = add_repr(fn_repr, &fh_seq_items(steps)[i], &text);
  fh_object_release(steps);
  return return_text(rc, &text, result);
}

/* ---- The types ---- */

/* Setters of pointers, which builtin.c cannot provide because it does not know the expected type. */
static int set_parent(void *field, const TVMFFIAny *value) {
  return fh_builtin_set_object(field, value, path_index, 1, "Optional<" PATH_KEY ">");
}
static int set_step(void *field, const TVMFFIAny *value) {
  return fh_builtin_set_object(field, value, step_index, 1, "Optional<" STEP_KEY ">");
}

/* Both types are constant tree nodes: they are immutable, so an object equals itself without comparing fields. */
static const fh_builtin_field step_fields[] = {
    {.name = "kind",
     .metadata = FH_SCHEMA(FH_SCHEMA_INT),
     .kind = FH_BUILTIN_INT32,
     .offset = offsetof(fh_access_step_object, kind)},
    {.name = "key",
     .metadata = FH_SCHEMA(FH_SCHEMA_ANY),
     .kind = FH_BUILTIN_ANY,
     .offset = offsetof(fh_access_step_object, key)},
    {.name = NULL},
};

static const fh_builtin_field path_fields[] = {
    {.name = "parent",
     .metadata = FH_SCHEMA(FH_SCHEMA_OPTIONAL(FH_SCHEMA_OBJECT)),
     .kind = FH_BUILTIN_OBJECT,
     .offset = offsetof(fh_access_path_object, parent),
     .setter = set_parent},
    {.name = "step",
     .metadata = FH_SCHEMA(FH_SCHEMA_OPTIONAL(FH_SCHEMA_TYPE(STEP_KEY))),
     .kind = FH_BUILTIN_OBJECT,
     .offset = offsetof(fh_access_path_object, step),
     .setter = set_step},
    {.name = "depth",
     .metadata = FH_SCHEMA(FH_SCHEMA_INT),
     .kind = FH_BUILTIN_INT32,
     .offset = offsetof(fh_access_path_object, depth)},
    {.name = NULL},
};

#define PATH_SCHEMA FH_SCHEMA_TYPE(PATH_KEY)
#define METHOD_OF(result, argument) FH_SCHEMA(FH_SCHEMA_FUNCTION(result, PATH_SCHEMA "," argument))
#define STEPS_SCHEMA FH_SCHEMA_GENERIC("ffi.Array", FH_SCHEMA_TYPE(STEP_KEY))

/* The names are the reference's, and begin with "_" because bindings wrap these methods. */
static const fh_builtin_method path_methods[] = {
    {"_root", NULL, FH_SCHEMA(FH_SCHEMA_FUNCTION(PATH_SCHEMA, "")), kTVMFFIFieldFlagBitMaskIsStaticMethod, call_root},
    {"_extend", NULL, METHOD_OF(PATH_SCHEMA, FH_SCHEMA_TYPE(STEP_KEY)), 0, call_extend},
    {"_attr", NULL, METHOD_OF(PATH_SCHEMA, FH_SCHEMA_STR), 0, call_attr},
    {"_array_item", NULL, METHOD_OF(PATH_SCHEMA, FH_SCHEMA_INT), 0, call_array_item},
    {"_map_item", NULL, METHOD_OF(PATH_SCHEMA, FH_SCHEMA_ANY), 0, call_map_item},
    {"_attr_missing", NULL, METHOD_OF(PATH_SCHEMA, FH_SCHEMA_STR), 0, call_attr_missing},
    {"_array_item_missing", NULL, METHOD_OF(PATH_SCHEMA, FH_SCHEMA_INT), 0, call_array_item_missing},
    {"_map_item_missing", NULL, METHOD_OF(PATH_SCHEMA, FH_SCHEMA_ANY), 0, call_map_item_missing},
    {"_is_prefix_of", NULL, METHOD_OF(FH_SCHEMA_BOOL, PATH_SCHEMA), 0, call_is_prefix_of},
    {"_to_steps", NULL, FH_SCHEMA(FH_SCHEMA_FUNCTION(STEPS_SCHEMA, PATH_SCHEMA)), 0, call_to_steps},
    {"_path_equal", NULL, METHOD_OF(FH_SCHEMA_BOOL, PATH_SCHEMA), 0, call_path_equal},
    {NULL, NULL, NULL, 0, NULL},
};

FH_BUILTIN_TYPE(step, .key = STEP_KEY, .is_final = 1, .total_bytes = sizeof(fh_access_step_object),
                .kind = kTVMFFISEqHashKindConstTreeNode, .fields = step_fields);
FH_BUILTIN_TYPE(path, .key = PATH_KEY, .is_final = 1, .total_bytes = sizeof(fh_access_path_object),
                .kind = kTVMFFISEqHashKindConstTreeNode, .fields = path_fields, .methods = path_methods);

void fh_access_path_init(void) {
  step_index = fh_builtin_register(&step_type);
  path_index = fh_builtin_register(&path_type);
  fh_builtin_set_function(step_index, "__ffi_repr__", repr_step);
  fh_builtin_set_function(path_index, "__ffi_repr__", repr_path);
}
