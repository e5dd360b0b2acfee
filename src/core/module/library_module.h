/* library_module.h - the module of kind "library": functions found as symbols of a library. */
#ifndef FH_LIBRARY_MODULE_H_
#define FH_LIBRARY_MODULE_H_

#include "module.h"

/* Where a module's symbols come from; lives as long as the process. */
typedef struct {
  /* Address of a symbol, NULL if there is none. */
  void *(*find)(const void *state, const char *symbol);
  /* Address of the function `name`, whose symbol is __tvm_ffi_<name>. */
  void *(*find_function)(const void *state, const char *name);
  /* Ends a state that a module owned. */
  void (*end)(void *state);
} fh_library_symbols;

/* Whether a module was made here. */
int fh_library_module_is(const void *handle);

/* Gives modules made here what C++ code expects of their virtual table: a std::type_info, and that its functions throw:
 * throw_pending throws the pending error. Before that they return nothing where they fail. */
void fh_library_module_attach_cxx(const void *type_info, void (*throw_pending)(void));

/* What such a module has by that name, None if nothing. */
int fh_library_module_function(TVMFFIObject *module, const TVMFFIAny *name, TVMFFIAny *out);
int fh_library_module_doc(TVMFFIObject *module, const TVMFFIAny *name, TVMFFIAny *out);
int fh_library_module_metadata(TVMFFIObject *module, const TVMFFIAny *name, TVMFFIAny *out);

/* A module of these symbols alone; `state` is shared with others and freed by the last. */
typedef struct fh_library_shared fh_library_shared;
TVMFFIObject *fh_library_module_over(fh_library_shared *shared);

/* A module over these symbols (takes `state`, also on failure), as an owned value: stores itself and the context
 * symbols into the library and loads the modules embedded in it; with such, the root of their tree comes. */
int fh_library_module_new(const fh_library_symbols *symbols, void *state, TVMFFIAny *out);

/* A module from a file, by the loader that is registered for its extension. */
int fh_library_module_load(TVMFFIByteArray path, TVMFFIAny *out);
/* The loader of shared libraries. */
int fh_library_module_open(TVMFFIByteArray path, TVMFFIAny *out);
/* The module of the registered system library symbols with that prefix; one per prefix. */
int fh_library_module_system(TVMFFIByteArray prefix, TVMFFIAny *out);

/* ---- library_load.c: libraries whose initialisation fails ---- */

/* Opens a library. NULL with an error pending if it cannot be opened, or says that its initialisation failed. */
void *fh_library_load(const char *path);
/* Fails the load in progress on this thread; 0 if there is none. */
int fh_library_load_fail(TVMFFIByteArray reason);

/* ---- library_blob.c: modules embedded in a library ---- */

/* Makes the modules that `blob` describes and gives the root of their tree. The library itself is among them where
 * the blob says so. */
int fh_library_blob_load(const char *blob, fh_library_shared *shared, TVMFFIAny *out);

/* ---- library_context.c: pointers that libraries get ---- */

/* Stores the registered context symbols into the variables of those names. -1 without memory. */
int fh_library_context_fill(const fh_library_symbols *symbols, const void *state);
/* Calls visit(state, name, symbol) for each, in order of registration; no lock is held. */
int fh_library_context_each(int (*visit)(void *state, const char *name, void *symbol), void *state);

#endif /* FH_LIBRARY_MODULE_H_ */
