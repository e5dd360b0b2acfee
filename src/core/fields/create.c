/* create.c - creating objects of reflected types: empty, from names and values, or by a constructor of bound arguments.
 *
 * Each function begins with an empty object and then writes its fields through their setters, so a value is converted
 * and checked as in any assignment. If a field cannot be written, the object is dropped. */
#include "create.h"

#include <stdio.h>

#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/opaque.h"
#include "core/object/reflect.h"
#include "core/object/str.h"
#include "core/platform/atomic.h"
#include "core/platform/mem.h"
#include "core/platform/sync.h"

#define PAIRS_NAME "ffi.MakeObjectFromPackedArgs"

TVMFFIObject *fh_create_empty(const TVMFFITypeInfo *info) {
  /* Types of compiled code have a creator in their metadata; types of a binding have the attribute __ffi_new__. */
  const TVMFFITypeMetadata *metadata = fh_type_metadata(info);
  if (metadata != NULL && metadata->creator != NULL) {
    TVMFFIObjectHandle obj = NULL;
    fh_sync_check_unlocked("a creator");
    return metadata->creator(&obj) == 0 ? (TVMFFIObject *)obj : NULL;
  }
  const TVMFFIAny *creator = fh_reflect_attr(fh_reflect_column(FH_ATTR_NEW), info->type_index);
  TVMFFIAny made;
  if (creator == NULL || creator->type_index != kTVMFFIFunction) {
    fh_error_raise(FH_RUNTIME_ERROR,
                   "Type `%.*s` cannot be created by reflection: it has no creator and no __ffi_new__",
                   FH_BYTES_ARGS(info->type_key));
    return NULL;
  }
  if (fh_function_call(creator->v_obj, fh_no_arguments, 0, &made) != 0) return NULL;
  /* __ffi_new__ is foreign code: another result than an instance would cause writes to unrelated memory. */
  if (fh_any_is_object(&made) && fh_type_is_instance(made.type_index, info->type_index)) return made.v_obj;
  fh_error_raise(FH_TYPE_ERROR, "Expected __ffi_new__ of `%.*s` to return one but got `%s`",
                 FH_BYTES_ARGS(info->type_key), fh_type_name(made.type_index));
  fh_any_drop(&made);
  return NULL;
}

/* A default factory is called for each object, because its result may be mutable. */
int fh_create_set_default(const TVMFFIFieldInfo *field, void *obj) {
  if (!(field->flags & kTVMFFIFieldFlagBitMaskDefaultFromFactory)) {
    return fh_reflect_set(field, obj, &field->default_value_or_factory);
  }
  TVMFFIAny value;
  if (fh_function_call(field->default_value_or_factory.v_obj, NULL, 0, &value) != 0) return -1;
  int rc = fh_reflect_set(field, obj, &value);
  fh_any_drop(&value);
  return rc;
}

/* ---- From names and values ---- */

/* The arguments of ffi.MakeObjectFromPackedArgs and the resulting object. */
typedef struct {
  const TVMFFITypeInfo *info;
  TVMFFIObject *obj;
  const TVMFFIAny *args; /* args[0] is the type */
  int32_t n_args;
  unsigned char *used; /* one flag for each pair */
  int32_t first; /* the first pair that is not used: finds pairs in the order of the fields at once */
} pairs;

/* The first pair of that name, from args[i] on, that no field has used; 0 for none. Pairs in another order than the
 * fields cost a scan each. */
static FH_NOINLINE int32_t find_pair(const pairs *from, TVMFFIByteArray wanted, int32_t i) {
  TVMFFIByteArray name;
  for (; i < from->n_args; i += 2) {
    if (from->used[i / 2]) continue;
    (void)fh_function_arg_str(PAIRS_NAME, from->args, i, &name); /* fill_from_pairs has checked that it is a string */
    if (fh_span_same(name, wanted)) return i;
  }
  return 0;
}

/* Whether a subclass declares the field before `at` again. */
static FH_NOINLINE bool is_declared_again(fh_reflect_cursor at, TVMFFIByteArray name) {
  at.next = at.end; /* names are unique within a class */
  for (const TVMFFIFieldInfo *field; (field = fh_reflect_next_field(&at)) != NULL;) {
    if (fh_span_same(field->name, name)) return true;
  }
  return false;
}

