"""The parameters of a native function: names and defaults from its metadata, and the arguments of a call in their
order.

The key "params" of the metadata contains them, as a list or as its JSON: `{"name": "x"}` for each parameter, with a
"default" (None, bool, int, float or str) if it may be left out, or the text of a default ("shown") that only the
function has. The function itself fills in arguments that are left out at the end; arguments that are left out before a
named argument are filled in here.
"""

from __future__ import annotations

import sys

from .._start.match import make_match
from .._values.object import MISSING
from .metadata import MetadataError, parse_metadata, schema_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .schema import TypeSchema

    Order = tuple[tuple[str, ...], tuple[int | tuple[Any], ...]]

__all__ = ["NO_DEFAULT", "Parameters", "ShownDefault"]

_MOST_ORDERS = 32  # kept for a function; a program that calls it with generated names may have more

NO_DEFAULT: Any = object()
"""Marks a parameter without a default."""


class ShownDefault:
    """A default that only the function has: its metadata has a text for people, which is source code of Python if the
    author has written it (`is_written`). A call passes MISSING for it."""

    def __init__(self, text: str, is_written: bool = False) -> None:
        self.text = text
        self.is_written = is_written

    def __repr__(self) -> str:
        return self.text


def _passed(default: Any) -> Any:
    return MISSING if isinstance(default, ShownDefault) else default


def _default_in(declared: dict[str, Any]) -> Any:
    if "shown" in declared:
        return ShownDefault(declared["shown"], declared.get("written") is True)
    return declared.get("default", NO_DEFAULT)


class Parameters:
    """The parameters in metadata (JSON): the `schemas` of each, None if any arguments are accepted; the schema of the
    `result`, which arrives as a class of Python itself if `has_python_results` (list, not List); `names`, None if the
    author declared none; `defaults`, NO_DEFAULT where there is none; and whether the function itself assigns arguments
    by name, so that it also takes other names (`are_named_by_function`). `kinds` are "positional", "keyword", "args",
    "kwargs" or "" for each name; `signature` is the text of a function of bind.h for people, `written` the signature by
    its author (nb::sig), with the lines before it. `orders` are results of order_of(), by its arguments."""

    schemas: tuple[TypeSchema, ...] | None = None
    result: TypeSchema | None = None
    has_python_results = False
    are_named_by_function = False
    names: tuple[str, ...] | None = None
    defaults: tuple[Any, ...] = ()
    kinds: tuple[str, ...] = ()
    signature: str | None = None
    written: str | None = None

    def __init__(self, text: str, is_member: bool = False) -> None:
        self.orders: dict[tuple[int, tuple[str, ...]], Order] = {}
        self._match: Any = None  # made at first use
        try:
            metadata = parse_metadata(text, "a function")
            schema = schema_in(metadata, "a function")
        except MetadataError:  # calls and help() work without metadata
            return
        self.has_python_results = metadata.get("python_results") is True
        self.are_named_by_function = metadata.get("named_by_function") is True
        self.signature = metadata.get("signature")
        self.written = metadata.get("written")
        if schema is not None and schema.origin == "Callable" and schema.named_args:
            self.schemas = schema.named_args.get("params")
            self.result = schema.named_args["return"][0]
        try:
            self._read_names(metadata.get("params"), is_member)
        except (TypeError, ValueError, KeyError, AttributeError, RecursionError):
            pass

    def _read_names(self, declared: Any, is_member: bool) -> None:
        if isinstance(declared, str):
            from json import loads

            declared = loads(declared)
        if not isinstance(declared, list):
            return
        names = [each["name"] for each in declared]
        defaults = [_default_in(each) for each in declared]
        kinds = [str(each.get("kind", "")) for each in declared]
        if is_member and self.schemas is not None and len(names) == len(self.schemas) - 1:
            names, defaults, kinds = ["self", *names], [NO_DEFAULT, *defaults], ["", *kinds]
        if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            return
        if self.schemas is None or len(names) == len(self.schemas):
            self.names, self.defaults, self.kinds = tuple(map(sys.intern, names)), tuple(defaults), tuple(kinds)

    def order_of(self, title: str, n: int, named: tuple[str, ...]) -> Order | str:
        """Return the order of the arguments of a call with n positional arguments and those named, and the names,
        interned. The order has, for each argument of the native function, the number of an argument of the call, or a
        tuple with a default. If the arguments do not match, return a str that describes the error in the call of
        `title`."""
        known = self.orders.get((n, named))
        if known is not None:
            return known
        if self.are_named_by_function:
            return self._remember(n, named_by_function(n, named, "kwargs" in self.kinds))
        names = self.names
        if names is None:
            wrong = f"{title}() takes positional arguments only, got keyword argument '{_shown(named[0])}'"
            return _cut(wrong, 1023)
        for name in named:
            if name in names[:n]:
                return f"{title}() got multiple values for argument '{name}'"
            if name not in names:
                return f"{title}() got an unexpected keyword argument '{_shown(name)}'{_hint(name, names)}"
        end = max(n, *(1 + names.index(name) for name in named))
        places: list[int | tuple[Any]] = list(range(n))
        missing = []
        for name, default in list(zip(names, self.defaults))[n:]:
            if name not in named and default is NO_DEFAULT:
                missing.append(name)
            elif len(places) + len(missing) < end:
                places.append(n + named.index(name) if name in named else (_passed(default),))
        if missing:
            return _say_missing(title, missing)
        return self._remember(n, (tuple([names[names.index(name)] for name in named]), tuple(places)))

    def _remember(self, n: int, order: Order) -> Order:
        if len(self.orders) < _MOST_ORDERS:
            self.orders[n, order[0]] = order
        return order

    def in_order(self, title: str, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...] | str:
        """Return the arguments of a call by position, or a str, as order_of() does."""
        if self.are_named_by_function:
            return pass_names(args, named, "kwargs" in self.kinds)
        if self._match is None:
            optional = [default is not NO_DEFAULT for default in self.defaults]
            self._match = make_match(self.names or (), [*map(_passed, self.defaults)], optional)
        try:
            found: tuple[Any, ...] = self._match(*args, **named)
        except TypeError:  # the arguments do not match, or Python cannot match them
            pass
        else:
            return found
        order = self.order_of(title, len(args), tuple(named))
        if isinstance(order, str):
            return order
        values = (*args, *named.values())
        return tuple([place[0] if type(place) is tuple else values[place] for place in order[1]])  # type: ignore[index]


