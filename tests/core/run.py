#!/usr/bin/env python3
"""Build and run the core's tests: one program of all sources of the core, of the testing library (a client of the core)
and of the tests. Modes with the same flags run the same program.

    run.py                      all modes
    run.py --mode asan NAME...  only these tests, in one mode
    run.py --mode plain --gdb NAME

Modes: plain; pending (every function is called with an error pending, see pending.h); asan (AddressSanitizer with
LeakSanitizer and UBSan; the tests that fail the n-th allocation for each n do so twice, the second time with all later
allocations failing, too); tsan. Prints one closing line per mode. Exits with a nonzero status if a mode fails or cannot
be built.
"""

import argparse
import itertools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CORE = ROOT / "src" / "core"
TESTING = ROOT / "src" / "testing"

WARNINGS = ["-Wall", "-Wextra", "-Werror"]
COMMON = [
    "-g",
    "-fvisibility=hidden",
    "-DFH_TEST=1",
    "-DTVM_FFI_EXPORTS",  # one program contains everything, so nothing is imported
    f"-I{ROOT / 'include'}",
    f"-I{ROOT / 'src'}",
    f"-I{HERE}",
]
# Here the testing library uses the core's allocator, so that its blocks are counted and its allocations can fail.
OF_TESTING = [
    "-DFT_LOAD_BY_HAND",
    *(
        f"-D{name}=fh_mem_{to}"
        for name, to in [("malloc", "alloc"), ("calloc", "calloc"), ("realloc", "realloc"), ("free", "free")]
    ),
]
MODES = {
    "plain": ["-O1"],
    "pending": ["-O1"],
    "asan": ["-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"],
    "tsan": ["-O1", "-fsanitize=thread"],
}
OPTIONS = {"pending": ["--pending"], "asan": ["--oom"]}
"""The options of the program in a mode."""
WITHOUT = {
    "tsan": [
        "a_value_nested_deeper_than_the_limit_is_refused",
        "deep_values_are_written_and_read_without_recursion",
        "floats_are_read_as_strtod_does",
        "floats_are_written_as_printf_does",
        "json_a_million_deep_is_read_written_and_ended",
        "lists_a_million_deep_are_copied_and_released",
        "maps_and_errors_a_million_deep_are_released",
        "values_a_million_deep_are_compared",
        "values_a_million_deep_are_hashed",
        "values_nested_deeply_are_hashed",
        "values_nested_without_end_are_refused",
    ]
}
"""Tests that a mode runs only by name: ThreadSanitizer takes minutes for these, and they have one thread."""
LINK = ["-rdynamic", "-lpthread", "-ldl"]
LINK_WINDOWS = ["-lpthread", "-lapi-ms-win-core-synch-l1-2-0"]
SANITIZER_ENV = {
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


def compiler_has(compiler, flags, scratch):
    """Return whether a program with these flags can be built and run here."""
    source = scratch / "probe.c"
    source.write_text("int main(void) { return 0; }\n")
    program = scratch / "probe"
    built = subprocess.run([*compiler, *flags, str(source), "-o", str(program)], capture_output=True)
    return built.returncode == 0 and subprocess.run([str(program)], capture_output=True).returncode == 0


def compile_one(compiler, flags, source, output):
    standard = ["-std=c++17", "-x", "c++"] if output.suffix == ".oxx" else ["-std=c11"]
    if HERE in source.parents:
        flags = [*flags, "-D_GNU_SOURCE"]  # setenv and usleep, for tests only
    if source.parent == TESTING:
        flags = [*flags, *OF_TESTING]
    command = [*compiler, *standard, *WARNINGS, *flags, "-c", str(source), "-o", str(output)]
    return subprocess.run(command, capture_output=True, text=True)


def exported():
    """Return the names of the functions that the public headers declare as exported."""
    text = "".join(header.read_text() for header in sorted((ROOT / "include").rglob("*.h")))
    return re.findall(r"^TVM_FFI_DLL [^;]*?\b(TVMFFI\w+)\(", text, re.MULTILINE)


def exported_names():
    """Return the exported names as string literals."""
    return "".join(f'"{name}",\n' for name in exported())


def exported_calls():
    """Return macros that call the exported functions as pending.h describes, except the function that moves the pending
    error out."""
    names = [name for name in exported() if name != "TVMFFIErrorMoveFromRaised"]
    includes = "#include <tvm/ffi/extra/c_env_api.h>\n#include <support/pending.h>\n"
    return includes + "".join(f"#define {name}(...) TEST_PENDING_CALL({name}(__VA_ARGS__))\n" for name in names)


def build(compiler, mode, scratch, extra, is_windows):
    """Return the path of the program, or None after printing the reason."""
    (scratch / "exported_names.h").write_text(exported_names())
    (scratch / "exported_calls.h").write_text(exported_calls())
    flags = [*COMMON, *([] if is_windows else ["-fPIC"]), *MODES[mode], f"-I{scratch}"]
    sources = [source for folder in (CORE, TESTING, HERE) for source in sorted(folder.rglob("*.c"))]
    sources += [pathlib.Path(path).resolve() for path in extra]
    jobs = [(source, scratch / f"{i}_{source.stem}.o") for i, source in enumerate(sources)]
    jobs.append((HERE / "whole" / "abi_layout.c", scratch / "abi_layout_as_cxx.oxx"))
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        results = list(pool.map(lambda job: compile_one(compiler, flags, *job), jobs))
    for result in results:
        if result.returncode:
            sys.stderr.write(result.stderr)
    if any(result.returncode for result in results):
        return None
    program = scratch / ("core_tests.exe" if is_windows else "core_tests")
    objects = [str(output) for _, output in jobs if output.suffix == ".o"]
    linked = subprocess.run(
        [*compiler, *MODES[mode], *objects, "-o", str(program), *(LINK_WINDOWS if is_windows else LINK)],
        capture_output=True,
        text=True,
    )
    sys.stderr.write(linked.stderr)
    return None if linked.returncode else program


def name_of(args, without):
    """Return the compiler of the tests and the names of the tests that are left out."""
    compiler = " ".join([pathlib.Path(args.compiler[0]).name, *args.compiler[1:]])
    return compiler + (f", without {' '.join(without)}" if without else "")


def built_in(runner, program):
    """Return the names of the tests in a program: some tests are for one system or machine only."""
    return subprocess.run([*runner, str(program), "--list"], check=True, capture_output=True, text=True).stdout.split()


def build_mode(args, mode, scratch):
    """Return the program of a mode, or None after printing the reason."""
    if mode != "plain" and not compiler_has(args.compiler, MODES[mode], scratch):
        print(f"core {mode}: FAILED, {shlex.join(args.compiler)} has no {mode} runtime here")
        return None
    program = build(args.compiler, mode, scratch, args.extra, args.windows)
    if program is None:
        print(f"core {mode}: FAILED to build")
    return program


def run_mode(args, mode, program, started):
    """Run a mode and print its closing line. Return 0 if the tests passed, 1 if not."""
    command = [*(["gdb", "--args"] if args.gdb else args.runner), str(program), *OPTIONS.get(mode, [])]
    names, without = args.names, [*args.without, *([] if args.names else WITHOUT.get(mode, []))]
    if without:
        names = [name for name in names or built_in(args.runner, program) if name not in without]
    environment = {**os.environ, **SANITIZER_ENV}
    if args.gdb:
        return subprocess.run([*command, *args.names], env=environment).returncode
    try:
        result = subprocess.run(
            [*command, *names],
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=args.timeout,
        )
    except subprocess.TimeoutExpired as timeout:
        last = (timeout.stderr or b"").decode(errors="replace").strip().splitlines()[-1:]
        print(f"core {mode}: FAILED, still running after {args.timeout} s in {last}")
        return 1
    seconds = time.monotonic() - started
    if result.returncode:
        sys.stderr.write(result.stderr)
        print(f"core {mode}: FAILED with status {result.returncode} ({name_of(args, without)}, {seconds:.1f} s)")
        return 1
    print(f"core {mode}: {result.stdout.strip()} ({name_of(args, without)}, {seconds:.1f} s)")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", action="append", choices=MODES, help="default: all modes")
    parser.add_argument(
        "--compiler",
        type=shlex.split,
        default=os.environ.get("CC", "cc"),
        metavar="WORDS",
        help="run a C compiler that is gcc or clang",
    )
    parser.add_argument(
        "--runner", type=shlex.split, default="", metavar="WORDS", help="run a program, where it is for another machine"
    )
    parser.add_argument("--windows", action="store_true", help="the compiler is zig, for Windows")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one mode's tests")
    parser.add_argument("--without", action="append", default=[], metavar="NAME", help="a test to leave out")
    parser.add_argument("--gdb", action="store_true", help="run under gdb")
    parser.add_argument("--extra", action="append", default=[], metavar="FILE", help="one more C source to build in")
    parser.add_argument("names", nargs="*", metavar="NAME", help="tests to run; default all")
    args = parser.parse_args()
    failed = 0
    for _, modes in itertools.groupby(args.mode or MODES, MODES.get):
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as scratch:
            program = None
            for mode in modes:
                program = program or build_mode(args, mode, pathlib.Path(scratch))
                failed += run_mode(args, mode, program, started) if program else 1
                started = time.monotonic()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
