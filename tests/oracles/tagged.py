"""What a map names against what the reference does: the pairs (output element, operand element) that belong together.

`reached` finds them from the reference alone. An element reaches an output if changing it changes that output: operands
hold generic values, and one element at a time gets another. `named` finds them from maps, by enumerating their domains,
with runtime values looked up and clamped as the values say. `check` compares the two, in both directions.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np

import indexing as ix
from indexing import hlo
from indexing.ops.op import OperandIndexing, leaves
from indexing.ops.tuples import flatten, nest
from indexing.reference.interpreter import evaluate_instruction
from indexing.reference.program_arguments import entry_arguments

Pairs = set[tuple[tuple[int, ...], tuple[int, ...]]]
Values = dict[object, object]


def spelled(text: str) -> str:
    """A map's text as the package prints that map."""
    return str(ix.IndexingMap.parse(text))


def generic(shape: hlo.Shape, rng: np.random.Generator) -> np.ndarray:
    """Values that no two of which are equal, where the type has room for that; booleans at random."""
    n = shape.element_count
    if shape.element_type == "pred":
        return rng.integers(0, 2, shape.dimensions).astype(bool)
    if shape.element_type[0] in "su":
        return (rng.permutation(n) + 1).reshape(shape.dimensions).astype(shape.dtype)
    values = rng.permutation(n) + rng.uniform(0.2, 0.8, n)
    if shape.element_type[0] == "c":
        values = values + 1j * rng.uniform(0.2, 0.8, n)
    return values.reshape(shape.dimensions).astype(shape.dtype)


def all_values(computation: hlo.Computation, arguments: Sequence[object]) -> Values:
    """The value of every instruction, those inside of fusions and calls included."""
    values: Values = {}
    for i in computation.post_order():
        operands = [values[o] for o in i.operands]
        values[i] = evaluate_instruction(i, operands, arguments)
        if i.opcode in ("fusion", "call"):
            values |= all_values(i.called[0], operands)
    return values


def named(maps: Iterable[OperandIndexing], values: Values, leaf: int = 0) -> Pairs:
    """All pairs (index on this side, index on the other side) that the maps name."""
    pairs: Pairs = set()
    for m in maps:
        if m.leaf == leaf and not m.map.is_known_empty:
            pairs |= set(_points(m, values))
    return pairs


def _points(m: OperandIndexing, values: Values) -> Iterable[tuple[tuple[int, ...], tuple[int, ...]]]:
    spans = [range(v.interval.lower, v.interval.upper + 1) for v in (*m.map.dims, *m.map.ranges)]
    dims = len(m.map.dims)
    assert len(m.runtime_values) == len(m.map.runtimes), f"{len(m.runtime_values)} values for {m.map}"
    for point in itertools.product(*spans):
        runtimes = _runtime_values(m, point, values)
        if runtimes is None:
            continue
        symbols = [*point[dims:], *runtimes]
        if m.map.contains(list(point[:dims]), symbols):
            yield point[:dims], tuple(int(v) for v in m.map.evaluate(list(point[:dims]), symbols))


def _runtime_values(m: OperandIndexing, point: Sequence[int], values: Values) -> list[int] | None:
    """Values of the runtime variables at a point of dimensions and ranges; None outside of the domain."""
    dims = len(m.map.dims)
    known: dict[int, int] = {}
    while len(known) < len(m.runtime_values):
        before = len(known)
        for k, value in enumerate(m.runtime_values):
            if k in known:
                continue
            first = dims + len(value.map.ranges)
            needs = {v - first for e in value.map.results for v in e.used_variables() if v >= first}
            if not needs <= set(known):
                continue
            symbols = [*point[dims : dims + len(value.map.ranges)]]
            symbols += [known.get(j, 0) for j in range(len(value.map.runtimes))]
            at = tuple(int(v) for v in value.map.evaluate(list(point[:dims]), symbols))
            array = np.asarray(flatten(values[value.instruction])[value.output])
            if not all(0 <= a < n for a, n in zip(at, array.shape, strict=True)):
                return None  # a point outside of the map's domain; were it inside, something reached would be missing
            element = int(array[at])
            interval = m.map.runtimes[k].interval
            lower, upper = value.bounds or (interval.lower, interval.upper)
            if value.out_of_bounds == "clamp":
                element = max(lower, min(element, upper))
            elif not lower <= element <= upper:
                return None
            known[k] = element
        assert len(known) > before, "runtime values depend on each other in a circle"
    return [known[k] for k in range(len(m.runtime_values))]


