/* Initializer: makes the native object of a new instance and sets its fields. */
#ifndef FFI_HPY_RECORD_INITIALIZER_H_
#define FFI_HPY_RECORD_INITIALIZER_H_

#include "hpy_module/context/context.h"

/* Whether h is an Initializer. */
bool fb_initializer_check(HPyContext *ctx, HPy h);
/* Makes the object of `instance`, a CObject without an object, like a call of the Initializer. There are n positional
 * arguments, followed by the arguments named by `kwnames`, a tuple or HPy_NULL. Returns 0, or -1 with an exception
 * raised; 1, and nothing is changed, if the pointer of a name is unknown, so that the name may be wrong. Requires the
 * extension. */
int fb_initializer_make(HPyContext *ctx, HPy initializer, HPy instance, const HPy *args, size_t n, HPy kwnames);

HPy fb_initializer_type_new(HPyContext *ctx);

#endif /* FFI_HPY_RECORD_INITIALIZER_H_ */
