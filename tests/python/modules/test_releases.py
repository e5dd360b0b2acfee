"""Libraries compiled with the headers of each release of apache-tvm-ffi: their differences are supported, and
unsupported uses are refused with the name of the cause."""

import pytest
from support import run_python
from support.native_build import (
    EARLIER_VERSIONS,
    PACKAGE,
    VERSIONS,
    WITHDRAWN_VERSIONS,
    Missing,
    compile_c,
    compile_cxx,
    fetch_upstream,
)

import ffi_hpy
from ffi_hpy import StructuralKey, structural
from ffi_hpy.access_path import AccessPath
from ffi_hpy.core import TypeSchema
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
    assert level.low.same_as(low)
    with pytest.raises(ValueError, match="not a valid Level"):
        level("there is none")


def test_variants_are_attributes_of_the_generated_class():
    program = """
import sys, ffi_hpy
library = ffi_hpy.load_module(sys.argv[1])
kind = type(library.find_level("low"))
print(kind.low.name, kind.high._int_index, [variant.name for variant in kind], kind("high").same_as(kind.high))
"""
    assert run_python(program, compile_release("release.cc", "")) == "low 1 ['low', 'high'] True\n"


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


# --- hooks ----------------------------------------------------------------------------------------------------------


class OfRelease:
    """A library compiled from native/release_hooks.cc, and its classes."""

    def __init__(self, version):
        self.era = version or "current"
        self.library = ffi_hpy.load_module(compile_release("release_hooks.cc", version))
        self.Hooked = self.class_of("Hooked")
        self.Plain = self.class_of("Plain")

    def class_of(self, name):
        return ffi_hpy.register_object(f"ffi_hpy_test.{name}_{self.era}")(type(name, (ffi_hpy.Object,), {}))


@pytest.fixture(scope="module", params=(*EARLIER_VERSIONS, *VERSIONS), ids=lambda version: version or "current")
def hooked(request):
    return OfRelease(request.param)


def test_objects_are_made_by_the_constructors_of_their_release(hooked):
    made = hooked.Hooked(1, [2], "a note")
    assert (made.number, list(made.part), made.note) == (1, [2], "a note")
    assert (made.plus(4), hooked.Hooked.at(3).note) == (5, "made by at")
    assert hooked.library.read_field(made, "note") == "a note"
    if hooked.era == "0.1.9":
        return  # a class without a constructor cannot be called in this release
    plain = hooked.Plain(2)
    assert (plain.number, plain.text) == (2, "no text")
    assert hooked.Plain(number=3, text=None).text is None
    with pytest.raises(TypeError, match="number"):
        hooked.Plain(text="a text")


def test_hooks_decide_about_text_order_and_copies(hooked):
    made, greater = hooked.Hooked(1, [2], "a"), hooked.Hooked(2, None, "b")
    assert repr(made) == "hooked 1 with (2,)"
    call = {name: ffi_hpy.get_global_func(f"ffi.{name}") for name in ("RecursiveEq", "RecursiveLt", "RecursiveHash")}
    assert call["RecursiveEq"](made, hooked.Hooked(1, None, ""))
    assert call["RecursiveLt"](made, greater)
    assert not call["RecursiveLt"](greater, made)
    assert call["RecursiveHash"](made) == call["RecursiveHash"](hooked.Hooked(1, None, ""))
    copied = ffi_hpy.get_global_func("ffi.DeepCopy")(made)
    assert (copied.note, copied.same_as(made)) == ("a", False)


def test_hooks_decide_about_structure(hooked):
    made, same = hooked.Hooked(1, [2], "a"), hooked.Hooked(1, [2], "b")
    other = hooked.Hooked(1, [3], "a")
    assert ffi_hpy.structural_equal(made, same)
    assert ffi_hpy.structural_hash(made) == ffi_hpy.structural_hash(same)
    assert not ffi_hpy.structural_equal(made, other)
    left, _ = ffi_hpy.get_first_structural_mismatch(made, other)
    assert "part" in repr(left)
    assert {StructuralKey(made): 1}[StructuralKey(same)] == 1


def test_hooks_decide_about_json(hooked):
    graph = ffi_hpy.get_global_func("ffi.ToJSONGraph")(hooked.Hooked(7, [1], "a"), None)
    assert graph["nodes"][0]["data"]["by"] == hooked.era
    back = ffi_hpy.get_global_func("ffi.FromJSONGraph")(graph)
    assert (back.number, back.note) == (7, "from JSON")


