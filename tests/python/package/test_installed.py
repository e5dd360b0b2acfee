"""An environment in which ffi_hpy is importable as tvm_ffi: python -m ffi_hpy.dropin install, uninstall, status."""

import ctypes
import os
import sys
from pathlib import Path

import pytest
from support.environments import ANSWERS, Environment, make_wheel

from ffi_hpy import dropin

pytestmark = [pytest.mark.one_of_each, pytest.mark.thread_unsafe(reason="makes whole environments")]

INSTALLERS = ["pip", "uv"]
SAYS_VERSION = "import importlib.metadata as m; print(m.version('apache-tvm-ffi'))"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An environment with the drop-in package installed, for read-only tests."""
    env = Environment(tmp_path_factory.mktemp("installed") / "env")
    env.dropin("install")
    return env


# --- imports --------------------------------------------------------------------------------------------------------


def test_plain_programs_find_ffi_hpy_under_both_names(installed):
    program = installed.folder / "program.py"
    program.write_text(
        "import tvm_ffi, tvm_ffi.core, ffi_hpy\n"
        "from tvm_ffi.registry import register_object\n"
        "assert tvm_ffi is ffi_hpy and tvm_ffi.core is ffi_hpy.core\n"
        f"{SAYS_VERSION}\n"
        "print(tvm_ffi.Array([1]), any(file.name == 'libtvm_ffi.so' for file in m.files('apache-tvm-ffi')))\n"
    )
    assert installed.run(program) == f"{dropin.ABI_VERSION}\n(1,) True\n"
    assert installed.run("-c", SAYS_VERSION) == f"{dropin.ABI_VERSION}\n"
    assert installed.run("-I", "-c", "import tvm_ffi; print(tvm_ffi.__name__)") == "ffi_hpy\n"


def test_the_commands_are_on_the_path(installed):
    assert installed.command("tvm-ffi-config", "--libs") == "-ltvm_ffi\n"
    assert installed.run("-m", "tvm_ffi.config", "--libs") == "-ltvm_ffi\n"
    assert "usage: ffi-hpy-stubgen" in installed.command("tvm-ffi-stubgen", "--help")


def test_the_commands_of_a_folder_of_any_name_start(tmp_path):
    env = Environment(tmp_path / "an env, größer")
    before = env.files()
    locale = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    if sys.implementation.name == "pypy" or sys.version_info >= (3, 12):
        locale = {}  # these interpreters load no library from such a folder in such a locale
    env.variables.update(locale)
    env.dropin("install")
    for name in locale:
        del env.variables[name]
    assert env.command("tvm-ffi-config", "--libs") == "-ltvm_ffi\n"
    assert env.run("-c", ANSWERS) == f"ffi_hpy {dropin.ABI_VERSION}\n"
    env.install_with("pip", "uninstall", "apache-tvm-ffi")
    assert env.files() == before


LOOKS = """
import os
from importlib.util import find_spec
(folder,) = find_spec("tvm_ffi").submodule_search_locations
print([os.path.exists(os.path.join(folder, path)) for path in ("include/tvm/ffi/c_api.h", "lib/libtvm_ffi.so",
    "share/cmake/tvm_ffi/tvm_ffi-config.cmake", "core.py", "py.typed")])
"""


def test_a_search_for_headers_without_an_import_finds_them(installed):
    assert installed.run("-c", LOOKS) == f"{[True] * 5}\n"
    assert installed.run("-c", f"import tvm_ffi{LOOKS}") == f"{[True] * 5}\n"
    assert installed.dropin("-c", LOOKS) == f"{[True] * 5}\n"
    program = "from importlib.resources import files; print((files('tvm_ffi') / 'include/tvm/ffi/c_api.h').is_file())"
    assert installed.run("-c", program) == "True\n"


def test_the_commands_are_entry_points(installed):
    program = "import importlib.metadata as m; print([e.value for e in m.distribution('apache-tvm-ffi').entry_points])"
    for importing in ("", "import tvm_ffi; "):
        assert installed.run("-c", importing + program) == "['tvm_ffi.config:main', 'tvm_ffi.stub.cli:main']\n"


IN_THREADS = """
import threading
names, start = [], threading.Barrier(8)
def use():
    start.wait()
    from tvm_ffi.registry import register_object
    import tvm_ffi
    names.append(tvm_ffi.Array([1]))
