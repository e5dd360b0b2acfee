"""Error messages: those of native code arrive unchanged; those of ffi_hpy suggest names for misspelt ones."""

import pickle
import shutil

import pytest
from support import run_python, unique_name

import ffi_hpy
from ffi_hpy._errors.loading import demangle, explain


class Stranger:
    """A class that native code does not know."""


def message_of(error, function, *args, **kwargs):
    with pytest.raises(error) as caught:
        function(*args, **kwargs)
    return str(caught.value)


# --- messages of native code ------------------------------------------------------------------------------------------

MESSAGES = (
    "Cannot convert from type `ffi.SmallStr` to `ffi.Module`",
    "x: Cannot convert from type `ffi.Map` to `Array<ffi.String>` in my loader",
    "Mismatched type on argument #0 when calling: `f(0: Array<int>)`. Expected `Array<int>` but got `ffi.String`",
    "Mismatched number of arguments when calling: `my.Pair.__ffi_init__(0: DLTensor*) -> my.Pair`. Expected 1",
    "my.Pair.__ffi_init__() got an unexpected keyword argument 'a'",
    "two lines:\n  Expected `DataType` but got `ffi.OpaquePyObject`",
)


@pytest.mark.parametrize("message", MESSAGES)
@pytest.mark.parametrize("kind", ["TypeError", "ValueError", "RuntimeError"])
def test_a_message_of_native_code_arrives_unchanged(testing, kind, message):
    with pytest.raises(ffi_hpy.error.ERROR_NAME_TO_TYPE[kind]) as caught:
        testing.test_raise_error(kind, message)
    assert str(caught.value) == caught.value.__tvm_ffi_error__.message == message
    assert str(ffi_hpy.core.Error(kind, message, "").py_error()) == message


def test_the_message_about_an_argument_is_that_of_the_callee(testing, classes):
    made = classes.TestObjectBase(v_i64=1, v_f64=2.0, v_str="x")
    arrays = ffi_hpy.get_global_func("testing.schema_id_arr_int")
    tensors = ffi_hpy.get_global_func("testing.schema_tensor_view_input")
    for function, argument, end in (
        (testing.add_one, "x", "Expected `int` but got `ffi.SmallStr`"),
        (testing.add_one, Stranger(), "Expected `int` but got `ffi.OpaquePyObject`"),
        (arrays, ["x"], "Expected `Array<int>` but got `Array[index 0: ffi.SmallStr]`"),
        (tensors, [1.0], "Expected `DLTensor*` but got `ffi.Array`"),
        (made.add_i64, "x", "Expected `int` but got `ffi.SmallStr`"),
    ):
        with pytest.raises(TypeError) as caught:
            function(argument)
        assert str(caught.value) == caught.value.__tvm_ffi_error__.message
        assert str(caught.value).endswith(end)


def test_the_message_of_a_setter_is_part_of_that_about_the_field(classes):
    made = classes.TestObjectBase(v_i64=1, v_f64=2.0, v_str="x")
    with pytest.raises(TypeError, match=r"v_i64: Cannot convert from type `ffi\.SmallStr` to `int`"):
        made.v_i64 = "x"
    with pytest.raises(TypeError, match=r"field 'v_i64':\s+Cannot convert from type `ffi\.String` to `int`"):
        classes.TestObjectBase(v_i64="a longer text", v_f64=2.0, v_str="x")


def test_the_message_of_a_loader_arrives_unchanged(tmp_path):
    extension = unique_name("ext").replace(".", "_")
    name = f"ffi.Module.load_from_file.{extension}"
    said = "no loader for it, and undefined symbol: _Z1fi"
    (tmp_path / f"a.{extension}").touch()

    @ffi_hpy.register_global_func(name)
    def load(path, form):
        raise RuntimeError(said, 1)

    try:
        with pytest.raises(RuntimeError) as caught:
            ffi_hpy.load_module(tmp_path / f"a.{extension}")
        assert caught.value.args == (said, 1)
    finally:
        ffi_hpy.remove_global_func(name)


def test_the_result_of_a_loader_that_is_not_a_module_is_named(tmp_path):
    extension = unique_name("ext").replace(".", "_")
    name = f"ffi.Module.load_from_file.{extension}"
    (tmp_path / f"a.{extension}").touch()
    ffi_hpy.register_global_func(name, lambda path, form: 3)
    try:
        with pytest.raises(TypeError, match=f"^Expected {name} to return a Module but got `int`$"):
            ffi_hpy.load_module(tmp_path / f"a.{extension}")
    finally:
        ffi_hpy.remove_global_func(name)


def test_public_classes_go_by_their_public_names():
    for name in ("Array", "Bytes", "Dict", "Error", "List", "Map", "Object", "Shape", "String", "Tensor"):
        cls = getattr(ffi_hpy, name)
        assert (cls.__module__, cls.__qualname__) == ("ffi_hpy", name)
        assert pickle.loads(pickle.dumps(cls)) is cls
    assert ffi_hpy.cpp.BuildError.__module__ == "ffi_hpy.cpp"


