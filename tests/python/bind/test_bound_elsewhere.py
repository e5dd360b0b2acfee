"""Classes of one bound library in another one, in libraries of other headers, and in JSON graphs."""

from __future__ import annotations

import copy
import pickle

import pytest
from support import needs_identity, needs_one_wrapper

import ffi_hpy
from ffi_hpy.serialization import from_json_graph_str, to_json_graph_str

pytestmark = needs_one_wrapper


@pytest.fixture(scope="module")
def maker(import_bound):
    """The module of bound_maker.cc, which binds the class Ship."""
    return import_bound("bound_maker")


@pytest.fixture(scope="module")
def user(maker, import_bound):
    """The module of bound_user.cc, whose functions take ships."""
    return import_bound("bound_user")


@pytest.fixture(scope="module")
def client(compile_era):
    """A library that uses the registry."""
    return ffi_hpy.load_module(compile_era("bound_client.cc", "own"))


def state_of(ship):
    return type(ship).__name__, ship.name, ship.crew, ship.decks


# --- another bound library --------------------------------------------------------------------------------------------


@needs_identity
def test_another_library_accepts_and_returns_objects(maker, user):
    ship = maker.Ship("Argo", 50)
    assert (user.name_of(ship), user.same(ship) is ship, user.total([ship, ship])) == ("Argo", True, 100)
    assert user.shared(ship) is ship
    assert ship.crew == 51
    assert state_of(user.build("Beagle")) == ("Ship", "Beagle", 9, [1])

    class Yacht(maker.Ship):
        pass

    yacht = Yacht("Calypso")
    assert user.same(yacht) is yacht
    with pytest.raises(TypeError, match=r"name_of\(.*Ship"):
        user.name_of("Argo")


def test_another_library_accepts_and_returns_members_of_enums(maker, user):
    assert user.sail() is maker.Sail.lateen
    assert user.sail(maker.Sail.square) is maker.Sail.square
    assert user.sail(sail=1) is maker.Sail.square
    assert user.sail.__doc__ == "sail(sail: bound_maker.Sail = Sail.lateen) -> bound_maker.Sail"
    assert user.flag(maker.Flag.red | maker.Flag.blue) == maker.Flag.red | maker.Flag.blue
    assert (user.port(maker.Port.bergen), user.port("LIS")) == (7, 3)
    assert user.all_ports() == [maker.Port.lisbon, maker.Port.bergen]
    with pytest.raises(TypeError, match=r"sail: bound_maker\.Sail"):
        user.sail(maker.Flag.red)


def test_an_exception_of_another_library_has_its_class(maker, user):
    with pytest.raises(maker.Aground, match=r"^too shallow$"):
        user.run_aground()
    with pytest.raises(maker.Aground, match=r"^too dark$") as caught:
        user.run_aground_at_night()
    assert repr(caught.value.__cause__) == "ValueError('no lamp')"


# --- other languages --------------------------------------------------------------------------------------------------


def test_other_languages_read_and_set_properties(maker, client):
    ship = maker.Ship("Argo", 50)
    assert (client.get(ship, "name"), client.get(ship, "crew")) == ("Argo", 50)
    client.set(ship, "crew", 20)
    assert ship.crew == 20
    with pytest.raises(ValueError, match="a negative crew"):
        client.set(ship, "crew", -1)
    with pytest.raises(TypeError):
        client.set(ship, "crew", "many")
    client.set(ship, "decks", ffi_hpy.Array([1, 2]))
    assert ship.decks == [1, 2]


def test_other_languages_call_methods_and_constructors(maker, client):
    assert state_of(client.make("bound_maker.Ship", "Argo")) == ("Ship", "Argo", 1, [])
    assert client.renamed(maker.Ship("Argo", 50), "Beagle").name == "Beagle"
    with pytest.raises(TypeError):
        client.renamed(maker.Ship("Argo", 50), 3)


