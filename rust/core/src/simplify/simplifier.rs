//! The state of a simplification: the nodes, knowledge about them on the domain, the budget, the steps.

use crate::expr::{Arena, Expr};
use crate::interval::Interval;
use crate::simplify::certificate::Certificate;
use crate::simplify::domain::DomainSimplifier;
use crate::simplify::law::Law;
use crate::simplify::range::{Info, Ranges};
use crate::simplify::recorder::Recorder;
use crate::simplify::width::Width;

/// No node.
pub(crate) const NONE: Expr = Expr(u32::MAX);

/// The reason why a call ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// No rule applies any more.
    Complete,
    /// The work budget was exhausted: the result is sound, but it might be simplified further.
    BudgetExhausted,
}

/// Memory that is reused from call to call.
#[derive(Default, Debug)]
pub struct Scratch {
    pub(crate) ranges: Ranges,
    /// The lists of the current map.
    pub(crate) lists: DomainSimplifier,
    pub(crate) memo: Vec<Expr>,
    pub(crate) forms: Vec<Expr>,
    pub(crate) costs: Vec<u32>,
    pub(crate) widths: Vec<Option<Width>>,
}

/// The budget of a call in units of work (see `work.rs`): for each node and operand of the input, and at least.
const BUDGET_PER_OPERAND: u64 = 400;
const MIN_BUDGET: u64 = 200_000;
/// The depth to which rules may call constructors that call rules.
pub(crate) const MAX_DEPTH: u32 = 24;

/// The application of a law to an expression.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Rewrite {
    pub law: &'static str,
    pub before: Expr,
    pub after: Expr,
}

/// The question of the search to the rules of one expression, instead of that for a cheaper form.
pub(crate) struct Choice {
    pub before: Expr,
    pub depth: u32,
    /// The application that is to be accepted; otherwise none is, and all are collected.
    pub wanted: Option<Rewrite>,
    pub collected: Vec<Rewrite>,
}

/// Constructors that simplify on a domain.
pub struct Simplifier<'a> {
    /// The nodes.
    pub arena: &'a mut Arena,
    /// The domain, and knowledge derived from it.
    pub ranges: &'a mut Ranges,
    /// The simplified form of each node, by id.
    pub(crate) memo: &'a mut Vec<Expr>,
    /// The cheapest form of each node of a simplified result, by id.
    pub(crate) forms: &'a mut Vec<Expr>,
    pub(crate) costs: &'a mut Vec<u32>,
    pub(crate) widths: &'a mut Vec<Option<Width>>,
    budget: u64,
    /// The work at which the budget is exhausted.
    limit: u64,
    /// Whether something was left as it is because the budget was exhausted.
    pub(crate) exhausted: bool,
    pub(crate) depth: u32,
    /// The nodes whose rules are being tried, outermost first.
    pub(crate) active: [Expr; MAX_DEPTH as usize],
    /// The last dividend and divisor without a split, on the current domain.
    pub(crate) failed_split: Option<(Expr, i64)>,
    /// Whether a node was left as it is because its rules were already being tried, or because of its depth.
    pub(crate) is_incomplete: bool,
    pub(crate) recorder: Option<Box<Recorder>>,
    /// Whether equal coefficients of a sum cost as much as one.
    pub(crate) shared_coefficients: bool,
    /// The question of the search to the rules.
    pub(crate) choice: Option<Box<Choice>>,
}

impl<'a> Simplifier<'a> {
    /// A simplifier on the domain that `scratch.ranges` holds.
    pub fn new(arena: &'a mut Arena, scratch: &'a mut Scratch) -> Self {
        scratch.memo.clear();
        scratch.forms.clear();
        scratch.costs.clear();
        scratch.widths.clear();
        let limit = arena.work() + MIN_BUDGET;
        Simplifier {
            arena,
            ranges: &mut scratch.ranges,
            memo: &mut scratch.memo,
            forms: &mut scratch.forms,
            costs: &mut scratch.costs,
            widths: &mut scratch.widths,
            budget: MIN_BUDGET,
            limit,
            exhausted: false,
            depth: 0,
            active: [NONE; MAX_DEPTH as usize],
            failed_split: None,
            is_incomplete: false,
            recorder: None,
            shared_coefficients: false,
            choice: None,
        }
    }

    /// Starts recording steps.
    pub fn record_steps(&mut self) {
        self.recorder = Some(Box::default());
    }

    pub(crate) fn records_steps(&self) -> bool {
        self.recorder.is_some()
    }

    /// Takes the certificate recorded so far.
    pub fn take_certificate(&mut self) -> Certificate {
        self.recorder.take().map_or(Certificate::default(), |recorder| recorder.finish())
    }

    /// Calls `record` if steps are recorded.
    pub(crate) fn record(&mut self, record: impl FnOnce(&mut Recorder, &mut Arena, &mut Ranges)) {
        if let Some(recorder) = &mut self.recorder {
            record(recorder, self.arena, self.ranges);
        }
    }

    /// The place in the list of what laws have used, for the law that is tried next; 0 if nothing is recorded.
    pub(crate) fn mark(&self) -> usize {
        self.recorder.as_ref().map_or(0, |r| r.mark())
    }

