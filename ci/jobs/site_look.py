"""Opens the built site in a headless browser: finds the browser and runs ci/jobs/look_at_pages.py."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from ci.jobs.site import INDEX
from ci.lib.folders import REQUIREMENTS
from ci.lib.messages import Missing
from ci.lib.process import clean_environ
from ci.provision.envs import tool_env

LOOK = Path(__file__).resolve().with_name("look_at_pages.py")


def find_browser() -> str:
    """Return the path of a Chromium. Raises Missing."""
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not browser:
        raise Missing("no browser to look at the site with: install chromium, or let CHROMIUM say where one is")
    return browser


def look(pictures: str | None) -> int:
    """Check each page; save screenshots to the folder `pictures`, if given. Return the exit status. Raises Missing."""
    browser = find_browser()
    python = tool_env("tool-look", REQUIREMENTS / "look.txt") / "python"
    command = [str(python), str(LOOK), str(INDEX.parent), browser, *([pictures] if pictures else [])]
    return subprocess.run(command, env=clean_environ()).returncode