def _kwargs_marker() -> Any:
    from .. import _ffi_api

    return _ffi_api.GetKwargsObject()


def pass_names(args: tuple[Any, ...], named: dict[str, Any], takes_all: bool) -> tuple[Any, ...]:
    """Return the arguments for a function that assigns names itself: names and values follow the object KWARGS. The
    function may take all names, by **kwargs."""
    shown = [part for name, value in named.items() for part in (_sent(name, takes_all), value)]
    return (*args, _kwargs_marker(), *shown)


def _sent(name: str, takes_all: bool) -> str:
    """Return a name for native code. A parameter never has a name with lone surrogates: a function without **kwargs
    refuses such a name, and its message has a question mark in place of each surrogate."""
    return name if takes_all or name.isascii() else name.encode("utf-8", "replace").decode()


def named_by_function(n: int, named: tuple[str, ...], takes_all: bool) -> Order:
    """Return the order of the arguments of pass_names()."""
    places: list[int | tuple[Any]] = [*range(n), (_kwargs_marker(),)]
    for i, name in enumerate(named):
        places += [(_sent(name, takes_all),), n + i]
    return tuple(map(sys.intern, named)), tuple(places)


def _cut(text: str, n_bytes: int) -> str:
    """Return as much of a str as the binding's messages show."""
    return text.encode("utf-8", "surrogatepass")[:n_bytes].decode("utf-8", "ignore")


def _shown(name: str) -> str:
    return _cut(name.replace("\0", "\\x00"), 255)


def _hint(name: str, names: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, names, 1)
    return f". Did you mean '{near[0]}'?" if near else ""


def _say_missing(title: str, names: list[str]) -> str:
    shown = [f"'{name}'" for name in names]
    if len(shown) == 1:
        return f"{title}() missing 1 required argument: {shown[0]}"
    return f"{title}() missing {len(shown)} required arguments: {', '.join(shown[:-1])} and {shown[-1]}"
