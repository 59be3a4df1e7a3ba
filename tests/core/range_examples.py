"""Examples of the laws of ranges: an expression, its domain, and its bounds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RangeExample:
    """`(expression, domain, range)` where a law applies, and where it does not."""

    applies: tuple[tuple[str, str, tuple[int, int]], ...]
    idle: tuple[tuple[str, str, tuple[int, int]], ...]


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
    "range-of-expanded-quotient": RangeExample(
        (
            ("(d0 * 5) floordiv 3 - d0", "d0 in [0, 9]", (0, 6)),
            ("d0 * 2 + d1 - ((d0 * 7 + d1) floordiv 4) * 2", "d0 in [0, 4], d1 in [1, 2]", (-5, 2)),
        ),
        (("(d0 * 5) floordiv 3 - d1", "d0 in [0, 9], d1 in [0, 9]", (-9, 15)),),
    ),
    "range-of-common-factor": RangeExample(
        (
            ("d0 * d0 - d0", "d0 in [2, 5]", (2, 20)),
            ("d0 * d1 - d0 * 4 + d1 floordiv 4", "d0 in [1, 3], d1 in [4, 6]", (1, 7)),
        ),
        (("d0 * d1 - (d1 floordiv 2) * 4", "d0 in [1, 3], d1 in [4, 6]", (-8, 10)),),
    ),
    "range-by-digits": RangeExample(
        (
            (
                "(d0 mod 7) * 8 + d1 mod 40",
                "d0 in [0, 20], d1 in [0, 99], d0 mod 7 + (d1 floordiv 8) mod 5 in [1, 9]",
                (8, 79),
            ),
            ("d0 * 4 + d1", "d0 in [0, 9], d1 in [0, 39], d0 + d1 floordiv 4 in [2, 5]", (8, 23)),
        ),
        (
            (
                "(d0 mod 7) * 8 + d1 mod 48",
                "d0 in [0, 20], d1 in [0, 99], d0 mod 7 + (d1 floordiv 8) mod 5 in [1, 9]",
                (0, 95),
            ),
        ),
    ),
    "range-by-facts": RangeExample(
        (("d0 * 2 + d1 * 2 + d0 floordiv 4", "d0 in [0, 9], d1 in [0, 9], d0 + d1 in [2, 5]", (4, 11)),),
        (("d0 * 2 + d1 * 2 + d0 floordiv 4", "d0 in [0, 5], d1 in [0, 5], d0 - d1 in [-4, 4]", (0, 21)),),
    ),
    "range-by-common-denominator": RangeExample(
        (("d0 floordiv 4 + d1", "d0 in [0, 9], d1 in [-9, 9], d0 + d1 * 4 in [0, 7]", (0, 1)),),
        (("d0 floordiv 4 + d1", "d0 in [0, 9], d1 in [-9, 9], d0 + d1 * 3 in [0, 7]", (-1, 2)),),
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
    "range-below-divisor": RangeExample(
        (
            ("d1 - d0 mod d1", "d0 in [-9, 9], d1 in [1, 5]", (1, 5)),
            ("d1 * 2 - d0 mod d1", "d0 in [-9, 9], d1 in [1, 5]", (2, 10)),
            ("(d0 mod d1) * 2 - d1 * 2", "d0 in [-9, 9], d1 in [1, 5]", (-10, -2)),
        ),
        (("d1 - d0 mod d1", "d0 in [-9, 9], d1 in [-5, -1]", (-9, -1)),),
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
    "range-of-opposite-extremum": RangeExample(
        (
            ("max(d0 - d1, d1 - d0)", "d0 in [0, 9], d1 in [0, 9]", (0, 9)),
            ("max(d0 - d1 * 3, d1 * 2 - d0 + 1)", "d0 in [0, 9], d1 in [0, 4]", (-1, 9)),
            ("min(d0, 30 - d0)", "d0 in [0, 30]", (0, 15)),
        ),
        (("max(d0, d1)", "d0 in [-9, 9], d1 in [-8, 8]", (-8, 9)),),
    ),
    "congruence-of-two-values": RangeExample(
        (("max(d0 * 5, 471) mod 4", "d0 in [0, 95]", (3, 3)), ("min(d0 * 5, 4) mod 4", "d0 in [0, 95]", (0, 0))),
        (("max(d0 * 5, 469) mod 3", "d0 in [0, 95]", (1, 2)), ("min(d0 * 5, 9) mod 9", "d0 in [0, 95]", (0, 5))),
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
    "congruence-of-digits": RangeExample(
        (
            ("d0 * 2 + (d0 mod 64) * 1022 + 1", "d0 in [1, 127]", (129, 64641)),
            ("d0 + (d0 floordiv 4) * 2 + (d0 mod 4) * 5 + d1 * 6", "d0 in [1, 7], d1 in [0, 1]", (6, 30)),
            (
                "d0 * 4 + (d0 floordiv 32) * 896 + d1 * 2 + (d1 mod 64) * 1022 + 1",
                "d0 in [1, 127], d1 in [0, 127]",
                (5, 67837),
            ),
        ),
        (("d0 * 2 + (d1 mod 64) * 1022 + 1", "d0 in [1, 127], d1 in [0, 63]", (3, 64641)),),
    ),
    "congruence-of-remainders": RangeExample(
        (
            ("((d0 + 3) mod 16) * 127 + (d0 * 17) mod 128", "d0 in [0, 999]", (13, 2029)),
            ("((d0 + 1) mod 8) * 8188 + (d0 mod 32) * 4", "d0 in [0, 99]", (28, 57436)),
            ("(d0 * 3 + d1 * 8 + 1) mod 16 + (d0 * 5) mod 8", "d0 in [0, 63], d1 in [0, 9]", (1, 17)),
        ),
        (("(d0 * 3 + 1) mod 8 + (d1 * 5) mod 8", "d0 in [0, 63], d1 in [0, 63]", (0, 14)),),
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
