"""TypeSchema: creation from annotations and JSON, printing, immutability; conversion, also by native setters."""

import collections
import copy
import ctypes
import pickle
import random
import sys
import types
import typing
from fractions import Fraction
from typing import Any, Callable, Optional, Union

import pytest
from support import COPIES_LISTS, FREES_AT_ONCE, IS_DEBUG, IS_OVER_CFFI, IS_OWN_DEBUG, parallelize, unique_name

import ffi_hpy
from ffi_hpy import Array, Dict, List, Map, _core, dataclasses
from ffi_hpy.core import CAny, TypeSchema, _to_py_class_value

of = TypeSchema.from_annotation


def converted(annotation, value):
    return _to_py_class_value(of(annotation).convert(value))


# --- creation and printing ------------------------------------------------------------------------------------------


def test_an_alternative_is_printed_once():
    nested = TypeSchema("Optional", (TypeSchema("Optional", (TypeSchema("int"),)),))
    assert str(nested) == "int | None"
    inner = TypeSchema("Union", (TypeSchema("int"), TypeSchema("None"), TypeSchema("str")))
    assert str(TypeSchema("Optional", (inner,))) == "int | None | str"
    assert str(TypeSchema("Union", (inner, TypeSchema("List", (nested,)), TypeSchema("int")))) == (
        "int | None | str | List[int | None]"
    )


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (int, "int"),
        (None, "None"),
        (list[int], "List[int]"),
        (dict[str, list[bool]], "Dict[str, List[bool]]"),
        (tuple[int, ...], "Array[int]"),
        (tuple[()], "tuple[()]"),
        (tuple, "tuple"),
        (typing.Tuple, "tuple"),  # noqa: UP006
        (typing.List, "List[Any]"),  # noqa: UP006
        (typing.List[int], "List[int]"),  # noqa: UP006
        (typing.Dict, "Dict[Any, Any]"),  # noqa: UP006
        (typing.Dict[str, int], "Dict[str, int]"),  # noqa: UP006
        (typing.Tuple[int, ...], "Array[int]"),  # noqa: UP006
        (Optional[Union[int, str]], "int | str | None"),
        (Callable[[int, str], None], "Callable[[int, str], None]"),
        (Callable[..., int], "Callable[..., int]"),
        (Callable[[], int], "Callable[[], int]"),
        (Callable, "Callable[..., Any]"),
        (Map[str, Array[int]], "Map[str, Array[int]]"),
        (ffi_hpy.dtype, "dtype"),
        (ffi_hpy.Device, "Device"),
        (ffi_hpy.Tensor, "Tensor"),
        (ffi_hpy.Function, "Callable[..., Any]"),
        (ffi_hpy.Error, "ffi.Error"),
        (ffi_hpy.Object, "Object"),
        (ctypes.c_void_p, "ctypes.c_void_p"),
        (typing.Annotated[int, "of any"], "int"),
        (typing.Annotated[list, "of any"], "List[Any]"),
        (typing.Annotated[tuple[int, str], 1, 2], "tuple[int, str]"),
        (list[typing.Annotated[Array[int], 3]], "List[Array[int]]"),
    ],
    ids=str,
)
def test_an_annotation_prints_as_it_was(annotation, text):
    schema = of(annotation)
    assert str(schema) == text
    assert TypeSchema.from_json_obj(schema.to_json()) == schema
    assert pickle.loads(pickle.dumps(schema)) == schema
    assert copy.deepcopy(schema) == schema
    assert hash(copy.copy(schema)) == hash(schema)


@pytest.mark.parametrize(
    "annotation", ["int", typing.ForwardRef("int"), complex, 3, [int], typing.TypeVar("T"), object()]
)
def test_an_annotation_that_is_not_a_type_of_values_is_a_type_error(annotation):
    with pytest.raises(TypeError, match="Cannot convert"):
        of(annotation)


def test_text_as_an_annotation_says_how_to_resolve_it():
    with pytest.raises(TypeError, match="get_type_hints"):
        of("list[int]")


