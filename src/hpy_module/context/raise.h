/* Raises the binding's own exceptions. */
#ifndef FFI_HPY_CONTEXT_RAISE_H_
#define FFI_HPY_CONTEXT_RAISE_H_

#include "context.h"

/* Raises an exception of type h_type with a formatted message. Returns HPy_NULL. */
HPy fb_raise(HPyContext *ctx, HPy h_type, const char *format, ...) FH_PRINTF(3, 4);

/* --- cutting text ------------------------------------------------------------------------------------------------ */

/* Strings in buffers of a fixed size, for messages. A string that does not fit is truncated between two characters,
 * because a string that ends inside a character could not be raised. */

/* Copies as much of a UTF-8 string as fits, followed by a NUL. A NUL in the string is shown as \x00. Returns buffer. */
const char *fb_cut_copy(char *buffer, size_t size, const char *text, size_t byte_len);
/* Returns how many bytes of a UTF-8 string to keep, `most` or less, so that the string ends after a character. */
size_t fb_cut_length(const char *text, size_t byte_len, size_t most);
/* Truncates the output of snprintf after its last complete character. `n` is the result of snprintf. */
void fb_cut_end(char *buffer, size_t size, int n);

#endif /* FFI_HPY_CONTEXT_RAISE_H_ */
