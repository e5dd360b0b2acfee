"""What functions, methods and classes show: signatures, annotations, documentation."""

import functools
import inspect
import pydoc
import typing
from typing import Any, Optional

import pytest
from support import parallelize, unique_name

import ffi_hpy


@pytest.fixture(scope="module")
def library(compile_era):
    return ffi_hpy.load_module(compile_era("named_args.cc", "own"))


@pytest.fixture(scope="module")
def Counter(library):  # noqa: N802
    @ffi_hpy.register_object("named_args.Counter")
    class Counter(ffi_hpy.Object):
        pass

    return Counter


def test_a_function_shows_names_types_and_defaults(library):
    show = ffi_hpy.get_global_func("named_args.show")
    signature = inspect.signature(show)
    assert list(signature.parameters) == ["values", "window", "scale", "unit", "is_short"]
    assert [p.default for p in signature.parameters.values()][1:] == [3, 0.5, None, True]
    assert signature.return_annotation is str
    assert typing.get_type_hints(show)["unit"] == Optional[str]
    assert show.__annotations__["values"].__origin__ is ffi_hpy.Array
    assert show.__doc__.splitlines() == [
        "show(values: Array[int], window: int = 3, scale: float = 0.5, unit: str | None = None, is_short: bool = True)"
        " -> str",
        "",
        "Shows what came.",
        "",
        "At length.",
    ]
    assert "Shows what came." in pydoc.plain(pydoc.render_doc(show))


def test_a_function_without_names_shows_numbers(library, testing):
    assert str(inspect.signature(library.plain)) == "(*args)"  # a library exports no types unless it is asked to
    plain = ffi_hpy.get_global_func("named_args.plain")
    assert str(inspect.signature(plain)) == "(arg0: int, arg1: int, /) -> int"
    assert plain.__doc__ == "plain(arg0: int, arg1: int, /) -> int\n\nHas no names."
    packed = ffi_hpy.get_global_func("named_args.packed")
    assert str(inspect.signature(packed)) == "(first, second='x')"


def test_a_function_of_a_module_shows_what_the_library_says(library):
    assert str(inspect.signature(library.subtract)) == "(a: int, b: int = 2) -> int"
    assert library.subtract.__doc__ == "subtract(a: int, b: int = 2) -> int"


def test_methods_and_constructors_have_signatures(Counter):
    assert str(inspect.signature(Counter)) == "(start: int, step: int = 1)"
    assert str(inspect.signature(Counter.__init__)) == "(self, start: int, step: int = 1)"
    assert str(inspect.signature(Counter.add)) == "(self, by: int, times: int = 1) -> int"
    assert str(inspect.signature(Counter(1).add)) == "(by: int, times: int = 1) -> int"
    assert list(inspect.signature(Counter.make).parameters) == ["n"]
    assert (Counter.add.__doc__, Counter.__doc__) == ("Counts on.", "Counts.")
    assert Counter.make.__doc__.endswith("Makes one.")
    assert typing.get_type_hints(Counter.make) == {"n": int, "return": Counter}
    assert typing.get_type_hints(Counter.add) in ({"by": int, "times": int, "return": int}, {})  # PyPy: a plain function
    assert "add(self, by: int, times: int = 1)" in pydoc.plain(pydoc.render_doc(Counter))


def test_every_registered_function_and_type_has_a_signature(testing):
    for name in ffi_hpy.list_global_func_names():
        function = ffi_hpy.get_global_func(name, allow_missing=True)
        if function is not None:
            assert inspect.signature(function)
            assert isinstance(function.__doc__, str)
            assert isinstance(function.__annotations__, dict)
    for key in ("testing.TestIntPair", "testing.SchemaAllTypes", "testing.TestObjectDerived"):
        cls = ffi_hpy.registry.class_for_type_index(ffi_hpy.core._lookup_or_register_type_info_from_type_key(key).type_index)
        assert inspect.signature(cls)
        for name, member in inspect.getmembers(cls, callable):
            if not name.startswith("__"):
                assert inspect.signature(member), name


def test_a_function_about_which_nothing_is_known_takes_anything():
    function = ffi_hpy.convert(lambda x: x)
    assert str(inspect.signature(function)) == "(*args)"
    assert function.__annotations__ == {}
    assert function.__doc__ == ffi_hpy.Function.__doc__
    assert inspect.signature(ffi_hpy.Function)
    assert typing.get_type_hints(ffi_hpy.Function).keys() <= {"release_gil", "__name__", "_about"}
    assert functools.wraps(function)(lambda: 0).__wrapped__ is function


def test_a_function_does_not_show_what_another_one_of_its_name_says(library):
    name = unique_name()
    first = ffi_hpy.register_global_func(name, lambda: 1)
    found = ffi_hpy.get_global_func(name)
    ffi_hpy.register_global_func(name, lambda: 2, override=True)
    found.__name__ = "named_args.show"
    assert str(inspect.signature(found)) == "(*args)"
    assert first() == 1
    ffi_hpy.remove_global_func(name)


def test_functions_in_a_module_of_names_keep_their_signatures(library):
    import sys
    import types

    module = sys.modules["named_args"] = types.ModuleType("named_args")
    ffi_hpy.init_ffi_api("named_args")
    assert (module.show.__name__, module.show([1], unit="m")) == ("show", "1 3 0.500000 m short")
    assert "window" in inspect.signature(module.show).parameters
    del sys.modules["named_args"]


def test_overloads_are_all_listed(testing):
    pair = [ffi_hpy.convert(len), '{"type_schema":"{\\"type\\":\\"ffi.Function\\"}"}']
    from ffi_hpy._types.about import note_function, note_of

    text = '{"type_schema":{"type":"ffi.Function","named_args":{"return":[{"type":"%s"}],"params":[{"type":"%s"}]}}}'
    for _ in range(2):
        note_function(pair[0], text % ("int", "int"), "Of ints.")
        note_function(pair[0], text % ("str", "str"), "Of text.")
    pair[0].__name__ = "twice"
    assert len(note_of(pair[0]).overloads) == 2
    assert pair[0].__doc__ == "twice(arg0: int, /) -> int\n\nOf ints.\n\ntwice(arg0: str, /) -> str\n\nOf text."
    assert str(inspect.signature(pair[0])) == "(*args)"


def test_threads_ask_at_the_same_time(library):
    def ask(_: int) -> Any:
        return str(inspect.signature(ffi_hpy.get_global_func("named_args.show")))

    assert len(set(parallelize(ask))) == 1
