"""Proofs of the laws of constraints and ranges."""

from __future__ import annotations

from collections.abc import Iterator

import z3

from solver import Claim, Proof, Writer, high, low, shifted


def constraint_normal_form(w: Writer) -> Iterator[Claim]:
    x, c, a, b = w.integers("x c a b")
    (k,) = w.small("k")
    least, most = -w.positive_div(-(a - c), k), w.positive_div(b - c, k)
    yield True, z3.And(a <= k * x + c, k * x + c <= b) == z3.And(least <= x, x <= most)
    yield True, z3.And(a <= -k * x + c, -k * x + c <= b) == z3.And(least <= -x, -x <= most)


def constraint_quotient_opened(w: Writer) -> Iterator[Claim]:
    x, a, b = w.integers("x a b")
    (m,) = w.small("m")
    q = w.positive_div(x, m)
    yield True, z3.And(a <= q, q <= b) == z3.And(a * m <= x, x <= b * m + m - 1)


def constraint_low_terms_leave(w: Writer) -> Iterator[Claim]:
    h, rest, a, b, u, v, p, q = w.integers("h l a b u v p q")
    (g,) = w.small("g")
    ends = z3.And(
        *(p == -w.positive_div(-(a - end), g) for end in (u, v)), *(q == w.positive_div(b - end, g) for end in (u, v))
    )
    whole = g * h + rest
    yield z3.And(u <= rest, rest <= v, ends), z3.And(a <= whole, whole <= b) == z3.And(p <= h, h <= q)


def constraint_bounds_term(w: Writer) -> Iterator[Claim]:
    x, y, a, b, u, v = w.integers("x y a b u v")
    yield z3.And(u <= y, y <= v, a <= x + y, x + y <= b), z3.And(a - v <= x, x <= b - u)


def constraint_extremum_opened(w: Writer) -> Iterator[Claim]:
    x, y, a, b = w.integers("x y a b")
    yield True, z3.And(a <= low(x, y), low(x, y) <= b) == z3.And(a <= x, a <= y, low(x, y) <= b)
    yield True, z3.And(a <= high(x, y), high(x, y) <= b) == z3.And(x <= b, y <= b, a <= high(x, y))


def constraint_congruence_normal(w: Writer) -> Iterator[Claim]:
    x, c, r, s, q, t = w.integers("x c r s q t")
    m, u, i = w.small("m u i")
    inverse = i * u == 1 + s * m
    # u * x + c = r + m * q gives x + i * c = i * r + m * (i * q - s * x), and back with u * t + s * (r - c).
    yield z3.And(inverse, u * x + c == r + m * q), x + i * c == i * r + m * (i * q - s * x)
    yield z3.And(inverse, x + i * c == i * r + m * t), u * x + c == r + m * (u * t + s * (r - c))
    yield from shifted(w, m)


def constraint_congruences_join(w: Writer) -> Iterator[Claim]:
    # m = g * i and n = g * j, where a * i + b * j = 1, so that l = g * i * j.
    a, b, p, q, t = w.integers("a b p q t")
    g, i, j = w.small("g i j")
    bezout = a * i + b * j == 1
    # x - s = g * i * p = g * j * q: then i * p = j * q, and it is g * i * j * (a * q + b * p).
    yield g * i * p == g * j * q, i * p == j * q
    yield z3.And(bezout, i * p == j * q), p == j * (a * q + b * p)
    yield True, z3.And(g * i * j * t == g * i * (j * t), g * i * j * t == g * j * (i * t))
    yield from shifted(w, g * i * j)
    yield from shifted(w, g * i)


def constraint_congruences_never(w: Writer) -> Iterator[Claim]:
    x, r, q = w.integers("x r q")
    g, i, j = w.small("g i j")
    apart = w.positive_mod(q - r, g) != 0
    both = z3.And(w.positive_mod(x, g * i) == r, w.positive_mod(x, g * j) == q)
    yield apart, z3.Not(both)


def tightened(w: Writer) -> Iterator[Claim]:
    x, r, a, b = w.integers("x r a b")
    (m,) = w.small("m")
    inside = z3.And(w.positive_mod(x, m) == r, a <= x, x <= b, r >= 0, r < m)
    yield inside, z3.And(a + w.positive_mod(r - a, m) <= x, x <= b - w.positive_mod(b - r, m))


