/* mutator.c - the type StructuralMutator, and the common parts of all mutators.
 *
 * This file has the default mutation of a value, for mutators of any library. The default mutation calls the mutator
 * for each part and makes a copy at the first part that changes, so a value without changes costs no copy. The default
 * mutation uses the C stack. This library's own mutator (structural_mutate.c) recognises the hooks of containers and
 * leaves by their address and does not call them. */
#include "mutator.h"

#include "core/container/hashmap.h"
#include "core/container/list.h"
#include "core/fields/builtin.h"
#include "core/object/any_hash.h"
#include "core/object/error.h"
#include "core/object/field_access.h"
#include "core/object/function.h"
#include "core/object/reflect.h"
#include "core/object/type.h"
#include "core/platform/sync.h"
#include "core/walk/walk.h"
#include "structural.h"
#include "visit_context.h"

FH_STATIC_ASSERT(sizeof(fh_mutator_object) == 40 && offsetof(fh_mutator_object, region) == 32, "ABI");

static const fh_builtin_type mutator_type;
static int32_t mutator_index; /* written once, by the load-time constructor */

int32_t fh_mutator_type(void) { return mutator_index; }

/* ---- Results ---- */

int fh_mutator_take_result(TVMFFIAny *result) {
  if (result->type_index != kTVMFFIError) return 0;
  fh_error_put(result->v_obj);
  *result = fh_any_none();
  return -1;
}

TVMFFIAny fh_mutator_make_result(int rc, TVMFFIAny result) { return rc == 0 ? result : fh_any_object(fh_error_take()); }

int fh_mutator_call(fh_mutator_object *mutator, fh_mutator_mutate function, const TVMFFIAny *value, TVMFFIAny *out) {
  fh_sync_check_unlocked("a mutator");
  *out = function(mutator, *value);
  return fh_mutator_take_result(out);
}

int fh_mutator_call_remap_set(fh_mutator_object *mutator, const TVMFFIAny *var, const TVMFFIAny *mapped,
                              TVMFFIAny *out) {
  fh_sync_check_unlocked("a mutator");
  *out = mutator->table->var_remap_set(mutator, *var, *mapped);
  return fh_mutator_take_result(out);
}

/* Mutates a child: 1 with the owned *out if it changes, 0 if it stays, -1. The child is changed in place only if the
 * caller has its only reference. */
static inline int mutate_child(fh_mutator_object *mutator, const TVMFFIAny *value, bool can_inplace, TVMFFIAny *out) {
  int inplace = can_inplace && fh_any_is_object(value) && fh_object_is_own(value->v_obj, 1);
  fh_sync_check_unlocked("a mutator");
  /* As fh_mutator_call, with the most frequent result first. */
  *out = (inplace ? mutator->table->maybe_inplace_mutate : mutator->table->mutate)(mutator, *value);
  if (out->type_index == kTVMFFIUnchanged) return 0;
  if (FH_UNLIKELY(out->type_index == kTVMFFIError)) return fh_error_put(out->v_obj), -1;
  if (!fh_mutator_keeps(out, value)) return 1;
  fh_any_drop(out);
  return 0;
}

/* Replaces *place by an owned value. The old value is dropped last: its deleter may read *place. */
static inline void replace(TVMFFIAny *place, const TVMFFIAny *value) {
  TVMFFIAny old = *place;
  *place = *value;
  fh_any_drop(&old);
}

/* ---- Hooks of containers, for mutators of other libraries. This library's own mutator does not call them: it walks
 * into containers ---- */

/* Mutates n items, which stay unchanged. *made becomes a copy of them at the first change, and stays NULL without one.
 * -1 with an error pending; the caller releases *made. */
static int mutate_each(fh_mutator_object *mutator, int32_t type_index, const TVMFFIAny *items, int64_t n,
                       fh_seq_object **made) {
  int rc = 0;
  for (int64_t i = 0; rc == 0 && i < n; ++i) {
    TVMFFIAny changed;
    rc = mutate_child(mutator, &items[i], 0, &changed);
    if (rc != 1) continue;
    if (*made == NULL) *made = fh_seq_from_views(type_index, items, n);
    rc = *made != NULL ? 0 : -1;
    if (rc == 0) {
      replace(&fh_seq_items(*made)[i], &changed);
    } else {
      fh_any_drop(&changed);
    }
  }
  return rc;
}

