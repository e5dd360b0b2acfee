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
static int give_table(const void *table, TVMFFIAny *result) {
  *result = fh_any_ptr((void *)(uintptr_t)table);
  return 0;
}

/* ffi_hpy.error_deferral.3() -> the address of the table of error_deferred.h */
FH_GLOBAL(error_deferral, "ffi_hpy.error_deferral.3", 0, NULL) { return give_table(&fh_error_deferred, result); }

/* ffi_hpy.field_access() -> the address of the table of field_access.h */
FH_GLOBAL(field_access, "ffi_hpy.field_access", 0, NULL) { return give_table(&fh_field_access_table, result); }

/* ffi_hpy.bind_api() -> the address of the table of ffi_hpy/c_bind.h */
FH_GLOBAL(bind_api, "ffi_hpy.bind_api", 0, NULL) {
  return fh_sequence_init() != 0 ? -1 : give_table(&fh_api_table, result);
}

/* ffi_hpy.bind_room(type_index) -> an object of a bound class, with room for a value */
FH_GLOBAL(bind_room, "ffi_hpy.bind_room", 1, NULL) {
  int64_t index;
  void *room;
  ffi_hpy_instance *made;
  if (fh_function_arg_int(name, args, 0, &index) != 0) return -1;
  const ffi_hpy_class *type = fh_instance_class_of(index);
  if (type == NULL) {
    return fh_error_raise(FH_TYPE_ERROR, "Expected the index of a bound class but got %lld", (long long)index);
  }
  if (fh_instance_new(type, &room, &made) != 0) return -1;
  *result = fh_any_object(made);
  return 0;
}

/* ffi_hpy.bind_class_key(cpp_name) -> the type key of the bound class with that C++ name, or None */
FH_GLOBAL(bind_class_key, "ffi_hpy.bind_class_key", 1, NULL) {
  TVMFFIByteArray cpp_name;
  if (fh_function_arg_str(name, args, 0, &cpp_name) != 0) return -1;
  const ffi_hpy_class *type = fh_instance_class_find(cpp_name.data);
  *result = fh_any_none();
  return type == NULL ? 0 : fh_str_from_bytes(fh_type_find(type->type_index)->type_key, result);
}

/* ffi_hpy.bind_state(object) -> 1 if an object of a bound class has a value, 2 if C++ has taken it, otherwise 0 */
FH_GLOBAL(bind_state, "ffi_hpy.bind_state", 1, NULL) {
  const ffi_hpy_instance *instance = fh_instance_of(&args[0]);
  bool has_none = instance == NULL || (instance->value == NULL && instance->holder == NULL);
  *result = fh_any_int(has_none ? 0 : instance->value != NULL ? 1 : 2);
  return 0;
}

/* ffi_hpy.set_backtrace_boundary(address): native backtraces end at the library that contains this address, for a host
 * whose calls do not come from the library of its PyErr_CheckSignals. */
FH_GLOBAL(set_backtrace_boundary, "ffi_hpy.set_backtrace_boundary", 1, NULL) {
  void *address;
  if (fh_function_arg_ptr(name, args, 0, &address) != 0) return -1;
  fh_backtrace_set_boundary(address);
  return 0;
}

const fh_globals_item fh_globals_binding[] = {
    &set_backtrace_boundary, &error_deferral, &field_access, &bind_api, &bind_room, &bind_class_key, &bind_state, NULL};

/* --- for libtvm_ffi_cxx ------------------------------------------------------------------------------------------ */

/* libtvm_ffi_cxx.so has the C++ names of the ABI. That library calls these functions by name, as it calls all others,
 * so the core exports no symbols for it. */

/* ffi_hpy.load_cxx(): for the Python binding, before ctypes or an import opens a C++ library without the core. */
FH_GLOBAL(load_cxx, "ffi_hpy.load_cxx", 0, NULL) {
  fh_library_load_cxx();
  return 0;
}

/* ffi_hpy.module_attach_cxx(type_info, throw_pending): the class of modules, and a function that throws the pending
 * error. Called by the constructor of libtvm_ffi_cxx.so. */
FH_GLOBAL(attach, "ffi_hpy.module_attach_cxx", 2, NULL) {
  void *type_info, *throw_pending;
  if (fh_function_arg_ptr(name, args, 0, &type_info) != 0 || fh_function_arg_ptr(name, args, 1, &throw_pending) != 0) {
    return -1;
  }
  fh_library_module_attach_cxx(type_info, (void (*)(void))(uintptr_t)throw_pending);
  return 0;
}

/* ---- Methods of the base class of all modules; ffi.ModuleImportModule calls the module's own class ---- */

/* ffi_hpy.module_add_import(module, other). RuntimeError for a cycle. */
FH_GLOBAL_OF(fh_module_object, module, kTVMFFIModule, add_import, "ffi_hpy.module_add_import", 2, NULL) {
  TVMFFIObject *other;
  return fh_function_arg_object(name, args, 1, kTVMFFIModule, &other) != 0 ? -1 : fh_module_add_import(module, other);
}

/* ffi_hpy.module_drop_imports(module) */
FH_GLOBAL_OF(fh_module_object, module, kTVMFFIModule, drop_imports, "ffi_hpy.module_drop_imports", 1, NULL) {
  return fh_module_drop_imports(module);
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
FH_GLOBAL_OF(TVMFFIObject, visitor, kTVMFFIFunction, visit_context_symbols, "ffi_hpy.visit_context_symbols", 1, NULL) {
  return fh_library_context_each(visit_symbol, visitor);
}

const fh_globals_item fh_globals_cxx[] = {&load_cxx, &attach, &add_import, &drop_imports, &visit_context_symbols, NULL};
