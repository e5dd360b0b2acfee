"""C++ exceptions become Python's exceptions, and C++ code catches Python's exceptions by kind."""

import builtins
import errno
import json
import os
import re

import pytest
from support import run_python, unique_name

import ffi_hpy
from ffi_hpy.error import error_class


@pytest.fixture(scope="module")
def shop(compile_era):
    ffi_hpy.load_module(compile_era("exceptions.cc", "own"))
    return lambda name: ffi_hpy.get_global_func(f"shop.{name}")


STANDARD = [
    ("out_of_range", IndexError, "why"),
    ("vector", IndexError, None),
    ("invalid_argument", ValueError, "why"),
    ("stoi", ValueError, None),
    ("domain_error", ValueError, "why"),
    ("length_error", ValueError, "why"),
    ("range_error", ValueError, "why"),
    ("overflow_error", OverflowError, "why"),
    ("bad_alloc", MemoryError, None),
    ("bad_array_new_length", MemoryError, None),
    ("bad_cast", TypeError, None),
    ("bad_any_cast", TypeError, None),
    ("bad_variant_access", TypeError, None),
    ("bad_optional_access", RuntimeError, "* [std::bad_optional_access]"),
    ("bad_function_call", RuntimeError, "* [std::bad_function_call]"),
    ("runtime_error", RuntimeError, "why [std::runtime_error]"),
    ("underflow_error", RuntimeError, "why [std::underflow_error]"),
    ("logic_error", RuntimeError, "why [std::logic_error]"),
    ("broken", RuntimeError, "why [shop::Broken]"),
    ("int", RuntimeError, "a C++ exception of type `int`"),
    ("text", RuntimeError, "why [char const*]"),
    ("string", RuntimeError, "why [std::string]"),
    ("null", IndexError, ""),
]


@pytest.mark.parametrize(("name", "cls", "text"), STANDARD)
def test_an_exception_of_the_standard_library_has_the_class_of_python(shop, name, cls, text):
    with pytest.raises(cls) as caught:
        shop("throw")(name)
    assert type(caught.value) is cls
    message = str(caught.value)
    assert re.fullmatch("(?s).+" if text is None else re.escape(text).replace(r"\*", ".+"), message), message


@pytest.fixture(scope="module")
def door_class(shop):
    @ffi_hpy.register_object("shop.Door")
    class Door(ffi_hpy.Object):
        pass

    return Door


@pytest.mark.parametrize(("name", "cls", "text"), [*STANDARD, ("rename", FileNotFoundError, None)])
def test_an_exception_has_its_class_on_every_path(shop, door_class, name, cls, text):
    door = door_class("")
    call_back = ffi_hpy.convert(lambda: shop("throw")(name))
    for throws in (lambda: door_class(name), lambda: door.open(name), lambda: door[name], call_back):
        with pytest.raises(cls) as caught:
            throws()
        assert type(caught.value) is cls
        assert text is None or "*" in text or str(caught.value) == text
        assert name != "rename" or caught.value.filename2 == "/nowhere/b"


def test_an_exception_of_the_type_of_a_field_has_its_class(door_class):
    door = door_class("")
    door.width = 3
    with pytest.raises(ValueError, match="why"):
        door.width = -1
    assert door.width == 3


@pytest.mark.parametrize(
    ("name", "cls", "number", "names"),
    [
        ("system_error", FileNotFoundError, errno.ENOENT, (None, None)),
        ("system_category", PermissionError, errno.EACCES, (None, None)),
        ("directory", FileNotFoundError, errno.ENOENT, ("/no such [folder]", None)),
        ("rename", FileNotFoundError, errno.ENOENT, ("/nowhere/a", "/nowhere/b")),
        ("brackets", FileNotFoundError, errno.ENOENT, ("/no [where]/a", os.fsdecode(b"/no [where]/\xff"))),
        ("reason", OSError, errno.EIO, ("/a", None)),
        ("ios", OSError, None, (None, None)),
    ],
)
def test_an_error_of_the_system_has_errno_and_the_names_of_files(shop, name, cls, number, names):
    with pytest.raises(cls) as caught:
        shop("throw")(name)
    error = caught.value
    assert (type(error), error.errno, error.filename, error.filename2) == (cls, number, *names)
    if number is not None:
        assert str(error).startswith(f"[Errno {number}] ")
        # A name that is not UTF-8 is escaped by Python, and replaced in the native text.
        assert name == "brackets" or str(error) == error.__tvm_ffi_error__.message