def test_hooks_decide_about_conversion(hooked):
    schema = TypeSchema.from_json_str(f'{{"type":"ffi_hpy_test.Hooked_{hooked.era}"}}')
    assert ffi_hpy.core._to_py_class_value(schema.convert(5)).note == "converted"
    with pytest.raises(TypeError):
        schema.convert("a text")


def test_visits_go_through_the_hook(hooked):
    seen = []
    structural.structural_walk([hooked.Hooked(1, [2, "x"], "not seen")], (int, lambda n: seen.append(n)))
    if hasattr(hooked.library, "sum_of_ints"):
        assert seen == [2]
        assert hooked.library.sum_of_ints([1, {"k": [2, hooked.Hooked(100, [3], "")]}, (4,)]) == 10
        assert hooked.library.first_text({1: ["found", "later"]}) == "found"
    else:
        assert seen == [1, 2]  # without a hook: the fields


def test_values_are_mapped_by_the_code_of_the_headers(hooked):
    if not hasattr(hooked.library, "double_ints"):
        pytest.skip("headers have such code since 0.1.14.post0")
    mapped = hooked.library.double_ints([1, {"k": [2, hooked.Hooked(2, [3], "")]}, "text"])
    assert (mapped[0], mapped[1]["k"][0], list(mapped[1]["k"][1].part)) == (2, 4, [6])


# --- keys of maps: hashed by the core, and by the code of the headers -----------------------------------------------


