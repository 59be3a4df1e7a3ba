//! The driver visits the nodes bottom-up and rebuilds each from its simplified operands by a constructor that applies the
//! rules of its family in order. Each rule decreases the measure of `rules/progress.rs`, so that simplification terminates.
//! A budget bounds the work of a call; beyond it the canonical, sound form is returned, and the status says so.

use crate::error::Result;
use crate::expr::traversal::{compute_all, BottomUp};
use crate::expr::{Arena, Expr, Node, Tag, Term};
use crate::simplify::rules;
use crate::simplify::simplifier::{Simplifier, MAX_DEPTH, NONE};
use smallvec::SmallVec;

/// The units of work for a node besides those of its rules.
const NODE_COST: u64 = 4;
/// The maximal number of times that a result is simplified and extracted.
const MAX_ROUNDS: usize = 6;

impl Simplifier<'_> {
    /// The final form of a result. Equal variables are replaced, the result is simplified, and the cheapest form extracted,
    /// until a form repeats. The cheapest form of that cycle is returned, so that simplification is idempotent.
    pub fn simplify_result(&mut self, e: Expr) -> Expr {
        match self.arena.tag(e) {
            Tag::Constant => return e,
            Tag::Variable if self.ranges.facts.are_irrelevant_to(self.arena, e) => return self.simplify(e),
            Tag::Sum
                if self.ranges.is_plain(self.arena, e)
                    && self.ranges.facts.are_irrelevant_to(self.arena, e) =>
            {
                return e;
            }
            _ => {}
        }
        let mut seen: SmallVec<[Expr; 8]> = SmallVec::new();
        let mut last = e;
        // Facts that are equalities give several forms of equal cost.
        let equalities = self.ranges.facts.has_equalities;
        for _ in 0..MAX_ROUNDS {
            if self.is_spent() {
                return last;
            }
            self.is_incomplete = false;
            let replaced = rules::apply_before(self, last);
            let simple = self.simplify(replaced);
            let next = rules::apply_last(self, simple);
            let one_form = !equalities && !self.is_incomplete;
            if next == last || (one_form && next == simple) {
                return next;
            }
            last = next;
            if let Some(k) = seen.iter().position(|x| *x == last) {
                let cycle = seen[k..].iter().copied();
                return cycle.min_by(|a, b| self.compare_costs(*a, *b)).unwrap_or(last);
            }
            seen.push(last);
            if !one_form {
                self.memo.clear();
            }
        }
        last
    }

    fn compare_costs(&mut self, a: Expr, b: Expr) -> std::cmp::Ordering {
        self.cost(a).cmp(&self.cost(b)).then_with(|| self.arena.compare(a, b))
    }

    // ------------------------------------------------------------------ driver

    /// Simplifies `e`; a node whose rules overflow is left as it is.
    pub(crate) fn simplify(&mut self, e: Expr) -> Expr {
        match self.memoised(e) {
            Some(done) => done,
            None => {
                compute_all(self, e);
                self.memoised(e).unwrap_or(e)
            }
        }
    }

    #[inline]
    fn memoised(&self, e: Expr) -> Option<Expr> {
        // No rule applies to a sum of variables with several values, unless there is a fact about it.
        if self.ranges.is_free_variable(e) {
            return Some(e);
        }
        if self.ranges.is_plain(self.arena, e) {
            if self.arena.tag(e) != Tag::Sum || self.ranges.facts.are_irrelevant_to(self.arena, e) {
                return Some(e);
            }
        } else if self.arena.tag(e) == Tag::Variable && !self.ranges.is_point(self.arena, e) {
            return Some(e);
        }
        self.memo.get(e.index()).copied().filter(|m| *m != NONE)
    }

    fn remember(&mut self, e: Expr, new: Expr) {
        let top = e.index().max(new.index());
        if self.memo.len() <= top {
            self.memo.resize(top + 16, NONE);
        }
        self.memo[e.index()] = new;
        self.memo[new.index()] = new;
    }

    fn visit_changed(&mut self, e: Expr) -> Expr {
        let memo = &self.memo;
        let at = |o: Expr| memo.get(o.index()).copied().filter(|m| *m != NONE).unwrap_or(o);
        match self.arena.with_operands(e, at) {
            Ok(built) if built != e && self.depth < MAX_DEPTH && self.spend(1) => {
                self.active[self.depth as usize] = NONE;
                self.depth += 1;
                let out = self.simplify(built);
                self.depth -= 1;
                // A constructor may combine simplified operands to an expression that needs wider integers.
                match self.is_wider(out, e) {
                    true => e,
                    false => out,
                }
            }
            Ok(built) => built,
            Err(_) => e,
        }
    }

    #[inline(always)]
    fn apply_rules(&mut self, e: Expr) -> Expr {
        let known = rules::apply_first(self, e);
        if known != e || !self.spend(NODE_COST) {
            return known;
        }
        // A rule that simplifies its own expression would recurse forever.
        let depth = self.depth as usize;
        if depth >= self.active.len() || self.active[..depth].contains(&e) {
            self.is_incomplete = true;
            return e;
        }
        self.active[depth] = e;
        self.depth += 1;
        let out = rules::apply(self, e);
        self.depth -= 1;
        out
    }

    // ------------------------------------------------------------------ constructors on a domain

    /// `constant + sum of terms`.
    pub(crate) fn sum(&mut self, constant: i64, terms: &[Term]) -> Result<Expr> {
        let e = self.arena.sum(constant, terms)?;
        Ok(self.simplify(e))
    }

    /// `a * p + b * q`.
    pub(crate) fn combine(&mut self, a: Expr, p: i64, b: Expr, q: i64) -> Result<Expr> {
        let e = self.arena.combine(a, p, b, q)?;
        Ok(self.simplify(e))
    }

    /// `a * factor + constant`.
    pub(crate) fn affine(&mut self, a: Expr, factor: i64, constant: i64) -> Result<Expr> {
        let e = self.arena.affine(a, factor, constant)?;
        Ok(self.simplify(e))
    }

    /// `a floordiv b`.
    pub(crate) fn floordiv(&mut self, a: Expr, b: Expr) -> Result<Expr> {
        let e = self.arena.floordiv(a, b)?;
        Ok(self.simplify(e))
    }

    /// `a floordiv c`.
    pub(crate) fn floordiv_constant(&mut self, a: Expr, c: i64) -> Result<Expr> {
        let e = self.arena.floordiv_constant(a, c)?;
        Ok(self.simplify(e))
    }

    /// `a floordiv c` as another form of `e`; `None` if it is or contains `e`.
    pub(crate) fn other_quotient(&mut self, e: Expr, a: Expr, c: i64) -> Result<Option<Expr>> {
        let raw = self.arena.floordiv_constant(a, c)?;
        Ok(if self.holds(raw, e) { None } else { Some(self.simplify(raw)) })
    }

    /// `a mod m` as another form of `e`; `None` if it is or contains `e`.
    pub(crate) fn other_remainder(&mut self, e: Expr, a: Expr, m: i64) -> Result<Option<Expr>> {
        let raw = self.arena.modulo_constant(a, m)?;
        Ok(if self.holds(raw, e) { None } else { Some(self.simplify(raw)) })
    }

    /// Whether `atom` is the expression, or one of its terms.
    pub(crate) fn holds(&self, e: Expr, atom: Expr) -> bool {
        match self.arena.node(e) {
            Node::Sum(_, terms) => terms.iter().any(|t| t.expr == atom),
            _ => e == atom,
        }
    }

    /// `a mod b`.
    pub(crate) fn modulo(&mut self, a: Expr, b: Expr) -> Result<Expr> {
        let e = self.arena.modulo(a, b)?;
        Ok(self.simplify(e))
    }

    /// `a mod m`.
    pub(crate) fn modulo_constant(&mut self, a: Expr, m: i64) -> Result<Expr> {
        let e = self.arena.modulo_constant(a, m)?;
        Ok(self.simplify(e))
    }

    /// The minimum or maximum.
    pub(crate) fn extremum(&mut self, tag: Tag, args: &[Expr]) -> Result<Expr> {
        let e = self.arena.extremum(tag, args)?;
        Ok(self.simplify(e))
    }
}

impl BottomUp for Simplifier<'_> {
    fn arena(&self) -> &Arena {
        self.arena
    }

    #[inline]
    fn is_known(&self, e: Expr) -> bool {
        self.memoised(e).is_some()
    }

    fn compute(&mut self, e: Expr) {
        if self.is_spent() {
            return self.remember(e, e); // constructors would take further work
        }
        let mut same = true;
        self.arena.for_each_operand(e, |o| same &= self.memoised(o) == Some(o));
        let new = if same { self.apply_rules(e) } else { self.visit_changed(e) };
        self.remember(e, new);
    }
}
