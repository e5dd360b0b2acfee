/* library_parts.h - parts of a library module: its context symbols, and the modules embedded in it. */
#pragma once

#include "core/object/any.h"

/* --- context symbols ---------------------------------------------------------------------------------------------- */

/* Modules of kind "library": where their symbols come from, and the context symbols that they
 * receive. */

/* A kind of source, such as shared libraries. `state` is one source of that kind; the struct itself is static. */
typedef struct {
  /* Address of a symbol, NULL if there is none. */
  void *(*find)(const void *state, const char *symbol);
  /* Address of the function `name`, whose symbol is __tvm_ffi_<name>; NULL if there is none. */
  void *(*find_function)(const void *state, const char *name);
  /* Frees a state once no module uses it; NULL if there is nothing to free. */
  void (*end)(void *state);
} fh_library_symbols;

/* --- context symbols --------------------------------------------------------------------------------------------- */

/* A context symbol is a pointer that the core stores into a variable of a library when it loads the library. */
/* Stores each registered context symbol into the library's variable of that name, if there is one. */
void fh_library_context_fill(const fh_library_symbols *symbols, const void *state);
/* Calls visit(state, name, symbol) for each context symbol, in order of registration; no lock is held. */
int fh_library_context_each(int (*visit)(void *state, const char *name, void *symbol), void *state);

/* --- embedded modules --------------------------------------------------------------------------------------------- */

/* Modules embedded in a library. */

/* Makes the modules that `blob` describes; *out becomes the root of their tree, owned. The blob may name the library
 * itself as one of them: new_own(state) makes that module and returns an owned reference, or NULL with an error
 * pending. */
int fh_library_blob_load(const char *blob, TVMFFIObject *(*new_own)(void *state), void *state, TVMFFIAny *out);
