"""A program for apache-tvm, whose wheel has no tests: it writes, changes, compiles and runs functions."""

import numpy as np
import pytest
import tvm
from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Added:
    @T.prim_func
    def main(a: T.Buffer((16,), "float32"), b: T.Buffer((16,), "float32"), c: T.Buffer((16,), "float32")):
        for i in range(16):
            c[i] = a[i] + b[i]


def test_a_compiled_function_runs():
    library = tvm.compile(Added, target="llvm")
    a, b, c = (tvm.runtime.tensor(np.full(16, x, "float32")) for x in (1, 2, 0))
    library["main"](a, b, c)
    assert (c.numpy() == 3).all()


def test_an_attribute_is_set_on_a_copy():
    function = Added["main"]
    changed = function.with_attr("name", "first")
    assert function.with_attr("name", "second").attrs["name"] == "second"
    assert changed.attrs["name"] == "first"
    assert "name" not in function.attrs
    tvm.ir.assert_structural_equal(changed.without_attr("name"), function)


def test_a_pass_in_python_changes_functions():
    seen = []

    @tvm.tirx.transform.prim_func_pass(opt_level=0)
    def mark(function, module, context):
        seen.append(str(function.attrs["global_symbol"]))
        return function.with_attr("seen", 1)

    marked = mark(Added)
    assert seen == ["main"]
    assert marked["main"].attrs["seen"] == 1
    assert "seen" not in Added["main"].attrs


def test_errors_are_exceptions():
    with pytest.raises(ValueError, match=r"no\.such"):
        tvm.get_global_func("no.such")
    with pytest.raises(ValueError, match="StructuralEqual"):
        tvm.ir.assert_structural_equal(Added["main"], Added["main"].with_attr("k", 1))


def test_devices_are_found_by_name():
    assert tvm.cpu(0).exist
    assert tvm.device("cpu", 0) == tvm.cpu(0)


def test_a_module_is_written_and_read():
    again = tvm.ir.load_json(tvm.ir.save_json(Added))
    tvm.ir.assert_structural_equal(again, Added)
    assert str(again) == str(Added)