/* Writes one field: from a pair, else its default. If a subclass declares the field again, the only pair of the name
 * goes to the subclass's field, and this field may stay empty. */
static FH_NOINLINE int set_from_pairs(pairs *from, const TVMFFIFieldInfo *field, fh_reflect_cursor behind) {
  while (from->first < from->n_args && from->used[from->first / 2]) from->first += 2;
  int32_t at = find_pair(from, field->name, from->first);
  bool is_again = is_declared_again(behind, field->name);
  if (at != 0 && (!is_again || find_pair(from, field->name, at + 2) != 0)) {
    from->used[at / 2] = 1;
    return fh_reflect_set(field, from->obj, &from->args[at + 1]);
  }
  if (field->flags & kTVMFFIFieldFlagBitMaskHasDefault) return fh_create_set_default(field, from->obj);
  if (is_again) return 0;
  return fh_error_raise(FH_TYPE_ERROR, "Required field `%.*s` not set in type `%.*s`", FH_BYTES_ARGS(field->name),
                        FH_BYTES_ARGS(from->info->type_key));
}

/* The type that args[0] names, as a key or an index; checks that the other arguments are pairs. */
static int find_type(const TVMFFIAny *args, int32_t n_args, const TVMFFITypeInfo **info) {
  TVMFFIByteArray key;
  int64_t index;
  if (n_args % 2 != 1) {
    return fh_error_raise(FH_TYPE_ERROR,
                          "Mismatched number of arguments when calling: `" PAIRS_NAME
                          "`. Expected a type and pairs of name and value but got %d arguments",
                          (int)n_args);
  }
  if (fh_str_content(&args[0], &key)) {
    index = fh_type_find_key(key);
    if (index < 0) return fh_error_raise(FH_RUNTIME_ERROR, "Cannot find type `%.*s`", FH_BYTES_ARGS(key));
  } else if (fh_function_arg_int(PAIRS_NAME, args, 0, &index) != 0) {
    return -1;
  }
  *info = index >= 0 && index <= INT32_MAX ? fh_type_find((int32_t)index) : NULL;
  if (*info != NULL) return 0;
  return fh_error_raise(FH_RUNTIME_ERROR, "Cannot find a type with index %lld", (long long)index);
}

/* Checks first that all names are strings, so that a wrong one is an error before any setter has run. A pair without a
 * field is an error, too, but only after the setters of the others. */
static int fill_from_pairs(pairs *from) {
  TVMFFIByteArray name;
  for (int32_t i = 1; i < from->n_args; i += 2) {
    if (fh_function_arg_str(PAIRS_NAME, from->args, i, &name) != 0) return -1;
  }
  fh_reflect_cursor cursor = fh_reflect_fields(from->info);
  for (const TVMFFIFieldInfo *field; (field = fh_reflect_next_field(&cursor)) != NULL;) {
    if (set_from_pairs(from, field, cursor) != 0) return -1;
  }
  for (int32_t i = 1; i < from->n_args; i += 2) {
    if (from->used[i / 2]) continue;
    (void)fh_function_arg_str(PAIRS_NAME, from->args, i, &name); /* a string, as above */
    return fh_error_raise(FH_TYPE_ERROR, "Type `%.*s` does not have field `%.*s`", FH_BYTES_ARGS(from->info->type_key),
                          FH_BYTES_ARGS(name));
  }
  return 0;
}

int fh_create_from_pairs(const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  pairs from = {NULL, NULL, args, n_args, NULL, 1};
  if (find_type(args, n_args, &from.info) != 0) return -1;
  from.used = (unsigned char *)fh_mem_calloc((size_t)n_args / 2 + 1, 1);
  if (from.used == NULL) return fh_error_raise_no_memory();
  from.obj = fh_create_empty(from.info);
  int rc = from.obj == NULL ? -1 : fill_from_pairs(&from);
  fh_mem_free(from.used);
  if (rc != 0) {
    fh_object_release(from.obj);
    return -1;
  }
  *result = fh_any_object(from.obj);
  return 0;
}

