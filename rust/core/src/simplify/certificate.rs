//! The steps of a certificate: claims, each with the law that gives it and the claims that it follows from.

use crate::expr::Expr;
use crate::interval::Interval;
use crate::simplify::range::Info;

/// The steps of a certificate.
#[derive(Clone, Default, Debug)]
pub struct Certificate {
    /// The steps.
    pub steps: Vec<CertifiedStep>,
    /// For each result, the step that gives its final form; `None` if it stays as it is.
    pub results: Vec<Option<usize>>,
}

/// The claim of a step, at every point of the domain.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Claim {
    /// The expression has these bounds, and this congruence.
    Within(Expr, Info),
    /// The expressions are equal.
    Equal(Expr, Expr),
    /// The domain has no points.
    Never,
}

/// One step: a claim, the id of its law, the bindings of the law's letters, and the indices of the steps that it follows from.
#[derive(Clone, Debug)]
pub struct CertifiedStep {
    /// The claim.
    pub claim: Claim,
    /// The law's id; `GIVEN` of what the map states, `OPERANDS` and `CHAIN` of what equality itself gives.
    pub law: &'static str,
    /// The letters of the law.
    pub bindings: Vec<(&'static str, Expr)>,
    /// The steps before it from which it follows.
    pub from: Vec<usize>,
}

/// The law of the bounds and constraints that a map states.
pub(super) const GIVEN: &str = "given";
/// The law of an expression whose operands are replaced by equal ones, in the form that the constructors give.
pub(super) const OPERANDS: &str = "operands";
/// The law of equal variables.
pub(super) const VARIABLES_EQUAL: &str = "variables-equal";
/// The law of equalities one after another.
pub(super) const CHAIN: &str = "chain";
/// The law of the condition that a divisor is not 0, which holds because the map is defined.
pub(super) const CONDITION: &str = "constraint-divisor";
/// The laws that keep the constraint that they derive others from.
pub(super) const KEEPING: [&str; 3] =
    ["constraint-bounds-term", "constraint-congruence-bounds", "constraint-remainder-bounds"];
/// The law of a constraint on an expression that is replaced by an equal one.
pub(super) const SUBSTITUTED: &str = "substituted";

impl CertifiedStep {
    /// The constraint that it states, or claims as a consequence of others.
    pub(super) fn constraint(&self) -> Option<(Expr, Interval)> {
        let states = self.law.starts_with("constraint") || [GIVEN, SUBSTITUTED].contains(&self.law);
        match self.claim {
            Claim::Within(e, info) if states => Some((e, info.bounds)),
            _ => None,
        }
    }
}
