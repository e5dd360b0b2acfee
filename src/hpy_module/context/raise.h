/* Raises the binding's own exceptions. */
#ifndef FFI_HPY_CONTEXT_RAISE_H_
#define FFI_HPY_CONTEXT_RAISE_H_

#include "context.h"

/* Raises an exception of type h_type with a formatted message. Returns HPy_NULL. */
HPy fb_raise(HPyContext *ctx, HPy h_type, const char *format, ...) FH_PRINTF(3, 4);

#endif /* FFI_HPY_CONTEXT_RAISE_H_ */
