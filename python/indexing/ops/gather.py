"""gather: slices of the operand at start indices read from an array, with all its dimension numbers."""

from __future__ import annotations

from collections.abc import Sequence

from indexing.hlo import Instruction
from indexing.lazy import np
from indexing.ops.element import dynamic
from indexing.ops.indexed_slices import IndexedSlices, IndexVectors
from indexing.ops.op import Op
from indexing.ops.operand_indexing import Indexing, OperandIndexing, tensor_map, variables
from indexing.ops.operation_count import no_operations
from indexing.ops.values import HloValue, only_array


def _slices(instruction: Instruction) -> IndexedSlices:
    operand, indices = instruction.operands
    batching = instruction.ints("operand_batching_dims")
    vectors = IndexVectors(
        indices,
        instruction.integer("index_vector_dim"),
        instruction.ints("start_index_map"),
        batching,
        instruction.ints("start_indices_batching_dims"),
    )
    sizes = tuple(operand.shape.dimensions)
    collapsed = instruction.ints("collapsed_slice_dims")
    window_dims = tuple(k for k in range(len(sizes)) if k not in collapsed and k not in batching)
    out = tuple(instruction.shape.dimensions)
    offset_dims, slice_sizes = instruction.ints("offset_dims"), instruction.ints("slice_sizes")
    return IndexedSlices(vectors, sizes, out, offset_dims, window_dims, slice_sizes, "clamp")


def output_to_input(instruction: Instruction, output: int) -> Indexing:
    """out[b, o] = in[start(b) + o], start(b) the clamped index vector b; the vector is read whole."""
    s = _slices(instruction)
    d = variables(len(s.beside))
    batch = [d[k] for k in s.batch_dims]
    starts = s.starts(batch, s.beside)
    offsets = dict(zip(s.window_dims, (d[k] for k in s.offset_dims), strict=True))
    read = starts.read_by(tensor_map(s.vectors.operand_index(starts, batch, offsets), s.beside, (), starts.bounds))
    return [[read], [s.vectors.whole(batch, s.beside)]]


def input_to_output(instruction: Instruction, operand: int) -> Indexing:
    """in[i] goes to out[b, i - start(b)] for each b whose slice contains i; an index vector reaches its whole slice."""
    s = _slices(instruction)
    return [[_from_vector(s) if operand else s.with_element()]]


def _from_vector(s: IndexedSlices) -> OperandIndexing:
    sizes = s.vectors.sizes
    d = variables(len(sizes))
    results = s.index([d[k] for k in s.vectors.batch_dims], variables(len(s.offset_dims), len(sizes)))
    return OperandIndexing(tensor_map(results, sizes, [s.beside[k] for k in s.offset_dims]))


def reference(instruction: Instruction, values: Sequence[HloValue]) -> HloValue:
    """Each vector's slice, its start clamped so that the slice lies inside the operand."""
    s = _slices(instruction)
    operand, indices = (only_array(v) for v in values)
    if 0 in s.beside:
        return np.zeros(s.beside, operand.dtype)
    origins = s.vectors.operand_origins(s.vectors.read(indices), operand.ndim).clip(
        0, np.array(s.largest_starts, np.int64)
    )
    taken = operand.reshape(-1)[s.positions(origins)]
    shaped = taken.reshape([*s.vectors.batch_sizes, *s.window_sizes])
    return np.moveaxis(shaped, range(len(s.batch_dims), len(s.beside)), s.offset_dims) if s.window_sizes else shaped


OPS = (
    Op(
        "gather",
        "out[b, o] = in[clamp(0, start_indices[b], size - slice_size) + o]",
        output_to_input,
        reference,
        input_to_output,
        dynamic.gather,
        is_expensive=True,
        index_vectors="start_index_map",
        operations=no_operations,
    ),
)
