//! The laws that hold without a choice: those of the constructors, those by which constraints are taken into a domain,
//! and those by which bounds and congruences are derived. The laws that a simplification chooses to apply are
//! [`RULES`](crate::simplify::rules::RULES).
//!
//! The tables are data: the generated document, the proofs and the examples of the tests are keyed by their names, and a
//! law that lacks one of them fails the tests.

use crate::simplify::rules::{Rule, RULES};

/// Where a law is applied.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Group {
    /// By the driver, on a domain, where the result is cheaper.
    Rule,
    /// By a constructor, always: a node that breaks it cannot exist.
    Constructor,
    /// To a constraint.
    Constraint,
    /// To derive bounds and a congruence of an expression.
    Range,
}

impl Group {
    /// The group's name.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Rule => "rule",
            Group::Constructor => "constructor",
            Group::Constraint => "constraint",
            Group::Range => "range",
        }
    }
}

/// A law as data; `/` is floordiv, `%` is mod.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// Where it is applied.
    pub group: Group,
    /// Its stable name.
    pub name: &'static str,
    /// The operator at its left side.
    pub family: &'static str,
    /// The law.
    pub law: &'static str,
    /// The condition under which it holds.
    pub precondition: &'static str,
}

macro_rules! laws {
    ($($group:ident, $name:literal, $family:literal, $law:literal, $precondition:literal;)*) => {
        const LAWS: &[Law] = &[$(Law {
            group: Group::$group, name: $name, family: $family, law: $law, precondition: $precondition,
        }),*];
    };
}

/// All laws: the rules, then those of this file.
pub fn all_laws() -> impl Iterator<Item = Law> {
    let rules = RULES.iter().map(Rule::law);
    rules.chain(LAWS.iter().copied())
}

impl Rule {
    /// The rule as a law.
    pub fn law(&self) -> Law {
        let Rule { name, family, law, precondition, .. } = *self;
        Law { group: Group::Rule, name, family, law, precondition }
    }
}

/// The law with this name.
pub fn law_named(name: &str) -> Option<Law> {
    all_laws().find(|l| l.name == name)
}