/* ---- The automatic constructor: arguments are bound to fields as Python binds them to parameters ----
 *
 * Positional arguments fill the fields that take part and are not keyword-only: those without a default first, then
 * those with a default, each in order of declaration. After the object KWARGS come names and values. The remaining
 * fields get their default. If a subclass declares a name again, the last field of the name takes part, in the place of
 * the first; the others stay empty.
 *
 * A type can get fields after its constructor was made: a C++ class may be registered before its base class, depending
 * on the order in which the source files initialise. So a call compares the number of fields, and makes a new list if
 * it has changed. An outdated list stays, because other threads may be reading it, and points to the newer one. */

/* The closure of a constructor: the fields of a type at one moment. The arrays follow the struct, in its block. After
 * publication only `newer` changes. */
typedef struct {
  const TVMFFITypeInfo *info;
  void *newer; /* a constructor with more fields, or NULL: acquire load, compare-and-swap */
  int32_t n_declared; /* number of fields of the type, including fields that are declared again */
  int32_t n_max; /* room for fields */
  int32_t n_fields;
  int32_t n_positional;
  const TVMFFIFieldInfo **fields; /* one of each name, the root's first */
  /* indices of the fields that positional arguments fill in order: those without a default first */
  int32_t *positional;
  int32_t *places; /* by name: an index + 1, or 0. Open addressing with linear probing */
  size_t mask; /* number of places - 1; at least half of them are empty */
} constructor;

static bool takes_part(const TVMFFIFieldInfo *field) { return !(field->flags & kTVMFFIFieldFlagBitMaskInitOff); }
static bool has_default(const TVMFFIFieldInfo *field) {
  return (field->flags & kTVMFFIFieldFlagBitMaskHasDefault) != 0;
}
static bool is_keyword_only(const TVMFFIFieldInfo *field) {
  return (field->flags & kTVMFFIFieldFlagBitMaskKwOnly) != 0;
}

/* The place of a name; it contains 0 if no field has the name. */
static int32_t *place_of(const constructor *c, TVMFFIByteArray name) {
  /* Fibonacci hashing, as in name.c. */
  for (size_t i = (size_t)(fh_span_hash(name.data, name.size) * 0x9e3779b97f4a7c15u >> 32);; ++i) {
    int32_t *place = &c->places[i & c->mask];
    if (*place == 0 || fh_span_same(c->fields[*place - 1]->name, name)) return place;
  }
}

/* The index of the field of that name that takes part, -1 if there is none. */
static int32_t find_by_name(const constructor *c, TVMFFIByteArray name) {
  int32_t i = *place_of(c, name) - 1;
  return i >= 0 && takes_part(c->fields[i]) ? i : -1;
}

/* Replaces the pending error of a setter by an error that names the constructor and the field. The setter's error
 * becomes its cause. */
static int raise_about_field(const constructor *c, const TVMFFIFieldInfo *field, const char *what) {
  TVMFFIObject *cause = fh_error_take();
  if (cause == NULL) return -1; /* a foreign setter that failed without an error */
  /* The message in one block: a first line, then the message of the setter, indented by two spaces. */
  const TVMFFIErrorCell *cell = TVMFFIErrorGetCellPtr(cause);
  size_t n_lines = 0;
  for (size_t i = 0; i < cell->message.size; ++i) n_lines += cell->message.data[i] == '\n';
  /* 80 covers the words between the strings. */
  size_t n_max = c->info->type_key.size + field->name.size + cell->message.size + 2 * n_lines + 80;
  char *text = (char *)fh_mem_alloc(n_max);
  TVMFFIObject *error = NULL;
  if (text != NULL) {
    size_t n = (size_t)snprintf(text, n_max, "%.*s.__ffi_init__() %s '%.*s':\n  ", FH_BYTES_ARGS(c->info->type_key),
                                what, FH_BYTES_ARGS(field->name));
    for (size_t i = 0; i < cell->message.size; ++i) {
      text[n++] = cell->message.data[i];
      if (cell->message.data[i] != '\n') continue;
      text[n++] = ' ';
      text[n++] = ' ';
    }
    TVMFFIByteArray message = {text, n};
    /* places in a message of one line stay valid behind the first line */
    bool has_places = n_lines == 0 && ffi_hpy_is_class_places(cell->extra_context);
    error = fh_error_new(cell->kind, message, cell->backtrace, cause,
                         has_places ? (TVMFFIObject *)cell->extra_context : NULL);
    fh_mem_free(text);
  }
  fh_object_release(cause);
  if (error == NULL) return fh_error_raise_no_memory();
  fh_error_put(error);
  return -1;
}

