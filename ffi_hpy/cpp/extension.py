"""The public functions: they build or load native code, from texts or from files."""

from __future__ import annotations

import os

from .. import libinfo
from .._start.elsewhere import find_elsewhere
from . import _arguments, _build, _gpu, _source
from ._dialect import library_suffix
from ._errors import BuildError
from ._loading import load_built

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Union

    from ..module import Module

    AnyPath = Union[str, os.PathLike[str]]

__all__ = ["build", "build_inline", "load", "load_inline"]

if not TYPE_CHECKING:  # names that tvm_ffi has here
    __getattr__ = find_elsewhere(__name__)


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
    """Compile texts to a library, for load_module(). The parameters are those of load_inline(), and `output`.

    Args:
        name: what the library, and in compilers' messages the texts, are called.
        cpp_sources: texts in C++.
        cuda_sources: texts in CUDA or HIP.
        functions: those to export.
        extra_cflags: options for the C++ compiler.
        extra_cuda_cflags: options for the compiler of CUDA.
        extra_ldflags: options for the linker.
        extra_include_paths: folders to search for headers.
        build_directory: where to build; by default in the cache.
        embed_cubin: compiled kernels by name.
        backend: "cuda" or "hip".
        output: the name of the file to make. One that ends with ``.o`` is an object file; by default it is a library.
        verbose: whether to write what happens.

    Returns:
        The path of the library.

    Raises:
        BuildError: if a compiler or linker fails, with its messages, or is missing, or ninja.
        TypeError: for an argument of another type.
        ValueError: for arguments that make no sense.
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
) -> Module:
    """Compile texts to a library, and load it: its functions are attributes of the module that is returned.

    Args:
        name: what the library, and in compilers' messages the texts, are called.
        cpp_sources: C++: one text or several, which follow each other in one translation unit. They need not include
            the headers of tensors, data types, errors, functions and the environment.
        cuda_sources: the same in CUDA or HIP.
        functions: those to export: a name, several, or a mapping to their documentation. Texts in C++ must declare
            them, if there are such, else those in CUDA. If one has documentation, the library exports that of all,
            and their types, for help(), Module.get_function_doc() and get_function_metadata(). The option
            ``-DTVM_FFI_DLL_EXPORT_INCLUDE_METADATA=1`` in `extra_cflags` (or `extra_cuda_cflags`) exports the types
            without documentation, too; with ``=0`` the library exports neither.
        extra_cflags: what the C++ compiler gets behind ``-std=c++17 -fPIC -O2``. Each may be several words, quoted as
            for a shell.
        extra_cuda_cflags: the same for the compiler of CUDA.
        extra_ldflags: what the linker gets behind ``-shared -ltvm_ffi``.
        extra_include_paths: folders to search for headers, beside those of this package.
        build_directory: where to build. By default in a folder of the cache, which TVM_FFI_CACHE_DIR names, whose name
            is made of all that is given here, of the compilers' versions and of this package's headers.
        embed_cubin: compiled kernels by name, for TVM_FFI_EMBED_CUBIN(name) in the sources.
        keep_module_alive: whether the module stays until the process ends, as with load_module().
        backend: "cuda" or "hip", for texts in CUDA: who compiles them. By default what TVM_FFI_GPU_BACKEND says, or
            PyTorch is made for, or there is.
        verbose: True to have each command and what it says written to standard error. By default a build that takes
            longer than two seconds says so there, in one line; False: nothing is written.

    Returns:
        The module. The same texts and options give the library that was built before.

    Raises:
        BuildError: if a compiler or linker fails, with its messages, or is missing, or ninja.
        TypeError: for an argument of another type.
        ValueError: for arguments that make no sense.
        RuntimeError: for a library that refers to what nobody defines, as from load_module().

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
    return load_built(path, keep_module_alive)


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
    """Compile files to a library, for load_module(). They export their functions themselves, with
    TVM_FFI_DLL_EXPORT_TYPED_FUNC.

    Only what depends on a changed file or header is made again, at the same path.

    Args:
        name: what the library is called.
        sources: files. Their suffixes tell what compiles them: ``.c`` the compiler that CC names, ``.cc``, ``.cpp`` and
            ``.cxx`` the one that CXX names, ``.cu`` the compiler of `backend`. ``.o`` and ``.obj`` are compiled
            already.
        cpp_files: more of them.
        cuda_files: more of them.
        extra_cflags: options for the C and C++ compilers, as for load_inline().
        extra_cuda_cflags: options for the compiler of CUDA.
        extra_ldflags: options for the linker.
        extra_include_paths: folders to search for headers.
        build_directory: where to build; by default in the cache.
        backend: "cuda" or "hip".
        output: the name of the file to make, as for build_inline().
        verbose: whether to write what happens.

    Returns:
        The path of the library.

    Raises:
        FileNotFoundError: for a source that does not exist.
        BuildError: if a compiler or linker fails, with its messages, or is missing, or ninja.
        TypeError: for an argument of another type.
        ValueError: for arguments that make no sense.
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
) -> Module:
    """Compile files and load the result. If the process has loaded it before the files changed, the new version is
    loaded.

    The parameters and errors are those of build() and load_module().

    Args:
        name: what the library is called.
        sources: files, whose suffixes tell what compiles them.
        cpp_files: more of them.
        cuda_files: more of them.
        extra_cflags: options for the C and C++ compilers.
        extra_cuda_cflags: options for the compiler of CUDA.
        extra_ldflags: options for the linker.
        extra_include_paths: folders to search for headers.
        build_directory: where to build; by default in the cache.
        keep_module_alive: whether the module stays until the process ends.
        backend: "cuda" or "hip".
        verbose: whether to write what happens.

    Returns:
        The module.
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
    return load_built(path, keep_module_alive)


def _common(cflags: Any, cuda_cflags: Any, ldflags: Any, include_paths: Any) -> dict[str, Any]:
    """The flags that both kinds of builds take."""
    return {
        "cflags": _arguments.flags("extra_cflags", cflags),
        "gpu_flags": _arguments.flags("extra_cuda_cflags", cuda_cflags),
        "ldflags": _arguments.flags("extra_ldflags", ldflags),
        "include_paths": _arguments.folder_paths("extra_include_paths", include_paths),
    }


def _places(name: str, build_directory: Any, backend: Any, output: Any, verbose: bool | None) -> dict[str, Any]:
    """The folder, backend, output and verbosity that both kinds of builds take."""
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
