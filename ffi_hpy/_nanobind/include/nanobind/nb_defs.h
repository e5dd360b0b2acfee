/* nanobind/nb_defs.h - nanobind's macros, which nanobind.h defines here. */
#ifndef FFI_HPY_NANOBIND_NB_DEFS_H_
#define FFI_HPY_NANOBIND_NB_DEFS_H_

#include <nanobind/nanobind.h>

#endif /* FFI_HPY_NANOBIND_NB_DEFS_H_ */
