//! The rules: laws that are applied if the result is cheaper, in tables by operator.
//!
//! A law that is true for all integers belongs to the constructors in `expr/`. A rule is one [`Row`] of the table of its
//! family: id, operator, law, precondition, whether it needs the domain, the traits that an expression must have, and the
//! function, which returns "no match" before it builds anything. The driver iterates over the rows of a family; nothing
//! else calls them. Each application decreases the measure that `progress.rs` defines; debug builds assert this.

mod any;
mod by_expression;
mod carry;
mod combine;
mod complete;
mod division;
mod extraction;
mod factors;
mod min_max;
mod moved_terms;
mod period;
mod product;
mod progress;
mod recombine;
mod recombine_products;
mod remainder;
mod split;
mod sum;
mod values;

use crate::expr::{Expr, Tag};
use crate::simplify::law::{laws_of, Applied, Group, Law, Rewritten, Row};
use crate::simplify::simplifier::{Choice, Rewrite, Simplifier};

/// No trait is required.
const ALWAYS: u16 = 0;
/// The dividend is more than a sum of variables.
const NONLINEAR: u16 = 1;

/// A rule that is applied if its result is cheaper: see [`Law`].
const fn law(name: &'static str, family: &'static str, law: &'static str, precondition: &'static str) -> Law {
    Law::new(Group::Rule, name, family, law, precondition).if_cheaper()
}

impl<F> Row<F> {
    fn may_apply(&self, has: u16) -> bool {
        self.requires & !has == 0
    }
}

/// All rules, family by family, in the order in which they are tried.
pub(crate) fn laws() -> impl Iterator<Item = Law> {
    let any = laws_of(any::FIRST).chain(laws_of(any::BEFORE_RESULT));
    let quotients = laws_of(division::QUOTIENTS).chain(by_expression::quotient_laws());
    let remainders = laws_of(remainder::REMAINDERS).chain(by_expression::remainder_laws());
    let last = laws_of(min_max::EXTREMA).chain(laws_of(product::PRODUCTS)).chain(laws_of(values::VALUES));
    any.chain(quotients).chain(remainders).chain(sum::laws()).chain(last).chain(extraction::laws())
}

/// The result of the first row that applies to `e`; `None` if none does.
fn first_of<'a, F>(
    s: &mut Simplifier<'a>,
    rows: &'static [Row<F>],
    has: u16,
    e: Expr,
    call: impl Fn(&mut Simplifier<'a>, &F) -> Rewritten,
) -> Rewritten {
    let is_recorded = s.records_steps(); // asked once: rows are tried at every node
    for row in rows.iter().filter(|row| row.may_apply(has)) {
        let mark = if is_recorded { s.mark() } else { 0 };
        if let Some(out) = call(s, &row.function)? {
            if s.accepts(&row.law, e, out) {
                s.record_rule(&row.law, e, out, mark);
                return Ok(Some(out));
            }
        }
        if is_recorded {
            s.release(mark);
        }
    }
    Ok(None)
}

/// The result of an operator's rules for a canonical node of simplified operands.
pub(crate) fn apply(s: &mut Simplifier<'_>, e: Expr) -> Expr {
    let result = match s.arena.tag(e) {
        Tag::Sum => sum::apply(s, e),
        Tag::FloorDiv => division::apply(s, e),
        Tag::Mod => remainder::apply(s, e),
        Tag::Min | Tag::Max => min_max::apply(s, e),
        Tag::Product => product::apply(s, e),
        Tag::Variable | Tag::Constant => Ok(None),
    };
    // If a rule overflows, the expression is left as it is.
    result.ok().flatten().unwrap_or(e)
}

/// The result of the rules for every node, before those of its operator.
pub(crate) fn apply_first(s: &mut Simplifier<'_>, e: Expr) -> Expr {
    let has = if s.ranges.facts.equal.is_empty() { ALWAYS } else { any::STATED };
    first_of(s, any::FIRST, has, e, |s, f| f(s, e)).ok().flatten().unwrap_or(e)
}

