"""The pytest plugin of ci/conformance, loaded in each interpreter: it makes the tests' files importable.

CONFORMANCE_IN_ONE_THREAD lists the ends of names of tests that are not to run in several threads, where others do.

Files import names of upstream's internals beside what they test of the interface. They can import these, and a test
that uses one fails.
"""

from __future__ import annotations

import importlib
import os

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

INTERNALS = {
    "ffi_hpy.utils.unpack_dataclass": ("_extract_dataclass_to_tuple_schema", "_validate_dataclass_to_tuple_schema"),
}


def pytest_configure() -> None:
    importlib.import_module("ffi_hpy.testing")  # tvm_ffi loads its testing library whenever it is imported itself
    for module, names in INTERNALS.items():
        for name in names:
            setattr(importlib.import_module(module), name, _stand_in(f"{name} is an internal of tvm_ffi"))


_in_one_thread = tuple(os.environ.get("CONFORMANCE_IN_ONE_THREAD", "").split())


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Before pytest-run-parallel looks at the test."""
    if item.nodeid.endswith(_in_one_thread):
        item.add_marker("thread_unsafe")


def _stand_in(says: str) -> Any:
    def stand_in(*_: Any, **__: Any) -> None:
        raise NotImplementedError(says)

    return stand_in
