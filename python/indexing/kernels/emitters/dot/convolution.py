"""Convolutions as products of matrices: a row for each place of the window, a column for each output feature.

The left factor is the input, read at the places that a window's elements meet, with zeros in padding. Groups are the batch of
the product, and so are phases: in an input dilated by 2, even and odd places of the window meet other elements of the kernel,
and each phase multiplies only those that meet no hole.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Literal

from indexing._core import SymbolicExpr
from indexing.hlo import Instruction, WindowDim
from indexing.hlo.layout import delinearize, major_to_minor
from indexing.kernels.function_builder import FunctionBuilder
from indexing.ops.convolution import CONVOLUTION
from indexing.ops.element_context import Index, Value
from indexing.ops.registry import traits_of

MIN_RUN = 16  # features that are copied fast by themselves


def is_convolution(i: Instruction) -> bool:
    """Whether an instruction is a convolution."""
    return traits_of(i) is CONVOLUTION


def group_count(convolution: Instruction) -> int:
    """The number of groups, of features or of the batch."""
    return convolution.integer("feature_group_count", 1) * convolution.integer("batch_group_count", 1)


@dataclass(frozen=True, slots=True)
class _Phases:
    """A spatial dimension by phases: the places of the output that are `step` apart meet elements of the kernel that are
    `tap_step` apart, and neighbours of these meet neighbours of the input that are `stride` and `dilation` apart.
    """

    window: WindowDim
    input: int
    output: int

    @property
    def step(self) -> int:
        return self.window.lhs_dilation // gcd(self.window.lhs_dilation, self.window.stride)

    @property
    def tap_step(self) -> int:
        return self.window.lhs_dilation // gcd(self.window.lhs_dilation, self.window.rhs_dilation)

    @property
    def count(self) -> int:
        """The number of phases that have places."""
        return min(self.step, self.output)

    @property
    def first(self) -> int:
        """The first place of the first phase: if some phases meet no element of the kernel, one that meets the first."""
        w, common = self.window, gcd(self.window.lhs_dilation, self.window.stride)
        if w.size >= self.tap_step or self.count < self.step or w.pad_low % common:
            return 0
        return w.pad_low // common * pow(w.stride // common, -1, self.step) % self.step

    def first_place(self, phase: SymbolicExpr) -> SymbolicExpr:
        """The first place of the output in a phase."""
        return (phase + self.first) % self.step if self.first else phase

    @property
    def places(self) -> int:
        """The most places of the output in a phase."""
        return -(-self.output // self.step)

    @property
    def taps(self) -> int:
        """The most elements of the kernel in a phase."""
        return -(-self.window.size // self.tap_step)

    def first_tap(self, phase: SymbolicExpr) -> SymbolicExpr:
        """The first element of the kernel that meets no hole in a phase."""
        w, common = self.window, gcd(self.window.lhs_dilation, self.window.rhs_dilation)
        inverse = pow(w.rhs_dilation // common, -1, self.tap_step)
        return (self.first_place(phase) * -w.stride + w.pad_low) // common * inverse % self.tap_step

    def tap(self, phase: SymbolicExpr, number: SymbolicExpr) -> SymbolicExpr:
        """The `number`-th element of the kernel in a phase."""
        return self.first_tap(phase) + number * self.tap_step

    def met(self, phase: SymbolicExpr, place: SymbolicExpr, number: SymbolicExpr) -> SymbolicExpr:
        """The place of the input that the `number`-th element of the kernel meets at a place of the phase."""
        w = self.window
        first = self.first_place(phase) * w.stride + self.first_tap(phase) * w.rhs_dilation - w.pad_low
        stride, dilation = self.step * w.stride // w.lhs_dilation, self.tap_step * w.rhs_dilation // w.lhs_dilation
        return place * stride + number * dilation + first // w.lhs_dilation

    def has_tap(self, body: FunctionBuilder, phase: SymbolicExpr, number: SymbolicExpr) -> tuple[Value, ...]:
        """The conditions that a phase has a `number`-th element of the kernel."""
        w, common = self.window, gcd(self.window.lhs_dilation, self.window.rhs_dilation)
        meets = body.within((self.first_place(phase) * -w.stride + w.pad_low) % common, 0, 0)
        return (*meets, *body.within(self.tap(phase, number), None, w.size - 1))


def _phases(convolution: Instruction) -> list[_Phases]:
    labels = convolution.dim_labels()
    sizes = convolution.operands[0].shape.dimensions, convolution.shape.dimensions
    spatial = zip(convolution.window(), labels.input.spatial, labels.output.spatial, strict=True)
    return [_Phases(w, sizes[0][d], sizes[1][o]) for w, d, o in spatial]


# ------------------------------------------------------------ sizes


def result_places(convolution: Instruction) -> tuple[int, ...]:
    """The dimensions of the result: the batch and the spatial ones, of rows, then that of features, of columns.

    The batch comes first, unless it is the input's fastest dimension.
    """
    output = convolution.dim_labels().output
    if _fastest_role(convolution) == "batch":
        return (*output.spatial, output.batch, output.feature)
    return (output.batch, *output.spatial, output.feature)


def sizes_by_role(convolution: Instruction) -> tuple[tuple[int, ...], ...]:
    """The sizes of the product: groups and phases, of the batch; the batch and the places of a phase, of rows; the output
    features of a group; the elements of the kernel of a phase and the input features of a group, which are summed over, in
    the input's order in memory, or with features last if there are phases.
    """
    labels, phases, shape = convolution.dim_labels(), _phases(convolution), convolution.shape.dimensions
    groups = group_count(convolution)
    places = tuple(p.places for p in phases)
    images = (shape[labels.output.batch],)
    rows = (*places, *images) if _fastest_role(convolution) == "batch" else (*images, *places)
    taps, features = tuple(p.taps for p in phases), (_features(convolution),)
    contracted = (*taps, *features) if _has_features_last(convolution) else (*features, *taps)
    return (groups, *(p.count for p in phases)), rows, (shape[labels.output.feature] // groups,), contracted


def _features(convolution: Instruction) -> int:
    """The input features of a group."""
    return convolution.operands[1].shape.dimensions[convolution.dim_labels().kernel.batch]


def _has_features_last(convolution: Instruction) -> bool:
    return _fastest_role(convolution) == "feature" or has_phases(convolution)


def has_phases(convolution: Instruction) -> bool:
    """Whether the input is dilated, so that elements of the kernel meet holes."""
    return any(w.lhs_dilation > 1 for w in convolution.window())


# ------------------------------------------------------------ elements


def result_index(convolution: Instruction, batch: Index, row: Index, column: Index) -> Index:
    """The index in the result of an element of the product; beyond it at the end of phases that have fewer places."""
    labels, (group, *of_phases) = convolution.dim_labels().output, batch
    image, places = _image_and_places(convolution, row)
    features = convolution.shape.dimensions[labels.feature] // group_count(convolution)
    at = {labels.batch: image, labels.feature: group * features + column[0]}
    for d, p, phase, place in zip(labels.spatial, _phases(convolution), of_phases, places, strict=True):
        at[d] = place * p.step + p.first_place(phase)
    return tuple(at[d] for d in range(len(at)))


def factor(
    body: FunctionBuilder, convolution: Instruction, k: int, batch: Index, free: Index, contracted: Index
) -> tuple[Index, list[Value]]:
    """The index of a factor in operand `k`, and the conditions that it is an element of it, not a zero of padding, nor beyond
    the elements of the kernel of its phase.
    """
    taps, feature = _taps_and_feature(convolution, contracted)
    conditions = tap_conditions(body, convolution, batch, taps)
    group, *of_phases = batch
    if k == 1:
        return _kernel_index(convolution, batch, free[0], taps, feature), conditions
    labels, (image, places) = convolution.dim_labels().input, _image_and_places(convolution, free)
    sizes, at = convolution.operands[0].shape.dimensions, {labels.batch: image, labels.feature: feature}
    if convolution.integer("batch_group_count", 1) > 1:
        at[labels.batch] += group * convolution.shape.dimensions[convolution.dim_labels().output.batch]
    else:
        at[labels.feature] += group * _features(convolution)
    for d, p, *numbers in zip(labels.spatial, _phases(convolution), of_phases, places, taps, strict=True):
        at[d] = p.met(*numbers)
        conditions += body.within(at[d], 0, sizes[d] - 1)
    return tuple(at[d] for d in range(len(at))), conditions


def tap_conditions(body: FunctionBuilder, convolution: Instruction, batch: Index, taps: Index) -> list[Value]:
    """The conditions that the kernel has elements of these numbers in the phases of the batch."""
    numbers = zip(_phases(convolution), batch[1:], taps, strict=True)
    return [c for p, phase, number in numbers for c in p.has_tap(body, phase, number)]


def step_conditions(
    body: FunctionBuilder, convolution: Instruction, batch: Index, begin: SymbolicExpr, depth: int
) -> list[Value]:
    """The conditions without which `depth` places along the sum from `begin` on have only zeros, if they are of one element of
    the kernel; none else.
    """
    *_, contracted = sizes_by_role(convolution)
    if not has_phases(convolution) or contracted[-1] % depth:
        return []
    return tap_conditions(body, convolution, batch, tuple(delinearize(begin, contracted)[:-1]))


def _taps_and_feature(convolution: Instruction, contracted: Index) -> tuple[Index, SymbolicExpr]:
    if _has_features_last(convolution):
        return contracted[:-1], contracted[-1]
    return contracted[1:], contracted[0]


def _image_and_places(convolution: Instruction, row: Index) -> tuple[SymbolicExpr, Index]:
    if _fastest_role(convolution) == "batch":
        return row[-1], row[:-1]
    return row[0], row[1:]


def _kernel_index(
    convolution: Instruction, batch: Index, column: SymbolicExpr, taps: Index, feature: SymbolicExpr
) -> Index:
    labels, (group, *of_phases) = convolution.dim_labels().kernel, batch
    features = convolution.operands[1].shape.dimensions[labels.feature] // group_count(convolution)
    at = {labels.batch: feature, labels.feature: group * features + column}
    for d, p, phase, number in zip(labels.spatial, _phases(convolution), of_phases, taps, strict=True):
        tap = p.tap(phase, number)
        at[d] = tap * -1 + (p.window.size - 1) if p.window.reversed else tap
    return tuple(at[d] for d in range(len(at)))


# ------------------------------------------------------------ memory


def fastest_in_memory(convolution: Instruction, k: int) -> tuple[Literal["free", "sum"], int]:
    """The role of an operand's fastest dimension in memory, and the number of neighbours in it that are neighbours there."""
    labels, shape, role = convolution.dim_labels().kernel, convolution.operands[k].shape, _fastest_role(convolution)
    last = major_to_minor(shape)[-1]
    *_, columns, _ = sizes_by_role(convolution)
    if k == 0:
        sizes = {
            "feature": _features(convolution),
            "batch": convolution.shape.dimensions[convolution.dim_labels().output.batch],
        }
        return ("sum" if role == "feature" or _is_along_taps(convolution) else "free"), sizes.get(role, 1)
    if last == labels.feature:
        return "free", columns[0]
    return "sum", shape.dimensions[last] if last == labels.batch and _has_features_last(convolution) else 1


