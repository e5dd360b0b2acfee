/* globals_binding.c - functions of the core for the bindings of this project and for libtvm_ffi_cxx.so. */
#include "core/bind/api.h"
#include "core/bind/instance.h"
#include "core/bind/sequence.h"
#include "core/module/library.h"
#include "core/module/library_module.h"
#include "core/module/library_parts.h"
#include "core/module/module.h"
#include "core/object/any.h"
#include "core/object/backtrace.h"
#include "core/object/error.h"
#include "core/object/error_deferred.h"
#include "core/object/field_access.h"
#include "core/object/function.h"
#include "core/object/str.h"
#include "core/object/type.h"
#include "globals_entry.h"

/* The tables are static, so the binding may keep their addresses. */
static int give_table(const char *name, const void *table, int32_t n_args, TVMFFIAny *result) {
  if (fh_function_check_count(name, n_args, 0) != 0) return -1;
  *result = fh_any_ptr((void *)(uintptr_t)table);
  return 0;
}

/* ffi_hpy.error_deferral.2() -> the address of the table of error_deferred.h */
FH_GLOBAL(error_deferral) { return give_table("ffi_hpy.error_deferral.2", &fh_error_deferred, n_args, result); }

/* ffi_hpy.field_access() -> the address of the table of field_access.h */
FH_GLOBAL(field_access) { return give_table("ffi_hpy.field_access", &fh_field_access_table, n_args, result); }

/* ffi_hpy.bind_api() -> the address of the table of ffi_hpy/c_bind.h */
FH_GLOBAL(bind_api) {
  if (fh_sequence_init() != 0) return -1;
  return give_table("ffi_hpy.bind_api", &fh_api_table, n_args, result);
}

/* ffi_hpy.bind_room(type_index) -> an object of a bound class, with room for a value */
FH_GLOBAL(bind_room) {
  int64_t index;
  void *room;
  ffi_hpy_instance *made;
  if (fh_function_check_count("ffi_hpy.bind_room", n_args, 1) != 0) return -1;
  if (fh_function_arg_int("ffi_hpy.bind_room", args, 0, &index) != 0) return -1;
  const ffi_hpy_class *type = fh_instance_class_of(index);
  if (type == NULL) {
    return fh_error_raise(FH_TYPE_ERROR, "Expected the index of a bound class but got %lld", (long long)index);
  }
  if (fh_instance_new(type, &room, &made) != 0) return -1;
  *result = fh_any_object(made);
  return 0;
}

/* ffi_hpy.bind_class_key(cpp_name) -> the type key of the bound class with that C++ name, or None */
FH_GLOBAL(bind_class_key) {
  TVMFFIByteArray name;
  if (fh_function_check_count("ffi_hpy.bind_class_key", n_args, 1) != 0) return -1;
  if (fh_function_arg_str("ffi_hpy.bind_class_key", args, 0, &name) != 0) return -1;
  const ffi_hpy_class *type = fh_instance_class_find(name.data);
  *result = fh_any_none();
  return type == NULL ? 0 : fh_str_from_bytes(fh_type_find(type->type_index)->type_key, result);
}

/* ffi_hpy.bind_state(object) -> 1 if an object of a bound class has a value, 2 if C++ has taken it, otherwise 0 */
FH_GLOBAL(bind_state) {
  if (fh_function_check_count("ffi_hpy.bind_state", n_args, 1) != 0) return -1;
  const ffi_hpy_instance *instance = fh_instance_of(&args[0]);
  bool has_none = instance == NULL || (instance->value == NULL && instance->holder == NULL);
  *result = fh_any_int(has_none ? 0 : instance->value != NULL ? 1 : 2);
  return 0;
}

/* ffi_hpy.set_backtrace_boundary(address): native backtraces end at the library that contains this address, for a host
 * whose calls do not come from the library of its PyErr_CheckSignals. */
FH_GLOBAL(set_backtrace_boundary) {
  void *address;
  if (fh_function_check_count("ffi_hpy.set_backtrace_boundary", n_args, 1) != 0) return -1;
  if (fh_function_arg_ptr("ffi_hpy.set_backtrace_boundary", args, 0, &address) != 0) return -1;
  fh_backtrace_set_boundary(address);
  return 0;
}

