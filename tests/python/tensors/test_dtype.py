"""dtype: element types by name, by DLPack code, and from other libraries."""

import pickle

import pytest
from support import needs_threads, parallelize

import ffi_hpy
from ffi_hpy import _dtype, core, dtype

# name: (type code, bits, lanes, bytes per element)
KNOWN = {
    "int8": (0, 8, 1, 1), "int64": (0, 64, 1, 8), "uint16": (1, 16, 1, 2), "float16": (2, 16, 1, 2),
    "float64": (2, 64, 1, 8), "bfloat16": (4, 16, 1, 2), "complex64": (5, 64, 1, 8), "bool": (6, 8, 1, 1),
    "float8_e4m3fn": (10, 8, 1, 1), "float8_e5m2": (12, 8, 1, 1), "float6_e2m3fn": (15, 6, 1, 1),
    "float4_e2m1fn": (17, 4, 1, 1), "float32x4": (2, 32, 4, 16), "int4x2": (0, 4, 2, 1), "uint1": (1, 1, 1, 1),
}  # fmt: skip


@pytest.mark.parametrize("text", KNOWN)
def test_a_name_gives_code_bits_and_lanes(text):
    type_code, bits, lanes, itemsize = KNOWN[text]
    made = dtype(text)
    assert (made.type_code, made.bits, made.lanes, made.itemsize) == (type_code, bits, lanes, itemsize)


@pytest.mark.parametrize("text", KNOWN)
def test_the_name_comes_back_through_native_code(testing, text):
    returned = testing.echo(dtype(text))
    assert type(returned) is dtype
    assert returned == text
    assert testing.schema_id_dtype(dtype(text)) == text
    assert testing.apply(lambda x: x, dtype(text)) == text


@pytest.mark.parametrize("text", KNOWN)
def test_a_dlpack_triple_gives_the_same(text):
    assert dtype.from_dlpack_data_type(KNOWN[text][:3]) == text


@pytest.mark.parametrize(("alias", "name"), [("int", "int32"), ("uint", "uint32"), ("float", "float32")])
def test_bits_have_defaults(alias, name):
    assert dtype(alias) == name


def test_names_are_taken_as_data_types_where_one_is_wanted(testing):
    assert testing.schema_id_dtype("float32") == "float32"
    with pytest.raises(TypeError):
        testing.schema_id_dtype(3)


@pytest.mark.parametrize("text", ["nonsense", "int7bogus", "float32x", "float32x4y", "int-8", "x4", " int8", "int8 "])
def test_an_unknown_name_is_a_value_error(text):
    with pytest.raises(ValueError, match=r"\S"):
        dtype(text)


def test_dtype_refuses_lone_surrogates_and_zeros():
    with pytest.raises(UnicodeEncodeError):
        dtype("int8\udc80")
    with pytest.raises(ValueError):  # noqa: PT011
        dtype("int8\0")


def test_a_dtype_is_text():
    assert dtype("float32") == "float32"
    assert isinstance(dtype("float32"), str)
    assert hash(dtype("float32")) == hash("float32")
    assert repr(dtype("float32")) == "dtype('float32')"
    assert dtype(dtype("int8")) == dtype("int8")


def test_with_lanes_changes_the_lanes():
    assert dtype("float32").with_lanes(4) == "float32x4"
    assert dtype("float32x4").with_lanes(1) == "float32"


@pytest.mark.parametrize("lanes", [32768, 40000, 65535, 65536])
def test_lanes_that_would_be_read_as_those_of_a_scalable_type_are_refused(lanes):
    with pytest.raises(ValueError, match="lanes"):
        dtype("int8").with_lanes(lanes)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int8", "is_integer"), ("uint64", "is_integer"), ("float32", "is_float"), ("bfloat16", "is_float"),
        ("float8_e5m2", "is_float"), ("bool", "is_bool"), ("handle", "is_handle"),
    ],
)  # fmt: skip
def test_a_dtype_has_a_category(text, expected):
    sorts = ("is_bool", "is_integer", "is_float", "is_handle")
    assert [name for name in sorts if getattr(dtype(text), name)] == [expected]


