"""Helpers for packages: locks between processes, keyword arguments, dataclasses as tuples."""

import dataclasses
import inspect
import subprocess
import sys
import typing
from collections import namedtuple

import pytest

from ffi_hpy.utils import FileLock
from ffi_hpy.utils.kwargs_wrapper import make_kwargs_wrapper, make_kwargs_wrapper_from_signature
from ffi_hpy.utils.unpack_dataclass import unpack_dataclass_to_tuple

# --- locks ----------------------------------------------------------------------------------------------------------


def test_a_lock_has_one_holder_at_a_time(tmp_path):
    first, second = FileLock(tmp_path / "a.lock"), FileLock(tmp_path / "a.lock")
    with first as held:
        assert held is first
        assert second.acquire() is False
        assert first.acquire() is False
    assert second.acquire() is True
    second.release()
    second.release()


def test_a_lock_is_let_go_of_though_a_child_has_inherited_it(tmp_path):
    lock = FileLock(tmp_path / "a.lock")
    with lock:
        wait = [sys.executable, "-c", "import sys; sys.stdin.read()"]
        child = subprocess.Popen(wait, stdin=subprocess.PIPE, pass_fds=[lock._file_descriptor])
        assert not FileLock(tmp_path / "a.lock").acquire()
    with child:
        assert FileLock(tmp_path / "a.lock").acquire()
        child.communicate()


def test_an_exception_lets_go_of_a_lock(tmp_path):
    with pytest.raises(KeyError), FileLock(tmp_path / "a.lock"):
        raise KeyError
    assert FileLock(tmp_path / "a.lock").acquire()


def test_entering_a_held_lock_is_an_error(tmp_path):
    lock = FileLock(tmp_path / "a.lock")
    with lock, pytest.raises(RuntimeError, match="is held already"), lock:
        pass


def test_a_lock_in_no_folder_is_an_error(tmp_path):
    with pytest.raises(OSError, match="no such folder"):
        FileLock(tmp_path / "no such folder" / "a.lock").acquire()


def test_processes_exclude_each_other(tmp_path):
    program = """
import sys
from ffi_hpy.utils import FileLock
lock, counter = sys.argv[1:]
for _ in range(50):
    with FileLock(lock):
        with open(counter) as stream:
            n = int(stream.read())
        with open(counter, "w") as stream:
            stream.write(str(n + 1))
"""
    counter = tmp_path / "counter"
    counter.write_text("0")
    command = [sys.executable, "-c", program, str(tmp_path / "a.lock"), str(counter)]
    processes = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait(timeout=120) for process in processes] == [0] * 4
    assert counter.read_text() == "200"


# --- keyword arguments ----------------------------------------------------------------------------------------------


def positions(*args):
    return args


def test_keywords_become_positions():
    f = make_kwargs_wrapper(positions, ["a", "b"], (2,), ["c", "d"], {"d": None})
    assert f(1, c=3) == (1, 2, 3, None)
    assert f(b="b", a="a", d="d", c="c") == ("a", "b", "c", "d")
    with pytest.raises(TypeError, match="'c'"):
        f(1)
    with pytest.raises(TypeError):
        f(1, 2, 3)
    assert str(inspect.signature(f)) == "(a, b=2, *, c, d=None)"


def test_a_default_is_the_very_object():
    default = [1]
    assert make_kwargs_wrapper(positions, ["a"], (default,))()[0] is default


def test_a_wrapper_looks_like_its_prototype():
    def scale(x: int, y: int = 10) -> int:
        """The purpose."""

    f = make_kwargs_wrapper_from_signature(positions, inspect.signature(scale), scale)
    assert (f.__name__, f.__doc__, f(5)) == ("scale", "The purpose.", (5, 10))
    without = make_kwargs_wrapper_from_signature(positions, inspect.signature(scale), exclude_arg_names=["y"])
    assert without(x=1) == (1,)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ((["a", "a"],), ValueError, "Duplicate argument names"),
        ((["a", 1],), TypeError, "must be a string, got int"),
        ((["a b"],), ValueError, "not a valid Python identifier"),
        ((["if"],), ValueError, "is a Python keyword"),
        ((["a"], [1]), TypeError, "arg_defaults must be a tuple, got list"),
        ((["a"], (1, 2)), ValueError, "2 values but only 1"),
        ((["a"], (), ["a"]), ValueError, "both positional and keyword-only"),
        ((["a"], (), ["b", "b"]), ValueError, "Duplicate keyword-only argument names"),
        ((["a"], (), ["b"], {"c": 1}), ValueError, "not in kwonly_names"),
        ((["__i_target_func"],), ValueError, "conflict with internal names"),
        ((["a"], (), None, None, None, ["b"]), ValueError, "which are not arguments"),
    ],
    ids=str,
)
def test_impossible_parameters_are_refused(arguments, error, says):
    with pytest.raises(error, match=says):
        make_kwargs_wrapper(positions, *arguments)


