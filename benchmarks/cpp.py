#!/usr/bin/env python3
"""The cost of our C++ headers, compared with apache-tvm-ffi's on the same core.

Two libraries are compiled in turn with each project's headers: the extension of apache-tvm-ffi's packaging guide, and a
library of 200 generated functions. The output has the least user CPU time of the rounds, and the size of the stripped
library. Then one program (cpp_rows.cc), compiled with each project's headers, runs twice, and both processes time the
same row in turn, as in core.py. This program sets up its inputs (the wheel of this checkout, the PyPI wheel and sdist
of apache-tvm-ffi, a C++ compiler).

    python benchmarks/cpp.py [--rounds N] [--compiler gcc|clang] [ROW ...]

Exit status: 0 if all goals are met, 1 if not or if a measurement failed.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from cxx import (  # makes ci importable
    LABELS,
    NEVER_SLOWER,
    build_program,
    find_packages,
    parse_options,
    report,
    run_rows,
)

from ci.lib.command import run_main
from ci.lib.messages import Missing, last_line, say
from ci.lib.process import output_of
from ci.provision.sdist import TVM_FFI, fetch_sdist
from ci.suites.cpp.programs import find_compiler
from core import HERE, Row

COMPILE_GOAL = 0.7
SIZE_GOAL = 0.8
N_FUNCTIONS = 200
LIBRARY_FLAGS = ("-std=c++17", "-O3", "-fPIC", "-fvisibility=hidden", "-shared")

ROWS = (
    Row("call, 3 ints", "call", 0, 1_000_000, NEVER_SLOWER),
    Row("call with a name, int and float", "call_named", 0, 1_000_000, NEVER_SLOWER),
    Row("call of a TypedFunction", "call_typed", 0, 1_000_000, NEVER_SLOWER),
    Row("call with objects", "call_objects", 0, 500_000, NEVER_SLOWER),
    Row("call of packed form", "call_packed", 0, 1_000_000, NEVER_SLOWER),
    Row("Any of int and back", "any_int", 0, 5_000_000, NEVER_SLOWER),
    Row("Any of int as double", "any_float_of_int", 0, 5_000_000, NEVER_SLOWER),
    Row("Any of String and back", "any_text", 0, 1_000_000, NEVER_SLOWER),
    Row("Any as std::string", "any_std_string", 0, 500_000, NEVER_SLOWER),
    Row("Any of object and back", "any_object", 0, 1_000_000, NEVER_SLOWER),
    Row("Any as Optional<int64_t>", "any_optional", 0, 5_000_000, NEVER_SLOWER),
    Row("Any as Variant<int64_t, String>", "any_variant", 0, 500_000, NEVER_SLOWER),
    Row("Any asked for a class", "any_as", 0, 5_000_000, NEVER_SLOWER),
    Row("Array<int64_t> loop, 1000", "array_loop", 1_000, 3_000, NEVER_SLOWER),
    Row("Array of objects by index, 1000", "array_index", 1_000, 1_000, NEVER_SLOWER),
    Row("Array built, 100", "array_build", 100, 5_000, NEVER_SLOWER),
    Row("Any as Array<int64_t>, 100", "array_cast", 100, 20_000, NEVER_SLOWER),
    Row("List append, 1000", "list_append", 1_000, 500, NEVER_SLOWER),
    Row("Map loop, 1000", "map_loop", 1_000, 3_000, NEVER_SLOWER),
    Row("Map lookup of text, 4", "map_lookup", 4, 1_000_000, NEVER_SLOWER),
    Row("Map lookup of text, 1000", "map_lookup", 1_000, 1_000_000, NEVER_SLOWER),
    Row("Map<int64_t, int64_t> built, 4", "map_build", 4, 20_000, NEVER_SLOWER),
    Row("Map<int64_t, int64_t> built, 1000", "map_build", 1_000, 100, NEVER_SLOWER),
)

# --- the generated library ------------------------------------------------------------------------------------------

PARAMETERS = (
    ("int64_t", "x{0} > 0"),
    ("double", "x{0} > 0.5"),
    ("bool", "x{0}"),
    ("ffi::String", "x{0}.size() > 1"),
    ("ffi::Array<int64_t>", "x{0}.size() > 1"),
    ("ffi::Optional<ffi::String>", "x{0}.has_value()"),
    ("ffi::Map<ffi::String, int64_t>", "x{0}.size() > 2"),
    ("ffi::TensorView", "x{0}.ndim() > 1"),
    ("ffi::Any", "x{0} != nullptr"),
    ("ffi::ObjectRef", "x{0}.defined()"),
)
RESULTS = (
    ("int64_t", "n"),
    ("double", "static_cast<double>(n) / 2"),
    ("ffi::String", 'ffi::String(n > 1 ? "more" : "less")'),
    ("ffi::Array<int64_t>", "ffi::Array<int64_t>{n, n + 1}"),
    ("void", ""),
)


def generated_library() -> str:
    """Return the source of a library whose functions have 0 to 4 parameters, half of them exported, half registered."""
    functions, exports, registered = [], [], []
    for i in range(N_FUNCTIONS):
        taken = [PARAMETERS[(i * (k + 3) + k) % len(PARAMETERS)] for k in range(i % 5)]
        result, value = RESULTS[i // 5 % len(RESULTS)]
        parameters = ", ".join(f"{kind} x{k}" for k, (kind, _) in enumerate(taken))
        body = "".join(f"  n += {use.format(k)};\n" for k, (_, use) in enumerate(taken))
        last = f"  return {value};\n" if value else "  if (n > 9) throw n;\n"
        functions.append(f"{result} function_{i}({parameters}) {{\n  int64_t n = {i};\n{body}{last}}}\n")
        if i % 2:
            exports.append(f"TVM_FFI_DLL_EXPORT_TYPED_FUNC(function_{i}, function_{i});\n")
        else:
            registered.append(f'      .def("generated.function_{i}", function_{i})\n')
    block = "TVM_FFI_STATIC_INIT_BLOCK() {\n  ffi::reflection::GlobalDef()\n" + "".join(registered) + "      ;\n}\n"
    heading = "#include <tvm/ffi/tvm_ffi.h>\n\nnamespace ffi = tvm::ffi;\nnamespace {\n"
    return heading + "".join(functions) + block + "} // namespace\n" + "".join(exports)


# --- compiling ------------------------------------------------------------------------------------------------------


def user_seconds(command: list[str]) -> float:
    """Return the user CPU time of a command and its children. Raises Missing if it fails."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if status != 0:
        raise Missing(f"{' '.join(command)}: {last_line(said)}")
    return usage.ru_utime


