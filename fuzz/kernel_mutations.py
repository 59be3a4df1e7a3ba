"""Mutations of kernels: each must be found by the verifier, or by running it beside the reference.

    python fuzz/kernel_mutations.py [--count N] [--seed S] [--only WORDS] FILE.hlo ...

Makes N mutants of the kernel of each fusion (0: all of them), and prints those that nothing finds; the exit status is then 1.
A mutant that computes the same as the kernel is told by a reason: its source is the same, no thread comes to where a
condition differs, or a barrier stands between accesses that do not meet.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import indexing as ix
from indexing._core import Interval, constant
from indexing.hlo import Computation
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.accesses import entry_accesses
from indexing.kernels.ir.traversal import (
    rewrite_blocks,
    rewrite_bodies,
    rewrite_value,
    rewrite_values,
    subvalues,
    values_of,
)
from indexing.kernels.ir.types import storage_bytes, storage_type
from indexing.kernels.passes.dead_code import remove_dead_code
from indexing.kernels.passes.fold import fold_constants
from indexing.kernels.passes.thread_loops import make_thread_loops
from indexing.kernels.targets import TARGETS, write
from indexing.kernels.verify import verify
from indexing.reference.differences import difference, make_inputs
from indexing.runtime.host_kernel import HostKernel
from indexing.runtime.host_memory import address, aligned_bytes
from kernel_mutants import FIRST, PROBE, REACHED, Fault, Mutant, in_block, mutants

TOLERANCE = 1e-3
DIALECT = "opencl"  # its kernels have barriers, shared memory and vectors, and no shuffles: threads can be made loops
#: Of each call, the seed of its arrays, the scale of their elements, and one that is large, unless it is 0.
SETS = ((0, 1, 0), (1, 1, 0), (0, 1, 0), (2, 2**-10, 0), (3, 2**-10, 100), (4, 2**-10, -100))
UNIQUE, SORTED = "unique_indices", "indices_are_sorted"
QUICKLY = '#pragma GCC optimize("O2")\n'  # a mutant runs six times: to optimize it further takes longer
ATOMIC = -1  # stands for a thread that updates atomically
POISON = {1: 0xA5, 2: 0xA5A5, 4: 0xA5A5A5A5, 8: 0xA5A5A5A5A5A5A5A5}


# ---------------------------------------------------------------- found or not


class Trial:
    """A kernel, what is proved of it, and what it computes."""

    def __init__(self, computation: Computation) -> None:
        """IndexingError where there is no kernel for the computation."""
        emitted = ix.emit(computation, dialect=DIALECT)
        self.kernel, self.arguments = _pruned(emitted.lowered), emitted.arguments
        self.shapes = list(computation.root.shape.leaves)
        self.unproved = self._unproved(self.kernel)
        self.source = _source(self.kernel)
        scatters = [i for i in computation.post_order() if i.opcode == "scatter"]
        promises = {name for i in scatters for name in (UNIQUE, SORTED) if i.flag(name)} if scatters else None
        self.data = _data([p.shape for p in computation.parameters], promises)
        self.expected = [_flat(ix.evaluate(computation.module, *d)) for d in self.data]
        wrong = self._fault(self.kernel, self.expected)
        assert not wrong, f"{self.kernel.name}: {wrong}"
        self.sums = list(self._results(_with_sums(self.kernel)))
        self.writers, clashes = self._writers(self.kernel)
        assert not clashes

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
        writers, clashes = self._writers(mutant.kernel)
        if clashes:
            return "run: threads write one element, and not all of them atomically"
        pairs = list(zip(writers, self.writers, strict=True))
        if any((a != b).any() for a, b in pairs) and all(((a == b) | (a == ATOMIC)).all() for a, b in pairs):
            return "same: updates are atomic that need not be"
        if mutant.kind.startswith(FIRST) and _is_overwritten(self.kernel.body, mutant.kind.removeprefix(FIRST)):
            return "same: the first value of a variable that has another before it is read"
        if mutant.kind.startswith(FIRST) and self._depends_on_no_first_value(mutant.kind.removeprefix(FIRST)):
            return "same: no result depends on the first value of the variable"
        if mutant.unread is not None and not self._fault(mutant.unread, self.expected):
            return "same: no result depends on what it changes"
        if mutant.kind == "wait" and not any(isinstance(s, ir.CopyAsync) for s in ir.statements(self.kernel.body)):
            return "same: no copy is asynchronous"
        if mutant.kind == "barrier":
            return "same: nobody touches what another has written since"
        if mutant.kind == "part" and all(s.element_count == 1 for s in self.shapes):
            return "same: the parts of the one result in another order"
        return ""

    def _depends_on_no_first_value(self, name: str) -> bool:
        """Whether no result takes anything from a variable's first value, for whatever data: sums of all that extrema and
        selections choose from are the same to the bit with two first values that no sum hides.
        """
        taking_all = _without_choices(_with_sums(self.kernel))
        if _chooses_by_data(taking_all):
            return False
        expected = list(self._results(taking_all))
        extremes = (_with_first_value(taking_all, name, sign) for sign in (1, -1))
        return not any(self._fault(extreme, expected, 0.0) for extreme in extremes)

    def _unproved(self, kernel: ir.Kernel) -> Counter[str]:
        return Counter(c.kind for c in verify(kernel).checks if c.status != "proved")

    def _fault(self, kernel: ir.Kernel, expected: Sequence[Sequence[np.ndarray]], tolerance: float = TOLERANCE) -> str:
        """What is wrong with the results of several calls; empty where nothing is."""
        for call, (results, wanted) in enumerate(zip(self._results(kernel), expected, strict=True)):
            for k, (got, want) in enumerate(zip(results, wanted, strict=True)):
                with np.errstate(invalid="ignore"):
                    apart = difference(got, want)
                # Where a large element is squared, and its square is subtracted, its rounding is most of what is left.
                allowed = tolerance * (64 if want.dtype.itemsize < 4 else 4 if SETS[call][2] else 1)
                if apart.largest > allowed or apart.misplaced:
                    return f"output {k} of call {call}: {apart}"
        return ""

    def _writers(self, kernel: ir.Kernel) -> tuple[list[np.ndarray], bool]:
        """Who has written the elements of the outputs in each call, where proofs do not tell of all; and whether some
        had several writers. Calls are run as if by one thread.
        """
        writers: list[np.ndarray] = []
        clash = np.zeros(1, np.int32)
        if self.unproved["written once"]:
            for _ in self._results(_watched(kernel), writers, clash):
                pass
        return writers, bool(clash[0])

    def _results(
        self, kernel: ir.Kernel, writers: list[np.ndarray] | None = None, clash: np.ndarray | None = None
    ) -> Iterator[list[np.ndarray]]:
        """The outputs of one call after the other; scratch memory stays. A watched kernel notes writers and clashes."""
        threads = kernel.block[0] * kernel.block[1] * kernel.block[2]
        host = HostKernel(kernel.name, QUICKLY + _source(_poisoned(kernel)), kernel.grid, threads)
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
            passed = [m for m, a in pairs if a.alias_of is None]
            if writers is not None and clash is not None:
                notes = [np.zeros(a.element_count, np.int32) for a in self.arguments if a.kind == "output"]
                writers += notes
                passed += [*notes, clash]
            host.launch([address(m) for m in passed])
            yield [_logical(m, self.shapes[a.number]) for m, a in pairs if a.kind == "output"]


def _data(shapes: Sequence[ix.hlo.Shape], promises: Collection[str] | None) -> list[list[np.ndarray]]:
    """Arrays with hardly two elements alike, twice the same ones among them; then small ones, in some of which one
    element is large. Where something is promised of integers, they are indices of a scatter.
    """
    sets = []
    for seed, scale, large in SETS:
        rng = np.random.default_rng(seed)
        arrays = []
        for value, shape in zip(make_inputs(shapes, seed), shapes, strict=True):
            array = np.asarray(value)
            if array.dtype.kind == "f" or shape.element_type == "bf16":
                array = (rng.standard_normal(array.shape) * scale).astype(array.dtype)
                if large and array.size:
                    array.reshape(-1)[rng.integers(array.size)] = large
            elif promises is not None:
                array = _indices(array.shape, promises, seed).astype(array.dtype)
            arrays.append(array)
        sets.append(arrays)
    return sets


def _indices(sizes: tuple[int, ...], promises: Collection[str], seed: int) -> np.ndarray:
    """Indices of a scatter as they are promised, on both sides of the rows that there are (12 of them)."""
    rng = np.random.default_rng(seed)
    count = math.prod(sizes)
    if UNIQUE in promises:
        indices = rng.permutation(count)
        indices[-1], indices[np.argmin(indices)] = 0, indices[-1]
    else:
        low, high = ((-3, 15), (0, 10), (0, 14), (0, 1), (10, 12))[seed]
        indices = rng.integers(low, high, count)
        if SORTED in promises:
            indices.sort()
        if seed == 1:  # the last run is one update; the one before begins with a segment
            indices[32:], indices[-1] = 10, 11
    return indices.reshape(sizes)


_EXTREMA = {"maximum": "add", "minimum": "sub"}


def _with_sums(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with sums and differences in place of extrema, which do not tell of every element whether it was taken."""

    def on_value(value: ir.Value) -> ir.Value:
        if isinstance(value, ir.Op) and value.opcode in _EXTREMA and value.type in ("f32", "f64"):
            return replace(value, opcode=_EXTREMA[value.opcode])
        if isinstance(value, ir.Constant) and value.type in ("f32", "f64") and abs(value.value) == float("inf"):
            return replace(value, value=0.0)
        return value

    return _with_values(kernel, on_value)


