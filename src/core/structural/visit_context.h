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

/* Notes an object that the pending error passes on its way out; values that are no objects are left out, and so is all
 * when there is no memory for it. The error must not be in use elsewhere. */
void fh_visit_context_note(const TVMFFIAny *value);

/* The paths from `root` to where the objects of a context lie one inside the other, as an Array of AccessPaths. With
 * allow_prefix also those that a part of the objects leads to and that nothing longer begins with. */
int fh_visit_context_find(const TVMFFIAny *root, const fh_visit_context_object *context, int allow_prefix,
                          TVMFFIAny *out);
int32_t fh_visit_context_type(void);

void fh_visit_context_init(void);

#endif /* FH_VISIT_CONTEXT_H_ */