def constraint_divisor(w: Writer) -> Iterator[Claim]:
    (y,) = w.integers("y")
    yield y >= 0, (y != 0) == (y >= 1)
    yield y <= 0, (y != 0) == (y <= -1)
    yield True, (y != 0) == (high(y, -y) >= 1)


def constraints_meet(w: Writer) -> Iterator[Claim]:
    e, a, b, c, d = w.integers("e a b c d")
    yield True, z3.And(a <= e, e <= b, c <= e, e <= d) == z3.And(high(a, c) <= e, e <= low(b, d))


def constraint_implied(w: Writer) -> Iterator[Claim]:
    e, a, b, u, v = w.integers("e a b u v")
    yield z3.And(a <= u, v <= b, u <= e, e <= v), z3.And(a <= e, e <= b)


def constraint_impossible(w: Writer) -> Iterator[Claim]:
    e, a, b, u, v = w.integers("e a b u v")
    yield z3.And(z3.Or(v < a, b < u), u <= e, e <= v), z3.Not(z3.And(a <= e, e <= b))


def constraint_equates(w: Writer) -> Iterator[Claim]:
    x, y = w.integers("x y")
    f = z3.Function("f", z3.IntSort(), z3.IntSort())
    yield x - y == 0, f(y) == f(x)


def constraint_solved(w: Writer) -> Iterator[Claim]:
    r, v, c, s = w.integers("r v c s")
    yield z3.And(r + s * v == c, z3.Or(s == 1, s == -1)), v == s * (c - r)


def range_of_sum(w: Writer) -> Iterator[Claim]:
    x, y, u, v, p, q = w.integers("x y u v p q")
    yield z3.And(u <= x, x <= v, p <= y, y <= q), z3.And(u + p <= x + y, x + y <= v + q)


def range_of_multiple(w: Writer) -> Iterator[Claim]:
    x, u, v = w.integers("x u v")
    (k,) = w.small("k")
    inside = z3.And(u <= x, x <= v)
    yield inside, z3.And(k * u <= k * x, k * x <= k * v)
    yield inside, z3.And(-k * v <= -k * x, -k * x <= -k * u)


def range_of_digits(w: Writer) -> Iterator[Claim]:
    x, a, b, c = w.integers("x a b c")
    (k,) = w.small("k")
    q, r = w.positive_div(x, k), w.positive_mod(x, k)
    yield True, a * x + b * q + c * r == (a * k + b) * q + (a + c) * r


def range_by_lifting(w: Writer) -> Iterator[Claim]:
    x, y = w.integers("x y")
    (b,) = w.small("b")
    yield True, w.positive_div(x, b) + y == w.positive_div(x + b * y, b)


def range_of_quotient(w: Writer) -> Iterator[Claim]:
    x, u, v = w.integers("x u v")
    (m,) = w.small("m")
    q = w.positive_div(x, m)
    yield z3.And(u <= x, x <= v), z3.And(w.positive_div(u, m) <= q, q <= w.positive_div(v, m))


def range_of_quotient_by_expression(w: Writer) -> Iterator[Claim]:
    x, y, u, v, p, q = w.integers("x y u v p q")
    ends = [w.div(e, d) for e in (u, v) for d in (p, q)]
    value = w.div(x, y)
    inside = z3.And(u <= x, x <= v, p <= y, y <= q)
    for sign in (p > 0, q < 0):
        yield z3.And(inside, sign), z3.Or(*(e <= value for e in ends))
        yield z3.And(inside, sign), z3.Or(*(value <= e for e in ends))


def range_of_remainder(w: Writer) -> Iterator[Claim]:
    x, u, v = w.integers("x u v")
    (m,) = w.small("m")
    inside = z3.And(u <= x, x <= v)
    q, first, last = w.positive_div(x, m), w.positive_div(u, m), w.positive_div(v, m)
    yield inside, z3.And(first <= q, q <= last)
    alike = z3.And(inside, first == q, q == last)
    yield alike, z3.And(u - m * first <= x - m * q, x - m * q <= v - m * last)
    yield True, z3.And(x - m * q >= 0, x - m * q <= m - 1)


def range_of_remainder_by_expression(w: Writer) -> Iterator[Claim]:
    x, y, p, q = w.integers("x y p q")
    r = w.mod(x, y)
    yield z3.And(p <= y, y <= q, y != 0), z3.And(r >= 0, r <= high(-p, q) - 1)
    yield z3.And(y != 0, x >= 0), r <= x


