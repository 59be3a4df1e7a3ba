//! A law as data, which certificates, the generated document, the proofs and the examples of the tests use.

use crate::error::Result;
use crate::expr::Expr;

/// The place where a law is applied.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Group {
    /// By the driver, to an expression on a domain.
    Rule,
    /// By a constructor, always: a node that violates it cannot exist.
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

/// The condition on its result under which the driver applies a law that matches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Applied {
    /// Always: its result is never dearer.
    Always,
    /// If the result is cheaper.
    IfCheaper,
    /// If the result is cheaper, or costs the same and is smaller by the measure of `rules/progress.rs`.
    IfSmaller,
    /// If the result is cheaper, or what one further law makes of it.
    IfCheaperWithNext,
}

impl Applied {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Applied::Always => "always",
            Applied::IfCheaper => "if cheaper",
            Applied::IfSmaller => "if smaller",
            Applied::IfCheaperWithNext => "if cheaper with the next",
        }
    }
}

/// A law as data; `/` is floordiv, `%` is mod.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// The place where it is applied.
    pub group: Group,
    /// Its stable id.
    pub name: &'static str,
    /// The operator at its left side.
    pub family: &'static str,
    /// The law.
    pub law: &'static str,
    /// The condition under which it holds.
    pub precondition: &'static str,
    /// Whether its precondition refers to the bounds of variables, or to constraints; otherwise it holds for all integers.
    pub needs_domain: bool,
    /// The condition on its result under which it is applied.
    pub applied: Applied,
    /// Whether it replaces variables by others, which leaves fewer variables or earlier ones.
    pub renames: bool,
}

impl Law {
    /// A law of `group`: its id, the operator at its left side, the law, its condition.
    pub(crate) const fn new(
        group: Group,
        name: &'static str,
        family: &'static str,
        law: &'static str,
        precondition: &'static str,
    ) -> Law {
        Law {
            group,
            name,
            family,
            law,
            precondition,
            needs_domain: false,
            applied: Applied::Always,
            renames: false,
        }
    }

    /// The same law, marked as needing the domain.
    pub(crate) const fn on_domain(self) -> Law {
        Law { needs_domain: true, ..self }
    }

    /// The same law, applied always.
    pub(crate) const fn always(self) -> Law {
        Law { applied: Applied::Always, ..self }
    }

    /// The same law, applied if its result is cheaper.
    pub(crate) const fn if_cheaper(self) -> Law {
        Law { applied: Applied::IfCheaper, ..self }
    }

    /// The same law, applied if its result is smaller by the measure of `rules/progress.rs`.
    pub(crate) const fn if_smaller(self) -> Law {
        Law { applied: Applied::IfSmaller, ..self }
    }

    /// The same law, applied if its result is cheaper, or what one further law makes of it.
    pub(crate) const fn if_cheaper_with_next(self) -> Law {
        Law { applied: Applied::IfCheaperWithNext, ..self }
    }

    /// The same law, marked as replacing variables by others.
    pub(crate) const fn renaming(self) -> Law {
        Law { renames: true, ..self }
    }
}

/// The equal expression that a law makes of another; `None` if it does not match. Error: numbers leave int64.
pub(crate) type Rewritten = Result<Option<Expr>>;

/// A row of a table: a law, the traits that an expression must have, and the function that applies it.
pub(crate) struct Row<F> {
    pub(crate) law: Law,
    pub(crate) requires: u16,
    pub(crate) function: F,
}

/// The laws of a table.
pub(crate) fn laws_of<F>(rows: &'static [Row<F>]) -> impl Iterator<Item = Law> {
    rows.iter().map(|row| row.law)
}

/// The row of a law, which `law` of its module makes, or of one that has a name:
/// `row!("id", "operator": "law" if "precondition", mark; traits => function)`, where marks and traits may be left out.
macro_rules! row {
    ($id:literal, $family:literal: $law:literal if $precondition:literal $(, $mark:ident)* $(; $requires:expr)? => $function:expr) => {
        row!(law($id, $family, $law, $precondition)$(.$mark())* $(; $requires)? => $function)
    };
    ($law:expr $(; $requires:expr)? => $function:expr) => {
        $crate::simplify::law::Row { law: $law, requires: 0 $(| $requires)?, function: $function }
    };
}
