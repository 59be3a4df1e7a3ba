"""Faults that a pass could make: the kernel after it with a wrong bound, a lost term, an index off by one, a store less, or two
accesses in the other order. The validation of passes must find each.

    python fuzz/pass_mutants.py tests/golden/*.hlo --count 20 --seed 1
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path

import indexing as ix
from indexing._core import SymbolicExpr, constant
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.accesses import entry_accesses
from indexing.kernels.ir.traversal import (
    expressions_of,
    indices_of,
    replace_statements,
    rewrite_statement,
    subvalues,
    values_of,
)
from indexing.kernels.passes import PASSES, Pass
from indexing.kernels.targets import TARGETS
from indexing.kernels.verify import verify
from indexing.kernels.verify.lowering import compare
from kernel_mutants import PROBE, REACHED, Fault, in_block


@dataclass(frozen=True)
class Step:
    """A pass, and a kernel that it changes."""

    file: str
    dialect: str
    of: Pass
    before: ir.Kernel
    after: ir.Kernel


def steps(files: Sequence[Path], dialects: Sequence[str]) -> Iterator[Step]:
    """All steps of the kernels of files that change something."""
    for file in files:
        for dialect in dialects:
            kernel = ix.emit(ix.hlo.load(file).entry, dialect).ir
            for p in PASSES:
                after = p.rewrite(kernel, TARGETS[dialect])
                if after != kernel:
                    yield Step(file.stem, dialect, p, kernel, after)
                kernel = after


@dataclass(frozen=True, eq=False)
class PassFault:
    """A kernel with one fault. `probe` stores to a buffer of that name where the fault makes a difference; None: everywhere."""

    what: str
    kernel: ir.Kernel
    probe: ir.Kernel | None = None

    def is_reached(self) -> bool:
        """Whether some thread comes to where the fault makes a difference."""
        if self.probe is None:
            return True
        body = entry_accesses(self.probe)
        return any(not body.access_map(a).is_empty() for a in body.accesses if a.buffer == PROBE.name)


def drawn(faults: Iterable[PassFault], count: int, seed: str) -> Iterator[PassFault]:
    """So many of the faults that are reached, at random; 0: all of them."""
    shuffled = [*faults]
    random.Random(seed).shuffle(shuffled)
    return islice((f for f in shuffled if f.is_reached()), count or None)


def faults(kernel: ir.Kernel) -> Iterator[PassFault]:
    """All faults in the accesses of memory that is not a thread's own, whether or not they are reached."""
    local = {b.name for b in kernel.buffers if b.space == "local"}

    def change(s: ir.Statement) -> Iterator[Fault]:
        if isinstance(s, ir.For) and _accesses(s.body, local):
            turn = ir.Within(ix.variable(s.variable) - (s.stop - 1), 0, 0)
            last = replace(s, body=(ir.If((turn,), _probed(s.body, local)),))
            yield Fault("", f"stop {s.stop} by -1", (replace(s, stop=s.stop - 1),), ((last,),))
            yield _fault(f"stop {s.stop} by 1", replace(s, stop=s.stop + 1))
        elif isinstance(s, ir.If) and _accesses((*s.then, *s.otherwise), local):
            yield from _bounds(s)
        elif isinstance(s, ir.Store | ir.Copy | ir.CopyAsync) and _accesses((s,), local):
            yield _fault(f"without {s}")
        if not isinstance(s, ir.For | ir.If) and _accesses((s,), local):
            yield from _indices(s, kernel, local)

    for fault in in_block(kernel.body, change):
        probe = replace(kernel, body=fault.probes[0], buffers=(*kernel.buffers, PROBE))
        yield PassFault(fault.what, replace(kernel, body=fault.block), probe)
    yield from _swapped(kernel, local)


def _probed(block: ir.Block, local: set[str]) -> ir.Block:
    """The control flow of a block, with a probe at each statement that accesses memory that is not local."""
    control = ir.For | ir.If | ir.Let | ir.LetIndex
    return replace_statements(
        block,
        lambda s: (
            [REACHED] * (not isinstance(s, ir.For | ir.If) and _accesses((s,), local)) + [s] * isinstance(s, control)
        ),
    )


def _fault(what: str, *statements: ir.Statement) -> Fault:
    return Fault("", what, statements)


def _bounds(s: ir.If) -> Iterator[Fault]:
    for k, c in enumerate(s.conditions):
        if isinstance(c, ir.Within):
            for name in ("lower", "upper"):
                bound = getattr(c, name)
                for by in () if bound is None else (-1, 1):
                    changed = replace(c, **{name: bound + by})
                    edge = max(bound, bound + by) if name == "upper" else min(bound, bound + by)
                    others = (*s.conditions[:k], *s.conditions[k + 1 :])
                    probe = ir.If((*others, ir.Within(c.expression, edge, edge)), (REACHED,))
                    mutant = replace(s, conditions=(*s.conditions[:k], changed, *s.conditions[k + 1 :]))
                    yield Fault("", f"{name} bound of {c} by {by}", (mutant,), ((probe,),))


