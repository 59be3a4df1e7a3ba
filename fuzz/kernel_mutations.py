"""Mutations of kernels: each must be found by the verifier, or by running it beside the reference.

    python fuzz/kernel_mutations.py [--count N] [--seed S] [--only WORDS] FILE.hlo ...

Makes N mutants of the kernel of each fusion (0: all of them), and prints those that nothing finds; the exit status is then 1.
A mutant that computes the same as the kernel is told by a reason: its source is the same, no thread comes to where a
condition differs, or a barrier stands between accesses that do not meet.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import indexing as ix
from indexing._core import Interval, constant
from indexing.emitters.ir import nodes as ir
from indexing.emitters.ir.accesses import BLOCK_X, entry_accesses
from indexing.emitters.ir.passes.dead_code import remove_dead_code
from indexing.emitters.ir.passes.fold import fold_constants
from indexing.emitters.ir.passes.thread_loops import thread_loops
from indexing.emitters.ir.traversal import (
    rewrite_bodies,
    rewrite_statement,
    rewrite_value,
    rewrite_values,
    subvalues,
    values_of,
)
from indexing.emitters.ir.verify import verify
from indexing.emitters.targets import TARGETS, write
from indexing.emitters.types import storage_bytes, storage_type
from indexing.hlo import Computation
from indexing.ops.block import leaves
from indexing.runtime.host import HostKernel, address, aligned_bytes
from indexing.trial import difference, make_inputs

TOLERANCE = 1e-3
DIALECT = "opencl"  # whose kernels have barriers, shared memory and vectors, and no shuffles: threads can be made loops
PROBE = ir.Buffer("probe", "s32", (1,), "global", "scratch", 99)
REACHED = ir.Store("probe", (constant(0),), ir.Constant("s32", 1))
FIRST = "first value of "
POISON = {1: 0xA5, 2: 0xA5A5, 4: 0xA5A5A5A5, 8: 0xA5A5A5A5A5A5A5A5}


@dataclass(frozen=True)
class Mutant:
    """A kernel with one fault. In `probes` a store to the buffer `probe` stands where the fault makes a difference."""

    kind: str
    what: str
    kernel: ir.Kernel
    probes: tuple[ir.Kernel, ...] = ()
    unread: ir.Kernel | None = None


# ---------------------------------------------------------------- where


@dataclass(frozen=True)
class Fault:
    """A block with a fault, and the block with probes in its place. `unread`: the block as it was, where those threads that
    a weaker condition lets in have poison in the variables that it would give them.
    """

    kind: str
    what: str
    block: ir.Block
    probes: tuple[ir.Block, ...] = ()
    unread: ir.Block | None = None

    def within(self, wrap: Callable[[ir.Block], ir.Block]) -> Fault:
        """The fault of a block around it."""
        unread = None if self.unread is None else wrap(self.unread)
        return Fault(self.kind, self.what, wrap(self.block), tuple(map(wrap, self.probes)), unread)


Change = Callable[[ir.Statement], "Iterator[Fault]"]


def in_block(block: ir.Block, change: Change) -> Iterator[Fault]:
    """All changes of one statement of a block, or of a block within."""
    for k, s in enumerate(block):

        def here(found: ir.Block, k: int = k) -> ir.Block:
            return (*block[:k], *found, *block[k + 1 :])

        for fault in change(s):
            yield replace(fault, probes=fault.probes or ((REACHED, s),)).within(here)
        names = ("body",) if isinstance(s, ir.For) else ("then", "otherwise") if isinstance(s, ir.If) else ()
        for name in names:

            def around(body: ir.Block, s: ir.Statement = s, name: str = name) -> ir.Block:
                return here((replace(s, **{name: body}),))

            for fault in in_block(getattr(s, name), change):
                yield fault.within(around)


def mutants(kernel: ir.Kernel) -> Iterator[Mutant]:
    """All mutants of a kernel."""
    buffers = (*kernel.buffers, PROBE)
    for change in (_changes, lambda s: _moved_stores(kernel, s)):
        for f in in_block(kernel.body, change):
            probes = tuple(replace(kernel, body=p, buffers=buffers) for p in f.probes)
            unread = None if f.unread is None else replace(kernel, body=f.unread)
            yield Mutant(f.kind, f.what, replace(kernel, body=f.block), probes, unread)
    yield from _intervals(kernel)
    for k, function in enumerate(kernel.functions):
        for f in in_block(function.body, _changes):
            functions = (*kernel.functions[:k], replace(function, body=f.block), *kernel.functions[k + 1 :])
            yield Mutant(f.kind, f"{function.name}: {f.what}", replace(kernel, functions=functions))


# ---------------------------------------------------------------- what


def _changes(s: ir.Statement) -> Iterator[Fault]:
    if isinstance(s, ir.If):
        yield from _conditions(s)
    elif isinstance(s, ir.For):
        for name, by in (("stop", -1), ("stop", 1), ("start", 1)):
            changed = replace(s, **{name: getattr(s, name) + by})
            what = f"{name} {getattr(s, name)} of the loop over {s.variable} by {by}"
            lost = s.start if name == "start" else s.stop - 1 if by < 0 else s.stop
            turn = ir.Within(ix.variable(s.variable) - lost, 0, 0)
            probe = replace(s, stop=s.stop + max(by, 0), body=(ir.If((turn,), _first_effect(s.body)),))
            yield Fault("loop bound", what, (changed,), ((probe,),))
    elif isinstance(s, ir.Barrier):
        yield Fault("barrier", "a barrier less", ())
    elif isinstance(s, ir.Fence):
        yield Fault("fence", "a fence less", ())
    elif isinstance(s, ir.Store | ir.AtomicUpdate | ir.Copy | ir.Assign):
        name = s.destination if isinstance(s, ir.Copy) else s.name if isinstance(s, ir.Assign) else s.buffer
        yield Fault("statement", f"without the {type(s).__name__.lower()} to {name}", ())
    yield from _places(s)
    yield from _values(s)


def _conditions(s: ir.If) -> Iterator[Fault]:
    for k, c in enumerate(s.conditions):
        others = s.conditions[:k], s.conditions[k + 1 :]
        without = (*others[0], *others[1])
        dropped = (replace(s, conditions=without),) if without else s.then
        if not isinstance(c, ir.Within):
            yield Fault("predicate", f"condition {k} dropped", dropped)
            continue
        outside = []
        if c.lower is not None:
            outside.append(ir.Within(c.expression, None, c.lower - 1))
        if c.upper is not None:
            outside.append(ir.Within(c.expression, c.upper + 1, None))
        probes = tuple((_probe(without, o),) for o in outside)
        what = f"condition {k} dropped: {c.expression} in [{c.lower}, {c.upper}]"
        yield Fault("predicate", what, dropped, probes, _with_poison(s))
        for name, by in (("lower", -1), ("lower", 1), ("upper", -1), ("upper", 1)):
            bound = getattr(c, name)
            if bound is None:
                continue
            changed = replace(c, **{name: bound + by})
            edge = max(bound, bound + by) if name == "upper" else min(bound, bound + by)
            probe = _probe(without, ir.Within(c.expression, edge, edge))
            found = replace(s, conditions=(*others[0], changed, *others[1]))
            what = f"{name} bound {bound} of {c.expression} by {by}"
            unread = _with_poison(s) if (by > 0) == (name == "upper") else None
            yield Fault("predicate", what, (found,), ((probe,),), unread)


def _with_poison(s: ir.If) -> ir.Block | None:
    """The branch, and what it assigns poisoned for all other threads; None where it does more than to assign.

    A store of a constant to a place that is the same for all threads is done as well by more of them.
    """
    poisoned: list[ir.Statement] = []
    for t in ir.statements(s.then):
        if isinstance(t, ir.Assign):
            poisoned.append(ir.Assign(t.name, _poison(t.value.type)))
        elif isinstance(t, ir.Store) and isinstance(t.value, ir.Constant):
            if any(v < BLOCK_X for e in t.index for v in e.used_variables()):
                return None
        elif not isinstance(t, ir.Let | ir.CallFunction):
            return None
    return None if s.otherwise else (replace(s, otherwise=tuple(poisoned)),)


def _poison(kind: str) -> ir.Constant:
    if kind in ("f32", "f64"):
        return ir.Constant(kind, 1e30)
    return ir.Constant(kind, True if kind == "pred" else 77)


def _probe(conditions: tuple[ir.Value, ...], where: ir.Within) -> ir.If:
    return ir.If((*conditions, where), (REACHED,))


def _first_effect(block: ir.Block) -> ir.Block:
    """The probe where a block begins to do something: within the condition that is around all of it."""
    if len(block) == 1 and isinstance(block[0], ir.If) and not block[0].otherwise:
        return (replace(block[0], then=_first_effect(block[0].then)),)
    return (REACHED,)


def _places(s: ir.Statement) -> Iterator[Fault]:
    """Places off by one, of stores and index variables."""
    for by in (-1, 1):
        if isinstance(s, ir.Store | ir.AtomicUpdate | ir.FetchAdd):
            for k, e in enumerate(s.index):
                moved = (*s.index[:k], e + by, *s.index[k + 1 :])
                yield Fault("index", f"place in {s.buffer} by {by}", (replace(s, index=moved),))
        elif isinstance(s, ir.Copy):
            for name in ("destination_index", "source_index"):
                moved_copy = replace(s, **{name: getattr(s, name) + by})
                yield Fault("index", f"{name} of {s.destination} = {s.source} by {by}", (moved_copy,))
        elif isinstance(s, ir.LetIndex) and isinstance(s.value, ix.SymbolicExpr):
            yield Fault("index", f"index variable {s.variable} by {by}", (replace(s, value=s.value + by),))


_OTHER = {"add": "sub", "sub": "add", "mul": "add", "maximum": "minimum", "minimum": "maximum", "lt": "ge", "ge": "lt"}


def _values(s: ir.Statement) -> Iterator[Fault]:
    """A load off by one, another constant, another operation."""
    seen: list[ir.Value] = []

    def note(value: ir.Value) -> ir.Value:
        seen.append(value)
        return value

    rewrite_statement(s, note)
    for number, value in enumerate(seen):
        for kind, what, other in _other_values(value):
            kind = f"{FIRST}{s.name}" if isinstance(s, ir.Var) else kind
            count = iter(range(len(seen)))
            changed = rewrite_statement(s, lambda v: other if next(count) == number else v)  # noqa: B023
            yield Fault(kind, what, (changed,))


def _other_values(value: ir.Value) -> Iterator[tuple[str, str, ir.Value]]:
    if isinstance(value, ir.Load):
        for by in (-1, 1):
            for k, e in enumerate(value.index):
                moved = (*value.index[:k], e + by, *value.index[k + 1 :])
                yield "index", f"load of {value.buffer} by {by}", replace(value, index=moved)
    elif isinstance(value, ir.Constant) and not isinstance(value.value, complex):
        other = not value.value if value.type == "pred" else 1 if abs(value.value) == float("inf") else value.value + 1
        yield "constant", f"constant {value.value}", replace(value, value=other)
    elif isinstance(value, ir.Op) and value.opcode in _OTHER and (value.type != "pred" or value.opcode in ("lt", "ge")):
        yield "operation", f"{value.opcode} as {_OTHER[value.opcode]}", replace(value, opcode=_OTHER[value.opcode])


def _moved_stores(kernel: ir.Kernel, s: ir.Statement) -> Iterator[Fault]:
    """A store at the place that counts from the buffer's end, or with two variables exchanged."""
    if isinstance(s, ir.Store | ir.AtomicUpdate) and s.index:
        turned = -s.index[0] + kernel.buffer(s.buffer).size - 1
        if not _fills(kernel, s):
            kind = "store's index" if kernel.buffer(s.buffer).role == "output" else "part"
            yield Fault(kind, f"place {s.index[0]} in {s.buffer} from the end", (replace(s, index=(turned,)),))
        used = s.index[0].used_variables()
        if len(used) > 1:
            swapped = [ix.variable(k) for k in range(max(used) + 1)]
            a, b = used[:2]
            swapped[a], swapped[b] = swapped[b], swapped[a]
            place = s.index[0].replace_variables(swapped)
            yield Fault("store's index", f"variables {a} and {b} of {s.buffer}", (replace(s, index=(place,)),))


