"""The suffixes of HPy modules' files."""

from __future__ import annotations

import sysconfig

__all__ = ["HPY_ABI_TAG", "HPY_ABI_VERSION", "HPY_ABI_VERSION_MINOR", "get_hpy_ext_suffix", "parse_ext_suffix"]

HPY_ABI_VERSION = 0
HPY_ABI_VERSION_MINOR = 0
HPY_ABI_TAG = f"hpy{HPY_ABI_VERSION}"

_N_TAG_PARTS = {"cpython": 2, "cp": 1, "pypy": 2, "graalpy": 3}
"""The number of parts in the middle of a suffix that name the interpreter; the other parts name the platform."""


def parse_ext_suffix(ext_suffix: str | None = None) -> tuple[str, str]:
    """Return the interpreter's tag and the file's extension: cp310 and so for `.cpython-310-x86_64-linux-gnu.so`."""
    whole = ext_suffix if ext_suffix is not None else str(sysconfig.get_config_var("EXT_SUFFIX"))
    dot, _, rest = whole.partition(".")
    middle, _, extension = rest.partition(".")
    if dot or not extension:
        raise ValueError(
            f"expected an extension module's suffix such as .cpython-310-x86_64-linux-gnu.so, got {whole!r}"
        )
    parts = middle.split("-")
    n = next((n for name, n in _N_TAG_PARTS.items() if parts[0].startswith(name)), len(parts))
    return "-".join(parts[:n]).replace("cpython-", "cp"), extension


def get_hpy_ext_suffix(hpy_abi: str, ext_suffix: str | None = None) -> str:
    """Return the suffix of a module's file for the ABI `cpython`, `universal` or `hybrid`."""
    if hpy_abi == "cpython":
        return str(sysconfig.get_config_var("EXT_SUFFIX"))
    tag, extension = parse_ext_suffix(ext_suffix)
    if hpy_abi == "universal":
        return f".{HPY_ABI_TAG}.{extension}"
    if hpy_abi == "hybrid":
        return f".{HPY_ABI_TAG}-{tag}.{extension}"
    raise ValueError(f"expected the ABI cpython, universal or hybrid, got {hpy_abi!r}")
