"""Libraries compiled with the headers of each release of apache-tvm-ffi: what differs between them works here, and what
cannot work is refused by name."""

import pytest
from support import run_python
from support.native_build import PACKAGE, VERSIONS, WITHDRAWN_VERSIONS, Missing, compile_c, compile_cxx, fetch_upstream

import ffi_hpy
from ffi_hpy.access_path import AccessPath
from ffi_hpy.dataclasses import Enum

WITH_ENTRIES = ("0.1.11", "0.1.12")


def compile_release(name, version, *flags):
    try:
        headers = fetch_upstream(version) / "tvm_ffi" / "include"
        has_state = version not in WITH_ENTRIES
        era = version or "current"
        words = (f'-DERA="{era}"', f"-DNAMESPACE=release_{era.replace('.', '_')}", f"-DHAS_ENUM_STATE={int(has_state)}")
        return compile_cxx(name, headers, *words, *flags, link=("-ltvm_ffi",))
    except Missing as reason:
        pytest.fail(str(reason), pytrace=False)


@pytest.fixture(scope="module", params=VERSIONS, ids=lambda version: version or "current")
def release(request):
    return request.param or "current"


@pytest.fixture(scope="module")
def library(release):
    return ffi_hpy.load_module(compile_release("release.cc", "" if release == "current" else release))


# --- enums ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def level(library, release):
    class Level(Enum, type_key=f"ffi_hpy_test.Level_{release}"):
        pass

    return Level


def test_a_library_s_enum_is_one_here(library, level):
    low, high = list(level)[:2]
    assert (low.name, high.name) == ("low", "high")
    assert (low._int_index, high._int_index) == (low._value, high._value) == (0, 1)
    assert level("high").same_as(high)
    assert level(0).same_as(low)
    assert level.get("low").same_as(library.find_level("low"))
    with pytest.raises(ValueError, match="not a valid Level"):
        level("there is none")


def test_its_extension_attributes_are_found_by_variant(library, level):
    weight, loud = level.def_attr("weight"), level.def_attr("loud", default=False)
    assert [weight[level("low")], weight[level("high")]] == [1, 9]
    assert [loud[level("low")], loud[level("high")]] == [False, True]


@pytest.mark.thread_unsafe(reason="adds a variant")
def test_a_variant_that_the_library_adds_later_is_found(library, level):
    if "later" not in [variant.name for variant in level]:
        library.add_level("later", 5)
    later = level("later")
    assert later.same_as(library.find_level("later"))
    assert later._int_index == len(level) - 1
    assert level.def_attr("weight")[later] == 5


def test_a_variant_goes_through_json(library, level):
    graph = ffi_hpy.get_global_func("ffi.ToJSONGraph")(library.find_level("high"), None)
    assert ffi_hpy.get_global_func("ffi.FromJSONGraph")(graph).same_as(level("high"))


# --- fields ---------------------------------------------------------------------------------------------------------


def test_fields_of_changed_layouts_are_read_and_written(library, release):
    box = library.make_box(3, "a text of some length", [1, "two"])
    assert (box.number, box.text, list(box.items), box.choice) == (
        3,
        "a text of some length",
        [1, "two"],
        "a choice of some length",
    )
    box.number, box.text, box.items, box.choice, box.end = None, None, None, 7, 3.5
    assert list(library.look_at_box(box)) == [None, None, None, 7, 3.5]
    box.number, box.text, box.items = 4, "short", ["three"]
    number, text, items, choice, end = library.look_at_box(box)
    assert (number, text, list(items), choice, end) == (4, "short", ["three"], 7, 3.5)


def test_objects_of_changed_layouts_are_copied_compared_and_shown(library, release):
    box = library.make_box(3, "a text", [1])
    other = ffi_hpy.get_global_func("ffi.DeepCopy")(box)
    assert not other.same_as(box)
    assert ffi_hpy.structural_equal(box, other)
    assert ffi_hpy.structural_hash(box) == ffi_hpy.structural_hash(other)
    other.items = None
    assert not ffi_hpy.structural_equal(box, other)
    assert "number=3" in repr(box)
    assert "items=None" in repr(other)


# --- what the core has registered itself ------------------------------------------------------------------------------


def test_a_hook_that_the_core_has_too_is_the_core_s(library):
    path = ffi_hpy.get_global_func("ffi.ReprPrint")(AccessPath.root().attr("x"))
    assert "x" in path
    assert "of 0.1" not in path


# --- modules --------------------------------------------------------------------------------------------------------


def test_modules_of_each_release_are_used(release):
    version = "" if release == "current" else release
    module = ffi_hpy.load_module(compile_release("release_module.cc", version)).make_module()
    assert module.add_one(1) == 2
    assert not module.implements_function("there is none")
    with pytest.raises(AttributeError):
        module.get_function("there is none")


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", WITHDRAWN_VERSIONS)
def test_a_library_of_a_withdrawn_release_is_refused_by_name(version):
    path = compile_release("release.cc", version)
    with pytest.raises(
        RuntimeError, match=r"0\.1\.13 to 0\.1\.13\.post1.*field `items`.*16 bytes instead of 8"
    ) as caught:
        ffi_hpy.load_module(path)
    assert str(path) in str(caught.value)


def test_a_module_with_a_withdrawn_layout_is_refused_by_name():
    path = compile_release("release_module.cc", "0.1.13")
    module = ffi_hpy.load_module(path).make_module()
    with pytest.raises(RuntimeError, match=r"modules give functions in another layout") as caught:
        module.get_function("add_one")
    assert str(path) in str(caught.value)


IMPORTED = """
import ctypes, os, sys
import ffi_hpy
os.dup2(1, 2)
ctypes.CDLL(sys.argv[1])
"""


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        ("NEWER_STATIC", "registers the built-in type `ffi.Newer`, index 120, which is unknown here"),
        ("NEWER_FLAG", "gives field `x` of type `ffi_hpy_test.Newer` the flags 0x10000000000, unknown here"),
        ("NEWER_KIND", "gives type `ffi_hpy_test.Newer` the structural kind 17, which is unknown here"),
        ("WITHDRAWN_FIELD", "field `x` of type `ffi_hpy_test.Newer` has 16 bytes instead of 8"),
    ],
)
def test_what_a_library_shows_of_another_version_is_a_line_that_names_it(flag, words):
    path = compile_c("newer.c", PACKAGE / "include", f"-D{flag}=1", link=("-ltvm_ffi",))
    (line,) = run_python(IMPORTED, path).splitlines()
    assert line.startswith(f"[WARNING] {path} ")
    assert words in line


def test_a_library_of_this_version_is_loaded_in_silence():
    assert run_python(IMPORTED, compile_c("newer.c", PACKAGE / "include", link=("-ltvm_ffi",))) == ""
