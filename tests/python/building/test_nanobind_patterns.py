"""Pattern files of nanobind's stub command."""

import pytest

from ffi_hpy._nanobind.patterns import read_patterns

STUB = """import x

class Box[T](Generic[T]):
    def __lt__(self, other: T) -> bool:
        \"\"\"Compares.\"\"\"
        ...
    def __gt__(self, other: T) -> bool: ...
def first[T](items: list[T]) -> T: ...
def second[T: dict[str, list[int]], *U](items: list[T]) -> T: ...
"""

pytestmark = pytest.mark.same_everywhere


@pytest.fixture
def apply(tmp_path):
    """A function that applies a pattern file to the stub."""

    def run(text, **options):
        (tmp_path / "patterns.nb").write_text(text)
        return read_patterns([tmp_path / "patterns.nb"]).apply(STUB, "m", **options)

    return run


def test_a_number_of_a_group_ends_before_other_characters(apply):
    changed = apply("__(?:(lt)|(gt))__:\n    def __\\1\\2__(self, n: int) -> bool: ...\n")
    assert "    def __lt__(self, n: int) -> bool: ...\n    def __gt__(self, n: int) -> bool: ...\n" in changed


def test_groups_have_names(apply):
    assert "    def __lt__(self): ..." in apply("__(?P<name>l.)__:\n    def __\\1__(self): ...\n")
    assert "    def lt(self): ..." in apply("__(?P<name>l.)__:\n    def \\name(self): ...\n")
    assert "    def __lt__(self): ..." in apply("__(?P<op>l.)__:\n    def __\\op__(self): ...\n")
    assert "    def gt_op(self): ..." in apply("__(?P<op>g.)__:\n    def \\op_op(self): ...\n")


def test_type_parameters_are_known_to_every_python(apply):
    new = [f"def {name}(items: list[int]) -> int: ...\n" for name in ("first", "second")]
    changed = apply(f"m.first:\n    {new[0]}m.second:\n    {new[1]}", with_docstrings=False)
    assert changed.endswith("".join(new))
    assert "class Box[T](Generic[T]):\n" in changed
    assert "Compares" not in changed
