/* custom.c - classes with their own comparison, hash or visit, and classes that exclude fields from these
 * operations. */
#include <stdlib.h>

#include "tables.h"

typedef struct {
  TVMFFIObject header;
  int64_t key;
  TVMFFIAny text;
} keyed;

typedef struct {
  keyed first;
  int64_t ignored;
} keyed_and_ignored;

#define KEY {"key", FT_FIELD_i64, offsetof(keyed, key), 0, NULL, NULL, NULL}
#define TEXT(name) {name, FT_FIELD_str, offsetof(keyed, text), 0, NULL, NULL, NULL}
#define IGNORED(name, flag) {name, FT_FIELD_i64, offsetof(keyed_and_ignored, ignored), flag, NULL, NULL, NULL}
#define TWO "(0: int, 1: str) -> ffi.Object"
#define THREE "(0: int, 1: str, 2: int) -> ffi.Object"
#define USUAL (FT_FINAL | FT_NEW | FT_COPY)

static const ft_field compare_fields[] = {
    KEY,
    TEXT("name"),
    IGNORED("ignored_field", kTVMFFIFieldFlagBitMaskCompareOff),
};
static const ft_field hash_fields[] = {
    KEY,
    TEXT("name"),
    IGNORED("hash_ignored", kTVMFFIFieldFlagBitMaskHashOff),
};
static const ft_field labelled_fields[] = {KEY, TEXT("label")};

FT_CLASS(compare, .key = "testing.TestCompare", .size = sizeof(keyed_and_ignored), .traits = USUAL,
         FT_FIELDS(compare_fields), .init = THREE);
FT_CLASS(hash, .key = "testing.TestHash", .size = sizeof(keyed_and_ignored), .traits = USUAL, FT_FIELDS(hash_fields),
         .init = THREE);
FT_CLASS(custom_hash, .key = "testing.TestCustomHash", .size = sizeof(keyed), .traits = USUAL,
         FT_FIELDS(labelled_fields), .init = TWO);
FT_CLASS(custom_compare, .key = "testing.TestCustomCompare", .size = sizeof(keyed), .traits = USUAL,
         FT_FIELDS(labelled_fields), .init = TWO);
FT_CLASS(no_hash, .key = "testing.TestEqWithoutHash", .size = sizeof(keyed), .traits = USUAL,
         FT_FIELDS(labelled_fields), .init = TWO);

/* Reads the key of an argument, which must be an object of the hook's class. */
static int key_of(const ft_function *self, const TVMFFIAny *arg, TVMFFIAny *out) {
  const ft_class *cls = (const ft_class *)self->context;
  if (arg->type_index != cls->type_index) return ft_raise("TypeError", "Expected a ", cls->key, (char *)NULL);
  *out = ft_int(((const keyed *)(const void *)arg->v_obj)->key);
  return 0;
}

/* Hash, equality and order of objects are computed from their keys. The last argument is the function that computes
 * them. */
FT_CALL(by_key) {
  TVMFFIAny keys[2];
  int32_t n_keys = n_args - 1;
  for (int32_t i = 0; i < n_keys; ++i) {
    if (key_of(self, &args[i], &keys[i]) != 0) return -1;
  }
  if (!ft_is_object(&args[n_keys])) return ft_raise("TypeError", "Expected a function, not None", (char *)NULL);
  if (TVMFFIFunctionCall(args[n_keys].v_obj, keys, n_keys, result) != 0) return -1;
  ft_accepted number;
  if (ft_accept(&self->type.args[0], result, &number) == FT_YES) {
    *result = number.value;
    return 0;
  }
  ft_drop(result);
  return ft_raise("TypeError", "Expected a number from the function of a hook", (char *)NULL);
}

/* ---- testing.TestVisitRegions, testing.TestVisitHook ---- */

typedef struct {
  TVMFFIObject header;
  int64_t simple, pattern, ordinary;
} regions;

typedef struct {
  TVMFFIObject header;
  void *child;
} hooked;

static void begin_regions(void *object) {
  regions *made = (regions *)object;
  made->simple = 1;
  made->pattern = 2;
  made->ordinary = 3;
}

static const ft_field regions_fields[] = {
    {"simple", FT_FIELD_i64, offsetof(regions, simple), kTVMFFIFieldFlagBitMaskSEqHashDefSimple, NULL, NULL, NULL},
    {"pattern", FT_FIELD_i64, offsetof(regions, pattern), kTVMFFIFieldFlagBitMaskSEqHashDefPattern, NULL, NULL, NULL},
    {"ordinary", FT_FIELD_i64, offsetof(regions, ordinary), 0, NULL, NULL, NULL},
};
static const ft_field hooked_fields[] = {
    {"child", FT_FIELD_object, offsetof(hooked, child), 0, NULL, NULL, NULL},
};
FT_CLASS(regions, .key = "testing.TestVisitRegions", .size = sizeof(regions), .traits = USUAL | FT_AUTO_INIT,
         FT_FIELDS(regions_fields), .begin = begin_regions);
