"""What a map names against what the reference does: the pairs (output element, operand element) that belong together.

`reached` finds them from the reference alone: operands hold generic values, one element at a time gets another, and an
output element that changes is one that it reaches. `named` finds them from maps, by enumerating their domains, with
runtime values looked up and clamped as the values say. `check` compares the two for all that is known of an instruction:
the op's own formulas, the maps through what it calls, simplified maps, in both directions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

import indexing as ix
from indexing import hlo
from indexing.ops.op import ByStructure, ThroughComputations
from indexing.ops.operand_indexing import Indexing, OperandIndexing
from indexing.ops.registry import REGISTRY
from indexing.ops.tuples import nest
from indexing.ops.values import leaves_of
from indexing.reference.interpreter import INTERPRETER, evaluate_instruction
from indexing.reference.program_arguments import entry_arguments
from program_values import Values, all_values, points_of

Pairs = set[tuple[tuple[int, ...], tuple[int, ...]]]
#: Gives another value than an element has.
Change = Callable[[np.generic], object]


def program(root: str, *parameters: str, computations: str = "") -> str:
    """HLO text of one instruction over parameters p0, p1, ... of the given shapes."""
    lines = [f"  p{k} = {shape} parameter({k})" for k, shape in enumerate(parameters)]
    return f"HloModule m\n{computations}\nENTRY e {{\n" + "\n".join(lines) + f"\n  ROOT r = {root}\n}}\n"


def root_of(text: str) -> hlo.Instruction:
    return hlo.parse(text).entry.root


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


def run(instruction: hlo.Instruction, values: Sequence[object]) -> tuple[np.ndarray, ...]:
    """The reference's results, always as a tuple, each of its shape and type."""
    result = REGISTRY[instruction.opcode].evaluate(instruction, [np.asarray(v) for v in values], INTERPRETER)
    results = tuple(np.asarray(r) for r in (result if isinstance(result, tuple) else (result,)))
    for r, leaf in zip(results, instruction.shape.leaves, strict=True):
        assert r.shape == tuple(leaf.dimensions), (r.shape, leaf)
        assert r.dtype == leaf.dtype, (r.dtype, leaf)
    return results


# ---------------------------------------------------------------- what maps name


def named(maps: Iterable[OperandIndexing], values: Values, leaf: int = 0) -> Pairs:
    """All pairs (index on this side, index on the other side) that the maps name."""
    return set().union(*(points(m, values) for m in maps if m.leaf == leaf))


def points(actual: OperandIndexing, values: Values) -> Pairs:
    """The pairs of one map: the values of its domain's points, all at once."""
    m = actual.map
    assert len(actual.runtime_values) == len(m.runtimes), f"{len(actual.runtime_values)} values for {m}"
    if m.is_known_empty:
        return set()
    own, other = points_of(actual, values)
    return set(zip(map(tuple, own.T.tolist()), map(tuple, other.T.tolist()), strict=True))


def exact_maps(maps: Iterable[OperandIndexing]) -> list[OperandIndexing] | None:
    """Maps that say exactly what is read, or None: the maps themselves, or the pieces of those that are bounds."""
    out: list[OperandIndexing] = []
    for m in maps:
        if m.exactness != "exact" and m.pieces is None:
            return None
        out += [m] if m.exactness == "exact" else m.pieces
    return out


# ---------------------------------------------------------------- what the reference does


def reached(
    instruction: hlo.Instruction, operands: Sequence[object], which: int, leaf: int, change: Sequence[Change]
) -> list[Pairs]:
    """For each output the pairs (output index, operand index) where another value of the operand's element shows."""
    before = _outputs(instruction, operands)
    result: list[Pairs] = [set() for _ in before]
    original = np.asarray(leaves_of(operands[which])[leaf])
    for at in np.ndindex(*original.shape):
        for another in change:
            changed = original.copy()
            changed[at] = another(original[at])
            after = _outputs(instruction, _with_leaf(instruction, operands, which, leaf, changed))
            for pairs, old, new in zip(result, before, after, strict=True):
                differs = (_bytes(old) != _bytes(new)).any(axis=-1)
                pairs |= {(tuple(int(x) for x in o), at) for o in np.argwhere(differs)}
    return result


