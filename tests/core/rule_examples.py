"""Examples of rules: maps to which a rule applies, and maps that break its precondition by one.

Where a rule applies, the steps of `explain` name it.
"""

from __future__ import annotations

from form_examples import FORMS, RuleExample

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
    "quotient-offset-redundant": RuleExample(
        (
            "(d0) -> ((d0 + 1) floordiv 3), domain: d0 in [-9, 9], d0 mod 3 in [1, 1]",
            "(d0, d1) -> ((d0 + d1 + 1) floordiv 6), domain: d0 in [-9, 9], d1 in [-9, 9], (d0 + d1) mod 3 in [1, 1]",
        ),
        (
            "(d0) -> ((d0 + 2) floordiv 3), domain: d0 in [-9, 9], d0 mod 3 in [1, 1]",
            "(d0) -> ((d0 - 2) floordiv 6), domain: d0 in [-9, 9], d0 mod 3 in [1, 1]",
            "(d0) -> ((d0 + 1) floordiv 4), domain: d0 in [-9, 9], d0 mod 3 in [1, 1]",
        ),
    ),
    "quotient-of-nested": RuleExample(
        (
            "(d0) -> ((d0 * 4 + d0 floordiv 3) floordiv 3), domain: d0 in [-9, 9]",
            "(d0, d1) -> ((d0 - d1 floordiv 2) floordiv 3), domain: d0 in [-9, 9], d1 in [-9, 9]",
            "(d0, d1) -> ((d0 - d1 floordiv 2) ceildiv 3), domain: d0 in [-9, 9], d1 in [-9, 9]",
        ),
        ("(d0, d1) -> ((d1 * 4 + (d0 floordiv 3) * 2) floordiv 3), domain: d0 in [-9, 9], d1 in [-9, 9]",),
    ),
    "quotient-with-carry": RuleExample(
        ("(d0)[s0] -> ((d0 * 4 - max(s0, 1)) floordiv 16), domain: d0 in [0, 4], s0 in [0, 6]",),
        ("(d0)[s0] -> ((d0 * 4 - max(s0, 1)) floordiv 15), domain: d0 in [0, 4], s0 in [0, 6]",),
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
    "quotient-factor-cancelled": RuleExample(
        (
            "(d0, d1, d2) -> ((d0 * d1) floordiv (d1 * d2)), domain: d0 in [-9, 9], d1 in [-3, 3], d2 in [-4, 4]",
            "(d0, d1) -> ((d0 * 3 + 6) floordiv (d1 * 9)), domain: d0 in [-9, 9], d1 in [-3, -1]",
        ),
        (
            "(d0, d1, d2) -> ((d0 * d1 + 1) floordiv (d1 * d2)), domain: d0 in [-9, 9], d1 in [1, 3], d2 in [1, 4]",
            "(d0, d1) -> ((d0 * 3 + 5) floordiv (d1 * 9)), domain: d0 in [-9, 9], d1 in [-3, -1]",
        ),
    ),
    "quotient-rest-dropped": RuleExample(
        (
            "(d0, d1) -> ((d0 * 3 + 5) floordiv (d1 * 3)), domain: d0 in [-9, 9], d1 in [1, 5]",
            "(d0, d1, d2) -> ((d0 * 4 + d2) floordiv (d1 * 4)), domain: d0 in [-9, 9], d1 in [1, 5], d2 in [0, 3]",
            "(d0, d1, d2) -> ((d0 * d1 + d2 mod d1) floordiv (d1 * 3)), domain: d0 in [-9, 9], d1 in [1, 5], d2 in [-9, 9]",
        ),
        (
            "(d0, d1) -> ((d0 * 3 + 5) floordiv (d1 * 3)), domain: d0 in [-9, 9], d1 in [-5, -1]",
            "(d0, d1, d2) -> ((d0 * 4 + d2) floordiv (d1 * 4)), domain: d0 in [-9, 9], d1 in [1, 5], d2 in [0, 4]",
            "(d0, d1, d2) -> ((d0 * 4 + d2) floordiv (d1 * 4)), domain: d0 in [-9, 9], d1 in [1, 5], d2 in [-1, 3]",
            "(d0, d1, d2) -> ((d0 * d1 + d2 mod d1) floordiv (d1 * 3)), domain: d0 in [-9, 9], d1 in [-5, -1], d2 in [-9, 9]",
        ),
    ),
    "quotient-of-whole-multiple": RuleExample(
        (
            "(d0, d1) -> ((d0 - d0 mod d1) floordiv d1), domain: d0 in [-9, 9], d1 in [1, 5]",
            "(d0, d1, d2) -> ((d2 - d0 * 2 + (d0 mod d1) * 2) floordiv d1), domain: d0 in [-9, 9], d1 in [1, 5], d2 in [-5, 5]",
        ),
        (
            "(d0, d1) -> ((d0 - d0 mod d1) floordiv d1), domain: d0 in [-9, 9], d1 in [-5, -1]",
            "(d0, d1) -> ((d0 + d0 mod d1) floordiv d1), domain: d0 in [-9, 9], d1 in [1, 5]",
        ),
    ),
    "quotient-of-quotient-by-expression": RuleExample(
        (
            "(d0, d1, d2) -> ((d0 floordiv d1) floordiv d2), domain: d0 in [-9, 9], d1 in [-3, 3], d2 in [1, 4]",
            "(d0, d1) -> ((d0 floordiv d1 + 3) floordiv 4), domain: d0 in [-9, 9], d1 in [1, 5]",
            "(d0, d1) -> ((d0 floordiv 4) floordiv d1), domain: d0 in [-9, 9], d1 in [1, 5]",
        ),
        (
            "(d0, d1, d2) -> ((d0 floordiv d1) floordiv d2), domain: d0 in [-9, 9], d1 in [1, 3], d2 in [-4, -1]",
            "(d0, d1) -> (((d0 floordiv d1) * 3 + 3) floordiv 4), domain: d0 in [-9, 9], d1 in [1, 5]",
        ),
    ),
    "quotient-of-remainder-by-expression": RuleExample(
        (
            "(d0, d1, d2) -> ((d0 mod (d1 * d2)) floordiv d1), domain: d0 in [-9, 9], d1 in [1, 5], d2 in [1, 3]",
            "(d0, d1) -> ((d0 mod (d1 * 4)) floordiv 4), domain: d0 in [-9, 9], d1 in [1, 5]",
        ),
        (
            "(d0, d1) -> ((d0 mod d1) floordiv d1), domain: d0 in [-9, 9], d1 in [-5, -1]",
            "(d0, d1, d2) -> ((d0 mod (d1 * d2)) floordiv d1), domain: d0 in [-9, 9], d1 in [1, 5], d2 in [-3, -1]",
        ),
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
            "(d0, d1) -> ((d0 * 4 - d1) mod 8), domain: d0 in [-9, 9], d1 in [-3, 0]",
        ),
        (
            "(d0, d1) -> ((d0 * 4 + d1) mod 8), domain: d0 in [0, 9], d1 in [0, 4]",
            "(d0, d1) -> ((d0 * 4 - d1) mod 8), domain: d0 in [-9, 9], d1 in [-4, 0]",
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
    "remainder-expanded": RuleExample(
        (
            "(d0) -> ((d0 floordiv 3 + d0 mod 3) mod 4), domain: d0 in [-9, 9]",
            "(d0, d1) -> ((((d0 * 7 + d1) floordiv 6) * 2 + (d0 + d1) mod 6) mod 4), domain: d0 in [0, 9], d1 in [0, 9]",
            "(d0) -> ((2 - d0 ceildiv 2 - d0 mod 2) mod 3), domain: d0 in [-9, 9]",
        ),
        (
            "(d0, d1) -> ((d1 floordiv 3 + d0 mod 3) mod 4), domain: d0 in [-9, 9], d1 in [-9, 9]",
            "(d0, d1) -> ((((d0 * 7 + d1) floordiv 6) * 2 + (d0 * 2 + d1) mod 6) mod 4), domain: d0 in [0, 9], d1 in [0, 9]",
        ),
    ),
    "remainder-of-completed-quotient": RuleExample(
        (
            "(d0) -> ((d0 + d0 floordiv 32) mod 33), domain: d0 in [-99, 99]",
            "(d0) -> (((d0 * 5) floordiv 4) mod 5), domain: d0 in [-99, 99]",
            "(d0) -> ((d0 floordiv 3 + d0 floordiv 6) mod 3), domain: d0 in [-99, 99]",
        ),
        (
            "(d0) -> ((d0 + d0 floordiv 32) mod 32), domain: d0 in [-99, 99]",
            "(d0) -> ((d0 + (d0 + 1) floordiv 4) mod 5), domain: d0 in [-99, 99]",
            "(d0) -> (((d0 * 7) floordiv 3 + (d0 * 7) floordiv 6 - d0) mod 3), domain: d0 in [-99, 99]",
        ),
    ),
    "remainder-with-carry": RuleExample(
        ("(d0) -> (((d0 + 2) floordiv 8 + (((d0 + 2) floordiv 4) mod 4) * 2) mod 6), domain: d0 in [-3, 3]",),
        ("(d0) -> (((d0 + 2) floordiv 8 + (((d0 + 2) floordiv 4) mod 4) * 2) mod 5), domain: d0 in [-3, 3]",),
    ),
    "remainder-of-quotient": RuleExample(
        (
            "(d0, d1) -> (((d0 + d1 * 13) floordiv 3) mod 4), domain: d0 in [0, 99], d1 in [0, 99]",
            "(d0, d1) -> (((d0 mod 24 + d1) floordiv 4) mod 6), domain: d0 in [-50, 50], d1 in [-30, 30]",
            "(d0, d1) -> ((d1 - ((d0 mod 18 + d1) floordiv 3) * 4) mod 8), domain: d0 in [-50, 50], d1 in [-30, 30]",
        ),
        (
            "(d0, d1) -> (((d0 mod 12 + d1) floordiv 4) mod 6), domain: d0 in [-50, 50], d1 in [-30, 30]",
            "(d0, d1) -> (((d0 mod 24 + d1) floordiv 4) mod 5), domain: d0 in [-50, 50], d1 in [-30, 30]",
            "(d0, d1) -> (((d0 + d1 * 14) floordiv 3) mod 4), domain: d0 in [0, 99], d1 in [0, 99]",
            "(d0, d1) -> (((d0 + d1 * 13) floordiv 3) mod 5), domain: d0 in [0, 99], d1 in [0, 99]",
        ),
    ),
    "remainder-factor-outside": RuleExample(
        (
            "(d0, d1, d2) -> ((d0 * d1) mod (d1 * d2)), domain: d0 in [-9, 9], d1 in [1, 3], d2 in [-4, 4]",
            "(d0, d1, d2) -> ((d0 * 4 + d2) mod (d1 * 4)), domain: d0 in [-9, 9], d1 in [-5, -1], d2 in [0, 3]",
            "(d0, d1, d2) -> ((d0 * d1 + d2 mod d1) mod (d1 * 3)), domain: d0 in [-9, 9], d1 in [1, 5], d2 in [-9, 9]",
        ),
        (
            "(d0, d1, d2) -> ((d0 * d1) mod (d1 * d2)), domain: d0 in [-9, 9], d1 in [-3, -1], d2 in [1, 4]",
            "(d0, d1, d2) -> ((d0 * 4 + d2) mod (d1 * 4)), domain: d0 in [-9, 9], d1 in [1, 5], d2 in [0, 4]",
            "(d0, d1, d2) -> ((d0 * 4 + d2) mod (d1 * 4)), domain: d0 in [-9, 9], d1 in [1, 5], d2 in [-1, 3]",
        ),
    ),
    "remainder-of-remainder-by-expression": RuleExample(
        (
            "(d0, d1) -> ((d0 mod d1) mod d1), domain: d0 in [-9, 9], d1 in [-5, 5]",
            "(d0, d1) -> ((d0 - d0 mod d1) mod d1), domain: d0 in [-9, 9], d1 in [-5, -1]",
            "(d0, d1, d2) -> (((d0 mod (d1 * d2)) * d2 + 1) mod d1), domain: d0 in [-9, 9], d1 in [1, 5], d2 in [-3, 3]",
            "(d0, d1) -> ((d0 mod (d1 * 4)) mod 4), domain: d0 in [-9, 9], d1 in [1, 5]",
        ),
        ("(d0, d1, d2) -> ((d0 mod d1) mod (d1 * d2)), domain: d0 in [-9, 9], d1 in [1, 5], d2 in [-3, 3]",),
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
    "remainder-recombines": RuleExample(
        ("(d0) -> (d0 mod 2 - (d0 ceildiv 2) * 2), domain: d0 in [-3, 9]",),
        ("(d0) -> (d0 mod 3 - (d0 ceildiv 2) * 2), domain: d0 in [-3, 9]",),
    ),
    "remainder-beside-quotient": RuleExample(
        (
            "(d0) -> (d0 * 2 - ((d0 * 3) ceildiv 4) * 4 - (-d0) mod 4), domain: d0 in [-3, 9]",
            "(d0) -> ((((d0 + 5) floordiv 8) * 3 - (2 - d0) mod 3) ceildiv 2), domain: d0 in [-3, 9]",
        ),
        ("(d0) -> ((((d0 + 5) floordiv 8) * 3 - (2 - d0) mod 4) ceildiv 2), domain: d0 in [-3, 9]",),
    ),
    "remainder-of-known-quotient": RuleExample(
        ("(d0, d1) -> (d1 mod 2), domain: d0 in [-3, 3], d1 in [0, 6], d1 - d0 mod 2 in [1, 1]",),
        ("(d0, d1) -> (d1 mod 2), domain: d0 in [-3, 3], d1 in [0, 6], d1 - d0 mod 2 in [1, 2]",),
    ),
    "quotient-recombines": RuleExample(
        ("(d0) -> (((d0 * 3) ceildiv 2) * 4 - d0 mod 2), domain: d0 in [-5, 5]",),
        ("(d0, d1) -> (((d0 * 3) ceildiv 2) * 4 - d1 mod 3), domain: d0 in [-5, 5], d1 in [-5, 5]",),
    ),
    "remainder-of-values": RuleExample(
        (
            "(d0) -> (d0 - (d0 floordiv 5) * 10 + 5), domain: d0 in [0, 9]",
            "(d0) -> (d0 floordiv 5 - (d0 floordiv 35) * 14 + 7), domain: d0 in [0, 69]",
            "(d0, d1) -> ((d1 + (d0 mod 7) * 10) floordiv 7 + ((d0 floordiv 7) mod 3) * 10), domain: d0 in [0, 95], d1 in [0, 9]",
        ),
        (
            "(d0) -> (d0 - (d0 floordiv 5) * 10 + 5), domain: d0 in [0, 10]",
            "(d0, d1) -> ((d1 + (d0 mod 7) * 10) floordiv 7 + ((d0 floordiv 7) mod 3) * 9), domain: d0 in [0, 95], d1 in [0, 9]",
        ),
    ),
    "quotient-of-half": RuleExample(
        (
            "(d0) -> (d0 floordiv 5 - d0 floordiv 10), domain: d0 in [-99, 99]",
            "(d0) -> (d0 floordiv 5 - (d0 + 5) floordiv 10), domain: d0 in [-99, 99]",
        ),
        (
            "(d0) -> (d0 floordiv 5 - d0 floordiv 15), domain: d0 in [-99, 99]",
            "(d0) -> (d0 floordiv 5 + d0 floordiv 10), domain: d0 in [-99, 99]",
        ),
    ),
    "digits-recombine": RuleExample(
        (
            "(d0) -> ((d0 floordiv 2) mod 2 + ((-(d0 floordiv 2)) mod 6) * 2), domain: d0 in [-13, 17]",
            "(d0, d1) -> ((d0 * 2 + d1) mod 8 + (((d0 * 6 - d1) ceildiv 8) mod 2) * 8), domain: d0 in [0, 9], d1 in [0, 9]",
        ),
        ("(d0) -> ((d0 floordiv 2) mod 2 + ((-(d0 floordiv 2)) mod 6) * 3), domain: d0 in [-13, 17]",),
    ),
    "halves-recombine": RuleExample(
        ("(d0, d1) -> (d0 floordiv 2 + d0 mod 2 + d1), domain: d0 in [-9, 9], d1 in [0, 1]",),
        ("(d0, d1) -> (d0 floordiv 3 + d0 mod 3 + d1), domain: d0 in [-9, 9], d1 in [0, 1]",),
    ),
    "extrema-differ": RuleExample(
        (
            "(d0, d1) -> (min(d0 + 5, d1) - min(d0, d1 - 2)), domain: d0 in [-6, 6], d1 in [-6, 6]",
            "(d0, d1) -> (min(d0 + 2, d1 + 5) - min(d0, d1)), domain: d0 in [-6, 6], d1 in [-6, 6]",
            "(d0, d1) -> (max(d0 * 2 + 3, d1) - max(d0 * 2, d1 - 1)), domain: d0 in [-4, 4], d1 in [-8, 8]",
            "(d0, d1) -> (max(d0, d1 - 4) * 3 - max(d0 - 1, d1 + 2) * 3), domain: d0 in [-6, 6], d1 in [-6, 6]",
        ),
        (
            "(d0, d1) -> (min(d0 + 5, d1) - min(d0, d1 * 2)), domain: d0 in [-6, 6], d1 in [-6, 6]",
            "(d0, d1) -> (min(d0 + 5, d1) - max(d0, d1 - 2)), domain: d0 in [-6, 6], d1 in [-6, 6]",
            "(d0, d1) -> (min(d0 + 5, d1) - min(d0, d1 - 2) * 2), domain: d0 in [-6, 6], d1 in [-6, 6]",
        ),
    ),
    "extremes-apart": RuleExample(
        (
            "(d0, d1) -> (max(d0, d1) - min(d0, d1)), domain: d0 in [-6, 6], d1 in [-6, 6]",
            "(d0, d1) -> (min(d0, d1 * 2) * 3 - max(d0, d1 * 2) * 3), domain: d0 in [-6, 6], d1 in [-4, 4]",
        ),
        (
            "(d0, d1) -> (max(d0, d1) - min(d0, d1 + 1)), domain: d0 in [-6, 6], d1 in [-6, 6]",
            "(d0, d1) -> (max(d0, d1) * 2 - min(d0, d1)), domain: d0 in [-6, 6], d1 in [-6, 6]",
        ),
    ),
    "quotients-complete": RuleExample(
        (
            "(d0) -> (d0 floordiv 3 + (d0 + 1) floordiv 3 + (d0 + 2) floordiv 3), domain: d0 in [-99, 99]",
            "(d0) -> (d0 floordiv 6 + (d0 + 2) floordiv 6 + (d0 - 2) floordiv 6), domain: d0 in [-99, 99]",
            "(d0, d1) -> (d1 - ((d0 + 5) floordiv 4) * 2 - ((d0 + 3) floordiv 4) * 2), domain: d0 in [-99, 99], d1 in [0, 3]",
            "(d0) -> (d0 floordiv 3 + (d0 + 2) floordiv 3 - d0), domain: d0 in [-99, 99]",
        ),
        (
            "(d0) -> (d0 floordiv 3 + ((d0 + 1) floordiv 3) * 2 + ((d0 + 2) floordiv 3) * 4), domain: d0 in [-99, 99]",
            "(d0) -> (d0 floordiv 6 + (d0 + 1) floordiv 6), domain: d0 in [-99, 99]",
            "(d0) -> (d0 floordiv 4 + (d0 + 2) floordiv 5), domain: d0 in [-99, 99]",
        ),
    ),
    "remainders-complete": RuleExample(
        (
            "(d0) -> (d0 mod 3 + (d0 + 1) mod 3 + (d0 + 2) mod 3), domain: d0 in [-99, 99]",
            "(d0) -> (d0 mod 6 + (d0 + 2) mod 6 + (d0 + 4) mod 6), domain: d0 in [-99, 99]",
            "(d0) -> (d0 mod 3 + (d0 + 2) mod 3), domain: d0 in [-99, 99]",
            "(d0, d1) -> (d1 - (d0 mod 4) * 2 - ((d0 + 2) mod 4) * 2), domain: d0 in [-99, 99], d1 in [0, 3]",
        ),
        (
            "(d0) -> (d0 mod 3 + (d0 + 1) mod 5 + (d0 * 2 + 2) mod 3), domain: d0 in [-99, 99]",
            "(d0) -> (d0 mod 6 + (d0 + 2) mod 6), domain: d0 in [-99, 99]",
            "(d0) -> (d0 mod 4 + (d0 + 1) mod 4), domain: d0 in [-99, 99]",
        ),
    ),
    "remainders-opposite": RuleExample(
        (
            "(d0) -> (d0 mod 5 + (-d0) mod 5), domain: d0 in [-99, 99]",
            "(d0, d1) -> (d1 - ((d0 * 2 + 1) mod 7) * 3 - ((-1 - d0 * 2) mod 7) * 3), domain: d0 in [-99, 99], d1 in [0, 3]",
        ),
        (
            "(d0) -> (d0 mod 5 + (-d0) mod 7), domain: d0 in [-99, 99]",
            "(d0) -> (d0 mod 5 + ((-d0) mod 5) * 2), domain: d0 in [-99, 99]",
            "(d0) -> (d0 mod 5 + (2 - d0) mod 5), domain: d0 in [-99, 99]",
        ),
    ),
    "product-with-bit": RuleExample(
        (
            "(d0) -> ((d0 mod 2) * (d0 mod 2 - 1) + d0), domain: d0 in [-99, 99]",
            "(d0, d1) -> (d0 * (d0 * 3 + d1)), domain: d0 in [0, 1], d1 in [-9, 9]",
        ),
        (
            "(d0) -> ((d0 mod 3) * (d0 mod 3 - 1)), domain: d0 in [-99, 99]",
            "(d0, d1) -> (d0 * (d0 * 3 + d1)), domain: d0 in [0, 2], d1 in [-9, 9]",
            "(d0, d1) -> (d0 * (d0 * 3 + d1)), domain: d0 in [-1, 0], d1 in [-9, 9]",
        ),
    ),
    "square-of-bit": RuleExample(
        (
            "(d0) -> ((1 - d0) * (1 - d0)), domain: d0 in [0, 1]",
            "(d0, d1) -> ((d0 mod 2 - 1) * (d0 mod 2 - 1) * d1), domain: d0 in [-99, 99], d1 in [-9, 9]",
            "(d0) -> ((d0 floordiv 4 + 2) * (d0 floordiv 4 + 2)), domain: d0 in [-8, -1]",
        ),
        (
            "(d0) -> ((2 - d0) * (2 - d0)), domain: d0 in [0, 3]",
            "(d0) -> ((d0 floordiv 4 + 2) * (d0 floordiv 4 + 2)), domain: d0 in [-8, 0]",
            "(d0) -> ((d0 floordiv 4 + 2) * (d0 floordiv 4 + 1)), domain: d0 in [-8, -1]",
        ),
    ),
    "values-equal": RuleExample(
        (
            "(d0) -> (min(d0 * 8, d0 mod 5)), domain: d0 in [-4, 4]",
            "(d0) -> (min(max(d0 mod 2, d0 mod 6), (d0 mod 8) floordiv 5)), domain: d0 in [1, 8]",
            "(d0) -> ((((-d0) mod 6) * 4) floordiv 5), domain: d0 in [0, 3]",
        ),
        (
            "(d0) -> (min(d0 * 8, d0 mod 5)), domain: d0 in [-4, 5]",
            "(d0, d1) -> (min(d0 * 8, d1 mod 5)), domain: d0 in [-4, 4], d1 in [-4, 4]",
        ),
    ),
    "values-equal-in-sum": RuleExample(
        ("(d0, d1) -> (min(d0, d0 mod 5 - 1) - max(d0 * 8, d0) + d1), domain: d0 in [-4, 4], d1 in [0, 9]",),
        ("(d0, d1) -> (d1 * 3 + (d0 * 3) mod 7 + (d0 * 3) floordiv 5), domain: d0 in [0, 80], d1 in [0, 9]",),
    ),
    "quotients-merge": RuleExample(
        (
            "(d0, d1) -> ((d0 - d1) floordiv 3 - d0 floordiv 3), domain: d0 in [-9, 9], d1 in [-9, 9]",
            "(d0, d1) -> ((d1 - d0) floordiv 3 + d0 floordiv 3), domain: d0 in [-9, 9], d1 in [-9, 9]",
        ),
        (
            "(d0) -> ((d0 * 3 + 2) floordiv 4 - d0 floordiv 5), domain: d0 in [-9, 9]",
            "(d0) -> (max(d0, d0 * 3) floordiv 2), domain: d0 in [-3, 5]",
        ),
    ),
    "remainder-mirrored": RuleExample(
        ("(d0) -> ((d0 + 2) mod 3 - 2), domain: d0 in [-99, 99]",),
        ("(d0) -> ((d0 + 1) mod 3 - 1), domain: d0 in [-99, 99]",),
    ),
    "products-factored": RuleExample(
        (
            "(d0, d1) -> (d0 * d1 + d0 * 3), domain: d0 in [-4, 4], d1 in [-4, 4]",
            "(d0, d1, d2) -> (d0 * d1 + (1 - d0) * d2), domain: d0 in [-4, 4], d1 in [-4, 4], d2 in [-4, 4]",
            "(d0, d1) -> ((d0 mod 2) * (7 - d1) + (1 - d0 mod 2) * d1), domain: d0 in [-4, 4], d1 in [-4, 4]",
        ),
        (
            "(d0, d1, d2) -> (d0 * d1 + d2 * 3), domain: d0 in [-4, 4], d1 in [-4, 4], d2 in [-4, 4]",
            "(d0, d1, d2) -> (d0 * d1 + (5 - d0) * d2), domain: d0 in [-4, 4], d1 in [-4, 4], d2 in [-4, 4]",
            "(d0, d1, d2) -> (d0 * d1 + (1 - d0 * 2) * d2), domain: d0 in [-4, 4], d1 in [-4, 4], d2 in [-4, 4]",
        ),
    ),
    "product-of-extremes": RuleExample(
        ("(d0, d1) -> (min(d0, d1) * max(d0, d1)), domain: d0 in [-4, 4], d1 in [-4, 4]",),
        ("(d0, d1) -> (min(d0, d1) * max(d0, d1 + 1)), domain: d0 in [-4, 4], d1 in [-4, 4]",),
    ),
    "extremum-of-quotients": RuleExample(
        ("(d0, d1) -> (max(d0 floordiv 6, d1 floordiv 6)), domain: d0 in [-9, 9], d1 in [-9, 9]",),
        ("(d0, d1) -> (max(d0 floordiv 6, d1 floordiv 5)), domain: d0 in [-9, 9], d1 in [-9, 9]",),
    ),
    "extremum-term-moved-out": RuleExample(
        ("(d0, d1) -> (max(d0 + d1, d1 * 2)), domain: d0 in [0, 7], d1 in [0, 3]",),
        ("(d0, d1) -> (max(d0 + d1, d0 * 2 - d1 * 2)), domain: d0 in [0, 7], d1 in [0, 3]",),
    ),
    "quotient-of-digit": RuleExample(
        (
            "(d0) -> (((d0 floordiv 2) mod 3) floordiv 2), domain: d0 in [-9, 9]",
            "(d0, d1) -> ((d1 - (d0 floordiv 2) mod 3) floordiv 2), domain: d0 in [-9, 9], d1 in [-3, 3]",
        ),
        ("(d0) -> ((d0 mod 3) floordiv 2), domain: d0 in [-9, 9]",),
    ),
    "sum-of-extremes": RuleExample(
        (
            "(d0, d1) -> (min(d0, d1) + max(d0, d1)), domain: d0 in [-4, 4], d1 in [-4, 4]",
            "(d0, d1) -> (min(min(d0, 3 - d0), d1) + max(min(d0, 3 - d0), d1) - d1), domain: d0 in [-4, 4], d1 in [-4, 4]",
        ),
        ("(d0, d1) -> (min(d0, d1) + max(d0, d1 + 1)), domain: d0 in [-4, 4], d1 in [-4, 4]",),
    ),
    "quotient-mirrored": RuleExample(
        ("(d0, d1) -> ((-d0 - 1) floordiv d1 + 1), domain: d0 in [-9, 9], d1 in [1, 5]",),
        ("(d0, d1) -> ((-d0 - 1) floordiv d1 + 1), domain: d0 in [-9, 9], d1 in [-5, -1]",),
    ),
    "extremum-factor-moved-out": RuleExample(
        (
            "(d0, d1, d2) -> (min(d0 * d1, d0 * d2)), domain: d0 in [0, 3], d1 in [-5, 5], d2 in [-5, 5]",
            "(d0, d1, d2) -> (max(d0 * d1, d0 * d2)), domain: d0 in [-3, 0], d1 in [-5, 5], d2 in [-5, 5]",
        ),
        ("(d0, d1, d2) -> (min(d0 * d1, d0 * d2)), domain: d0 in [-1, 3], d1 in [-5, 5], d2 in [-5, 5]",),
    ),
    "extremum-of-last-step": RuleExample(
        (
            "(d0) -> (min(50 - (d0 floordiv 8) * 8, 8)), domain: d0 in [0, 49]",
            "(d0) -> (max((d0 floordiv 3) * 5 + 1, 18)), domain: d0 in [0, 14]",
            "(d0) -> (max(4 - (d0 floordiv 5) * 7, 3)), domain: d0 in [0, 19]",
            "(d0) -> (min((d0 floordiv 4) * 2, -7)), domain: d0 in [-16, -1]",
            "(d0) -> (min((d0 floordiv 4) * 2, -6)), domain: d0 in [-16, -1]",
            "(d0) -> (max(d0 * 4, 3)), domain: d0 in [0, 1]",
        ),
        (
            "(d0) -> (min(50 - (d0 floordiv 8) * 8, 4)), domain: d0 in [0, 57]",
            "(d0) -> (max((d0 floordiv 3) * 5 + 1, 15)), domain: d0 in [0, 14]",
        ),
    ),
    "extremum-term-moved-in": RuleExample(
        (
            "(d0) -> (d0 - min(d0, 2) * 2), domain: d0 in [-3, 3]",
            "(d0) -> (max(5 - d0, d0) - d0), domain: d0 in [0, 7]",
        ),
        ("(d0, d1) -> (d1 - min(d0, 2) * 2), domain: d0 in [-3, 3], d1 in [-3, 3]",),
    ),
    "known-equal": RuleExample(
        ("(d0, d1) -> (d1 mod 2), domain: d0 in [-3, 3], d1 in [0, 6], d0 - d1 mod 2 in [0, 0]",),
        ("(d0, d1) -> (d1 mod 2), domain: d0 in [-3, 3], d1 in [0, 6], d0 - d1 mod 2 in [0, 1]",),
    ),
    "equality-substituted": RuleExample(
        ("(d0)[s0] -> (s0 * 2), domain: d0 in [-6, 3], s0 in [0, 3], d0 + s0 * 2 in [0, 0]",),
        ("(d0)[s0] -> (s0 * 2), domain: d0 in [-6, 3], s0 in [0, 3], d0 + s0 * 2 in [0, 1]",),
    ),
    "variables-equal": RuleExample(
        ("(d0, d1) -> (d1), domain: d0 in [-3, 3], d1 in [0, 6], d0 - d1 in [0, 0]",),
        ("(d0, d1) -> (d1), domain: d0 in [-3, 3], d1 in [0, 6], d0 - d1 in [0, 1]",),
    ),
    "argument-redundant": RuleExample(
        (
            "(d0) -> (min(d0, 3)), domain: d0 in [0, 3]",
            "(d0, d1) -> (max(d0, d0 + d1)), domain: d0 in [-9, 9], d1 in [0, 3]",
        ),
        (
            "(d0) -> (min(d0, 3)), domain: d0 in [0, 4]",
            "(d0, d1) -> (max(d0, d0 + d1)), domain: d0 in [-9, 9], d1 in [-1, 3]",
        ),
    ),
    **FORMS,
}
