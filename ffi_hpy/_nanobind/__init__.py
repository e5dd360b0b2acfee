"""nanobind for programs that ask where it is: the module nanobind of an environment after
`python -m ffi_hpy.dropin install nanobind`.

The folder also has the files that these answers name: the headers <nanobind/...>, which are ffi_hpy's by other names,
and CMake's functions.
"""

from __future__ import annotations

import os

from ffi_hpy._installed.identity import NANOBIND, installed_version

__all__ = ["__version__", "cmake_dir", "include_dir", "source_dir"]

_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120

__version__ = installed_version(NANOBIND) or NANOBIND.version


def source_dir() -> str:
    """Return the folder of the headers' package. A library is bound without sources of nanobind's."""
    return _HERE


def include_dir() -> str:
    """Return the folder of the headers <nanobind/...>. A compiler also needs the headers of `ffi-hpy-config
    --includedir`."""
    return os.path.join(_HERE, "include")  # noqa: PTH118


def cmake_dir() -> str:
    """Return the folder for CMake's ``nanobind_ROOT``."""
    return os.path.join(_HERE, "cmake")  # noqa: PTH118