def compile_rows(compiler: tuple[str, ...], includes: list[Path], folder: Path, rounds: int) -> list[list[object]]:
    """Return the table rows of compile time and size, each with its missed goal."""
    generated = folder / "generated.cc"
    generated.write_text(generated_library())
    guide = fetch_sdist(TVM_FFI, "conformance") / "examples" / "python_packaging" / "src" / "extension.cc"
    lines: list[list[object]] = []
    for label, source in (("the guide's extension", guide), (f"{N_FUNCTIONS} functions", generated)):
        say(f"compiling {label}")
        seconds: list[list[float]] = [[], []]
        outputs = [folder / f"{name}-{source.stem}.so" for name in LABELS]
        for _ in range(rounds):
            for side, include in enumerate(includes):
                command = [*compiler, *LIBRARY_FLAGS, f"-I{include}", str(source), "-o", str(outputs[side])]
                seconds[side].append(user_seconds(command))
        output_of(["strip", *outputs])
        sizes = [output.stat().st_size for output in outputs]
        for what, (mine, theirs), goal, shown in (
            ("compiled", [min(s) for s in seconds], COMPILE_GOAL, "{:.2f} s"),
            ("size", sizes, SIZE_GOAL, "{} bytes"),
        ):
            ratio = mine / theirs
            figures = [shown.format(mine), shown.format(theirs), f"{ratio:.2f}", f"{goal:.2f}"]
            lines.append([f"{label}, {what}", *figures, "" if ratio <= goal else "missed"])
    return lines


def main() -> int:
    options = parse_options(__doc__, 11, f"compile {' '.join(dict.fromkeys(row.name for row in ROWS))}")
    compiler = find_compiler(options.compiler).command
    packages = find_packages()
    lines: list[list[object]] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if not options.rows or "compile" in options.rows:
            includes = [package / "include" for package in packages]
            lines += compile_rows(compiler, includes, folder, options.rounds)
        if options.rows != ["compile"]:
            programs = [folder / label for label in LABELS]
            for program, package in zip(programs, packages):
                build_program(compiler, HERE / "cpp_rows.cc", package, packages[0], program)
            lines += run_rows(ROWS, programs, options.rows, options.rounds)
    return report(lines)


if __name__ == "__main__":
    run_main(main, "benchmarks/cpp.py")
