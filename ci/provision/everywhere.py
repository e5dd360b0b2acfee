"""The wheel for every system: it merges the wheels of many targets, with the binaries of each in a separate folder.

All other files must be the same in all wheels. `ffi_hpy/_system.py` finds the folder at run time.
"""

from __future__ import annotations

import filecmp
import json
import platform
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ci.lib.folders import ROOT, locked
from ci.lib.messages import Missing, say
from ci.lib.process import output_of
from ci.provision.envs import tool_env
from ci.provision.wheel import (
    TARGET_OF_MACHINE,
    build_wheel,
    check_size,
    find_current,
    hash_file,
    hash_inputs,
    record_of,
    repack,
    tested_wheel,
)
from tools.build.targets import TARGETS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tools.build.targets import Target

MAX_BYTES = 8_000_000
SYSTEMS = "_systems"  # as in ffi_hpy/_system.py
BINARY_SUFFIXES = {".so", ".dylib", ".dll", ".pyd", ".lib"}
RECORDED = ROOT / "build" / "wheel-everywhere.json"
_TAGS = "Root-Is-Purelib: true\nTag: py3-none-any\n"
_TIME = "315532800"  # the earliest time that a zip file can hold


def system_of(target: Target) -> str:
    """Return the name of the folder for a target: its machine and its system, as `_system.name_system` gives them."""
    return "-".join(target.name.split("-")[:2])


def build_everywhere(targets: Sequence[Target]) -> Path:
    """Return the wheel in dist/ with the binaries of these targets; make it unless it is current. Raises Missing."""
    wheels = _build_parts(targets)
    with locked(ROOT / "build" / ".wheel.lock"):
        current = find_current(_describe(wheels), RECORDED)
        if current is not None:
            say(f"{current.name}: up to date")
            return current
        with tempfile.TemporaryDirectory() as folder:
            packed = repack(merge(wheels, Path(folder)))
            check_size(packed, MAX_BYTES)
            final = ROOT / "dist" / packed.name
            shutil.copyfile(packed, final)
        record = {"inputs": _describe(wheels), "name": final.name, "sha256": hash_file(final)}
        RECORDED.write_text(json.dumps(record))
        return final


def build_everywhere_again(targets: Sequence[Target]) -> str:
    """Make the wheel a second time from the same parts, and return its digest. Raises Missing."""
    with tempfile.TemporaryDirectory() as folder:
        return hash_file(repack(merge(_build_parts(targets), Path(folder))))


def _build_parts(targets: Sequence[Target]) -> dict[str, Path]:
    """Return the wheels of targets, by their systems."""
    wheels = {system_of(target): build_wheel(target=target) for target in targets}
    if len(wheels) < len(targets):
        raise Missing("two targets are for one system, and the loader could not tell their binaries apart")
    return wheels


def everywhere_to_test(own: Path, folder: Path) -> Path:
    """Return a wheel for every system to run tests with: the wheel in dist/ if it is current, otherwise a new one in a
    folder, made within seconds from this system's wheel and the wheel for emulated ARM. Raises Missing."""
    inputs = hash_inputs()
    parts = {system_of(target): find_current(inputs, record_of(target)) for target in TARGETS}
    there = {system: wheel for system, wheel in parts.items() if wheel}
    whole = find_current(_describe(there), RECORDED)
    if whole is not None and len(there) == len(parts):
        return whole
    arm = TARGET_OF_MACHINE["aarch64"]
    return merge({f"{platform.machine()}-linux": own, system_of(arm): tested_wheel(arm)}, folder)


def _describe(wheels: Mapping[str, Path]) -> str:
    return " ".join(f"{system} {hash_file(wheel)}" for system, wheel in sorted(wheels.items()))


def merge(wheels: Mapping[str, Path], folder: Path) -> Path:
    """Merge wheels, keyed by the names of their systems, into one wheel in a folder, and return it. Raises Missing."""
    tool = tool_env("tool-wheel", "wheel") / "wheel"
    made = None
    for system, wheel in sorted(wheels.items()):
        output_of([tool, "unpack", "--dest", folder / system, wheel])
        (tree,) = (folder / system).iterdir()
        move_binaries(tree, Path(SYSTEMS, system))
        retag(tree)
        if made is None:
            made = tree
        else:
            add_system(tree, made, wheel.name)
    if made is None:
        raise Missing("a wheel for every system is made of one for each, and there is none")
    output_of([tool, "pack", "--dest-dir", folder, made], {"SOURCE_DATE_EPOCH": _TIME})
    return next(folder.glob("*.whl"))


def move_binaries(tree: Path, place: Path) -> None:
    """Move the binaries of an unpacked wheel to a folder inside their package."""
    for path in [path for path in tree.rglob("*") if path.suffix in BINARY_SUFFIXES]:
        package, *inside = path.relative_to(tree).parts
        moved = Path(tree, package, place, *inside)
        moved.parent.mkdir(parents=True, exist_ok=True)
        path.rename(moved)


def retag(tree: Path) -> None:
    """Change the metadata of an unpacked wheel to those for any platform. The record of files is written later."""
    (described,) = tree.glob("*.dist-info/WHEEL")
    lines = described.read_text().splitlines(keepends=True)
    kept = "".join(line for line in lines if line.strip() and not line.startswith(("Root-Is-Purelib:", "Tag:")))
    described.write_text(kept + _TAGS)
    described.with_name("RECORD").unlink()


def add_system(tree: Path, made: Path, name: str) -> None:
    """Move the files that only `tree` has into `made`, another unpacked wheel. Raises Missing if other files differ."""
    theirs, ours = ({path.relative_to(each) for path in each.rglob("*") if path.is_file()} for each in (tree, made))
    only_there = {path for path in theirs - ours if SYSTEMS in path.parts}
    lacking = [path for path in ours - theirs if SYSTEMS not in path.parts]
    differing = [path for path in theirs & ours if not filecmp.cmp(tree / path, made / path, shallow=False)]
    odd = sorted({*(theirs - ours - only_there), *lacking, *differing})
    if odd:
        raise Missing(f"{name} differs from the wheels for other systems in {', '.join(map(str, odd))}")
    for path in only_there:
        (made / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).rename(made / path)
