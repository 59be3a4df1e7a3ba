//! The input of simplification: a box of variables, constraints on it, results.

use crate::expr::Expr;
use crate::interval::Interval;

/// The treatment of variables that have one value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PointVariables {
    /// Replace them by constants.
    #[default]
    Replace,
    /// Keep them.
    Keep,
}

/// A box, constraints on it, and results, all in one arena; simplified in place by [`DomainSimplifier::simplify`].
#[derive(Clone, Debug, Default)]
pub struct DomainSimplifier {
    /// The bounds of variable 0, 1, ...
    pub bounds: Vec<Interval>,
    /// The constraints `expression in interval`.
    pub constraints: Vec<(Expr, Interval)>,
    /// The results.
    pub results: Vec<Expr>,
    /// The treatment of variables that have one value.
    pub points: PointVariables,
}
