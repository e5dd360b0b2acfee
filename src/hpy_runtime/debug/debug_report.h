/* Debug mode: reports of mistakes. */
#ifndef FFI_HPY_RUNTIME_DEBUG_REPORT_H_
#define FFI_HPY_RUNTIME_DEBUG_REPORT_H_

#include "hpy_runtime/abi/cpython_abi.h"

/* Reports a mistake of an extension: calls the hook with the text; without a hook, writes the text to stderr and
 * aborts. A raised exception stays raised. The caller must not hold a lock. */
void fhpy_debug_report(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Sets the hook, a callable or NULL, borrowed. Returns the previous hook, owned, or NULL. */
PyObject *fhpy_debug_report_set_hook(PyObject *hook);

#endif /* FFI_HPY_RUNTIME_DEBUG_REPORT_H_ */
