"""Tests of the installed package."""

import pytest
import vocab


def test_a_text_is_split_into_words():
    assert vocab.split("  to be  or not ") == ["to", "be", "or", "not"]
    assert vocab.split("") == []


def test_each_word_has_one_number():
    known = vocab.Vocabulary()
    assert [known.add(word) for word in vocab.split("to be or not to be")] == [0, 1, 2, 3, 0, 1]
    assert known.words == ["to", "be", "or", "not"]
    assert known.find("or") == 2
    assert known.find("else") is None


def test_a_native_error_is_the_exception_of_that_name():
    with pytest.raises(ValueError, match="a word must not be empty"):
        vocab.Vocabulary().add("")
    with pytest.raises(TypeError, match=r"vocab\.split"):
        vocab.split(3)
