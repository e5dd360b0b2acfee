"""Rust as a target of ffi-hpy-stubgen: its output, the compilation of the output, and the refusals."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any, Callable, Optional, Union

import pytest
from support import unique_name
from support.native_build import SOURCES

import ffi_hpy
import ffi_hpy.testing
from ffi_hpy.core import TypeSchema
from ffi_hpy.dataclasses import py_class
from ffi_hpy.stub import cli, consts
from ffi_hpy.stub.file_utils import CodeBlock
from ffi_hpy.stub.rust_generator import codegen
from ffi_hpy.stub.rust_generator.consts import RUST_TY_MAP_DEFAULTS
from ffi_hpy.stub.rust_generator.utils import RustImports
from ffi_hpy.stub.utils import NamedTypeSchema, ObjectInfo, Options

BEGIN, END = consts.RUST_SYNTAX.begin, consts.RUST_SYNTAX.end
EDITION = ("--edition", "2021")


# --- the compiler ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def crate_folder(tmp_path_factory):
    """The folder of a crate tvm_ffi with the names that generated code uses."""
    if shutil.which("rustc") is None:
        pytest.skip("the Rust compiler, rustc, is not on PATH")
    folder = tmp_path_factory.mktemp("crate")
    for name, kind in (("tvm_ffi_derive", ["proc-macro"]), ("tvm_ffi", ["lib", "--emit", "metadata"])):
        command = ["rustc", *EDITION, "-L", folder, "--out-dir", folder, "--crate-name", name, "--crate-type", *kind]
        subprocess.run([*command, SOURCES / f"{name}.rs"], check=True)
    return folder


@pytest.fixture
def check(crate_folder, tmp_path):
    """Return a function that asserts that a crate compiles without a warning."""

    def run(root, *allow):
        command = ["rustc", *EDITION, "-L", crate_folder, "--extern", f"tvm_ffi={crate_folder / 'libtvm_ffi.rmeta'}"]
        command += ["--crate-type", "lib", "--emit", "metadata", "--out-dir", tmp_path / "out", "-D", "warnings"]
        command += [word for lint in allow for word in ("-A", lint)]
        done = subprocess.run([*command, root], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")

    return run


# --- files ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def stubgen(capsys):
    """Return a function that runs the command in this process and returns its exit status, stdout and stderr."""

    def run(*arguments):
        try:
            status = cli.main(["--target", "rust", *map(str, arguments)])
        except SystemExit as stopped:
            status = stopped.code
        return (status, *capsys.readouterr())

    return run


@pytest.fixture
def src(tmp_path):
    """The folder of a crate's sources."""
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "demo"\n')
    (tmp_path / "src").mkdir()
    return tmp_path / "src"


def regions(*stubs):
    return "".join(f"{BEGIN} {stub}\n{END}\n\n" for stub in stubs)


def file_of(*keys):
    """Return a file with regions for types, without unused regions."""
    return "#![allow(dead_code)]\n\n" + regions("import-section", *(f"object/{key}" for key in keys))


def directive(name, says):
    return f"{consts.RUST_SYNTAX.directive(name)} {says}\n"


def init(prefix):
    return ["--init-pypkg", "x", "--init-lib", "y", "--init-prefix", prefix]


def declare(name, fields, parent=ffi_hpy.Object, namespace=None):
    """Register a type and return its class and its type key."""
    key = f"{namespace or unique_name('stub_rust')}.{name}"
    return py_class(key)(type(name, (parent,), {"__annotations__": fields, "__module__": __name__})), key


def region_of(text, key):
    """Return the lines between the marks of a type."""
    return text.partition(f"{BEGIN} object/{key}\n")[2].partition(END)[0]


# --- a crate from nothing -------------------------------------------------------------------------------------------


