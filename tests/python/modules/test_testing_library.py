"""The testing library: each function and each type.

This file tests our library; test_testing_alike.py runs it again with apache-tvm-ffi's own library, unmodified on our
core.
"""

import builtins
import ctypes
import json

import pytest
from support import TESTED_LIBRARY, run_python
from support.native_build import read_library

import ffi_hpy
from ffi_hpy import _core, registry
from ffi_hpy._types.info import TypeInfo

# --- values in and out ------------------------------------------------------------------------------------------------


def ffi(name, *arguments):
    return ffi_hpy.get_global_func(f"ffi.{name}")(*arguments)


def key_of(value):
    return type(value).__tvm_ffi_type_info__.type_key if isinstance(value, ffi_hpy.Object) else None


def plain(value):
    """Return a container as a Python container; Python may have no class for some of them yet."""
    key = key_of(value)
    if key == "ffi.Array":
        return [plain(item) for item in value]
    if key == "ffi.List":
        return [plain(ffi("ListGetItem", value, i)) for i in range(ffi("ListSize", value))]
    if key == "ffi.Map":
        return {name: plain(item) for name, item in value.items()}
    if key == "ffi.Dict":
        step, found = ffi("DictForwardIterFunctor", value), {}
        for _ in range(ffi("DictSize", value)):
            found[step(0)] = plain(step(1))
            step(2)
        return found
    return value


def a_list(*items):
    return ffi("List", *items)


def a_dict(**items):
    return ffi("Dict", *(part for item in items.items() for part in item))


def an_object():
    return ffi_hpy.get_global_func("testing.make_unregistered_object")()


def a_tensor():
    np = pytest.importorskip("numpy")
    return ffi_hpy.from_dlpack(np.arange(3, dtype="float32"))


def add(x, y=1):
    return x + y


LONG = "a text of some length"
ANYTHING = object()
"""A result that the examples do not state."""

# --- functions --------------------------------------------------------------------------------------------------------

INT, STR = "Expected `int` but got", "Expected `str` but got"

