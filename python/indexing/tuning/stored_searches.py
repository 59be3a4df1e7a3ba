"""Finished searches in a store, looked up by the program's text, so that nothing is planned, emitted or predicted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from indexing._core import __version__
from indexing.runtime.plan_store import KernelRow, Measured, Store, plan_of
from indexing.tuning.trials import Trial, Tuning, TuningTarget

if TYPE_CHECKING:
    from indexing.device.record import Device
    from indexing.tuning.conditions import Conditions
    from indexing.tuning.search import Sampler


@dataclass(frozen=True, slots=True)
class Request:
    """The options of a call of `tune`. Calls with equal options for one fusion have one answer."""

    sampler: Sampler
    budget: int
    seconds: float | None
    device: Device
    conditions: Conditions

    def __str__(self) -> str:
        """The text in the store."""
        given = self.conditions
        return f"{self.sampler} {self.budget} {self.seconds} {given.seed} {self.device!r} {given.key}"


def stored_trials(
    store: Store, key: str, knobs: Sequence[str], request: Request, known: Mapping[str, Measured] | None = None
) -> tuple[Trial, ...] | None:
    """The trials of a finished search; None if it was not finished. `known` are the store's plans, if they were read."""
    before = store.search(key, str(request))
    if before is None:
        return None
    measured = store.plans(key, request.conditions.key) if known is None else known
    if any(text not in measured for text, _ in before):
        return None
    plans = [(plan_of(text), predicted, row_of_plan(measured[text])) for text, predicted in before]
    return tuple(Trial({n: plan[n] for n in knobs}, predicted, m) for plan, predicted, m in plans)


def row_of_plan(measured: Measured) -> Measured:
    """The store's row of a plan, after its search is finished."""
    if measured.state == "started":
        return replace(measured, state="failed", detail="the process ended whenever it was measured")
    return measured


def stored_answers(store: Store, target: TuningTarget, identity: str, request: Request) -> list[Tuning] | None:
    """The answers for all kernels of a target on a device; None unless all are known."""
    kernels = store.kernels(_key(target, identity))
    if kernels is None:
        return None
    answers: list[Tuning] = []
    for number, k in enumerate(kernels):
        trials = stored_trials(store, k.fusion, k.knobs, request)
        if trials is None:
            return None
        answers.append(Tuning(k.fusion, k.name, k.emitter, k.knobs, request.device, trials, target, number))
    return answers


def store_kernels(store: Store, target: TuningTarget, identity: str, kernels: Sequence[Tuning]) -> None:
    """Store the kernels of a target, so that `stored_answers` finds them."""
    store.put_kernels(_key(target, identity), [KernelRow(t.key, t.name, t.emitter, t.knobs) for t in kernels])


def _key(target: TuningTarget, identity: str) -> str:
    """The key: by the program's text, the part of it that is tuned, the device, and the installed version of this package."""
    kind = "one kernel" if target.is_fusion else "program"
    text = "\n".join(
        [
            str(target.part.module),
            kind,
            target.name,
            target.device.dialect,
            identity,
            __version__,
            _package_version(),
        ]
    )
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _package_version() -> str:
    """The sizes and times of the package's files, so that a changed emitter gets no answers of the previous one."""
    folder = Path(__file__).parents[1]
    files = sorted(f for pattern in ("*.py", "_core*") for f in folder.rglob(pattern))
    states = [(f.relative_to(folder).as_posix(), f.stat().st_size, f.stat().st_mtime_ns) for f in files]
    return hashlib.sha256(repr(states).encode()).hexdigest()
