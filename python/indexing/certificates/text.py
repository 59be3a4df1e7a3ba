"""Nodes and maps of certificates as text, which the package reads back; every bracket that may matter is written."""

from __future__ import annotations

from collections.abc import Sequence

from indexing.certificates.step import MapTable, Node

__all__ = ["text_of_map", "texts"]

#: Of one expression.
MAX_TEXT = 100_000
UNBOUNDED = -(2**63), 2**63 - 1
BRACKETS = "({})", "[{}]", "{{{}}}"


def texts(nodes: Sequence[Node], names: Sequence[str]) -> list[str]:
    """The text of each node, or its number where that is too long, with these names of variables, then v0, .."""
    made: list[str] = []
    for place, (kind, numbers, operands) in enumerate(nodes):
        parts = [made[k] for k in operands]
        tight = [
            f"({t})" if nodes[k][0] not in ("variable", "min", "max") and not t.isdecimal() else t
            for k, t in zip(operands, parts, strict=True)
        ]
        if kind == "variable":
            made.append(names[numbers[0]] if numbers[0] < len(names) else f"v{numbers[0]}")
        elif kind == "constant":
            made.append(str(numbers[0]))
        elif kind == "sum":
            made.append(_sum(numbers, parts, tight))
        elif kind in ("min", "max"):
            made.append(f"{kind}({', '.join(parts)})")
        else:
            made.append({"product": " * "}.get(kind, f" {kind} ").join(tight))
        if len(made[-1]) > MAX_TEXT:  # what is shared is written again and again
            made[-1] = f"(node {place})"
    return made


def _sum(numbers: Sequence[int], parts: Sequence[str], tight: Sequence[str]) -> str:
    """The text of a sum: positive terms first, its constant last."""
    constant, *factors = numbers
    terms = [
        (
            c,
            f"{t} * {abs(c)}"
            if abs(c) != 1
            else t
            if " " not in p or (p[-1] == ")" and p[:3] in ("min", "max"))
            else f"({p})",
        )
        for c, p, t in zip(factors, parts, tight, strict=True)
    ]
    terms = sorted(terms, key=lambda term: term[0] < 0)
    terms += [(constant, str(abs(constant)))] if constant or not terms else []
    whole = " ".join(f"{'-' if c < 0 else '+'} {t}" for c, t in terms)
    return whole.removeprefix("+ ") if whole.startswith("+") else "-" + whole[2:]


def text_of_map(of: MapTable, nodes: Sequence[Node]) -> str:
    """The text of a map."""
    if of.kind != "defined":
        return of.kind.upper()
    named = [name for group in of.names for name in group]
    written = texts(nodes, named)
    groups = [form.format(", ".join(group)) for form, group in zip(BRACKETS, of.names, strict=True)]
    head = groups[0] + "".join(g for g, names in zip(groups[1:], of.names[1:], strict=True) if names)
    ends = ([u if e is None else e for e, u in zip(ends, UNBOUNDED, strict=True)] for _, *ends in of.domain)
    domain = ", ".join(f"{written[e]} in {pair}" for (e, *_), pair in zip(of.domain, ends, strict=True))
    results = ", ".join(written[e] for e in of.results)
    return f"{head} -> ({results})" + (f", domain: {domain}" if domain else "")