def test_a_schema_cannot_be_changed():
    schema = of(int)
    for name in ("origin", "args", "other"):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(schema, name, "str")
    with pytest.raises(AttributeError, match="immutable"):
        del schema.origin
    assert schema.origin == "int"


def test_schemas_are_keys():
    assert {of(list[int]): 1}[TypeSchema("List", [TypeSchema("int")])] == 1
    assert of(int) != of(str)
    assert of(int) != "int"


@pytest.mark.parametrize("args", [(3,), ("int",), (None,)], ids=str)
def test_arguments_must_be_schemas(args):
    with pytest.raises(TypeError, match="TypeSchema instances"):
        TypeSchema("List", args)


@pytest.mark.parametrize("name", ["", None, 3], ids=repr)
def test_an_origin_must_be_text(name):
    with pytest.raises(ValueError, match="nonempty"):
        TypeSchema(name)


def test_an_unknown_type_index_is_a_value_error():
    with pytest.raises(ValueError, match="no type is registered"):
        TypeSchema.from_type_index(2**30)


def test_a_type_that_is_registered_later_is_known_then():
    key = unique_name("Later")
    schema = TypeSchema("Optional", [TypeSchema(key)])
    with pytest.raises(TypeError, match="unknown TypeSchema origin"):
        schema.check_value(3)
    with pytest.raises(TypeError, match="unknown TypeSchema origin"):
        schema.convert(None)
    assert converted(None, None) is None


# --- conversion -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (int, True, 1),
        (float, 2**70, float(2**70)),
        (float, Fraction(1, 2), 0.5),
        (bool, 1, True),
        (bool, 0, False),
        (Optional[float], None, None),
        (Union[str, float], 1, 1.0),
        (list[float], [1, True], [1.0, 1.0]),
        (tuple[str, int], ["a", False], ["a", 0]),
        (dict[str, float], {"a": 1}, {"a": 1.0}),
        (dict[str, float], types.MappingProxyType({"a": 1}), {"a": 1.0}),
        (dict[str, int], collections.OrderedDict(a=True), {"a": 1}),
        (bytes, bytearray(b"ab"), b"ab"),
        (str, "\0 and \U0001f600", "\0 and \U0001f600"),
        (ffi_hpy.dtype, "int8x4", "int8x4"),
        (ffi_hpy.Device, "cuda:3", ffi_hpy.Device("cuda", 3)),
    ],
    ids=str,
)
def test_values_are_converted_as_the_schema_says(annotation, value, expected):
    result = converted(annotation, value)
    if isinstance(expected, (list, dict)):
        result = type(expected)(result)
    assert result == expected
    assert type(result) is type(expected) or isinstance(result, type(expected))


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        (int, "a", "expected int, got str"),
        (int, 1.0, "expected int, got float"),
        (int, -(10**99), "out of int64 range"),
        (float, 10**400, "integer 10+... out of float range"),
        (bytes, "a", "expected bytes, got str"),
        (list[int], {1: 2}, "expected List, got dict"),
        (list[int], "abc", "expected List, got str"),
        (
            dict[str, list[int]],
            {"k": [1, None]},
            r"value for key 'k': element \[1\]: expected int, got None",
        ),
        (dict[int, int], {"k": 1}, "key 'k': expected int, got str"),
        (tuple[int, int], [1], "expected tuple of length 2, got list of length 1"),
        (Union[int, str], 1.5, r"int \| str: expected int \| str, got float"),
        (Array[int], Map({"a": 1}), "expected Array, got ffi.Map"),
        (Array[int], Array([1, "b"]), r"element \[1\]: expected int, got str"),
        (Map[str, int], Map({"it's": None}), r"value for key \"it's\": expected int, got None"),
        (Map[str, int], Map({"a": None}), "value for key 'a': expected int, got None"),
        (Map[str, int], Map({4: 5}), "key 4: expected str, got int"),
        (ffi_hpy.dtype, "no such", "invalid dtype string 'no such'"),
        (ffi_hpy.Device, "no such", "invalid device string 'no such'"),
        (ffi_hpy.Function, 3, "expected Callable, got int"),
        (str, "\ud800", "expected str, got str"),
    ],
    ids=str,
)
def test_a_mismatch_is_a_type_error_with_its_path(annotation, value, message):
    schema = of(annotation)
    with pytest.raises(TypeError, match=f"^type conversion failed for .*{message}"):
        schema.convert(value)
    with pytest.raises(TypeError, match=f"^type check failed for .*{message}"):
        schema.check_value(value)


