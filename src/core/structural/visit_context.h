/* visit_context.h - ffi.VisitErrorContext: which objects were being visited when an error came up. It travels as the
 * error's extra context. */
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

/* The paths from `root` along which the objects of a context are met, each inside the one before, as an Array of
 * AccessPaths. With allow_prefix also the longest paths along which only the first of the objects are met. */
int fh_visit_context_find(const TVMFFIAny *root, const fh_visit_context_object *context, int allow_prefix,
                          TVMFFIAny *out);
int32_t fh_visit_context_type(void);

void fh_visit_context_init(void);

#endif /* FH_VISIT_CONTEXT_H_ */
