"""Collectives: maps to the local element that is read, and to the replica that holds it.

If the part of the operand that is read depends on the reading replica's position in its group, a range variable over the
positions bounds it. The references for several replicas are in ops/collective_reference.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from indexing._core import IndexingMap, SymbolicExpr, constant, variable
from indexing.errors import UnsupportedOp
from indexing.hlo import Instruction, Shape
from indexing.lazy import np
from indexing.ops import collective_reference
from indexing.ops.control import results_from_output
from indexing.ops.op import Across, Interpreter, Op, RunsComputations
from indexing.ops.operand_indexing import (
    Indexing,
    OperandIndexing,
    identity,
    join_reasons,
    tensor_map,
    unknown,
    variables,
    whole,
)
from indexing.ops.operation_count import no_operations, one_each_element
from indexing.ops.replica_groups import Members, all_to_all_groups, groups_of, pairs_of, permuted_from, why_no_permute
from indexing.ops.tuples import (
    alias,
    element_of_started,
    operand_itself,
    reads_nothing,
    same_leaf_from_output,
)
from indexing.ops.values import HloValue

_PATTERN = "exact; a bound for groups without a pattern"
_OWN = "which part is read depends on the replica's own position in its group"

# From (instruction, number of the operand, shape of the result's array) to the maps of that operand.
Part = Callable[["Instruction", int, "Shape"], list[OperandIndexing]]


def _with_replica(m: IndexingMap, asked: tuple[IndexingMap | None, str], *reasons: str) -> OperandIndexing:
    replica_map, pattern = asked
    reason = join_reasons(*reasons, pattern)
    return OperandIndexing(m, (), "over-approximate" if reason else "exact", reason, replica_map)


def _members(i: Instruction) -> Members:
    return Members(groups_of(i))


def _gathered(i: Instruction, k: int, result: Shape) -> list[OperandIndexing]:
    d = i.ints("dimensions")[0]
    part = i.operands[k].shape.dimensions[d]
    index = variables(len(result.dimensions))
    holder: SymbolicExpr | None = index[d] // max(part, 1)
    if result.dimensions[d] != part:
        index[d] = index[d] % max(part, 1)
    m = tensor_map(index, result.dimensions)
    return [_with_replica(m, _members(i).replica_map(result.dimensions, holder))]


def _reduced(i: Instruction, k: int, result: Shape) -> list[OperandIndexing]:
    return [_with_replica(identity(result.dimensions).map, _members(i).replica_map(result.dimensions))]


def _scattered(i: Instruction, k: int, result: Shape) -> list[OperandIndexing]:
    d, members = i.ints("dimensions")[0], _members(i)
    if members.size == 1:
        return [identity(result.dimensions)]
    index = variables(len(result.dimensions))
    index[d] = index[d] + variable(len(index)) * result.dimensions[d]
    m = tensor_map(index, result.dimensions, [members.size])
    return [_with_replica(m, members.replica_map(result.dimensions), _OWN)]


def _broadcast(i: Instruction, k: int, result: Shape) -> list[OperandIndexing]:
    return [_with_replica(identity(result.dimensions).map, _members(i).replica_map(result.dimensions, constant(0)))]


def _permuted(i: Instruction, k: int, result: Shape) -> list[OperandIndexing]:
    pairs = pairs_of(i)
    if not pairs:  # nobody receives anything but zeros
        return []
    return [_with_replica(identity(result.dimensions).map, permuted_from(pairs, result.dimensions))]


def _one_to_one(part: Part) -> Callable[[Instruction, int], Indexing]:
    """Array k of the result comes from operand k."""

    def formula(i: Instruction, output: int) -> Indexing:
        if reason := why_no_permute(i):
            return [[unknown(reason)] for _ in i.operands]
        results = i.shape.leaves
        return [part(i, k, results[output]) if k == output else [] for k in range(len(i.operands))]

    return formula


def _started(part: Part) -> Callable[[Instruction, int], Indexing]:
    """A start: its outputs are the operands, the results, and contexts without data."""

    def formula(i: Instruction, output: int) -> Indexing:
        if reason := why_no_permute(i):
            return [[unknown(reason)] for _ in i.operands]
        result, count = i.shape.leaves[output], len(i.operands)
        indexing: Indexing = [[] for _ in i.operands]
        if output < count:
            indexing[output] = alias(result, 0)
        elif output < count + count:
            indexing[output - count] = part(i, output - count, result)
        return indexing

    return formula


def _all_operands(part: Part) -> Callable[[Instruction, int], Indexing]:
    def formula(i: Instruction, output: int) -> Indexing:
        return [part(i, k, i.shape.leaves[output]) for k in range(len(i.operands))]

    return formula


def _all_to_all_from_output(i: Instruction, output: int) -> Indexing:
    members, sizes = Members(all_to_all_groups(i)), i.shape.leaves[output].dimensions
    if members.size == 1:
        return [[identity(sizes)]]
    if i.shape.is_tuple:  # output j of replica r is operand position(r) of the j-th member
        asked = members.replica_map(sizes, constant(output))
        return [[_with_replica(identity(sizes).map, asked, _OWN)] for _ in i.operands]
    d = i.ints("dimensions")[0]
    block = sizes[d] // members.size
    index = variables(len(sizes))
    asked = members.replica_map(sizes, index[d] // max(block, 1))
    (member,) = variables(1, len(sizes))
    index[d] = member * block + index[d] % max(block, 1)
    return [[_with_replica(tensor_map(index, sizes, [members.size]), asked, _OWN)]]


_RAGGED = "offsets and sizes of the ragged rows are known at run time only"


def _ragged(i: Instruction, k: int, result: Shape) -> list[OperandIndexing]:
    asked = _members(i).replica_map(result.dimensions)
    if k == 1:  # elements that no row overwrites
        own = identity(result.dimensions)
        return [replace(own, exactness="over-approximate", reason=_RAGGED)]
    bound = whole(result.dimensions, i.operands[k].shape.dimensions, _RAGGED)
    return [replace(bound, replica_map=asked[0], reason=join_reasons(_RAGGED, asked[1]))]


def _first_id(i: Instruction, operands: Sequence[HloValue]) -> HloValue:
    return np.zeros((), i.shape.dtype)


def _alone(across: Across) -> RunsComputations:
    """The value on a single replica; UnsupportedOp where the groups have more than one member."""

    def reference(i: Instruction, operands: Sequence[HloValue], interpreter: Interpreter) -> HloValue:
        count = max(len(g) for g in groups_of(i)) if i.opcode not in collective_reference.PERMUTES else 1
        if count > 1 or any(pair != (0, 0) for pair in pairs_of(i)):
            among = f"{count} replicas" if count > 1 else "replicas"
            raise UnsupportedOp(
                f"{i.name}: {i.opcode} exchanges data among {among}; evaluate the program on all of them at once"
            )
        return across(i, [operands], interpreter)[0]

    return RunsComputations(reference)


_waits = partial(Op, operations=no_operations)
_done = partial(
    _waits,
    formula="out[i] = in.1[i]",
    output_to_input=results_from_output,
    reference=element_of_started(1),
    is_done=True,
)


def _direct(opcode: str, formula: str, part: Part, across: Across, exactness: str = _PATTERN, **traits: Any) -> Op:
    from_output = _one_to_one(part)
    return _waits(opcode, formula, from_output, _alone(across), across_replicas=across, exactness=exactness, **traits)


def _collective(opcode: str, formula: str, part: Part, across: Across) -> tuple[Op, Op]:
    """A collective and the start of its asynchronous form, which packs operands, results and contexts."""
    start = collective_reference.started(across)
    of_start = partial(_waits, across_replicas=start, exactness=_PATTERN, result_index=1)
    return (
        _direct(opcode, formula, part, across),
        of_start(f"{opcode}-start", f"(in, {formula})", _started(part), _alone(start)),
    )


_reduction = partial(
    _direct,
    formula="out[i] = reduction of in[i] over the group",
    part=_reduced,
    across=collective_reference.all_reduce,
    calls="combines",
    operations=one_each_element,
)
_own_id = partial(
    _waits, output_to_input=reads_nothing, reference=_first_id, across_replicas=collective_reference.own_id
)

OPS: tuple[Op, ...] = (
    *_collective(
        "all-gather", "out[i] = in[i mod size] of replica group[i / size]", _gathered, collective_reference.all_gather
    ),
    _done("all-gather-done"),
    _reduction("all-reduce"),
    _reduction("all-reduce-start"),
    _waits(
        "all-reduce-done",
        "out[i] = in[i]",
        same_leaf_from_output,
        operand_itself,
        is_done=True,
    ),
    _direct(
        "reduce-scatter",
        "out[i] = reduction of in[position * size + i] over the group",
        _scattered,
        collective_reference.reduce_scatter,
        "exact on one replica; else a bound for the part",
        calls="combines",
    ),
    _direct("collective-broadcast", "out[i] = in[i] of the group's first", _broadcast, collective_reference.broadcast),
    *_collective("collective-permute", "out[i] = in[i] of the source, or 0", _permuted, collective_reference.permute),
    _done("collective-permute-done"),
    _waits(
        "all-to-all",
        "out[i] = in[position * block + i mod block] of replica group[i / block]",
        _all_to_all_from_output,
        _alone(collective_reference.all_to_all),
        across_replicas=collective_reference.all_to_all,
        exactness="exact on one replica; else a bound for the part",
    ),
    _waits(
        "ragged-all-to-all",
        "rows of in, sent to the offsets that the receiver names",
        _all_operands(_ragged),
        _alone(collective_reference.ragged_all_to_all),
        across_replicas=collective_reference.ragged_all_to_all,
        exactness="a bound: offsets are runtime values",
    ),
    _own_id("partition-id", "the partition's number"),
    _own_id("replica-id", "the replica's number"),
)
