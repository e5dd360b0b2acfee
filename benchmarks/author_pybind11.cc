/* The rows of author.py, bound with pybind11. */
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace nb = pybind11;
#define RW def_readwrite
#define BIND(m) PYBIND11_MODULE(author_pybind11, m)
#include "author_rows.h"