static ft_class hooked_class = {
    .key = "testing.TestVisitHook",
    .size = sizeof(hooked),
    .traits = FT_FINAL | FT_COPY,
    FT_FIELDS(hooked_fields),
};

/* The state of a function that visits a child later: the visitor and the child, both retained. */
typedef struct {
  TVMFFIAny args[2];
} later;

static int visit_now(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  (void)args, (void)n_args;
  return ft_core_call(FT_VISIT, ((later *)self)->args, 2, result);
}

static void end_later(void *self) {
  ft_drop(&((later *)self)->args[0]);
  ft_drop(&((later *)self)->args[1]);
  free(self);
}

static int visit_later(const TVMFFIAny *visitor, void *child, TVMFFIAny *out) {
  TVMFFIObjectHandle function;
  later *what = (later *)malloc(sizeof(*what));
  if (what == NULL) return ft_no_memory("a visit");
  what->args[0] = *visitor;
  what->args[1] = ft_object(child);
  (void)TVMFFIObjectIncRef(visitor->v_obj);
  if (child != NULL) (void)TVMFFIObjectIncRef(child);
  if (TVMFFIFunctionCreate(what, visit_now, end_later, &function) != 0) {
    end_later(what);
    return -1;
  }
  *out = ft_object(function);
  return 0;
}

/* Visits the child in a region that defines it, then the number 4 in the region of the visit. */
FT_CALL(visit_hook) {
  TVMFFIAny call[3] = {args[0], ft_int(kTVMFFIDefRegionKindSimple), ft_none()};
  if (args[0].type_index == kTVMFFINone || args[1].type_index != hooked_class.type_index) {
    return ft_raise("TypeError", "Expected a visitor and a testing.TestVisitHook", (char *)NULL);
  }
  if (visit_later(&args[0], ((const hooked *)(const void *)args[1].v_obj)->child, &call[2]) != 0) return -1;
  int rc = ft_core_call(FT_VISIT_IN_REGION, call, 3, result);
  ft_drop(&call[2]);
  if (rc != 0 || result->type_index != kTVMFFINone) return rc;
  TVMFFIAny sibling[2] = {args[0], ft_int(4)};
  return ft_core_call(FT_VISIT, sibling, 2, result);
}

FT_CALL(make_graph) {
  TVMFFIObjectHandle fields, outer;
  if (ft_object_new(&regions_class, &fields) != 0) return -1;
  *result = ft_object(fields);
  if (!args[0].v_int64) return 0;
  if (ft_object_new(&hooked_class, &outer) != 0) {
    ft_drop(result);
    return -1;
  }
  ((hooked *)outer)->child = fields;
  *result = ft_object(outer);
  return 0;
}

/* ---- The tables ---- */

#define HASH "(0: ffi.Object?, 1: ffi.Function?) -> int"
#define EQ "(0: ffi.Object?, 1: ffi.Object?, 2: ffi.Function?) -> bool"
#define ORDER "(0: ffi.Object?, 1: ffi.Object?, 2: ffi.Function?) -> int"

static const ft_global globals[] = {
    {"testing.make_visit_region_graph", "(0: bool) -> Any", make_graph, NULL, NULL},
};

static const struct {
  const ft_class *cls;
  const char *attr;
  const char *name;
  const char *signature;
  ft_body body;
} hooks[] = {
    {&custom_hash_class, "__ffi_hash__", "testing.TestCustomHash.__ffi_hash__", HASH, by_key},
    {&custom_compare_class, "__ffi_hash__", "testing.TestCustomCompare.__ffi_hash__", HASH, by_key},
    {&custom_compare_class, "__ffi_eq__", "testing.TestCustomCompare.__ffi_eq__", EQ, by_key},
    {&custom_compare_class, "__ffi_compare__", "testing.TestCustomCompare.__ffi_compare__", ORDER, by_key},
    {&no_hash_class, "__ffi_eq__", "testing.TestEqWithoutHash.__ffi_eq__", EQ, by_key},
    {&hooked_class, "__s_visit__", "", "(0: ffi.StructuralVisitor, 1: AnyView) -> Optional<ffi.VisitInterrupt>",
     visit_hook},
};

static ft_class *const classes[] = {
    &compare_class, &hash_class,    &custom_hash_class, &custom_compare_class,
    &no_hash_class, &regions_class, &hooked_class,
};
const ft_classes ft_custom_classes = {classes, FT_COUNT(classes)};

int ft_custom_load(void) {
  for (int32_t i = 0; i < FT_COUNT(hooks); ++i) {
    const ft_class *cls = hooks[i].cls;
    if (ft_function_add_attr(cls->type_index, hooks[i].attr, hooks[i].name, hooks[i].signature, hooks[i].body, cls)) {
      return -1;
    }
  }
  return ft_function_add_globals(globals, FT_COUNT(globals));
}
