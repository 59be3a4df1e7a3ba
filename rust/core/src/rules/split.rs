//! The split of a dividend: `n = high + low` with `high` a multiple of `g`, `g` a divisor of `m`, and `0 <= low < g`.
//!
//! Then `n floordiv m = high floordiv m` and `n mod m = high mod m + low`. With `g = m` the quotient is exact and the
//! remainder is `low`. For each candidate `g` the coefficients are reduced to residues (of least absolute value, then
//! all nonnegative), and the range of what is left must lie within one period of `g`: linear in the number of terms.

use crate::error::Result;
use crate::expr::{Expr, Node, Term, Terms};
use crate::int::{div_mod_positive, gcd_i64};
use crate::interval::Interval;
use crate::range::Info;
use crate::simplify::Simplifier;
use smallvec::{smallvec, SmallVec};

/// `n = high + low`.
pub struct Split {
    /// A multiple of the granule.
    pub high: Expr,
    /// In `[0, granule)`.
    pub low: Expr,
    /// `g`.
    pub granule: i64,
    /// No term stands in both parts.
    pub disjoint: bool,
}

/// One term of the dividend.
struct Part {
    term: Term,
    info: Info,
    /// All values of the term are congruent modulo this (0: a constant).
    step: i64,
}

type Granules = SmallVec<[i64; 16]>;
type Parts = SmallVec<[Part; 8]>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Residues {
    Least,
    LeastDown,
    Nonnegative,
    Nonpositive,
}

const ALL_RESIDUES: [Residues; 4] =
    [Residues::Least, Residues::LeastDown, Residues::Nonnegative, Residues::Nonpositive];

impl Simplifier<'_> {
    /// The splits of `n` for the divisor `m`, the one with the largest granule first; `accept` takes the first it likes.
    pub fn split<T>(
        &mut self,
        n: Expr,
        m: i64,
        mut accept: impl FnMut(&mut Self, Split) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let (constant, parts) = self.parts(n);
        let related = self.are_related(&parts);
        for g in granules(&parts, m) {
            if !self.spend(parts.len() as u64) {
                return Ok(None);
            }
            if !related && least_width(&parts, g) >= g {
                continue;
            }
            for residues in ALL_RESIDUES {
                if residues == Residues::LeastDown && !has_tie(&parts, g) {
                    continue;
                }
                if let Some(found) = self.split_at(constant, &parts, g, residues, related)? {
                    if let Some(out) = accept(self, found)? {
                        return Ok(Some(out));
                    }
                }
            }
        }
        Ok(None)
    }

    /// May terms that depend on each other be bounded better together than one by one? Where no fact is about terms
    /// of the dividend alone, and no quotient or remainder stands beside its dividend or its twin, they may not.
    fn are_related(&self, parts: &[Part]) -> bool {
        if parts.len() < 2 {
            return false;
        }
        let has = |e: Expr| parts.iter().any(|p| p.term.expr == e);
        // `x / b + y` is known where `x + b * y` is.
        let lifted = |e: Expr| {
            let inside =
                |p: &Part| self.arena.as_floordiv(p.term.expr).is_some_and(|(x, _)| self.holds(x, e));
            has(e) || parts.iter().any(inside)
        };
        let digits = parts.iter().any(|p| {
            let digit = |e: Expr| self.arena.as_floordiv(e).or_else(|| self.arena.as_mod(e));
            let own = digit(p.term.expr);
            own.is_some_and(|(x, _)| {
                has(x) || parts.iter().any(|o| o.term.expr != p.term.expr && digit(o.term.expr) == own)
            })
        });
        digits || self.ranges.facts.may_join(self.arena, lifted)
    }

    fn parts(&mut self, n: Expr) -> (i64, Parts) {
        let (constant, terms) = match self.arena.node(n) {
            Node::Sum(constant, terms) => (constant, Terms::from_slice(terms)),
            Node::Constant(c) => (c, Terms::new()),
            _ => (0, smallvec![Term::new(1, n)]),
        };
        let parts = terms.into_iter().map(|term| {
            let info = self.info(term.expr);
            let step = term.coeff.checked_mul(info.modulus).unwrap_or(term.coeff);
            Part { term, info, step }
        });
        (constant, parts.collect())
    }

    fn split_at(
        &mut self,
        constant: i64,
        parts: &[Part],
        g: i64,
        residues: Residues,
        related: bool,
    ) -> Result<Option<Split>> {
        let mut bounds = Interval::point(0);
        let mut shift = div_mod_positive(constant, g).1;
        let (mut quotients, mut lows, mut differs) = (false, false, false);
        for p in parts {
            let Some(residue) = residue_of(p, g, residues) else {
                // The whole term is congruent to a constant.
                let Some(r) = p.term.coeff.checked_mul(p.info.residue) else { return Ok(None) };
                let r = div_mod_positive(r, g).1;
                shift = if shift < g - r { shift + r } else { shift - (g - r) };
                continue;
            };
            differs |= residue < 0;
            quotients |= residue != p.term.coeff;
            lows = true;
            bounds = bounds.plus(p.info.bounds.scaled(residue));
            let wide = !bounds.is_bounded() || bounds.upper.checked_sub(bounds.lower).is_none_or(|w| w >= g);
            if wide && !related {
                return Ok(None);
            }
        }
        if residues == Residues::Nonnegative && !differs && !lows {
            return Ok(None);
        }
        let mut bounds = bounds.plus(Interval::point(shift));
        if related && lows {
            bounds = bounds.intersect(self.low_by_facts(shift, parts, g, residues)?);
        }
        let period = div_mod_positive(bounds.lower, g).0;
        if !bounds.is_bounded() || div_mod_positive(bounds.upper, g).0 != period {
            return Ok(None);
        }
        let Some(base) = period.checked_mul(g).and_then(|b| shift.checked_sub(b)) else { return Ok(None) };
        if !lows && base == 0 {
            return Ok(None);
        }
        let mut low: Terms = Terms::new();
        let mut high: Terms = Terms::new();
        for p in parts {
            let residue = residue_of(p, g, residues).unwrap_or(0);
            let rest = p.term.coeff - residue;
            if residue != 0 {
                low.push(Term::new(residue, p.term.expr));
            }
            if rest != 0 {
                high.push(Term::new(rest, p.term.expr));
            }
        }
        let Some(above) = constant.checked_sub(base) else { return Ok(None) };
        let disjoint = !quotients;
        let (high, low) = (self.arena.sum(above, &high)?, self.arena.sum(base, &low)?);
        Ok(Some(Split { high, low, granule: g, disjoint }))
    }
    /// The bounds of the low part as the facts know them.
    fn low_by_facts(&mut self, shift: i64, parts: &[Part], g: i64, residues: Residues) -> Result<Interval> {
        let low: Terms = parts
            .iter()
            .filter_map(|p| residue_of(p, g, residues).map(|r| Term::new(r, p.term.expr)))
            .collect();
        let low = self.arena.sum(shift, &low)?;
        Ok(self.bounds(low))
    }
}

