"""Libraries of two eras of apache-tvm-ffi, and one with our headers, in one process: each library accepts, changes,
calls and frees objects of the others."""

import copy
import gc
import itertools

import pytest
from support import FREES_AT_ONCE, collect_garbage, unique_name
from support.native_build import ERAS

import ffi_hpy
from ffi_hpy import _core

SIDES = (*ERAS, "own")


@pytest.fixture(scope="module", params=SIDES)
def registrar(request):
    """The era whose library registers the fields of the shared class."""
    return request.param


@pytest.fixture(scope="module")
def libraries(compile_era, registrar):
    """The library of each era; the one that registers the class comes first."""

    def load(era):
        flags = (f'-DREGISTRAR="{registrar}"', f"-DNAMESPACE=era_{era}_described_by_{registrar}")
        return ffi_hpy.load_module(compile_era("era.cc", era, flags=flags))

    return {era: load(era) for era in sorted(SIDES, key=lambda era: era != registrar)}


@pytest.fixture(params=list(itertools.product(SIDES, SIDES)), ids="-to-".join)
def pair(request, libraries):
    """The library that makes objects, and the library that receives them."""
    return tuple(libraries[era] for era in request.param)


@pytest.fixture
def maker(pair):
    return pair[0]


@pytest.fixture
def taker(pair):
    return pair[1]


@pytest.fixture
def takers_era(request, pair, libraries):
    return next(era for era, library in libraries.items() if library is pair[1])


# --- objects --------------------------------------------------------------------------------------------------------


def test_an_object_is_read_and_changed(maker, taker, registrar):
    item = maker.make_item("a name of some length", 3)
    name, number, extra, children, is_linked, key = taker.look_at_item(item)
    assert (name, number, extra, list(children), is_linked) == ("a name of some length", 3, None, [], False)
    assert key == f"ffi_hpy_test.ItemDescribedBy_{registrar}"
    taker.change_item(item, "another name of some length", 4, [1, "extra"])
    maker.change_item(item, item.name + " again", 5, {"k": 1})
    assert (item.name, item.number, list(item.children)) == ("another name of some length again", 5, [4, 5])
    assert taker.look_at_item(item)[2]["k"] == 1
    item.name = "short"
    assert taker.look_at_item(item)[0] == maker.look_at_item(item)[0] == "short"


def test_a_class_of_one_era_is_its_base_to_the_other(maker, taker):
    item = maker.make_own_item("mine")
    assert item.own == "own mine"
    assert taker.look_at_item(item)[0] == "mine"
    taker.change_item(item, "theirs", 2, None)
    assert (item.name, item.own) == ("theirs", "own mine")


def test_optional_fields_agree(maker, taker):
    item, other = maker.make_item("one", 1), taker.make_item("two", 2)
    taker.link_items(item, other)
    assert maker.is_linked_to(item, other)
    assert item.link.same_as(other)
    maker.link_items(item, None)
    assert not taker.is_linked_to(item, other)
    assert item.link is None


def test_fields_may_lie_before_the_header(maker):
    late = maker.make_late()
    late.count, late.note = late.count + 1, late.note + ", changed"
    assert (late.count, late.note, late.after) == (4, "before the header, changed", 4)
    assert "count=4" in repr(late)
    copied = copy.deepcopy(late)
    assert (copied.count, copied.note) == (4, late.note)
    offsets = {field.name: field.offset for field in type(late).__tvm_ffi_type_info__.fields}
    assert offsets["count"] < offsets["note"] < 0 < offsets["after"]


@pytest.mark.skipif(_core.CALLS != "cffi", reason="the binding in C calls the getter")
def test_the_memory_that_a_getter_reads_is_found_with_a_copy_at_the_field_s_offset(maker, monkeypatch):
    from ffi_hpy._pypy.context import backend, type_table
    from ffi_hpy._pypy.object.objects import type_index_at
    from ffi_hpy._pypy.record import fields

    guard, n_guards, made = 0x5A5A5A5A5A5A5A5A, 64, []

    def new_guarded_words(n):
        memory = backend.new_words(n + 2 * n_guards)
        for i in range(n_guards):
            memory[i] = memory[n + n_guards + i] = guard
        made.append((memory, n))
        return memory + n_guards

    late = maker.make_late()
    facts = type_table.facts_of(type_index_at(late.__chandle__()))
    names = [field.name for field in type(late).__tvm_ffi_type_info__.fields]
    values = {"count": 3, "note": "before the header", "after": 4}
    monkeypatch.setattr(fields, "new_words", new_guarded_words)
    for which, name in enumerate(names):
        field = fields.field_of(facts, which)
        assert field.read(late) == values[name]
        assert isinstance(field.form, fields.Copied) == (name == "note")
    assert made
    for memory, n in made:
        assert all(memory[i] == memory[n + n_guards + i] == guard for i in range(n_guards))


