/* plain.c - objects with numbers, strings and other objects, and families of them. */
#include "tables.h"

/* ---- testing.TestIntPair ---- */

typedef struct {
  TVMFFIObject header;
  int64_t a, b;
} int_pair;

FT_CALL(sum) {
  const int_pair *pair = (const int_pair *)(const void *)args[0].v_obj;
  *result = ft_int(pair->a + pair->b);
  return 0;
}

static const ft_field int_pair_fields[] = {
    {"a", FT_FIELD_i64, offsetof(int_pair, a), 0, NULL, "Field `a`", NULL},
    {"b", FT_FIELD_i64, offsetof(int_pair, b), 0, NULL, "Field `b`", NULL},
};
static const ft_method int_pair_methods[] = {
    {"sum", "testing.TestIntPair.sum", "(0: testing.TestIntPair) -> int", sum, 0, "Method to compute sum of a and b",
     NULL},
};
FT_CLASS(int_pair, .key = "testing.TestIntPair", .size = sizeof(int_pair),
         .traits = FT_FINAL | FT_NEW | FT_COPY | FT_CONVERT, FT_FIELDS(int_pair_fields), FT_METHODS(int_pair_methods),
         .init = "(0: int, 1: int) -> ffi.Object");

/* ---- testing.TestObjectBase, testing.TestObjectDerived ---- */

typedef struct {
  TVMFFIObject header;
  int64_t v_i64;
  double v_f64;
  TVMFFIAny v_str;
} object_base;

typedef struct {
  object_base base;
  void *v_map, *v_array;
} object_derived;

FT_CALL(add_i64) {
  const object_base *object = (const object_base *)(const void *)args[0].v_obj;
  *result = ft_int(object->v_i64 + args[1].v_int64);
  return 0;
}

static const ft_field object_base_fields[] = {
    {"v_i64", FT_FIELD_i64, offsetof(object_base, v_i64), FT_WRITABLE, "10", "i64 field", NULL},
    {"v_f64", FT_FIELD_f64, offsetof(object_base, v_f64), 0, "10.0", NULL, NULL},
    {"v_str", FT_FIELD_str, offsetof(object_base, v_str), FT_WRITABLE, "\"hello\"", NULL, NULL},
};
static const ft_method object_base_methods[] = {
    {"add_i64", "testing.TestObjectBase.add_i64", "(0: testing.TestObjectBase, 1: int) -> int", add_i64, 0,
     "add_i64 method", NULL},
};
FT_CLASS(object_base, .key = "testing.TestObjectBase", .size = sizeof(object_base), .child_slots = 1,
         .traits = FT_NEW | FT_COPY | FT_AUTO_INIT, FT_FIELDS(object_base_fields), FT_METHODS(object_base_methods));

static const ft_field object_derived_fields[] = {
    {"v_map", FT_FIELD_map_any, offsetof(object_derived, v_map), FT_WRITABLE, NULL, NULL, NULL},
    {"v_array", FT_FIELD_arr_any, offsetof(object_derived, v_array), FT_WRITABLE, NULL, NULL, NULL},
};
FT_CLASS(object_derived, .key = "testing.TestObjectDerived", .parent = &object_base_class,
         .size = sizeof(object_derived), .traits = FT_FINAL | FT_NEW | FT_COPY | FT_AUTO_INIT,
         FT_FIELDS(object_derived_fields));

/* ---- testing.TestObjectPtrHolder ---- */

typedef struct {
  TVMFFIObject header;
  void *value, *optional_value;
} holder;

static const ft_field holder_fields[] = {
    {"value", FT_FIELD_object_base, offsetof(holder, value), FT_WRITABLE, NULL, NULL, NULL},
    {"optional_value", FT_FIELD_opt_object_base, offsetof(holder, optional_value), FT_WRITABLE, "None", NULL, NULL},
};
FT_CLASS(holder, .key = "testing.TestObjectPtrHolder", .size = sizeof(holder),
         .traits = FT_NEW | FT_COPY | FT_AUTO_INIT, FT_FIELDS(holder_fields));

/* ---- testing.TestFrozenCxx ---- */

typedef struct {
  TVMFFIObject header;
  int64_t value;
  TVMFFIAny tag;
} frozen;

static const ft_field frozen_fields[] = {
    {"value", FT_FIELD_i64, offsetof(frozen, value), FT_WRITABLE, NULL, NULL, NULL},
    {"tag", FT_FIELD_str, offsetof(frozen, tag), FT_WRITABLE, NULL, NULL, NULL},
};
FT_CLASS(frozen, .key = "testing.TestFrozenCxx", .size = sizeof(frozen),
         .traits = FT_FINAL | FT_NEW | FT_COPY | FT_AUTO_INIT, FT_FIELDS(frozen_fields));

