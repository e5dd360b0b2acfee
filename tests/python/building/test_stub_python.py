"""The contents of the regions in Python files."""

import ffi_hpy
import ffi_hpy.testing
from ffi_hpy.core import TypeSchema
from ffi_hpy.stub import consts, lib_state
from ffi_hpy.stub.file_utils import CodeBlock
from ffi_hpy.stub.python_generator import codegen, fields
from ffi_hpy.stub.python_generator import consts as python_consts
from ffi_hpy.stub.python_generator.protocols import follow_protocol
from ffi_hpy.stub.python_generator.utils import ImportItem
from ffi_hpy.stub.utils import FuncInfo, InitConfig, InitFieldInfo, NamedTypeSchema, ObjectInfo, Options

PYTHON = consts.PYTHON_SYNTAX


def functions(**schemas):
    return [FuncInfo.from_schema(f"demo.{name}", schema) for name, schema in schemas.items()]


def takes(result, *params):
    return TypeSchema("Callable", named_args={"return": (result,), "params": params})


def filled(generate, kind, param, *arguments):
    """Return the lines of a generator between the marks, without those for formatters."""
    code = CodeBlock(kind, param, 1, 2, [PYTHON.begin, PYTHON.end])
    generate(code, *arguments)
    return [line for line in code.lines[1:-1] if not line.strip().startswith(("# fmt:", "# isort:"))]


def test_contains_takes_any_object_and_returns_bool():
    params = [TypeSchema("Object"), TypeSchema("int")]
    words = ["self", "_1: int", "/"]
    followed = follow_protocol("__contains__", words, "int", params, TypeSchema("int"), str)
    assert followed == (["self", "_1: object", "/"], "bool")


# --- members --------------------------------------------------------------------------------------------------------


def fields_of(**flags):
    return [
        NamedTypeSchema("name", TypeSchema("str"), frozen=True, doc='How it is "called"'),
        NamedTypeSchema("dtype", TypeSchema("dtype"), **flags),
        NamedTypeSchema("property", TypeSchema("int"), doc="In litres.\n\nOr in gallons."),
    ]


def test_fields_that_only_read_are_properties_and_the_others_attributes():
    imports = []
    arguments = ({"dtype": "ffi.dtype"}, imports, Options(), ObjectInfo(fields_of(frozen=True), []), {"demo.X"})
    lines = filled(codegen.generate_python_object, "object", "demo.X", *arguments, True)
    assert lines == [
        "property: int",
        '"""In litres.',
        "",
        "Or in gallons.",
        '"""',
        "if TYPE_CHECKING:",
        "    @_property",
        "    def name(self) -> str:",
        '        """How it is "called"',
        '        """',
        "        ...",
        "    @_property",
        "    def dtype(self) -> _dtype: ...",
        "else:",
        "    name: str",
        "    dtype: _dtype",
    ]
    assert ImportItem("builtins.property", type_checking_only=True, alias="_property") in imports
    compile("class X:\n" + "\n".join(f"    {line}" for line in lines), "_ffi_api.py", "exec")
    assert "else:" not in filled(codegen.generate_python_object, "object", "demo.X", *arguments, False)  # a .pyi file


def test_a_property_in_place_of_an_attribute_of_an_ancestor_is_marked():
    info = ObjectInfo(fields_of(), [])
    lines = fields.render_object_properties(info, str, 0, inherited={"name", "dtype"})
    assert lines[:2] == ["@property", "def name(self) -> str:  # type: ignore[override,unused-ignore]"]


def test_the_variants_of_an_enum_are_attributes_of_its_class():
    info = ObjectInfo([], [], "demo.Kind", "ffi.Enum", ancestors=["ffi.Object", "ffi.Enum"])
    info.variants = ["air", "lambda", "get"]
    imports = []
    lines = filled(codegen.generate_python_object, "object", "demo.Kind", {}, imports, Options(), info, {"demo.Kind"})
    odd = "is not a name for an attribute: the class finds it when it is called with the name"
    assert lines == ["if TYPE_CHECKING:", "    air: ClassVar[Kind]", f"    # 'lambda' {odd}", f"    # 'get' {odd}"]
    text = codegen.generate_python_ffi_api([], {}, "demo", [info], InitConfig("x", "y", "demo."), False, PYTHON)
    assert 'class Kind(_ffi_Enum, type_key="demo.Kind"):' in text.splitlines()
    assert "_FFI_REG_OBJ" not in text
    assert lib_state.object_info_from_type_key("testing.TestEnumVariant").variants == ["Alpha", "Beta"]
    assert lib_state.object_info_from_type_key("testing.TestIntPair").variants == []


def test_a_new_class_has_the_author_s_documentation_of_the_type():
    infos = [ObjectInfo([], [], f"demo.{name}", "ffi.Object", doc=doc) for name, doc in (("A", "A tank."), ("B", ""))]
    text = codegen.generate_python_ffi_api([], {}, "demo", infos, InitConfig("x", "y", "demo."), False, PYTHON)
    assert 'class A(_ffi_Object):\n    """A tank."""\n' in text
    assert 'class B(_ffi_Object):\n    """FFI binding for `demo.B`."""\n' in text