/* A List's items are copied first, because other threads may change it while the mutator runs. */
static TVMFFIAny mutate_items(fh_mutator_object *mutator, TVMFFIAny value) {
  const fh_seq_object *seq = (const fh_seq_object *)(void *)value.v_obj;
  fh_seq_object *made = NULL;
  TVMFFIAny *copies = NULL;
  int64_t n = fh_seq_size(seq);
  int rc = 0;
  if (value.type_index == kTVMFFIList) rc = fh_list_copy_items(seq, &copies, &n);
  if (rc == 0) rc = mutate_each(mutator, value.type_index, copies != NULL ? copies : fh_seq_items(seq), n, &made);
  if (copies != NULL) fh_seq_drop_items(copies, n);
  if (rc == 0) return made != NULL ? fh_any_object(made) : fh_mutator_unchanged();
  fh_object_release(made);
  return fh_mutator_make_result(-1, fh_any_none());
}

/* The caller has the only reference to the sequence. Yet the mutator may have changed it, so the size and the items are
 * read again after each call. */
static TVMFFIAny mutate_items_inplace(fh_mutator_object *mutator, TVMFFIAny value) {
  fh_seq_object *seq = (fh_seq_object *)(void *)value.v_obj;
  for (int64_t i = 0; i < fh_seq_size(seq); ++i) {
    TVMFFIAny item = fh_seq_items(seq)[i], changed;
    int rc = mutate_child(mutator, &item, 1, &changed);
    if (rc < 0) return fh_mutator_make_result(-1, fh_any_none());
    if (rc == 0) continue;
    if (i < fh_seq_size(seq)) {
      replace(&fh_seq_items(seq)[i], &changed);
    } else {
      fh_any_drop(&changed);
    }
  }
  return fh_mutator_unchanged();
}

/* Mutates the values of a map. *target is the map that changes: the map itself, or a copy, NULL until the first
 * change. */
static int mutate_values_of(fh_mutator_object *mutator, fh_hashmap_object *map, fh_hashmap_object **target) {
  fh_hashmap_pair *pair;
  uint64_t at = fh_hashmap_begin(map);
  int rc = 0, inplace = *target == map;
  for (; rc == 0 && (pair = fh_hashmap_at(map, at)) != NULL; at = fh_hashmap_next(map, at)) {
    /* A view outside of the pair, which moves if the mutator adds to a map that changes in place. */
    TVMFFIAny value = pair->value, changed;
    rc = mutate_child(mutator, &value, inplace, &changed);
    if (rc != 1) continue;
    if (*target == NULL) *target = fh_hashmap_copy(map, map->header.type_index);
    rc = *target != NULL ? 0 : -1;
    fh_hashmap_pair *slot = rc == 0 ? fh_hashmap_at(*target, at) : NULL; /* a copy has the same positions */
    if (slot != NULL) {
      replace(&slot->value, &changed);
    } else {
      fh_any_drop(&changed);
    }
  }
  return rc;
}

/* A Map is read in place, a Dict as a copy; the changes go into a copy of either. */
static TVMFFIAny mutate_values(fh_mutator_object *mutator, TVMFFIAny value) {
  fh_hashmap_object *map = fh_structural_read_map(value.v_obj), *target = NULL;
  int rc = map != NULL ? mutate_values_of(mutator, map, &target) : -1;
  fh_structural_end_map(value.v_obj, map);
  if (rc == 0) return target != NULL ? fh_any_object(target) : fh_mutator_unchanged();
  fh_object_release(target);
  return fh_mutator_make_result(-1, fh_any_none());
}

/* The caller has the only reference to the map. */
static TVMFFIAny mutate_values_inplace(fh_mutator_object *mutator, TVMFFIAny value) {
  fh_hashmap_object *map = (fh_hashmap_object *)(void *)value.v_obj, *target = map;
  return fh_mutator_make_result(mutate_values_of(mutator, map, &target), fh_mutator_unchanged());
}

/* The hook of strings, bytes and large integers, which have no parts. */
static TVMFFIAny keep_leaf(FH_MAYBE_UNUSED fh_mutator_object *mutator, FH_MAYBE_UNUSED TVMFFIAny value) {
  return fh_mutator_unchanged();
}

/* Whether a hook is that function of this library. */
static bool is_native(const TVMFFIAny *hook, fh_mutator_mutate function) {
  return hook->type_index == kTVMFFIOpaquePtr && hook->v_ptr == (void *)(uintptr_t)function;
}