# --- names ------------------------------------------------------------------------------------------------------------


def test_a_misspelt_global_function_is_suggested():
    said = message_of(ValueError, ffi_hpy.get_global_func, "testing.ech")
    assert said.endswith("Did you mean 'testing.echo'?")
    assert "Did you mean" not in message_of(ValueError, ffi_hpy.get_global_func, "x.y.z.nothing_like_it")


def test_a_misspelt_type_key_is_suggested():
    with pytest.raises(ValueError, match=r"testing\.TestIntPear: .*Did you mean 'testing\.TestIntPair'\?"):
        ffi_hpy.register_object("testing.TestIntPear")(type(ffi_hpy.Object)("Pear", (ffi_hpy.Object,), {}))


def test_a_misspelt_keyword_of_a_constructor_is_suggested(classes):
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'v_i46'\. Did you mean 'v_i64'\?"):
        classes.TestObjectBase(v_i46=1)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'zzz'$"):
        classes.TestObjectBase(zzz=1)


def test_a_misspelt_name_of_the_package_is_suggested_once():
    with pytest.raises(AttributeError, match=r"has no attribute 'load_modul'\. Did you mean 'load_module'\?$"):
        ffi_hpy.load_modul  # noqa: B018
    with pytest.raises(AttributeError, match=r"has no attribute 'load_inlin'\. Did you mean 'load_inline'\?$"):
        ffi_hpy.cpp.extension.load_inlin  # noqa: B018
    program = """
import sys, traceback, ffi_hpy
try:
    ffi_hpy.load_modul
except AttributeError:
    traceback.print_exc(file=sys.stdout)
"""
    assert run_python(program).count("Did you mean") == 1


def test_a_misspelt_function_of_a_module_is_suggested_when_the_message_is_read(plain, monkeypatch):
    with pytest.raises(
        AttributeError,
        match=r"__tvm_ffi_fail_without_eror is missing in the module .*Did you mean 'fail_without_error'\?",
    ) as caught:
        plain.fail_without_eror  # noqa: B018
    assert type(pickle.loads(pickle.dumps(caught.value))) is type(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    monkeypatch.setattr("ffi_hpy.module.exported_names", None)  # not called
    assert not hasattr(plain, "fail_without_eror")


@pytest.mark.parametrize(
    ("given", "end"),
    [
        ("flot32", ". Did you mean 'float32'?"),
        ("zzz", "`zzz`"),
        (float, ". Did you mean 'float64'?"),
        (3, ": expected a name, or a data type of NumPy or PyTorch"),
    ],
    ids=str,
)
def test_a_wrong_dtype_is_explained(given, end):
    assert message_of(ValueError, ffi_hpy.dtype, given).endswith(end)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("cud", "Unknown device: cud. Did you mean 'cuda'?"),
        ("gpu:1", "Unknown device: gpu:1. Did you mean 'cuda'?"),
        ("llvm", "Unknown device: llvm"),
    ],
)
def test_a_wrong_device_is_explained(given, said):
    assert message_of(ValueError, ffi_hpy.device, given) == said


def test_a_device_of_another_kind_of_value_is_refused_in_words():
    with pytest.raises(TypeError, match="expected a device's name, such as 'cuda:1', or its number, got NoneType"):
        ffi_hpy.device(None)


def test_importing_the_package_compares_no_names():
    program = "import sys, ffi_hpy; print([name for name in sys.argv[1:] if name in sys.modules])"
    assert run_python(program, "difflib", "ffi_hpy._errors.loading") == "[]\n"


# --- libraries --------------------------------------------------------------------------------------------------------


def test_the_error_for_a_file_that_is_not_a_library_shows_the_name_of_a_library(plain_path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("notes")
    shutil.copy(plain_path, tmp_path / "libmine.so")
    said = message_of(RuntimeError, ffi_hpy.load_module, "notes.txt")
    assert said.endswith(". The file name of a compiled library ends with .so")
    assert message_of(RuntimeError, ffi_hpy.load_module, "mine").endswith(". Did you mean 'libmine.so'?")


def test_a_missing_symbol_of_cxx_is_shown_as_it_was_declared():
    if not demangle("_Z1fi"):
        pytest.skip("no C++ library can be asked")
    symbol = "_Z1fRKSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS5_EE"
    declared = "f(std::vector<std::string, std::allocator<std::string>> const&)"
    assert demangle(symbol) == declared
    assert f"`{declared}` is declared, and neither" in explain(f"x.so: undefined symbol: {symbol}", "x.so")
    assert f"`{declared}`" in explain(f"Error relocating x.so: {symbol}: symbol not found", "x.so")
    assert f"`{declared}`" in explain(f"dlopen(x.so, 6): symbol not found in flat namespace '_{symbol}'", "x.so")
    assert explain("x.so: undefined symbol: plain_c", "x.so") == explain("anything else", "x.so") == ""


def test_the_error_names_a_list_where_an_array_is_expected():
    with pytest.raises(TypeError, match="got list, which is not an array either: it has no __dlpack__"):
        ffi_hpy.from_dlpack([1, 2])
