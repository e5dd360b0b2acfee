"""An environment that the drop-in, pip and uv change: existing packages, interruptions, several commands at once."""

import pytest
from support.environments import ANSWERS, make_wheel

pytestmark = [pytest.mark.once, pytest.mark.thread_unsafe(reason="makes whole environments")]

INSTALLERS = ["pip", "uv"]
SAYS_VERSION = "import importlib.metadata as m; print(m.version('apache-tvm-ffi'))"


# --- pip and uv -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("installer", INSTALLERS)
def test_a_package_that_depends_on_it_does_not_install_it(env, installer, tmp_path):
    requires = ["apache-tvm-ffi>=0.1.10,<0.2", "apache-tvm-ffi[cpp]"]
    client = make_wheel(tmp_path, "client", "1", {"client.py": "import tvm_ffi\n"}, requires)
    make_wheel(tmp_path, "ninja", "1.11", {})
    options = ["--find-links", tmp_path, client]
    env.install_with(installer, "install", *options, fails=True)
    env.dropin("install", "--as", "0.1.12")
    says = env.install_with(installer, "install", "--dry-run", *options)
    brings = says.partition("Would install")[2]
    assert "client" in brings
    assert "tvm" not in brings
    env.install_with(installer, "install", *options)
    assert env.complaints(installer) == []
    assert "apache-tvm-ffi" in env.install_with(installer, "list")
    assert env.run("-c", f"import client; {SAYS_VERSION}") == "0.1.12\n"


@pytest.mark.parametrize("installer", INSTALLERS)
def test_an_installer_removes_all_of_it(env, installer):
    before = env.files()
    env.dropin("install")
    env.run("-c", "import tvm_ffi")
    env.install_with(installer, "uninstall", "apache-tvm-ffi")
    assert env.files() == before


@pytest.mark.parametrize("installer", INSTALLERS)
def test_an_installer_puts_the_real_one_in_its_place(env, installer, real):
    env.dropin("install")
    env.run("-c", "import tvm_ffi")
    env.install_with(installer, "install", "--upgrade", "--find-links", real.parent, "apache-tvm-ffi")
    assert env.run("-c", "import tvm_ffi; print(tvm_ffi.NAME)") == "the real one\n"
    assert env.packages_named("tvm_ffi") == ["apache_tvm_ffi-0.1.99.dist-info", "tvm_ffi"]
    assert list(env.packages.glob("ffi_hpy_dropin*")) == []
    assert not (env.folder / "bin" / "tvm-ffi-config").exists()


@pytest.mark.parametrize("installer", INSTALLERS)
def test_without_ffi_hpy_a_check_and_an_import_say_so(env, installer):
    env.dropin("install")
    assert env.complaints(installer) == []
    (record,) = env.packages.glob("ffi_hpy-*.dist-info")
    record.rename(env.folder / "elsewhere")
    (env.packages / "ffi_hpy").rename(env.folder / "gone")
    assert len(env.complaints(installer)) == 1
    assert "install ffi-hpy again, or uninstall apache-tvm-ffi" in env.run("-c", "import tvm_ffi", fails=True)
    assert env.run("-c", "") == ""
    env.install_with(installer, "uninstall", "apache-tvm-ffi")
    assert [*env.packages_named("tvm"), *env.packages_named("dropin")] == []


# --- existing installations -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("installer", INSTALLERS)
def test_a_real_one_is_not_overwritten(env, installer, real):
    env.install_with(installer, "install", real)
    before = env.files()
    says = env.dropin("install", fails=True)
    assert f"apache-tvm-ffi 0.1.99 is installed in {env.packages}, and is not overwritten" in says
    remover = "uv pip" if installer == "uv" else "python -m pip"
    assert f"remove it with `{remover} uninstall apache-tvm-ffi` first" in says
    assert "ffi_hpy is not installed" in env.dropin("uninstall")
    assert env.files() == before


def test_a_module_of_no_distribution_is_not_overwritten(env):
    (env.packages / "tvm_ffi.py").write_text("")
    says = env.dropin("install", fails=True)
    assert f"there is a tvm_ffi in {env.packages}, of no distribution apache-tvm-ffi" in says


def test_a_command_of_another_is_not_overwritten(env):
    command = env.folder / "bin" / "tvm-ffi-stubgen"
    command.write_text("#!/bin/sh\n")
    before = env.files()
    assert f"{command} is there and not of ffi_hpy" in env.dropin("install", fails=True)
    assert env.files() == before


