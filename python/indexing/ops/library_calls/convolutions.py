"""cuDNN's convolutions: the forward one and its gradients, which have the window and labels of the forward one."""

from __future__ import annotations

from collections.abc import Sequence

from indexing.errors import UnsupportedOp
from indexing.hlo import BuiltInstruction, ConvolutionLabels, DimensionLabels, WindowDim
from indexing.ops.expansion import Expansion, computing_kind
from indexing.ops.library_calls.activations import activation
from indexing.ops.library_calls.configs import Config

_ACTIVATIONS = {
    "kRelu": "relu",
    "kRelu6": "relu6",
    "kElu": "elu",
    "kLeakyRelu": "leaky_relu",
    "kSigmoid": "sigmoid",
    "kTanh": "tanh",
}


def _convolve(
    body: Expansion,
    kind: str,
    sizes: Sequence[int],
    operands: Sequence[BuiltInstruction],
    labels: ConvolutionLabels,
    window: Sequence[WindowDim],
    **groups: int,
) -> BuiltInstruction:
    spatial = {"window": window} if window else {}
    return body.add("convolution", kind, sizes, operands, **spatial, dim_labels=labels, **groups)


def convolution(
    body: Expansion,
    kind: str,
    sizes: Sequence[int],
    labels: ConvolutionLabels,
    window: Sequence[WindowDim],
    groups: int,
) -> BuiltInstruction:
    """Operand 0 convolved with operand 1."""
    operands = [body.operand(0), body.operand(1)]
    return _convolve(body, kind, sizes, operands, labels, window, feature_group_count=groups)


def _forward(body: Expansion, kind: str) -> BuiltInstruction:
    call = body.call
    groups = call.integer("feature_group_count", 1)
    return convolution(body, kind, body.results[0].dimensions, call.dim_labels(), call.window(), groups)


def _config(config: Config) -> Config:
    own: Config = config.get("cudnn_conv_backend_config", config)
    return own


def forward(body: Expansion, config: Config) -> list[BuiltInstruction]:
    """The convolution, times conv_result_scale."""
    kind, scale = body.results[0].element_type, float(_config(config).get("conv_result_scale", 1) or 1)
    return [body.scaled(_forward(body, kind if scale == 1 else computing_kind(kind)), scale)]


def bias_activation(body: Expansion, config: Config) -> list[BuiltInstruction]:
    """activation(conv_result_scale * convolution + side_input_scale * side input + bias)."""
    config = _config(config)
    result = body.results[0].element_type
    kind = "f32" if result in ("s8", "u8", "s32") else computing_kind(result)
    total = _forward(body, kind)
    total = body.scaled(total, float(config.get("conv_result_scale", 1) or 1))
    side = float(config.get("side_input_scale", 0))
    if side and len(body.parameters) > 3:
        total = body.apply("add", total, body.scaled(body.convert(body.operand(3), kind), side))
    bias = body.convert(body.reshape(body.operand(2), (total.dimensions[body.call.dim_labels().output.feature],)), kind)
    spread = body.broadcast(bias, total.dimensions, [body.call.dim_labels().output.feature])
    total = body.apply("add", total, spread)
    mode = str(config.get("activation_mode", "kNone"))
    if mode in ("kNone", "0", ""):
        return [total]
    if mode not in _ACTIVATIONS:
        raise UnsupportedOp(f"its activation {mode} is not known")
    return [activation(body, _ACTIVATIONS[mode], total, float(config.get("leakyrelu_alpha", 0)))]


def _checked_window(body: Expansion) -> tuple[WindowDim, ...]:
    dims = body.call.window()
    if any(d.lhs_dilation != 1 for d in dims):
        raise UnsupportedOp("its forward convolution dilates the input, which has no gradient call")
    return dims


def backward_input(body: Expansion, config: Config) -> list[BuiltInstruction]:
    """The input's gradient: the output's gradient, dilated by the stride, convolved with the reversed kernel."""
    labels, dims = body.call.dim_labels(), _checked_window(body)
    gradient, kernel = body.operand(0), _turned_groups(body, body.operand(1))
    window = []
    for k, d in enumerate(dims):
        extent = (d.size - 1) * d.rhs_dilation + 1
        size = body.results[0].dimensions[labels.input.spatial[k]]
        dilated = (gradient.dimensions[labels.output.spatial[k]] - 1) * d.stride + 1
        low = extent - 1 - d.pad_low
        high = size - 1 + extent - dilated - low
        window.append(WindowDim(d.size, 1, low, high, d.stride, d.rhs_dilation, not d.reversed))
    turned = ConvolutionLabels(labels.output, _exchanged(labels.kernel), labels.input)
    groups = body.call.integer("feature_group_count", 1)
    kind, sizes = body.results[0].element_type, body.results[0].dimensions
    convolved = _convolve(body, kind, sizes, [gradient, kernel], turned, window, feature_group_count=groups)
    return _scaled(body, config, convolved)


def _exchanged(labels: DimensionLabels) -> DimensionLabels:
    """The labels with batch and feature dimensions exchanged."""
    return DimensionLabels(labels.feature, labels.batch, labels.spatial)


def _turned_groups(body: Expansion, kernel: BuiltInstruction) -> BuiltInstruction:
    """The kernel with the group moved from its output features to its input features, as the input's gradient needs it."""
    groups = body.call.integer("feature_group_count", 1)
    if groups == 1:
        return kernel
    labels = body.call.dim_labels().kernel
    inner, outer = labels.batch, labels.feature
    rank = len(kernel.dimensions)
    apart = [*kernel.dimensions]
    apart[outer : outer + 1] = [groups, kernel.dimensions[outer] // groups]
    split = body.reshape(kernel, apart)
    group = outer  # the new dimension; dimensions from the old `outer` on are shifted by one
    order = [k for k in range(rank + 1) if k != group]
    order.insert(order.index(inner + (inner > outer)), group)
    moved = body.transpose(split, order)
    sizes = [*kernel.dimensions]
    sizes[inner], sizes[outer] = kernel.dimensions[inner] * groups, kernel.dimensions[outer] // groups
    return body.reshape(moved, sizes)


def backward_filter(body: Expansion, config: Config) -> list[BuiltInstruction]:
    """The kernel's gradient: the input convolved with the output's gradient, batches and features exchanged."""
    labels, dims = body.call.dim_labels(), _checked_window(body)
    lhs, gradient = body.operand(0), body.operand(1)
    window = []
    for k, d in enumerate(dims):
        size = gradient.dimensions[labels.output.spatial[k]]
        reach = (d.size - 1) * d.rhs_dilation + (size - 1) * d.stride + 1
        high = reach - lhs.dimensions[labels.input.spatial[k]] - d.pad_low
        window.append(WindowDim(size, d.rhs_dilation, d.pad_low, high, 1, d.stride, False))
    exchanged = ConvolutionLabels(_exchanged(labels.input), labels.output, labels.kernel)
    groups = body.call.integer("feature_group_count", 1)
    kind, sizes = body.results[0].element_type, body.results[0].dimensions
    convolved = _convolve(body, kind, sizes, [lhs, gradient], exchanged, window, batch_group_count=groups)
    turned = [labels.kernel.spatial[k] for k, d in enumerate(dims) if d.reversed]
    if turned:
        convolved = body.add("reverse", kind, sizes, [convolved], dimensions=turned)
    return _scaled(body, config, convolved)


def _scaled(body: Expansion, config: Config, convolved: BuiltInstruction) -> list[BuiltInstruction]:
    return [body.scaled(convolved, float(_config(config).get("conv_result_scale", 1) or 1))]