def _is_along_taps(convolution: Instruction) -> bool:
    """Whether the input's fastest dimension is one in which the kernel is longer than the result, as in gradients of weights:
    more of its neighbours are summed over than belong to different rows.
    """
    labels, last = convolution.dim_labels(), major_to_minor(convolution.operands[0].shape)[-1]
    if last not in labels.input.spatial:
        return False
    number = labels.input.spatial.index(last)
    window, places = convolution.window()[number], convolution.shape.dimensions[labels.output.spatial[number]]
    return window.size > places and window.rhs_dilation <= window.stride


def sum_run(convolution: Instruction) -> int:
    """The places along the sum that follow one another in the input's memory, but for padding: the features of an element of
    the kernel, or those of a row of elements if they are few; 0 if features are not last.
    """
    if not _has_features_last(convolution):
        return 0
    features, window = _features(convolution), convolution.window()
    is_short = features < MIN_RUN and group_count(convolution) == 1 and not has_phases(convolution)
    order = major_to_minor(convolution.operands[0].shape)
    if is_short and window and order[-2] == convolution.dim_labels().input.spatial[-1] and window[-1].rhs_dilation == 1:
        return features * window[-1].size
    return features


def _fastest_role(convolution: Instruction) -> Literal["batch", "feature", "spatial"]:
    """The role of the input's fastest dimension in memory."""
    labels, last = convolution.dim_labels().input, major_to_minor(convolution.operands[0].shape)[-1]
    if last == labels.feature:
        return "feature"
    return "batch" if last == labels.batch else "spatial"
