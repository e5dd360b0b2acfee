/* What native code, or the garbage collector, lets go of where no Python code may run: it waits until the half of the
 * binding that is written in Python asks for it (function/covered.c). */
#ifndef FFI_HPY_CONTEXT_LATER_H_
#define FFI_HPY_CONTEXT_LATER_H_

#include <stdbool.h>
#include <stdint.h>

#include "core/platform/base.h"

typedef enum FbLaterKind {
  FB_LATER_NUMBER, /* of a Python object that native code held */
  FB_LATER_OBJECT, /* a reference to a native object, by its address */
} FbLaterKind;

/* Read by Python through its address: the order of the members is known there (ffi_hpy/_pypy/context/holds.py). */
typedef struct FbLater {
  struct FbLater *next;
  int64_t word;
  int64_t kind; /* an FbLaterKind */
} FbLater;

extern FbLater *fb_later_first; /* what waits, the latest first; NULL for nothing */
extern bool fb_later_is_used; /* whether somebody asks; written once during the import */

/* NULL without memory. */
FbLater *fb_later_new(int64_t word, int64_t kind);
/* Lets it wait, from any thread. */
void fb_later_push(FbLater *later);
/* Takes one of those that wait, NULL if there is none. */
FbLater *fb_later_next(void);

#endif /* FFI_HPY_CONTEXT_LATER_H_ */