const fh_globals_entry fh_globals_binding[] = {
    {"ffi_hpy.set_backtrace_boundary", set_backtrace_boundary, NULL},
    {"ffi_hpy.error_deferral.2", error_deferral, NULL},
    {"ffi_hpy.field_access", field_access, NULL},
    {"ffi_hpy.bind_api", bind_api, NULL},
    {"ffi_hpy.bind_room", bind_room, NULL},
    {"ffi_hpy.bind_class_key", bind_class_key, NULL},
    {"ffi_hpy.bind_state", bind_state, NULL},
    {NULL, NULL, NULL},
};

/* --- for libtvm_ffi_cxx ------------------------------------------------------------------------------------------ */

/* libtvm_ffi_cxx.so has the C++ names of the ABI. That library calls these functions by name, as it calls all others,
 * so the core exports no symbols for it. */

/* ffi_hpy.load_cxx(): for the Python binding, before ctypes or an import opens a C++ library without the core. */
FH_GLOBAL(load_cxx) {
  if (fh_function_check_count("ffi_hpy.load_cxx", n_args, 0) != 0) return -1;
  fh_library_load_cxx();
  return 0;
}

/* ffi_hpy.module_attach_cxx(type_info, throw_pending): the class of modules, and a function that throws the pending
 * error. Called by the constructor of libtvm_ffi_cxx.so. */
FH_GLOBAL(attach) {
  const char *name = "ffi_hpy.module_attach_cxx";
  void *type_info, *throw_pending;
  if (fh_function_check_count(name, n_args, 2) != 0) return -1;
  if (fh_function_arg_ptr(name, args, 0, &type_info) != 0) return -1;
  if (fh_function_arg_ptr(name, args, 1, &throw_pending) != 0) return -1;
  fh_library_module_attach_cxx(type_info, (void (*)(void))(uintptr_t)throw_pending);
  return 0;
}

/* ---- Methods of the base class of all modules; ffi.ModuleImportModule calls the module's own class ---- */

/* ffi_hpy.module_add_import(module, other). RuntimeError for a cycle. */
FH_GLOBAL(add_import) {
  const char *name = "ffi_hpy.module_add_import";
  TVMFFIObject *module, *other;
  if (fh_function_check_count(name, n_args, 2) != 0) return -1;
  if (fh_function_arg_object(name, args, 0, kTVMFFIModule, &module) != 0) return -1;
  if (fh_function_arg_object(name, args, 1, kTVMFFIModule, &other) != 0) return -1;
  return fh_module_add_import((fh_module_object *)module, other);
}

/* ffi_hpy.module_drop_imports(module) */
FH_GLOBAL(drop_imports) {
  const char *name = "ffi_hpy.module_drop_imports";
  TVMFFIObject *module;
  if (fh_function_check_count(name, n_args, 1) != 0) return -1;
  if (fh_function_arg_object(name, args, 0, kTVMFFIModule, &module) != 0) return -1;
  return fh_module_drop_imports((fh_module_object *)module);
}

/* ---- Context symbols ---- */

/* Calls the visitor with one symbol; an error ends the visit. */
static int visit_symbol(void *visitor, const char *name, void *symbol) {
  TVMFFIAny args[2] = {fh_any_none(), fh_any_ptr(symbol)};
  if (fh_str_from_cstr(name, &args[0]) != 0) return -1;
  int rc = fh_function_call_drop(visitor, args, 2);
  fh_any_drop(&args[0]);
  return rc;
}

/* ffi_hpy.visit_context_symbols(Function(name, address)): C++'s Module::VisitContextSymbols. */
FH_GLOBAL(visit_context_symbols) {
  const char *name = "ffi_hpy.visit_context_symbols";
  TVMFFIObject *visitor;
  if (fh_function_check_count(name, n_args, 1) != 0) return -1;
  if (fh_function_arg_object(name, args, 0, kTVMFFIFunction, &visitor) != 0) return -1;
  return fh_library_context_each(visit_symbol, visitor);
}

const fh_globals_entry fh_globals_cxx[] = {
    {"ffi_hpy.load_cxx", load_cxx, NULL},
    {"ffi_hpy.module_attach_cxx", attach, NULL},
    {"ffi_hpy.module_add_import", add_import, NULL},
    {"ffi_hpy.module_drop_imports", drop_imports, NULL},
    {"ffi_hpy.visit_context_symbols", visit_context_symbols, NULL},
    {NULL, NULL, NULL},
};
