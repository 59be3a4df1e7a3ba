"""Expansion of convolutions that have few results for each of many groups, and long sums, as gradients of the weights of
depthwise convolutions: a sum for each place of the result, which one kernel computes in one pass over the operands.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import prod

from indexing.hlo import BuiltInstruction, Computation, Instruction
from indexing.ops.expansion import Expansion, computing_kind

MAX_PLACES = 25  # places of the result; each is a sum in a register of every thread
MIN_SUM = 512  # products of a sum


def summed_by_group(instruction: Instruction) -> Computation | None:
    """A computation equal to a convolution with one row and one feature in each group; None for others, and for those that have
    holes, mirrored kernels, many places or short sums.
    """
    labels, window = instruction.dim_labels(), instruction.window()
    lhs, rhs = (o.shape.dimensions for o in instruction.operands)
    groups = instruction.integer("feature_group_count", 1) * instruction.integer("batch_group_count", 1)
    places = [instruction.shape.dimensions[d] for d in labels.output.spatial]
    summed = rhs[labels.kernel.batch] * prod(w.size for w in window)
    is_single = rhs[labels.kernel.feature] == groups > 1 and instruction.shape.dimensions[labels.output.batch] == 1
    is_plain = all(w.lhs_dilation == 1 and not w.reversed for w in window)
    if not (is_single and is_plain and prod(places) <= MAX_PLACES and summed >= MIN_SUM and 0 not in lhs):
        return None
    return _Sums(instruction).computation(places)


class _Sums:
    """The steps of one expansion. Arrays have the order of the left operand, with a group's features after the group if the
    left operand has both in one dimension.
    """

    def __init__(self, instruction: Instruction) -> None:
        """Start with the operands."""
        self.instruction = instruction
        self.parts = Expansion(instruction)
        self.labels, self.window = instruction.dim_labels(), instruction.window()
        self.kind = computing_kind(instruction.shape.element_type)
        self.of_features = instruction.integer("feature_group_count", 1) > 1

    def computation(self, places: Sequence[int]) -> Computation:
        """The expansion."""
        kernel, padded, group = self._kernel(), self._padded(), self._axes()[0]
        summed = [d for d in range(len(kernel.dimensions)) if d != group]
        positions = itertools.product(*map(range, places))
        products = [self._times(padded, position, kernel) for position in positions]
        sums = [self.parts.reduce("add", p, summed, 0) for p in products]
        return self.parts.finish([self._arranged(sums, places)])

    def _arranged(self, sums: Sequence[BuiltInstruction], places: Sequence[int]) -> BuiltInstruction:
        """The sums of all places in the order of the result's dimensions."""
        parts, labels, groups = self.parts, self.labels.output, sums[0].dimensions[0]
        rows = [parts.reshape(s, (1, groups)) for s in sums]
        table = parts.add("concatenate", self.kind, (len(sums), groups), rows, dimensions=[0])
        roles = {labels.batch: 0, **{d: k + 1 for k, d in enumerate(labels.spatial)}, labels.feature: len(places) + 1}
        order = [roles[d] for d in range(len(roles))]
        return parts.transpose(parts.reshape(table, (1, *places, groups)), order)

    def _axes(self) -> tuple[int, int, list[int]]:
        """The axes of a group, of its features, and of places."""
        labels = self.labels.input
        if not self.of_features:
            return labels.batch, labels.feature, list(labels.spatial)
        after = [d + (d > labels.feature) for d in range(len(self.window) + 2)]
        return labels.feature, labels.feature + 1, [after[d] for d in labels.spatial]

    def _kernel(self) -> BuiltInstruction:
        """The right operand in the order of the left one."""
        labels, (group, features, places) = self.labels.kernel, self._axes()
        order = [-1] * (len(self.window) + 2 + self.of_features)
        order[group], order[features] = labels.feature, labels.batch
        for d, k in zip(places, labels.spatial, strict=True):
            order[d] = k
        kept = [d for d in order if d >= 0]
        moved = self.parts.convert(self.parts.transpose(self.parts.parameters[1], kept), self.kind)
        sizes = [1 if d < 0 else self.instruction.operands[1].shape.dimensions[d] for d in order]
        return self.parts.reshape(moved, sizes)

    def _padded(self) -> BuiltInstruction:
        """The left operand with groups and their features apart, and zeros around it."""
        parts, value = self.parts, self.parts.convert(self.parts.parameters[0], self.kind)
        group, _, places = self._axes()
        if self.of_features:
            sizes = list(value.dimensions)
            each = self.instruction.operands[1].shape.dimensions[self.labels.kernel.batch]
            sizes[group : group + 1] = [sizes[group] // each, each]
            value = parts.reshape(value, sizes)
        ends = [(0, 0)] * len(value.dimensions)
        for d, w in zip(places, self.window, strict=True):
            ends[d] = w.pad_low, w.pad_high
        return parts.pad(value, parts.constant(self.kind, 0), ends)

    def _times(self, padded: BuiltInstruction, position: Sequence[int], kernel: BuiltInstruction) -> BuiltInstruction:
        """The products of which the sum is the result at a position."""
        cut = [slice(n) for n in padded.dimensions]
        for d, at, w in zip(self._axes()[2], position, self.window, strict=True):
            begin = at * w.stride
            cut[d] = slice(begin, begin + (w.size - 1) * w.rhs_dilation + 1, w.rhs_dilation)
        part = self.parts.add("slice", self.kind, kernel.dimensions, [padded], slice=cut)
        return self.parts.apply("multiply", part, kernel)
