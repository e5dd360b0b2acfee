"""Fixtures of the Python tests: the native libraries, their classes, and the leak detector of debug modes."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from support import IS_CFFI_ON_CPYTHON, IS_DEBUG, IS_OWN_DEBUG, IS_PYPY, TESTED_LIBRARY, collect_garbage
from support.native_build import PACKAGE, Missing, compile_c, compile_cxx, fetch_upstream

import ffi_hpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

if IS_CFFI_ON_CPYTHON:
    sys.setrecursionlimit(3000)  # the backend's frames count: five for each level of nested containers

if TESTED_LIBRARY:
    ffi_hpy.load_module(TESTED_LIBRARY)

if IS_PYPY:  # a search for cycles in this large process takes seconds, and many tests collect; test_cycles.py searches
    from ffi_hpy._pypy.object import cycles

    cycles.is_on = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Search for cycles first on PyPy, while the process is small."""
    if IS_PYPY:
        items.sort(key=lambda item: "test_cycles" not in item.nodeid)


class GlobalFunctions:
    """The global functions under a prefix, as attributes; each access looks the function up again."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def __getattr__(self, name: str) -> ffi_hpy.Function:
        return ffi_hpy.get_global_func(self._prefix + name)


@pytest.fixture(scope="session")
def upstream() -> Path:
    """Folder of apache-tvm-ffi's unpacked wheel."""
    try:
        return fetch_upstream()
    except Missing as reason:
        pytest.fail(str(reason), pytrace=False)


@pytest.fixture(scope="session")
def era_headers(upstream: Path) -> dict[str, Path]:
    """Folder of the headers of each era."""
    try:
        return {"new": upstream / "tvm_ffi" / "include", "old": fetch_upstream("0.1.11") / "tvm_ffi" / "include"}
    except Missing as reason:
        pytest.fail(str(reason), pytrace=False)


@pytest.fixture(scope="session")
def compile_era(era_headers: dict[str, Path]) -> Callable[..., Path]:
    """Return a function that compiles native/<name> as a user of an era would: linked with -ltvm_ffi, with undefined
    names that are resolved at run time.

    The era "own" means our headers.
    """

    def compile_one(name: str, era: str, *link: str, flags: tuple[str, ...] = ()) -> Path:
        include = PACKAGE / "include" if era == "own" else era_headers[era]
        try:
            return compile_cxx(name, include, f'-DERA="{era}"', *flags, link=link or ("-ltvm_ffi",))
        except Missing as reason:
            pytest.fail(str(reason), pytrace=False)

    return compile_one


@pytest.fixture(scope="session")
def upstream_testing_library(upstream: Path) -> Path:
    """Path of apache-tvm-ffi's libtvm_ffi_testing.so, for another process."""
    return upstream / "tvm_ffi" / "lib" / "libtvm_ffi_testing.so"


@pytest.fixture(scope="session")
def testing_library() -> Path:
    """Path of the testing library, which is loaded."""
    from ffi_hpy.testing import _library

    _library.load()
    return Path(TESTED_LIBRARY or _library.TESTING_LIBRARY)


@pytest.fixture(scope="session")
def testing(testing_library: Path) -> GlobalFunctions:
    """The functions of the testing library: testing.echo and so on."""
    return GlobalFunctions("testing.")


@pytest.fixture(scope="session")
def classes(testing: GlobalFunctions) -> SimpleNamespace:
    """Classes for types of the testing library."""

    @ffi_hpy.register_object("testing.TestIntPair")
    class TestIntPair(ffi_hpy.Object):
        pass

    @ffi_hpy.register_object("testing.TestObjectBase")
    class TestObjectBase(ffi_hpy.Object):
        def describe(self) -> str:
            return f"{self.v_str} {self.v_i64}"

    @ffi_hpy.register_object("testing.TestObjectDerived")
    class TestObjectDerived(TestObjectBase):
        pass

    return SimpleNamespace(TestIntPair=TestIntPair, TestObjectBase=TestObjectBase, TestObjectDerived=TestObjectDerived)


@pytest.fixture(scope="session")
def extension_path(upstream: Path) -> Path:
    """Path of the library compiled from native/int_pair.cc."""
    try:
        return compile_cxx("int_pair.cc", upstream / "tvm_ffi" / "include")
    except Missing as reason:
        pytest.fail(str(reason), pytrace=False)


@pytest.fixture(scope="session")
def extension(extension_path: Path) -> ffi_hpy.Module:
    """The library compiled from native/int_pair.cc."""
    return ffi_hpy.load_module(extension_path)


@pytest.fixture(scope="session")
def IntPair(extension: ffi_hpy.Module) -> type[ffi_hpy.Object]:
    """Class for the object type of native/int_pair.cc."""

    @ffi_hpy.register_object("ffi_hpy_test.IntPair")
    class IntPair(ffi_hpy.Object):
        pass

    return IntPair


@pytest.fixture(scope="session")
def plain_path() -> Path:
    """Path of the library compiled from native/plain.c."""
    try:
        return compile_c("plain.c", PACKAGE / "include")
    except Missing as reason:
        pytest.fail(str(reason), pytrace=False)


@pytest.fixture(scope="session")
def plain(plain_path: Path) -> ffi_hpy.Module:
    """The library compiled from native/plain.c."""
    return ffi_hpy.load_module(plain_path)


if hasattr(gc, "freeze"):  # PyPy lacks it

    @pytest.fixture(autouse=True, scope="module")
    def nothing_old_is_collected() -> None:
        """Freeze old objects, so that a test that collects garbage, as each does in a debug mode, examines only the
        objects of its own file."""
        gc.collect()
        gc.freeze()


if IS_DEBUG or IS_OWN_DEBUG:
    if IS_DEBUG:
        from hpy.debug.leakdetector import LeakDetector
    else:
        from ffi_hpy.hpy_debug import LeakDetector

    @pytest.fixture(autouse=True)
    def no_open_handles() -> Iterator[None]:
        """Check that every handle that a test opens is closed at the end."""
        collect_garbage(n_rounds=1)
        detector = LeakDetector()
        detector.start()
        yield
        gc.collect()
        detector.stop()
