/* any_hash.h - hash and equality of values as the ABI's maps define them. */
#pragma once

#include "any.h"

/* Strings and bytes are hashed and compared by content; other objects by identity, unless their type has __any_hash__
 * and __any_equal__; plain data by type and bits, so 1, 1.0 and True differ, and a NaN equals a NaN with the same bits.
 * The hooks are foreign code: hold no lock. -1 if a hook fails. */
int fh_any_hash(const TVMFFIAny *any, uint64_t *out);
int fh_any_equal(const TVMFFIAny *a, const TVMFFIAny *b, int *out);
