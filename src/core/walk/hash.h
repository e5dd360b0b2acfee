/* hash.h - one number for a value with everything it holds, the same for values that fh_compare_equal holds equal.
 *
 * The number is the same in every process on machines of one byte order, except that a bare pointer is hashed by its
 * address. Nobody outside computes the number, so it may change from release to release: nothing stored may depend on
 * it. (The hash of map keys, which clients do compute, is fh_any_hash.) */
#ifndef FH_HASH_H_
#define FH_HASH_H_

#include "core/object/any.h"

/* Fields with HashOff or CompareOff do not count. A type may define __ffi_hash__(object, fn_hash) -> int; ValueError
 * for one that defines its equality without it. */
int fh_hash_nested(const TVMFFIAny *value, int64_t *out);

#endif /* FH_HASH_H_ */
