"""The operations of the soak: one function each, none of which leaks."""

from __future__ import annotations

import copy
import inspect
import itertools
import os
import pickle
import sys
import threading
import weakref
from ctypes import c_void_p
from typing import Any

from tensors import Producer, new_tensor

import ffi_hpy
from ffi_hpy import dataclasses, serialization, structural, testing
from ffi_hpy.access_path import AccessPath
from ffi_hpy.core import TypeSchema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

OPERATIONS: dict[str, Callable[[], object]] = {}
"""By name, in the order of this file. Each may be called forever."""

INTERPRETERS_OWN: dict[str, str] = {}
"""The reason for an operation whose growth the interpreter itself causes: a program without ffi_hpy grows, too."""
if sys.implementation.name == "pypy" and ffi_hpy._core.HAS_EXTENSION:
    _MET = ["array_classes"]  # the binding in C reads their exports
    if ffi_hpy._core.CALLS == "binding":
        _MET += ["plain_classes", "converter_classes", "subclasses", "subclasses_of_containers"]
    for _name in _MET:
        INTERPRETERS_OWN[_name] = "PyPy 8 keeps types that C code has met"
    INTERPRETERS_OWN["threads"] = "PyPy 8 keeps memory of each thread"  # interpreter_faults.py: threads_that_ended
if sys.implementation.name == "cpython" and sys.version_info >= (3, 12):
    INTERPRETERS_OWN["errors_from_everywhere"] = "CPython keeps names in code"  # interpreter_faults.py: interned_names

testing.add_one(1)  # loads the library
_echo = ffi_hpy.get_global_func("testing.echo")
_apply = ffi_hpy.get_global_func("testing.apply")
_raise_error = ffi_hpy.get_global_func("testing.test_raise_error")
_count = itertools.count()
_TEXT, _BYTES = "a text of some length", b"bytes of some length"
_LONG_TEXT, _LONG_BYTES = "x" * 3000, b"x" * 3000


def operation(function: Callable[[], object]) -> Callable[[], object]:
    OPERATIONS[function.__name__] = function
    return function


def _refused(function: Callable[..., object], *arguments: object) -> None:
    try:
        function(*arguments)
    except Exception:
        return
    raise AssertionError(f"{function} takes {arguments}")


class _Plain:
    """A class that is unknown to native code."""


@dataclasses.py_class("soak.Node")
class _Node(ffi_hpy.Object):
    value: int
    name: str
    items: ffi_hpy.List[int]
    other: Any = None


_node = _Node(1, _TEXT, [1, 2, 3], None)
_pair = testing.TestIntPair(1, 2)
_array = ffi_hpy.Array([1, 2.5, _TEXT])


# --- calls and values -----------------------------------------------------------------------------------------------


@operation
def numbers() -> None:
    _echo(1), _echo(2.5), _echo(True), _echo(None), _echo(2**63), _echo(c_void_p(8))


@operation
def big_ints() -> None:
    _echo(3**100), _echo(-(3**100))


@operation
def short_texts() -> None:
    _echo("short"), _echo(b"short")


@operation
def texts() -> None:
    _echo(_TEXT), _echo(_BYTES), ffi_hpy.convert(_TEXT)


@operation
def texts_of_every_length() -> None:
    length = next(_count) % 3000
    _echo(_LONG_TEXT[:length]), _echo(_LONG_TEXT[:length] + "\u20ac"), _echo(_LONG_BYTES[:length])


@operation
def texts_of_subclasses() -> None:
    _echo(_Text(_TEXT)), _echo([_Text("\u20ac"), ffi_hpy.String(_TEXT)])


class _Text(str):
    """A str subclass that is unknown to native code."""


@operation
def data_types() -> None:
    _echo(ffi_hpy.dtype("int8x4")), _echo(ffi_hpy.dtype("float32")), ffi_hpy.dtype(f"int8x{next(_count) % 30000 + 1}")


@operation
def devices() -> None:
    _echo(ffi_hpy.device("cuda:1")), ffi_hpy.device("cpu", next(_count) % 60000)


@operation
def shapes() -> None:
    _echo(ffi_hpy.Shape((1, 2, 3)))


@operation
def unknown_objects() -> None:
    _echo(_Plain())


@operation
def keyword_arguments() -> None:
    testing.create_object("testing.TestIntPair", a=1, b=2)


@operation
def moved_objects() -> None:
    _echo(testing.TestIntPair(1, 2)._move())


# --- objects --------------------------------------------------------------------------------------------------------


@operation
def objects() -> None:
    pair = testing.TestIntPair(1, 2)
    _echo(pair), pair.sum(), pair == testing.TestIntPair(1, 2), repr(pair)


@operation
def fields() -> None:
    _node.value = 2
    _node.name = _TEXT
    _node.items = [1, 2]
    _node.other = _node.items
    assert [_node.value, _node.name, *_node.items, *_node.other] == [2, _TEXT, 1, 2, 1, 2]


