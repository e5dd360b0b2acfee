"""JSON and graphs of values: the Python values, and equality with the results of apache-tvm-ffi's own core."""

import json
import math
import random

import pytest
from support import run_python, unique_name
from support.native_build import BINARIES

import ffi_hpy

parse = ffi_hpy.get_global_func("ffi.json.Parse")
stringify = ffi_hpy.get_global_func("ffi.json.Stringify")
to_graph_text = ffi_hpy.get_global_func("ffi.ToJSONGraphString")
from_graph_text = ffi_hpy.get_global_func("ffi.FromJSONGraphString")


def as_python(value):
    """Return a value of ffi_hpy as a value of Python's own types."""
    if isinstance(value, ffi_hpy.Map):
        return {str(key): as_python(item) for key, item in value.items()}
    if isinstance(value, ffi_hpy.Array):
        return [as_python(item) for item in value]
    return str(value) if isinstance(value, str) else value


def test_json_of_python_is_read():
    value = {"a": [1, 2.5, True, None, "é \U0001f600"], "b": {"c": [], "d": {}}, "long key": -(2**63), "e": 1e-320}
    assert as_python(parse(json.dumps(value))) == value
    assert as_python(parse(json.dumps(value, indent=3, ensure_ascii=False))) == value
    assert math.isnan(parse(json.dumps(math.nan)))


def test_python_reads_the_written_json():
    value = {"a": [1, 2.5, True, None, "é/\\\x7f"], "b": {"c": [], "d": {}}, "e": 0.1}
    for indent in (None, 0, 2):
        assert json.loads(stringify(value, indent)) == value


def test_an_error_names_the_place():
    with pytest.raises(ValueError, match=r"Expecting ',' delimiter: line 2 column 3 \(char 6\)"):
        parse("[1,\n2 3]")


def test_objects_come_back_from_their_graph(classes):
    pair = classes.TestIntPair(3, 4)
    text = to_graph_text([pair, pair], None)
    nodes = json.loads(text)["nodes"]
    assert [node["type"] for node in nodes] == ["testing.TestIntPair", "ffi.Array"]
    back = from_graph_text(text)
    assert (back[0].a, back[0].b) == (3, 4)
    assert back[0].same_as(back[1])


# Reads pairs (function, text), and prints the result of each call in the core at the given path.
PROGRAM = """
import ctypes, json, sys

core = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
ctypes.CDLL(sys.argv[2])

class Bytes(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]

class Value(ctypes.Structure):
    _fields_ = [("type_index", ctypes.c_int32), ("n_bytes", ctypes.c_uint32), ("word", ctypes.c_uint64)]

def function(name):
    handle = ctypes.c_void_p()
    core.TVMFFIFunctionGetGlobal(ctypes.byref(Bytes(name, len(name))), ctypes.byref(handle))
    return handle

def content(address):
    data, size = (ctypes.c_size_t * 2).from_address(address)
    return ctypes.string_at(data, size).decode()

def call(name, *args):
    result = Value()
    if core.TVMFFIFunctionCall(function(name), (Value * len(args))(*args), len(args), ctypes.byref(result)) == 0:
        return result
    error = ctypes.c_void_p()
    core.TVMFFIErrorMoveFromRaised(ctypes.byref(error))
    raise ValueError(content(error.value + 24) + ": " + content(error.value + 40))

def show(value):
    if value.type_index == 65:
        return content(value.word + 24)
    return value.word.to_bytes(8, "little")[: value.n_bytes].decode()

results = []
for kind, text in json.load(open(sys.argv[3])):
    data, given = text.encode(), Value()
    core.TVMFFIStringFromByteArray(ctypes.byref(Bytes(data, len(data))), ctypes.byref(given))
    try:
        if kind == "json":
            results.append(show(call(b"ffi.json.Stringify", call(b"ffi.json.Parse", given), Value())))
        else:
            results.append(show(call(b"ffi.ToJSONGraphString", call(b"ffi.FromJSONGraphString", given), Value())))
    except ValueError as error:
        results.append(str(error))
print(json.dumps(results))
"""

