/* library_module.h - the module of kind "library": functions found as symbols of a library. */
#pragma once

#include "library_parts.h"

/* Completes the virtual table of this library's modules for C++ code: a std::type_info, and functions that throw.
 * throw_pending throws the pending error. Before this call, functions of the table that fail return nothing. */
void fh_library_module_attach_cxx(const void *type_info, void (*throw_pending)(void));

/* Makes a module over these symbols, as an owned value; steals `state`, also on failure. Stores the module and the
 * context symbols into the library's variables. If modules are embedded in the library, they are loaded and *out is the
 * root of their tree. */
int fh_library_module_new(const fh_library_symbols *symbols, void *state, TVMFFIAny *out);

/* Makes a module from a file, by the loader that is registered for its extension. */
int fh_library_module_load(TVMFFIByteArray path, TVMFFIAny *out);
/* The loader of shared libraries. */
int fh_library_module_open(TVMFFIByteArray path, TVMFFIAny *out);
/* The module of the system library symbols registered with that prefix; one per prefix. */
int fh_library_module_system(TVMFFIByteArray prefix, TVMFFIAny *out);

void fh_library_module_init(void);