def test_an_int_that_cannot_be_printed_is_a_type_error():
    with pytest.raises(TypeError, match="out of int64 range"):
        of(int).convert(10**5000)


def test_a_container_that_fits_stays_itself():
    for annotation, value in (
        (Array[str], Array(["a", "a longer text"])),
        (List[float], List([1.5])),
        (Map[str, Any], Map({"a": None, "b": 1})),
        (Dict[int, Optional[str]], Dict({1: None})),
        (tuple[int, str], Array([1, "a"])),
    ):
        assert converted(annotation, value).same_as(value)


def test_a_container_that_changes_becomes_a_new_one():
    source = List([1, True])
    result = converted(List[int], source)
    assert not result.same_as(source)
    assert [type(item) for item in result] == [int, int]
    assert [type(item) for item in source] == [int, bool]


def test_the_first_alternative_that_fits_counts():
    assert type(converted(Union[float, int], 1)) is float
    assert type(converted(Union[int, float], True)) is int
    assert list(converted(Union[list[int], list[Any]], ["a"])) == ["a"]


def test_a_protocol_is_asked_once():
    calls = []

    class Counted:
        def __tvm_ffi_value__(self):
            calls.append(self)
            return 3

    value = Counted()
    assert converted(Union[str, bytes, int], value) == 3
    assert calls == [value]


@pytest.mark.parametrize("hook", ["__tvm_ffi_value__", "__tvm_ffi_object__", "asobject"])
def test_an_interruption_passes_through(hook):
    def interrupted(self):
        raise KeyboardInterrupt

    base = (ffi_hpy.ObjectConvertible,) if hook == "asobject" else ()
    value = type("Interrupted", base, {hook: interrupted})()
    for schema in (of(int), of(Union[int, str]), of(list[Any]), of(Optional[ffi_hpy.Object])):
        given = [value] if schema.origin == "List" else value
        with pytest.raises(KeyboardInterrupt):
            schema.convert(given)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit, MemoryError])
def test_an_interruption_of_a_native_conversion_passes_through(interruption):
    """The conversion of a type is a native function, which may run Python code."""
    key = unique_name("Interrupted")

    @dataclasses.py_class(key)
    class Interrupted(ffi_hpy.Object):
        @staticmethod
        def __ffi_convert__(value):
            raise interruption

    for schema in (of(Interrupted), of(Union[Interrupted, int]), of(list[Interrupted])):
        with pytest.raises(interruption):
            schema.convert([3] if schema.origin == "List" else 3)
        with pytest.raises(interruption):
            schema.convert(List([3]) if schema.origin == "List" else 3)


def test_the_reason_of_a_protocol_that_fails_is_in_the_error():
    class Broken:
        def __tvm_ffi_object__(self):
            raise LookupError("nothing there")

    with pytest.raises(TypeError, match=r"__tvm_ffi_object__\(\) failed for Broken: nothing there"):
        of(int).convert(Broken())


def test_a_list_that_shrinks_while_it_is_read_is_a_type_error():
    class Shrinking:
        def __tvm_ffi_value__(self):
            items.clear()
            return 1

    items = [Shrinking(), 2, 3]
    if COPIES_LISTS:
        assert list(_to_py_class_value(of(list[int]).convert(items))) == [1, 2, 3]
        return
    with pytest.raises(TypeError, match="expected List, got list"):
        of(list[int]).convert(items)


def test_a_list_that_contains_itself_is_a_type_error():
    items = []
    items.append(items)
    with pytest.raises(TypeError, match="nested more than"):
        of(Any).convert(items)
    with pytest.raises(TypeError, match="expected int, got list"):
        of(list[list[int]]).convert(items)


