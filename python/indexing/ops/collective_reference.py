"""References of collectives, from the operands of all replicas to the results of all replicas."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from indexing.hlo import Instruction
from indexing.lazy import np
from indexing.ops.control import zeros
from indexing.ops.op import Across, Interpreter
from indexing.ops.reducer import apply
from indexing.ops.replica_groups import check_parts, group_among, pairs_of
from indexing.ops.values import Array, HloValue, only_array

PERMUTES = frozenset({"collective-permute", "collective-permute-start"})

Operands = Sequence[Sequence[HloValue]]


def _each_operand(exchange: Callable[[Instruction, list[Array], int, Interpreter], Array]) -> Across:
    """A collective that treats its operands one by one: `exchange` gets the group's arrays and the replica's position."""

    def across(i: Instruction, operands: Operands, interpreter: Interpreter) -> list[HloValue]:
        values: list[HloValue] = []
        for replica in range(len(operands)):
            group = group_among(i, replica, len(operands))
            own = group.index(replica)
            arrays = [[only_array(operands[m][k]) for m in group] for k in range(len(i.operands))]
            results = [exchange(i, of_group, own, interpreter) for of_group in arrays]
            values.append(tuple(results) if len(results) > 1 else results[0])
        return values

    return across


def _reduction(i: Instruction, arrays: Sequence[Array], interpreter: Interpreter) -> Array:
    total = arrays[0]
    for a in arrays[1:]:
        (total,) = apply(i.computation_of("to_apply"), [total, a], interpreter)
    return total


def _gather(i: Instruction, arrays: list[Array], own: int, interpreter: Interpreter) -> Array:
    return np.concatenate(arrays, axis=i.ints("dimensions")[0])


def _reduce(i: Instruction, arrays: list[Array], own: int, interpreter: Interpreter) -> Array:
    return _reduction(i, arrays, interpreter)


def _reduce_scatter(i: Instruction, arrays: list[Array], own: int, interpreter: Interpreter) -> Array:
    return np.split(_reduction(i, arrays, interpreter), len(arrays), axis=i.ints("dimensions")[0])[own]


def _first(i: Instruction, arrays: list[Array], own: int, interpreter: Interpreter) -> Array:
    return arrays[0]


all_gather: Across = _each_operand(_gather)
all_reduce: Across = _each_operand(_reduce)
reduce_scatter: Across = _each_operand(_reduce_scatter)
broadcast: Across = _each_operand(_first)


def permute(i: Instruction, operands: Operands, interpreter: Interpreter) -> list[HloValue]:
    """Each target gets its source's operands, the others zeros."""
    source = {t: s for s, t in pairs_of(i)}
    values: list[HloValue] = []
    for replica, own in enumerate(operands):
        sent = operands[source[replica]] if replica in source else [np.zeros_like(only_array(v)) for v in own]
        values.append(tuple(sent) if len(sent) > 1 else sent[0])
    return values


def all_to_all(i: Instruction, operands: Operands, interpreter: Interpreter) -> list[HloValue]:
    """Part j of replica r becomes part position(r) of the group's j-th member."""
    values: list[HloValue] = []
    for replica in range(len(operands)):
        group = group_among(i, replica, len(operands))
        check_parts(i, len(group))
        own = group.index(replica)
        if i.shape.is_tuple:
            values.append(tuple(operands[m][own] for m in group))
        else:
            d = i.ints("dimensions")[0]
            parts = [np.split(only_array(operands[m][0]), len(group), axis=d)[own] for m in group]
            values.append(np.concatenate(parts, axis=d))
    return values


def ragged_all_to_all(i: Instruction, operands: Operands, interpreter: Interpreter) -> list[HloValue]:
    """Member m sends `send_sizes[k]` rows from `input_offsets[k]` to the k-th member's `output_offsets[k]`."""
    values: list[HloValue] = []
    for replica in range(len(operands)):
        group = group_among(i, replica, len(operands))
        own = group.index(replica)
        out = only_array(operands[replica][1]).copy()
        for m in group:
            data, _, offsets, sizes, targets, _ = (only_array(o) for o in operands[m])
            rows = sizes.size // len(group)
            for k in range(own * rows, (own + 1) * rows):
                start, size, target = int(offsets[k]), int(sizes[k]), int(targets[k])
                out[target : target + size] = data[start : start + size]
        values.append(out)
    return values


def own_id(i: Instruction, operands: Operands, interpreter: Interpreter) -> list[HloValue]:
    """The position of each replica."""
    return [np.array(r, dtype=i.shape.dtype) for r in range(len(operands))]


def started(across: Across) -> Across:
    """The start of an asynchronous collective: a tuple of its operands, its results, and contexts without data."""

    def start(i: Instruction, operands: Operands, interpreter: Interpreter) -> list[HloValue]:
        results = across(i, operands, interpreter)
        contexts = [zeros(part) for part in i.shape.elements[2:]]
        inputs = [tuple(o) if i.shape.elements[0].is_tuple else o[0] for o in operands]
        return [(given, result, *contexts) for given, result in zip(inputs, results, strict=True)]

    return start
