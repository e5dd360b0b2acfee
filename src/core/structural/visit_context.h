/* visit_context.h - ffi.VisitErrorContext: the objects that were being visited when an error occurred. It is stored as
 * the error's extra context. */
#ifndef FH_VISIT_CONTEXT_H_
#define FH_VISIT_CONTEXT_H_

#include "core/object/any.h"

typedef struct {
  TVMFFIObject header;
  TVMFFIObject *pattern;  /* List of the objects, the innermost first */
  TVMFFIObject *previous; /* the extra context that the error had before, or NULL */
} fh_visit_context_object;

/* Adds an object to the context of the pending error, while the visit of that object fails. Does nothing for other
 * values, and without memory. */
void fh_visit_context_note(const TVMFFIAny *value);

/* Finds the paths from `root` on which the objects of a context occur, each inside the one before, and returns them as
 * an Array of AccessPaths. With allow_prefix also the longest paths on which only the first of the objects occur. */
int fh_visit_context_find(const TVMFFIAny *root, const fh_visit_context_object *context, int allow_prefix,
                          TVMFFIAny *out);
int32_t fh_visit_context_type(void);

void fh_visit_context_init(void);

#endif /* FH_VISIT_CONTEXT_H_ */
