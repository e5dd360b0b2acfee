/* repr.h - the readable representation of any value. Uses no C stack for nesting. */
#ifndef FH_REPR_H_
#define FH_REPR_H_

#include "core/object/any.h"

/* Returns a string value. */
int fh_repr_print(const TVMFFIAny *value, TVMFFIAny *out);

#endif /* FH_REPR_H_ */
