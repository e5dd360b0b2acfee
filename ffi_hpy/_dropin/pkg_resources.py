"""pkg_resources for the stubs of modules that hpy 0.9 has built, which use one function of it, `resource_filename`.

Current setuptools has no pkg_resources. If there is one, it replaces this file. For an importer other than a stub this
file behaves as if it were missing, so that programs that can do without it continue to do so.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import FrameType


_INSTALLED = ".dist-info/module"
"""The end of the path of the folder where `ffi_hpy.dropin install` puts a module that runs this file."""


def _find_real() -> ModuleSpec | None:
    here = Path(__file__).resolve().parent
    others = [e for e in sys.path if Path(e or ".").resolve() != here and not e.endswith(_INSTALLED)]
    return PathFinder.find_spec(__name__, others)


def _is_for_stub() -> bool:
    """Whether a stub's import runs this file. The stub's function has this name."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "__bootstrap__":
            return True
        file = frame.f_code.co_filename
        if "importlib" not in file and file != __file__ and f"{_INSTALLED}/{__name__}" not in file:
            return False
        frame = frame.f_back
    return False


def resource_filename(package_or_requirement: str, resource_name: str) -> str:
    """Return the path of a file next to a module. A stub calls this once: from then on this file behaves as missing
    again."""
    sys.modules.pop(__name__, None)
    return str(Path(str(sys.modules[package_or_requirement].__file__)).parent / resource_name)


_spec = _find_real()
if _spec is not None and _spec.loader is not None:
    _module = sys.modules[__name__] = module_from_spec(_spec)
    _spec.loader.exec_module(_module)
elif not _is_for_stub():
    raise ModuleNotFoundError(f"No module named {__name__!r}", name=__name__)
