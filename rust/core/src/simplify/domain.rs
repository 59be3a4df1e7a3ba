//! The input of simplification: a box of variables, constraints on it, results.

use crate::expr::Expr;
use crate::interval::Interval;

/// The treatment of variables that have one value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum PointVariables {
    /// Replace them by constants.
    #[default]
    Replace,
    /// Keep them.
    Keep,
}

/// The work that is spent on results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Effort {
    /// The laws that make an expression cheaper.
    #[default]
    Default,
    /// A search for a cheaper form, by all laws.
    Search,
}

/// The options of a simplification.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The treatment of variables that have one value.
    pub points: PointVariables,
    /// The work that is spent on results.
    pub effort: Effort,
}

impl From<PointVariables> for Options {
    fn from(points: PointVariables) -> Self {
        Options { points, effort: Effort::Default }
    }
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
    /// The options.
    pub options: Options,
}
