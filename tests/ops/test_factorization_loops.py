"""Factorizations and triangular solves in kernels: loops that agree with the reference, on all triangles, sides and types."""

import itertools

import numpy as np
import pytest

import indexing as ix
from indexing.graph.flattening import flatten
from indexing.ops.substitution import MAX_ROWS
from kernels import as_list, close, compiled
from library_programs import call

TOLERANCE = {"f32": 1e-4, "f64": 1e-11, "c64": 1e-4, "c128": 1e-11, "bf16": 3e-2}
DTYPES = {"f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128}


@pytest.fixture(autouse=True)
def without_solvers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have programs planned as for devices that have no functions for whole matrices."""
    monkeypatch.setattr("indexing.planning.program.solver_of", lambda instruction, dialect: None)


def matrices(kind: str, *sizes: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=sizes) + (1j * rng.normal(size=sizes) if kind[0] == "c" else 0)
    return values.astype(DTYPES.get(kind, np.float32))


def agree(text: str, kind: str, *arrays: np.ndarray) -> None:
    """Kernels alone compute what the reference does, NaN at the same places."""
    module = ix.hlo.parse(text)
    executable = compiled(module)
    assert executable.kernels and not executable.reference_steps
    values = [a.astype(p.shape.dtype) for a, p in zip(arrays, module.entry.parameters, strict=True)]
    with np.errstate(all="ignore"):
        expected = as_list(ix.evaluate(module, *values))
    for one, other in zip(as_list(executable(*values)), expected, strict=True):
        close(one, other, TOLERANCE[kind])


def cholesky(kind: str, sizes: str, lower: str = "true", layout: str = "") -> str:
    shape = f"{kind}[{sizes}]{layout}"
    return f"HloModule m\nENTRY e {{\n  a = {shape} parameter(0)\n  ROOT r = {shape} cholesky(a), lower={lower}\n}}"


def solve(kind: str, a: str, b: str, left: str, lower: str, unit: str, transpose: str, layout: str = "") -> str:
    return f"""HloModule m
ENTRY e {{
  a = {kind}[{a}]{layout} parameter(0)
  b = {kind}[{b}]{layout} parameter(1)
  ROOT x = {kind}[{b}]{layout} triangular-solve(a, b), left_side={left}, lower={lower}, unit_diagonal={unit}, transpose_a={transpose}
}}"""


@pytest.mark.parametrize("kind", ["c64", "c128"])
@pytest.mark.parametrize("n", [63, 64, 75])
def test_cholesky_by_panels(kind: str, n: int) -> None:
    """From 64 columns on, in panels of 32, of which the last may have fewer. One matrix is not positive definite."""
    m = matrices(kind, 2, n, n)
    a = m @ np.swapaxes(m, -1, -2).conj() + n * np.eye(n, dtype=m.dtype)
    a[1, 40, 40] = -1
    a[..., np.triu(np.ones((n, n), bool), 1)] = np.nan
    text = cholesky(kind, f"2,{n},{n}")
    stated = [node.opcode for node in flatten(ix.hlo.parse(text).entry).nodes]
    assert (stated.count("while"), stated.count("dot")) == {63: (1, 0), 64: (1, 0), 75: (2, 1)}[n]
    agree(text, kind, a)


@pytest.mark.parametrize("lower", ["true", "false"])
@pytest.mark.parametrize(
    ("kind", "batch", "layout"),
    [("f32", (), ""), ("f64", (2, 3), ""), ("c64", (2,), ""), ("c128", (), "{0,1}"), ("bf16", (3,), "{1,2,0}")],
)
def test_cholesky_reads_one_triangle(kind: str, batch: tuple[int, ...], layout: str, lower: str) -> None:
    m = matrices(kind, *batch, 7, 7)
    a = m @ np.swapaxes(m, -1, -2).conj() + 7 * np.eye(7, dtype=m.dtype)
    outside = np.triu(np.ones((7, 7), bool), 1)
    a[..., outside if lower == "true" else outside.T] = np.nan
    agree(cholesky(kind, ",".join(map(str, a.shape)), lower, layout), kind, a)


def test_cholesky_of_what_is_not_positive_definite_is_nan_from_there_on() -> None:
    a = np.stack([np.eye(4), np.diag([1, 4, -1, 1]), np.diag([0, 1, 1, 1]), np.full((4, 4), np.nan)])
    agree(cholesky("f64", "4,4,4"), "f64", a)


OPTIONS = list(
    itertools.product(["true", "false"], ["true", "false"], ["true", "false"], ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
)


@pytest.mark.parametrize(("left", "lower", "unit", "transpose"), OPTIONS)
def test_solves_read_one_triangle(left: str, lower: str, unit: str, transpose: str) -> None:
    a, b = matrices("c64", 2, 5, 5) + 4 * np.eye(5, dtype=np.complex64), matrices("c64", 2, 5, 3, seed=1)
    outside = np.triu(np.ones((5, 5), bool), 0 if unit == "true" and lower == "true" else 1)
    a[:, outside if lower == "true" else outside.T] = np.nan
    b = b if left == "true" else np.swapaxes(b, 1, 2)
    agree(solve("c64", "2,5,5", ",".join(map(str, b.shape)), left, lower, unit, transpose), "c64", a, b)


@pytest.mark.parametrize("kind", ["f32", "f64", "bf16"])
@pytest.mark.parametrize(
    ("a", "b", "layout"), [("6,6", "6,1", ""), ("6,6", "6,4", "{0,1}"), ("2,3,1,1", "2,3,1,2", "")]
)
def test_solves_of_each_type_and_layout(kind: str, a: str, b: str, layout: str) -> None:
    sizes = [tuple(map(int, text.split(","))) for text in (a, b)]
    left = matrices(kind, *sizes[0]) + 4 * np.eye(sizes[0][-1], dtype=np.float32)
    text = solve(kind, a, b, "true", "true", "false", "NO_TRANSPOSE", layout)
    agree(text, kind, left, matrices(kind, *sizes[1], seed=2))


def test_solves_divide_by_zero_and_keep_what_is_not_finite_in_its_column() -> None:
    a = np.tril(matrices("f64", 5, 5))
    a[2, 2] = 0
    b = matrices("f64", 5, 4, seed=1)
    b[0, 1], b[3, 2] = np.nan, np.inf
    agree(solve("f64", "5,5", "5,4", "true", "true", "false", "NO_TRANSPOSE"), "f64", a, b)


def lu(kind: str, batch: str, m: int, n: int) -> tuple[str, str]:
    k = min(m, n)
    results = f"({kind}[{batch}{m},{n}], s32[{batch}{k}], s32[{batch[:-1]}])"
    return results, f"{kind}[{batch}{m},{n}]"


@pytest.mark.parametrize("kind", ["s", "d", "c", "z"])
@pytest.mark.parametrize(("batch", "m", "n"), [("", 6, 6), ("3,", 7, 4), ("2,2,", 3, 5), ("4,", 1, 1)])
def test_lu_exchanges_rows_as_the_reference_does(kind: str, batch: str, m: int, n: int) -> None:
    element = dict(zip("sdcz", DTYPES, strict=True))[kind]
    results, operand = lu(element, batch, m, n)
    sizes = [int(s) for s in batch.split(",") if s]
    agree(call(f"lapack_{kind}getrf_ffi", results, [operand]), element, matrices(element, *sizes, m, n))


def test_lu_of_singular_matrices_ties_and_nan() -> None:
    rows = [
        [[1, 2, 3], [2, 4, 6], [1, 1, 1]],  # no third pivot
        [[0, 0, 0], [0, 1, 0], [0, 0, 1]],  # no first pivot
        [[1, 5, 2], [-1, 3, 1], [1, 2, 2]],  # of equal magnitudes the first
        [[1, 2, 3], [np.nan, 1, 1], [np.nan, 4, 5]],  # the first NaN
        [[np.inf, 1, 2], [1, -np.inf, 3], [2, 2, 2]],
    ]
    results, operand = lu("f64", "5,", 3, 3)
    agree(call("lapack_dgetrf_ffi", results, [operand]), "f64", np.array(rows))


def qr(kind: str, batch: str, m: int, n: int) -> str:
    """Q of the first columns, and R with the reflections below it."""
    k = min(m, n)
    factors, taus, first = f"{kind}[{batch}{m},{n}]", f"{kind}[{batch}{k}]", f"{kind}[{batch}{m},{k}]"
    whole = ",".join(f"[0:{s}]" for s in (*batch.split(",")[:-1], m, k))
    letter = {"f32": "s", "f64": "d"}[kind]
    return f"""HloModule m
ENTRY e {{
  a = {factors} parameter(0)
  c = ({factors}, {taus}) custom-call(a), custom_call_target="lapack_{letter}geqrf_ffi", api_version=API_VERSION_TYPED_FFI
  r = {factors} get-tuple-element(c), index=0
  t = {taus} get-tuple-element(c), index=1
  v = {first} slice(r), slice={{{whole}}}
  q = {first} custom-call(v, t), custom_call_target="lapack_{letter}orgqr_ffi", api_version=API_VERSION_TYPED_FFI
  ROOT x = ({factors}, {taus}, {first}) tuple(r, t, q)
}}"""


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize(("batch", "m", "n"), [("", 6, 6), ("3,", 7, 4), ("2,2,", 3, 5), ("4,", 1, 1), ("", 40, 33)])
def test_reflections_are_those_of_the_reference(kind: str, batch: str, m: int, n: int) -> None:
    sizes = [int(s) for s in batch.split(",") if s]
    agree(qr(kind, batch, m, n), kind, matrices(kind, *sizes, m, n))


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1e25])
def test_reflections_of_small_and_large_numbers(scale: float) -> None:
    """Squares of the elements are no numbers of f32."""
    a = matrices("f32", 9, 5) * np.float32(scale)
    r, _, q = compiled(ix.hlo.parse(qr("f32", "", 9, 5)))(a)
    np.testing.assert_allclose(q.astype(np.float64) @ np.triu(r[:5]) / scale, a / np.float64(scale), atol=1e-5)
    np.testing.assert_allclose(q.T @ q, np.eye(5), atol=1e-5)


def test_columns_without_a_reflection() -> None:
    a = np.array([[[0, 1], [0, 2], [0, 3]], [[-2, 1], [0, 0], [0, 0]], [[1, 1], [1e-30, 1], [0, 1]]], np.float32)
    agree(qr("f32", "3,", 3, 2), "f32", a)


def test_large_and_empty_matrices_are_left_to_the_reference() -> None:
    n = MAX_ROWS + 1
    assert compiled(cholesky("c64", f"{n},{n}")).reference_steps
    assert compiled(solve("c64", f"{n},{n}", f"{n},1", "true", "true", "false", "NO_TRANSPOSE")).reference_steps
    results, operand = lu("c64", "", n, 2)
    assert compiled(call("lapack_cgetrf_ffi", results, [operand])).reference_steps
    assert compiled(qr("f32", "", n, 2)).reference_steps
    empty = compiled(cholesky("f32", "0,3,3"))
    assert empty(np.zeros((0, 3, 3), np.float32)).shape == (0, 3, 3)


def test_equal_factors_of_one_matrix_are_computed_once() -> None:
    body = """
  a = f32[3,3] parameter(0)
  b = f32[3,3] parameter(1)
  one = f32[3,3] cholesky(a), lower=true, metadata={op_name="one"}
  same = f32[3,3] cholesky(a), lower=true, metadata={op_name="same"}
  upper = f32[3,3] cholesky(a), lower=false
  other = f32[3,3] cholesky(b), lower=true"""
    text = f"HloModule m\nENTRY e {{{body}\n  ROOT t = (f32[3,3], f32[3,3], f32[3,3], f32[3,3]) tuple(one, same, upper, other)\n}}"
    graph = flatten(ix.hlo.parse(text).entry)
    assert [n.opcode for n in graph.nodes].count("while") == 3
    first, same, upper, other = graph.result
    assert first == same and len({first, upper, other}) == 3
    m, n = matrices("f32", 3, 3), matrices("f32", 3, 3, seed=1)
    agree(text, "f32", m @ m.T + np.eye(3), n @ n.T + np.eye(3))


def test_the_unknowns_of_all_columns_are_neighbours() -> None:
    """A step's sums over the rows of what is known have a thread a column, without a transpose."""
    module = ix.hlo.parse(solve("f32", "90,15,15", "90,15,48", "true", "true", "false", "NO_TRANSPOSE"))
    emitters = {kernel.emitter for kernel in compiled(module).kernels}
    assert "loop" in emitters and not emitters & {"transpose", "reduction"}
