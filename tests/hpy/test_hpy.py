"""ffi_hpy.hpy: loading universal modules by path and by import, and the files that are refused."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ffi_hpy import hpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HAS_OWN_HPY = "_hpy_universal" in sys.builtin_module_names


def said_about(error: BaseException) -> str:
    """Return the whole traceback text of an exception."""
    return "\n".join([str(error), *getattr(error, "__notes__", ())])


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install the finder, put a folder on the path, and yield the folder."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path))
    hpy.install()
    yield tmp_path
    hpy.uninstall()
    for name in set(sys.modules) - before:
        del sys.modules[name]


# ---- load ----


def test_load_returns_the_executed_module_and_leaves_sys_modules_alone(built: Callable[..., Path]) -> None:
    path = built("plain")
    module = hpy.load("plain", path)
    assert (module.__name__, module.origin, module.__doc__) == ("plain", "plain", "a module for tests")
    assert module.__file__ == str(path)
    assert "plain" not in sys.modules


def test_load_takes_the_last_component_of_a_dotted_name_and_the_spec(built: Callable[..., Path]) -> None:
    spec = importlib.machinery.ModuleSpec("package.plain", None)
    module = hpy.load("package.plain", str(built("plain")), spec)
    assert (module.__name__, module.__package__) == ("package.plain", "package")
    assert module.__spec__ is spec


def test_debug_mode_is_that_of_our_own_runtime(built: Callable[..., Path]) -> None:
    assert hpy.load("debugged", built("debugged"), debug=True).origin == "debugged"
    with pytest.raises(ImportError, match=r"debugged\.hpy0\.so was loaded in debug mode before"):
        hpy.load("debugged", built("debugged"), debug=False)
    assert hpy.load("debugged", built("debugged")).origin == "debugged"


def test_context_name_and_abi_version_are_those_of_hpy() -> None:
    assert hpy.context_name() == "HPy Universal ABI (ffi_hpy)"
    assert hpy.abi_version == 0


def test_the_file_and_its_runtime_work_without_the_package(built: Callable[..., Path], tmp_path: Path) -> None:
    source = Path(hpy.__file__)
    shutil.copy(source, tmp_path / "alone.py")
    binary = Path(importlib.import_module("ffi_hpy._hpy").__file__)  # the package may have other systems' binaries, too
    for runtime in {*source.parent.glob("_hpy*"), binary}:
        shutil.copy(runtime, tmp_path)
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import alone; "
        "print(alone.load('plain', sys.argv[2]).origin, 'ffi_hpy' in sys.modules)"
    )
    command = [sys.executable, "-I", "-c", program, str(tmp_path), str(built("plain"))]
    assert subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout == "plain False\n"


@pytest.mark.thread_unsafe
@pytest.mark.skipif(not HAS_OWN_HPY, reason="the interpreter has no HPy of its own")
def test_on_the_interpreter_s_own_runtime_modules_load_in_its_plain_mode_only(
    built: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hpy, "_runtime", importlib.import_module("_hpy_universal"))
    assert hpy.context_name() == "HPy Universal ABI (PyPy)"
    assert hpy.load("theirs", built("theirs")).origin == "theirs"
    with pytest.raises(ImportError, match="is not an HPy universal module named 'other'"):
        hpy.load("other", built("theirs"))
    for mode in ("debug", "trace"):
        with pytest.raises(ImportError, match=rf"the {mode} mode is that of ffi_hpy's own HPy runtime"):
            hpy.load("theirs", built("theirs"), **{mode: True})


# ---- files that are refused ----


def test_a_missing_file_is_an_import_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "plain.hpy0.so"
    with pytest.raises(ImportError) as caught:
        hpy.load("plain", path)
    assert (caught.value.name, caught.value.path) == ("plain", str(path))
    assert str(path) in said_about(caught.value)


def test_a_file_that_is_not_a_library_is_an_import_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "plain.hpy0.so"
    path.write_bytes(b"\x7fELF, but not really")
    with pytest.raises(ImportError) as caught:
        hpy.load("plain", path)
    assert str(path) in said_about(caught.value)


def test_another_module_name_is_an_import_error_that_names_the_file(built: Callable[..., Path]) -> None:
    with pytest.raises(ImportError) as caught:
        hpy.load("other", built("plain"))
    assert str(built("plain")) in said_about(caught.value)


def test_a_newer_abi_is_a_runtime_error_that_names_the_file_and_both_versions(built: Callable[..., Path]) -> None:
    with pytest.raises(RuntimeError, match=r"version: 7\.0\. Current HPy version: 0\.0") as caught:
        hpy.load("newer", built("newer", "NEWER_ABI"))
    assert str(built("newer", "NEWER_ABI")) in said_about(caught.value)


def test_a_file_for_the_cpython_abi_is_an_import_error_with_the_reason(built: Callable[..., Path]) -> None:
    path = built("other", "CPYTHON_ONLY")
    with pytest.raises(ImportError, match="built for the CPython ABI") as caught:
        hpy.load("other", path)
    assert str(path) in said_about(caught.value)


def test_a_hybrid_file_for_another_interpreter_is_an_import_error_with_the_reason(placed: Callable[..., Path]) -> None:
    path = placed("plain.hpy0-cp38.so")
    with pytest.raises(ImportError, match=r"hybrid ABI and the interpreter cp38, and this is ") as caught:
        hpy.load("plain", path)
    assert str(path) in str(caught.value)


def test_a_module_without_init_function_is_an_import_error_that_names_the_file(built: Callable[..., Path]) -> None:
    path = built("lacking", "NO_INIT")
    with pytest.raises(ImportError, match="HPyInit_lacking") as caught:
        hpy.load("lacking", path)
    assert str(path) in said_about(caught.value)


def test_an_exception_of_exec_is_raised_unchanged_with_a_note_that_names_the_file(built: Callable[..., Path]) -> None:
    path = built("raising", "RAISING")
    with pytest.raises(KeyError, match="from exec") as caught:
        hpy.load("raising", path)
    assert caught.value.__notes__ == [f"raised while the HPy module 'raising' was loaded from {path}"]


def test_an_empty_list_of_legacy_methods_is_accepted(built: Callable[..., Path]) -> None:
    assert hpy.load("empty", built("empty")).origin == "empty"


def test_a_legacy_method_is_a_system_error_that_names_it(built: Callable[..., Path]) -> None:
    path = built("legacy", "LEGACY_METHOD")
    with pytest.raises(SystemError, match="'legacy' defines the legacy method 'old'") as caught:
        hpy.load("legacy", path)
    assert str(path) in said_about(caught.value)


@pytest.mark.parametrize("slot", [66, 4711])
def test_a_slot_that_is_not_a_module_s_is_a_system_error_with_its_number(built: Callable[..., Path], slot: int) -> None:
    path = built("stray", f"STRAY_SLOT={slot}")
    with pytest.raises(SystemError, match=rf"got slot {slot}\b") as caught:
        hpy.load("stray", path)
    assert str(path) in said_about(caught.value)


# ---- import ----


@pytest.mark.thread_unsafe
def test_install_and_uninstall_can_be_repeated() -> None:
    before = list(sys.meta_path)
    hpy.install()
    hpy.install()
    assert len(sys.meta_path) == len(before) + 1
    hpy.uninstall()
    hpy.uninstall()
    assert sys.meta_path == before


@pytest.mark.thread_unsafe
def test_import_finds_a_module_and_sets_importlib_s_attributes(installed: Path, placed: Callable[..., Path]) -> None:
    path = placed("found.hpy0.so")
    module = importlib.import_module("found")
    assert sys.modules["found"] is module
    assert module.origin == "found"
    assert (module.__file__, module.__package__) == (str(path), "")
    assert module.__spec__.loader is module.__loader__
    assert isinstance(module.__loader__, hpy.HPyLoader)
    assert importlib.reload(module) is module


@pytest.mark.thread_unsafe
def test_without_the_finder_the_module_is_not_found(installed: Path, placed: Callable[..., Path]) -> None:
    placed("found.hpy0.so")
    hpy.uninstall()
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("found")


@pytest.mark.thread_unsafe
def test_a_file_that_appears_later_is_found(installed: Path, placed: Callable[..., Path]) -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("late")
    placed("late.hpy0.so")
    importlib.invalidate_caches()
    assert importlib.import_module("late").origin == "late"


@pytest.mark.thread_unsafe
def test_modules_in_packages_and_packages_are_found(installed: Path, placed: Callable[..., Path]) -> None:
    placed("box/inner.hpy0.so")
    (installed / "box" / "__init__.py").write_text("")
    placed("native/__init__.hpy0.so")
    (installed / "native" / "sub.py").write_text("value = 5")
    inner = importlib.import_module("box.inner")
    assert (inner.__name__, inner.__package__, inner.origin) == ("box.inner", "box", "inner")
    assert importlib.import_module("native").origin == "native"
    assert importlib.import_module("native.sub").value == 5


@pytest.mark.thread_unsafe
def test_the_binary_comes_before_source_in_its_folder_but_after_an_earlier_folder(
    installed: Path, placed: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    placed("stubbed.hpy0.so")
    (installed / "stubbed.py").write_text("origin = 'stub'")
    placed("hidden.hpy0.so")
    placed("shape.hpy0.so")
    (installed / "shape").mkdir()
    (installed / "shape" / "__init__.py").write_text("origin = 'package'")
    (installed / "first").mkdir()
    (installed / "first" / "hidden.py").write_text("origin = 'earlier'")
    monkeypatch.syspath_prepend(str(installed / "first"))
    assert importlib.import_module("stubbed").origin == "stubbed"
    assert importlib.import_module("hidden").origin == "earlier"
    assert importlib.import_module("shape").origin == "package"


@pytest.mark.thread_unsafe
def test_a_module_that_raises_is_not_left_in_sys_modules(installed: Path, placed: Callable[..., Path]) -> None:
    path = placed("raising.hpy0.so", "RAISING")
    with pytest.raises(KeyError, match="from exec") as caught:
        importlib.import_module("raising")
    assert str(path) in said_about(caught.value)
    assert "raising" not in sys.modules
