//! The driver: bottom-up over the nodes, each rebuilt from its simplified operands by a constructor that knows the
//! domain. A constructor tries the rules of its family in order; each rule makes the expression smaller in one
//! measure (cost, see [`Simplifier::cost`]; then the divisor or modulus; then the number of terms), so that it ends.
//! A budget bounds the work of a call: beyond it the canonical, sound form is returned and the status says so.

use crate::error::Result;
use crate::expr::canonical::gcd_with;
use crate::expr::traversal::{compute_all, BottomUp, MAX_NESTING};
use crate::expr::{Arena, Expr, Node, Tag, Term};
use crate::interval::Interval;
use crate::simplify::domain::DomainSimplifier;
use crate::simplify::range::{Info, Ranges};
use crate::simplify::rules::{self, RuleId};
use crate::simplify::trace::Step;
use crate::simplify::width::Width;

const NONE: Expr = Expr(u32::MAX);

/// Did the call run to its end?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// No rule applies any more.
    Complete,
    /// The work budget was used up: the result is sound, and may be simplified further.
    BudgetExhausted,
}

/// Memory that is used again from call to call.
#[derive(Default, Debug)]
pub struct Scratch {
    pub(crate) ranges: Ranges,
    /// The lists of the map that is worked on.
    pub(crate) lists: DomainSimplifier,
    memo: Vec<Expr>,
    costs: Vec<u32>,
    widths: Vec<Option<Width>>,
}

/// Units of work (see `work.rs`) that a call may spend: so many for each node and operand of the input, and a floor.
const BUDGET_PER_OPERAND: u64 = 400;
const MIN_BUDGET: u64 = 200_000;
/// What asking for the form of a node costs, beside the work of the rules: tables are looked up.
const NODE_COST: u64 = 4;
/// How deep rules may call constructors that call rules.
const MAX_DEPTH: u32 = 24;
/// How often a result is looked at again after its digits were spelled otherwise.
const MAX_TURNS: usize = 6;

/// Constructors that know a domain.
pub struct Simplifier<'a> {
    /// The nodes.
    pub arena: &'a mut Arena,
    /// The domain, and what follows from it.
    pub ranges: &'a mut Ranges,
    memo: &'a mut Vec<Expr>,
    costs: &'a mut Vec<u32>,
    pub(crate) widths: &'a mut Vec<Option<Width>>,
    budget: u64,
    /// The work at which the budget is used up.
    limit: u64,
    /// Was something left as it is because the budget was used up?
    exhausted: bool,
    depth: u32,
    /// How many calls go down the operands of nodes, one within the other.
    nesting: u32,
    /// The nodes whose rules are being tried, outermost first.
    active: [Expr; MAX_DEPTH as usize],
    /// The last dividend and divisor that there was no split for, on the domain as it is.
    pub(crate) unsplit: Option<(Expr, i64)>,
    /// Was a node left as it is because its rules were being tried already, or for its depth?
    is_incomplete: bool,
    trace: Option<Vec<Step>>,
}

impl<'a> Simplifier<'a> {
    /// A simplifier on the domain that `scratch.ranges` holds.
    pub fn new(arena: &'a mut Arena, scratch: &'a mut Scratch) -> Self {
        scratch.memo.clear();
        scratch.costs.clear();
        scratch.widths.clear();
        let limit = arena.work() + MIN_BUDGET;
        Simplifier {
            arena,
            ranges: &mut scratch.ranges,
            memo: &mut scratch.memo,
            costs: &mut scratch.costs,
            widths: &mut scratch.widths,
            budget: MIN_BUDGET,
            limit,
            exhausted: false,
            depth: 0,
            nesting: 0,
            active: [NONE; MAX_DEPTH as usize],
            unsplit: None,
            is_incomplete: false,
            trace: None,
        }
    }

    /// Keep a list of the steps.
    pub fn record_steps(&mut self) {
        self.trace = Some(Vec::new());
    }

    #[inline]
    pub(crate) fn explains(&self) -> bool {
        self.trace.is_some()
    }

    pub(crate) fn push_step(&mut self, step: Step) {
        self.trace.get_or_insert_default().push(step);
    }

    /// The steps so far, where they are kept.
    pub fn take_steps(&mut self) -> Vec<Step> {
        self.trace.take().unwrap_or_default()
    }