    /// Records the letters of the law that is being tried, which is then applied.
    pub(crate) fn bind(&mut self, bindings: impl FnOnce(&mut Arena) -> Vec<(&'static str, Expr)>) {
        self.record(|r, arena, _| r.bind(bindings(arena)));
    }

    /// Records that the law that is being tried uses the constraint `e in interval`.
    pub(crate) fn reason_stated(&mut self, e: Expr, interval: Interval) {
        self.record(|r, _, _| r.use_constraint(e, interval));
    }

    /// The steps that laws have used since `mark`; nothing if nothing is recorded.
    pub(crate) fn used_since(&self, mark: usize) -> Vec<usize> {
        self.recorder.as_ref().map_or(Vec::new(), |r| r.used_since(mark))
    }

    /// The step that gives `before = after` on the current domain, if it is recorded.
    pub(crate) fn equality(&self, before: Expr, after: Expr) -> Option<usize> {
        self.recorder.as_ref().and_then(|r| r.equality(before, after))
    }

    /// Forgets what a law used that was not applied.
    pub(crate) fn release(&mut self, mark: usize) {
        self.record(|r, _, _| r.release(mark));
    }

    /// Records that the law that is being tried uses the bounds or the congruence of `e`.
    pub(crate) fn reason(&mut self, e: Expr) {
        self.record(|r, arena, ranges| r.use_range(arena, ranges, e));
    }

    /// Whether the budget sufficed.
    pub fn status(&self) -> Status {
        if self.exhausted {
            Status::BudgetExhausted
        } else {
            Status::Complete
        }
    }

    /// Sets the work budget for a domain of `size` nodes and operands.
    pub(crate) fn set_domain_budget(&mut self, size: usize) {
        self.budget = MIN_BUDGET.max(BUDGET_PER_OPERAND * size as u64);
        self.limit = self.arena.work() + self.budget / 2;
    }

    /// Adds the same budget for the results to what is left.
    pub(crate) fn add_result_budget(&mut self) {
        self.limit = self.limit.max(self.arena.work()) + self.budget / 2;
    }

    /// Sets the limit to so many units of work from now on.
    pub(crate) fn extend_limit(&mut self, units: u64) {
        self.limit = self.limit.max(self.arena.work() + units);
    }

    /// Records that something was left as it is because the budget was exhausted.
    pub(crate) fn set_exhausted(&mut self) {
        self.exhausted = true;
    }

    /// Starts with another box and no facts; discards derived knowledge.
    pub(crate) fn start_on(&mut self, bounds: impl Iterator<Item = Interval>) {
        self.ranges.reset(bounds);
        self.record(|r, _, _| r.start_domain());
        self.arena.charge(self.ranges.variables.len() + self.memo.len() / 16);
        self.memo.clear();
        self.forms.clear();
        self.widths.clear();
        self.failed_split = None;
    }

    /// The bounds of `e`.
    pub fn bounds(&mut self, e: Expr) -> Interval {
        self.ranges.bounds(self.arena, e)
    }

    /// Bounds and congruence of `e`.
    pub fn info(&mut self, e: Expr) -> Info {
        self.ranges.info(self.arena, e)
    }

    /// Spends units of work; false if none are left.
    pub(crate) fn spend(&mut self, units: u64) -> bool {
        self.arena.charge(units as usize);
        !self.is_spent()
    }

    /// Whether the budget is exhausted; what is not yet simplified is then left as it is.
    pub(crate) fn is_spent(&mut self) -> bool {
        let spent = self.arena.work() >= self.limit;
        self.exhausted |= spent;
        spent
    }

    /// Records the application of a rule.
    pub(crate) fn record_rule(&mut self, law: &Law, before: Expr, after: Expr, mark: usize) {
        self.record(|r, _, _| r.rule(law, before, after, mark));
    }

    /// Records the constraints that a law derived from the constraint `before`.
    pub(crate) fn record_constraint(
        &mut self,
        law: &Law,
        before: (Expr, Interval),
        after: &[(Expr, Interval)],
    ) {
        self.record(|r, arena, ranges| r.constraint(arena, ranges, law.name, before, after));
    }

    /// Records that the constraints contradict each other.
    pub(crate) fn record_contradiction(&mut self, law: &Law, constraints: &[(Expr, Interval)]) {
        self.record(|r, arena, ranges| r.contradiction(arena, ranges, law, constraints));
    }

    /// Records that a constraint follows from another.
    pub(crate) fn record_following(&mut self, law: &Law, c: (Expr, Interval), other: (Expr, Interval)) {
        self.record(|r, arena, ranges| r.following(arena, ranges, law, c, other));
    }

    /// Records two constraints that are equal to one.
    pub(crate) fn record_merged(&mut self, law: &Law, both: [(Expr, Interval); 2], merged: (Expr, Interval)) {
        self.record(|r, arena, ranges| r.merged(arena, ranges, law, both, merged));
    }

    /// Records the intersection of two intervals of `e`.
    pub(crate) fn record_intersection(&mut self, law: &Law, e: Expr, both: [Interval; 2]) {
        self.record(|r, arena, ranges| r.intersection(arena, ranges, law, e, both));
    }
}
