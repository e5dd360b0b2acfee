#!/usr/bin/env python3
"""Build and run the core's tests: one program of all sources of the core, of the testing library (a client of the core)
and of the tests, once per mode.

    run.py                      all modes
    run.py --mode asan NAME...  only these tests, in one mode
    run.py --mode plain --gdb NAME

Modes: plain; pending (every function is called with an error pending, see pending.h); asan (AddressSanitizer with
LeakSanitizer and UBSan); tsan; oom (as asan, but only the tests that fail the n-th allocation for each n; each does so
twice, the second time with all later allocations failing, too). Prints one closing line per mode. Exits with a nonzero
status if a mode fails or cannot be built.
"""

import argparse
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
SANITIZED = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
MODES = {
    "plain": ["-O1"],
    "pending": ["-O1"],
    "asan": SANITIZED,
    "tsan": ["-O1", "-fsanitize=thread"],
    "oom": SANITIZED,
}
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


def tests():
    """Return the name and the body of every test."""
    text = "".join(source.read_text() for source in sorted(HERE.rglob("test_*.c")))
    return re.findall(r"^TEST\((\w+)\) (\{.*\}$|\{[^}]*?\n(?:.*\n)*?\}$)", text, re.MULTILINE)


def sweeps():
    """Return the names of the tests with failing allocations, which their text shows."""
    return [name for name, body in tests() if re.search(r"sweep|memory|failing", name + body)]


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


def name_of(args):
    """Return the compiler of the tests and the names of the tests that are left out."""
    without = f", without {' '.join(args.without)}" if args.without else ""
    return " ".join([pathlib.Path(args.compiler[0]).name, *args.compiler[1:]]) + without


def built_in(runner, program):
    """Return the names of the tests in a program: some tests are for one system or machine only."""
    return subprocess.run([*runner, str(program), "--list"], check=True, capture_output=True, text=True).stdout.split()


def run_mode(args, mode, scratch):
    """Run a mode and print its closing line. Return 0 if the tests passed, 1 if not."""
    started = time.monotonic()
    if mode != "plain" and not compiler_has(args.compiler, MODES[mode], scratch):
        print(f"core {mode}: FAILED, {shlex.join(args.compiler)} has no {mode} runtime here")
        return 1
    program = build(args.compiler, mode, scratch, args.extra, args.windows)
    if program is None:
        print(f"core {mode}: FAILED to build")
        return 1
    command = [*(["gdb", "--args"] if args.gdb else args.runner), str(program)]
    names = args.names
    if mode in ("oom", "pending"):
        command.append(f"--{mode}")
    if mode == "oom":
        names = names or sweeps()
    if args.without:
        names = [name for name in names or built_in(args.runner, program) if name not in args.without]
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
        print(f"core {mode}: FAILED with status {result.returncode} ({name_of(args)}, {seconds:.1f} s)")
        return 1
    print(f"core {mode}: {result.stdout.strip()} ({name_of(args)}, {seconds:.1f} s)")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", choices=[*MODES, "all"], default="all")
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
    modes = list(MODES) if args.mode == "all" else [args.mode]
    failed = 0
    for mode in modes:
        with tempfile.TemporaryDirectory() as scratch:
            failed += run_mode(args, mode, pathlib.Path(scratch))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
