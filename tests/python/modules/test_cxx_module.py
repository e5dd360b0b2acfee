"""Modules with a user's C++ class, compiled against the headers of either era."""

import ctypes
import gc

import pytest
from support import parallelize, run_python
from support.native_build import ERAS, PACKAGE, compile_c

import ffi_hpy
from ffi_hpy.module import ModulePropertyMask


@pytest.fixture(scope="module")
def libraries(compile_era):
    """The libraries compiled from native/cxx_names.cc, by era."""
    return {era: ffi_hpy.load_module(compile_era("cxx_names.cc", era)) for era in ERAS}


@pytest.fixture(params=ERAS)
def era(request):
    return request.param


@pytest.fixture
def library(libraries, era):
    return libraries[era]


@pytest.fixture
def other_library(libraries, era):
    """The library of the other era."""
    return libraries["old" if era == "new" else "new"]


@pytest.fixture
def module(library):
    return library.make_module("a name of some length")


@pytest.fixture
def plain_module(library):
    """A module whose class overrides only the required methods."""
    return library.make_plain_module()


# --- calls by the core, through the virtual table ---------------------------------------------------------------------


def test_a_module_answers_for_itself(module, era):
    assert module.kind == f"module_of_{era}"
    assert module.get_property_mask() == ModulePropertyMask.RUNNABLE | ModulePropertyMask.COMPILATION_EXPORTABLE
    assert module.implements_function("compiled_later")
    assert not module.implements_function("add_one")
    assert module.get_function_doc("add_one") == "adds one to a number"
    assert module.get_function_doc("name") is None
    assert module.get_function_metadata("add_one") == {"nonblocking": True}
    assert module.get_function_metadata("name") is None
    assert list(module.get_write_formats()) == ["first", "a second format"]
    assert module.inspect_source("text") == "source of a name of some length as text"
    assert list(module.imports) == []


def test_its_functions_are_called(module):
    assert module.add_one(41) == 42
    assert module["name"]() == "a name of some length"
    with pytest.raises(AttributeError, match="no function 'nonsense'"):
        module.get_function("nonsense")
    with pytest.raises(IndexError, match="thrown by a function"):
        module.fails()


def test_a_class_that_overrides_little_has_defaults(plain_module):
    assert plain_module.kind == "plain_module"
    assert plain_module.get_property_mask() == 0
    assert plain_module.two() == 2
    assert plain_module.implements_function("two")
    assert not plain_module.implements_function("three")
    assert plain_module.get_function_doc("two") is None
    assert plain_module.get_function_metadata("two") is None
    assert list(plain_module.get_write_formats()) == []
    assert plain_module.inspect_source() == ""
    with pytest.raises(RuntimeError, match=r"Module\[plain_module\] does not support WriteToFile"):
        plain_module.write_to_file("a file", "a format")


def test_an_exception_of_its_methods_is_an_error(module, plain_module):
    with pytest.raises(KeyError, match="thrown by a module: throws_error") as caught:
        module.get_function("throws_error")
    assert "GetFunction" in caught.value.__tvm_ffi_error__.backtrace
    with pytest.raises(RuntimeError, match="thrown by the standard library"):
        module.get_function("throws_exception")
    with pytest.raises(RuntimeError, match=r"not a std::exception"):
        module.get_function("throws_something")
    with pytest.raises(ValueError, match="cannot write a file as a format"):
        module.write_to_file("a file", "a format")
    with pytest.raises(KeyError, match="thrown by a plain module"):
        plain_module.implements_function("throws_error")
    assert module.add_one(1) == 2


# --- calls by C++ -----------------------------------------------------------------------------------------------------

FORMATS = ["first", "a second format"]


def look(library, module, name):
    seen = list(library.look_at_module(module, name))
    return [*seen[:8], list(seen[8]), *seen[9:]]


def test_cxx_sees_modules_of_its_class(library, module, plain_module, era):
    source = "source of a name of some length as text"
    doc, metadata = "adds one to a number", '{"nonblocking": true}'
    kind = f"module_of_{era}"
    assert look(library, module, "add_one") == [kind, 6, True, True, False, False, doc, metadata, FORMATS, source, 0]
    assert look(library, plain_module, "two") == ["plain_module", 0, True, True, True, True, None, None, [], "", 0]


def test_cxx_sees_modules_of_the_other_era(other_library, module, era):
    seen = look(other_library, module, "add_one")
    assert seen[:4] == [f"module_of_{era}", 6, True, True]
    assert seen[8] == FORMATS


