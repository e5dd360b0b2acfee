/* compare.h - deep equality and order of values.
 *
 * Values of different types are unequal: 1, 1.0 and True differ, Array and List too. Both forms of a string are one
 * type, and so are both forms of bytes. Plain data is compared by value (0.0 equals -0.0, a NaN equals a NaN),
 * sequences item by item, maps by their keys' own equality (any_hash.h) and their values, other objects by their fields
 * without CompareOff, so that objects without fields (functions, tensors) are all equal within their type. An object
 * equals itself without comparing its contents. A type may define __ffi_eq__(a, b, fn_eq) -> bool, or
 * __ffi_compare__(a, b, fn_cmp) -> int for both equality and order. Two values that contain themselves in the same way
 * are equal.
 *
 * In order, None comes before everything; otherwise different types, a NaN, maps that are not equal, and plain data
 * without an order are a TypeError, and a cycle is a ValueError. Bytes and strings are ordered by unsigned bytes. */
#ifndef FH_COMPARE_H_
#define FH_COMPARE_H_

#include "core/object/any.h"

/* *out: 1 or 0. */
int fh_compare_equal(const TVMFFIAny *a, const TVMFFIAny *b, int *out);
/* *out: below, equal to or above 0 if a comes before, equals or comes after b. */
int fh_compare_order(const TVMFFIAny *a, const TVMFFIAny *b, int *out);

#endif /* FH_COMPARE_H_ */
