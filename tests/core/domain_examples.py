"""Examples of the laws of constraints: a domain as written, and once simplified."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DomainExample:
    """`(as written, as simplified)` for domains where a law applies, and where it does not."""

    applies: tuple[tuple[str, str], ...]
    idle: tuple[tuple[str, str], ...]


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
    "constraint-on-quotient": DomainExample(
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
    "constraint-low-terms-removed": DomainExample(
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
    "constraint-on-deciding-operand": DomainExample(
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], min(d0 + d1, 4) in [1, 3]",
                "(d0, d1) -> (d0, d1), domain: d0 in [-8, 9], d1 in [-8, 9], d0 + d1 in [1, 3]",
            ),
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], max(d0 - 7, d0 + d1, -4) in [3, 18]",
                "(d0, d1) -> (d0, d1), domain: d0 in [-6, 9], d1 in [-6, 9], d0 + d1 in [3, 18]",
            ),
        ),
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], min(d0 + d1, 4) in [1, 4]",
                "(d0, d1) -> (d0, d1), domain: d0 in [-8, 9], d1 in [-8, 9], d0 + d1 in [1, 18]",
            ),
        ),
    ),
    "constraint-on-extremum": DomainExample(
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
            # The constructor finds a smaller modulus than that of the constraint.
            (
                "(d0) -> (d0), domain: d0 in [1, 19], ((d0 mod 4) * 5 + 1) mod 12 in [4, 4]",
                "(d0) -> (d0), domain: d0 in [1, 19], ((d0 mod 4) * 5 + 1) mod 12 in [4, 4]",
            ),
        ),
    ),
    "constraint-on-remainder": DomainExample(
        (
            ("(d0) -> (d0), domain: d0 in [0, 8], (d0 + 6) mod 8 in [3, 5]", "(d0) -> (d0), domain: d0 in [5, 7]"),
            ("(d0) -> (d0), domain: d0 in [-6, 3], d0 mod 8 in [4, 5]", "(d0) -> (d0), domain: d0 in [-4, -3]"),
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], (d0 * 2 + d1) mod 16 in [14, 15]",
                "(d0, d1) -> (d0, d1), domain: d0 in [3, 7], d1 in [0, 9], d0 * 2 + d1 in [14, 15]",
            ),
            (
                "(d0) -> (d0), domain: d0 in [0, 9], ((d0 mod 3) * 5 + 1) mod 6 in [5, 5]",
                "(d0) -> (d0), domain: d0 in [2, 8], d0 mod 3 in [2, 2]",
            ),
        ),
        (
            (
                "(d0) -> (d0), domain: d0 in [0, 17], d0 mod 8 in [0, 3]",
                "(d0) -> (d0), domain: d0 in [0, 17], d0 mod 8 in [0, 3]",
            ),
        ),
    ),
    "constraint-remainder-bounds": DomainExample(
        (
            (
                "(d0) -> (d0), domain: d0 in [0, 22], d0 mod 8 in [3, 5]",
                "(d0) -> (d0), domain: d0 in [3, 21], d0 mod 8 in [3, 5]",
            ),
            (
                "(d0) -> (d0), domain: d0 in [-9, 9], (d0 * 3 + 1) mod 16 in [4, 6]",
                "(d0) -> (d0), domain: d0 in [-9, 7], (d0 * 3 + 1) mod 16 in [4, 6]",
            ),
            ("(d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [-3, 3], (d0 - d1) mod 16 in [8, 8]", "KNOWN EMPTY"),
        ),
        (
            (
                "(d0) -> (d0), domain: d0 in [3, 21], d0 mod 8 in [3, 5]",
                "(d0) -> (d0), domain: d0 in [3, 21], d0 mod 8 in [3, 5]",
            ),
        ),
    ),
    "constraints-contradict": DomainExample(
        (
            (
                "(d0, d1) -> (d0), domain: d0 in [0, 50], d1 in [0, 50], d0 - d1 * 2 in [6, 6], (d0 + d1) mod 3 in [1, 1]",
                "KNOWN EMPTY",
            ),
            (
                "(d0, d1, d2) -> (d0), domain: d0 in [0, 90], d1 in [0, 9], d2 in [0, 9], d0 * 6 + d1 * 10 - d2 * 15 in [1, 2], "
                "(d0 - d2) mod 5 in [0, 1], d1 mod 3 in [0, 0]",
                "KNOWN EMPTY",
            ),
        ),
        (
            (
                "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 - d1 in [-3, 3], d0 + d1 in [5, 9]",
                "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 - d1 in [-3, 3], d0 + d1 in [5, 9]",
            ),
        ),
    ),
    "constraint-follows": DomainExample(
        (
            (
                "(d0, d1, d2) -> (d0), domain: d0 in [0, 9], d1 in [0, 3], d2 in [0, 3], d0 * 4 + d1 in [0, 30], "
                "d0 * 16 + d1 * 4 + d2 in [0, 122]",
                "(d0, d1, d2) -> (d0), domain: d0 in [0, 7], d1 in [0, 3], d2 in [0, 3], d0 * 16 + d1 * 4 + d2 in [0, 122]",
            ),
            (
                "(d0, d1) -> (d0), domain: d0 in [0, 127], d1 in [0, 9], (d0 + d1) mod 40 in [20, 39], (d0 + d1) mod 120 in [20, 119]",
                "(d0, d1) -> (d0), domain: d0 in [11, 119], d1 in [0, 9], (d0 + d1) mod 40 in [20, 39]",
            ),
            (
                "(d0) -> (d0), domain: d0 in [32, 127], d0 mod 64 in [32, 63], (d0 floordiv 32) mod 2 in [1, 1]",
                "(d0) -> (d0), domain: d0 in [32, 127], d0 mod 64 in [32, 63]",
            ),
        ),
        (
            (
                "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 - d1 in [-3, 3], d0 + d1 in [5, 9]",
                "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 - d1 in [-3, 3], d0 + d1 in [5, 9]",
            ),
            (
                "(d0, d1, d2) -> (d0), domain: d0 in [0, 7], d1 in [0, 3], d2 in [0, 3], d0 * 4 + d1 in [1, 30], "
                "d0 * 16 + d1 * 4 + d2 in [0, 122]",
                "(d0, d1, d2) -> (d0), domain: d0 in [0, 7], d1 in [0, 3], d2 in [0, 3], d0 * 4 + d1 in [1, 30], "
                "d0 * 16 + d1 * 4 + d2 in [0, 122]",
            ),
            (
                "(d0, d1, d2) -> (d0), domain: d0 in [0, 7], d1 in [0, 3], d2 in [0, 3], d0 * 4 + d1 in [2, 29], "
                "d0 * 16 + d1 * 4 + d2 in [3, 118]",
                "(d0, d1, d2) -> (d0), domain: d0 in [0, 7], d1 in [0, 3], d2 in [0, 3], d0 * 4 + d1 in [2, 29], "
                "d0 * 16 + d1 * 4 + d2 in [3, 118]",
            ),
        ),
    ),
    "constraint-congruences-merge": DomainExample(
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
    "constraint-congruences-contradict": DomainExample(
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-9, 9], d1 in [-9, 9], (d0 + d1) mod 4 in [1, 1], (d0 + d1) mod 6 in [2, 2]",
                "KNOWN EMPTY",
            ),
        ),
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [-40, 9], d1 in [-9, 9], (d0 + d1) mod 4 in [1, 1], (d0 + d1) mod 7 in [2, 2]",
                "(d0, d1) -> (d0, d1), domain: d0 in [-40, 9], d1 in [-9, 9], (d0 + d1) mod 28 in [9, 9]",
            ),
        ),
    ),
    "constraint-congruence-bounds": DomainExample(
        (
            (
                "(d0) -> (d0), domain: d0 in [-9, 9], d0 mod 4 in [1, 1], d0 mod 6 in [3, 3]",
                "(d0) -> (d0), domain: d0 in [-3, 9], d0 mod 12 in [9, 9]",
            ),
        ),
        (
            (
                "(d0) -> (d0), domain: d0 in [-7, 9], d0 mod 4 in [1, 1]",
                "(d0) -> (d0), domain: d0 in [-7, 9], d0 mod 4 in [1, 1]",
            ),
        ),
    ),
    "constraint-divisor": DomainExample(
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 3], d0 mod d1 in [0, 3]",
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [1, 3]",
            ),
            ("(d0) -> (7 floordiv d0), domain: d0 in [-9, 0]", "(d0) -> (7 floordiv d0), domain: d0 in [-9, -1]"),
            (
                "(d0) -> ((d0 * d0) floordiv d0), domain: d0 in [-9, 5]",
                "(d0) -> (d0), domain: d0 in [-9, 5], max(-d0, d0) in [1, 9]",
            ),
        ),
        (
            # Odd numbers, and those that are 2 modulo 3, are never 0.
            (
                "(d0) -> (3 mod (d0 * 2 - 1)), domain: d0 in [0, 9]",
                "(d0) -> (3 mod (d0 * 2 - 1)), domain: d0 in [0, 9]",
            ),
            (
                "(d0) -> (8 floordiv (d0 * 9 - 7)), domain: d0 in [-2, 2]",
                "(d0) -> (8 floordiv (d0 * 9 - 7)), domain: d0 in [-2, 2]",
            ),
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [1, 4], d0 mod d1 in [0, 3]",
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [1, 4]",
            ),
        ),
    ),
    "constraints-intersect": DomainExample(
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [2, 9], (d0 + d1) * 2 in [9, 24]",
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
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 8], d1 in [0, 4], d0 - d1 * 2 in [0, 0], d0 mod 2 in [0, 0]",
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 8], d1 in [0, 4], d0 - d1 * 2 in [0, 0]",
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
