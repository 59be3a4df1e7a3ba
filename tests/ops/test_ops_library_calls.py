"""Library calls: their values against numpy and loops over the definition, their maps by perturbation."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import indexing as ix
from indexing.ops.library_calls.custom_call import LIBRARY_CALLS
from indexing.ops.library_calls.lapack import LAPACK_CALLS
from indexing.ops.registry import REGISTRY
from kernels import compiled
from library_programs import call, dims, drawn, results
from reached import check, program

# ---------------------------------------------------------------- matrix products


def gemm_config(lhs=(1,), rhs=(0,), lhs_batch=(), rhs_batch=(), **more):
    numbers = {
        "lhs_contracting_dimensions": [str(k) for k in lhs],
        "rhs_contracting_dimensions": [str(k) for k in rhs],
        "lhs_batch_dimensions": [str(k) for k in lhs_batch],
        "rhs_batch_dimensions": [str(k) for k in rhs_batch],
    }
    inner = {"alpha_real": 1, "alpha_imag": 0, "beta": 0, "dot_dimension_numbers": numbers, "epilogue": "DEFAULT"}
    return {"operation_queue_id": "0", "gemm_backend_config": inner | more}


def gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


EPILOGUES = {
    "DEFAULT": (False, lambda x: x),
    "BIAS": (True, lambda x: x),
    "RELU": (False, lambda x: np.maximum(x, 0)),
    "BIAS_RELU": (True, lambda x: np.maximum(x, 0)),
    "GELU": (False, gelu),
    "BIAS_GELU": (True, gelu),
    "SILU": (False, lambda x: x / (1 + np.exp(-x))),
    "BIAS_SILU": (True, lambda x: x / (1 + np.exp(-x))),
}


@pytest.mark.parametrize("target", ["__cublas$gemm", "__cublas$lt$matmul"])
@pytest.mark.parametrize("beta", [0, 0.5])
@pytest.mark.parametrize("epilogue", EPILOGUES)
def test_gemm_is_a_dot_and_what_follows_it(target, beta, epilogue):
    has_bias, function = EPILOGUES[epilogue]
    a, b, c, bias = drawn(1, (3, 4), (4, 5), (3, 5), (5,))
    arrays = [a, b] + [c] * bool(beta) + [bias] * has_bias
    config = gemm_config(alpha_real=2, beta=beta, epilogue=epilogue)
    text = call(target, "(f32[3,5], s8[64])", [f"f32{dims(x.shape)}" for x in arrays], config)
    got, workspace = results(text, *arrays)
    want = function(2 * a.astype(np.float64) @ b + beta * c + has_bias * bias)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    assert workspace.shape == (64,)


def test_gemm_without_a_workspace_in_an_older_quoted_form():
    a, b = drawn(2, (2, 4, 3), (4, 2, 5))
    config = gemm_config(lhs=(2,), rhs=(0,), lhs_batch=(), rhs_batch=())["gemm_backend_config"]
    config["dot_dimension_numbers"] = {"lhs_batch_dimensions": [0], "rhs_batch_dimensions": [1],
                                       "lhs_contracting_dimensions": [1], "rhs_contracting_dimensions": [0]}  # fmt: skip
    text = call("__cublas$gemm", "f32[2,3,5]", ["f32[2,4,3]", "f32[4,2,5]"], config, quoted=True)
    (got,) = results(text, a, b)
    np.testing.assert_allclose(got, np.einsum("bki,kbj->bij", a, b), rtol=1e-5)


def test_gemm_maps_are_those_of_the_dot():
    for beta, epilogue in [(0, "DEFAULT"), (1, "BIAS")]:
        shapes = ["f32[2,3]", "f32[3,4]"] + (["f32[2,4]", "f32[4]"] if beta else [])
        text = call("__cublas$lt$matmul", "(f32[2,4], s8[2])", shapes, gemm_config(beta=beta, epilogue=epilogue))
        root = check(text)
        dot = ix.hlo.parse(program("f32[2,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
                                   "f32[2,3]", "f32[3,4]")).entry.root  # fmt: skip
        assert ix.output_to_input(root)[:2] == ix.output_to_input(dot)
        assert {m.exactness for maps in ix.output_to_input(root) for m in maps} == {"exact"}
        assert ix.output_to_input(root, 1) == [[] for _ in shapes]


def test_an_auxiliary_result_is_what_the_activation_is_applied_to():
    a, b = drawn(3, (2, 3), (3, 4))
    config = gemm_config(epilogue="GELU_AUX")
    text = call("__cublas$lt$matmul", "(f32[2,4], f32[2,4], s8[2])", ["f32[2,3]", "f32[3,4]"], config)
    got, before, _ = results(text, a, b)
    np.testing.assert_allclose(before, a @ b, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(got, gelu((a @ b).astype(np.float64)), rtol=1e-5, atol=1e-6)


def test_gemm_of_integers_and_of_complex_numbers():
    rng = np.random.default_rng(4)
    a, b = rng.integers(-100, 100, (3, 4)).astype(np.int8), rng.integers(-100, 100, (4, 5)).astype(np.int8)
    (got, _) = results(call("__cublas$gemm", "(s32[3,5], s8[2])", ["s8[3,4]", "s8[4,5]"], gemm_config()), a, b)
    np.testing.assert_array_equal(got, a.astype(np.int32) @ b.astype(np.int32))
    a, b = (rng.uniform(-1, 1, s) + 1j * rng.uniform(-1, 1, s) for s in ((3, 4), (4, 5)))
    text = call("__cublas$gemm", "c128[3,5]", ["c128[3,4]", "c128[4,5]"], gemm_config(alpha_real=2, alpha_imag=-1))
    np.testing.assert_allclose(results(text, a, b)[0], (2 - 1j) * (a @ b), rtol=1e-12)


def test_products_of_8_bit_floats_are_scaled():
    rng = np.random.default_rng(5)
    kind = ix.hlo.Shape.array("f8e4m3fn", [1]).dtype
    a, b = (rng.integers(-8, 9, s).astype(np.float32).astype(kind) for s in ((3, 16), (5, 16)))
    scales = np.float32(0.5), np.float32(0.25)
    shapes = ["f8e4m3fn[3,16]", "f8e4m3fn[5,16]", "f32[]", "f32[]"]
    config = gemm_config(rhs=(1,))
    wide = a.astype(np.float64) @ b.astype(np.float64).T / 8
    (got, _) = results(call("__cublas$lt$matmul$f8", "(f32[3,5], s8[2])", shapes, config), a, b, *scales)
    np.testing.assert_array_equal(got, wide)
    config = gemm_config(rhs=(1,), epilogue="BIAS_RELU", damax_output=True)
    bias, last = np.arange(5, dtype=np.float32), np.float32(64)
    text = call("__cublas$lt$matmul$f8", "(f8e4m3fn[3,5], f32[], s8[2])", [*shapes, "f32[5]", "f32[]"], config)
    got, largest, _ = results(text, a, b, *scales, bias, last)
    want = np.maximum(wide + bias, 0)
    assert largest == want.max()
    narrow = np.minimum(want * 64, 448).astype(np.float32).astype(kind)  # the library saturates
    np.testing.assert_array_equal(got.astype(np.float32), narrow.astype(np.float32))
    c = rng.uniform(-1, 1, (3, 5)).astype(np.float32)
    config = gemm_config(rhs=(1,), beta=1)
    text = call("__cublas$lt$matmul$f8", "(f32[3,5], s8[2])", [*shapes[:2], "f32[3,5]", *shapes[2:]], config)
    np.testing.assert_allclose(results(text, a, b, c, *scales)[0], wide + c, rtol=1e-6)


ONEDNN = {
    "RELU": lambda x: np.maximum(x, 0),
    "TANH": np.tanh,
    "GELU_TANH": gelu,
    "GELU_ERF": lambda x: 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "ELU": lambda x: np.where(x > 0, x, np.expm1(x)),
    "RELU6": lambda x: np.clip(x, 0, 6),
    "SIGMOID": lambda x: 1 / (1 + np.exp(-x)),
    "SWISH": lambda x: x / (1 + np.exp(-x)),
}


@pytest.mark.parametrize("name", ONEDNN)
@pytest.mark.parametrize("transposed", [False, True])
def test_onednn_products(name, transposed):
    a, b, bias, other = drawn(6, (2, 3, 4), (2, 5, 4) if transposed else (2, 4, 5), (5,), (2, 3, 5))
    config = {"onednn_matmul_config": {"transpose_b": transposed, "fusions": {"ops": ["BIAS", name, "BINARY_ADD"]}}}
    shapes = [f"f32{dims(x.shape)}" for x in (a, b, bias, other)]
    (got,) = results(call("__onednn$matmul", "f32[2,3,5]", shapes, config), a, b, bias, other)
    product = np.einsum("bik,bjk->bij" if transposed else "bik,bkj->bij", a.astype(np.float64), b)
    np.testing.assert_allclose(got, ONEDNN[name](product + bias) + other, rtol=1e-5, atol=1e-6)
    check(call("__onednn$matmul", "f32[2,2]", ["f32[2,3]", "f32[3,2]"], {"onednn_matmul_config": {}}))


@pytest.mark.parametrize("sizes", [(4,), (1, 4), (3, 1), (1, 1), (3, 4), ()])
def test_what_onednn_adds_spreads_over_the_product(sizes):
    a, b, added = drawn(13, (3, 2), (2, 4), sizes)
    config = {"onednn_matmul_config": {"fusions": {"ops": ["BINARY_ADD"]}}}
    text = call("__onednn$matmul", "f32[3,4]", ["f32[3,2]", "f32[2,4]", f"f32{dims(sizes)}"], config)
    np.testing.assert_allclose(results(text, a, b, added)[0], a @ b + added, rtol=1e-5, atol=1e-6)


def test_onednn_softmax_and_layer_norm():
    x, gamma, beta = drawn(7, (2, 3, 4), (4,), (4,))
    text = call("__onednn$softmax", "f32[2,3,4]", ["f32[2,3,4]"], {"onednn_softmax_config": {"softmax_axis": 1}})
    powers = np.exp(x.astype(np.float64))
    np.testing.assert_allclose(results(text, x)[0], powers / powers.sum(axis=1, keepdims=True), rtol=1e-5)
    epsilon = np.float32(1e-2)
    config = {
        "onednn_layer_norm_config": {"rescale": "SCALE_AND_SHIFT", "epsilon_typecast": int(epsilon.view(np.int32))}
    }
    text = call("__onednn$layernorm", "f32[2,3,4]", ["f32[2,3,4]", "f32[4]", "f32[4]"], config)
    wide = x.astype(np.float64)
    want = (wide - wide.mean(-1, keepdims=True)) / np.sqrt(wide.var(-1, keepdims=True) + 1e-2) * gamma + beta
    np.testing.assert_allclose(results(text, x, gamma, beta)[0], want, rtol=1e-5, atol=1e-6)
    check(call("__onednn$softmax", "f32[2,3]", ["f32[2,3]"], {"onednn_softmax_config": {"softmax_axis": 1}}))


# ---------------------------------------------------------------- solves, factors, top-k


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("transpose", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
def test_triangular_solves(lower, left, unit, transpose):
    rng = np.random.default_rng(10)
    a = rng.uniform(-1, 1, (2, 3, 3)) + 1j * rng.uniform(-1, 1, (2, 3, 3)) + 3 * np.eye(3)
    b = (rng.uniform(-1, 1, (2, 3, 3)) + 1j * rng.uniform(-1, 1, (2, 3, 3)))[..., : 2 if left else 3]
    b = b if left else b[:, :2]
    config = {"left_side": left, "lower": lower, "unit_diagonal": unit, "transpose_a": transpose}
    codes = {"diag": ord("U" if unit else "N"), "side": ord("L" if left else "R"), "uplo": ord("L" if lower else "U"),
             "trans_x": ord({"NO_TRANSPOSE": "N", "TRANSPOSE": "T", "ADJOINT": "C"}[transpose])}  # fmt: skip
    lapack = "{" + ", ".join(f"{key} = {code} : ui8" for key, code in codes.items()) + "}"
    shapes = ["c128[2,3,3]", f"c128{dims(b.shape)}"]
    triangle = np.tril(a) if lower else np.triu(a)
    if unit:
        triangle = triangle - triangle * np.eye(3) + np.eye(3)
    matrix = {"NO_TRANSPOSE": triangle, "TRANSPOSE": triangle.swapaxes(1, 2), "ADJOINT": triangle.conj().swapaxes(1, 2)}
    for text in (
        call("__cublas$triangularSolve", f"(c128{dims(b.shape)}, s8[0])", shapes, config),
        call("lapack_ztrsm_ffi", f"c128{dims(b.shape)}", shapes, lapack),
    ):
        x = results(text, a, b)[0]
        product = matrix[transpose] @ x if left else x @ matrix[transpose]
        np.testing.assert_allclose(product, b, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("target", "config", "lower"),
    [
        ("cusolver_potrf_ffi", "{lower = true}", True),
        ("hipsolver_potrf_ffi", "{lower = false}", False),
        ("lapack_dpotrf_ffi", "{uplo = 76 : ui8}", True),
        ("lapack_dpotrf_ffi", "{uplo = 85 : ui8}", False),
        ("__cusolver$cholesky", {"lower": True}, True),
    ],
)
def test_cholesky_factors(target, config, lower):
    rng = np.random.default_rng(11)
    root = rng.uniform(-1, 1, (2, 3, 3)) + 2 * np.eye(3)
    a = root @ root.swapaxes(1, 2)
    a[1] *= -1  # which has no factor
    shape = "(f64[2,3,3], s8[16], s32[2])" if "$" in target else "(f64[2,3,3], s32[2])"
    factor, *_, info = results(call(target, shape, ["f64[2,3,3]"], config), a)
    want = np.linalg.cholesky(a[0])
    np.testing.assert_allclose(factor[0], want if lower else want.T, rtol=1e-12, atol=1e-12)
    assert [bool(code) for code in info] == [False, True]
    text = call(target, shape, ["f64[2,3,3]"], config)
    for output in (0, len(ix.hlo.parse(text).entry.root.shape.leaves) - 1):
        assert {m.exactness for m in ix.output_to_input(ix.hlo.parse(text).entry.root, output)[0]} == {"exact"}


@pytest.mark.parametrize("target", ["TopK", "__gpu$TopK"])
def test_top_k(target):
    x = np.array([[1, 5, 3, 5], [-1, -2, 0, -7]], np.float32)
    text = call(target, "(f32[2,3], s32[2,3])", ["f32[2,4]"])
    values, indices = results(text, x)
    np.testing.assert_array_equal(values, [[5, 5, 3], [0, -1, -2]])
    np.testing.assert_array_equal(indices, [[1, 3, 2], [2, 0, 1]])
    plain = ix.hlo.parse(program("(f32[2,3], s32[2,3]) topk(p0), k=3, largest=true", "f32[2,4]")).entry.root
    for output in range(2):
        assert ix.output_to_input(ix.hlo.parse(text).entry.root, output) == ix.output_to_input(plain, output)


def test_top_k_of_the_smallest_is_left_alone():
    computation = ("less {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
                   "  ROOT c = pred[] compare(a, b), direction=LT\n}\n")  # fmt: skip
    text = program('(f32[2], s32[2]) custom-call(p0), custom_call_target="TopK", called_computations={less}', "f32[4]",
                   computations=computation)  # fmt: skip
    assert ix.output_to_input(ix.hlo.parse(text).entry.root)[0][0].exactness == "unknown"


@pytest.mark.parametrize(
    ("key", "is_known"), [("a", True), ("xor(a, ones)", True), ("negate(a)", False), ("select(neg, b, a)", False)]
)
def test_top_k_of_keys_for_a_total_order(key, is_known):
    """XLA compares the bits of floats; a key of the other value, or of a negated one, is another order."""
    other = key.replace("(a", "(b").replace("b, a", "a, b") if key != "a" else "b"
    lines = (
        f"  ones = s32[] constant(7)\n  neg = pred[] constant(true)\n  ka = s32[] {key if '(' in key else 'copy(a)'}\n"
    )
    lines += f"  kb = s32[] {other if '(' in key else 'copy(b)'}\n" if key != "a" else ""
    lines = "" if key == "a" else lines
    left, right = ("a", "b") if key == "a" else ("ka", "kb")
    computation = ("more {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n"
                   f"{lines}  ROOT c = pred[] compare({left}, {right}), direction=GT\n}}\n")  # fmt: skip
    text = program('(s32[2], s32[2]) custom-call(p0), custom_call_target="TopK", called_computations={more}', "s32[4]",
                   computations=computation)  # fmt: skip
    assert (ix.output_to_input(ix.hlo.parse(text).entry.root)[0][0].exactness == "exact") == is_known


# ---------------------------------------------------------------- what is not known


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (call("solve", "f32[4]", ["f32[4]"]), "'solve' computes is known to its library only"),
        (call("__cublas$gemm", "f32[2,2]", ["f32[2,2]", "f32[2,2]"], gemm_config(epilogue="CUBE")), "epilogue CUBE"),
        (call("__cublas$gemm", "f32[2,3]", ["f32[2,2]", "f32[2,2]"], gemm_config()), "sizes"),
        (call("__cublas$gemm", "f32[2,2]", ["f32[2,2]"], gemm_config()), "needs operand 1"),
        (call("__cublas$gemm", "f32[2,2]", ["f32[2,2]", "f32[2,2]"], "{}"), "can't be read as dot"),
        (call("__cublas$gemm", "f32[2,2]", ["f32[2,2]", "f32[2,2]"], gemm_config(beta=1)), "needs operand 2"),
        (call("__cublas$gemm", "(f32[2,2], f32[2,2])", ["f32[2,2]", "f32[2,2]"], gemm_config()), "no known meaning"),
        (call("__cudnn$convForward", "f32[1,1,2]", ["f32[1,1,2]", "f32[1,1,1]"]), "dim_labels"),
        (call("cusolver_potrf_ffi", "(f32[2,2], s32[])", ["f32[2,2]"]), "no uplo"),
        (call("__onednn$matmul", "f32[2,2]", ["f32[2,2]"] * 3, {"onednn_matmul_config": {"fusions": {"ops": ["CUBE"]}}}),
         "the fused CUBE"),
        (call("__onednn$softmax", "f32[2,2]", ["f32[2,2]"], {"onednn_softmax_config": {"softmax_axis": math.inf}}),
         "can't be read as exponential"),
        (call("__onednn$layernorm", "f32[2,2]", ["f32[2,2]"], {"onednn_layer_norm_config": {"epsilon_typecast": 1 << 40}}),
         "can't be read as rsqrt"),
        (call("__cublas$gemm", "f32[2,2]", ["f32[2,2]"] * 2, '{"a":' + "[" * 5000 + "]" * 5000 + "}"),
         "can't be read as dot"),
    ],
)  # fmt: skip
def test_what_can_not_be_read_is_unknown_with_the_reason_and_refused_by_name(text, why):
    root = ix.hlo.parse(text).entry.root
    for maps in (*ix.output_to_input(root), *ix.input_to_output(root, 0)):
        assert [m.exactness for m in maps] == ["unknown"]
        assert why in maps[0].reason
    for device in ("cpu", "reference"):
        with pytest.raises(ix.UnsupportedOp, match="^r: ") as error:
            compiled(text, device=device)
        assert why in str(error.value)


def test_calls_inside_of_programs_compose():
    """Through the tuple, the workspace left out."""
    a, b = drawn(12, (2, 3), (3, 4))
    config = json.dumps(gemm_config())
    text = f"""f {{
      p = f32[2,3] parameter(0)
      q = f32[3,4] parameter(1)
      c = (f32[2,4], s8[8]) custom-call(p, q), custom_call_target="__cublas$gemm", backend_config={config}
      g = f32[2,4] get-tuple-element(c), index=0
      ROOT n = f32[4,2] transpose(g), dimensions={{1,0}}
    }}
    ENTRY e {{
      p = f32[2,3] parameter(0)
      q = f32[3,4] parameter(1)
      ROOT r = f32[4,2] call(p, q), to_apply=f
    }}"""
    np.testing.assert_allclose(results(text, a, b)[0], (a @ b).T, rtol=1e-5, atol=1e-6)
    root = check(text)
    assert {m.exactness for maps in ix.output_to_input(root) for m in maps} == {"exact"}


def test_calls_that_differ_in_their_configuration_alone_are_different():
    """What a library is told says what it computes."""
    a, b = drawn(13, (2, 3), (3, 4))
    calls = [
        f'{name} = f32[2,4] custom-call(p, q), custom_call_target="__cublas$gemm", '
        f"backend_config={json.dumps(gemm_config(alpha_real=alpha))}"
        for name, alpha in (("c", 1), ("d", 3), ("e", 1))
    ]
    text = "ENTRY e {\n  p = f32[2,3] parameter(0)\n  q = f32[3,4] parameter(1)\n  " + "\n  ".join(calls)
    text += "\n  ROOT r = (f32[2,4], f32[2,4], f32[2,4]) tuple(c, d, e)\n}"
    for actual, factor in zip(results(text, a, b), (1, 3, 1), strict=True):
        np.testing.assert_allclose(actual, factor * (a @ b), rtol=1e-5, atol=1e-6)
    by_name = ix.hlo.parse(text).entry.instructions
    assert by_name["c"].signature == by_name["e"].signature != by_name["d"].signature


def test_the_table_names_opcodes_and_each_target_once():
    targets = [t for line in LIBRARY_CALLS for t in line.targets]
    assert len(targets) == len(set(targets))
    assert {line.opcode for line in LIBRARY_CALLS} <= set(REGISTRY)


def test_the_documented_targets_are_those_of_the_table():
    text = (Path(__file__).parents[2] / "docs" / "hlo.md").read_text(encoding="utf-8")
    rows = text.split("## Library calls")[1].split("## The reference")[0]
    named = {
        t for row in rows.splitlines() if row.startswith("| `") for t in re.findall("`([^`]+)`", row.split("|")[1])
    }
    calls = (t for line in (*LIBRARY_CALLS, *LAPACK_CALLS) for t in line.targets)
    targets = {t for t in calls if not t.startswith("__indexing$")}  # those are made by the planner
    patterns = {re.escape(name).replace(r"\*", "[sdcz]") for name in named}
    assert {t for t in targets if any(re.fullmatch(p, t) for p in patterns)} == targets
    assert all(any(re.fullmatch(p, t) for t in targets) for p in patterns)