/// The result of the rules for results, before `e` is simplified.
pub(crate) fn apply_before(s: &mut Simplifier<'_>, e: Expr) -> Expr {
    first_of(s, any::BEFORE_RESULT, ALWAYS, e, |s, f| f(s, e)).ok().flatten().unwrap_or(e)
}

/// Whether no rule gives another form of a simplified result, at a glance.
pub(crate) fn has_single_form(s: &Simplifier<'_>, e: Expr) -> bool {
    extraction::has_single_form(s, e)
}

/// A cheaper form of a simplified result.
pub(crate) fn apply_cheapest(s: &mut Simplifier<'_>, e: Expr) -> Option<Expr> {
    values::apply(s, e).or_else(|| extraction::apply(s, e))
}

impl Simplifier<'_> {
    /// Whether the result of a rule replaces the expression: it must not need wider integers, nor be dearer.
    fn accepts(&mut self, law: &Law, before: Expr, after: Expr) -> bool {
        if let Some(answer) = self.is_chosen(law, before, after) {
            return answer;
        }
        if self.is_wider(after, before) {
            return false;
        }
        match law.applied {
            Applied::Always => {
                debug_assert!(
                    progress::is_made(self, law, before, after),
                    "{} made nothing smaller",
                    law.name
                );
                true
            }
            Applied::IfSmaller => progress::is_smaller(self, after, before),
            Applied::IfCheaper | Applied::IfCheaperWithNext => self.cost(after) < self.cost(before),
        }
    }
}

/// All forms that the laws give of `e`, cheaper or not.
pub(crate) fn all_forms(s: &mut Simplifier<'_>, e: Expr) -> Vec<Rewrite> {
    choose(s, e, None).1
}

/// Applies a law again that was collected, and records it; false if it does not apply.
pub(crate) fn apply_again(s: &mut Simplifier<'_>, rewrite: Rewrite) -> bool {
    choose(s, rewrite.before, Some(rewrite)).0
}

/// Goes through the rules of one expression; whether the wanted one was applied, or all that can be.
fn choose(s: &mut Simplifier<'_>, e: Expr, wanted: Option<Rewrite>) -> (bool, Vec<Rewrite>) {
    s.active[0] = e;
    s.depth = 1;
    s.choice = Some(Box::new(Choice { before: e, depth: s.depth, wanted, collected: Vec::new() }));
    let out = apply(s, e);
    let applied = out != e || apply_cheapest(s, e).is_some();
    s.depth = 0;
    let choice = s.choice.take();
    (applied, choice.map_or(Vec::new(), |c| c.collected))
}

impl Simplifier<'_> {
    /// Whether rules are asked for all forms: those that a rule does not expect to be cheaper, too.
    pub(crate) fn is_searching(&self) -> bool {
        self.choice.is_some()
    }

    /// The simplified form of `raw`, which is equal to `e`, if `raw` is cheaper; for the search, `raw` itself.
    pub(crate) fn cheaper_form(&mut self, raw: Expr, e: Expr) -> Option<Expr> {
        if self.is_searching() {
            return Some(raw);
        }
        (self.cost(raw) < self.cost(e)).then(|| self.simplify(raw))
    }

    /// Whether the search wants this application of a law; `None` if it does not ask about this expression.
    fn is_chosen(&mut self, law: &Law, before: Expr, after: Expr) -> Option<bool> {
        let depth = self.depth;
        let choice = self.choice.as_mut().filter(|c| c.before == before && c.depth == depth)?;
        let rewrite = Rewrite { law: law.name, before, after };
        if choice.wanted.is_none() && after != before && !choice.collected.contains(&rewrite) {
            choice.collected.push(rewrite);
        }
        Some(choice.wanted == Some(rewrite))
    }
}
