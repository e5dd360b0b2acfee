/* The rows of author.py, bound with ffi_hpy/bind.h. */
#include <ffi_hpy/bind.h>
#include <ffi_hpy/make_iterator.h>
#include <ffi_hpy/ndarray.h>
#include <ffi_hpy/operators.h>
#include <ffi_hpy/stl/function.h>
#include <ffi_hpy/stl/map.h>
#include <ffi_hpy/stl/set.h>
#include <ffi_hpy/stl/string.h>
#include <ffi_hpy/stl/tuple.h>
#include <ffi_hpy/stl/vector.h>
#include <ffi_hpy/trampoline.h>

namespace nb = ffi_hpy;
#define RW def_rw
#define TRAMPOLINE(base) FFI_HPY_TRAMPOLINE(base)
#define OVERRIDE(result, base, name, ...) FFI_HPY_OVERRIDE_PURE(name, __VA_ARGS__)
#define ITERATOR(of) nb::make_iterator(nb::type<Numbers>(), "iterator", (of).begin(), (of).end())
using Doubles = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
#define BIND(m) FFI_HPY_MODULE(author_ffi_hpy, m)
#include "author_rows.h"
