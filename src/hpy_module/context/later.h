/* Deferred decrefs: objects that native code or the garbage collector releases where Python code may not run. They wait
 * until the cffi backend asks for them (function/covered.c). */
#ifndef FFI_HPY_CONTEXT_LATER_H_
#define FFI_HPY_CONTEXT_LATER_H_

#include <stdbool.h>
#include <stdint.h>

#include "core/platform/base.h"

typedef enum FbLaterKind {
  FB_LATER_NUMBER, /* the number of a Python object that native code owned */
  FB_LATER_OBJECT, /* a reference to a native object, as a pointer */
} FbLaterKind;

/* Python reads the struct through its pointer and knows the order of the members (ffi_hpy/_pypy/context/holds.py). */
typedef struct FbLater {
  struct FbLater *next;
  int64_t word;
  int64_t kind; /* an FbLaterKind */
} FbLater;

extern FbLater *fb_later_first; /* the waiting records, latest first; NULL if there are none */
extern bool fb_later_is_used; /* whether the cffi backend asks for them; written once during the import */

/* Returns NULL if memory is exhausted. */
FbLater *fb_later_new(int64_t word, int64_t kind);
/* Adds a record, from any thread. */
void fb_later_push(FbLater *later);
/* Removes and returns one waiting record; NULL if there is none. */
FbLater *fb_later_next(void);

#endif /* FFI_HPY_CONTEXT_LATER_H_ */