@operation
def own_objects() -> None:
    _Node(1, _TEXT, [1, 2, 3], _Node(1, "", []))


@operation
def attributes() -> None:
    made = _WithDict(1, 2)
    setattr(made, f"attribute{next(_count) % 100}", _TEXT)


class _WithDict(testing.TestIntPair):
    __slots__ = ("__dict__", "__weakref__")


@operation
def cycles_of_python_objects() -> None:
    made = _WithDict(1, 2)
    made.itself = made  # type: ignore[attr-defined]


@operation
def preserved_objects() -> None:
    _shelf.append(_WithDict(1, 2))
    _shelf[0].note = _TEXT
    assert _shelf[0].note is _TEXT
    _shelf.clear()


_shelf: ffi_hpy.List[Any] = ffi_hpy.List()


@operation
def weak_references() -> None:
    pair = _WithDict(1, 2)
    weakref.ref(pair, lambda _: None), weakref.finalize(pair, int)


@operation
def unregistered_objects() -> None:
    testing.make_unregistered_object()


# --- containers -----------------------------------------------------------------------------------------------------


@operation
def arrays() -> None:
    made = ffi_hpy.Array([1, _TEXT, [_Plain()]])
    made[1], made[0:2], [*made, 3], list(made), len(made), 3 in made


@operation
def lists() -> None:
    made = ffi_hpy.List([1, 2])
    made.append(_TEXT), made.insert(0, 2.5), made.pop(), made.extend([1, 2]), made.reverse(), made.clear()


@operation
def maps() -> None:
    made = ffi_hpy.Map({1: _TEXT, _TEXT: [1]})
    made[1], dict(made), list(made.items()), made.get(5)


@operation
def dicts() -> None:
    made = ffi_hpy.Dict({1: _TEXT})
    made[_TEXT] = [1]
    made.pop(1), made.update({3: 4}), list(made), made.clear()


@operation
def ever_new_keys() -> None:
    key = next(_count)
    _dict[key] = key
    _dict.pop(key)


_dict = ffi_hpy.Dict({})


@operation
def iterators() -> None:
    for items in (_array, ffi_hpy.Map({1: 2}), ffi_hpy.List([1, 2])):
        next(iter(items))


@operation
def converted() -> None:
    _echo([1, _TEXT, {"a": [_Plain()]}, (1, 2)])


# --- functions ------------------------------------------------------------------------------------------------------


@operation
def callbacks() -> None:
    _apply(lambda *values: list(values), 1, _TEXT, _Plain()), _echo(lambda: 1)()


@operation
def callback_texts() -> None:
    _apply(lambda text: None, _TEXT), _apply(lambda text: None, _BYTES)


@operation
def global_functions() -> None:
    name = f"soak.function{next(_count)}"
    ffi_hpy.register_global_func(name, lambda: 1)
    ffi_hpy.get_global_func(name)()
    ffi_hpy.remove_global_func(name)


@operation
def replaced_functions() -> None:
    ffi_hpy.register_global_func("soak.replaced", lambda: 1, override=True)


@operation
def names_of_functions() -> None:
    ffi_hpy.get_global_func(f"soak.missing{next(_count)}", allow_missing=True)
    function = ffi_hpy.get_global_func("testing.echo")
    function.__name__ = f"renamed{next(_count)}"


@operation
def list_of_names() -> None:
    ffi_hpy.list_global_func_names()


# --- errors ---------------------------------------------------------------------------------------------------------


@operation
def native_errors() -> None:
    _refused(_raise_error, "ValueError", "boo"), _refused(_raise_error, "UnknownError", f"number {next(_count)}")


@operation
def callback_errors() -> None:
    def fail() -> None:
        raise KeyError(next(_count))

    _refused(_apply, fail)


@operation
def kinds_of_errors() -> None:
    _refused(_raise_error, f"Error{next(_count)}", "boo")


@operation
def errors_from_everywhere() -> None:
    name = f"f{next(_count)}"
    namespace: dict[str, Callable[[], None]] = {}
    exec(compile(f"def {name}(): raise ValueError(1)", f"<{name}>", "exec"), namespace)
    _refused(_apply, namespace[name])


@operation
def wrong_arguments() -> None:
    _refused(testing.add_one, "x"), _refused(_echo, "\ud800"), _refused(testing.TestIntPair, 1)
    _refused(getattr, _pair, "missing"), _refused(setattr, _node, "value", "x")


@operation
def error_values() -> None:
    _echo(ValueError("x")), _echo(ffi_hpy.Error("ValueError", _TEXT, ""))


# --- classes --------------------------------------------------------------------------------------------------------


@operation
def plain_classes() -> None:
    _echo(type("Made", (), {})())


@operation
def converter_classes() -> None:
    _echo(type("Made", (), {"__tvm_ffi_value__": lambda self: 1})()), _echo(type("Number", (int,), {})(3))


@operation
def array_classes() -> None:
    _echo(type("Made", (Producer,), {})())


