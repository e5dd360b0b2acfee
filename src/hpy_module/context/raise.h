/* Exceptions: raising the binding's own, and saving the raised exception. */
#pragma once

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

/* --- the raised exception ----------------------------------------------------------------------------------------- */

/* The raised exception of an attached thread: a check for it, and functions that save and restore it around code that
 * must not see it.
 *
 * PyPy 7.3 cannot save a raised exception (fb_raised_can_take). There Python code called by native code does not see
 * the exception, but a failing method of the binding replaces it. */

/* A saved exception. */
typedef struct FbRaised {
  bool is_one; /* whether there is an exception; if not, the other members are not set */
  HPy exception; /* with the extension */
  void *parts[3]; /* without the extension: type, value and traceback in the interpreter's representation */
} FbRaised;

/* The interpreter's own function, called without the context. Written once by fb_raised_init. */
extern FB_HIDDEN void *(*fb_raised_ask)(void);

void fb_raised_init(void);
FH_INLINE bool fb_raised_is(void) { return fb_raised_ask() != NULL; }
bool fb_raised_can_take(void);

void fb_raised_take_one(FbRaised *out);
void fb_raised_put_one(const FbRaised *raised);

/* Saves and clears the raised exception, if there is one. */
FH_INLINE void fb_raised_take(FbRaised *out) {
  out->is_one = false;
  if (FH_UNLIKELY(fb_raised_is())) fb_raised_take_one(out);
}
/* Restores the exception. Call it once. An exception raised since fb_raised_take is reported as unraisable. */
FH_INLINE void fb_raised_put(const FbRaised *raised) {
  if (FH_UNLIKELY(raised->is_one)) fb_raised_put_one(raised);
}
