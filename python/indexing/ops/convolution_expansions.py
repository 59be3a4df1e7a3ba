"""Expansion of convolutions whose arrays have spatial dimensions last in memory, for kernels that read neighbouring features.

The input is transposed so that its features come last, or, in gradients of weights, which sum over long windows, its batch; the
kernel and the result so that the output features do. These transposes cost little beside the products.
"""

from __future__ import annotations

from collections.abc import Sequence

from indexing.hlo import Computation, ConvolutionLabels, DimensionLabels, Instruction
from indexing.ops.expansion import Expansion


def convolution_of_neighbours(convolution: Instruction) -> Computation:
    """A computation equal to a convolution, of transposed operands, whose result is transposed back."""
    parts, labels = Expansion(convolution), convolution.dim_labels()
    image, kernel, result = labels.input, labels.kernel, labels.output
    if is_along_window(convolution):
        of_image = (image.feature, *image.spatial, image.batch)
    else:
        of_image = (image.batch, *image.spatial, image.feature)
    of_kernel = (*kernel.spatial, kernel.batch, kernel.feature)
    of_result = (result.batch, *result.spatial, result.feature)
    operands = [parts.transpose(o, order) for o, order in zip(parts.parameters, (of_image, of_kernel), strict=True)]
    transposed = ConvolutionLabels(_renamed(image, of_image), _renamed(kernel, of_kernel), _renamed(result, of_result))
    sizes = [convolution.shape.dimensions[d] for d in of_result]
    groups = {name: convolution.integer(name, 1) for name in ("feature_group_count", "batch_group_count")}
    product = parts.add(
        "convolution", convolution.shape.element_type, sizes, operands,
        window=convolution.window(), dim_labels=transposed, **groups,
    )  # fmt: skip
    return parts.finish([parts.transpose(product, [of_result.index(d) for d in range(len(of_result))])])


def is_along_window(convolution: Instruction) -> bool:
    """Whether the window is longer than the result along the last spatial dimension, as in gradients of weights."""
    places = convolution.shape.dimensions[convolution.dim_labels().output.spatial[-1]]
    return convolution.window()[-1].size > places


def _renamed(labels: DimensionLabels, order: Sequence[int]) -> DimensionLabels:
    """The labels of the dimensions in another order."""
    return DimensionLabels(
        order.index(labels.batch), order.index(labels.feature), tuple(map(order.index, labels.spatial))
    )
