"""dot, ragged-dot, scaled-dot, convolution: formulas by perturbation, references against loops over the definition."""

import itertools

import numpy as np
import pytest

import indexing as ix
from indexing.ops.registry import REGISTRY
from reached import check, program, root_of, run


def braces(values):
    return "{" + ",".join(map(str, values)) + "}"


def dims(values):
    return "[" + ",".join(map(str, values)) + "]"


def drawn(rng, shape, dtype=np.float64):
    return rng.uniform(0.5, 2.0, shape).astype(dtype)


def random_dot(rng):
    """Sizes by role, then the dimensions of each operand shuffled."""
    batch, left, right, inner = (list(rng.integers(1, 4, rng.integers(0, 3))) for _ in range(4))
    if rng.random() < 0.1:
        (left or inner or right or [0])[0] = 0
    lhs = [("b", k) for k in range(len(batch))] + [("l", k) for k in range(len(left))]
    lhs += [("c", k) for k in range(len(inner))]
    rhs = [("b", k) for k in range(len(batch))] + [("r", k) for k in range(len(right))]
    rhs += [("c", k) for k in range(len(inner))]
    lhs = [lhs[k] for k in rng.permutation(len(lhs))]
    rhs = [rhs[k] for k in rng.permutation(len(rhs))]
    size = {"b": batch, "l": left, "r": right, "c": inner}
    shapes = [[int(size[role][k]) for role, k in side] for side in (lhs, rhs)]
    free = [size[role][k] for side, role in ((lhs, "l"), (rhs, "r")) for r, k in side if r == role]
    out = [int(n) for n in [*batch, *free]]
    text = program(
        f"f64{dims(out)} dot(p0, p1), lhs_batch_dims={braces(lhs.index(('b', k)) for k in range(len(batch)))}, "
        f"lhs_contracting_dims={braces(lhs.index(('c', k)) for k in range(len(inner)))}, "
        f"rhs_batch_dims={braces(rhs.index(('b', k)) for k in range(len(batch)))}, "
        f"rhs_contracting_dims={braces(rhs.index(('c', k)) for k in range(len(inner)))}",
        f"f64{dims(shapes[0])}",
        f"f64{dims(shapes[1])}",
    )
    letters = {("b", k): "abc"[k] for k in range(3)} | {("l", k): "lmn"[k] for k in range(3)}
    letters |= {("r", k): "rst"[k] for k in range(3)} | {("c", k): "xyz"[k] for k in range(3)}
    left_text, right_text = ("".join(letters[x] for x in side) for side in (lhs, rhs))
    out_text = "".join(letters["b", k] for k in range(len(batch)))
    out_text += "".join(letters[x] for x in lhs if x[0] == "l") + "".join(letters[x] for x in rhs if x[0] == "r")
    return text, shapes, f"{left_text},{right_text}->{out_text}"


@pytest.mark.parametrize("seed", range(12))
def test_dot_of_any_dimension_numbers(seed):
    rng = np.random.default_rng(seed)
    text, shapes, einsum = random_dot(rng)
    values = [drawn(rng, s) for s in shapes]
    (out,) = run(root_of(text), values)
    np.testing.assert_allclose(out, np.einsum(einsum, *values))
    check(text, values, operands=[0, 1])


def test_dot_wraps_integers_and_widens_narrow_floats():
    text = program("s8[] dot(p0, p1), lhs_contracting_dims={0}, rhs_contracting_dims={0}", "s8[3]", "s8[3]")
    a = np.array([100, 50, 7], np.int8)
    (out,) = run(root_of(text), [a, a])
    assert int(out) == int(np.array(100 * 100 + 50 * 50 + 49).astype(np.int8))
    text = program("f16[] dot(p0, p1), lhs_contracting_dims={0}, rhs_contracting_dims={0}", "f16[3000]", "f16[3000]")
    (out,) = run(root_of(text), [np.ones(3000, np.float16), np.ones(3000, np.float16)])
    assert float(out) == 3000.0  # summed in float16 it would stick at 2048
    text = program("s64[] dot(p0, p1), lhs_contracting_dims={0}, rhs_contracting_dims={0}", "s64[2]", "s64[2]")
    big = np.array([2**62, 3], np.int64)
    (out,) = run(root_of(text), [big, np.array([4, 5], np.int64)])
    assert int(out) == 15
    text = program("pred[] dot(p0, p1), lhs_contracting_dims={0}, rhs_contracting_dims={0}", "pred[2]", "pred[2]")
    (out,) = run(root_of(text), [np.array([True, False]), np.array([False, True])])
    assert not out