def test_a_dtype_is_pickled_by_name():
    copy = pickle.loads(pickle.dumps(dtype("int8x4")))
    assert (type(copy), copy, copy.lanes) == (dtype, "int8x4", 4)


NUMPY_NAMES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
]


@pytest.mark.parametrize("name", NUMPY_NAMES)
def test_a_numpy_dtype_is_understood(testing, name):
    np = pytest.importorskip("numpy")
    assert dtype(np.dtype(name)) == name
    assert dtype(np.dtype(name).type) == name
    assert testing.echo(np.dtype(name)) == name
    assert dtype.is_dtype(np.dtype(name))


def test_a_numpy_dtype_without_a_counterpart_is_a_value_error(testing):
    np = pytest.importorskip("numpy")
    with pytest.raises(ValueError, match=r"\S"):
        testing.echo(np.dtype([("a", "int8")]))


@pytest.mark.parametrize("name", ["longdouble", "clongdouble"])
def test_a_padded_number_of_numpy_has_no_data_type(testing, name):
    np = pytest.importorskip("numpy")
    of_numpy = np.dtype(name)
    if of_numpy.name in ("float64", "complex128") or np.finfo(of_numpy).nmant == 112:
        pytest.skip("here C's long double is a number of 64 or 128 bits")
    uses = [
        lambda: dtype(of_numpy),
        lambda: dtype(of_numpy.type),
        lambda: dtype(getattr(np, name)),
        lambda: testing.echo(of_numpy),
        lambda: testing.echo([of_numpy]),
        lambda: testing.schema_id_dtype(of_numpy),
        lambda: ffi_hpy.convert(of_numpy),
        lambda: _dtype._convert_numpy_dtype_to_ffi_dtype(of_numpy),
    ]
    wanted = f"^DLPack has no data type for numpy.{of_numpy.type.__name__}: on this machine its numbers have 80 bits"
    for use in uses:
        with pytest.raises(ValueError, match=wanted) as caught:
            use()
        assert "expected a name" not in str(caught.value)
    assert not dtype.is_dtype(of_numpy)
    assert dtype("float128").bits == 128  # this is the name of the 128-bit format
    array = np.zeros(3, of_numpy)
    for use in (testing.echo, ffi_hpy.from_dlpack, ffi_hpy.convert, lambda x: ffi_hpy.Array([x])):
        with pytest.raises(BufferError, match="padding"):
            use(array)


def test_a_torch_dtype_is_understood(testing):
    torch = pytest.importorskip("torch")
    for name in ("float32", "bfloat16", "int64", "bool"):
        assert dtype(getattr(torch, name)) == name
        assert testing.echo(getattr(torch, name)) == name


def test_a_class_may_say_its_data_type(testing):
    class Custom:
        def __dlpack_data_type__(self):
            return (2, 32, 4)

    assert testing.echo(Custom()) == "float32x4"


def test_a_value_that_is_not_a_dtype_is_reported():
    assert dtype.is_dtype(dtype("int8"))
    assert dtype.is_dtype("int8")
    assert not dtype.is_dtype("no type")
    assert not dtype.is_dtype(3)


def test_the_core_data_type_compares_by_value():
    one, other = ffi_hpy.core.DataType("int8"), ffi_hpy.core.DataType("int8")
    assert one == other
    assert hash(one) == hash(other)
    assert one != ffi_hpy.core.DataType("int16")
    assert one != "int8"


@needs_threads
@pytest.mark.thread_unsafe(reason="sets a value of the whole process")
def test_a_class_for_data_types_that_is_set_while_threads_read_is_seen_by_all_afterwards(testing):
    class Ours(dtype):
        __slots__ = ()

    n_rounds = 200

    def work(thread):
        for i in range(n_rounds):
            if thread == 0:
                core._set_class_dtype(Ours if i % 2 == 0 else dtype)
            else:
                assert type(testing.echo(dtype(f"int{8 << i % 4}x{i % 20 + 1}"))) in (Ours, dtype)
        return True

    try:
        assert parallelize(work) == [True] * 4
        for cls in (Ours, dtype):
            core._set_class_dtype(cls)
            assert {type(testing.echo(dtype(f"int{bits}x{n}"))) for bits in (8, 64) for n in range(1, 21)} == {cls}
    finally:
        core._set_class_dtype(dtype)
