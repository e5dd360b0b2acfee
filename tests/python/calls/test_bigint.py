"""Integers beyond 64 bits: in calls, callbacks, containers and strings, and together with 64-bit integers."""

import gc
import pickle
import random

import pytest
from support import parallelize

import ffi_hpy
from ffi_hpy import _ffi_api, serialization

EDGES = [sign * (2**bits) + step for bits in (63, 64, 127, 128, 191, 1000) for sign in (1, -1) for step in (-1, 0, 1)]


@pytest.mark.parametrize("number", EDGES)
def test_an_int_of_any_size_comes_back(testing, number):
    result = testing.echo(number)
    assert type(result) is int
    assert result == number


def test_random_numbers_of_all_lengths_come_back(testing):
    rng = random.Random(1)
    for bits in range(1, 400):
        number = rng.getrandbits(bits)
        assert testing.echo(number) == number
        assert testing.echo(-number) == -number
    huge = 1 << 100_000
    assert testing.echo(huge) == huge
    assert testing.echo(-huge - 1) == -huge - 1


def test_a_callback_takes_and_gives_large_numbers(testing):
    seen = []

    def callback(number):
        seen.append(number)
        return -number - 17

    assert testing.apply(callback, 2**200) == -(2**200) - 17
    assert seen == [2**200]
    assert type(seen[0]) is int


def test_a_number_that_fits_into_64_bits_is_a_plain_int_again(testing, plain):
    for value, small in ((2**63, 2**63 - 1), (-(2**63) - 1, -(2**63))):
        assert testing.apply(lambda number, step: number + step, value, small - value) == small
        assert plain.sum(small) == small  # sum() accepts only ints of 64 bits


def test_containers_hold_large_numbers(testing):
    numbers = [2**64, -(2**64), 0, 2**63 - 1, 2**300]
    assert list(testing.echo(numbers)) == numbers
    mapping = testing.echo({number: -number for number in numbers})
    assert len(mapping) == len(numbers)
    for number in numbers:
        assert mapping[number] == -number
    assert 2**65 not in mapping
    made = ffi_hpy.Dict({2**70: "a"})
    made[2**70] = "b"
    assert dict(made) == {2**70: "b"}
    changed = ffi_hpy.List([1])
    changed[0] = 2**90
    changed.append(-(2**90))
    assert list(changed) == [2**90, -(2**90)]


def test_equal_numbers_are_equal_and_hash_alike():
    left, right = ffi_hpy.Array([2**70, 1]), ffi_hpy.Array([2**70, 1])
    assert left == right
    assert hash(left) == hash(right)
    assert left != ffi_hpy.Array([2**70 + 1, 1])
    assert ffi_hpy.structural_equal(left, right)
    assert ffi_hpy.structural_hash(left) == ffi_hpy.structural_hash(right)


def test_large_numbers_have_an_order_among_all_ints():
    numbers = sorted([2**64, -(2**64), 0, 2**63 - 1, -(2**63), 2**300, -(2**300), 2**64 + 1])
    for smaller, larger in zip(numbers, numbers[1:]):
        assert _ffi_api.RecursiveLt(smaller, larger)
        assert not _ffi_api.RecursiveLt(larger, smaller)
        assert _ffi_api.RecursiveLe(smaller, smaller)


def test_text_has_all_digits():
    number = -(10**40) - 7
    assert repr(ffi_hpy.Array([number])) == f"({number},)"
    stringify = ffi_hpy.get_global_func("ffi.json.Stringify")
    assert stringify([number, 2**64], None) == f"[{number},{2**64}]"


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**50, -(10**50)])
def test_graphs_and_pickles_keep_large_numbers(number):
    assert serialization.from_json_graph_str(serialization.to_json_graph_str([number, {number: 1}])) == [
        number,
        ffi_hpy.Map({number: 1}),
    ]
    assert pickle.loads(pickle.dumps(ffi_hpy.Array([number, "x"]))) == [number, "x"]


def test_subclasses_and_number_classes_go_in_by_their_value(testing):
    class Odd(int):
        def to_bytes(self, *args, **kwargs):
            raise AssertionError("the class int's own is meant")

        def bit_length(self):
            raise AssertionError("the class int's own is meant")

    assert testing.echo(Odd(2**80)) == 2**80
    assert type(testing.echo(Odd(2**80))) is int
    numpy = pytest.importorskip("numpy")
    assert testing.echo(numpy.uint64(2**64 - 1)) == 2**64 - 1


def test_a_field_of_64_bits_refuses_a_larger_number(IntPair):
    pair = IntPair(1, 2)
    with pytest.raises(TypeError, match=r"ffi\.BigInt"):
        IntPair(2**64, 1)
    assert (pair.a, pair.b) == (1, 2)


def test_a_call_leaves_no_object_behind(testing):
    def use():
        for _ in range(100):
            testing.echo([2**200, {"a": -(2**200)}])
            testing.apply(lambda number: number, 2**200)

    use()
    gc.collect()
    before = len(gc.get_objects())
    use()
    gc.collect()
    assert len(gc.get_objects()) <= before + 10


def test_many_threads_pass_large_numbers(testing):
    def work(i):
        number = (i + 2) << 200
        return all(testing.echo([number, -number]) == [number, -number] for _ in range(200))

    assert parallelize(work) == [True] * 4