def test_scaled_dot():
    rng = np.random.default_rng(0)
    text = program(
        "f32[3,2] scaled-dot(p0, p1, p2, p3), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "f32[3,4]",
        "f32[4,2]",
        "f32[3,2]",
        "f32[1,2]",
    )
    values = [drawn(rng, s, np.float32) for s in ((3, 4), (4, 2), (3, 2), (1, 2))]
    (out,) = run(root_of(text), values)
    left, right = values[0] * np.repeat(values[2], 2, axis=1), values[1] * np.repeat(values[3], 4, axis=0)
    np.testing.assert_allclose(out, left @ right, rtol=1e-6)
    check(text, values, operands=[0, 1, 2, 3])


RAGGED = {
    "rows": (
        "f64[5,2] ragged-dot(p0, p1, p2), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
        "lhs_ragged_dims={0}, rhs_group_dims={0}",
        ("f64[5,3]", "f64[2,3,2]", "s32[2]"),
    ),
    "rows and more": (
        "f64[2,5,2,3] ragged-dot(p0, p1, p2), lhs_contracting_dims={2}, rhs_contracting_dims={1}, "
        "lhs_ragged_dims={1}, rhs_group_dims={0}",
        ("f64[2,5,3]", "f64[2,3,2,3]", "s32[2]"),
    ),
    "contracting": (
        "f64[2,3,2] ragged-dot(p0, p1, p2), lhs_contracting_dims={0}, rhs_contracting_dims={0}, "
        "lhs_ragged_dims={0}, rhs_group_dims={}",
        ("f64[5,3]", "f64[5,2]", "s32[2]"),
    ),
    "batch": (
        "f64[5,2] ragged-dot(p0, p1, p2), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, "
        "rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={}",
        ("f64[5,3]", "f64[5,3,2]", "s32[2]"),
    ),
    "rows of each batch": (
        "f64[2,5,2] ragged-dot(p0, p1, p2), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
        "rhs_contracting_dims={2}, lhs_ragged_dims={1}, rhs_group_dims={1}",
        ("f64[2,5,3]", "f64[2,2,3,2]", "s32[2,2]"),
    ),
    "rows of each plane": (
        "f64[2,5,2] ragged-dot(p0, p1, p2), lhs_contracting_dims={2}, rhs_contracting_dims={1}, "
        "lhs_ragged_dims={1}, rhs_group_dims={0}",
        ("f64[2,5,3]", "f64[2,3,2]", "s32[2,2]"),
    ),
    "contracting in each batch": (
        "f64[2,2,3,2] ragged-dot(p0, p1, p2), lhs_batch_dims={1}, rhs_batch_dims={0}, lhs_contracting_dims={0}, "
        "rhs_contracting_dims={1}, lhs_ragged_dims={0}",
        ("f64[5,2,3]", "f64[2,5,2]", "s32[2,2]"),
    ),
    "contracting in each plane": (
        "f64[2,3,2] ragged-dot(p0, p1, p2), lhs_contracting_dims={2,0}, rhs_contracting_dims={0,1}, "
        "lhs_ragged_dims={2}",
        ("f64[2,3,5]", "f64[5,2,2]", "s32[2,2]"),
    ),
}
#: The rows of each group; those of two batches, or planes, each for itself.
_ROWS = (slice(0, 2), slice(2, 4))
_OWN_ROWS = ((slice(0, 2), slice(2, 3)), (slice(0, 1), slice(1, 4)))


def _by_rows(a, matrices, rows):
    """Each row times the matrix of its group; zeros for rows of none."""
    out = np.zeros((len(a), matrices.shape[-1]))
    for own, matrix in zip(rows, matrices, strict=True):
        out[own] = a[own] @ matrix
    return out


