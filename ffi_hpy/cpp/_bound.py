"""Libraries that define a module of Python with ffi_hpy/bind.h."""

from __future__ import annotations

from importlib.util import module_from_spec

from .._bind.finder import is_bound, spec_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from concurrent.futures import Future
    from types import ModuleType

__all__ = ["import_library"]

_modules: dict[str, Future[ModuleType]] = {}
"""By path. A library defines its classes once, so a second thread waits for the module of the first one."""


def import_library(path: str, name: str) -> ModuleType:
    """Return the module of a library, which is not in `sys.modules`: another module may have its name.

    ValueError if the library defines a module of another name; any exception of the definition.
    """
    from concurrent.futures import Future

    if not is_bound(path, name):
        raise ValueError(f"the sources define no module {name!r}: FFI_HPY_MODULE and the library must have one name")
    own: Future[ModuleType] = Future()
    known = _modules.setdefault(path, own)
    if known is own:
        try:
            own.set_result(_execute(path, name))
        except BaseException as error:
            del _modules[path]
            own.set_exception(error)
    return known.result()


def _execute(path: str, name: str) -> ModuleType:
    spec = spec_of(name, path)
    assert spec is not None  # it is given a loader
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
