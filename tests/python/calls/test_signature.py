"""Introspection of functions, methods and classes: signatures, annotations, documentation."""

import functools
import inspect
import pydoc
import sys
import types
import typing
from typing import Any, Optional

import pytest
from support import parallelize, unique_name

import ffi_hpy
from ffi_hpy import _core

HAS_TEXT_SIGNATURES = sys.version_info >= (3, 10)  # older versions drop the signatures of classes that C code makes


def test_a_function_shows_names_types_and_defaults(library):
    show = ffi_hpy.get_global_func("named_args.show")
    signature = inspect.signature(show)
    assert list(signature.parameters) == ["values", "window", "scale", "unit", "is_short"]
    assert [p.default for p in signature.parameters.values()][1:] == [3, 0.5, None, True]
    assert signature.return_annotation is str
    assert typing.get_type_hints(show)["unit"] == Optional[str]
    assert show.__annotations__["values"].__origin__ is ffi_hpy.Array
    line, *rest = show.__doc__.splitlines()
    assert line.startswith("show(values: Array[int], window: int = 3, scale: float = 0.5, unit: str | None = None, ")
    assert line.endswith("is_short: bool = True) -> str")
    assert rest == ["", "Shows the arguments.", "", "At length."]
    assert "Shows the arguments." in pydoc.plain(pydoc.render_doc(show))


def test_a_function_without_names_shows_numbers(library, testing):
    assert str(inspect.signature(library.plain)) == "(*args)"  # a library exports types only on request
    plain = ffi_hpy.get_global_func("named_args.plain")
    assert str(inspect.signature(plain)) == "(arg0: int, arg1: int, /) -> int"
    assert plain.__doc__ == "plain(arg0: int, arg1: int, /) -> int\n\nHas no names."
    packed = ffi_hpy.get_global_func("named_args.packed")
    assert str(inspect.signature(packed)) == "(first, second='x')"


def test_a_function_of_a_module_shows_the_library_s_metadata(library):
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
    assert typing.get_type_hints(Counter.make) == {"n": int, "return": Optional[Counter]}
    hints = typing.get_type_hints(Counter.add)
    assert hints in ({"by": int, "times": int, "return": int}, {})  # PyPy: a plain function
    assert "add(self, by: int, times: int = 1)" in pydoc.plain(pydoc.render_doc(Counter))


def test_every_registered_function_and_type_has_a_signature(testing):
    for name in ffi_hpy.list_global_func_names():
        function = ffi_hpy.get_global_func(name, allow_missing=True)
        if function is not None:
            assert inspect.signature(function)
            assert isinstance(function.__doc__, str)
            assert isinstance(function.__annotations__, dict)
    for key in ("testing.TestIntPair", "testing.SchemaAllTypes", "testing.TestObjectDerived"):
        cls = ffi_hpy.registry.class_for_type_index(_core.type_key_to_index(key))
        if HAS_TEXT_SIGNATURES or key != "testing.SchemaAllTypes":  # that class has no constructor
            assert inspect.signature(cls)
        for name, member in inspect.getmembers(cls, callable):
            if not name.startswith("_"):
                assert inspect.signature(member), name


def test_a_function_about_which_nothing_is_known_takes_anything():
    function = ffi_hpy.convert(lambda x: x)
    assert str(inspect.signature(function)) == "(*args)"
    assert function.__annotations__ == {}
    assert function.__doc__ == ffi_hpy.Function.__doc__
    assert not HAS_TEXT_SIGNATURES or inspect.signature(ffi_hpy.Function)
    assert "return" not in typing.get_type_hints(ffi_hpy.Function)
    assert functools.wraps(function)(lambda: 0).__wrapped__ is function


def test_a_function_does_not_show_the_metadata_of_another_one_of_its_name(library):
    name = unique_name()
    first = ffi_hpy.register_global_func(name, lambda: 1)
    found = ffi_hpy.get_global_func(name)
    ffi_hpy.register_global_func(name, lambda: 2, override=True)
    found.__name__ = "named_args.show"
    assert str(inspect.signature(found)) == "(*args)"
    assert first() == 1
    ffi_hpy.remove_global_func(name)