laws! {
    Constructor, "sum-flat", "sum", "a * (b * x + c) + y = a * b * x + y + a * c", "none";
    Constructor, "sum-terms-join", "sum", "a * x + b * x = (a + b) * x, 0 * x = 0", "none";
    Constructor, "sum-remainder-recombines", "sum", "c * (x % m) + c * m * (z / m) = c * z", "m > 0, x % m = z % m";
    Constructor, "sum-digits-recombine", "sum", "x % u + u * (y % v) = (z + u * (y - z / u)) % (u * v)", "u > 0, v > 0, x % u = z % u";
    Constructor, "sum-difference-is-quotient", "sum", "c * x - c * (x % m) = c * m * (x / m)", "m > 0";
    Constructor, "sum-difference-is-remainder", "sum", "c * x - c * m * (x / m) = c * (x % m)", "m > 0";
    Constructor, "quotient-divisor-negative", "floordiv", "x / -m = -x / m", "m > 0";
    Constructor, "quotient-divisor-one", "floordiv", "x / 1 = x", "none";
    Constructor, "quotient-of-quotient", "floordiv", "x / b / c = x / (b * c)", "b > 0, c > 0";
    Constructor, "quotient-of-remainder", "floordiv", "x % (c * k) / c = x / c % k", "c > 0, k > 0";
    Constructor, "quotient-multiples-leave", "floordiv", "(c * x + y) / c = x + y / c", "c > 0";
    Constructor, "quotient-common-factor", "floordiv", "(g * x + r) / (g * d) = (x + r / g) / d", "g > 0, d > 0";
    Constructor, "quotient-sign", "floordiv", "n / d = -((d - 1 - n) / d)", "d > 0";
    Constructor, "quotient-offset-joins", "floordiv", "(y / b + k) / c = (y + k * b) / (b * c)", "b > 0, c > 0";
    Constructor, "quotient-of-itself", "floordiv", "y / y = 1, 0 / y = 0", "y != 0";
    Constructor, "quotient-ceiling", "ceildiv", "x ceildiv m = -(-x / m)", "m != 0";
    Constructor, "remainder-modulus-sign", "mod", "x % -m = x % m", "m != 0";
    Constructor, "remainder-modulus-one", "mod", "x % 1 = 0", "none";
    Constructor, "remainder-of-coarser", "mod", "x % (k * m) % m = x % m", "k > 0, m > 0";
    Constructor, "remainder-of-finer", "mod", "x % m % (k * m) = x % m", "k > 0, m > 0";
    Constructor, "remainder-coefficient-residue", "mod", "((a + k * m) * x + y) % m = (a * x + y) % m", "m > 0";
    Constructor, "remainder-inner-opened", "mod", "(c * (x % n) + y) % m = (c * x + y) % m", "m > 0, n > 0, m divides c * n";
    Constructor, "remainder-common-factor", "mod", "(g * x + r) % (g * k) = g * ((x + r / g) % k) + r % g", "g > 0, k > 0";
    Constructor, "remainder-parity", "mod", "(x + 1) % 2 = 1 - x % 2", "none";
    Constructor, "remainder-of-itself", "mod", "y % y = 0, 0 % y = 0", "y != 0";
    Constructor, "product-content-outside", "product", "(g * x) * (h * y) = g * h * (x * y)", "none";
    Constructor, "extremum-flat", "min, max", "min(a, min(b, c)) = min(a, b, c)", "none (max alike)";
    Constructor, "extremum-scaled-flat", "min, max", "min(a, t + c * min(x, y)) = min(a, t + c * x, t + c * y), min(a, t - c * max(x, y)) = min(a, t - c * x, t - c * y)", "c > 0 (max alike)";
    Constructor, "extremum-constant-decides", "min, max", "min(a + p, a + q) = a + p", "p <= q (max alike)";
    Constructor, "extremum-absorbs", "min, max", "min(x, max(x, y)) = x", "none (max alike)";
    Constructor, "extremum-absorbs-constant", "min, max", "min(a + p, max(a + q, y)) = a + p", "p <= q (max alike)";
    Constructor, "extremum-inner-idle", "min, max", "min(x, max(y, min(x, z))) = min(x, max(y, z))", "none (max alike)";
    Constructor, "extremum-distributes", "min, max", "min(max(x, y), max(x, z)) = max(x, min(y, z))", "none (max alike)";
    Constructor, "extremum-terms-outside", "min, max", "min(a + c, b + c) = min(a, b) + c", "none (max alike)";
    Constructor, "extremum-factor-outside", "min, max", "min(g * a, g * b) = g * min(a, b), min(-g * a, -g * b) = -g * max(a, b)", "g > 0 (max alike)";

    Constraint, "constraint-normal-form", "sum", "k * x + c in [a, b] = x in [-(-(a - c) / k), (b - c) / k]", "k > 0; for k < 0 of -x";
    Constraint, "constraint-quotient-opened", "floordiv", "x / m in [a, b] = x in [a * m, b * m + m - 1]", "m > 0";
    Constraint, "constraint-low-terms-leave", "sum", "g * h + l in [a, b] = h in [p, q]", "g > 0, u <= l <= v, p = (a - u) ceildiv g = (a - v) ceildiv g, q = (b - v) / g = (b - u) / g";
    Constraint, "constraint-bounds-term", "sum", "x + y in [a, b] implies x in [a - v, b - u]", "u <= y <= v";
    Constraint, "constraint-extremum-opened", "min, max", "min(x, y) in [a, b] = x in [a, oo], y in [a, oo], min(x, y) in [-oo, b]", "none (max alike)";
    Constraint, "constraint-congruence-normal", "mod", "(u * x + c) % m = r is (x + i * c) % m = i * r % m", "m > 0, 0 <= r < m, i * u % m = 1";
    Constraint, "constraint-congruences-join", "mod", "x % m = r and x % n = q is x % l = s", "l = lcm(m, n), 0 <= s < l, s % m = r, s % n = q";
    Constraint, "constraint-congruences-never", "mod", "x % m = r and x % n = q is false", "g divides m and n, not q - r";
    Constraint, "constraint-congruence-bounds", "mod", "x % m = r and a <= x <= b implies a + (r - a) % m <= x <= b - (b - r) % m", "m > 0, 0 <= r < m";
    Constraint, "constraints-meet", "any", "e in [a, b] and e in [c, d] = e in [max(a, c), min(b, d)]", "none";
    Constraint, "constraint-implied", "any", "e in [a, b] is true", "a <= u, v <= b, e in [u, v]";
    Constraint, "constraint-impossible", "any", "e in [a, b] is false", "v < a or b < u, e in [u, v]";
    Constraint, "constraint-divisor", "floordiv, mod", "x / y in [-oo, oo], x % y in [-oo, oo] is y in [1, oo] for y >= 0, y in [-oo, -1] for y <= 0, max(y, -y) in [1, oo]", "none";
    Constraint, "constraint-equates", "sum", "f(y) = f(x)", "x - y = 0";
    Constraint, "constraint-solved", "sum", "v = s * (c - r)", "r + s * v = c, s = 1 or s = -1";

    Range, "range-of-sum", "sum", "u + p <= x + y <= v + q", "u <= x <= v, p <= y <= q";
    Range, "range-of-multiple", "sum", "k * u <= k * x <= k * v", "u <= x <= v, k > 0; turned round for k < 0";
    Range, "range-of-digits", "sum", "a * x + b * (x / k) + c * (x % k) = (a * k + b) * (x / k) + (a + c) * (x % k)", "k > 0";
    Range, "range-by-lifting", "sum", "x / b + y = (x + b * y) / b", "b > 0";
    Range, "range-of-quotient", "floordiv", "u / m <= x / m <= v / m", "u <= x <= v, m > 0";
    Range, "range-of-quotient-by-expression", "floordiv", "x / y lies between the quotients of the ends", "u <= x <= v, p <= y <= q, p > 0 or q < 0";
    Range, "range-of-remainder", "mod", "u % m <= x % m <= v % m", "u <= x <= v, u / m = v / m, m > 0";
    Range, "range-of-remainder-by-expression", "mod", "0 <= x % y <= max(-p, q) - 1, x % y <= x for x >= 0", "p <= y <= q, y != 0";
    Range, "range-of-extremum", "min, max", "min(u, p) <= min(x, y) <= min(v, q)", "u <= x <= v, p <= y <= q (max alike)";
    Range, "range-of-product", "product", "x * y lies between the products of the ends", "u <= x <= v, p <= y <= q";
    Range, "range-of-square", "product", "0 <= x * x", "none";
    Range, "congruence-of-sum", "sum", "(a * x + b * y) % g = (a * r + b * s) % g", "x = r + m * i, y = s + n * j, g > 0, g divides a * m and b * n";
    Range, "congruence-of-remainder", "mod", "x % m % g = r % g", "x = r + n * i, m > 0, g > 0, g divides n and m";
    Range, "congruence-of-extremum", "min, max", "min(x, y) % g = r % g", "x = r + m * i, y = s + n * j, g > 0, g divides m, n and s - r (max alike)";
    Range, "congruence-of-product", "product", "x * y % (g * h) = 0", "g > 0, h > 0, g divides x, h divides y";
    Range, "congruence-tightens", "any", "a + (r - a) % m <= x <= b - (b - r) % m", "x % m = r, a <= x <= b, m > 0, 0 <= r < m";
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_different() {
        let mut names = HashSet::new();
        assert!(all_laws().all(|l| names.insert(l.name)));
    }

    #[test]
    fn every_rule_is_in_its_place() {
        assert!(RULES.iter().enumerate().all(|(k, r)| r.id as usize == k));
    }
}
