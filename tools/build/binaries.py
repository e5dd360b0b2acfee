"""The binaries of ffi_hpy: one table lists their parts, and `build_binaries` builds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from .compiler import Compiler, Workshop
from .errors import BuildError
from .hpy_headers import find_hpy_devel
from .pe_time import forget_time
from .stub_library import StubLibrary, make_stub
from .systems import System, is_library

_COMPILE_FLAGS = (
    *("-O2", "-fvisibility=hidden", "-Wall", "-Wextra", "-DNDEBUG"),
    "-fomit-frame-pointer",  # zig keeps frame pointers by default; unwinders read .eh_frame
    "-ffunction-sections",  # so that the linker can drop unused functions
    "-falign-functions=64",  # to cache lines: a function's speed must not depend on the code before it
)
_C_FLAGS = ("-std=c11",)
# No C++ library's headers, because each compiler would use its own. Sized operator delete is newer than manylinux.
_CXX_FLAGS = ("-std=c++17", "-nostdinc++", "-fno-sized-deallocation")
HPY_FLAGS = ("-Wno-missing-field-initializers", "-Wno-cast-function-type")  # for hpy's macros, expanded in our files


# The symbols for throwing and catching, in the versions of the oldest systems.
_THROWING = (
    "_ZTVN10__cxxabiv117__class_type_infoE",
    "_ZTVN10__cxxabiv121__vmi_class_type_infoE",
    "__cxa_allocate_exception",
    "__cxa_begin_catch",
    "__cxa_end_catch",
    "__cxa_pure_virtual",
    "__cxa_rethrow",
    "__cxa_throw",
    "__gxx_personality_v0",
)
_CXX_RUNTIME = (
    StubLibrary(
        "libstdc++.so.6",
        {
            "GLIBCXX_3.4": (
                "_ZNSt8ios_base4InitC1Ev",
                "_ZNSt8ios_base4InitD1Ev",
                "_ZNSt9exceptionD2Ev",
                "_ZSt9terminatev",
                "_ZTISt9exception",
                "_ZdlPv",
            ),
            "CXXABI_1.3": _THROWING,
            "CXXABI_1.3.2": ("_ZTIN10__cxxabiv115__forced_unwindE",),
        },
    ),
    StubLibrary("libgcc_s.so.1", {"GCC_3.0": ("_Unwind_Resume",)}),
)
_CXX_RUNTIME_OF_MACOS = (
    StubLibrary(
        "/usr/lib/libc++.1.dylib",
        {"": ("_ZNSt9exceptionD2Ev", "_ZSt9terminatev", "_ZTISt9exception", "_ZdlPv", *_THROWING)},
    ),
)


@dataclass(frozen=True)
class Binary:
    """One shared object of the wheel."""

    output: str  # path inside the package on Linux; System.rename returns it for the others
    sources: tuple[str, ...]  # globs, relative to the root of the sources
    include: tuple[str, ...] = ()  # folders of headers, relative to the same root
    defines: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()  # compiler flags, after the common ones
    needs: tuple[str, ...] = ()  # outputs of earlier entries of this table that it is linked to
    folder_of_needs: str | None = None  # their folder, relative to this binary; "" for the same folder
    needs_system: dict[str, tuple[StubLibrary, ...]] = field(default_factory=dict)  # in addition to libc, by system
    stays: bool = False  # once loaded, it stays until the process ends
    of_python: bool = False  # it uses symbols of the interpreter, resolved at load time
    not_on: tuple[str, ...] = ()  # names of systems that do not need it
    rare: tuple[str, ...] = ()  # globs of the sources that are never hot: compiled for size
    is_cxx: bool = False
    hpy_headers: bool = False  # whether it includes the headers of hpy

    def find_sources(self, root: Path) -> list[Path]:
        """Return the source files. Raises BuildError if a glob finds none."""
        return self._find(root, self.sources)

    def find_rare(self, root: Path) -> list[Path]:
        """Return the source files that are compiled for size. Raises BuildError if a glob finds none."""
        return self._find(root, self.rare)

    def _find(self, root: Path, patterns: tuple[str, ...]) -> list[Path]:
        found = [(pattern, sorted(root.glob(pattern))) for pattern in patterns]
        for pattern, files in found:
            if not files:
                raise BuildError(f"{self.output}: no source file matches {pattern}")
        return [file for _, files in found for file in files]


_FOR_SIZE = ("-Os", "-falign-functions=1")

# Part of each binary with locks: its own fork handlers, and its access to the system. Each of these files is empty on
# systems that it is not for.
_SYSTEM = tuple(f"src/core/platform/{name}.c" for name in ("sync*", "fork", "loader_head", "system_*"))
# Part of the core and of the binding: data that threads use without writing to shared memory
_HAZARD = "src/core/platform/hazard.c"

BINARIES = (
    Binary(
        output="lib/libtvm_ffi.so",
        sources=("src/core/*/*.c",),
        include=("include", "src"),
        defines=("TVM_FFI_EXPORTS",),  # exports its functions instead of importing them; Windows distinguishes the two
        stays=True,  # a thread that ends after the library was closed still runs its clean-up code
        rare=(
            *("src/core/module/*.c", "src/core/bind/signature.c", "src/core/platform/loader_head.c"),
            *(f"src/core/serial/graph_{name}.c" for name in ("leaf", "read", "write")),
            *("src/core/tensor/dtype.c", "src/core/walk/repr.c"),
            *(f"src/core/fields/{name}.c" for name in ("access_path", "builtin", "enum")),
            *(f"src/core/globals/{name}.c" for name in ("globals", "globals_module", "globals_registry")),
            *(f"src/core/globals/globals_{name}.c" for name in ("object", "structural", "value")),
            *(f"src/core/object/{name}.c" for name in ("backtrace", "members", "name", "reflect", "text")),
        ),
    ),
    Binary(
        output="lib/libtvm_ffi_cxx.so",
        sources=("src/cxx_abi/*.cc",),
        include=("include", "src/cxx_abi"),
        needs=("lib/libtvm_ffi.so",),
        folder_of_needs="",
        needs_system={"linux": _CXX_RUNTIME, "macos": _CXX_RUNTIME_OF_MACOS},
        stays=True,
        not_on=("windows",),  # MSVC mangles C++ names differently
        is_cxx=True,
    ),
    Binary(
        output="lib/libtvm_ffi_testing.so",
        sources=("src/testing/*.c",),
        include=("include", "src/testing"),
        flags=("-Os",),
        needs=("lib/libtvm_ffi.so",),
        folder_of_needs="",
        stays=True,  # its registrations are permanent
    ),
    Binary(
        output="_hpy.so",
        sources=("src/hpy_runtime/*/*.c", *_SYSTEM, "src/core/module/library_file.c"),
        include=("include", "src"),
        defines=("HPY_ABI_UNIVERSAL",),
        of_python=True,
        rare=(
            *(f"src/hpy_runtime/{folder}/*.c" for folder in ("load", "debug", "trace")),
            *("src/hpy_runtime/abi/layout.c", "src/hpy_runtime/types/type_members.c"),
            *("src/core/module/library_file.c", "src/core/platform/loader_head.c"),
            *(f"src/hpy_runtime/types/type_{name}.c" for name in ("bases", "check", "spec")),
        ),
        hpy_headers=True,
    ),
    Binary(
        output="_hpy_pypy.so",  # the sources of _hpy.so, for PyPy's C API, whose symbols have other names
        sources=("src/hpy_runtime/*/*.c", *_SYSTEM, "src/core/module/library_file.c"),
        include=("include", "src"),
        defines=("HPY_ABI_UNIVERSAL", "FHPY_PYPY"),
        of_python=True,
        not_on=("windows",),  # PyPy's symbols would need look-up code there, like CPython's
        flags=_FOR_SIZE,  # PyPy's own work for a call of C takes many times as long as the code compiled here
        hpy_headers=True,
    ),
    Binary(
        output="_core.hpy0.so",
        sources=(
            "src/hpy_module/*/*.c",
            *_SYSTEM,
            _HAZARD,
            "src/core/tensor/dltensor.c",
            "src/core/object/field_memory.c",
        ),
        include=("include", "src"),
        defines=("HPY_ABI_UNIVERSAL", "_GNU_SOURCE"),  # GNU: RTLD_DEFAULT, dladdr, and alloca, which hpy's headers use
        needs=("lib/libtvm_ffi.so",),
        folder_of_needs="lib",
        rare=(
            *("src/hpy_module/module/*.c", "src/core/platform/loader_head.c"),
            *("src/hpy_module/container/deep_copy.c", "src/hpy_module/function/argument_order.c"),
            *(f"src/hpy_module/error/{name}.c" for name in ("error", "translate")),
            *(
                f"src/hpy_module/tensor/{name}.c"
                for name in ("buffer", "described", "dlpack_out", "exchange_table", "lazy_bits")
            ),
            *(f"src/hpy_module/context/{name}.c" for name in ("capsule", "hook", "messages", "type")),
            "src/hpy_module/object/object_type.c",
            *(f"src/hpy_module/record/{name}.c" for name in ("define", "init_plan")),
            *(f"src/hpy_module/schema/{name}.c" for name in ("mismatch", "schema", "schema_type")),
            *(f"src/hpy_module/value/{name}.c" for name in ("cany", "error_type", "native")),
        ),
        hpy_headers=True,
    ),
)


def build_binaries(root: Path, build: Path, compiler: Compiler) -> list[tuple[Path, str]]:
    """Bring every binary of the table up to date and return (file, path inside the package) of each, and of the import
    libraries.

    All output is below `build`, in a folder for this compiler whose name does not depend on the running Python. Raises
    BuildError.
    """
    workshop = Workshop(compiler, root, build / compiler.folder)
    system = compiler.system
    wanted = [binary for binary in BINARIES if system.name not in binary.not_on]
    made = [(_build_one(workshop, binary, build), system.rename(binary.output)) for binary in wanted]
    if system.has_import_libraries:
        made += [(_linked_to(file, system), str(Path(name).with_suffix(".lib"))) for file, name in made[:1]]
    return made


def _build_one(workshop: Workshop, binary: Binary, cache: Path) -> Path:
    compiler, system = workshop.compiler, workshop.compiler.system
    sources = binary.find_sources(workshop.root)
    language = _CXX_FLAGS if binary.is_cxx else _C_FLAGS
    flags = [*language, *_COMPILE_FLAGS, *system.compile_flags, *binary.flags]
    flags += [*(f"-D{name}" for name in binary.defines), *(f"-I{path}" for path in binary.include)]
    unit = binary.output.replace("/", ".")
    if binary.hpy_headers:
        devel = find_hpy_devel(cache)
        flags += [*HPY_FLAGS, "-isystem", str(devel / "include"), f"-ffile-prefix-map={devel}=hpy/devel"]
    rare = binary.find_rare(workshop.root)
    objects = workshop.compile([source for source in sources if source not in rare], flags, unit)
    objects += workshop.compile(rare, [*flags, *_FOR_SIZE], unit)
    package = workshop.build / "package"
    output = package / system.rename(binary.output)
    needed = [_linked_to(package / system.rename(name), system) for name in binary.needs]
    needed += [make_stub(workshop, library) for library in binary.needs_system.get(system.name, ())]
    needed += [make_stub(workshop, library) for library in compiler.c_library]
    if compiler.c_library:
        objects += workshop.compile([Path(__file__).with_name("stat.c")], ["-O2", "-fPIC"], "stubs")
    words = system.link_words(system.rename(binary.output), binary.stays, binary.of_python, binary.folder_of_needs)
    words += ["-nostdlib"] if compiler.c_library else system.libraries
    words += [] if "-g" in compiler.command else ["-s"]  # a CC with -g asks for symbols
    if system.has_import_libraries and is_library(binary.output):
        words.append(f"-Wl,--out-implib,{_linked_to(output, system)}")
    workshop.link(output, objects, words, needed)
    if system.name == "windows":
        forget_time(output)
    return output


def _linked_to(library: Path, system: System) -> Path:
    """Return the file to link with for a library."""
    return library.with_suffix(".lib") if system.has_import_libraries else library


def find_headers(root: Path) -> list[tuple[Path, str]]:
    """Return (file, path inside the package) of every public header."""
    folder = root / "include"
    found = sorted(folder.rglob("*.h"))
    if not found:
        raise BuildError(f"no public header in {folder}")
    return [(path, path.relative_to(root).as_posix()) for path in found]
