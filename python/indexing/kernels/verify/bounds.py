"""The check of bounds: of loads and stores in buffers, index variables in their intervals, indices as values in those of their
types, calls in functions' domains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indexing._core import IndexingMap, Interval, SymbolicExpr
from indexing.errors import IndexingError, Undecided
from indexing.kernels.ir.accesses import INT64, Accesses, Context, all_accesses
from indexing.kernels.ir.nodes import Buffer, Kernel
from indexing.kernels.verify.check import Check
from indexing.kernels.verify.data import index_of, limits, value_range


def check_bounds(kernel: Kernel) -> Iterator[Check]:
    """One check for each access, claim, index as a narrow value, and call."""
    buffers = {b.name: b for b in kernel.buffers}
    boxes = {f.name: [f.variables[k].interval for k in f.index] for f in kernel.functions}
    for name, body in all_accesses(kernel):
        for claim in body.claims:
            v = body.variables[claim.variable]
            subject = f"{name}: index {v.name}"
            given = claim.place
            place = given if isinstance(given, SymbolicExpr) else index_of(body, given, claim.context)
            if place is not None:
                yield _checked(body, claim.context, [place], [v.interval], subject)
            elif not isinstance(given, SymbolicExpr):
                yield _clamped(value_range(body, given, claim.context), v.interval, subject)
        for a in body.accesses:
            b = buffers[a.buffer]
            where = f"{name}: {a.kind} {a.buffer}{_text(body, a.index)}"
            if len(a.index) not in (1, len(b.dimensions)):
                yield Check("in bounds", where, "refuted", f"the buffer has {len(b.dimensions)} dimensions")
                continue
            box = _box(b, len(a.index))
            if a.width > 1:
                box[-1] = Interval(box[-1].lower, box[-1].upper - a.width + 1)
            yield _checked(body, a.context, a.index, box, where)
            if a.width > 1 and b.space != "local":
                yield _aligned(body, a.index[-1], a.width, where)
        for use in body.indices:
            if use.type != "s64":
                yield _checked(body, use.context, use.index, [limits(use.type)], f"{name}: index as {use.type}")
        for call in body.calls:
            yield _checked(body, call.context, call.index, boxes[call.function], f"{name}: call {call.function}")


def _clamped(known: Interval, promised: Interval, subject: str) -> Check:
    if promised.contains(known):
        return Check("in bounds", subject, "proved")
    reason = f"the value lies in {known}, the variable in {promised}"
    return Check("in bounds", subject, "open", reason)


def _box(buffer: Buffer, rank: int) -> list[Interval]:
    if rank == len(buffer.dimensions):
        return [Interval(0, n - 1) for n in buffer.dimensions]
    return [Interval(0, buffer.size - 1)]


def _text(body: Accesses, index: Sequence[SymbolicExpr]) -> str:
    names = [v.name for v in body.variables]
    try:
        return f"[{', '.join(e.to_text(names) for e in index)}]"
    except Undecided:  # an expression with shared parts, which is too long as a tree
        return "[...]"


def _aligned(body: Accesses, first: SymbolicExpr, width: int, where: str) -> Check:
    if first.is_multiple_of(width) or first.simplify(body.intervals).is_multiple_of(width):
        return Check("in bounds", f"{where}: aligned to {width}", "proved")
    return Check("in bounds", f"{where}: aligned to {width}", "open", "the place is not known to be a multiple")


def _checked(
    body: Accesses, context: Context, results: Sequence[SymbolicExpr], box: Sequence[Interval], subject: str
) -> Check:
    """The check that all results lie in the box on the context's domain: by ranges, else by emptiness of the rest."""
    try:
        m = body.map(context, results).simplify()
        if m.is_known_empty:
            return Check("in bounds", subject, "proved")
        for result, bounds in zip(m.results, box, strict=True):
            if bounds.contains(m.range(result)):
                continue
            for outside in (Interval(INT64.lower, bounds.lower - 1), Interval(bounds.upper + 1, INT64.upper)):
                violations = m.add_constraint(result, outside)
                if not violations.is_empty():
                    return _outside(violations, context, subject)
    except IndexingError as error:
        return Check("in bounds", subject, "open", str(error).splitlines()[0])
    return Check("in bounds", subject, "proved")


def _outside(m: IndexingMap, context: Context, subject: str) -> Check:
    point = next(iter(m.points()))
    if context.is_certain:
        return Check("in bounds", subject, "refuted", f"outside at {point}")
    return Check(
        "in bounds", subject, "open", f"outside at {point}, unless a condition on data keeps threads from there"
    )