def test_cxx_sees_our_modules(library, plain):
    doc, metadata = "Sum of any number of ints, at once.", '{"nonblocking": true, "note": "a short one"}'
    assert look(library, plain, "short") == ["library", 3, True, True, True, True, doc, metadata, [], "", 0]
    assert look(library, plain, "nonsense") == ["library", 3, False, False, False, False, None, None, [], "", 0]
    assert look(library, ffi_hpy.system_lib(), "nonsense")[1:4] == [3, False, False]


def test_cxx_distinguishes_classes(library, module, plain_module, plain):
    assert list(library.identify_module(module)) == [True, False, True]
    assert list(library.identify_module(plain_module)) == [False, True, False]
    assert list(library.identify_module(plain)) == [False, False, False]
    assert list(library.identify_module(ffi_hpy.system_lib())) == [False, False, False]


def test_cxx_catches_the_errors_of_modules(library, module, plain_module, plain, tmp_path):
    def caught(module, name):
        return {asked: list(what) for asked, what in library.caught_from_module(module, name).items()}

    seen = caught(module, "throws_error")
    assert seen["GetFunction"] == ["Error", "KeyError", "thrown by a module: throws_error", False]
    assert seen["WriteToFile"] == ["Error", "ValueError", "cannot write a file as a format", False]
    assert seen["SaveToBytes"] == ["nothing"]
    assert seen["ImportModule"][:2] == ["Error", "RuntimeError"]
    assert seen["LoadFromFile"][:2] == ["Error", "RuntimeError"]
    assert caught(module, "throws_exception")["GetFunction"][0] == "exception"
    assert caught(module, "throws_something")["GetFunction"] == ["something", False]
    missing = str(tmp_path / "missing.so")
    for other, kind in ((plain_module, "plain_module"), (plain, "library")):
        seen = caught(other, missing)
        assert seen["GetFunction"] == ["nothing"]
        for what in ("WriteToFile", "SaveToBytes"):
            assert seen[what] == ["Error", "RuntimeError", f"Module[{kind}] does not support {what}", False]
        assert seen["ImportModule"][:2] == ["Error", "RuntimeError"]
        assert seen["LoadFromFile"][:2] == ["Error", "InternalError"]
        assert missing in seen["LoadFromFile"][2]


def test_cxx_loads_a_library(library, plain_path):
    module = library.load_module(str(plain_path))
    assert module.kind == "library"
    assert module.sum(1, 2) == 3
    with pytest.raises(RuntimeError, match=r"x\.nonsense"):
        library.load_module("x.nonsense")


# --- imports ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("importer", ["Python", "C++"])
def test_modules_of_all_makers_import_each_other(library, other_library, plain_path, importer):
    ours = ffi_hpy.load_module(plain_path, keep_module_alive=False)
    mine, theirs = library.make_module("mine"), other_library.make_plain_module()

    def import_into(module, other):
        if importer == "Python":
            module.import_module(other)
        else:
            library.get_function("import_module")(module, other)

    import_into(mine, theirs)
    import_into(theirs, ours)
    assert [m.same_as(theirs) for m in mine.imports] == [True]
    assert mine.get_function("two", query_imports=True)() == 2
    assert mine.get_function("sum", query_imports=True)(1, 2) == 3
    assert mine.implements_function("two", query_imports=True)
    assert look(library, mine, "sum")[2:6] == [False, True, False, True]
    assert look(other_library, mine, "two")[2:6] == [False, True, False, True]
    for into in (ours, theirs, mine):
        with pytest.raises(RuntimeError, match="does not import this one"):
            import_into(into, mine)
    ours.import_module(other_library.make_plain_module())
    with pytest.raises(KeyError, match="thrown by a plain module"):
        ours.get_function("throws_error", query_imports=True)
    if importer == "Python":
        mine.clear_imports()
    else:
        library.get_function("clear_imports")(mine)
    assert list(mine.imports) == []
    assert not mine.implements_function("two", query_imports=True)


def test_many_threads_ask_one_module(library, module, plain_module):
    module.import_module(plain_module)

    def work(i):
        return [module.get_function("two", query_imports=True)() for _ in range(200)]

    assert parallelize(work) == [[2] * 200] * 4


# --- symbols that a library receives when it is loaded ----------------------------------------------------------------


@pytest.fixture
def embedding(libraries, era):
    """Load a fresh copy of the library compiled from native/embedding.c, whose embedded module the era's library
    loads."""
    return ffi_hpy.load_module(embedding_path(era), keep_module_alive=False)


