"""Values of its elements that a thread keeps from pass to pass."""

import pytest

import indexing as ix
from indexing.kernels.emitters.rows.match import row_space
from indexing.kernels.emitters.rows.row_cache import RowCache, row_cache_of
from kernels import check, visits
from row_programs import REDUCERS


def cache_of(text: str) -> RowCache:
    space = row_space(ix.hlo.parse(text).entry)
    assert space is not None
    return row_cache_of(space, keeps=True)


@pytest.mark.parametrize("sum_is_output", [False, True])
def test_a_sum_is_kept_instead_of_its_operands(sum_is_output: bool) -> None:
    """A gated residual and its norm: by hand, 4 bytes of an element instead of 8, and one load of its gate instead of three."""
    text = gated_norm("r" if sum_is_output else "")
    kernel = check(text, "rows", tolerance=1e-4)
    assert (visits(kernel.thread_to_input(2), (192,)) == 500).all()
    cache = cache_of(text)
    assert cache.bytes == cache.bytes_at_once == 4


def test_operands_that_are_needed_anyway_are_kept() -> None:
    """Their sum would be a third value, or a second one that saves no load."""
    for text in (gated_norm("x, y"), gated_norm("").replace("multiply(w, y)", "multiply(x, y)")):
        check(text, "rows", tolerance=1e-4)
        kept = cache_of(text).first
        assert {i.opcode for i in kept} == {"parameter"}


def gated_norm(sums: str) -> str:
    """The norm of rows of x + g * y, with a gate for each column; to which `sums` of these are added."""
    added = "".join(
        f" o{k} = f32[500,192] add({f'o{k - 1}' if k else 'n'}, {s})"
        for k, s in enumerate(sums.split(", ") if sums else [])
    )
    last = f"o{sums.count(',')}" if sums else "n"
    return f"""{REDUCERS}
    f {{ x = f32[500,192] parameter(0) y = f32[500,192] parameter(1) g = f32[192] parameter(2) z = f32[] constant(0)
      w = f32[500,192] broadcast(g), dimensions={{1}} m = f32[500,192] multiply(w, y) r = f32[500,192] add(x, m)
      t = f32[500] reduce(r, z), dimensions={{1}}, to_apply=add b = f32[500,192] broadcast(t), dimensions={{0}}
      d = f32[500,192] subtract(r, b) q = f32[500,192] multiply(d, d) v = f32[500] reduce(q, z), dimensions={{1}}, to_apply=add
      c = f32[500,192] broadcast(v), dimensions={{0}} n = f32[500,192] divide(d, c){added} ROOT a = f32[500,192] abs({last}) }}"""
