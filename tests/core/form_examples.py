"""Examples of the rules that choose the cheapest form of a result, as those in rule_examples.py."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RuleExample:
    """Maps to which a rule applies, and maps to which it must not."""

    applies: tuple[str, ...]
    idle: tuple[str, ...]


FORMS: dict[str, RuleExample] = {
    "form-extremum-term-moved-out": RuleExample(
        (
            "(d0) -> (min(d0 * 2, d0 + 5)), domain: d0 in [-99, 99]",
            "(d0, d1) -> (d1 - max(d0 * 2, d0 + 5) * 2), domain: d0 in [-9, 9], d1 in [-9, 9]",
        ),
        ("(d0, d1) -> (min(d0 * 2, d1 + 5)), domain: d0 in [-9, 9], d1 in [-9, 9]",),
    ),
    "form-remainder-expanded": RuleExample(
        (
            "(d0) -> (d0 floordiv 9 + d0 mod 9), domain: d0 in [-120, 119]",
            "(d0) -> ((d0 + d0 mod 9) mod 2), domain: d0 in [-120, 119]",
            "(d0) -> (d0 * 4 - (d0 mod 5) * 5), domain: d0 in [-120, 119]",
        ),
        (
            "(d0, d1) -> (d1 floordiv 9 + d0 mod 9), domain: d0 in [-120, 119], d1 in [-120, 119]",
            "(d0) -> (d0 floordiv 5 + d0 mod 9), domain: d0 in [-120, 119]",
        ),
    ),
    "form-remainder-by-quotient": RuleExample(
        (
            "(d0) -> ((d0 * 3) floordiv 2 + d0 mod 2), domain: d0 in [-99, 99]",
            "(d0) -> ((-d0) mod 6 - (d0 * 5) floordiv 6), domain: d0 in [-99, 99]",
        ),
        (
            "(d0) -> ((d0 * 5) floordiv 3 + d0 mod 3), domain: d0 in [-99, 99]",
            "(d0) -> ((d0 * 3) floordiv 4 + d0 mod 2), domain: d0 in [-99, 99]",
        ),
    ),
    "form-remainders-expanded": RuleExample(
        (
            "(d0) -> (((-d0) mod 3 + ((-d0) mod 6) * 2) floordiv 3), domain: d0 in [-99, 99]",
            "(d0) -> (((-d0) mod 4 + (d0 * 3) mod 8) floordiv 2), domain: d0 in [-120, 119]",
            "(d0) -> (d0 floordiv 3 - (d0 mod 3) * 8 - ((-d0) mod 3) * 9), domain: d0 in [-99, 99]",
        ),
        (
            "(d0, d1) -> (((-d0) mod 3 + ((-d1) mod 6) * 2) floordiv 3), domain: d0 in [-99, 99], d1 in [-9, 9]",
            "(d0) -> (((-d0) mod 3 + ((-d0) mod 6) * 2) floordiv 5), domain: d0 in [-99, 99]",
        ),
    ),
    "form-remainder-expanded-inside": RuleExample(
        (
            "(d0) -> ((((d0 + 5) mod 8) * 3) floordiv 2 + ((d0 + 5) floordiv 8) * 2), domain: d0 in [-9, 19]",
            "(d0) -> ((d0 floordiv 3) * 2 - (((d0 * 3) mod 8) * 3) ceildiv 2), domain: d0 in [0, 7]",
        ),
        (
            "(d0) -> ((((d0 + 5) mod 7) * 3) floordiv 2 + ((d0 + 5) floordiv 7) * 2), domain: d0 in [-9, 19]",
            "(d0, d1) -> ((d0 floordiv 5) * 2 + (d1 + d0 mod 5) floordiv 4), domain: d0 in [0, 5], d1 in [0, 4]",
            "(d0, d1) -> ((d0 floordiv 6) * 2 + (d1 + (d0 mod 6) * 3) floordiv 4), domain: d0 in [0, 7], d1 in [0, 4]",
        ),
    ),
    "form-remainder-beside-half": RuleExample(
        (
            "(d0) -> (d0 mod 3 + (d0 floordiv 6) * 3), domain: d0 in [-99, 99]",
            "(d0) -> ((d0 + 3) mod 9 + ((d0 + 12) floordiv 18) * 9), domain: d0 in [-99, 99]",
            "(d0) -> ((d0 floordiv 72) * 3 + (d0 floordiv 12) mod 3), domain: d0 in [0, 287]",
        ),
        (
            "(d0) -> (d0 mod 3 + (d0 floordiv 9) * 3), domain: d0 in [-99, 99]",
            "(d0) -> (d0 mod 3 + (d0 floordiv 6) * 6), domain: d0 in [-99, 99]",
            "(d0) -> (d0 mod 3 + ((d0 + 2) floordiv 6) * 3), domain: d0 in [-99, 99]",
            "(d0) -> (d0 mod 4 + (d0 floordiv 8) * 4), domain: d0 in [-99, 99]",
        ),
    ),
    "form-quotient-contracted": RuleExample(
        (
            "(d0) -> (5 - d0 + (d0 floordiv 2) * 4 - (d0 floordiv 4) * 8), domain: d0 in [0, 7]",
            "(d0, d1) -> (d0 * 8 + d1 * 4 + (d0 floordiv 4) * 96 + (d1 floordiv 2) * 24), domain: d0 in [0, 11], d1 in [0, 7]",
            "(d0) -> (d0 * 3 + (d0 floordiv 4) * 4), domain: d0 in [-99, 99]",
            "(d0) -> ((d0 mod 2 - d0 floordiv 2) * 2), domain: d0 in [-99, 99]",
        ),
        (
            "(d0) -> (d0 * 3 + (d0 floordiv 4) * 2), domain: d0 in [-99, 99]",
            "(d0, d1) -> (d1 * 3 + (d0 floordiv 4) * 4), domain: d0 in [-99, 99], d1 in [-9, 9]",
        ),
    ),
    "form-terms-moved-out": RuleExample(
        (
            "(d0) -> ((d0 * 3) floordiv 5 - d0), domain: d0 in [-99, 99]",
            "(d0) -> ((d0 * 5) floordiv 3 - d0 - 4), domain: d0 in [-99, 99]",
        ),
        ("(d0) -> ((d0 * 2) floordiv 5 - d0), domain: d0 in [-99, 99]",),
    ),
    "form-terms-moved-in": RuleExample(
        (
            "(d0) -> (d0 * 2 + d0 floordiv 2), domain: d0 in [-99, 99]",
            "(d0) -> (d0 ceildiv 2 - d0), domain: d0 in [-99, 99]",
        ),
        (
            "(d0, d1) -> (d1 * 2 + d0 floordiv 2), domain: d0 in [-9, 9], d1 in [-9, 9]",
            "(d0, d1) -> ((d1 * 2 + d0 floordiv 3) floordiv 41), domain: d0 in [0, 99], d1 in [0, 99]",
            "(d0) -> (d0 * 3 + (d0 floordiv 5) * 2), domain: d0 in [-9, 9]",
        ),
    ),
    "form-residues-moved-in": RuleExample(
        (
            "(d0) -> ((d0 * 4 + (d0 floordiv 3) * 5) mod 41), domain: d0 in [-9, 15]",
            "(d0) -> (((d0 ceildiv 4) * 3 - d0 * 2) mod 8), domain: d0 in [-9, 15]",
        ),
        ("(d0) -> ((d0 * 4 + (d0 floordiv 3) * 5) mod 42), domain: d0 in [-9, 15]",),
    ),
    "form-negative-residues-moved-in": RuleExample(
        (
            "(d0) -> ((d0 + d0 ceildiv 2) mod 2), domain: d0 in [-9, 15]",
            "(d0, d1) -> ((d1 - (d0 + d1 floordiv 8) * 4) mod 9), domain: d0 in [-9, 15], d1 in [-9, 9]",
        ),
        ("(d0) -> ((d0 + d0 ceildiv 2) mod 6), domain: d0 in [-9, 15]",),
    ),
}