/* Writes the i-th field and marks it as set. */
static int set_argument(const constructor *c, TVMFFIObject *obj, int32_t i, const TVMFFIAny *value,
                        unsigned char *is_set) {
  is_set[i] = 1;
  if (fh_reflect_set(c->fields[i], obj, value) == 0) return 0;
  return raise_about_field(c, c->fields[i], "field");
}

static int set_keywords(const constructor *c, TVMFFIObject *obj, const TVMFFIAny *args, int32_t n_args,
                        unsigned char *is_set) {
  if (n_args % 2 != 0) {
    return fh_error_raise(FH_TYPE_ERROR,
                          "%.*s.__ffi_init__() expected a value for every keyword but got %d arguments after KWARGS",
                          FH_BYTES_ARGS(c->info->type_key), (int)n_args);
  }
  for (int32_t k = 0; k < n_args; k += 2) {
    TVMFFIByteArray name;
    if (!fh_str_content(&args[k], &name)) {
      return fh_error_raise(FH_TYPE_ERROR, "%.*s.__ffi_init__() expected a keyword of type `str` but got `%s`",
                            FH_BYTES_ARGS(c->info->type_key), fh_type_name(args[k].type_index));
    }
    int32_t i = find_by_name(c, name);
    if (i < 0) {
      return fh_error_raise(FH_TYPE_ERROR, "%.*s.__ffi_init__() got an unexpected keyword argument '%.*s'",
                            FH_BYTES_ARGS(c->info->type_key), FH_BYTES_ARGS(name));
    }
    if (is_set[i]) {
      return fh_error_raise(FH_TYPE_ERROR, "%.*s.__ffi_init__() got multiple values for argument '%.*s'",
                            FH_BYTES_ARGS(c->info->type_key), FH_BYTES_ARGS(name));
    }
    if (set_argument(c, obj, i, &args[k + 1], is_set) != 0) return -1;
  }
  return 0;
}

/* Sets the fields without an argument to their defaults. A field without a default stays empty if it takes no part,
 * else it is missing. */
static int set_rest(const constructor *c, TVMFFIObject *obj, const unsigned char *is_set) {
  for (int32_t i = 0; i < c->n_fields; ++i) {
    const TVMFFIFieldInfo *field = c->fields[i];
    if (is_set[i]) continue;
    if (has_default(field)) {
      if (fh_create_set_default(field, obj) != 0) return raise_about_field(c, field, "default for field");
    } else if (takes_part(field)) {
      return fh_error_raise(FH_TYPE_ERROR, "%.*s.__ffi_init__() missing required %s: '%.*s'",
                            FH_BYTES_ARGS(c->info->type_key),
                            is_keyword_only(field) ? "keyword-only argument" : "argument", FH_BYTES_ARGS(field->name));
    }
  }
  return 0;
}

static int bind_arguments(const constructor *c, TVMFFIObject *obj, const TVMFFIAny *args, int32_t n_args,
                          unsigned char *is_set) {
  const TVMFFIObject *sentinel = fh_sentinel_kwargs();
  int32_t n_positional = 0;
  /* KWARGS is recognised by its address: no other value of a caller has it. */
  while (n_positional < n_args && !(fh_any_is_object(&args[n_positional]) && args[n_positional].v_obj == sentinel)) {
    ++n_positional;
  }
  if (n_positional > c->n_positional) {
    return fh_error_raise(FH_TYPE_ERROR,
                          "%.*s.__ffi_init__() takes at most %d positional argument(s), but %d were given",
                          FH_BYTES_ARGS(c->info->type_key), (int)c->n_positional, (int)n_positional);
  }
  /* Fields are written in the order of the arguments, then the defaults in the order of declaration. */
  for (int32_t i = 0; i < n_positional; ++i) {
    if (set_argument(c, obj, c->positional[i], &args[i], is_set) != 0) return -1;
  }
  int32_t first = n_positional + 1;
  if (first < n_args && set_keywords(c, obj, args + first, n_args - first, is_set) != 0) return -1;
  return set_rest(c, obj, is_set);
}

