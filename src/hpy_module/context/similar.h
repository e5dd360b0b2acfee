/* Suggestions for misspelt names. */
#ifndef FFI_HPY_CONTEXT_SIMILAR_H_
#define FFI_HPY_CONTEXT_SIMILAR_H_

#include "context.h"

/* Writes the end of a message, ". Did you mean 'x'?", or an empty string, for a name that is not in `names`, a dict
 * (hook did_you_mean). Never raises: without memory or stack it writes an empty string. */
void fb_similar_write(HPyContext *ctx, HPy name, HPy names, char *out, size_t size);

#endif /* FFI_HPY_CONTEXT_SIMILAR_H_ */
