"""Device: where memory is, by name or by DLPack code."""

import pickle
from random import Random

import pytest
from support import run_python

import ffi_hpy
from ffi_hpy import Device, DLDeviceType, device

NAMES = {
    "cpu": 1, "cuda": 2, "cuda_host": 3, "opencl": 4, "vulkan": 7, "metal": 8, "vpi": 9, "rocm": 10, "rocm_host": 11,
    "ext_dev": 12, "cuda_managed": 13, "oneapi": 14, "webgpu": 15, "hexagon": 16,
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_device_is_made_of_name_or_code(name):
    by_name = device(name)
    assert (by_name.device_type, by_name.index, by_name.type) == (NAMES[name], 0, name)
    assert by_name == device(NAMES[name]) == device(f"{name}:0") == Device(name, 0)
    assert by_name.dlpack_device_type() == DLDeviceType(NAMES[name])


def test_an_index_is_given_in_three_ways():
    assert device("cuda:3") == device("cuda", 3) == device(2, 3)
    assert device("cuda:3") != device("cuda:2")
    assert device("cuda:3") != device("rocm:3")
    assert hash(device("cuda:3")) == hash(device("cuda", 3))


def test_the_index_of_a_name_comes_first():
    assert device("cuda:1", 2) == device("cuda", 1)
    with pytest.raises(TypeError):
        device("cuda:1", "2")


@pytest.mark.parametrize(("alias", "name"), [("mps", "metal"), ("wgpu", "webgpu")])
def test_other_words_for_a_device_are_known(alias, name):
    assert device(alias) == device(name)


def test_a_device_shows_itself():
    assert str(device("cuda:1")) == "cuda:1"
    assert repr(device("cuda:1")) == "device(type='cuda', index=1)"
    assert device(99).type == "unknown_99"


@pytest.mark.parametrize("value", [device("cpu"), device("cuda:7"), device(99, 3)], ids=str)
def test_a_device_goes_through_native_code(testing, value):
    returned = testing.echo(value)
    assert type(returned) is Device
    assert returned == value
    assert testing.apply(lambda x: x, value) == value


def test_a_name_is_taken_where_a_device_is_wanted(testing):
    assert testing.schema_id_device("cuda:2") == device("cuda:2")
    with pytest.raises(TypeError):
        testing.schema_id_device(3)


@pytest.mark.parametrize("text", ["", "gpu?", "cuda:", "cuda:x", ":1", "CPU"])
def test_an_unknown_device_is_a_value_error(text):
    with pytest.raises(ValueError, match="device"):
        device(text)


def test_any_text_names_a_device_or_is_a_value_error():
    random = Random(7)
    pieces = [*NAMES, *": -+_07x\0\ud800é٣", "2147483647", "2147483648"]
    n_devices = 0
    for _ in range(20000):
        text = "".join(random.choices(pieces, k=random.randrange(6)))
        try:
            made = Device(text)
        except ValueError:
            continue
        n_devices += 1
        assert Device(str(made)) == made
    assert 1000 < n_devices < 19000


@pytest.mark.parametrize("arguments", [(1.5,), (None,), ("cuda", "1"), (2, 1.5)], ids=repr)
def test_a_device_of_the_wrong_type_is_a_type_error(arguments):
    with pytest.raises(TypeError):
        device(*arguments)


@pytest.mark.parametrize("arguments", [(2**31,), (2, 2**31), (2, -(2**40))], ids=repr)
def test_a_number_too_large_for_a_device_is_an_error(arguments):
    with pytest.raises(ValueError, match=r"device (type|index) must be from .* to 2147483647, got"):
        device(*arguments)


def test_a_device_cannot_be_changed():
    program = """
import ffi_hpy
place = ffi_hpy.device("cuda", 2)
for name in ("index", "device_type", "type"):
    try:
        setattr(place, name, 3)
    except AttributeError:
        continue
    print(name, "was set")
print(place)
"""
    assert run_python(program) == "cuda:2\n"


def test_a_device_is_not_a_number():
    assert device("cpu") != 1
    assert device("cpu") != "cpu"


def test_a_device_is_returned_unchanged():
    place = device("cuda:1")
    assert device(place) is place


def test_a_device_can_be_pickled():
    assert pickle.loads(pickle.dumps(device("cuda:3"))) == device("cuda:3")
    assert pickle.loads(pickle.dumps(DLDeviceType.kDLCUDA)) is DLDeviceType.kDLCUDA


def test_a_class_may_say_its_device(testing):
    class Custom:
        def __dlpack_device__(self):
            return (2, 5)

    assert testing.echo(Custom()) == device("cuda:5")


def test_devices_are_exported():
    assert ffi_hpy.core.Device is Device
