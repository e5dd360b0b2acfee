/* globals_nested.c - ffi.* functions that read values recursively, by the walks of src/core/walk. */
#include "core/object/any_own.h"
#include "core/object/function.h"
#include "core/tensor/tensor.h"
#include "core/walk/compare.h"
#include "core/walk/copy.h"
#include "core/walk/hash.h"
#include "core/walk/walk.h"
#include "globals_entry.h"

/* ffi.DeepCopy(value) -> copy (copy.h) */
FH_GLOBAL(deep_copy) {
  if (fh_function_check_count("ffi.DeepCopy", n_args, 1) != 0) return -1;
  return fh_copy_deep(&args[0], result);
}

/* ---- Equality, order, hash ---- */

/* ffi.RecursiveEq(a, b) -> bool (compare.h) */
FH_GLOBAL(recursive_eq) {
  int equal;
  if (fh_function_check_count("ffi.RecursiveEq", n_args, 2) != 0) return -1;
  if (fh_compare_equal(&args[0], &args[1], &equal) != 0) return -1;
  *result = fh_any_bool(equal);
  return 0;
}

/* ffi.RecursiveLt(a, b) -> bool, and the other three: defines a function that compares the order of two values to 0. */
#define DEFINE_ORDER(function, name, relation)                        \
  FH_GLOBAL(function) {                                               \
    int order;                                                        \
    if (fh_function_check_count(name, n_args, 2) != 0) return -1;     \
    if (fh_compare_order(&args[0], &args[1], &order) != 0) return -1; \
    *result = fh_any_bool(order relation 0);                          \
    return 0;                                                         \
  }
DEFINE_ORDER(recursive_lt, "ffi.RecursiveLt", <)
DEFINE_ORDER(recursive_le, "ffi.RecursiveLe", <=)
DEFINE_ORDER(recursive_gt, "ffi.RecursiveGt", >)
DEFINE_ORDER(recursive_ge, "ffi.RecursiveGe", >=)

/* ffi.RecursiveHash(value) -> int (hash.h) */
FH_GLOBAL(recursive_hash) {
  int64_t hash;
  if (fh_function_check_count("ffi.RecursiveHash", n_args, 1) != 0) return -1;
  if (fh_hash_nested(&args[0], &hash) != 0) return -1;
  *result = fh_any_int(hash);
  return 0;
}

/* ---- ffi.ContainerFindFirstNonCPUDevice: finds tensors in containers, but not in keys nor in other objects ---- */

static int has_values(const TVMFFIAny *value) {
  return value->type_index == kTVMFFIArray || value->type_index == kTVMFFIList || value->type_index == kTVMFFIMap ||
         value->type_index == kTVMFFIDict;
}

/* Checks one value: 1 with the device, 0, or -1. Enters a container that it has not seen before. A container with a
 * single reference cannot occur again, so it skips the table of seen ones. The walk holds a reference to a child of a
 * List or Dict too, so such a child enters the table even without other references, which does no harm. */
static int look(fh_walk *walk, fh_memo *seen, const TVMFFIAny *value, DLDevice *out) {
  if (value->type_index == kTVMFFITensor) {
    DLDevice device = TVMFFITensorGetDLTensorPtr(value->v_obj)->device;
    if (device.device_type == kDLCPU) return 0;
    *out = device;
    return 1;
  }
  if (!has_values(value)) return 0;
  if (fh_object_use_count(value->v_obj) > 1) {
    if (fh_memo_find(seen, value->v_obj, NULL) != NULL) return 0;
    if (fh_memo_put(seen, value->v_obj, NULL, 0) != 0) return -1;
  }
  return fh_walk_push(walk, value);
}

/* The loop of the walk (walk.h): 1 with the device, 0, or -1. Only the values of a map are checked. */
static int find_in(fh_walk *walk, fh_memo *seen, const TVMFFIAny *root, DLDevice *out) {
  TVMFFIAny key, value = *root;
  int rc = look(walk, seen, &value, out);
  while (rc == 0 && fh_walk_depth(walk) != 0) {
    int is_map = fh_walk_top(walk)->shape == FH_WALK_PAIRS;
    switch (is_map ? fh_walk_next_key(walk, &key, &value) : fh_walk_next(walk, &value)) {
    case FH_WALK_CHILD: rc = look(walk, seen, &value, out); break;
    case FH_WALK_END: fh_walk_pop(walk); break;
    default: return -1;
    }
  }
  return rc;
}

/* ffi.ContainerFindFirstNonCPUDevice(value) -> the device of the first tensor that is not on the CPU, else cpu:0.
 * Bindings use it to find the device whose stream a call must use. */
FH_GLOBAL(find_device) {
  fh_walk walk;
  fh_memo seen = {NULL, 0, 0, 1};
  TVMFFIAny root;
  DLDevice device = {kDLCPU, 0};
  if (fh_function_check_count("ffi.ContainerFindFirstNonCPUDevice", n_args, 1) != 0) return -1;
  if (fh_any_own(&args[0], &root) != 0) return -1;
  fh_walk_init(&walk, FH_WALK_PLAIN, 0, 0);
  int rc = find_in(&walk, &seen, &root, &device);
  fh_walk_free(&walk);
  fh_memo_free(&seen);
  fh_any_drop(&root);
  if (rc < 0) return -1;
  *result = fh_any_device(device);
  return 0;
}

const fh_globals_entry fh_globals_nested[] = {
    {"ffi.DeepCopy", deep_copy, "Any(Any)"},
    {"ffi.RecursiveEq", recursive_eq, "bool(Any, Any)"},
    {"ffi.RecursiveLt", recursive_lt, "bool(Any, Any)"},
    {"ffi.RecursiveLe", recursive_le, "bool(Any, Any)"},
    {"ffi.RecursiveGt", recursive_gt, "bool(Any, Any)"},
    {"ffi.RecursiveGe", recursive_ge, "bool(Any, Any)"},
    {"ffi.RecursiveHash", recursive_hash, "int(Any)"},
    {"ffi.ContainerFindFirstNonCPUDevice", find_device, "Device(Any)"},
    {NULL, NULL, NULL},
};
