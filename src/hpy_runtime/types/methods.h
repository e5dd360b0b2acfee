/* Converts HPyDef lists to the interpreter's method tables, for types and for modules. */
#ifndef FFI_HPY_RUNTIME_METHODS_H_
#define FFI_HPY_RUNTIME_METHODS_H_

#include "hpy_runtime/abi/handle.h"

/* Counts the definitions of one kind in a NULL-terminated list, which may itself be NULL. */
size_t fhpy_methods_count(HPyDef *const *defines, HPyDef_Kind kind);

/* Writes one entry for each method. The table is zeroed and has room for one more entry, its end. The table and the
 * definitions must outlive all objects that are made from them. Returns 0, or -1 with an exception raised. */
int fhpy_methods_fill(PyMethodDef *methods, HPyDef *const *defines);

#endif /* FFI_HPY_RUNTIME_METHODS_H_ */
