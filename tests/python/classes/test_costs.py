"""Costs of definitions, look-ups and errors: calls are counted, and twice as much work needs about twice as many."""

import sys
import types
from typing import Optional

import pytest
from support import unique_name
from support.costs import SIZES, assert_grows_with_size, count_calls

import ffi_hpy
from ffi_hpy import Object, _core
from ffi_hpy.dataclasses import Enum, IntEnum, auto, entry, fields, method, py_class

MODULE = "ffi_hpy_test_costs"


@pytest.fixture(autouse=True)
def module(monkeypatch):
    """The module that all classes of a test name as theirs."""
    monkeypatch.setitem(globals(), "MODULE", unique_name("test_costs_module"))
    monkeypatch.setitem(sys.modules, MODULE, types.ModuleType(MODULE))


def define(annotations, base=Object, name="Defined", body=None, **options):
    """Define a class with these fields."""
    written = {"__annotations__": annotations, "__module__": MODULE, "__qualname__": name, **(body or {})}
    return py_class(unique_name("test_costs").replace("-", "_"), **options)(type(base)(name, (base,), written))


def names(n):
    return [unique_name("Name").replace(".", "_").replace("-", "_") for _ in range(n)]


def fields_of(n, annotation=int):
    return {f"f{i}": annotation for i in range(n)}


def members(n, value):
    return {f"member{i}": value(i) for i in range(n)}


# --- classes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("annotation", [int, "int", "list[int]"])
def test_a_class_costs_as_much_as_it_has_fields(annotation):
    assert_grows_with_size(lambda n: lambda: define(fields_of(n, annotation)))


def test_a_class_costs_as_much_as_it_has_methods():
    def prepare(n):
        def make(i):
            def function(self, x: int) -> int:
                return x

            return method(function)

        return lambda: define({"a": int}, body=members(n, make))

    assert_grows_with_size(prepare)


def test_a_subclass_costs_as_much_as_it_has_fields():
    def prepare(n):
        parent = define(fields_of(n))
        return lambda: define({f"own{i}": int for i in range(n)}, parent)

    assert_grows_with_size(prepare)


@pytest.mark.parametrize("annotation", [int, "int", "Optional[int]", "Self"])
def test_each_class_of_a_module_costs_the_same(annotation):
    sys.modules[MODULE].Optional = Optional

    def work(n):
        for name in names(n):
            define({"a": name if annotation == "Self" else annotation}, name=name)

    assert_grows_with_size(lambda n: lambda: work(n))


def test_each_subclass_of_a_class_costs_the_same():
    parent = define({"a": int})
    assert_grows_with_size(lambda n: lambda: [define({"b": int}, parent) for _ in range(n)])


def test_an_ancestor_costs_few_calls():
    def work(n):
        cls = Object
        for _ in range(n):
            cls = define({}, cls)

    work(20)
    few, many = (count_calls(lambda n=n: work(n)) for n in SIZES)
    n_pairs = (SIZES[1] ** 2 - SIZES[0] ** 2) / 2  # pairs of a class and one of its ancestors
    assert many - 2 * few < 7 * n_pairs, (few, many)


# --- classes that wait for names --------------------------------------------------------------------------------------


def test_classes_that_wait_for_a_name_do_not_slow_down_others():
    def work(n):
        for name in names(n):
            define({"a": f"Missing{name}"}, name=name)
            define({"a": int})

    assert_grows_with_size(lambda n: lambda: work(n))


def test_classes_that_wait_for_one_name_are_completed_once_each():
    def work(n):
        late = names(1)[0]
        waiting = [define({"a": late}) for _ in range(n)]
        define({"a": int}, name=late)
        assert all(len(fields(cls)) == 1 for cls in waiting)

    assert_grows_with_size(lambda n: lambda: work(n))


def test_classes_that_wait_for_one_another_are_completed_once_each():
    def work(n):
        chain = names(n)
        waiting = [define({"a": following}, name=name) for name, following in zip(chain, chain[1:])]
        define({"a": int}, name=chain[-1])
        assert all(len(fields(cls)) == 1 for cls in waiting)

    assert_grows_with_size(lambda n: lambda: work(n))


def test_a_class_that_waits_for_many_names_is_looked_at_in_passing():
    def work(n):
        missing = names(n)
        waiting = define({f"f{i}": name for i, name in enumerate(missing)})
        for name in missing:
            define({"a": int}, name=name)
        assert len(fields(waiting)) == n

    assert_grows_with_size(lambda n: lambda: work(n))


def test_subclasses_of_a_class_that_waits_are_completed_once_each():
    def work(n):
        late = names(1)[0]
        parent = define({"a": late})
        children = [define({"b": int}, parent) for _ in range(n)]
        define({"a": int}, name=late)
        assert all(len(fields(cls)) == 2 for cls in children)

    assert_grows_with_size(lambda n: lambda: work(n))


def test_a_name_that_is_not_a_class_is_found_when_others_are_completed():
    waiting = [define({"a": "Alias"}) for _ in range(10)]
    sys.modules[MODULE].Alias = int
    for _ in range(5):
        define({"a": int})
    assert [len(fields(cls)) for cls in waiting] == [1] * 10


def test_an_alias_may_name_a_class_of_another_module():
    (name,) = names(1)
    define({"a": int}, name=name)
    other = types.ModuleType(f"{MODULE}_other")
    other.Alias = Optional[name]
    sys.modules[other.__name__] = other
    try:
        written = {"__annotations__": {"a": "Alias"}, "__module__": other.__name__}
        cls = py_class(unique_name("test_costs"))(type("Named", (Object,), written))
        assert len(fields(cls)) == 1
    finally:
        del sys.modules[other.__name__]