@pytest.mark.parametrize(
    ("name", "form", "value"),
    [
        ("numbers", "Array(1, 2)", [1, 2]),
        ("nothing", "Array()", []),
        ("triple", "Array(1, a text of many letters, Array(3))", (1, "a text of many letters", [3])),
        ("few", "Array(5)", {5}),
        ("table", "Map(a: Array(Array(1, 2)), b: Array())", {"a": [(1, 2)], "b": []}),
        ("perhaps", "Array(7)", [7]),
        ("kept", "Array(Array(1), Array(2))", [[1], [2]]),
    ],
)
def test_other_languages_read_containers_that_a_function_returns(maker, client, name, form, value):
    function = getattr(maker, name)
    for _ in range(2):
        assert client.form_of_result(function) == form
        assert function() == value
        assert type(function()) is type(value)


def test_other_languages_read_containers_of_fields_and_of_functions_that_a_function_returns(maker, client):
    ship = maker.Ship("Argo", 50)
    ship.decks = [1, 2]
    assert client.form_of_field(ship, "decks") == "Array(1, 2)"
    for read, value in (
        (ship.decks, [1, 2]),
        (ship.crews, {50}),
        (ship.pair, ("Argo", 50)),
        (ship.books, {"Argo": 50}),
    ):
        assert (type(read), read) == (type(value), value)
    made = maker.maker()
    assert (client.form_of_result(made), made(), type(made())) == ("Array(8)", [8], list)


def test_a_container_that_passes_through_another_language_is_an_array_or_a_map(maker, client):
    assert type(client.result_of(maker.numbers)) is ffi_hpy.Array
    assert dict(client.result_of(maker.table)) == {"a": [ffi_hpy.Array([1, 2])], "b": []}


def test_a_function_of_another_bound_library_returns_containers_to_cpp(maker):
    assert (maker.sum_of(maker.numbers), maker.sum_of(maker.maker()), maker.sum_of(lambda: [1, 9])) == (3, 8, 10)


# --- JSON -------------------------------------------------------------------------------------------------------------


def test_a_class_with_states_is_copied_pickled_and_written_as_json(maker):
    ship = maker.Ship("Argo", 50)
    ship.decks = [1, 2]
    again = [copy.copy(ship), copy.deepcopy(ship), pickle.loads(pickle.dumps(ship))]
    again.append(from_json_graph_str(to_json_graph_str(ship)))
    for other in again:
        assert state_of(other) == ("Ship", "Argo", 50, [1, 2])


@needs_identity
def test_json_graphs_share_objects(maker):
    ship = maker.Ship("Argo")
    first, second = from_json_graph_str(to_json_graph_str([ship, {"a": ship}]))
    assert first is second["a"]
    assert first is not ship


@pytest.mark.parametrize("state", [True, 3, 2.5, "text", (), [], [1, (2, [3])], {"a": [1], "b": {"c": ()}}, {1: "one"}])
def test_states_come_back_as_they_were(maker, state):
    noted = maker.Noted(state)
    for again in (pickle.loads(pickle.dumps(noted)), from_json_graph_str(to_json_graph_str(noted))):
        assert repr(again.__getstate__()) == repr(state)


def test_a_state_has_objects(maker):
    again = from_json_graph_str(to_json_graph_str(maker.Noted([maker.Ship("Argo"), maker.Noted("inner")])))
    ship, inner = again.__getstate__()
    assert (state_of(ship), inner.__getstate__()) == (("Ship", "Argo", 1, []), "inner")


def test_objects_that_cannot_be_written_or_read(maker):
    with pytest.raises(TypeError):
        to_json_graph_str(maker.Noted(object()))
    with pytest.raises(TypeError, match=r"`bound_maker\.OneWay` does not support"):
        from_json_graph_str(to_json_graph_str(maker.OneWay()))
    text = to_json_graph_str(maker.Ship("Argo", 50))
    assert text.count("50") == 1
    with pytest.raises(ValueError, match="a negative crew"):
        from_json_graph_str(text.replace("50", "-50"))
    with pytest.raises(TypeError):
        from_json_graph_str(text.replace("50", "null"))
