"""Arguments of bound functions: strings and containers of any size, on each path that passes them to C++."""

from __future__ import annotations

import pytest
from support import needs_one_wrapper

pytestmark = needs_one_wrapper


@pytest.fixture(scope="module")
def m(import_bound):
    """The module of bound_results.cc, whose functions return their arguments."""
    return import_bound("bound_results")


SIZES = (*range(8), 15, 16, 17, 30, 31, 60, 100, 124, 125, 126, 127, 128, 129, 250, 255, 256, 257, 1000)


@pytest.mark.parametrize("n", SIZES)
def test_containers_of_any_size_arrive_whole(m, n):
    assert m.perhaps(list(range(n))) == list(range(n))
    assert m.perhaps(tuple(range(n))) == list(range(n))
    assert m.numbers(set(range(n))) == set(range(n))
    rows = [[i + 0.5] * (i % 6) for i in range(n)]
    assert m.rows(rows) == rows
    assert m.rows(tuple(map(tuple, rows))) == rows
    table = {(i, -i): i for i in range(n)}
    assert m.table(table) == table


@pytest.mark.parametrize("n", [*SIZES, 2000, 2007, 2008, 2009, 2010, 2011, 2048, 5000])
@pytest.mark.parametrize("character", ["a", "\xe9", "\U0001f600"])
def test_texts_of_any_size_arrive_whole(m, n, character):
    text = character * n
    assert m.text(text) == text
    assert m.pair((text, 1)) == (text, 1)
    assert m.text(text + "\0" + text) == text + "\0" + text


def test_items_that_do_not_fit_are_named_wherever_they_are(m):
    for n in SIZES[1:]:
        for wrong in (2**70, "text", None, (1,)):
            with pytest.raises(TypeError, match=rf"\[{n - 1}\]|^perhaps"):
                m.perhaps([*range(n - 1), wrong])
    with pytest.raises((TypeError, UnicodeEncodeError)):
        m.pair(("\ud800", 1))
    with pytest.raises((TypeError, UnicodeEncodeError)):
        m.text("a text of some length \ud800")


def test_large_and_small_values_of_each_type_arrive_inside_of_containers(m):
    assert m.two((-(2**31), 2**31 - 1)) == [-(2**31), 2**31 - 1]
    assert m.rows([[float("inf"), -0.0, 1e308], [1, True]]) == [[float("inf"), -0.0, 1e308], [1.0, 1.0]]
    assert m.pair(("", -1)) == ("", -1)
    assert m.pair(["seven77", 0]) == ("seven77", 0)
    assert m.nothing(()) == ()
    assert m.perhaps(None) is None


def test_subclasses_of_containers_are_read_as_containers(m):
    class Numbers(list):
        def __iter__(self):
            return iter((7, 8))

    class Text(str):
        __slots__ = ()

    assert m.perhaps(Numbers((1, 2))) in ([1, 2], [7, 8])
    assert m.text(Text("a text of a subclass")) == "a text of a subclass"
