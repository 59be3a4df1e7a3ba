"""Verification of a kernel and of all passes that it goes through, up to the form that the target writes as source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import TypeAlias

from indexing.device.limits import Limits
from indexing.kernels.ir.nodes import Kernel
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.passes import PASSES, Pass, TargetFeatures, run_pass
from indexing.kernels.verify import Verification, check_memory, check_threads
from indexing.kernels.verify.bounds import check_bounds
from indexing.kernels.verify.check import Check
from indexing.kernels.verify.initialized import check_initialized
from indexing.kernels.verify.last_block import check_last_block
from indexing.kernels.verify.once import check_written_once
from indexing.kernels.verify.order import compare_order, has_thread_loops
from indexing.kernels.verify.races import check_races
from indexing.kernels.verify.reductions import check_reductions
from indexing.kernels.verify.translation import compare_accesses
from indexing.kernels.verify.typed import check_types
from indexing.kernels.verify.uniform import check_barriers
from indexing.kernels.verify.values import compare_values

OF_KERNELS: Mapping[str, Callable[[Kernel], Iterable[Check]]] = {  # checks of a kernel at any stage
    "typed": check_types,
    "in bounds": check_bounds,
    "written once": check_written_once,
    "initialized": check_initialized,
    "barrier": check_barriers,
    "race": lambda kernel: [*check_races(kernel), *check_last_block(kernel)],
}
KEPT = 256  # comparisons are kept: most passes do the same for several targets
Step: TypeAlias = "tuple[Pass, Kernel, Kernel]"  # a pass, and the kernel before and after it


def verify_lowering(kernel: Kernel, target: TargetFeatures, limits: Limits) -> Verification:
    """The checks of the last form of a kernel, and of each pass: that accesses, and their order, are the same after it.

    Barriers and races are checked on the last form with parallel threads, meetings of blocks also on the last one. A check
    that is not proved names the pass after which it is not, if it was before.
    """
    return verify_steps(list(_steps(kernel, target)), limits)


def verify_steps(steps: Sequence[Step], limits: Limits) -> Verification:
    """The checks of the last kernel of some steps, and of each step."""
    last = steps[-1][2]
    parallel = next((after for _, _, after in reversed(steps) if not has_thread_loops(after)), steps[0][1])
    types = [*_check_launch(last, limits), *check_types(last)]
    if any(c.status == "refuted" for c in types):
        return Verification(tuple(_blamed(types, steps)))
    checks = [*types, *check_memory(last), *check_threads(parallel)]
    if parallel is not last:  # fences are needed among blocks whose threads are loops, too
        checks += check_last_block(last)
    for step in steps:
        checks += compare(*step)
    return Verification(tuple(_blamed(list(_kept(checks, steps)), steps)))


@lru_cache(maxsize=KEPT)
def compare(of: Pass, before: Kernel, after: Kernel) -> tuple[Check, ...]:
    """The checks of one pass: the same accesses, in the same order, of values that the same operations compute; a group
    reduction combines all values of its group.
    """
    return (
        *compare_accesses(before, after, of),
        *compare_order(before, after, of.name),
        *(() if of.rewrites_values else compare_values(before, after, of.name)),
        *check_reductions(before, after, of.name, of.form == "sequential"),
    )


def _steps(kernel: Kernel, target: TargetFeatures) -> Iterator[Step]:
    for p in PASSES:
        after = run_pass(p, kernel, target)
        yield p, kernel, after
        kernel = after


def _kept(checks: Sequence[Check], steps: Sequence[Step]) -> Iterator[Check]:
    """The checks; the open ones of single writes as proved, if they are for the kernel before it was made for the target, and
    each pass since then keeps the stores.
    """
    not_same = {c.subject.split()[-1] for c in checks if c.kind == "same accesses" and c.status != "proved"}
    early = next((k for p, k, _ in steps if p.form != "logical"), None)
    is_open = any(c.kind == "written once" and c.status == "open" for c in checks)
    proved = [c.subject for c in check_written_once(early) if c.status == "proved"] if is_open and early else []
    for c in checks:
        if (c.kind, c.status) == ("written once", "open") and c.subject in proved:
            if c.subject.removeprefix("output ") not in not_same:
                yield replace(c, status="proved", reason="before the passes for the target, which keep all stores")
                continue
        yield c


def _blamed(checks: Sequence[Check], steps: Sequence[Step]) -> Iterator[Check]:
    """The checks, those that are not proved with the name of the pass that is to blame."""
    passes: dict[str, str] = {}
    for c in checks:
        if c.status == "proved" or c.kind not in OF_KERNELS:
            yield c
            continue
        if c.kind not in passes:
            passes[c.kind] = _first_pass_without_proof(OF_KERNELS[c.kind], steps)
        name = passes[c.kind]
        yield replace(c, reason=f"{c.reason} (since the pass {name})") if name else c


def _first_pass_without_proof(check: Callable[[Kernel], Iterable[Check]], steps: Sequence[Step]) -> str:
    """The last pass before which all checks were proved; empty if they were not for the kernel as it was built."""
    for p, before, _ in reversed(steps):
        if all(c.status == "proved" for c in check(before)):
            return p.name
    return ""


def _check_launch(kernel: Kernel, limits: Limits) -> Iterator[Check]:
    """The check of threads, sizes of block and grid, and shared memory, which is known after group reductions are lowered."""
    shared = sum(prod(b.dimensions) * storage_bytes(b.element_type) for b in kernel.buffers if b.space == "shared")
    exceeded = limits.exceeded(kernel.grid, kernel.block, shared)
    subject = f"grid {kernel.grid}, block {kernel.block}, {shared} bytes of shared memory"
    yield Check("launch", subject, "refuted" if exceeded else "proved", exceeded)
