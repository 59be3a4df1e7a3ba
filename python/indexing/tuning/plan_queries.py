"""The measured plans of stores: queries, JSON, and merging of the stores of several machines or users."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from math import inf
from pathlib import Path
from typing import Any, get_args

from indexing.arguments import of_type, optional, takes
from indexing.display import aligned
from indexing.errors import IndexingError
from indexing.runtime.plan_store import FusionRow, Gain, Measured, State, Store, plan_of, plan_text

FORMAT = "indexing plans 1"
_ABOUT = ("key", "name", "emitter", "device", "version")  # texts of a fusion
_MEASURED = ("state", "attempts", "plan", "seconds", "spread", "gain")  # the fields of a measured plan


@dataclass(frozen=True, slots=True)
class StoredPlan:
    """A plan, the conditions under which it was measured ("" are those of `tune` without options), and what was measured."""

    plan: Mapping[str, int]
    conditions: str
    measured: Measured


@dataclass(frozen=True, slots=True)
class StoredFusion:
    """A fusion with its measured plans. `key` is by content, device and versions; `compile(tuned=True)` takes the `best`."""

    key: str
    name: str
    emitter: str
    device: str
    version: str
    best: Mapping[str, int] | None
    plans: tuple[StoredPlan, ...]


@dataclass(frozen=True, slots=True)
class StoredPlans:
    """The fusions of a store, by name."""

    fusions: tuple[StoredFusion, ...]

    def to_json(self) -> str:
        """All plans as JSON, which `from_json` reads; docs/tuning.md has the schema."""
        return json.dumps({"format": FORMAT, "fusions": [_fusion_json(f) for f in self.fusions]}, indent=1)

    @staticmethod
    @takes(text=of_type(str))
    def from_json(text: str) -> StoredPlans:
        """The plans of `to_json`'s text. Raises IndexingError if it is something else, and says where."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise IndexingError(f"these are no stored plans: {error}") from None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise IndexingError(f'these are no stored plans: expected a JSON object with "format": "{FORMAT}"')
        return StoredPlans(tuple(_fusion_of(f, f"fusions[{k}]") for k, f in enumerate(_list(data, "fusions", ""))))

    def merge_into(self, store: str | Path | None = None) -> int:
        """Add the plans to a store (by default the user's), and return the number of those that were new to it.

        A plan that the store has measured under the same conditions stays as it is there, as does its best plan.
        """
        into, added = Store(store), 0
        for fusion in self.fusions:
            known = {(c, plan) for c, plan, m in into.trials(fusion.key) if m.state != "started"}
            new = [p for p in fusion.plans if (p.conditions, plan_text(p.plan)) not in known]
            if new:
                into.put_fusion(FusionRow(fusion.key, fusion.name, fusion.emitter, fusion.device, fusion.version))
            has_best = into.best(fusion.key) is not None
            for p in new:
                measured = replace(p.measured, gain=None) if has_best else p.measured
                into.put(fusion.key, plan_text(p.plan), measured, p.conditions)
            added += len(new)
        return added

    def cells(self) -> list[list[str]]:
        """A header, then a row for each fusion."""
        head = ["fusion", "emitter", "device", "plans", "best", "gain"]
        return [head, *([f.name, f.emitter, f.device, str(len(f.plans)), *_best_cells(f)] for f in self.fusions)]

    def __str__(self) -> str:
        """`cells` as lines of text."""
        rows = self.cells()
        return "\n".join(aligned(rows, left=len(rows[0])))

    def __iter__(self) -> Iterator[StoredFusion]:
        """The fusions."""
        return iter(self.fusions)

    def __len__(self) -> int:
        """The number of fusions."""
        return len(self.fusions)


@takes(store=optional(of_type(str, Path)), name=optional(of_type(str)), device=optional(of_type(str)))
def stored_plans(store: str | Path | None = None, name: str | None = None, device: str | None = None) -> StoredPlans:
    """The fusions of a store (by default the user's) with all plans that `tune` has measured.

    `name` and `device` select those whose name or device contains the word, in any case. A fusion has the name of the
    computation that was tuned last. Raises IndexingError for a store that cannot be used, and for a named one that isn't there.
    """
    place = Store(store)
    place.check_exists(store is not None)
    chosen = (f for f in place.fusions() if _contains(f.name, name) and _contains(f.device, device))
    return StoredPlans(tuple(_stored_fusion(place, row) for row in chosen))


