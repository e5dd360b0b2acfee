/* visitor.c - the types StructuralVisitor and VisitInterrupt, and the common parts of all visitors.
 *
 * This file has the default visit of a value, which calls a visitor for each part and so uses the C stack. The default
 * visit serves visitors of other libraries. This library's own visitor (structural_visit.c) recognises the hooks of
 * containers by their address and reads the containers on a walk instead. */
#include "visitor.h"

#include "core/container/hashmap.h"
#include "core/container/list.h"
#include "core/fields/builtin.h"
#include "core/object/any_own.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/reflect.h"
#include "core/object/type.h"
#include "core/walk/walk.h"
#include "structural.h"

FH_STATIC_ASSERT(sizeof(fh_visitor_object) == 40 && offsetof(fh_visitor_object, region) == 32, "ABI");
FH_STATIC_ASSERT(sizeof(fh_visit_interrupt_object) == 40, "ABI");

static const fh_builtin_type visitor_type, interrupt_type;
static int32_t visitor_index; /* written once, by the load-time constructor */

int32_t fh_visitor_type(void) { return visitor_index; }

/* ---- Results ---- */

fh_visit_verdict fh_visitor_take_result(TVMFFIAny *result, const char *who, TVMFFIAny *interrupt) {
  switch (result->type_index) {
  case kTVMFFINone: return FH_VISIT_ON;
  case kTVMFFIVisitInterrupt: *interrupt = *result; return FH_VISIT_STOPPED;
  case kTVMFFIError: fh_error_put(result->v_obj); return FH_VISIT_FAILED;
  default: break;
  }
  fh_error_raise(FH_TYPE_ERROR, "Expected %s to return None, a VisitInterrupt or an Error but got `%s`", who,
                 fh_type_name(result->type_index));
  fh_any_drop(result);
  return FH_VISIT_FAILED;
}

TVMFFIAny fh_visitor_make_result(fh_visit_verdict verdict, TVMFFIAny interrupt) {
  if (verdict == FH_VISIT_STOPPED) return interrupt;
  return verdict == FH_VISIT_FAILED ? fh_any_object(fh_error_take()) : fh_any_none();
}

TVMFFIAny fh_visitor_check_result(TVMFFIAny result, const char *who) {
  TVMFFIAny interrupt = fh_any_none();
  return fh_visitor_make_result(fh_visitor_take_result(&result, who, &interrupt), interrupt);
}

/* The raw result for the pending error, which it clears. */
static TVMFFIAny failed(void) { return fh_visitor_make_result(FH_VISIT_FAILED, fh_any_none()); }

/* ---- Contents of containers: their __s_visit__. Only the values of a map are visited: its keys define their places.
 * The first result that is not None ends the visit and is returned. An Array and a Map are read in place: only the
 * owner of their only reference may change them, and the caller holds a reference during the visit ---- */

static TVMFFIAny visit_array(fh_visitor_object *visitor, TVMFFIAny value) {
  const fh_seq_object *array = (const fh_seq_object *)(void *)value.v_obj;
  const TVMFFIAny *items = fh_seq_items(array);
  int64_t n = fh_seq_size(array);
  TVMFFIAny outcome = fh_any_none();
  for (int64_t i = 0; outcome.type_index == kTVMFFINone && i < n; ++i) outcome = fh_visitor_call(visitor, items[i]);
  return outcome;
}

/* One owned item at a time: the visitor, or another thread, may change the List. */
static TVMFFIAny visit_list(fh_visitor_object *visitor, TVMFFIAny value) {
  TVMFFIAny item, outcome = fh_any_none();
  for (int64_t i = 0; outcome.type_index == kTVMFFINone; ++i) {
    if (!fh_list_find((const fh_seq_object *)(void *)value.v_obj, i, &item)) break;
    outcome = fh_visitor_call(visitor, item);
    fh_any_drop(&item);
  }
  return outcome;
}

/* A Map in place, a Dict as a copy. */
static TVMFFIAny visit_values(fh_visitor_object *visitor, TVMFFIAny value) {
  TVMFFIAny outcome = fh_any_none();
  fh_hashmap_object *map = fh_structural_read_map(value.v_obj);
  if (map == NULL) return failed();
  const fh_hashmap_pair *pair;
  uint64_t at = fh_hashmap_begin(map);
  for (; outcome.type_index == kTVMFFINone && (pair = fh_hashmap_at(map, at)) != NULL; at = fh_hashmap_next(map, at)) {
    outcome = fh_visitor_call(visitor, pair->value);
  }
  fh_structural_end_map(value.v_obj, map);
  return outcome;
}

