"""The parameters of a native function: names and defaults from its metadata, and the arguments of a call in their
order.

The key "params" of the metadata contains them, as a list or as its JSON: `{"name": "x"}` for each parameter, with a
"default" (None, bool, int, float or str) if it may be left out. The function itself fills in arguments that are left
out at the end; arguments that are left out before a named argument are filled in here.
"""

from __future__ import annotations

from .metadata import MetadataError, parse_metadata, schema_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .schema import TypeSchema

__all__ = ["NO_DEFAULT", "Parameters"]

NO_DEFAULT: Any = object()
"""Marks a parameter without a default."""


class Parameters:
    """The parameters in metadata (JSON): the `schemas` of each, None if any arguments are accepted; the schema of the
    `result`; `names`, None if the author declared none; and `defaults`, NO_DEFAULT where there is none."""

    schemas: tuple[TypeSchema, ...] | None = None
    result: TypeSchema | None = None
    names: tuple[str, ...] | None = None
    defaults: tuple[Any, ...] = ()

    def __init__(self, text: str, is_member: bool = False) -> None:
        try:
            metadata = parse_metadata(text, "a function")
            schema = schema_in(metadata, "a function")
        except MetadataError:  # calls and help() work without metadata
            return
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
        defaults = [each.get("default", NO_DEFAULT) for each in declared]
        if is_member and self.schemas is not None and len(names) == len(self.schemas) - 1:
            names, defaults = ["self", *names], [NO_DEFAULT, *defaults]
        if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            return
        if self.schemas is None or len(names) == len(self.schemas):
            self.names, self.defaults = tuple(names), tuple(defaults)

    def in_order(self, title: str, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...] | str:
        """Return the arguments of a call by position. If they do not match, return a str that describes the error in
        the call of `title`."""
        names = self.names
        if names is None:
            wrong = f"{title}() takes positional arguments only, got keyword argument '{_shown(next(iter(named)))}'"
            return _cut(wrong, 1023)
        for name in named:
            if name in names[: len(args)]:
                return f"{title}() got multiple values for argument '{name}'"
            if name not in names:
                return f"{title}() got an unexpected keyword argument '{_shown(name)}'{_hint(name, names)}"
        end = max(len(args), 1 + max(map(names.index, named)))
        values, missing = list(args), []
        for name, default in list(zip(names, self.defaults))[len(args) :]:
            if name not in named and default is NO_DEFAULT:
                missing.append(name)
            elif len(values) + len(missing) < end:
                values.append(named.get(name, default))
        return _say_missing(title, missing) if missing else tuple(values)


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
