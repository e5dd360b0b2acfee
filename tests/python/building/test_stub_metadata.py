"""Invalid metadata in a loaded library: ffi-hpy-stubgen names the member and the fault, and programs ignore the
metadata."""

import ast
import json

import pytest
from support import run_python

NESTED = '[{"type":"ffi.Array","args":' * 300 + "[]" + "}]" * 300
FUNCTION = '{"type":"ffi.Function","named_args":{"return":[{"type":"int"}],"params":%s}}'
BAD = {
    "not JSON": b'{"type_schema": ',
    "not UTF-8": b"\xff\xfe",
    "a list": b"[1]",
    "a number": b"3",
    "null": b"null",
    "far too deep": b"[" * 100_000,
    "a digit too many": b'{"type_schema":' + b"9" * 5000 + b"}",
    "a schema of a number": b'{"type_schema":3}',
    "a schema that is not JSON": b'{"type_schema":"["}',
    "a type of a number": b'{"type_schema":{"type":3}}',
    "a type without a name": b'{"type_schema":{"type":""}}',
    "a type of two lines": b'{"type_schema":{"type":"a\\nb"}}',
    "a type that is not UTF-8": b'{"type_schema":{"type":"my.\xff\xfe"}}',
    "half a character": b'{"type_schema":{"type":"\\ud800"}}',
    "a union of nothing": b'{"type_schema":{"type":"Union","args":[]}}',
    "an array of two types": b'{"type_schema":{"type":"ffi.Array","args":[{"type":"int"},{"type":"int"}]}}',
    "a function without a result": b'{"type_schema":{"type":"ffi.Function","named_args":{"params":[]}}}',
    "a function of a list": b'{"type_schema":{"type":"ffi.Function","named_args":[1]}}',
    "a fallback of a list": b'{"type_schema":{"type":"int","fallback":[]}}',
    "types inside of types": f'{{"type_schema":{FUNCTION % NESTED}}}'.encode(),
}
ODD = {
    "none": b"",
    "nothing about types": b'{"x":"' + b"y" * 1_000_000 + b'"}',
    "parameters of a number": f'{{"type_schema":{FUNCTION % "[]"},"params":3}}'.encode(),
    "parameters far too deep": f'{{"type_schema":{FUNCTION % "[]"},"params":{json.dumps("[" * 100_000)}}}'.encode(),
}

REGISTER = """
import ast, ctypes, pathlib, sys
import ffi_hpy

folder = pathlib.Path(sys.argv[1])
cases = ast.literal_eval((folder / "cases").read_text())


class Text(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]


class Value(ctypes.Structure):
    _fields_ = [("type_index", ctypes.c_int32), ("small_len", ctypes.c_uint32), ("payload", ctypes.c_int64)]


class Method(ctypes.Structure):
    _fields_ = [(name, Text) for name in ("name", "doc", "metadata")]
    _fields_ += [("flags", ctypes.c_int64), ("method", Value)]


class Field(ctypes.Structure):
    _fields_ = Method._fields_[:4] + [(name, ctypes.c_int64) for name in ("size", "alignment", "offset")]
    _fields_ += [("getter", ctypes.c_void_p), ("setter", ctypes.c_void_p), ("default", Value)]
    _fields_ += [("static_type_index", ctypes.c_int32)]


core = ctypes.CDLL(ffi_hpy.libinfo.find_libtvm_ffi())
function = ffi_hpy.convert(lambda *args: 0)
kept = []


def text(data):
    kept.append(data)
    return Text(data, len(data))


def method(name, metadata):
    value = Value(ffi_hpy._core.TYPE_INDEX_FUNCTION, 0, function.__chandle__())
    return ctypes.byref(Method(text(name), text(b""), text(metadata), 0, value))


def register_function(name, metadata):
    assert core.TVMFFIFunctionSetGlobalFromMethodInfo(method(name.encode(), metadata), 1) == 0


def register_type(key):
    parent = ffi_hpy._core.TYPE_INDEX_OBJECT
    index = core.TVMFFITypeGetOrAllocIndex(ctypes.byref(text(key.encode())), -1, 1, 0, 1, parent)
    assert index > 0
    return index


def register_method(key, metadata):
    assert core.TVMFFITypeRegisterMethod(register_type(key), method(b"go", metadata)) == 0


def register_field(key, metadata):
    field = Field(text(b"x"), text(b""), text(metadata), 0, 8, 8, 24, None, None, Value(0, 0, 0), -1)
    assert core.TVMFFITypeRegisterField(register_type(key), ctypes.byref(field)) == 0
"""


# --- the command ------------------------------------------------------------------------------------------------------

