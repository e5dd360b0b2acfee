"""Projects that CMake configures and builds, with the installed package or another one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from ffi_hpy import libinfo

__all__ = ["CMAKE", "Project"]

CMAKE = shutil.which("cmake", path=str(Path(sys.executable).parent))

HEAD = """
cmake_minimum_required(VERSION 3.18)
project(user LANGUAGES {languages})
find_package(tvm_ffi 0.1.15 CONFIG REQUIRED)
"""


class Project:
    """A folder with sources, which CMake configures and builds."""

    def __init__(self, folder):
        self.folder = folder
        self.build = folder / "build"

    def write(self, lists, languages="C", **sources):
        """Write CMakeLists.txt, after the usual head, and sources: main_c is the content of main.c."""
        lists = HEAD.format(languages=languages) + lists if "project(" not in lists else lists
        sources["CMakeLists_txt"] = lists
        for name, text in sources.items():
            stem, _, suffix = name.rpartition("_")
            (self.folder / f"{stem}.{suffix}").write_text(text)
        return self

    def cmake(self, *arguments, status=0, **environ):
        root = {"tvm_ffi_ROOT": libinfo.find_cmake_path(), **environ}
        done = subprocess.run(
            [CMAKE, *map(str, arguments)],
            cwd=self.folder,
            env={**os.environ, **root},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert (done.returncode != 0) == (status != 0), done.stdout
        return done.stdout

    def configure(self, *arguments, status=0, **environ):
        said = self.cmake("-S", ".", "-B", "build", "-G", "Ninja", *arguments, status=status, **environ)
        return " ".join(said.split())

    def make(self, *arguments, status=0):
        return self.cmake("--build", "build", *arguments, status=status)

    def run(self, program):
        done = subprocess.run([str(self.build / program)], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout
