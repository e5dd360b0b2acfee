/* compare_hook.h - __any_hash__ and __any_equal__, by which a type says what its objects are as keys of maps.
 *
 * A hook is a Function or a native function. Headers inline the code that calls it, those of 0.1.14 and older in
 * another convention than the newer ones, so a native function would be called wrongly by the code of some libraries.
 * All call a Function alike. So what a type registers natively is kept as a Function that calls it. */
#ifndef FH_COMPARE_HOOK_H_
#define FH_COMPARE_HOOK_H_

#include "any.h"

/* Whether native hooks of the older convention are recognised: see compare_hook.c. */
#if defined(__aarch64__) || (defined(__riscv) && __riscv_xlen == 64) || (defined(__x86_64__) && !defined(_WIN32))
enum { FH_OLDER_HOOKS = 1 };
#else
enum { FH_OLDER_HOOKS = 0 };
#endif

/* Makes the value of an attribute, which is owned, what is registered for it. Only native functions of the two
 * attributes change. `equality` is the column of __any_equal__. -1 with an error pending, and *value is as it was. */
int fh_compare_hook_adapt(TVMFFIByteArray attr_name, TVMFFIAny *value, const TVMFFITypeAttrColumn *equality);

/* Call a hook. -1 with its error pending, or with a TypeError if it is no function or returned the wrong type. Hold no
 * lock, but for objects of types whose hooks are this library's own. */
int fh_compare_hook_hash(const TVMFFIAny *hook, const TVMFFIAny *any, int64_t *out);
int fh_compare_hook_equal(const TVMFFIAny *hook, const TVMFFIAny *a, const TVMFFIAny *b, int64_t *out);

#endif /* FH_COMPARE_HOOK_H_ */