@operation
def subclasses() -> None:
    made = type(testing.TestIntPair)("Made", (testing.TestIntPair,), {"method": lambda self: 1})
    getattr(_echo(made(1, 2)), "a")  # noqa: B009 - a mere access would do nothing, says the linter


@operation
def subclasses_of_containers() -> None:
    _echo(type(ffi_hpy.Array)("Made", (ffi_hpy.Array,), {})([1]))
    _echo(type("Text", (ffi_hpy.String,), {})("x"))


@operation
def type_schemas() -> None:
    schema = TypeSchema.from_annotation(dict[str, list[int]])
    schema.convert({"a": [1]}), str(schema)


# --- tensors --------------------------------------------------------------------------------------------------------


@operation
def tensors() -> None:
    tensor = new_tensor()
    _echo(tensor).shape, tensor.dtype, tensor.device, tensor.data_ptr()


@operation
def dlpack() -> None:
    ffi_hpy.from_dlpack(new_tensor()), ffi_hpy.from_dlpack(Producer()), new_tensor().__dlpack__()


@operation
def arrays_of_others() -> None:
    _echo(Producer()), _echo([Producer()])


@operation
def streams() -> None:
    device = ffi_hpy.device("cuda:0")
    with ffi_hpy.use_raw_stream(device, 0x1000):
        ffi_hpy.get_raw_stream(device)


# --- whole values ---------------------------------------------------------------------------------------------------


@operation
def json() -> None:
    _parse(_write({"a": [1, 2.5, _TEXT]}))


_parse, _write = ffi_hpy.get_global_func("ffi.json.Parse"), ffi_hpy.get_global_func("ffi.json.Stringify")


@operation
def graphs() -> None:
    serialization.from_json_graph_str(serialization.to_json_graph_str(ffi_hpy.convert([_pair, _node, {"a": _TEXT}])))


@operation
def broken_graphs() -> None:
    _refused(serialization.from_json_graph_str, f'{{"root_index": {next(_count)}, "nodes": []}}')
    _refused(_parse, '{"a": [1, 2')


@operation
def pickles() -> None:
    pickle.loads(pickle.dumps(_pair)), copy.copy(_node)


@operation
def deep_copies() -> None:
    copy.deepcopy(_node)


if ffi_hpy._core.HAS_EXTENSION:  # without it the search for cycles is off

    @operation
    def cycles() -> None:
        node = _Node(1, _TEXT, [])
        node.other = ffi_hpy.Dict({"callable": lambda: node, "ring": ffi_hpy.List([node, _Plain()])})


if sys.implementation.name == "cpython" and ffi_hpy._core.HAS_EXTENSION:  # elsewhere these cycles are leaks

    @operation
    def cycles_of_native_objects() -> None:
        one = _Node(1, _TEXT, [])
        one.other = _Node(2, _TEXT, [], one)


@operation
def structures() -> None:
    left, right = ffi_hpy.Array([1, [2, _TEXT]]), ffi_hpy.Array([1, [3, _TEXT]])
    structural.structural_equal(left, right), structural.structural_hash(left)
    structural.get_first_structural_mismatch(left, right)
    {structural.StructuralKey(left): 1}.get(structural.StructuralKey(right))


@operation
def walks() -> None:
    structural.structural_walk(_array, lambda value: None)
    structural.structural_map(_array, lambda value: value)
    _refused(structural.structural_walk, _array, lambda value: 1 // 0)


@operation
def access_paths() -> None:
    path = AccessPath.root().attr("a").array_item(next(_count)).map_item(_TEXT)
    repr(path), path == path.parent


# --- modules --------------------------------------------------------------------------------------------------------


@operation
def modules() -> None:
    module = ffi_hpy.load_module(_LIBRARY, keep_module_alive=False)
    module.implements_function("add_one"), _refused(module.get_function, f"missing{next(_count)}")


_LIBRARY = testing._library.TESTING_LIBRARY


@operation
def missing_modules() -> None:
    _refused(ffi_hpy.load_module, f"/missing{next(_count)}.so")


@operation
def system_modules() -> None:
    ffi_hpy.system_lib()


# --- reflection -----------------------------------------------------------------------------------------------------


@operation
def reflection() -> None:
    inspect.signature(_Node), dataclasses.fields(_Node), repr(_node)


@operation
def metadata() -> None:
    ffi_hpy.get_global_func_metadata("testing.add_one"), ffi_hpy.registry.get_registered_type_keys()


# --- threads and processes ------------------------------------------------------------------------------------------


@operation
def threads() -> None:
    thread = threading.Thread(target=_work_on_thread)
    thread.start()
    thread.join()


def _work_on_thread() -> None:
    objects(), texts(), native_errors(), callbacks(), arrays()
    with ffi_hpy.use_raw_stream(ffi_hpy.device("cuda:0"), 0x1000):
        pass


@operation
def forks() -> None:
    child = os.fork()
    if child == 0:
        objects()
        os._exit(0)
    os.waitpid(child, 0)
