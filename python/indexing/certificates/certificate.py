"""Certificates as data: numbered steps, each a claim about the domain with its law and the steps that it follows from."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from indexing.certificates.checker import check
from indexing.certificates.solver import prove
from indexing.certificates.step import Step
from indexing.errors import ParseError

__all__ = ["Certificate", "recorded"]

#: A bound of this size means "unbounded".
UNBOUNDED = (-(2**63), 2**63 - 1)
FORMAT = "indexing certificate 1"
MAX_TEXT = 64 * 2**20


@dataclass(frozen=True)
class Certificate:
    """The proof that `after` is a simplified form of the map `before`: the same domain, and the same results on it.

    `results[i]` is the number of the step by which result i has its new form; None where it stays as it is.
    """

    before: str
    after: str
    steps: tuple[Step, ...]
    results: tuple[int | None, ...] = field(default=())

    def __str__(self) -> str:
        """The steps, one a line."""
        return "\n".join([self.before, *(f"  {step}" for step in self.steps), self.after])

    def to_json(self) -> str:
        """The certificate as JSON; equal certificates give equal texts."""
        steps = [_fields(step) for step in self.steps]
        head = {"format": FORMAT, "before": self.before, "after": self.after, "results": list(self.results)}
        return json.dumps({**head, "steps": steps}, indent=1)

    @staticmethod
    def from_json(text: str) -> Certificate:
        """The certificate that `to_json` wrote. Raises ParseError with the place of what is wrong."""
        if len(text) > MAX_TEXT:
            raise ParseError(f"a certificate has at most {MAX_TEXT} characters, not {len(text)}", 1, 1)
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            line = text.splitlines()[error.lineno - 1] if text.strip() else ""
            raise ParseError(f"not JSON: {error.msg}", error.lineno, error.colno, line[:200]) from None
        except RecursionError:
            raise ParseError("not a certificate: its lists are nested too deeply", 1, 1) from None
        return _Fields(text, data).certificate()

    def check(self, solver: str | None = None) -> None:
        """Check each step; with `solver="z3"` by the solver (extra `[proofs]`), over unbounded integers.

        Raises Refuted with the number of the first step that does not follow, and what is wrong with it.
        """
        if solver not in (None, "z3"):
            raise ValueError(f"expected solver None or 'z3', not {solver!r}")
        if solver:
            prove(self.before, self.steps)
        check(self.before, self.after, self.steps, self.results, by_reasons=not solver)


def _fields(step: Step) -> dict[str, Any]:
    """The fields of a step, without those that it leaves open."""
    found: dict[str, Any] = {"step": step.number, "claim": step.claim, "law": step.law}
    if step.claim != "never":
        found["before"] = step.before
    if step.claim == "equal":
        found["after"] = step.after
    if step.claim == "within":
        found["bounds"] = [step.lower, step.upper]
        if step.modulus > 1:
            found["modulo"] = [step.modulus, step.residue]
    if step.bindings:
        found["bindings"] = dict(step.bindings)
    return {**found, "by": list(step.reasons)}


class _Fields:
    """Data of which each field is checked as it is read."""

    def __init__(self, text: str, data: object) -> None:
        self.text = text
        self.data = data

    def wrong(self, place: str, expected: str, near: str = "") -> ParseError:
        """The error for a field; its line is that of the step it belongs to."""
        at = max(self.text.find(near), 0) if near else 0
        line = self.text.count("\n", 0, at) + 1
        shown = self.text.splitlines()[line - 1] if self.text else ""
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        return ParseError(f"{place}: expected {expected}", line, column, shown[:200])

    def certificate(self) -> Certificate:
        data = self.data
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise self.wrong("certificate", f'an object with "format": "{FORMAT}"')
        steps, results = data.get("steps"), data.get("results")
        if not isinstance(steps, list):
            raise self.wrong("steps", "a list", '"steps"')
        if not isinstance(results, list) or not all(_is(r, int) or r is None for r in results):
            raise self.wrong("results", "a list of numbers of steps or null", '"results"')
        before, after = data.get("before"), data.get("after")
        if not isinstance(before, str) or not isinstance(after, str):
            raise self.wrong("before, after", "the texts of two maps", '"before"')
        return Certificate(before, after, tuple(self.step(k, s) for k, s in enumerate(steps)), tuple(results))

    def step(self, k: int, data: object) -> Step:
        place, near = f"steps[{k}]", f'"step": {k},'
        if not isinstance(data, dict):
            raise self.wrong(place, "an object", near)

        def need(name: str, ok: bool, expected: str) -> None:
            if not ok:
                raise self.wrong(f"{place}.{name}", expected, near)

        need("step", _is(data.get("step"), int) and data["step"] == k, f"the number {k}")
        need("claim", data.get("claim") in ("equal", "within", "never"), '"equal", "within" or "never"')
        need("law", isinstance(data.get("law"), str), "a law's id")
        claim = data["claim"]
        need("before", claim == "never" or isinstance(data.get("before"), str), "an expression")
        need("after", claim != "equal" or isinstance(data.get("after"), str), "an expression")
        by = data.get("by")
        need("by", isinstance(by, list) and all(_is(n, int) for n in by), "a list of numbers of steps")
        bounds, modulo = data.get("bounds", [None, None]), data.get("modulo", [1, 0])
        need("bounds", _is_pair(bounds, int | None) and (claim != "within" or "bounds" in data), "two numbers or null")
        need("modulo", _is_pair(modulo, int) and modulo[0] > 0, "a modulus and a residue")
        letters = data.get("bindings", {})
        fit = isinstance(letters, dict) and all(isinstance(v, str) for v in letters.values())
        need("bindings", fit, "an object of expressions")
        known = {"step", "claim", "law", "before", "after", "bounds", "modulo", "bindings", "by"}
        extra = sorted(set(data) - known)
        need(extra[0] if extra else "", not extra, "no further field")
        before, after = data.get("before", ""), data.get("after", "")
        ends = (bounds[0], bounds[1], modulo[0], modulo[1])
        return Step(k, claim, data["law"], before, after, *ends, tuple(letters.items()), tuple(by or ()))


def _is(found: object, kind: Any) -> bool:
    return isinstance(found, kind) and not isinstance(found, bool)


def _is_pair(found: object, kind: Any) -> bool:
    return isinstance(found, list) and len(found) == 2 and all(_is(x, kind) for x in found)


_Parts: TypeAlias = "tuple[str, list[str], list[int] | None, list[tuple[str, str]], list[int]]"


def recorded(maps: tuple[str, str], steps: list[_Parts], results: list[int | None]) -> Certificate:
    """The certificate that the core recorded."""
    made = [_recorded(k, *parts) for k, parts in enumerate(steps)]
    return Certificate(maps[0], maps[1], tuple(made), tuple(results))


def _recorded(
    number: int,
    law: str,
    texts: list[str],
    ranged: list[int] | None,
    letters: list[tuple[str, str]],
    reasons: list[int],
) -> Step:
    lower, upper, modulus, residue = ranged or [*UNBOUNDED, 1, 0]
    ends = (None if lower == UNBOUNDED[0] else lower, None if upper == UNBOUNDED[1] else upper)
    ends = (lower, upper) if lower == upper else ends
    claim = "never" if not texts else "equal" if len(texts) == 2 else "within"
    before, after = (*texts, "", "")[:2]
    modulus, residue = (modulus, residue) if modulus > 1 else (1, 0)
    return Step(number, claim, law, before, after, *ends, modulus, residue, tuple(letters), tuple(reasons))
