/* Python callbacks for events in native code. */
#ifndef FFI_HPY_RUNTIME_HOOK_H_
#define FFI_HPY_RUNTIME_HOOK_H_

#include "hpy_runtime/abi/cpython_abi.h"

/* Calls hook(text). A raised exception and errno are saved and restored. An exception of the hook goes to
 * sys.unraisablehook, because many entries that call hooks cannot fail. */
void fhpy_hook_call(PyObject *hook, const char *text);

#endif /* FFI_HPY_RUNTIME_HOOK_H_ */
