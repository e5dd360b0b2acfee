"""Classes for the types of libtvm_ffi_testing.so: fields, methods, constructors, inheritance."""

import ctypes

import pytest
from support import IS_PYPY, parallelize, run_python, unique_name
from support.native_build import BINARIES

import ffi_hpy
from ffi_hpy import _core


def test_fields_are_read(classes):
    pair = classes.TestIntPair(3, -4)
    assert (pair.a, pair.b) == (3, -4)


def test_a_method_gets_its_object(classes):
    assert classes.TestIntPair(3, 4).sum() == 7
    assert classes.TestIntPair.sum(classes.TestIntPair(3, 5)) == 8


def test_a_function_takes_the_object(testing, classes):
    assert testing.TestIntPairSum(classes.TestIntPair(3, 4)) == 7


def test_a_read_only_field_cannot_be_written(classes):
    pair = classes.TestIntPair(3, 4)
    with pytest.raises(AttributeError):
        pair.a = 5
    with pytest.raises(AttributeError):
        del pair.a
    assert pair.a == 3


@pytest.mark.skipif(IS_PYPY, reason="PyPy gives every HPy object a __dict__")
def test_an_unknown_attribute_cannot_be_set(classes):
    with pytest.raises(AttributeError):
        classes.TestIntPair(3, 4).c = 5


@pytest.mark.parametrize("arguments", [(), (1,), (1, 2, 3)], ids=len)
def test_a_constructor_wants_the_right_number_of_arguments(classes, arguments):
    with pytest.raises(TypeError, match=f"Expected 2 but got {len(arguments)}"):
        classes.TestIntPair(*arguments)


def test_a_constructor_names_the_argument_of_the_wrong_type(classes):
    with pytest.raises(TypeError, match=r"argument #1 when calling: `testing\.TestIntPair.*Expected `int` but got"):
        classes.TestIntPair(1, "two")


def test_members_of_a_class_refuse_objects_that_are_not_instances(testing_library):
    program = """
import sys, ffi_hpy
ffi_hpy.load_module(sys.argv[1])
@ffi_hpy.register_object("testing.TestIntPair")
class TestIntPair(ffi_hpy.Object):
    pass
for use in (TestIntPair.a.__get__, TestIntPair.sum, TestIntPair.__chandle__, TestIntPair._move,
            ffi_hpy.Tensor.numel, ffi_hpy.Tensor.shape.__get__, ffi_hpy.Error.kind.__get__,
            ffi_hpy.Device.index.__get__, ffi_hpy.Function.__call__):
    for wrong in (3, "text", object()):
        try:
            use(wrong)
        except (TypeError, AttributeError):  # AttributeError: a method that is written in Python
            continue
        print(use, wrong)
"""
    assert run_python(program, testing_library) == ""


def test_a_field_is_not_read_from_an_object_of_another_type(classes):
    pair = classes.TestIntPair(1, 2)
    impostor = classes.TestObjectBase.__new__(classes.TestObjectBase)
    impostor.__move_handle_from__(pair)
    with pytest.raises(TypeError, match="native object of this TestObjectBase is of another type"):
        impostor.v_i64  # noqa: B018
    with pytest.raises(TypeError, match="another type"):
        impostor.v_i64 = 3


def make_base(**fields):
    return ffi_hpy._ffi_api.MakeObjectFromPackedArgs(
        "testing.TestObjectBase", *(part for pair in fields.items() for part in pair)
    )


def test_fields_have_their_defaults(classes):
    base = make_base()
    assert type(base) is classes.TestObjectBase
    assert (base.v_i64, base.v_f64, base.v_str) == (10, 10.0, "hello")


def test_writable_fields_are_written(classes):
    base = make_base(v_i64=1)
    base.v_i64 = -7
    base.v_str = "a text that is longer than seven bytes"
    assert (base.v_i64, base.v_str) == (-7, "a text that is longer than seven bytes")
    base.v_str = ""
    assert base.v_str == ""
    with pytest.raises(AttributeError):
        base.v_f64 = 1.0


