"""hpy as provided by the drop-in package: imports of stubs, debug mode, and building with setuptools."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
import textwrap
import zipfile
from pathlib import Path

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).resolve().parent
needs_setuptools = pytest.mark.skipif(importlib.util.find_spec("setuptools") is None, reason="setuptools is missing")

STUB_OF_HPY_09 = """
    def __bootstrap__():
        from sys import modules
        from os import environ
        from pkg_resources import resource_filename
        from hpy.universal import _load_bootstrap
        modules[__name__] = _load_bootstrap(
            "plain", __name__, __package__, resource_filename(__name__, "plain.hpy0.so"),
            __loader__, __spec__, environ)

    __bootstrap__()
"""
"""The code of the stubs that hpy 0.9 writes."""


def run(folder: Path, *arguments: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m ffi_hpy.dropin` with arguments, in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "ffi_hpy.dropin", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=240,
    )


def out_of(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def stubbed(placed: Callable[..., Path], tmp_path: Path) -> Path:
    """Make a folder with a universal module and a stub as hpy 0.9 writes it."""
    placed("package/plain.hpy0.so")
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "package" / "plain.py").write_text(textwrap.dedent(STUB_OF_HPY_09))
    return tmp_path


# ---- imports of stubs ----


def test_a_stub_of_hpy_09_loads_its_module(stubbed: Path) -> None:
    program = """
        from package import plain
        print(plain.origin, plain.__name__, plain.__package__, plain.__file__ == plain.__spec__.origin, plain.__file__)
    """
    said = out_of(run(stubbed, "-c", textwrap.dedent(program)))
    assert said.split() == ["plain", "package.plain", "package", "True", str(stubbed / "package" / "plain.hpy0.so")]


@pytest.mark.skipif(importlib.util.find_spec("pkg_resources") is not None, reason="there is a pkg_resources")
def test_pkg_resources_is_missing_to_all_but_stubs(stubbed: Path) -> None:
    program = """
        def ask():
            try:
                import pkg_resources
            except ModuleNotFoundError as error:
                return error.name
        print(ask())
        import package.plain
        print(ask())
    """
    assert out_of(run(stubbed, "-c", textwrap.dedent(program))).split() == ["pkg_resources", "pkg_resources"]


def test_HPY_says_in_which_mode_a_stub_loads(stubbed: Path) -> None:
    program = "import package.plain"
    for value, said in {
        "debug": "Loading 'plain' in HPy universal mode with a debug context\n",
        "plain:debug": "Loading 'plain' in HPy universal mode with a debug context\n",
        "other:debug,plain:universal": "Loading 'plain' in HPy universal mode\n",
        "other:debug,plain:trace": "Loading 'plain' in HPy universal mode with a trace context\n",
    }.items():
        assert out_of(run(stubbed, "-c", program, HPY=value, HPY_LOG="1")) == said
    assert out_of(run(stubbed, "-c", program)) == ""


def test_a_mode_that_does_not_exist_is_an_error(stubbed: Path) -> None:
    done = run(stubbed, "-c", "import package.plain", HPY="slow")
    assert done.returncode == 1
    assert "ValueError: invalid HPy mode: expected universal, debug, trace in HPY='slow', got 'slow'" in done.stderr


def test_the_distribution_hpy_is_there_with_its_keyword_of_setuptools(tmp_path: Path) -> None:
    program = """
        from importlib.metadata import distribution
        hpy = distribution("hpy")
        print(hpy.version, *(f"{entry.group}:{entry.name}={entry.value}" for entry in hpy.entry_points))
    """
    said = out_of(run(tmp_path, "-c", textwrap.dedent(program)))
    assert said.split() == ["0.9.0", "distutils.setup_keywords:hpy_ext_modules=hpy.devel:handle_hpy_ext_modules"]


# ---- debug mode ----


def test_the_leak_detector_names_the_object_of_an_open_handle(stubbed: Path) -> None:
    program = """
        import hpy.debug, package.plain
        with hpy.debug.LeakDetector():
            pass
        try:
            with hpy.debug.LeakDetector():
                package.plain.leak("forgotten")
        except hpy.debug.HPyLeakError as error:
            print(error)
            print(len(error.leaks), error.leaks[0].obj, error.leaks[0].is_closed)
    """
    said = out_of(run(stubbed, "-c", textwrap.dedent(program), HPY="debug"))
    assert said.startswith("1 unclosed handle:\n    <DebugHandle 0x")
    assert "for 'forgotten'>" in said
    assert said.endswith("1 forgotten False\n")


def test_the_fixture_hpy_debug_fails_a_test_that_leaks(stubbed: Path) -> None:
    tests = """
        from hpy.debug.pytest import hpy_debug
        import package.plain

        def test_tidy(hpy_debug):
            package.plain.origin

        def test_leaking(hpy_debug):
            package.plain.leak("forgotten")
    """
    (stubbed / "test_leaks.py").write_text(textwrap.dedent(tests))
    done = run(stubbed, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_leaks.py", HPY="debug")
    assert "2 passed, 1 error" in done.stdout, done.stdout + done.stderr
    assert "HPyLeakError: 1 unclosed handle" in done.stdout


# ---- trace mode ----


def test_trace_mode_counts_the_calls_of_each_function_of_hpy(stubbed: Path) -> None:
    program = """
        import hpy.trace, package.plain
        counts, durations = hpy.trace.get_call_counts(), hpy.trace.get_durations()
        package.plain.leak("forgotten")
        now = hpy.trace.get_call_counts()
        print({name: now[name] - n for name, n in counts.items() if now[name] != n})
        longer = hpy.trace.get_durations()
        changed = {name for name, n in durations.items() if longer[name] != n}
        print(changed <= {"ctx_Dup"}, len(now), now["ctx_SetAttr_s"])
        print(hpy.trace.get_frequency() > 1000, counts.keys() == durations.keys())
    """
    said = out_of(run(stubbed, "-c", textwrap.dedent(program), HPY="trace"))
    assert said == "{'ctx_Dup': 2}\nTrue 180 1\nTrue True\n"


def test_trace_functions_are_called_before_and_after(stubbed: Path) -> None:
    program = """
        import hpy.trace, package.plain, sys
        told = []
        def on_enter(name):
            told.append(f"> {name}")
            package.plain.leak(None)  # not reported
        def on_exit(name):
            told.append(f"< {name}")
        def tell():
            package.plain.leak(None)
            print(*told, sep=", ")
            told.clear()
        hpy.trace.set_trace_functions(on_enter)
        tell()
        hpy.trace.set_trace_functions(on_exit=on_exit)
        tell()
        hpy.trace.set_trace_functions(on_enter=None)
        tell()
        try:
            hpy.trace.set_trace_functions(None, 1)
        except TypeError as error:
            print(error)
        hpy.trace.set_trace_functions(on_exit=lambda name: 1 / 0)
        sys.unraisablehook = lambda unraisable: print(unraisable.exc_value)
        package.plain.leak(None)
    """
    said = out_of(run(stubbed, "-c", textwrap.dedent(program), HPY="trace")).splitlines()
    assert said == [
        "> ctx_Dup, > ctx_Dup",
        "> ctx_Dup, < ctx_Dup, > ctx_Dup, < ctx_Dup",
        "< ctx_Dup, < ctx_Dup",
        "expected a callable object or None, got 1",
        *["division by zero"] * 2,
    ]


# ---- building ----

SETUP = """
    from setuptools import Extension, setup

    setup(
        name="project",
        version="1.0",
        packages=["project"],
        hpy_ext_modules=[Extension("project.fast", ["module.c"], define_macros=[("NAME", "fast")])],
        setup_requires=["hpy"],
    )
