"""What the verifier says of kernels written by hand."""

import pytest

from indexing._core import constant, variable
from indexing.kernels.ir import nodes as ir
from indexing.kernels.verify import verify
from ir_kernels import TH_X, given, kernel, result


def gathered(index: ir.Value) -> ir.Kernel:
    """out[th_x] = p1[index], with the index taken to lie in [0, 9]."""
    number = 6
    body = [
        ir.LetIndex(number, index),
        ir.Let("v", ir.Load("f32", "p1", (variable(number),))),
        ir.Store("o0", (TH_X,), ir.Ref("f32", "v")),
    ]
    return kernel(body, [given(0, "s64", 32), given(1, "f32", 10), result(0, "f32", 32)], 1, 32, j=("let", 0, 9))


def statuses(found: ir.Kernel) -> set[str]:
    return {c.status for c in verify(found).checks if "index j" in c.subject}


LOADED = ir.Load("s64", "p0", (TH_X,))


def number(value: int) -> ir.Constant:
    return ir.Constant("s64", value)


@pytest.mark.parametrize(
    ("index", "status"),
    [
        (ir.Op("clamp", "s64", (number(0), LOADED, number(9))), "proved"),
        (ir.Op("clamp", "s64", (number(0), LOADED, number(10))), "open"),
        (ir.Op("add", "s64", (LOADED, number(1))), "open"),  # a sum that may wrap
        (ir.Op("sub", "s64", (LOADED, LOADED)), "open"),
        (ir.Op("clamp", "s64", (number(0), ir.Op("add", "s64", (LOADED, LOADED)), number(9))), "proved"),
    ],
)
def test_indices_of_data_are_proved_from_their_clamps(index: ir.Value, status: str) -> None:
    assert statuses(gathered(index)) == {status}


def test_an_access_outside_is_refuted() -> None:
    for shift, status in ((0, "proved"), (1, "refuted")):
        body = [ir.Store("o0", (TH_X + constant(shift),), ir.Constant("f32", 1.0))]
        found = verify(kernel(body, [result(0, "f32", 32)], 1, 32)).checks
        assert {c.status for c in found if c.kind == "in bounds"} == {status}
