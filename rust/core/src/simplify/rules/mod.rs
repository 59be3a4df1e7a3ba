//! The laws that need a domain, by operator family, and the table that names them.
//!
//! A law that is true for all integers belongs to the constructors (`canonical.rs`, `min_max.rs`). A rule here is one
//! line of [`RULES`] and one short function that answers "no match" before it builds anything. Each application makes
//! the expression smaller: `progress.rs` says in which measure, and debug builds assert it.

pub(crate) mod carry;
pub mod combine;
pub mod division;
pub mod extraction;
pub mod min_max;
pub mod product;
pub(crate) mod progress;
pub mod remainder;
pub mod split;
pub mod sum;

use crate::error::Result;
use crate::expr::Expr;
use crate::simplify::driver::Simplifier;

/// A law of a quotient or remainder by a constant, which is given with its dividend and divisor.
type DivisorRule = fn(&mut Simplifier<'_>, Expr, Expr, i64) -> Result<Option<Expr>>;

/// What the first of the rules that applies makes of `e`, which is `n floordiv m` or `n mod m`; `e` where none does.
fn first_of(rules: &[DivisorRule], s: &mut Simplifier<'_>, e: Expr, n: Expr, m: i64) -> Result<Expr> {
    for rule in rules {
        if let Some(out) = rule(s, e, n, m)? {
            return Ok(out);
        }
    }
    Ok(e)
}

macro_rules! rules {
    ($($id:ident, $name:literal, $family:literal, $law:literal, $precondition:literal;)*) => {
        /// The name of a rule.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum RuleId { $(#[doc = $law] $id),* }

        /// All rules, in the order of [`RuleId`].
        pub const RULES: &[Rule] = &[$(Rule {
            id: RuleId::$id, name: $name, family: $family, law: $law, precondition: $precondition,
        }),*];
    };
}

/// A rule as data: what it is called, its law, and when the law holds.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its id.
    pub id: RuleId,
    /// Its stable name.
    pub name: &'static str,
    /// The operator at its left side.
    pub family: &'static str,
    /// The law; `/` is floordiv, `%` is mod.
    pub law: &'static str,
    /// The condition under which the law holds.
    pub precondition: &'static str,
}

impl RuleId {
    /// The line of the table.
    pub fn rule(self) -> &'static Rule {
        &RULES[self as usize]
    }

    /// Does the law hold only where the bounds of variables, or constraints, say so?
    pub fn needs_domain(self) -> bool {
        use RuleId::*;
        matches!(
            self,
            SingleValue
                | QuotientSplit
                | QuotientThresholds
                | QuotientOfMultiple
                | QuotientSmall
                | RemainderSplit
                | RemainderInPeriod
                | RemainderSmall
                | RemainderOfMultiple
                | EqualityUsed
                | ArgumentIdle
        )
    }
}

rules! {
    SingleValue, "single-value", "any", "e = c", "c <= e <= c";
    QuotientSplit, "quotient-split", "floordiv", "n / m = (n - r) / m", "m > 0, g divides m, g divides n - r, 0 <= r < g";
    QuotientOfExtremum, "quotient-of-extremum", "floordiv", "min(a, b) / m = min(a / m, b / m)", "m > 0 (max alike)";
    QuotientOfNested, "quotient-of-nested", "floordiv", "(x / b + y) / m = (x + b * y) / (b * m)", "b > 0, m > 0";
    QuotientCarried, "quotient-carried", "floordiv", "(g * h + l) / m = (h + l / g) / (m / g)", "g > 0, g divides m";
    QuotientThresholds, "quotient-thresholds", "floordiv", "(a * x + c) / m = (x - s) / k + q", "a > 0, m > 0, the left side rises by 1 to q at s, then at s + k, s + 2 * k, .. and nowhere else in the bounds of x";
    QuotientOfMultiple, "quotient-of-multiple", "floordiv", "(x * y + z) / y = x + z / y", "y != 0";
    QuotientSmall, "quotient-small", "floordiv", "x / y = 0", "0 <= x < y";
    RemainderSplit, "remainder-split", "mod", "n % m = (n - r) % m + r", "m > 0, g divides m, g divides n - r, 0 <= r < g";
    RemainderInPeriod, "remainder-in-period", "mod", "x % m = x - m * k", "m > 0, m * k <= x < m * (k + 1)";
    RemainderOpened, "remainder-opened", "mod", "(y + c * (x % u)) % m = (y + c * x - c * u * (x / u)) % m", "u > 0";
    RemainderCarried, "remainder-carried", "mod", "(g * h + l) % m = g * ((h + l / g) % (m / g)) + l % g", "g > 0, g divides m";
    RemainderOfQuotient, "remainder-of-quotient", "mod", "(c * ((x + d * p * y) / d) + z) % m = (c * (x / d) + z) % m", "m > 0, d > 0, m divides c * p";
    RemainderSmall, "remainder-small", "mod", "x % y = x", "0 <= x < y";
    RemainderOfMultiple, "remainder-of-multiple", "mod", "(x * y + z) % y = z % y", "y != 0";
    RemainderRecombines, "remainder-recombines", "sum", "x % m = z - m * (z / m), y % m = m - 1 - z + m * (z / m)", "m > 0, x % m = z % m, y % m = (-1 - z) % m";
    QuotientRecombines, "quotient-recombines", "sum", "m * (x / m) = x - x % m", "m > 0";
    DigitsRecombine, "digits-recombine", "sum", "x % u + u * (y % v) = (z + u * (y - z / u)) % (u * v)", "u > 0, v > 0, x % u = z % u";
    HalvesRecombine, "halves-recombine", "sum", "x / 2 + x % 2 = (x + 1) / 2, (x + 1) / 2 - x % 2 = x / 2", "none";
    QuotientsDiffer, "quotients-differ", "sum", "a / m - b / m = (b % m + a - b) / m", "m > 0";
    RemainderMirrored, "remainder-mirrored", "sum", "x % m = m - 1 - (m - 1 - x) % m", "m > 0";
    ProductsFactored, "products-factored", "sum", "x * f + y * f = (x + y) * f", "none";
    ExtremesMultiply, "extremes-multiply", "product", "min(a, b) * max(a, b) = a * b", "none";
    ExtremumOfQuotients, "extremum-of-quotients", "min, max", "min(a / m, b / m) = min(a, b) / m", "m > 0 (max alike)";
    ExtremumTermLeaves, "extremum-term-leaves", "min, max", "min(a + t, b) = min(a, b - t) + t", "none (max alike)";
    QuotientOfDigit, "quotient-of-digit", "floordiv", "(x / a % b + y) / m = (x % (a * b) + a * y) / (a * m)", "a > 0, b > 0, m > 0";
    ExtremesJoin, "extremes-join", "sum", "min(a, b) + max(a, b) = a + b", "none";
    ExtremumAbsorbsTerms, "extremum-absorbs-terms", "sum", "min(a, b) + t = min(a + t, b + t)", "none (max alike)";
    EqualityUsed, "equality-used", "sum", "e = e + k * (f - c)", "f = c on the domain";
    Extraction, "extraction", "sum", "x % m = x - m * (x / m), k * x + n / m = (n + k * m * x) / m", "m > 0; both ways, on the way out only";
    ArgumentIdle, "argument-idle", "min, max", "min(a, b) = a", "a <= b on the domain (max alike)";
}