def test_an_error_of_the_system_comes_back_from_a_callback_itself(shop):
    raised = []

    def fail():
        try:
            shop("throw")("rename")
        except OSError as error:
            raised.append(error)
            raise

    with pytest.raises(FileNotFoundError) as caught:
        ffi_hpy.convert(fail)()
    assert caught.value is raised[0]
    assert shop("catch")(fail, ["OSError"]) == ("OSError", "OSError")


def built_in_classes():
    found = {name: cls for name, cls in vars(builtins).items() if isinstance(cls, type)}
    return sorted(name for name, cls in found.items() if issubclass(cls, BaseException))


@pytest.mark.parametrize("name", built_in_classes())
def test_a_kind_that_is_the_name_of_a_built_in_class_is_an_exception_of_that_class(shop, name):
    cls = getattr(builtins, name)
    with pytest.raises(cls) as caught:
        shop("throw_kind")(name, "why")
    assert "why" in str(caught.value)
    assert type(caught.value) is cls or name == "BaseExceptionGroup"  # which makes an ExceptionGroup


def test_the_macro_takes_any_built_in_name(shop):
    with pytest.raises(OSError, match=r"^by macro$") as caught:
        shop("throw_os_error")()
    assert type(caught.value) is OSError
    with pytest.raises(RuntimeError, match=r"^Unheard: why$"):
        shop("throw_kind")("Unheard", "why")
    with pytest.raises(RuntimeError, match=r"^print: why$"):  # built in, and not an exception
        shop("throw_kind")("print", "why")


def test_a_class_with_a_definition_has_its_python_class_and_base(shop):
    sold_out, very = error_class("shop.SoldOut"), error_class("shop.VerySoldOut")
    assert (sold_out.__module__, sold_out.__name__, sold_out.__bases__) == ("shop", "SoldOut", (LookupError,))
    assert very.__bases__ == (sold_out,)
    for name, cls, text in (
        ("sold_out", sold_out, "sold out"),
        ("badly_sold_out", sold_out, "sold out"),  # a class below it without a definition
        ("very_sold_out", very, "very sold out"),  # defined before the class above it
        ("code", error_class("shop.Code"), "7"),  # not a std::exception
    ):
        with pytest.raises(cls) as caught:
            shop("throw")(name)
        assert (type(caught.value), str(caught.value)) == (cls, text)
    assert issubclass(error_class("shop.Code"), OSError)
    with pytest.raises(KeyError, match=r"Unheard"):
        error_class("Unheard")
    assert [error_class(kind) for kind in ("OSError", "ValueError")] == [OSError, ValueError]


def test_a_message_that_throws_does_not_hide_the_class(shop):
    with pytest.raises(error_class("shop.Unspeakable"), match=r"^<no message: its function threw no words>$") as caught:
        shop("throw")("unspeakable")
    assert isinstance(caught.value, LookupError)


def test_libraries_that_define_one_class_have_their_own_kinds(shop, compile_era):
    ffi_hpy.load_module(compile_era("exceptions_other.cc", "own"))
    for throws, kind, base, text in (
        (lambda: shop("throw")("shared"), "shop.Shared", LookupError, "here"),
        (ffi_hpy.get_global_func("other_shop.throw"), "other_shop.Shared", ArithmeticError, "there"),
    ):
        with pytest.raises(base) as caught:
            throws()
        assert (type(caught.value), str(caught.value)) == (error_class(kind), text)


SHARED_SYMBOLS = """
import ctypes, sys, ffi_hpy

for library in sys.argv[1:]:
    ctypes.CDLL(library, ctypes.RTLD_GLOBAL)
for throws, arguments, module in (("shop.throw", ["shared"], "shop"), ("other_shop.throw", [], "other_shop")):
    try:
        ffi_hpy.get_global_func(throws)(*arguments)
    except Exception as error:
        assert type(error).__module__ == module, type(error)
    else:
        raise AssertionError(throws)
"""


def test_libraries_that_share_their_symbols_have_their_own_kinds(compile_era):
    run_python(SHARED_SYMBOLS, *(compile_era(name, "own") for name in ("exceptions.cc", "exceptions_other.cc")))