# By name: calls with their results, and refused calls with a part of the message. An argument that is an unnamed
# function without parameters is called, and its result is passed.
FUNCTIONS = {
    "TestIntPairSum": ([], [((1,), "testing.TestIntPair"), ((), "Expected 1 but got 0")]),
    "add_one": (
        [((1,), 2), ((True,), 2), ((-(2**31),), 1 - 2**31)],
        [(("1",), INT), ((1.5,), INT), ((1, 2), "Expected 1")],
    ),
    "apply": ([((add, 1, 2), 3), ((add, "a", "b"), "ab")], [((1,), "ffi.Function")]),
    "echo": ([((1,), 1), ((LONG, 2), LONG), ((None,), None), ((b"\0" * 9,), b"\0" * 9)], []),
    "enum_variant_get": ([], [(("Gamma",), "has no instance"), ((1,), STR)]),
    "get_add_one_c_symbol": ([], [((1,), "Expected 0 but got 1")]),
    "get_mlir_add_one_c_symbol": ([], [((1,), "Expected 0 but got 1")]),
    "make_array_with_mixed": ([], [((1, 2), "Tensor"), ((), "Expected 2 but got 0")]),
    "make_array_with_tensor": ([], [((1,), "Tensor")]),
    "make_dict_with_tensor": ([], [((1,), "Tensor")]),
    "make_empty_array_with_tensor_input": ([], [((1,), "Tensor")]),
    "make_list_with_tensor": ([], [((1, 2), "Tensor")]),
    "make_map_with_tensor": ([], [((1,), "Tensor")]),
    "make_nested_array_with_tensor": ([], [(("x",), "Tensor")]),
    "make_nested_map_with_tensor": ([], [((1, 2), "Tensor")]),
    "make_unregistered_object": ([], [((1,), "Expected 0 but got 1")]),
    "make_visit_region_graph": ([], [(("x",), "Expected `bool` but got"), ((), "Expected 1 but got 0")]),
    "nop": ([((), None), ((1, "a", [2]), None)], []),
    "object_use_count": ([], [((1,), "Object")]),
    "optional_tensor_view_has_value": ([((None,), False)], [(("x",), "Optional")]),
    "run_check_signal": ([((0,), None)], [(("x",), INT)]),
    "schema_arr_map_opt": (
        [
            (([1, None, 3], {"k": [1]}, "new"), {"k": [1], "new": [1, 3]}),
            (([1], {"k": [1]}, None), {"k": [1]}),
        ],
        [((["x"], {}, None), "Array"), (([], {"k": ["x"]}, None), "Map"), (([], {}, 3), "str")],
    ),
    "schema_id_any": ([((1,), 1), (([1, [2]],), [1, [2]]), ((None,), None)], [((), "Expected 1 but got 0")]),
    "schema_id_arr": ([(([1, "a"],), [1, "a"])], [((1,), "Array")]),
    "schema_id_arr_int": ([(([1, 2],), [1, 2]), (([],), [])], [((["x"],), "Array"), ((1,), "Array")]),
    "schema_id_arr_obj": ([(([],), [])], [(([1],), "Array")]),
    "schema_id_arr_str": ([((["a", LONG],), ["a", LONG])], [(([1],), "Array")]),
    "schema_id_bool": ([((True,), True), ((False,), False)], [(("x",), "bool")]),
    "schema_id_bytes": ([((b"",), b""), ((b"\0" * 20,), b"\0" * 20)], [((1,), "bytes")]),
    "schema_id_device": ([((ffi_hpy.device("cuda:2"),), ffi_hpy.device("cuda:2"))], [((1,), "Device")]),
    "schema_id_dict_str_int": (
        [((lambda: a_dict(a=1),), {"a": 1})],
        [((lambda: a_dict(a="x"),), "Dict"), ((1,), "Dict")],
    ),
    "schema_id_dict_str_str": ([((lambda: a_dict(a="x"),), {"a": "x"})], [((lambda: a_dict(a=1),), "Dict")]),
    "schema_id_dltensor": ([], [((1,), "Tensor")]),
    "schema_id_dtype": ([((ffi_hpy.dtype("float32x4"),), "float32x4"), (("int8",), "int8")], [((1,), "dtype")]),
    "schema_id_float": ([((1.5,), 1.5), ((2,), 2.0)], [(("x",), "float")]),
    "schema_id_func": ([((add,), ANYTHING)], [((1,), "ffi.Function")]),
    "schema_id_func_typed": ([((add,), ANYTHING)], [((1,), "ffi.Function")]),
    "schema_id_int": (
        [((2**63 - 1,), 2**63 - 1), ((-(2**63),), -(2**63))],
        [(("x",), INT), ((1.5,), INT), ((None,), INT)],
    ),
    "schema_id_list_int": ([((lambda: a_list(1, 2),), [1, 2])], [((lambda: a_list("x"),), "List"), ((1,), "List")]),
    "schema_id_list_obj": ([((lambda: a_list(),), [])], [((lambda: a_list(1),), "List")]),
    "schema_id_list_str": ([((lambda: a_list("a"),), ["a"])], [((lambda: a_list(1),), "List")]),
    "schema_id_map": ([(({1: "a"},), {1: "a"})], [((1,), "Map")]),
    "schema_id_map_str_int": ([(({"a": 1},), {"a": 1}), (({},), {})], [(({"a": "x"},), "Map"), (({1: 1},), "Map")]),
    "schema_id_map_str_obj": ([(({},), {})], [(({"a": 1},), "Map")]),
    "schema_id_map_str_str": ([(({"a": LONG},), {"a": LONG})], [(({"a": 1},), "Map")]),
    "schema_id_object": ([], [((1,), "Object")]),
    "schema_id_opt_int": ([((1,), 1), ((None,), None)], [(("x",), "int")]),
    "schema_id_opt_obj": ([((None,), None)], [((1,), "Object")]),
    "schema_id_opt_str": ([(("a",), "a"), ((LONG,), LONG), ((None,), None)], [((1,), "str")]),
    "schema_id_string": ([(("",), ""), ((LONG,), LONG)], [((1,), STR), ((b"x",), STR)]),
    "schema_id_tensor": ([], [((1,), "Tensor")]),
    "schema_id_variant_int_str": ([((1,), 1), ((LONG,), LONG)], [((1.5,), "Variant"), (([],), "Variant")]),
    "schema_no_args": ([((), 1)], [((1,), "Expected 0 but got 1")]),
    "schema_no_args_no_return": ([((), None)], [((1,), "Expected 0 but got 1")]),
    "schema_no_return": ([((1,), None)], [(("x",), INT)]),
    "schema_packed": ([((), None), ((1, "a"), None)], []),
    "schema_tensor_view_input": ([], [((1,), "Tensor")]),
    "schema_variant_mix": (
        [((1,), 1), (("a",), "a"), (([1, 2],), [1, 2])],
        [((["x"],), "Variant"), ((1.5,), "Variant")],
    ),
    "test_raise_error": ([], [(("TypeError", "as asked"), "as asked"), ((1, 2), STR)]),
}