    /// Whether the budget sufficed.
    pub fn status(&self) -> Status {
        if self.exhausted {
            Status::BudgetExhausted
        } else {
            Status::Complete
        }
    }

    /// Allow as much work on the domain as one of `size` nodes and operands may take.
    pub(crate) fn allow(&mut self, size: usize) {
        self.budget = MIN_BUDGET.max(BUDGET_PER_OPERAND * size as u64);
        self.limit = self.arena.work() + self.budget / 2;
    }

    /// Allow as much for the results, and what is left.
    pub(crate) fn allow_rest(&mut self) {
        self.limit = self.limit.max(self.arena.work()) + self.budget / 2;
    }

    /// Something stays as it is for the work it takes.
    pub(crate) fn give_up(&mut self) {
        self.exhausted = true;
    }

    /// Start on another box, without facts: what was derived is forgotten.
    pub(crate) fn start_on(&mut self, bounds: impl Iterator<Item = Interval>) {
        self.ranges.reset(bounds);
        self.arena.charge(self.ranges.variables.len() + self.memo.len() / 16);
        self.memo.clear();
        self.widths.clear();
        self.unsplit = None;
    }

    /// The bounds of `e`.
    #[inline]
    pub fn bounds(&mut self, e: Expr) -> Interval {
        self.ranges.bounds(self.arena, e)
    }

    /// The last form of a result: equal variables as one, simplified, then spelled as cheaply as its digits can be, until
    /// that repeats itself; of the forms that take turns, the cheapest, so that a result stays what it is.
    pub fn finish(&mut self, e: Expr) -> Expr {
        match self.arena.tag(e) {
            Tag::Constant => return e,
            Tag::Variable if self.ranges.facts.linear.is_empty() => return self.simplify(e),
            Tag::Sum if self.ranges.facts.are_of_atoms() && self.ranges.is_plain(self.arena, e) => return e,
            _ => {}
        }
        let mut seen: Vec<Expr> = Vec::new();
        let mut last = e;
        // Where a sum is known to have one value, there are several forms of one cost.
        let equalities = self.ranges.facts.has_equalities;
        for _ in 0..MAX_TURNS {
            self.is_incomplete = false;
            let replaced = if equalities { self.replace_equal_variables(last) } else { last };
            let simple = self.simplify(replaced);
            let next = self.extract(simple);
            let one_form = !equalities && !self.is_incomplete;
            if next == last || (one_form && next == simple) {
                return next;
            }
            last = next;
            if let Some(k) = seen.iter().position(|x| *x == last) {
                let turns = seen.split_off(k).into_iter();
                return turns.min_by(|a, b| self.in_order(*a, *b)).unwrap_or(last);
            }
            seen.push(last);
            if !one_form {
                self.memo.clear();
            }
        }
        last
    }

    /// Where the facts say `x - y = 0`, `x` for `y`.
    fn replace_equal_variables(&mut self, e: Expr) -> Expr {
        let equal = &self.ranges.facts.equal_variables;
        // Beyond int64 it stays as it is.
        let Ok(new) = self.arena.replace_variables(e, |v| equal.first_of(v)) else { return e };
        match new == e {
            true => e,
            false => self.applied(RuleId::EqualityUsed, e, new),
        }
    }

    fn in_order(&mut self, a: Expr, b: Expr) -> std::cmp::Ordering {
        self.cost(a).cmp(&self.cost(b)).then_with(|| self.arena.compare(a, b))
    }

    /// The cheapest spelling of the digits of a sum.
    fn extract(&mut self, e: Expr) -> Expr {
        if !matches!(self.arena.tag(e), Tag::Sum) {
            return e;
        }
        rules::extraction::apply(self, e).unwrap_or(e)
    }

    /// What is known of `e`.
    #[inline]
    pub fn info(&mut self, e: Expr) -> Info {
        self.ranges.info(self.arena, e)
    }

    /// Spend units of work; false once there is none left.
    #[inline]
    pub(crate) fn spend(&mut self, units: u64) -> bool {
        self.arena.charge(units as usize);
        let left = self.arena.work() < self.limit;
        self.exhausted |= !left;
        left
    }

    /// Note the application of a rule; what it makes, or `before` where that needs wider integers.
    pub(crate) fn applied(&mut self, rule: RuleId, before: Expr, after: Expr) -> Expr {
        if self.is_wider(after, before) {
            return before;
        }
        debug_assert!(
            rules::progress::is_made(self, rule, before, after),
            "{} made nothing smaller",
            rule.rule().name
        );
        self.note_rule(rule, before, after);
        after
    }