"""


builds = pytest.mark.thread_unsafe(reason="threads would build in one folder")


@pytest.fixture
def project(tmp_path: Path, include: str) -> tuple[Path, dict[str, str]]:
    """Return the folder of a project with an HPy module, and the environment of its build."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "__init__.py").touch()
    (tmp_path / "module.c").write_text((HERE / "module.c").read_text())
    (tmp_path / "setup.py").write_text(textwrap.dedent(SETUP))
    return tmp_path, {"FFI_HPY_HPY_DIR": str(Path(include).parent)}


@needs_setuptools
@builds
def test_hpy_ext_modules_gives_a_universal_module_with_a_stub(project: tuple[Path, dict[str, str]]) -> None:
    folder, environ = project
    out_of(run(folder, "setup.py", "build_ext", "--inplace", **environ))
    assert sorted(path.name for path in (folder / "project").iterdir()) == ["__init__.py", "fast.hpy0.so", "fast.py"]
    assert out_of(run(folder, "-c", "from project import fast; print(fast.__name__)")) == "project.fast\n"


@pytest.mark.same_everywhere
@needs_setuptools
@builds
def test_each_abi_is_built_in_a_separate_folder(project: tuple[Path, dict[str, str]]) -> None:
    folder, environ = project
    out_of(run(folder, "setup.py", "bdist_wheel", **environ))
    (wheel,) = (folder / "dist").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"project/fast.hpy0.so", "project/fast.py"} <= set(names)
    built = [path.name for path in (folder / "build").glob("lib*")]
    assert len(built) == 1
    assert built[0].endswith("-hpy-universal")


