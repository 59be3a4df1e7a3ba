//! The laws of the constructors in `expr/`, as data. They have no functions of their own: a constructor applies all of its
//! laws at once, so that a node that violates one cannot exist. All other laws are rows with functions: rules in `rules/`,
//! laws of constraints in `constraints/` and `domain_simplifier.rs`, laws of bounds and congruences in `range/`.
//!
//! The generated document, the proofs and the examples of the tests refer to laws by name; tests require all of them for
//! each law.

use crate::simplify::law::{Group, Law};

macro_rules! laws {
    ($($name:literal, $family:literal, $law:literal, $precondition:literal;)*) => {
        /// The laws of the constructors.
        pub(crate) const CONSTRUCTORS: &[Law] =
            &[$(Law::new(Group::Constructor, $name, $family, $law, $precondition)),*];
    };
}

laws! {
    "sum-flat", "sum", "a * (b * x + c) + y = a * b * x + y + a * c", "none";
    "sum-terms-merge", "sum", "a * x + b * x = (a + b) * x, 0 * x = 0", "none";
    "sum-remainder-recombines", "sum", "c * (x % m) + c * m * (z / m) = c * z", "m > 0, x % m = z % m";
    "sum-digits-recombine", "sum", "x % u + u * (y % v) = (z + u * (y - z / u)) % (u * v)", "u > 0, v > 0, x % u = z % u";
    "sum-difference-is-quotient", "sum", "c * x - c * (x % m) = c * m * (x / m)", "m > 0";
    "sum-difference-is-remainder", "sum", "c * x - c * m * (x / m) = c * (x % m)", "m > 0";
    "quotient-divisor-negative", "floordiv", "x / -m = -x / m", "m != 0";
    "quotient-divisor-one", "floordiv", "x / 1 = x", "none";
    "quotient-of-quotient", "floordiv", "x / b / c = x / (b * c)", "b > 0, c > 0";
    "quotient-of-remainder", "floordiv", "x % (c * k) / c = x / c % k", "c > 0, k > 0";
    "quotient-multiples-moved-out", "floordiv", "(c * x + y) / c = x + y / c", "c > 0";
    "quotient-common-factor", "floordiv", "(g * x + r) / (g * d) = (x + r / g) / d", "g > 0, d > 0";
    "quotient-sign", "floordiv", "n / d = -((d - 1 - n) / d)", "d > 0";
    "quotient-offset-moved-in", "floordiv", "(y / b + k) / c = (y + k * b) / (b * c)", "b > 0, c > 0";
    "quotient-of-itself", "floordiv", "y / y = 1, 0 / y = 0", "y != 0";
    "quotient-ceiling", "ceildiv", "x ceildiv m = -(-x / m)", "m != 0";
    "remainder-modulus-sign", "mod", "x % -m = x % m", "m != 0";
    "remainder-modulus-one", "mod", "x % 1 = 0", "none";
    "remainder-of-coarser", "mod", "x % (k * m) % m = x % m", "k > 0, m > 0";
    "remainder-of-finer", "mod", "x % m % (k * m) = x % m", "k > 0, m > 0";
    "remainder-coefficient-residue", "mod", "((a + k * m) * x + y) % m = (a * x + y) % m", "m > 0";
    "remainder-inner-expanded", "mod", "(c * (x % n) + y) % m = (c * x + y) % m", "m > 0, n > 0, m divides c * n";
    "remainder-common-factor", "mod", "(g * x + r) % (g * k) = g * ((x + r / g) % k) + r % g", "g > 0, k > 0";
    "remainder-parity", "mod", "(x + 1) % 2 = 1 - x % 2", "none";
    "remainder-of-itself", "mod", "y % y = 0, 0 % y = 0", "y != 0";
    "product-content-outside", "product", "(g * x) * (h * y) = g * h * (x * y)", "none";
    "extremum-flat", "min, max", "min(a, min(b, c)) = min(a, b, c)", "none (max alike)";
    "extremum-scaled-flat", "min, max", "min(a, t + c * min(x, y)) = min(a, t + c * x, t + c * y), min(a, t - c * max(x, y)) = min(a, t - c * x, t - c * y)", "c > 0 (max alike)";
    "extremum-constant-decides", "min, max", "min(a + p, a + q) = a + p", "p <= q (max alike)";
    "extremum-absorbs", "min, max", "min(x, max(x, y)) = x", "none (max alike)";
    "extremum-absorbs-constant", "min, max", "min(a + p, max(a + q, y)) = a + p", "p <= q (max alike)";
    "extremum-inner-redundant", "min, max", "min(x, max(y, min(x, z))) = min(x, max(y, z))", "none (max alike)";
    "extremum-distributes", "min, max", "min(max(x, y), max(x, z)) = max(x, min(y, z))", "none (max alike)";
    "extremum-terms-outside", "min, max", "min(a + c, b + c) = min(a, b) + c", "none (max alike)";
    "extremum-factor-outside", "min, max", "min(g * a, g * b) = g * min(a, b), min(-g * a, -g * b) = -g * max(a, b)", "g > 0 (max alike)";
}
