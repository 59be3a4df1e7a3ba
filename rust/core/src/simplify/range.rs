//! Bounds and congruence of an expression on a domain, derived once a node.
//!
//! The domain is a box of variables and facts from constraints: bounds of linear forms, and congruences. A fact is
//! stored for the form without its constant, divided by its content, with a positive leading coefficient.

use crate::expr::traversal::{compute_all, BottomUp};
use crate::expr::{variable_bit, Arena, Expr, Leaf, Node, Tag, Term};
use crate::int::{div_mod_positive, gcd_i64};
use crate::interval::Interval;
use crate::simplify::facts::Facts;

/// Bounds of an expression, and `expr = modulus * k + residue`; modulus 0: a constant; modulus 1: nothing known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Info {
    /// The bounds.
    pub bounds: Interval,
    /// The modulus of the congruence.
    pub modulus: i64,
    /// The residue, in `[0, modulus)`; the value itself where the modulus is 0.
    pub residue: i64,
}

impl Info {
    const UNKNOWN: Info = Info { bounds: Interval::ALL, modulus: 1, residue: 0 };

    /// Bounds alone.
    pub fn of(bounds: Interval) -> Info {
        if bounds.is_point() {
            return Info { bounds, modulus: 0, residue: bounds.lower };
        }
        Info { bounds, modulus: 1, residue: 0 }
    }

    fn point(value: i64) -> Info {
        Info { bounds: Interval::point(value), modulus: 0, residue: value }
    }

    /// The bounds moved inwards to values of the congruence.
    #[must_use]
    pub fn tightened(mut self) -> Info {
        if self.modulus > 1 {
            if self.bounds.lower != i64::MIN {
                let gap = div_mod_positive(self.residue.wrapping_sub(self.bounds.lower), self.modulus).1;
                // The difference may leave int64; the bound is then left as it is.
                if self.residue.checked_sub(self.bounds.lower).is_some() {
                    self.bounds.lower = raised(self.bounds.lower, gap);
                }
            }
            if self.bounds.upper != i64::MAX && self.bounds.upper.checked_sub(self.residue).is_some() {
                let gap = div_mod_positive(self.bounds.upper - self.residue, self.modulus).1;
                self.bounds.upper = lowered(self.bounds.upper, gap);
            }
        }
        if self.bounds.is_point() {
            return Info::point(self.bounds.lower);
        }
        self
    }

    /// Both pieces of knowledge at once; where they contradict each other, the first.
    #[must_use]
    pub fn and(self, other: Info) -> Info {
        let bounds = self.bounds.intersect(other.bounds);
        if bounds.is_empty() {
            return self;
        }
        let (modulus, residue) =
            if other.modulus > self.modulus && self.modulus > 0 && other.modulus % self.modulus == 0 {
                (other.modulus, other.residue)
            } else {
                (self.modulus, self.residue)
            };
        Info { bounds, modulus, residue }.tightened()
    }
}

/// The congruence of a sum and one more term.
pub(super) fn joined_congruence((modulus, residue): (i64, i64), coeff: i64, term: &Info) -> (i64, i64) {
    let own = coeff.checked_mul(term.modulus);
    if own == Some(1) {
        return (1, 0);
    }
    let shifted = coeff.checked_mul(term.residue).and_then(|x| residue.checked_add(x));
    match own.zip(shifted) {
        Some((own, shifted)) => (gcd_i64(modulus, own), shifted),
        None => (1, 0),
    }
}

/// A lower bound moved up; never to where an upper bound would mean "unbounded".
fn raised(lower: i64, gap: i64) -> i64 {
    lower.checked_add(gap).unwrap_or(i64::MAX).min(lower.max(i64::MAX - 1))
}

/// An upper bound moved down; never to where a lower bound would mean "unbounded".
fn lowered(upper: i64, gap: i64) -> i64 {
    upper.checked_sub(gap).unwrap_or(i64::MIN).max(upper.min(i64::MIN + 1))
}