bool fh_visitor_is_container_hook(const TVMFFIAny *hook) {
  return hook->type_index == kTVMFFIOpaquePtr &&
         (hook->v_ptr == (void *)(uintptr_t)&visit_array || hook->v_ptr == (void *)(uintptr_t)&visit_list ||
          hook->v_ptr == (void *)(uintptr_t)&visit_values);
}

/* ---- Contents of any value ---- */

TVMFFIAny fh_visitor_call_hook(const TVMFFIAny *hook, fh_visitor_object *visitor, TVMFFIAny value) {
  if (hook->type_index == kTVMFFIOpaquePtr) {
    fh_sync_check_unlocked("a hook that visits");
    return ((fh_visitor_visit)(uintptr_t)hook->v_ptr)(visitor, value);
  }
  if (hook->type_index == kTVMFFIFunction) {
    TVMFFIAny args[2] = {fh_any_object(visitor), value}, result;
    return fh_function_call(hook->v_obj, args, 2, &result) == 0 ? result : failed();
  }
  fh_error_raise(FH_TYPE_ERROR, "__s_visit__ must be an opaque function pointer or ffi.Function");
  return failed();
}

/* Visits the values of the fields. The visitor reads the region of each from its own `region`, which is restored after
 * every call. */
static TVMFFIAny visit_fields(fh_visitor_object *visitor, TVMFFIObject *obj) {
  const TVMFFITypeInfo *info = fh_type_find(obj->type_index);
  int32_t outer = visitor->region, inner = fh_structural_inner_region(outer, fh_structural_kind_of(info));
  fh_reflect_cursor cursor = fh_reflect_fields(info);
  TVMFFIAny outcome = fh_any_none();
  const TVMFFIFieldInfo *field;
  const int64_t skip = kTVMFFIFieldFlagBitMaskSEqHashIgnore;
  while (outcome.type_index == kTVMFFINone && (field = fh_walk_next_field(&cursor, skip)) != NULL) {
    TVMFFIAny value;
    if (fh_reflect_get(field, obj, &value) != 0) return failed();
    visitor->region = fh_structural_field_region(inner, field->flags);
    outcome = fh_visitor_call(visitor, value);
    visitor->region = outer;
    fh_any_drop(&value);
  }
  return outcome;
}

TVMFFIAny fh_visitor_default(fh_visitor_object *visitor, TVMFFIAny value) {
  const TVMFFIAny *hook = fh_reflect_attr(fh_reflect_column(FH_ATTR_S_VISIT), value.type_index);
  if (hook != NULL) return fh_visitor_check_result(fh_visitor_call_hook(hook, visitor, value), "__s_visit__");
  return fh_any_is_object(&value) ? visit_fields(visitor, value.v_obj) : fh_any_none();
}

/* ---- The types ---- */

fh_visit_interrupt_object *fh_visit_interrupt_new(const TVMFFIAny *value) {
  fh_visit_interrupt_object *interrupt = (fh_visit_interrupt_object *)fh_builtin_new(&interrupt_type);
  if (interrupt == NULL || fh_any_own(value, &interrupt->value) == 0) return interrupt;
  fh_object_release(interrupt);
  return NULL;
}

static const fh_builtin_field interrupt_fields[] = {
    {.name = "value",
     .metadata = FH_SCHEMA(FH_SCHEMA_ANY),
     .kind = FH_BUILTIN_ANY,
     .offset = offsetof(fh_visit_interrupt_object, value),
     .flags = kTVMFFIFieldFlagBitMaskHasDefault},
    {.name = NULL},
};
static const fh_builtin_field no_fields[] = {{.name = NULL}};

FH_BUILTIN_TYPE(interrupt, .key = "ffi.VisitInterrupt", .is_final = 1, .total_bytes = sizeof(fh_visit_interrupt_object),
                .fields = interrupt_fields);
static const fh_builtin_type visitor_type = {
    .key = "ffi.StructuralVisitor",
    .total_bytes = sizeof(fh_visitor_object),
    .fields = no_fields,
    .copy = fh_builtin_refuse_copy,
};

void fh_visitor_init(void) {
  fh_builtin_register(&interrupt_type);
  visitor_index = fh_builtin_register(&visitor_type);
  fh_builtin_set_native(kTVMFFIArray, "__s_visit__", (void *)(uintptr_t)&visit_array);
  fh_builtin_set_native(kTVMFFIList, "__s_visit__", (void *)(uintptr_t)&visit_list);
  fh_builtin_set_native(kTVMFFIMap, "__s_visit__", (void *)(uintptr_t)&visit_values);
  fh_builtin_set_native(kTVMFFIDict, "__s_visit__", (void *)(uintptr_t)&visit_values);
}