bool fh_mutator_is_container_hook(const TVMFFIAny *hook) {
  return is_native(hook, mutate_items) || is_native(hook, mutate_items_inplace) || is_native(hook, mutate_values) ||
         is_native(hook, mutate_values_inplace);
}

bool fh_mutator_is_leaf_hook(const TVMFFIAny *hook) { return is_native(hook, keep_leaf); }

/* ---- Any value ---- */

bool fh_mutator_is_same_leaf(TVMFFIAny a, TVMFFIAny b) {
  int is_equal = 0;
  if (a.type_index != kTVMFFIStr && a.type_index != kTVMFFIBytes && a.type_index != kTVMFFIBigInt) return false;
  return fh_any_equal(&a, &b, &is_equal) == 0 && is_equal;
}

int fh_mutator_call_hook(const TVMFFIAny *hook, fh_mutator_object *mutator, const TVMFFIAny *value, TVMFFIAny *out) {
  TVMFFIAny args[2] = {fh_any_object(mutator), *value};
  *out = fh_any_none();
  switch (hook->type_index) {
  case kTVMFFIOpaquePtr:
    fh_sync_check_unlocked("a hook that mutates");
    *out = ((fh_mutator_mutate)(uintptr_t)hook->v_ptr)(mutator, *value);
    return fh_mutator_take_result(out);
  case kTVMFFIFunction: return fh_function_call(hook->v_obj, args, 2, out) != 0 ? -1 : fh_mutator_take_result(out);
  default: return fh_error_raise(FH_TYPE_ERROR, "__s_mutate__ must be a direct hook pointer or ffi.Function");
  }
}

/* The __ffi_shallow_copy__ of a type, NULL unless it is a Function. Borrowed forever. */
static const TVMFFIAny *copy_hook(int32_t type_index) {
  const TVMFFIAny *hook = fh_reflect_attr(fh_reflect_column(FH_ATTR_SHALLOW_COPY), type_index);
  return hook != NULL && hook->type_index == kTVMFFIFunction ? hook : NULL;
}

int fh_mutator_check_copy(int32_t type_index) {
  if (copy_hook(type_index) != NULL) return 0;
  return fh_error_raise(FH_TYPE_ERROR, "__ffi_shallow_copy__ must be an ffi.Function, which `%s` does not have",
                        fh_type_name(type_index));
}

TVMFFIObject *fh_mutator_copy(TVMFFIObject *obj) {
  TVMFFIAny copy;
  if (fh_mutator_check_copy(obj->type_index) != 0) return NULL;
  if (fh_field_access_copy(copy_hook(obj->type_index)->v_obj, obj, &copy) != 0) return NULL;
  /* The hook is foreign. Setters will write to its result, so the result must not be the original, nor of another
   * type. */
  if (copy.type_index == obj->type_index && copy.v_obj != obj) return copy.v_obj;
  fh_error_raise(FH_TYPE_ERROR, "Expected __ffi_shallow_copy__ of `%s` to return another one but got `%s`",
                 fh_type_name(obj->type_index), copy.v_obj == obj ? "the same" : fh_type_name(copy.type_index));
  fh_any_drop(&copy);
  return NULL;
}

int fh_mutator_set_field(const TVMFFIFieldInfo *field, TVMFFIObject *copy, const TVMFFIAny *value) {
  if (field->setter != NULL) return fh_reflect_set(field, copy, value);
  return fh_error_raise(FH_TYPE_ERROR,
                        "Cannot structurally mutate field `%.*s` of type `%s` because it does not define a setter",
                        FH_BYTES_ARGS(field->name), fh_type_name(copy->type_index));
}

/* One field; *copy is made at the first change. */
static int mutate_field(fh_mutator_object *mutator, TVMFFIObject *obj, const TVMFFIFieldInfo *field, int32_t region,
                        TVMFFIObject **copy) {
  int32_t outer = mutator->region;
  TVMFFIAny value, changed;
  if (fh_reflect_get(field, obj, &value) != 0) return -1;
  mutator->region = region;
  int rc = mutate_child(mutator, &value, 0, &changed);
  mutator->region = outer;
  if (rc == 1) {
    if (*copy == NULL) *copy = fh_mutator_copy(obj);
    rc = *copy != NULL ? fh_mutator_set_field(field, *copy, &changed) : -1;
    fh_any_drop(&changed);
  }
  fh_any_drop(&value);
  return rc;
}