@pytest.mark.parametrize(("text", "says"), [("(*args)", r"\*args"), ("(**kwargs)", r"\*\*kwargs")])
def test_signatures_without_fixed_parameters_are_refused(text, says):
    signature = inspect.signature(eval(f"lambda {text[1:-1]}: 0"))
    with pytest.raises(ValueError, match=f"{says} not supported"):
        make_kwargs_wrapper_from_signature(positions, signature)


# --- dataclasses ----------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Config:
    x: int
    y: object


Record = namedtuple("Record", "a b")


@pytest.mark.parametrize("_", range(2), ids=["first", "known class"])
def test_dataclasses_become_tuples_all_the_way_down(_):
    leaf = object()
    value = Config(1, {"k": [Config(2, leaf), Record(Config(3, None), 4)], "t": (Config(5, 6), 7)})
    unpacked = unpack_dataclass_to_tuple(value)
    assert unpacked == (1, {"k": [(2, leaf), Record((3, None), 4)], "t": ((5, 6), 7)})
    assert type(unpacked[1]["k"][1]) is Record
    assert unpack_dataclass_to_tuple("leaf") == "leaf"
    assert unpack_dataclass_to_tuple(Config) is Config


@dataclasses.dataclass
class Described:
    plain: typing.Optional[int]
    pairs: tuple[int, ...]
    names: dict[str, tuple[float, None]]
    items: list[int]
    inner: Config
    again: Config
    own: "Described"
    either: typing.Union[Config, None]
    anything: typing.Any
    bare: tuple


def test_a_dataclass_is_described_for_programs_that_write_code():
    from ffi_hpy.utils.unpack_dataclass import _extract_dataclass_to_tuple_schema as describe
    from ffi_hpy.utils.unpack_dataclass import _validate_dataclass_to_tuple_schema as validate

    config = {"x": None, "y": "unpack"}
    found = describe(Described)
    assert found == {
        "plain": None, "pairs": None, "names": None, "items": "unpack", "inner": config, "again": config,
        "own": "unpack", "either": "unpack", "anything": "unpack", "bare": "unpack",
    }  # fmt: skip
    validate(found)
    for value in (int, Config(1, 2), "Config"):
        with pytest.raises(TypeError, match="Expected a dataclass class"):
            describe(value)
    unresolved = dataclasses.make_dataclass("Unresolved", [("a", "Missing"), ("b", "int")])
    assert describe(unresolved) == {"a": "unpack", "b": "unpack"}


@pytest.mark.parametrize(
    ("schema", "error", "message"),
    [
        ([1], TypeError, "must be a dict, got list"),
        ({"a": "other"}, TypeError, "must be a dict, got str"),
        ({1: None}, TypeError, "must be a string, got int"),
        ({"a": {"b!": None}}, ValueError, "'b!', is not a valid Python identifier"),
        ({"class": None}, ValueError, "'class', is a Python keyword"),
    ],
    ids=repr,
)
def test_a_description_that_cannot_become_code_is_refused(schema, error, message):
    from ffi_hpy.utils.unpack_dataclass import _validate_dataclass_to_tuple_schema as validate

    with pytest.raises(error, match=message):
        validate(schema)


def test_a_wrapper_unpacks_the_selected_arguments():
    f = make_kwargs_wrapper(positions, ["a", "b"], (Config(0, 0),), map_dataclass_to_tuple=["b"])
    config = Config(1, 2)
    assert f(config) == (config, (0, 0))
    assert f(a=config, b=config) == (config, (1, 2))
