"""apache-tvm-ffi's examples, unchanged, with ffi_hpy in place of tvm_ffi: each is copied, built and run."""

from __future__ import annotations

import fnmatch
import functools
import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from ci.lib.folders import LOGS, REQUIREMENTS, locked
from ci.lib.messages import Missing, last_line, say
from ci.lib.process import clean_environ, run_logged, workers
from ci.provision.compilers import find_cxx_compiler
from ci.provision.envs import cached_env, install_wheel, python_of
from ci.provision.interpreters import find_interpreters
from ci.suites.cpp.programs import EXCEPTIONS, FOLDER
from ci.suites.foreign import Allowance, Outcome, read_allowances

INTERPRETER = "cp311"
AT_ONCE = 2
CUDA_BUILD = "-DCMAKE_BUILD_TYPE=Release && cmake --build build"


@dataclass(frozen=True)
class Step:
    """One action of an example: a shell line that runs in a copy of the example's folder."""

    name: str
    line: str
    needs: str = ""  # see has()
    without_gpu: str = ""  # without a GPU, the step fails with a last line that contains this


@dataclass(frozen=True)
class Example:
    name: str
    steps: tuple[Step, ...]


def load(library: str) -> str:
    """Return the shell line that loads a library as a module."""
    return f"python -c \"import tvm_ffi; tvm_ffi.load_module('{library}')\""


def cubin(folder: str, library: str, needs: str = "nvcc") -> tuple[Step, ...]:
    """Return the steps of one of the launchers of CUDA binaries."""
    build = f"cd {folder} && cmake . -B build {CUDA_BUILD}"
    return (
        Step(f"{folder}: cmake", build, needs),
        Step(f"{folder}: load", load(f"{folder}/build/{library}.so"), needs),
        Step(f"{folder}: main.py", f"cd {folder} && python main.py", needs="gpu"),
    )


EXAMPLES = (
    Example(
        "quickstart",
        (
            Step("raw_compile.sh", "bash raw_compile.sh"),
            Step("run_all_cpu.sh", "rm -rf build && bash run_all_cpu.sh"),
            Step("CUDA: cmake", f"cmake . -B build -DEXAMPLE_NAME=compile_cuda {CUDA_BUILD}", needs="nvcc"),
            Step("CUDA: load", load("build/add_one_cuda.so"), needs="nvcc"),
            Step("load_pytorch.py", "python load/load_pytorch.py", needs="gpu"),
        ),
    ),
    Example(
        "stable_c_abi",
        (
            Step("raw_compile.sh", "bash raw_compile.sh"),
            Step("run_all.sh", "rm -rf build && bash run_all.sh"),
        ),
    ),
    Example(
        "abi_overview",
        (
            Step(
                "compile",
                "gcc example_code.c $(tvm-ffi-config --cflags) $(tvm-ffi-config --ldflags) $(tvm-ffi-config --libs)"
                " -Wl,-rpath,$(tvm-ffi-config --libdir) -o example_code",
            ),
            Step("run", "./example_code"),
        ),
    ),
    Example("inline_module", (Step("main.py", "python main.py", needs="nvcc", without_gpu="CUDA"),)),
    Example(
        "kernel_library",
        (
            Step(
                "compile",
                # The kernel uses `half` without its header, so the command includes the header.
                "mkdir -p build && nvcc -shared -O3 -include cuda_fp16.h scale_kernel.cu -o build/scale_kernel.so"
                " -Xcompiler -fPIC,-fvisibility=hidden $(tvm-ffi-config --cxxflags) $(tvm-ffi-config --ldflags)"
                " $(tvm-ffi-config --libs)",
                needs="nvcc",
            ),
            Step("load", load("build/scale_kernel.so"), needs="nvcc"),
            Step("load_scale.py", "python load_scale.py", needs="gpu"),
        ),
    ),
    Example(
        "python_packaging",
        (
            Step("pip wheel", "python -m pip wheel --no-deps --no-build-isolation --wheel-dir dist ."),
            Step("pip install", "python -m pip install --no-deps --no-index --target site dist/*.whl"),
            Step("run_example.py", 'PYTHONPATH="$PYTHONPATH:$PWD/site" python run_example.py'),
        ),
    ),
    Example(
        "cubin_launcher",
        (
            *cubin("dynamic_cubin", "lib_dynamic"),
            *cubin("embedded_cubin/embed_with_tvm_ffi", "lib_embedded"),
            *cubin("embedded_cubin/include_bin2c", "lib_embedded"),
            *cubin("embedded_cubin/cpp_embed", "lib_embedded", needs="#embed"),
        ),
    ),
)


