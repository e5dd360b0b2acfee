/* globals_module.c - ffi.Module*, ffi.SystemLib and the loader of shared libraries: this file checks arguments,
 * src/core/module does the work.
 *
 * Names and paths go to modules of other libraries, whose C++ code expects Strings. So a view of a string is converted
 * to a value first. */
#include "core/container/hashmap.h"
#include "core/module/library.h"
#include "core/module/library_module.h"
#include "core/module/module.h"
#include "core/object/error.h"
#include "core/object/function.h"
#include "core/object/str.h"
#include "core/platform/fork.h"
#include "core/platform/mem.h"
#include "globals_entry.h"

/* The head of a function whose first argument is a module. */
#define MODULE(...) FH_GLOBAL_OF(TVMFFIObject, module, kTVMFFIModule, __VA_ARGS__)

/* ---- Loading ---- */

/* A path: a string, or bytes, as file names need not be UTF-8. A path must not contain a NUL, at which the system would
 * end it. */
static int arg_path(const char *name, const TVMFFIAny *args, TVMFFIByteArray *out) {
  if (!fh_bytes_content(&args[0], out) && fh_function_arg_str(name, args, 0, out) != 0) return -1;
  return fh_str_check_name("a path", *out);
}

/* ffi.ModuleLoadFromFile(path) -> Module, by the loader of the file's extension */
FH_GLOBAL(load_from_file, "ffi.ModuleLoadFromFile", 1, "ffi.Module(ffi.String)") {
  TVMFFIByteArray path;
  if (arg_path(name, args, &path) != 0) return -1;
  return fh_library_module_load(path, result);
}

/* ffi.Module.load_from_file.so(path, format) -> Module: the loader of shared libraries. `format` is checked but not
 * used. */
FH_GLOBAL(load_library, "ffi.Module.load_from_file.so", 2, "ffi.Module(ffi.String, ffi.String)") {
  TVMFFIByteArray path, format;
  if (arg_path(name, args, &path) != 0 || fh_function_arg_str(name, args, 1, &format) != 0) return -1;
  return fh_library_module_open(path, result);
}

/* ffi_hpy.check_library_file(path): for callers that open a library by other means. An InternalError if the file is
 * truncated, damaged or not a library. */
FH_GLOBAL(check_library_file, "ffi_hpy.check_library_file", 1, NULL) {
  TVMFFIByteArray path;
  if (arg_path(name, args, &path) != 0) return -1;
  char *text = fh_mem_copy_text(path.data, path.size); /* a view of a string need not end in a NUL */
  if (text == NULL) return fh_error_raise_no_memory();
  int rc = fh_library_check_file(text);
  fh_mem_free(text);
  return rc;
}

/* ffi_hpy.fail_load(reason) -> whether a load is in progress on this thread, which then fails. For initialisers of
 * libraries, which must not throw. */
FH_GLOBAL(fail_load, "ffi_hpy.fail_load", 1, NULL) {
  TVMFFIByteArray reason;
  if (fh_function_arg_str(name, args, 0, &reason) != 0) return -1;
  *result = fh_any_bool(fh_library_load_fail(reason));
  return 0;
}

/* ffi.SystemLib([prefix]) -> Module: one for each prefix */
FH_GLOBAL_OPEN(system_lib, "ffi.SystemLib", "ffi.Function") {
  TVMFFIByteArray prefix = FH_LITERAL("");
  if (n_args > 1) return fh_function_check_count(name, n_args, 1);
  if (n_args == 1 && fh_function_arg_str(name, args, 0, &prefix) != 0) return -1;
  return fh_library_module_system(prefix, result);
}

/* ---- Queries by name ---- */

/* A query of module.h with a name. */
typedef int (*query)(TVMFFIObject *module, const TVMFFIAny *name, int query_imports, TVMFFIAny *out);

/* (module, name, query_imports) -> result, None if no module has one. */
static int run_query(const char *name, TVMFFIObject *module, const TVMFFIAny *args, query ask, TVMFFIAny *result) {
  TVMFFIByteArray text;
  TVMFFIAny symbol;
  int query_imports;
  if (fh_function_arg_str(name, args, 1, &text) != 0) return -1;
  if (fh_function_arg_bool(name, args, 2, &query_imports) != 0 || fh_str_from_bytes(text, &symbol) != 0) return -1;
  int rc = ask(module, &symbol, query_imports, result);
  fh_any_drop(&symbol);
  return rc;
}

/* ffi.ModuleGetFunction(module, name, query_imports) -> Function or None */
MODULE(get_function, "ffi.ModuleGetFunction", 3, "Optional<ffi.Function>(ffi.Module, ffi.String, bool)") {
  return run_query(name, module, args, fh_module_get_function, result);
}

/* ffi.ModuleGetFunctionMetadata(module, name, query_imports) -> JSON or None */
MODULE(get_metadata, "ffi.ModuleGetFunctionMetadata", 3, "Optional<ffi.String>(ffi.Module, ffi.String, bool)") {
  return run_query(name, module, args, fh_module_metadata, result);
}

/* ffi.ModuleGetFunctionDoc(module, name, query_imports) -> str or None */
MODULE(get_doc, "ffi.ModuleGetFunctionDoc", 3, "Optional<ffi.String>(ffi.Module, ffi.String, bool)") {
  return run_query(name, module, args, fh_module_doc, result);
}

static int ask_implements(TVMFFIObject *module, const TVMFFIAny *name, int query_imports, TVMFFIAny *out) {
  int found;
  if (fh_module_implements(module, name, query_imports, &found) != 0) return -1;
  *out = fh_any_bool(found);
  return 0;
}

