/* hash.h - deep hash of a value, the same for values that fh_compare_equal treats as equal.
 *
 * The number is the same in every process on machines of one byte order, except that a bare pointer is hashed by its
 * address. Only this library computes the number, so it may change from release to release: no stored data may depend
 * on it. (The hash of map keys, which clients do compute, is fh_any_hash.) */
#ifndef FH_HASH_H_
#define FH_HASH_H_

#include "core/object/any.h"

/* Fields with HashOff or CompareOff do not count. A type may define __ffi_hash__(object, fn_hash) -> int; ValueError
 * for a type that defines its own equality but not this. */
int fh_hash_nested(const TVMFFIAny *value, int64_t *out);

#endif /* FH_HASH_H_ */
