"""The tests that are left out on a foreign machine or with a foreign C library, each with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch


@dataclass(frozen=True)
class LeftOut:
    """Tests that cannot run on some interpreters, and the reason."""

    interpreters: str  # a pattern of names
    reason: str
    tests: tuple[str, ...]  # paths below tests/python


# Tests that load a library of apache-tvm-ffi.
OF_UPSTREAM = (
    "calls/test_registry.py::test_functions_of_the_core_have_the_schemas_of_the_reference",
    "containers/test_container.py::test_containers_work_with_another_core",
    "containers/test_json.py::test_the_reference_gives_the_same",
    "modules/test_testing_alike.py::test_the_other_library_passes_the_same_tests",
    "modules/test_testing_alike.py::test_both_describe_themselves_alike",
    "modules/test_testing_alike.py::test_both_come_to_the_same",
    "modules/test_testing_alike.py::test_the_package_takes_the_library_that_is_there",
    "modules/test_testing_alike.py::test_another_library_after_ours_is_refused",
    "modules/test_testing_alike.py::test_our_library_works_on_the_other_core",
)

EXCEPTIONS = (
    LeftOut(
        "musl-*",
        "musl has one locale",
        ("containers/test_container.py::test_numbers_are_printed_alike_in_every_locale",),
    ),
    LeftOut(
        "musl-*",
        "a library of apache-tvm-ffi's is loaded, which needs glibc and libstdc++",
        OF_UPSTREAM,
    ),
    LeftOut(
        "riscv64-*",
        "apache-tvm-ffi has no library for this machine",
        (*OF_UPSTREAM, "modules/test_testing_library.py::test_the_library_of_the_era_before_works_too"),
    ),
    LeftOut(
        "arm64-pp80",
        "PyPy's stack ends after fewer calls where it is emulated",
        (
            "errors/test_traceback.py::test_a_traceback_has_all_frames_of_a_deep_recursion",
            "errors/test_traceback.py::test_native_code_gets_the_innermost_frames_of_a_deep_recursion",
        ),
    ),
    LeftOut(
        "arm64-pp80",
        "the program takes longer than its time where PyPy is emulated",
        ("objects/test_memory_level.py::test_a_leak_of_a_few_bytes_each_is_seen",),
    ),
    LeftOut(
        "musl-*",
        "malloc is replaced by a function that calls glibc's under the name that only glibc has",
        ("errors/test_allocation_failures.py::test_each_allocation_may_fail",),
    ),
    LeftOut(
        "musl-*",
        "the ninja beside Python names musl's loader by a path that a system of glibc does not have",
        ("building/test_cpp_build.py::test_ninja_is_found_beside_python_or_reported_as_missing",),
    ),
    LeftOut(
        "musl-*",
        "the compiler for musl is zig, which does not start in a folder that is gone",
        ("building/test_cpp_build.py::test_where_the_current_folder_is_gone_absolute_paths_work",),
    ),
    LeftOut(
        "musl-*",
        "the names in C++ are in libtvm_ffi_cxx.so, which needs libstdc++: there is none for musl here",
        (
            "modules/test_cxx_module.py",
            "modules/test_cxx_names.py",
            "modules/test_releases.py::test_modules_of_each_release_are_used",
            "modules/test_releases.py::test_a_module_with_a_withdrawn_layout_is_refused_by_name",
            "modules/test_releases.py::test_libraries_of_all_releases_are_opened_in_silence",
            "modules/test_testing_library.py::test_the_library_of_the_era_before_works_too",
        ),
    ),
    LeftOut(
        "musl-*",
        "an exception goes from one library to another, and the compiler for musl is zig, which links a C++ runtime of"
        " its own into each",
        tuple(
            f"modules/test_eras.py::test_{test}"
            for test in (
                "arguments_are_checked_in_both",
                "a_thrown_error_is_caught",
                "a_thrown_error_goes_through",
                "an_error_is_kept_and_thrown_again",
                "an_error_has_cause_and_context",
                "an_exception_of_a_callback_passes_both",
            )
        ),
    ),
    LeftOut(
        "musl-*",
        "musl binds all names at once",
        ("modules/test_module.py::test_a_library_that_lacks_a_foreign_name_is_loaded_and_may_do_without",),
    ),
    LeftOut("musl-*", "Debian's Rust makes no libraries for musl", ("building/test_stub_rust.py",)),
    LeftOut("*64-*", "the system's Rust makes libraries for its own machine", ("building/test_stub_rust.py",)),
    LeftOut(
        "*64-*",
        "the emulator keeps 40 kB of each thread that ends",
        ("objects/test_lifetime.py::test_ten_thousand_repetitions_leave_nothing_behind[stores]",),
    ),
    LeftOut(
        "*64-*",
        "the ninja beside Python is a program for the emulated machine, which this kernel does not start",
        ("building/test_cpp_build.py::test_ninja_is_found_beside_python_or_reported_as_missing",),
    ),
)


def left_out(interpreter: str) -> tuple[str, ...]:
    """Return the pytest arguments that leave out the tests that cannot run on an interpreter."""
    which = [exception for exception in EXCEPTIONS if fnmatch(interpreter, exception.interpreters)]
    return tuple(f"--deselect=tests/python/{test}" for exception in which for test in exception.tests)
