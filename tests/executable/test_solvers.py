"""Factors and triangular solves of whole matrices by functions of C, on all triangles, sides, types and sizes."""

import itertools

import numpy as np
import pytest

import indexing as ix
from indexing.device.table import portable_device
from indexing.kernels.solvers import solver_of
from indexing.model.instruction_time import predict_instruction
from indexing.runtime.host import Host
from kernels import compiled
from library_programs import call
from plain_device import DeviceWithMemory

DTYPES = {"f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128}
TOLERANCE = {"f32": 3e-5, "f64": 1e-13, "c64": 3e-5, "c128": 1e-13}
LETTERS = {"f32": "s", "f64": "d", "c64": "c", "c128": "z"}  # of LAPACK
SIZES = [8, 13, 33, 65, 132]  # rows of one tile, of ends of tiles, of several vectors and panels


def normal(*sizes: int, seed: int = 0, kind: str = "f64") -> np.ndarray:
    draw = np.random.default_rng(seed)
    reals = draw.normal(size=sizes)
    return reals + 1j * draw.normal(size=sizes) if kind.startswith("c") else reals


def positive(*sizes: int, kind: str = "f64") -> np.ndarray:
    m = normal(*sizes, kind=kind)
    return m @ np.swapaxes(m.conj(), -1, -2) / sizes[-1] + np.eye(sizes[-1])


def triangular(*sizes: int, kind: str = "f64") -> np.ndarray:
    return np.tril(normal(*sizes, kind=kind)) / sizes[-1] ** 0.5 + 2 * np.eye(sizes[-1])


def outside(n: int, lower: bool) -> np.ndarray:
    """The triangle that is not read."""
    return np.triu(np.ones((n, n), bool), 1) if lower else np.tril(np.ones((n, n), bool), -1)


def run(text: str, *arrays: np.ndarray) -> list[np.ndarray]:
    """The results of the solver of a program's root, whose work areas are NaN at first."""
    root = ix.hlo.parse(text).entry.root
    solver = solver_of(root, "c")
    assert solver is not None
    work = np.full(solver.work_bytes, 255, np.uint8)
    operands = [a.astype(o.shape.dtype) for a, o in zip(arrays, root.operands, strict=True)]
    results = [np.full(s.dimensions, -7, s.dtype) for s in root.shape.leaves]
    host = Host()
    host.load(solver)([host.share(a) for a in (np.array(solver.sizes), *operands, *results, work)])
    return results


def cholesky(kind: str, sizes: str, lower: bool, layout: str = "") -> str:
    shape = f"{kind}[{sizes}]{layout}"
    return f"ENTRY e {{\n  a = {shape} parameter(0)\n  ROOT r = {shape} cholesky(a), lower={str(lower).lower()}\n}}"


def predicted(kind: str, n: int) -> float:
    root = ix.hlo.parse(cholesky(kind, f"{n},{n}", True)).entry.root
    seconds = predict_instruction(root, portable_device("c")).seconds
    assert seconds is not None
    return seconds


def solve(kind: str, a: str, b: str, left: bool, lower: bool, unit: bool, transpose: str = "NO_TRANSPOSE") -> str:
    words = [str(flag).lower() for flag in (left, lower, unit)]
    return f"""ENTRY e {{
  a = {kind}[{a}] parameter(0)
  b = {kind}[{b}] parameter(1)
  ROOT x = {kind}[{b}] triangular-solve(a, b), left_side={words[0]}, lower={words[1]}, unit_diagonal={words[2]}, transpose_a={transpose}
}}"""


def lu(kind: str, batch: str, m: int, n: int) -> str:
    results = f"({kind}[{batch}{m},{n}], s32[{batch}{min(m, n)}], s32[{batch[:-1]}])"
    return call(f"lapack_{LETTERS[kind]}getrf_ffi", results, [f"{kind}[{batch}{m},{n}]"])


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_cholesky_factors_by_one_triangle(n: int, kind: str, lower: bool) -> None:
    a = positive(n, n, kind=kind)
    want = np.linalg.cholesky(a)
    a[outside(n, lower)] = np.nan
    (factor,) = run(cholesky(kind, f"{n},{n}", lower), a)
    np.testing.assert_allclose(factor, want if lower else want.T.conj(), atol=TOLERANCE[kind])


def test_factors_of_a_batch_on_a_device_that_launches_each_step() -> None:
    a = positive(5, 40, 40)
    for device in ("cpu", DeviceWithMemory()):
        program = compiled(cholesky("f64", "5,40,40", True), device)
        assert [i.name for i in program.solver_steps] == ["r"] and not program.kernels and not program.reference_steps
        np.testing.assert_allclose(program(a), np.linalg.cholesky(a), atol=1e-13)


def test_a_jax_program_of_solvers() -> None:
    jax = pytest.importorskip("jax")
    a, b = normal(45, 45).astype(np.float32), normal(45, 3, seed=1).astype(np.float32)
    program = compiled(ix.from_jax(jax.numpy.linalg.solve, a, b), "cpu", tolerance=1)
    assert len(program.solver_steps) == 3 and not program.reference_steps
    np.testing.assert_allclose(program(a, b), np.linalg.solve(a.astype(np.float64), b), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("first", [0, 5, 6, 31])
def test_a_matrix_that_is_not_positive_definite_is_nan_from_there_on(first: int) -> None:
    a = positive(33, 33)
    a[first, first] = -1
    (factor,) = run(cholesky("f32", "33,33", True), a)
    assert np.isnan(factor[first:, first]).all()
    np.testing.assert_allclose(
        factor[:, :first], np.linalg.cholesky(positive(33, 33))[:, :first], atol=1e9 if first else 0
    )
    assert np.isfinite(factor[:, :first]).all()
    assert not factor[np.triu_indices(33, 1)].any()


FLAGS = list(itertools.product([True, False], repeat=3))


@pytest.mark.parametrize("transpose", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
@pytest.mark.parametrize(("left", "lower", "unit"), FLAGS)
@pytest.mark.parametrize(
    ("kind", "n", "columns"),
    [
        ("f32", 45, 1),
        ("f64", 45, 3),
        ("f32", 13, 4),
        ("f64", 45, 70),
        ("f32", 40, 300),
        ("c64", 13, 1),
        ("c128", 21, 9),
    ],
)
def test_solutions_by_one_triangle(
    kind: str, n: int, columns: int, left: bool, lower: bool, unit: bool, transpose: str
) -> None:
    a = triangular(n, n, kind=kind) if lower else triangular(n, n, kind=kind).T
    b = normal(*((n, columns) if left else (columns, n)), seed=1, kind=kind)
    whole = a.copy()
    if unit:
        np.fill_diagonal(whole, 1)
        np.fill_diagonal(a, np.nan)
    whole = {"NO_TRANSPOSE": whole, "TRANSPOSE": whole.T, "ADJOINT": whole.T.conj()}[transpose]
    want = np.linalg.solve(whole, b) if left else np.linalg.solve(whole.T, b.T).T
    a[outside(n, lower)] = np.nan
    (x,) = run(solve(kind, f"{n},{n}", ",".join(map(str, b.shape)), left, lower, unit, transpose), a, b)
    np.testing.assert_allclose(x, want, atol=TOLERANCE[kind] * np.abs(want).max())


def test_solutions_of_a_batch() -> None:
    a, b = triangular(3, 2, 32, 32), normal(3, 2, 32, 5, seed=1)
    (x,) = run(solve("f64", "3,2,32,32", "3,2,32,5", True, True, False), a, b)
    np.testing.assert_allclose(x, np.linalg.solve(a, b), atol=1e-12)


@pytest.mark.parametrize("columns", [2, 9])
@pytest.mark.parametrize("kind", ["f32", "c64"])
def test_what_is_not_finite_stays_in_its_column(kind: str, columns: int) -> None:
    a, b = triangular(12, 12), normal(12, columns, seed=1)
    a[4, 4], b[6, 1] = 1e-42, np.nan  # the inverse of the first is no number of f32
    b[4] = a[4, :4] @ np.linalg.solve(a[:4, :4], b[:4]) + 1e-6
    (x,) = run(solve(kind, "12,12", f"12,{columns}", True, True, False), a, b)
    assert np.isfinite(x[:, 0]).all() and np.isfinite(x[:6, 1]).all() and np.isnan(x[6:, 1]).all()


SHAPES = [*((n, n) for n in SIZES), (70, 9), (9, 70), (64, 33), (33, 64)]


@pytest.mark.parametrize(
    ("kind", "m", "n"), [*((k, *s) for k in DTYPES for s in SHAPES), ("c64", 4, 4), ("c64", 5, 5), ("c128", 4, 5)]
)
def test_elimination_with_the_largest_pivots(kind: str, m: int, n: int) -> None:
    a = normal(m, n, kind=kind).astype(DTYPES[kind])
    factors, pivots, info = run(lu(kind, "", m, n), a)
    rows, k = np.arange(m), min(m, n)
    for j, row in enumerate(pivots - 1):
        rows[[j, row]] = rows[[row, j]]
    lower, upper = np.tril(factors[:, :k], -1) + np.eye(m, k), np.triu(factors[:k])
    sizes = np.abs(lower.real) + np.abs(lower.imag)
    assert info == 0 and sizes.max() <= (2 if kind.startswith("c") else 1)
    np.testing.assert_allclose(
        lower.astype(np.result_type(lower, np.float64)) @ upper, a[rows], atol=10 * TOLERANCE[kind]
    )


def test_elimination_of_a_batch_of_tall_matrices() -> None:
    a = normal(3, 40, 33)
    for one, factors, pivots in zip(a, *run(lu("f64", "3,", 40, 33), a)[:2], strict=True):
        alone = run(lu("f64", "", 40, 33), one)
        np.testing.assert_array_equal(factors, alone[0])
        np.testing.assert_array_equal(pivots, alone[1])


def test_batches_of_two_sizes_in_one_program() -> None:
    text = """ENTRY e {
  a = f64[40,40] parameter(0)
  b = f64[3,33,33] parameter(1)
  l = f64[40,40] cholesky(a), lower=true
  m = f64[3,33,33] cholesky(b), lower=true
  ROOT r = (f64[40,40], f64[3,33,33]) tuple(l, m)
}"""
    a, b = positive(40, 40), positive(3, 33, 33)
    for factor, one in zip(compiled(text, "cpu")(a, b), (a, b), strict=True):
        np.testing.assert_allclose(factor, np.linalg.cholesky(one), atol=1e-13)


def test_elimination_without_pivots_with_ties_and_with_nan() -> None:
    a = np.stack([normal(34, 34)] * 4)
    a[0, :, 20] = 0
    a[1, :, :2] = 0
    a[2, 3, 0], a[2, 7, 0] = -9, 9  # of equal magnitudes the first
    a[3, 5, 0], a[3, 6, 0] = np.nan, np.nan
    _, pivots, info = run(lu("f64", "4,", 34, 34), a)
    assert info.tolist() == [21, 1, 0, 0]
    assert pivots[1, :2].tolist() == [1, 2] and pivots[2, 0] == 4 and pivots[3, 0] == 6


def test_pivots_of_complex_columns_have_the_largest_sum_of_both_parts() -> None:
    a = normal(8, 8, kind="c128") / 8
    a[3, 0], a[5, 0] = 5, 3 - 3j
    _, pivots, info = run(lu("c128", "", 8, 8), a)
    assert pivots[0] == 6 and info == 0


def test_small_matrices_and_other_layouts_have_no_solver() -> None:
    def solver(text: str, dialect: str = "c") -> object:
        return solver_of(ix.hlo.parse(text).entry.root, dialect)

    def least_eliminated(kind: str) -> int:
        return next(n for n in range(1, 9) if solver(lu(kind, "900,", n, n)))

    assert [least_eliminated(kind) for kind in ("f32", "f64", "c64", "c128")] == [6, 6, 4, 4]

    assert solver(cholesky("f32", "6,6", True)) and not solver(cholesky("f32", "5,5", True))
    assert solver(cholesky("c64", "900,6,6", True)) and not solver(cholesky("c64", "900,5,5", True))
    assert not solver(cholesky("f32", "40,40", True), "cuda") and not solver(cholesky("bf16", "40,40", True))
    assert not solver(cholesky("f32", "40,40", True, "{0,1}")) and not solver(cholesky("f32", "0,40,40", True))


def test_a_solver_within_a_loop_in_its_profile_and_in_a_prediction() -> None:
    text = """HloModule m
body {
  state = (s32[], f64[40,40]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  a = f64[40,40] get-tuple-element(state), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  l = f64[40,40] cholesky(a), lower=true
  p = f64[40,40] dot(l, l), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT out = (s32[], f64[40,40]) tuple(next, p)
}
condition {
  state = (s32[], f64[40,40]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] constant(3)
  ROOT more = pred[] compare(i, n), direction=LT
}
ENTRY e {
  zero = s32[] constant(0)
  a = f64[40,40] parameter(0)
  init = (s32[], f64[40,40]) tuple(zero, a)
  loop = (s32[], f64[40,40]) while(init), condition=condition, body=body
  ROOT y = f64[40,40] get-tuple-element(loop), index=1
}"""
    program, a = compiled(text, "cpu"), positive(40, 40)
    np.testing.assert_allclose(program(a), a, atol=1e-12)
    assert "1 solver of matrices" in repr(program.executable)
    (step,) = [s for s in program.executable.profile(a).steps if s.emitter == "solver"]
    assert (step.name, step.launches) == ("l", 3) and step.seconds > 0
    small, large, of_complex = (predicted(kind, n) for kind, n in (("f32", 64), ("f32", 512), ("c64", 512)))
    assert 8 < large / small < 512 and 2 < of_complex / large <= 4
    assert "function for whole matrices" in str(ix.analyze(text, device="cpu"))
