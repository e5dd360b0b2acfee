/* Memory that the half of the binding that is written in Python (ffi_hpy/_pypy) lends to a method, by its address. */
#ifndef FFI_HPY_CONTEXT_LENT_H_
#define FFI_HPY_CONTEXT_LENT_H_

#include "context.h"

/* The address in an int. NULL with TypeError or OverflowError raised: where that half does not run, nobody has memory
 * to lend, and any number is refused. */
void *fb_lent_arg(HPyContext *ctx, HPy h, const char *method);

#endif /* FFI_HPY_CONTEXT_LENT_H_ */