threads = [threading.Thread(target=use) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(names))
"""


def test_threads_import_it_at_once(installed):
    for _ in range(4):
        assert installed.run("-c", IN_THREADS) == "8\n"
        assert installed.dropin("-c", IN_THREADS) == "8\n"


def test_programs_and_libraries_that_a_program_loads_find_it(installed):
    program = installed.folder / "program.py"
    program.write_text(
        "import multiprocessing, pickle\n"
        "def work(queue):\n"
        "    import tvm_ffi\n"
        "    queue.put(tvm_ffi.__name__)\n"
        "if __name__ == '__main__':\n"
        "    context = multiprocessing.get_context('spawn')\n"
        "    queue = context.Queue()\n"
        "    child = context.Process(target=work, args=(queue,))\n"
        "    child.start()\n"
        "    print(queue.get(), pickle.loads(b'ctvm_ffi.container\\nArray\\n.').__name__)\n"
        "    child.join()\n"
    )
    assert installed.run("-P" if sys.version_info >= (3, 11) else "-E", program) == "ffi_hpy Array\n"


def test_an_interpreter_imports_nothing_of_it_when_it_starts(installed):
    program = "import sys; print([name for name in sys.modules if name.partition('.')[0] in ('ffi_hpy', 'tvm_ffi')])"
    assert installed.run("-c", program) == "[]\n"
    (pth,) = installed.packages.glob("ffi_hpy_dropin-*.pth")
    assert "import" not in pth.read_text()


def test_another_version_is_reported_to_satisfy_a_pin(env):
    env.dropin("install", "--as", "0.1.12")
    assert env.run("-c", SAYS_VERSION) == "0.1.12\n"
    assert env.run("-c", f"import tvm_ffi; {SAYS_VERSION}") == "0.1.12\n"
    assert env.dropin("-c", SAYS_VERSION).splitlines() == ["0.1.12"]


def test_as_tvm_ffi_the_package_has_the_reported_version(env):
    env.dropin("install", "--as", "0.1.12")
    says = "print(m.__version__, m.__version_tuple__, m._version.version)"
    assert env.run("-c", f"import tvm_ffi as m, tvm_ffi._version; {says}") == "0.1.12 (0, 1, 12) 0.1.12\n"
    own = env.run("-c", "import importlib.metadata as m; print(m.version('ffi-hpy'))")
    assert env.run("-c", "import ffi_hpy as m; print(m.__version__)") == own
    assert env.run("-c", "import ffi_hpy as m; m.__version__; import tvm_ffi; print(m.__version__)") == "0.1.12\n"
    assert env.dropin("-c", "import tvm_ffi; print(tvm_ffi.__version__)").splitlines() == ["0.1.12"]
    assert f"ffi_hpy {own.strip()}," in env.dropin("status")


def test_devices_have_the_names_that_the_reported_release_takes(env):
    program = "import tvm_ffi as f; print(*map(f.device, ['llvm', 'c:1', 'test', 'nvptx', 'cl']))"
    env.dropin("install", "--as", "0.1.12")
    assert env.run("-c", program) == "cpu:0 cpu:1 cpu:0 cuda:0 opencl:0\n"
    env.dropin("install", "--as", "0.1.13.post3")
    assert env.run("-c", program, fails=True).endswith("ValueError: Unknown device: llvm\n")


@pytest.mark.parametrize("version", ["", "latest", "v0.1", "0.1-2", "../0.1"])
def test_an_invalid_version_is_not_installed(version, capsys):
    assert dropin.main(["install", "--as", version]) == 1
    says = capsys.readouterr().err
    assert says == f"ffi_hpy.dropin: --as: expected a version such as {dropin.ABI_VERSION}, got {version!r}\n"


def test_the_status_names_the_importable_package(env, real):
    says = env.dropin("status", fails=True)
    assert "tvm_ffi: nothing answers; `python -m ffi_hpy.dropin install`" in says
    assert "apache-tvm-ffi: not installed\n" in says
    env.dropin("install", "--as", "0.1.12")
    says = env.dropin("status")
    assert f", {env.packages / 'ffi_hpy'}\n" in says
    folder = env.packages / "apache_tvm_ffi-0.1.12.dist-info"
    assert f"apache-tvm-ffi: 0.1.12, ffi_hpy in its place, {folder}\n" in says
    assert f"tvm-ffi-config: {env.folder / 'bin' / 'tvm-ffi-config'}\n" in says
    env.dropin("uninstall")
    env.install_with("pip", "install", real)
    says = env.dropin("status", fails=True)
    assert f"tvm_ffi: not ffi_hpy, {env.packages / 'tvm_ffi' / '__init__.py'}\n" in says
    assert "apache-tvm-ffi: 0.1.99, the real one, " in says


# --- paths ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def users(tmp_path):
    """An environment whose interpreter also uses a user's folder of packages."""
    env = Environment(tmp_path / "env", sees_system=True)
    env.variables["PYTHONUSERBASE"] = str(tmp_path / "user")
    return env


