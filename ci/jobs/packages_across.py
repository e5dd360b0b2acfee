"""Users' libraries, built here for another machine as docs/packaging.md describes, and run on an emulator: the
packaging examples, an inline build, and a library compiled with the flags that ffi-hpy-config prints."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from ci.jobs.packages import EXAMPLES, Building, build_examples, build_tools, environ_of, run, run_tests, used
from ci.lib.machines import MACHINES
from ci.lib.matrix import FOREIGN
from ci.lib.messages import Missing, say
from ci.provision.envs import build_env, python_of
from ci.provision.interpreters import find_interpreters
from ci.provision.wheel import build_wheel

if TYPE_CHECKING:
    from ci.lib.matrix import Interpreter
    from tools.build.targets import Target

ADD = """\
#include <tvm/ffi/c_api.h>

TVM_FFI_DLL_EXPORT int __tvm_ffi_add(void *self, const TVMFFIAny *args, int32_t n, TVMFFIAny *result) {
  (void)self;
  (void)n;
  result->type_index = kTVMFFIInt;
  result->v_int64 = args[0].v_int64 + args[1].v_int64;
  return 0;
}
"""
COMPILE = "$CC -shared -fPIC add.c -o add.so $(ffi-hpy-config --cflags --ldflags --libs)"
BUILD_INLINE = """\
from ffi_hpy import cpp

print(cpp.build_inline("across", cpp_sources="int64_t twice(int64_t x) { return 2 * x; }", functions="twice"))
"""
LOAD = """\
import platform, sys
import ffi_hpy

add, across = map(ffi_hpy.load_module, sys.argv[1:])
print(platform.machine(), add.add(40, 2), across.twice(21))
"""


def interpreter_for(target: Target) -> Interpreter:
    """Return the first interpreter for the machine of a target. Raises Missing."""
    for interpreter in FOREIGN:
        if interpreter.machine and MACHINES[interpreter.machine].name == target.machine:
            return interpreter
    raise Missing(f"no interpreter runs the binaries for {target.name}")


def building_for(target: Target, theirs: Path, scratch: Path) -> Building:
    """Return the settings of a user's build for a target, with the wheel for the target. Raises Missing."""
    env, root = build_tools(), scratch / "across"
    platforms = [word for tag in target.platform_tag.split(".") for word in ("--platform", tag)]
    options = ["--target", root, *platforms, "--only-binary=:all:", "--no-deps", "--no-index", "--no-compile"]
    run([python_of(env), "-m", "pip", "install", "--quiet", *options, theirs], f"unpacking {theirs.name}", scratch)
    zig = [str(build_env() / "python"), "-m", "ziglang"]
    environ = {
        "FFI_HPY_CROSS_ROOT": str(root),
        "CC": shlex.join([*zig, "cc", "-target", target.zig]),
        "CXX": shlex.join([*zig, "c++", "-target", target.zig]),
        "_PYTHON_HOST_PLATFORM": f"linux-{target.machine}",
        "TVM_FFI_CACHE_DIR": str(scratch / "cache"),
    }
    return Building(env, environ, f"linux_{target.machine}", runs_here=False)


def build_others(building: Building, scratch: Path) -> list[Path]:
    """Return the library that a compiler made and the library of an inline build. Raises Missing."""
    environ = environ_of(building)
    (scratch / "add.c").write_text(ADD)
    run(["sh", "-c", COMPILE], "compiling add.c", scratch, environ)
    said = run([python_of(building.env), "-c", BUILD_INLINE], "the inline build", scratch, environ)
    return [scratch / "add.so", Path(said.strip())]


def run_across(target: Target, ours: Path, scratch: Path) -> str:
    """Build and test the libraries, and return the closing line. Raises Missing."""
    there = interpreter_for(target)
    found = find_interpreters([there.name])
    if there.name not in found:
        raise Missing(f"ci/interpreters cannot provide {there.name}")
    theirs = build_wheel(target=target)
    building = building_for(target, theirs, scratch)
    with used(building, ours):
        wheels, libraries = build_examples(scratch, building), build_others(building, scratch)
    say(f"built {', '.join(path.name for path in (*wheels, *libraries))} for {target.name}")
    env = scratch / there.name
    said = run_tests(found[there.name], env, [theirs, *wheels], [scratch / name for name in EXAMPLES])
    say(f"{there.name}: {said}")
    answer = run([python_of(env), "-c", LOAD, *libraries], "loading the libraries", scratch).strip()
    if answer != f"{target.machine} 42 42":
        raise Missing(f"{there.name}: expected '{target.machine} 42 42' but got {answer!r}")
    return f"{len(wheels)} wheels and {len(libraries)} libraries for {target.name}, {said} on {there.name}"
