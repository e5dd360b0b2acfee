"""Functions that remember their answers. Without a lock, which a child of fork could find taken: functools.lru_cache has
one on PyPy. Two threads may ask at the same time; then both answers are right, and the later one stays."""

from __future__ import annotations

import weakref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Result = TypeVar("Result")

__all__ = ["remember_by_type", "remember_some"]


def remember_some(limit: int) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Decorator: the answers for the last arguments, at most `limit` of them."""

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


def remember_by_type(function: Callable[[type], Result]) -> Callable[[type], Result]:
    """The function of a type, with its answers remembered as long as the type lives."""
    answers: dict[int, tuple[weakref.ref[type], Result]] = {}  # by id, which is that of another type after the end

    def ask(cls: type) -> Result:
        key = id(cls)
        known = answers.get(key)
        if known is not None and known[0]() is cls:
            return known[1]
        answer = function(cls)

        def forget(ref: weakref.ref[type]) -> None:
            there = answers.get(key)
            if there is not None and there[0] is ref:
                answers.pop(key, None)

        answers[key] = (weakref.ref(cls, forget), answer)
        return answer

    return ask