def test_nesting_of_schemas_is_limited():
    schema = TypeSchema("int")
    for _ in range(127):
        schema = TypeSchema("List", [schema])
    value = 1
    for _ in range(127):
        value = [value]
    schema.check_value(value)
    deeper = TypeSchema("List", [schema])
    with pytest.raises(ValueError, match="128 deep"):
        deeper.check_value([value])
    for _ in range(500):
        deeper = TypeSchema("List", [deeper])
    with pytest.raises(ValueError, match="128 deep"):
        deeper.check_value([])


@pytest.mark.skipif(IS_DEBUG or IS_OWN_DEBUG, reason="debug modes need more stack for each call")
def test_conversions_within_conversions_end_in_an_error():
    class Again:
        def __tvm_ffi_value__(self):
            return _to_py_class_value(schema.convert(Again()))

    schema = of(int)
    with pytest.raises((TypeError, RecursionError)):
        schema.convert(Again())


def test_a_value_of_a_custom_class_keeps_its_contents():
    items = List([1, 2])
    value = CAny(items)
    del items
    assert value.type_index == 75
    assert list(_to_py_class_value(value)) == [1, 2]
    assert repr(CAny()) == "CAny(None)"
    with pytest.raises(TypeError, match="at most 1"):
        CAny(1, 2)
    with pytest.raises(TypeError, match="expected a CAny, got int"):
        _to_py_class_value(3)


# --- native setters -------------------------------------------------------------------------------------------------


class Cell:
    """The memory of a field, and its native setter."""

    def __init__(self, annotation, type_index, n_bytes=16):
        self.memory = (ctypes.c_uint8 * n_bytes)()
        self.address = ctypes.c_void_p(ctypes.addressof(self.memory))
        self._set = _core.schema_setter(of(annotation), type_index)
        self._get = ctypes.cast(ffi_hpy._ffi_api.MakeFieldGetter(type_index), ctypes.c_void_p)

    def set(self, value):
        self._set(self.address, value)

    def read(self, kind):
        return kind.from_buffer(self.memory).value


def test_a_native_setter_converts_and_writes():
    cell = Cell(int, 1)
    cell.set(True)
    assert cell.read(ctypes.c_int64) == 1
    cell = Cell(float, 3)
    cell.set(4)
    assert cell.read(ctypes.c_double) == 4.0
    cell = Cell(bool, 2)
    cell.set(1)
    assert cell.read(ctypes.c_uint8) == 1


@pytest.mark.parametrize(
    ("annotation", "type_index", "value", "message"),
    [
        (int, 1, "a", "expected int, got str"),
        (int, 1, None, "expected int, got None"),
        (bool, 2, 7, r"integer 7 out of bool range \[0, 1\]"),
        (bool, 2, 2**64, rf"integer {2**64} out of bool range"),
        (list[int], 75, [1, "a"], r"element \[1\]: expected int, got str"),
        (dict[str, int], 76, {"a": "b"}, "value for key 'a': expected int, got str"),
        (ffi_hpy.Device, 6, "no such", "invalid device string 'no such'"),
        (Union[int, str], -1, 1.5, r"expected int \| str, got float"),
        (int, 1, object(), "expected int, got object"),
    ],
    ids=str,
)
def test_a_native_setter_refuses_with_the_same_words(annotation, type_index, value, message):
    cell = Cell(annotation, type_index)
    with pytest.raises(TypeError, match=message):
        cell.set(value)
    assert not any(cell.memory)


@pytest.mark.skipif(IS_OVER_CFFI, reason="there the package's own Python code has such memory")
def test_addresses_are_not_accepted_where_no_python_code_of_the_package_runs():
    with pytest.raises(TypeError, match=r"_convert_into\(\) is for the package's own Python code on PyPy"):
        TypeSchema("int")._convert_into(1, 8, False)


