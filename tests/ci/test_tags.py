"""The wheel that an installer takes from a folder with all wheels: the wheel of the first supported tag, as pip and uv
choose. The environments are made up, from the tags of PEP 425, 600 and 656."""

from __future__ import annotations

import pytest
from packaging import tags
from packaging.utils import parse_wheel_filename

from ci.provision.everywhere import system_of
from tools.build.targets import TARGETS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ANY = "ffi_hpy-0.1.0-py3-none-any.whl"
WHEELS = {f"ffi_hpy-0.1.0-py3-none-{target.platform_tag}.whl": system_of(target) for target in TARGETS}

CPYTHONS = [f"cp3{minor}" for minor in range(9, 16)]
INTERPRETERS = [*CPYTHONS, "cp313t", "cp314t", "pypy39_pp73", "pypy311_pp73", "pypy311_pp80"]


def glibc(machine: str, minor: int) -> list[str]:
    return [*(f"manylinux_2_{each}_{machine}" for each in range(minor, 4, -1)), f"linux_{machine}"]


def musl(machine: str, minor: int) -> list[str]:
    return [*(f"musllinux_1_{each}_{machine}" for each in range(minor, -1, -1)), f"linux_{machine}"]


def macos(machine: str, *version: int) -> list[str]:
    return list(tags.mac_platforms((version[0], version[1]), machine))


PLATFORMS = {
    "glibc 2.17 on x86-64": (glibc("x86_64", 17), "x86_64-linux"),
    "glibc 2.28 on x86-64": (glibc("x86_64", 28), "x86_64-linux"),
    "glibc 2.41 on x86-64": (glibc("x86_64", 41), "x86_64-linux"),
    "glibc 2.17 on 64-bit ARM": (glibc("aarch64", 17), "aarch64-linux"),
    "glibc 2.34 on 64-bit ARM": (glibc("aarch64", 34), "aarch64-linux"),
    "glibc 2.31 on RISC-V": (glibc("riscv64", 31), "riscv64-linux"),
    "glibc 2.39 on RISC-V": (glibc("riscv64", 39), "riscv64-linux"),
    "musl 1.2 on x86-64": (musl("x86_64", 2), "x86_64-linux"),
    "musl 1.2 on 64-bit ARM": (musl("aarch64", 2), "aarch64-linux"),
    "musl 1.3 on 64-bit ARM": (musl("aarch64", 3), "aarch64-linux"),
    **{f"macOS {major} on ARM": (macos("arm64", major, 0), "aarch64-macos") for major in range(11, 16)},
    **{f"macOS {major} on x86-64": (macos("x86_64", major, 0), "x86_64-macos") for major in range(11, 16)},
    "Windows on x86-64": (["win_amd64"], "x86_64-windows"),
    "Windows on ARM": (["win_arm64"], "aarch64-windows"),
    "glibc 2.12": (glibc("x86_64", 12), None),
    "glibc 2.28 on RISC-V": (glibc("riscv64", 28), None),
    "musl 1.1": (musl("x86_64", 1), None),
    "glibc on POWER": (glibc("ppc64le", 39), None),
    "glibc on s390x": (glibc("s390x", 39), None),
    "glibc on 32-bit x86": (glibc("i686", 41), None),
    "glibc on 32-bit ARM": (glibc("armv7l", 41), None),
    "macOS 10.15": (macos("x86_64", 10, 15), None),
    "Windows of 32 bits": (["win32"], None),
    "FreeBSD": (["freebsd_15_0_release_amd64"], None),
}
"""The tags of platforms, the best first, and the expected system of the wheel."""


def supported_tags(interpreter: str, platforms: list[str]) -> Iterator[tags.Tag]:
    """Yield the tags that an environment supports, the best first."""
    if interpreter.startswith("pypy"):
        name, _, _ = interpreter.partition("_")
        version = (3, int(name[len("pypy3") :]))
        yield from tags.generic_tags(name.replace("pypy", "pp"), [interpreter], platforms)
        yield from tags.compatible_tags(version, name.replace("pypy", "pp"), platforms)
    else:
        name = interpreter.rstrip("t")
        version = (3, int(name[len("cp3") :]))
        yield from tags.cpython_tags(version, [interpreter], platforms)
        yield from tags.compatible_tags(version, name, platforms)


def choose(wheels: list[str], supported: list[tags.Tag]) -> str | None:
    """Return the wheel that an installer takes."""
    ranks = {tag: rank for rank, tag in reversed(list(enumerate(supported)))}
    rated = [(min(ranks.get(tag, len(ranks)) for tag in parse_wheel_filename(wheel)[3]), wheel) for wheel in wheels]
    best = min(rated)
    return None if best[0] == len(ranks) else best[1]


@pytest.mark.parametrize("interpreter", INTERPRETERS)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_an_environment_gets_the_wheel_of_its_system_or_none(platform, interpreter):
    names, system = PLATFORMS[platform]
    supported = list(supported_tags(interpreter, names))
    expected = next((name for name, each in WHEELS.items() if each == system), None)
    assert choose(list(WHEELS), supported) == expected
    assert choose([ANY, *WHEELS], supported) == (expected or ANY)


def test_there_are_environments_for_every_wheel():
    assert set(WHEELS.values()) <= {system for _, system in PLATFORMS.values()}
    assert len(set(WHEELS.values())) == len(TARGETS)


@pytest.mark.parametrize("name", WHEELS)
def test_the_tags_in_a_name_are_for_every_python(name):
    assert {(tag.interpreter, tag.abi) for tag in parse_wheel_filename(name)[3]} == {("py3", "none")}
