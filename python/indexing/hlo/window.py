"""What windows and convolutions are made of."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ConvolutionLabels", "DimensionLabels", "WindowDim"]


@dataclass(frozen=True, slots=True)
class WindowDim:
    """One dimension of a window, as HLO's reduce-window and convolution define it."""

    size: int
    stride: int = 1
    pad_low: int = 0
    pad_high: int = 0
    lhs_dilation: int = 1
    rhs_dilation: int = 1
    reversed: bool = False


@dataclass(frozen=True, slots=True)
class DimensionLabels:
    """Which dimensions of one array of a convolution are batch, feature and spatial ones.

    For the kernel, `batch` is the input feature dimension (`i`) and `feature` the output feature dimension (`o`).
    """

    batch: int
    feature: int
    spatial: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ConvolutionLabels:
    """The dimension labels of a convolution."""

    input: DimensionLabels
    kernel: DimensionLabels
    output: DimensionLabels
