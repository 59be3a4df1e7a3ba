"""cuDNN's convolutions: the forward one, and its gradients, whose window and labels are those of the forward one."""

from __future__ import annotations

from collections.abc import Sequence

from indexing.errors import UnsupportedOp
from indexing.hlo import ConvolutionLabels, DimensionLabels, WindowDim
from indexing.ops.library_calls.activations import activation
from indexing.ops.library_calls.hlo_text import Config, HloText, Value, computing_kind

_ACTIVATIONS = {
    "kRelu": "relu",
    "kRelu6": "relu6",
    "kElu": "elu",
    "kLeakyRelu": "leaky_relu",
    "kSigmoid": "sigmoid",
    "kTanh": "tanh",
}


def _labels(labels: DimensionLabels, batch: str, feature: str) -> str:
    """One side of dim_labels."""
    letters = {labels.batch: batch, labels.feature: feature, **{d: str(k) for k, d in enumerate(labels.spatial)}}
    return "".join(letters[k] for k in range(len(letters)))


def _window(dims: Sequence[WindowDim]) -> str:
    """The attribute, all fields written; nothing without spatial dimensions."""
    fields = {
        "size": [str(d.size) for d in dims],
        "stride": [str(d.stride) for d in dims],
        "pad": [f"{d.pad_low}_{d.pad_high}" for d in dims],
        "lhs_dilate": [str(d.lhs_dilation) for d in dims],
        "rhs_dilate": [str(d.rhs_dilation) for d in dims],
        "rhs_reversal": [str(int(d.reversed)) for d in dims],
    }
    return (
        "window={" + " ".join(f"{name}={'x'.join(values)}" for name, values in fields.items()) + "}, " if dims else ""
    )


def _line(text: HloText, kind: str, sizes: Sequence[int], operands: tuple[Value, Value], rest: str) -> Value:
    lhs, rhs = operands
    return text.line(kind, sizes, f"convolution({lhs.name}, {rhs.name}), {rest}")


def convolution(
    text: HloText,
    kind: str,
    sizes: Sequence[int],
    labels: ConvolutionLabels,
    window: Sequence[WindowDim],
    groups: int,
) -> Value:
    """Operand 0 convolved with operand 1."""
    names = f"{_labels(labels.input, 'b', 'f')}_{_labels(labels.kernel, 'i', 'o')}->{_labels(labels.output, 'b', 'f')}"
    rest = f"{_window(window)}dim_labels={names}, feature_group_count={groups}"
    return _line(text, kind, sizes, (text.operand(0), text.operand(1)), rest)


def _forward(text: HloText, kind: str) -> Value:
    call = text.call
    groups = call.integer("feature_group_count", 1)
    return convolution(text, kind, text.results[0].dimensions, call.dim_labels(), call.window(), groups)


def _config(config: Config) -> Config:
    found: Config = config.get("cudnn_conv_backend_config", config)
    return found


def forward(text: HloText, config: Config) -> list[Value]:
    """The convolution, times conv_result_scale."""
    kind, scale = text.results[0].element_type, float(_config(config).get("conv_result_scale", 1) or 1)
    return [text.scaled(_forward(text, kind if scale == 1 else computing_kind(kind)), scale)]


def bias_activation(text: HloText, config: Config) -> list[Value]:
    """activation(conv_result_scale * convolution + side_input_scale * side input + bias)."""
    config = _config(config)
    result = text.results[0].element_type
    kind = "f32" if result in ("s8", "u8", "s32") else computing_kind(result)
    total = _forward(text, kind)
    total = text.scaled(total, float(config.get("conv_result_scale", 1) or 1))
    side = float(config.get("side_input_scale", 0))
    if side and len(text.parameters) > 3:
        total = text.apply("add", total, text.scaled(text.convert(text.operand(3), kind), side))
    bias = text.convert(text.reshape(text.operand(2), (total.sizes[text.call.dim_labels().output.feature],)), kind)
    spread = text.broadcast(bias, total.sizes, [text.call.dim_labels().output.feature])
    total = text.apply("add", total, spread)
    mode = str(config.get("activation_mode", "kNone"))
    if mode in ("kNone", "0", ""):
        return [total]
    if mode not in _ACTIVATIONS:
        raise UnsupportedOp(f"its activation {mode} is not known")
    return [activation(text, _ACTIVATIONS[mode], total, float(config.get("leakyrelu_alpha", 0)))]


