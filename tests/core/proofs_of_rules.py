"""Proofs of the rules."""

from __future__ import annotations

from collections.abc import Iterator

import z3

from solver import Claim, Proof, Writer, high, low, shifted


def single_value(w: Writer) -> Iterator[Claim]:
    e, c = w.integers("e c")
    yield z3.And(c <= e, e <= c), e == c


def quotient_split(w: Writer) -> Iterator[Claim]:
    t, r = w.integers("t r")
    g, k = w.small("g k")
    n = g * t + r
    yield z3.And(r >= 0, r < g), w.positive_div(n, g * k) == w.positive_div(n - r, g * k)


def remainder_split(w: Writer) -> Iterator[Claim]:
    t, r = w.integers("t r")
    g, k = w.small("g k")
    n = g * t + r
    yield z3.And(r >= 0, r < g), w.positive_mod(n, g * k) == w.positive_mod(n - r, g * k) + r


def quotient_of_extremum(w: Writer) -> Iterator[Claim]:
    a, b = w.integers("a b")
    (m,) = w.small("m")
    p, q = w.positive_div(a, m), w.positive_div(b, m)
    yield True, w.positive_div(low(a, b), m) == low(p, q)
    yield True, w.positive_div(high(a, b), m) == high(p, q)


def quotient_of_nested(w: Writer) -> Iterator[Claim]:
    x, y = w.integers("x y")
    b, m = w.small("b m")
    yield True, w.positive_div(w.positive_div(x, b) + y, m) == w.positive_div(x + b * y, b * m)


def quotient_carried(w: Writer) -> Iterator[Claim]:
    h, rest = w.integers("h l")
    g, k = w.small("g k")
    yield True, w.positive_div(g * h + rest, g * k) == w.positive_div(h + w.positive_div(rest, g), k)


def remainder_carried(w: Writer) -> Iterator[Claim]:
    h, rest = w.integers("h l")
    g, k = w.small("g k")
    carry, digit = w.positive_div(rest, g), w.positive_mod(rest, g)
    yield True, w.positive_mod(g * h + rest, g * k) == g * w.positive_mod(h + carry, k) + digit


def quotient_thresholds(w: Writer) -> Iterator[Claim]:
    # The left side rises by 1 at s, s + k, .. only: at the steps j it is q + j on [s + j * k, s + (j + 1) * k).
    x, s, q, j, c = w.integers("x s q j c")
    a, m, k = w.small("a m k")
    left = w.positive_div(a * x + c, m)
    here = z3.And(s + j * k <= x, x < s + (j + 1) * k)
    yield z3.And(here, left == q + j), left == w.positive_div(x - s, k) + q
    # It reaches j where x reaches the rational (m * j - c) / a, rounded up.
    yield True, (left >= j) == (x >= -w.positive_div(c - m * j, a))


def quotient_of_multiple(w: Writer) -> Iterator[Claim]:
    x, y, z = w.integers("x y z")
    yield y != 0, w.div(x * y + z, y) == x + w.div(z, y)


def remainder_of_multiple(w: Writer) -> Iterator[Claim]:
    x, y, z = w.integers("x y z")
    yield y != 0, w.mod(x * y + z, y) == w.mod(z, y)


def quotient_small(w: Writer) -> Iterator[Claim]:
    x, y = w.integers("x y")
    yield z3.And(x >= 0, x < y), w.div(x, y) == 0


def remainder_small(w: Writer) -> Iterator[Claim]:
    x, y = w.integers("x y")
    yield z3.And(x >= 0, x < y), w.mod(x, y) == x


def remainder_in_period(w: Writer) -> Iterator[Claim]:
    x, k = w.integers("x k")
    (m,) = w.small("m")
    yield z3.And(m * k <= x, x < m * (k + 1)), w.positive_mod(x, m) == x - m * k


def remainder_opened(w: Writer) -> Iterator[Claim]:
    x, y, c = w.integers("x y c")
    u, m = w.small("u m")
    opened = y + c * x - c * u * w.positive_div(x, u)
    yield True, w.positive_mod(y + c * w.positive_mod(x, u), m) == w.positive_mod(opened, m)


def remainder_of_quotient(w: Writer) -> Iterator[Claim]:
    x, y, z, k, q = w.integers("x y z k q")
    m, d, c, p = w.small("m d c p")
    t = w.integers("t")[0]
    yield True, w.positive_div(x + d * t, d) == w.positive_div(x, d) + t  # t = p * y
    yield c * p == k * m, c * (q + p * y) + z == c * q + z + m * (k * y)
    yield from shifted(w, m)


def remainder_recombines(w: Writer) -> Iterator[Claim]:
    x, y, z = w.integers("x y z")
    (m,) = w.small("m")
    q = w.positive_div(z, m)
    yield w.positive_mod(x, m) == w.positive_mod(z, m), w.positive_mod(x, m) == z - m * q
    mirrored = w.positive_mod(y, m) == w.positive_mod(-1 - z, m)
    yield mirrored, w.positive_mod(y, m) == m - 1 - z + m * q


def quotient_recombines(w: Writer) -> Iterator[Claim]:
    (x,) = w.integers("x")
    (m,) = w.small("m")
    yield True, m * w.positive_div(x, m) == x - w.positive_mod(x, m)


def digits_recombine(w: Writer) -> Iterator[Claim]:
    x, y, z = w.integers("x y z")
    u, v = w.small("u v")
    joined = w.positive_mod(z + u * (y - w.positive_div(z, u)), u * v)
    same = w.positive_mod(x, u) == w.positive_mod(z, u)
    yield same, w.positive_mod(x, u) + u * w.positive_mod(y, v) == joined


