/* compare_hook.h - __any_hash__ and __any_equal__, the callbacks ("hooks") by which a type defines hash and equality of
 * its objects as keys of maps.
 *
 * A callback is a Function or a native function. C++ headers inline the code that calls a native one, and headers of
 * 0.1.14 and older use another calling convention than newer ones, so some libraries would call a native function
 * wrongly. All libraries call a Function in the same way. So the core stores a native function as a Function that calls
 * it. */
#pragma once

#include "any.h"

/* Whether native hooks of the older convention are recognised: see compare_hook.c. */
#if defined(__aarch64__) || (defined(__riscv) && __riscv_xlen == 64) || (defined(__x86_64__) && !defined(_WIN32))
enum { FH_OLDER_HOOKS = 1 };
#else
enum { FH_OLDER_HOOKS = 0 };
#endif

/* Converts the owned value of an attribute to the form that is registered. Only native functions of the two attributes
 * change. `equality` is the column of __any_equal__. -1 with an error pending, and *value is unchanged. */
int fh_compare_hook_adapt(TVMFFIByteArray attr_name, TVMFFIAny *value, const TVMFFITypeAttrColumn *equality);

/* Call a callback. -1 with its error pending, or with a TypeError if it is not a function or returned the wrong type.
 * Hold no lock, except for objects of types whose callbacks are this library's own. */
int fh_compare_hook_hash(const TVMFFIAny *hook, const TVMFFIAny *any, int64_t *out);
int fh_compare_hook_equal(const TVMFFIAny *hook, const TVMFFIAny *a, const TVMFFIAny *b, int64_t *out);
