//! The driver visits the nodes bottom-up and rebuilds each from its simplified operands by a constructor that applies the
//! rules of its family in order. Each rule decreases the measure of `rules/progress.rs`, so that simplification terminates.
//! A budget bounds the work of a call; beyond it the canonical, sound form is returned, and the status says so.

use crate::error::Result;
use crate::expr::traversal::{compute_all, BottomUp};
use crate::expr::{Arena, Expr, Node, Tag, Term};
use crate::simplify::rules;
use crate::simplify::simplifier::{Simplifier, MAX_DEPTH, NONE};
use smallvec::SmallVec;
use std::cell::Cell;
use std::marker::PhantomData;

/// The units of work for a node besides those of its rules.
const NODE_COST: u64 = 4;
/// The maximal number of times that a result is simplified and extracted.
const MAX_ROUNDS: usize = 6;
/// The maximal number of rewrites of one expression, one after another, in search of its cheapest form.
const MAX_REWRITES: u32 = 12;

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
            let next = self.cheapest_form(simple);
            let one_form = !equalities && !self.is_incomplete;
            self.record(|r, _, _| r.round(e, [last, replaced, simple, next]));
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
                self.forms.clear();
            }
        }
        last
    }

    fn compare_costs(&mut self, a: Expr, b: Expr) -> std::cmp::Ordering {
        self.cost(a).cmp(&self.cost(b)).then_with(|| self.arena.compare(a, b))
    }

    /// Simplifies `e`; a node whose rules overflow is left as it is.
    pub(crate) fn simplify(&mut self, e: Expr) -> Expr {
        let new = visit::<Simplification>(self, e);
        self.record(|r, _, _| r.use_equality(e, new));
        new
    }

    /// The cheapest form of `e`, simplified: where the rules would only undo what made `e`.
    pub(crate) fn simplify_cheapest(&mut self, e: Expr) -> Expr {
        let form = self.cheapest_form(e);
        self.record(|r, _, _| r.use_equality(e, form));
        self.simplify(form)
    }

    /// The cheapest form of the simplified `e`.
    fn cheapest_form(&mut self, e: Expr) -> Expr {
        visit::<Extraction>(self, e)
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

/// A phase: it has a memo and rules of its own, and shares the traversal.
trait Phase {
    /// The depth to which results are visited again.
    const MAX_DEPTH: u32;
    /// Whether divisors are left as they are.
    const KEEPS_DIVISORS: bool;
    /// The results so far, by id.
    fn memo<'s>(s: &'s mut Simplifier<'_>) -> &'s mut Vec<Expr>;
    /// The result for `e`, if it is known.
    fn known(s: &Simplifier<'_>, e: Expr) -> Option<Expr>;
    /// Whether `after`, of which the operands are finished, may replace `before`.
    fn accepts(s: &mut Simplifier<'_>, after: Expr, before: Expr) -> bool;
    /// The result of rules that are tried before the operands are replaced by finished ones.
    fn apply_before_operands(_: &mut Simplifier<'_>, _: Expr) -> Option<Expr> {
        None
    }
    /// The result of the rules for a node of finished operands.
    fn apply(_: &mut Simplifier<'_>, e: Expr) -> Expr {
        e
    }
}

/// Every node of simplified operands is simplified by the rules of its operator.
struct Simplification;

impl Phase for Simplification {
    const MAX_DEPTH: u32 = MAX_DEPTH;
    const KEEPS_DIVISORS: bool = false;

    fn memo<'s>(s: &'s mut Simplifier<'_>) -> &'s mut Vec<Expr> {
        s.memo
    }

    #[inline]
    fn known(s: &Simplifier<'_>, e: Expr) -> Option<Expr> {
        // No rule applies to a sum of variables with several values, unless there is a fact about it.
        if s.ranges.is_free_variable(e) {
            return Some(e);
        }
        if s.ranges.is_plain(s.arena, e) {
            if s.arena.tag(e) != Tag::Sum || s.ranges.facts.are_irrelevant_to(s.arena, e) {
                return Some(e);
            }
        } else if s.arena.tag(e) == Tag::Variable && !s.ranges.is_point(s.arena, e) {
            return Some(e);
        }
        s.memo.get(e.index()).copied().filter(|m| *m != NONE)
    }

    fn accepts(s: &mut Simplifier<'_>, after: Expr, before: Expr) -> bool {
        // A constructor may combine simplified operands to an expression that needs wider integers.
        !s.is_wider(after, before)
    }

    fn apply(s: &mut Simplifier<'_>, e: Expr) -> Expr {
        s.apply_rules(e)
    }
}

/// The cheapest form of a simplified result: the rules may hide ranges, because nothing is simplified afterwards.
struct Extraction;

impl Phase for Extraction {
    const MAX_DEPTH: u32 = MAX_REWRITES;
    // The condition that a divisor is not 0 was stated for the form that it has.
    const KEEPS_DIVISORS: bool = true;

    fn memo<'s>(s: &'s mut Simplifier<'_>) -> &'s mut Vec<Expr> {
        s.forms
    }

    fn known(s: &Simplifier<'_>, e: Expr) -> Option<Expr> {
        if rules::has_single_form(s, e) {
            return Some(e);
        }
        s.forms.get(e.index()).copied().filter(|m| *m != NONE)
    }

    fn accepts(s: &mut Simplifier<'_>, after: Expr, before: Expr) -> bool {
        s.cost(after) < s.cost(before) && !s.is_wider(after, before)
    }

    fn apply_before_operands(s: &mut Simplifier<'_>, e: Expr) -> Option<Expr> {
        let other = rules::apply_cheapest(s, e)?;
        let out = visit_again::<Extraction>(s, other);
        s.record(|r, _, _| r.chain(&[e, other, out]));
        Some(out)
    }
}

fn visit<P: Phase>(s: &mut Simplifier<'_>, e: Expr) -> Expr {
    match P::known(s, e) {
        Some(done) => done,
        None => {
            compute_all(&mut Visit::<P>(s, PhantomData), e);
            P::known(s, e).unwrap_or(e)
        }
    }
}

/// The result for an expression that was made of `e`'s; itself beyond the depth of the phase.
fn visit_again<P: Phase>(s: &mut Simplifier<'_>, e: Expr) -> Expr {
    if s.depth >= P::MAX_DEPTH || !s.spend(1) {
        return e;
    }
    s.active[s.depth as usize] = NONE;
    s.depth += 1;
    let out = visit::<P>(s, e);
    s.depth -= 1;
    out
}

/// The traversal of a phase.
struct Visit<'s, 'a, P>(&'s mut Simplifier<'a>, PhantomData<P>);

impl Simplifier<'_> {
    /// Records that `e` is `built` of its finished operands, and then `out`.
    fn record_operands<P: Phase>(&mut self, e: Expr, built: Expr, out: Expr) {
        if self.records_steps() {
            let mut pairs = Vec::new();
            self.arena.for_each_operand(e, |o| pairs.extend(P::known(self, o).map(|new| (o, new))));
            self.record(|r, arena, ranges| r.operands(arena, ranges, [e, built, out], &pairs));
        }
    }
}

impl<P: Phase> Visit<'_, '_, P> {
    fn remember(&mut self, e: Expr, new: Expr) {
        let memo = P::memo(self.0);
        let top = e.index().max(new.index());
        if memo.len() <= top {
            memo.resize(top + 16, NONE);
        }
        memo[e.index()] = new;
        memo[new.index()] = new;
    }

    /// The result for a node whose operands are finished.
    fn visit_finished(&mut self, e: Expr) -> Expr {
        let s = &mut *self.0;
        let memo = std::mem::take(P::memo(s));
        let kept = match s.arena.node(e) {
            Node::FloorDiv(_, d) | Node::Mod(_, d) if P::KEEPS_DIVISORS => Some(d),
            _ => None,
        };
        let changed = Cell::new(false);
        let at = |o: Expr| match memo.get(o.index()) {
            Some(done) if *done != NONE && *done != o && Some(o) != kept => {
                changed.set(true);
                *done
            }
            _ => o,
        };
        let built = s.arena.with_operands(e, at);
        *P::memo(s) = memo;
        match built {
            _ if !changed.get() => P::apply(s, e),
            Ok(built) if built != e => {
                let out = visit_again::<P>(s, built);
                match P::accepts(s, out, e) {
                    true => {
                        s.record_operands::<P>(e, built, out);
                        out
                    }
                    false => e,
                }
            }
            _ => e,
        }
    }
}

impl<P: Phase> BottomUp for Visit<'_, '_, P> {
    fn arena(&self) -> &Arena {
        self.0.arena
    }

    #[inline]
    fn is_known(&self, e: Expr) -> bool {
        P::known(self.0, e).is_some()
    }

    fn compute(&mut self, e: Expr) {
        if self.0.is_spent() {
            return self.remember(e, e); // constructors would take further work
        }
        if let Some(new) = P::apply_before_operands(self.0, e) {
            return self.remember(e, new);
        }
        let new = self.visit_finished(e);
        self.remember(e, new);
    }
}
