"""The one wheel: built if it is not up to date, and checked."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from ci.lib.folders import ROOT, locked
from ci.lib.messages import Missing, last_line, say
from ci.lib.process import clean_environ, output_of
from ci.provision.envs import build_env, tool_env
from tools.build.errors import BuildError
from tools.build.hpy_headers import find_hpy_devel

MAX_BYTES = 1_100_000
NEWEST_GLIBC = (2, 17)

INPUT_FILES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE")
INPUT_TREES = ("ffi_hpy", "include", "src", "tools/build")
INPUT_VARIABLES = ("CC", "CFLAGS", "LDFLAGS", "FFI_HPY_HPY_DIR")
NOT_INPUTS = {".so", ".pyc", ".bz2"}  # what an editable installation and Python leave between the sources

RECORD = ROOT / "build" / "wheel.json"


def input_paths() -> list[Path]:
    """Return every file that the wheel depends on, sorted."""
    paths = [ROOT / name for name in INPUT_FILES]
    for tree in INPUT_TREES:
        paths += [path for path in (ROOT / tree).rglob("*") if path.suffix not in NOT_INPUTS]
    editable = (ROOT / "ffi_hpy" / "include", ROOT / "ffi_hpy" / "lib")
    return sorted(path for path in paths if path.is_file() and not any(folder in path.parents for folder in editable))


def hash_inputs() -> str:
    """Return a digest of all that the wheel depends on."""
    digest = hashlib.sha256()
    for path in input_paths():
        digest.update(f"{path.relative_to(ROOT)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    for name in INPUT_VARIABLES:
        digest.update(f"{name}={os.environ.get(name, '')}\0".encode())
    return digest.hexdigest()


def hash_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def find_current(inputs: str) -> Path | None:
    """Return the wheel in dist/ if it was made from `inputs` and nobody has changed it since."""
    try:
        record = json.loads(RECORD.read_text())
        wheel = ROOT / "dist" / record["name"]
        return wheel if record["inputs"] == inputs and record["sha256"] == hash_file(wheel) else None
    except (OSError, ValueError, KeyError):
        return None


def run_pip(folder: Path) -> Path:
    """Have pip build the wheel into `folder`, and return it. What the build says goes to stderr."""
    python = build_env() / "python"
    command = [str(python), "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    log = subprocess.run(
        [*command, "-v", str(ROOT)],
        env=clean_environ({"PIP_DISABLE_PIP_VERSION_CHECK": "1"}),
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
        if re.search(r":\d+: (warning|note): ", line):  # a compiler's, not setuptools'
            say(line.strip())
    return next(folder.glob("*.whl"))


def repack(wheel: Path) -> Path:
    """Return a smaller wheel with the same files."""
    packed = wheel.parent / "packed" / wheel.name
    packed.parent.mkdir()
    python = tool_env("tool-repack", "zopflipy") / "python"
    output_of([python, Path(__file__).with_name("repack.py"), wheel, packed])
    return packed


def check_size(wheel: Path) -> None:
    size = wheel.stat().st_size
    if size >= MAX_BYTES:
        raise Missing(f"{wheel.name} has {size} bytes; it must stay under {MAX_BYTES}")
    say(f"{wheel.name}: {size} bytes, sha256 {hash_file(wheel)}")


def check_tag(wheel: Path) -> None:
    """Have auditwheel confirm the manylinux tag in the name of the wheel."""
    tag = wheel.stem.split("-")[-1]
    if not tag.startswith("manylinux"):
        say(f"{wheel.name}: built for this machine only, nothing for auditwheel to confirm")
        return
    said = " ".join(output_of([tool_env("tool-auditwheel", "auditwheel") / "auditwheel", "show", wheel]).split())
    found = re.search(r'constrains the platform tag to "(\w+)"|following platform tag: "(\w+)"', said)
    confirmed = next(filter(None, found.groups()), "none") if found else "none"
    glibc = re.fullmatch(r"manylinux_(\d+)_(\d+)_x86_64", confirmed)
    if not glibc or (int(glibc[1]), int(glibc[2])) > NEWEST_GLIBC:
        raise Missing(f"auditwheel does not confirm {tag}: {said}")
    say(f"{wheel.name}: auditwheel confirms {confirmed}")


def build_wheel(force: bool = False) -> Path:
    """Return the wheel in dist/, built and checked unless it is current, or always by force. Raises Missing."""
    with locked(ROOT / "build" / ".wheel.lock"):
        inputs = hash_inputs()
        current = None if force else find_current(inputs)
        if current is not None:
            say(f"{current.name}: up to date")
            return current
        say("building the wheel ...")
        with tempfile.TemporaryDirectory() as folder:
            built = run_pip(Path(folder))
            packed = repack(built)
            check_size(packed)
            check_tag(packed)
            final = ROOT / "dist" / packed.name
            final.parent.mkdir(exist_ok=True)
            shutil.copyfile(packed, final)
        RECORD.write_text(json.dumps({"inputs": inputs, "name": final.name, "sha256": hash_file(final)}))
        return final


def hpy_include() -> Path:
    """Return the folder of the hpy headers that the wheel was built with. Raises Missing."""
    try:
        return find_hpy_devel(ROOT / "build") / "include"
    except BuildError as reason:
        raise Missing(str(reason)) from None
