"""The emulated machines, with their names in Debian, QEMU, zig and the dynamic loader."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """A machine with another processor; QEMU runs its Linux programs here."""

    label: str  # in names of the matrix and of jobs, and Debian's name of the architecture
    name: str  # as `uname -m` prints it there, and as QEMU and compilers name it
    loader: str  # file name of glibc's dynamic loader, in /lib
    zig: str  # zig's target for programs of this machine

    @property
    def triplet(self) -> str:
        """The name of its library folders, and the prefix of its compilers."""
        return f"{self.name}-linux-gnu"


MACHINES: dict[str, Machine] = {
    machine.label: machine
    for machine in (
        Machine("arm64", "aarch64", "ld-linux-aarch64.so.1", "aarch64-linux-gnu.2.17"),
        Machine("riscv64", "riscv64", "ld-linux-riscv64-lp64d.so.1", "riscv64-linux-gnu.2.31"),
        # big-endian
        Machine("s390x", "s390x", "ld64.so.1", "s390x-linux-gnu.2.17"),
    )
}
