"""The choice of the C compiler, and incremental compiling and linking."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .c_library import c_library
from .errors import BuildError
from .purpose import check_purpose
from .systems import SYSTEMS
from .targets import VARIABLE, find_target, is_named
from .words import words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .stub_library import StubLibrary
    from .systems import System
    from .targets import Target


@dataclass(frozen=True)
class Compiler:
    """A C compiler and the properties of its binaries."""

    command: tuple[str, ...]  # the words that run it
    identity: str  # the part that objects depend on: differs between compilers, not between locations of the same one
    folder: str  # name of its folder of objects
    platform_tag: str  # for a wheel with its output
    system: System  # the target system
    c_library: tuple[StubLibrary, ...] = ()  # linked in place of the compiler's own C library


def find_compiler() -> Compiler:
    """Return the compiler to use: ziglang where FFI_HPY_TARGET asks for a target, else CC if set, ziglang if installed,
    cc, gcc or clang. Raises BuildError.

    Builds on macOS and Windows are untested.
    """
    target, zig = find_target(), _find_zig()
    if is_named() and zig is None:
        raise BuildError(f"{VARIABLE} is set, and the compiler for that, ziglang from PyPI, is not installed")
    named = () if is_named() else tuple(words_of("CC"))
    if named:
        return _system_compiler(named, "CC names", target)
    if zig is not None and target is not None:
        return _zig_compiler(zig, target)
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return _system_compiler((name,), "PATH has", target)
    raise BuildError("no C compiler: install ziglang from PyPI, or a cc, or set CC")


def _zig_compiler(zig: Path, target: Target) -> Compiler:
    version = importlib.metadata.version("ziglang")
    command = (str(zig), "cc", "-target", target.zig)
    identity, folder = f"ziglang {version} {target.zig}", f"zig-{target.zig}"
    stand_ins = c_library(target.glibc) if target.glibc else ()
    return Compiler(command, identity, folder, target.platform_tag, target.system, stand_ins)


def _find_zig() -> Path | None:
    """Return the zig binary of the ziglang package, None if it is not installed."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None or not spec.origin:
        return None
    zig = Path(spec.origin).with_name("zig")
    return zig if os.access(zig, os.X_OK) else None


def _system_compiler(command: tuple[str, ...], origin: str, target: Target | None) -> Compiler:
    """Return a compiler of this machine. On Linux it builds for the machine's own glibc, so its wheels are tagged for
    this machine only; on macOS it builds for the version of the system that `target` names. Raises BuildError if it
    does not run, or if it does not compile for the system of the tag."""
    try:
        said = subprocess.run([*command, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise BuildError(f"{origin} the C compiler {shlex.join(command)!r}, which does not run: {error}") from None
    identity = " ".join([shlex.join(command), *said.splitlines()[:1]])
    if target is None or target.system.name == "linux":
        here = sysconfig.get_platform()
        check_purpose(command, origin, here)
        return Compiler(command, identity, "cc", here.replace("-", "_").replace(".", "_"), SYSTEMS["linux"])
    if target.system.name == "macos":
        machine, _, version = target.zig.partition("-macos.")
        command = (*command, "-target", f"{machine}-apple-macos{version}")
    check_purpose(command, origin, f"{target.system.name}-{target.machine}")
    return Compiler(command, identity, "cc", target.platform_tag, target.system)


@dataclass(frozen=True)
class Workshop:
    """Compiles and links in one build folder, for one source tree. All paths given to it may be relative to `root`."""

    compiler: Compiler
    root: Path
    build: Path  # objects and stamps

    def compile(self, sources: Sequence[Path], flags: Sequence[str], unit: str) -> list[Path]:
        """Compile `sources` to objects in parallel, and return the objects in the same order.

        `unit` names the purpose: the same source may be compiled for two units with different flags. Raises BuildError
        if the compiler rejects a source.
        """
        words = [f"-ffile-prefix-map={self.root}=.", *flags, *words_of("CFLAGS")]
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            return list(pool.map(lambda source: self._compile_one(source, words, unit), sources))

    def link(self, output: Path, objects: Sequence[Path], flags: Sequence[str], inputs: Sequence[Path] = ()) -> bool:
        """Link `objects` and the shared libraries `inputs` into `output`; return whether that was necessary."""
        words = ["-shared", *map(str, objects), *map(str, inputs), *flags, *words_of("LDFLAGS")]
        stamp = self.build / "stamps" / f"{output.name}.link"
        if _is_current(output, [*objects, *inputs], stamp, self._stamp_text(words)):
            return False
        self._run([*words, "-o", str(output)], output, f"linking {output.name}")
        _write_stamp(stamp, self._stamp_text(words))
        return True

    def _compile_one(self, source: Path, flags: Sequence[str], unit: str) -> Path:
        inside = source.relative_to(self.root) if source.is_relative_to(self.root) else Path(source.name)
        target = self.build / unit / inside
        made, listed, stamp = (target.with_suffix(suffix) for suffix in (".o", ".d", ".flags"))
        words = ["-c", str(inside if source.is_relative_to(self.root) else source), *flags]
        if not _is_current(made, _read_dependencies(listed, self.root), stamp, self._stamp_text(words)):
            self._run([*words, "-MMD", "-MF", str(listed), "-o", str(made)], made, f"compiling {inside}")
            _write_stamp(stamp, self._stamp_text(words))
        return made

    def _stamp_text(self, words: Sequence[str]) -> str:
        return "\n".join([self.compiler.identity, *words])

    def _run(self, words: Sequence[str], output: Path, doing: str) -> None:
        """Run the compiler, which writes `output`; its messages go to stderr."""
        command = [*self.compiler.command, *words]
        output.parent.mkdir(parents=True, exist_ok=True)
        started = time.time_ns()
        done = subprocess.run(
            command, cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if done.stdout.strip():
            print(done.stdout.rstrip(), file=sys.stderr, flush=True)
        if done.returncode != 0:
            print(f"in {self.root}: {shlex.join(command)}", file=sys.stderr, flush=True)
            raise BuildError(f"{doing} failed with exit status {done.returncode}")
        os.utime(output, ns=(started, started))  # so that an input edited in the meantime is newer


def _is_current(output: Path, inputs: Sequence[Path] | None, stamp: Path, text: str) -> bool:
    """Return whether `output` is newer than all `inputs` (None: unknown) and was built by the command in `text`."""
    try:
        made = output.stat().st_mtime_ns
        return inputs is not None and stamp.read_text() == text and all(i.stat().st_mtime_ns < made for i in inputs)
    except OSError:
        return False


def _write_stamp(stamp: Path, text: str) -> None:
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(text)


def _read_dependencies(listed: Path, root: Path) -> list[Path] | None:
    """Return the files that a compiler's -MMD output names, or None without such output."""
    try:
        text = listed.read_text()
    except OSError:
        return None
    _, _, names = text.replace("\\\n", " ").partition(":")
    return [root / name.replace("\0", " ") for name in names.replace("\\ ", "\0").split()]
