"""What the binding asks of types, asked once per type: for interpreters where the binding cannot remember the answers
by the types' addresses. A module of its own, as others need not pay for weakref."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from ._protocol import classify_with_protocols

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["classify_once"]

_answers: WeakKeyDictionary[type, tuple[int, Any, int]] = WeakKeyDictionary()


def classify_once(cls: type) -> tuple[int, Any, int]:
    """classify_with_protocols(), asked once per type while that lives."""
    try:
        answer = _answers.get(cls)
    except TypeError:  # the type is ending, and PyPy refuses weak references to it
        return classify_with_protocols(cls)
    if answer is None:
        answer = _answers[cls] = classify_with_protocols(cls)
    return answer
