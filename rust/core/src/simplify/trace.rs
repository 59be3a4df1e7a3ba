//! The steps of a simplification, where they are asked for: which law, what it met, what it made, what it could use.

use crate::expr::{Expr, Tag};
use crate::interval::Interval;
use crate::simplify::driver::Simplifier;
use crate::simplify::laws::{self, Law};
use crate::simplify::rules::RuleId;

/// One application of a law.
#[derive(Clone, Debug)]
pub struct Step {
    /// The law.
    pub law: Law,
    /// What it met: an expression, or the constraint that the expression lies in the interval.
    pub before: (Expr, Option<Interval>),
    /// What it made.
    pub after: Made,
    /// For a law that needs a domain: the bounds of the variables in `before`, then the constraints on them.
    pub facts: Vec<(Expr, Interval)>,
}

/// What a law made.
#[derive(Clone, Debug)]
pub enum Made {
    /// Another form of an expression.
    Expression(Expr),
    /// What a constraint says, implies or becomes; nothing where it always holds.
    Constraints(Vec<(Expr, Interval)>),
    /// The constraint never holds.
    Never,
}

impl Simplifier<'_> {
    /// Note the application of a rule.
    #[inline]
    pub(crate) fn note_rule(&mut self, rule: RuleId, before: Expr, after: Expr) {
        if self.explains() {
            self.push_rule(rule, before, after);
        }
    }

    #[cold]
    fn push_rule(&mut self, rule: RuleId, before: Expr, after: Expr) {
        let facts = if rule.needs_domain() { self.facts_about(before) } else { Vec::new() };
        let after = Made::Expression(after);
        self.push_step(Step { law: rule.rule().law(), before: (before, None), after, facts });
    }

    /// Note what a law made of the constraint `e in interval`.
    #[inline]
    pub(crate) fn note_constraint(
        &mut self,
        law: &str,
        before: (Expr, Interval),
        after: &[(Expr, Interval)],
    ) {
        if self.explains() {
            self.push_constraint(law, before, after);
        }
    }

    #[cold]
    fn push_constraint(&mut self, law: &str, (e, interval): (Expr, Interval), after: &[(Expr, Interval)]) {
        let law = laws::law_named(law);
        debug_assert!(law.is_some(), "a law of the table");
        let Some(law) = law else { return };
        let facts = self.facts_about(e);
        let never = after.iter().any(|(_, i)| i.is_empty());
        let after = if never { Made::Never } else { Made::Constraints(after.to_vec()) };
        self.push_step(Step { law, before: (e, Some(interval)), after, facts });
    }

    fn facts_about(&mut self, e: Expr) -> Vec<(Expr, Interval)> {
        let used = self.variables_of(e);
        let mut stated: Vec<(Expr, Interval)> =
            self.ranges.facts.ranges.iter().map(|(form, bounds)| (*form, *bounds)).collect();
        stated.retain(|(form, _)| self.variables_of(*form).iter().any(|v| used.contains(v)));
        stated.sort_unstable_by(|a, b| self.arena.compare(a.0, b.0));
        let mut facts: Vec<(Expr, Interval)> = Vec::with_capacity(used.len() + stated.len());
        for v in used {
            let index = self.arena.as_variable(v).map_or(usize::MAX, |i| i as usize);
            facts.extend(self.ranges.variables.get(index).map(|info| (v, info.bounds)));
        }
        facts.extend(stated);
        facts
    }

    fn variables_of(&mut self, e: Expr) -> Vec<Expr> {
        let mut used = self.arena.reachable(&[e]);
        used.retain(|x| self.arena.tag(*x) == Tag::Variable);
        used.sort_unstable_by(|a, b| self.arena.compare(*a, *b));
        used
    }
}
