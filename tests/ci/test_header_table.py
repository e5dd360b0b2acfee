"""The tables of headers in docs/cpp.md: each header has a place, behind the headers that it includes."""

from __future__ import annotations

import re

from ci.lib.folders import ROOT

HEADERS = ROOT / "include" / "tvm" / "ffi"
PAGE = (ROOT / "docs" / "cpp.md").read_text(encoding="utf-8")
CORE, EXTRA = PAGE.partition("## Order to read them in")[2].partition("\n## ")[0].split("The headers in `extra/`")
ENDS = {"any.h": ["any_compare.h", "widen.h"], "function.h": ["exception.h"]}  # as the page says
INCLUDE = re.compile(r"^#\s*include <tvm/ffi/([\w/]+\.h)>", re.M)


def read_table(table: str, folder: str) -> list[str]:
    """Return the headers of a table in its order; a name without a folder has the folder of the name before it."""
    found = []
    for row in re.findall(r"^\| (`.+?) \|", table, re.M):
        place = ""
        for name in re.findall(r"`([\w/]+\.h)`", row):
            place = name.rpartition("/")[0] + "/" if "/" in name else place
            full = folder + (name if "/" in name else place + name)
            found.append(full if (HEADERS / full).is_file() else folder + name)
    return found


def read_header(name: str) -> str:
    return (HEADERS / name).read_text(encoding="utf-8")


ORDER = read_table(CORE, "") + read_table(EXTRA, "extra/")


def test_each_header_is_in_the_tables_once():
    headers = {file.relative_to(HEADERS).as_posix() for file in HEADERS.rglob("*.h")}
    older = {name for name in headers if "the older name of" in read_header(name).partition("\n")[0]}
    assert sorted(ORDER) == sorted(headers - older - {"tvm_ffi.h"})


def test_each_header_is_listed_after_the_headers_that_it_includes():
    wrong = []
    for place, name in enumerate(ORDER):
        code = re.sub(r'"(?:\\.|[^"\\\n])*"', "", read_header(name))
        later = [used for used in INCLUDE.findall(code) if used not in ORDER[:place]]
        if later != ENDS.get(name, []):
            wrong.append((name, later))
    assert wrong == []
