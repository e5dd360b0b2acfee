/* globals_error.c - what a binding of ours needs of the core for errors, beside the ABI. */
#include "core/object/any.h"
#include "core/object/error_deferred.h"
#include "core/object/function.h"
#include "globals_entry.h"

/* ffi_hpy.error_deferral() -> the address of the table of functions (error_deferred.h). The table is static, so the
 * binding may keep the address. */
static int error_deferral(void *self, const TVMFFIAny *args, int32_t n_args, TVMFFIAny *result) {
  FH_UNUSED(self);
  FH_UNUSED(args);
  if (fh_function_check_count("ffi_hpy.error_deferral", n_args, 0) != 0) return -1;
  *result = fh_any_ptr((void *)(uintptr_t)&fh_error_deferred);
  return 0;
}

const fh_globals_entry fh_globals_error[] = {
    {"ffi_hpy.error_deferral", error_deferral, NULL},
    {NULL, NULL, NULL},
};
