"""Functions that remember their answers, without a lock: functools.lru_cache has one on PyPy, and a child of fork could
find it taken. Two threads may ask at the same time; then both answers are right, and the later one stays."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Result = TypeVar("Result")

__all__ = ["remember_some"]


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
