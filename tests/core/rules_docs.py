"""Write what follows from the tables of laws, proofs and examples: docs/rules.md, and the laws that certificates name."""

from __future__ import annotations

from pathlib import Path

import indexing as ix
from constructor_examples import CONSTRUCTORS
from domain_examples import DOMAINS
from indexing import _core
from law_claims import claims
from proofs_by_hand import IN_STEPS, OF_WORDS
from range_examples import RANGES
from rule_examples import RULES
from solver import Proof

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "rules.md"
LAWS = ROOT / "python" / "indexing" / "certificates" / "checker" / "laws.txt"
BY_HAND = {**IN_STEPS, **OF_WORDS}
#: How each law is proved: by hand, or by what its own text claims.
PROOFS = {
    law.name: BY_HAND[law.name] if law.name in BY_HAND else Proof(claims(law.law, law.precondition))
    for law in _core.rules()
}

_HEAD = """# The laws of the simplifier

One row per law, generated from the tables in `rust/core/src/simplify/` by `make docs`. `/` is floordiv and `%` is mod;
integers are unbounded. "max alike" means that the law also holds with min and max exchanged and the order reversed.

- **Holds**: `always`: for all integers of its precondition; `on domain`: the precondition refers to bounds or constraints.
- **Applied**: `always` (its result is never dearer); `if cheaper`; `if smaller`: also at equal cost, if the measure of
  `rust/core/src/simplify/rules/progress.rs` is smaller; `if cheaper with the next`: the result, or what one further law makes
  of it. Laws of constructors, constraints and ranges are applied always.
- **Proof**: an SMT solver proves each law under its precondition for all integers. `text`: it proves the text in this
  table, as parsed by `tests/oracles/law_claims.py`; `steps`: it proves the text in the steps that
  `tests/core/proofs_by_hand.py` lists; `words`: it proves claims listed there, because the text contains prose.
  This proves the laws; that the functions apply them, and only where they hold, is tested.
- **Example**: one of those in `tests/core/*_examples.py`. Each is checked at every point of its domain; there are also
  examples in which the precondition is violated and the law must not apply.

There are {laws} laws: {rules} rules, {constructors} of constructors, {constraints} of constraints, {ranges} of ranges;
{text} are proved from their text, {steps} in steps, {words} by claims for their words.
"""

_GROUPS = (
    (
        "rule",
        "Rules",
        "Applied by the driver; `IndexingMap.explain` names them. Those named `form-..` are tried last, on a simplified result.",
    ),
    ("constructor", "Constructors", "Applied whenever a node is created: no expression violates them."),
    ("constraint", "Constraints", "Applied to the constraints of a map. `oo` means that there is no bound."),
    ("range", "Ranges", "Used to derive bounds and residues of expressions."),
)

_WHEN = ("holds", "applied")


def rules_table() -> str:
    """The whole text of docs/rules.md."""
    laws = _core.rules()
    of = {group: [law for law in laws if law.group == group] for group, _, _ in _GROUPS}
    text = _HEAD.format(
        laws=len(laws),
        rules=len(of["rule"]),
        constructors=len(of["constructor"]),
        constraints=len(of["constraint"]),
        ranges=len(of["range"]),
        text=len(laws) - len(BY_HAND),
        steps=len(IN_STEPS),
        words=len(OF_WORDS),
    )
    for group, title, words in _GROUPS:
        columns = ["id", "operator", "law", "precondition", *_WHEN * (group == "rule"), "proof", "example"]
        text += f"\n## {title}\n\n{words}\n\n| {' | '.join(columns)} |\n{'|---' * len(columns)}|\n"
        text += "".join(_row(law) for law in of[group])
    return text


def _row(law: _core.Law) -> str:
    before, after = _example(law.name)
    cells = (
        f"`{law.name}`",
        law.family,
        f"`{law.law}`",
        law.precondition,
        *(["on domain" if law.needs_domain else "always", law.applied] if law.group == "rule" else []),
        "steps" if law.name in IN_STEPS else "words" if law.name in OF_WORDS else "text",
        f"`{before}` becomes `{after}`" if law.group != "range" else f"`{before}` lies in `{after}`",
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _example(name: str) -> tuple[str, str]:
    if name in RULES:
        steps = ix.IndexingMap.parse(RULES[name].applies[0]).explain()
        step = next(s for s in steps if s.rule == name)
        domain = RULES[name].applies[0].partition(", domain: ")[2]
        return f"{step.before}`, `{domain}", step.after
    if name in CONSTRUCTORS:
        return CONSTRUCTORS[name].applies[0]
    if name in DOMAINS:
        before, after = DOMAINS[name].applies[0]
        return before.partition(", domain: ")[2], after.partition(", domain: ")[2] or after
    text, domain, (lower, upper) = RANGES[name].applies[0]
    return f"{text}`, `{domain}", f"[{lower}, {upper}]"


def laws_text() -> str:
    """The rows of all laws, a line each, by which certificates are checked."""
    return "".join(f"{law.group} | {law.name} | {law.law} | {law.precondition}\n" for law in _core.rules())


if __name__ == "__main__":
    DOCUMENT.write_text(rules_table(), encoding="utf-8")
    LAWS.write_text(laws_text(), encoding="utf-8")
