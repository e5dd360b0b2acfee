/* The rows of author.py, bound with nanobind. */
#include <nanobind/make_iterator.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/operators.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <nanobind/trampoline.h>

namespace nb = nanobind;
#define RW def_rw
#define TRAMPOLINE(base) NB_TRAMPOLINE(base, 1)
#define OVERRIDE(result, base, name, ...) NB_OVERRIDE_PURE(name, __VA_ARGS__)
#define ITERATOR(of) nb::make_iterator(nb::type<Numbers>(), "iterator", (of).begin(), (of).end())
using Doubles = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
#define BIND(m) NB_MODULE(author_nanobind, m)
#include "author_rows.h"
