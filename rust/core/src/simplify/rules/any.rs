//! Laws of every expression: the facts of the domain give its value, or an equal expression.

use super::{law, Row};
use crate::expr::{Expr, Tag};
use crate::simplify::certificate::VARIABLES_EQUAL;
use crate::simplify::law::Rewritten;
use crate::simplify::simplifier::Simplifier;

type AnyRule = fn(&mut Simplifier<'_>, Expr) -> Rewritten;

/// The facts contain equal expressions.
pub(super) const STATED: u16 = 1;

/// The rules of every node, before those of its operator.
pub(super) const FIRST: &[Row<AnyRule>] = &[
    row!("known-equal", "any": "e = f" if "e = f on the domain", always, on_domain; STATED => known_equal),
    row!("single-value", "any": "e = c" if "c <= e <= c", always, on_domain => single_value),
];

/// The rules of a result that is not simplified yet.
pub(super) const BEFORE_RESULT: &[Row<AnyRule>] = &[
    row!(law(VARIABLES_EQUAL, "any", "y = x", "x - y = 0").always().on_domain().renaming() => variables_equal),
];

fn known_equal(s: &mut Simplifier<'_>, e: Expr) -> Rewritten {
    let Some(other) = s.ranges.facts.equal.get(&e).copied() else { return Ok(None) };
    s.record(|r, arena, ranges| r.use_facts_about(arena, ranges, e));
    Ok(Some(s.simplify(other)))
}

fn single_value(s: &mut Simplifier<'_>, e: Expr) -> Rewritten {
    let bounds = s.bounds(e);
    if !bounds.is_point() || s.arena.tag(e) == Tag::Constant {
        return Ok(None);
    }
    s.reason(e);
    Ok(Some(s.arena.constant(bounds.lower)))
}

/// Replaces each variable by the first one of its class of equal variables.
fn variables_equal(s: &mut Simplifier<'_>, e: Expr) -> Rewritten {
    let equal = &s.ranges.facts.equal_variables;
    if equal.is_empty() || s.ranges.facts.are_irrelevant_to(s.arena, e) {
        return Ok(None);
    }
    let new = s.arena.replace_variables(e, |v| equal.representative(v))?;
    s.record(|r, arena, ranges| r.use_equal_variables(arena, ranges, e));
    Ok((new != e).then_some(new))
}
