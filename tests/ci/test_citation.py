"""The version is written in two files, which must agree."""

import re

from ci.lib.folders import ROOT


def test_the_citation_names_the_version_of_the_package():
    (cited,) = re.findall(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    (built,) = re.findall(r'^VERSION = "(\S+)"$', (ROOT / "ffi_hpy/_start/own_version.py").read_text(), re.MULTILINE)
    assert cited == built
