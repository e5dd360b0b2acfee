/* Debug mode: the names of an extension's functions, and which of them runs. */
#ifndef FFI_HPY_RUNTIME_DEBUG_NAME_H_
#define FFI_HPY_RUNTIME_DEBUG_NAME_H_

#include "hpy_runtime/abi/handle.h"

/* Learns the names of what a module or type defines. `owner` stands before the dot. */
void fhpy_debug_name_defines(const char *owner, HPyDef *const *defines);
/* Learns one name, "owner.name". A function that is known keeps its name. */
void fhpy_debug_name_add(HPyCFunction function, const char *owner, const char *name);
/* Never NULL; lives as long as the process. */
const char *fhpy_debug_name_find(HPyCFunction function);

/* The function of an extension that runs on this thread, for reports; NULL: none. */
extern _Thread_local const char *fhpy_debug_name_running;
/* The name of a function in a report; NULL stands for none. */
static inline const char *debug_words(const char *function) {
  return function != NULL ? function : "native code that no HPy function runs";
}

#endif /* FFI_HPY_RUNTIME_DEBUG_NAME_H_ */
