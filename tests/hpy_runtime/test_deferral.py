"""The objects with deferred reference counts: without a GIL, those that threads share.

CPython has the function from 3.14 on. A preloaded replacement records its callers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from test_hpy_runtime import HERE, compile_universal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

IS_FREE_THREADED = "free-threading" in sys.version

STAND_IN = """
enum { N_NOTED = 10000 };
static const void *noted[N_NOTED];
static int n_noted;
int PyUnstable_Object_EnableDeferredRefcount(void *o) {
  if (n_noted < N_NOTED) noted[n_noted++] = o;
  return 1;
}
int count_noted(const void *o) {
  int n = 0;
  for (int i = 0; i < n_noted; i++) n += noted[i] == o;
  return n;
}
int count_all(void) { return n_noted; }
"""

# Arguments: folder of test_hpy_runtime.py, the preloaded library, sharing.hpy0.so.
PROGRAM = """
import ctypes, json, sys
sys.path.insert(0, sys.argv[1])
from test_hpy_runtime import load_runtime
stand_in = ctypes.CDLL(sys.argv[2])
stand_in.count_noted.argtypes = [ctypes.c_void_p]
def address(library):
    return ctypes.cast(library.PyUnstable_Object_EnableDeferredRefcount, ctypes.c_void_p).value
if address(ctypes.CDLL(None)) != address(stand_in):
    print("null")
    sys.exit()
module = load_runtime().load("sharing", sys.argv[3])
stored, replacement, kept_in_field = [1], [2], [3]
module.store(stored)
module.store(stored)
module.store(replacement)
module.load(), module.load()
made = module.make_type()
shared = {
    "types": [module.Cell, module.Plain, made],
    "global values": [stored, replacement],
    "others": [module.Cell(kept_in_field), kept_in_field, module.Plain(), made()],
}
if "ffi_hpy" in sys.modules:
    import ffi_hpy
    called = [ffi_hpy.get_global_func("ffi.FunctionRemoveGlobal") for _ in range(2)]
    callback = ffi_hpy.convert(lambda: None)
    for _ in range(16):
        [remove("no function of this name") for remove in called], callback()
    shared["functions called 16 times"] = called
    shared["functions called less often"] = [ffi_hpy.get_global_func("ffi.FunctionRemoveGlobal")]
    shared["callbacks"] = [callback]
counts = {kind: [stand_in.count_noted(id(o)) for o in objects] for kind, objects in shared.items()}
print(json.dumps({**counts, "all": stand_in.count_all()}))
"""


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The number of requests for each of several objects, in a fresh interpreter."""
    folder = tmp_path_factory.mktemp("deferral")
    source, library = folder / "stand_in.c", folder / "libstand_in.so"
    source.write_text(STAND_IN)
    subprocess.run(["cc", "-O1", "-fPIC", "-shared", str(source), "-o", str(library)], check=True)
    module = compile_universal(HERE / "sharing.c", folder / "sharing.hpy0.so")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(HERE), str(library), str(module)],
        env={**os.environ, "LD_PRELOAD": str(library)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    if found is None:
        pytest.skip("this interpreter has the function itself, and finds it before the stand-in")
    return found


@pytest.mark.skipif(IS_FREE_THREADED, reason="the build is free-threaded")
def test_nothing_is_deferred_where_there_is_a_gil(counts: Any) -> None:
    assert counts["all"] == 0


@pytest.mark.skipif(not IS_FREE_THREADED, reason="the build has a GIL")
class TestWithoutTheGil:
    def test_a_type_is_deferred_once(self, counts: Any) -> None:
        assert counts["types"] == [1, 1, 1]

    def test_instances_and_the_values_of_globals_and_fields_are_not(self, counts: Any) -> None:
        assert counts["global values"] == [0, 0]
        assert counts["others"] == [0, 0, 0, 0]

    def test_a_registered_function_is_once_it_is_called_often_and_a_callback_is_not(self, counts: Any) -> None:
        if "callbacks" not in counts:
            pytest.skip("only the runtime is here")
        assert counts["functions called 16 times"] == [1, 1]
        assert counts["functions called less often"] == [0]
        assert counts["callbacks"] == [0]
