/* globals_object.c - ffi.* functions that create objects, register the accessors of inline fields, and copy, compare
 * and hash objects.
 *
 * A binding that defines types at run time needs these accessors: it registers the type and its fields by the C ABI,
 * with getters and setters from here, and then registers the functions that create and copy objects
 * (src/core/fields/field.c). */
#include "core/fields/create.h"
#include "core/fields/field.h"
#include "core/object/any_own.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/tensor/tensor.h"
#include "core/walk/nested.h"
#include "core/walk/walk.h"
#include "globals_entry.h"

/* A type index in args[i]; the caller checks that the type exists. */
static int arg_type_index(const char *name, const TVMFFIAny *args, int32_t i, int32_t *out) {
  int64_t index;
  *out = kTVMFFIAny;
  if (fh_function_arg_int(name, args, i, &index) != 0) return -1;
  if (index < INT32_MIN || index > INT32_MAX) {
    return fh_error_raise(FH_VALUE_ERROR, "Expected a type index but got %lld", (long long)index);
  }
  *out = (int32_t)index;
  return 0;
}

/* An address in args[i], as an integer or as a pointer: bindings pass either. */
static int arg_address(const char *name, const TVMFFIAny *args, int32_t i, void **out) {
  int64_t number;
  if (args[i].type_index == kTVMFFIOpaquePtr) return fh_function_arg_ptr(name, args, i, out);
  if (fh_function_arg_int(name, args, i, &number) != 0) return -1;
  *out = (void *)(uintptr_t)number;
  return 0;
}

/* ffi.MakeObjectFromPackedArgs(type key or index, name, value, ...) -> object */
FH_GLOBAL_OPEN(make_object, "ffi.MakeObjectFromPackedArgs", "ffi.Function") {
  return fh_create_from_pairs(args, n_args, result);
}

/* ffi._RegisterFFIInit(type index): registers the automatic constructor as the type's __ffi_init__. The C++ headers
 * call it for each class that can be created and defines no constructor. */
FH_GLOBAL(register_init, "ffi._RegisterFFIInit", 1, "None(int)") {
  TVMFFIByteArray attr = FH_LITERAL("__ffi_init__");
  TVMFFIObjectHandle func;
  int32_t type_index;
  if (arg_type_index(name, args, 0, &type_index) != 0 || fh_create_constructor(type_index, &func) != 0) return -1;
  TVMFFIAny value = fh_any_object(func);
  int rc = TVMFFITypeRegisterAttr(type_index, &attr, &value);
  fh_object_release(func);
  return rc;
}

/* ffi._PyClassRegisterTypeAttrColumns(type index, bytes of an object): see fh_record_register. */
FH_GLOBAL(register_record, "ffi._PyClassRegisterTypeAttrColumns", 2, "None(int, int)") {
  int64_t n_bytes;
  int32_t type_index;
  if (arg_type_index(name, args, 0, &type_index) != 0 || fh_function_arg_int(name, args, 1, &n_bytes) != 0) return -1;
  return fh_record_register(type_index, n_bytes);
}

/* ffi.MakeFieldGetter(type index) -> the address of a TVMFFIFieldGetter, as an int */
FH_GLOBAL(make_getter, "ffi.MakeFieldGetter", 1, "int(int)") {
  TVMFFIFieldGetter getter;
  int32_t type_index;
  if (arg_type_index(name, args, 0, &type_index) != 0 || fh_field_getter(type_index, &getter) != 0) return -1;
  *result = fh_any_int((int64_t)(uintptr_t)getter);
  return 0;
}

