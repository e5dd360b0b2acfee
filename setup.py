"""Builds the wheel: six shared objects and plain Python, one wheel for every interpreter. See tools/build."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import ClassVar

from setuptools import Command, Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build import build

ROOT = Path(__file__).resolve().parent
PACKAGE = "ffi_hpy"
START_FILE = "tools/build/ffi_hpy.pth"
"""A file beside the package that each interpreter reads when it starts."""
sys.path.insert(0, str(ROOT))  # build frontends do not add it

from tools.build.binaries import build_binaries, find_headers  # noqa: E402
from tools.build.compiler import find_compiler  # noqa: E402
from tools.build.errors import BuildError  # noqa: E402
from tools.build.nanobind_names import make_nanobind_headers  # noqa: E402
from tools.build.readme import describe, read_source  # noqa: E402
from tools.build.source_archive import ARCHIVE, make_source_archive  # noqa: E402
from tools.build.targets import find_target, is_named  # noqa: E402

# Two builds of one tree give the same bytes: the wheel contains neither the time of day nor the user's file modes.
os.environ.setdefault("SOURCE_DATE_EPOCH", "315532800")
os.umask(0o022)


class BuildNative(Command):
    """Compile the shared objects, and put them into the package with the public headers and the core's sources."""

    description = "compile the C core, its C++ names, the testing library, the HPy runtime and the binding"
    user_options: ClassVar[list[tuple[str, str, str]]] = []

    def initialize_options(self) -> None:
        self.build_lib: str | None = None
        self.editable_mode = False

    def finalize_options(self) -> None:
        self.set_undefined_options("build", ("build_lib", "build_lib"))

    def run(self) -> None:
        package = ROOT / PACKAGE if self.editable_mode else Path(self.build_lib or "", PACKAGE)
        files = build_binaries(ROOT, ROOT / "build", find_compiler()) + find_headers(ROOT)
        files += make_nanobind_headers(ROOT, ROOT / "build")
        files.append((make_source_archive(ROOT, ROOT / "build"), ARCHIVE))
        if not self.editable_mode:
            files.append((ROOT / START_FILE, f"../{Path(START_FILE).name}"))
        for source, inside in files:
            target = package / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)  # never write into a file that a process has mapped
            shutil.copyfile(source, target)

    def get_source_files(self) -> list[str]:
        return []  # MANIFEST.in lists them

    def get_outputs(self) -> list[str]:
        return []

    def get_output_mapping(self) -> dict[str, str]:
        return {}


class Build(build):
    """`build` with the native parts, into a folder without files of an earlier build."""

    sub_commands: ClassVar = [*build.sub_commands, ("build_native", None)]

    def finalize_options(self) -> None:
        super().finalize_options()
        self.build_lib = str(Path(self.build_base, "lib"))

    def run(self) -> None:
        find_compiler()  # refuse an unsupported target before building anything
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


class UniversalWheel(bdist_wheel):
    """A wheel for every Python 3, and for the platform that the compiler builds for."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", find_compiler().platform_tag


class BinaryDistribution(Distribution):
    """A distribution whose files belong in platlib although it has no setuptools extension."""

    def has_ext_modules(self) -> bool:
        return True


Path(ROOT, "build").mkdir(exist_ok=True)
try:
    if is_named():
        find_target()  # refuse an unknown target name before doing anything else
    setup(
        long_description=describe(
            (ROOT / "README.md").read_text(encoding="utf-8"), read_source(ROOT / "pyproject.toml")
        ),
        long_description_content_type="text/markdown",
        cmdclass={"build": Build, "build_native": BuildNative, "bdist_wheel": UniversalWheel},
        distclass=BinaryDistribution,
        # pyproject.toml lists it for the systems that always need it. A frontend that isolates builds installs these,
        # too.
        setup_requires=["ziglang>=0.13"] if is_named() else [],
        options={"egg_info": {"egg_base": "build"}},  # a build writes nothing next to the sources
    )
except BuildError as error:
    sys.exit(f"ffi_hpy: {error}")
