"""Examples of the laws of constructors: a result as written over d0, d1, .., and as it is printed once made.

Where a law does not apply, its precondition broken by one, the two are the same.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MadeExample:
    """`(as written, as made)` for results where a law applies, and for others, which stay as they are written."""

    applies: tuple[tuple[str, str], ...]
    idle: tuple[str, ...]


CONSTRUCTORS: dict[str, MadeExample] = {
    "sum-flat": MadeExample(
        (("(d0 * 3 + 2) * 4 + d1", "d0 * 12 + d1 + 8"),),
        ("d0 + d1 * 4",),
    ),
    "sum-terms-merge": MadeExample(
        (
            ("d0 * 3 + d1 - d0 * 3", "d1"),
            ("d0 * 3 + d0 * 2", "d0 * 5"),
        ),
        ("d0 * 3 + d1 * 2",),
    ),
    "sum-remainder-recombines": MadeExample(
        (
            ("(d0 floordiv 4) * 8 + (d0 mod 4) * 2", "d0 * 2"),
            ("((d0 + 4) floordiv 4) * 4 + d0 mod 4", "d0 + 4"),
        ),
        (
            "(d0 floordiv 4) * 8 + d0 mod 4",
            "((d0 + 1) floordiv 4) * 4 + d0 mod 4",
        ),
    ),
    "sum-digits-recombine": MadeExample(
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
    "quotient-of-quotient": MadeExample(
        (("(d0 floordiv 3) floordiv 4", "d0 floordiv 12"),),
        ("(d1 + d0 floordiv 3) floordiv 4",),
    ),
    "quotient-of-remainder": MadeExample(
        (("(d0 mod 12) floordiv 4", "(d0 floordiv 4) mod 3"),),
        ("(d0 mod 13) floordiv 4",),
    ),
    "quotient-multiples-moved-out": MadeExample(
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
    "quotient-offset-moved-in": MadeExample(
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
    "remainder-inner-expanded": MadeExample(
        (("((d0 mod 6) * 2 + d1) mod 4", "(d0 * 2 + d1) mod 4"),),
        ("(d1 + (d0 mod 7) * 2) mod 5",),
    ),
    "remainder-common-factor": MadeExample(
        (("(d0 * 2 + 1) mod 8", "(d0 mod 4) * 2 + 1"),),
        ("(d0 * 2 + 1) mod 7",),
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
    "extremum-scaled-flat": MadeExample(
        (
            ("min(d0, min(d1, d2) + 2)", "min(d0, d1 + 2, d2 + 2)"),
            ("min(d0, 2 - max(d1, d2))", "min(d0, 2 - d1, 2 - d2)"),
            ("max(d0, d1 + max(d2, 0) * 3)", "max(d0, d1, d1 + d2 * 3)"),
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
        (("min(3, max(4, d0))", "3"), ("min(d1, max(d1 + 1, d0))", "d1")),
        ("min(max(d0, 4), 5)",),
    ),
    "extremum-inner-redundant": MadeExample(
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
            ("min(d0 * 4, d1 * 4)", "min(d0, d1) * 4"),
            ("min(-d0, -d1)", "-max(d0, d1)"),
        ),
        ("min(d0 * 2, d1 * 3)",),
    ),
}
