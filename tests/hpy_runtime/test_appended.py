"""The context entries that HPy's master branch added after 0.9.0, and the dict shape."""

import gc
import weakref

import pytest
from test_hpy_runtime import HERE, IS_PYPY, compile_universal, load_runtime


@pytest.fixture(scope="session", params=[False, True], ids=["plain", "debug"])
def appended(tmp_path_factory, request):
    target = tmp_path_factory.mktemp("appended") / "appended.hpy0.so"
    return load_runtime().load("appended", compile_universal(HERE / "appended.c", target), debug=request.param)


def test_the_appended_entries_are_found(appended):
    assert appended.is_found() is True


def test_dict_type(appended):
    assert appended.dict_type() is dict


def test_list_insert_takes_any_index(appended):
    items = [1, 2]
    for index, item in ((1, "a"), (-1, "b"), (99, "c"), (-99, "d")):
        appended.insert(items, index, item)
    assert items == ["d", 1, "a", "b", 2, "c"]
    with pytest.raises((SystemError, TypeError)):  # the interpreter's choice
        appended.insert((1, 2), 0, 0)


def test_slices_are_read_written_and_deleted(appended):
    items = [0, 1, 2, 3, 4]
    assert appended.get_slice(items, 1, 3) == [1, 2]
    assert appended.get_slice("abc", 1, 99) == "bc"
    assert appended.get_slice((), 0, 1) == ()
    appended.set_slice(items, 1, 3, ("x",))
    assert items == [0, "x", 3, 4]
    appended.del_slice(items, 0, 2)
    assert items == [3, 4]


def test_slices_of_other_things_are_type_errors(appended):
    for wrong in (lambda: appended.get_slice(1, 0, 1), lambda: appended.set_slice((1,), 0, 1, [])):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(TypeError):
        appended.del_slice("abc", 0, 1)


def test_iteration_ends_without_an_exception(appended):
    iterator = appended.get_iter([1, 2])
    assert [appended.next(iterator) for _ in range(4)] == [1, 2, "end", "end"]
    assert appended.is_iter(iterator)
    assert not appended.is_iter([1, 2])
    with pytest.raises(TypeError):
        appended.get_iter(1)


def test_an_exception_of_the_iterator_is_raised(appended):
    def fail():
        yield 1
        raise KeyError("k")

    iterator = fail()
    assert appended.next(iterator) == 1
    with pytest.raises(KeyError):
        appended.next(iterator)


def test_next_of_an_object_that_is_not_an_iterator_is_a_type_error(appended):
    for wrong in ([1], 1, None):
        with pytest.raises(TypeError, match="HPyIter_Next expects an iterator, got <class"):
            appended.next(wrong)


def test_slice_new_takes_null_for_none(appended):
    assert appended.slice(1, 2, 3) == slice(1, 2, 3)
    assert appended.slice(1) == slice(1, None, None)


def test_a_type_with_the_dict_shape_is_a_dict_with_a_struct(appended):
    assert issubclass(appended.Counted, dict)
    assert appended.shape(appended.Counted) == 7

    class Sub(appended.Counted):
        pass

    for cls in (appended.Counted, Sub):
        d = cls(a=1)
        d["b"] = 2
        assert (d.hit("v"), d.hit("v"), d) == (1, 2, {"a": 1, "b": 2})


def test_hpy_new_makes_a_usable_dict(appended):
    d = appended.make(appended.Counted)
    assert (len(d), d.get("x"), list(d)) == (0, None, [])
    d["x"] = 1
    assert (d.hit(None), d, d.copy()) == (101, {"x": 1}, {"x": 1})


@pytest.mark.skipif(IS_PYPY, reason="PyPy's collector does not follow the references of C structs")
def test_cycles_through_a_dict_with_a_struct_are_collected(appended):
    class Thing:
        pass

    def make():
        thing, d, e = Thing(), appended.Counted(), appended.make(appended.Counted)
        d["self"], d["thing"] = d, thing
        e.hit([e, thing])
        return weakref.ref(thing)

    gone = make()
    gc.collect()
    assert gone() is None