def test_a_module_tree_is_made_compiles_and_stays_as_it_is(stubgen, src, check):
    status, said, complaints = stubgen(src, *init("testing."), "--dry-run")
    assert (status, complaints) == (0, "")
    assert said == f"{src / 'testing' / 'mod.rs'}: would be written\n"
    assert list(src.iterdir()) == []

    assert stubgen(src, *init("testing."))[0] == 0
    assert (src / "mod.rs").read_text() == "pub mod testing;\n"
    text = (src / "testing" / "mod.rs").read_text()
    assert "    pub fn new(a: i64, b: i64) -> Self {\n" in region_of(text, "testing.TestIntPair")
    (src / "mod.rs").rename(src / "lib.rs")
    check(src / "lib.rs")

    assert stubgen(src) == (0, "", "")
    assert stubgen(src, "--check") == (0, "", "")
    (src / "lib.rs").rename(src / "mod.rs")
    assert stubgen(src, *init("testing.")) == (0, "", "")
    assert (src / "mod.rs").read_text() == "pub mod testing;\n"
    assert (src / "testing" / "mod.rs").read_text() == text


def test_modules_are_declared_once_however_that_is_written(tmp_path):
    (tmp_path / "mod.rs").write_text("mod a;\npub(crate) mod r#type {\n}")
    codegen.finalize_rust_module_tree(tmp_path, {"a.b", "type", "trait.c"})
    expected = "mod a;\npub(crate) mod r#type {\n}\n\npub mod r#trait;\n"
    assert (tmp_path / "mod.rs").read_text() == expected
    assert (tmp_path / "a" / "mod.rs").read_text() == "pub mod b;\n"
    assert (tmp_path / "trait" / "mod.rs").read_text() == "pub mod c;\n"
    codegen.finalize_rust_module_tree(tmp_path, {"a.b", "type", "trait.c"})
    assert (tmp_path / "mod.rs").read_text() == expected
    with pytest.raises(ValueError, match=r"no module is made for 'a\.self'"):
        codegen.finalize_rust_module_tree(tmp_path, {"a.self"})


def test_types_that_have_a_region_elsewhere_or_are_skipped_are_not_made_again(stubgen, src):
    (src / "pairs.rs").write_text(directive("skip", "testing.TestCompare") + file_of("testing.TestIntPair"))
    assert stubgen(src, *init("testing."))[0] == 0
    text = (src / "testing" / "mod.rs").read_text()
    assert "object/testing.TestIntPair\n" not in text
    assert "object/testing.TestCompare\n" not in text
    assert "object/testing.TestObjectBase\n" in text


# --- markers --------------------------------------------------------------------------------------------------------


def test_only_text_between_marks_is_written(stubgen, src, check):
    (src / "lib.rs").write_text(
        "//! By hand.\n"
        f"{BEGIN} import-section\n{END}\n"
        "pub fn before() {}\n"
        f"{BEGIN} object/testing.TestIntPair\nold\n{END}\n"
        f"pub fn after() -> i64 {{ TestIntPair::new(1, 2).a }}\n"
    )
    python = src / "api.py"
    python.write_text(f"{consts.PYTHON_SYNTAX.begin} global/testing\n{consts.PYTHON_SYNTAX.end}\n")
    skipped = src / "skipped.rs"
    skipped.write_text("// tvm-ffi-stubgen(skip-file)\n" + regions("object/testing.TestIntPair"))
    unread = {path: path.read_text() for path in (python, skipped)}
    assert stubgen(src) == (0, f"{src / 'lib.rs'}: written\n", "")
    text = (src / "lib.rs").read_text()
    assert "\nold\n" not in text
    assert text.startswith(f"//! By hand.\n{BEGIN} import-section\nuse std::ops::Deref;\n")
    assert text.endswith(f"{END}\npub fn after() -> i64 {{ TestIntPair::new(1, 2).a }}\n")
    assert {path: path.read_text() for path in unread} == unread
    check(src / "lib.rs")


