"""Maps against what really happens: which operand elements change an output element when they are changed.

`assert_laws` perturbs one element of one operand at a time, runs the reference again, and compares the output elements
that changed with what the maps of both directions say. A map must name every element that had an effect; an exact one
no other, where the op's values are of a kind that lets every read show (`shows_all`).
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial

import numpy as np

import indexing as ix
from indexing.indexing_analysis.computations import MAPS
from indexing.ops.op import leaves
from indexing.ops.registry import REGISTRY
from indexing.reference.interpreter import INTERPRETER


def program(root: str, *parameters: str, computations: str = "") -> str:
    """HLO text of one instruction over parameters p0, p1, ... of the given shapes."""
    lines = [f"  p{k} = {shape} parameter({k})" for k, shape in enumerate(parameters)]
    return f"HloModule m\n{computations}\nENTRY e {{\n" + "\n".join(lines) + f"\n  ROOT r = {root}\n}}\n"


def root_of(text: str):
    return ix.hlo.parse(text).entry.root


def run(instruction, values):
    """The reference's results, always as a tuple."""
    result = REGISTRY[instruction.opcode].evaluate(instruction, [np.asarray(v) for v in values], INTERPRETER)
    results = tuple(np.asarray(r) for r in (result if isinstance(result, tuple) else (result,)))
    for r, leaf in zip(results, leaves(instruction.shape), strict=True):
        assert r.shape == tuple(leaf.dimensions), (r.shape, leaf)
        assert r.dtype == leaf.dtype, (r.dtype, leaf)
    return results


def grid(m, sizes_of=("dims", "ranges")):
    """All values of the map's dimension and range variables, as flat arrays."""
    spans = [np.arange(v.interval.lower, v.interval.upper + 1) for part in sizes_of for v in getattr(m, part)]
    if not spans:
        return []
    return [g.reshape(-1) for g in np.meshgrid(*spans, indexing="ij")]


def points(found, value_of):
    """(index on this side, index on the other side) of every point of a map, its runtime variables read from values."""
    m = found.map
    if m.is_known_empty:
        return set()
    variables = grid(m)
    count = variables[0].size if variables else 1
    keep = np.ones(count, bool)
    read = runtime_values(found, variables, count, value_of)
    for runtime, value, element in zip(m.runtimes, found.runtime_values, read, strict=True):
        low, high = runtime.interval.lower, runtime.interval.upper
        if value.out_of_bounds == "clamp":
            element = np.clip(element, *(value.bounds or (low, high)))
        keep &= (element >= low) & (element <= high)
        variables = [*variables, np.clip(element, low, high)]
    for e, interval in m.constraints:
        v = np.broadcast_to(e.evaluate(variables), count)
        keep &= (v >= interval.lower) & (v <= interval.upper)
    rank = len(m.dims)
    own = [np.broadcast_to(v, count)[keep] for v in variables[:rank]]
    other = [np.broadcast_to(e.evaluate(variables), count)[keep] for e in m.results]
    here = zip(*own, strict=True) if own else itertools.repeat((), int(keep.sum()))
    there = zip(*other, strict=True) if other else itertools.repeat((), int(keep.sum()))
    return {(tuple(map(int, a)), tuple(map(int, b))) for a, b in zip(here, there, strict=False)}


def runtime_values(found, variables, count, value_of):
    """The elements that runtime variables stand for, before any clamp; one may be read at an index that another gives."""
    m = found.map
    len(m.dims) + len(m.ranges)
    elements = [None] * len(m.runtimes)
    while any(e is None for e in elements):
        for k, value in enumerate(found.runtime_values):
            own = len(m.dims) + len(value.map.ranges)
            needed = {v - own for e in value.map.results for v in e.used_variables() if v >= own}
            if elements[k] is not None or any(elements[j] is None for j in needed):
                continue
            clamped = [_clamped(m, found, j, e) for j, e in enumerate(elements)]
            arguments = [*variables[:own], *clamped[: len(value.map.runtimes)]]
            source = np.asarray(value_of[value.instruction.name])
            at = [np.broadcast_to(e.evaluate(arguments), count) for e in value.map.results]
            at = tuple(
                np.clip(a, 0, n - 1) for a, n in zip(at, source.shape, strict=True)
            )  # where the map doesn't hold
            elements[k] = np.broadcast_to(source[at].astype(np.int64), count)
    return elements