/* Mutates an object by its fields. A type without a copy is refused before the first field, even if no field would
 * change. *out is the changed copy, owned, or Unchanged. */
static int mutate_fields(fh_mutator_object *mutator, TVMFFIObject *obj, int32_t kind, TVMFFIAny *out) {
  int32_t inner = fh_structural_inner_region(mutator->region, kind);
  fh_reflect_cursor cursor = fh_reflect_fields(fh_type_find(obj->type_index));
  const TVMFFIFieldInfo *field;
  TVMFFIObject *copy = NULL;
  if (fh_mutator_check_copy(obj->type_index) != 0) return -1;
  while ((field = fh_walk_next_field(&cursor, kTVMFFIFieldFlagBitMaskSEqHashIgnore)) != NULL) {
    if (mutate_field(mutator, obj, field, fh_structural_field_region(inner, field->flags), &copy) == 0) continue;
    fh_object_release(copy);
    return -1;
  }
  *out = copy != NULL ? fh_any_object(copy) : fh_mutator_unchanged();
  return 0;
}

/* Mutates an object without a hook. A variable or a DAG node is mutated once: the mutator stores its replacement. */
static int mutate_object(fh_mutator_object *mutator, const TVMFFIAny *value, TVMFFIAny *out) {
  int32_t kind = fh_structural_find_kind(value->type_index);
  bool is_var = kind == kTVMFFISEqHashKindFreeVar, is_node = kind == kTVMFFISEqHashKindDAGNode;
  if (is_var || is_node) {
    if (fh_mutator_call(mutator, mutator->table->var_remap_get, value, out) != 0) return -1;
    if (out->type_index != kTVMFFINone) return 0;
  }
  /* A use of a variable without a replacement: it stays. */
  if (is_var && mutator->region == kTVMFFIDefRegionKindNone) {
    *out = fh_mutator_unchanged();
    return 0;
  }
  if (mutate_fields(mutator, value->v_obj, kind, out) != 0) return -1;
  if (!fh_structural_is_remapped(kind, mutator->region, out)) return 0;
  /* var_remap_set returns None, or an error. The result of the mutation stays in *out, unless there is an error. */
  TVMFFIAny outcome;
  int rc = fh_mutator_call_remap_set(mutator, value, out, &outcome);
  fh_any_drop(rc == 0 ? &outcome : out);
  return rc;
}

int fh_mutator_default(fh_mutator_object *mutator, const TVMFFIAny *value, TVMFFIAny *out) {
  const TVMFFIAny *hook = fh_reflect_attr(fh_reflect_column(FH_ATTR_S_MUTATE), value->type_index);
  int rc = 0;
  *out = fh_mutator_unchanged();
  if (hook != NULL) {
    rc = fh_mutator_call_hook(hook, mutator, value, out);
  } else if (fh_any_is_object(value)) {
    rc = mutate_object(mutator, value, out);
  }
  if (rc != 0) fh_visit_context_note(value);
  return rc;
}

/* ---- The type ---- */

static const fh_builtin_field no_fields[] = {{.name = NULL}};

static const fh_builtin_type mutator_type = {
    .key = "ffi.StructuralMutator",
    .total_bytes = sizeof(fh_mutator_object),
    .fields = no_fields,
    .copy = fh_builtin_refuse_copy,
};

static void set_hooks(int32_t type_index, fh_mutator_mutate hook, fh_mutator_mutate inplace_hook) {
  fh_builtin_set_native(type_index, "__s_mutate__", (void *)(uintptr_t)hook);
  fh_builtin_set_native(type_index, "__s_maybe_inplace_mutate__", (void *)(uintptr_t)inplace_hook);
}

void fh_mutator_init(void) {
  mutator_index = fh_builtin_register(&mutator_type);
  set_hooks(kTVMFFIStr, keep_leaf, keep_leaf);
  set_hooks(kTVMFFIBytes, keep_leaf, keep_leaf);
  set_hooks(kTVMFFIBigInt, keep_leaf, keep_leaf);
  set_hooks(kTVMFFIArray, mutate_items, mutate_items_inplace);
  set_hooks(kTVMFFIList, mutate_items, mutate_items_inplace);
  set_hooks(kTVMFFIMap, mutate_values, mutate_values_inplace);
  set_hooks(kTVMFFIDict, mutate_values, mutate_values_inplace);
}
