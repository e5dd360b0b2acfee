"""Run programs that were written for tvm_ffi, unchanged, with ffi_hpy in its place.

    python -m ffi_hpy.dropin install [--as VERSION] [--user]    from here on in this environment, for pip and uv, too
    python -m ffi_hpy.dropin uninstall                          not any more
    python -m ffi_hpy.dropin status                             the package that `import tvm_ffi` gives

or for one program:

    python -m ffi_hpy.dropin program.py ARGUMENT...
    python -m ffi_hpy.dropin -m MODULE ARGUMENT...
    python -m ffi_hpy.dropin -c CODE ARGUMENT...
    python -m ffi_hpy.dropin - ARGUMENT...                      the program comes from standard input
    python -m ffi_hpy.dropin tvm-ffi-config ARGUMENT...         tvm_ffi's commands: our ffi-hpy-config,
    python -m ffi_hpy.dropin tvm-ffi-stubgen ARGUMENT...        our ffi-hpy-stubgen

or, first thing in a program, ``ffi_hpy.dropin.install()``. From then on ``import tvm_ffi.x`` gives the module
``ffi_hpy.x`` itself, and ``importlib.metadata`` shows the distribution ffi_hpy as apache-tvm-ffi, under the version of
the ABI. A tvm_ffi that is installed beside it is not touched, and not seen any more.

``install hpy`` and ``install nanobind`` make an environment answer for these packages; `status` and `uninstall` take
their names, too.

Programs that such a program starts do the same, unless they ignore the environment (``python -I``): the folder _dropin
comes first on PYTHONPATH, where interpreters find a tvm_ffi that is ffi_hpy, and its bin first on PATH, where shells
and build systems find tvm-ffi-config and tvm-ffi-stubgen. FFI_HPY_DROPIN names the interpreter for these.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys

from ._installed.identity import ABI_VERSION as ABI_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    import importlib.metadata
    from collections.abc import Iterable, Sequence
    from types import ModuleType
    from typing import Any

__all__ = ["install", "is_installed", "main", "uninstall"]

_OURS = __package__ or "ffi_hpy"
_THEIRS = "tvm_ffi"
_COMMANDS = {"tvm-ffi-config": "tvm_ffi.config", "tvm-ffi-stubgen": "tvm_ffi.stub.cli"}
_CHILDREN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_dropin")  # noqa: PTH100, PTH118, PTH120
_VARIABLES = {"PYTHONPATH": _CHILDREN, "PATH": os.path.join(_CHILDREN, "bin")}  # noqa: PTH118
"""For child processes that use the drop-in: the folder that is put first in each environment variable."""


class _Loader:
    """Puts a module of ours into sys.modules under the requested name. The class does not derive from a class of
    importlib.abc, because importing that module costs more than importing ffi_hpy."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Return None for an empty module, used until exec_module. The import system would overwrite the spec of our
        module."""

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        ours = _OURS + name[len(_THEIRS) :]
        whole = sys.modules[name] = importlib.import_module(ours)
        # A thread that imports the module at the same time waits, and then has this module object
        module.__dict__["__getattr__"] = lambda attribute: getattr(whole, attribute)
        # Submodules that the module has imported are registered under the other name, too. If the import system did
        # that later, it would overwrite names that the module has defined, such as `dataclasses.field`.
        for below in [loaded for loaded in sys.modules if loaded.startswith(f"{ours}.")]:
            sys.modules.setdefault(_THEIRS + below[len(_OURS) :], sys.modules[below])

    def get_code(self, name: str) -> Any:
        """Return the module's code for ``python -m``, which runs it under the name __main__."""
        ours = _OURS + name[len(_THEIRS) :]
        spec = importlib.util.find_spec(ours)
        loader = spec.loader if spec is not None else None
        get_code = getattr(loader, "get_code", None)
        if get_code is None:
            raise ImportError(f"{name} cannot be run: {ours} has no code", name=name)
        return get_code(ours)


