"""Calls with the parameter names that authors give in C++ (reflection/arg.h), and defaults for missing arguments."""

import inspect
import itertools
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from support import needs_threads

import ffi_hpy
from ffi_hpy import _core
from ffi_hpy.dataclasses import c_class


@pytest.fixture(scope="module")
def show(library):
    return ffi_hpy.get_global_func("named_args.show")


def test_positional_calls_leave_out_parameters_with_a_default(show):
    assert show([1]) == "1 3 0.500000 none short"
    assert show([1], 4, 1.5) == "1 4 1.500000 none short"
    assert show([1], 4, 1.5, "m", False) == "1 4 1.500000 m long"


def test_the_default_of_an_optional_is_nullopt(library):
    optional = ffi_hpy.get_global_func("named_args.optional")
    assert (optional(), optional(3), optional(value=None)) == (None, 3, None)
    assert inspect.signature(optional).parameters["value"].default is None


def test_keywords_go_to_their_parameters(show):
    assert show(values=[1, 2]) == "2 3 0.500000 none short"
    assert show([1], unit="m") == "1 3 0.500000 m short"
    assert show(is_short=False, values=[]) == "0 3 0.500000 none long"
    assert show([1], scale=2.0, window=1) == "1 1 2.000000 none short"


def test_a_function_of_a_module_takes_keywords(library):
    assert (library.subtract(5), library.subtract(5, 1), library.subtract(b=1, a=7)) == (3, 4, 6)
    assert library.plain(5, 1) == 4


def test_methods_and_constructors_take_keywords(Counter):
    counter = Counter(step=2, start=1)
    assert (counter.count, counter.add(3), counter.add(times=2, by=1)) == (1, 7, 11)
    assert Counter.add(counter, by=1) == 13
    assert (Counter(5).count, Counter.make().count, Counter.make(n=3).count) == (5, 7, 3)
    assert ffi_hpy.get_global_func("named_args.add")(counter, times=1, by=1) == 15


def test_a_packed_function_gets_the_given_arguments(library):
    packed = ffi_hpy.get_global_func("named_args.packed")
    assert (packed(1), packed(second=2, first=1), packed(1, 2, 3)) == (1, 2, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f(), "Expected 5 but got 0 arguments: missing argument 'values'"),
        (lambda f: f(window=1), r"^named_args\.show\(\) missing 1 required argument: 'values'$"),
        (lambda f: f([], windw=1), "got an unexpected keyword argument 'windw'. Did you mean 'window'"),
        (lambda f: f([], values=[]), "got multiple values for argument 'values'"),
        (lambda f: f([], 1, 1.0, None, True, 6), "Expected 5 but got 6 arguments"),
        (lambda f: f([], 1, 1.0, None, True, 6, zzz=1), "unexpected keyword argument 'zzz'$"),
        (lambda f: f([], "three"), r"argument #1 .*window: int = 3, scale: float = 0\.5, .*is_short: bool = True"),
    ],
)
def test_the_error_of_a_call_that_does_not_fit_has_the_reason(show, call, message):
    with pytest.raises(TypeError, match=message):
        call(show)


def test_a_constructor_that_does_not_fit_names_the_class(Counter):
    with pytest.raises(
        TypeError, match=r"^Counter\(\) got an unexpected keyword argument 'strt'. Did you mean 'start'"
    ):
        Counter(strt=1)
    with pytest.raises(TypeError, match="missing argument 'start'"):
        Counter()


def test_without_names_keywords_are_refused(library):
    with pytest.raises(TypeError, match=r"plain\(\) takes positional arguments only, got keyword argument 'a'"):
        library.plain(a=1, b=2)


def test_a_constructor_with_types_but_without_names_refuses_keyword_arguments():
    with pytest.raises(TypeError, match=r"^TestIntPair\(\) takes positional arguments only, got keyword argument 'b'$"):
        ffi_hpy.testing.TestIntPair(1, b=2)
    assert str(inspect.signature(ffi_hpy.testing.TestIntPair)) == "(a: int, b: int)"  # as tvm_ffi shows it


def test_native_callers_may_leave_out_defaults_too(show):
    apply = ffi_hpy.get_global_func("testing.apply")
    assert apply(show, [1]) == "1 3 0.500000 none short"


