/* The raised exception of an attached thread: a check for it, and functions that save and restore it around code that
 * must not see it.
 *
 * PyPy 7.3 cannot save a raised exception (fb_raised_can_take). There Python code called by native code does not see
 * the exception, but a failing method of the binding replaces it. */
#ifndef FFI_HPY_CONTEXT_RAISED_H_
#define FFI_HPY_CONTEXT_RAISED_H_

#include "context.h"

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

#endif /* FFI_HPY_CONTEXT_RAISED_H_ */
