"""A proof of every law: builders of claims for an SMT solver, over unbounded integers.

A builder gets a `Writer`, which hands out integer variables and writes floordiv and mod by their definitions, and yields
pairs (hypothesis, conclusion). Parameters made by `small` are variables to the solver where the proof is general; where
the solver can't settle the products of variables, `small` takes every value of a range instead, one after the other, and
the other variables stay unbounded.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import z3

Integer = z3.ArithRef | int
Claim = tuple[z3.BoolRef | bool, z3.BoolRef | bool]
Builder = Callable[["Writer"], Iterator[Claim]]

#: The solver's own count of work, so that the outcome doesn't depend on the machine.
WORK = 30_000_000
SMALL = (1, 2, 3, 4, 6)


class Refuted(AssertionError):
    """A law does not hold; the message is the counterexample."""


@dataclass
class Writer:
    """Variables, and the definitions of what was written with them."""

    values: dict[str, int] = field(default_factory=dict)
    definitions: list[z3.BoolRef] = field(default_factory=list)
    known: dict[tuple[object, ...], Integer] = field(default_factory=dict)
    kept: list[Integer] = field(default_factory=list)  # what an id in `known` stands for lives as long as the ids
    asked: list[str] = field(default_factory=list)

    def integers(self, names: str) -> list[z3.ArithRef]:
        return [z3.Int(name) for name in names.split()]

    def small(self, names: str) -> list[Integer]:
        """Positive parameters."""
        found: list[Integer] = []
        for name in names.split():
            self.asked.append(name)
            value: Integer = self.values.get(name, z3.Int(name))
            if not isinstance(value, int):
                self.definitions.append(value > 0)
            found.append(value)
        return found

    def fresh(self, kind: str) -> z3.ArithRef:
        return z3.Int(f"{kind}!{len(self.known)}")

    def _written(self, kind: str, a: Integer, b: Integer, define: Callable[[z3.ArithRef], z3.BoolRef]) -> Integer:
        key = (kind, *(("int", x) if isinstance(x, int) else ("expression", x.get_id()) for x in (a, b)))
        if key not in self.known:
            self.kept += [a, b]
            result = self.fresh(kind)
            self.known[key] = result
            self.definitions.append(define(result))
        return self.known[key]

    def div(self, x: Integer, m: Integer) -> Integer:
        """`x floordiv m`: the q with `0 <= x - q * m < m`, for negative m `m < x - q * m <= 0`."""
        if isinstance(m, int):
            return self._written("q", x, m, lambda q: _between(x - q * m, m))
        above = z3.simplify(m > 0)
        return self._written(
            "q",
            x,
            m,
            lambda q: z3.And(
                m != 0, z3.Implies(above, _between(x - q * m, m)), z3.Implies(m < 0, _below(x - q * m, m))
            ),
        )

    def mod(self, x: Integer, m: Integer) -> Integer:
        """`x mod m`: the r in `[0, |m|)` with `x = r + k * m`."""
        if isinstance(m, int):
            return x - abs(m) * self.div(x, abs(m))
        k = self._written("k", x, m, lambda k: z3.And(m != 0, x - k * m >= 0, x - k * m < z3.If(m > 0, m, -m)))
        return x - k * m

    def positive_div(self, x: Integer, m: Integer) -> Integer:
        """`x floordiv m` for a positive m."""
        return self._written("q", x, m, lambda q: _between(x - q * m, m))

    def positive_mod(self, x: Integer, m: Integer) -> Integer:
        """`x mod m` for a positive m."""
        return x - m * self.positive_div(x, m)


def _between(rest: z3.ArithRef, m: Integer) -> z3.BoolRef:
    return z3.And(rest >= 0, rest < m) if not isinstance(m, int) or m > 0 else _below(rest, m)


def _below(rest: z3.ArithRef, m: Integer) -> z3.BoolRef:
    return z3.And(rest <= 0, rest > m)


def low(a: Integer, *others: Integer) -> z3.ArithRef:
    for b in others:
        a = z3.If(a <= b, a, b)
    return a


def high(a: Integer, *others: Integer) -> z3.ArithRef:
    for b in others:
        a = z3.If(a >= b, a, b)
    return a


@dataclass(frozen=True)
class Proof:
    """How a law is proved: in general, or (`values`) for each small value of its parameters."""

    build: Builder
    values: tuple[int, ...] = ()

    @property
    def manner(self) -> str:
        if not self.values:
            return "z3"
        return f"z3 for each parameter in {{{', '.join(map(str, self.values))}}}"

    def assignments(self) -> Iterator[dict[str, int]]:
        if not self.values:
            yield {}
            return
        names = self.parameters()
        for values in itertools.product(self.values, repeat=len(names)):
            yield dict(zip(names, values, strict=True))

    def parameters(self) -> list[str]:
        probe = Writer()
        for _ in self.build(probe):
            pass
        return list(dict.fromkeys(probe.asked))

    def check(self) -> None:
        """Raise Refuted with a counterexample, or because the solver gave up."""
        for values in self.assignments():
            writer = Writer(values)
            for k, (hypothesis, conclusion) in enumerate(self.build(writer)):
                solver = z3.Solver()
                solver.set("rlimit", WORK)
                solver.set("random_seed", 1)
                solver.add(*writer.definitions, hypothesis, z3.Not(conclusion))
                answer = solver.check()
                if answer == z3.sat:
                    raise Refuted(f"claim {k} with {values}: {solver.model()}")
                if answer != z3.unsat:
                    raise Refuted(f"claim {k} with {values}: not settled ({solver.reason_unknown()})")

    def check_hypotheses(self) -> None:
        """Raise Refuted where a claim says nothing, for nothing meets its definitions and its hypothesis."""
        met: set[int] = set()
        count = 0
        names = self.parameters()
        for values in itertools.product(SMALL, repeat=len(names)):
            writer = Writer(dict(zip(names, values, strict=True)))
            claims = list(self.build(writer))
            count = len(claims)
            for k, (hypothesis, _) in enumerate(claims):
                solver = z3.Solver()
                solver.set("rlimit", WORK)
                solver.add(*writer.definitions, hypothesis)
                if k not in met and solver.check() == z3.sat:
                    met.add(k)
            if len(met) == count:
                return
        raise Refuted(f"nothing meets the hypotheses of claims {sorted(set(range(count)) - met)}")


# ---- rules


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


def remainder_joins(w: Writer) -> Iterator[Claim]:
    x, y, z = w.integers("x y z")
    (m,) = w.small("m")
    q = w.positive_div(z, m)
    yield w.positive_mod(x, m) == w.positive_mod(z, m), w.positive_mod(x, m) == z - m * q
    mirrored = w.positive_mod(y, m) == w.positive_mod(-1 - z, m)
    yield mirrored, w.positive_mod(y, m) == m - 1 - z + m * q


def quotient_joins(w: Writer) -> Iterator[Claim]:
    (x,) = w.integers("x")
    (m,) = w.small("m")
    yield True, m * w.positive_div(x, m) == x - w.positive_mod(x, m)


def digits_join(w: Writer) -> Iterator[Claim]:
    x, y, z = w.integers("x y z")
    u, v = w.small("u v")
    joined = w.positive_mod(z + u * (y - w.positive_div(z, u)), u * v)
    same = w.positive_mod(x, u) == w.positive_mod(z, u)
    yield same, w.positive_mod(x, u) + u * w.positive_mod(y, v) == joined


def halves_join(w: Writer) -> Iterator[Claim]:
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


def extremum_flattened(w: Writer) -> Iterator[Claim]:
    a, x, y, k = w.integers("a x y k")
    (c,) = w.small("c")
    yield True, low(a, c * low(x, y) + k) == low(a, c * x + k, c * y + k)
    yield True, high(a, c * high(x, y) + k) == high(a, c * x + k, c * y + k)
    yield True, low(a, -c * high(x, y) + k) == low(a, -c * x + k, -c * y + k)


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


def refit(w: Writer) -> Iterator[Claim]:
    x, n, k = w.integers("x n k")
    (m,) = w.small("m")
    yield True, w.positive_mod(x, m) == x - m * w.positive_div(x, m)
    yield True, k * x + w.positive_div(n, m) == w.positive_div(n + k * m * x, m)


def argument_idle(w: Writer) -> Iterator[Claim]:
    a, b = w.integers("a b")
    yield a <= b, low(a, b) == a
    yield a >= b, high(a, b) == a


# ---- constructors


def sum_flat(w: Writer) -> Iterator[Claim]:
    a, b, c, x, y = w.integers("a b c x y")
    yield True, a * (b * x + c) + y == a * b * x + y + a * c


def sum_terms_join(w: Writer) -> Iterator[Claim]:
    a, b, x = w.integers("a b x")
    yield True, a * x + b * x == (a + b) * x
    yield True, 0 * x == 0


def sum_remainder_joins_quotient(w: Writer) -> Iterator[Claim]:
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


def quotient_joins_quotient(w: Writer) -> Iterator[Claim]:
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


def shifted(w: Writer, m: Integer) -> Iterator[Claim]:
    """`(a + m * t) mod m = a mod m`: the last step, by what the claim before it says."""
    a, t = w.integers("a! t!")
    yield True, w.positive_mod(a + m * t, m) == w.positive_mod(a, m)


def remainder_quotient_residue(w: Writer) -> Iterator[Claim]:
    x, y, z, k, q = w.integers("x y z k q")
    m, d, c, p = w.small("m d c p")
    t = w.integers("t")[0]
    yield True, w.positive_div(x + d * t, d) == w.positive_div(x, d) + t  # t = p * y
    yield c * p == k * m, c * (q + p * y) + z == c * q + z + m * (k * y)
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


def extremum_shifted_flat(w: Writer) -> Iterator[Claim]:
    a, b, c, k = w.integers("a b c k")
    yield True, low(a, k + low(b, c)) == low(a, k + b, k + c)
    yield True, low(a, k - high(b, c)) == low(a, k - b, k - c)
    yield True, high(a, k + high(b, c)) == high(a, k + b, k + c)
    yield True, high(a, k - low(b, c)) == high(a, k - b, k - c)


def extremum_constant_decides(w: Writer) -> Iterator[Claim]:
    a, p, q = w.integers("a p q")
    yield p <= q, low(a + p, a + q) == a + p
    yield p >= q, high(a + p, a + q) == a + p


def extremum_absorbs(w: Writer) -> Iterator[Claim]:
    x, y = w.integers("x y")
    yield True, low(x, high(x, y)) == x
    yield True, high(x, low(x, y)) == x


def extremum_absorbs_constant(w: Writer) -> Iterator[Claim]:
    p, q, y = w.integers("p q y")
    yield p <= q, low(p, high(q, y)) == p
    yield p >= q, high(p, low(q, y)) == p


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


# ---- constraints


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


# ---- ranges


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
    "remainder-small": Proof(remainder_small),
    "remainder-of-multiple": Proof(remainder_of_multiple),
    "remainder-joins": Proof(remainder_joins),
    "quotient-joins": Proof(quotient_joins),
    "digits-join": Proof(digits_join),
    "halves-join": Proof(halves_join),
    "quotients-differ": Proof(quotients_differ),
    "remainder-mirrored": Proof(remainder_mirrored),
    "products-factored": Proof(products_factored),
    "extremes-multiply": Proof(extremes_multiply),
    "extremum-of-quotients": Proof(extremum_of_quotients),
    "extremum-flattened": Proof(extremum_flattened),
    "quotient-of-digit": Proof(quotient_of_digit),
    "extremes-join": Proof(extremes_join),
    "extremum-absorbs-terms": Proof(extremum_absorbs_terms),
    "equality-used": Proof(equality_used),
    "refit": Proof(refit),
    "argument-idle": Proof(argument_idle),
    "sum-flat": Proof(sum_flat),
    "sum-terms-join": Proof(sum_terms_join),
    "sum-remainder-joins-quotient": Proof(sum_remainder_joins_quotient),
    "sum-digits-join": Proof(digits_join),
    "sum-difference-is-quotient": Proof(sum_difference_is_quotient),
    "sum-difference-is-remainder": Proof(sum_difference_is_remainder),
    "quotient-divisor-negative": Proof(quotient_divisor_negative),
    "quotient-divisor-one": Proof(quotient_divisor_one),
    "quotient-joins-quotient": Proof(quotient_joins_quotient),
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
    "remainder-quotient-residue": Proof(remainder_quotient_residue),
    "remainder-common-factor": Proof(remainder_common_factor),
    "remainder-parity": Proof(remainder_parity),
    "remainder-of-itself": Proof(remainder_of_itself),
    "product-content-outside": Proof(product_content_outside),
    "extremum-flat": Proof(extremum_flat),
    "extremum-shifted-flat": Proof(extremum_shifted_flat),
    "extremum-constant-decides": Proof(extremum_constant_decides),
    "extremum-absorbs": Proof(extremum_absorbs),
    "extremum-absorbs-constant": Proof(extremum_absorbs_constant),
    "extremum-inner-idle": Proof(extremum_inner_idle),
    "extremum-distributes": Proof(extremum_distributes),
    "extremum-terms-outside": Proof(extremum_terms_outside),
    "extremum-factor-outside": Proof(extremum_factor_outside),
    "constraint-normal-form": Proof(constraint_normal_form),
    "constraint-quotient-opened": Proof(constraint_quotient_opened),
    "constraint-low-terms-leave": Proof(constraint_low_terms_leave),
    "constraint-bounds-term": Proof(constraint_bounds_term),
    "constraint-extremum-opened": Proof(constraint_extremum_opened),
    "constraint-congruence-normal": Proof(constraint_congruence_normal),
    "constraint-congruences-join": Proof(constraint_congruences_join),
    "constraint-congruences-never": Proof(constraint_congruences_never),
    "constraint-congruence-bounds": Proof(tightened),
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