def test_a_native_setter_calls_python_for_values_of_python():
    cell = Cell(ffi_hpy.Device, 6)
    cell.set("cuda:3")
    assert cell.read(ctypes.c_int64) == 3 << 32 | 2
    cell = Cell(Optional[dict[str, int]], -1)
    cell.set(types.MappingProxyType({"a": True}))
    assert cell.memory[0] == 76
    cell.set(None)
    assert not any(cell.memory)


def test_a_setter_wants_a_schema():
    with pytest.raises(TypeError, match="expected a TypeSchema, got str"):
        _core.schema_setter("int", 1)
    with pytest.raises(TypeError, match="schema_setter"):
        _core.schema_setter(of(int))
    with pytest.raises(ValueError, match="type index"):
        _core.schema_setter(of(int), 8)


# --- threads --------------------------------------------------------------------------------------------------------


def test_threads_compile_a_schema_together():
    for _ in range(20):
        schema = TypeSchema("Dict", [TypeSchema("str"), TypeSchema("List", [TypeSchema("Optional", [of(int)])])])
        results = parallelize(lambda i, schema=schema: _to_py_class_value(schema.convert({str(i): [i, None]})))
        assert [list(result[str(i)]) for i, result in enumerate(results)] == [[i, None] for i in range(4)]


def test_threads_make_schemas_of_many_names():
    keys = [unique_name("Thing") for _ in range(50)]

    def work(_):
        schemas = [TypeSchema("Union", [of(int), TypeSchema("List", [of(ffi_hpy.Object)]), of(str)]) for _ in keys]
        return [_to_py_class_value(schema.convert("text")) for schema in schemas]

    assert parallelize(work) == [["text"] * 50] * 4


def test_a_list_that_another_thread_changes_is_read_as_it_was_at_some_moment():
    shared = List([0] * 8)
    schema = of(list[bool])

    def work(i):
        for n in range(300):
            if i == 0:
                shared.append(1) if n % 2 == 0 else shared.pop()
            else:
                result = _to_py_class_value(schema.convert(shared))
                assert len(result) in (8, 9)
                assert all(type(item) is bool for item in result)

    parallelize(work)


def test_threads_define_types_and_convert_to_those_of_the_others():
    """A thread that requests a type too early gets an error and tries again; no thread sees half a type."""
    keys = [unique_name(f"Mutual{i}") for i in range(4)]

    def define(key):
        class Node(ffi_hpy.Object):
            number: int
            names: list[str]

        return dataclasses.py_class(key)(Node)

    def work(i):
        schemas = [TypeSchema("List", [TypeSchema("Optional", [TypeSchema(key)])]) for key in keys]
        node = define(keys[i])(i, ["a text that is not small"])
        seen = set()
        while len(seen) < len(keys):
            for j, schema in enumerate(schemas):
                reason = ""
                try:
                    schema.check_value([None])
                except TypeError as error:
                    reason = str(error)
                assert not reason or "unknown TypeSchema origin" in reason
                if not reason:
                    seen.add(j)
        result = _to_py_class_value(schemas[i].convert([node, None]))
        assert (result[0].number, list(result[0].names), result[1]) == (i, ["a text that is not small"], None)
        with pytest.raises(TypeError, match=f"expected {keys[(i + 1) % 4]}, got {keys[i]}"):
            schemas[(i + 1) % 4].convert([node])

    parallelize(work)


def test_threads_set_one_field_through_its_schema():
    @dataclasses.py_class(unique_name("Shared"))
    class Shared(ffi_hpy.Object):
        items: Union[int, list[int], dict[str, int], None]

    shared = Shared(None)
    values = (7, [1, 2, 3], {"a key that is not small": 1}, None)

    def work(i):
        for _ in range(500):
            shared.items = values[i]
            found = shared.items
            assert found is None or found == 7 or len(found) in (1, 3)

    parallelize(work)


# --- any schema, any value ------------------------------------------------------------------------------------------


