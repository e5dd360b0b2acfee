"""Names of tvm_ffi's modules that programs use although the names are not public."""

import enum
import os
import shlex
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from support import run_python, unique_name

import ffi_hpy
from ffi_hpy import _dtype, container, core, error, libinfo, registry


def test_the_codes_of_data_types_are_an_enum():
    codes = _dtype.DataTypeCode
    assert issubclass(codes, enum.IntEnum)
    assert [codes.INT, codes.UINT, codes.FLOAT, codes.HANDLE, codes.BFLOAT, codes.BOOL] == [0, 1, 2, 3, 4, 6]
    assert [code.value for code in codes if "Float" in code.name] == list(range(7, 18))
    for code in codes:
        if "Float" in code.name:
            name = code.name.replace("Float", "float").replace("E", "_E", 1).lower()
            assert ffi_hpy.dtype(name).type_code == code


def test_the_data_types_of_the_package_are_those_of_its_module():
    assert _dtype.float32 is ffi_hpy.float32
    assert _dtype.bool is ffi_hpy.bool
    assert _dtype.float4_e2m1fn_x2 == "float4_e2m1fnx2"


def test_sets_of_codes_are_attributes_of_dtype():
    assert {0, 1} == ffi_hpy.dtype._INTEGER_CODES
    assert {2, 4, *range(7, 18)} == ffi_hpy.dtype._FLOAT_CODES


def test_names_of_numpy_types_are_one_table_that_a_program_may_extend():
    names = ffi_hpy.dtype._NUMPY_DTYPE_TO_STR
    assert names is ffi_hpy.dtype._NUMPY_DTYPE_TO_STR
    assert ffi_hpy.dtype("int8")._NUMPY_DTYPE_TO_STR is names
    np = pytest.importorskip("numpy")
    assert names[np.dtype("float32")] == "float32"
    assert names[np.dtype("bool")] == "bool"


def test_numpy_is_imported_at_the_first_use_of_its_names():
    program = "import sys, ffi_hpy; ffi_hpy.dtype('int8'); print('numpy' in sys.modules)"
    assert run_python(program) == "False\n"


def test_the_first_path_that_fits_is_found(tmp_path):
    (tmp_path / "there").mkdir()
    paths = [tmp_path / "absent", tmp_path / "there"]
    find = libinfo._resolve_and_validate
    assert find(paths, lambda path: path.is_dir()) == str((tmp_path / "there").resolve())
    assert find(paths=paths, cond=lambda path: path / "below") == str((tmp_path / "absent").resolve() / "below")
    assert find(paths, lambda path: False) is None

    def refuse(path):
        assert path.exists()
        return True

    assert find(paths, refuse) == str((tmp_path / "there").resolve())


def test_other_folders_of_libinfo_are_printed(monkeypatch):
    assert libinfo._rel_top_directory() == Path(ffi_hpy.__file__).parent
    assert libinfo._dev_top_directory().resolve() == Path(ffi_hpy.__file__).resolve().parents[2]
    monkeypatch.setenv("FFI_HPY_TEST_PARTS", f"a {os.pathsep} b")
    assert libinfo._split_env_var("FFI_HPY_TEST_PARTS", os.pathsep) == ["a", "b"]
    monkeypatch.delenv("FFI_HPY_TEST_PARTS")
    assert libinfo._split_env_var("FFI_HPY_TEST_PARTS", os.pathsep) == []


def test_a_class_of_an_unknown_type_stays_if_a_program_asks_for_that():
    program = """
import ffi_hpy
from ffi_hpy import registry
registry._SKIP_UNKNOWN_OBJECTS = True
class Absent(ffi_hpy.Object):
    pass
assert registry.register_object("test.absent_type")(Absent) is Absent
assert "__init__" not in vars(Absent)
registry._SKIP_UNKNOWN_OBJECTS = False
try:
    registry.register_object("test.absent_type")(Absent)
except ValueError as error:
    print("test.absent_type" in str(error))
"""
    assert run_python(program) == "True\n"


@pytest.mark.parametrize("name", ["__dict__", "__bases__", "__mro__", "__name__", "__class__"])
def test_a_member_whose_name_a_class_has_for_itself_is_left_out(name):
    class Plain(ffi_hpy.Object):
        pass

    assert not registry.can_be_member(Plain, name)
    assert registry.can_be_member(Plain, name.strip("_"))
    assert registry.can_be_member(Plain, "__doc__")


