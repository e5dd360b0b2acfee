"""Functions that match the arguments of a call with parameters, as Python does for a `def`.

Python's own matching is the fastest: PyPy compiles it into the caller, without a dict for the keyword arguments.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["make_match"]

_ABSENT: Any = object()


def _no_match(*_args: Any, **_named: Any) -> Any:
    raise TypeError


def make_match(names: Sequence[str], defaults: Sequence[Any], optional: Sequence[bool]) -> Any:
    """Return a function with these parameters. The function returns its arguments by position: without the arguments
    that are left out at the end, and with the defaults of others that are left out. The function raises TypeError if
    the arguments do not match, and always where Python cannot define it, such as for a parameter that is called like a
    keyword of Python."""
    if not names or any(not name.isidentifier() or name.startswith("_ffi_") for name in names):
        return _no_match
    places: list[str] = []
    parameters: list[str] = []
    lines: list[str] = []
    for i, (name, is_optional) in enumerate(zip(names, optional)):
        given = f"return ({', '.join([*places, name])},)"
        lines.append(f" if {name} is not _ffi_absent: {given}" if is_optional else f" {given}")
        places.append(f"_ffi_{i} if {name} is _ffi_absent else {name}" if is_optional else name)
        parameters.append(f"{name}=_ffi_absent" if is_optional else name)
    scope = {f"_ffi_{i}": default for i, default in enumerate(defaults)}
    scope["_ffi_absent"] = _ABSENT
    body = "\n".join([*reversed(lines), " return ()"])
    try:
        exec(f"def _ffi_match({', '.join(parameters)}):\n{body}", scope)
    except SyntaxError:  # also a parameter without a default after one with a default
        return _no_match
    return scope["_ffi_match"]