@pytest.mark.thread_unsafe(reason="a module has one place in sys.modules")
def test_functions_in_a_module_of_names_keep_their_signatures(library):
    module = sys.modules["named_args"] = types.ModuleType("named_args")
    ffi_hpy.init_ffi_api("named_args")
    assert (module.show.__name__, module.show([1], unit="m")) == ("show", "1 3 0.500000 m short")
    assert "window" in inspect.signature(module.show).parameters
    del sys.modules["named_args"]


def test_overloads_are_all_listed(testing):
    pair = [ffi_hpy.convert(len), '{"type_schema":"{\\"type\\":\\"ffi.Function\\"}"}']
    from ffi_hpy._types.function_metadata import add_metadata, metadata_of

    text = '{"type_schema":{"type":"ffi.Function","named_args":{"return":[{"type":"%s"}],"params":[{"type":"%s"}]}}}'
    for _ in range(2):
        add_metadata(pair[0], text % ("int", "int"), "Of ints.")
        add_metadata(pair[0], text % ("str", "str"), "Of text.")
    pair[0].__name__ = "twice"
    assert len(metadata_of(pair[0]).overloads) == 2
    assert pair[0].__doc__ == "twice(arg0: int, /) -> int\n\nOf ints.\n\ntwice(arg0: str, /) -> str\n\nOf text."
    assert str(inspect.signature(pair[0])) == "(*args)"


def test_threads_ask_at_the_same_time(library):
    def ask(_: int) -> Any:
        return str(inspect.signature(ffi_hpy.get_global_func("named_args.show")))

    assert len(set(parallelize(ask))) == 1


# --- other introspection ----------------------------------------------------------------------------------------------


def test_the_package_lists_its_public_names():
    names = dir(ffi_hpy)
    assert set(ffi_hpy.__all__) <= set(names)
    assert not {name for name in names if name.startswith("_") and not name.endswith("__")}
    assert not {"TYPE_CHECKING", "annotations", "atexit", "registry"} & set(names)


def test_a_module_lists_the_exports_of_its_library(library):
    assert {"plain", "subtract", "get_function"} <= set(dir(library))
    assert not [name for name in dir(library) if "metadata" in name and "subtract" in name]
    assert repr(library).startswith("<Module 'library' from '/")
    assert repr(ffi_hpy.system_lib()) == "<Module 'library'>"


@pytest.mark.parametrize("content", [b"", b"\x7fELF\x02\x01" + b"\xff" * 80, b"\x7fELF\x01", b"text"], ids=len)
def test_a_file_that_is_not_a_library_exports_nothing(tmp_path, content):
    from ffi_hpy._values.exported import exported_names

    (tmp_path / "file").write_bytes(content)
    assert exported_names(str(tmp_path / "file")) == []
    assert exported_names(str(tmp_path / "none")) == []


@pytest.mark.parametrize("kind", [ffi_hpy.Map, ffi_hpy.Dict])
def test_mappings_offer_their_keys(kind):
    assert kind({"a": 1, "b": 2})._ipython_key_completions_() == ["a", "b"]


def test_objects_and_tensors_are_tables_in_notebooks(Counter):
    table = ffi_hpy.Array([Counter(i) for i in range(30)])._repr_html_()
    assert "<caption>30 Counter, 10 more</caption>" in table
    assert "<tr><th></th><th>count</th></tr>\n<tr><td>0</td><td>0</td></tr>" in table
    assert ffi_hpy.Array([1, Counter(1)])._repr_html_() is None
    assert ffi_hpy.List([])._repr_html_() is None
    numpy = pytest.importorskip("numpy")
    assert "<td>1.5</td>" in ffi_hpy.from_dlpack(numpy.array([1.5, 2.0]))._repr_html_()
    big = ffi_hpy.from_dlpack(numpy.zeros((40, 2)))._repr_html_()
    assert "<caption>Tensor (40, 2), float64, cpu:0</caption>" in big
    assert "<td>" not in big
