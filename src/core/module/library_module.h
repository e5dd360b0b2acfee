/* library_module.h - the module of kind "library": functions found as symbols of a library. */
#ifndef FH_LIBRARY_MODULE_H_
#define FH_LIBRARY_MODULE_H_

#include "library_symbols.h"

/* Gives modules made here what C++ code expects of their virtual table: a std::type_info, and that its functions throw:
 * throw_pending throws the pending error. Before that they return nothing where they fail. */
void fh_library_module_attach_cxx(const void *type_info, void (*throw_pending)(void));

/* A module over these symbols (takes `state`, also on failure), as an owned value: stores itself and the context
 * symbols into the library and loads the modules embedded in it; with such, the root of their tree comes. */
int fh_library_module_new(const fh_library_symbols *symbols, void *state, TVMFFIAny *out);

/* A module from a file, by the loader that is registered for its extension. */
int fh_library_module_load(TVMFFIByteArray path, TVMFFIAny *out);
/* The loader of shared libraries. */
int fh_library_module_open(TVMFFIByteArray path, TVMFFIAny *out);
/* The module of the registered system library symbols with that prefix; one per prefix. */
int fh_library_module_system(TVMFFIByteArray prefix, TVMFFIAny *out);

void fh_library_module_init(void);

#endif /* FH_LIBRARY_MODULE_H_ */