/// Knowledge of all nodes of an arena on one domain, computed when asked and kept.
#[derive(Default, Debug)]
pub struct Ranges {
    pub(crate) variables: Vec<Info>,
    pub(crate) facts: Facts,
    /// The variables that have one value, by their bits.
    points: u16,
    /// Bounds and congruence of each node, and the time of their derivation: those of another time are forgotten.
    infos: Vec<(Info, u32)>,
    time: u32,
}

/// Of more terms than this, none is compared with each other one.
const TERMS_JOINED: usize = 64;

/// No time: where nothing was derived.
const NEVER: u32 = u32::MAX;

impl Ranges {
    /// Start on a new domain: the box of the variables, no facts.
    pub fn reset(&mut self, bounds: impl Iterator<Item = Interval>) {
        self.variables.clear();
        self.points = 0;
        for (v, b) in bounds.enumerate() {
            self.points |= if b.is_point() { variable_bit(v) } else { 0 };
            self.variables.push(Info::of(b));
        }
        self.facts.clear();
        self.invalidate();
    }

    /// Forget what was derived: the box or the facts have changed.
    pub fn invalidate(&mut self) {
        if self.time == NEVER - 1 {
            self.infos.clear();
            self.time = 0;
        }
        self.time += 1;
    }

    /// Is it a constant, or a sum of variables of which none has one value? False may be wrong.
    pub(crate) fn is_plain(&self, arena: &Arena, e: Expr) -> bool {
        arena.is_plain(e, self.points)
    }

    /// Is it a variable of one value?
    pub(crate) fn is_point(&self, arena: &Arena, e: Expr) -> bool {
        arena.as_variable(e).is_some_and(|v| self.variable(v).bounds.is_point())
    }

    /// Bounds and congruence of `e`.
    #[inline]
    pub fn info(&mut self, arena: &mut Arena, e: Expr) -> Info {
        match self.known(arena, e) {
            Some(info) => info,
            None => self.derive(arena, e),
        }
    }

    /// Variable `v` is congruent to `r` modulo `m`.
    pub(crate) fn state_of_variable(&mut self, v: u32, m: i64, r: i64) {
        if let Some(info) = self.variables.get_mut(v as usize) {
            *info = info.and(Info { bounds: Interval::ALL, modulus: m, residue: r });
            self.points |= if info.bounds.is_point() { variable_bit(v as usize) } else { 0 };
        }
    }

    /// The bounds of `e`.
    pub fn bounds(&mut self, arena: &mut Arena, e: Expr) -> Interval {
        self.info(arena, e).bounds
    }

    fn is_known(&self, arena: &Arena, e: Expr) -> bool {
        matches!(arena.tag(e), Tag::Variable | Tag::Constant)
            || self.infos.get(e.index()).is_some_and(|(_, time)| *time == self.time)
    }

    fn known(&self, arena: &Arena, e: Expr) -> Option<Info> {
        match arena.leaf(e) {
            Some(Leaf::Constant(c)) => Some(Info::point(c)),
            Some(Leaf::Variable(v)) => Some(self.variable(v)),
            None => self.infos.get(e.index()).filter(|(_, time)| *time == self.time).map(|(info, _)| *info),
        }
    }

    pub(crate) fn variable(&self, v: u32) -> Info {
        self.variables.get(v as usize).copied().unwrap_or(Info::of(Interval::ALL))
    }

    fn store(&mut self, e: Expr, info: Info) {
        if self.infos.len() <= e.index() {
            self.infos.resize(e.index() + 16, (Info::UNKNOWN, NEVER));
        }
        self.infos[e.index()] = (info, self.time);
    }

    fn derive(&mut self, arena: &mut Arena, e: Expr) -> Info {
        // All is known of variables.
        if arena.is_linear(e) {
            return self.derive_one(arena, e);
        }
        compute_all(&mut Deriving { ranges: self, arena }, e);
        self.operand(arena, e)
    }

