/* From HPyDef lists to the interpreter's method tables, for types and for modules. */
#ifndef FFI_HPY_RUNTIME_METHODS_H_
#define FFI_HPY_RUNTIME_METHODS_H_

#include "hpy_runtime/abi/handle.h"

/* The number of definitions of one kind in a NULL-terminated list, which may itself be NULL. */
size_t fhpy_methods_count(HPyDef *const *defines, HPyDef_Kind kind);

/* Writes one entry for each method; the table (zeroed, with room for one more entry as the end) and the definitions
 * must outlive everything made from it. Returns 0, or -1 with an exception raised. */
int fhpy_methods_fill(PyMethodDef *methods, HPyDef *const *defines);

#endif /* FFI_HPY_RUNTIME_METHODS_H_ */
