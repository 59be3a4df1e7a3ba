"""Proofs by hand, of the laws whose text is not enough for the solver.

`IN_STEPS`: the text is closed, but the solver doesn't settle its products at once; each claim is a step, and the last
ones together give the law. `OF_WORDS`: the text says something in words; the claims say it in integers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import z3

from solver import Claim, Integer, Proof, Writer, high, low, shifted


def quotient_of_digit(w: Writer) -> Iterator[Claim]:
    x, y = w.integers("x y")
    a, b, m = w.small("a b m")
    digit, rest, whole = w.positive_mod(w.positive_div(x, a), b), w.positive_mod(x, a), w.positive_mod(x, a * b)
    yield True, whole == a * digit + rest
    d, r = w.integers("d r")
    low_digit = z3.And(r >= 0, r < a)
    yield low_digit, w.positive_div(d + y, m) == w.positive_div(a * d + r + a * y, a * m)
    yield low_digit, w.positive_div(y - d, m) == w.positive_div(a * y - (a * d + r) + a - 1, a * m)


def quotient_offset_redundant(w: Writer) -> Iterator[Claim]:
    x, c = w.integers("x c")
    g, k = w.small("g k")
    rest = w.positive_mod(x, g) + c
    yield z3.And(rest >= 0, rest < g), w.positive_div(x + c, g) == w.positive_div(x, g)
    yield True, w.positive_div(x, g * k) == w.positive_div(w.positive_div(x, g), k)  # and so for x + c


def remainder_of_quotient(w: Writer) -> Iterator[Claim]:
    x, y, z, k, q = w.integers("x y z k q")
    m, d, c, p = w.small("m d c p")
    t = w.integers("t")[0]
    yield True, w.positive_div(x + d * t, d) == w.positive_div(x, d) + t  # t = p * y
    yield c * p == k * m, c * (q + p * y) + z == c * q + z + m * (k * y)
    yield from shifted(w, m)


def digits_recombine(w: Writer) -> Iterator[Claim]:
    y, z, d, e, k = w.integers("y z d e k")
    u, v = w.small("u v")
    yield from mirrored(w, z, u)  # and so both sides are a digit d, and u * y, of which y = v * k + e
    digits = z3.And(d >= 0, d < u, e >= 0, e < v)
    yield digits, z3.And(d + u * e >= 0, d + u * e < u * v)
    yield e + v * k == y, d + u * y == d + u * e + (u * v) * k
    yield digits, w.positive_mod(d + u * e, u * v) == d + u * e
    yield from shifted(w, u * v)


def remainder_expanded(w: Writer) -> Iterator[Claim]:
    (z,) = w.integers("z")
    (u,) = w.small("u")
    yield True, w.positive_mod(z, u) == z - u * w.positive_div(z, u)
    yield from mirrored(w, z, u)


def mirrored(w: Writer, z: Integer, u: Integer) -> Iterator[Claim]:
    yield True, w.positive_mod(-1 - z, u) == u - 1 - z + u * w.positive_div(z, u)


def quotient_of_half(w: Writer) -> Iterator[Claim]:
    x, q = w.integers("x q")
    (g,) = w.small("g")
    yield True, w.positive_div(x, 2 * g) == w.positive_div(w.positive_div(x, g), 2)  # and so for x + g
    yield True, w.positive_div(x + g, g) == w.positive_div(x, g) + 1
    lower, upper = w.positive_div(q, 2), w.positive_div(q + 1, 2)  # of q = x / g
    yield True, z3.And(q - lower == upper, q - upper == lower)


def remainder_beside_half(w: Writer) -> Iterator[Claim]:
    x, r, p, q = w.integers("x r p q")
    (g,) = w.small("g")
    yield True, w.positive_mod(x, g) == x - g * w.positive_div(x, g)
    yield from quotient_of_half(w)  # x / g is the sum of p = x / 2g and q = (x + g) / 2g
    yield r == x - g * (p + q), z3.And(r + g * p == x - g * q, r + g * q == x - g * p)


def congruence_of_two_values(w: Writer) -> Iterator[Claim]:
    c, i, t = w.integers("c i t")
    g, m = w.small("g m")
    yield z3.And(i >= 1, g <= m), m * i >= g
    # t = m * i is 0, or at least g
    yield t >= g, z3.And(high(c + g - t, c) == c, low(c - g + t, c) == c)
    yield t == 0, z3.And(high(c + g - t, c) == c + g, low(c - g + t, c) == c - g)
    yield from shifted(w, g)


def residues_moved_in(w: Writer, sign: int) -> Iterator[Claim]:
    x, n, c, k, j, t, q = w.integers("x n c k j t q")
    m, d = w.small("m d")
    yield True, w.positive_div(n + d * t, d) == w.positive_div(n, d) + t  # t = j * x
    yield c * j == k + sign * m, c * (q + j * x) == k * x + c * q + m * (sign * x)
    yield from shifted(w, m)


def quotient_of_remainder(w: Writer) -> Iterator[Claim]:
    (x,) = w.integers("x")
    c, k = w.small("c k")
    inner = w.positive_div(x, c)
    same = w.positive_div(x, c * k) == w.positive_div(inner, k)
    yield True, same
    q, d = w.integers("q d")  # of x by c * k, and of x by c
    yield z3.And(x - c * d >= 0, x - c * d < c), w.positive_div(x - c * k * q, c) == d - k * q


def remainder_inner_expanded(w: Writer) -> Iterator[Claim]:
    x, y, k, q = w.integers("x y k q")
    m, n, c = w.small("m n c")
    yield c * n == k * m, c * (x - n * q) + y == c * x + y - m * (k * q)
    yield from shifted(w, m)


def constraint_congruence_normal(w: Writer) -> Iterator[Claim]:
    x, c, r, s, q, t = w.integers("x c r s q t")
    m, u, i = w.small("m u i")
    inverse = i * u == 1 + s * m
    # u * x + c = r + m * q gives x + i * c = i * r + m * (i * q - s * x), and back with u * t + s * (r - c).
    yield z3.And(inverse, u * x + c == r + m * q), x + i * c == i * r + m * (i * q - s * x)
    yield z3.And(inverse, x + i * c == i * r + m * t), u * x + c == r + m * (u * t + s * (r - c))
    yield from shifted(w, m)


def dividends_in_periods(w: Writer) -> Iterator[Claim]:
    r, s, e, d, n, of_x, of_first, of_last = w.integers("r s e d n of_x of_first of_last")
    (m,) = w.small("m")
    # x = of_x + e; of_x, of_first and of_last are m times the quotients q, k and l.
    yield z3.And(n >= 1, d <= -1), n * d <= -n
    yield z3.And(e <= s, of_first + s - m < of_x + e), of_x - of_first > -m  # not q - k <= -1
    yield z3.And(r <= e, of_x + e < of_last + r + m), of_last - of_x > -m
    yield z3.And(r <= e, of_first <= of_x), of_first + r <= of_x + e
    yield z3.And(e <= s, of_x <= of_last), of_x + e <= of_last + s
    # And back, for x = m * k + e.
    yield z3.And(r >= 0, s < m, r <= e, e <= s), w.positive_mod(e, m) == e
    yield from shifted(w, m)


def range_of_remainder(w: Writer) -> Iterator[Claim]:
    x, u, v = w.integers("x u v")
    (m,) = w.small("m")
    inside = z3.And(u <= x, x <= v)
    q, first, last = w.positive_div(x, m), w.positive_div(u, m), w.positive_div(v, m)
    yield inside, z3.And(first <= q, q <= last)
    alike = z3.And(inside, first == q, q == last)
    yield alike, z3.And(u - m * first <= x - m * q, x - m * q <= v - m * last)
    yield True, z3.And(x - m * q >= 0, x - m * q <= m - 1)


def congruence_of_sum(w: Writer) -> Iterator[Claim]:
    # a * m = g * k and b * n = g * l
    r, s, a, b, k, j, i, n = w.integers("r s a b k j i n")
    (g,) = w.small("g")
    # a * x = a * r + (a * m) * i
    whole = a * r + g * k * i + b * s + g * j * n
    yield True, w.positive_mod(whole, g) == w.positive_mod(a * r + b * s, g)


def congruence_of_remainders(w: Writer) -> Iterator[Claim]:
    x, y, a, b, i, j, p, q = w.integers("x y a b i j p q")
    m, n, g = w.small("m n g")
    multiples = z3.And(a * m == g * i, b * n == g * j)  # x % m = x - m * p, y % n = y - n * q
    yield multiples, a * (x - m * p) + b * (y - n * q) == a * x + b * y - g * (i * p + j * q)
    yield from shifted(w, g)


def congruence_of_extremum(w: Writer) -> Iterator[Claim]:
    r, i, j, k = w.integers("r i j k")
    (g,) = w.small("g")
    x, y = r + g * i, r + g * k + g * j  # s = r + g * k
    yield True, w.positive_mod(x, g) == w.positive_mod(r, g)
    yield True, w.positive_mod(y, g) == w.positive_mod(r, g)
    yield True, z3.Or(low(x, y) == x, low(x, y) == y)
    yield True, z3.Or(high(x, y) == x, high(x, y) == y)


def quotient_thresholds(w: Writer) -> Iterator[Claim]:
    # The left side rises by 1 at s, s + k, .. only: at the steps j it is q + j on [s + j * k, s + (j + 1) * k).
    x, s, q, j, c = w.integers("x s q j c")
    a, m, k = w.small("a m k")
    left = w.positive_div(a * x + c, m)
    here = z3.And(s + j * k <= x, x < s + (j + 1) * k)
    yield z3.And(here, left == q + j), left == w.positive_div(x - s, k) + q
    # It reaches j where x reaches the rational (m * j - c) / a, rounded up.
    yield True, (left >= j) == (x >= -w.positive_div(c - m * j, a))


def constraint_normal_form(w: Writer) -> Iterator[Claim]:
    x, c, a, b = w.integers("x c a b")
    (k,) = w.small("k")
    least, most = -w.positive_div(-(a - c), k), w.positive_div(b - c, k)
    yield True, z3.And(a <= k * x + c, k * x + c <= b) == z3.And(least <= x, x <= most)
    yield True, z3.And(a <= -k * x + c, -k * x + c <= b) == z3.And(least <= -x, -x <= most)


def constraint_congruences_merge(w: Writer) -> Iterator[Claim]:
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


def constraint_divisor(w: Writer) -> Iterator[Claim]:
    (y,) = w.integers("y")
    yield y >= 0, (y != 0) == (y >= 1)
    yield y <= 0, (y != 0) == (y <= -1)
    yield True, (y != 0) == (high(y, -y) >= 1)


def constraint_equates(w: Writer) -> Iterator[Claim]:
    x, y = w.integers("x y")
    f = z3.Function("f", z3.IntSort(), z3.IntSort())
    yield x - y == 0, f(y) == f(x)


def constraints_contradict(w: Writer) -> Iterator[Claim]:
    # The Omega test finds that no integers satisfy both; a point of the domain would.
    x, y, a, b, c, d = w.integers("x y a b c d")
    e, f = (z3.Function(name, z3.IntSort(), z3.IntSort()) for name in "ef")
    both = [z3.And(a <= e(v), e(v) <= b, c <= f(v), f(v) <= d) for v in (x, y)]
    yield z3.ForAll([x], z3.Not(both[0])), z3.Not(both[1])


def constraint_follows(w: Writer) -> Iterator[Claim]:
    # The Omega test finds that no integers have the other constraint only, on either side of this one.
    x, a, b, c, d = w.integers("x a b c d")
    e, f = (z3.Function(name, z3.IntSort(), z3.IntSort()) for name in "ef")
    other, own = z3.And(c <= f(x), f(x) <= d), z3.And(a <= e(x), e(x) <= b)
    never = z3.And(z3.Not(z3.And(other, e(x) < a)), z3.Not(z3.And(other, e(x) > b)))
    yield never, z3.And(other, own) == other


def range_of_quotient_by_expression(w: Writer) -> Iterator[Claim]:
    x, y, u, v, p, q = w.integers("x y u v p q")
    ends = [w.div(e, d) for e in (u, v) for d in (p, q)]
    value = w.div(x, y)
    inside = z3.And(u <= x, x <= v, p <= y, y <= q)
    for sign in (p > 0, q < 0):
        yield z3.And(inside, sign), z3.Or(*(e <= value for e in ends))
        yield z3.And(inside, sign), z3.Or(*(value <= e for e in ends))


def range_of_remainder_by_expression(w: Writer) -> Iterator[Claim]:
    x, y, p, q = w.integers("x y p q")
    r = w.mod(x, y)
    yield z3.And(p <= y, y <= q, y != 0), z3.And(r >= 0, r <= high(-p, q) - 1)
    yield z3.And(y != 0, x >= 0), r <= x


def range_of_product(w: Writer) -> Iterator[Claim]:
    x, y, u, v, p, q = w.integers("x y u v p q")
    inside = z3.And(u <= x, x <= v, p <= y, y <= q)
    ends = [a * b for a in (u, v) for b in (p, q)]
    yield inside, z3.Or(*(e <= x * y for e in ends))
    yield inside, z3.Or(*(x * y <= e for e in ends))


def quotients_complete(w: Writer) -> Iterator[Claim]:
    (x,) = w.integers("x")
    for n, g in itertools.product(range(2, 6), range(1, 4)):
        yield (
            True,
            z3.Sum([w.positive_div(x + g * j, z3.IntVal(n * g)) for j in range(n)]) == w.positive_div(x, z3.IntVal(g)),
        )


def remainders_complete(w: Writer) -> Iterator[Claim]:
    (x,) = w.integers("x")
    for n, g in itertools.product(range(2, 6), range(1, 4)):
        whole = n * w.positive_mod(x, z3.IntVal(g)) + g * n * (n - 1) // 2
        yield True, z3.Sum([w.positive_mod(x + g * j, z3.IntVal(n * g)) for j in range(n)]) == whole


def values_equal(w: Writer) -> Iterator[Claim]:
    # The code compares the values at each point of the interval of the only variable.
    v, low, y = w.integers("v low y")
    e, f = (z3.Function(name, z3.IntSort(), z3.IntSort()) for name in "ef")
    for count in (1, 2, 8):
        equal = z3.And(*(e(low + k) == f(low + k) for k in range(count)))
        yield z3.And(equal, low <= v, v < low + count), e(v) == f(v)
        yield z3.And(equal, low <= v, v < low + count), e(v) + y == f(v) + y


IN_STEPS: dict[str, Proof] = {
    "quotient-offset-redundant": Proof(quotient_offset_redundant),
    "quotient-of-digit": Proof(quotient_of_digit),
    "remainder-of-quotient": Proof(remainder_of_quotient),
    "remainder-expanded": Proof(remainder_expanded),
    "digits-recombine": Proof(digits_recombine),
    "quotient-of-half": Proof(quotient_of_half),
    "form-remainder-beside-half": Proof(remainder_beside_half),
    "form-residues-moved-in": Proof(lambda w: residues_moved_in(w, 1)),
    "form-negative-residues-moved-in": Proof(lambda w: residues_moved_in(w, -1)),
    "quotient-of-remainder": Proof(quotient_of_remainder),
    "quotient-of-remainder-by-expression": Proof(quotient_of_remainder),
    "remainder-inner-expanded": Proof(remainder_inner_expanded),
    "constraint-congruence-normal": Proof(constraint_congruence_normal),
    "constraint-on-remainder": Proof(dividends_in_periods),
    "constraint-remainder-bounds": Proof(dividends_in_periods),
    "range-of-remainder": Proof(range_of_remainder),
    "congruence-of-sum": Proof(congruence_of_sum),
    "congruence-of-remainders": Proof(congruence_of_remainders),
    "congruence-of-extremum": Proof(congruence_of_extremum),
    "congruence-of-two-values": Proof(congruence_of_two_values),
}

OF_WORDS: dict[str, Proof] = {
    "quotient-thresholds": Proof(quotient_thresholds),
    "constraint-normal-form": Proof(constraint_normal_form),
    "constraint-congruences-merge": Proof(constraint_congruences_merge),
    "constraint-divisor": Proof(constraint_divisor),
    "constraints-contradict": Proof(constraints_contradict),
    "constraint-follows": Proof(constraint_follows),
    "constraint-equates": Proof(constraint_equates),
    "range-of-quotient-by-expression": Proof(range_of_quotient_by_expression),
    "range-of-remainder-by-expression": Proof(range_of_remainder_by_expression),
    "range-of-product": Proof(range_of_product),
    "quotients-complete": Proof(quotients_complete),
    "remainders-complete": Proof(remainders_complete),
    "values-equal": Proof(values_equal),
    "values-equal-in-sum": Proof(values_equal),
}
