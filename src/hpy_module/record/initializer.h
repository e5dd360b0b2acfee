/* Initializer: makes the native object of a new instance and gives its fields values. */
#ifndef FFI_HPY_RECORD_INITIALIZER_H_
#define FFI_HPY_RECORD_INITIALIZER_H_

#include "hpy_module/context/context.h"

/* Whether h is an Initializer. */
bool fb_initializer_check(HPyContext *ctx, HPy h);
/* What a call of an Initializer does for an instance, which is a CObject without an object, with n positional arguments
 * and, behind them, those that `kwnames` names, a tuple or HPy_NULL. Returns 0, or -1 with an exception raised; 1, and
 * nothing was done, if a name is not known by its address: it may be wrong. Only where there is the extension. */
int fb_initializer_make(HPyContext *ctx, HPy initializer, HPy instance, const HPy *args, size_t n, HPy kwnames);

HPy fb_initializer_type_new(HPyContext *ctx);

#endif /* FFI_HPY_RECORD_INITIALIZER_H_ */