def _clamped(m, found, which, element):
    interval = m.runtimes[which].interval
    low, high = found.runtime_values[which].bounds or (interval.lower, interval.upper)
    return np.zeros((), np.int64) if element is None else np.clip(element, low, high)


def pairs(maps, value_of):
    """The union of the points of several maps, whose domains must be disjoint where they are pieces."""
    return set().union(*(points(m, value_of) for m in maps)) if maps else set()


def exact_maps(maps):
    """Maps that say exactly what is read, or None: the maps themselves, or the pieces of those that are bounds."""
    out = []
    for m in maps:
        if m.exactness == "exact":
            out.append(m)
        elif m.pieces is not None:
            out += m.pieces
        else:
            return None
    return out


def effects(instruction, values, operand, change):
    """{output: {(output index, operand index)}} of the elements that change when operand elements do, one by one."""
    values = [np.asarray(v) for v in values]
    before = run(instruction, values)
    found = {k: set() for k in range(len(before))}
    for index in np.ndindex(values[operand].shape):
        changed = [v.copy() for v in values]
        changed[operand][index] = change(values[operand][index])
        after = run(instruction, changed)
        for k, (a, b) in enumerate(zip(before, after, strict=True)):
            with np.errstate(invalid="ignore"):
                different = ~((a == b) | ((a != a) & (b != b)))
            found[k] |= {(tuple(map(int, at)), index) for at in np.argwhere(different)}
    return found


def bump(value):
    return np.asarray(value) + np.asarray(1, np.asarray(value).dtype)


def assert_laws(text, values, operands, shows_all=True, change=bump):
    """Both directions of the root's maps against the effects of changing elements of these operands."""
    instruction = root_of(text)
    block = REGISTRY[instruction.opcode]
    names = {o.name: v for o, v in zip(instruction.operands, values, strict=True)}
    for operand in operands:
        backward = [ix.input_to_output(instruction, operand)]
        stated = block.inverse_indexing(instruction, operand, MAPS)
        if stated is not None:
            backward.append(stated)
        for output, effect in effects(instruction, values, operand, change).items():
            where = (text, output, operand)
            for law in (partial(block.indexing, maps=MAPS), ix.output_to_input):
                assert_names(law(instruction, output)[operand], effect, names, shows_all, where)
            turned = {(b, a) for a, b in effect}
            for found in backward:
                assert_names(found[output], turned, names, shows_all, (*where, "input to output"))


def simplified(found):
    """The same with a simplified map; values stay clamped to what the law's own map says."""
    if found.map.is_known_empty:
        return found
    low_high = [(v.interval.lower, v.interval.upper) for v in found.map.runtimes]
    values = [replace(v, bounds=v.bounds or b) for v, b in zip(found.runtime_values, low_high, strict=True)]
    return replace(found, map=found.map.simplify(), runtime_values=tuple(values))


def assert_names(maps, effect, names, shows_all, where, disjoint=True):
    said = pairs(maps, names)
    assert pairs([simplified(m) for m in maps], names) == said, (where, "simplified differently", [m.map for m in maps])
    assert effect <= said, (where, "not named", sorted(effect - said)[:5], [str(m.map) for m in maps])
    exact = exact_maps(maps)
    if exact is None:
        assert all(m.reason for m in maps if m.exactness != "exact"), where
        return
    said = pairs(exact, names)
    assert effect <= said, (where, "not named by the pieces", sorted(effect - said)[:5])
    if disjoint:
        assert sum(len(points(m, names)) for m in exact) == len(said), (where, "pieces overlap")
    if shows_all:
        assert said <= effect, (where, "named without effect", sorted(said - effect)[:5], [str(m.map) for m in exact])
