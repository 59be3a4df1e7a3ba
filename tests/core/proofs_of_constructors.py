"""Proofs of the laws of constructors."""

from __future__ import annotations

from collections.abc import Iterator

import z3

from proofs_of_rules import digits_recombine
from solver import Claim, Proof, Writer, high, low, shifted


def sum_flat(w: Writer) -> Iterator[Claim]:
    a, b, c, x, y = w.integers("a b c x y")
    yield True, a * (b * x + c) + y == a * b * x + y + a * c


def sum_terms_join(w: Writer) -> Iterator[Claim]:
    a, b, x = w.integers("a b x")
    yield True, a * x + b * x == (a + b) * x
    yield True, 0 * x == 0


def sum_remainder_recombines(w: Writer) -> Iterator[Claim]:
    x, z, c = w.integers("x z c")
    (m,) = w.small("m")
    same = w.positive_mod(x, m) == w.positive_mod(z, m)
    yield same, c * w.positive_mod(x, m) + c * m * w.positive_div(z, m) == c * z


def sum_difference_is_quotient(w: Writer) -> Iterator[Claim]:
    x, c = w.integers("x c")
    (m,) = w.small("m")
    yield True, c * x - c * w.positive_mod(x, m) == c * m * w.positive_div(x, m)


def sum_difference_is_remainder(w: Writer) -> Iterator[Claim]:
    x, c = w.integers("x c")
    (m,) = w.small("m")
    yield True, c * x - c * m * w.positive_div(x, m) == c * w.positive_mod(x, m)


def quotient_divisor_negative(w: Writer) -> Iterator[Claim]:
    x, m = w.integers("x m")
    yield m > 0, w.div(x, -m) == w.div(-x, m)


def quotient_divisor_one(w: Writer) -> Iterator[Claim]:
    (x,) = w.integers("x")
    yield True, w.div(x, 1) == x


def quotient_of_quotient(w: Writer) -> Iterator[Claim]:
    (x,) = w.integers("x")
    b, c = w.small("b c")
    yield True, w.positive_div(w.positive_div(x, b), c) == w.positive_div(x, b * c)


def quotient_of_remainder(w: Writer) -> Iterator[Claim]:
    (x,) = w.integers("x")
    c, k = w.small("c k")
    inner = w.positive_div(x, c)
    same = w.positive_div(x, c * k) == w.positive_div(inner, k)
    yield True, same
    q, d = w.integers("q d")  # of x by c * k, and of x by c
    yield z3.And(x - c * d >= 0, x - c * d < c), w.positive_div(x - c * k * q, c) == d - k * q


def quotient_multiples_leave(w: Writer) -> Iterator[Claim]:
    x, y = w.integers("x y")
    (c,) = w.small("c")
    yield True, w.positive_div(c * x + y, c) == x + w.positive_div(y, c)


def quotient_common_factor(w: Writer) -> Iterator[Claim]:
    x, r = w.integers("x r")
    g, d = w.small("g d")
    yield True, w.positive_div(g * x + r, g * d) == w.positive_div(x + w.positive_div(r, g), d)


def quotient_sign(w: Writer) -> Iterator[Claim]:
    (n,) = w.integers("n")
    (d,) = w.small("d")
    yield True, w.positive_div(n, d) == -w.positive_div(d - 1 - n, d)


def quotient_offset_joins(w: Writer) -> Iterator[Claim]:
    y, k = w.integers("y k")
    b, c = w.small("b c")
    yield True, w.positive_div(w.positive_div(y, b) + k, c) == w.positive_div(y + k * b, b * c)


def quotient_of_itself(w: Writer) -> Iterator[Claim]:
    (y,) = w.integers("y")
    yield y != 0, w.div(y, y) == 1
    yield y != 0, w.div(0 * y, y) == 0


