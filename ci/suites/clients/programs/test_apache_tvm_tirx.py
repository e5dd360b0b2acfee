"""A program for apache-tvm-tirx, whose wheel has no tests: it builds, simplifies, compares and prints expressions."""

import pytest
import tvm_tirx as tvm
from tvm_tirx import tirx


def test_expressions_are_simplified():
    x = tirx.Var("x", "int32")
    analyzer = tvm.sym.Analyzer()
    tvm.ir.assert_structural_equal(analyzer.simplify(x + 0), x)
    assert int(analyzer.simplify(x * 0)) == 0


def test_expressions_are_compared_by_structure():
    x, y = tirx.Var("x", "int32"), tirx.Var("y", "int32")
    tvm.ir.assert_structural_equal(x + y * 2, x + y * 2)
    with pytest.raises(ValueError, match="StructuralEqual"):
        tvm.ir.assert_structural_equal(x + y, x - y)


def test_an_expression_is_written_and_read():
    x = tirx.Var("x", "int32")
    again = tvm.ir.load_json(tvm.ir.save_json(x + 1))
    tvm.ir.assert_structural_equal(again, x + 1, map_free_vars=True)
    assert str(again) == str(x + 1)


def test_the_processor_is_there():
    assert tvm.cpu(0).exist