def test_constructors_show_the_defaults_of_fields_that_python_can_write():
    values = {"a": 1.5, "b": "x'y", "c": None, "d": True, "e": float("inf"), "f": ffi_hpy.Array([1])}
    schemas = [NamedTypeSchema(name, TypeSchema("Any"), default=value) for name, value in values.items()]
    taken = [InitFieldInfo(f.name, f, kw_only=False, has_default=True) for f in schemas]
    info = ObjectInfo(schemas, [], has_init=True, init_fields=taken)
    expected = 'self, a: Any = 1.5, b: Any = "x\'y", c: Any = None, d: Any = True, e: Any = ..., f: Any = ...'
    assert codegen.render_object_init(info, str, 0) == [f"def __init__({expected}) -> None: ..."]


def test_parameters_accept_convertible_values_and_callbacks_get_returned_types():
    tensor = TypeSchema("Tensor")
    callback = takes(tensor, tensor)
    funcs = functions(f=takes(callback, callback, TypeSchema("ffi.Shape"), TypeSchema("dtype"), TypeSchema("Device")))
    names = dict(python_consts.TY_MAP_DEFAULTS)
    lines = filled(codegen.generate_python_global_funcs, "global", ("demo", ""), funcs, names, [], Options())
    given, made = "Callable[[Tensor], SupportsDLPack]", "Callable[[SupportsDLPack], Tensor]"
    assert (
        lines[-1] == f"    def f(_0: {given}, _1: Sequence[int], _2: dtype | str, _3: Device | str, /) -> {made}: ..."
    )


def test_results_have_the_class_that_arrives():
    pair = TypeSchema("tuple", (TypeSchema("int"), TypeSchema("str")))
    names = TypeSchema("Map", (TypeSchema("str"), TypeSchema("Array", (pair,))))
    funcs = functions(f=takes(names, names, TypeSchema("tuple", ())))
    imports = []
    ty_map = dict(python_consts.TY_MAP_DEFAULTS)
    lines = filled(codegen.generate_python_global_funcs, "global", ("demo", ""), funcs, ty_map, imports, Options())
    given = "_0: Mapping[str, Sequence[tuple[int, str]]], _1: tuple[()], /"
    assert lines[-1] == f"    def f({given}) -> Map[str, Array[Array[int | str]]]: ..."
    assert ImportItem("ffi_hpy.Array", type_checking_only=True) in imports
    ty_map["Array"] = "list"  # a mapping of the user stays
    lines = filled(codegen.generate_python_global_funcs, "global", ("demo", ""), funcs, ty_map, [], Options())
    assert lines[-1].endswith("-> Map[str, list[list[int | str]]]: ...")


# --- names ----------------------------------------------------------------------------------------------------------


def test_a_type_whose_name_is_taken_gets_another():
    imports = []
    info = ObjectInfo(
        fields=[
            NamedTypeSchema("dtype", TypeSchema("dtype")),
            NamedTypeSchema("int", TypeSchema("int")),
            NamedTypeSchema("one", TypeSchema("a.Thing")),
            NamedTypeSchema("two", TypeSchema("b.Thing")),
            NamedTypeSchema("three", TypeSchema("c.Local")),
        ],
        methods=[],
    )
    ty_map = {"dtype": "ffi.dtype"}
    lines = filled(codegen.generate_python_object, "object", "demo.X", ty_map, imports, Options(), info, {"x.Local"})
    assert lines == ["dtype: _dtype", "int: _int", "one: Thing", "two: _Thing", "three: _Local"]
    assert ImportItem("builtins.int", type_checking_only=True, alias="_int") in imports
    assert ImportItem("b.Thing", type_checking_only=True, alias="_Thing") in imports


def test_a_class_beside_a_function_with_the_name_of_a_builtin_class_names_that_class():
    imports = []
    info = ObjectInfo(fields=[NamedTypeSchema("name", TypeSchema("str"))], methods=[])
    lines = filled(
        codegen.generate_python_object, "object", "demo.X", {}, imports, Options(), info, {"demo.X"}, False, {"str"}
    )
    assert lines == ["name: _str"]
    assert ImportItem("builtins.str", type_checking_only=True, alias="_str") in imports


def test_invalid_python_names_are_listed_in_a_comment():
    funcs = functions(**{"lambda": takes(TypeSchema("int")), "so-called": takes(TypeSchema("int"))})
    lines = filled(codegen.generate_python_global_funcs, "global", ("demo", ""), funcs, {}, [], Options())
    assert lines[2:] == [
        "    # 'lambda' is not a name for Python: get_global_func() finds it",
        "    # 'so-called' is not a name for Python: get_global_func() finds it",
        "    pass",
    ]
    odd = NamedTypeSchema("class", TypeSchema("int"))
    info = ObjectInfo([odd], [], has_init=True, init_fields=[InitFieldInfo("class", odd, False, False)])
    lines = filled(codegen.generate_python_object, "object", "demo.X", {"Any": "typing.Any"}, [], Options(), info)
    assert lines == [
        "# 'class' is not a name for Python: it is there for getattr()",
        "if TYPE_CHECKING:",
        "    def __init__(self, *args: Any, **kwargs: Any) -> None: ...",
        "    def __ffi_init__(self, *args: Any, **kwargs: Any) -> None: ...",
    ]


