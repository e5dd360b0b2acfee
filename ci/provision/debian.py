"""Debian's archive: fetches packages and unpacks them into the cache, without root and apart from installed
packages."""

from __future__ import annotations

import functools
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from ci.lib.folders import cache_dir, locked
from ci.lib.messages import Missing, last_line, say
from ci.lib.process import output_of


def run_appending(command: Sequence[str], log: Path, cwd: Path) -> None:
    """Run a long command with its output appended to `log`. If it fails, raises Missing with the name of the log."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as stream:
        print("$", *command, file=stream, flush=True)
        try:
            status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, cwd=cwd).returncode
        except OSError as error:
            raise Missing(f"{command[0]} cannot be run: {error.strerror}") from None
    if status != 0:
        says = last_line(log.read_text(errors="replace"))
        raise Missing(f"{command[0]} failed: {says} (log: {log})")


# --- the Debian archive --------------------------------------------------------------------------------------------

DEBIAN_SUITE = re.compile(
    r"(bullseye|bookworm|trixie|forky|sid|oldstable|stable|testing|unstable)(-updates|-backports)?$"
)
DEBIAN_URI = re.compile(r"^mirror\+|/debian/?$|/debian/\d{8}T\d{6}Z/?$")

Stanza = dict[str, str]  # field names in lower case


def parse_list(text: str) -> Iterator[Stanza]:
    """Yield the entries of a one-line-style apt sources file."""
    for line in text.splitlines():
        match = re.match(r"\s*(deb|deb-src)\s+(?:\[([^]]*)\]\s*)?(\S+)\s+(\S+)([^#]*)", line)
        if match:
            types, options, uris, suites, components = match.groups()
            yield {
                **dict(option.split("=", 1) for option in (options or "").split() if "=" in option),
                "types": types,
                "uris": uris,
                "suites": suites,
                "components": components,
            }


def parse_sources(text: str) -> Iterator[Stanza]:
    """Yield the entries of a deb822-style apt sources file."""
    text = re.sub(r"(?m)^#.*\n?", "", text)
    for block in re.split(r"\n\s*\n", text):
        # A field continues up to the next line that does not begin with a space.
        fields = re.findall(r"(?m)^([\w-]+):[ \t]*(.*(?:\n[ \t].*)*)", block)
        if fields:
            yield {name.lower(): value for name, value in fields}


def apt_entries() -> Iterator[Stanza]:
    """Yield all entries of this machine's apt configuration."""
    apt = Path("/etc/apt")
    for path in [apt / "sources.list", *sorted(apt.glob("sources.list.d/*"))]:
        parse = {".list": parse_list, ".sources": parse_sources}.get(path.suffix)
        if parse and path.is_file():
            yield from parse(path.read_text(errors="replace"))


def is_debian(entry: Stanza) -> bool:
    """Return whether an enabled entry names the main Debian archive, not another or the security archive."""
    return (
        entry.get("enabled", "yes").strip().lower() not in ("no", "false", "0")
        and "main" in entry.get("components", "").split()
        and any(DEBIAN_SUITE.match(suite) for suite in entry.get("suites", "").split())
        and any(DEBIAN_URI.search(uri) for uri in entry.get("uris", "").split())
    )


def debian_entry(suite: str, kind: str) -> Stanza:
    """Return this machine's entry for the Debian archive, changed to `suite` and `kind` (deb or deb-src).

    The URL, the keyring (Signed-By) and other options stay unchanged.
    """
    ours = next(filter(is_debian, apt_entries()), None)
    if ours is None:
        raise Missing("no Debian archive in this machine's apt configuration")
    of_its_suite = ("arch", "lang", "target", "architectures", "languages", "targets", "enabled")
    kept = {name: value for name, value in ours.items() if name not in of_its_suite}
    return {**kept, "types": kind, "suites": suite, "components": "main"}


def release() -> str:
    """Return the code name of this machine's Debian. Raises Missing."""
    try:
        system = platform.freedesktop_os_release()
    except OSError:
        system = {}
    if system.get("ID") != "debian" or "VERSION_CODENAME" not in system:
        raise Missing("this machine is not a Debian release")
    return system["VERSION_CODENAME"]


