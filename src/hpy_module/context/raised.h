/* The exception that is raised on a thread: whether there is one, and how it is put aside while code runs that must not
 * see it. The thread is attached.
 *
 * PyPy 7.3 has no way to put an exception aside (fb_raised_can_take). There Python code that native code calls does not
 * see the exception, but a method of the binding that fails would replace it. */
#ifndef FFI_HPY_CONTEXT_RAISED_H_
#define FFI_HPY_CONTEXT_RAISED_H_

#include "context.h"

/* What was put aside. */
typedef struct FbRaised {
  bool is_one; /* an exception; else the rest is not set */
  HPy exception; /* with the extension */
  void *parts[3]; /* without: type, value and traceback, as the interpreter keeps them */
} FbRaised;

/* The interpreter's own question, without the way through the context. Written once by fb_raised_init. */
extern FB_HIDDEN void *(*fb_raised_ask)(void);

void fb_raised_init(void);
FH_INLINE bool fb_raised_is(void) { return fb_raised_ask() != NULL; }
bool fb_raised_can_take(void);

void fb_raised_take_one(FbRaised *out);
void fb_raised_put_one(const FbRaised *raised);

/* Puts an exception aside, if one is raised. */
FH_INLINE void fb_raised_take(FbRaised *out) {
  out->is_one = false;
  if (FH_UNLIKELY(fb_raised_is())) fb_raised_take_one(out);
}
/* Raises it again, once. An exception that was raised in between is reported as unraisable. */
FH_INLINE void fb_raised_put(const FbRaised *raised) {
  if (FH_UNLIKELY(raised->is_one)) fb_raised_put_one(raised);
}

#endif /* FFI_HPY_CONTEXT_RAISED_H_ */
