"""Puts a stand-in into a place, or takes it away: all of it, or if that is interrupted nothing."""

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
"""The folder, beside the packages, of what is not installed yet, or not any more."""
_NEW = ".{}.ffi_hpy_dropin"
"""The name of a command that is not complete yet."""


def put(place: Place, stand_in: StandIn, refuse: Callable[[], None]) -> bool:
    """Install a stand-in, in place of another that is there, unless `refuse` raises, which looks at what is there while
    no other process changes that. Returns False if it is in place already."""
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
            with contextlib.suppress(OSError):  # a file system without links
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
    """Uninstall the stand-ins for some originals, or for all, and what an interrupted change has left. Returns the
    folders that are gone."""
    if not place.packages.is_dir():
        return []
    with _locked(place.packages), _changing(place) as stage:
        folders = find_stand_ins(place, *originals)
        for folder in folders:
            folder.replace(stage / folder.name)
    return folders


@contextlib.contextmanager
def _changing(place: Place) -> Iterator[Path]:
    """One change of a place, which is locked, with a folder for it. Whatever becomes of it, the files then in place are
    those of the stand-ins in place."""
    stage = place.packages / _STAGE
    _sweep(place)
    try:
        stage.mkdir()
        yield stage
    finally:
        _sweep(place)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Who has a folder of packages locked looks at it and changes it alone."""
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _sweep(place: Place) -> None:
    """Remove what is ours and of no stand-in that is in place."""
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
    """Whether a file is a command that a stand-in has brought."""
    try:
        return MARK.encode() in path.read_bytes().splitlines()
    except OSError:
        return False


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(os.fsencode(text))  # it has paths, in whatever locale
    path.chmod(mode)
