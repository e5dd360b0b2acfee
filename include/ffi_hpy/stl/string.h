/* string.h - std::string, which bind.h has already: for programs with one header for each type. */
#ifndef FFI_HPY_STL_STRING_H_
#define FFI_HPY_STL_STRING_H_

#include <ffi_hpy/bind/function.h>

#endif /* FFI_HPY_STL_STRING_H_ */
