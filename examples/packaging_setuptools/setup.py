"""Builds the library with setuptools only, and packs it into a wheel for every Python."""

from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

from ffi_hpy import libinfo

LIBRARY = Extension(
    "vocab.libvocab",
    sources=["src/vocab.cc"],
    include_dirs=libinfo.include_paths(),
    libraries=["tvm_ffi"],
    library_dirs=[str(Path(libinfo.find_libtvm_ffi()).parent)],
    extra_compile_args=["-std=c++17", "-O2", "-g0", "-fvisibility=hidden"],
    language="c++",
)


class BuildLibrary(build_ext):
    """Names the library without a Python version: it is not an extension module."""

    def get_ext_filename(self, fullname):
        return f"{fullname.replace('.', '/')}.so"


class UniversalWheel(bdist_wheel):
    """A wheel for this platform and every Python: the library does not use the Python API."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(ext_modules=[LIBRARY], cmdclass={"build_ext": BuildLibrary, "bdist_wheel": UniversalWheel})