def test_writing_a_value_of_the_wrong_type_names_the_field_and_changes_nothing(classes):
    base = make_base(v_i64=1)
    for wrong, given in (("a longer text", r"`ffi\.String`"), (None, "None"), (1.5, "float"), ([1], r"ffi\.Array")):
        with pytest.raises(TypeError, match=rf"^testing\.TestObjectBase\.v_i64: .*from .*{given}.* to `int`"):
            base.v_i64 = wrong
    with pytest.raises(TypeError):
        base.v_i64 = 2**63
    with pytest.raises(UnicodeEncodeError):
        base.v_str = "\udc80"
    with pytest.raises(AttributeError):
        del base.v_i64
    assert (base.v_i64, base.v_str) == (1, "hello")


def test_methods_of_the_type_and_of_the_class_work_together(classes):
    base = make_base(v_i64=5)
    assert base.add_i64(2) == 7
    assert base.describe() == "hello 5"


def test_a_method_names_itself_in_errors(classes):
    with pytest.raises(TypeError, match="add_i64"):
        make_base().add_i64("text")
    with pytest.raises(TypeError, match="add_i64"):
        make_base().add_i64(1, 2)


def make_derived(**fields):
    return ffi_hpy._ffi_api.MakeObjectFromPackedArgs(
        "testing.TestObjectDerived", *(part for pair in fields.items() for part in pair)
    )


def test_a_derived_object_has_the_members_of_its_base(classes):
    derived = make_derived(v_i64=20, v_map={"a": 1}, v_array=[1, 2, 3])
    assert type(derived) is classes.TestObjectDerived
    assert isinstance(derived, classes.TestObjectBase)
    assert (derived.v_i64, derived.v_f64, derived.v_str) == (20, 10.0, "hello")
    assert (dict(derived.v_map), list(derived.v_array)) == ({"a": 1}, [1, 2, 3])
    assert derived.add_i64(1) == 21
    assert derived.describe() == "hello 20"


def test_fields_of_the_base_are_written_through_a_derived_object(classes):
    derived = make_derived(v_map={}, v_array=[])
    derived.v_i64 = 3
    derived.v_array = (4, 5)
    assert derived.v_i64 == 3
    assert derived.v_array == [4, 5]


def test_a_derived_object_is_taken_where_its_base_is_wanted(testing, classes):
    holder = ffi_hpy._ffi_api.MakeObjectFromPackedArgs(
        "testing.TestObjectPtrHolder", "value", make_derived(v_i64=3, v_map={}, v_array=[])
    )
    assert type(holder.value) is classes.TestObjectDerived
    assert holder.value.v_i64 == 3
    assert holder.optional_value is None
    holder.optional_value = make_base()
    assert type(holder.optional_value) is classes.TestObjectBase
    holder.optional_value = None
    assert holder.optional_value is None
    with pytest.raises(TypeError):
        holder.value = classes.TestIntPair(1, 2)


def test_a_class_without_a_constructor_is_an_error_with_the_reason(classes):
    @ffi_hpy.register_object("testing.TestCxxNoAutoInit")
    class NoConstructor(ffi_hpy.Object):
        pass

    with pytest.raises(TypeError, match="has no registered constructor"):
        NoConstructor(1, 2)


def test_an_own_init_may_call_ffi_init(testing):
    @ffi_hpy.register_object("testing.TestNonCopyable")
    class Own(ffi_hpy.Object):
        def __init__(self, value):
            self.__ffi_init__(value * 2)

    assert Own(21).value == 42


