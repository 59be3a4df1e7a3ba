"""oneDNN's calls: matrix products, convolutions, softmax and layer norms, with the ops fused into them."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from indexing.errors import UnsupportedOp
from indexing.hlo import BuiltInstruction, ConvolutionLabels, DimensionLabels, WindowDim
from indexing.ops.expansion import Expansion, computing_kind
from indexing.ops.library_calls.activations import activation
from indexing.ops.library_calls.configs import Config
from indexing.ops.library_calls.convolutions import convolution
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


def _after(body: Expansion, total: BuiltInstruction, fusions: Sequence[str]) -> list[BuiltInstruction]:
    """Apply the fused ops in order; a binary one takes the next operand of the call."""
    following = 2
    for name in fusions:
        if name in ("BIAS", "BINARY_ADD", "SUM"):
            other = body.convert(body.operand(following), total.element_type)
            total = body.apply("add", total, body.aligned(other, total.dimensions))
            following += 1
        elif name in _FUNCTIONS:
            total = activation(body, _FUNCTIONS[name], total)
        else:
            raise UnsupportedOp(f"the fused {name} is not known")
    return [total]


def matmul(body: Expansion, config: Config) -> list[BuiltInstruction]:
    """lhs . rhs over the last two dimensions, either of them possibly transposed, followed by the fused ops."""
    config = config.get("onednn_matmul_config", config)
    lhs, rhs, fusions = body.operand(0), body.operand(1), _fused(config)
    rank, result = len(lhs.dimensions), body.results[0].element_type
    batch = tuple(range(rank - 2))
    numbers = {
        "lhs_batch_dimensions": batch,
        "rhs_batch_dimensions": batch,
        "lhs_contracting_dimensions": (rank - 2 if config.get("transpose_a") else rank - 1,),
        "rhs_contracting_dimensions": (rank - 1 if config.get("transpose_b") else rank - 2,),
    }
    return _after(body, product(body, computing_kind(result) if fusions else result, lhs, rhs, numbers), fusions)


_LAYOUTS = (
    ("input", "data", "batch_dim", "feature_dim"),
    ("kernel", "filter", "input_feature_dim", "output_feature_dim"),
    ("output", "data", "batch_dim", "feature_dim"),
)


def conv(body: Expansion, config: Config) -> list[BuiltInstruction]:
    """A forward convolution with spatial dimensions in order, followed by the fused ops."""
    config = config.get("onednn_conv_config", config)
    shapes = (body.operand(0).dimensions, body.operand(1).dimensions, body.results[0].dimensions)
    labels_of_roles = []
    for (side, layout, first, second), sizes in zip(_LAYOUTS, shapes, strict=True):
        numbers = config[side][layout]
        roles = int(numbers.get(first, 0)), int(numbers.get(second, 0))
        labels_of_roles.append(DimensionLabels(*roles, tuple(k for k in range(len(sizes)) if k not in roles)))
    labels = ConvolutionLabels(*labels_of_roles)
    fusions, result = _fused(config), body.results[0].element_type
    kind = computing_kind(result) if fusions else result
    window, groups = _window(config["window"], labels, shapes), int(config.get("feature_groups", 1) or 1)
    return _after(body, convolution(body, kind, shapes[2], labels, window, groups), fusions)


def _window(fields: Config, labels: ConvolutionLabels, shapes: Sequence[Sequence[int]]) -> list[WindowDim]:
    """The window in the encoding that fits the sizes: some versions store each number plus 1."""
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
        raise UnsupportedOp("its window fits the sizes in no encoding, or in two")
    return fits[0]


def softmax(body: Expansion, config: Config) -> list[BuiltInstruction]:
    """exp(x - max) over its sum, along one axis."""
    config = config.get("onednn_softmax_config", config)
    kind = computing_kind(body.results[0].element_type)
    x = body.convert(body.operand(0), kind)
    rank = len(x.dimensions)
    axis = int(config.get("softmax_axis", rank - 1)) % rank
    others = [k for k in range(rank) if k != axis]
    top = body.broadcast(body.reduce("maximum", x, [axis], -math.inf), x.dimensions, others)
    powers = body.apply("exponential", body.apply("subtract", x, top))
    total = body.broadcast(body.reduce("add", powers, [axis], 0.0), x.dimensions, others)
    return [body.apply("divide", powers, total)]


def layer_norm(body: Expansion, config: Config) -> list[BuiltInstruction]:
    """(x - mean) / sqrt(variance + epsilon) along the last dimension, times operand 1, plus operand 2."""
    config = config.get("onednn_layer_norm_config", config)
    kind = computing_kind(body.results[0].element_type)
    x = body.convert(body.operand(0), kind)
    last, others = len(x.dimensions) - 1, range(len(x.dimensions) - 1)
    (epsilon,) = struct.unpack("<f", struct.pack("<i", int(config.get("epsilon_typecast", 0))))

    def mean(value: BuiltInstruction) -> BuiltInstruction:
        return body.scaled(body.reduce("add", value, [last], 0.0), 1 / value.dimensions[last])

    centred = body.apply("subtract", x, body.broadcast(mean(x), x.dimensions, others))
    variance = mean(body.apply("multiply", centred, centred))
    inverse = body.apply("rsqrt", body.apply("add", variance, body.constant(kind, epsilon)))
    normalized = body.apply("multiply", centred, body.broadcast(inverse, x.dimensions, others))
    rescale = str(config.get("rescale", config.get("fused_ops", "SCALE_AND_SHIFT")))
    if rescale not in ("SCALE_AND_SHIFT", "SCALE", "NONE"):
        raise UnsupportedOp(f"its rescale {rescale} is not known")
    if rescale != "NONE":
        normalized = body.apply("multiply", normalized, body.aligned(body.convert(body.operand(1), kind), x.dimensions))
    if rescale == "SCALE_AND_SHIFT":
        normalized = body.apply("add", normalized, body.aligned(body.convert(body.operand(2), kind), x.dimensions))
    return [normalized]
