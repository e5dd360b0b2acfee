"""ffi_hpy.cpp.load_inline and build_inline: the libraries they make from sources, and the errors for wrong sources."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest
from support import parallelize

import ffi_hpy
from ffi_hpy import cpp

pytestmark = pytest.mark.thread_unsafe(reason="it changes the environment of the process")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def in_cache(cache, monkeypatch):
    monkeypatch.setenv("TVM_FFI_CACHE_DIR", str(cache))


# --- valid sources ----------------------------------------------------------------------------------------------------

GREETING = 'Greets “you”.\n\tHow? \\ "So".\x01'


def test_texts_become_one_module_with_the_functions_named(cache):
    first = """\ufeff
        tvm::ffi::String greet(tvm::ffi::String who) { return std::string("hello, ") + who.c_str(); }
        namespace inner {"""  # closed by the second source
    second = """
        int deep(int x) { return x + LEVEL; }
        }
        using inner::deep;
        int content(int args) { return args; }  // names that the export might use itself
        int result(int x) { return content(x); }
        int hidden() { return 0; }"""
    module = cpp.load_inline(
        "texts",
        cpp_sources=[first, second],
        functions={"greet": GREETING, "deep": "", "content": "", "result": ""},
        extra_cflags=["-O0 -DLEVEL='(2 + 3)'"],
    )
    assert module.greet("world") == "hello, world"
    assert module.deep(1) == 6
    assert (module.content(2), module.result(3)) == (2, 3)
    assert module.get_function_doc("greet") == GREETING
    assert module.get_function_doc("deep") is None
    assert "ffi.String" in module.get_function_metadata("greet")["type_schema"]
    assert not module.implements_function("hidden")
    (library,) = cache.glob("texts_*/texts.so")
    assert sorted(p.name for p in library.parent.glob("texts*.cpp")) == [
        "texts.inline[0].cpp",
        "texts.inline[1].cpp",
        "texts.unit.cpp",
    ]


@pytest.mark.same_everywhere
@pytest.mark.parametrize(
    ("functions", "flags", "doc", "has_types"),
    [
        ("twice", [], None, False),
        ({"twice": ""}, [], None, False),
        ("twice", ["-DTVM_FFI_DLL_EXPORT_INCLUDE_METADATA=1"], None, True),
        ({"twice": "Doubles."}, [], "Doubles.", True),
        ({"twice": "Doubles."}, ["-DTVM_FFI_DLL_EXPORT_INCLUDE_METADATA=0"], None, False),
    ],
    ids=["names", "no text", "option", "text", "option against text"],
)
def test_types_are_exported_with_documentation_or_where_an_option_says_so(functions, flags, doc, has_types):
    source = "int twice(int x) { return 2 * x; }"
    module = cpp.load_inline("metadata", cpp_sources=source, functions=functions, extra_cflags=["-O0", *flags])
    assert module.twice(21) == 42
    assert module.get_function_doc("twice") == doc
    assert (module.get_function_metadata("twice") is not None) == has_types
    assert ("arg0: int" in str(module.twice.__doc__)) == has_types


@pytest.mark.same_everywhere
def test_a_cubin_is_embedded_and_an_object_file_made_and_linked(cache):
    source = """
        extern "C" const unsigned char __tvm_ffi__cubin_kernel[], __tvm_ffi__cubin_kernel_end[];
        tvm::ffi::Bytes embedded() {
          return tvm::ffi::Bytes(reinterpret_cast<const char *>(__tvm_ffi__cubin_kernel),
                                 __tvm_ffi__cubin_kernel_end - __tvm_ffi__cubin_kernel);
        }"""
    content = bytes(range(256))
    cubins = {"kernel": content, "joined": b""}  # the build also uses that name
    path = cpp.build_inline("holder", cpp_sources=source, functions="embedded", embed_cubin=cubins, output="holder.o")
    assert Path(path).parent.parent == cache
    library = cpp.build("linked", sources=path)
    assert ffi_hpy.load_module(library).embedded() == content


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.same_everywhere
def test_a_compilers_message_has_the_lines_of_the_text():
    with pytest.raises(cpp.BuildError) as one:
        cpp.build_inline("wrong", cpp_sources="int f() {\n\n  return missing;\n}")
    assert "wrong.inline.cpp:3:" in str(one.value)
    assert "missing" in str(one.value)
    assert "return missing;" in str(one.value), "the compiler cannot quote the line"
    with pytest.raises(cpp.BuildError, match=r"wrong\.inline\[1\]\.cpp:2:"):
        cpp.build_inline("wrong", cpp_sources=["int g();\n", "\nint f() { return missing; }"])


@pytest.mark.same_everywhere
def test_a_failed_build_leaves_nothing_that_is_taken_for_a_library(cache):
    with pytest.raises(cpp.BuildError):
        cpp.load_inline("broken", cpp_sources="#error not today")
    assert list(cache.glob("broken_*/*.so")) == []
    with pytest.raises(cpp.BuildError, match="not today"):
        cpp.load_inline("broken", cpp_sources="#error not today")


@pytest.mark.same_everywhere
@pytest.mark.parametrize(
    ("source", "functions", "named"),
    [
        ("int there() { return 1; }", ["there", "not_there"], "not_there"),
        ("struct Odd {}; int take(Odd) { return 1; }", "take", "take"),
        ("int unclosed() { return 1;", "unclosed", "unclosed"),
        ("int twice() { return 1; }\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(twice, twice);", "twice", "twice"),
    ],
)
def test_a_function_that_cannot_be_exported_is_named(source, functions, named):
    rule = "once, outside of all braces, with types that are values of the ABI, and not export it themselves"
    with pytest.raises(cpp.BuildError, match=f"^function {named!r} cannot be exported: .*{rule}") as raised:
        cpp.build_inline("exports", cpp_sources=source, functions=functions)
    assert "exports.functions:" in str(raised.value)


@pytest.mark.same_everywhere
def test_an_error_in_the_text_is_not_said_to_be_one_of_the_export():
    with pytest.raises(cpp.BuildError, match=r"^'exports' does not build") as raised:
        cpp.build_inline("exports", cpp_sources="int broken(int x {\n  return x;\n}", functions="broken")
    assert "exports.inline.cpp:1:" in str(raised.value)


@pytest.mark.same_everywhere
def test_a_function_that_is_declared_only_is_an_error_when_the_module_is_loaded():
    with pytest.raises(RuntimeError, match=r"undefined symbol|symbol not found"):
        cpp.load_inline("declared", cpp_sources="int promised(int x);", functions="promised")


SOURCE = "int f() { return 1; }"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"name": 1}, TypeError, "name must be a str, got a int"),
        ({"name": ""}, ValueError, "name must be a file's name"),
        ({"name": "a/b"}, ValueError, "name must be a file's name"),
        ({"name": "-o"}, ValueError, "name must be a file's name"),
        ({"cpp_sources": None}, ValueError, "neither cpp_sources nor cuda_sources have a text"),
        ({"cpp_sources": b"int"}, TypeError, "cpp_sources must be a str, or a sequence of them, got a bytes"),
        ({"cpp_sources": [SOURCE, 1]}, TypeError, "cpp_sources must be .* got a int among them"),
        ({"cpp_sources": {"a.cpp": SOURCE}}, TypeError, "cpp_sources must be a str, .* got a dict"),
        ({"cpp_sources": "// \udc80"}, ValueError, "cpp_sources cannot be written as UTF-8"),
        ({"functions": {"f": "\udc80"}}, ValueError, r"functions\['f'\] cannot be written as UTF-8"),
        ({"extra_cflags": {"-DA", "-UA"}}, TypeError, "extra_cflags must be a sequence of str, got a set"),
        ({"functions": 1}, TypeError, "functions must be a str, .* got a int"),
        ({"functions": {"f": None}}, TypeError, "functions must map str to str, got a str to a NoneType"),
        ({"functions": "a::f"}, ValueError, "functions must name C.. functions .* got 'a::f'"),
        ({"extra_cflags": "-O3"}, TypeError, r"extra_cflags must be a sequence of flags, got a str: \['-O3'\] is one"),
        ({"extra_cflags": ["-DX='"]}, ValueError, r"extra_cflags\[0\] cannot be read as words"),
        ({"extra_ldflags": [1]}, TypeError, "extra_ldflags must be a sequence of str, got a int among them"),
        ({"extra_include_paths": "here"}, TypeError, "extra_include_paths must be a sequence of paths"),
        ({"extra_include_paths": [1]}, TypeError, "extra_include_paths must be paths, got a int among them"),
        ({"build_directory": 1}, TypeError, "build_directory must be a path, got a int"),
        ({"embed_cubin": {"k": "text"}}, TypeError, "embed_cubin must map str to bytes"),
        ({"embed_cubin": {"a b": b""}}, ValueError, "embed_cubin must map identifiers"),
        ({"backend": "metal"}, ValueError, "backend must be 'cuda' or 'hip', got 'metal'"),
        ({"output": "/tmp/x.so"}, ValueError, "output must be a file's name"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_written(arguments, error, message, cache):
    before = sorted(cache.iterdir())
    with pytest.raises(error, match=message):
        cpp.build_inline(**{"name": "arguments", "cpp_sources": SOURCE, **arguments})
    assert sorted(cache.iterdir()) == before


# --- modules of bind.h ------------------------------------------------------------------------------------------------

KENNEL = """
#include <ffi_hpy/bind.h>
#include <ffi_hpy/stl/string.h>
namespace nb = ffi_hpy;
using namespace nb::literals;
struct Dog { std::string name; };
FFI_HPY_MODULE(inline_kennel, m) {
  nb::class_<Dog>(m, "Dog").def(nb::init<std::string>(), "name"_a).def_rw("name", &Dog::name);
  m.def("twice", [](int x) { return 2 * x; }, "x"_a = 4);
  m.def_submodule("inner").def("once", [](int x) { return x; });
}
"""


def test_a_bound_module_is_returned(tmp_path):
    module = cpp.load_inline("inline_kennel", cpp_sources=KENNEL)
    assert isinstance(module, types.ModuleType)
    assert (module.__name__, module.twice(), module.inner.once(3)) == ("inline_kennel", 8, 3)
    assert module.Dog(name="bo").name == "bo"
    assert cpp.load_inline("inline_kennel", cpp_sources=KENNEL) is module
    assert "inline_kennel" not in sys.modules
    (tmp_path / "kennel.cc").write_text(KENNEL.replace("inline_kennel", "kennel_of_a_file").replace("Dog", "Cat"))
    assert cpp.load("kennel_of_a_file", sources=tmp_path / "kennel.cc").Cat("minka").name == "minka"


@pytest.mark.same_everywhere
def test_threads_get_one_bound_module():
    source = KENNEL.replace("inline_kennel", "shared_kennel").replace("Dog", "Bird")
    modules = parallelize(lambda _: cpp.load_inline("shared_kennel", cpp_sources=source), 4)
    assert len(set(map(id, modules))) == 1


@pytest.mark.same_everywhere
def test_a_bound_module_has_the_name_of_the_library():
    with pytest.raises(ValueError, match="the sources define no module 'other_kennel': FFI_HPY_MODULE"):
        cpp.load_inline("other_kennel", cpp_sources=KENNEL)


def test_a_definition_that_fails_is_raised():
    source = '#include <ffi_hpy/bind.h>\nFFI_HPY_MODULE(failing, m) { throw ffi_hpy::value_error("not today"); }'
    for _ in range(2):
        with pytest.raises(ValueError, match="not today"):
            cpp.load_inline("failing", cpp_sources=source)
