"""Compiles the exchange table of DLPack for the installed PyTorch, for versions that have none (before 2.10).

    python -m ffi_hpy.utils._build_optional_torch_c_dlpack [--output-dir FOLDER] [--libname NAME]

By default where ffi_hpy looks for it: from then on it is used. Nothing compiles it by itself, because that takes
PyTorch's headers and a minute.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status, 1 if it fails."""
    given = _parse(arguments)
    try:
        import torch  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        print(f"build_optional_torch_c_dlpack: {error}", file=sys.stderr)
        return 1
    cpp, table = _import_package()
    folder = Path(given.output_dir).expanduser() if given.output_dir else table.library_folder()
    name = given.libname or table.library_name(torch)
    try:
        library = _build(torch, given.build_dir, ["-DFFI_HPY_ROCM"] if given.build_with_rocm else [])
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            Path(shutil.copy(library, scratch)).replace(folder / name)
    except (cpp.BuildError, OSError) as error:
        print(f"build_optional_torch_c_dlpack: {error}", file=sys.stderr)
        return 1
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    summary, _, details = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=details, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output-dir", metavar="FOLDER", help="where the library gets to")
    parser.add_argument("--libname", metavar="NAME", help="name of its file")
    parser.add_argument("--build-dir", metavar="FOLDER", help="where to build, by default in the cache")
    device = parser.add_mutually_exclusive_group()
    device.add_argument("--build-with-cuda", action="store_true", help="GPUs are NVIDIA's, as without it")
    device.add_argument("--build-with-rocm", action="store_true", help="GPUs are AMD's")
    return parser.parse_args(arguments)


def _build(torch: object, folder: str | None, flags: list[str]) -> str:
    home = Path(os.path.dirname(getattr(torch, "__file__", "")))  # noqa: PTH120
    include = home / "include"
    abi = int(torch.compiled_with_cxx11_abi())  # type: ignore[attr-defined]
    cpp, _ = _import_package()
    library: str = cpp.build(
        "torch_c_dlpack",
        sources=Path(__file__).with_name("_torch_c_dlpack.cc"),
        extra_cflags=[*flags, f"-std={_standard(torch)}", f"-D_GLIBCXX_USE_CXX11_ABI={abi}", "-O1"],
        extra_ldflags=[f"-L{home / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10", "-ltorch_python"],
        extra_include_paths=[include, include / "torch" / "csrc" / "api" / "include", sysconfig.get_path("include")],
        build_directory=folder,
        verbose=False,  # the user who waits has called this command
    )
    return library


def _import_package() -> tuple[ModuleType, ModuleType]:
    """Import the modules `cpp` and `_optional_torch_c_dlpack`. This file may also run by its path, without a
    package."""
    if TYPE_CHECKING or __package__:
        from .. import _optional_torch_c_dlpack, cpp
    else:
        from ffi_hpy import _optional_torch_c_dlpack, cpp
    return cpp, _optional_torch_c_dlpack


def _standard(torch: object) -> str:
    """Return the C++ standard for PyTorch's headers: versions with their own table may need C++20, older ones C++17."""
    version = str(torch.__version__).split(".")  # type: ignore[attr-defined]
    return "c++20" if tuple(int(part) for part in version[:2]) >= (2, 10) else "c++17"


if __name__ == "__main__":
    sys.exit(main())
