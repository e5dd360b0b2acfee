"""The distributions that ffi_hpy can replace."""

from __future__ import annotations

__all__ = ["ABI_VERSION", "HPY", "INSTALLER", "NANOBIND", "ORIGINALS", "TVM_FFI", "Original", "installed_version"]

ABI_VERSION = "0.1.15.post2"
"""The release of apache-tvm-ffi whose ABI and names ffi_hpy follows."""
INSTALLER = "ffi_hpy.dropin"
"""The content of the file INSTALLER, which distinguishes a stand-in from the original."""


class Original:
    """A release of a distribution that ffi_hpy can replace.

    `modules`: for each importable name the file that runs for it, and a folder whose files it also has, or None; both
    below ffi_hpy's folder. `commands`: for each command `module:function`. `metadata`: further lines of METADATA after
    the name and the version. `entry_points`: further lines of entry_points.txt after the commands.
    """

    def __init__(
        self,
        name: str,
        version: str,
        modules: dict[str, tuple[str, str | None]],
        commands: dict[str, str],
        metadata: str = "",
        entry_points: str = "",
    ) -> None:
        self.name = name
        self.version = version
        self.modules = modules
        self.commands = commands
        self.metadata = metadata
        self.entry_points = entry_points

    @property
    def module(self) -> str:
        """The module name that programs import."""
        return next(iter(self.modules))

    def folder_name(self, version: str) -> str:
        """Return the name of the metadata folder."""
        return f"{self.name.replace('-', '_')}-{version}.dist-info"

    def describe_entry_points(self) -> str:
        """Return the content of entry_points.txt."""
        lines = [f"{name} = {function}\n" for name, function in self.commands.items()]
        return "".join(["[console_scripts]\n", *lines, self.entry_points])


TVM_FFI = Original(
    "apache-tvm-ffi",
    ABI_VERSION,
    {"tvm_ffi": ("_dropin/tvm_ffi.py", "")},
    {"tvm-ffi-config": "tvm_ffi.config:main", "tvm-ffi-stubgen": "tvm_ffi.stub.cli:main"},
    'Provides-Extra: cpp\nRequires-Dist: ninja; extra == "cpp"\n',
)
HPY = Original(
    "hpy",
    "0.9.0",
    {"hpy": ("_dropin/hpy/__init__.py", "_dropin/hpy"), "pkg_resources": ("_dropin/pkg_resources.py", None)},
    {},
    entry_points="\n[distutils.setup_keywords]\nhpy_ext_modules = hpy.devel:handle_hpy_ext_modules\n",
)
NANOBIND = Original(
    "nanobind",
    "3.1.0",
    {"nanobind": ("_nanobind/__init__.py", "_nanobind")},
    {},
    entry_points="\n[cmake.root]\nnanobind = ffi_hpy._nanobind.cmake\n",  # for scikit-build-core
)
ORIGINALS = (TVM_FFI, HPY, NANOBIND)


def installed_version(original: Original) -> str | None:
    """Return the version of the environment's stand-in, None if there is none."""
    import importlib.metadata  # it costs more than ffi_hpy, and few programs need it

    context = importlib.metadata.DistributionFinder.Context(name=original.name)
    for found in importlib.metadata.MetadataPathFinder.find_distributions(context):
        if (found.read_text("INSTALLER") or "").strip() == INSTALLER:
            return found.metadata["Version"]
    return None