def drawn(rng: np.random.Generator) -> list[Change]:
    """Two other values, for one alone may give the same result."""

    def another(value: np.generic) -> object:
        dtype = np.asarray(value).dtype
        if dtype == np.bool_:
            return not value
        if dtype.kind in "iu":
            return np.add(value, dtype.type(rng.integers(1, 50)))
        wide = np.asarray(value).astype(np.complex128 if dtype.kind == "c" else np.float64)
        return (wide * rng.uniform(1.5, 3) + rng.uniform(1, 2)).astype(dtype)

    return [another, another]


def _outputs(instruction: hlo.Instruction, operands: Sequence[object]) -> list[np.ndarray]:
    with np.errstate(all="ignore"):
        leaves = leaves_of(evaluate_instruction(instruction, operands))
    return [np.zeros(0, np.int8) if v is None else np.asarray(v) for v in leaves]  # a token has no elements


def _bytes(array: np.ndarray) -> np.ndarray:
    """The bytes of each element, along one more axis, so that NaN is itself."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(np.uint8).reshape(*array.shape, array.dtype.itemsize)


def _with_leaf(
    instruction: hlo.Instruction, operands: Sequence[object], which: int, leaf: int, array: np.ndarray
) -> list[object]:
    flat = leaves_of(operands[which])
    flat[leaf] = array
    result = list(operands)
    result[which] = nest(instruction.operands[which].shape, flat)
    return result


# ---------------------------------------------------------------- the two compared


def check(
    text: str,
    arguments: Sequence[object] | None = None,
    seed: int = 0,
    operands: Sequence[int] | None = None,
    only_bounds: Iterable[int] = (),
    change: Change | None = None,
) -> hlo.Instruction:
    """Compare maps of the entry's root (of parameters, or what is computed from them) with the reference.

    Exact maps name what is reached, over-approximate ones no less; both directions name the same. `only_bounds` are
    operands whose changes may go unseen (indices that clamp, say): what is reached must be named, and no more is asked.
    Returns the instruction, for further assertions.
    """
    module = hlo.parse(text)
    rng, root = np.random.default_rng(seed), module.entry.root
    made = [generic(p.shape, rng) for p in module.entry.parameters] if arguments is None else list(arguments)
    with np.errstate(all="ignore"):
        values = all_values(module.entry, entry_arguments(module, made))
    given = [values[o] for o in root.operands]
    for k in range(len(root.operands)) if operands is None else operands:
        for leaf, shape in enumerate(root.operands[k].shape.leaves):
            if shape.is_array:
                outputs = reached(root, given, k, leaf, drawn(rng) if change is None else [change])
                _check_operand(root, (k, leaf), values, outputs, shows=k not in only_bounds)
    return root


def _check_operand(
    root: hlo.Instruction, operand: tuple[int, int], values: Values, outputs: Sequence[Pairs], shows: bool
) -> None:
    (k, leaf), op = operand, REGISTRY[root.opcode]
    through = isinstance(op.output_to_input, ByStructure | ThroughComputations) and op.kind != "alias"
    disjoint = not through  # where several instructions may read one element
    backward = [ix.input_to_output(root, k), *own_inverse(root, k)]
    for output, want in enumerate(outputs):
        label = f"{root.opcode}, output {output}, operand {k}, array {leaf}"
        for forward in (*own_formula(root), ix.output_to_input):
            actual = forward(root, output)
            assert len(actual) == len(root.operands), label
            _check_ranks(actual[k], root.operands[k], root, (leaf, output))
            own = [m for m in actual[k] if m.leaf == leaf]
            _check_bounds(own, values, leaf, root.operands[k].shape.leaves[leaf], label)
            agree(own, want, values, leaf, label, shows, disjoint)
        turned = {(b, a) for a, b in want}
        for inverse in backward:
            maps = [m for m in inverse[output] if m.leaf == leaf]
            _check_bounds(maps, values, leaf, root.shape.leaves[output], f"backwards {label}")
            agree(maps, turned, values, leaf, f"backwards {label}", shows, disjoint)


def own_formula(root: hlo.Instruction) -> list[Callable[[hlo.Instruction, int], Indexing]]:
    """The formula as the op states it, where that is maps alone, and not those through a computation."""
    formula = REGISTRY[root.opcode].output_to_input
    return [] if isinstance(formula, ByStructure | ThroughComputations) else [formula]


def own_inverse(root: hlo.Instruction, operand: int) -> list[Indexing]:
    """The inverse that the op states, if it states one, as maps alone."""
    formula = REGISTRY[root.opcode].input_to_output
    return [] if formula is None or isinstance(formula, ByStructure | ThroughComputations) else [formula(root, operand)]


def _check_ranks(
    maps: Iterable[OperandIndexing], operand: hlo.Instruction, root: hlo.Instruction, at: tuple[int, int]
) -> None:
    leaf, output = at
    for m in (m for m in maps if not m.map.is_undefined and not m.map.is_known_empty):
        assert len(m.map.dims) == len(root.shape.leaves[output].dimensions)
        assert m.leaf != leaf or len(m.map.results) == len(operand.shape.leaves[leaf].dimensions)


def _check_bounds(maps: Sequence[OperandIndexing], values: Values, leaf: int, other: hlo.Shape, label: str) -> None:
    """What maps name exists, also where they are bounds; a range of one element needs no variable."""
    assert not any(v.interval.is_point for m in maps for v in m.map.ranges), f"{label}: {[str(m.map) for m in maps]}"
    for _, at in named([m for m in maps if not m.map.is_undefined], values, leaf):
        assert all(0 <= x < n for x, n in zip(at, other.dimensions, strict=True)), f"{label}: there is no {at}"


def agree(
    maps: Sequence[OperandIndexing],
    want: Pairs,
    values: Values,
    leaf: int = 0,
    label: object = "",
    shows: bool = True,
    disjoint: bool = True,
) -> None:
    """The maps name what is wanted; where they are exact and each read shows, no more, and in parts that do not overlap."""
    assert all(m.reason for m in maps if m.exactness != "exact"), label
    if any(m.exactness == "unknown" for m in maps):
        return
    texts = [str(m.map) for m in maps]
    said = named(maps, values, leaf)
    assert named([_simplified(m) for m in maps], values, leaf) == said, f"{label}: simplified differently: {texts}"
    assert want <= said, f"{label}: not named, though reached: {sorted(want - said)[:3]}: {texts}"
    exact = exact_maps(maps)
    if exact is None:
        return
    said = named(exact, values, leaf)
    assert want <= said, f"{label}: not named by pieces, though reached: {sorted(want - said)[:3]}: {texts}"
    if disjoint:
        assert sum(len(points(m, values)) for m in exact) == len(said), f"{label}: pieces overlap: {texts}"
    if shows:
        assert said <= want, f"{label}: named, though not reached: {sorted(said - want)[:3]}: {texts}"


def _simplified(result: OperandIndexing) -> OperandIndexing:
    """The same with a simplified map; values stay clamped to what the formula's own map says."""
    if result.map.is_known_empty:
        return result
    bounds = [(v.interval.lower, v.interval.upper) for v in result.map.runtimes]
    values = [replace(v, bounds=v.bounds or b) for v, b in zip(result.runtime_values, bounds, strict=True)]
    return replace(result, map=result.map.simplify(), runtime_values=tuple(values))