def _checked_window(text: HloText) -> tuple[WindowDim, ...]:
    dims = text.call.window()
    if any(d.lhs_dilation != 1 for d in dims):
        raise UnsupportedOp("its forward convolution dilates the input, which has no gradient call")
    return dims


def backward_input(text: HloText, config: Config) -> list[Value]:
    """The input's gradient: the output's, dilated by the stride, convolved with the kernel turned around."""
    labels, dims = text.call.dim_labels(), _checked_window(text)
    gradient, kernel = text.operand(0), _turned_groups(text, text.operand(1))
    window = []
    for k, d in enumerate(dims):
        extent = (d.size - 1) * d.rhs_dilation + 1
        size = text.results[0].dimensions[labels.input.spatial[k]]
        dilated = (gradient.sizes[labels.output.spatial[k]] - 1) * d.stride + 1
        low = extent - 1 - d.pad_low
        high = size - 1 + extent - dilated - low
        window.append(WindowDim(d.size, 1, low, high, d.stride, d.rhs_dilation, not d.reversed))
    names = f"{_labels(labels.output, 'b', 'f')}_{_labels(labels.kernel, 'o', 'i')}->{_labels(labels.input, 'b', 'f')}"
    groups = text.call.integer("feature_group_count", 1)
    rest = f"{_window(window)}dim_labels={names}, feature_group_count={groups}"
    kind, sizes = text.results[0].element_type, text.results[0].dimensions
    return _scaled(text, config, _line(text, kind, sizes, (gradient, kernel), rest))


def _turned_groups(text: HloText, kernel: Value) -> Value:
    """The kernel whose input features stand for all groups, and its output features for one, as the gradient needs it."""
    groups = text.call.integer("feature_group_count", 1)
    if groups == 1:
        return kernel
    labels = text.call.dim_labels().kernel
    inner, outer = labels.batch, labels.feature
    rank = len(kernel.sizes)
    apart = [*kernel.sizes]
    apart[outer : outer + 1] = [groups, kernel.sizes[outer] // groups]
    split = text.reshape(kernel, apart)
    group = outer  # the new dimension; those from the old `outer` on have moved by one
    order = [k for k in range(rank + 1) if k != group]
    order.insert(order.index(inner + (inner > outer)), group)
    moved = text.transpose(split, order)
    sizes = [*kernel.sizes]
    sizes[inner], sizes[outer] = kernel.sizes[inner] * groups, kernel.sizes[outer] // groups
    return text.reshape(moved, sizes)


def backward_filter(text: HloText, config: Config) -> list[Value]:
    """The kernel's gradient: the input convolved with the output's gradient, batches and features exchanged."""
    labels, dims = text.call.dim_labels(), _checked_window(text)
    lhs, gradient = text.operand(0), text.operand(1)
    window = []
    for k, d in enumerate(dims):
        size = gradient.sizes[labels.output.spatial[k]]
        reach = (d.size - 1) * d.rhs_dilation + (size - 1) * d.stride + 1
        high = reach - lhs.sizes[labels.input.spatial[k]] - d.pad_low
        window.append(WindowDim(size, d.rhs_dilation, d.pad_low, high, 1, d.stride, False))
    names = f"{_labels(labels.input, 'f', 'b')}_{_labels(labels.output, 'i', 'o')}->{_labels(labels.kernel, 'b', 'f')}"
    groups = text.call.integer("feature_group_count", 1)
    rest = f"{_window(window)}dim_labels={names}, batch_group_count={groups}"
    kind, sizes = text.results[0].element_type, text.results[0].dimensions
    found = _line(text, kind, sizes, (lhs, gradient), rest)
    turned = [labels.kernel.spatial[k] for k, d in enumerate(dims) if d.reversed]
    if turned:
        found = text.line(kind, sizes, f"reverse({found.name}), dimensions={{{','.join(map(str, turned))}}}")
    return _scaled(text, config, found)


def _scaled(text: HloText, config: Config, found: Value) -> list[Value]:
    return [text.scaled(found, float(_config(config).get("conv_result_scale", 1) or 1))]