@needs_setuptools
@builds
def test_an_sdist_holds_the_sources_of_the_project_and_no_others(project: tuple[Path, dict[str, str]]) -> None:
    folder, environ = project
    out_of(run(folder, "setup.py", "sdist", "--formats=zip", **environ))
    (sdist,) = (folder / "dist").glob("*.zip")
    assert [name for name in zipfile.ZipFile(sdist).namelist() if name.endswith(".c")] == ["project-1.0/module.c"]


@pytest.mark.same_everywhere
@needs_setuptools
@builds
def test_an_editable_build_links_modules_and_stubs(project: tuple[Path, dict[str, str]]) -> None:
    folder, environ = project
    program = """
        from setuptools.build_meta import build_editable
        print(build_editable("dist", {"editable_mode": "strict"}))
    """
    out_of(run(folder, "-c", textwrap.dedent(program), **environ))
    (links,) = (folder / "build").glob("__editable__*")
    assert sorted(path.name for path in (links / "project").iterdir()) == ["__init__.py", "fast.hpy0.so", "fast.py"]
    assert out_of(run(links, "-c", "from project import fast; print(fast.__name__)")) == "project.fast\n"


@pytest.mark.same_everywhere
@needs_setuptools
@builds
def test_modules_of_both_kinds_stand_in_one_project(project: tuple[Path, dict[str, str]]) -> None:
    folder, environ = project
    (folder / "plain.c").write_text("#include <Python.h>\nPyMODINIT_FUNC PyInit_plain(void) { return NULL; }\n")
    setup = (folder / "setup.py").read_text()
    both = setup.replace(
        "    hpy_ext_modules", "    ext_modules=[Extension('project.plain', ['plain.c'])],\n    hpy_ext_modules"
    )
    (folder / "setup.py").write_text(both)
    out_of(run(folder, "setup.py", "build_ext", "--inplace", **environ))
    plain = f"plain{sysconfig.get_config_var('EXT_SUFFIX')}"
    names = sorted(path.name for path in (folder / "project").iterdir())
    assert names == ["__init__.py", "fast.hpy0.so", "fast.py", plain]


@needs_setuptools
@builds
def test_an_abi_that_does_not_exist_is_an_error(project: tuple[Path, dict[str, str]]) -> None:
    folder, environ = project
    done = run(folder, "setup.py", "--hpy-abi=other", "build", **environ)
    assert "--hpy-abi: expected universal, hybrid, cpython, got 'other'" in done.stderr


def test_the_wheel_of_hpy_has_headers_and_is_preferred_to_hpy_09(tmp_path: Path, include: str) -> None:
    folder = tmp_path / "wheels"
    said = out_of(run(tmp_path, "-m", "hpy.devel.wheel", folder, FFI_HPY_HPY_DIR=str(Path(include).parent)))
    wheel = Path(said.strip())
    assert wheel == folder / "hpy-0.9.0+ffi.hpy-py3-none-any.whl"
    archive = zipfile.ZipFile(wheel)
    names = archive.namelist()
    assert {"hpy/devel/include/hpy.h", "hpy/devel/src/runtime/argparse.c", "hpy/universal.py"} <= set(names)
    record = archive.read("hpy-0.9.0+ffi.hpy.dist-info/RECORD").decode()
    assert [line.partition(",")[0] for line in record.splitlines()] == names


def test_suffixes_name_the_interpreter(tmp_path: Path) -> None:
    program = """
        from hpy.devel.abitag import get_hpy_ext_suffix as suffix, parse_ext_suffix as parse
        print(suffix("universal"), suffix("hybrid", ".cpython-310-x86_64-linux-gnu.so"), suffix("cpython"))
        print(*parse(".cp310-win_amd64.pyd"), *parse(".pypy311-pp80-x86_64-linux-gnu.so"))
    """
    said = out_of(run(tmp_path, "-c", textwrap.dedent(program)))
    assert said.split() == [
        ".hpy0.so",
        ".hpy0-cp310.so",
        sysconfig.get_config_var("EXT_SUFFIX"),
        *("cp310", "pyd", "pypy311-pp80", "so"),
    ]
