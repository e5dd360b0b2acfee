"""Tests of the installed package."""

import pytest
import tally

import ffi_hpy


def test_a_tally_counts_the_added_values():
    counted = tally.Tally()
    for value in (1, 2.5):
        counted.add(value)
    assert (counted.count, counted.total, counted.mean()) == (2, 3.5, 1.75)


def test_tallies_are_made_of_sequences_and_merged():
    merged = tally.merge(tally.Tally.of([1, 2, 3]), tally.Tally.of((4,)))
    assert isinstance(merged, tally.Tally)
    assert (merged.count, merged.total) == (4, 10.0)


def test_a_native_error_is_the_exception_of_that_name():
    with pytest.raises(ValueError, match="the mean of nothing"):
        tally.Tally().mean()
    with pytest.raises(TypeError, match=r"tally\.merge"):
        tally.merge(tally.Tally(), 1)


def test_a_field_that_only_reads_cannot_be_set():
    with pytest.raises(AttributeError):
        tally.Tally().count = 5


def test_tensors_are_scaled_where_they_are():
    numpy = pytest.importorskip("numpy")
    values = numpy.arange(4, dtype="float32")
    tally.scale(values, factor=10)
    assert values.tolist() == [0, 10, 20, 30]
    tally.scale(values)
    assert values.tolist() == [0, 20, 40, 60]
    with pytest.raises(TypeError, match="values must be float32, got float64"):
        tally.scale(values.astype("float64"), 10)


def test_the_library_is_that_of_this_distribution():
    assert isinstance(tally._ffi_api._LIB, ffi_hpy.Module)
    assert "libtally.so" in {file.name for file in _files_of("tally")}


def _files_of(distribution):
    from importlib import metadata

    return metadata.files(distribution) or ()