def test_an_installation_for_the_user_alone_works(users, tmp_path):
    before = users.files()
    says = users.dropin("install", "--user")
    commands = tmp_path / "user" / "bin"
    assert f"tvm-ffi-config and tvm-ffi-stubgen are in {commands}, which is not on PATH" in says
    assert users.files() == before
    assert users.run("-c", f"import tvm_ffi; {SAYS_VERSION}") == f"{dropin.ABI_VERSION}\n"
    users.variables["PATH"] = os.pathsep.join([str(commands), users.variables["PATH"]])
    assert users.command("tvm-ffi-config", "--libs") == "-ltvm_ffi\n"
    assert users.run("-s", "-c", ANSWERS) == "None None\n"
    users.dropin("uninstall", "--user")
    assert [path for path in (tmp_path / "user").rglob("*") if path.is_file()] == []


def test_the_stand_in_is_installed_beside_the_users_ffi_hpy_and_pip_removes_it(env, tmp_path):
    if sys.prefix == sys.base_prefix:
        pytest.skip("the tests do not run in a virtual environment")
    env.python = Path(sys.executable).resolve()
    env.variables.update(PYTHONUSERBASE=str(tmp_path / "user"), PIP_BREAK_SYSTEM_PACKAGES="1")
    user = Path(env.run("-m", "site", "--user-site", fails=None).strip())
    user.parent.mkdir(parents=True)
    env.packages.rename(user)
    before = set(user.iterdir()) | {user / "__pycache__"}
    assert f"is ffi_hpy from here on, in {user}\n" in env.dropin("install")
    assert env.run("-c", ANSWERS) == f"ffi_hpy {dropin.ABI_VERSION}\n"
    env.install_with("pip", "uninstall", "apache-tvm-ffi")
    assert set(user.iterdir()) | {user / "__pycache__"} == before


def test_a_virtual_environment_that_sees_no_user_has_no_place_for_one(env):
    assert "--user: the interpreter" in env.dropin("install", "--user", fails=True)


def test_a_real_one_that_comes_first_is_refused_and_one_that_comes_later_is_hidden(users, real):
    users.install_with("pip", "install", "--user", real)
    assert users.run("-c", "import tvm_ffi; print(tvm_ffi.NAME)") == "the real one\n"
    users.dropin("install")
    assert users.run("-c", ANSWERS) == f"ffi_hpy {dropin.ABI_VERSION}\n"
    users.dropin("uninstall")
    users.install_with("pip", "install", "--force-reinstall", real)
    assert "and is not overwritten" in users.dropin("install", "--user", fails=True)


def test_a_checkout_that_is_not_installed_answers_without_its_path(tmp_path):
    other = Environment(tmp_path / "other")
    env = Environment(tmp_path / "env", has_ffi_hpy=False)
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (other.packages / "ffi_hpy").rename(checkout / "ffi_hpy")
    env.variables["PYTHONPATH"] = str(checkout)
    env.dropin("install")
    del env.variables["PYTHONPATH"]
    assert env.run("-c", ANSWERS) == f"ffi_hpy {dropin.ABI_VERSION}\n"
    assert [env.complaints(installer) for installer in INSTALLERS] == [[], []]
    assert env.command("tvm-ffi-config", "--libs") == "-ltvm_ffi\n"


def test_an_editable_installation_answers(tmp_path):
    other = Environment(tmp_path / "other")
    env = Environment(tmp_path / "env", has_ffi_hpy=False)
    (other.packages / "ffi_hpy").rename(tmp_path / "ffi_hpy")
    (metadata,) = other.packages.glob("ffi_hpy-*.dist-info")
    metadata.rename(env.packages / metadata.name)
    (env.packages / "__editable__.ffi_hpy.pth").write_text(f"{tmp_path}\n")
    env.dropin("install")
    assert env.run("-c", ANSWERS) == f"ffi_hpy {dropin.ABI_VERSION}\n"
    (folder,) = env.packages.glob("apache_tvm_ffi-*.dist-info")
    assert "Requires-Dist: ffi-hpy\n" in (folder / "METADATA").read_text()


def heed_modes():
    """At the start of a process: make even the superuser obey file modes (capabilities(7))."""
    ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE


def test_a_folder_that_cannot_be_written_is_an_error_with_a_remedy(env):
    before = env.files()
    env.packages.chmod(0o555)
    try:
        says = env.dropin("install", fails=True, before=heed_modes)
    finally:
        env.packages.chmod(0o755)
    assert f"cannot write into {env.packages}" in says
    assert "make the virtual environment writable, or use another" in says
    assert env.files() == before