class _Finder:
    """On sys.meta_path: finds tvm_ffi, its submodules and its distribution. Like _Loader, it does not derive from a
    class of importlib."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != _THEIRS and not fullname.startswith(f"{_THEIRS}."):
            return None
        found = importlib.util.find_spec(_OURS + fullname[len(_THEIRS) :])
        if found is None:
            return None
        loader: Any = _Loader()
        spec = importlib.machinery.ModuleSpec(fullname, loader, origin=found.origin)
        spec.submodule_search_locations = found.submodule_search_locations  # build systems look for headers there
        return spec

    def find_distributions(
        self, context: importlib.metadata.DistributionFinder.Context | None = None
    ) -> Iterable[importlib.metadata.Distribution]:
        from ._installed.alias import find_alias

        return find_alias(context.name if context is not None else None)


_finder: Any = _Finder()


def install(*, children: bool = False) -> None:
    """Make imports of tvm_ffi find ffi_hpy from here on, in this process. A second call changes nothing.

    Args:
        children: whether to do so for its child processes, too, through os.environ.

    Raises:
        RuntimeError: if another tvm_ffi was imported before: objects of two runtimes cannot be mixed.
    """
    there = sys.modules.get(_THEIRS)
    if there is not None and there is not sys.modules.get(_OURS):
        raise RuntimeError(f"ffi_hpy.dropin.install() comes too late: {_THEIRS} is imported already, from {there}")
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    if children:
        for variable, folder in _VARIABLES.items():
            os.environ[variable] = os.pathsep.join([folder, *_other_folders(variable)])
        os.environ["FFI_HPY_DROPIN"] = sys.executable
        if _CHILDREN not in sys.path:
            sys.path.insert(1, _CHILDREN)  # the place of PYTHONPATH; multiprocessing passes it to children


def is_installed() -> bool:
    """Whether imports of tvm_ffi find ffi_hpy in this process."""
    return _finder in sys.meta_path


def uninstall() -> None:
    """Undo install(), here and for new child processes.

    Names that were imported stay; new imports find the installed package.
    """
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    for name, module in list(sys.modules.items()):
        is_alias = name == _THEIRS or name.startswith(f"{_THEIRS}.")
        if is_alias and module is sys.modules.get(_OURS + name[len(_THEIRS) :]):
            del sys.modules[name]
    if os.environ.pop("FFI_HPY_DROPIN", None) is not None:
        sys.path[:] = [folder for folder in sys.path if folder != _CHILDREN]
        for variable in _VARIABLES:
            os.environ[variable] = os.pathsep.join(_other_folders(variable))


def _other_folders(variable: str) -> list[str]:
    """The folders in an environment variable, without ours. An empty PATH stands for the system's default."""
    text = os.environ.get(variable, os.defpath if variable == "PATH" else "")
    return [folder for folder in text.split(os.pathsep) if folder != _VARIABLES[variable]] if text else []


def main(arguments: list[str]) -> int | None:
    """Run the program that the arguments name, as `python` itself would, or the command for the environment.

    Args:
        arguments: the arguments of the command line, without the first.

    Returns:
        The exit status of that command, or of wrong usage.
    """
    if arguments and arguments[0] in ("install", "uninstall", "status"):
        from ._installed.command import main as change_environment

        return change_environment(arguments)
    import runpy

    install(children=True)
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    first, *rest = arguments
    if first in _COMMANDS:
        first, rest = "-m", [_COMMANDS[first], *rest]
    if first in ("-m", "-c") and not rest:
        print(f"ffi_hpy.dropin: {first} needs an argument", file=sys.stderr)
        return 2
    if first == "-m":
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif first == "-c":
        sys.argv = ["-c", *rest[1:]]
        _run_source(rest[0], "<string>")
    elif first == "-":
        sys.argv = arguments
        _set_first_folder("")
        if sys.stdin is not None:  # it is None if the descriptor is closed: run an empty program
            _run_source(sys.stdin.buffer.read(), "<stdin>", __file__="<stdin>", __cached__=None)
    else:
        sys.argv = arguments
        return _run_file(first)
    return None


def _run_file(name: str) -> int | None:
    """Run a program by its path: a file, or a folder or archive that has a `__main__`. Returns the exit status if it
    cannot be read."""
    import pkgutil
    import runpy

    path = os.path.abspath(name)  # noqa: PTH100 - as python does it
    if name.endswith(".pyc") or pkgutil.get_importer(path) is not None:
        runpy.run_path(name, run_name="__main__")
        return None
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            source = file.read()
    except OSError as error:
        print(f"ffi_hpy.dropin: can't open file {path!r}: [Errno {error.errno}] {error.strerror}", file=sys.stderr)
        return 2
    _set_first_folder(os.path.dirname(os.path.realpath(path)))  # noqa: PTH120
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    _run_source(source, path, __file__=path, __cached__=None, __loader__=loader)
    return None


def _set_first_folder(folder: str) -> None:
    """Set the first folder of the module search path, unless Python was started without it."""
    if not getattr(sys.flags, "safe_path", sys.flags.isolated):
        sys.path[0] = folder


def _run_source(source: str | bytes, name: str, **names: Any) -> None:
    """Run a program in a new module __main__, where pickle and dataclasses look up its definitions. The module stays
    there for threads and exit functions."""
    program = sys.modules["__main__"] = type(sys)("__main__")
    program.__dict__.update(names, __builtins__=sys.modules["builtins"])
    exec(compile(source, name, "exec", dont_inherit=True), program.__dict__)


if __name__ == "__main__":
    # Use the imported module, not its copy that runs as __main__; otherwise there would be two finders
    from .dropin import main as run

    sys.exit(run(sys.argv[1:]))