@pytest.mark.thread_unsafe(reason="counts all items of a library")
def test_the_last_owner_may_be_of_the_other_era(maker, taker):
    if not FREES_AT_ONCE:
        collect_garbage(lambda: maker.items_alive() == 0, n_rounds=4)  # garbage of other tests
    before = maker.items_alive()
    items = taker.append_to_array([], maker.make_item("kept by an array of the other", 1))
    keeper = taker.make_adder(1, items)
    keeper = taker.compose(keeper, maker.make_adder(1, maker.make_item("kept by a function", 2)))
    items = None
    assert maker.items_alive() >= before + 2
    assert keeper(1) == 3
    keeper = None
    gc.collect()
    if not FREES_AT_ONCE:
        collect_garbage(lambda: maker.items_alive() <= before)
    assert maker.items_alive() <= before


def ffi(name, *arguments):
    """Return the result of a function of the core; Python may have no class for a container yet."""
    return ffi_hpy.get_global_func(f"ffi.{name}")(*arguments)


# --- containers -----------------------------------------------------------------------------------------------------


def test_values_of_every_sort_are_equal_and_hash_alike(maker, taker):
    values = maker.make_values()
    copy = taker.append_to_array(values, None)
    assert taker.values_are_equal(values, values)
    assert not taker.values_are_equal(values, copy)
    assert len(copy) == len(values) + 1
    made_again = taker.make_values()
    plain = [i for i, value in enumerate(values) if not isinstance(value, (ffi_hpy.Object, tuple, list))]
    assert len(plain) >= 10
    assert maker.values_are_equal([values[i] for i in plain], [made_again[i] for i in plain])


def test_an_array_is_copied_when_another_appends(maker, taker):
    array = maker.append_to_array([1, 2], "three")
    longer = taker.append_to_array(array, 4)
    assert (list(array), list(longer)) == ([1, 2, "three"], [1, 2, "three", 4])


def test_a_list_grows_in_both(maker, taker, takers_era):
    values = maker.make_list()
    for times in (1, 3, 50):
        maker.append_to_list(values, "by the maker, a long text", times)
        taker.append_to_list(values, "by the taker, a long text", times)
    assert ffi("ListSize", values) == 108
    assert taker.change_list(values) == "by the taker, a long text"
    assert maker.append_to_list(values, 5, 1000) == 1107
    assert ffi("ListGetItem", values, 0) == f"inserted by {takers_era}"
    assert ffi("ListGetItem", values, 1) == f"set by {takers_era}"
    assert ffi("ListGetItem", values, 1106) == 5


@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 100])
def test_a_map_is_searched_and_copied(maker, taker, n):
    mapping = maker.make_map(n)
    assert list(taker.count_in_map(mapping, n)) == [n, sum(range(n)), n]
    more = taker.set_in_map(mapping, "the key number 1000", 1000)
    assert len(more) == n + 1
    assert len(mapping) == n
    assert list(maker.count_in_map(more, n)) == [n, sum(range(n)) + 1000, n + 1]


@pytest.mark.parametrize("n", [1, 2, 3, 10, 200])
def test_a_dict_is_changed_by_both(maker, taker, n):
    mapping = maker.make_dict()
    maker.set_in_dict(mapping, 0, n)
    taker.set_in_dict(mapping, n, 2 * n)
    assert ffi("DictSize", mapping) == 4 * n
    expected = [2 * n, sum(range(2 * n)), 4 * n]
    assert list(maker.count_in_dict(mapping, 2 * n)) == list(taker.count_in_dict(mapping, 2 * n)) == expected
    taker.erase_in_dict(mapping, 0, n)
    maker.set_in_dict(mapping, 2 * n, 3 * n)
    maker.erase_in_dict(mapping, n, 3 * n)
    assert list(taker.count_in_dict(mapping, 3 * n)) == [3 * n, sum(range(3 * n)), 3 * n]
    assert ffi("DictGetItem", mapping, "the key number 0") == 0