def test_installing_again_changes_nothing_and_as_another_version_replaces(env):
    before = env.files()
    env.dropin("install")
    first = env.files()
    assert "is ffi_hpy already" in env.dropin("install")
    assert env.files() == first
    env.dropin("install", "--as", "0.1.12")
    assert env.run("-c", f"import tvm_ffi; {SAYS_VERSION}") == "0.1.12\n"
    env.dropin("install")
    assert env.files() == first
    env.dropin("uninstall")
    assert env.files() == before


def test_installing_again_restores_changed_files(env):
    env.dropin("install")
    first = env.files()
    (env.folder / "bin" / "tvm-ffi-config").unlink()
    env.dropin("install")
    assert env.files() == first


# --- interrupted ----------------------------------------------------------------------------------------------------

INTERRUPTED = """
import os, sys, sysconfig
from pathlib import Path
from ffi_hpy._installed import command
from ffi_hpy.dropin import ABI_VERSION as VERSION

folder, packages, how, first, words = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], *map(str.split, sys.argv[4:])
CALLS = [(Path, name) for name in ("replace", "mkdir", "write_bytes", "chmod", "unlink")]

def run(words, step=0):
    # Whether a child was interrupted in the call of that number, or killed
    child = os.fork()
    if child == 0:
        count = 0
        def interrupting(call):
            def interrupted(*arguments, **options):
                nonlocal count
                count += 1
                if count == step:
                    if how == "killed":
                        os._exit(9)
                    raise KeyboardInterrupt
                return call(*arguments, **options)
            return interrupted
        for home, name in CALLS:
            setattr(home, name, interrupting(getattr(home, name)))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = 8
        try:
            status = command.main(words)
        except KeyboardInterrupt:
            status = 9
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, 9), status
    return status == 9

def files():
    found = [*(folder / "bin").iterdir(), *packages.iterdir()]
    found += [p for top in found if "ffi_hpy_dropin" in top.name or "tvm" in top.name for p in top.rglob("*")]
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in found}

def answers():
    # The versions of the distributions, of the modules on the path, and the number of commands
    modules = [p.stem.rpartition("-")[2] for p in packages.glob("*.pth")
               if p.name.startswith("ffi_hpy") and (packages / p.read_text().strip() / "tvm_ffi").exists()]
    found = [p.name[len("apache_tvm_ffi-"):-len(".dist-info")] for p in packages.glob("apache_tvm_ffi-*.dist-info")]
    return found, modules, len([p for p in (folder / "bin").glob("tvm-ffi-*")])

nothing = files()
is_slow = sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED")
stride = 4 if is_slow else 1  # a fork takes long there
step = 1 - stride
while True:
    step += stride
    if first:
        run(first)
    before = files()
    if not run(words, step):
        break
    found, modules, n_commands = answers()
    assert found == modules and len(found) <= 1, (step, found, modules)
    assert n_commands == 2 or not found, step
    if how == "interrupted" and answers()[0] == [] and not first:
        assert files() == nothing, step
    run(["install"])
    assert answers() == ([VERSION], [VERSION], 2), (step, answers())
    run(["uninstall"])
    assert files() == nothing, step
print("interrupted", step - 1)
"""


@pytest.mark.parametrize("how", ["interrupted", "killed"])
@pytest.mark.parametrize(
    ("first", "words"),
    [("", "install"), ("install --as 0.1.12", "install"), ("install", "uninstall")],
    ids=["install", "another version", "uninstall"],
)
def test_an_interrupted_command_leaves_nothing_half_done(env, how, first, words):
    says = env.run("-c", INTERRUPTED, env.folder, env.packages, how, first, words)
    assert int(says.rpartition("interrupted ")[2]) > 3, says


def test_runs_at_once_leave_one_whole(env):
    before = env.files()
    words = [["install"], ["install", "--as", "0.1.12"], ["uninstall"]] * 4
    assert env.dropin_at_once(words) == []
    env.dropin("install", "--as", "0.1.11")
    assert env.run("-c", ANSWERS) == "ffi_hpy 0.1.11\n"
    folder = "apache_tvm_ffi-0.1.11"
    assert env.packages_named("tvm") == [f"{folder}.dist-info", f"ffi_hpy_dropin-{folder}.pth"]
    env.dropin("uninstall")
    assert env.files() == before
