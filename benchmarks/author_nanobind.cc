/* The rows of author.py, bound with nanobind. */
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
#define RW def_rw
#define BIND(m) NB_MODULE(author_nanobind, m)
#include "author_rows.h"
