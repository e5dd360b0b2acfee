/* Debug mode: reports of mistakes. */
#pragma once

#include "hpy_runtime/abi/cpython_abi.h"
#include "hpy_runtime/abi/handle.h"

/* Reports a mistake of an extension: calls the hook with the text; without a hook, writes the text to stderr and
 * aborts. A raised exception stays raised. The caller must not hold a lock. */
void fhpy_debug_report(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Sets the hook, a callable or NULL, borrowed. Returns the previous hook, owned, or NULL. */
PyObject *fhpy_debug_report_set_hook(PyObject *hook);

/* --- names ------------------------------------------------------------------------------------------------------- */

/* Debug mode: the names of an extension's functions, and the name of the running function. */

/* Stores the names of the functions that a module or type defines. `owner` is the part before the dot. */
void fhpy_debug_name_defines(const char *owner, HPyDef *const *defines);
/* Stores the name "owner.name" of a function, unless the function has a name already. */
void fhpy_debug_name_add(HPyCFunction function, const char *owner, const char *name);
/* Returns the name of a function, or a description for a function without a name. Never NULL; valid for the life of the
 * process. */
const char *fhpy_debug_name_find(HPyCFunction function);

/* The name of the extension's function that runs on this thread, for reports; NULL if none runs. */
extern _Thread_local const char *fhpy_debug_name_running;
/* The name of a function for a report. NULL means that no function runs. */
static inline const char *debug_words(const char *function) {
  return function != NULL ? function : "native code that no HPy function runs";
}