    #[inline]
    fn derive_one(&mut self, arena: &mut Arena, e: Expr) -> Info {
        arena.charge(arena.operand_count(e));
        let mut info = self.of_operands(arena, e);
        if !self.facts.is_empty() {
            info = self.with_facts(arena, e, info);
        }
        self.store(e, info);
        info
    }

    pub(crate) fn operand(&self, arena: &Arena, e: Expr) -> Info {
        self.known(arena, e).unwrap_or(Info::of(Interval::ALL))
    }

    /// Bounds and congruence of a term, which is no constant, of a node whose operands are known.
    pub(crate) fn of_term(&self, arena: &Arena, e: Expr) -> &Info {
        let known = match arena.as_variable(e) {
            Some(v) => self.variables.get(v as usize),
            None => self.infos.get(e.index()).map(|(info, _)| info),
        };
        known.unwrap_or(&Info::UNKNOWN)
    }

    fn of_operands(&self, arena: &Arena, e: Expr) -> Info {
        match arena.node(e) {
            Node::Constant(c) => Info::point(c),
            Node::Variable(v) => self.variable(v),
            Node::Sum(constant, terms) => {
                let info = self.of_sum(arena, constant, terms);
                if !(2..=TERMS_JOINED).contains(&terms.len()) || arena.is_linear(e) {
                    return info;
                }
                let related = self.of_related_terms(arena, constant, terms);
                let info = related.map_or(info, |bounds| info.and(Info::of(bounds)));
                match self.congruence_of_digits(arena, constant, terms) {
                    Some((modulus, residue)) => info.and(Info { bounds: Interval::ALL, modulus, residue }),
                    None => info,
                }
            }
            Node::FloorDiv(a, b) => {
                if let Some(m) = arena.as_constant(b) {
                    return Info::of(self.of_term(arena, a).bounds.floordiv_positive(m));
                }
                let (a, b) = (self.operand(arena, a), self.operand(arena, b));
                let q = a.bounds.floordiv(b.bounds);
                Info::of(if q.is_empty() { Interval::ALL } else { q })
            }
            Node::Mod(a, b) => {
                if let Some(m) = arena.as_constant(b) {
                    return Self::of_remainder(self.of_term(arena, a), m);
                }
                let (a, b) = (self.operand(arena, a), self.operand(arena, b));
                let largest = b.bounds.remainders().upper;
                let upper = if a.bounds.lower >= 0 { largest.min(a.bounds.upper) } else { largest };
                Info::of(Interval::new(0, upper))
            }
            Node::Min(args) => Self::of_min_max(args.iter().map(|a| self.operand(arena, *a)), Interval::min),
            Node::Max(args) => Self::of_min_max(args.iter().map(|a| self.operand(arena, *a)), Interval::max),
            Node::Product(args) => self.of_product(arena, args),
        }
    }

    fn of_sum(&self, arena: &Arena, constant: i64, terms: &[Term]) -> Info {
        let (mut lower, mut upper) = (constant, constant);
        let (mut beyond, mut any_residue) = (false, false);
        for t in terms {
            let info = self.of_term(arena, t.expr);
            let Interval { lower: low, upper: high } = info.bounds;
            let (first, last) = if t.coeff > 0 { (low, high) } else { (high, low) };
            let ((least, a), (most, b)) = (first.overflowing_mul(t.coeff), last.overflowing_mul(t.coeff));
            let (c, d);
            (lower, c) = lower.overflowing_add(least);
            (upper, d) = upper.overflowing_add(most);
            beyond |= a | b | c | d | (low == i64::MIN) | (high == i64::MAX);
            any_residue |= info.modulus == 1 && (t.coeff == 1 || t.coeff == -1);
        }
        let congruence = if any_residue { (1, 0) } else { self.congruence_of_sum(arena, constant, terms) };
        // No tightening: ends that belong to the congruences of the terms make ends that belong to that of the sum.
        let bounds = Interval::new(lower, upper);
        if beyond || !bounds.is_bounded() || bounds.is_point() {
            return self.of_sum_with_open_ends(arena, constant, terms, congruence);
        }
        let (modulus, residue) = congruence;
        let residue = if modulus == 1 { 0 } else { div_mod_positive(residue, modulus).1 };
        Info { bounds, modulus, residue }
    }

