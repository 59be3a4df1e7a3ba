"""Windows, and the dimension labels of convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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
    """The batch, feature and spatial dimensions of one array of a convolution.

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


def window_text(dims: Sequence[WindowDim]) -> str:
    """A window as HLO text: `{size=3x3 pad=1_1x0_2}`, defaults omitted."""
    fields: dict[str, list[int] | list[str]] = {
        "size": [d.size for d in dims],
        "stride": [d.stride for d in dims],
        "pad": [f"{d.pad_low}_{d.pad_high}" for d in dims],
        "lhs_dilate": [d.lhs_dilation for d in dims],
        "rhs_dilate": [d.rhs_dilation for d in dims],
        "rhs_reversal": [int(d.reversed) for d in dims],
    }
    plain = {"stride": 1, "pad": "0_0", "lhs_dilate": 1, "rhs_dilate": 1, "rhs_reversal": 0}
    said = {name: values for name, values in fields.items() if any(v != plain.get(name) for v in values)}
    return "{" + " ".join(f"{name}={'x'.join(map(str, values))}" for name, values in said.items()) + "}"


def slices_text(dims: Sequence[slice]) -> str:
    """Slices as HLO text: `{[0:4], [1:9:3]}`."""
    texts = (f"[{d.start or 0}:{d.stop}{'' if d.step is None else f':{d.step}'}]" for d in dims)
    return "{" + ", ".join(texts) + "}"


def padding_text(dims: Sequence[tuple[int, ...]]) -> str:
    """Padding as HLO text: `0_1x2_3_4`, for each dimension low, high and, if there is one, interior."""
    return "x".join("_".join(map(str, dim)) for dim in dims)


def labels_text(labels: ConvolutionLabels) -> str:
    """Dimension labels as HLO text: `b01f_01io->b01f`."""
    input_text, output_text = (_side_text(side, "b", "f") for side in (labels.input, labels.output))
    return f"{input_text}_{_side_text(labels.kernel, 'i', 'o')}->{output_text}"


def _side_text(labels: DimensionLabels, batch: str, feature: str) -> str:
    letters = {labels.batch: batch, labels.feature: feature, **{d: str(k) for k, d in enumerate(labels.spatial)}}
    return "".join(letters[k] for k in range(len(letters)))