def quotient_ceiling(w: Writer) -> Iterator[Claim]:
    x, m = w.integers("x m")
    up = -w.div(-x, m)  # the least q with x / m <= q in the rationals
    yield m > 0, z3.And(x <= up * m, (up - 1) * m < x)
    yield m < 0, z3.And(x >= up * m, (up - 1) * m > x)


def remainder_modulus_sign(w: Writer) -> Iterator[Claim]:
    x, m = w.integers("x m")
    yield m != 0, w.mod(x, -m) == w.mod(x, m)


def remainder_modulus_one(w: Writer) -> Iterator[Claim]:
    (x,) = w.integers("x")
    yield True, w.mod(x, 1) == 0


def remainder_of_coarser(w: Writer) -> Iterator[Claim]:
    (x,) = w.integers("x")
    k, m = w.small("k m")
    yield True, w.positive_mod(w.positive_mod(x, k * m), m) == w.positive_mod(x, m)


def remainder_of_finer(w: Writer) -> Iterator[Claim]:
    (x,) = w.integers("x")
    k, m = w.small("k m")
    yield True, w.positive_mod(w.positive_mod(x, m), k * m) == w.positive_mod(x, m)


def remainder_coefficient_residue(w: Writer) -> Iterator[Claim]:
    x, y, a, k = w.integers("x y a k")
    (m,) = w.small("m")
    yield True, w.positive_mod((a + k * m) * x + y, m) == w.positive_mod(a * x + y, m)


def remainder_inner_opened(w: Writer) -> Iterator[Claim]:
    x, y, k, q = w.integers("x y k q")
    m, n, c = w.small("m n c")
    yield c * n == k * m, c * (x - n * q) + y == c * x + y - m * (k * q)
    yield from shifted(w, m)


def remainder_common_factor(w: Writer) -> Iterator[Claim]:
    x, r = w.integers("x r")
    g, k = w.small("g k")
    right = g * w.positive_mod(x + w.positive_div(r, g), k) + w.positive_mod(r, g)
    yield True, w.positive_mod(g * x + r, g * k) == right


def remainder_parity(w: Writer) -> Iterator[Claim]:
    (x,) = w.integers("x")
    yield True, w.mod(x + 1, 2) == 1 - w.mod(x, 2)


def remainder_of_itself(w: Writer) -> Iterator[Claim]:
    (y,) = w.integers("y")
    yield y != 0, w.mod(y, y) == 0
    yield y != 0, w.mod(0 * y, y) == 0


def product_content_outside(w: Writer) -> Iterator[Claim]:
    g, h, x, y = w.integers("g h x y")
    yield True, (g * x) * (h * y) == g * h * (x * y)


def extremum_flat(w: Writer) -> Iterator[Claim]:
    a, b, c = w.integers("a b c")
    yield True, low(a, low(b, c)) == low(a, b, c)
    yield True, high(a, high(b, c)) == high(a, b, c)


def extremum_scaled_flat(w: Writer) -> Iterator[Claim]:
    a, x, y, t = w.integers("a x y t")
    (c,) = w.small("c")
    yield True, low(a, t + c * low(x, y)) == low(a, t + c * x, t + c * y)
    yield True, low(a, t - c * high(x, y)) == low(a, t - c * x, t - c * y)
    yield True, high(a, t + c * high(x, y)) == high(a, t + c * x, t + c * y)
    yield True, high(a, t - c * low(x, y)) == high(a, t - c * x, t - c * y)


def extremum_constant_decides(w: Writer) -> Iterator[Claim]:
    a, p, q = w.integers("a p q")
    yield p <= q, low(a + p, a + q) == a + p
    yield p >= q, high(a + p, a + q) == a + p


def extremum_absorbs(w: Writer) -> Iterator[Claim]:
    x, y = w.integers("x y")
    yield True, low(x, high(x, y)) == x
    yield True, high(x, low(x, y)) == x


