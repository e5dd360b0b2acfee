/* The rows of author.py, bound with ffi_hpy/bind.h. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/stl/function.h>
#include <ffi_hpy/stl/map.h>
#include <ffi_hpy/stl/set.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/tuple.h>
#include <ffi_hpy/stl/vector.h>

namespace nb = ffi_hpy;
#define RW def_rw
#define BIND(m) FFI_HPY_MODULE(author_ffi_hpy, m)
#include "author_rows.h"
