"""A C++ extension as a user writes it, compiled against apache-tvm-ffi's headers and run on our core."""

import pytest
from support import needs_threads

import ffi_hpy


def test_the_constructor_makes_an_object_of_the_class(IntPair):
    pair = IntPair(3, 4)
    assert type(pair) is IntPair
    assert (pair.a, pair.b) == (3, 4)


def test_fields_are_read_only(IntPair):
    pair = IntPair(3, 4)
    with pytest.raises(AttributeError):
        pair.a = 5
    assert pair.a == 3


def test_methods_and_static_methods_work(IntPair):
    assert IntPair(3, 4).sum() == 7
    assert IntPair.product(3, 4) == 12
    assert IntPair(1, 1).product(5, 6) == 30


def test_fields_and_methods_have_their_documentation(IntPair):
    info = IntPair.__tvm_ffi_type_info__
    assert [field.doc for field in info.fields] == ["The first number.", "The second number."]
    assert "Product of two numbers." in [method.doc for method in info.methods]


def test_objects_go_in_and_out(extension, IntPair):
    made = extension.make_pair(5, 6)
    assert type(made) is IntPair
    assert extension.pair_sum(made) == 11


def test_an_object_of_another_type_is_refused(extension, classes):
    with pytest.raises(TypeError, match=r"Expected `ffi_hpy_test\.IntPair` but got `testing\.TestIntPair`"):
        extension.pair_sum(classes.TestIntPair(1, 2))
    with pytest.raises(TypeError, match=r"Expected `ffi_hpy_test\.IntPair` but got `None`"):
        extension.pair_sum(None)


def test_raise_error_raises(extension):
    with pytest.raises(RuntimeError, match=r"^out of cheese$"):
        extension.raise_error("out of cheese")


def test_a_cxx_exception_becomes_an_error(extension):
    with pytest.raises(RuntimeError, match="from the standard library"):
        extension.raise_std_exception("from the standard library")


def test_wrong_arguments_are_reported_by_function_position_and_type(extension):
    with pytest.raises(TypeError, match=r"argument #1 .*`make_pair\(0: int, 1: int\).*Expected `int` but got `float`"):
        extension.make_pair(1, 1.5)
    with pytest.raises(TypeError, match=r"`make_pair\(.*Expected 2 but got 3 arguments"):
        extension.make_pair(1, 2, 3)


def test_add_one_writes_a_numpy_array_in_place(extension):
    np = pytest.importorskip("numpy")
    x, y = np.arange(5, dtype="float32"), np.zeros(5, dtype="float32")
    extension.add_one(x, y)
    assert y.tolist() == [1, 2, 3, 4, 5]
    assert x.tolist() == [0, 1, 2, 3, 4]


def test_add_one_takes_tensors_too(extension):
    np = pytest.importorskip("numpy")
    y = np.zeros(3, dtype="float32")
    extension.add_one(ffi_hpy.from_dlpack(np.ones(3, dtype="float32")), ffi_hpy.from_dlpack(y))
    assert y.tolist() == [2, 2, 2]


def test_add_one_refuses_unsupported_tensors(extension):
    np = pytest.importorskip("numpy")
    good = np.zeros(3, dtype="float32")
    with pytest.raises(ValueError, match="x has 3 items, y has 4"):
        extension.add_one(good, np.zeros(4, dtype="float32"))
    with pytest.raises(TypeError, match="not float32"):
        extension.add_one(good, np.zeros(3, dtype="float64"))
    with pytest.raises(ValueError, match="must be contiguous"):
        extension.add_one(good, np.zeros(6, dtype="float32")[::2])
    with pytest.raises(TypeError, match="argument #1"):
        extension.add_one(good, "not an array")


def test_add_one_takes_torch_tensors(extension):
    torch = pytest.importorskip("torch")
    x, y = torch.arange(5, dtype=torch.float32), torch.zeros(5)
    extension.add_one(x, y)
    assert y.tolist() == [1, 2, 3, 4, 5]


@needs_threads
def test_a_callback_is_called_on_a_native_thread(extension):
    import threading

    def callback(x):
        return [x, threading.get_ident()]

    value, thread = extension.call_on_thread(callback, "a value of some length")
    assert value == "a value of some length"
    assert thread != threading.get_ident()


@needs_threads
def test_an_error_of_a_callback_on_a_native_thread_comes_back(extension):
    def callback(x):
        raise LookupError(f"no {x}")

    with pytest.raises(LookupError, match="no cheese"):
        extension.call_on_thread(callback, "cheese")


def test_a_value_is_stored_and_taken_out_again(extension, IntPair):
    pair = IntPair(1, 2)
    assert extension.take_stored(extension.store_value(pair)).same_as(pair)
    with pytest.raises(KeyError):
        extension.take_stored(-1)


@pytest.mark.parametrize("keep_gil", [False, True])
@pytest.mark.parametrize("how", ["move", "move_handle_from"])
def test_an_object_argument_stays_alive_during_the_call(extension, IntPair, testing, keep_gil, how):
    pair = IntPair(1, 2)  # the only owner
    thief = IntPair(3, 4)
    refused = []

    def steal():
        try:
            if how == "move":
                testing.echo(pair._move())
            else:
                thief.__move_handle_from__(pair)
                thief.__move_handle_from__(IntPair(5, 6))
        except RuntimeError as error:
            refused.append(str(error))

    function = extension.get_function("is_alive_after")
    function.release_gil = not keep_gil
    assert function(pair, steal) is True
    assert refused == ["the native object cannot be moved away while a call uses it"]
    thief.__move_handle_from__(pair)
    assert (pair.__chandle__(), thief.a) == (0, 1)