def extremum_absorbs_constant(w: Writer) -> Iterator[Claim]:
    a, p, q, y = w.integers("a p q y")
    yield p <= q, low(a + p, high(a + q, y)) == a + p
    yield p >= q, high(a + p, low(a + q, y)) == a + p


def extremum_inner_idle(w: Writer) -> Iterator[Claim]:
    x, y, z, p = w.integers("x y z p")
    yield True, low(x, high(y, low(x, z))) == low(x, high(y, z))
    yield True, high(x, low(y, high(x, z))) == high(x, low(y, z))
    yield x <= p, low(x, high(y, low(p, z))) == low(x, high(y, z))
    yield x >= p, high(x, low(y, high(p, z))) == high(x, low(y, z))


def extremum_distributes(w: Writer) -> Iterator[Claim]:
    x, y, z = w.integers("x y z")
    yield True, low(high(x, y), high(x, z)) == high(x, low(y, z))
    yield True, high(low(x, y), low(x, z)) == low(x, high(y, z))


def extremum_terms_outside(w: Writer) -> Iterator[Claim]:
    a, b, c = w.integers("a b c")
    yield True, low(a + c, b + c) == low(a, b) + c
    yield True, high(a + c, b + c) == high(a, b) + c


def extremum_factor_outside(w: Writer) -> Iterator[Claim]:
    a, b = w.integers("a b")
    (g,) = w.small("g")
    yield True, low(g * a, g * b) == g * low(a, b)
    yield True, high(g * a, g * b) == g * high(a, b)
    yield True, low(-g * a, -g * b) == -g * high(a, b)
    yield True, high(-g * a, -g * b) == -g * low(a, b)


PROOFS: dict[str, Proof] = {
    "sum-flat": Proof(sum_flat),
    "sum-terms-join": Proof(sum_terms_join),
    "sum-remainder-recombines": Proof(sum_remainder_recombines),
    "sum-digits-recombine": Proof(digits_recombine),
    "sum-difference-is-quotient": Proof(sum_difference_is_quotient),
    "sum-difference-is-remainder": Proof(sum_difference_is_remainder),
    "quotient-divisor-negative": Proof(quotient_divisor_negative),
    "quotient-divisor-one": Proof(quotient_divisor_one),
    "quotient-of-quotient": Proof(quotient_of_quotient),
    "quotient-of-remainder": Proof(quotient_of_remainder),
    "quotient-multiples-leave": Proof(quotient_multiples_leave),
    "quotient-common-factor": Proof(quotient_common_factor),
    "quotient-sign": Proof(quotient_sign),
    "quotient-offset-joins": Proof(quotient_offset_joins),
    "quotient-of-itself": Proof(quotient_of_itself),
    "quotient-ceiling": Proof(quotient_ceiling),
    "remainder-modulus-sign": Proof(remainder_modulus_sign),
    "remainder-modulus-one": Proof(remainder_modulus_one),
    "remainder-of-coarser": Proof(remainder_of_coarser),
    "remainder-of-finer": Proof(remainder_of_finer),
    "remainder-coefficient-residue": Proof(remainder_coefficient_residue),
    "remainder-inner-opened": Proof(remainder_inner_opened),
    "remainder-common-factor": Proof(remainder_common_factor),
    "remainder-parity": Proof(remainder_parity),
    "remainder-of-itself": Proof(remainder_of_itself),
    "product-content-outside": Proof(product_content_outside),
    "extremum-flat": Proof(extremum_flat),
    "extremum-scaled-flat": Proof(extremum_scaled_flat),
    "extremum-constant-decides": Proof(extremum_constant_decides),
    "extremum-absorbs": Proof(extremum_absorbs),
    "extremum-absorbs-constant": Proof(extremum_absorbs_constant),
    "extremum-inner-idle": Proof(extremum_inner_idle),
    "extremum-distributes": Proof(extremum_distributes),
    "extremum-terms-outside": Proof(extremum_terms_outside),
    "extremum-factor-outside": Proof(extremum_factor_outside),
}
