/* Memory that the cffi backend (ffi_hpy/_pypy) passes to a method as a pointer. */
#ifndef FFI_HPY_CONTEXT_LENT_H_
#define FFI_HPY_CONTEXT_LENT_H_

#include "context.h"

/* Returns the pointer in an int. NULL with TypeError or OverflowError raised: where the cffi backend does not run,
 * every number is refused. */
void *fb_lent_arg(HPyContext *ctx, HPy h, const char *method);

#endif /* FFI_HPY_CONTEXT_LENT_H_ */
