#!/usr/bin/env python3
"""Build and run the fuzz targets: every .c file here except fuzz.c, on the core with AddressSanitizer and UBSan.

    run.py                           all targets, from their seeds, for a few seconds each
    run.py --seconds 600 TARGET...   only these, longer
    run.py TARGET --input FILE       one input once, to examine a finding

seeds/TARGET/ holds initial inputs, and inputs that once found a bug. A failing input is left in build/fuzz/TARGET.
Prints one closing line. Exits with a nonzero status if an input fails or a target cannot be built.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CORE = ROOT / "src" / "core"
FOUND = ROOT / "build" / "fuzz"

SANITIZERS = "address,undefined"
FLAGS = ["-std=c11", "-g", "-O1", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all", "-DFH_TEST=1"]
FLAGS += ["-Wall", "-Wextra", "-Werror", "-Wno-unknown-warning-option"]
INCLUDES = [f"-I{folder}" for folder in (ROOT / "include", ROOT / "src", HERE)]
MAX_INPUT_BYTES = 1024


def targets():
    return sorted(source.stem for source in HERE.glob("*.c") if source.stem != "fuzz")


def compile_one(clang, source, output):
    command = [clang, *FLAGS, *INCLUDES, f"-fsanitize=fuzzer-no-link,{SANITIZERS}"]
    return subprocess.run([*command, "-c", str(source), "-o", str(output)], capture_output=True, text=True)


def build(clang, names, scratch):
    """Return the programs by target, or None after printing the reason."""
    shared = [*sorted(CORE.rglob("*.c")), HERE / "fuzz.c"]
    sources = [*shared, *(HERE / f"{name}.c" for name in names)]
    jobs = [(source, scratch / f"{source.parent.name}_{source.stem}.o") for source in sources]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        results = list(pool.map(lambda job: compile_one(clang, *job), jobs))
    common = [str(output) for source, output in jobs if source in shared]
    programs = {}
    if not any(result.returncode for result in results):
        for name in names:
            programs[name] = scratch / name
            objects = [*common, str(scratch / f"fuzz_{name}.o")]
            link = [clang, f"-fsanitize=fuzzer,{SANITIZERS}", "-rdynamic", *objects, "-o", str(programs[name]), "-ldl"]
            results.append(subprocess.run(link, capture_output=True, text=True))
    for result in results:
        sys.stderr.write(result.stderr)
    return None if any(result.returncode for result in results) else programs


def fuzz(name, program, seconds, scratch):
    """Return (target, number of inputs, output of libFuzzer if an input failed)."""
    corpus, found = scratch / f"corpus_{name}", FOUND / name
    corpus.mkdir()
    found.mkdir(parents=True, exist_ok=True)
    seeds = HERE / "seeds" / name
    command = [str(program), str(corpus), *([str(seeds)] if seeds.is_dir() else [])]
    command += [f"-max_total_time={seconds}", f"-max_len={MAX_INPUT_BYTES}", "-timeout=25", "-print_final_stats=1"]
    dictionary = HERE / "seeds" / f"{name}.dict"
    command += [f"-dict={dictionary}"] if dictionary.is_file() else []
    done = subprocess.run(
        [*command, f"-artifact_prefix={found}/"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        errors="replace",
    )  # fmt: skip
    count = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    return name, int(count[1]) if count else 0, done.stderr if done.returncode or not count else ""


def run_all(args, clang, scratch):
    programs = build(clang, args.targets or targets(), scratch)
    if programs is None:
        print("core fuzz: FAILED to build")
        return 1
    if args.input:
        return subprocess.run([str(program) for program in programs.values()] + [args.input]).returncode
    with ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(lambda item: fuzz(*item, args.seconds, scratch), programs.items()))
    failed = [name for name, _, said in results if said]
    for name, _, said in results:
        if said:
            sys.stderr.write(f"--- {name}\n{said[-8000:]}\n")
    counts = ", ".join(f"{name} {count}" for name, count, _ in results)
    verdict = f"{len(results) - len(failed)} passed" + (f", {len(failed)} failed: {' '.join(failed)}" if failed else "")
    print(f"core fuzz: {verdict} (inputs: {counts}; {args.seconds} s each)")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=8, help="for each target")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="targets at once")
    parser.add_argument("--clang", help="default: the result of ci/clang")
    parser.add_argument("--input", metavar="FILE", help="run this one only")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"default: {' '.join(targets())}")
    args = parser.parse_args()
    clang = args.clang
    if not clang:
        found = subprocess.run([sys.executable, str(ROOT / "ci" / "clang")], stdout=subprocess.PIPE, text=True)
        if found.returncode:
            print("core fuzz: FAILED, no clang with libFuzzer")
            return 1
        clang = found.stdout.strip()
    with tempfile.TemporaryDirectory() as scratch:
        return run_all(args, clang, pathlib.Path(scratch))


if __name__ == "__main__":
    sys.exit(main())