def _fills(kernel: ir.Kernel, s: ir.Store | ir.AtomicUpdate) -> bool:
    """Whether a store gives all elements of its buffer the same constant, in a loop; then their order is the same."""
    used = s.index[0].used_variables()
    size = kernel.buffer(s.buffer).size
    return (
        isinstance(s.value, ir.Constant)
        and s.index[0] in [ix.variable(k) for k in used]
        and kernel.variables[used[0]].interval == Interval(0, size - 1)
    )


def _intervals(kernel: ir.Kernel) -> Iterator[Mutant]:
    """Intervals of index variables that say too much, or too little."""
    for k, v in enumerate(kernel.variables):
        low, high = v.interval.lower, v.interval.upper
        for a, b in ((low, high - 1), (low + 1, high), (low, high + 1)):
            if a <= b and v.kind != "thread":
                changed = replace(v, interval=Interval(a, b))
                variables = (*kernel.variables[:k], changed, *kernel.variables[k + 1 :])
                yield Mutant("interval", f"{v.name} in [{a}, {b}]", replace(kernel, variables=variables))


# ---------------------------------------------------------------- found or not


class Trial:
    """A kernel, what is proved of it, and what it computes."""

    def __init__(self, computation: Computation) -> None:
        """IndexingError where there is no kernel for the computation."""
        emitted = ix.emit(computation, dialect=DIALECT)
        self.kernel, self.arguments = _pruned(emitted.lowered), emitted.arguments
        self.shapes = list(leaves(computation.root.shape))
        self.unproved = self._unproved(self.kernel)
        self.source = _source(self.kernel)
        self.data = _data([p.shape for p in computation.parameters])
        self.expected = [_flat(ix.evaluate(computation.module, *d)) for d in self.data]
        wrong = self._fault(self.kernel, self.expected)
        assert not wrong, f"{self.kernel.name}: {wrong}"
        self.sums = list(self._results(_with_sums(self.kernel)))

    def verdict(self, mutant: Mutant) -> str:
        """How a mutant is found (`proof: ...`, `run: ...`), or why it is none (`same: ...`); empty where it is missed."""
        unproved = self._unproved(mutant.kernel)
        if unproved - self.unproved:
            return f"proof: {next(iter(unproved - self.unproved))}"
        if _source(mutant.kernel) == self.source:
            return "same: the source"
        if mutant.probes and all(map(_is_never_reached, mutant.probes)):
            return "same: no thread comes to where it makes a difference"
        try:
            wrong = self._fault(mutant.kernel, self.expected)
            wrong = wrong or self._fault(_with_sums(mutant.kernel), self.sums, 0.0)
        except ix.CompileError as error:
            return f"proof: {str(error).splitlines()[0]}"
        if wrong:
            return f"run: {wrong}"
        if mutant.kind.startswith(FIRST) and _is_overwritten(self.kernel.body, mutant.kind.removeprefix(FIRST)):
            return "same: the first value of a variable that has another before it is read"
        if mutant.unread is not None and not self._fault(mutant.unread, self.expected):
            return "same: nobody reads what more threads compute"
        if mutant.kind == "barrier":
            return "same: nobody touches what another has written since"
        if mutant.kind == "part" and all(s.element_count == 1 for s in self.shapes):
            return "same: the parts of the one result in another order"
        return ""

    def _unproved(self, kernel: ir.Kernel) -> Counter[str]:
        return Counter(c.kind for c in verify(kernel).checks if c.status != "proved")

    def _fault(self, kernel: ir.Kernel, expected: Sequence[Sequence[np.ndarray]], tolerance: float = TOLERANCE) -> str:
        """What is wrong with the results of several calls; empty where nothing is."""
        for call, (results, wanted) in enumerate(zip(self._results(kernel), expected, strict=True)):
            for k, (got, want) in enumerate(zip(results, wanted, strict=True)):
                with np.errstate(invalid="ignore"):
                    apart = difference(got, want)
                if apart.largest > tolerance * (64 if want.dtype.itemsize < 4 else 1) or apart.misplaced:
                    return f"output {k} of call {call}: {apart}"
        return ""

    def _results(self, kernel: ir.Kernel) -> Iterator[list[np.ndarray]]:
        """The outputs of one call after the other; scratch memory stays."""
        threads = kernel.block[0] * kernel.block[1] * kernel.block[2]
        host = HostKernel(kernel.name, _source(_poisoned(kernel)), kernel.grid, threads)
        scratch = {k: _memory(a.zeros()) for k, a in enumerate(self.arguments) if a.kind == "scratch"}
        for arrays in self.data:
            memory: list[np.ndarray] = []
            for k, a in enumerate(self.arguments):
                if a.alias_of is not None:
                    memory.append(memory[a.alias_of])
                elif a.kind == "scratch":
                    memory.append(scratch[k])
                elif a.kind == "input":
                    memory.append(_memory(_physical(np.asarray(arrays[a.number]), a.layout)))
                else:
                    memory.append(_memory(np.full(self.shapes[a.number].dimensions, 77, self.shapes[a.number].dtype)))
            pairs = list(zip(memory, self.arguments, strict=True))
            host.launch([address(m) for m, a in pairs if a.alias_of is None])
            yield [_logical(m, self.shapes[a.number]) for m, a in pairs if a.kind == "output"]