def test_an_environment_that_cannot_be_written_leaves_it_to_the_user(users, tmp_path):
    users.packages.chmod(0o555)
    try:
        users.dropin("install", before=heed_modes)
    finally:
        users.packages.chmod(0o755)
    assert users.run("-c", ANSWERS) == f"ffi_hpy {dropin.ABI_VERSION}\n"
    assert list((tmp_path / "user").rglob("apache_tvm_ffi-*.dist-info"))


# --- hpy ------------------------------------------------------------------------------------------------------------

IS_PYPY = sys.implementation.name == "pypy"

ASKS_HPY = """
import importlib.metadata, hpy.universal, hpy.debug, hpy.trace
from hpy.devel.abitag import get_hpy_ext_suffix
found = importlib.metadata.distribution("hpy")
print(found.version, *{f"{entry.name}={entry.value}" for entry in found.entry_points}, get_hpy_ext_suffix("universal"))
"""


@pytest.mark.parametrize("installer", INSTALLERS)
def test_hpy_is_installed_and_removed_by_itself(env, installer):
    before = env.files()
    env.dropin("install", "hpy")
    version = "0.9.1.dev61+g79fb330d" if IS_PYPY else "0.9.0"  # PyPy's own metadata come first
    assert env.run("-c", ASKS_HPY) == f"{version} hpy_ext_modules=hpy.devel:handle_hpy_ext_modules .hpy0.so\n"
    assert "hpy: 0.9.0, ffi_hpy in its place" in env.dropin("status", "hpy")
    assert "No module named 'tvm_ffi'" in env.run("-c", "import tvm_ffi", fails=True)
    assert env.complaints(installer) == []
    if IS_PYPY:
        env.dropin("uninstall", "hpy")
    else:
        assert "already satisfied" in env.install_with("pip", "install", "hpy==0.9.0")
        env.install_with(installer, "uninstall", "hpy")
    assert env.files() == before


def test_a_real_hpy_is_not_overwritten(env, tmp_path):
    env.install_with(
        "pip",
        "install",
        "--force-reinstall",
        make_wheel(tmp_path, "hpy", "0.9.0", {"hpy/__init__.py": "", "hpy/debug.py": ""}),
    )
    before = env.files()
    says = env.dropin("install", "hpy", fails=True)
    assert "hpy 0.9.0 is installed in" in says
    assert "is not overwritten" in says
    assert env.files() == before


PKG_RESOURCES = """
import sys
def __bootstrap__():
    from pkg_resources import resource_filename
    return resource_filename("__main__", "plain.so")
try:
    import pkg_resources
    print(hasattr(pkg_resources, "require"))
except ModuleNotFoundError as error:
    print(error.name, __bootstrap__(), "pkg_resources" in sys.modules)
"""


def test_only_stubs_of_hpy_find_pkg_resources(env):
    env.dropin("install", "hpy")
    program = env.folder / "program.py"
    program.write_text(PKG_RESOURCES)
    assert env.run(program) in (f"pkg_resources {env.folder / 'plain.so'} False\n", "True\n")


# --- nanobind ---------------------------------------------------------------------------------------------------------

ASKS_NANOBIND = """
import importlib.metadata, importlib.resources, nanobind, nanobind.stubgen
from pathlib import Path
(entry,) = importlib.metadata.distribution("nanobind").entry_points
print(entry.group, entry.name, importlib.resources.files(entry.value).joinpath("nanobind-config.cmake").is_file())
print(nanobind.__version__, importlib.metadata.version("nanobind"), nanobind.source_dir() == nanobind.__path__[0])
print(Path(nanobind.include_dir(), "nanobind/stl/vector.h").exists(), nanobind.stubgen.main.__name__)
"""


@pytest.mark.parametrize("version", ["3.1.0", "2.4.0"])
def test_nanobind_is_installed_and_removed_by_itself(env, version):
    before = env.files()
    env.dropin("install", "nanobind", "--as", version)
    assert env.run("-c", ASKS_NANOBIND) == (f"cmake.root nanobind True\n{version} {version} True\nTrue main\n")
    include, cmake = map(Path, env.run("-m", "nanobind", "--cmake_dir", "--include_dir").split())
    assert {path.name for path in (include, cmake)} == {"include", "cmake"}
    assert (cmake / "nanobind-config.cmake").exists()
    assert (include / "nanobind" / "nanobind.h").exists()
    assert env.run("-m", "nanobind", "--version") == f"{version}\n"
    assert "--pattern-file" in env.run("-m", "nanobind.stubgen", "--help")
    assert "already satisfied" in env.install_with("pip", "install", f"nanobind=={version}")
    env.dropin("uninstall", "nanobind")
    assert env.files() == before


def test_programs_of_tvm_ffi_find_no_nanobind(env):
    program = "import importlib.util; print(importlib.util.find_spec('nanobind'))"
    assert env.dropin("-c", program) == "None\n"