class Apt:
    """apt-get for one Debian suite with separate state, so that the system's state stays unchanged.

    The function assumes that no package is installed, unless `status` is the file that lists installed packages.
    `architecture` is Debian's name of the packages' architecture; empty for this machine's.
    """

    def __init__(self, suite: str, kind: str, status: str = "/dev/null", architecture: str = "") -> None:
        self.suite = suite
        self.kind = kind
        self.status = status
        self.architecture = architecture
        self.state = cache_dir() / "apt" / "-".join(filter(None, (suite, kind, architecture)))
        self.updated = False
        self.failure: str | None = None  # the reason of a failed update in this run

    def fetch(self, arguments: Sequence[str], log: Path, into: Path) -> None:
        """Run an apt-get command that leaves files in the folder `into`.

        The list of packages is fetched first, once per run; a failed fetch is not repeated.
        """
        with locked(self.state.with_name(f".{self.state.name}.lock")):
            self.update_once(log)
            self.get(arguments, log, cwd=into)

    def lacking(self, packages: Sequence[str], log: Path) -> list[str]:
        """Return the packages that installing `packages` would install. Fetches the list of packages as fetch()
        does."""
        with locked(self.state.with_name(f".{self.state.name}.lock")):
            self.update_once(log)
            command = ["apt-get", *self.options(), "-s", "--no-install-recommends", "install", *packages]
            return re.findall(r"(?m)^Inst (\S+)", output_of(command, timeout=60))

    def update_once(self, log: Path) -> None:
        """Fetch the list of packages unless this run has fetched it or failed to. The caller holds the lock."""
        if self.failure:
            raise Missing(f"as before in this run: {self.failure}")
        if self.updated:
            return
        try:
            self.update(log)
        except Missing as reason:
            self.failure = str(reason)
            raise

    def update(self, log: Path) -> None:
        """Fetch the list of packages. The caller holds the lock."""
        if not shutil.which("apt-get"):
            raise Missing("no apt-get on this machine")
        entry = debian_entry(self.suite, self.kind)
        for folder in ("lists/partial", "cache/archives/partial"):
            (self.state / folder).mkdir(parents=True, exist_ok=True)
        text = "".join(f"{name}: {value}\n" for name, value in entry.items())
        (self.state / "debian.sources").write_text(text)
        self.get(["update"], log, cwd=self.state)
        self.updated = True

    def get(self, arguments: Sequence[str], log: Path, cwd: Path) -> None:
        """Run apt-get in the folder `cwd`. The caller holds the lock."""
        run_appending(["apt-get", "-q", *self.options(), *arguments], log, cwd)

    def options(self) -> list[str]:
        """Return the options that make apt-get use this state; from the machine's state it uses only `status`."""
        settings = {
            "Dir::Etc::sourcelist": self.state / "debian.sources",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::State::Lists": self.state / "lists",
            "Dir::State::status": self.status,
            "Dir::Cache": self.state / "cache",
            # apt's own user may not have access to our cache.
            "APT::Sandbox::User": "root",
            "APT::Update::Error-Mode": "any",
            "Acquire::Languages": "none",
            "Acquire::Retries": "1",
            "Acquire::http::Timeout": "20",
            "Acquire::https::Timeout": "20",
        }
        if self.architecture:
            settings |= {"APT::Architecture": self.architecture, "APT::Architectures": self.architecture}
        return [f"-o{name}={value}" for name, value in settings.items()]


@functools.cache
def debian(suite: str, kind: str, architecture: str = "") -> Apt:
    """Return the one Apt of this run for a suite, a kind and an architecture."""
    return Apt(suite, kind, architecture=architecture)


def unpack(apt: Apt, packages: Sequence[str], root: Path, log: Path) -> None:
    """Download packages and unpack them under `root`, without installing them."""
    with tempfile.TemporaryDirectory(prefix="debs-", dir=root) as folder:
        apt.fetch(["download", *packages], log, into=Path(folder))
        for package in sorted(Path(folder).glob("*.deb")):
            run_appending(["dpkg", "-x", str(package), str(root)], log, cwd=root)


def unpacked(area: str, package: str, inside: str) -> Path:
    """Return the folder of a package, unpacked into a part of the cache and recognized by a file `inside`. Raises
    Missing."""
    folder = cache_dir() / area
    root = folder / "root"
    with locked(folder.with_name(f".{area}.lock")):
        if not list(root.glob(inside)):
            say(f"{area}: fetching Debian's ...")
            root.mkdir(parents=True, exist_ok=True)
            try:
                unpack(debian(release(), "deb"), [package], root, cache_dir() / "logs" / f"{area}.log")
            except Missing as reason:
                raise Missing(f"no {area} from Debian: {reason}") from None
    return root