def test_a_field_called_dict_does_not_keep_a_class_from_being_registered():
    program = """
import ffi_hpy
from ffi_hpy import registry
class Field:
    name = "__dict__"
    def as_property(self, cls):
        return property(lambda self: 3)
class Info:
    fields, methods = [Field()], []
class Plain(ffi_hpy.Object):
    pass
registry._bind_members(Plain, Info)
print("__dict__" in vars(Plain), Plain.__name__)
"""
    assert run_python(program).split() == ["False", "Plain"]


def test_items_of_a_sequence_are_found_by_any_index():
    def pick(index):
        return container.getitem_helper("abcd", lambda text, i: text[i], 4, index)

    assert (pick(0), pick(-1), pick(slice(1, None, 2))) == ("a", "d", ["b", "d"])
    with pytest.raises(IndexError, match=r"Index out of range\. size: 4, got index -5"):
        pick(-5)
    with pytest.raises(TypeError, match="indices must be integers or slices, not str"):
        pick("a")


def test_strides_are_those_of_a_compact_tensor():
    assert core._make_strides_from_shape((2, 3, 4)) == (12, 4, 1)
    assert core._make_strides_from_shape((5,)) == (1,)
    assert core._make_strides_from_shape(()) == ()


def test_a_traceback_gets_an_entry_for_a_place_outside_of_python():
    entry = error._TRACEBACK_MANAGER.append_traceback(None, "there.cc", 7, "run")
    assert (entry.tb_frame.f_code.co_filename, entry.tb_lineno, entry.tb_next) == ("there.cc", 7, None)
    assert error._traceback_to_backtrace_str(entry) == '  File "there.cc", line 7, in run\n'


def test_a_subclass_of_device_may_name_its_types():
    class Remote(ffi_hpy.Device):
        def __device_type_name__(self):
            return f"remote {super().__device_type_name__()}"

    assert str(Remote("cuda", 1)) == "remote cuda:1"
    assert ffi_hpy.Device._DEVICE_NAME_TO_TYPE["cuda"] == 2
    assert ffi_hpy.Device._DEVICE_TYPE_TO_NAME[2] == "cuda"


def test_modules_have_the_modules_that_tvm_ffi_imports_there():
    assert registry.core is core
    assert container.register_object is ffi_hpy.register_object
    assert ffi_hpy.dataclasses.enum.ENUM_ENTRIES_ATTR == "__ffi_enum_entries__"
    assert not ffi_hpy._is_config_mode()
    with pytest.raises(AttributeError, match=r"module 'ffi_hpy\.registry' has no attribute 'nothing'"):
        _ = registry.nothing


def test_a_program_comes_from_standard_input():
    program = b"""
import dataclasses, pickle, sys
@dataclasses.dataclass
class Point:
    x: int
assert dataclasses.fields(Point)[0].type is int  # no __future__ of another module
import tvm_ffi
print(tvm_ffi.__name__, __name__, sys.argv, pickle.loads(pickle.dumps(Point(3))))
"""
    command = [sys.executable, "-m", "ffi_hpy.dropin", "-", "a", "b"]
    done = subprocess.run(command, input=program, capture_output=True, timeout=120)
    assert done.stdout.decode() == "ffi_hpy __main__ ['-', 'a', 'b'] Point(x=3)\n", done.stderr.decode()


def test_a_closed_standard_input_is_an_empty_program():
    command = f"{shlex.quote(sys.executable)} -m ffi_hpy.dropin - <&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_native_methods_take_the_keywords_of_tvm_ffi(testing):
    numbers = ffi_hpy.List(input_list=[1])
    numbers.insert(index=0, value=5)
    assert (numbers.pop(index=0), list(numbers)) == (5, [1])
    assert numbers.same_as(other=numbers)
    assert numbers.is_(other=numbers)
    assert ffi_hpy.Map(input_dict={"a": 1}).get(key="b", default=2) == 2
    schema = core.TypeSchema("int")
    assert schema.check_value(value=3) is None
    assert core._to_py_class_value(schema.convert(value=3)) == 3
    assert core._to_py_class_value(core.CAny(value=4)) == 4
    assert core.DataType(dtype_str="int8").bits == 8
    made = core.Error(kind="ValueError", message="wrong", backtrace="", cause=None)
    made.update_backtrace(backtrace="there")
    assert (made.kind, made.message, made.backtrace) == ("ValueError", "wrong", "there")
    np = pytest.importorskip("numpy")
    tensor = ffi_hpy.from_dlpack(ext_tensor=np.zeros((2, 3)), require_contiguous=True)
    assert tensor.size(idx=1) == 3


