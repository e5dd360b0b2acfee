"""The places for a stand-in: the folders of an environment, or of its user, chosen like pip's."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from pathlib import Path

__all__ = ["Place", "choose_place", "find_places", "search_path"]


class Place:
    """A folder of packages, and its folder of commands."""

    def __init__(self, scheme: str | None) -> None:
        names = (scheme,) if scheme else ()
        self.packages = Path(sysconfig.get_path("purelib", *names))
        self.commands = Path(sysconfig.get_path("scripts", *names))
        self.is_user = scheme is not None

    def is_writable(self) -> bool:
        """Whether this process may write there. A missing folder can be created if its parent is writable."""
        return all(_is_writable(folder) for folder in (self.packages, self.commands))


def choose_place(user: bool) -> Place:
    """Return the place to install into: the environment's by default, and the user's with `user`, if the
    environment's is read-only, or if ffi_hpy itself is installed there. RuntimeError if that is impossible."""
    environment = Place(None)
    if user and not site.ENABLE_USER_SITE:
        raise RuntimeError(
            f"--user: the interpreter {sys.executable} does not look into the user's folder of packages; without --user"
            f" the stand-in goes into {environment.packages}"
        )
    if not site.ENABLE_USER_SITE:
        return environment
    users = Place(_user_scheme())
    own = Path(__file__).resolve().parents[2]
    if user or own == users.packages.resolve() or not environment.is_writable():
        return users
    return environment


def find_places(user: bool) -> list[Place]:
    """Return the places that may have the stand-in: the user's and the environment's if the interpreter uses both, or
    with `user` only the user's."""
    users = [Place(_user_scheme())] if site.ENABLE_USER_SITE or user else []
    return users if user else [*users, Place(None)]


def search_path() -> list[str]:
    """Return the search path of the programs of this environment for modules and distributions: sys.path without the
    entries of this process, its working directory and the folders of PYTHONPATH."""
    on_variable = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    given = set(map(os.path.abspath, on_variable))
    folders = sys.path[1:] if sys.path[:1] in ([""], [os.getcwd()]) else sys.path  # noqa: PTH109
    return [folder for folder in folders if os.path.abspath(folder) not in given]  # noqa: PTH100


def _user_scheme() -> str:
    prefer = getattr(sysconfig, "get_preferred_scheme", None)  # Python 3.10
    return prefer("user") if prefer is not None else f"{os.name}_user"


def _is_writable(folder: Path) -> bool:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK)
