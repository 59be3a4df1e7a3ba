"""oneDNN's calls: matrix products, convolutions, softmax and layer norms, with what is fused into them."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from indexing.errors import UnsupportedOp
from indexing.hlo import ConvolutionLabels, DimensionLabels, WindowDim
from indexing.ops.library_calls.activations import activation
from indexing.ops.library_calls.convolutions import convolution
from indexing.ops.library_calls.hlo_text import Config, HloText, Value, computing_kind
from indexing.ops.library_calls.products import product

_FUNCTIONS = {
    "RELU": "relu",
    "TANH": "tanh",
    "GELU_ERF": "gelu_erf",
    "GELU_TANH": "gelu_tanh",
    "ELU": "elu",
    "RELU6": "relu6",
    "SIGMOID": "sigmoid",
    "SWISH": "silu",
}


def _fused(config: Config) -> list[str]:
    return list(config.get("fusions", {}).get("ops", config.get("fused_ops", [])))


def _after(text: HloText, total: Value, fusions: Sequence[str]) -> list[Value]:
    """The fused ops one after another; those with an operand take the next one."""
    following = 2
    for name in fusions:
        if name in ("BIAS", "BINARY_ADD", "SUM"):
            other = text.convert(text.operand(following), total.kind)
            total = text.apply("add", total, text.aligned(other, total.sizes))
            following += 1
        elif name in _FUNCTIONS:
            total = activation(text, _FUNCTIONS[name], total)
        else:
            raise UnsupportedOp(f"the fused {name} is not known")
    return [total]


def matmul(text: HloText, config: Config) -> list[Value]:
    """lhs . rhs over the last two dimensions, either of them transposed, and then what is fused."""
    config = config.get("onednn_matmul_config", config)
    lhs, rhs, fusions = text.operand(0), text.operand(1), _fused(config)
    rank, result = len(lhs.sizes), text.results[0].element_type
    batch = tuple(range(rank - 2))
    numbers = {
        "lhs_batch_dimensions": batch,
        "rhs_batch_dimensions": batch,
        "lhs_contracting_dimensions": (rank - 2 if config.get("transpose_a") else rank - 1,),
        "rhs_contracting_dimensions": (rank - 1 if config.get("transpose_b") else rank - 2,),
    }
    return _after(text, product(text, computing_kind(result) if fusions else result, lhs, rhs, numbers), fusions)


_LAYOUTS = (
    ("input", "data", "batch_dim", "feature_dim"),
    ("kernel", "filter", "input_feature_dim", "output_feature_dim"),
    ("output", "data", "batch_dim", "feature_dim"),
)


def conv(text: HloText, config: Config) -> list[Value]:
    """A forward convolution, and then what is fused; spatial dimensions stand in order."""
    config = config.get("onednn_conv_config", config)
    shapes = (text.operand(0).sizes, text.operand(1).sizes, text.results[0].dimensions)
    found = []
    for (side, layout, first, second), sizes in zip(_LAYOUTS, shapes, strict=True):
        numbers = config[side][layout]
        roles = int(numbers.get(first, 0)), int(numbers.get(second, 0))
        found.append(DimensionLabels(*roles, tuple(k for k in range(len(sizes)) if k not in roles)))
    labels = ConvolutionLabels(*found)
    fusions, result = _fused(config), text.results[0].element_type
    kind = computing_kind(result) if fusions else result
    window, groups = _window(config["window"], labels, shapes), int(config.get("feature_groups", 1) or 1)
    return _after(text, convolution(text, kind, shapes[2], labels, window, groups), fusions)


def _window(fields: Config, labels: ConvolutionLabels, shapes: Sequence[Sequence[int]]) -> list[WindowDim]:
    """Some versions keep each number plainly, some add 1 to each: the one that fits the sizes."""
    fits = []
    for added in (0, 1):
        dims = []
        for k, (x, w) in enumerate(zip(labels.input.spatial, labels.kernel.spatial, strict=True)):
            names = ("strides", "pad_left", "pad_right", "window_dilations")
            stride, low, high, dilation = (int(fields[name][k]) - added for name in names)
            dims.append(WindowDim(shapes[1][w], stride, low, high, 1, dilation))
            extent = shapes[0][x] + low + high - (shapes[1][w] - 1) * dilation - 1
            if min(stride, dilation) < 1 or shapes[2][labels.output.spatial[k]] != extent // stride + 1:
                break
        else:
            fits.append(dims)
    if len(fits) != 1:
        raise UnsupportedOp("its window fits the sizes in no way, or in two")
    return fits[0]


def softmax(text: HloText, config: Config) -> list[Value]:
    """exp(x - max) over its sum, along one axis."""
    config = config.get("onednn_softmax_config", config)
    kind = computing_kind(text.results[0].element_type)
    x = text.convert(text.operand(0), kind)
    rank = len(x.sizes)
    axis = int(config.get("softmax_axis", rank - 1)) % rank
    others = [k for k in range(rank) if k != axis]
    top = text.broadcast(text.reduce("maximum", x, [axis], -math.inf), x.sizes, others)
    powers = text.apply("exponential", text.apply("subtract", x, top))
    total = text.broadcast(text.reduce("add", powers, [axis], 0.0), x.sizes, others)
    return [text.apply("divide", powers, total)]


def layer_norm(text: HloText, config: Config) -> list[Value]:
    """(x - mean) / sqrt(variance + epsilon) along the last dimension, times operand 1, plus operand 2."""
    config = config.get("onednn_layer_norm_config", config)
    kind = computing_kind(text.results[0].element_type)
    x = text.convert(text.operand(0), kind)
    last, others = len(x.sizes) - 1, range(len(x.sizes) - 1)
    (epsilon,) = struct.unpack("<f", struct.pack("<i", int(config.get("epsilon_typecast", 0))))

    def mean(value: Value) -> Value:
        return text.scaled(text.reduce("add", value, [last], 0.0), 1 / value.sizes[last])

    centred = text.apply("subtract", x, text.broadcast(mean(x), x.sizes, others))
    variance = mean(text.apply("multiply", centred, centred))
    inverse = text.apply("rsqrt", text.apply("add", variance, text.constant(kind, epsilon)))
    found = text.apply("multiply", centred, text.broadcast(inverse, x.sizes, others))
    rescale = str(config.get("rescale", config.get("fused_ops", "SCALE_AND_SHIFT")))
    if rescale not in ("SCALE_AND_SHIFT", "SCALE", "NONE"):
        raise UnsupportedOp(f"its rescale {rescale} is not known")
    if rescale != "NONE":
        found = text.apply("multiply", found, text.aligned(text.convert(text.operand(1), kind), x.sizes))
    if rescale == "SCALE_AND_SHIFT":
        found = text.apply("add", found, text.aligned(text.convert(text.operand(2), kind), x.sizes))
    return [found]