def _data(shapes: Sequence[ix.hlo.Shape]) -> list[list[np.ndarray]]:
    """Arrays with hardly two elements alike, twice the same ones among them; then small ones, in some of which one
    element is large.
    """
    found = []
    for seed, scale, large in ((0, 1, 0), (1, 1, 0), (0, 1, 0), (2, 2**-10, 0), (3, 2**-10, 100), (4, 2**-10, -100)):
        rng = np.random.default_rng(seed)
        arrays = []
        for value, shape in zip(make_inputs(shapes, seed), shapes, strict=True):
            array = np.asarray(value)
            if array.dtype.kind == "f" or shape.element_type == "bf16":
                array = (rng.standard_normal(array.shape) * scale).astype(array.dtype)
                if large and array.size:
                    array.reshape(-1)[rng.integers(array.size)] = large
            arrays.append(array)
        found.append(arrays)
    return found


_EXTREMA = frozenset({"maximum", "minimum"})


def _with_sums(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with sums in place of extrema, which do not tell of every element whether it was taken."""

    def on_value(value: ir.Value) -> ir.Value:
        if isinstance(value, ir.Op) and value.opcode in _EXTREMA and value.type in ("f32", "f64"):
            return replace(value, opcode="add")
        if isinstance(value, ir.Constant) and value.type in ("f32", "f64") and abs(value.value) == float("inf"):
            return replace(value, value=0.0)
        return value

    def on_body(f: ir.Function | ir.Kernel) -> ir.Block:
        return rewrite_values(f.body, on_value)

    found = rewrite_bodies(kernel, on_body)
    functions = tuple(replace(f, results=tuple(rewrite_value(r, on_value) for r in f.results)) for f in found.functions)
    return replace(found, functions=functions)


def _source(kernel: ir.Kernel) -> str:
    plain = remove_dead_code(fold_constants(kernel))
    return write(thread_loops(replace(plain, buffers=kernel.buffers)), TARGETS["c"])


def _poisoned(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with memory of blocks and threads that holds no zeros by chance."""
    variables, stores = list(kernel.variables), []
    for b in kernel.buffers:
        if b.space in ("shared", "local"):
            k, kind = len(variables), storage_type(b.element_type)
            poison = ir.Constant(kind, POISON[storage_bytes(b.element_type)] if kind[0] in "su" else 1e30)
            variables.append(ir.IndexVariable(f"poison{k}", Interval(0, b.size - 1), "loop"))
            stores.append(ir.For(k, constant(0), constant(b.size), 1, (ir.Store(b.name, (ix.variable(k),), poison),)))
    body = (*stores, ir.Barrier(), *kernel.body) if stores else kernel.body
    return replace(kernel, variables=tuple(variables), body=body)


def _pruned(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel without branches that no thread takes."""

    def change(s: ir.Statement) -> Iterator[Fault]:
        if isinstance(s, ir.If) and s.then:
            rest = (replace(s, then=()),) if s.otherwise else ()
            yield Fault("", "", rest, ((replace(s, then=(REACHED,)),),))

    while True:
        for fault in in_block(kernel.body, change):
            probe = replace(kernel, body=fault.probes[0], buffers=(*kernel.buffers, PROBE))
            if _is_never_reached(probe):
                kernel = replace(kernel, body=fault.block)
                break
        else:
            return kernel


def _is_overwritten(block: ir.Block, name: str) -> bool:
    """Whether a variable is assigned before it is read, in the first of the loops around that surely runs."""
    for s in block:
        if any(isinstance(v, ir.Ref) and v.name == name for value in values_of(s) for v in subvalues(value)):
            return False
        if isinstance(s, ir.Assign) and s.name == name:
            return True
        named = any(getattr(t, "name", "") == name for t in ir.statements((s,)) if isinstance(t, ir.Assign | ir.Var))
        if named and isinstance(s, ir.For):
            start, stop = s.start.constant_value, s.stop.constant_value
            return start is not None and stop is not None and start < stop and _is_overwritten(s.body, name)
        if named and isinstance(s, ir.If):
            return False
    return False


def _is_never_reached(probe: ir.Kernel) -> bool:
    body = entry_accesses(probe)
    return all(body.access_map(a).is_empty() for a in body.found if a.buffer == "probe")


def _flat(value: object) -> list[np.ndarray]:
    return [a for v in value for a in _flat(v)] if isinstance(value, tuple | list) else [np.asarray(value)]


def _memory(array: np.ndarray) -> np.ndarray:
    """A copy as kernels want it, aligned."""
    raw = np.ascontiguousarray(array).view(np.uint8).reshape(-1) if array.ndim else array.reshape(1).view(np.uint8)
    memory = aligned_bytes(max(raw.size, 1))[: raw.size]
    memory[...] = raw
    return memory


def _physical(array: np.ndarray, layout: tuple[int, ...] | None) -> np.ndarray:
    return array if layout is None else np.ascontiguousarray(array.transpose(layout[::-1]))


def _logical(memory: np.ndarray, shape: ix.hlo.Shape) -> np.ndarray:
    order = tuple(reversed(shape.minor_to_major))
    physical = memory.view(shape.dtype).reshape(tuple(shape.dimensions[d] for d in order))
    return physical.transpose(np.argsort(order)) if order else physical


# ---------------------------------------------------------------- the command


def sample(found: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """Some mutants, of all kinds in turns; all where `count` is 0."""
    if not count:
        return list(found)
    chance = random.Random(seed)
    by_kind: dict[str, list[Mutant]] = {}
    for m in chance.sample(found, len(found)):
        by_kind.setdefault(m.kind, []).append(m)
    turns = [kinds[k] for k in range(len(found)) for kinds in by_kind.values() if k < len(kinds)]
    return turns[:count]


def judge(file: Path, count: int = 0, seed: int = 0) -> tuple[Counter[str], list[Mutant]]:
    """How mutants of a file's kernel are found, counted; and those that are missed."""
    trial = Trial(ix.hlo.load(file).entry)
    counts: Counter[str] = Counter()
    missed = []
    for mutant in sample(list(mutants(trial.kernel)), count, seed):
        verdict = trial.verdict(mutant)
        counts[verdict.partition(":")[0] or "missed"] += 1
        if not verdict:
            missed.append(mutant)
    return counts, missed


def main() -> int:
    """Judge the mutants of each file."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="+", type=Path)
    options.add_argument("--count", type=int, default=0)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    total: Counter[str] = Counter()
    for file in chosen.files:
        counts, missed = judge(file, chosen.count, chosen.seed)
        total += counts
        print(f"{file.stem}: {dict(counts)}", flush=True)
        for m in missed:
            print(f"  missed: {m.kind}: {m.what}", flush=True)
    print(f"seed {chosen.seed}: {dict(total)}")
    return 1 if total["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
