"""Caches for the results of functions, without a lock: functools.lru_cache has one on PyPy, which could stay locked in
a child of fork. Two threads may compute a result at the same time; then both results are valid."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Result = TypeVar("Result")

__all__ = ["Lazy", "remember_by_class", "remember_some"]


class Lazy:
    """An attribute that is computed on first access and kept in the instance's __dict__. Threads that compute it at the
    same time get the same value."""

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return instance.__dict__.setdefault(self._name, self._make(instance))


def remember_by_class(function: Callable[[type], Result]) -> Callable[[type], Result]:
    """Decorator: cache the result for each class, as long as the class lives."""
    from weakref import ref  # imported late, for its cost

    class Reference(ref[type] if TYPE_CHECKING else ref):  # type: ignore[misc]
        __slots__ = ("key",)

    answers: dict[int, tuple[Reference, Result]] = {}  # by id(); PyPy's WeakKeyDictionary takes 100 ns for an answer

    def forget(reference: Reference) -> None:
        if answers.get(reference.key, (None,))[0] is reference:
            del answers[reference.key]

    def ask(cls: type) -> Result:
        key = id(cls)
        known = answers.get(key)
        if known is not None and known[0]() is cls:
            return known[1]
        answer = function(cls)
        try:
            reference = Reference(cls, forget)
        except TypeError:  # the class is being destroyed, and PyPy refuses weak references to it
            return answer
        reference.key = key
        answers[key] = reference, answer
        return answer

    return ask


def remember_some(limit: int) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Decorator: cache the results for the last arguments, at most `limit` of them. If two threads compute a result at
    the same time, the later one stays."""

    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        answers: dict[tuple[Any, ...], Result] = {}

        def ask(*args: Any) -> Result:
            try:
                return answers[args]
            except KeyError:
                answer = function(*args)
            if len(answers) >= limit:
                answers.clear()
            answers[args] = answer
            return answer

        return ask

    return decorate