def test_a_constructor_takes_keyword_arguments_where_the_type_supports_them(testing):
    @ffi_hpy.register_object("testing.TestCxxKwOnly")
    class KeywordOnly(ffi_hpy.Object):
        pass

    made = KeywordOnly(x=1, y=2, z=3)
    assert (made.x, made.y, made.z, made.w) == (1, 2, 3, 100)
    with pytest.raises(TypeError, match="missing required keyword-only argument: 'z'"):
        KeywordOnly(x=1, y=2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        KeywordOnly(x=1, y=2, z=3, nonsense=4)
    with pytest.raises(TypeError, match="positional"):
        KeywordOnly(1, 2, 3)


def test_an_object_of_a_type_without_a_class_gets_one_made(testing):
    made = testing.make_unregistered_object()
    cls = type(made)
    assert (cls.__module__, cls.__name__) == ("testing", "TestUnregisteredObject")
    assert (made.v1, made.v2) == (41, 42)
    assert (made.get_v1_plus_one(), made.get_v2_plus_two()) == (42, 44)
    assert type(testing.make_unregistered_object()) is cls
    assert issubclass(cls, ffi_hpy.Object)
    assert [base.__name__ for base in cls.__mro__[1:3]] == ["TestUnregisteredBaseObject", "Object"]
    assert cls(1, 2).v2 == 2


def test_type_info_has_all_registered_facts(testing, classes):
    info = classes.TestObjectDerived.__tvm_ffi_type_info__
    assert info.type_key == "testing.TestObjectDerived"
    assert [_core.type_info(index)[0] for index in info.type_ancestors] == ["ffi.Object", "testing.TestObjectBase"]
    assert info.parent_type_index == info.type_ancestors[-1]
    assert [field.name for field in info.fields] == ["v_map", "v_array"]
    base = classes.TestObjectBase.__tvm_ffi_type_info__
    assert {field.name: field.doc for field in base.fields}["v_i64"] == "i64 field"
    assert [method.name for method in base.methods] == ["add_i64"]
    assert info.total_size >= base.total_size > 24


def test_type_info_of_an_unknown_index_is_a_value_error():
    program = """
from ffi_hpy import _core
for index in (-1, 2**30, 63):
    try:
        _core.type_info(index)
    except ValueError as error:
        print(error)
"""
    assert run_python(program) == "".join(f"no type is registered for index {i}\n" for i in (-1, 2**30, 63))


def test_a_field_slot_refuses_missing_fields(classes):
    index = _core.type_key_to_index("testing.TestIntPair")
    for which in (-1, 2):
        with pytest.raises(IndexError, match="has 2 fields of its own"):
            _core.FieldSlot(index, which, False)


# --- methods ----------------------------------------------------------------------------------------------------------


def test_a_method_has_a_name_and_a_doc(classes):
    method = classes.TestIntPair.sum
    assert method.__name__ == "sum"
    assert method.__qualname__.endswith("TestIntPair.sum")
    assert "sum" in method.__doc__
    assert "TestIntPair.sum" in repr(method)


def test_a_method_is_called_bound_unbound_and_later(classes):
    pair = classes.TestIntPair(3, 4)
    later = pair.sum
    assert pair.sum() == classes.TestIntPair.sum(pair) == later() == 7
    assert later.__self__ is pair
    del pair
    assert later() == 7
    assert list(map(classes.TestIntPair.sum, [classes.TestIntPair(i, i) for i in range(3)])) == [0, 2, 4]


def test_a_method_refuses_wrong_arguments(classes):
    pair = classes.TestIntPair(3, 4)
    for wrong in (lambda: classes.TestIntPair.sum(), lambda: classes.TestIntPair.sum(1), lambda: pair.sum(1)):
        with pytest.raises(TypeError, match="sum"):
            wrong()
    with pytest.raises(TypeError, match="keyword argument 'x'"):
        pair.sum(x=1)


@pytest.mark.skipif(not hasattr(_core, "method_descriptor"), reason="methods are written in Python here")
def test_a_method_descriptor_is_made_of_a_function():
    seen = ffi_hpy.convert(lambda *args: len(args))

    class Counted(ffi_hpy.Array):
        count = _core.method_descriptor(seen, __name__, "count", "Counted.count", "How many.")
        bare = _core.method_descriptor(seen)

    assert (Counted().count(1, 2), Counted().bare()) == (3, 1)
    assert (Counted.count.__doc__, Counted.bare.__doc__) == ("How many.", None)
    assert Counted.count.__wrapped__ is seen
    assert (Counted.count.__module__, type(Counted.count).__module__) == (__name__, "ffi_hpy._hpy")
    with pytest.raises(TypeError, match="must be a Function, not int"):
        _core.method_descriptor(3)
    with pytest.raises(TypeError, match=r"takes fn\[, module, name, qualname, doc\]"):
        _core.method_descriptor(seen, "x")


def test_threads_share_a_method(classes):
    pairs = [classes.TestIntPair(i, i) for i in range(4)]
    assert parallelize(lambda i: sum(pairs[i].sum() for _ in range(2000))) == [0, 4000, 8000, 12000]


# --- fields as native code may register them --------------------------------------------------------------------------


class Bytes(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]


class AnyValue(ctypes.Structure):
    _fields_ = [("type_index", ctypes.c_int32), ("padding", ctypes.c_uint32), ("value", ctypes.c_int64)]


class FieldInfo(ctypes.Structure):
    _fields_ = [
        ("name", Bytes), ("doc", Bytes), ("metadata", Bytes), ("flags", ctypes.c_int64), ("size", ctypes.c_int64),
        ("alignment", ctypes.c_int64), ("offset", ctypes.c_int64), ("getter", ctypes.c_void_p),
        ("setter", ctypes.c_void_p), ("default", AnyValue), ("static_type_index", ctypes.c_int32),
    ]  # fmt: skip


@ffi_hpy.convert
def set_int(address, value):
    ctypes.c_int64.from_address(address.value).value = value


def register_int_fields(names, default=None, is_read_only=False):
    """Register a type with int64 fields, and return the type and its Initializer."""
    core = ctypes.CDLL(str(next((BINARIES / "lib").glob("libtvm_ffi.so*"))))
    index = _core.type_define(unique_name(), _core.TYPE_INDEX_OBJECT)
    getter = ffi_hpy.get_global_func("ffi.MakeFieldGetter")(_core.TYPE_INDEX_INT)
    for i, name in enumerate(names):
        info = FieldInfo(
            name=Bytes(name.encode(), len(name)), doc=Bytes(b"", 0), metadata=Bytes(b"", 0),
            flags=_core.FIELD_HAS_DEFAULT * (default is not None) | _core.FIELD_SETTER_IS_FUNCTION * (not is_read_only),
            size=8, alignment=8, offset=24 + 8 * i, getter=getter,
            setter=None if is_read_only else set_int.__chandle__(),
            default=AnyValue(_core.TYPE_INDEX_INT, 0, default or 0), static_type_index=_core.TYPE_INDEX_INT,
        )  # fmt: skip
        assert core.TVMFFITypeRegisterField(index, ctypes.byref(info)) == 0
    ffi_hpy.get_global_func("ffi._PyClassRegisterTypeAttrColumns")(index, 24 + 8 * len(names))
    return index, _core.Initializer(index, object())


class Plain(ffi_hpy.Object):
    pass


def test_a_field_without_setter_is_refused_by_a_constructor(testing):
    index, initializer = register_int_fields(["x"], default=7, is_read_only=True)
    constructor = _core.type_attr(index, "__ffi_init__")
    for what, arguments in (("default for field", ()), ("field", (8,))):
        message = rf"\(\) {what} 'x':\n  Field `x` cannot be written"
        with pytest.raises(TypeError, match=message):
            constructor(*arguments)
        with pytest.raises(TypeError, match=message):
            initializer(Plain.__new__(Plain), arguments)


GETTER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(AnyValue))