/* ffi.ModuleImplementsFunction(module, name, query_imports) -> bool */
MODULE(implements, "ffi.ModuleImplementsFunction", 3, "bool(ffi.Module, ffi.String, bool)") {
  return run_query(name, module, args, ask_implements, result);
}

/* ---- Properties of a module ---- */

/* ffi.ModuleGetKind(module) -> str */
MODULE(get_kind, "ffi.ModuleGetKind", 1, "ffi.String(ffi.Module)") { return fh_module_kind(module, result); }

/* ffi.ModuleGetPropertyMask(module) -> int, of FH_MODULE_SERIALIZABLE and similar bits */
MODULE(get_property_mask, "ffi.ModuleGetPropertyMask", 1, "int(ffi.Module)") {
  int64_t mask;
  if (fh_module_property_mask(module, &mask) != 0) return -1;
  *result = fh_any_int(mask);
  return 0;
}

/* ffi.ModuleInspectSource(module, format) -> str, empty if there is none */
MODULE(inspect_source, "ffi.ModuleInspectSource", 2, "ffi.String(ffi.Module, ffi.String)") {
  TVMFFIByteArray text;
  TVMFFIAny format;
  if (fh_function_arg_str(name, args, 1, &text) != 0) return -1;
  if (fh_str_from_bytes(text, &format) != 0) return -1;
  int rc = fh_module_source(module, &format, result);
  fh_any_drop(&format);
  return rc;
}

/* ffi.ModuleGetWriteFormats(module) -> Array of str */
MODULE(get_write_formats, "ffi.ModuleGetWriteFormats", 1, "ffi.Array<ffi.String>(ffi.Module)") {
  return fh_module_write_formats(module, result);
}

/* ffi.ModuleWriteToFile(module, path, format) */
MODULE(write_to_file, "ffi.ModuleWriteToFile", 3, "None(ffi.Module, ffi.String, ffi.String)") {
  TVMFFIByteArray text[2];
  TVMFFIAny owned[2] = {fh_any_none(), fh_any_none()};
  if (fh_function_arg_str(name, args, 1, &text[0]) != 0 || fh_function_arg_str(name, args, 2, &text[1]) != 0) return -1;
  if (fh_str_check_name("a path", text[0]) != 0) return -1;
  int rc = fh_str_from_bytes(text[0], &owned[0]);
  if (rc == 0) rc = fh_str_from_bytes(text[1], &owned[1]);
  if (rc == 0) rc = fh_module_write(module, &owned[0], &owned[1]);
  fh_any_drop(&owned[0]);
  fh_any_drop(&owned[1]);
  return rc;
}

/* ---- Imports ---- */

/* ffi.ModuleImportModule(module, other): by the module's class, which may refuse */
MODULE(import_module, "ffi.ModuleImportModule", 2, "None(ffi.Module, ffi.Module)") {
  TVMFFIObject *other;
  if (fh_function_arg_object(name, args, 1, kTVMFFIModule, &other) != 0) return -1;
  return fh_module_import(module, other);
}

/* ffi.ModuleClearImports(module) */
MODULE(clear_imports, "ffi.ModuleClearImports", 1, "None(ffi.Module)") { return fh_module_clear_imports(module); }

/* ---- Modules that stay loaded: the keys of a Map that is never freed. `kept_lock` guards `kept` ----
 *
 * Modules have no hooks, so keys are compared by address and no foreign code runs under the lock. */

FH_LOCK(kept_lock, "kept", FH_RANK_PLAIN);
static fh_hashmap_object *kept;

/* ffi.ModuleGlobalsAdd(module) */
MODULE(keep_module, "ffi.ModuleGlobalsAdd", 1, "None(ffi.Module)") {
  TVMFFIAny view = fh_any_object(module);
  fh_hashmap_pair pair = {fh_any_none(), fh_any_int(1)};
  fh_hashmap_rest rest;
  fh_hashmap_object *fresh = fh_hashmap_new(kTVMFFIMap, 0); /* before the lock, because a failure raises an error */
  if (fresh == NULL) return -1;
  fh_any_copy(&view, &pair.key);
  fh_mutex_lock(&kept_lock);
  if (kept == NULL) {
    kept = fresh;
    fresh = NULL;
  }
  int rc = fh_hashmap_set(kept, &pair, FH_HASHMAP_NO_HOOKS, &rest);
  fh_mutex_unlock(&kept_lock);
  fh_object_release(fresh);
  rc = fh_hashmap_finish(rc, &rest);
  if (rc != 0) fh_hashmap_drop_pair(&pair);
  return rc;
}

/* ffi.ModuleGlobalsRemove(module): does nothing if the module was not kept. */
MODULE(unkeep_module, "ffi.ModuleGlobalsRemove", 1, "None(ffi.Module)") {
  TVMFFIAny key = fh_any_object(module);
  fh_hashmap_pair old = {fh_any_none(), fh_any_none()};
  fh_mutex_lock(&kept_lock);
  int found = kept == NULL ? 0 : fh_hashmap_erase(kept, &key, FH_HASHMAP_NO_HOOKS, &old);
  fh_mutex_unlock(&kept_lock);
  if (found == 1) fh_hashmap_drop_pair(&old);
  return found < 0 ? -1 : 0;
}

const fh_globals_item fh_globals_module[] = {&load_from_file,
                                             &load_library,
                                             &system_lib,
                                             &check_library_file,
                                             &fail_load,
                                             &get_function,
                                             &implements,
                                             &get_metadata,
                                             &get_doc,
                                             &get_kind,
                                             &get_property_mask,
                                             &inspect_source,
                                             &get_write_formats,
                                             &write_to_file,
                                             &import_module,
                                             &clear_imports,
                                             &keep_module,
                                             &unkeep_module,
                                             NULL};
