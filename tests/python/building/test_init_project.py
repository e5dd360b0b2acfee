"""The command ffi-hpy-init: the project that it writes builds with CMake and passes its tests. `ci/newcomer` builds it
with pip, and runs mypy."""

import shutil
import subprocess
import sys
from functools import partial

import pytest
from support import IS_DEBUG, IS_OWN_DEBUG, run_main
from support.cmake_project import CMAKE, Project

import ffi_hpy._project.command as command
from ffi_hpy import libinfo


@pytest.fixture
def init(capsys):
    """Return a function that runs the command in this process and returns its exit status, stdout and stderr."""

    return partial(run_main, command.main, capsys)


@pytest.mark.thread_unsafe(reason="pytest captures the output of the process")
def test_the_project_has_the_given_name(init, tmp_path):
    status, said, complaint = init("heron", "--folder", tmp_path / "mine")
    assert (status, complaint, "written" in said) == (0, "", True)
    files = {path.relative_to(tmp_path / "mine").as_posix(): path for path in (tmp_path / "mine").rglob("*")}
    expected = {".github/workflows/wheels.yml", ".gitignore", "CMakeLists.txt", "README.md", "check_types.py"}
    expected |= {"pyproject.toml", "python/heron/__init__.py", "src/core.cc"}
    assert (tmp_path / "mine/tests/test_heron.py").exists()
    assert expected <= set(files)
    for path in files.values():
        assert path.is_dir() or "@NAME@" not in path.read_text()
    assert 'name = "heron"' in files["pyproject.toml"].read_text()


@pytest.mark.thread_unsafe(reason="pytest captures the output of the process")
@pytest.mark.parametrize("name", ["my-package", "2d", "class", "_hidden", "json", "möwe", "a.b", "", "ffi_hpy"])
def test_a_name_that_no_package_can_have(init, tmp_path, name):
    if name == "json" and not hasattr(sys, "stdlib_module_names"):
        name = "class"  # Python 3.9 does not list its modules
    status, _, complaint = init(name, "--folder", tmp_path)
    assert (status, f"got {name!r}" in complaint) == (2, True)
    assert not list(tmp_path.iterdir())


@pytest.mark.thread_unsafe(reason="pytest captures the output of the process")
@pytest.mark.parametrize(("name", "similar"), [("my-package", "my_package"), ("a.b", "a_b"), ("_x y", "x_y")])
def test_a_similar_name_is_proposed(init, tmp_path, name, similar):
    assert init(name, "--folder", tmp_path)[2].endswith(f"got {name!r}; {similar} is possible\n")


@pytest.mark.parametrize("name", ["ffi-hpy", "tvm ffi", "_pytest"])
def test_a_name_that_is_refused_is_not_proposed(init, tmp_path, name):
    assert init(name, "--folder", tmp_path)[2].endswith(f"got {name!r}\n")


@pytest.mark.thread_unsafe(reason="pytest captures the output of the process")
def test_files_that_exist_stay(init, tmp_path):
    (tmp_path / "note.txt").write_text("mine")
    assert init("heron", "--folder", tmp_path)[::2] == (
        2,
        f"ffi-hpy-init: {tmp_path} exists already, and is not an empty folder\n",
    )
    assert init("heron", "--folder", tmp_path / "note.txt")[0] == 2
    assert [path.name for path in tmp_path.iterdir()] == ["note.txt"]


@pytest.mark.same_everywhere
@pytest.mark.skipif(CMAKE is None, reason="ci/requirements/test.txt has CMake for one interpreter")
@pytest.mark.skipif(IS_DEBUG or IS_OWN_DEBUG, reason="programs that CMake builds know nothing of debug modes")
def test_the_project_builds_and_passes_its_tests(tmp_path):
    for path, text in command.files_of_project("heron").items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    project = Project(tmp_path)
    project.configure(f"-Dffi_hpy_ROOT={libinfo.find_cmake_path()}")
    project.make()
    place = tmp_path / "place"
    shutil.copytree(tmp_path / "python", place)
    project.cmake("--install", "build", "--prefix", place)
    assert {path.name for path in (place / "heron").iterdir()} == {"__init__.py", "_core.pyi", "_core.so", "py.typed"}
    program = f"import sys, pytest; sys.path.insert(0, {str(place)!r}); sys.exit(pytest.main(['-q', '-W', 'error']))"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert "2 passed" in done.stdout
    assert done.returncode == 0