def register_number(static_index, size, getter):
    """Register a type with a field whose getter is a C function, and return an object of it with zeroed memory."""
    core = ctypes.CDLL(str(next((BINARIES / "lib").glob("libtvm_ffi.so*"))))
    index = _core.type_define(unique_name(), _core.TYPE_INDEX_OBJECT)
    info = FieldInfo(
        name=Bytes(b"x", 1), doc=Bytes(b"", 0), metadata=Bytes(b"", 0), size=size, alignment=size, offset=24,
        getter=ctypes.cast(getter, ctypes.c_void_p).value, static_type_index=static_index,
    )  # fmt: skip
    assert core.TVMFFITypeRegisterField(index, ctypes.byref(info)) == 0
    ffi_hpy.get_global_func("ffi._PyClassRegisterTypeAttrColumns")(index, 32)
    return index, _core.type_attr(index, "__ffi_new__")()


@pytest.mark.parametrize(
    ("memory", "what_it_gives", "values"),
    [
        (ctypes.c_int64, int, (1, -1, -(1 << 63), 7)),
        (ctypes.c_int32, int, (1, -1, -(1 << 31), 7)),
        (ctypes.c_int16, int, (1, -1, -(1 << 15), 7)),
        (ctypes.c_int8, int, (1, -1, -(1 << 7), 7)),
        (ctypes.c_uint32, int, (1, (1 << 32) - 1, 7)),
        (ctypes.c_uint16, int, (1, (1 << 16) - 1, 7)),
        (ctypes.c_uint8, int, (1, 255, 7)),
        (ctypes.c_int64, lambda x: x + 1, (1, -1, 7)),
        (ctypes.c_int64, lambda x: min(x, 10), (1, -1, 1 << 40, 7)),
        (ctypes.c_int32, lambda x: x & 0xFFFF, (1, -1, 1 << 20)),
        (ctypes.c_bool, bool, (True, False, True)),
        (ctypes.c_bool, lambda x: not x, (True, False, True)),
        (ctypes.c_double, float, (1.5, -0.25, 1e300)),
        (ctypes.c_float, float, (1.5, -0.25, 1e30)),
        (ctypes.c_double, lambda x: x / 2, (1.5, -0.25, 1e300)),
    ],
)
def test_a_field_of_a_library_is_its_getter_s_result(memory, what_it_gives, values):
    static_index = {
        ctypes.c_bool: _core.TYPE_INDEX_BOOL,
        ctypes.c_double: _core.TYPE_INDEX_FLOAT,
        ctypes.c_float: _core.TYPE_INDEX_FLOAT,
    }.get(memory, _core.TYPE_INDEX_INT)

    @GETTER
    def getter(address, result):
        value = what_it_gives(memory.from_address(address).value)
        result[0].type_index, result[0].padding = static_index, 0
        if static_index == _core.TYPE_INDEX_FLOAT:
            ctypes.c_double.from_address(ctypes.addressof(result[0]) + 8).value = value
        else:
            result[0].value = value
        return 0

    index, made = register_number(static_index, ctypes.sizeof(memory), getter)
    slot = _core.FieldSlot(index, 0, False)
    assert slot.get(made) == what_it_gives(memory(0).value)
    for value in values:
        memory.from_address(made.__chandle__() + 24).value = value
        given = slot.get(made)
        assert given == what_it_gives(memory(value).value)
        assert type(given) is type(what_it_gives(memory(value).value))