def embedding_path(era):
    return compile_c("embedding.c", PACKAGE / "include", f'-DKIND="module_of_{era}"')


@pytest.mark.thread_unsafe(reason="the library has one variable for the module that it belongs to")
def test_an_embedded_module_is_made_by_its_cxx_loader(embedding, era):
    assert embedding.kind == "library"
    [embedded] = embedding.imports
    assert embedded.kind == f"module_of_{era}"
    assert embedded["name"]() == "embedded"
    assert embedding.get_function("add_one", query_imports=True)(1) == 2


def test_an_embedded_module_needs_its_loader():
    program = """
import sys, ffi_hpy
try:
    ffi_hpy.load_module(sys.argv[1])
except RuntimeError as error:
    print(error)
"""
    assert "expected a global function ffi.Module.load_from_bytes.module_of_new" in run_python(
        program, embedding_path("new")
    )


@pytest.mark.thread_unsafe(reason="the library has one variable for the module that it belongs to")
def test_code_finds_functions_of_imported_cxx_modules(embedding):
    assert embedding.call_other("add_one", 41) == 42
    assert embedding.call_other("name") == "embedded"
    with pytest.raises(IndexError, match="thrown by a function"):
        embedding.call_other("fails")
    with pytest.raises(RuntimeError, match="Expected `none` in an imported module"):
        embedding.call_other("none")


@pytest.mark.thread_unsafe(reason="the library has one variable for the module that it belongs to")
def test_context_symbols_are_seen_by_cxx_and_stored(library, era):
    core = ffi_hpy.LIB
    for name, address in (("ffi_hpy_test_other", 4096), ("ffi_hpy_test_wanted", 8192)):
        assert core.TVMFFIEnvModRegisterContextSymbol(name.encode(), ctypes.c_void_p(address)) == 0
    symbols = library.context_symbols("")
    assert (symbols["ffi_hpy_test_other"], symbols["ffi_hpy_test_wanted"]) == (4096, 8192)
    assert ffi_hpy.load_module(embedding_path(era)).wanted() == 8192
    with pytest.raises(ValueError, match="refused: ffi_hpy_test_wanted"):
        library.context_symbols("ffi_hpy_test_wanted")


# --- lifetime ---------------------------------------------------------------------------------------------------------


def test_functions_and_values_outlive_the_module(library):
    module = library.make_module("a name that must stay")
    name, formats = module["name"], module.get_write_formats()
    with pytest.raises(ValueError, match="cannot write") as caught:
        module.write_to_file("f", "o")
    error = caught.value.__tvm_ffi_error__
    del module, caught
    gc.collect()
    assert name() == "a name that must stay"
    assert list(formats) == FORMATS
    assert (error.kind, error.message) == ("ValueError", "cannot write f as o")


@pytest.mark.parametrize("keep", [True, False])
def test_everything_is_alive_at_exit(compile_era, plain_path, keep):
    program = """
import sys, ffi_hpy
keep = sys.argv[-1] == "True"
new, old, plain, embedding = (ffi_hpy.load_module(path, keep_module_alive=keep) for path in sys.argv[1:-1])
modules = [new.make_module("alive"), old.make_module("alive"), new.make_plain_module(), old.make_plain_module()]
modules[0].import_module(modules[1])
modules[1].import_module(plain)
plain.import_module(modules[2])
functions = [module.get_function(name, True) for module in modules[:2] for name in ("name", "sum", "two")]
functions += [embedding.call_other, embedding.get_function("name", True)]
embedding.call_other("name")
try:
    modules[0].get_function("throws_something")
except RuntimeError as error:
    kept = error
ffi_hpy.register_global_func("test.kept", lambda: (modules, functions))
print([f() for f in functions[:3]])
"""
    paths = [*(compile_era("cxx_names.cc", era) for era in ERAS), plain_path, embedding_path("old")]
    assert run_python(program, *paths, keep) == "['alive', 0, 2]\n"


def test_the_libraries_go_first_at_exit(compile_era, plain_path):
    program = """
import sys, gc, ffi_hpy
new, old, plain = (ffi_hpy.load_module(path, keep_module_alive=False) for path in sys.argv[1:])
module = old.make_module("last")
module.import_module(new.make_module("imported"))
function = module["name"]
try:
    module.get_function("throws_error")
except KeyError as caught:
    error = caught
del new, old, plain, module
gc.collect()
print(function())
"""
    assert run_python(program, *(compile_era("cxx_names.cc", era) for era in ERAS), plain_path) == "last\n"