/// The least width that residues modulo `g` can leave; `i64::MAX` where a term has no bounds.
fn least_width(parts: &[Part], g: i64) -> i64 {
    let mut width = 0i64;
    for p in parts.iter().filter(|p| p.step % g != 0) {
        let r = div_mod_positive(p.term.coeff, g).1;
        let span = match p.info.bounds {
            b if b.is_bounded() => b.upper.saturating_sub(b.lower),
            _ => i64::MAX,
        };
        width = width.saturating_add(r.min(g - r).saturating_mul(span));
    }
    width
}

/// Does a coefficient have two residues of the same absolute value?
fn has_tie(parts: &[Part], g: i64) -> bool {
    g % 2 == 0 && parts.iter().any(|p| (p.term.coeff % g).abs() == g / 2)
}

/// The residue of a term's coefficient modulo `g`; `None` where all values of the term are congruent modulo `g`.
fn residue_of(p: &Part, g: i64, residues: Residues) -> Option<i64> {
    if p.step % g == 0 {
        return None;
    }
    let r = div_mod_positive(p.term.coeff, g).1;
    // A remainder of a coefficient near i64::MIN may not be taken away from it within int64.
    let down = match residues {
        Residues::Least => r > g - r,
        Residues::LeastDown => r >= g - r,
        Residues::Nonnegative => false,
        Residues::Nonpositive => r > 0,
    };
    if down && p.term.coeff.checked_sub(r - g).is_some() {
        Some(r - g)
    } else if p.term.coeff.checked_sub(r).is_some() {
        Some(r)
    } else {
        Some(p.term.coeff % g)
    }
}

/// `m`, and the common divisors of `m` with the steps of the terms, one by one and joined from the largest on.
fn granules(parts: &[Part], m: i64) -> Granules {
    let mut found = Granules::new();
    found.push(m);
    let mut single: Granules = parts.iter().map(|p| gcd_i64(m, p.step)).collect();
    single.sort_unstable_by(|a, b| b.cmp(a));
    let mut joined = 0;
    for g in single {
        joined = gcd_i64(joined, g);
        if g > 1 && found.last() != Some(&g) {
            found.push(g);
        }
        if joined > 1 && joined != g {
            found.push(joined);
        }
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.dedup();
    found
}