def test_a_getter_that_fails_for_some_values_is_asked_each_time():
    core = ctypes.CDLL(str(next((BINARIES / "lib").glob("libtvm_ffi.so*"))))

    @GETTER
    def getter(address, result):
        value = ctypes.c_int64.from_address(address).value
        if not 0 <= value < 100:
            core.TVMFFIErrorSetRaisedFromCStr(b"ValueError", b"out of order")
            return -1
        result[0].type_index, result[0].padding, result[0].value = _core.TYPE_INDEX_INT, 0, value
        return 0

    index, made = register_number(_core.TYPE_INDEX_INT, 8, getter)
    slot = _core.FieldSlot(index, 0, False)
    for value in (1, 99, 3):
        ctypes.c_int64.from_address(made.__chandle__() + 24).value = value
        assert slot.get(made) == value
    ctypes.c_int64.from_address(made.__chandle__() + 24).value = 100
    with pytest.raises(ValueError, match="out of order"):
        slot.get(made)


def test_fields_with_dots_in_their_names_are_distinguished(testing):
    index, initializer = register_int_fields(["a.x", "b.x"])
    made = Plain.__new__(Plain)
    assert initializer(made, (1,), {"b.x": 2})
    slots = [_core.FieldSlot(index, i, False) for i in range(2)]
    assert [slot.get(made) for slot in slots] == [1, 2]
    with pytest.raises(TypeError, match=r"missing required argument: 'b\.x'"):
        initializer(Plain.__new__(Plain), (1,))


def test_an_allocator_that_makes_an_object_of_another_type_is_refused(classes):
    index = _core.type_define(unique_name(), _core.TYPE_INDEX_OBJECT)
    made = classes.TestIntPair(3, 4)
    _core.type_attr_define(index, "__ffi_new__", ffi_hpy.convert(lambda: made))
    initializer = _core.Initializer(index, object())
    with pytest.raises(TypeError, match=r"__ffi_new__ of .* made no object of this type"):
        initializer(Plain.__new__(Plain), ())
    assert (made.a, made.b) == (3, 4)