def _accesses(block: ir.Block, local: set[str]) -> bool:
    """Whether a block accesses memory that is not local."""
    for s in ir.statements(block):
        if isinstance(s, ir.Store) and s.buffer not in local:
            return True
        if isinstance(s, ir.Copy | ir.CopyAsync) and not {s.source, s.destination} <= local:
            return True
        if any(isinstance(v, ir.Load) and v.buffer not in local for value in values_of(s) for v in subvalues(value)):
            return True
    return False


def _indices(s: ir.Statement, kernel: ir.Kernel, local: set[str]) -> Iterator[Fault]:
    """The statement with an index of another element, in place of each index of memory that is not local."""
    for e in dict.fromkeys(_own_indices(s, local)):
        others = [(e + 1, REACHED)]
        for v in e.used_variables():
            if len(kernel.variables[v].interval) > 1:
                places = [constant(0) if k == v else ix.variable(k) for k in range(len(kernel.variables))]
                others.append((e.replace_variables(places), ir.If((ir.Within(ix.variable(v), 1, None),), (REACHED,))))
        for other, probe in others:
            changed = rewrite_statement(s, lambda v: v, lambda index: other if index == e else index)  # noqa: B023
            if changed != s:
                yield Fault("", f"{e} becomes {other}", (changed,), ((probe,),))


def _own_indices(s: ir.Statement, local: set[str]) -> Iterator[SymbolicExpr]:
    if isinstance(s, ir.Store | ir.AtomicUpdate | ir.FetchAdd) and s.buffer not in local:
        yield from indices_of(s)
    if isinstance(s, ir.Copy):
        yield s.source_index if s.source not in local else s.destination_index
    if isinstance(s, ir.CopyAsync):
        yield from indices_of(s)
    for value in values_of(s):
        for part in subvalues(value):
            if isinstance(part, ir.Load) and part.buffer not in local:
                yield from expressions_of(part)


def _swapped(kernel: ir.Kernel, local: set[str]) -> Iterator[PassFault]:
    """Kernels in which a barrier, or accesses of shared memory, come in the other order."""
    shared = {b.name for b in kernel.buffers if b.space == "shared"}

    def touches(s: ir.Statement) -> bool:
        return _accesses((s,), local | {b.name for b in kernel.buffers} - shared)

    def on_block(block: ir.Block) -> Iterator[ir.Block]:
        for k, (a, b) in enumerate(pairwise(block)):
            if touches(a) and touches(b) and _writes(a, shared) != _writes(b, shared):
                yield (*block[:k], b, a, *block[k + 2 :])

    for body in on_block(kernel.body):
        yield PassFault("accesses of shared memory swapped", replace(kernel, body=body))


def _writes(s: ir.Statement, names: set[str]) -> bool:
    return any(isinstance(t, ir.Store) and t.buffer in names for t in ir.statements((s,)))


def verdict(step: Step, mutant: ir.Kernel) -> str:
    """The check that finds a mutant; empty where none does."""
    for c in (*compare(step.of, step.before, mutant), *verify(mutant).checks):
        if c.status != "proved":
            return str(c)
    return ""


def check(steps: Sequence[Step], count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """The numbers of mutants that are found, by pass, of up to `count` each; and those that are missed."""
    by_pass: dict[str, dict[PassFault, Step]] = {}
    for step in steps:
        by_pass.setdefault(step.of.name, {}).update((f, step) for f in faults(step.after))
    counts, missed = Counter[str](), []
    for name, steps_of in by_pass.items():
        for fault in drawn(steps_of, count, f"{seed}{name}"):
            step = steps_of[fault]
            if verdict(step, fault.kernel):
                counts[name] += 1
            else:
                missed.append(f"{name}: {step.file} ({step.dialect}): {fault.what}")
    return counts, missed


def main() -> int:
    """Check the mutants of the kernels of files."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="+", type=Path)
    options.add_argument("--count", type=int, default=20, help="mutants a pass; 0: all")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--dialects", default="c,cuda,opencl")
    chosen = options.parse_args()
    counts, missed = check(list(steps(chosen.files, chosen.dialects.split(","))), chosen.count, chosen.seed)
    print("\n".join([*missed, f"seed {chosen.seed}: found {dict(counts)}, missed {len(missed)}"]))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
