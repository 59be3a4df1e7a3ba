//! A law as data, which traces, the generated document, the proofs and the examples of the tests use.

/// The place where a law is applied.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Group {
    /// By the driver, on a domain, if the result is cheaper.
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
    /// Whether its precondition refers to the bounds of variables, or to constraints.
    pub needs_domain: bool,
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
        Law { group, name, family, law, precondition, needs_domain: false, renames: false }
    }

    /// The same law, marked as needing the domain.
    pub(crate) const fn on_domain(self) -> Law {
        Law { needs_domain: true, ..self }
    }

    /// The same law, marked as replacing variables by others.
    pub(crate) const fn renaming(self) -> Law {
        Law { renames: true, ..self }
    }
}
