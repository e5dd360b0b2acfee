"""apache-tvm-ffi's own Rust crates, and the Rust bindings of ffi-hpy-stubgen: built, compared, tested."""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from ci.lib.command import parse_with_rest
from ci.lib.folders import LOGS, ROOT, locked
from ci.lib.messages import Missing, say, table
from ci.lib.process import clean_environ, closing_line, output_of, run_logged
from ci.provision.compilers import find_cxx_compiler
from ci.provision.crates import cargo_environ, find_cargo
from ci.provision.envs import cached_env, install_wheel, python_of
from ci.provision.interpreters import find_interpreters
from ci.provision.sdist import TVM_FFI, fetch_sdist
from ci.provision.wheel import build_wheel

HERE = Path(__file__).resolve().parent
INTERPRETER = "cp311"
WORK = ROOT / "build" / "rust-suite"
AT_ONCE = "2"


class Suite:
    """The crates, the package, and the folders of both."""

    def __init__(self, sdist: Path, env: Path, extra: list[str]) -> None:
        self.python = python_of(env)
        self.extra = extra
        self.sdist = sdist
        self.rust = _copy(sdist / "rust", WORK / "rust")
        self.environ = {**clean_environ(), **cargo_environ(self.rust, env)}
        config = self.python.with_name("ffi-hpy-config")
        self.include, self.lib = output_of([config, "--includedir", "--libdir"]).split()
        self.environ["LD_LIBRARY_PATH"] = self.lib  # for programs with upstream's crates; the crates set it themselves
        self.environ["TESTING_LIBRARY"] = str(Path(self.lib, "libtvm_ffi_testing.so"))

    def run(self, name: str, command: list[object], cwd: Path) -> tuple[int, str]:
        """Run a command and return its exit status and its output."""
        log = LOGS / f"rust-suite-{name}.log"
        status = run_logged([str(word) for word in command], log, self.environ, cwd)
        return status, log.read_text(errors="replace")

    def stubgen(self, name: str, cwd: Path, *arguments: object) -> None:
        """Run ffi-hpy-stubgen. Raises Missing if it fails."""
        command = [self.python.with_name("ffi-hpy-stubgen"), "--target", "rust", *arguments]
        status, text = self.run(f"{name}-stubgen", command, cwd)
        if status != 0:
            raise Missing(f"{name}: ffi-hpy-stubgen fails: {closing_line(text, status)}")

    def cargo_test(self, name: str, cwd: Path, *arguments: object) -> tuple[int, int, str]:
        """Run cargo test and return the number of passed tests, the number of others, and the problem, if any."""
        command = [find_cargo(), "test", "--jobs", AT_ONCE, "--no-fail-fast", "--tests", *arguments, *self.extra]
        status, text = self.run(name, command, cwd)
        results = dict(_results(text))
        failed = [test for test, result in results.items() if result == "FAILED"]
        for test in failed:
            print(f"{name}: FAILED: {test}")
        n_passed = sum(result == "ok" for result in results.values())
        problem = closing_line(text, status) if (status != 0) != bool(failed) or not n_passed else ""
        return n_passed, len(failed), problem

    # --- the jobs -----------------------------------------------------------------------------------------------------

    def tests(self) -> tuple[int, int, str]:
        return self.cargo_test("tests", self.rust, "--package", "tvm-ffi")

    def generated(self) -> tuple[int, int, str]:
        crate = _copy(HERE / "crate", WORK / "generated")
        init = ["--init-pypkg", "ffi-hpy", "--init-lib", "tvm_ffi_testing", "--init-prefix", "testing."]
        self.stubgen("generated", crate, "--imports", "ffi_hpy.testing", *init, "src")
        return self.cargo_test("generated", crate)

    def example(self) -> tuple[int, int, str]:
        folder = _copy(self.sdist / "examples" / "rust_stubgen", WORK / "examples" / "rust_stubgen")
        (folder / "build").mkdir()
        library = folder / "build" / "librust_stubgen.so"
        command = [
            *find_cxx_compiler(),
            "-std=c++17",
            "-fPIC",
            "-shared",
            f"-I{self.include}",
            folder / "src" / "int_pair.cc",
        ]
        status, text = self.run("example-library", [*command, "-o", library, f"-L{self.lib}", "-ltvm_ffi"], folder)
        if status != 0:
            return 0, 1, closing_line(text, status)
        before = _texts(folder / "rust" / "src")
        self.stubgen("example", folder, "--dlls", library, "rust/src")
        status, text = self.run("example", [find_cargo(), "run", "--jobs", AT_ONCE], folder / "rust")
        is_same, works = _texts(folder / "rust" / "src") == before, text.endswith("a=2 b=1 kind=PairKind(0)\nsum=3\n")
        if not is_same:
            print("example: FAILED: ffi-hpy-stubgen writes other bindings than the example has")
        return is_same + works, 2 - is_same - works, "" if works else closing_line(text, status)


JOBS = ("tests", "generated", "example")


def _copy(source: Path, to: Path) -> Path:
    shutil.rmtree(to, ignore_errors=True)
    return Path(shutil.copytree(source, to))


def _texts(folder: Path) -> dict[Path, str]:
    return {path: path.read_text() for path in sorted(folder.rglob("*.rs"))}


def _results(text: str) -> Iterator[tuple[str, str]]:
    """Yield the tests that cargo ran, by file, with their results."""
    file = ""
    for line in text.splitlines():
        running = re.match(r" +Running (?:unittests )?(\S+) ", line)
        result = re.match(r"test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)", line)
        if running:
            file = running[1]
        elif result:
            yield f"{file}::{result[1]}", result[2]


def main(parser: argparse.ArgumentParser) -> int:
    parser.add_argument("jobs", nargs="*", metavar="JOB")
    options, extra = parse_with_rest(parser)
    wanted = options.jobs or list(JOBS)
    unknown = [job for job in wanted if job not in JOBS]
    if unknown:
        say(f"ci/rust-suite: unknown job {unknown[0]}; the jobs are: {', '.join(JOBS)}")
        return 2
    find_cargo()
    wheel, sdist = build_wheel(), fetch_sdist(TVM_FFI, "conformance")
    pythons = find_interpreters([INTERPRETER])
    if INTERPRETER not in pythons:
        raise Missing(f"ci/interpreters cannot provide {INTERPRETER}, see above")
    env = cached_env(f"rust-suite-{INTERPRETER}", pythons[INTERPRETER], [])
    LOGS.mkdir(parents=True, exist_ok=True)
    rows: list[list[object]] = [["NAME", "passed", "failed"]]
    is_good = True
    with locked(env.with_name(f".{env.name}.use.lock")):
        install_wheel(env, wheel)
        suite = Suite(sdist, env, extra)
        for job in wanted:
            n_passed, n_failed, problem = getattr(suite, job)()
            rows.append([job, n_passed, n_failed])
            is_good = is_good and not n_failed and not problem
            if problem:
                print(f"{job}: PROBLEM: {problem}")
    print(table(rows))
    return 0 if is_good else 1