static int construct_with(const constructor *c, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  /* A byte for each field: on the stack, unless there are many. */
  unsigned char few[64], *is_set = few;
  if ((size_t)c->n_fields > sizeof(few) && (is_set = (unsigned char *)fh_mem_alloc((size_t)c->n_fields)) == NULL) {
    return fh_error_raise_no_memory();
  }
  memset(is_set, 0, (size_t)c->n_fields);
  TVMFFIObject *obj = fh_create_empty(c->info);
  int rc = obj == NULL ? -1 : bind_arguments(c, obj, args, n_args, is_set);
  if (is_set != few) fh_mem_free(is_set);
  if (rc != 0) {
    fh_object_release(obj);
    return -1;
  }
  *result = fh_any_object(obj);
  return 0;
}

/* Adds a field, or replaces an earlier declaration of it. */
static int add_field(void *state, const TVMFFIFieldInfo *field) {
  constructor *c = (constructor *)state;
  if (c->n_declared == c->n_max) return 1; /* a field that is newer than the count: the next call uses it */
  int32_t *place = place_of(c, field->name);
  if (*place == 0) *place = ++c->n_fields;
  c->fields[*place - 1] = field;
  c->n_declared += 1;
  return 0;
}

/* Adds the fields that positional arguments may fill and that have, or do not have, a default. */
static void add_positional(constructor *c, bool want_default) {
  for (int32_t i = 0; i < c->n_fields; ++i) {
    const TVMFFIFieldInfo *field = c->fields[i];
    if (takes_part(field) && !is_keyword_only(field) && has_default(field) == want_default) {
      c->positional[c->n_positional++] = i;
    }
  }
}

/* The current fields of the type. Owned; NULL with an error pending. */
static constructor *constructor_new(const TVMFFITypeInfo *info) {
  int32_t n = fh_reflect_count_fields(info);
  size_t n_places = 8;
  while (n_places < 2 * (size_t)n) n_places *= 2;
  constructor *c = (constructor *)fh_mem_calloc(
      1, sizeof(*c) + (size_t)n * (sizeof(*c->fields) + sizeof(*c->positional)) + n_places * sizeof(*c->places));
  if (c == NULL) {
    fh_error_raise_no_memory();
    return NULL;
  }
  c->info = info;
  c->fields = (const TVMFFIFieldInfo **)(void *)(c + 1);
  c->positional = (int32_t *)(void *)(c->fields + n);
  c->places = c->positional + n;
  c->mask = n_places - 1;
  c->n_max = n;
  fh_reflect_each_field(info, add_field, c);
  add_positional(c, false);
  add_positional(c, true);
  return c;
}

/* Also frees the newer ones. The Function that owned them is gone, so no thread reads them. */
static void constructor_free(void *self) {
  for (constructor *c = (constructor *)self; c != NULL;) {
    constructor *newer = (constructor *)c->newer;
    fh_mem_free(c);
    c = newer;
  }
}

/* The constructor for the current fields, borrowed; NULL with an error pending. Fields are only ever added, so an equal
 * number of them means the same fields. */
static const constructor *up_to_date(constructor *c) {
  /* acquire, as below: pairs with the compare-and-swap, so that the constructor is complete */
  for (void *newer; (newer = fh_atomic_load_acquire_ptr(&c->newer)) != NULL;) c = (constructor *)newer;
  /* The common case: the type has got no new fields. */
  if (c->n_declared == fh_reflect_count_fields(c->info)) return c;
  constructor *made = constructor_new(c->info);
  void *nothing = NULL;
  /* release, within seq_cst: pairs with the acquire loads above and below */
  if (made == NULL || fh_atomic_cas_seq_cst_ptr(&c->newer, &nothing, made)) return made;
  fh_mem_free(made); /* another thread was quicker */
  return (const constructor *)fh_atomic_load_acquire_ptr(&c->newer);
}

FH_CODE(construct) {
  const constructor *c = up_to_date((constructor *)self);
  return c == NULL ? -1 : construct_with(c, args, n_args, result);
}

int fh_create_constructor(int32_t type_index, TVMFFIObjectHandle *out) {
  const TVMFFITypeInfo *info = fh_type_find(type_index);
  if (info == NULL) return fh_error_raise(FH_RUNTIME_ERROR, "Cannot find a type with index %d", (int)type_index);
  constructor *c = constructor_new(info);
  if (c == NULL) return -1;
  if (fh_function_new(c, construct, constructor_free, out) != 0) {
    constructor_free(c);
    return -1;
  }
  return 0;
}
