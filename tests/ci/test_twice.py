"""The count of names and messages in both backends finds a planted message and a planted name, and not others."""

from __future__ import annotations

import re

import pytest

from ci.jobs import twice


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """Return a function that writes a file below a checkout which twice.py reads."""
    monkeypatch.setattr(twice, "ROOT", tmp_path)
    monkeypatch.setattr(twice, "_BINDING", tmp_path / "src/hpy_module")
    monkeypatch.setattr(twice, "_BACKEND", tmp_path / "ffi_hpy/_pypy")
    monkeypatch.setattr(twice, "_MODULE", tmp_path / "ffi_hpy/_pypy/module.py")

    def write(place, name, text):
        path = getattr(twice, place) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return write


def test_a_message_counts_whatever_the_marks_around_its_values(planted):
    planted("_BINDING", "a.c", 'raise("%s() takes at most "\n "%d items: \'%s\'"); /* "one more in a comment" */')
    planted("_BINDING", "b.c", 'raise("only in the binding"); raise("two words");')
    planted("_BACKEND", "a.py", 'raise TypeError(f"{name}() takes at most {n} items: {x!r}")\nf"two words {x}"')
    planted("_BACKEND", "b.py", '"""one more in a comment"""\ndef f():\n    """only in the binding"""')
    assert twice.find_messages() == {"takes at most % items"}


def test_a_message_counts_if_one_backend_inserts_a_word_that_the_other_writes(planted):
    planted("_BINDING", "a.c", 'raise("Error() argument \'cause\' must be an Error"); raise("expected %d more items");')
    planted("_BACKEND", "a.py", 'f"{name}() argument {part!r} must be an Error"\n"expected %s more items" % n')
    assert twice.find_messages() == {"argument % must be an Error", "expected % more items"}


def test_a_name_counts_if_the_module_takes_it_from_the_backend(planted):
    names = ("Tensor", "convert", "other", "wrappers")
    planted("ROOT", "ffi_hpy/_core.pyi", "".join(f"def {name}() -> None: ...\n" for name in names))
    planted("_BACKEND", "a.py", "def other():\n    pass\n")
    planted(
        "_BACKEND",
        "module.py",
        '_FROM_BINDING = ("other",)\n_NAMES: tuple = ((a, ("Tensor", "_own")),)\n'
        'def make_module():\n    own.update(DELEGATED, wrappers=find_all, own=f)\n    found["convert"] = 3\n',
    )
    assert twice.find_names() == {"Tensor", "convert", "wrappers"}


def test_the_counts_do_not_grow():
    assert 0 < len(twice.find_names()) <= twice.MOST_NAMES
    assert 0 < len(twice.find_messages()) <= twice.MOST_MESSAGES


def test_the_formats_of_messages_are_listed_and_used():
    header, table = ((twice._BINDING / "context" / name).read_text() for name in ("messages.h", "messages.c"))
    names = re.findall(r"#define FB_MESSAGE_(\w+)", header)
    assert re.findall(r'{"(\w+)", FB_MESSAGE_(\w+)}', table) == [(name, name) for name in names]
    sources = (path.read_text() for path in twice._BACKEND.rglob("*.py"))
    assert {name for source in sources for name in re.findall(r"messages\.([A-Z_]+)", source)} == {*names}
