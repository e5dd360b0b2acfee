"""The HPy projects that ci/clients installs and tests."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Project:
    """Folders with a setup.py each, and the tests of the installed packages."""

    name: str
    folders: tuple[str, ...]  # in the sdist of hpy
    tests: str  # the folder of the test file there
    file: str
    fails: dict[str, str] = field(default_factory=dict)
    """Tests that must fail, with the reason."""
    substitutes: tuple[str, ...] = ()  # modules that tests import and that cannot be built, replaced by empty ones
    is_quick: bool = False  # whether it is part of `ci/clients --short`


_LEGACY = "it mixes HPy with CPython's own API, which no universal module can"

PROJECTS = (
    Project("pof", ("proof-of-concept",), "proof-of-concept", "test_pof.py", is_quick=True),
    Project(
        "examples",
        tuple(f"docs/examples/{name}" for name in ("simple-example", "quickstart", "hpytype-example", "snippets")),
        "docs/examples",
        "tests.py",
        fails={
            "test_mixed_add_ints": _LEGACY,
            "test_leak_detector": _LEGACY,
            "test_that_uses_leak_detector_fixture": _LEGACY,
            "test_leak_detector_with_traces": _LEGACY,
        },
        substitutes=("mixed",),
    ),
)