STUBGEN = """
import contextlib, io
from ffi_hpy.stub import cli, consts

target = sys.argv[2]
marks, name = (consts.RUST_SYNTAX, "lib.rs") if target == "rust" else (consts.PYTHON_SYNTAX, "a.py")
file = folder / "src" / name
file.parent.mkdir()
(folder / "Cargo.toml").touch()


def report(i, what, *arguments):
    said, text = io.StringIO(), file.read_text()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        status = cli.main(["--target", target, *arguments])
    print(repr((i, what, status, said.getvalue(), file.read_text() == text)))


for i, metadata in enumerate(cases):
    for what in ("function", "field", "method"):
        prefix, key = f"stub{i}_{what}", f"stub{i}_{what}.T"
        globals()[f"register_{what}"](key, metadata)
        region = f"global/{prefix}" if what == "function" else f"object/{key}"
        file.write_text(f"{marks.begin} {region}\\n{marks.end}\\n")
        if what != "function" or target == "python":
            report(i, what, str(folder))
            report(i, what, "--check", str(folder))
        package = file.parent if target == "rust" else folder.with_name(f"{folder.name}_{i}_{what}")
        report(i, what, "--init-pypkg", "p", "--init-lib", "l", "--init-prefix", f"{prefix}.", str(package))
        if what == "function":
            ffi_hpy.remove_global_func(key)
report(0, "field", "--coverage-out", str(folder / "coverage.json"))
"""
MEMBERS = {
    "function": "function `stub{}_function.T`",
    "field": "field `stub{}_field.T.x`",
    "method": "method `stub{}_method.T.go`",
}


def outcomes_of_stubgen(tmp_path, target, cases):
    (tmp_path / "cases").write_text(repr(list(cases)))
    lines = run_python(REGISTER + STUBGEN, tmp_path, target).splitlines()
    return [ast.literal_eval(line) for line in lines]


@pytest.mark.same_everywhere
@pytest.mark.parametrize("target", ["python", "rust"])
def test_each_fault_ends_the_command_with_one_line_that_names_the_member(tmp_path, target):
    outcomes = outcomes_of_stubgen(tmp_path, target, BAD.values())
    assert len(outcomes) == (9 if target == "python" else 7) * len(BAD) + 1
    for i, what, status, said, is_unchanged in outcomes:
        assert (status, is_unchanged) == (2, True), (list(BAD)[i], what, said)
        assert said.count("\n") == 1
        assert said.startswith("ffi-hpy-stubgen: ")
        title, member, _ = said.partition(MEMBERS[what].format(i))
        assert member, said
        assert title.endswith(("the metadata of ", "the type schema of ")), said


def test_odd_metadata_without_a_fault_are_accepted(tmp_path):
    for i, what, status, said, _ in outcomes_of_stubgen(tmp_path, "python", ODD.values()):
        assert (status, said) == (0, ""), (list(ODD)[i], what)


# --- programs ---------------------------------------------------------------------------------------------------------

PROGRAM = """
import inspect, pydoc
from ffi_hpy import dataclasses

for i, metadata in enumerate(cases):
    name = f"used{i}.function"
    register_function(name, metadata)
    found = ffi_hpy.get_global_func(name)
    assert found(1) == 0
    print(inspect.signature(found), found.__doc__ == ffi_hpy.Function.__doc__, pydoc.render_doc(found) != "")
    try:
        ffi_hpy.get_global_func_metadata(name)
    except ValueError as error:
        assert f"function `{name}`" in str(error), error
    ffi_hpy.remove_global_func(name)
    for decorate in (ffi_hpy.register_object, dataclasses.c_class):
        key = f"used{i}.{decorate.__name__}"
        register_field(key, metadata)
        register_method(key, metadata)
        cls = decorate(key)(type(ffi_hpy.Object)("Made", (ffi_hpy.Object,), {"__annotations__": {"x": object}}))
        info = cls.__tvm_ffi_type_info__
        assert inspect.signature(cls.go) and cls.go.__doc__ is not Ellipsis and pydoc.render_doc(cls)
        assert info.prototype_py().count("x: Any") == 1 and "x" in repr(info.fields[0])
        for member in (info.fields[0], info.methods[0]):
            try:
                member.ty
            except ValueError as error:
                assert f"`{key}.{member.name}`" in str(error), error
            else:
                raise AssertionError(metadata)
"""


def test_functions_and_types_with_invalid_metadata_work_and_show_known_parts(tmp_path):
    (tmp_path / "cases").write_text(repr(list(BAD.values())))
    lines = run_python(REGISTER + PROGRAM, tmp_path).splitlines()
    assert lines == ["(*args) True True"] * len(BAD)