def test_lines_have_the_indentation_and_the_ends_of_their_file(stubgen, src):
    lines = ["mod inner {", f"    {BEGIN} object/testing.TestIntPair", f"    {END}", "}", ""]
    (src / "lib.rs").write_bytes("\r\n".join(lines).encode())
    assert stubgen(src)[0] == 0
    content = (src / "lib.rs").read_bytes()
    assert content.count(b"\n") == content.count(b"\r\n")
    written = content.decode().split("\r\n")[2:-3]
    assert "    #[repr(C)]" in written
    assert all(line.startswith("    ") or not line for line in written)


# --- --check --------------------------------------------------------------------------------------------------------


def test_check_fails_with_a_diff_when_a_definition_differs(stubgen, src):
    file = src / "lib.rs"
    file.write_text(file_of("testing.TestIntPair"))
    assert stubgen(src)[0] == 0
    fresh = file.read_text()
    stale = fresh.replace("pub a: i64", "pub a: i32")
    file.write_text(stale)
    status, said, complaints = stubgen(src, "--check")
    assert (status, complaints) == (1, "")
    assert {"-    pub a: i32,", "+    pub a: i64,"} <= set(said.splitlines())
    assert said.endswith(f"[Stale] {file}\n")
    assert file.read_text() == stale
    assert stubgen(src)[0] == 0
    assert file.read_text() == fresh


def test_check_does_not_mind_how_a_definition_is_written(stubgen, src):
    file = src / "lib.rs"
    file.write_text(file_of("testing.TestIntPair"))
    assert stubgen(src)[0] == 0
    text = file.read_text()
    for old, new in (
        ("use tvm_ffi::Object;\n", ""),
        ("    base: Object,\n", "    base: tvm_ffi::Object,\n"),
        ("/// Complete", "// Complete"),
        ("pub fn new(a: i64, b: i64)", "pub fn new(\n        a: i64,\n        b: i64,\n    )"),
    ):
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)
    assert stubgen(src, "--check") == (0, "", "")
    file.write_text(text.replace("i64::", "i32::").replace("== 40", "== 48"))
    assert stubgen(src, "--check")[0] == 1


# --- errors ---------------------------------------------------------------------------------------------------------

PAIR = "testing.TestIntPair"
BASE, DERIVED = "testing.TestCxxClassBase", "testing.TestCxxClassDerived"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (directive("bogus", PAIR), "Unknown directive `bogus` at line 1"),
        (directive("field", f"{PAIR}.a"), "`field` at line 1 must be `<type_key>.<field> -> <RustType>`, got"),
        (directive("enum", f"{PAIR}.a -> Kind(i32) {{ A }}"), "`enum` at line 1 must be"),
        (directive("opaque", f"{PAIR} {PAIR}"), f"`opaque` at line 1 must be `<type_key>`, got '{PAIR} {PAIR}'"),
        (directive("import-object", ";False"), "`import-object` at line 1 must be a path"),
        (directive("field", f"{PAIR}.c -> u64"), f"`field` of `{PAIR}.c`: no such field; the fields are: a, b"),
        (directive("nullable", f"{PAIR}.a") + directive("field", f"{PAIR}.a -> i32"), "maps a 8-byte field to `i32`"),
        (directive("enum", f"{BASE}.v_i32 -> Kind(u8)"), "maps a 4-byte field to `u8` (1 bytes)"),
        (directive("nullable", f"{BASE}.v_i32"), "the field is 4 bytes, not a pointer-sized reference"),
        (directive("ty-map", "x"), "`ty-map` at line 1 must be KEY -> NAME, got 'x'"),
        (regions(f"object/{DERIVED}"), f"`{DERIVED}` (line 1) depends on `{BASE}`, which this run does not ask for"),
        (regions("object/no.such.Type"), "`object/no.such.Type` (line 1): the type is no longer registered"),
        (
            directive("prefix", "no_such") + directive("prefix", "x"),
            "`prefix` at line 1: there is another one at line 2",
        ),
        (directive("prefix", ""), "`prefix` at line 1 must be the namespace of type keys, got nothing"),
    ],
)
def test_a_file_that_cannot_be_processed_fails_and_the_others_are_processed(stubgen, src, text, expected):
    if "object/" not in text:
        text += regions(f"object/{PAIR}", f"object/{BASE}")
    (src / "bad.rs").write_text(text)
    (src / "good.rs").write_text(file_of("testing.TestObjectBase"))
    status, _, complaints = stubgen(src)
    assert status == 2
    assert complaints.startswith(f"ffi-hpy-stubgen: {src / 'bad.rs'}: ")
    assert expected in complaints
    assert complaints.count("\n") == 1
    assert (src / "bad.rs").read_text() == text
    assert "pub struct TestObjectBaseObj {" in (src / "good.rs").read_text()
    assert stubgen(src, "--check")[0] == 2


