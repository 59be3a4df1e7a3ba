"""LAPACK's factorizations as JAX calls them: values against jaxlib, maps by perturbation, what is refused."""

import numpy as np
import pytest

import indexing as ix
from kernels import as_list, compiled
from library_programs import call
from reached import check

jax = pytest.importorskip("jax")
jnp, jsl = jax.numpy, jax.scipy.linalg

FUNCTIONS = {
    "solve": lambda a: jnp.linalg.solve(a, a[..., :2]),
    "inv": jnp.linalg.inv,
    "det": jnp.linalg.det,
    "lu": jsl.lu,
    "lu_factor": jsl.lu_factor,
    "expm": jsl.expm,
    "qr": jnp.linalg.qr,
    "qr of a tall one": lambda a: jnp.linalg.qr(a[..., :3]),
    "qr of a wide one": lambda a: jnp.linalg.qr(a[..., :3, :]),
    "complete qr": lambda a: jnp.linalg.qr(a[..., :3], mode="complete"),
    "pivoted qr": lambda a: jsl.qr(a, pivoting=True),
    "hessenberg": jsl.hessenberg,
    "eigvalsh": lambda a: jnp.linalg.eigvalsh(a @ jnp.conj(jnp.swapaxes(a, -1, -2))),
    "eigvals": jnp.linalg.eigvals,
    "singular values": lambda a: jnp.linalg.svd(a, compute_uv=False),
    "pinv": lambda a: jnp.linalg.pinv(a[..., :3]),
    "gradient of solve": lambda a: jax.grad(lambda m: jnp.abs(jnp.linalg.solve(m, m[..., :1])).sum())(a),
}


def matrices(kind: type, *shape: int) -> np.ndarray:
    rng = np.random.default_rng(len(shape))
    return (rng.normal(size=shape) + (1j * rng.normal(size=shape) if kind is np.complex64 else 0)).astype(kind)


@pytest.mark.parametrize("kind", [np.float32, np.complex64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_are_those_of_jax(name: str, kind: type) -> None:
    a = matrices(kind, 4, 4) if name != "qr of a wide one" else matrices(kind, 2, 4, 4)
    module = ix.from_jax(FUNCTIONS[name], a)
    assert "lapack_" in str(module)
    want = [np.asarray(w) for w in jax.tree.leaves(jax.jit(FUNCTIONS[name])(a))]
    for got, expected in zip(as_list(ix.evaluate(module, a)), want, strict=True):
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("scale", [1e-25, 1e25])
def test_columns_whose_squares_are_no_float_are_reflected(scale: float) -> None:
    a = matrices(np.float32, 5, 3) * np.float32(scale)
    want = jax.jit(jnp.linalg.qr)(a)
    for got, expected in zip(as_list(ix.evaluate(ix.from_jax(jnp.linalg.qr, a), a)), want, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


def test_a_reflector_of_factor_zero_changes_nothing() -> None:
    v = np.array([[9, 9], [2, 9], [1, 3]], np.float32)  # below the diagonal: (1, 2, 1) and (0, 1, 3)
    text = call("lapack_sorgqr_ffi", "f32[3,2]", ["f32[3,2]", "f32[2]"])
    second = np.array([[1, 0], [0, 0.8], [0, -0.6]], np.float32)
    np.testing.assert_allclose(ix.evaluate(text, v, np.array([0, 0.2], np.float32)), second, atol=1e-6)
    np.testing.assert_array_equal(ix.evaluate(text, v, np.zeros(2, np.float32)), np.eye(3, 2))
    assert np.isnan(ix.evaluate(text, v, np.array([np.inf, 0.2], np.float32))).any()


def adjoint(m: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(m, -1, -2))


@pytest.mark.parametrize("name", ["eigh", "eig", "svd", "svd of a tall one"])
@pytest.mark.parametrize("kind", [np.float32, np.complex64])
def test_vectors_are_those_of_the_definition(name: str, kind: type) -> None:
    """Their signs, or phases, are free."""
    a = matrices(kind, 2, 4, 4)
    if name == "eigh":
        a = a + adjoint(a)
        actual, vectors = ix.evaluate(ix.from_jax(lambda a: tuple(jnp.linalg.eigh(a)), a), a)
        np.testing.assert_allclose(a @ vectors, vectors * actual[:, None], atol=1e-4)
        np.testing.assert_allclose(adjoint(vectors) @ vectors, np.broadcast_to(np.eye(4), a.shape), atol=1e-4)
    elif name == "eig":
        actual, vectors = ix.evaluate(ix.from_jax(lambda a: tuple(jnp.linalg.eig(a)), a), a)
        np.testing.assert_allclose(a @ vectors, vectors * actual[:, None], atol=1e-4)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=-2), 1, atol=1e-4)
    else:
        a = a if name == "svd" else a[..., :2]
        left, actual, right = ix.evaluate(ix.from_jax(lambda a: tuple(jnp.linalg.svd(a, full_matrices=False)), a), a)
        np.testing.assert_allclose(left * actual[:, None] @ right, a, atol=1e-4)


def test_a_program_runs_them_on_the_host() -> None:
    a, b = matrices(np.float32, 4, 4), matrices(np.float32, 4, 2)
    executable = compiled(ix.from_jax(lambda a, b: jnp.linalg.solve(a, b) * 2, a, b))
    np.testing.assert_allclose(executable(a, b), np.linalg.solve(a, b) * 2, rtol=1e-3)


def test_a_singular_matrix_says_which_column_has_no_pivot() -> None:
    text = call("lapack_sgetrf_ffi", "(f32[2,3,3], s32[2,3], s32[2])", ["f32[2,3,3]"])
    a = np.stack([np.eye(3), [[1, 2, 3], [2, 4, 6], [1, 1, 1]]]).astype(np.float32)
    _, pivots, info = ix.evaluate(text, a)
    assert info.tolist() == [0, 3] and pivots.tolist() == [[1, 2, 3], [2, 3, 3]]


def test_matrices_that_are_not_finite_fail_alone() -> None:
    text = call(
        "lapack_ssyevd_ffi", "(f32[2,3,3], f32[2,3], s32[2])", ["f32[2,3,3]"], "{mode = 86 : ui8, uplo = 76 : ui8}"
    )
    a = np.stack([np.full((3, 3), np.nan), np.eye(3)]).astype(np.float32)
    _, actual, info = ix.evaluate(text, a)
    assert np.isnan(actual[0]).all() and actual[1].tolist() == [1, 1, 1] and info.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("target", "results", "shapes", "config"),
    [
        ("lapack_sgetrf_ffi", "(f32[2,3,3], s32[2,3], s32[2])", ["f32[2,3,3]"], "{}"),
        ("lapack_dgeqrf_ffi", "(f64[2,3,2], f64[2,2])", ["f64[2,3,2]"], "{}"),
        ("lapack_dorgqr_ffi", "f64[2,3,2]", ["f64[2,3,2]", "f64[2,1]"], "{}"),
        ("lapack_zgehrd_ffi", "(c128[2,3,3], c128[2,2], s32[2])", ["c128[2,3,3]"], "{low = 1 : i32, high = 3 : i32}"),
        (
            "lapack_dgesdd_ffi",
            "(f64[2,3,2], f64[2,2], f64[2,3,3], f64[2,2,2], s32[2])",
            ["f64[2,3,2]"],
            "{mode = 65 : ui8}",
        ),
    ],
)
def test_maps_reach_all_that_the_values_depend_on(target: str, results: str, shapes: list[str], config: str) -> None:
    root = check(call(target, results, shapes, config))
    for maps in ix.output_to_input(root):
        assert [(m.exactness, "whole matrices" in m.reason) for m in maps] == [("over-approximate", True)]
        assert maps[0].map.results[0].variable_index == 0  # of the batch


