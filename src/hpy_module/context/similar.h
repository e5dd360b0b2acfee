/* Names that a misspelt one may have meant. */
#ifndef FFI_HPY_CONTEXT_SIMILAR_H_
#define FFI_HPY_CONTEXT_SIMILAR_H_

#include "context.h"

/* Writes the end of a message, ". Did you mean 'x'?", or nothing, for a name that is none of a dict of names
 * (the hook did_you_mean). Raises nothing: without memory or stack it writes nothing. */
void fb_similar_write(HPyContext *ctx, HPy name, HPy names, char *out, size_t size);

#endif /* FFI_HPY_CONTEXT_SIMILAR_H_ */