def test_regions_of_removed_types_do_not_stop_the_others(stubgen, src):
    (src / "lib.rs").write_text(file_of("no.such.Type", PAIR, "no.such.Other"))
    status, _, complaints = stubgen(src)
    assert status == 2
    assert "`object/no.such.Type` (line 6), `object/no.such.Other` (line 12): the type is no" in complaints
    assert "pub struct TestIntPairObj {" in (src / "lib.rs").read_text()


def test_a_file_in_no_crate_has_no_module_to_be_named_by(stubgen, tmp_path):
    (tmp_path / "loose.rs").write_text(file_of(PAIR))
    assert f"{tmp_path / 'loose.rs'} is in no Cargo crate" in stubgen(tmp_path)[2]
    (tmp_path / "Cargo.toml").write_text("")
    assert f"is not under {tmp_path / 'src'}" in stubgen(tmp_path)[2]


def test_two_types_of_one_name_cannot_be_in_one_file(stubgen, src):
    keys = [declare("Twin", {"a": int})[1] for _ in range(2)]
    (src / "lib.rs").write_text(file_of(*keys))
    assert f"`{keys[0]}` and `{keys[1]}` would both define `Twin` in this file" in stubgen(src)[2]


def test_a_type_cannot_have_a_name_that_generated_code_needs(stubgen, src):
    for name, why in (("Option", "generated code needs it"), ("a-b", "which is not a name")):
        _, key = declare(name, {"a": int})
        (src / "lib.rs").write_text(file_of(key))
        assert f"`{key}` cannot be called `{name}` in Rust, {why}" in stubgen(src)[2]


def test_python_files_take_no_prefix(capsys, tmp_path):
    (tmp_path / "api.py").write_text("# tvm-ffi-stubgen(prefix): testing\n")
    assert cli.main([str(tmp_path)]) == 2
    assert "`prefix` at line 1: regions are inside of classes here" in capsys.readouterr().err


# --- names ----------------------------------------------------------------------------------------------------------


def test_names_that_mean_something_to_rust_are_written_otherwise(stubgen, src, check):
    names = ["type", "self", "Self", "base", "type_index", "value_", "value", "__len", "fn", "Upper", "new"]
    _, key = declare("String", dict.fromkeys(names, int))
    _, odd = declare("match", {"base_": int, "r": Union[str, int], "s": Optional[str], "o": Optional[ffi_hpy.Object]})
    (src / "lib.rs").write_text(file_of(key, odd))
    assert stubgen(src)[0] == 0
    text = (src / "lib.rs").read_text()
    members = [line.split()[1] for line in region_of(text, key).splitlines() if line.endswith(": i64,")]
    spelled = "r#type: self_: Self_: base_: type_index_: value_: value: __len: r#fn: Upper: new:"
    assert members[: len(names)] == spelled.split()
    assert "use tvm_ffi::String;" not in text  # the file defines another String
    assert "pub fn s(&self) -> Result<Option<tvm_ffi::String>> {" in text
    assert "pub struct r#match {" in text
    assert "pub struct matchObj {" in text
    check(src / "lib.rs", "non-camel-case-types")