def arguments_of(call):
    return [a() if callable(a) and a.__name__ == "<lambda>" else a for a in call]


def rows(which):
    table = [(name, call, result) for name, kinds in FUNCTIONS.items() for call, result in kinds[which]]
    return [pytest.param(*row, id=f"{row[0]}-{i}") for i, row in enumerate(table)]


def test_every_function_that_is_registered_is_named_here(testing_library):
    registered = {name for name in ffi_hpy.list_global_func_names() if name.startswith("testing.")}
    assert registered == {f"testing.{name}" for name in FUNCTIONS}


@pytest.mark.parametrize(("name", "call", "result"), rows(0))
def test_a_function_gives_the_expected_result(testing, name, call, result):
    value = plain(getattr(testing, name)(*arguments_of(call)))
    assert result is ANYTHING or (value == result and type(value) in (type(result), *type(result).__subclasses__()))


@pytest.mark.parametrize(("name", "call", "message"), rows(1))
def test_a_function_refuses_wrong_arguments(testing, name, call, message):
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        getattr(testing, name)(*arguments_of(call))
    if type(caught.value) is TypeError and name != "test_raise_error" and message.startswith("Expected"):
        assert f"`testing.{name}" in str(caught.value) or "Mismatched" in str(caught.value)


def test_functions_over_objects(testing):
    value = an_object()
    assert (value.v1, value.v2) == (41, 42)
    assert testing.object_use_count(value) >= 1
    box = testing.echo([value])
    assert testing.object_use_count(box[0]) >= 2
    for name in ("schema_id_object", "schema_id_opt_obj", "schema_id_any", "echo"):
        assert getattr(testing, name)(value).same_as(value)
    for name in ("schema_id_arr_obj", "schema_id_list_obj", "schema_id_map_str_obj"):
        given = {"arr": [value], "list": a_list(value), "map": {"k": value}}[name.split("_")[2]]
        returned = plain(getattr(testing, name)(given))
        assert next(iter(returned.values() if isinstance(returned, dict) else returned)).same_as(value)
    pair = class_of("TestIntPair")(3, 4)
    assert testing.TestIntPairSum(pair) == 7
    with pytest.raises(TypeError, match=r"testing\.TestIntPair"):
        testing.TestIntPairSum(value)


