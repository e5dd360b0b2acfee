/* Declares alloca, which hpy.h calls without a declaration; -std=c11 makes that an error. */
#ifndef FFI_HPY_RUNTIME_ALLOCA_H_
#define FFI_HPY_RUNTIME_ALLOCA_H_

#if defined(_WIN32)
#include <malloc.h>
#else
#include <alloca.h>
#endif

#endif /* FFI_HPY_RUNTIME_ALLOCA_H_ */