class _Chance:
    """Random schemas and values from a seeded generator."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def schema(self, depth=0):
        pick = self.random.choice
        leaf = ("Any", "None", "int", "float", "bool", "str", "bytes", "Device", "dtype", "ctypes.c_void_p", "Object")
        more = ("Callable", "Tensor", "ffi.Shape", "ffi.Error", "tuple")
        if depth >= 3 or self.random.random() < 0.4:
            return TypeSchema(pick(leaf + more))
        origin = pick(("Array", "List", "Map", "Dict", "tuple", "Optional", "Union"))
        n = {"Array": 1, "List": 1, "Map": 2, "Dict": 2, "Optional": 1}.get(origin) or self.random.randint(2, 3)
        return TypeSchema(origin, [self.schema(depth + 1) for _ in range(n)])

    def value(self, depth=0):
        pick = self.random.choice
        plain = (
            None, True, False, 0, -1, 2**63 - 1, 2**63, -(2**80), 1.5, float("nan"), "", "a", "float32", "cuda:1",
            "a text of more than seven bytes", "\ud800", b"", b"bytes", bytearray(b"array"), ValueError("error"), len,
            object(), range(3), Fraction(1, 3), 1j, ctypes.c_void_p(3), ffi_hpy.dtype("int8"), ffi_hpy.Device("cpu"),
            ffi_hpy.Shape((1, 2)), {1, 2}, _Value(3), _Value("x"), _Value([1]), _Raising(), _Stalled(),
        )  # fmt: skip
        if depth >= 3 or self.random.random() < 0.6:
            return pick(plain)
        items = [self.value(depth + 1) for _ in range(self.random.randint(0, 3))]
        keys = [pick((1, "a", "b", 2.5, True, None, b"k")) for _ in items]
        make = pick((list, tuple, _array, _list, dict, _map, _dict))
        try:
            return make(zip(keys, items)) if make in (dict, _map, _dict) else make(items)
        except (TypeError, ValueError, OverflowError, UnicodeError, RuntimeError):  # native code has no such value
            return items


class _Value:
    def __init__(self, inner):
        self.inner = inner

    def __tvm_ffi_value__(self):
        return self.inner


class _Raising:
    def __tvm_ffi_object__(self):
        raise ValueError("no object")


class _Stalled:
    def __tvm_ffi_value__(self):
        return self


def _array(items):
    return Array(items)


def _list(items):
    return List(items)


def _map(pairs):
    return Map(dict(pairs))


def _dict(pairs):
    return Dict(dict(pairs))


def _attempt(function, value):
    """Return ("ok", result), or ("no", the message after the schema's name)."""
    try:
        return "ok", function(value)
    except TypeError as error:
        text = str(error)
        assert text.startswith("type "), text
        return "no", text.partition(" failed for ")[2]


@pytest.mark.parametrize("seed", range(20))
def test_checking_agrees_with_converting_and_converted_values_match(seed):
    chance = _Chance(seed)
    for _ in range(100 if IS_DEBUG or IS_OWN_DEBUG else 300):
        schema, value = chance.schema(), chance.value()
        state, result = _attempt(schema.convert, value)
        checked, reason = _attempt(schema.check_value, value)
        assert checked == state
        if state == "no":
            assert reason == result
            assert "expected" in result or "failed" in result or "range" in result or "returned" in result, result
            continue
        again = schema.convert(_to_py_class_value(result))
        assert again.type_index == result.type_index or schema.origin in ("Any", "Union", "Optional")


@pytest.mark.parametrize("seed", range(5))
def test_printing_and_json_of_any_schema_agree(seed):
    chance = _Chance(seed)
    for _ in range(100):
        schema = chance.schema()
        other = TypeSchema.from_json_obj(schema.to_json())
        assert other == schema
        assert str(other) == str(schema) == schema.output_repr(lambda name: name)
        assert hash(other) == hash(schema)


def test_the_converter_keeps_nothing():
    class Marked:
        pass

    values = [Marked() for _ in range(3)]
    before = [sys.getrefcount(value) for value in values] if hasattr(sys, "getrefcount") else None
    for annotation in (list[Any], list[int], Union[int, list[str], list[ffi_hpy.Object]]):
        for _ in range(10):
            _attempt(of(annotation).convert, values)
    if before is not None and FREES_AT_ONCE:
        assert [sys.getrefcount(value) for value in values] == before