def test_fields_of_an_ancestor_with_equal_names_are_distinguished(stubgen, src, check):
    namespace = unique_name("stub_rust")
    parent, parent_key = declare("Parent", {"a": int, "b": float}, namespace=namespace)
    try:
        _, key = declare("Child", {"a_": int}, parent, namespace)
    except (TypeError, ValueError):
        pytest.fail("a class may have a field whose name differs from an inherited one")
    (src / "lib.rs").write_text(file_of(parent_key, key))
    assert stubgen(src)[0] == 0
    assert "pub fn new(a_: i64, b: f64, a: i64) -> Self {" in (src / "lib.rs").read_text()
    check(src / "lib.rs")


# --- inheritance ----------------------------------------------------------------------------------------------------


def test_classes_derive_from_each_other_across_modules(stubgen, src, check):
    (src / "lib.rs").write_text("#![allow(dead_code)]\npub mod a;\npub mod r#type;\n")
    (src / "a.rs").write_text(regions("import-section", f"object/{BASE}"))
    (src / "type.rs").write_text(
        directive("field", f"{DERIVED}.v_i64 -> crate::Number")
        + directive("custom-new", DERIVED)
        + directive("upcast", f"{DERIVED} -> crate::AnyClass")
        + regions("import-section", f"object/{DERIVED}", "object/testing.TestCxxClassDerivedDerived")
    )
    assert stubgen(src)[0] == 0
    text = (src / "type.rs").read_text()
    assert "use crate::a::TestCxxClassBase;\nuse crate::a::TestCxxClassBaseObj;\n" in text
    derived = region_of(text, DERIVED)
    assert "        let base = TestCxxClassBaseObj::new(v_i64.into(), v_i32);\n" in derived
    assert "    pub fn from_fields(v_i64: impl Into<Number>, v_i32: i32, v_f64: f64, v_f32: f32) -> Self {" in derived
    assert "TestCxxClassDerived => TestCxxClassBase, TestCxxClassDerived => AnyClass);" in derived
    by_hand = (
        "use a::TestCxxClassBase;\n"
        "use r#type::{TestCxxClassDerived, TestCxxClassDerivedDerived};\n"
        "#[derive(Clone)]\npub struct Number(pub i64);\n"
        "impl From<Number> for i64 { fn from(it: Number) -> i64 { it.0 } }\n"
        "#[repr(C)]\n#[derive(tvm_ffi::derive::ObjectRef, Clone)]\n"
        "pub struct AnyClass { base: tvm_ffi::ObjectArc<tvm_ffi::Object> }\n"
        "impl TestCxxClassDerived { pub fn new() -> Self { Self::from_fields(Number(1), 2, 3.0, 4.0) } }\n"
        "pub fn sum(it: &TestCxxClassDerivedDerived) -> i64 { it.v_i64 + i64::from(it.v_i32) }\n"
        "pub fn up(it: TestCxxClassDerived) -> TestCxxClassBase { it.into() }\n"
    )
    (src / "lib.rs").write_text((src / "lib.rs").read_text() + by_hand)
    check(src / "lib.rs", "clippy::all")


def test_a_parent_that_is_written_by_hand_is_mapped(stubgen, src, check):
    (src / "lib.rs").write_text(
        "#![allow(dead_code)]\npub mod hand;\n"
        + directive("ty-map", f"{BASE} -> crate::hand::Root")
        + file_of(DERIVED)[21:]
    )
    (src / "hand.rs").write_text(
        "#[repr(C)]\n#[derive(tvm_ffi::derive::Object)]\npub struct RootObj {\n    base: tvm_ffi::Object,\n"
        "    pub v_i64: i64,\n    pub v_i32: i32,\n}\n"
        "#[repr(C)]\n#[derive(tvm_ffi::derive::ObjectRef, Clone)]\n"
        "pub struct Root {\n    base: tvm_ffi::ObjectArc<RootObj>,\n}\n"
        "impl RootObj {\n    pub fn new(v_i64: i64, v_i32: i32) -> Self {\n"
        "        Self { base: tvm_ffi::Object::new(), v_i64, v_i32 }\n    }\n}\n"
    )
    assert stubgen(src)[0] == 0
    text = (src / "lib.rs").read_text()
    assert "    base: RootObj,\n" in text
    assert "ShallowCopy" not in text  # a handwritten parent may lack ShallowCopy
    check(src / "lib.rs")


