/* compare.h - equality and order of values with everything they hold.
 *
 * Values of one type only: 1, 1.0 and True differ, Array and List too; text is text in either form, and so are bytes.
 * Plain data goes by value (0.0 equals -0.0, a NaN equals a NaN), sequences item by item, maps by their keys' own
 * equality (any_hash.h) and their values, other objects by their fields without CompareOff, so that objects without
 * fields (functions, tensors) are all equal within their type. An object equals itself without a look inside. A type
 * may define __ffi_eq__(a, b, fn_eq) -> bool, or __ffi_compare__(a, b, fn_cmp) -> int for both equality and order. Two
 * values that lead back to themselves in the same way are equal.
 *
 * In order, None comes before everything; otherwise different types, a NaN, maps that are not equal, and plain data
 * without an order are a TypeError, and a cycle is a ValueError. Bytes and text go by unsigned bytes. */
#ifndef FH_COMPARE_H_
#define FH_COMPARE_H_

#include "core/object/any.h"

/* *out: 1 or 0. */
int fh_compare_equal(const TVMFFIAny *a, const TVMFFIAny *b, int *out);
/* *out: below, at or above 0 as a comes before, at or after b. */
int fh_compare_order(const TVMFFIAny *a, const TVMFFIAny *b, int *out);

#endif /* FH_COMPARE_H_ */
