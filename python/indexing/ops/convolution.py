"""convolution: sums over windows in the spatial dimensions and over the input features of a group."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from indexing._core import SymbolicExpr
from indexing.hlo import ConvolutionLabels, Instruction, WindowDim
from indexing.lazy import np
from indexing.ops.contraction import accumulator, matmul, to_element
from indexing.ops.element import loops
from indexing.ops.op import Op
from indexing.ops.operand_indexing import Constraint, Indexing, OperandIndexing, tensor_map, variables
from indexing.ops.operation_count import FMA, CountInside, OperationCount
from indexing.ops.values import Array, HloValue, only_array
from indexing.ops.window_index import (
    count_inside,
    gather_window,
    meets_holes,
    never_pads,
    read_position,
    written_position,
)

_GROUPS_INCLUDED = (
    "all batch groups are included, with a range variable that counts them, as in XLA's maps; pieces holds the map that "
    "reads the output feature's own group"
)
_PADDING_INCLUDED = (
    "kernel elements that meet padding or the holes of a dilated input are included, as in XLA's maps; pieces holds the "
    "map without them"
)


@dataclass(frozen=True, slots=True)
class _Convolution:
    """A convolution's attributes: sizes by role, groups, windows."""

    lhs: tuple[int, ...]
    rhs: tuple[int, ...]
    out: tuple[int, ...]
    window: tuple[WindowDim, ...]
    labels: ConvolutionLabels
    feature_groups: int
    batch_groups: int

    @property
    def spatial(self) -> int:
        return len(self.window)

    @property
    def group_features(self) -> int:
        """The number of input features that one output feature sums over."""
        return self.rhs[self.labels.kernel.batch]

    @property
    def group_outputs(self) -> int:
        """The number of output features per group (batch groups or feature groups)."""
        return self.rhs[self.labels.kernel.feature] // (self.feature_groups * self.batch_groups)

    @property
    def out_batch(self) -> int:
        return self.out[self.labels.output.batch]

    def kernel_position(self, k: int, window: SymbolicExpr) -> SymbolicExpr:
        """The kernel's index of a window element along spatial dimension k."""
        return window * -1 + (self.window[k].size - 1) if self.window[k].reversed else window


def _read(instruction: Instruction) -> _Convolution:
    return _Convolution(
        tuple(instruction.operands[0].shape.dimensions),
        tuple(instruction.operands[1].shape.dimensions),
        tuple(instruction.shape.dimensions),
        instruction.window(),
        instruction.dim_labels(),
        instruction.integer("feature_group_count", 1),
        instruction.integer("batch_group_count", 1),
    )


def _placed(rank: int, *roles: tuple[Sequence[int], Sequence[SymbolicExpr]]) -> list[SymbolicExpr]:
    by_dimension = {k: e for dims, exprs in roles for k, e in zip(dims, exprs, strict=True)}
    return [by_dimension[k] for k in range(rank)]


def output_to_input(instruction: Instruction, output: int) -> Indexing:
    """out[b, x, o] = sum over w, i of lhs[b, x * stride + w * dilation - pad, i] * rhs[w, i, o], within each group."""
    c = _read(instruction)
    return [[_read_lhs(c)], [_read_rhs(c)]]