/* ffi.MakeFieldSetter(type index, converter, address of a fh_field_convert) -> Function(field address, value) */
FH_GLOBAL(make_setter, "ffi.MakeFieldSetter", 3, "ffi.Function(int, int, int)") {
  TVMFFIObjectHandle setter;
  void *converter, *convert;
  int32_t type_index;
  if (arg_type_index(name, args, 0, &type_index) != 0) return -1;
  if (arg_address(name, args, 1, &converter) != 0 || arg_address(name, args, 2, &convert) != 0) return -1;
  if (fh_field_setter(type_index, converter, (fh_field_convert)(uintptr_t)convert, &setter) != 0) return -1;
  *result = fh_any_object(setter);
  return 0;
}

const fh_globals_item fh_globals_create[] = {&make_object, &register_init, &register_record,
                                             &make_getter, &make_setter,   NULL};

/* --- walks ------------------------------------------------------------------------------------------------------- */

/* ffi.DeepCopy(value) -> copy (nested.h) */
FH_GLOBAL(deep_copy, "ffi.DeepCopy", 1, "Any(Any)") { return fh_copy_deep(&args[0], result); }

/* ---- Equality, order, hash ---- */

/* ffi.RecursiveEq(a, b) -> bool (nested.h) */
FH_GLOBAL(recursive_eq, "ffi.RecursiveEq", 2, "bool(Any, Any)") {
  int equal;
  if (fh_compare_equal(&args[0], &args[1], &equal) != 0) return -1;
  *result = fh_any_bool(equal);
  return 0;
}

/* ffi_hpy.LooseEq(a, b, equal=None) -> whether two containers have equal contents by Python's rules (nested.h); the
 * function equal(a, b) -> bool compares other objects, and mappings by keys that are not found */
FH_GLOBAL_OPEN(loose_eq, "ffi_hpy.LooseEq", NULL) {
  int equal;
  if (n_args != 2 && fh_function_check_count(name, n_args, 3) != 0) return -1;
  TVMFFIObject *function = n_args == 3 && args[2].type_index == kTVMFFIFunction ? args[2].v_obj : NULL;
  if (fh_compare_loose(&args[0], &args[1], function, &equal) != 0) return -1;
  *result = fh_any_bool(equal);
  return 0;
}

/* ffi.RecursiveLt(a, b) -> bool, and the other three: defines a function that compares the order of two values to 0. */
#define DEFINE_ORDER(function, name, relation)                        \
  FH_GLOBAL(function, name, 2, "bool(Any, Any)") {                    \
    int order;                                                        \
    if (fh_compare_order(&args[0], &args[1], &order) != 0) return -1; \
    *result = fh_any_bool(order relation 0);                          \
    return 0;                                                         \
  }
DEFINE_ORDER(recursive_lt, "ffi.RecursiveLt", <)
DEFINE_ORDER(recursive_le, "ffi.RecursiveLe", <=)
DEFINE_ORDER(recursive_gt, "ffi.RecursiveGt", >)
DEFINE_ORDER(recursive_ge, "ffi.RecursiveGe", >=)

/* ffi.RecursiveHash(value) -> int (nested.h) */
FH_GLOBAL(recursive_hash, "ffi.RecursiveHash", 1, "int(Any)") {
  int64_t hash;
  if (fh_hash_nested(&args[0], &hash) != 0) return -1;
  *result = fh_any_int(hash);
  return 0;
}

/* ---- ffi.ContainerFindFirstNonCPUDevice: finds tensors in containers, but not in keys nor in other objects ---- */

static bool has_values(const TVMFFIAny *value) {
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
    bool is_map = fh_walk_top(walk)->shape == FH_WALK_PAIRS;
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
FH_GLOBAL(find_device, "ffi.ContainerFindFirstNonCPUDevice", 1, "Device(Any)") {
  fh_walk walk;
  fh_memo seen = {NULL, 0, 0, 1};
  TVMFFIAny root;
  DLDevice device = {kDLCPU, 0};
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

const fh_globals_item fh_globals_nested[] = {&deep_copy,    &recursive_eq, &loose_eq,     &recursive_lt,
                                             &recursive_le, &recursive_gt, &recursive_ge, &recursive_hash,
                                             &find_device,  NULL};
