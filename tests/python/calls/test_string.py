"""Strings and bytes: short ones inside the value itself, longer ones as objects, and invalid strings."""

import pickle

import pytest

import ffi_hpy

TEXTS = ["", "a", "1234567", "12345678", "ä" * 3, "ä" * 4, "日本語", "\U0001f600", "\0", "a\0b", "1234567\0", "\0" * 50]


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_text_comes_back_whole(testing, text):
    assert testing.echo(text) == text
    assert testing.apply(lambda x: x, text) == text
    assert testing.schema_id_string(text) == text


@pytest.mark.parametrize("letter", ["\x7f", "\x80", "\xff", "\u0100", "\U0001f600"], ids=ascii)
def test_text_comes_back_with_a_letter_of_any_width_at_any_place(testing, letter):
    for n in range(26):
        text = "abcdefghijklmnopqrstuvwxyz"[:n]
        assert testing.echo(text) == text
        for i in range(n + 1):
            mixed = text[:i] + letter + text[i:]
            again = testing.echo(mixed)
            assert again == mixed
            assert hash(again) == hash(mixed)
            assert again.isascii() == mixed.isascii()


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_bytes_come_back_whole(testing, text):
    data = text.encode() + b"\xff"
    assert testing.echo(data) == data
    assert testing.apply(lambda x: x, data) == data
    assert testing.schema_id_bytes(data) == data


@pytest.mark.parametrize("n", range(10))
def test_up_to_seven_bytes_arrive_as_the_plain_type(testing, n):
    assert type(testing.echo("x" * n)) is (str if n <= 7 else ffi_hpy.String)
    assert type(testing.echo(b"x" * n)) is (bytes if n <= 7 else ffi_hpy.Bytes)


@pytest.mark.parametrize("surrogate", ["\ud800", "\udc80", "\udfff"], ids=ascii)  # noqa: PT014
@pytest.mark.parametrize("position", [0, 3, 100])
def test_a_lone_surrogate_is_refused_with_its_place(testing, surrogate, position):
    text = "x" * position + surrogate + "x"
    with pytest.raises(UnicodeEncodeError, match=r"testing\.echo\(\) argument 2: surrogates not allowed") as caught:
        testing.echo(1, text)
    assert (caught.value.object, caught.value.start, caught.value.end) == (text, position, position + 1)


def test_a_lone_surrogate_inside_a_container_is_refused(testing):
    for value in (["\udc80"], {"\udc80": 1}, {1: ("x", ["\udc80"])}):
        with pytest.raises(UnicodeEncodeError, match=r"argument 1: surrogates not allowed"):
            testing.echo(value)


def test_a_name_with_lone_surrogates_is_refused():
    with pytest.raises(UnicodeEncodeError):
        ffi_hpy.get_global_func("\udc80")
    with pytest.raises(UnicodeEncodeError):
        ffi_hpy.register_global_func("\udc80", lambda: 1)


def test_text_that_a_callback_returns_with_a_lone_surrogate_is_refused(testing):
    with pytest.raises((UnicodeEncodeError, TypeError), match="return value of a callback"):
        testing.apply(lambda: "\udc80")


def test_invalid_utf_8_arrives_as_str_with_marks(testing):
    assert testing.apply(lambda x: x, b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8") == b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8"


def test_string_is_a_str_and_bytes_is_a_bytes(testing):
    text, data = testing.echo("a text of some length"), testing.echo(b"some bytes of some length")
    assert isinstance(text, str)
    assert isinstance(data, bytes)
    assert {text: 1}["a text of some length"] == 1
    assert text + "!" == "a text of some length!"
    assert (repr(text), repr(data)) == ("'a text of some length'", "b'some bytes of some length'")
    assert testing.echo(text) == text
    assert testing.echo(data) == data


def test_string_and_bytes_can_be_made(testing):
    assert testing.echo(ffi_hpy.String("made in Python")) == "made in Python"
    assert testing.echo(ffi_hpy.Bytes(b"made in Python")) == b"made in Python"


def test_string_and_bytes_are_pickled_as_plain_ones():
    for value, plain in ((ffi_hpy.String("x"), str), (ffi_hpy.Bytes(b"x"), bytes)):
        assert type(pickle.loads(pickle.dumps(value))) is plain


def test_subclasses_of_str_and_bytes_go_in(testing):
    class Text(str):
        __slots__ = ()

    class Data(bytes):
        __slots__ = ()

    assert testing.echo(Text("abc")) == "abc"
    assert testing.echo(Data(b"abc")) == b"abc"


def test_bytearray_and_memoryview_go_in_as_bytes(testing):
    assert testing.echo(bytearray(b"12345678")) == b"12345678"
    assert testing.echo(memoryview(b"12345678")[2:5]) == b"345"


def test_a_str_is_not_bytes(testing):
    with pytest.raises(TypeError, match="Expected `bytes` but got `int`"):
        testing.schema_id_bytes(3)
    with pytest.raises(TypeError, match=r"Expected `str` but got `ffi\.SmallBytes`"):
        testing.schema_id_string(b"bytes")
