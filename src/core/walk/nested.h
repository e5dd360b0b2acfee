/* nested.h - functions of nested values: representation, copies, comparison, hash. The functions use no C stack for
 * nesting. */
#pragma once

#include "core/object/any.h"
#include "walk.h"

/* The readable representation; returns a string value. */
int fh_repr_print(const TVMFFIAny *value, TVMFFIAny *out);

/* --- copies ------------------------------------------------------------------------------------------------------ */

/* *out becomes an owned copy. A container becomes a new container; other objects are copied by their type's
 * __ffi_shallow_copy__, then field by field through getters and setters. Objects that are shared in the original are
 * shared in the copy, cycles included. Plain data, strings, bytes, shapes, integers, modules and enum variants are
 * their own copies. Python's copy module copies tensors, functions and Python objects. InternalError for another type
 * without __ffi_shallow_copy__, and for these without the Python package; ValueError for a value that is nested too
 * deep. */
int fh_copy_deep(const TVMFFIAny *value, TVMFFIAny *out);

/* --- comparison -------------------------------------------------------------------------------------------------- */

/* Deep equality and order of values.
 *
 * Values of different types are unequal: 1, 1.0 and True differ, Array and List too. Both forms of a string are one
 * type, and so are both forms of bytes. Plain data is compared by value (0.0 equals -0.0, a NaN equals a NaN),
 * sequences item by item, maps by their keys' own equality (any_hash.h) and their values, other objects by their fields
 * without CompareOff, so that objects without fields (tensors) are all equal within their type. An object equals itself
 * without comparing its contents. A type may define __ffi_eq__(a, b, fn_eq) -> bool, or __ffi_compare__(a, b, fn_cmp)
 * -> int for both equality and order. Two values that contain themselves in the same way are equal.
 *
 * Python compares two OpaquePyObjects by == and <, and two Functions of Python callables by the callables' ==. Other
 * Functions, and all these objects without the Python package, are equal only to themselves; but two such Functions
 * that are a and b themselves are equal, as in the reference implementation.
 *
 * In order, None comes before everything; otherwise different types, a NaN, maps or Functions that are not equal, and
 * plain data without an order are a TypeError, and a cycle is a ValueError. Bytes and strings are ordered by unsigned
 * bytes. */

/* Whether values of this type are compared and hashed by Python. */
static inline bool fh_is_python_held(int32_t type_index) {
  return type_index == kTVMFFIOpaquePyObject || type_index == kTVMFFIFunction;
}

/* *out: 1 or 0. */
int fh_compare_equal(const TVMFFIAny *a, const TVMFFIAny *b, int *out);
/* Deep equality of containers by Python's rules: numbers of different types compare by value, so that 1, 1.0 and True
 * are equal; an Array and a List compare by their items, a Map and a Dict by their entries. If one of two other values
 * is a Python object, or of a registered type, the values are equal if they are one object, or if equal(a, b) returns
 * true. If one of two mappings of one size has a key other than text and None that the other mapping does not find, the
 * mappings are equal if equal(a, b) returns true. `equal` may be NULL. */
int fh_compare_loose(const TVMFFIAny *a, const TVMFFIAny *b, TVMFFIObject *equal, int *out);
/* *out: below, equal to or above 0 if a comes before, equals or comes after b. */
int fh_compare_order(const TVMFFIAny *a, const TVMFFIAny *b, int *out);

/* --- hash -------------------------------------------------------------------------------------------------------- */

/* Deep hash of a value, the same for values that fh_compare_equal treats as equal.
 *
 * The number is the same in every process on machines of one byte order, except that a bare pointer and a native
 * Function are hashed by their addresses, and Python objects by Python, with an error for one that has no hash. Only
 * this library computes the number, so it may change from release to release: no stored data may depend on it. (The
 * hash of map keys, which clients do compute, is fh_any_hash.) */

/* Fields with HashOff or CompareOff do not count. A type may define __ffi_hash__(object, fn_hash) -> int; ValueError
 * for a type that defines its own equality but not this. */
int fh_hash_nested(const TVMFFIAny *value, int64_t *out);

/* --- hooks of types ----------------------------------------------------------------------------------------------- */

/* Hooks of types, which are callbacks that read their objects: hook(objects..., fn), where fn calls back into
 * the walk. */

/* The body of fn. `client` is the walk's owner; args are owned values that stay alive during the call. Otherwise the
 * contract of TVMFFISafeCallType. */
typedef int (*fh_hook_callback)(void *client, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result);

/* The hook of exactly this type: *out borrowed forever, NULL if it has none. TypeError if it is not a Function. */
int fh_hook_find(fh_reflect_attr_id id, int32_t type_index, TVMFFIObject **out);

#define FH_HOOK_MAX_BACK_ARGS 4

/* Calls hook(obj, fn), or hook(obj, other, fn) if `other` is not NULL. During the call the objects are open in the
 * walk, as a mark. fn takes n_back_args arguments. The Function may be called on this thread while the hook runs; at
 * other times and on other threads it raises a RuntimeError. The caller owns *result. ValueError if too many nested
 * hooks have called back. */
int fh_hook_call(fh_walk *walk, TVMFFIObject *hook, TVMFFIObject *obj, TVMFFIObject *other, fh_hook_callback back,
                 int32_t n_back_args, void *client, TVMFFIAny *result);

/* Calls hook(obj, second, fn) with any value as the second argument; otherwise as fh_hook_call. */
int fh_hook_call_value(fh_walk *walk, TVMFFIObject *hook, TVMFFIObject *obj, const TVMFFIAny *second,
                       fh_hook_callback back, int32_t n_back_args, void *client, TVMFFIAny *result);

/* Raises the TypeError for a hook that returned another type than `expected`. Always -1. */
FH_COLD int fh_hook_raise_result(fh_reflect_attr_id id, const TVMFFIObject *obj, const char *expected,
                                 const TVMFFIAny *got);
