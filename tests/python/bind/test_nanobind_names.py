"""Libraries that were written for nanobind: the headers <nanobind/...>, the namespace, the macros, and the classes that
authors of casters derive from."""

import typing
import weakref
from types import MappingProxyType

import pytest
from support import collect_garbage, needs_identity, needs_one_wrapper

from ffi_hpy import libinfo

pytestmark = [needs_one_wrapper, needs_identity]


@pytest.fixture(scope="module")
def names(import_bound):
    return import_bound("nanobind_names", f"-I{libinfo.find_nanobind_include_path()}")


def test_overrides_are_found_by_their_names(names):
    class Square(names.Shape):
        def get_area(self):
            return 9.0

        def n_corners(self):
            return 4

    assert names.describe(Square()) == ("shape", 9.0, 4)


def test_the_message_of_an_exception_is_its_text(names):
    with pytest.raises(RuntimeError) as caught:
        names.fail()
    assert (type(caught.value), str(caught.value)) == (RuntimeError, "odd")


@pytest.mark.parametrize(
    ("function", "value", "made"),
    [
        ("stack", (1, 2), [1, 2]),
        ("bag", {1, 2}, {1, 2}),
        ("table", {"a": 1}, {"a": 1.0}),
        ("corner", [1, 2], [1, 2]),
        ("maybe", 1, 1),
        ("maybe", None, None),
        ("ids", [1, 2], [1, 2]),
    ],
)
def test_casters_of_other_containers_derive_from_ours(names, function, value, made):
    result = getattr(names, function)(value)
    assert (type(result), result) == (type(made), made)


def test_such_a_caster_refuses_other_values(names):
    for function, value in (("stack", 1), ("bag", 1), ("table", []), ("corner", [1]), ("maybe", "a"), ("ids", "a")):
        with pytest.raises(TypeError):
            getattr(names, function)(value)


def test_an_author_may_declare_that_a_class_is_not_copied(names):
    with pytest.raises(TypeError, match="rv_policy"):
        names.copy()


def test_types_of_the_module_typing(names):
    assert isinstance(names.T, typing.TypeVar)
    assert names.T.__bound__ is names.Shape
    assert names.Any is typing.Any


@pytest.mark.parametrize(("function", "kind"), [("param_spec", "ParamSpec"), ("type_var_tuple", "TypeVarTuple")])
def test_types_that_later_pythons_have(names, function, kind):
    if hasattr(typing, kind):
        assert type(getattr(names, function)()) is getattr(typing, kind)
    else:
        with pytest.raises(AttributeError, match=kind):
            getattr(names, function)()


def test_an_opaque_container_is_a_class(names):
    assert isinstance(names.Shorts(), names.Shorts)


def test_a_map_is_made_of_a_mapping_that_signatures_call_a_dict(names):
    assert "__init__(self, arg: dict[str, float], /) -> None" in names.Prices.__init__.__doc__
    for items in ({"tea": 2}, MappingProxyType({"tea": 2})):
        assert dict(names.Prices(items).items()) == {"tea": 2.0}


def test_an_array_of_characters_is_a_str(names):
    assert names.Drawer().label == "socks"


def test_a_type_without_its_header_is_an_error_of_its_use(names):
    with pytest.raises(TypeError):
        print(names.Drawer().unknown)
    with pytest.raises(TypeError):
        names.Drawer().unknown = [1]


def test_sources_may_lack_headers_that_python_includes(names):
    assert names.largest() == 2**31 - 1


def test_a_member_that_refers_to_a_text_keeps_the_text(names):
    label = names.Label()
    assert (label.text, label.view) == ("first", "one")
    for n in (1, 5, 100):
        label.text, label.view = "t" * n, "vä" * n
        assert [text * 2 for text in ("x" * n, "y" * n)]  # of the freed memory of the arguments
        assert (label.text, label.view) == ("t" * n, "vä" * n)
    with pytest.raises(TypeError):
        label.text = 1


def test_an_enum_is_documented_before_its_members(names):
    assert names.Lamp.__doc__ == "The colors of a lamp."
    assert [member.name for member in names.Lamp] == ["red", "green"]


def test_names_of_nanobinds_own_code(names):
    assert names.abi_tag()
    assert names.class_name(names.Label()) == "nanobind_names.Label"
    with pytest.raises(KeyError, match="pending"):
        names.throw_pending()


@pytest.mark.thread_unsafe(reason="it waits for the garbage of one thread")
def test_a_call_policy_keeps_an_argument_alive(names):
    content = names.Unique()
    drawer = names.Drawer(content)
    is_alive = weakref.ref(drawer)
    contents = drawer.contents()
    assert contents[0] is content
    del drawer
    collect_garbage()
    assert is_alive() is not None
    del contents, content
    collect_garbage()
    assert is_alive() is None


def test_a_project_binds_containers_from_the_parts_of_bind_vector(names):
    row = names.Row()
    row.append(1), row.append(2)
    assert (row[-1], repr(row), row == row) == (2, "nanobind_names.Row([1, 2])", True)
    assert row.again() == 2
    with pytest.raises(IndexError):
        row[2]
    pairs = names.Pairs()
    pairs[7] = 0.5
    assert (pairs.first(), pairs.items(), repr(pairs)) == (0.5, [(7, 0.5)], "nanobind_names.Pairs({7: 0.5})")
