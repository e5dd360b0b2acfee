"""The wheels, one for each target of tools/build: built unless they are up to date, and checked."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ci.lib.folders import ROOT, locked
from ci.lib.machines import MACHINES
from ci.lib.messages import Missing, last_line, say
from ci.lib.process import clean_environ, output_of
from ci.provision.envs import build_env, tool_env
from tools.build.errors import BuildError
from tools.build.hpy_headers import find_hpy_devel
from tools.build.targets import TARGETS, VARIABLE

if TYPE_CHECKING:
    from ci.lib.matrix import Interpreter
    from tools.build.targets import Target

MAX_BYTES = 1_800_000
MAX_BYTES_OF = {"x86_64-windows": 1_820_000}  # for targets with a larger wheel

INPUT_FILES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE")
INPUT_TREES = ("ffi_hpy", "include", "src", "tools/build")
INPUT_VARIABLES = ("CC", "CFLAGS", "LDFLAGS", "FFI_HPY_HPY_DIR")
NOT_INPUTS = {".so", ".pyc", ".bz2"}  # files that an editable installation and Python leave between the sources

TARGET_OF_MACHINE = {target.machine: target for target in TARGETS if target.system.name == "linux"}


def input_paths() -> list[Path]:
    """Return every file that the wheel depends on, sorted."""
    paths = [ROOT / name for name in INPUT_FILES]
    for tree in INPUT_TREES:
        paths += [path for path in (ROOT / tree).rglob("*") if path.suffix not in NOT_INPUTS]
    editable = (ROOT / "ffi_hpy" / "include", ROOT / "ffi_hpy" / "lib")
    return sorted(path for path in paths if path.is_file() and not any(folder in path.parents for folder in editable))


DIST = ROOT / "dist"
QUICK = ROOT / "build" / "quick-wheels"  # wheels with the same files, packed less well


def record_of(target: Target | None, folder: Path = DIST) -> Path:
    """Return the file that records the inputs of the wheel in a folder."""
    place = ROOT / "build" if folder == DIST else folder
    return place / (f"wheel-{target.name}.json" if target else "wheel.json")


def hash_inputs() -> str:
    """Return a digest of all inputs of a wheel except its target."""
    digest = hashlib.sha256()
    for path in input_paths():
        digest.update(f"{path.relative_to(ROOT)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    for name in INPUT_VARIABLES:
        digest.update(f"{name}={os.environ.get(name, '')}\0".encode())
    return digest.hexdigest()


def hash_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_record(recorded: Path, inputs: str, wheel: Path) -> None:
    recorded.write_text(json.dumps({"inputs": inputs, "name": wheel.name, "sha256": hash_file(wheel)}))


def find_current(inputs: str, recorded: Path, folder: Path = DIST) -> Path | None:
    """Return the wheel in a folder if it was made from `inputs` and was not changed since."""
    try:
        record = json.loads(recorded.read_text())
        wheel = folder / record["name"]
        return wheel if record["inputs"] == inputs and record["sha256"] == hash_file(wheel) else None
    except (OSError, ValueError, KeyError):
        return None


def run_pip(root: Path, folder: Path, target: Target | None) -> Path:
    """Have pip build a wheel from the sources in `root` into `folder`, and return it. pip's output goes to stderr."""
    python = build_env() / "python"
    wanted = {VARIABLE: target.name if target else ""}
    command = [str(python), "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    log = subprocess.run(
        [*command, "-v", str(root)],
        env=clean_environ({"PIP_DISABLE_PIP_VERSION_CHECK": "1", **wanted}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if log.returncode != 0:
        of_compilers = log.stdout.partition("running build_native\n")[2].partition("error: subprocess-exited")[0]
        say((of_compilers or log.stdout).rstrip())
        reasons = re.findall(r"^\s*ffi_hpy: (.*)$", log.stdout, re.M)
        raise Missing(f"building the wheel failed: {reasons[-1] if reasons else last_line(log.stdout)}")
    for line in log.stdout.splitlines():
        if re.search(r":\d+: (warning|note): ", line):  # a compiler's message, not one of setuptools
            say(line.strip())
    return next(folder.glob("*.whl"))


def repack(wheel: Path) -> Path:
    """Return a smaller wheel with the same files."""
    packed = wheel.parent / "packed" / wheel.name
    packed.parent.mkdir()
    python = tool_env("tool-repack", "zopflipy") / "python"
    output_of([python, Path(__file__).with_name("repack.py"), wheel, packed])
    return packed


def check_size(wheel: Path, limit: int) -> None:
    size = wheel.stat().st_size
    if size >= limit:
        raise Missing(f"{wheel.name} has {size} bytes; it must stay under {limit}")
    say(f"{wheel.name}: {size} bytes, sha256 {hash_file(wheel)}")


def check_tag(wheel: Path) -> None:
    """Have auditwheel confirm the manylinux tag of the wheel. The job exports checks the tag for musl."""
    tag, _, _ = wheel.stem.split("-")[-1].partition(".")
    if tag.startswith(("macosx", "win")):
        say(f"{wheel.name}: its binaries are for the jobs inspect-* of ci/test")
        return
    if not tag.startswith("manylinux"):
        say(f"{wheel.name}: built for this machine only, nothing for auditwheel to confirm")
        return
    said = " ".join(output_of([tool_env("tool-auditwheel", "auditwheel") / "auditwheel", "show", wheel]).split())
    found = re.search(r'constrains the platform tag to "(\w+)"|following platform tag: "(\w+)"', said)
    confirmed = next(filter(None, found.groups()), "none") if found else "none"
    (needed, machine), (promised, promised_machine) = glibc_of(confirmed), glibc_of(tag)
    if machine != promised_machine or needed > promised:
        raise Missing(f"auditwheel does not confirm {tag}: {said}")
    say(f"{wheel.name}: auditwheel confirms {confirmed}")


def glibc_of(tag: str) -> tuple[tuple[int, int], str]:
    """Return the version of glibc and the machine of a platform tag; for other tags, a version above all others."""
    match = re.fullmatch(r"manylinux_(\d+)_(\d+)_(\w+)", tag)
    return ((int(match[1]), int(match[2])), match[3]) if match else ((1000, 0), "")


def build_wheel(force: bool = False, target: Target | None = None) -> Path:
    """Return the wheel in dist/; build and check it unless it is current, or always with `force`. Raises Missing.

    Without a target the wheel is for this machine, built by the compiler that CC names, if set.
    """
    with locked(ROOT / "build" / ".wheel.lock"):
        inputs, recorded = hash_inputs(), record_of(target)
        current = None if force else find_current(inputs, recorded)
        if current is not None:
            say(f"{current.name}: up to date")
            return current
        say(f"building the wheel{f' for {target.name}' if target else ''} ...")
        with tempfile.TemporaryDirectory() as folder:
            built = run_pip(ROOT, Path(folder), target)
            packed = repack(built)
            check_size(packed, MAX_BYTES_OF.get(target.name, MAX_BYTES) if target else MAX_BYTES)
            check_tag(packed)
            final = DIST / packed.name
            final.parent.mkdir(exist_ok=True)
            shutil.copyfile(packed, final)
        write_record(recorded, inputs, final)
        return final


def tested_wheel(target: Target) -> Path:
    """Return a wheel to run tests with: the wheel in dist/ if it is current, otherwise a wheel with the same files in
    build/. The wheel for tests is packed less well, because good packing takes longer than compiling. Raises
    Missing."""
    with locked(ROOT / "build" / ".wheel.lock"):
        inputs, recorded = hash_inputs(), record_of(target, QUICK)
        current = find_current(inputs, record_of(target)) or find_current(inputs, recorded, QUICK)
        if current is not None:
            return current
        say(f"building the wheel for {target.name} ...")
        QUICK.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=QUICK) as folder:
            built = run_pip(ROOT, Path(folder), target)
            check_tag(built)
            final = built.replace(QUICK / built.name)
        write_record(recorded, inputs, final)
        return final


def quick_wheel(target: Target, folder: Path) -> Path:
    """Return the wheel in dist/ if it is current, otherwise a larger wheel in `folder` with the same files, which is
    quicker to build. Raises Missing."""
    with locked(ROOT / "build" / ".wheel.lock"):
        return find_current(hash_inputs(), record_of(target)) or run_pip(ROOT, folder, target)


def wheel_for(interpreter: Interpreter) -> Path:
    """Return the wheel for an interpreter; build it unless it is current. Raises Missing."""
    machine = MACHINES.get(interpreter.machine)
    return tested_wheel(TARGET_OF_MACHINE[machine.name]) if machine else build_wheel()


def build_again(target: Target) -> str:
    """Build the wheel from a copy of the sources in another place, and return its digest. Raises Missing."""
    with tempfile.TemporaryDirectory() as scratch:
        copy, folder = Path(scratch, "elsewhere"), Path(scratch, "wheels")
        for path in input_paths():
            place = copy / path.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)
        folder.mkdir()
        return hash_file(repack(run_pip(copy, folder, target)))


def hpy_include() -> Path:
    """Return the folder of the hpy headers of the wheel's build. Raises Missing."""
    try:
        return find_hpy_devel(ROOT / "build") / "include"
    except BuildError as reason:
        raise Missing(str(reason)) from None