def test_a_type_that_cannot_be_a_class_is_left_out_of_the_names_of_its_package():
    funcs = functions(Pair=takes(TypeSchema("int")), add=takes(TypeSchema("int")))
    arguments = (funcs, {}, [], Options(), {"demo.Pair"})
    lines = filled(codegen.generate_python_global_funcs, "global", ("demo", ""), *arguments)
    assert lines[2:] == [
        "    # 'Pair' is a class of this file: get_global_func() finds the function",
        "    def add() -> int: ...",
    ]
    assert filled(codegen.generate_python_all, "__all__", "", {"f", "lambda", "so-called"}, Options()) == ['"f",']
    derived = ObjectInfo([], [], "demo.Derived", "demo.class", ancestors=["ffi.Object", "demo.Base", "demo.class"])
    text = codegen.generate_python_ffi_api([], {}, "demo", [derived], InitConfig("x", "y", "z"), False, PYTHON)
    assert "class Derived(_demo_Base):" in text


def test_regions_without_names_are_valid_python():
    funcs = functions(**{"lambda": takes(TypeSchema("int"))})
    lines = filled(codegen.generate_python_global_funcs, "global", ("demo", ""), funcs, {}, [], Options())
    odd = ObjectInfo([], [FuncInfo.from_schema("class", takes(TypeSchema("int")))])
    lines += filled(codegen.generate_python_object, "object", "demo.X", {}, [], Options(), odd)
    imports = []
    takes_odd = functions(f=takes(TypeSchema("demo.class"), TypeSchema("demo.so-called.X")))
    lines += filled(codegen.generate_python_global_funcs, "global", ("demo", ""), takes_odd, {}, imports, Options())
    assert lines[-1] == "    def f(_0: Object, /) -> Object: ..."
    assert ImportItem("ffi.Object", type_checking_only=True) in imports
    assert lines.count("    pass") == 2
    compile("\n".join(lines), "_ffi_api.py", "exec")


def test_a_function_whose_parameter_has_the_name_of_another_function_names_the_class():
    funcs = functions(Pair=takes(TypeSchema("int")), first=takes(TypeSchema("int"), TypeSchema("demo.Pair")))
    arguments = (funcs, {}, [], Options(), {"demo.Pair"})
    lines = filled(codegen.generate_python_global_funcs, "global", ("demo", ""), *arguments)
    assert lines[-1] == "    def first(_0: Pair, /) -> int: ..."


def test_the_parents_of_classes_that_need_the_library_are_imported_after_it_is_loaded():
    infos = [
        ObjectInfo([], [], f"demo.{name}", parent, ancestors=["ffi.Object", parent])
        for name, parent in (("Leaf", "demo.base.Node"), ("Other", "other.Node"))
    ]
    for is_root in (True, False):
        config = InitConfig("x", "y", "demo.")
        text = codegen.generate_python_ffi_api([], {}, "demo", infos, config, is_root, PYTHON)
        assert ("\nfrom demo.base import Node as _demo_base_Node  # noqa: E402\n@" in text) == is_root
        assert ("(import-object): demo.base.Node;False;_demo_base_Node\n" in text) == (not is_root)
        assert "(import-object): other.Node;False;_other_Node\n" in text


def test_a_constructor_that_takes_other_things_than_the_fields_is_shown_as_it_is():
    number, text = TypeSchema("int"), TypeSchema("str")
    fields = [NamedTypeSchema("a", number), NamedTypeSchema("b", number)]
    parameters = [InitFieldInfo(f.name, f, kw_only=False, has_default=False) for f in fields]

    def init_line(*params):
        constructor = FuncInfo.from_schema("__ffi_init__", takes(TypeSchema("Object"), *params))
        info = ObjectInfo(fields, [constructor], has_init=True, init_fields=parameters)
        return codegen.render_object_init(info, str, indent=0)

    assert init_line(number, number) == ["def __init__(self, a: int, b: int, /) -> None: ..."]
    assert init_line(text) == ["def __init__(self, _0: str, /) -> None: ..."]
    assert init_line() == ["def __init__(self) -> None: ..."]


def test_methods_that_differ_from_the_overridden_ones_are_marked():
    info = lib_state.object_info_from_type_key("testing.TestCxxClassDerived")
    lines = filled(codegen.generate_python_object, "object", info.type_key, {}, [], Options(), info)
    marked = [line.split("(")[0].split()[-1] for line in lines if "type: ignore[override" in line]
    assert marked == ["__ffi_init__"]
