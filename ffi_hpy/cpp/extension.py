"""The public functions: they build or load native code, from strings or from files."""

from __future__ import annotations

import os

from .. import libinfo
from .._start.late import suggest_names
from ..libinfo import find_dlpack_include_path, find_include_path, find_libtvm_ffi  # noqa: F401 - names of tvm_ffi
from ..module import Module, load_module  # noqa: F401
from ..utils.lockfile import FileLock  # noqa: F401
from . import _arguments, _build, _gpu, _source
from ._dialect import library_suffix
from ._errors import BuildError
from ._loading import load_built
from ._single import (  # noqa: F401
    IS_WINDOWS,
    _find_cuda_home,
    _find_rocm_home,
    _resolve_gpu_backend,
    build_ninja,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Union

    AnyPath = Union[str, os.PathLike[str]]

__all__ = ["build", "build_inline", "load", "load_inline"]

if not TYPE_CHECKING:
    __getattr__ = suggest_names(__name__)


def build_inline(
    name: str,
    *,
    cpp_sources: Sequence[str] | str | None = None,
    cuda_sources: Sequence[str] | str | None = None,
    functions: Mapping[str, str] | Sequence[str] | str | None = None,
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[AnyPath] | None = None,
    build_directory: AnyPath | None = None,
    embed_cubin: Mapping[str, bytes] | None = None,
    backend: str | None = None,
    output: str | None = None,
    verbose: bool | None = None,
) -> str:
    """Compile source code in strings to a library, for load_module(). Parameters are as for load_inline(), and
    `output`.

    Args:
        name: the name of the library, and of the source code in compilers' messages.
        cpp_sources: source code in C++.
        cuda_sources: source code in CUDA or HIP.
        functions: the functions to export.
        extra_cflags: options for the C++ compiler.
        extra_cuda_cflags: options for the compiler of CUDA.
        extra_ldflags: options for the linker.
        extra_include_paths: folders to search for headers.
        build_directory: the folder to build in; by default in the cache.
        embed_cubin: compiled kernels by name.
        backend: "cuda" or "hip".
        output: the name of the file to make. One that ends with ``.o`` is an object file; by default it is a library.
        verbose: whether to write the progress.

    Returns:
        The path of the library.

    Raises:
        BuildError: if a compiler or linker fails, with its messages, or if one of them or ninja is missing.
        TypeError: for an argument of another type.
        ValueError: for invalid arguments.
    """
    name = _arguments.check_file_name("name", name)
    exported = _arguments.functions_with_docs(functions)
    written: dict[str, str] = {}
    units: list[str] = []
    for parameter, suffix, given in (("cpp_sources", ".cpp", cpp_sources), ("cuda_sources", ".cu", cuda_sources)):
        texts = _arguments.texts(parameter, given)
        if texts:
            files = _source.inline_unit(name, suffix, texts, {} if units else exported)
            units.append(next(iter(files)))
            written.update(files)
    if not units:
        raise ValueError("there is nothing to build: neither cpp_sources nor cuda_sources have a text")
    wanted = _build.Build(
        name,
        texts=written,
        units=tuple(units),
        cubins=_arguments.check_cubins(embed_cubin),
        **_common(extra_cflags, extra_cuda_cflags, extra_ldflags, extra_include_paths),
        **_places(name, build_directory, backend, output, verbose),
    )
    try:
        return _build.make(wanted)
    except BuildError as error:
        function = _source.export_of(name, list(exported), str(error))
        if function is None:
            raise
        raise BuildError(
            f"function {function!r} cannot be exported: the sources must declare it, once, outside of all braces, with "
            f"types that are values of the ABI, and not export it themselves\n{error}"
        ) from None


def load_inline(
    name: str,
    *,
    cpp_sources: Sequence[str] | str | None = None,
    cuda_sources: Sequence[str] | str | None = None,
    functions: Mapping[str, str] | Sequence[str] | str | None = None,
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[AnyPath] | None = None,
    build_directory: AnyPath | None = None,
    embed_cubin: Mapping[str, bytes] | None = None,
    keep_module_alive: bool = True,
    backend: str | None = None,
    verbose: bool | None = None,
) -> Any:
    """Compile source code in strings to a library, and load it: its functions are attributes of the returned module.

    Args:
        name: the name of the library, and of the source code in compilers' messages.
        cpp_sources: C++: one str or several, which follow each other in one translation unit. Sources need not include
            the headers of tensors, data types, errors, functions and the environment.
        cuda_sources: the same in CUDA or HIP.
        functions: the functions to export: a name, several, or a mapping to their documentation. `cpp_sources` must
            declare them, or `cuda_sources` without C++. If one has documentation, the library exports the documentation
            and the types of all, for help(), Module.get_function_doc() and get_function_metadata(). The option
            ``-DTVM_FFI_DLL_EXPORT_INCLUDE_METADATA=1`` in `extra_cflags` (or `extra_cuda_cflags`) exports the types
            without documentation, too; with ``=0`` the library exports neither.
        extra_cflags: flags of the C++ compiler after ``-std=c++17 -fPIC -O2``. Each may be several words, quoted as for
            a shell.
        extra_cuda_cflags: the same for the compiler of CUDA.
        extra_ldflags: flags of the linker after ``-shared -ltvm_ffi``.
        extra_include_paths: folders to search for headers, in addition to those of this package.
        build_directory: the folder to build in. The default is a folder of the cache (TVM_FFI_CACHE_DIR) whose name is
            derived from all arguments, the compilers' versions and this package's headers.
        embed_cubin: compiled kernels by name, for TVM_FFI_EMBED_CUBIN(name) in the sources.
        keep_module_alive: whether the module stays until the process ends, as with load_module().
        backend: "cuda" or "hip", the compiler for `cuda_sources`. The default is TVM_FFI_GPU_BACKEND, PyTorch's
            backend, or the backend that is installed.
        verbose: True writes each command and its output to standard error. By default a build that takes longer than
            two seconds writes one line there. False writes nothing.

    Returns:
        The module. The same source code and options return the library that was built before. Source code with
        FFI_HPY_MODULE(name, ...) of ``ffi_hpy/bind.h`` returns that module of Python, which is not in `sys.modules`.

    Raises:
        BuildError: if a compiler or linker fails, with its messages, or if one of them or ninja is missing.
        TypeError: for an argument of another type.
        ValueError: for invalid arguments.
        RuntimeError: for a library with undefined symbols, as from load_module().

    Examples:
        >>> from ffi_hpy.cpp import load_inline
        >>> module = load_inline("hello", cpp_sources="int twice(int x) { return 2 * x; }", functions="twice")
        >>> module.twice(21)
        42
    """
    path = build_inline(
        name,
        cpp_sources=cpp_sources,
        cuda_sources=cuda_sources,
        functions=functions,
        extra_cflags=extra_cflags,
        extra_cuda_cflags=extra_cuda_cflags,
        extra_ldflags=extra_ldflags,
        extra_include_paths=extra_include_paths,
        build_directory=build_directory,
        embed_cubin=embed_cubin,
        backend=backend,
        verbose=verbose,
    )
    return load_built(path, name, keep_module_alive)


def build(
    name: str,
    *,
    sources: Sequence[AnyPath] | AnyPath | None = None,
    cpp_files: Sequence[AnyPath] | AnyPath | None = None,
    cuda_files: Sequence[AnyPath] | AnyPath | None = None,
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[AnyPath] | None = None,
    build_directory: AnyPath | None = None,
    backend: str | None = None,
    output: str | None = None,
    verbose: bool | None = None,
) -> str:
    """Compile files to a library, for load_module(). The files export their functions themselves, with
    TVM_FFI_DLL_EXPORT_TYPED_FUNC.

    Only files that depend on a changed source or header are rebuilt, at the same path.

    Args:
        name: the name of the library.
        sources: files. The suffix selects the compiler: CC for ``.c``, CXX for ``.cc``, ``.cpp`` and ``.cxx``, the
            compiler of `backend` for ``.cu``. ``.o`` and ``.obj`` are compiled already.
        cpp_files: more files.
        cuda_files: more files.
        extra_cflags: options for the C and C++ compilers, as for load_inline().
        extra_cuda_cflags: options for the compiler of CUDA.
        extra_ldflags: options for the linker.
        extra_include_paths: folders to search for headers.
        build_directory: the folder to build in; by default in the cache.
        backend: "cuda" or "hip".
        output: the name of the file to make, as for build_inline().
        verbose: whether to write the progress.

    Returns:
        The path of the library.

    Raises:
        FileNotFoundError: for a source that does not exist.
        BuildError: if a compiler or linker fails, with its messages, or if one of them or ninja is missing.
        TypeError: for an argument of another type.
        ValueError: for invalid arguments.
    """
    name = _arguments.check_file_name("name", name)
    paths = _arguments.source_paths(sources=sources, cpp_files=cpp_files, cuda_files=cuda_files)
    wanted = _build.Build(
        name,
        sources=paths,
        **_common(extra_cflags, extra_cuda_cflags, extra_ldflags, extra_include_paths),
        **_places(name, build_directory, backend, output, verbose),
    )
    return _build.make(wanted)


def load(
    name: str,
    *,
    sources: Sequence[AnyPath] | AnyPath | None = None,
    cpp_files: Sequence[AnyPath] | AnyPath | None = None,
    cuda_files: Sequence[AnyPath] | AnyPath | None = None,
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[AnyPath] | None = None,
    build_directory: AnyPath | None = None,
    keep_module_alive: bool = True,
    backend: str | None = None,
    verbose: bool | None = None,
) -> Any:
    """Compile files and load the result. If the process loaded it before the files changed, the new version is loaded.

    Parameters and errors are as for build() and load_module().

    Args:
        name: the name of the library.
        sources: files; the suffix selects the compiler.
        cpp_files: more files.
        cuda_files: more files.
        extra_cflags: options for the C and C++ compilers.
        extra_cuda_cflags: options for the compiler of CUDA.
        extra_ldflags: options for the linker.
        extra_include_paths: folders to search for headers.
        build_directory: the folder to build in; by default in the cache.
        keep_module_alive: whether the module stays until the process ends.
        backend: "cuda" or "hip".
        verbose: whether to write the progress.

    Returns:
        The module, or the module of Python that FFI_HPY_MODULE(name, ...) defines.
    """
    path = build(
        name,
        sources=sources,
        cpp_files=cpp_files,
        cuda_files=cuda_files,
        extra_cflags=extra_cflags,
        extra_cuda_cflags=extra_cuda_cflags,
        extra_ldflags=extra_ldflags,
        extra_include_paths=extra_include_paths,
        build_directory=build_directory,
        backend=backend,
        verbose=verbose,
    )
    return load_built(path, name, keep_module_alive)


def _common(cflags: Any, cuda_cflags: Any, ldflags: Any, include_paths: Any) -> dict[str, Any]:
    """Return the flags that both kinds of builds take."""
    return {
        "cflags": _arguments.flags("extra_cflags", cflags),
        "gpu_flags": _arguments.flags("extra_cuda_cflags", cuda_cflags),
        "ldflags": _arguments.flags("extra_ldflags", ldflags),
        "include_paths": _arguments.folder_paths("extra_include_paths", include_paths),
    }


def _places(name: str, build_directory: Any, backend: Any, output: Any, verbose: bool | None) -> dict[str, Any]:
    """Return the folder, backend, output and verbosity that both kinds of builds take."""
    if not isinstance(build_directory, (str, os.PathLike, type(None))):
        raise TypeError(f"build_directory must be a path, got a {type(build_directory).__name__}")
    if output is None:
        file_name = f"{name}{library_suffix(libinfo.target_platform())}"
    else:
        file_name = _arguments.check_file_name("output", output)
    return {
        "folder": None if build_directory is None else _arguments.absolute_path("build_directory", build_directory),
        "backend": None if backend is None else _gpu.choose_backend(backend),
        "output": file_name,
        "verbose": verbose,
    }
