"""Convolutions of libraries, as convolutions of HLO and what follows them."""

import itertools

import numpy as np
import pytest

import indexing as ix
from library_programs import call, dims, drawn, results


class Conv:
    """A random forward convolution of two spatial dimensions, and its sums of products, one by one."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.groups = int(rng.integers(1, 3))
        self.batch, per_group, outs = (int(n) for n in rng.integers(1, 3, 3))
        self.features, self.outs, self.per_group = per_group * self.groups, outs * self.groups, per_group
        self.kernel = [int(n) for n in rng.integers(1, 4, 2)]
        self.stride = [int(n) for n in rng.integers(1, 3, 2)]
        self.dilation = [int(n) for n in rng.integers(1, 3, 2)]
        self.low, self.high = ([int(n) for n in rng.integers(0, 3, 2)] for _ in range(2))
        self.reversed = bool(rng.integers(0, 2))
        extent = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation, strict=True)]
        self.size = [
            max(e - a - b, 1) + int(rng.integers(0, 3)) for e, a, b in zip(extent, self.low, self.high, strict=True)
        ]
        self.out = [(n + a + b - e) // s + 1
                    for n, a, b, e, s in zip(self.size, self.low, self.high, extent, self.stride, strict=True)]  # fmt: skip
        self.orders = [rng.permutation(4) for _ in range(3)]  # of [batch, feature, 0, 1], of [in, out, 0, 1]
        self.rng = rng

    def attributes(self):
        letters = [("bf01", 0), ("io01", 1), ("bf01", 2)]
        lhs, rhs, out = ("".join(names[k] for k in self.orders[which]) for names, which in letters)
        window = {
            "size": self.kernel, "stride": self.stride, "rhs_dilate": self.dilation,
            "pad": [f"{a}_{b}" for a, b in zip(self.low, self.high, strict=True)],
            "rhs_reversal": [int(self.reversed)] * 2,
        }  # fmt: skip
        fields = " ".join(f"{name}={'x'.join(map(str, values))}" for name, values in window.items())
        return f", window={{{fields}}}, dim_labels={lhs}_{rhs}->{out}, feature_group_count={self.groups}"

    def shapes(self):
        """Of the input, the kernel and the output, in the orders of dim_labels."""
        plain = (
            [self.batch, self.features, *self.size],
            [self.per_group, self.outs, *self.kernel],
            [self.batch, self.outs, *self.out],
        )
        return [tuple(sizes[k] for k in order) for sizes, order in zip(plain, self.orders, strict=True)]

    def plain(self, array, which):
        return array.transpose(np.argsort(self.orders[which]))

    def terms(self):
        """(input index, kernel index, output index) of every product of the sum, padding left out."""
        spatial = [range(n) for n in (*self.out, *self.kernel)]
        for b, o, y, x, v, u in itertools.product(range(self.batch), range(self.outs), *spatial):
            at = [p * s + w * d - low for p, s, w, d, low in
                  zip((y, x), self.stride, (v, u), self.dilation, self.low, strict=True)]  # fmt: skip
            if not all(0 <= a < n for a, n in zip(at, self.size, strict=True)):
                continue
            kernel = (self.kernel[0] - 1 - v, self.kernel[1] - 1 - u) if self.reversed else (v, u)
            group = o // (self.outs // self.groups)
            for i in range(self.per_group):
                yield (b, group * self.per_group + i, *at), (i, o, *kernel), (b, o, y, x)

    def contracted(self, first, first_array, second, second_array, result):
        """The sum of products over all terms, as an array of role `result` (0 input, 1 kernel, 2 output)."""
        total = np.zeros(self.plain(np.zeros(self.shapes()[result]), result).shape)
        a, b = self.plain(first_array, first), self.plain(second_array, second)
        for term in self.terms():
            total[term[result]] += float(a[term[first]]) * float(b[term[second]])
        return total.transpose(self.orders[result])


CUDNN = {
    "__cudnn$convForward": (0, 1, 2),
    "__cudnn$convBackwardInput": (2, 1, 0),
    "__cudnn$convBackwardFilter": (0, 2, 1),
}


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("target", CUDNN)
def test_cudnn_convolutions_and_their_gradients(target, seed):
    conv = Conv(seed)
    first, second, result = CUDNN[target]
    shapes = conv.shapes()
    arrays = drawn(seed, shapes[first], shapes[second])
    config = {"cudnn_conv_backend_config": {"activation_mode": "kNone", "conv_result_scale": 1, "side_input_scale": 0}}
    text = call(target, f"(f32{dims(shapes[result])}, u8[0])", [f"f32{dims(a.shape)}" for a in arrays], config,
                conv.attributes())  # fmt: skip
    got, _ = results(text, *arrays)
    want = conv.contracted(first, arrays[0], second, arrays[1], result)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("target", CUDNN)
def test_cudnn_maps_name_what_takes_part(target):
    """Against the products of the sum, in both directions."""
    for seed in range(4):
        conv = Conv(100 + seed)
        first, second, result = CUDNN[target]
        shapes = conv.shapes()
        text = call(target, f"(f32{dims(shapes[result])}, u8[0])", [f"f32{dims(shapes[k])}" for k in (first, second)],
                    None, conv.attributes())  # fmt: skip
        root = ix.hlo.parse(text).entry.root
        for operand, role in enumerate((first, second)):
            want = {
                (tuple(t[result][k] for k in conv.orders[result]), tuple(t[role][k] for k in conv.orders[role]))
                for t in conv.terms()
            }
            for pairs, turned in (
                (ix.output_to_input(root)[operand], False),
                (ix.input_to_output(root, operand)[0], True),
            ):
                exact = [p for m in pairs for p in (m.pieces if m.pieces is not None else (m,))]
                assert {p.exactness for p in exact} <= {"exact"}
                named = {pair for m in exact for pair in _pairs(m.map)}
                assert {(b, a) if turned else (a, b) for a, b in named} == want


def _pairs(m):
    spans = [range(v.interval.lower, v.interval.upper + 1) for v in (*m.dims, *m.ranges)]
    for point in itertools.product(*spans):
        d, s = list(point[: len(m.dims)]), list(point[len(m.dims) :])
        if m.contains(d, s):
            yield tuple(d), tuple(int(v) for v in m.evaluate(d, s))


ACTIVATIONS = {
    "kNone": lambda x: x,
    "kRelu": lambda x: np.maximum(x, 0),
    "kRelu6": lambda x: np.clip(x, 0, 6),
    "kElu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "kLeakyRelu": lambda x: np.where(x > 0, x, 0.25 * x),
    "kSigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "kTanh": np.tanh,
}


@pytest.mark.parametrize("mode", ACTIVATIONS)
@pytest.mark.parametrize("side", [0, 0.5])
def test_cudnn_convolutions_with_bias_and_activation(mode, side):
    conv = Conv(3)
    shapes = conv.shapes()
    x, w, bias, other = drawn(8, shapes[0], shapes[1], (conv.outs,), shapes[2])
    arrays = [x, w, bias, *([other] if side else [])]
    config = {"cudnn_conv_backend_config": {"activation_mode": mode, "conv_result_scale": 2, "side_input_scale": side,
                                            "leakyrelu_alpha": 0.25}}  # fmt: skip
    text = call("__cudnn$convBiasActivationForward", f"(f32{dims(shapes[2])}, u8[0])",
                [f"f32{dims(a.shape)}" for a in arrays], config, conv.attributes())  # fmt: skip
    got, _ = results(text, *arrays)
    along = [-1 if k == 1 else 1 for k in conv.orders[2]]
    want = 2 * conv.contracted(0, x, 1, w, 2) + side * other + bias.reshape(along)
    np.testing.assert_allclose(got, ACTIVATIONS[mode](want), rtol=1e-4, atol=1e-5)
    read = ix.output_to_input(ix.hlo.parse(text).entry.root)[2]
    assert [m.exactness for m in read] == ["exact"]


@pytest.mark.parametrize("added", [0, 1])
def test_onednn_convolutions_whose_numbers_are_kept_plainly_or_with_1_added(added):
    x, w, bias = drawn(9, (2, 3, 7, 9), (4, 3, 2, 3), (2, 4, 4, 5))
    config = {"onednn_conv_config": {
        "dims": "4", "feature_groups": "1",
        "input": {"data": {"batch_dim": "0", "feature_dim": "1"}},
        "kernel": {"filter": {"input_feature_dim": "1", "output_feature_dim": "0"}},
        "output": {"data": {"feature_dim": "1"}},
        "window": {"strides": [2 + added, 2 + added], "pad_left": [1 + added, 1 + added],
                   "pad_right": [added, 1 + added], "window_dilations": [1 + added, 1 + added]},
        "fusions": {"ops": ["SUM", "RELU"]},
    }}  # fmt: skip
    shapes = ["f32[2,3,7,9]", "f32[4,3,2,3]", "f32[2,4,4,5]"]
    (got,) = results(call("__onednn$convolution", "f32[2,4,4,5]", shapes, config), x, w, bias)
    padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (1, 0), (1, 1)])
    want = np.zeros((2, 4, 4, 5))
    for i, j in itertools.product(range(4), range(5)):
        want[:, :, i, j] = np.einsum("bcyx,ocyx->bo", padded[:, :, 2 * i : 2 * i + 2, 2 * j : 2 * j + 3], w)
    np.testing.assert_allclose(got, np.maximum(want + bias, 0), rtol=1e-4, atol=1e-5)
