/* Text in buffers of a fixed size, for messages. What does not fit is cut off between two characters: a text that ends
 * inside one could not be raised. */
#ifndef FFI_HPY_CONTEXT_CUT_H_
#define FFI_HPY_CONTEXT_CUT_H_

#include "context.h"

/* Copies what fits of a UTF-8 text, with a NUL behind it. A NUL inside is shown as \x00. Returns buffer. */
const char *fb_cut_copy(char *buffer, size_t size, const char *text, size_t byte_len);
/* Ends what snprintf has written where its last whole character ends. `n` is what snprintf returned. */
void fb_cut_end(char *buffer, size_t size, int n);

#endif /* FFI_HPY_CONTEXT_CUT_H_ */
