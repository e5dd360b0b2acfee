"""By what stand-ins are known: the distributions in whose place ffi_hpy can be."""

from __future__ import annotations

__all__ = ["ABI_VERSION", "HPY", "INSTALLER", "ORIGINALS", "TVM_FFI", "Original", "installed_version"]

ABI_VERSION = "0.1.15.post2"
"""The release of apache-tvm-ffi whose ABI and names ffi_hpy follows."""
INSTALLER = "ffi_hpy.dropin"
"""What the file INSTALLER says, by which a stand-in is told from the original."""


class Original:
    """A distribution in whose place ffi_hpy can be, of a release.

    `modules`: for each name that programs import the file that is run for it, and the folder whose files it has, too,
    or None, both below ffi_hpy's folder. `commands`: for each command `module:function`. `metadata`: what METADATA has
    besides the name and the version. `entry_points`: what entry_points.txt has besides the commands.
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
        """The name by which programs know it."""
        return next(iter(self.modules))

    def folder_name(self, version: str) -> str:
        """The name of the folder of metadata."""
        return f"{self.name.replace('-', '_')}-{version}.dist-info"

    def describe_entry_points(self) -> str:
        """The text of entry_points.txt."""
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
ORIGINALS = (TVM_FFI, HPY)


def installed_version(original: Original) -> str | None:
    """Return the version that the environment's stand-in has, None where none is installed."""
    import importlib.metadata  # which costs more than ffi_hpy, and few programs ask

    context = importlib.metadata.DistributionFinder.Context(name=original.name)
    for found in importlib.metadata.MetadataPathFinder.find_distributions(context):
        if (found.read_text("INSTALLER") or "").strip() == INSTALLER:
            return found.metadata["Version"]
    return None