def test_names_that_are_not_well_formed_count_as_none():
    from ffi_hpy._types.parameters import Parameters

    typed = '{"type_schema":{"type":"ffi.Function","named_args":{"return":[{"type":"int"}],"params":[{"type":"int"}]}}'
    for params in ('[{"name":1}]', "[{}]", "3", '"["', '[{"name":"a"},{"name":"b"}]', "[1]", "null", "{}"):
        found = Parameters(f'{typed},"params":{params}}}')
        assert (found.names, len(found.schemas)) == (None, 1), params
    for metadata in ("", "[", "[1]", '{"type_schema":"{"}', '{"type_schema":3}'):
        assert Parameters(metadata).schemas is None
    given_as_list = Parameters(f'{typed},"params":[{{"name":"x","default":[]}}]}}')
    assert (given_as_list.names, given_as_list.defaults) == (("x",), ([],))


def test_the_number_of_a_note_is_checked():
    function = ffi_hpy.convert(len)
    assert function._about == 0
    function._about = 1 << 20  # it has no room for this bit
    assert _core.CALLS == "cffi" or function._about == 0


# --- remembered orders of arguments ---------------------------------------------------------------------------------

CALLS = [
    (lambda make: make(1, 2), (1, 2)),
    (lambda make: make(start=1, step=2), (1, 2)),
    (lambda make: make(step=3, start=4), (4, 3)),
    (lambda make: make(5, step=6), (5, 6)),
    (lambda make: make(start=7), (7, 1)),
    (lambda make: make(**{"".join(["st", "ep"]): 8, "".join(["st", "art"]): 9}), (9, 8)),  # names that are not interned
]
MISTAKES = [
    (lambda make: make(start=1, stop=2), "got an unexpected keyword argument 'stop'"),
    (lambda make: make(1, start=2), "got multiple values for argument 'start'"),
    (lambda make: make(step=2), "missing 1 required argument: 'start'"),
]


@pytest.fixture(scope="module")
def Tally(library):
    @c_class("named_args.Tally")
    class Tally(ffi_hpy.Object):
        count: int
        step: int

    return Tally


@pytest.fixture(params=["register_object", "c_class", "subclass"])
def made(request, Counter, Tally):
    class Own(Counter):
        def __init__(self, *args, **named):
            super().__init__(*args, **named)

    return {"register_object": Counter, "c_class": Tally, "subclass": Own}[request.param]


def test_a_constructor_finds_its_arguments_at_each_call(made):
    for _ in range(3):
        for call, (count, step) in CALLS:
            counter = call(made)
            assert type(counter) is made
            assert counter.count == count
            assert (counter.step if hasattr(counter, "step") else counter.add(1) - count) == step
        for call, mistake in MISTAKES:
            with pytest.raises(TypeError, match=mistake):
                call(made)


ANY_NAMES = [("a", "b"), ("class", "b"), ("_ffi_absent", "b"), ("__debug__", "x y"), ("self", "args")]


@pytest.mark.parametrize("names", ANY_NAMES)
def test_parameters_may_have_any_names(names):
    from ffi_hpy._types.parameters import Parameters

    first, second = names
    text = {"type": "ffi.Function", "named_args": {"return": [{"type": "Any"}], "params": [{"type": "Any"}] * 2}}

    def parameters(*defaults):
        params = [{"name": name, **default} for name, default in zip(names, defaults)]
        return Parameters(json.dumps({"type_schema": json.dumps(text), "params": params}))

    found = parameters({}, {"default": 5})
    assert found.in_order("f", (1,), {second: 2}) == (1, 2)
    assert found.in_order("f", (), {second: 2, first: 1}) == (1, 2)
    assert found.in_order("f", (), {first: 1}) == (1,)
    assert found.order_of("f", 1, (second,))[1] == (0, 1)
    assert found.in_order("f", (), {second: 2}) == f"f() missing 1 required argument: '{first}'"
    found = parameters({"default": 5}, {})
    assert found.in_order("f", (), {second: 2}) == (5, 2)
    assert found.in_order("f", (), {first: 2}) == f"f() missing 1 required argument: '{second}'"
    found = parameters({"default": 5}, {"default": 6})
    assert found.in_order("f", (), {second: 2}) == (5, 2)
    assert found.in_order("f", (), {first: 2}) == (2,)


@needs_threads
def test_threads_that_name_arguments_in_their_own_orders_do_not_mix_them(show):
    names = {"values": [1, 2], "window": 4, "scale": 0.25, "unit": "m", "is_short": False}

    def call(order):
        return [show(**dict(order)) for _ in range(20)]

    orders = list(itertools.permutations(names.items()))
    with ThreadPoolExecutor(4) as pool:
        said = pool.map(call, orders)
    assert {text for texts in said for text in texts} == {"2 4 0.250000 m long"}