def _with_values(kernel: ir.Kernel, on_value: Callable[[ir.Value], ir.Value]) -> ir.Kernel:
    """The kernel with its values, and those of its functions, rewritten."""

    def on_body(f: ir.Function | ir.Kernel) -> tuple[ir.Block, Iterator[ir.Value]]:
        return rewrite_values(f.body, on_value), (rewrite_value(r, on_value) for r in f.results)

    return rewrite_bodies(kernel, on_body)


def _source(kernel: ir.Kernel) -> str:
    plain = remove_dead_code(fold_constants(kernel))
    return write(make_thread_loops(replace(plain, buffers=kernel.buffers)), TARGETS["c"])


def _watched(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel, with a note at each element of an output of the thread that has written it, and of another that comes."""
    outputs = [b for b in kernel.buffers if b.role == "output"]
    notes = [
        ir.Buffer(f"writer_{b.name}", "s32", (b.size,), "global", "scratch", 90 + k) for k, b in enumerate(outputs)
    ]
    notes.append(ir.Buffer("clash", "s32", (1,), "global", "scratch", 99))
    threads = kernel.block[0] * kernel.block[1] * kernel.block[2]
    x, y, z, block = (ix.variable(k) for k in range(4))
    me = x + kernel.block[0] * (y + kernel.block[1] * z) + threads * block + 1
    names = {b.name for b in outputs}

    def on_block(inner: ir.Block) -> ir.Block:
        out: list[ir.Statement] = []
        for s in inner:
            if isinstance(s, ir.Store | ir.AtomicUpdate) and s.buffer in names:
                note = ir.Load("s32", f"writer_{s.buffer}", s.index)
                own = (
                    ir.Op("convert", "s32", (ir.IndexValue(me),))
                    if isinstance(s, ir.Store)
                    else ir.Constant("s32", ATOMIC)
                )
                conditions = (ir.Op("ne", "pred", (note, ir.Constant("s32", 0))), ir.Op("ne", "pred", (note, own)))
                out.append(ir.If(conditions, (ir.Store("clash", (constant(0),), ir.Constant("s32", 1)),)))
                out.append(ir.Store(f"writer_{s.buffer}", s.index, own))
            out.append(s)
        return tuple(out)

    return replace(kernel, buffers=(*kernel.buffers, *notes), body=rewrite_blocks(kernel.body, on_block))


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


def _without_choices(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with sums of both numbers in place of selections by data."""

    def on_value(value: ir.Value) -> ir.Value:
        if isinstance(value, ir.Op) and value.opcode == "select" and value.type != "pred":
            condition, *both = value.operands
            return value if isinstance(condition, ir.Within) else ir.Op("add", value.type, tuple(both))
        return value

    return _with_values(kernel, on_value)


def _chooses_by_data(kernel: ir.Kernel) -> bool:
    """Whether conditions of statements or values are of more than indices."""
    bodies = (kernel.body, *(f.body for f in kernel.functions))
    inside = [s for body in bodies for s in ir.statements(body)]
    chosen = [c for s in inside if isinstance(s, ir.If | ir.Break) for c in s.conditions]
    results = [r for f in kernel.functions for r in f.results]
    values = [v for value in (*results, *(w for s in inside for w in values_of(s))) for v in subvalues(value)]
    chosen += [v.operands[0] for v in values if isinstance(v, ir.Op) and v.opcode == "select"]
    return not all(isinstance(c, ir.Within) for c in chosen)


def _extreme(kind: str, sign: int) -> float:
    """The largest number of a type, or the least; of floats, one beyond all data."""
    if kind[0] not in "su":
        return 1e30 * sign if kind != "pred" else int(sign > 0)
    bits = int(kind[1:])
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if kind[0] == "s" else (0, 2**bits - 1)
    return high if sign > 0 else low


def _with_first_value(kernel: ir.Kernel, name: str, sign: int) -> ir.Kernel:
    """The kernel with a variable that begins with the largest number of its kind, or with the least."""

    def on_block(block: ir.Block) -> ir.Block:
        return tuple(poisoned(s) if isinstance(s, ir.Var) and s.name == name else s for s in block)

    def poisoned(s: ir.Var) -> ir.Var:
        return replace(s, initial=ir.Constant(s.type, _extreme(s.type, sign)))

    return replace(kernel, body=rewrite_blocks(kernel.body, on_block))


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
    return all(body.access_map(a).is_empty() for a in body.accesses if a.buffer == "probe")


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


def sample(mutants: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """Some mutants, of all kinds in turns; all where `count` is 0."""
    if not count:
        return list(mutants)
    chance = random.Random(seed)
    by_kind: dict[str, list[Mutant]] = {}
    for m in chance.sample(mutants, len(mutants)):
        by_kind.setdefault(m.kind, []).append(m)
    turns = [kinds[k] for k in range(len(mutants)) for kinds in by_kind.values() if k < len(kinds)]
    return turns[:count]


def check(file: Path, count: int = 0, seed: int = 0) -> tuple[Counter[str], list[Mutant]]:
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
    """Check the mutants of each file."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="+", type=Path)
    options.add_argument("--count", type=int, default=0)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    total: Counter[str] = Counter()
    for file in chosen.files:
        counts, missed = check(file, chosen.count, chosen.seed)
        total += counts
        print(f"{file.stem}: {dict(counts)}", flush=True)
        for m in missed:
            print(f"  missed: {m.kind}: {m.what}", flush=True)
    print(f"seed {chosen.seed}: {dict(total)}")
    return 1 if total["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
