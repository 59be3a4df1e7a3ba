"""The plans that are tried, in order: the default first, then those that a sampler proposes, without repetitions."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Hashable, Iterator
from itertools import chain
from random import Random
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from indexing.errors import IndexingError
from indexing.extras import missing_extra
from indexing.lazy import np

if TYPE_CHECKING:
    from indexing.kernels.knob_space import Columns, KnobSpace
    from indexing.model.prediction import Predictions

Plan: TypeAlias = "dict[str, int]"
#: "predicted" alternates between neighbours of the default, the best predictions, and random plans; "grid" tries all choices,
#: knob by knob; the others are samplers of optuna.
Sampler: TypeAlias = Literal["predicted", "random", "grid", "tpe"]
SAMPLERS: tuple[Sampler, ...] = ("predicted", "random", "grid", "tpe")
HOPELESS = 20.0  # plans with more than this times the best prediction are not tried
MAX_REPEATS = 200  # a search ends after so many known plans were proposed, one after another


def promising_plans(predictions: Predictions) -> list[Plan]:
    """The plans of a grid that can be launched and are not predicted to be hopeless, the best first."""
    order = np.argsort(predictions.time, kind="stable")
    limit = HOPELESS * float(predictions.time.min(initial=np.inf))
    return [
        predictions.plan(k) for k in order.tolist() if np.isfinite(predictions.time[k]) and predictions.time[k] <= limit
    ]


def proposals(
    space: KnobSpace,
    ranked: list[Plan],
    sampler: Sampler,
    seed: int,
    budget: int,
    seconds: Callable[[Plan], float | None],
    kernel: Callable[[Plan], Hashable],
) -> Iterator[Plan]:
    """Yield up to `budget` plans of different kernels. `seconds` returns the measured time of a proposed plan, or None, and
    `kernel` a key that is equal for plans with equal kernels.

    The order is the same for the same seed; that of "tpe" also depends on the measured times.
    """
    if sampler == "predicted":
        source = _predicted_proposals(space, ranked, seed)
    elif sampler == "grid":
        source = iter(space.plans())
    else:
        source = _optuna_proposals(space, ranked, sampler, seed, seconds)
    seen: set[Hashable] = set()
    for plan in chain([space.default], source):
        if (made := kernel(plan)) not in seen:
            seen.add(made)
            yield plan
        if len(seen) >= budget:
            return


def _predicted_proposals(space: KnobSpace, ranked: list[Plan], seed: int) -> Iterator[Plan]:
    others = list(ranked)
    Random(seed).shuffle(others)
    for three in zip(_by_distance_from_default(space, ranked), ranked, others, strict=True):
        yield from three


def candidates(space: KnobSpace, most: int, seed: int) -> Columns:
    """The plans of the grid. If there are more than `most`: half of `most` nearest to the default, and half at random."""
    grid = list(space.plans())
    if len(grid) > most:
        near = _by_distance_from_default(space, grid)
        grid = near[: most // 2] + Random(seed).sample(near[most // 2 :], most - most // 2)
    return {n: np.array([p[n] for p in grid], np.int64) for n in space.names}


def _by_distance_from_default(space: KnobSpace, ranked: list[Plan]) -> list[Plan]:
    """Plans by distance from the default, in steps from one choice of a knob to the next; the best first of equal distance."""
    choices = {n: sorted({space.default[n], *(p[n] for p in ranked)}) for n in space.names}
    places = {n: {value: k for k, value in enumerate(c)} for n, c in choices.items()}

    def steps(plan: Plan) -> int:
        return sum(abs(of[plan[n]] - of[space.default[n]]) for n, of in places.items())

    return sorted(ranked, key=steps)


def check_sampler(sampler: Sampler) -> None:
    """Raise IndexingError if a sampler is optuna's, which is not installed."""
    if sampler not in ("predicted", "grid"):
        _optuna(sampler)


def _optuna(sampler: Sampler) -> Any:
    try:
        return importlib.import_module("optuna")
    except ImportError as failure:
        raise IndexingError(missing_extra(f"the sampler {sampler!r}", "tune", failure)) from failure


def _optuna_proposals(
    space: KnobSpace, ranked: list[Plan], sampler: Sampler, seed: int, seconds: Callable[[Plan], float | None]
) -> Iterator[Plan]:
    optuna = _optuna(sampler)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    hopeful = {tuple(sorted(p.items())) for p in ranked}
    made: dict[str, Callable[[], Any]] = {
        "random": lambda: optuna.samplers.RandomSampler(seed=seed),
        "tpe": lambda: optuna.samplers.TPESampler(seed=seed, n_startup_trials=8),
    }
    study = optuna.create_study(sampler=made[sampler]())
    repeats, seen = 0, set()
    while repeats < MAX_REPEATS:
        trial = study.ask()
        plan = _optuna_plan(space, trial)
        key = tuple(sorted(plan.items()))
        repeats = repeats + 1 if key in seen or key not in hopeful else 0
        seen.add(key)
        if key not in hopeful:
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
            continue
        yield plan
        value = seconds(plan)
        if value is None:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(trial, value)


def _optuna_plan(space: KnobSpace, trial: Any) -> Plan:
    """A plan that optuna proposes, knob by knob. A knob with several lists of choices is one parameter for each list."""
    from indexing.kernels.knob_space import Knob

    plan: Plan = {}
    for knob in space.knobs:
        legal = space.legal(knob.name, plan)
        choices = list(Knob(knob.name, legal, knob.default if knob.default in legal else legal[0]).choices)
        given = [g for c in space.conditions if c.knob == knob.name for g in c.given]
        name = "|".join([knob.name, *(f"{g}={plan[g]}" for g in given)])
        plan[knob.name] = choices[trial.suggest_int(name, 0, len(choices) - 1)]
    return plan
