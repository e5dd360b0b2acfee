"""The folder for the results of a user's builds, and their names."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

__all__ = ["cache_folder", "digest_of"]


def cache_folder() -> Path:
    """Return TVM_FFI_CACHE_DIR, else ffi_hpy/cpp in the user's folder for caches. RuntimeError if the user has none."""
    named = os.environ.get("TVM_FFI_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        return Path(named or os.path.join(home, "ffi_hpy", "cpp")).expanduser().resolve()  # noqa: PTH118
    except (OSError, RuntimeError) as error:
        raise RuntimeError(f"no folder can keep builds: {error}; TVM_FFI_CACHE_DIR can name one") from None


def digest_of(*parts: object) -> str:
    """Return 16 hexadecimal digits for values whose repr() distinguishes them: str, bytes, numbers, None, and tuples of
    them."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
