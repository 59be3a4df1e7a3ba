"""Certificates as JSON text."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from indexing.certificates.step import Claims, MapTable, Node, Step
from indexing.errors import ParseError

__all__ = ["read", "written"]

FORMAT = "indexing certificate 3"
QUESTIONS = ("simplify", "compose", "instantiate", "is_empty", "equivalent")
MAX_TEXT = 64 * 2**20
_C = TypeVar("_C", bound=Claims)


def written(of: Claims) -> str:
    """The certificate as JSON, a node, a map and a step a line; equal certificates give equal texts."""
    return _object({"format": FORMAT, **_fields(of)})


def _object(fields: dict[str, Any]) -> str:
    lines = []
    for name, value in fields.items():
        items = [json.dumps(item) for item in value] if name in ("nodes", "maps", "steps") else None
        lines.append(f'"{name}": ' + (json.dumps(value) if items is None else "[\n" + ",\n".join(items) + "\n]"))
    return "{" + ",\n".join(lines) + "}"


def _fields(of: Claims) -> dict[str, Any]:
    """The fields of a certificate, without those that are empty and that most leave open."""
    fields: dict[str, Any] = {"question": of.question, "nodes": list(of.nodes), "maps": [m._asdict() for m in of.maps]}
    fields |= {"results": list(of.results), "steps": [_step_fields(step) for step in of.steps]}
    if of.answer is not None:
        fields["answer"] = of.answer
    if of.values:
        fields["values"] = dict(of.values)
    if of.point:
        fields["point"] = list(of.point)
    if of.parts:
        fields["parts"] = [_fields(part) for part in of.parts]
    return fields


def _step_fields(step: Step[int]) -> dict[str, Any]:
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

    def field(self, place: str, data: dict[str, Any], name: str, empty: Any, ok: Any, expected: str) -> Any:
        """A field of an object, without which it has the value `empty`."""
        value = data.pop(name, empty)
        self.need(place + name, ok(value), expected, f'"{name}"')
        return value

    def certificate(self, place: str, data: dict[str, Any], kind: type[_C]) -> _C:
        def field(*of: Any) -> Any:
            return self.field(place, data, *of)

        question = field("question", None, lambda q: q in QUESTIONS, f"one of {', '.join(QUESTIONS)}")
        nodes = field("nodes", None, _is_list, "a list of nodes")
        maps = field("maps", None, lambda m: _is_list(m, dict), "a list of maps")
        steps = field("steps", None, _is_list, "a list")
        results = field("results", None, lambda r: _is_list(r, int | None), "a list of numbers of steps or null")
        answer = field("answer", None, lambda a: a is None or isinstance(a, bool), "true or false")
        values = field("values", {}, lambda v: _is_object(v, int), "an object of numbers")
        point = field("point", [], lambda p: _is_list(p, int), "a list of numbers")
        parts = field("parts", [], lambda p: _is_list(p, dict) and not (place and p), "certificates without parts")
        self.need(place + next(iter(data), ""), not data, "no further field")
        return kind(
            question,
            tuple(self.node(f"{place}nodes[{k}]", node) for k, node in enumerate(nodes)),
            tuple(self.map(f"{place}maps[{k}].", of) for k, of in enumerate(maps)),
            tuple(self.step(f"{place}steps[{k}]", k, s) for k, s in enumerate(steps)),
            answer,
            tuple(results),
            tuple(values.items()),
            tuple(point),
            tuple(self.certificate(f"parts[{k}].", part, kind) for k, part in enumerate(parts)),
        )

    def node(self, place: str, data: Any) -> Node:
        """A node; the checker finds what is no node of its kind."""
        is_node = _is_list(data) and len(data) == 3 and _is_text(data[0]) and all(_is_list(x, int) for x in data[1:])
        self.need(place, is_node, "a kind, numbers, and numbers of nodes", json.dumps(data))
        return data[0], tuple(data[1]), tuple(data[2])

    def map(self, place: str, data: dict[str, Any]) -> MapTable:
        def field(*of: Any) -> Any:
            return self.field(place, data, *of)

        kind = field("kind", None, _is_text, "the kind of a map")
        names = field("names", None, lambda n: _is_list(n, list) and len(n) == 3, "three lists of names")
        self.need(place + "names", all(_is_list(group, str) for group in names), "lists of names", '"names"')
        results = field("results", None, lambda r: _is_list(r, int), "a list of numbers of nodes")
        domain = field("domain", None, lambda d: _is_list(d, list), "a list of constraints")
        are_ranges = all(_is_list(c, int | None) and len(c) == 3 and c[0] is not None for c in domain)
        self.need(place + "domain", are_ranges, "a node and two numbers or null for each constraint", '"domain"')
        self.need(place + next(iter(data), ""), not data, "no further field")
        return MapTable(kind, tuple(map(tuple, names)), tuple(results), tuple(map(tuple, domain)))

    def step(self, place: str, k: int, data: Any) -> Step[int]:
        near = f'"step": {k},'
        self.need(place, isinstance(data, dict), "an object", near)

        def field(name: str, empty: Any, ok: Any, expected: str) -> Any:
            value = data.pop(name, empty)
            self.need(f"{place}.{name}", ok(value), expected, near)
            return value

        field("step", None, lambda n: _is(n, int) and n == k, f"the number {k}")
        claim = field("claim", None, lambda c: c in ("equal", "within", "never"), '"equal", "within" or "never"')
        law = field("law", None, _is_text, "a law's id")
        is_number = [_is_none if claim == "never" else _is_number, _is_number if claim == "equal" else _is_none]
        before = field("before", None, is_number[0], "the number of a node where the claim has one")
        after = field("after", None, is_number[1], "the number of a node where the claim has one")
        pair = [None, None] if claim != "within" else None
        bounds = field("bounds", pair, lambda b: _is_list(b, int | None) and len(b) == 2, "two numbers or null")
        modulo = field("modulo", [1, 0], lambda m: _is_list(m, int) and len(m) == 2 and m[0] > 0, "modulus and residue")
        letters = field("bindings", {}, lambda b: _is_object(b, int), "an object of numbers of nodes")
        by = field("by", None, lambda b: _is_list(b, int), "a list of numbers of steps")
        self.need(f"{place}.{next(iter(data), '')}", not data, "no further field", near)
        ends = (bounds[0], bounds[1], modulo[0], modulo[1])
        return Step(k, claim, law, before, after, *ends, tuple(letters.items()), tuple(by))


def _is(value: object, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return _is(value, int)


def _is_none(value: object) -> bool:
    return value is None


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_list(value: object, kind: Any = object) -> bool:
    return isinstance(value, list) and all(_is(x, kind) for x in value)


def _is_object(value: object, kind: Any) -> bool:
    return isinstance(value, dict) and all(_is(x, kind) for x in value.values())
