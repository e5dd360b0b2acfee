/* Debug mode: the names of an extension's functions, and the name of the running function. */
#ifndef FFI_HPY_RUNTIME_DEBUG_NAME_H_
#define FFI_HPY_RUNTIME_DEBUG_NAME_H_

#include "hpy_runtime/abi/handle.h"

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

#endif /* FFI_HPY_RUNTIME_DEBUG_NAME_H_ */
