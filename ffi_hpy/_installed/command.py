"""The commands of ffi_hpy.dropin for a whole environment: install, uninstall, status."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .answers import find_commands, find_distributions, find_module
from .change import is_our_command, put, take_away
from .distribution import COMMANDS, StandIn, check_version, find_stand_ins
from .identity import ABI_VERSION, NAME
from .place import choose_place, find_places, search_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .answers import Answer
    from .place import Place

__all__ = ["main"]

_OURS = __name__.partition(".")[0]
_PROGRAM = f"{os.path.basename(sys.executable or 'python')} -m ffi_hpy.dropin"  # noqa: PTH119


def main(arguments: list[str]) -> int:
    """Run one of the commands. Returns the exit status: 1 if it could not be done, or if not all answers are ours."""
    parser = argparse.ArgumentParser(prog="python -m ffi_hpy.dropin", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    install = commands.add_parser("install", help="make this environment answer for tvm_ffi with ffi_hpy")
    install.add_argument(
        "--as", dest="version", metavar="VERSION", default=ABI_VERSION, help="of apache-tvm-ffi (default: %(default)s)"
    )
    install.add_argument("--user", action="store_true", help="into the user's folder of packages")
    uninstall = commands.add_parser("uninstall", help="take that away")
    uninstall.add_argument("--user", action="store_true", help="only from the user's folder of packages")
    commands.add_parser("status", help="say what answers for tvm_ffi; exit status 0 if that is ffi_hpy")
    asked = parser.parse_args(arguments)
    try:
        if asked.command == "install":
            return _install(check_version(asked.version), asked.user)
        return _uninstall(asked.user) if asked.command == "uninstall" else _status()
    except (RuntimeError, ValueError) as error:
        print(f"ffi_hpy.dropin: {error}", file=sys.stderr)
        return 1


def _install(version: str, user: bool) -> int:
    place = choose_place(user)
    _refuse_real(place)
    stand_in = StandIn(place, version)
    if find_stand_ins(place) == [stand_in.folder] and stand_in.is_written():
        print(f"{NAME} {version} is ffi_hpy already, in {place.packages}")
        return 0
    try:
        put(place, stand_in)
    except OSError as error:
        raise RuntimeError(_cannot_write(place, error)) from error
    print(f"{NAME} {version} is ffi_hpy from here on, in {place.packages}")
    if str(place.commands) not in os.environ.get("PATH", "").split(os.pathsep):
        print(f"{' and '.join(COMMANDS)} are in {place.commands}, which is not on PATH")
    return 0


def _uninstall(user: bool) -> int:
    gone: list[Path] = []
    for place in find_places(user):
        try:
            gone += take_away(place)
        except OSError as error:
            if find_stand_ins(place):
                raise RuntimeError(_cannot_write(place, error)) from error
    for folder in gone:
        print(f"{NAME} is not ffi_hpy any more, in {folder.parent}")
    if not gone:
        print(f"ffi_hpy is not installed as {NAME} here")
    return 0


def _status() -> int:
    module, distribution = find_module(), next(iter(find_distributions()), None)
    print(f"tvm_ffi: {_describe_module(module)}")
    if distribution is None:
        print(f"{NAME}: not installed")
    else:
        whose = "ffi_hpy in its place" if distribution.is_ours else "the real one"
        print(f"{NAME}: {distribution.version}, {whose}, {distribution.path}")
    for name, path in find_commands().items():
        if path is None:
            print(f"{name}: not on PATH")
        else:
            print(f"{name}: {path}{'' if is_our_command(Path(path)) else ', not of ffi_hpy'}")
    return 0 if all(answer is not None and answer.is_ours for answer in (module, distribution)) else 1


def _describe_module(module: Answer | None) -> str:
    if module is None:
        return f"nothing answers; `{_PROGRAM} install` makes ffi_hpy answer"
    if not module.is_ours:
        return f"not ffi_hpy, {module.path}"
    return f"ffi_hpy {sys.modules[_OURS].__version__}, {Path(__file__).absolute().parents[1]}"


def _refuse_real(place: Place) -> None:
    """RuntimeError if there is a tvm_ffi that is not ours, and would be overwritten or come first."""
    order = [os.path.abspath(folder) for folder in search_path()]  # noqa: PTH100
    rank = _rank_of_place(place, order)
    for distribution in find_distributions():
        if not distribution.is_ours and _rank(distribution, order) <= rank:
            raise RuntimeError(
                f"{NAME} {distribution.version} is installed in {distribution.folder}, and is not overwritten; to have"
                f" ffi_hpy in its place, remove it with `{_remover(distribution)} uninstall {NAME}` first, and then"
                " install again"
            )
    module = find_module()
    if module is not None and not module.is_ours and _rank(module, order) <= rank:
        raise RuntimeError(
            f"there is a tvm_ffi in {module.folder}, of no distribution {NAME}, which is not overwritten; remove it"
            " first"
        )
    for name in COMMANDS:
        path = place.commands / name
        if path.exists() and not is_our_command(path):
            raise RuntimeError(f"{path} is there and not of ffi_hpy, and is not overwritten; remove it first")


def _rank_of_place(place: Place, order: list[str]) -> int:
    """Where a place stands on the path, or will stand: a user's folder is on it from when it is made, and then comes
    after the packages of a virtual environment, but before those of an interpreter."""
    if str(place.packages.absolute()) in order:
        return order.index(str(place.packages.absolute()))
    if place.is_user and sys.prefix == sys.base_prefix:
        return -1
    environment = str(find_places(user=False)[-1].packages.absolute())
    return order.index(environment) if environment in order else len(order)


def _rank(answer: Answer, order: list[str]) -> int:
    folder = os.path.abspath(answer.folder)  # noqa: PTH100
    return order.index(folder) if folder in order else 0


def _remover(distribution: Answer) -> str:
    """The program that has installed a distribution."""
    try:
        installer = (distribution.path / "INSTALLER").read_text().strip()
    except OSError:
        installer = ""
    return "uv pip" if installer == "uv" else f"{_PROGRAM.partition(' ')[0]} -m pip"


def _cannot_write(place: Place, error: OSError) -> str:
    if place.is_user:
        advice = "make that folder writable"
    elif sys.prefix != sys.base_prefix:
        advice = "make the virtual environment writable, or use another"
    else:
        advice = "run this as who owns that folder, with --user, or in a virtual environment"
    folder = Path(error.filename).parent if error.filename else place.packages
    return f"cannot write into {folder}: {error.strerror}; {advice}"