LEAVES = [
    {"type": "None"},
    {"type": "bool", "data": True},
    {"type": "int", "data": -12},
    {"type": "float", "data": 0.1},
    {"type": "ffi.String", "data": "a text of many bytes/é"},
    {"type": "ffi.Bytes", "data": "bG9uZ2VyIHRoYW4gc2V2ZW4="},
    {"type": "DataType", "data": "float16x4"},
    {"type": "Device", "data": [2, 1]},
    {"type": "ffi.Shape", "data": [1, 2, -3]},
    {"type": "ffi.BigInt", "data": str(-(2**200))},
    {"type": "testing.TestIntPair", "data": {"a": 7, "b": -8}},
]
BROKEN = [
    '{"root_index":0}',
    '{"root_index":2,"nodes":[{"type":"None"}]}',
    '{"root_index":0,"nodes":[{"type":"ffi.Map","data":[0]}]}',
    '{"root_index":0,"nodes":[{"type":"testing.TestIntPair","data":{"a":1}}]}',
    '{"root_index":0,"nodes":[{"type":"int","data":"x"}]}',
]


def make_number(rng):
    return rng.choice(
        [
            lambda: str(rng.randint(-(2**64), 2**64)),
            lambda: repr(rng.gauss(0, 1) * 10.0 ** rng.randint(-300, 300)),
            lambda: f"{rng.randint(0, 10**20)}.{rng.randint(0, 10**20)}e{rng.randint(-250, 250)}",
            lambda: rng.choice(["01", "+1", ".5", "1.", "-0", "-0.0", "1e400", "NaN", "-Infinity", "1.2.3", "-"]),
        ]
    )()


def make_json(rng, depth):
    kind = rng.randint(0, 7)
    if depth == 0 or kind < 3:
        return make_number(rng)
    if kind == 3:
        return json.dumps("".join(rng.choice('ab"\\/\n\x7fé\U0001f600 ') for _ in range(rng.randint(0, 15))))
    items = [make_json(rng, depth - 1) for _ in range(rng.randint(0, 6))]
    if kind < 6:
        return "[" + ", ".join(items) + "]"
    return "{" + ",\n".join(f'"{rng.choice("abcdef")}": {item}' for item in items) + "}"


def make_graph(rng):
    nodes = [rng.choice(LEAVES)]
    for _ in range(rng.randint(0, 12)):
        kind = rng.choice(["leaf", "ffi.Array", "ffi.List", "ffi.Map", "ffi.Dict"])
        n = 1 if kind in ("ffi.Map", "ffi.Dict") else rng.randint(0, 5)
        data = [rng.randrange(len(nodes)) for _ in range(n if kind in ("ffi.Array", "ffi.List") else 2 * n)]
        nodes.append(rng.choice(LEAVES) if kind == "leaf" else {"type": kind, "data": data})
    return json.dumps({"root_index": len(nodes) - 1, "nodes": nodes})


def test_the_reference_gives_the_same(upstream, testing_library, tmp_path):
    rng = random.Random(20)
    texts = [("json", make_json(rng, 4)) for _ in range(300)]
    texts += [("json", text[: rng.randint(0, len(text))]) for _, text in texts[:100]]
    texts += [("graph", make_graph(rng)) for _ in range(150)] + [("graph", text) for text in BROKEN]
    reference = upstream / "tvm_ffi" / "lib" / "libtvm_ffi.so"
    ours = BINARIES / "lib" / "libtvm_ffi.so"
    file = tmp_path / unique_name()
    file.write_text(json.dumps(texts))
    wanted, got = (json.loads(run_python(PROGRAM, core, testing_library, file)) for core in (reference, ours))
    assert len(got) == len(texts)
    different = [both for both in zip(texts, wanted, got) if both[1] != both[2]]
    assert not different, different[0]
    assert sum(": " not in result for result in got) > 100


DEFINES_HOOKS = """
import pickle
import ffi_hpy
from ffi_hpy import _core
from ffi_hpy.serialization import to_json_graph_str

value = ffi_hpy.Array([ffi_hpy.convert(len), ffi_hpy.core.OpaquePyObject(3)])
assert pickle.loads(pickle.dumps(value))[1] == 3
for key in ("ffi.Tensor", "ffi.Function", "ffi.OpaquePyObject"):
    index = _core.type_key_to_index(key)
    for name in ("__data_to_json__", "__data_from_json__"):
        assert _core.type_attr(index, name) is None
        _core.type_attr_define(index, name, lambda value: "theirs")
assert to_json_graph_str(value).count('"theirs"') == 2
assert list(pickle.loads(pickle.dumps(value))) == ["theirs", "theirs"]
"""


def test_another_library_may_define_the_form_of_tensors_functions_and_python_objects():
    run_python(DEFINES_HOOKS)
