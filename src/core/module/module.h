/* module.h - ffi.Module: a C++ class with a virtual table, made and called from C.
 *
 * The address of a ModuleObj is 8 bytes before its handle: the pointer to a table of 12 functions (see
 * module_virtual.h) precedes the object header. Any library may define its own table; the core calls the functions of
 * such modules through it. Such functions may throw C++ exceptions, which C cannot catch: if a global function
 * "ffi_hpy.catch_cxx" exists, calls go through it as catch_cxx(code, state), which runs code(state) and translates an
 * exception to an error. */
#pragma once

#include "core/container/hashmap.h"
#include "core/container/list.h"
#include "core/object/any.h"
#include "module_virtual.h"

/* Bits of a property mask. */
#define FH_MODULE_SERIALIZABLE 1
#define FH_MODULE_RUNNABLE 2

/* A module from its header on. This library changes both members under the lock `module`. */
typedef struct {
  TVMFFIObject header;
  fh_seq_object *imports;          /* Array of Modules; NULL reads as empty */
  fh_hashmap_object *lookup_cache; /* Map from name to Function, for the module's code; NULL reads as empty */
} fh_module_object;

/* Sets the operations of modules with that virtual table; the core then calls these instead of the table. Supports one
 * table, set by the load-time constructor. For other tables the core calls the table (module_virtual.h). */
void fh_module_set_operations(const void *virtual_table, const fh_module_operations *operations);

/* The operations of a module. The caller owns results; -1 with an error pending. Missing functions and strings are
 * returned as None. `module` is a handle. query_imports: whether to ask imported modules, too. */
int fh_module_kind(TVMFFIObject *module, TVMFFIAny *out);
int fh_module_property_mask(TVMFFIObject *module, int64_t *out);
int fh_module_get_function(TVMFFIObject *module, const TVMFFIAny *name, int query_imports, TVMFFIAny *out);
int fh_module_implements(TVMFFIObject *module, const TVMFFIAny *name, int query_imports, int *out);
int fh_module_doc(TVMFFIObject *module, const TVMFFIAny *name, int query_imports, TVMFFIAny *out);
int fh_module_metadata(TVMFFIObject *module, const TVMFFIAny *name, int query_imports, TVMFFIAny *out);
int fh_module_write(TVMFFIObject *module, const TVMFFIAny *file, const TVMFFIAny *format);
int fh_module_write_formats(TVMFFIObject *module, TVMFFIAny *out);
int fh_module_source(TVMFFIObject *module, const TVMFFIAny *format, TVMFFIAny *out);
int fh_module_import(TVMFFIObject *module, TVMFFIObject *other);
int fh_module_clear_imports(TVMFFIObject *module);

/* Adds an import; RuntimeError for a cycle. For implementations of modules. */
int fh_module_add_import(fh_module_object *module, TVMFFIObject *other);
/* Removes all imports. For implementations of modules. */
int fh_module_drop_imports(fh_module_object *module);
/* The current imports: an Array as a new reference, NULL if there are none. */
fh_seq_object *fh_module_imports(fh_module_object *module);

void fh_module_init(void);
