"""from_dlpack and calls raise the exception of a producer's __dlpack__. Nothing here needs NumPy."""

import sys

import pytest

from ffi_hpy import from_dlpack


@pytest.mark.parametrize("kind", [ZeroDivisionError, MemoryError, RecursionError, TimeoutError, KeyboardInterrupt])
def test_an_error_of_a_producer_comes_out_and_it_is_not_asked_again(testing, kind):
    class Broken:
        n_asked = 0

        def __dlpack__(self, **options):
            self.n_asked += 1
            raise kind("broken producer")

    for use in (testing.echo, from_dlpack, lambda x: testing.echo([x])):
        broken = Broken()
        with pytest.raises(kind, match="broken producer"):
            use(broken)
        assert broken.n_asked == 1


@pytest.mark.skipif(
    getattr(sys, "pypy_version_info", (8,)) < (8,), reason="PyPy 7.3 may abort where its stack ends in a method of HPy"
)
def test_a_producer_that_asks_for_itself_is_a_recursion_error(testing):
    class Endless:
        def __dlpack__(self, **options):
            return use(self)

    for use in (testing.echo, from_dlpack):
        with pytest.raises(RecursionError):
            use(Endless())
