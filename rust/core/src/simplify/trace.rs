//! The steps of a simplification, recorded on request: each law with its input, its output, and the facts that it could use.

use crate::expr::Expr;
use crate::interval::Interval;
use crate::simplify::law::Law;

/// One application of a law.
#[derive(Clone, Debug)]
pub struct Step {
    /// The law.
    pub law: Law,
    /// The expression before the step, or the constraint that it lies in the interval.
    pub before: (Expr, Option<Interval>),
    /// The result.
    pub after: StepResult,
    /// For a law that needs a domain: the bounds of the variables in `before`, then the constraints on them.
    pub facts: Vec<(Expr, Interval)>,
}

/// The result of a law.
#[derive(Clone, Debug)]
pub enum StepResult {
    /// Another form of an expression.
    Expression(Expr),
    /// The constraints that replace one, or follow from it; empty if it always holds.
    Constraints(Vec<(Expr, Interval)>),
    /// The constraint never holds.
    Unsatisfiable,
}