def halves_recombine(w: Writer) -> Iterator[Claim]:
    (x,) = w.integers("x")
    half, above = w.div(x, 2), w.div(x + 1, 2)
    yield True, half + w.mod(x, 2) == above
    yield True, above - w.mod(x, 2) == half


def quotients_differ(w: Writer) -> Iterator[Claim]:
    a, b = w.integers("a b")
    (m,) = w.small("m")
    yield True, w.positive_div(a, m) - w.positive_div(b, m) == w.positive_div(w.positive_mod(b, m) + a - b, m)


def remainder_mirrored(w: Writer) -> Iterator[Claim]:
    (x,) = w.integers("x")
    (m,) = w.small("m")
    yield True, w.positive_mod(x, m) == m - 1 - w.positive_mod(m - 1 - x, m)


def products_factored(w: Writer) -> Iterator[Claim]:
    x, y, f = w.integers("x y f")
    yield True, x * f + y * f == (x + y) * f


def extremes_multiply(w: Writer) -> Iterator[Claim]:
    a, b = w.integers("a b")
    yield True, low(a, b) * high(a, b) == a * b


def extremes_join(w: Writer) -> Iterator[Claim]:
    a, b = w.integers("a b")
    yield True, low(a, b) + high(a, b) == a + b


def extremum_of_quotients(w: Writer) -> Iterator[Claim]:
    a, b, k = w.integers("a b k")
    (m,) = w.small("m")
    p, q = w.positive_div(a, m), w.positive_div(b, m)
    yield True, low(p, q) == w.positive_div(low(a, b), m)
    yield True, high(p, q) == w.positive_div(high(a, b), m)
    yield True, k + p == w.positive_div(a + k * m, m)
    yield True, k - p == w.positive_div(m - 1 - a + k * m, m)


def extremum_term_leaves(w: Writer) -> Iterator[Claim]:
    a, b, t = w.integers("a b t")
    yield True, low(a + t, b) == low(a, b - t) + t
    yield True, high(a + t, b) == high(a, b - t) + t


def quotient_of_digit(w: Writer) -> Iterator[Claim]:
    x, y = w.integers("x y")
    a, b, m = w.small("a b m")
    digit, rest, whole = w.positive_mod(w.positive_div(x, a), b), w.positive_mod(x, a), w.positive_mod(x, a * b)
    yield True, whole == a * digit + rest
    d, r = w.integers("d r")
    yield z3.And(r >= 0, r < a), w.positive_div(d + y, m) == w.positive_div(a * d + r + a * y, a * m)


def extremum_absorbs_terms(w: Writer) -> Iterator[Claim]:
    a, b, t, k = w.integers("a b t k")
    yield True, low(a, b) + t == low(a + t, b + t)
    yield True, high(a, b) + t == high(a + t, b + t)
    yield k > 0, k * low(a, b) + t == low(k * a + t, k * b + t)
    yield k < 0, k * low(a, b) + t == high(k * a + t, k * b + t)


def equality_used(w: Writer) -> Iterator[Claim]:
    e, f, c, k = w.integers("e f c k")
    yield f == c, e == e + k * (f - c)


def extraction(w: Writer) -> Iterator[Claim]:
    x, n, k = w.integers("x n k")
    (m,) = w.small("m")
    yield True, w.positive_mod(x, m) == x - m * w.positive_div(x, m)
    yield True, k * x + w.positive_div(n, m) == w.positive_div(n + k * m * x, m)


def argument_idle(w: Writer) -> Iterator[Claim]:
    a, b = w.integers("a b")
    yield a <= b, low(a, b) == a
    yield a >= b, high(a, b) == a


PROOFS: dict[str, Proof] = {
    "single-value": Proof(single_value),
    "quotient-split": Proof(quotient_split),
    "quotient-of-extremum": Proof(quotient_of_extremum),
    "quotient-of-nested": Proof(quotient_of_nested),
    "quotient-carried": Proof(quotient_carried),
    "quotient-thresholds": Proof(quotient_thresholds),
    "quotient-of-multiple": Proof(quotient_of_multiple),
    "quotient-small": Proof(quotient_small),
    "remainder-split": Proof(remainder_split),
    "remainder-in-period": Proof(remainder_in_period),
    "remainder-opened": Proof(remainder_opened),
    "remainder-carried": Proof(remainder_carried),
    "remainder-of-quotient": Proof(remainder_of_quotient),
    "remainder-small": Proof(remainder_small),
    "remainder-of-multiple": Proof(remainder_of_multiple),
    "remainder-recombines": Proof(remainder_recombines),
    "quotient-recombines": Proof(quotient_recombines),
    "digits-recombine": Proof(digits_recombine),
    "halves-recombine": Proof(halves_recombine),
    "quotients-differ": Proof(quotients_differ),
    "remainder-mirrored": Proof(remainder_mirrored),
    "products-factored": Proof(products_factored),
    "extremes-multiply": Proof(extremes_multiply),
    "extremum-of-quotients": Proof(extremum_of_quotients),
    "extremum-term-leaves": Proof(extremum_term_leaves),
    "quotient-of-digit": Proof(quotient_of_digit),
    "extremes-join": Proof(extremes_join),
    "extremum-absorbs-terms": Proof(extremum_absorbs_terms),
    "equality-used": Proof(equality_used),
    "extraction": Proof(extraction),
    "argument-idle": Proof(argument_idle),
}
