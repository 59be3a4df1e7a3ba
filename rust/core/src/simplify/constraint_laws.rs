//! The laws by which constraints are taken into a domain, as data: the functions are the rows of `constraints.rs`, or
//! stand in `domain_simplifier.rs` where a law is about all constraints at once.

use crate::simplify::law::{Group, Law};

const fn law(name: &'static str, family: &'static str, law: &'static str, precondition: &'static str) -> Law {
    Law::new(Group::Constraint, name, family, law, precondition).on_domain()
}

/// `e in [a, b] and e in [c, d] = e in [max(a, c), min(b, d)]`.
pub(crate) const MEET: Law =
    law("constraints-meet", "any", "e in [a, b] and e in [c, d] = e in [max(a, c), min(b, d)]", "none");

/// `e in [a, b] is true`.
pub(crate) const IMPLIED: Law =
    law("constraint-implied", "any", "e in [a, b] is true", "a <= u, v <= b, e in [u, v]");

/// `e in [a, b] is false`.
pub(crate) const IMPOSSIBLE: Law =
    law("constraint-impossible", "any", "e in [a, b] is false", "v < a or b < u, e in [u, v]");

/// `k * x + c in [a, b] = x in [-(-(a - c) / k), (b - c) / k]`.
pub(crate) const NORMAL_FORM: Law = law(
    "constraint-normal-form",
    "sum",
    "k * x + c in [a, b] = x in [-(-(a - c) / k), (b - c) / k]",
    "k > 0; for k < 0 of -x",
);

/// `g * h + l in [a, b] = h in [p, q]`.
pub(crate) const LOW_TERMS_LEAVE: Law = law(
    "constraint-low-terms-leave",
    "sum",
    "g * h + l in [a, b] = h in [p, q]",
    "g > 0, u <= l <= v, p = (a - u) ceildiv g = (a - v) ceildiv g, q = (b - v) / g = (b - u) / g",
);

/// `x + y in [a, b] implies x in [a - v, b - u]`.
pub(crate) const BOUNDS_TERM: Law =
    law("constraint-bounds-term", "sum", "x + y in [a, b] implies x in [a - v, b - u]", "u <= y <= v");

/// `x / m in [a, b] = x in [a * m, b * m + m - 1]`.
pub(crate) const QUOTIENT_OPENED: Law =
    law("constraint-quotient-opened", "floordiv", "x / m in [a, b] = x in [a * m, b * m + m - 1]", "m > 0");

/// `min(x, y) in [a, b] = x in [a, oo], y in [a, oo], min(x, y) in [-oo, b]`.
pub(crate) const EXTREMUM_OPENED: Law = law(
    "constraint-extremum-opened",
    "min, max",
    "min(x, y) in [a, b] = x in [a, oo], y in [a, oo], min(x, y) in [-oo, b]",
    "none (max alike)",
);

/// `(u * x + c) % m = r is (x + i * c) % m = i * r % m`.
pub(crate) const CONGRUENCE_NORMAL: Law = law(
    "constraint-congruence-normal",
    "mod",
    "(u * x + c) % m = r is (x + i * c) % m = i * r % m",
    "m > 0, 0 <= r < m, i * u % m = 1",
);

/// `x % m = r and x % n = q is x % l = s`.
pub(crate) const CONGRUENCES_JOIN: Law = law(
    "constraint-congruences-join",
    "mod",
    "x % m = r and x % n = q is x % l = s",
    "l = lcm(m, n), 0 <= s < l, s % m = r, s % n = q",
);

/// `x % m = r and x % n = q is false`.
pub(crate) const CONGRUENCES_NEVER: Law = law(
    "constraint-congruences-never",
    "mod",
    "x % m = r and x % n = q is false",
    "m > 0, n > 0, g > 0, g divides m and n, (q - r) % g != 0",
);

/// `x % m = r and a <= x <= b implies a + (r - a) % m <= x <= b - (b - r) % m`.
pub(crate) const CONGRUENCE_BOUNDS: Law = law(
    "constraint-congruence-bounds",
    "mod",
    "x % m = r and a <= x <= b implies a + (r - a) % m <= x <= b - (b - r) % m",
    "m > 0, 0 <= r < m",
);

/// `x / y in [-oo, oo], x % y in [-oo, oo] is y in [1, oo] for y >= 0, y in [-oo, -1] for y <= 0, max(y, -y) in [1, oo]`.
pub(crate) const DIVISOR: Law =
    law("constraint-divisor", "floordiv, mod", "x / y in [-oo, oo], x % y in [-oo, oo] is y in [1, oo] for y >= 0, y in [-oo, -1] for y <= 0, max(y, -y) in [1, oo]", "none");

/// `f(y) = f(x)`.
pub(crate) const EQUATES: Law = law("constraint-equates", "sum", "f(y) = f(x)", "x - y = 0");

/// `v = s * (c - r)`.
pub(crate) const SOLVED: Law =
    law("constraint-solved", "sum", "v = s * (c - r)", "r + s * v = c, s = 1 or s = -1");
