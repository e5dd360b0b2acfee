"""Puts a stand-in into a place, or removes it. If that is interrupted, nothing changes."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from .distribution import MARK, PTH, find_stand_ins, recorded_files
from .identity import ORIGINALS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Callable

    from .distribution import StandIn
    from .identity import Original
    from .place import Place

__all__ = ["is_our_command", "put", "take_away"]

_STAGE = ".ffi_hpy_dropin"
"""The folder, next to the packages, for files that are not installed yet or any more."""
_NEW = ".{}.ffi_hpy_dropin"
"""The name of a command that is not complete yet."""


def put(place: Place, stand_in: StandIn, refuse: Callable[[], None]) -> bool:
    """Install a stand-in and replace another one. `refuse` may raise to prevent that; it runs while no other process
    can change the place. Returns False if the stand-in is in place already."""
    if not place.packages.is_dir():
        refuse()
        place.packages.mkdir(parents=True, exist_ok=True)
    with _locked(place.packages):
        refuse()
        if find_stand_ins(place, stand_in.original) == [stand_in.folder] and stand_in.is_written():
            return False
        _put(place, stand_in)
        return True


def _put(place: Place, stand_in: StandIn) -> None:
    with _changing(place) as stage:
        new = stage / "new"
        for name, text in stand_in.inside.items():
            _write(new / name, text)
        for name, target in stand_in.links.items():
            with contextlib.suppress(OSError):  # the file system does not support links
                (new / name).symlink_to(target)
        for path, text in stand_in.outside.items():
            beside = path.with_name(_NEW.format(path.name))
            _write(beside, text, mode=0o644 if path == stand_in.pth else 0o755)
            beside.replace(path)
        replaced = [(folder, stage / folder.name) for folder in find_stand_ins(place, stand_in.original)]
        try:
            for folder, aside in replaced:
                folder.replace(aside)
            new.replace(stand_in.folder)
        except BaseException:
            for folder, aside in replaced:
                if new.exists() and aside.exists():
                    aside.replace(folder)
            raise


def take_away(place: Place, *originals: Original) -> list[Path]:
    """Uninstall the stand-ins for some originals, or for all, and the leftovers of an interrupted change. Returns the
    removed folders."""
    if not place.packages.is_dir():
        return []
    with _locked(place.packages), _changing(place) as stage:
        folders = find_stand_ins(place, *originals)
        for folder in folders:
            folder.replace(stage / folder.name)
    return folders


@contextlib.contextmanager
def _changing(place: Place) -> Iterator[Path]:
    """Make one change of a place, which is locked, with a folder for it. Afterwards, even on failure, the files belong
    to the stand-ins in place."""
    stage = place.packages / _STAGE
    _sweep(place)
    try:
        stage.mkdir()
        yield stage
    finally:
        _sweep(place)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder of packages, so that only this process reads and changes it."""
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # the file system does not support locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _sweep(place: Place) -> None:
    """Remove our files that do not belong to a stand-in in place."""
    kept = {path for folder in find_stand_ins(place) for path in recorded_files(folder)}
    ours = [*place.packages.glob(PTH.format("*"))]
    commands = [place.commands / name for original in ORIGINALS for name in original.commands]
    ours += filter(is_our_command, commands)
    for path in [*place.packages.glob(_NEW.format("*.pth")), *place.commands.glob(_NEW.format("*"))]:
        path.unlink(missing_ok=True)
    for path in ours:
        if Path(os.path.normpath(path)) not in kept:
            path.unlink(missing_ok=True)
    shutil.rmtree(place.packages / _STAGE, ignore_errors=True)


def is_our_command(path: Path) -> bool:
    """Whether a file is a command of a stand-in."""
    try:
        return MARK.encode() in path.read_bytes().splitlines()
    except OSError:
        return False


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(os.fsencode(text))  # it contains paths, in any locale
    path.chmod(mode)