@pytest.mark.parametrize(
    ("inner", "outer", "shown", "cause"),
    [
        ("out_of_range", "value", "ValueError('outer')", IndexError),
        ("rename", "value", "ValueError('outer')", FileNotFoundError),
        ("broken", "file", "FileNotFoundError(2, 'outer: No such file or directory')", RuntimeError),
        ("int", "broken", "RuntimeError('outer [shop::Broken]')", RuntimeError),
        ("code", "very_sold_out", "VerySoldOut('very sold out')", OSError),
        ("code", "mixed", "Mixed('sold out')", OSError),
    ],
)
def test_an_exception_that_another_is_nested_in_is_its_cause(shop, inner, outer, shown, cause):
    with pytest.raises(Exception, match="ou") as caught:
        shop("throw")(f"in {inner} {outer}")
    assert repr(caught.value) == shown
    assert isinstance(caught.value.__cause__, cause)
    assert inner != "rename" or caught.value.__cause__.filename == "/nowhere/a"


class Missing(LookupError):
    pass


class Own(Exception):
    pass


def test_native_code_catches_exceptions_of_python_by_kind(shop):
    def caught(exception):
        def fail():
            raise exception

        return list(shop("catch")(fail, ["OSError", "LookupError", "shop.SoldOut", "Exception", "BaseException"]))

    both = ["Exception", "BaseException"]
    assert caught(FileNotFoundError(2, "x")) == ["FileNotFoundError", "OSError", *both]
    assert caught(KeyError("x")) == ["KeyError", "LookupError", *both]
    assert caught(Missing("x")) == ["LookupError", "LookupError", *both]
    assert caught(ZeroDivisionError()) == ["ZeroDivisionError", *both]
    assert caught(UnicodeDecodeError("ascii", b"", 0, 0, "x")) == ["UnicodeDecodeError", *both]
    assert caught(Own()) == ["RuntimeError", *both]
    assert caught(KeyboardInterrupt()) == ["KeyboardInterrupt", "BaseException"]
    very = error_class("shop.VerySoldOut")
    assert caught(very()) == ["shop.VerySoldOut", "LookupError", "shop.SoldOut", *both]
    assert caught(type("Below", (very,), {})())[0] == "shop.VerySoldOut"
    assert shop("catch")(lambda: None, []) == ()


def test_native_code_knows_the_class_of_native_errors(shop):
    def caught(fail, *names):
        return list(shop("catch")(fail, names))

    assert caught(lambda: shop("throw")("system_error"), "FileNotFoundError", "OSError", "PermissionError") == [
        "OSError", "FileNotFoundError", "OSError",
    ]  # fmt: skip
    assert caught(lambda: shop("throw_kind")("Unheard", "why"), "Unheard", "RuntimeError", "ValueError") == [
        "Unheard", "Unheard", "RuntimeError",
    ]  # fmt: skip


class Outer:
    class Inner(Exception):
        pass


def test_native_code_knows_a_class_by_each_of_its_names(shop):
    def caught(exception, *names):
        def fail():
            raise exception

        return list(shop("catch")(fail, names))[1:]

    assert caught(Outer.Inner(), "Inner", "Outer.Inner", f"{__name__}.Outer.Inner", "Outer") == [
        "Inner", "Outer.Inner", f"{__name__}.Outer.Inner",
    ]  # fmt: skip
    names = ["JSONDecodeError", "json.JSONDecodeError", "json.decoder.JSONDecodeError"]
    assert caught(json.JSONDecodeError("x", "", 0), *names, "json.JSONDecoder", "jso.JSONDecodeError") == names


def test_native_code_knows_the_bases_of_python_classes(shop):
    class Base(Exception):
        pass

    @ffi_hpy.register_error(unique_name("Closed"))
    class Closed(Base, LookupError):
        pass

    class Below(Closed, ConnectionError):
        pass

    def caught(exception, *names):
        def fail():
            raise exception

        return list(shop("catch")(fail, names))[1:]

    kind = ffi_hpy.error.ERROR_TYPE_TO_NAME[Closed]
    names = [kind, "Closed", f"{__name__}.{Closed.__qualname__}", "Base", "LookupError", "Exception"]
    for exception in (Closed("x"), Below("x")):
        assert caught(exception, *names) == names
    assert caught(Below("x"), kind, "Below", "ConnectionError", "OSError", "IOError") == [
        kind, "Below", "ConnectionError", "OSError", "IOError",
    ]  # fmt: skip
    assert caught(Closed("x"), "Below", "ConnectionError", "ValueError", "object", "", "Closed.x") == []
    assert caught(ffi_hpy.Error(kind, "from a value", "").py_error(), kind, "LookupError", "Below") == [
        kind, "LookupError",
    ]  # fmt: skip