/* ---- testing.TestNonCopyable ---- */

typedef struct {
  TVMFFIObject header;
  int64_t value;
} non_copyable;

static const ft_field non_copyable_fields[] = {
    {"value", FT_FIELD_i64, offsetof(non_copyable, value), 0, NULL, NULL, NULL},
};
static ft_class non_copyable_class = {
    .key = "testing.TestNonCopyable",
    .size = sizeof(non_copyable),
    FT_FIELDS(non_copyable_fields),
    .init = "(0: int) -> ffi.Object",
};

/* ---- testing.TestDeepCopyEdges ---- */

typedef struct {
  TVMFFIObject header;
  TVMFFIAny v_any;
  void *v_obj;
} edges;

static const ft_field edges_fields[] = {
    {"v_any", FT_FIELD_any, offsetof(edges, v_any), FT_WRITABLE, NULL, NULL, NULL},
    {"v_obj", FT_FIELD_object, offsetof(edges, v_obj), FT_WRITABLE, NULL, NULL, NULL},
};
FT_CLASS(edges, .key = "testing.TestDeepCopyEdges", .size = sizeof(edges), .traits = FT_NEW | FT_COPY | FT_AUTO_INIT,
         FT_FIELDS(edges_fields));

/* ---- testing.TestUnregisteredBaseObject, testing.TestUnregisteredObject: for bindings that have no classes for them
 * ---- */

typedef struct {
  TVMFFIObject header;
  int64_t v1;
} unknown_base;

typedef struct {
  unknown_base base;
  int64_t v2;
} unknown;

FT_CALL(get_v1_plus_one) {
  *result = ft_int(((const unknown_base *)(const void *)args[0].v_obj)->v1 + 1);
  return 0;
}

FT_CALL(get_v2_plus_two) {
  *result = ft_int(((const unknown *)(const void *)args[0].v_obj)->v2 + 2);
  return 0;
}

static const ft_field unknown_base_fields[] = {
    {"v1", FT_FIELD_i64, offsetof(unknown_base, v1), 0, NULL, NULL, NULL},
};
static const ft_method unknown_base_methods[] = {
    {"get_v1_plus_one", "testing.TestUnregisteredBaseObject.get_v1_plus_one",
     "(0: testing.TestUnregisteredBaseObject) -> int", get_v1_plus_one, 0,
     "Get (v1 + 1) from TestUnregisteredBaseObject", NULL},
};
static ft_class unknown_base_class = {
    .key = "testing.TestUnregisteredBaseObject",
    .size = sizeof(unknown_base),
    .traits = FT_COPY,
    FT_FIELDS(unknown_base_fields),
    FT_METHODS(unknown_base_methods),
    .init = "(0: int) -> ffi.Object",
    .init_doc = "Constructor of TestUnregisteredBaseObject",
};

static const ft_field unknown_fields[] = {
    {"v2", FT_FIELD_i64, offsetof(unknown, v2), 0, NULL, NULL, NULL},
};
static const ft_method unknown_methods[] = {
    {"get_v2_plus_two", "testing.TestUnregisteredObject.get_v2_plus_two", "(0: testing.TestUnregisteredObject) -> int",
     get_v2_plus_two, 0, "Get (v2 + 2) from TestUnregisteredObject", NULL},
};
static ft_class unknown_class = {
    .key = "testing.TestUnregisteredObject",
    .parent = &unknown_base_class,
    .size = sizeof(unknown),
    .traits = FT_COPY,
    FT_FIELDS(unknown_fields),
    FT_METHODS(unknown_methods),
    .init = "(0: int, 1: int) -> ffi.Object",
    .init_doc = "Constructor of TestUnregisteredObject",
};

FT_CALL(make_unregistered) {
  TVMFFIObjectHandle made;
  if (ft_object_new(&unknown_class, &made) != 0) return -1;
  ((unknown *)made)->base.v1 = 41;
  ((unknown *)made)->v2 = 42;
  *result = ft_object(made);
  return 0;
}

/* ---- The tables ---- */

static const ft_global globals[] = {
    {"testing.make_unregistered_object", "() -> ffi.Object", make_unregistered, NULL, NULL},
    {"testing.TestIntPairSum", "(0: testing.TestIntPair) -> int", sum, "Get sum of the pair", NULL},
};

static ft_class *const classes[] = {
    &int_pair_class, &object_base_class,  &object_derived_class, &holder_class,  &frozen_class,
    &edges_class,    &non_copyable_class, &unknown_base_class,   &unknown_class,
};
const ft_classes ft_plain_classes = {classes, FT_COUNT(classes)};

int ft_plain_load(void) { return ft_function_add_globals(globals, FT_COUNT(globals)); }