# --- instances --------------------------------------------------------------------------------------------------------


def test_an_instance_costs_as_much_as_it_has_fields():
    for arguments in (list, lambda n: []):
        for keywords in (lambda n: {}, lambda n: {f"f{i}": i for i in n}):

            def prepare(n, arguments=arguments, keywords=keywords):
                cls = define(fields_of(n), body={f"f{i}": i for i in range(n)})
                args, kwargs = arguments(range(n // 2)), keywords(range(n // 2, n))
                return lambda: cls(*args, **kwargs)

            assert_grows_with_size(prepare)


@pytest.mark.skipif(_core.CALLS != "cffi", reason="the binding in C compares no objects")
def test_fields_are_not_compared_with_one_another(monkeypatch):
    from ffi_hpy._pypy.record import initializers

    n_compared = 0

    def compare(self, other):
        nonlocal n_compared
        n_compared += 1
        return self is other

    monkeypatch.setattr(initializers._Slot, "__eq__", compare, raising=False)
    cls = define(fields_of(50), body={f"f{i}": i for i in range(50)})
    for n in range(51):
        assert cls(*range(100, 100 + n)).f49 == (149 if n == 50 else 49)
    assert n_compared <= 51 * 51


def test_a_class_with_many_fields_works_as_one_with_few(capfd):
    n = 100
    parent = define({f"f{i}": int for i in range(n)}, body={f"f{i}": i for i in range(n)}, eq=True)
    child = define(
        {"f7": int, **{f"g{i}": int for i in range(n)}}, parent, body={"f7": -7, "g0": 0}, eq=True, kw_only=True
    )
    keywords = {f"g{i}": i for i in range(1, n)}
    made = child(**keywords, f99=-99)
    assert (made.f7, made.f98, made.f99, made.g0, made.g99) == (-7, 98, -99, 0, 99)
    assert repr(made).count("f7=") == 2  # the parent's field has another offset
    assert made == child(**keywords, f99=-99) != child(**keywords)
    with pytest.raises(TypeError, match=r"got an unexpected keyword argument 'f100'\. Did you mean 'f10'"):
        child(**keywords, f100=1)
    with pytest.raises(TypeError, match="got multiple values for argument 'f0'"):
        child(5, **keywords, f0=1)
    with pytest.raises(TypeError, match="missing required keyword-only argument: 'g1'"):
        child(**{name: 1 for name in keywords if name != "g1"})
    construct = _core.type_attr(child.__tvm_ffi_type_info__.type_index, "__ffi_init__")
    native = construct(ffi_hpy.core.KWARGS, *[part for pair in keywords.items() for part in pair], "f99", -99)
    assert native == made
    pairs = [part for i in reversed(range(n)) for part in (f"f{i}", -i)]
    by_pairs = ffi_hpy._ffi_api.MakeObjectFromPackedArgs(parent.__tvm_ffi_type_info__.type_index, *pairs)
    assert [getattr(by_pairs, f"f{i}") for i in range(n)] == [-i for i in range(n)]


# --- enums ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("base", "value"), [(Enum, lambda i: auto()), (IntEnum, lambda i: 3 * i)])
def test_an_enum_costs_as_much_as_it_has_variants(base, value):
    def prepare(n):
        body = {"__module__": MODULE, **members(n, value)}
        return lambda: type(base)("Many", (base,), body, type_key=unique_name("test_costs"))

    assert_grows_with_size(prepare)


def test_a_variant_is_found_without_a_look_at_the_others():
    def prepare(n):
        body = {"__module__": MODULE, **members(n, lambda i: entry())}
        cls = type(Enum)("Many", (Enum,), body, type_key=unique_name("test_costs"))
        costs = cls.def_attr("cost", default=0)

        def work():
            for i in range(n):
                variant = cls(f"member{i}")
                assert (variant._value, variant.name, cls(i)) == (i, f"member{i}", variant)
                costs[variant] = costs[variant] + 1

        return work

    assert_grows_with_size(prepare)


# --- functions and errors ---------------------------------------------------------------------------------------------


def test_a_global_function_costs_the_same_among_many():
    def prepare(n):
        prefix = unique_name("test_costs")

        def work():
            for i in range(n):
                ffi_hpy.register_global_func(f"{prefix}.f{i}", abs)
                ffi_hpy.get_global_func(f"{prefix}.f{i}")
                ffi_hpy.remove_global_func(f"{prefix}.f{i}")

        return work

    assert_grows_with_size(prepare)


def test_an_error_about_a_name_compares_a_limited_number_of_names(monkeypatch):
    import difflib

    compared = []
    closest = difflib.get_close_matches
    monkeypatch.setattr(
        difflib, "get_close_matches", lambda name, known, n: compared.append(len(known)) or closest(name, known, n)
    )
    prefix = unique_name("test_costs")
    known = [f"{prefix}.function_{i}" for i in range(500)]
    for name in known:
        ffi_hpy.register_global_func(name, abs)
    for wrong in (
        f"{prefix}.funktion_77",
        f"{prefix}.function_777",
        f"{prefix}.fucntion_77",
        f"{prefix[:-1]}.function_77",
    ):
        with pytest.raises(ValueError, match=r"Did you mean .*function_\d*7"):
            ffi_hpy.get_global_func(wrong)
    for name in known:
        ffi_hpy.remove_global_func(name)
    assert len(compared) == 4
    assert max(compared) <= 100