    // ------------------------------------------------------------------ driver

    /// The simplified form of `e`. An overflow on the way leaves the node concerned as it is.
    pub fn simplify(&mut self, e: Expr) -> Expr {
        if let Some(done) = self.memoised(e) {
            return done;
        }
        if self.nesting == MAX_NESTING {
            compute_all(self, e);
            return self.memoised(e).unwrap_or(e);
        }
        self.nesting += 1;
        let same = if let Some((a, b)) = self.arena.as_division(e) {
            // Both, whatever the first is.
            self.is_unchanged(a) & self.is_unchanged(b)
        } else {
            let (mut same, mut k) = (true, 0);
            while let Some(operand) = self.arena.operand(e, k) {
                same &= self.is_unchanged(operand);
                k += 1;
            }
            same
        };
        self.nesting -= 1;
        self.visit(e, same)
    }

    /// Is `e` as it is when it is simplified?
    #[inline]
    fn is_unchanged(&mut self, e: Expr) -> bool {
        let new = match self.memoised(e) {
            Some(new) => new,
            None => self.simplify(e),
        };
        new == e
    }

    /// Simplify a node whose operands are done, and the `same` as they were or not.
    #[inline(always)]
    fn visit(&mut self, e: Expr, same: bool) -> Expr {
        let new = match same {
            true => self.apply_rules(e),
            false => self.visit_changed(e),
        };
        self.remember(e, new);
        new
    }

    #[inline]
    fn memoised(&self, e: Expr) -> Option<Expr> {
        // No rule is about variables that have more than one value, where no fact is about their sum.
        if self.ranges.is_plain(self.arena, e) {
            let tag = self.arena.tag(e);
            if tag != Tag::Sum || self.ranges.facts.are_of_atoms() {
                return Some(e);
            }
        } else if self.arena.tag(e) == Tag::Variable && !self.ranges.is_point(self.arena, e) {
            return Some(e);
        }
        self.memo.get(e.index()).copied().filter(|m| *m != NONE)
    }

