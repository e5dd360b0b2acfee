"""The dict of a class, for `type_dict` in C++: PyPy has none that may be changed."""

from __future__ import annotations

from collections.abc import MutableMapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["ClassDict"]


class ClassDict(dict[str, object]):
    """The entries of a class without the entries of its bases. A change of the dict sets an attribute of the class."""

    def __init__(self, cls: type) -> None:
        super().__init__(vars(cls))
        self._cls = cls

    def __setitem__(self, name: str, value: object) -> None:
        setattr(self._cls, name, value)
        super().__setitem__(name, vars(self._cls)[name])

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        delattr(self._cls, name)
        super().__delitem__(name)

    # The methods of dict would change the dict alone.
    if not TYPE_CHECKING:
        pop = MutableMapping.pop
        popitem = MutableMapping.popitem
        clear = MutableMapping.clear
        update = MutableMapping.update
        setdefault = MutableMapping.setdefault

        def __ior__(self, other: Any) -> ClassDict:
            self.update(other)
            return self