def test_types_below_those_of_the_crate_are_opaque(stubgen, src, check):
    (src / "lib.rs").write_text(file_of("testing.TestCxxIntEnum"))
    assert stubgen(src)[0] == 0
    text = (src / "lib.rs").read_text()
    assert text.count("struct FfiEnumObj {\n    base: Object,\n}") == 1
    assert "pub struct TestCxxIntEnumObj {\n    base: FfiIntEnumObj,\n}" in text
    check(src / "lib.rs")


# --- fields ---------------------------------------------------------------------------------------------------------

COMPLETE = {
    "number": (int, "i64"),
    "real": (float, "f64"),
    "flag": (bool, "bool"),
    "text": (str, "String"),
    "data": (bytes, "Bytes"),
    "anything": (Any, "Any"),
    "items": (list[int], "List<i64>"),
    "nested": (list[list[str]], "List<List<String>>"),
    "table": (ffi_hpy.Map[str, list[int]], "Map<String, List<i64>>"),
    "maybe": (Optional[int], "Optional<i64>"),
    "name": (Optional[str], "Optional<String>"),
    "call": (Callable[[int], str], "Function"),
    "device": (ffi_hpy.Device, "DLDevice"),
    "dtype": (ffi_hpy.dtype, "DLDataType"),
    "tensor": (ffi_hpy.Tensor, "Tensor"),
    "other": (ffi_hpy.Object, "ObjectRef"),
}


def test_fields_have_the_types_of_the_crate(stubgen, src, check):
    _, key = declare("Whole", {name: annotation for name, (annotation, _) in COMPLETE.items()})
    (src / "lib.rs").write_text(file_of(key))
    assert stubgen(src)[0] == 0
    text = (src / "lib.rs").read_text()
    assert "/// Complete: " in text
    for name, (_, rust_type) in COMPLETE.items():
        assert f"    pub {name}: {rust_type},\n" in text
    check(src / "lib.rs")


@pytest.mark.parametrize(
    ("annotation", "getter"),
    [
        (Union[int, str], 'Result<Any> {\n        FieldGetter::new(Self::type_index(), "x")?.get_any(self)'),
        (dict[str, int], 'Result<Any> {\n        FieldGetter::new(Self::type_index(), "x")?.get_any(self)'),
        (Optional[Any], 'Result<Any> {\n        FieldGetter::new(Self::type_index(), "x")?.get_any(self)'),
        (
            Optional[ffi_hpy.Object],
            'Result<Option<ObjectRef>> {\n        FieldGetter::new(Self::type_index(), "x")?.get(self)',
        ),
    ],
)
def test_a_field_without_a_type_makes_the_type_opaque(stubgen, src, check, annotation, getter):
    _, key = declare("Opaque", {"x": annotation, "n": int})
    (src / "lib.rs").write_text(file_of(key))
    assert stubgen(src)[0] == 0
    text = (src / "lib.rs").read_text()
    assert f"pub fn x(&self) -> {getter}\n" in text
    assert "pub fn n(&self) -> Result<i64> {" in text
    assert "pub fn new(" not in text
    check(src / "lib.rs")