def keys_that_hooks_compare(hooked):
    """Return, for each class with hooks, two equal lists of keys, and keys that are in neither."""
    makers = (
        lambda i: hooked.Hooked((1, 67, 2, -3)[i % 4] + i // 4 * 100, i, "a note"),  # 1 and 67 look like results
        lambda i: StructuralKey([i, "x"]),
        lambda i: 2 ** (80 + i),
    )
    return [[list(map(make, numbers)) for numbers in (range(40), range(40), range(40, 60))] for make in makers]


def check_keys(library, keys):
    for given, equal, other in keys:
        made_here = ffi_hpy.Map({key: i for i, key in enumerate(given)})
        made_there = library.make_map_of(given)
        assert [library.count_key(made_here, key) for key in (*equal, *other)] == [1] * len(equal) + [0] * len(other)
        assert [made_there[key] for key in equal] == list(range(len(equal)))
        assert len(made_there) == len(made_here) == len(given)
        assert not any(key in made_there for key in other)


def test_keys_are_found_with_the_hashes_of_any_library(hooked):
    check_keys(hooked.library, keys_that_hooks_compare(hooked))


@pytest.mark.same_everywhere
def test_keys_of_another_release_are_found(hooked):
    for version in ("0.1.12", ""):
        check_keys(hooked.library, keys_that_hooks_compare(OfRelease(version))[:1])


# --- calls ----------------------------------------------------------------------------------------------------------


def test_nested_containers_are_walked_by_the_code_of_the_headers(hooked):
    nested = {"a": [{2: [{"x": 1.5, "y": None}]}, {3: []}], "b": []}
    assert hooked.library.sum_of_nested(nested) == 4
    with pytest.raises(TypeError, match="sum_of_nested"):
        hooked.library.sum_of_nested({"a": [{2: [{"x": "no number"}]}]})
    assert [hooked.library.name_kind(v) for v in (1, "a", [1], hooked.Hooked(1, None, ""))] == [
        *("an int", "a text", "an array", "an object")
    ]


def test_an_expected_is_a_value_or_an_error(hooked):
    assert hooked.library.half_of(4) == 2
    assert hooked.library.half_of(5).message == "an odd number"

    def fail(_):
        raise KeyError("none")

    assert list(hooked.library.call_expected(lambda n: n + 1, 1)) == [2]
    assert list(hooked.library.call_expected(fail, 1)) == ["KeyError", "'none'"]


def test_an_error_has_its_cause(hooked):
    def fail():
        raise ValueError("inner")

    with pytest.raises(RuntimeError, match=f"thrown by {hooked.era}") as caught:
        hooked.library.throw_with_cause(fail)
    cause = caught.value.__cause__
    assert (type(cause), str(cause)) == (ValueError, "inner")
    assert cause.__traceback__ is not None


def test_tensors_are_looked_at_in_place(hooked):
    np = pytest.importorskip("numpy")
    ndim, size, stride, dtype, is_contiguous = hooked.library.look_at_tensor(np.zeros((3, 4), "float32"))
    assert (ndim, size, stride, str(dtype), is_contiguous) == (2, 3, 4, "float32", True)


def test_signatures_of_each_release_are_understood(hooked):
    metadata = ffi_hpy.get_global_func_metadata(f"ffi_hpy_test.releases.{hooked.era}")
    schema = TypeSchema.from_json_str(metadata["type_schema"])
    assert str(schema) == "Callable[[int, Array[str], float | None], bool]"


# --- registrations of the core itself -------------------------------------------------------------------------------


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


# --- refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.thread_unsafe(reason="the reason is given once: the library is not initialised again")
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


MAY_BE_HARMLESS = [
    ("NEWER_STATIC", "registers the built-in type `ffi.Newer`, index 120, which is unknown here"),
    ("NEWER_FLAG", "gives field `x` of type `ffi_hpy_test.Newer` the flags 0x10000000000, unknown here"),
    ("NEWER_KIND", "gives type `ffi_hpy_test.Newer` the structural kind 17, which is unknown here"),
]
ANOTHER_LAYOUT = [
    ("NEWER_TAKEN", "registers the built-in type `ffi.Newer` with index 78, which is that of `ffi.BigInt` here"),
    ("NEWER_MOVED", "registers the built-in type `ffi.Dict` with index 121, but its index is 76 here"),
    ("WITHDRAWN_FIELD", "field `x` of type `ffi_hpy_test.Newer` has 16 bytes instead of 8"),
]


def compile_newer(*flags):
    return compile_c("newer.c", PACKAGE / "include", *flags, link=("-ltvm_ffi",))


OPENED = """
import ctypes, os, sys
import ffi_hpy
os.dup2(1, 2)
ctypes.CDLL(sys.argv[1])
"""
LOADED = """
import os, sys, threading
import ffi_hpy
os.dup2(1, 2)

def load(say):
    try:
        ffi_hpy.load_module(sys.argv[1])
    except RuntimeError as error:
        say(error)

load(print)
load(print)
child = os.fork()
if child == 0:
    load(lambda error: os._exit(7))
    os._exit(0)
assert os.waitpid(child, 0)[1] >> 8 == int(sys.argv[2])
errors = []
threads = [threading.Thread(target=load, args=(errors.append,)) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(len(errors), ffi_hpy.convert([1]))
"""


@pytest.mark.parametrize(("flag", "words"), MAY_BE_HARMLESS + ANOTHER_LAYOUT)
def test_a_library_of_another_version_is_shown_in_a_line_that_names_it(flag, words):
    path = compile_newer(f"-D{flag}=1")
    (line,) = run_python(OPENED, path).splitlines()
    assert line.startswith(f"[WARNING] {path} ")
    assert words in line


@pytest.mark.parametrize(("flag", "words"), ANOTHER_LAYOUT)
def test_a_library_with_another_layout_is_refused_by_each_load(flag, words):
    path = compile_newer(f"-D{flag}=1")
    first, second, last = run_python(LOADED, path, 7).splitlines()
    assert first.count(str(path)) == 2
    assert words in first
    assert second.endswith("as it did before")
    assert last == "4 (1,)"


@pytest.mark.parametrize(("flag", "words"), MAY_BE_HARMLESS)
def test_a_library_that_may_be_harmless_is_loaded_with_one_line(flag, words):
    line, last = run_python(LOADED, compile_newer(f"-D{flag}=1"), 0).splitlines()
    assert words in line
    assert last == "0 (1,)"


def test_a_library_of_this_version_is_loaded_in_silence():
    path = compile_newer()
    assert run_python(OPENED, path) == ""
    assert run_python(LOADED, path, 0) == "0 (1,)\n"


@pytest.mark.same_everywhere
def test_libraries_of_all_releases_are_opened_in_silence():
    sources = ("release.cc", "release_module.cc", "release_hooks.cc")
    paths = [compile_release(source, version) for version in VERSIONS for source in sources]
    paths += [compile_release("release_hooks.cc", version) for version in EARLIER_VERSIONS]
    opened = OPENED.replace("CDLL(sys.argv[1])", "CDLL(sys.argv[1]); [ctypes.CDLL(path) for path in sys.argv[2:]]")
    assert run_python(opened, *paths) == ""