# --- optional, variant, tuple ---------------------------------------------------------------------------------------


def test_optional_arguments_agree(maker, taker):
    item = maker.maybe_item(True)
    text = maker.maybe_text(True)
    seen = list(taker.look_at_optionals(1, text, item, maker.append_to_array([], 1), maker.make_choice(1)))
    assert seen == [1, "a text that is there", "there", 1, "a text"]
    assert (
        list(taker.look_at_optionals(None, maker.maybe_text(False), maker.maybe_item(False), None, None)) == [None] * 5
    )


def test_variants_agree(maker, taker):
    assert [taker.name_choice(maker.make_choice(i)) for i in range(3)] == ["an int", "a text", "an item"]
    with pytest.raises(TypeError, match="Mismatched type"):
        taker.name_choice([1])


def test_tuples_agree(maker, taker):
    assert taker.look_at_tuple(maker.make_tuple()) == "3 in a tuple in a tuple"
    assert taker.look_at_tuple((4, "of", maker.make_item("Python", 1))) == "4 of Python"


# --- functions ------------------------------------------------------------------------------------------------------


def test_functions_call_each_other(maker, taker):
    adder = maker.make_adder(10, None)
    assert taker.call(adder, 1) == 11
    assert taker.call_typed(adder, 1) == 11 + 12
    both = taker.compose(adder, maker.compose(taker.make_adder(100, None), lambda x: x * 2))
    assert maker.call(both, 3) == 116


def test_global_functions_are_shared(maker, taker):
    name = unique_name()
    maker.set_global(name, maker.make_adder(7, None))
    assert taker.call_global(name, 1) == 8
    assert ffi_hpy.get_global_func(name)(2) == 9
    ffi_hpy.remove_global_func(name)
    with pytest.raises(ValueError, match=name):
        taker.call_global(name, 1)


def test_arguments_are_checked_in_both(maker, taker):
    with pytest.raises(TypeError, match=r"argument #0 .*Expected `int` but got `(ffi\.String|str)`"):
        taker.call(maker.make_adder(1, None), "a text of some length")


# --- errors ---------------------------------------------------------------------------------------------------------


def test_a_thrown_error_is_caught(maker, taker):
    kind, message, backtrace = taker.catch_error(maker.throw_error, "an error")
    assert (kind, message.partition(",")[0]) == ("ValueError", "an error")
    assert 'File "' in backtrace


def test_a_thrown_error_goes_through(maker, taker):
    with pytest.raises(ValueError, match="an error, thrown by"):
        taker.call(taker.compose(maker.throw_error, taker.compose(lambda x: x, lambda x: x)), "an error")
    with pytest.raises(ValueError, match="an error, thrown by"):
        taker.catch_and_rethrow(maker.throw_error, "an error")


def test_an_error_is_kept_and_thrown_again(maker, taker):
    error = taker.catch_and_return(maker.throw_error, "kept")
    assert error.kind == "ValueError"
    kind, message, what, backtrace, has_cause, has_context = maker.look_at_error(error)
    assert (kind, message, has_cause, has_context) == ("ValueError", error.message, False, False)
    assert what == message
    assert backtrace
    with pytest.raises(ValueError, match="kept"):
        maker.throw_it(error)


def test_an_error_has_cause_and_context(maker, taker):
    cause = maker.make_error("the cause", None, None)
    error = taker.make_error("the effect", cause, maker.make_item("context", 1))
    assert list(maker.look_at_error(error))[4:] == [True, True]
    assert list(taker.look_at_error(cause))[4:] == [False, False]


def test_an_exception_of_a_callback_passes_both(maker, taker):
    thrown = KeyError("from Python")

    def fail(x):
        raise thrown

    with pytest.raises(KeyError) as caught:
        taker.catch_and_rethrow(maker.compose(fail, taker.make_adder(1, None)), 1)
    assert caught.value is thrown
    kind, message, backtrace = taker.catch_error(maker.compose(fail, taker.make_adder(1, None)), 1)
    assert kind == "KeyError"
    assert "from Python" in message
    assert "in fail" in backtrace
