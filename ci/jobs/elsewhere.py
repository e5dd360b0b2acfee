"""The tests that are left out on a machine or with a C library that is not this system's, each with the reason."""

from __future__ import annotations

from fnmatch import fnmatch

EXCEPTIONS = (
    (
        "musl-*",
        "tests/python/containers/test_container.py::test_numbers_are_printed_alike_in_every_locale",
        "musl has one locale",
    ),
    (
        "musl-*",
        "tests/python/containers/test_container.py::test_containers_work_with_another_core",
        "the other core is apache-tvm-ffi's, which needs glibc and libstdc++",
    ),
    (
        "musl-*",
        "tests/python/building/test_cpp_build.py::test_ninja_is_found_beside_python_and_is_asked_for_where_it_is_not",
        "the ninja beside Python names musl's loader by a path that a system of glibc does not have",
    ),
    (
        "musl-*",
        "tests/python/building/test_cpp_build.py::test_where_the_current_folder_is_gone_absolute_paths_work",
        "the compiler for musl is zig, which does not start in such a folder",
    ),
    (
        "*64-*",
        "tests/python/building/test_cpp_build.py::test_ninja_is_found_beside_python_and_is_asked_for_where_it_is_not",
        "the ninja beside Python is a program for the emulated machine, which this kernel does not start",
    ),
)
"""Names of interpreters (a pattern), a test, and why it cannot be run there."""


def left_out(interpreter: str) -> tuple[str, ...]:
    """Return the arguments for pytest that leave out what an interpreter cannot run."""
    return tuple(f"--deselect={test}" for names, test, _ in EXCEPTIONS if fnmatch(interpreter, names))
