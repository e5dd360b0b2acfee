"""The list of target languages."""

from __future__ import annotations

from .python_generator import PythonGenerator
from .rust_generator import RustGenerator
from .target import Generator

__all__ = ["Generator", "generator_names", "get_generator"]


def generator_names() -> list[str]:
    """The target languages."""
    return sorted(_generators())


def get_generator(target: str) -> Generator:
    """Return a target language by its name; ValueError for an unknown name."""
    generators = _generators()
    if target not in generators:
        raise ValueError(f"Unknown generator {target!r}. Known generators: {', '.join(sorted(generators))}")
    return generators[target]


def _generators() -> dict[str, Generator]:
    return {"python": PythonGenerator(), "rust": RustGenerator()}
