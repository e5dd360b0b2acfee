/* The module `bound_lacking`, whose library needs a variable that no library has. */
#include <ffi_hpy/bind.h>

extern int variable_of_no_library;

FFI_HPY_MODULE(bound_lacking, m) { m.attr("value") = variable_of_no_library; }
