"""A lock for tests that use something that a machine has only once, such as its GPU."""

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
    """The lock file of all processes of a user; makes its folder."""
    folder = os.environ.get("TVM_FFI_TEST_LOCK_DIR", "")
    if folder:
        folder = os.path.expanduser(folder)  # noqa: PTH111
    else:
        import getpass
        import tempfile

        try:
            user = getpass.getuser()
        except Exception:  # without a name in the environment or the user database; which error depends on the version
            user = str(os.getuid()) if hasattr(os, "getuid") else "unknown"
        folder = os.path.join(tempfile.gettempdir(), f"tvm-ffi-test-locks-{user}")  # noqa: PTH118
    os.makedirs(folder, exist_ok=True)  # noqa: PTH103
    return os.path.join(folder, "gpu.lock")  # noqa: PTH118


def run_with_gpu_lock(func: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Result:
    """`func(*args, **kwargs)` while no other process of this user is inside such a call; its result.

    The lock is a file in the folder TVM_FFI_TEST_LOCK_DIR, by default one for the user below the folder for temporary
    files. Nesting two calls in one process waits for ever.
    """
    with FileLock(_gpu_lock_path()):
        return func(*args, **kwargs)