@pytest.mark.parametrize("mode", RAGGED)
def test_ragged_dot(mode):
    rng = np.random.default_rng(1)
    root, shapes = RAGGED[mode]
    text = program(root, *shapes)
    sizes = [root_of(text).operands[k].shape.dimensions for k in range(2)]
    counts = [2, 2] if shapes[2] == "s32[2]" else [[2, 1], [1, 3]]
    values = [*(drawn(rng, s) for s in sizes), np.array(counts, np.int32)]
    (out,) = run(root_of(text), values)
    a, b, _ = values
    want = {
        "rows": lambda: _by_rows(a, b, _ROWS),
        "rows of each batch": lambda: np.stack([_by_rows(a[k], b[k], _OWN_ROWS[k]) for k in range(2)]),
        "rows of each plane": lambda: np.stack([_by_rows(a[k], b, _OWN_ROWS[k]) for k in range(2)]),
        "contracting in each batch": lambda: np.array(
            [[a[_OWN_ROWS[k][g], k].T @ b[k, _OWN_ROWS[k][g]] for k in range(2)] for g in range(2)]
        ),
        "contracting in each plane": lambda: np.array(
            [sum(a[k, :, _OWN_ROWS[k][g]] @ b[_OWN_ROWS[k][g], k] for k in range(2)) for g in range(2)]
        ),
        "rows and more": lambda: np.concatenate(
            [*(np.einsum("xik,kyz->xiyz", a[:, 2 * g : 2 * g + 2], b[g]) for g in range(2)), np.zeros((2, 1, 2, 3))], 1
        ),
        "contracting": lambda: np.stack([a[:2].T @ b[:2], a[2:4].T @ b[2:4]]),
        "batch": lambda: np.einsum("bk,bkn->bn", a, b),
    }[mode]()
    np.testing.assert_allclose(out, want)
    check(text, values, operands=[0, 1])


@pytest.mark.parametrize(
    ("mode", "needed"),
    [
        ("rows", "(d0, d1)[s0] -> (s0), domain: d0 in [0, 4], d1 in [0, 1], s0 in [0, 1]"),
        ("rows of each batch", "(d0, d1, d2)[s0] -> (d0, s0), domain: d0 in [0, 1], d1 in [0, 4], d2 in [0, 1], s0 in [0, 1]"),
        ("contracting in each plane", "(d0, d1, d2)[s0, s1] -> (s0, s1), domain: d0 in [0, 1], d1 in [0, 2], d2 in [0, 1], s0 in [0, 1], s1 in [0, 1]"),
    ],
)  # fmt: skip
def test_the_group_sizes_that_an_element_depends_on(mode, needed):
    text, shapes = RAGGED[mode]
    (read,) = ix.output_to_input(root_of(program(text, *shapes)))[2]
    assert read.map.equivalent(ix.IndexingMap.parse(needed))