def _contains(text: str, word: str | None) -> bool:
    return word is None or word.lower() in text.lower()


def _stored_fusion(store: Store, row: FusionRow) -> StoredFusion:
    plans = tuple(StoredPlan(plan_of(plan), c, measured) for c, plan, measured in store.trials(row.fusion))
    return StoredFusion(row.fusion, row.name, row.emitter, row.device, row.version, store.best(row.fusion), plans)


def _best_cells(fusion: StoredFusion) -> tuple[str, str]:
    if fusion.best is None:
        return "", ""
    gains = [p.measured.gain for p in fusion.plans if p.plan == fusion.best and p.measured.gain is not None]
    return " ".join(f"{n}={v}" for n, v in fusion.best.items()), f"{gains[-1].median:.2f}" if gains else ""


def _fusion_json(fusion: StoredFusion) -> dict[str, object]:
    about = {n: getattr(fusion, n) for n in (*_ABOUT, "best")}
    return {**about, "plans": [_plan_json(p) for p in fusion.plans]}


def _plan_json(p: StoredPlan) -> dict[str, object]:
    """A plan; an infinite gain (the default could not be measured) is a text, since JSON has no such number."""
    measured = asdict(p.measured)
    if measured["gain"] is not None:
        measured["gain"] = {n: "infinite" if v == inf else v for n, v in measured["gain"].items()}
    return {"plan": dict(p.plan), "conditions": p.conditions, **measured}


def _fusion_of(data: object, where: str) -> StoredFusion:
    key, name, emitter, device, version = (_text(data, n, where) for n in _ABOUT)
    plans = [_plan_from(p, f"{where}.plans[{k}]") for k, p in enumerate(_list(data, "plans", where))]
    best = _field(data, "best", where)
    if best is not None and not _is_plan(best):
        raise IndexingError(f"these are no stored plans: {where}.best is no plan")
    return StoredFusion(key, name, emitter, device, version, best, tuple(plans))


def _plan_from(data: object, where: str) -> StoredPlan:
    state, attempts, plan, seconds, spread, gain = (_field(data, n, where) for n in _MEASURED)
    is_right = (
        state in get_args(State)
        and _is_plan(plan)
        and isinstance(attempts, int)
        and all(t is None or isinstance(t, int | float) for t in (seconds, spread))
    )
    if not is_right:
        raise IndexingError(f"these are no stored plans: {where} is no measurement of a plan")
    detail, conditions = _text(data, "detail", where), _text(data, "conditions", where)
    measured = Measured(
        state, attempts, seconds, spread, detail, None if gain is None else _gain(gain, f"{where}.gain")
    )
    return StoredPlan(plan, conditions, measured)


def _is_plan(data: object) -> bool:
    return isinstance(data, dict) and all(isinstance(v, int) for v in data.values())


def _gain(data: object, where: str) -> Gain:
    numbers = [inf if v == "infinite" else v for v in (_field(data, n, where) for n in ("median", "low", "high"))]
    if not all(isinstance(n, int | float) for n in numbers):
        raise IndexingError(f"these are no stored plans: {where} is no gain")
    return Gain(*numbers)


def _field(data: object, name: str, where: str) -> Any:
    if not isinstance(data, dict) or name not in data:
        raise IndexingError(f"these are no stored plans: {where or 'the object'} has no {name!r}")
    return data[name]


def _text(data: object, name: str, where: str) -> str:
    value = _field(data, name, where)
    if not isinstance(value, str):
        raise IndexingError(f"these are no stored plans: {where}.{name} is no text")
    return value


def _list(data: object, name: str, where: str) -> list[Any]:
    value = _field(data, name, where)
    if not isinstance(value, list):
        raise IndexingError(f"these are no stored plans: {where or 'the object'}.{name} is no list")
    return value
