"""TypeInfo, TypeField, TypeMethod and the properties of fields."""

import copy
import pickle

import pytest
from support import parallelize

import ffi_hpy
from ffi_hpy.core import MISSING, FFIProperty, TypeField, TypeInfo, TypeMethod


def info_of(cls):
    return cls.__tvm_ffi_type_info__


def test_there_is_one_info_per_type(classes):
    info, base = info_of(classes.TestObjectDerived), info_of(classes.TestObjectBase)
    assert isinstance(info, TypeInfo)
    assert info.parent_type_info is base
    assert base.parent_type_info is info_of(ffi_hpy.Object)
    assert base.parent_type_info.parent_type_info is None
    assert info.type_ancestors == [64, base.type_index]
    assert (info.type_cls, base.type_cls) == (classes.TestObjectDerived, classes.TestObjectBase)


def test_threads_read_the_same_members(classes):
    for _ in range(10):
        info = TypeInfo(info_of(classes.TestObjectBase).type_index)
        fields = parallelize(lambda _, info=info: (info.fields, info.methods))
        assert all(ours is fields[0][0] and theirs is fields[0][1] for ours, theirs in fields)


def test_a_field_has_all_registered_facts(classes):
    info = info_of(classes.TestObjectBase)
    assert all(isinstance(field, TypeField) for field in info.fields)
    fields = {field.name: field for field in info.fields}
    number = fields["v_i64"]
    assert (number.doc, number.size, number.alignment, number.frozen) == ("i64 field", 8, 8, False)
    assert str(number.ty) == "int"
    assert number.ty is number.ty
    assert number.metadata["type_schema"]
    assert number.offset >= 24
    assert number.c_has_default == (number.c_default is not MISSING)
    assert number.c_default_factory is MISSING
    assert info.total_size >= max(field.offset + field.size for field in info.fields)


def test_accessors_of_a_field_read_and_write_it(classes):
    obj = classes.TestObjectBase(v_i64=1, v_f64=2.0, v_str="text")
    field = next(field for field in info_of(classes.TestObjectBase).fields if field.name == "v_i64")
    assert field.getter(obj) == 1
    field.setter(obj, 7)
    assert obj.v_i64 == 7
    for wrong in (3, None, ffi_hpy.Array([1])):
        with pytest.raises(TypeError):
            field.getter(wrong)
        with pytest.raises(TypeError):
            field.setter(wrong, 3)
    with pytest.raises(TypeError):
        field.setter(obj, "no int")
    assert obj.v_i64 == 7


def test_a_frozen_field_is_written_by_its_property_only(classes):
    pair = classes.TestIntPair(3, 4)
    attribute = classes.TestIntPair.__dict__["a"]
    assert isinstance(attribute, FFIProperty)
    assert attribute.fset is None
    assert attribute.fget(pair) == 3
    with pytest.raises(AttributeError):
        pair.a = 5
    attribute.set(pair, 5)
    assert pair.a == 5


def test_a_writable_field_is_a_property_with_a_setter(classes):
    attribute = classes.TestObjectBase.__dict__["v_i64"]
    assert isinstance(attribute, FFIProperty)
    obj = classes.TestObjectBase(v_i64=1, v_f64=2.0, v_str="text")
    attribute.fset(obj, 9)
    attribute.set(obj, attribute.fget(obj) + 1)
    assert obj.v_i64 == 10
    with pytest.raises(AttributeError):
        del obj.v_i64


def test_the_attribute_of_a_field_copies_like_a_property(classes):
    attribute = classes.TestObjectBase.__dict__["v_i64"]
    for found in (attribute, property()):
        assert copy.copy(found) is found
        assert copy.deepcopy([found, found]) == [found, found]
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(TypeError, match=r"cannot pickle '[a-zA-Z]*' object"):
                pickle.dumps(found, protocol)


def test_methods_have_all_registered_facts(classes):
    method = next(method for method in info_of(classes.TestObjectBase).methods if method.name == "add_i64")
    assert isinstance(method, TypeMethod)
    assert not method.is_static
    assert method.doc == "add_i64 method"
    obj = classes.TestObjectBase(v_i64=1, v_f64=2.0, v_str="text")
    assert method.func(obj, 2) == 3
    assert method.as_callable(classes.TestObjectBase).__get__(obj)(2) == 3


def test_a_type_prints_as_a_class(classes):
    text = info_of(classes.TestObjectDerived).prototype_py()
    assert text.splitlines()[0] == "class TestObjectDerived(TestObjectBase):"
    assert "    v_map: Map[" in text
    assert "    v_array: Array[" in text
    assert info_of(ffi_hpy.Object).prototype_py().startswith("class Object:")


def test_an_index_without_a_type_is_a_value_error():
    with pytest.raises(ValueError, match="no type is registered"):
        TypeInfo(2**30)
