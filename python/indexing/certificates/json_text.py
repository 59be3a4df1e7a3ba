"""Certificates as JSON text."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from indexing.certificates.step import Claims, Step
from indexing.errors import ParseError

__all__ = ["read", "written"]

FORMAT = "indexing certificate 2"
QUESTIONS = ("simplify", "compose", "instantiate", "is_empty", "equivalent")
MAX_TEXT = 64 * 2**20
_C = TypeVar("_C", bound=Claims)


def written(of: Claims) -> str:
    """The certificate as JSON; equal certificates give equal texts."""
    return json.dumps({"format": FORMAT, **_fields(of)}, indent=1)


def _fields(of: Claims) -> dict[str, Any]:
    """The fields of a certificate, without those that are empty and that most leave open."""
    fields: dict[str, Any] = {"question": of.question, "before": of.before, "after": of.after}
    fields["results"] = list(of.results)
    fields["steps"] = [_step_fields(step) for step in of.steps]
    if of.maps:
        fields["maps"] = list(of.maps)
    if of.values:
        fields["values"] = dict(of.values)
    if of.after == "false":
        fields["point"] = list(of.point)
    if of.parts:
        fields["parts"] = [_fields(part) for part in of.parts]
    return fields


def _step_fields(step: Step) -> dict[str, Any]:
    fields: dict[str, Any] = {"step": step.number, "claim": step.claim, "law": step.law}
    if step.claim != "never":
        fields["before"] = step.before
    if step.claim == "equal":
        fields["after"] = step.after
    if step.claim == "within":
        fields["bounds"] = [step.lower, step.upper]
        if step.modulus > 1:
            fields["modulo"] = [step.modulus, step.residue]
    if step.bindings:
        fields["bindings"] = dict(step.bindings)
    return {**fields, "by": list(step.reasons)}


def read(text: str, kind: type[_C]) -> _C:
    """The certificate that `written` wrote, of this class. Raises ParseError with the place of what is wrong."""
    if len(text) > MAX_TEXT:
        raise ParseError(f"a certificate has at most {MAX_TEXT} characters, not {len(text)}", 1, 1)
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        line = [*text.split("\n"), ""][error.lineno - 1]
        raise ParseError(f"not JSON: {error.msg}", error.lineno, error.colno, line[:200]) from None
    except RecursionError:
        raise ParseError("not a certificate: its lists are nested too deeply", 1, 1) from None
    except ValueError as error:
        raise ParseError(f"not a certificate: {error}", 1, 1) from None
    reader = _Reader(text)
    reader.need("certificate", isinstance(data, dict) and data.pop("format", None) == FORMAT, f'"format": "{FORMAT}"')
    return reader.certificate("", data, kind)


class _Reader:
    """Data of which each field is checked as it is read."""

    def __init__(self, text: str) -> None:
        self.text = text

    def need(self, place: str, ok: bool, expected: str, near: str = "") -> None:
        """Raises ParseError unless a field is as expected; the line is that where `near` stands first."""
        if ok:
            return
        at = max(self.text.find(near), 0)
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        shown = self.text.splitlines()[line - 1] if self.text else ""
        raise ParseError(f"{place}: expected {expected}", line, column, shown[:200])

    def certificate(self, place: str, data: dict[str, Any], kind: type[_C]) -> _C:
        def field(name: str, empty: Any, ok: Any, expected: str) -> Any:
            value = data.pop(name, empty)
            self.need(place + name, ok(value), expected, f'"{name}"')
            return value

        question = field("question", None, lambda q: q in QUESTIONS, f"one of {', '.join(QUESTIONS)}")
        before, after = (field(name, None, _is_text, "a text") for name in ("before", "after"))
        steps = field("steps", None, _is_list, "a list")
        results = field("results", None, lambda r: _is_list(r, int | None), "a list of numbers of steps or null")
        maps = field("maps", [], lambda m: _is_list(m, str), "a list of texts")
        values = field("values", {}, lambda v: _is_object(v, int), "an object of numbers")
        point = field("point", [], lambda p: _is_list(p, int), "a list of numbers")
        parts = field("parts", [], lambda p: _is_list(p, dict) and not (place and p), "certificates without parts")
        self.need(place + next(iter(data), ""), not data, "no further field")
        return kind(
            question,
            before,
            after,
            tuple(self.step(f"{place}steps[{k}]", k, s) for k, s in enumerate(steps)),
            tuple(results),
            tuple(maps),
            tuple(values.items()),
            tuple(point),
            tuple(self.certificate(f"parts[{k}].", part, kind) for k, part in enumerate(parts)),
        )

    def step(self, place: str, k: int, data: Any) -> Step:
        near = f'"step": {k},'
        self.need(place, isinstance(data, dict), "an object", near)

        def field(name: str, empty: Any, ok: Any, expected: str) -> Any:
            value = data.pop(name, empty)
            self.need(f"{place}.{name}", ok(value), expected, near)
            return value

        field("step", None, lambda n: _is(n, int) and n == k, f"the number {k}")
        claim = field("claim", None, lambda c: c in ("equal", "within", "never"), '"equal", "within" or "never"')
        law = field("law", None, _is_text, "a law's id")
        before = field("before", "" if claim == "never" else None, _is_text, "an expression")
        after = field("after", None if claim == "equal" else "", _is_text, "an expression")
        pair = [None, None] if claim != "within" else None
        bounds = field("bounds", pair, lambda b: _is_list(b, int | None) and len(b) == 2, "two numbers or null")
        modulo = field("modulo", [1, 0], lambda m: _is_list(m, int) and len(m) == 2 and m[0] > 0, "modulus and residue")
        letters = field("bindings", {}, lambda b: _is_object(b, str), "an object of expressions")
        by = field("by", None, lambda b: _is_list(b, int), "a list of numbers of steps")
        self.need(f"{place}.{next(iter(data), '')}", not data, "no further field", near)
        ends = (bounds[0], bounds[1], modulo[0], modulo[1])
        return Step(k, claim, law, before, after, *ends, tuple(letters.items()), tuple(by))


def _is(value: object, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_list(value: object, kind: Any = object) -> bool:
    return isinstance(value, list) and all(_is(x, kind) for x in value)


def _is_object(value: object, kind: Any) -> bool:
    return isinstance(value, dict) and all(_is(x, kind) for x in value.values())
