"""Source distributions of other projects: fetched from PyPI and unpacked into the cache, never built."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from pathlib import Path

from ci.lib.folders import cache_dir, locked
from ci.lib.messages import Missing, say
from ci.lib.process import output_of
from ci.provision.envs import tool_env

TVM_FFI = "apache-tvm-ffi==0.1.15.post2"


def fetch_sdist(requirement: str, area: str) -> Path:
    """Return the folder of the unpacked sdist of `NAME==VERSION`, in a part of the cache. Raises Missing."""
    folder = cache_dir() / area / requirement.replace("==", "-")
    with locked(folder.with_name(f".{folder.name}.lock")):
        if not (folder / "PKG-INFO").is_file():
            say(f"{requirement}: fetching its sdist ...")
            # pip would build the sdist in order to read its metadata.
            unearth = tool_env("unearth", "unearth") / "unearth"
            with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
                output_of([unearth, "--no-binary", "--download", scratch, requirement])
                archives = list(Path(scratch).glob("*.tar.gz"))
                if len(archives) != 1:
                    raise Missing(f"{requirement} has no sdist")
                with tarfile.open(archives[0]) as archive:
                    archive.extractall(Path(scratch, "unpacked"), filter="data")
                shutil.rmtree(folder, ignore_errors=True)
                next(Path(scratch, "unpacked").iterdir()).rename(folder)
    return folder