def random_convolution(rng):
    spatial = int(rng.integers(0, 3))
    feature_groups, batch_groups = [(1, 1), (2, 1), (1, 2)][rng.integers(3)]
    in_size = rng.integers(1, 6, spatial)
    kernel = rng.integers(1, 4, spatial)
    stride, lhs_dilation, rhs_dilation = (rng.integers(1, 3, spatial) for _ in range(3))
    low, high = rng.integers(-1, 3, spatial), rng.integers(-1, 3, spatial)
    reverse = rng.integers(0, 2, spatial)
    dilated = (in_size - 1) * lhs_dilation + 1 + low + high
    reach = (kernel - 1) * rhs_dilation + 1
    out = np.maximum((dilated - reach) // stride + 1, 0) * (dilated >= reach)
    batch, features, outputs = (int(n) for n in rng.integers(1, 3, 3))
    outputs *= feature_groups * batch_groups
    role = {
        "lhs": {"b": batch * batch_groups, "f": features * feature_groups},
        "rhs": {"i": features, "o": outputs},
        "out": {"b": batch, "f": outputs},
    }
    for k in range(spatial):
        role["lhs"][str(k)], role["rhs"][str(k)], role["out"][str(k)] = int(in_size[k]), int(kernel[k]), int(out[k])
    order = {name: [list(sizes)[k] for k in rng.permutation(len(sizes))] for name, sizes in role.items()}
    window = ""
    if spatial:
        joined = {
            "size": kernel,
            "stride": stride,
            "pad": [f"{a}_{b}" for a, b in zip(low, high, strict=True)],
            "lhs_dilate": lhs_dilation,
            "rhs_dilate": rhs_dilation,
            "rhs_reversal": reverse,
        }
        window = "window={" + " ".join(f"{k}={'x'.join(map(str, v))}" for k, v in joined.items()) + "}, "
    labels = "_".join("".join(order[n]) for n in ("lhs", "rhs")) + "->" + "".join(order["out"])
    shapes = {name: [role[name][x] for x in order[name]] for name in role}
    text = program(
        f"f64{dims(shapes['out'])} convolution(p0, p1), {window}dim_labels={labels}, "
        f"feature_group_count={feature_groups}, batch_group_count={batch_groups}",
        f"f64{dims(shapes['lhs'])}",
        f"f64{dims(shapes['rhs'])}",
    )
    setting = (kernel, stride, lhs_dilation, rhs_dilation, low, reverse, feature_groups, batch_groups)
    return text, shapes, order, setting


def convolve(lhs, rhs, order, out_shape, setting):
    """The definition, term by term."""
    kernel, stride, lhs_dilation, rhs_dilation, low, reverse, feature_groups, batch_groups = setting
    left = {x: k for k, x in enumerate(order["lhs"])}
    right = {x: k for k, x in enumerate(order["rhs"])}
    into = {x: k for k, x in enumerate(order["out"])}
    outputs, features = rhs.shape[right["o"]], rhs.shape[right["i"]]
    out = np.zeros(out_shape)
    for at in np.ndindex(*out_shape):
        o, b = at[into["f"]], at[into["b"]]
        for w in itertools.product(*(range(n) for n in kernel)):
            where = []
            for k, wk in enumerate(w):
                x = at[into[str(k)]] * stride[k] + wk * rhs_dilation[k] - low[k]
                x, rest = divmod(x, lhs_dilation[k])
                where.append(x if rest == 0 and 0 <= x < lhs.shape[left[str(k)]] else None)
            if None in where:
                continue
            for i in range(features):
                source, weight = [0] * lhs.ndim, [0] * rhs.ndim
                source[left["f"]] = o // (outputs // feature_groups) * features + i
                source[left["b"]] = o // (outputs // batch_groups) * (lhs.shape[left["b"]] // batch_groups) + b
                weight[right["i"]], weight[right["o"]] = i, o
                for k, wk in enumerate(w):
                    source[left[str(k)]] = where[k]
                    weight[right[str(k)]] = kernel[k] - 1 - wk if reverse[k] else wk
                out[at] += lhs[tuple(source)] * rhs[tuple(weight)]
    return out


@pytest.mark.parametrize("seed", range(16))
def test_convolution(seed):
    rng = np.random.default_rng(seed)
    text, shapes, order, setting = random_convolution(rng)
    values = [drawn(rng, shapes["lhs"]), drawn(rng, shapes["rhs"])]
    (out,) = run(root_of(text), values)
    np.testing.assert_allclose(out, convolve(*values, order, shapes["out"], setting))
    check(text, values, operands=[0, 1])


@pytest.mark.parametrize(("window", "out", "exact"), [("size=3", 3, True), ("size=3 pad=1_0", 4, False)])
def test_each_kernel_element_meets_input_where_nothing_is_padded(window, out, exact):
    """Of a window that never leaves the input, the maps of the kernel name no padding, and say so."""
    text = program(
        f"f64[1,{out},1] convolution(p0, p1), window={{{window}}}, dim_labels=b0f_0io->b0f", "f64[1,5,1]", "f64[3,1,1]"
    )
    values = [np.array([1.0, 2, 4, 8, 16]).reshape(1, 5, 1), np.array([1.0, 3, 5]).reshape(3, 1, 1)]
    (actual,) = run(root_of(text), values)
    want = np.convolve(np.concatenate([[0.0] * (not exact), values[0].ravel()]), [5.0, 3, 1], "valid")
    np.testing.assert_allclose(actual.ravel(), want)
    check(text, values, operands=[0, 1])
    op = REGISTRY["convolution"]
    (back,), (there,) = op.output_to_input(root_of(text), 0)[1], op.input_to_output(root_of(text), 1)[0]
    assert (back.exactness == "exact", there.exactness) == (exact, "exact")