@pytest.mark.parametrize(
    ("target", "results", "shapes", "config", "why"),
    [
        ("lapack_sgetrf_ffi", "(f32[3,3], s32[2], s32[])", ["f32[3,3]"], "{}", "its results are not those of getrf"),
        ("lapack_sgetrf_ffi", "(f32[3,3], s32[3], s32[])", ["f64[3,3]"], "{}", "no matrix of f32"),
        ("lapack_sgetrf_ffi", "(f32[3], s32[3], s32[])", ["f32[3]"], "{}", "no matrix of f32"),
        ("lapack_sgetrf_ffi", "f32[3,3]", [], "{}", "no matrix of f32"),
        ("lapack_sgeqrf_ffi", "(f32[2,3,3], f32[3])", ["f32[2,3,3]"], "{}", "begin with the batch"),
        ("lapack_sorgqr_ffi", "f32[2,3]", ["f32[2,3]", "f32[2]"], "{}", "reflectors for a matrix"),
        ("lapack_ssyevd_ffi", "(f32[2,3], f32[2], s32[])", ["f32[2,3]"], "{mode = 86 : ui8, uplo = 76 : ui8}", "not square"),
        ("lapack_sgesdd_ffi", "(f32[2,2], f32[2], f32[2,2], f32[2,2], s32[])", ["f32[2,2]"], "{mode = 66 : ui8}", "mode B"),
        ("lapack_cgeev_ffi", "(c64[2], c64[2,2], c64[2,2], s32[])", ["c64[2,2]"],
         "{compute_left = 86 : ui8, compute_right = 78 : ui8}", "left eigenvectors"),
        ("lapack_sgehrd_ffi", "(f32[3,3], f32[2], s32[])", ["f32[3,3]"], "{low = 0 : i32, high = 9 : i32}", "low and high"),
        ("lapack_sgees_ffi", "(f32[3,3], s32[])", ["f32[3,3]"], "{}", "known to its library only"),
    ],
)  # fmt: skip
def test_what_is_no_call_of_lapack_is_refused(
    target: str, results: str, shapes: list[str], config: str, why: str
) -> None:
    text = call(target, results, shapes, config)
    module = ix.hlo.parse(text)
    with pytest.raises(ix.UnsupportedOp, match=why):
        ix.evaluate(module, *(np.zeros(p.shape.dimensions, p.shape.dtype) for p in module.entry.parameters))
    indexings = ix.output_to_input(module.entry.root)
    assert all(m.exactness == "unknown" and why in m.reason for maps in indexings for m in maps)
