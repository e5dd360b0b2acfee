"""The commands of ffi_hpy.dropin for a whole environment: install, uninstall, status."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .answers import find_commands, find_distributions, find_module
from .change import is_our_command, put, take_away
from .distribution import StandIn, check_version, find_stand_ins, name_of
from .identity import ORIGINALS, TVM_FFI
from .place import choose_place, find_places, search_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .answers import Answer
    from .identity import Original
    from .place import Place

__all__ = ["main"]

_OURS = (__package__ or "").rpartition(".")[0]
_PROGRAM = f"{os.path.basename(sys.executable or 'python')} -m ffi_hpy.dropin"  # noqa: PTH119


def main(arguments: list[str]) -> int:
    """Run one of the commands. Returns the exit status: 1 if it failed, or if a module or distribution is missing or
    not ours."""
    names = [original.name for original in ORIGINALS]
    parser = argparse.ArgumentParser(prog="python -m ffi_hpy.dropin", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    install = commands.add_parser("install", help=f"make this environment answer for {TVM_FFI.module} with ffi_hpy")
    install.add_argument("name", nargs="?", choices=names, default=TVM_FFI.name, help="(default: %(default)s)")
    install.add_argument("--as", dest="version", metavar="VERSION", help=f"(default: {TVM_FFI.version})")
    install.add_argument("--user", action="store_true", help="into the user's folder of packages")
    uninstall = commands.add_parser("uninstall", help="take that away")
    uninstall.add_argument("name", nargs="?", choices=names, help="(default: all)")
    uninstall.add_argument("--user", action="store_true", help="only from the user's folder of packages")
    status = commands.add_parser("status", help="print the installed package; exit status 0 if it is ffi_hpy")
    status.add_argument("name", nargs="?", choices=names, help="(default: all)")
    asked = parser.parse_args(arguments)
    originals = [original for original in ORIGINALS if asked.name in (original.name, None)]
    try:
        if asked.command == "install":
            return _install(originals[0], check_version(originals[0], asked.version), asked.user)
        return _uninstall(originals, asked.user) if asked.command == "uninstall" else _status(originals)
    except (RuntimeError, ValueError) as error:
        print(f"ffi_hpy.dropin: {error}", file=sys.stderr)
        return 1


def _install(original: Original, version: str, user: bool) -> int:
    place = choose_place(user)
    stand_in = StandIn(place, original, version)
    try:
        is_new = put(place, stand_in, lambda: _refuse_real(original, place))
    except OSError as error:
        raise RuntimeError(_cannot_write(place, error)) from error
    if not is_new:
        print(f"{original.name} {version} is ffi_hpy already, in {place.packages}")
        return 0
    print(f"{original.name} {version} is ffi_hpy from here on, in {place.packages}")
    if original.commands and str(place.commands) not in os.environ.get("PATH", "").split(os.pathsep):
        print(f"{' and '.join(original.commands)} are in {place.commands}, which is not on PATH")
    return 0


def _uninstall(originals: list[Original], user: bool) -> int:
    gone: list[Path] = []
    for place in find_places(user):
        try:
            gone += take_away(place, *originals)
        except OSError as error:
            if find_stand_ins(place, *originals):
                raise RuntimeError(_cannot_write(place, error)) from error
    for folder in gone:
        print(f"{name_of(folder)} is not ffi_hpy any more, in {folder.parent}")
    if not gone:
        print(f"ffi_hpy is not installed as {' or '.join(original.name for original in originals)} here")
    return 0


def _status(originals: list[Original]) -> int:
    are_ours = set()
    for original in originals:
        module, distribution = find_module(original), next(iter(find_distributions(original)), None)
        if module is not None or distribution is not None:
            are_ours.add(all(answer is not None and answer.is_ours for answer in (module, distribution)))
        print(f"{original.module}: {_describe_module(original, module)}")
        if distribution is None:
            print(f"{original.name}: not installed")
        else:
            whose = "ffi_hpy in its place" if distribution.is_ours else "the real one"
            print(f"{original.name}: {distribution.version}, {whose}, {distribution.path}")
        for name, path in find_commands(original).items():
            if path is None:
                print(f"{name}: not on PATH")
            else:
                print(f"{name}: {path}{'' if is_our_command(Path(path)) else ', not of ffi_hpy'}")
    return 0 if are_ours == {True} else 1


def _describe_module(original: Original, module: Answer | None) -> str:
    if module is None:
        return f"nothing answers; `{_PROGRAM} install{_word(original)}` makes ffi_hpy answer"
    if not module.is_ours:
        return f"not ffi_hpy, {module.path}"
    return f"ffi_hpy {sys.modules[_OURS].__version__}, {Path(__file__).absolute().parents[1]}"


def _word(original: Original) -> str:
    """Return the argument that `install` needs."""
    return "" if original is TVM_FFI else f" {original.name}"


def _refuse_real(original: Original, place: Place) -> None:
    """RuntimeError if there is a module or distribution that is not ours and would be overwritten or come first."""
    order = [os.path.abspath(folder) for folder in search_path()]  # noqa: PTH100
    rank = _rank_of_place(place, order)
    for distribution in find_distributions(original):
        if not distribution.is_ours and _rank(distribution, order) <= rank:
            raise RuntimeError(
                f"{original.name} {distribution.version} is installed in {distribution.folder}, and is not overwritten;"
                f" to have ffi_hpy in its place, remove it with `{_remover(distribution)} uninstall {original.name}`"
                " first, and then install again"
            )
    module = find_module(original)
    if module is not None and not module.is_ours and _rank(module, order) <= rank:
        raise RuntimeError(
            f"there is a {original.module} in {module.folder}, of no distribution {original.name}, which is not"
            " overwritten; remove it first"
        )
    for name in original.commands:
        path = place.commands / name
        if path.exists() and not is_our_command(path):
            raise RuntimeError(f"{path} is there and not of ffi_hpy, and is not overwritten; remove it first")


def _rank_of_place(place: Place, order: list[str]) -> int:
    """Return the position of a place on the path, now or after it is created. A user's folder is on the path once it
    exists. The folder comes after the packages of a virtual environment, but before the packages of an interpreter."""
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
    """Return the program that installed a distribution."""
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
        advice = "run this as the owner of that folder, with --user, or in a virtual environment"
    folder = Path(error.filename).parent if error.filename else place.packages
    return f"cannot write into {folder}: {error.strerror}; {advice}"
