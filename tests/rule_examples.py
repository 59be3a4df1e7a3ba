"""Examples of every law: where it applies, and where it must not, its precondition being broken by one.

- Rules: maps; where the rule applies, the steps of `explain` name it.
- Constructors: a result as written over d0, d1, .., and as it is printed once made; where the law does not apply, the two
  are the same.
- Constraints: a domain as written, and as it is printed once simplified.
- Ranges: an expression on a domain, and its range.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RuleExample:
    """Maps to which a rule applies, and maps to which it must not."""

    applies: tuple[str, ...]
    idle: tuple[str, ...]


@dataclass(frozen=True)
class MadeExample:
    """`(as written, as made)` for results where a law applies, and for others, which stay as they are written."""

    applies: tuple[tuple[str, str], ...]
    idle: tuple[str, ...]


@dataclass(frozen=True)
class DomainExample:
    """`(as written, as simplified)` for domains where a law applies, and where it does not."""

    applies: tuple[tuple[str, str], ...]
    idle: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class RangeExample:
    """`(expression, domain, range)` where a law applies, and where it does not."""

    applies: tuple[tuple[str, str, tuple[int, int]], ...]
    idle: tuple[tuple[str, str, tuple[int, int]], ...]


RULES: dict[str, RuleExample] = {
    "single-value": RuleExample(
        (
            "(d0) -> (d0 floordiv 8), domain: d0 in [0, 7]",
            "(d0) -> (d0 floordiv -8), domain: d0 in [-15, -8]",
            "(d0, d1) -> ((d0 + d1) floordiv 10), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [0, 9]",
        ),
        (
            "(d0) -> (d0 floordiv 8), domain: d0 in [0, 8]",
            "(d0) -> (d0 floordiv -8), domain: d0 in [-16, -8]",
            "(d0, d1) -> ((d0 + d1) floordiv 10), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [0, 10]",
        ),
    ),
    "quotient-split": RuleExample(
        (
            "(d0, d1) -> ((d0 * 4 + d1) floordiv 8), domain: d0 in [0, 9], d1 in [0, 3]",
            "(d0, d1) -> ((d0 * 4 + d1) floordiv 8), domain: d0 in [-9, 9], d1 in [-4, -1]",
        ),
        (
            "(d0, d1) -> ((d0 * 4 + d1) floordiv 8), domain: d0 in [0, 9], d1 in [0, 4]",
            "(d0, d1) -> ((d0 * 4 + d1) floordiv 8), domain: d0 in [-9, 9], d1 in [-4, 0]",
        ),
    ),
    "quotient-of-extremum": RuleExample(
        (
            "(d0) -> (min(d0, 4) floordiv 4), domain: d0 in [0, 7]",
            "(d0) -> (max(d0, -6) floordiv 4), domain: d0 in [-8, 9]",
        ),
        ("(d0, d1) -> (min(d0, d1) floordiv 4), domain: d0 in [0, 8], d1 in [0, 8]",),
    ),
    "quotient-of-nested": RuleExample(
        ("(d0) -> ((d0 * 4 + d0 floordiv 3) floordiv 3), domain: d0 in [-9, 9]",),
        ("(d0, d1) -> ((d1 * 4 + (d0 floordiv 3) * 2) floordiv 3), domain: d0 in [-9, 9], d1 in [-9, 9]",),
    ),
    "quotient-carried": RuleExample(
        ("(d0)[s0] -> ((d0 * 2 - s0 ceildiv 2) floordiv 6), domain: d0 in [0, 2], s0 in [0, 3]",),
        ("(d0)[s0] -> ((d0 * 2 - s0 ceildiv 2) floordiv 7), domain: d0 in [0, 2], s0 in [0, 3]",),
    ),
    "quotient-thresholds": RuleExample(
        (
            "(d0) -> ((d0 * 3) floordiv 8), domain: d0 in [0, 5]",
            "(d0) -> ((d0 + 1) floordiv 6), domain: d0 in [0, 9]",
            "(d0) -> ((d0 * 3 + 1) floordiv 7), domain: d0 in [-2, 1]",
        ),
        (
            "(d0) -> ((d0 * 3) floordiv 8), domain: d0 in [0, 8]",
            "(d0) -> ((d0 + 1) floordiv 6), domain: d0 in [0, 11]",
        ),
    ),
    "quotient-of-multiple": RuleExample(
        ("(d0, d1) -> ((d0 * d1 + d1) floordiv d0), domain: d0 in [-3, -1], d1 in [-9, 9]",),
        ("(d0, d1) -> ((d0 * 6 + d1) floordiv 5), domain: d0 in [-3, -1], d1 in [-9, 9]",),
    ),
    "quotient-small": RuleExample(
        ("(d0, d1) -> (d0 floordiv d1), domain: d0 in [0, 8], d1 in [0, 9], d1 - d0 in [1, 9]",),
        (
            "(d0, d1) -> (d0 floordiv d1), domain: d0 in [0, 8], d1 in [1, 9], d1 - d0 in [0, 9]",
            "(d0, d1) -> (d0 floordiv d1), domain: d0 in [-1, 8], d1 in [1, 9], d1 - d0 in [1, 9]",
        ),
    ),
    "remainder-split": RuleExample(
        (
            "(d0, d1) -> ((d0 * 4 + d1) mod 8), domain: d0 in [0, 9], d1 in [0, 3]",
            "(d0, d1) -> ((d0 * 4 - d1) mod 8), domain: d0 in [-9, 9], d1 in [1, 4]",
        ),
        (
            "(d0, d1) -> ((d0 * 4 + d1) mod 8), domain: d0 in [0, 9], d1 in [0, 4]",
            "(d0, d1) -> ((d0 * 4 - d1) mod 8), domain: d0 in [-9, 9], d1 in [0, 4]",
        ),
    ),
    "remainder-in-period": RuleExample(
        ("(d0) -> (d0 mod 4), domain: d0 in [0, 3]", "(d0) -> (d0 mod -4), domain: d0 in [-8, -5]"),
        (
            "(d0) -> (d0 mod 4), domain: d0 in [0, 4]",
            "(d0) -> (d0 mod -4), domain: d0 in [-9, -5]",
            "(d0) -> (d0 mod 4), domain: d0 in [-9223372036854775808, -9223372036854775805]",
        ),
    ),
    "remainder-opened": RuleExample(
        ("(d0) -> ((d0 floordiv 3 + d0 mod 3) mod 4), domain: d0 in [-9, 9]",),
        ("(d0, d1) -> ((d1 floordiv 3 + d0 mod 3) mod 4), domain: d0 in [-9, 9], d1 in [-9, 9]",),
    ),
    "remainder-carried": RuleExample(
        ("(d0) -> (((d0 + 2) floordiv 8 + (((d0 + 2) floordiv 4) mod 4) * 2) mod 6), domain: d0 in [-3, 3]",),
        ("(d0) -> (((d0 + 2) floordiv 8 + (((d0 + 2) floordiv 4) mod 4) * 2) mod 5), domain: d0 in [-3, 3]",),
    ),
    "remainder-small": RuleExample(
        ("(d0, d1) -> (d0 mod d1), domain: d0 in [0, 6], d1 in [7, 9]",),
        (
            "(d0, d1) -> (d0 mod d1), domain: d0 in [0, 7], d1 in [7, 9]",
            "(d0, d1) -> (d0 mod d1), domain: d0 in [-1, 6], d1 in [7, 9]",
            "(d0, d1) -> (d0 mod d1), domain: d0 in [0, 6], d1 in [-9, -7]",
        ),
    ),
    "remainder-of-multiple": RuleExample(
        ("(d0, d1) -> ((d0 * d1 + d1) mod d0), domain: d0 in [-3, -1], d1 in [-9, 9]",),
        ("(d0, d1) -> ((d0 * 6 + d1) mod 5), domain: d0 in [-3, -1], d1 in [-9, 9]",),
    ),
    "remainder-joins": RuleExample(
        ("(d0) -> ((((d0 + 5) floordiv 8) * 3 - (2 - d0) mod 3) ceildiv 2), domain: d0 in [-3, 9]",),
        ("(d0) -> ((((d0 + 5) floordiv 8) * 3 - (2 - d0) mod 4) ceildiv 2), domain: d0 in [-3, 9]",),
    ),
    "quotient-joins": RuleExample(
        ("(d0) -> (((d0 * 3) ceildiv 2) * 4 - d0 mod 2), domain: d0 in [-5, 5]",),
        ("(d0, d1) -> (((d0 * 3) ceildiv 2) * 4 - d1 mod 3), domain: d0 in [-5, 5], d1 in [-5, 5]",),
    ),
    "digits-join": RuleExample(
        ("(d0) -> ((d0 floordiv 2) mod 2 + ((-(d0 floordiv 2)) mod 6) * 2), domain: d0 in [-13, 17]",),
        ("(d0) -> ((d0 floordiv 2) mod 2 + ((-(d0 floordiv 2)) mod 6) * 3), domain: d0 in [-13, 17]",),
    ),
    "halves-join": RuleExample(
        ("(d0, d1) -> (d0 floordiv 2 + d0 mod 2 + d1), domain: d0 in [-9, 9], d1 in [0, 1]",),
        ("(d0, d1) -> (d0 floordiv 3 + d0 mod 3 + d1), domain: d0 in [-9, 9], d1 in [0, 1]",),
    ),
    "quotients-differ": RuleExample(
        ("(d0) -> (max(d0, d0 * 3) floordiv 2), domain: d0 in [-3, 5]",),
        ("(d0) -> ((d0 * 3 + 2) floordiv 4 - d0 floordiv 5), domain: d0 in [-9, 9]",),
    ),
    "remainder-mirrored": RuleExample(
        ("(d0) -> (((d0 + 2) mod 3) * 2 + 1), domain: d0 in [-9, 9]",),
        ("(d0) -> (((d0 + 1) mod 3) * 2 + 1), domain: d0 in [-9, 9]",),
    ),
    "products-factored": RuleExample(
        ("(d0, d1) -> (d0 * d1 + d0 * 3), domain: d0 in [-4, 4], d1 in [-4, 4]",),
        ("(d0, d1, d2) -> (d0 * d1 + d2 * 3), domain: d0 in [-4, 4], d1 in [-4, 4], d2 in [-4, 4]",),
    ),
    "extremes-multiply": RuleExample(
        ("(d0, d1) -> (min(d0, d1) * max(d0, d1)), domain: d0 in [-4, 4], d1 in [-4, 4]",),
        ("(d0, d1) -> (min(d0, d1) * max(d0, d1 + 1)), domain: d0 in [-4, 4], d1 in [-4, 4]",),
    ),
    "extremum-of-quotients": RuleExample(
        ("(d0, d1) -> (max(d0 floordiv 6, d1 floordiv 6)), domain: d0 in [-9, 9], d1 in [-9, 9]",),
        ("(d0, d1) -> (max(d0 floordiv 6, d1 floordiv 5)), domain: d0 in [-9, 9], d1 in [-9, 9]",),
    ),
    "extremum-flattened": RuleExample(
        ("(d0, d1) -> (min(d0 + d1, min(d1, 4) * 8)), domain: d0 in [0, 0], d1 in [0, 7]",),
        ("(d0, d1) -> (min(d0 + d1, max(d1, 4) * 8)), domain: d0 in [0, 0], d1 in [0, 70]",),
    ),
    "quotient-of-digit": RuleExample(
        ("(d0) -> (((d0 floordiv 2) mod 3) floordiv 2), domain: d0 in [-9, 9]",),
        ("(d0) -> ((d0 mod 3) floordiv 2), domain: d0 in [-9, 9]",),
    ),
    "extremes-join": RuleExample(
        ("(d0, d1) -> (min(d0, d1) + max(d0, d1)), domain: d0 in [-4, 4], d1 in [-4, 4]",),
        ("(d0, d1) -> (min(d0, d1) + max(d0, d1 + 1)), domain: d0 in [-4, 4], d1 in [-4, 4]",),
    ),
    "extremum-absorbs-terms": RuleExample(
        (
            "(d0) -> (d0 - min(d0, 2) * 2), domain: d0 in [-3, 3]",
            "(d0) -> (max(5 - d0, d0) - d0), domain: d0 in [0, 7]",
        ),
        ("(d0, d1) -> (d1 - min(d0, 2) * 2), domain: d0 in [-3, 3], d1 in [-3, 3]",),
    ),
    "equality-used": RuleExample(
        ("(d0, d1) -> (d1), domain: d0 in [-3, 3], d1 in [0, 6], d0 - d1 in [0, 0]",),
        ("(d0, d1) -> (d1), domain: d0 in [-3, 3], d1 in [0, 6], d0 - d1 in [0, 1]",),
    ),
    "refit": RuleExample(
        ("(d0) -> (d0 * 2 + d0 floordiv 2), domain: d0 in [-9, 9]",),
        ("(d0, d1) -> (d1 * 2 + d0 floordiv 2), domain: d0 in [-9, 9], d1 in [-9, 9]",),
    ),
    "argument-idle": RuleExample(
        (
            "(d0) -> (min(d0, 3)), domain: d0 in [0, 3]",
            "(d0, d1) -> (max(d0, d0 + d1)), domain: d0 in [-9, 9], d1 in [0, 3]",
        ),
        (
            "(d0) -> (min(d0, 3)), domain: d0 in [0, 4]",
            "(d0, d1) -> (max(d0, d0 + d1)), domain: d0 in [-9, 9], d1 in [-1, 3]",
        ),
    ),
}

CONSTRUCTORS: dict[str, MadeExample] = {
    "sum-flat": MadeExample(
        (("(d0 * 3 + 2) * 4 + d1", "d0 * 12 + d1 + 8"),),
        ("d0 + d1 * 4",),
    ),
    "sum-terms-join": MadeExample(
        (
            ("d0 * 3 + d1 - d0 * 3", "d1"),
            ("d0 * 3 + d0 * 2", "d0 * 5"),
        ),
        ("d0 * 3 + d1 * 2",),
    ),
    "sum-remainder-joins-quotient": MadeExample(
        (
            ("(d0 floordiv 4) * 8 + (d0 mod 4) * 2", "d0 * 2"),
            ("((d0 + 4) floordiv 4) * 4 + d0 mod 4", "d0 + 4"),
        ),
        (
            "(d0 floordiv 4) * 8 + d0 mod 4",
            "((d0 + 1) floordiv 4) * 4 + d0 mod 4",
        ),
    ),
    "sum-digits-join": MadeExample(
        (("d0 mod 4 + ((d0 floordiv 4) mod 3) * 4", "d0 mod 12"),),
        ("d0 mod 4 + ((d0 floordiv 4) mod 3) * 5",),
    ),
    "sum-difference-is-quotient": MadeExample(
        (("d0 * 3 - (d0 mod 4) * 3", "(d0 floordiv 4) * 12"),),
        ("d0 * 3 - (d0 mod 4) * 2",),
    ),
    "sum-difference-is-remainder": MadeExample(
        (("d0 * 3 - (d0 floordiv 4) * 12", "(d0 mod 4) * 3"),),
        ("d0 * 3 - (d0 floordiv 4) * 11",),
    ),
    "quotient-divisor-negative": MadeExample(
        (("d0 floordiv -4", "-(d0 ceildiv 4)"),),
        ("d0 floordiv 4",),
    ),
    "quotient-divisor-one": MadeExample(
        (("d0 floordiv 1", "d0"),),
        ("d0 floordiv 2",),
    ),
    "quotient-joins-quotient": MadeExample(
        (("(d0 floordiv 3) floordiv 4", "d0 floordiv 12"),),
        ("(d1 + d0 floordiv 3) floordiv 4",),
    ),
    "quotient-of-remainder": MadeExample(
        (("(d0 mod 12) floordiv 4", "(d0 floordiv 4) mod 3"),),
        ("(d0 mod 13) floordiv 4",),
    ),
    "quotient-multiples-leave": MadeExample(
        (("(d0 * 8 + d1) floordiv 4", "d0 * 2 + d1 floordiv 4"),),
        ("(d0 * 7 + d1) floordiv 4",),
    ),
    "quotient-common-factor": MadeExample(
        (("(d0 * 6 + 4) floordiv 9", "(d0 * 2 + 1) floordiv 3"),),
        ("(d0 * 6 + 4) floordiv 7",),
    ),
    "quotient-sign": MadeExample(
        (("(5 - d0 * 2) floordiv 9", "-((d0 * 2 + 3) floordiv 9)"),),
        ("(d0 * 2 + 3) floordiv 9",),
    ),
    "quotient-offset-joins": MadeExample(
        (("(d0 floordiv 3 + 1) floordiv 4", "(d0 + 3) floordiv 12"),),
        ("((d0 floordiv 3) * 2 + 1) floordiv 5",),
    ),
    "quotient-of-itself": MadeExample(
        (("d0 floordiv d0 + 0 floordiv d1", "1"),),
        ("d0 floordiv d1",),
    ),
    "quotient-ceiling": MadeExample(
        (("-((-d0) floordiv 4)", "d0 ceildiv 4"),),
        ("-(d0 floordiv 4)",),
    ),
    "remainder-modulus-sign": MadeExample(
        (("d0 mod -4", "d0 mod 4"),),
        ("d0 mod 4",),
    ),
    "remainder-modulus-one": MadeExample(
        (("d0 mod 1 + d1", "d1"),),
        ("d0 mod 2",),
    ),
    "remainder-of-coarser": MadeExample(
        (("(d0 mod 12) mod 4", "d0 mod 4"),),
        ("(d0 mod 13) mod 4",),
    ),
    "remainder-of-finer": MadeExample(
        (("(d0 mod 4) mod 12", "d0 mod 4"),),
        ("(d0 mod 4) mod 3",),
    ),
    "remainder-coefficient-residue": MadeExample(
        (("(d0 * 9 + d1) mod 4", "(d0 + d1) mod 4"),),
        ("(d0 * 2 + d1) mod 4",),
    ),
    "remainder-inner-opened": MadeExample(
        (("((d0 mod 6) * 2 + d1) mod 4", "(d0 * 2 + d1) mod 4"),),
        ("(d1 + (d0 mod 7) * 2) mod 5",),
    ),
    "remainder-quotient-residue": MadeExample(
        (("((d0 + d1 * 13) floordiv 3) mod 4", "((d0 + d1) floordiv 3) mod 4"),),
        ("((d0 + d1 * 5) floordiv 3) mod 4",),
    ),
    "remainder-common-factor": MadeExample(
        (("(d0 * 2 + 3) mod 8", "((d0 + 1) mod 4) * 2 + 1"),),
        ("(d0 * 2 + 3) mod 7",),
    ),
    "remainder-parity": MadeExample(
        (("(d0 + 1) mod 2", "1 - d0 mod 2"),),
        ("(d0 + 1) mod 3",),
    ),
    "remainder-of-itself": MadeExample(
        (("d0 mod d0 + 0 mod d1", "0"),),
        ("d0 mod d1",),
    ),
    "product-content-outside": MadeExample(
        (("(d0 * 2) * (d1 * 3 + 6)", "d0 * (d1 + 2) * 6"),),
        ("d0 * (d1 * 3 + 7)",),
    ),
    "extremum-flat": MadeExample(
        (("min(d0, min(d1, 3))", "min(d0, d1, 3)"),),
        ("min(d0, max(d1, 3))",),
    ),
    "extremum-shifted-flat": MadeExample(
        (
            ("min(d0, min(d1, d2) + 2)", "min(d0, d1 + 2, d2 + 2)"),
            ("min(d0, 2 - max(d1, d2))", "min(d0, 2 - d1, 2 - d2)"),
        ),
        ("min(d0, max(d1, d2) + 2)",),
    ),
    "extremum-constant-decides": MadeExample(
        (("max(d0 + 3, d1, d0 + 5)", "max(d0 + 5, d1)"),),
        ("max(d0 + 3, d1)",),
    ),
    "extremum-absorbs": MadeExample(
        (("min(d0, max(d0, d1))", "d0"),),
        ("min(d0, max(d1, d2))",),
    ),
    "extremum-absorbs-constant": MadeExample(
        (("min(3, max(4, d0))", "3"),),
        ("min(max(d0, 4), 5)",),
    ),
    "extremum-inner-idle": MadeExample(
        (("min(d0, max(d1, min(d0, d2)))", "min(d0, max(d1, d2))"),),
        ("min(d0, max(d1, min(d2, d3)))",),
    ),
    "extremum-distributes": MadeExample(
        (("min(max(d0, d1), max(d0, d2))", "max(d0, min(d1, d2))"),),
        ("min(max(d0, d1), max(d2, d3))",),
    ),
    "extremum-terms-outside": MadeExample(
        (("min(d0 + d2, d1 + d2)", "d2 + min(d0, d1)"),),
        ("min(d0 + d2, d1 + d3)",),
    ),
    "extremum-factor-outside": MadeExample(
        (
            ("min(d0 * 4, d1 * 6)", "min(d0 * 2, d1 * 3) * 2"),
            ("min(-d0, -d1)", "-max(d0, d1)"),
        ),
        ("min(d0 * 2, d1 * 3)",),
    ),
}

DOMAINS: dict[str, DomainExample] = {
    "constraint-normal-form": DomainExample(
        (
            ("(d0) -> (d0), domain: d0 in [-9, 9], d0 * 4 - 3 in [2, 14]", "(d0) -> (d0), domain: d0 in [2, 4]"),
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], 4 - (d0 - d1) * 2 in [3, 9]",
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], d0 - d1 in [-2, 0]",
            ),
        ),
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], d0 - d1 in [-2, 0]",
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], d0 - d1 in [-2, 0]",
            ),
        ),
    ),
    "constraint-quotient-opened": DomainExample(
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], (d0 + d1) floordiv 4 in [-2, 1]",
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], d0 + d1 in [-8, 7]",
            ),
        ),
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [1, 4], d0 floordiv d1 in [-2, 1]",
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [1, 4], d0 floordiv d1 in [-2, 1]",
            ),
        ),
    ),
    "constraint-low-terms-leave": DomainExample(
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [0, 3], d0 * 4 + d1 in [0, 11]",
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 2], d1 in [0, 3]",
            ),
        ),
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [0, 4], d0 * 4 + d1 in [0, 11]",
                "(d0, d1) -> (d0, d1), domain: d0 in [-1, 2], d1 in [0, 4], d0 * 4 + d1 in [0, 11]",
            ),
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [0, 3], d0 * 4 + d1 in [0, 12]",
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 3], d0 * 4 + d1 in [0, 12]",
            ),
        ),
    ),
    "constraint-bounds-term": DomainExample(
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [0, 3], d0 + d1 in [2, 4]",
                "(d0, d1) -> (d0, d1), domain: d0 in [-1, 4], d1 in [0, 3], d0 + d1 in [2, 4]",
            ),
        ),
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-1, 4], d1 in [0, 3], d0 + d1 in [2, 4]",
                "(d0, d1) -> (d0, d1), domain: d0 in [-1, 4], d1 in [0, 3], d0 + d1 in [2, 4]",
            ),
        ),
    ),
    "constraint-extremum-opened": DomainExample(
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], min(d0, d1) in [2, 9]",
                "(d0, d1) -> (d0, d1), domain: d0 in [2, 9], d1 in [2, 9]",
            ),
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], max(d0, d1) in [-9, 2]",
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 2], d1 in [-9, 2]",
            ),
        ),
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], min(d0, d1) in [-9, 2]",
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], min(d0, d1) in [-9, 2]",
            ),
        ),
    ),
    "constraint-congruence-normal": DomainExample(
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], (d0 * 3 + d1 + 1) mod 5 in [2, 2]",
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], (d0 + d1 * 2) mod 5 in [2, 2]",
            ),
        ),
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], (d0 * 3 + d1 * 4) mod 6 in [2, 2]",
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], (d0 * 3 - d1 * 2) mod 6 in [2, 2]",
            ),
        ),
    ),
    "constraint-congruences-join": DomainExample(
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], (d0 + d1) mod 4 in [1, 1], (d0 + d1) mod 6 in [3, 3]",
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], (d0 + d1) mod 12 in [9, 9]",
            ),
        ),
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], (d0 + d1) mod 4 in [1, 1], (d0 - d1) mod 6 in [3, 3]",
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], (d0 - d1) mod 6 in [3, 3], (d0 + d1) mod 4 in [1, 1]",
            ),
        ),
    ),
    "constraint-congruences-never": DomainExample(
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], (d0 + d1) mod 4 in [1, 1], (d0 + d1) mod 6 in [2, 2]",
                "KNOWN EMPTY",
            ),
        ),
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], (d0 + d1) mod 4 in [1, 1], (d0 + d1) mod 7 in [2, 2]",
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], (d0 + d1) mod 28 in [9, 9]",
            ),
        ),
    ),
    "constraint-congruence-bounds": DomainExample(
        (
            (
                "(d0) -> (d0), domain: d0 in [-9, 9], d0 mod 4 in [1, 1]",
                "(d0) -> (d0), domain: d0 in [-7, 9], d0 mod 4 in [1, 1]",
            ),
        ),
        (
            (
                "(d0) -> (d0), domain: d0 in [-7, 9], d0 mod 4 in [1, 1]",
                "(d0) -> (d0), domain: d0 in [-7, 9], d0 mod 4 in [1, 1]",
            ),
        ),
    ),
    "constraints-meet": DomainExample(
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [2, 9], d0 + d1 in [5, 12]",
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [5, 9]",
            ),
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], d0 - d1 in [-9, 0], d1 - d0 in [-9, 0]",
                "(d0, d1) -> (d0, d0), domain: d0 in [0, 9], d1 in [0, 9], d0 - d1 in [0, 0]",
            ),
        ),
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [2, 9], d0 - d1 in [2, 5]",
                "(d0, d1) -> (d0, d1), domain: d0 in [2, 9], d1 in [0, 7], d0 - d1 in [2, 5], d0 + d1 in [2, 9]",
            ),
        ),
    ),
    "constraint-implied": DomainExample(
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [0, 18]",
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9]",
            ),
        ),
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [0, 17]",
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [0, 17]",
            ),
        ),
    ),
    "constraint-impossible": DomainExample(
        (("(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [19, 20]", "KNOWN EMPTY"),),
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [18, 20]",
                "(d0, d1) -> (9, 9), domain: d0 in [9, 9], d1 in [9, 9]",
            ),
        ),
    ),
    "constraint-equates": DomainExample(
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], d0 - d1 in [0, 0], (d0 + d1) mod 3 in [0, 1]",
                "(d0, d1) -> (d0, d0), domain: d0 in [0, 9], d1 in [0, 9], (-d0) mod 3 in [0, 1], d0 - d1 in [0, 0]",
            ),
        ),
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], d0 - d1 in [0, 1], (d0 + d1) mod 3 in [0, 1]",
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], (d0 + d1) mod 3 in [0, 1], d0 - d1 in [0, 1]",
            ),
        ),
    ),
    "constraint-solved": DomainExample(
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [9, 9], d0 * 2 + d1 * 2 + d1 mod 2 in [18, 19]",
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [9, 9]",
            ),
            (
                "(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9], d0 + d1 - d2 in [0, 0], (d0 + d1) * 2 - d2 in [0, 9]",
                "(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9], d0 + d1 - d2 in [0, 0]",
            ),
        ),
        (
            (
                "(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9], d0 + d1 - d2 in [0, 1], (d0 + d1) * 2 - d2 in [0, 9]",
                "(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9], d0 + d1 - d2 in [0, 1], (d0 + d1) * 2 - d2 in [0, 9]",
            ),
        ),
    ),
}

RANGES: dict[str, RangeExample] = {
    "range-of-sum": RangeExample(
        (("d0 + d1 - 3", "d0 in [-2, 5], d1 in [1, 4]", (-4, 6)),),
        (),
    ),
    "range-of-multiple": RangeExample(
        (("d0 * -4", "d0 in [-2, 5]", (-20, 8)),),
        (),
    ),
    "range-of-digits": RangeExample(
        (
            ("d0 + (d0 floordiv 4) * 4", "d0 in [0, 7]", (0, 11)),
            ("d0 - (d0 floordiv 4) * 3", "d0 in [-4, 7]", (-1, 4)),
        ),
        (("d0 - (d1 floordiv 4) * 3", "d0 in [-4, 7], d1 in [-4, 7]", (-7, 10)),),
    ),
    "range-by-lifting": RangeExample(
        (("d0 floordiv 4 + d1", "d0 in [0, 9], d1 in [-9, 9], d0 + d1 * 4 in [0, 7]", (0, 1)),),
        (("d0 floordiv 4 + d1", "d0 in [0, 9], d1 in [-9, 9], d0 + d1 * 3 in [0, 7]", (-3, 4)),),
    ),
    "range-of-quotient": RangeExample(
        (("d0 floordiv 4", "d0 in [-5, 7]", (-2, 1)),),
        (("d0 floordiv 4", "d0 in [-5, 8]", (-2, 2)),),
    ),
    "range-of-quotient-by-expression": RangeExample(
        (("d0 floordiv d1", "d0 in [-5, 7], d1 in [2, 3]", (-3, 3)),),
        (("d0 floordiv d1", "d0 in [-5, 7], d1 in [1, 3]", (-5, 7)),),
    ),
    "range-of-remainder": RangeExample(
        (("d0 mod 8", "d0 in [-7, -2]", (1, 6)),),
        (("d0 mod 8", "d0 in [-8, 0]", (0, 7)),),
    ),
    "range-of-remainder-by-expression": RangeExample(
        (
            ("d0 mod d1", "d0 in [0, 3], d1 in [2, 9]", (0, 3)),
            ("d0 mod d1", "d0 in [-9, 9], d1 in [-6, -2]", (0, 5)),
        ),
        (("d0 mod d1", "d0 in [-1, 3], d1 in [2, 9]", (0, 8)),),
    ),
    "range-of-extremum": RangeExample(
        (
            ("min(d0, d1)", "d0 in [0, 9], d1 in [-3, 5]", (-3, 5)),
            ("max(d0, d1)", "d0 in [0, 9], d1 in [-3, 5]", (0, 9)),
        ),
        (),
    ),
    "range-of-product": RangeExample(
        (("d0 * d1", "d0 in [-2, 3], d1 in [-5, 4]", (-15, 12)),),
        (),
    ),
    "range-of-square": RangeExample(
        (("d0 * d0", "d0 in [-3, 2]", (0, 9)),),
        (("d0 * d1", "d0 in [-3, 2], d1 in [-3, 2]", (-6, 9)),),
    ),
    "congruence-of-sum": RangeExample(
        (("d0 * 4 + d1 * 6 + 1", "d0 in [-3, 3], d1 in [-3, 3], d0 * 4 + d1 * 6 + 1 in [0, 10]", (1, 9)),),
        (("d0 * 4 + d1 * 5 + 1", "d0 in [-3, 3], d1 in [-3, 3], d0 * 4 + d1 * 5 + 1 in [0, 10]", (0, 10)),),
    ),
    "congruence-of-remainder": RangeExample(
        (
            ("(d0 * 6 + 1) mod 8", "d0 in [-9, 9]", (1, 7)),
            ("(d0 * 6 + d1) mod 8", "d0 in [-9, 9], d1 in [1, 1]", (1, 7)),
        ),
        (("(d0 * 6 + d1) mod 7", "d0 in [-9, 9], d1 in [1, 1]", (0, 6)),),
    ),
    "congruence-of-extremum": RangeExample(
        (
            (
                "min(d0 * 4 + 1, d1 * 6 + 3)",
                "d0 in [-3, 3], d1 in [-3, 3], min(d0 * 4 + 1, d1 * 6 + 3) in [0, 10]",
                (1, 9),
            ),
        ),
        (
            (
                "min(d0 * 4 + 1, d1 * 6 + 4)",
                "d0 in [-3, 3], d1 in [-3, 3], min(d0 * 4 + 1, d1 * 6 + 4) in [0, 10]",
                (1, 10),
            ),
        ),
    ),
    "congruence-of-product": RangeExample(
        (("(d0 * 2) * (d1 * 3)", "d0 in [-3, 3], d1 in [-3, 3], d0 * d1 * 6 in [-8, 8]", (-6, 6)),),
        (("d0 * d1 * 5", "d0 in [-3, 3], d1 in [-3, 3], d0 * d1 * 5 in [-8, 8]", (-5, 5)),),
    ),
    "congruence-tightens": RangeExample(
        (("d0", "d0 in [-3, 9], d0 mod 4 in [2, 2]", (-2, 6)),),
        (("d0", "d0 in [-2, 6], d0 mod 4 in [0, 2]", (-2, 6)),),
    ),
}