def reached(
    instruction: hlo.Instruction,
    operands: Sequence[object],
    which: int,
    output: int,
    leaf: int,
    rng: np.random.Generator,
) -> Pairs:
    """Pairs (output index, operand index) where another value of the operand's element gives another output."""
    before = _output(instruction, operands, output)
    pairs: Pairs = set()
    flat = flatten(operands[which])
    original = np.asarray(flat[leaf])
    for at in np.ndindex(*original.shape):
        for _ in range(2):
            changed = original.copy()
            changed[at] = _another(original, at, rng)
            after = _output(instruction, _with_leaf(instruction, operands, which, leaf, changed), output)
            differs = _bytes(before) != _bytes(after)
            pairs |= {(tuple(int(x) for x in o), at) for o in np.argwhere(differs.any(axis=-1))}
    return pairs


def _output(instruction: hlo.Instruction, operands: Sequence[object], output: int) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(flatten(evaluate_instruction(instruction, operands))[output])


def _bytes(array: np.ndarray) -> np.ndarray:
    """The bytes of each element, along one more axis, so that NaN is itself."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(np.uint8).reshape(*array.shape, array.dtype.itemsize)


def _with_leaf(
    instruction: hlo.Instruction, operands: Sequence[object], which: int, leaf: int, array: np.ndarray
) -> list[object]:
    flat = flatten(operands[which])
    flat[leaf] = array
    found = list(operands)
    found[which] = nest(instruction.operands[which].shape, flat)
    return found


def _another(array: np.ndarray, at: tuple[int, ...], rng: np.random.Generator) -> object:
    if array.dtype == np.bool_:
        return not array[at]
    if array.dtype.kind in "iu":
        return array[at] + array.dtype.type(rng.integers(1, 50))
    wide = np.asarray(array[at]).astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    return (wide * rng.uniform(1.5, 3) + rng.uniform(1, 2)).astype(array.dtype)


def check(
    text: str,
    arguments: Sequence[np.ndarray] | None = None,
    seed: int = 0,
    only_bounds: Sequence[int] = (),
    outputs: Sequence[int] | None = None,
) -> hlo.Instruction:
    """Compare maps of the entry's root (of parameters, or what is computed from them) with the reference.

    Exact maps name what is reached, over-approximate ones no less; both directions name the same. `only_bounds` are
    operands whose changes may go unseen (indices that clamp, say): what is reached must be named, and no more is asked.
    Returns the instruction, for further assertions.
    """
    module = hlo.parse(text)
    rng = np.random.default_rng(seed)
    parameters = module.entry.parameters
    made = [generic(p.shape, rng) for p in parameters] if arguments is None else list(arguments)
    given = entry_arguments(module, made)
    with np.errstate(all="ignore"):
        values = all_values(module.entry, given)
    root = module.entry.root
    operands = [values[o] for o in root.operands]
    for output in range(len(leaves(root.shape))) if outputs is None else outputs:
        found = ix.output_to_input(root, output)
        assert len(found) == len(root.operands)
        for k, maps in enumerate(found):
            back = ix.input_to_output(root, k)[output]
            for leaf, shape in enumerate(leaves(root.operands[k].shape)):
                _compare_operand(root, operands, (k, output, leaf), maps, back, values, rng, k in only_bounds)
                for m in (m for m in maps if not m.map.is_undefined and not m.map.is_known_empty):
                    assert len(m.map.dims) == len(leaves(root.shape)[output].dimensions)
                    assert m.leaf != leaf or len(m.map.results) == len(shape.dimensions)
    return root


def _compare_operand(
    root: hlo.Instruction,
    operands: Sequence[object],
    where: tuple[int, int, int],
    maps: Sequence[OperandIndexing],
    back: Sequence[OperandIndexing],
    values: Values,
    rng: np.random.Generator,
    only_bound: bool,
) -> None:
    k, output, leaf = where
    if any(m.exactness == "unknown" for m in maps):
        assert all(m.reason for m in maps if m.exactness != "exact")
        return
    want = reached(root, operands, k, output, leaf, rng)
    label = f"{root.opcode}, output {output}, operand {k}, array {leaf}: {[str(m.map) for m in maps]}"
    exact = all(m.exactness == "exact" for m in maps if m.leaf == leaf)
    _agree(named(maps, values, leaf), want, exact and not only_bound, label)
    assert all(m.reason for m in maps if m.exactness != "exact"), label
    pieces = [p for m in maps if m.leaf == leaf for p in (m.pieces if m.pieces is not None else (m,))]
    if all(p.exactness == "exact" for p in pieces):
        _agree(named(pieces, values, leaf), want, not only_bound, f"pieces of {label}")
    turned = {(b, a) for a, b in named(back, values, leaf)}
    exact_back = all(m.exactness == "exact" for m in back if m.leaf == leaf)
    _agree(turned, want, exact_back and not only_bound, f"backwards {[str(m.map) for m in back]}, {label}")


def _agree(found: Pairs, want: Pairs, exact: bool, label: str) -> None:
    assert want <= found, f"{label}: not named, though reached: {sorted(want - found)[:3]}"
    if exact:
        assert found <= want, f"{label}: named, though not reached: {sorted(found - want)[:3]}"