def test_functions_over_functions(testing):
    assert testing.schema_id_func(add)(1, 2) == 3
    assert testing.schema_id_func_typed(lambda i, x, f: None)(1, 2.0, add) is None
    assert testing.apply(testing.apply, testing.add_one, 4) == 5
    with pytest.raises(ZeroDivisionError):
        testing.apply(lambda: 1 // 0)


def test_functions_over_tensors(testing):
    tensor = a_tensor()
    same = tensor.same_as
    assert same(testing.schema_id_tensor(tensor))
    assert testing.optional_tensor_view_has_value(tensor) is True
    assert testing.schema_tensor_view_input(tensor) is None
    assert plain(testing.make_empty_array_with_tensor_input(tensor)) == []
    [first] = plain(testing.make_array_with_tensor(tensor))
    assert same(first)
    first, *rest = plain(testing.make_array_with_mixed(tensor, 5))
    assert same(first)
    assert rest == [5, "hello"]
    [[inner, number], last] = plain(testing.make_nested_array_with_tensor(tensor))
    assert same(inner)
    assert same(last)
    assert number == 42
    first, number = plain(testing.make_list_with_tensor(tensor, 7))
    assert same(first)
    assert number == 7
    made = plain(testing.make_map_with_tensor(tensor))
    assert same(made.pop("tensor"))
    assert made == {"value": 42, "name": "test"}
    made = plain(testing.make_dict_with_tensor(tensor))
    assert same(made.pop("tensor"))
    assert made == {"value": 42}
    other = a_tensor()
    made = plain(testing.make_nested_map_with_tensor(tensor, other))
    assert made["scalar"] == 99
    assert same(made["array"][0])
    assert same(made["map"]["t"])
    assert made["array"][1].same_as(other)


def test_a_dltensor_pointer_is_taken_and_not_returned(testing):
    with pytest.raises(RuntimeError, match=r"DLTensor\* cannot be held in Any"):
        testing.schema_id_dltensor(a_tensor())


def test_functions_given_as_addresses(testing):
    address = testing.get_add_one_c_symbol()
    function = ffi("FunctionFromExternC", None, ctypes.c_void_p(address), None)
    assert function(41) == 42
    with pytest.raises(TypeError, match=r"Cannot convert|Expected"):
        function("x")

    class Any(ctypes.Structure):
        _fields_ = (("type_index", ctypes.c_int32), ("padding", ctypes.c_uint32), ("value", ctypes.c_int64))

    argument, result, status = Any(1, 0, 41), Any(0, 0, 0), ctypes.c_int(-5)
    handle, arguments, count = ctypes.c_void_p(None), ctypes.pointer(argument), ctypes.c_int32(1)
    result_at = ctypes.pointer(result)
    packed = (ctypes.c_void_p * 5)(*(ctypes.addressof(x) for x in (handle, arguments, count, result_at, status)))
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(testing.get_mlir_add_one_c_symbol())(ctypes.addressof(packed))
    assert (status.value, result.type_index, result.value) == (0, 1, 42)


def test_the_enum_of_the_library(testing):
    alpha = testing.enum_variant_get("Alpha")
    assert key_of(alpha) == "testing.TestEnumVariant"
    assert alpha.same_as(testing.enum_variant_get("Alpha"))
    assert not alpha.same_as(testing.enum_variant_get("Beta"))
    assert repr(alpha) == "testing.TestEnumVariant.Alpha"


@pytest.mark.parametrize("with_hook", [False, True])
def test_the_graph_for_visitors(testing, with_hook):
    graph = testing.make_visit_region_graph(with_hook)
    fields = graph.child if with_hook else graph
    assert key_of(graph) == ("testing.TestVisitHook" if with_hook else "testing.TestVisitRegions")
    assert (fields.simple, fields.pattern, fields.ordinary) == (1, 2, 3)


@pytest.mark.parametrize(
    "kind", ["ValueError", "TypeError", "KeyError", "RuntimeError", "IndexError", "AttributeError"]
)
def test_errors_of_every_kind(testing, kind):
    with pytest.raises(getattr(builtins, kind), match="the message") as caught:
        testing.test_raise_error(kind, "the message")
    assert "TestRaiseError" in caught.value.__tvm_ffi_error__.backtrace


def test_the_library_of_the_era_before_works_too(era_headers):
    program = """
import sys, ffi_hpy
ffi_hpy.load_module(sys.argv[1])
f = lambda name: ffi_hpy.get_global_func("testing." + name)
f("run_check_signal")(0)  # prints through a stream that nothing of its own brings up
print(f("add_one")(1), f("echo")("a text of some length"), f("schema_id_opt_str")(None))
print(f("make_unregistered_object")().v2)
try:
    f("test_raise_error")("ValueError", "as asked")
except ValueError as error:
    print(error)
"""
    path = era_headers["old"].parent / "lib" / "libtvm_ffi_testing.so"
    assert sorted(run_python(program, path).splitlines()) == [
        "2 a text of some length None",
        "42",
        "Function finished without catching signal",
        "as asked",
    ]


# --- functions of the library as a module -----------------------------------------------------------------------------


def test_every_function_that_the_module_exports_is_called(testing_library):
    prefix = "__tvm_ffi_"
    exported = {name[len(prefix) :] for name in read_library(testing_library).exports if name.startswith(prefix)}
    assert {name for name in exported if not name.startswith("_")} == {
        "testing_dll_schema_id_int",
        "testing_dll_test_add_with_docstring",
    }
    module = ffi_hpy.load_module(testing_library)
    assert module.testing_dll_schema_id_int(-5) == -5
    assert module.testing_dll_test_add_with_docstring(2, 3) == 5
    with pytest.raises(TypeError, match="Expected 2 but got 1"):
        module.testing_dll_test_add_with_docstring(2)
    with pytest.raises(TypeError, match=INT):
        module.testing_dll_schema_id_int("x")
    assert "add" in module.get_function_doc("testing_dll_test_add_with_docstring").lower()
    assert module.get_function_doc("testing_dll_schema_id_int") is None
    for name in ("testing_dll_schema_id_int", "testing_dll_test_add_with_docstring"):
        assert json.loads(json.dumps(module.get_function_metadata(name)))["type_schema"]


def test_the_system_library_has_the_symbol_of_the_library(testing_library):
    assert ffi_hpy.system_lib("testing.").get_function("add_one")(1) == 2
    assert ffi_hpy.system_lib().get_function("testing.add_one")(1) == 2


# --- types ------------------------------------------------------------------------------------------------------------

NO_CONSTRUCTOR = "has no registered constructor"

# By key: the constructor's arguments (positional, keyword), or a part of the name of a function that makes an object;
# and the fields of the result.
TYPES = {
    "TestCompare": (((1, "a", 2), {}), {"key": 1, "name": "a", "ignored_field": 2}),
    "TestCustomCompare": (((1, "a"), {}), {"key": 1, "label": "a"}),
    "TestCustomHash": (((1, "a"), {}), {"key": 1, "label": "a"}),
    "TestCxxAutoInit": (((1, 4), {"c": 3}), {"a": 1, "b": 42, "c": 3, "d": 4}),
    "TestCxxAutoInitAllInitOff": (((), {}), {"x": 7, "y": 9, "z": 1234}),
    "TestCxxAutoInitChild": (
        ((1, 2), {"child_kw_only": 3}),
        {"parent_required": 1, "parent_default": 5, "child_required": 2, "child_kw_only": 3},
    ),
    "TestCxxAutoInitKwOnlyDefaults": (
        ((1,), {"k_required": 3}),
        {"p_required": 1, "p_default": 11, "k_required": 3, "k_default": 22, "hidden": 33},
    ),
    "TestCxxAutoInitParent": (((1,), {}), {"parent_required": 1, "parent_default": 5}),
    "TestCxxAutoInitSimple": (((), {"x": 1, "y": 2}), {"x": 1, "y": 2}),
    "TestCxxClassBase": (((1, 2), {}), {"v_i64": 1, "v_i32": 2}),
    "TestCxxClassDerived": (((1, 2, 3.5), {}), {"v_i64": 1, "v_i32": 2, "v_f64": 3.5, "v_f32": 8.0}),
    "TestCxxClassDerivedDerived": (
        ((1, 2, 3.5, True), {"v_f32": 0.5}),
        {"v_i64": 1, "v_i32": 2, "v_f64": 3.5, "v_f32": 0.5, "v_str": "default", "v_bool": True},
    ),
    "TestCxxClassHiddenField": (((1, 2), {}), {"v_i64": 1, "v_i32": 2}),
    "TestCxxClassPolymorphic": (((1,), {}), {"v_i64": 1}),
    "TestCxxInitSubset": (((1,), {}), {"required_field": 1, "optional_field": -1, "note": "default"}),
    "TestCxxKwOnly": (((), {"x": 1, "y": 2, "z": 3}), {"x": 1, "y": 2, "z": 3, "w": 100}),
    "TestDeepCopyEdges": ((([1], [2]), {}), {"v_any": [1], "v_obj": [2]}),
    "TestEqWithoutHash": (((1, "a"), {}), {"key": 1, "label": "a"}),
    "TestHash": (((1, "a", 2), {}), {"key": 1, "name": "a", "hash_ignored": 2}),
    "TestIntPair": (((1, 2), {}), {"a": 1, "b": 2}),
    "TestNonCopyable": (((1,), {}), {"value": 1}),
    "TestObjectBase": (((), {"v_str": LONG}), {"v_i64": 10, "v_f64": 10.0, "v_str": LONG}),
    "TestObjectDerived": (
        (({"a": 1}, [1, 2]), {"v_i64": 3}),
        {"v_i64": 3, "v_f64": 10.0, "v_str": "hello", "v_map": {"a": 1}, "v_array": [1, 2]},
    ),
    "TestUnregisteredBaseObject": (((1,), {}), {"v1": 1}),
    "TestUnregisteredObject": (((1, 2), {}), {"v1": 1, "v2": 2}),
    "TestVisitRegions": (((5, 6), {"ordinary": 7}), {"simple": 5, "pattern": 6, "ordinary": 7}),
}
# By key: the function that makes its objects, if there is one.
WITHOUT_CONSTRUCTOR = {
    "SchemaAllTypes": lambda cls: cls.make_with(1, 2.5, LONG),
    "TestCxxIntEnum": None,
    "TestCxxNoAutoInit": lambda cls: ffi("MakeObjectFromPackedArgs", "testing.TestCxxNoAutoInit", "x", 1, "y", 2),
    "TestCxxStrEnum": None,
    "TestEnumVariant": lambda cls: ffi_hpy.get_global_func("testing.enum_variant_get")("Beta"),
    "TestFrozenCxx": None,
    "TestVisitHook": lambda cls: ffi_hpy.get_global_func("testing.make_visit_region_graph")(True),
}
if not TESTED_LIBRARY:  # apache-tvm-ffi's library has this type without its fields
    del WITHOUT_CONSTRUCTOR["TestFrozenCxx"]
    TYPES["TestFrozenCxx"] = ((1, "a"), {}), {"value": 1, "tag": "a"}
MADE_OF_OBJECTS = {"TestCxxEnumHolder", "TestObjectPtrHolder"}


def class_of(key):
    """Return a class that is bound to a type and not registered, because other tests register their own classes."""
    cls = type(ffi_hpy.Object)(key, (ffi_hpy.Object,), {})
    registry._bind(cls, TypeInfo(_core.type_key_to_index(f"testing.{key}")), init=True)
    return cls


def test_every_type_that_is_registered_is_named_here(testing_library):
    registered = {str(key) for key in ffi("GetRegisteredTypeKeys") if str(key).startswith("testing.")}
    assert registered == {f"testing.{key}" for key in [*TYPES, *WITHOUT_CONSTRUCTOR, *MADE_OF_OBJECTS]}


@pytest.mark.parametrize("key", TYPES)
def test_a_constructor_sets_the_fields(testing_library, key):
    (arguments, named), fields = TYPES[key]
    made = class_of(key)(*arguments, **named)
    assert key_of(made) == f"testing.{key}"
    assert {name: plain(getattr(made, name)) for name in fields} == fields
    described = [field.name for info in lineage(made) for field in info.fields]
    assert sorted(described) == sorted(fields)


def lineage(value):
    """Yield the descriptions of an object's type and of all its ancestors."""
    own = type(value).__tvm_ffi_type_info__
    return [own, *map(TypeInfo, own.type_ancestors)]


@pytest.mark.parametrize("key", TYPES)
def test_a_constructor_refuses_too_many_arguments(testing_library, key):
    with pytest.raises(TypeError, match=r"but (got )?\d+ (arguments|were given)"):
        class_of(key)(*range(20))


@pytest.mark.parametrize("key", [key for key in TYPES if key != "TestDeepCopyEdges"])
def test_a_constructor_refuses_a_wrong_value(testing_library, key):
    (arguments, named), _ = TYPES[key]
    wrong = object()
    if arguments:
        arguments = (wrong, *arguments[1:])
    elif named:
        named = {**named, next(iter(named)): wrong}
    else:
        named = {"x": wrong}  # a field that does not exist
    with pytest.raises(TypeError):
        class_of(key)(*arguments, **named)


@pytest.mark.parametrize("key", WITHOUT_CONSTRUCTOR)
def test_a_type_without_constructor_is_an_error_with_the_reason(testing_library, key):
    with pytest.raises(TypeError, match=NO_CONSTRUCTOR):
        class_of(key)()
    make = WITHOUT_CONSTRUCTOR[key]
    if make is not None:
        assert key_of(make(class_of(key))) == f"testing.{key}"


@pytest.mark.parametrize("key", TYPES)
def test_fields_are_written_where_they_may_be(testing_library, key):
    (arguments, named), fields = TYPES[key]
    made = class_of(key)(*arguments, **named)
    is_writable = {field.name: not field.frozen for info in lineage(made) for field in info.fields}
    for name, value in fields.items():
        if is_writable[name]:
            setattr(made, name, value)
            assert plain(getattr(made, name)) == value
        else:
            with pytest.raises(AttributeError):
                setattr(made, name, value)


def test_methods(testing_library):
    assert class_of("TestIntPair")(3, 4).sum() == 7
    assert class_of("TestObjectBase")(5).add_i64(2) == 7
    assert class_of("TestObjectDerived")({}, [], v_i64=6).add_i64(2) == 8
    assert class_of("TestUnregisteredBaseObject")(1).get_v1_plus_one() == 2
    child = class_of("TestUnregisteredObject")(1, 2)
    assert (child.get_v1_plus_one(), child.get_v2_plus_two()) == (2, 4)


def test_the_methods_named_above_are_all(testing_library):
    has_methods = {}
    for key in [*TYPES, *WITHOUT_CONSTRUCTOR, *MADE_OF_OBJECTS]:
        names = {method.name for method in class_of(key).__tvm_ffi_type_info__.methods} - {"__ffi_init__"}
        if names:
            has_methods[key] = names
    assert has_methods == {
        "SchemaAllTypes": {"add_int", "append_int", "maybe_concat", "merge_map", "make_with"},
        "TestIntPair": {"sum"},
        "TestObjectBase": {"add_i64"},
        "TestUnregisteredBaseObject": {"get_v1_plus_one"},
        "TestUnregisteredObject": {"get_v2_plus_two"},
    }


def test_the_type_with_every_sort_of_field(testing_library):
    made = class_of("SchemaAllTypes").make_with(1, 2.5, LONG)
    assert (made.v_bool, made.v_int, made.v_float, made.v_string) == (True, 1, 2.5, LONG)
    assert (made.v_device, made.v_dtype, made.v_variant) == (ffi_hpy.device("cpu"), "float32", "v")
    assert (made.v_opt_int, made.v_opt_str, made.v_opt_arr_variant) == (None, None, None)
    written = {
        "v_bool": False,
        "v_int": -1,
        "v_float": 0.5,
        "v_device": ffi_hpy.device("cuda:1"),
        "v_dtype": ffi_hpy.dtype("int8"),
        "v_string": "",
        "v_bytes": b"\0" * 10,
        "v_opt_int": 5,
        "v_opt_str": LONG,
        "v_arr_int": [1, 2],
        "v_arr_str": ["a", LONG],
        "v_map_str_int": {"a": 1},
        "v_map_str_arr_int": {"a": [1]},
        "v_variant": [1, 2],
        "v_opt_arr_variant": [1, "a"],
    }
    assert set(written) == {field.name for field in type(made).__tvm_ffi_type_info__.fields}
    for name, value in written.items():
        setattr(made, name, value)
    assert {name: plain(getattr(made, name)) for name in written} == written
    for name, wrong in {"v_int": "x", "v_arr_int": ["x"], "v_map_str_int": {"a": "x"}, "v_variant": 1.5}.items():
        with pytest.raises(TypeError):
            setattr(made, name, wrong)
    assert {name: plain(getattr(made, name)) for name in written} == written
    made.v_opt_int = made.v_opt_str = made.v_opt_arr_variant = None
    assert (made.v_opt_int, made.v_opt_str, made.v_opt_arr_variant) == (None, None, None)


def test_the_methods_of_that_type(testing_library):
    made = class_of("SchemaAllTypes").make_with(1, 2.5, "s")
    assert made.add_int(4) == 5
    assert plain(made.append_int([1], 2)) == [1, 2]
    assert [made.maybe_concat(*pair) for pair in (("a", "b"), ("a", None), (None, "b"), (None, None))] == [
        "ab",
        "a",
        "b",
        None,
    ]
    assert plain(made.merge_map({"a": [1]}, {"a": [2], "b": [3]})) == {"a": [1, 2], "b": [3]}
    for call in (lambda: made.add_int("x"), lambda: made.append_int(["x"], 1), lambda: made.merge_map(1, {})):
        with pytest.raises(TypeError, match="Mismatched type"):
            call()


def test_fields_that_are_objects(testing_library):
    base, other = class_of("TestObjectBase")(1), class_of("TestObjectDerived")({}, [])
    holder = class_of("TestObjectPtrHolder")(base)
    assert holder.value.same_as(base)
    assert holder.optional_value is None
    holder.optional_value = other
    assert holder.optional_value.same_as(other)
    for wrong in (None, 1, class_of("TestIntPair")(1, 2)):
        with pytest.raises(TypeError):
            holder.value = wrong
    with pytest.raises(TypeError, match=r"field 'value'|testing\.TestObjectBase"):
        class_of("TestObjectPtrHolder")(1)
    with pytest.raises(TypeError, match=r"field 'priority'.*\n.*testing\.TestCxxIntEnum"):
        class_of("TestCxxEnumHolder")(1, 2)