def range_of_extremum(w: Writer) -> Iterator[Claim]:
    x, y, u, v, p, q = w.integers("x y u v p q")
    inside = z3.And(u <= x, x <= v, p <= y, y <= q)
    yield inside, z3.And(low(u, p) <= low(x, y), low(x, y) <= low(v, q))
    yield inside, z3.And(high(u, p) <= high(x, y), high(x, y) <= high(v, q))


def range_of_product(w: Writer) -> Iterator[Claim]:
    x, y, u, v, p, q = w.integers("x y u v p q")
    inside = z3.And(u <= x, x <= v, p <= y, y <= q)
    ends = [a * b for a in (u, v) for b in (p, q)]
    yield inside, z3.Or(*(e <= x * y for e in ends))
    yield inside, z3.Or(*(x * y <= e for e in ends))


def range_of_square(w: Writer) -> Iterator[Claim]:
    (x,) = w.integers("x")
    yield True, x * x >= 0


def congruence_of_sum(w: Writer) -> Iterator[Claim]:
    # a * m = g * k and b * n = g * l
    r, s, a, b, k, j, i, n = w.integers("r s a b k j i n")
    (g,) = w.small("g")
    # a * x = a * r + (a * m) * i
    whole = a * r + g * k * i + b * s + g * j * n
    yield True, w.positive_mod(whole, g) == w.positive_mod(a * r + b * s, g)


def congruence_of_remainder(w: Writer) -> Iterator[Claim]:
    r, i, k = w.integers("r i k")
    g, j = w.small("g j")
    # n = g * k, m = g * j
    yield True, w.positive_mod(w.positive_mod(r + g * k * i, g * j), g) == w.positive_mod(r, g)


def congruence_of_extremum(w: Writer) -> Iterator[Claim]:
    r, i, j, k = w.integers("r i j k")
    (g,) = w.small("g")
    x, y = r + g * i, r + g * k + g * j  # s = r + g * k
    yield True, w.positive_mod(x, g) == w.positive_mod(r, g)
    yield True, w.positive_mod(y, g) == w.positive_mod(r, g)
    yield True, z3.Or(low(x, y) == x, low(x, y) == y)
    yield True, z3.Or(high(x, y) == x, high(x, y) == y)


def congruence_of_product(w: Writer) -> Iterator[Claim]:
    i, j = w.integers("i j")
    g, h = w.small("g h")
    yield True, w.positive_mod((g * i) * (h * j), g * h) == 0


PROOFS: dict[str, Proof] = {
    "constraint-normal-form": Proof(constraint_normal_form),
    "constraint-quotient-opened": Proof(constraint_quotient_opened),
    "constraint-low-terms-leave": Proof(constraint_low_terms_leave),
    "constraint-bounds-term": Proof(constraint_bounds_term),
    "constraint-extremum-opened": Proof(constraint_extremum_opened),
    "constraint-congruence-normal": Proof(constraint_congruence_normal),
    "constraint-congruences-join": Proof(constraint_congruences_join),
    "constraint-congruences-never": Proof(constraint_congruences_never),
    "constraint-congruence-bounds": Proof(tightened),
    "constraint-divisor": Proof(constraint_divisor),
    "constraints-meet": Proof(constraints_meet),
    "constraint-implied": Proof(constraint_implied),
    "constraint-impossible": Proof(constraint_impossible),
    "constraint-equates": Proof(constraint_equates),
    "constraint-solved": Proof(constraint_solved),
    "range-of-sum": Proof(range_of_sum),
    "range-of-multiple": Proof(range_of_multiple),
    "range-of-digits": Proof(range_of_digits),
    "range-by-lifting": Proof(range_by_lifting),
    "range-of-quotient": Proof(range_of_quotient),
    "range-of-quotient-by-expression": Proof(range_of_quotient_by_expression),
    "range-of-remainder": Proof(range_of_remainder),
    "range-of-remainder-by-expression": Proof(range_of_remainder_by_expression),
    "range-of-extremum": Proof(range_of_extremum),
    "range-of-product": Proof(range_of_product),
    "range-of-square": Proof(range_of_square),
    "congruence-of-sum": Proof(congruence_of_sum),
    "congruence-of-remainder": Proof(congruence_of_remainder),
    "congruence-of-extremum": Proof(congruence_of_extremum),
    "congruence-of-product": Proof(congruence_of_product),
    "congruence-tightens": Proof(tightened),
}