def _read_lhs(c: _Convolution) -> OperandIndexing:
    rank = len(c.out)
    d = variables(rank)
    *w, i, group = variables(c.spatial + 2, rank)
    ranges = [*(dim.size for dim in c.window), c.group_features]
    feature, batch = d[c.labels.output.feature], d[c.labels.output.batch]
    constraints = _read_positions(c, d, w)[1]

    def read(batch: SymbolicExpr, i: SymbolicExpr, ranges: Sequence[int]) -> OperandIndexing:
        roles = [c.labels.input.batch, c.labels.input.feature], [batch, i]
        results = _placed(rank, roles, (c.labels.input.spatial, _read_positions(c, d, w)[0]))
        return OperandIndexing(tensor_map(results, c.out, ranges, constraints=constraints))

    if c.feature_groups > 1:
        return read(batch, feature // c.group_outputs * c.group_features + i, ranges)
    if c.batch_groups == 1:
        return read(batch, i, ranges)
    exact = read(feature // c.group_outputs * c.out_batch + batch, i, ranges)
    bound = read(group * c.out_batch + batch, i, [*ranges, c.batch_groups])
    return OperandIndexing(bound.map, (), "over-approximate", _GROUPS_INCLUDED, pieces=(exact,))


def _read_positions(
    c: _Convolution, d: Sequence[SymbolicExpr], w: Sequence[SymbolicExpr]
) -> tuple[list[SymbolicExpr], list[Constraint]]:
    positions: list[SymbolicExpr] = []
    constraints: list[Constraint] = []
    for k, dim in enumerate(c.window):
        at, inside = read_position(dim, d[c.labels.output.spatial[k]], w[k], c.lhs[c.labels.input.spatial[k]])
        positions.append(at)
        constraints += inside
    return positions, constraints


def _read_rhs(c: _Convolution) -> OperandIndexing:
    """The kernel's map: a bound if windows reach padding, with a piece that omits the kernel elements that meet it."""
    labels, rank = c.labels, len(c.out)
    d = variables(rank)
    *w, i = variables(c.spatial + 1, rank)
    kernel = [c.kernel_position(k, e) for k, e in enumerate(w)]
    roles = [labels.kernel.batch, labels.kernel.feature], [i, d[labels.output.feature]]
    results = _placed(rank, roles, (labels.kernel.spatial, kernel))
    ranges = [*(dim.size for dim in c.window), c.group_features]
    with_padding = tensor_map(results, c.out, ranges)
    sizes = zip(labels.input.spatial, labels.output.spatial, strict=True)
    if all(never_pads(dim, c.lhs[x], c.out[y]) for dim, (x, y) in zip(c.window, sizes, strict=True)):
        return OperandIndexing(with_padding)
    exact = OperandIndexing(tensor_map(results, c.out, ranges, constraints=_read_positions(c, d, w)[1]))
    return OperandIndexing(with_padding, (), "over-approximate", _PADDING_INCLUDED, pieces=(exact,))


def input_to_output(instruction: Instruction, operand: int) -> Indexing:
    """The outputs in which an input element, or a kernel element, is a factor."""
    c = _read(instruction)
    return [[_from_lhs(c) if operand == 0 else _from_rhs(c)]]


def _from_lhs(c: _Convolution) -> OperandIndexing:
    labels, rank = c.labels, len(c.lhs)
    d = variables(rank)
    *w, o = variables(c.spatial + 1, rank)
    batch, feature = d[labels.input.batch], d[labels.input.feature]
    if c.feature_groups > 1:
        out_feature = feature // c.group_features * c.group_outputs + o
    elif c.batch_groups > 1:
        out_feature = batch // c.out_batch * c.group_outputs + o
        batch = batch % c.out_batch
    else:
        out_feature = o
    positions: list[SymbolicExpr] = []
    constraints: list[Constraint] = []
    for k, dim in enumerate(c.window):
        at, inside = written_position(dim, d[labels.input.spatial[k]], w[k], c.out[labels.output.spatial[k]])
        positions.append(at)
        constraints += inside
    results = _placed(
        rank, ([labels.output.batch, labels.output.feature], [batch, out_feature]), (labels.output.spatial, positions)
    )
    ranges = [*(dim.size for dim in c.window), c.group_outputs]
    return OperandIndexing(tensor_map(results, c.lhs, ranges, constraints=constraints))


def _from_rhs(c: _Convolution) -> OperandIndexing:
    labels, rank = c.labels, len(c.rhs)
    d = variables(rank)
    b, *x = variables(c.spatial + 1, rank)
    constraints: list[Constraint] = []
    for k, dim in enumerate(c.window):
        w = c.kernel_position(k, d[labels.kernel.spatial[k]])
        constraints += read_position(dim, x[k], w, c.lhs[labels.input.spatial[k]])[1]
    feature = d[labels.kernel.feature]
    results = _placed(rank, ([labels.output.batch, labels.output.feature], [b, feature]), (labels.output.spatial, x))
    ranges = [c.out_batch, *(c.out[k] for k in labels.output.spatial)]
    return OperandIndexing(tensor_map(results, c.rhs, ranges, constraints=constraints))


def reference(instruction: Instruction, values: Sequence[HloValue]) -> HloValue:
    """One matrix product for each window position and group, summed in the accumulation type and rounded once. Products of
    holes are no terms of the sum; those of padding are.
    """
    c = _read(instruction)
    labels, dtype = c.labels, instruction.shape.dtype
    lhs = only_array(values[0]).transpose((labels.input.batch, *labels.input.spatial, labels.input.feature))
    rhs = only_array(values[1]).transpose((*labels.kernel.spatial, labels.kernel.batch, labels.kernel.feature))
    groups = c.feature_groups * c.batch_groups
    spatial = tuple(c.out[k] for k in labels.output.spatial)
    total = np.zeros((groups, c.out_batch * int(np.prod(spatial, dtype=np.int64)), c.group_outputs), accumulator(dtype))
    for window in itertools.product(*(range(dim.size) for dim in c.window)):
        kernel = tuple(dim.size - 1 - w if dim.reversed else w for dim, w in zip(c.window, window, strict=True))
        left = _window_rows(c, window, lhs, spatial)
        right = rhs[kernel].reshape(c.group_features, groups, c.group_outputs).transpose(1, 0, 2)
        total = total + np.where(_holes(c, window, spatial), np.zeros((), total.dtype), matmul(left, right, dtype))
    return _arranged(c, to_element(total, dtype), spatial)


def _window_rows(c: _Convolution, window: tuple[int, ...], lhs: Array, spatial: tuple[int, ...]) -> Array:
    """The input in each output's window at one position, as [group, batch and spatial, feature]; padding is 0."""
    moved = np.moveaxis(lhs, 0, -2)  # [spatial..., batch, feature]
    taken, valid = gather_window(c.window, window, moved, spatial)
    taken = np.where(valid.reshape(*spatial, 1, 1), taken, np.zeros((), lhs.dtype))
    rows = np.moveaxis(taken, -2, 0)  # [batch, spatial..., feature]
    count = c.out_batch * int(np.prod(spatial, dtype=np.int64))
    if c.batch_groups > 1:
        return rows.reshape(c.batch_groups, count, c.group_features)
    return rows.reshape(count, c.feature_groups, c.group_features).transpose(1, 0, 2)


def _holes(c: _Convolution, window: tuple[int, ...], spatial: tuple[int, ...]) -> Array:
    """Whether the rows of `_window_rows` at one position are of holes, as [1, batch and spatial, 1]."""
    rows = np.zeros((c.out_batch, *spatial), np.bool_)
    for axis, (dim, w, out) in enumerate(zip(c.window, window, spatial, strict=True)):
        rows |= meets_holes(dim, w, out).reshape([-1 if k == axis else 1 for k in range(c.spatial)])
    return rows.reshape(1, -1, 1)


def _arranged(c: _Convolution, total: Array, spatial: tuple[int, ...]) -> Array:
    """The total, [group, batch and spatial, feature of the group], in the order of the output's dimensions."""
    rows = total.transpose(1, 0, 2).reshape(c.out_batch, *spatial, total.shape[0] * c.group_outputs)
    labels = c.labels.output
    return np.moveaxis(rows, list(range(rows.ndim)), [labels.batch, *labels.spatial, labels.feature])


def _operations(instruction: Instruction, inside: CountInside) -> OperationCount:
    """A multiplication and an addition for each element of a window that isn't padding, input feature and output feature."""
    c = _read(instruction)
    pairs = 1
    for dim, lhs, out in zip(c.window, c.labels.input.spatial, c.labels.output.spatial, strict=True):
        size, outputs = c.lhs[lhs], c.out[out]
        pairs *= sum(count_inside(dim, w, size, outputs) for w in range(dim.size))
    return OperationCount(FMA * pairs * c.group_features * c.rhs[c.labels.kernel.feature] * c.out_batch)


CONVOLUTION = Op(
    "convolution",
    "out[b, x, o] = sum_{w, i} lhs[b, (x * stride + w * rhs_dilation - pad) / lhs_dilation, i] * rhs[w, i, o]",
    output_to_input,
    reference,
    input_to_output,
    loops.convolution,
    exactness="exact; a bound with pieces for batch groups, a bound where padding hides kernel elements",
    reads_many=True,
    operations=_operations,
)
OPS = (CONVOLUTION,)