def test_wrong_keywords_of_a_class_are_an_error():
    for wrong in (
        lambda: core.Error("ValueError", "wrong"),
        lambda: core.Error("ValueError", "wrong", "", None, None, None),
        lambda: core.Error("ValueError", "wrong", "", kind="ValueError"),
        lambda: core.Error("ValueError", "wrong", "", reason=None),
        lambda: core.CAny(other=3),
        lambda: core.DataType(),
    ):
        with pytest.raises(TypeError, match=r"^(DataType\.)?(Error|CAny|__new__)\(\) (missing|takes|got)"):
            wrong()


def test_the_attribute_of_a_field_is_a_property(classes):
    attribute = vars(classes.TestObjectBase)["v_i64"]
    assert isinstance(attribute, property)
    assert isinstance(attribute, core.FFIProperty)
    assert attribute.fdel is None
    assert not attribute.__isabstractmethod__

    class Doubled(classes.TestObjectBase):
        v_i64 = attribute.setter(lambda self, value: attribute.set(self, 2 * value))
        v_f64 = vars(classes.TestObjectBase)["v_f64"].getter(lambda self: 0.5)
        v_str = vars(classes.TestObjectBase)["v_str"].deleter(lambda self: None)

    one = Doubled(v_i64=1)
    one.v_i64 = 4
    del one.v_str
    assert (one.v_i64, one.v_f64, Doubled.v_i64.__doc__) == (8, 0.5, attribute.__doc__)


def test_numbers_of_any_kind_are_converted_to_themselves():
    for number in (1, 0.5, 1j, Decimal(1), Fraction(1, 3)):
        assert ffi_hpy.convert(number) is number


def test_containers_have_a_common_base():
    containers = [ffi_hpy.Array([]), ffi_hpy.List([]), ffi_hpy.Map({}), ffi_hpy.Dict({})]
    assert all(isinstance(value, core.CContainerBase) for value in containers)
    assert not isinstance(ffi_hpy.Shape([]), ffi_hpy.CContainerBase)
    assert not isinstance(core.Object.__new__(core.Object), ffi_hpy.CContainerBase)


def test_variants_of_an_enum_have_the_names_of_older_releases():
    class Colour(ffi_hpy.dataclasses.Enum, type_key=unique_name()):
        red = ffi_hpy.dataclasses.auto()
        green = ffi_hpy.dataclasses.auto()

    assert [(variant._value, variant._name) for variant in Colour] == [(0, "red"), (1, "green")]
    assert Colour.get(name="green") == Colour.get(index=1) == Colour.green
    with pytest.raises(TypeError, match="must be int or str, got NoneType"):
        Colour.get()


def test_ninja_is_run_in_a_folder_of_somebody_else(tmp_path):
    from ffi_hpy.cpp import extension

    pytest.importorskip("ninja")
    text = "rule copy\n  command = cp $in $out\nbuild b: copy a\ndefault b\n"
    (tmp_path / "build.ninja").write_text(text)
    with pytest.raises(RuntimeError, match=r"(?s)ninja .*'a'"):
        extension.build_ninja(str(tmp_path))
    (tmp_path / "a").write_text("content")
    assert extension.build_ninja(build_dir=str(tmp_path)) is None
    assert (tmp_path / "b").read_text() == "content"


def test_the_home_of_a_toolkit_is_where_its_compiler_is(tmp_path, monkeypatch):
    from ffi_hpy.cpp import extension

    (tmp_path / "bin").mkdir()
    for command in ("nvcc", "hipcc"):
        (tmp_path / "bin" / command).write_text("#!/bin/sh\n")
        (tmp_path / "bin" / command).chmod(0o755)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setenv("ROCM_PATH", str(tmp_path))
    assert extension._find_cuda_home() == extension._find_rocm_home() == str(tmp_path)
    assert extension._resolve_gpu_backend("hip") == "hip"
    assert not extension.IS_WINDOWS


def test_a_lock_is_waited_for_no_longer_than_asked(tmp_path):
    from ffi_hpy.utils.lockfile import FileLock

    path = str(tmp_path / "lock")
    with FileLock(path), pytest.raises(TimeoutError, match="lock"):
        FileLock(path).blocking_acquire(timeout=0.01, poll_interval=0.001)
    assert FileLock(path).blocking_acquire(timeout=60)