    fn congruence_of_sum(&self, arena: &Arena, constant: i64, terms: &[Term]) -> (i64, i64) {
        let mut known = (0, constant);
        for t in terms {
            known = joined_congruence(known, t.coeff, self.of_term(arena, t.expr));
            if known.0 == 1 {
                return (1, 0);
            }
        }
        known
    }

    #[cold]
    fn of_sum_with_open_ends(
        &self,
        arena: &Arena,
        constant: i64,
        terms: &[Term],
        (modulus, residue): (i64, i64),
    ) -> Info {
        let bounds = terms.iter().fold(Interval::point(constant), |sum, t| {
            sum.plus(self.of_term(arena, t.expr).bounds.scaled(t.coeff))
        });
        match modulus {
            // All constant; or the modulus is no int64.
            0 => Info::of(bounds),
            _ => Info { bounds, modulus, residue: div_mod_positive(residue, modulus).1 }.tightened(),
        }
    }

    /// `a mod m`.
    #[inline]
    fn of_remainder(a: &Info, m: i64) -> Info {
        if a.bounds.is_bounded() {
            let ((q, low), (p, high)) =
                (div_mod_positive(a.bounds.lower, m), div_mod_positive(a.bounds.upper, m));
            if p == q {
                return Info::of(Interval::new(low, high));
            }
        }
        if a.modulus == 1 {
            return Info { bounds: Interval::new(0, m - 1), modulus: 1, residue: 0 };
        }
        let g = gcd_i64(a.modulus, m).max(1);
        let residue = div_mod_positive(a.residue, g).1;
        Info { bounds: Interval::new(0, m - 1), modulus: g, residue: if g == 1 { 0 } else { residue } }
            .tightened()
    }

    fn of_min_max(parts: impl Iterator<Item = Info>, f: fn(Interval, Interval) -> Interval) -> Info {
        let both = |q: Info, p: Info| {
            let apart = p.residue.checked_sub(q.residue).unwrap_or(1); // beyond int64: nothing is known
            let g = gcd_i64(gcd_i64(p.modulus, q.modulus), apart).max(1);
            let residue = div_mod_positive(p.residue, g).1;
            Info { bounds: f(p.bounds, q.bounds), modulus: g, residue }
        };
        parts.reduce(both).map_or(Info::UNKNOWN, Info::tightened)
    }

    fn of_product(&self, arena: &Arena, args: &[Expr]) -> Info {
        let square = args.len() == 2 && args[0] == args[1];
        let mut bounds = Interval::point(1);
        let mut modulus = 1i64;
        for a in args {
            let info = self.operand(arena, *a);
            bounds = bounds.times(info.bounds);
            let own = if info.modulus == 0 { info.residue } else { gcd_i64(info.modulus, info.residue) };
            modulus = modulus.checked_mul(own).and_then(i64::checked_abs).filter(|m| *m > 0).unwrap_or(1);
        }
        if square {
            bounds = bounds.intersect(Interval::new(0, i64::MAX));
        }
        if bounds.is_point() {
            return Info::of(bounds);
        }
        Info { bounds, modulus, residue: 0 }.tightened()
    }
}

struct Deriving<'a> {
    ranges: &'a mut Ranges,
    arena: &'a mut Arena,
}

impl BottomUp for Deriving<'_> {
    fn arena(&self) -> &Arena {
        self.arena
    }

    fn is_known(&self, e: Expr) -> bool {
        self.ranges.is_known(self.arena, e)
    }

    fn compute(&mut self, e: Expr) {
        self.ranges.derive_one(self.arena, e);
    }
}
