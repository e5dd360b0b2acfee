"""The binaries of ffi_hpy: one table says what each is made of, and `build_binaries` makes them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .compiler import Compiler, Workshop
from .errors import BuildError
from .hpy_headers import find_hpy_devel
from .stub_library import StubLibrary, make_stub

_COMPILE_FLAGS = (
    *("-O2", "-fPIC", "-fvisibility=hidden", "-fno-plt", "-Wall", "-Wextra", "-DNDEBUG"),
    "-fomit-frame-pointer",  # zig keeps them unless told; unwinders read .eh_frame
    "-ffunction-sections",  # what nothing calls is left out by the linker
    "-falign-functions=64",  # to cache lines: what code costs does not change with what stands before it in the file
)
_C_FLAGS = ("-std=c11",)
# No C++ library's headers: each compiler would bring its own. The other operator delete is younger than manylinux.
_CXX_FLAGS = ("-std=c++17", "-nostdinc++", "-fno-sized-deallocation")
_LINK_FLAGS = (
    *("-Wl,--gc-sections", "-Wl,--as-needed"),
    "-Wl,--hash-style=gnu",  # without the older table of symbols, which glibc since 2.5 and musl since 1.0 need not
)
_SYSTEM_LIBRARIES = ("-lpthread", "-ldl", "-lm")  # where no stand-ins take their place
HPY_FLAGS = ("-Wno-missing-field-initializers", "-Wno-cast-function-type")  # hpy's macros, expanded in our files


# What throwing and catching takes, in the versions that the oldest systems have.
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
            "CXXABI_1.3": (
                "_ZTVN10__cxxabiv117__class_type_infoE",
                "_ZTVN10__cxxabiv121__vmi_class_type_infoE",
                "__cxa_allocate_exception",
                "__cxa_begin_catch",
                "__cxa_end_catch",
                "__cxa_pure_virtual",
                "__cxa_rethrow",
                "__cxa_throw",
                "__gxx_personality_v0",
            ),
            "CXXABI_1.3.2": ("_ZTIN10__cxxabiv115__forced_unwindE",),
        },
    ),
    StubLibrary("libgcc_s.so.1", {"GCC_3.0": ("_Unwind_Resume",)}),
)


@dataclass(frozen=True)
class Binary:
    """One shared object of the wheel."""

    output: str  # path inside the package
    sources: tuple[str, ...]  # globs, relative to the root of the sources
    include: tuple[str, ...] = ()  # folders of headers, relative to the same root
    defines: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()  # of the compiler, after those of all
    link: tuple[str, ...] = ()  # flags of the linker
    needs: tuple[str, ...] = ()  # outputs of this table, earlier in it, that it is linked to
    needs_system: tuple[StubLibrary, ...] = ()  # libraries of the system besides libc that it is linked to
    rare: tuple[str, ...] = ()  # globs of those sources that no program spends its time in: compiled for size
    is_cxx: bool = False
    hpy_headers: bool = False  # whether it sees the headers of hpy

    def find_sources(self, root: Path) -> list[Path]:
        """Return the source files. Raises BuildError if a glob finds none."""
        return self._find(root, self.sources)

    def find_rare(self, root: Path) -> list[Path]:
        """Return those of them that are compiled for size. Raises BuildError if a glob finds none."""
        return self._find(root, self.rare)

    def _find(self, root: Path, patterns: tuple[str, ...]) -> list[Path]:
        found = [(pattern, sorted(root.glob(pattern))) for pattern in patterns]
        for pattern, files in found:
            if not files:
                raise BuildError(f"{self.output}: no source file matches {pattern}")
        return [file for _, files in found for file in files]


_FOR_SIZE = ("-Os", "-falign-functions=1")

# In each binary that has locks, with handlers of its own for fork, and what it takes of the system. Each of these files
# is empty on the systems that it is not for.
_SYSTEM = (
    *("src/core/platform/sync*.c", "src/core/platform/fork_handlers.c", "src/core/platform/park_*.c"),
    *(f"src/core/platform/{name}_*.c" for name in ("clock", "loader", "shield", "thread")),
)
# In the core and in the binding: what threads use without writing where others read
_USES = tuple(f"src/core/platform/{name}.c" for name in ("barrier", "uses", "shared"))

BINARIES = (
    Binary(
        output="lib/libtvm_ffi.so",
        sources=("src/core/*/*.c",),
        include=("include", "src"),
        defines=("TVM_FFI_EXPORTS",),  # its functions are exported, not imported, which Windows tells apart
        # nodelete: a thread that ends after the library was closed still runs its clean-up code
        link=("-Wl,-soname,libtvm_ffi.so", "-Wl,--no-undefined", "-Wl,-z,nodelete"),
        rare=(
            "src/core/module/*.c",
            *(f"src/core/fields/{name}.c" for name in ("builtin", "enum")),
            *(f"src/core/globals/{name}.c" for name in ("core", "globals", "globals_module", "globals_registry")),
            *(f"src/core/object/{name}.c" for name in ("backtrace", "name", "reflect", "reflect_check")),
        ),
    ),
    Binary(
        output="lib/libtvm_ffi_cxx.so",
        sources=("src/cxx_abi/*.cc",),
        include=("include", "src/cxx_abi"),
        link=("-Wl,-soname,libtvm_ffi_cxx.so", "-Wl,--no-undefined", "-Wl,-z,nodelete", "-Wl,-rpath,$ORIGIN"),
        needs=("lib/libtvm_ffi.so",),
        needs_system=_CXX_RUNTIME,
        is_cxx=True,
    ),
    Binary(
        output="lib/libtvm_ffi_testing.so",
        sources=("src/testing/*.c",),
        include=("include", "src/testing"),
        flags=("-Os",),
        # nodelete: what it registers is never taken back
        link=("-Wl,-soname,libtvm_ffi_testing.so", "-Wl,--no-undefined", "-Wl,-z,nodelete", "-Wl,-rpath,$ORIGIN"),
        needs=("lib/libtvm_ffi.so",),
    ),
    Binary(
        output="_hpy.so",  # its Py* symbols are the interpreter's, found when it is loaded
        sources=("src/hpy_runtime/*/*.c", *_SYSTEM, "src/core/module/library_file.c"),
        include=("include", "src"),
        defines=("HPY_ABI_UNIVERSAL",),
        rare=(
            *(f"src/hpy_runtime/{folder}/*.c" for folder in ("load", "debug", "trace")),
            *("src/hpy_runtime/abi/layout.c", "src/hpy_runtime/types/methods.c"),
            *(f"src/hpy_runtime/types/type_{name}.c" for name in ("bases", "check", "meta", "spec")),
        ),
        hpy_headers=True,
    ),
    Binary(
        output="_hpy_pypy.so",  # from these sources, for PyPy's C API, whose symbols have other names
        sources=("src/hpy_runtime/*/*.c", *_SYSTEM, "src/core/module/library_file.c"),
        include=("include", "src"),
        defines=("HPY_ABI_UNIVERSAL", "FHPY_PYPY"),
        flags=_FOR_SIZE,  # what PyPy does for a call of C takes many times as long as what is compiled here
        hpy_headers=True,
    ),
    Binary(
        output="_core.hpy0.so",
        sources=("src/hpy_module/*/*.c", *_SYSTEM, *_USES, "src/core/tensor/dltensor.c"),
        include=("include", "src"),
        defines=("HPY_ABI_UNIVERSAL", "_GNU_SOURCE"),  # GNU: RTLD_DEFAULT, dladdr, and alloca, which hpy's headers use
        link=("-Wl,--no-undefined", "-Wl,-rpath,$ORIGIN/lib"),
        needs=("lib/libtvm_ffi.so",),
        rare=(
            "src/hpy_module/module/*.c",
            *(f"src/hpy_module/context/{name}.c" for name in ("cut", "hook", "instance", "property", "type")),
            *(f"src/hpy_module/object/{name}.c" for name in ("object_type", "own_class")),
            *(f"src/hpy_module/record/{name}.c" for name in ("define", "field_table", "init_plan")),
            *(f"src/hpy_module/schema/{name}.c" for name in ("mismatch", "refuse", "schema", "schema_type")),
            *(f"src/hpy_module/tensor/{name}.c" for name in ("exchange_python", "stream")),
            *(f"src/hpy_module/value/{name}.c" for name in ("cany", "error_type", "opaque_ptr", "opaque_type")),
            "src/hpy_module/function/address.c",
        ),
        hpy_headers=True,
    ),
)


def build_binaries(root: Path, build: Path, compiler: Compiler) -> list[tuple[Path, str]]:
    """Bring every binary of the table up to date and return (file, path inside the package) of each.

    Everything is written below `build`, in a folder of the compiler's own, with nothing of the running Python in its
    name. Raises BuildError.
    """
    workshop = Workshop(compiler, root, build / compiler.folder)
    return [(_build_one(workshop, binary, build), binary.output) for binary in BINARIES]


def _build_one(workshop: Workshop, binary: Binary, cache: Path) -> Path:
    sources = binary.find_sources(workshop.root)
    language = _CXX_FLAGS if binary.is_cxx else _C_FLAGS
    flags = [*language, *_COMPILE_FLAGS, *binary.flags]
    flags += [*(f"-D{name}" for name in binary.defines), *(f"-I{path}" for path in binary.include)]
    unit = binary.output.replace("/", ".")
    if binary.hpy_headers:
        devel = find_hpy_devel(cache)
        flags += [*HPY_FLAGS, "-isystem", str(devel / "include"), f"-ffile-prefix-map={devel}=hpy/devel"]
    rare = binary.find_rare(workshop.root)
    objects = workshop.compile([source for source in sources if source not in rare], flags, unit)
    objects += workshop.compile(rare, [*flags, *_FOR_SIZE], unit)
    output = workshop.build / "package" / binary.output
    needed = [workshop.build / "package" / name for name in binary.needs]
    needed += [make_stub(workshop, library) for library in binary.needs_system]
    needed += [make_stub(workshop, library) for library in workshop.compiler.c_library]
    if workshop.compiler.c_library:
        objects += workshop.compile([Path(__file__).with_name("stat.c")], ["-O2", "-fPIC"], "stubs")
    libraries = ("-nostdlib",) if workshop.compiler.c_library else _SYSTEM_LIBRARIES
    strip = () if "-g" in workshop.compiler.command else ("-s",)  # a CC with -g asks for symbols
    workshop.link(output, objects, [*binary.link, *_LINK_FLAGS, *libraries, *strip], needed)
    return output


def find_headers(root: Path) -> list[tuple[Path, str]]:
    """Return (file, path inside the package) of every public header."""
    folder = root / "include"
    found = sorted(folder.rglob("*.h"))
    if not found:
        raise BuildError(f"no public header in {folder}")
    return [(path, path.relative_to(root).as_posix()) for path in found]