def test_directives_give_fields_other_types(stubgen, src, check):
    _, key = declare("Node", {"color": int, "size": int, "next": ffi_hpy.Object, "hidden": dict[str, int]})
    directives = (
        directive("enum", f"{key}.color -> Color(i64) {{ Red=0, Black=-1 }}")
        + directive("field", f"{key}.size -> u64")
        + directive("nullable", f"{key}.next")
    )
    for end in ("", directive("field", f"{key}.hidden -> tvm_ffi::object::ObjectRef"), directive("opaque", key)):
        directives += end
        (src / "lib.rs").write_text(directives + "#![allow(dead_code)]\n" + file_of(key)[22:])
        assert stubgen(src)[0] == 0
        text = (src / "lib.rs").read_text()
        assert "    pub const Black: Self = Self(-1);\n" in text
        if end.startswith(consts.RUST_SYNTAX.directive("field")):
            assert "    pub color: Color,\n    pub size: u64,\n    pub next: Option<ObjectRef>,\n" in text
            assert "pub fn new(\n        color: impl Into<Color>,\n        size: u64,\n" in text
        else:
            assert "            Color::try_from(raw)\n".strip() in text
            assert "pub fn size(&self) -> Result<u64> {" in text
            assert "pub fn next(&self) -> Result<Option<ObjectRef>> {" in text
        check(src / "lib.rs")
    assert "/// Opaque: vetoed by directive" in text


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (("x", 3), "    pub fn x(&self) -> Result<i64> {"),
        (("a-b", 8), "    // 'a-b' is not a name for Rust: FieldGetter::new() takes it"),
    ],
)
def test_a_field_of_an_odd_width_or_name_is_not_reproduced(field, expected):
    name, size = field
    fields = [NamedTypeSchema(name, TypeSchema("int"), offset=24, size=size, alignment=1)]
    info = ObjectInfo(fields, [], "demo.Odd", "ffi.Object", ancestors=["ffi.Object"], total_size=32)
    code = CodeBlock("object", "demo.Odd", 1, 2, [BEGIN, END])
    declared = {"demo.Odd": ("crate",)}
    codegen.generate_rust_object(code, RUST_TY_MAP_DEFAULTS, RustImports(), Options(), info, declared)
    assert any(line.startswith("/// Opaque: ") for line in code.lines)
    assert expected in code.lines


# --- namespaces -----------------------------------------------------------------------------------------------------


def test_a_prefix_adds_regions_for_a_namespace(stubgen, src, check):
    namespace = unique_name("stub_rust")
    parent, base = declare("Zebra", {"a": int}, namespace=namespace)
    _, child = declare("Ant", {"b": int}, parent, namespace)
    _, left_out = declare("Left", {"b": int}, namespace=namespace)
    _, elsewhere = declare("Else", {"b": int}, namespace=namespace)
    (src / "lib.rs").write_text(
        "#![allow(dead_code)]\n"
        + directive("prefix", f"{namespace}.")
        + directive("skip", left_out)
        + regions(f"object/{namespace}.Gone")
        + "pub mod other;\n"
    )
    (src / "other.rs").write_text(regions("import-section", f"object/{elsewhere}"))
    assert stubgen(src, "--check")[0] == 1
    status, said, complaints = stubgen(src)
    assert (status, complaints) == (0, "")
    region = f"`object/{namespace}.Gone` (line 4)"
    assert f"[Removed] {src / 'lib.rs'}: {region}: the type is not registered any more" in said
    text = (src / "lib.rs").read_text()
    marks = [line.partition("): ")[2] for line in text.splitlines() if line.startswith(BEGIN)]
    assert marks == ["import-section", f"object/{base}", f"object/{child}"]
    assert text.endswith("pub mod other;\n")
    check(src / "lib.rs")
    assert stubgen(src, "--check") == (0, "", "")


def test_nothing_is_removed_when_no_type_of_a_namespace_is_registered(stubgen, src):
    text = directive("prefix", "no_such") + regions("object/no_such.Type")
    (src / "lib.rs").write_text(text)
    status, said, complaints = stubgen(src)
    assert status == 2
    assert "no type is registered under the `prefix` no_such" in said
    assert "`object/no_such.Type` (line 2): the type is no longer registered" in complaints
    assert (src / "lib.rs").read_text() == text


def test_a_namespace_belongs_to_one_file(stubgen, src):
    for name in ("a.rs", "b.rs"):
        (src / name).write_text(directive("prefix", "testing"))
    status, _, complaints = stubgen(src)
    assert status == 2
    assert f"{src / 'b.rs'}: `prefix` at line 1: {src / 'a.rs'} has the types of 'testing' already" in complaints
