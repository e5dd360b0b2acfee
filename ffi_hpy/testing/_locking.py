"""A lock for tests that use a resource that a machine has only once, such as its GPU."""

from __future__ import annotations

import os

from ..utils import FileLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Result = TypeVar("Result")

__all__ = ["run_with_gpu_lock"]


def _gpu_lock_path() -> str:
    """Return the lock file for all processes of a user. Creates its folder."""
    folder = os.environ.get("TVM_FFI_TEST_LOCK_DIR", "")
    if folder:
        folder = os.path.expanduser(folder)  # noqa: PTH111
    else:
        import getpass
        import tempfile

        try:
            user = getpass.getuser()
        except Exception:  # the environment and the user database lack a name; the exception depends on the version
            user = str(os.getuid()) if hasattr(os, "getuid") else "unknown"
        folder = os.path.join(tempfile.gettempdir(), f"tvm-ffi-test-locks-{user}")  # noqa: PTH118
    os.makedirs(folder, exist_ok=True)  # noqa: PTH103
    return os.path.join(folder, "gpu.lock")  # noqa: PTH118


def run_with_gpu_lock(func: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Result:
    """Call `func(*args, **kwargs)` while no other process of this user is inside such a call; return its result.

    The lock is a file in the folder TVM_FFI_TEST_LOCK_DIR, by default a folder of the user below the folder for
    temporary files. Nested calls in one process deadlock.
    """
    with FileLock(_gpu_lock_path()):
        return func(*args, **kwargs)