    #[inline(always)]
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
                // What operands became may join in a constructor to what is wider.
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
        let known = self.apply_facts(e);
        if known != e || !self.spend(NODE_COST) {
            return known;
        }
        // A rule that asks for the form of what it is asked about would ask for ever.
        let depth = self.depth as usize;
        if depth >= self.active.len() || self.active[..depth].contains(&e) {
            self.is_incomplete = true;
            return e;
        }
        self.active[depth] = e;
        self.depth += 1;
        let out = match self.arena.tag(e) {
            Tag::Sum => rules::sum::apply(self, e),
            Tag::FloorDiv => rules::division::apply(self, e),
            Tag::Mod => rules::remainder::apply(self, e),
            Tag::Min | Tag::Max => rules::min_max::apply(self, e),
            Tag::Product => rules::product::apply(self, e),
            Tag::Variable | Tag::Constant => Ok(e),
        };
        self.depth -= 1;
        out.unwrap_or(e)
    }

    /// A node whose bounds are one value is that value.
    #[inline(always)]
    fn apply_facts(&mut self, e: Expr) -> Expr {
        if let Some(other) = self.ranges.facts.equal.get(&e).copied() {
            let other = self.simplify(other);
            return self.applied(RuleId::EqualityUsed, e, other);
        }
        let bounds = self.bounds(e);
        if bounds.is_point() && self.arena.tag(e) != Tag::Constant {
            let c = self.arena.constant(bounds.lower);
            return self.applied(RuleId::SingleValue, e, c);
        }
        e
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

    /// `a floordiv c` as another form of `e`; `None` where it is `e` again, or holds it.
    pub(crate) fn other_quotient(&mut self, e: Expr, a: Expr, c: i64) -> Result<Option<Expr>> {
        let raw = self.arena.floordiv_constant(a, c)?;
        Ok(if self.holds(raw, e) { None } else { Some(self.simplify(raw)) })
    }

    /// `a mod m` as another form of `e`; `None` where it is `e` again, or holds it.
    pub(crate) fn other_remainder(&mut self, e: Expr, a: Expr, m: i64) -> Result<Option<Expr>> {
        let raw = self.arena.modulo_constant(a, m)?;
        Ok(if self.holds(raw, e) { None } else { Some(self.simplify(raw)) })
    }

    /// Is `atom` the expression, or one of its terms?
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

    // ------------------------------------------------------------------ cost

    /// What an expression costs when it is written out: 1 for each addition and each coefficient that is not 1 or -1,
    /// 4 for each floordiv, mod, min, max; saturating, for a DAG may be exponential as a tree.
    pub fn cost(&mut self, e: Expr) -> u32 {
        if let Some(cost) = self.known_cost(e) {
            return cost;
        }
        if self.nesting == MAX_NESTING {
            compute_all(&mut Costing(self), e);
            return self.known_cost(e).unwrap_or(MAX_COST);
        }
        self.nesting += 1;
        let mut k = 0;
        while let Some(operand) = self.arena.operand(e, k) {
            self.cost(operand);
            k += 1;
        }
        self.nesting -= 1;
        self.keep_cost(e)
    }

    #[inline]
    fn keep_cost(&mut self, e: Expr) -> u32 {
        self.arena.charge(self.arena.operand_count(e));
        let cost = self.own_cost(e);
        if self.costs.len() <= e.index() {
            self.costs.resize(e.index() + 16, u32::MAX);
        }
        self.costs[e.index()] = cost;
        cost
    }

    #[inline]
    fn known_cost(&self, e: Expr) -> Option<u32> {
        match self.arena.leaf(e) {
            Some(_) => Some(0),
            None => self.costs.get(e.index()).copied().filter(|c| *c != u32::MAX),
        }
    }

    fn own_cost(&self, e: Expr) -> u32 {
        let at = |o: Expr| self.known_cost(o).unwrap_or(MAX_COST);
        let cost = match self.arena.node(e) {
            Node::Variable(_) | Node::Constant(_) => 0u32,
            Node::FloorDiv(a, b) | Node::Mod(a, b) => at(a).saturating_add(at(b)).saturating_add(4),
            Node::Product(args) => args.iter().fold(args.len() as u32 - 1, |c, a| c.saturating_add(at(*a))),
            Node::Min(args) | Node::Max(args) => {
                args.iter().fold(4 * (args.len() as u32 - 1), |c, a| c.saturating_add(at(*a)))
            }
            Node::Sum(constant, terms) => {
                let joins = terms.len() as u32 - 1 + u32::from(constant != 0);
                let scaled = |g: i64| terms.iter().filter(|t| t.coeff != g && t.coeff != -g).count() as u32;
                let mut coefficients = scaled(1);
                if coefficients as usize == terms.len() {
                    let common = terms.iter().fold(constant.unsigned_abs(), |g, t| gcd_with(g, t.coeff));
                    // A common factor may stand outside once.
                    if let Some(g) = i64::try_from(common).ok().filter(|g| *g > 1) {
                        coefficients = coefficients.min(1 + scaled(g));
                    }
                }
                // The constant can be written inside a quotient that has one.
                let folds = constant != 0
                    && terms.iter().any(|t| {
                        let dividend = self.arena.as_floordiv(t.expr);
                        dividend.is_some_and(|(n, _)| self.arena.constant_part(n) != 0)
                            && constant.checked_rem(t.coeff) == Some(0)
                    });
                let joins = joins - u32::from(folds);
                terms.iter().fold(joins.saturating_add(coefficients), |c, t| c.saturating_add(at(t.expr)))
            }
        };
        cost.min(MAX_COST)
    }
}

/// No cost is larger: it stands for any that is.
const MAX_COST: u32 = u32::MAX - 1;

impl BottomUp for Simplifier<'_> {
    fn arena(&self) -> &Arena {
        self.arena
    }

    fn is_known(&self, e: Expr) -> bool {
        self.memoised(e).is_some()
    }

    fn compute(&mut self, e: Expr) {
        let mut same = true;
        self.arena.for_each_operand(e, |o| same &= self.memoised(o) == Some(o));
        self.visit(e, same);
    }
}

/// The costs that a simplifier keeps.
struct Costing<'s, 'a>(&'s mut Simplifier<'a>);

impl BottomUp for Costing<'_, '_> {
    fn arena(&self) -> &Arena {
        self.0.arena
    }

    fn is_known(&self, e: Expr) -> bool {
        self.0.known_cost(e).is_some()
    }

    fn compute(&mut self, e: Expr) {
        self.0.keep_cost(e);
    }
}
