"""The indices in calls of a sequence's slots: negative indices count from the end, once."""

import pytest
from test_hpy_runtime import HERE, compile_universal, load_runtime


@pytest.fixture(scope="module", params=["universal", "debug"])
def sequence(request, tmp_path_factory):
    path = compile_universal(HERE / "sequence.c", tmp_path_factory.mktemp("sequence") / "sequence.hpy0.so")
    return load_runtime().load("sequence", path, debug=request.param == "debug")


@pytest.fixture(params=["itself", "subclass"])
def whole(request, sequence):
    return sequence.Whole() if request.param == "itself" else type("Sub", (sequence.Whole,), {})()


def test_a_negative_index_counts_from_the_end(sequence, whole):
    assert [whole[i] for i in (0, 3, -1, -10)] == [0, 3, 9, 0]
    assert sequence.Whole.__getitem__(whole, -2) == 8
    assert sequence.get(whole, -3) == 7


def test_an_index_before_the_beginning_stays_negative(sequence, whole):
    assert [whole[i] for i in (-11, -25)] == [-1, -15]
    assert sequence.get(whole, -12) == -2


@pytest.mark.thread_unsafe(reason="the sequence keeps one index")
def test_storing_and_deleting_count_from_the_end_too(whole):
    whole[-4] = None
    assert whole.stored == 6
    del whole[-5]
    assert whole.stored == -5
    whole[2] = None
    assert whole.stored == 2


def test_the_repeat_count_of_a_sequence_is_not_an_index(whole):
    assert whole * -3 == -3


def test_without_a_length_an_index_stays_as_it_is(sequence):
    endless = sequence.Endless()
    assert [endless[i] for i in (5, -1)] == [5, -1]


def test_an_exception_of_the_length_is_raised(sequence):
    failing = sequence.Failing()
    assert failing[4] == 4
    with pytest.raises(OSError, match="no length"):
        failing[-1]
