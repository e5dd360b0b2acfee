"""Keyword arguments and defaults for native functions, which take positional arguments only."""

from __future__ import annotations

import functools
import inspect
import keyword

from .._start.late import suggest_names
from .._values.object import MISSING  # noqa: F401 - names that tvm_ffi has here
from .unpack_dataclass import unpack_dataclass_to_tuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

__all__ = ["make_kwargs_wrapper", "make_kwargs_wrapper_from_signature"]

if not TYPE_CHECKING:
    __getattr__ = suggest_names(__name__)

_TARGET, _UNPACK = "__i_target_func", "__i_unpack_dataclass"


def make_kwargs_wrapper(
    target_func: Callable[..., Any],
    arg_names: list[str],
    arg_defaults: tuple[Any, ...] = (),
    kwonly_names: list[str] | None = None,
    kwonly_defaults: Mapping[str, Any] | None = None,
    prototype: Callable[..., Any] | None = None,
    map_dataclass_to_tuple: list[str] | None = None,
) -> Callable[..., Any]:
    """Return a function with named parameters that calls `target_func` with positional arguments only: `arg_names`,
    then `kwonly_names`.

    `arg_defaults` belong to the last of `arg_names`; keyword-only parameters without a default are required. Arguments
    named in `map_dataclass_to_tuple` go through unpack_dataclass_to_tuple() first. Name, docstring and annotations come
    from `prototype`. The result is a Python function with these parameters, and a call costs as much as one.

    TypeError or ValueError for names that cannot be parameters, and for defaults that do not match.
    """
    kwonly = list(kwonly_names or ())
    defaults = dict(kwonly_defaults or {})
    unpacked = set(map_dataclass_to_tuple or ())
    _check_names(arg_names, "argument")
    _check_names(kwonly, "keyword-only argument")
    _check_against_each_other(arg_names, arg_defaults, kwonly, defaults, unpacked)
    parameters = [*arg_names, "*", *kwonly] if kwonly else arg_names
    passed = [f"{_UNPACK}({name})" if name in unpacked else name for name in (*arg_names, *kwonly)]
    # Compiled, because only a separate function has parameters with these names and does not pack arguments
    source = f"lambda {', '.join(parameters)}: {_TARGET}({', '.join(passed)})"
    wrapper = eval(source, {_TARGET: target_func, _UNPACK: unpack_dataclass_to_tuple})
    wrapper.__defaults__ = arg_defaults or None
    wrapper.__kwdefaults__ = defaults or None
    wrapper.__name__ = wrapper.__qualname__ = "wrapper"
    wrapper.__module__ = __name__
    return functools.wraps(prototype)(wrapper) if prototype is not None else wrapper


def make_kwargs_wrapper_from_signature(
    target_func: Callable[..., Any],
    signature: inspect.Signature,
    prototype: Callable[..., Any] | None = None,
    exclude_arg_names: Iterable[str] | None = None,
    map_dataclass_to_tuple: list[str] | None = None,
) -> Callable[..., Any]:
    """Call make_kwargs_wrapper() with the parameters of a signature, without the names in `exclude_arg_names`.

    ValueError if the signature has ``*args`` or ``**kwargs``, because a native function cannot take them.
    """
    excluded = set(exclude_arg_names or ())
    arg_names, arg_defaults, kwonly_names, kwonly_defaults = [], [], [], {}
    for parameter in signature.parameters.values():
        name, default = parameter.name, parameter.default
        if parameter.kind is parameter.VAR_POSITIONAL:
            raise ValueError("*args not supported in wrapper generation")
        if parameter.kind is parameter.VAR_KEYWORD:
            raise ValueError("**kwargs not supported in wrapper generation")
        if name in excluded:
            continue
        if parameter.kind is parameter.KEYWORD_ONLY:
            kwonly_names.append(name)
            if default is not parameter.empty:
                kwonly_defaults[name] = default
        else:
            arg_names.append(name)
            if default is not parameter.empty:
                arg_defaults.append(default)
    return make_kwargs_wrapper(
        target_func,
        arg_names,
        tuple(arg_defaults),
        kwonly_names,
        kwonly_defaults,
        prototype,
        map_dataclass_to_tuple,
    )


def _check_names(names: list[str], what: str) -> None:
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{what.capitalize()} name must be a string, got {type(name).__name__}")
        if not name.isidentifier():
            raise ValueError(f"Invalid {what} name {name!r}: not a valid Python identifier")
        if keyword.iskeyword(name):
            raise ValueError(f"{name!r} is a Python keyword and cannot be used as a parameter name")
    if len(set(names)) != len(names):
        raise ValueError(f"Duplicate {what} names found: {sorted({name for name in names if names.count(name) > 1})}")


def _check_against_each_other(
    arg_names: list[str],
    arg_defaults: tuple[Any, ...],
    kwonly: list[str],
    kwonly_defaults: dict[str, Any],
    unpacked: set[str],
) -> None:
    if not isinstance(arg_defaults, tuple):
        raise TypeError(f"arg_defaults must be a tuple, got {type(arg_defaults).__name__}")
    if len(arg_defaults) > len(arg_names):
        raise ValueError(f"arg_defaults has {len(arg_defaults)} values but only {len(arg_names)} arguments")
    both = set(arg_names) & set(kwonly)
    if both:
        raise ValueError(f"{sorted(both)} cannot be both positional and keyword-only")
    for name in kwonly_defaults:
        if name not in kwonly:
            raise ValueError(f"default of {name!r}, which is not in kwonly_names")
    reserved = {_TARGET, _UNPACK} & {*arg_names, *kwonly}
    if reserved:
        raise ValueError(f"argument names {sorted(reserved)} conflict with internal names")
    unknown = unpacked - {*arg_names, *kwonly}
    if unknown:
        raise ValueError(f"map_dataclass_to_tuple names {sorted(unknown)}, which are not arguments")