@functools.cache
def has(what: str) -> bool:
    """Return whether this machine has nvcc, a GPU for CUDA, or (with nvcc) a compiler that supports #embed."""
    if what == "#embed":
        probe = "#ifdef __has_embed\nknown\n#endif\n"
        done = subprocess.run(
            [*find_cxx_compiler(), "-E", "-P", "-x", "c++", "-"], input=probe, capture_output=True, text=True
        )
        return has("nvcc") and "known" in done.stdout
    if what == "gpu":
        found = shutil.which("nvidia-smi")
        return found is not None and subprocess.run([found, "-L"], capture_output=True).stdout.startswith(b"GPU")
    return shutil.which(what) is not None


IN_SHELL = "import subprocess, sys; sys.exit(subprocess.call(['sh', '-ec', sys.argv[1]]))"


def in_shell(env: Path, line: str) -> list[str]:
    """Return the command that runs a shell line in an environment where tvm_ffi and its commands are ours."""
    return [str(python_of(env)), "-m", "ffi_hpy.dropin", "-c", IN_SHELL, line]


def shell_environ(env: Path) -> dict[str, str]:
    """Return the environment variables that put the environment's `python` and other commands first."""
    path = os.pathsep.join([str(env / "bin"), os.environ.get("PATH", os.defpath)])
    return clean_environ({"PATH": path, "VIRTUAL_ENV": str(env)})


def run_step(example: Example, step: Step, folder: Path, env: Path) -> str:
    """Run a step and return passed, failed or skipped."""
    if step.needs and not has(step.needs):
        say(f"{example.name}: {step.name}: skipped, it needs {step.needs}, which is not here")
        return "skipped"
    log = LOGS / f"cpp-suite-examples-{example.name}-{step.name.replace(' ', '-').replace('/', '-')}.log"
    status = run_logged(in_shell(env, step.line), log, shell_environ(env), folder)
    text = log.read_text(errors="replace")
    if step.without_gpu and not has("gpu"):
        is_as_expected = status != 0 and step.without_gpu in last_line(text)
        say(f"{example.name}: {step.name}: without a GPU it ends with: {last_line(text)}")
        return "passed" if is_as_expected else "failed"
    if status != 0:
        say(f"{example.name}: {step.name}: {last_line(text)} (log: {log.name})")
    return "passed" if status == 0 else "failed"


def run_example(sources: Path, env: Path, allowances: list[Allowance], example: Example) -> Outcome:
    """Copy an example and run its steps."""
    started = time.monotonic()
    outcome = Outcome(example.name)
    folder = FOLDER / "examples" / example.name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sources / example.name, folder)
    results = {f"{example.name}::{step.name}": run_step(example, step, folder, env) for step in example.steps}
    outcome.judge(results, allowances)
    outcome.seconds = time.monotonic() - started
    return outcome


def run_examples(wheel: Path, sources: Path, pattern: str) -> list[Outcome]:
    """Build and run the examples, two at a time. Raises Missing."""
    python = find_interpreters([INTERPRETER]).get(INTERPRETER)
    if python is None:
        raise Missing(f"ci/interpreters cannot provide {INTERPRETER}, see above")
    env = cached_env("cpp-suite-examples", python, [REQUIREMENTS / "examples.txt"])
    allowances = read_allowances(EXCEPTIONS, "examples")
    chosen = [example for example in EXAMPLES if fnmatch.fnmatch(example.name, pattern)]
    with locked(env.with_name(f".{env.name}.use.lock")), workers(AT_ONCE) as pool:
        install_wheel(env, wheel)
        run = functools.partial(run_example, sources, env, allowances)
        return list(pool.map(run, chosen))
