/* globals_binding.c - functions of the core for the bindings of this project, in addition to the ABI. */
#include "core/object/any.h"
#include "core/object/backtrace.h"
#include "core/object/error_deferred.h"
#include "core/object/field_access.h"
#include "core/object/function.h"
#include "globals_entry.h"

/* The tables are static, so the binding may keep their addresses. */
static int give_table(const char *name, const void *table, int32_t n_args, TVMFFIAny *result) {
  if (fh_function_check_count(name, n_args, 0) != 0) return -1;
  *result = fh_any_ptr((void *)(uintptr_t)table);
  return 0;
}

/* ffi_hpy.error_deferral() -> the address of the table of error_deferred.h */
FH_GLOBAL(error_deferral) { return give_table("ffi_hpy.error_deferral", &fh_error_deferred, n_args, result); }

/* ffi_hpy.field_access() -> the address of the table of field_access.h */
FH_GLOBAL(field_access) { return give_table("ffi_hpy.field_access", &fh_field_access_table, n_args, result); }

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
    {"ffi_hpy.error_deferral", error_deferral, NULL},
    {"ffi_hpy.field_access", field_access, NULL},
    {NULL, NULL, NULL},
};
