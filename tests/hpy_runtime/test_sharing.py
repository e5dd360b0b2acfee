"""Several threads use the same globals, fields, types and modules at once, and private builders and trackers."""

from __future__ import annotations

import gc
import sys
import threading

import pytest
from test_hpy_runtime import HERE, IS_PYPY, collect, compile_universal, load_runtime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

N_THREADS = 4
N_ROUNDS = 200 if IS_PYPY else 2000


@pytest.fixture(scope="session")
def sharing_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return compile_universal(HERE / "sharing.c", tmp_path_factory.mktemp("sharing") / "sharing.hpy0.so")


@pytest.fixture(scope="session")
def sharing(sharing_path: str) -> Any:
    return load_runtime().load("sharing", sharing_path)


def at_once(work: Callable[[int], None]) -> None:
    """Run work(0), work(1), ... on threads that start at the same moment; an exception of a thread is raised here."""
    barrier = threading.Barrier(N_THREADS)
    raised: list[BaseException] = []

    def run(i: int) -> None:
        barrier.wait()
        try:
            work(i)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in raised:
        raise error


def is_whole(pair: list[int]) -> bool:
    """Return whether a stored object is unchanged."""
    return type(pair) is list and len(pair) == 2 and pair[0] == pair[1]


def test_a_global_is_stored_and_loaded_by_all_threads(sharing: Any) -> None:
    sharing.store([0, 0])

    def work(i: int) -> None:
        for k in range(N_ROUNDS):
            sharing.store([(i, k), (i, k)])
            assert is_whole(sharing.load())

    at_once(work)


def test_a_field_of_one_object_is_stored_and_loaded_by_all_threads(sharing: Any) -> None:
    cell = sharing.Cell([0, 0])

    def work(i: int) -> None:
        for k in range(N_ROUNDS):
            cell.put([(i, k), (i, k)])
            assert is_whole(cell.get())

    at_once(work)


def test_a_collection_meets_fields_that_change(sharing: Any) -> None:
    cell = sharing.Cell([0, 0])

    def work(i: int) -> None:
        for k in range(N_ROUNDS // 20):
            if i == 0 and k % 4 == 0:
                gc.collect()
            ring = sharing.Cell()
            ring.put([ring, [k, k]])
            cell.put([k, k])
            assert is_whole(cell.get())
            assert is_whole(ring.get()[1])

    at_once(work)


def test_builders_and_trackers_of_all_threads_do_not_meet(sharing: Any) -> None:
    common = [object() for _ in range(20)]
    counts = [sys.getrefcount(o) for o in common] if hasattr(sys, "getrefcount") else []

    def work(i: int) -> None:
        for k in range(N_ROUNDS // 4):
            items = [*common, (i, k)]
            assert sharing.gather(*items) == (items, tuple(items))

    at_once(work)
    if counts:
        assert [sys.getrefcount(o) for o in common] == counts


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("index", [2, -1, 1 << 40])
def test_an_item_that_a_builder_has_no_room_for_is_an_error(sharing: Any, kind: type, index: int) -> None:
    with pytest.raises((IndexError, SystemError)):  # the interpreter's choice
        sharing.set_out_of_range(kind, index)


@pytest.mark.thread_unsafe  # counts the live objects
def test_every_instance_of_a_shared_type_is_destroyed_once(sharing: Any) -> None:
    class Derived(sharing.Plain):  # type: ignore[misc, name-defined]
        pass

    collect()
    before = sharing.plain_alive()

    def work(i: int) -> None:
        for _ in range(N_ROUNDS):
            kept = [sharing.Plain(), Derived(), sharing.Plain()]
            del kept[i % 3]

    at_once(work)
    collect()
    assert sharing.plain_alive() == before


def test_types_are_made_by_all_threads(sharing: Any) -> None:
    def work(i: int) -> None:
        for _ in range(N_ROUNDS // 20):
            made = sharing.make_type()
            assert made.__name__ == "Plain"
            assert type(made()) is made

    at_once(work)


def test_modules_are_made_by_all_threads_from_one_file(sharing_path: str) -> None:
    runtime = load_runtime()
    modules: list[Any] = []

    def work(i: int) -> None:
        for k in range(N_ROUNDS // 100):
            module = runtime.load("sharing", sharing_path)
            modules.append(module)
            cell = module.Cell([k, k])
            assert is_whole(cell.get())
            assert module.gather(i) == ([i], (i,))

    at_once(work)
    assert len({id(module) for module in modules}) == len(modules) == N_THREADS * (N_ROUNDS // 100)
    assert len({id(module.Cell) for module in modules}) == len(modules)
