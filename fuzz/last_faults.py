"""Faults by hand in the last form of a kernel, of kinds that no pass makes by being off by one: the verifier must find each.

    python fuzz/last_faults.py tests/golden/*.hlo --count 3 --dialects cuda,c

Prints, for each kind, how many faults were found, and those that were not.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import indexing as ix
from indexing.device.table import portable_device
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.traversal import all_values, rewrite_statement
from indexing.kernels.passes import PASSES, run_pass
from indexing.kernels.targets import TARGETS
from indexing.kernels.verify.lowering import Step, verify_steps

Changed: TypeAlias = "Iterator[ir.Block]"
Change: TypeAlias = "Callable[[ir.Block, ir.Kernel], Changed]"
OTHER = {"add": "sub", "sub": "add", "mul": "add", "maximum": "minimum", "minimum": "maximum", "lt": "le", "gt": "ge"}


# ---------------------------------------------------------------- where


def blocks_with(block: ir.Block, change: Change, kernel: ir.Kernel) -> Changed:
    """The block with a change in it, or in a block of one of its statements, one change each."""
    yield from change(block, kernel)
    for k, s in enumerate(block):
        names = ("body",) if isinstance(s, ir.For) else ("then", "otherwise") if isinstance(s, ir.If) else ()
        for name in names:
            for inner in blocks_with(getattr(s, name), change, kernel):
                yield (*block[:k], replace(s, **{name: inner}), *block[k + 1 :])


def of_statement(change: Callable[[ir.Statement, ir.Kernel], Iterator[Sequence[ir.Statement]]]) -> Change:
    """The change of a block by that of one of its statements."""
    return lambda block, kernel: (
        (*block[:k], *new, *block[k + 1 :]) for k, s in enumerate(block) for new in change(s, kernel)
    )


def of_value(change: Callable[[ir.Value, ir.Kernel], Iterator[ir.Value]]) -> Change:
    """The change of a block by that of one value."""

    def changed(s: ir.Statement, kernel: ir.Kernel) -> Iterator[Sequence[ir.Statement]]:
        for v in dict.fromkeys(all_values(s)):
            for new in change(v, kernel):
                yield (rewrite_statement(s, lambda w: new if w == v else w),)  # noqa: B023

    return of_statement(changed)


# ---------------------------------------------------------------- what


def _across_a_barrier(block: ir.Block, kernel: ir.Kernel) -> Changed:
    for k, (a, b) in enumerate(pairwise(block)):
        other = b if isinstance(a, ir.Barrier) else a
        if isinstance(a, ir.Barrier) != isinstance(b, ir.Barrier) and not isinstance(other, ir.LetIndex | ir.Var):
            yield (*block[:k], b, a, *block[k + 2 :])


def _negated(s: ir.Statement, kernel: ir.Kernel) -> Iterator[Sequence[ir.Statement]]:
    if isinstance(s, ir.If):
        yield (replace(s, then=s.otherwise, otherwise=s.then),)


def _negated_data(v: ir.Value, kernel: ir.Kernel) -> Iterator[ir.Value]:
    if v.type == "pred" and isinstance(v, ir.Op) and v.opcode not in ("not", "convert"):
        yield ir.Op("not", "pred", (v,))


def _not_reset(block: ir.Block, kernel: ir.Kernel) -> Changed:
    for k, s in enumerate(block):
        if isinstance(s, ir.For) and s.body and isinstance(s.body[0], ir.Var):
            yield (*block[:k], s.body[0], replace(s, body=s.body[1:]), *block[k + 1 :])


def _other_identity(s: ir.Statement, kernel: ir.Kernel) -> Iterator[Sequence[ir.Statement]]:
    if isinstance(s, ir.Var) and isinstance(s.initial, ir.Constant) and s.type != "pred":
        yield (replace(s, initial=ir.Constant(s.type, 1)),)
    if isinstance(s, ir.Store) and isinstance(s.value, ir.Constant) and s.value.type != "pred":
        yield (replace(s, value=ir.Constant(s.value.type, 1)),)


def _lost_conversion(v: ir.Value, kernel: ir.Kernel) -> Iterator[ir.Value]:
    if isinstance(v, ir.Op) and len(v.operands) == 1 and v.operands[0].type == v.type:
        yield v.operands[0]


def _other_format(v: ir.Value, kernel: ir.Kernel) -> Iterator[ir.Value]:
    if isinstance(v, ir.Op) and v.format in ("bf16", "f16"):
        yield replace(v, format="f16" if v.format == "bf16" else "bf16")


def _other_lane(s: ir.Statement, kernel: ir.Kernel) -> Iterator[Sequence[ir.Statement]]:
    if isinstance(s, ir.Shuffle):
        yield (replace(s, offset=s.offset // 2),) if s.offset else (replace(s, group=s.group // 2),)


def _misaligned(s: ir.Statement, kernel: ir.Kernel) -> Iterator[Sequence[ir.Statement]]:
    if isinstance(s, ir.Copy | ir.CopyAsync | ir.LoadMatrices):
        yield (replace(s, source_index=s.source_index + 1),)


def _other_stage(v: ir.Value, kernel: ir.Kernel) -> Iterator[ir.Value]:
    if isinstance(v, ir.Load):
        yield from (replace(v, buffer=b) for b in _like(v.buffer, kernel))


def _other_stage_of_copy(s: ir.Statement, kernel: ir.Kernel) -> Iterator[Sequence[ir.Statement]]:
    if isinstance(s, ir.Copy | ir.CopyAsync | ir.LoadMatrices):
        yield from ((replace(s, source=b),) for b in _like(s.source, kernel))
        yield from ((replace(s, destination=b),) for b in _like(s.destination, kernel))


def _like(name: str, kernel: ir.Kernel) -> Iterator[str]:
    own = kernel.buffer(name)
    for b in kernel.buffers:
        is_like = (b.space, b.role, b.element_type, b.size) == (own.space, own.role, own.element_type, own.size)
        if is_like and b.name != name:
            yield b.name


def _no_atomic(s: ir.Statement, kernel: ir.Kernel) -> Iterator[Sequence[ir.Statement]]:
    if (
        isinstance(s, ir.AtomicUpdate)
        and len(s.values) == 1
        and kernel.buffer(s.buffer).element_type == s.values[0].type
    ):
        yield (ir.Store(s.buffer, s.index, s.values[0]),)


def _other_combiner(s: ir.Statement, kernel: ir.Kernel) -> Iterator[Sequence[ir.Statement]]:
    if isinstance(s, ir.AtomicUpdate) and s.opcode:
        yield (replace(s, opcode=OTHER.get(s.opcode, "add")),)


def _lost(*kinds: type) -> Change:
    return of_statement(lambda s, kernel: iter([()] if isinstance(s, kinds) else []))


def _later_wait(s: ir.Statement, kernel: ir.Kernel) -> Iterator[Sequence[ir.Statement]]:
    if isinstance(s, ir.WaitCopies):
        yield (ir.WaitCopies(s.pending + 1),)


def _exchanged_operands(v: ir.Value, kernel: ir.Kernel) -> Iterator[ir.Value]:
    if isinstance(v, ir.Op) and v.opcode in (
        "sub",
        "div",
        "rem",
        "pow",
        "lt",
        "le",
        "gt",
        "ge",
        "shl",
        "pack",
        "atan2",
    ):
        yield replace(v, operands=v.operands[::-1])
    if isinstance(v, ir.Op) and v.opcode == "select":
        yield replace(v, operands=(v.operands[0], v.operands[2], v.operands[1]))


def _other_operation(v: ir.Value, kernel: ir.Kernel) -> Iterator[ir.Value]:
    if isinstance(v, ir.Op) and v.opcode in OTHER and len(v.operands) == 2:
        yield replace(v, opcode=OTHER[v.opcode])


def _other_constant(v: ir.Value, kernel: ir.Kernel) -> Iterator[ir.Value]:
    if isinstance(v, ir.Constant) and v.type != "pred" and isinstance(v.value, int | float):
        yield ir.Constant(v.type, v.value * 2 + 1 if v.value == v.value and abs(v.value) < 1e9 else 0)


def _other_factors(s: ir.Statement, kernel: ir.Kernel) -> Iterator[Sequence[ir.Statement]]:
    if isinstance(s, ir.MatrixMultiply | ir.MultiplyPanels):
        yield (replace(s, left_index=s.left_index + 2),)
    if isinstance(s, ir.LoadMatrices):
        yield (replace(s, transposed=not s.transposed),)


def _wide_index(v: ir.Value, kernel: ir.Kernel) -> Iterator[ir.Value]:
    if isinstance(v, ir.IndexValue):
        yield replace(v, expression=v.expression + 2**31, type="s32") if v.type == "s32" else replace(v, type="s8")


def _other_index(v: ir.Value, kernel: ir.Kernel) -> Iterator[ir.Value]:
    if isinstance(v, ir.IndexValue):
        yield replace(v, expression=v.expression + 1)


def _later_index(s: ir.Statement, kernel: ir.Kernel) -> Iterator[Sequence[ir.Statement]]:
    if isinstance(s, ir.LetIndex) and not isinstance(s.value, ix.SymbolicExpr):
        yield (replace(s, value=ir.Op("add", s.value.type, (s.value, ir.Constant(s.value.type, 1)))),)


def _exchanged_stores(block: ir.Block, kernel: ir.Kernel) -> Changed:
    stores = [k for k, s in enumerate(block) if isinstance(s, ir.Store)]
    for j, k in pairwise(stores):
        a, b = block[j], block[k]
        assert isinstance(a, ir.Store) and isinstance(b, ir.Store)
        if a.value.type == b.value.type and a.value != b.value and a.buffer != b.buffer and k == j + 1:
            yield (*block[:j], replace(a, value=b.value), replace(b, value=a.value), *block[k + 1 :])


KINDS: Mapping[str, Change] = {
    "store across a barrier": _across_a_barrier,
    "branches exchanged": of_statement(_negated),
    "predicate negated": of_value(_negated_data),
    "accumulator not reset": _not_reset,
    "another identity": of_statement(_other_identity),
    "conversion lost": of_value(_lost_conversion),
    "another format": of_value(_other_format),
    "another lane": of_statement(_other_lane),
    "index too narrow": of_value(_wide_index),
    "another index as value": of_value(_other_index),
    "vector misaligned": of_statement(_misaligned),
    "another buffer is loaded": of_value(_other_stage),
    "another stage is copied": of_statement(_other_stage_of_copy),
    "atomic as a store": of_statement(_no_atomic),
    "another atomic": of_statement(_other_combiner),
    "fence lost": _lost(ir.Fence),
    "barrier lost": _lost(ir.Barrier),
    "end of a loop lost": _lost(ir.Break),
    "assignment lost": _lost(ir.Assign),
    "wait for fewer copies": of_statement(_later_wait),
    "operands exchanged": of_value(_exchanged_operands),
    "another operation": of_value(_other_operation),
    "another constant": of_value(_other_constant),
    "other factors": of_statement(_other_factors),
    "index of data": of_statement(_later_index),
    "stores exchanged": _exchanged_stores,
}


# ---------------------------------------------------------------- whether they are found


def steps_of(kernel: ix.Kernel) -> list[Step]:
    """The passes of a kernel."""
    steps, before = [], kernel.ir
    for p in PASSES:
        after = run_pass(p, before, TARGETS[kernel.dialect])
        steps.append((p, before, after))
        before = after
    return steps


def verdict(steps: Sequence[Step], mutant: ir.Kernel) -> str:
    """The first check that finds a fault; "" for none."""
    checks = verify_steps([*steps[:-1], (*steps[-1][:2], mutant)], portable_device("cuda").limits).checks
    return next((str(c) for c in checks if c.status != "proved"), "")


def faults(kernel: ir.Kernel, kind: str) -> list[ir.Kernel]:
    """The kernel with one fault of a kind, in each place."""
    return [replace(kernel, body=b) for b in blocks_with(kernel.body, KINDS[kind], kernel) if b != kernel.body]


def main() -> int:
    """Try the faults of the kernels of files."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="+", type=Path)
    options.add_argument("--count", type=int, default=2, help="faults of a kind in a kernel")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--dialects", default="cuda,c")
    chosen = options.parse_args()
    by_kind: dict[str, Counter[bool]] = {kind: Counter() for kind in KINDS}
    for file in chosen.files:
        for dialect in chosen.dialects.split(","):
            steps = steps_of(ix.emit(ix.hlo.load(file).entry, dialect))
            for kind in KINDS:
                every = faults(steps[-1][2], kind)
                drawn = random.Random(f"{chosen.seed}{kind}{file.stem}").sample(every, min(len(every), chosen.count))
                for mutant in drawn:
                    is_seen = bool(verdict(steps, mutant))
                    by_kind[kind][is_seen] += 1
                    if not is_seen:
                        print(f"missed: {kind}: {file.stem} ({dialect})")
    for kind, counts in by_kind.items():
        print(f"{kind:28}{counts[True]:5} found {counts[False]:5} missed")
    return 1 if any(c[False] for c in by_kind.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
