//! Bounds and congruences that constraints state of expressions.

use crate::expr::{Arena, Expr, Node};
use crate::int::div_mod_positive;
use crate::interval::Interval;
use crate::simplify::facts::normal_form;
use crate::simplify::range::{Info, Ranges};

/// With more facts than this, sums are not compared with each of them.
const FACTS_COMPARED: usize = 12;

impl Ranges {
    /// Bounds and congruence of `e`, tightened by the facts.
    pub(crate) fn with_facts(&self, arena: &mut Arena, e: Expr, info: Info) -> Info {
        let Node::Sum(_, terms) = arena.node(e) else {
            return if self.facts.has_atoms { self.with_stated(e, 1, 0, info) } else { info };
        };
        // What is stated of the only term is known of the sum already.
        if terms.len() < 2 || (self.facts.linear.is_empty() && self.facts.congruences.is_empty()) {
            return info;
        }
        let mut info = info;
        arena.charge(self.facts.linear.len().min(FACTS_COMPARED) * terms.len());
        let compared = self.facts.linear.len() <= FACTS_COMPARED;
        // A fact tells something of a sum that has all that it is about.
        let about = |f: &(Expr, Interval)| arena.may_use_variables_of(e, f.0);
        if compared && self.facts.congruences.is_empty() && !self.facts.linear.iter().any(about) {
            return info;
        }
        if !compared || !self.facts.congruences.is_empty() {
            if let Some((form, factor, offset)) = normal_form(arena, e) {
                info = self.with_stated(form, factor, offset, info);
            }
        }
        if let Some(bounds) = self.by_lifting(arena, e) {
            info = info.and(Info { bounds, modulus: 1, residue: 0 });
        }
        if compared {
            info = self.with_linear_facts(arena, e, info);
        }
        info
    }

    /// The bounds that are stated of `form`, as those of `factor * form + offset`.
    fn with_stated(&self, form: Expr, factor: i64, offset: i64, mut info: Info) -> Info {
        if let Some(bounds) = self.facts.ranges.get(&form) {
            let stated = bounds.scaled(factor).plus(Interval::point(offset));
            info = info.and(Info { bounds: stated, modulus: 1, residue: 0 });
        }
        if let Some((m, r)) = self.facts.congruences.get(&form) {
            let both =
                m.checked_mul(factor.abs()).zip(r.checked_mul(factor).and_then(|x| x.checked_add(offset)));
            if let Some((m, r)) = both {
                let residue = div_mod_positive(r, m).1;
                info = info.and(Info { bounds: Interval::ALL, modulus: m, residue });
            }
        }
        info
    }

    /// `x floordiv b + y = (x + b * y) floordiv b`: the numerator may be a stated form.
    fn by_lifting(&self, arena: &mut Arena, e: Expr) -> Option<Interval> {
        let Node::Sum(_, terms) = arena.node(e) else { return None };
        let t = *terms.iter().find(|t| t.coeff == 1 && arena.as_floordiv(t.expr).is_some())?;
        let (x, b) = arena.as_floordiv(t.expr)?;
        let rest = arena.sub(e, t.expr).ok()?;
        let lifted = arena.combine(x, 1, rest, b).ok()?;
        let (form, factor, offset) = normal_form(arena, lifted)?;
        let stated = self.facts.ranges.get(&form)?.scaled(factor).plus(Interval::point(offset));
        Some(stated.floordiv_positive(b))
    }

    /// `e = k * form + rest`: the bounds of the form and of the rest bound `e`.
    fn with_linear_facts(&self, arena: &mut Arena, e: Expr, info: Info) -> Info {
        let mut info = info;
        let Node::Sum(constant, terms) = arena.node(e) else { return info };
        for (form, bounds) in &self.facts.linear {
            if !arena.may_use_variables_of(e, *form) {
                continue;
            }
            let Node::Sum(0, parts) = arena.node(*form) else { continue };
            let Some(first) = terms.iter().find(|t| t.expr == parts[0].expr) else { continue };
            let Some(k) = first.coeff.checked_div(parts[0].coeff) else { continue };
            if k == 0 || first.coeff % parts[0].coeff != 0 {
                continue;
            }
            let mut rest = Interval::point(constant).plus(bounds.scaled(k));
            let mut shared = 0;
            for t in terms {
                let part = parts.iter().find(|p| p.expr == t.expr);
                shared += usize::from(part.is_some());
                let taken = part.map_or(Some(0), |p| p.coeff.checked_mul(k));
                match taken.and_then(|x| t.coeff.checked_sub(x)) {
                    Some(left) => rest = rest.plus(self.operand(arena, t.expr).bounds.scaled(left)),
                    None => rest = Interval::ALL,
                }
            }
            // All parts of the form must have been taken away for the identity to hold.
            if shared == parts.len() {
                info = info.and(Info { bounds: rest, modulus: 1, residue: 0 });
            }
        }
        info
    }
}
