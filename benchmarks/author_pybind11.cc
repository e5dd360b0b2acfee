/* The rows of author.py, bound with pybind11. */
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/operators.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace nb = pybind11;
#define RW def_readwrite
#define TRAMPOLINE(base) using base::base
#define OVERRIDE(result, base, name, ...) PYBIND11_OVERRIDE_PURE(result, base, name, __VA_ARGS__)
#define ITERATOR(of) nb::make_iterator((of).begin(), (of).end())
using Doubles = nb::array_t<double>;
#define BIND(m) PYBIND11_MODULE(author_pybind11, m)
#include "author_rows.h"
