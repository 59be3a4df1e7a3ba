//! The certificate of a simplification, recorded on request: claims about the domain, each with the law that gives it and the
//! claims that it follows from.
//!
//! A claim about the domain stays true from then on, because no step changes the domain. A constraint that is replaced or
//! dropped is claimed once more, as a consequence of those that replace or imply it: so both directions are recorded.

mod systems;

use crate::expr::{Arena, Expr, Node, Tag};
use crate::interval::Interval;
use crate::simplify::certificate::{
    Certificate, CertifiedStep, Claim, CHAIN, CONDITION, GIVEN, KEEPING, OPERANDS, SUBSTITUTED,
    VARIABLES_EQUAL,
};
use crate::simplify::law::Law;
use crate::simplify::range::{self, Info, Ranges};
use std::collections::HashMap;

type Table<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// The steps recorded so far.
#[derive(Default, Debug)]
pub(crate) struct Recorder {
    steps: Vec<CertifiedStep>,
    /// For each result, the step that gives its final form; `None` if it stays as it is.
    results: Vec<Option<usize>>,
    /// The equalities on the current domain.
    equal: Table<(Expr, Expr), usize>,
    /// The bounds and congruences of expressions on the current domain.
    ranges: Table<Expr, usize>,
    /// Constraints and bounds of variables, by content.
    stated: Table<(Expr, Interval), usize>,
    /// Of those about each expression, the one with the greatest lower and the one with the least upper bound.
    tightest: Table<Expr, [(Interval, usize); 2]>,
    /// The steps that the laws that are being tried have used, those of the outermost first.
    used: Vec<usize>,
    /// The steps of what keeps divisors from being 0.
    kept: Vec<usize>,
    /// The domain as the result states it.
    domain: Table<(Expr, Interval), ()>,
    bindings: Vec<(&'static str, Expr)>,
}

fn bounds_only(interval: Interval) -> Info {
    Info { bounds: interval, modulus: 1, residue: 0 }
}

impl Recorder {
    /// Forgets what holds on the current domain only by facts that change.
    pub(crate) fn start_domain(&mut self) {
        self.equal.clear();
        self.ranges.clear();
        self.used.clear();
    }

    pub(crate) fn mark(&self) -> usize {
        self.used.len()
    }

    pub(crate) fn release(&mut self, mark: usize) {
        self.used.truncate(mark);
        self.bindings.clear();
    }

    pub(crate) fn used_since(&self, mark: usize) -> Vec<usize> {
        self.used[mark.min(self.used.len())..].to_vec()
    }

    pub(crate) fn use_steps(&mut self, steps: impl IntoIterator<Item = usize>) {
        self.used.extend(steps);
    }

    pub(crate) fn bind(&mut self, bindings: Vec<(&'static str, Expr)>) {
        self.bindings = bindings;
    }

    fn push(&mut self, law: &'static str, claim: Claim, mut from: Vec<usize>) -> usize {
        from.sort_unstable();
        from.dedup();
        self.steps.push(CertifiedStep { claim, law, bindings: Vec::new(), from });
        self.steps.len() - 1
    }

    /// A bound or a constraint that the map states.
    pub(crate) fn give(&mut self, e: Expr, interval: Interval) {
        self.state(GIVEN, (e, interval), Vec::new());
    }

    fn state(&mut self, law: &'static str, (e, interval): (Expr, Interval), from: Vec<usize>) -> usize {
        let known = self.stated.get(&(e, interval)).copied();
        let id = known.unwrap_or_else(|| self.push(law, Claim::Within(e, bounds_only(interval)), from));
        self.stated.insert((e, interval), id);
        let [lower, upper] = self.tightest.entry(e).or_insert([(interval, id); 2]);
        if interval.lower > lower.0.lower {
            *lower = (interval, id);
        }
        if interval.upper < upper.0.upper {
            *upper = (interval, id);
        }
        id
    }

    // ------------------------------------------------------------------ equalities

    /// The step that gives `before = after`; `None` if they are the same.
    pub(crate) fn equality(&self, before: Expr, after: Expr) -> Option<usize> {
        self.equal.get(&(before, after)).copied()
    }

    fn tightest(&self, e: Expr) -> Vec<usize> {
        self.tightest.get(&e).map_or(Vec::new(), |both| both.map(|(_, id)| id).to_vec())
    }

    /// Restores an equality that was recorded before a new domain was started.
    pub(crate) fn restore_equality(&mut self, before: Expr, after: Expr, id: Option<usize>) {
        self.equal.extend(id.map(|id| ((before, after), id)));
    }

    fn equate(&mut self, law: &'static str, before: Expr, after: Expr, from: Vec<usize>) -> usize {
        let id = self.push(law, Claim::Equal(before, after), from);
        self.equal.insert((before, after), id);
        id
    }

    /// Uses the equality of an expression and its simplified form.
    pub(crate) fn use_equality(&mut self, before: Expr, after: Expr) {
        self.used.extend(self.equality(before, after));
    }

    /// The application of a rule, with what it has used since `mark`.
    pub(crate) fn rule(&mut self, law: &Law, before: Expr, after: Expr, mark: usize) {
        let from = self.used.split_off(mark.min(self.used.len()));
        let id = self.equate(law.name, before, after, from);
        self.steps[id].bindings = std::mem::take(&mut self.bindings);
    }

    /// `before` with operands replaced by equal ones, in pairs, is `built`, which equals `out`; divisors are not 0.
    pub(crate) fn operands(
        &mut self,
        arena: &mut Arena,
        ranges: &mut Ranges,
        [before, built, out]: [Expr; 3],
        pairs: &[(Expr, Expr)],
    ) {
        if before != built && self.equality(before, built).is_none() {
            let mut from: Vec<usize> = pairs.iter().filter_map(|(a, b)| self.equality(*a, *b)).collect();
            if let Node::FloorDiv(_, divisor) | Node::Mod(_, divisor) = arena.node(before) {
                from.extend(self.range(arena, ranges, divisor));
            }
            self.equate(OPERANDS, before, built, from);
        }
        self.chain(&[before, built, out]);
    }

    /// The equality of the first and the last of these, each of which equals the next.
    pub(crate) fn chain(&mut self, links: &[Expr]) {
        let (Some(&first), Some(&last)) = (links.first(), links.last()) else { return };
        if first == last || self.equality(first, last).is_some() {
            return;
        }
        let from = links.windows(2).filter_map(|pair| self.equality(pair[0], pair[1])).collect();
        self.equate(CHAIN, first, last, from);
    }

    /// A round of simplification of the result `root`: one form after the other.
    pub(crate) fn round(&mut self, root: Expr, forms: [Expr; 4]) {
        self.chain(&forms);
        self.chain(&[root, forms[0], forms[3]]);
    }

    /// Forgets the results.
    pub(crate) fn start_results(&mut self) {
        self.results.clear();
    }

    /// The final form of a result.
    pub(crate) fn result(&mut self, before: Expr, after: Expr) {
        self.results.push(self.equality(before, after));
    }

    // ------------------------------------------------------------------ bounds and congruences

    /// Uses what is known about the bounds and the congruence of `e`.
    pub(crate) fn use_range(&mut self, arena: &mut Arena, ranges: &mut Ranges, e: Expr) {
        let id = self.range(arena, ranges, e);
        self.used.extend(id);
    }

    /// Uses the constraint `e in interval`.
    pub(crate) fn use_constraint(&mut self, e: Expr, interval: Interval) {
        self.used.extend(self.stated.get(&(e, interval)));
    }

    /// Uses a constraint, derived from what is known of its expression if it was not stated so.
    pub(crate) fn use_derived_constraint(
        &mut self,
        arena: &mut Arena,
        ranges: &mut Ranges,
        c: (Expr, Interval),
    ) {
        let id = self.constraint_step(arena, ranges, c);
        self.used.extend(id);
    }

    /// Uses the constraints that share a variable with `e`, among those that are stated as facts.
    pub(crate) fn use_facts_about(&mut self, arena: &Arena, ranges: &Ranges, e: Expr) {
        let about = self.facts_about(arena, ranges, e);
        self.used.extend(about);
    }

    /// Uses the equality of `e` and what it is with each variable replaced by the first one of its class.
    pub(crate) fn use_equal_variables(&mut self, arena: &mut Arena, ranges: &Ranges, e: Expr) {
        let facts =
            ranges.facts.ranges.iter().filter(|(form, i)| arena.equal_variables(**form, **i).is_some());
        let equal: Vec<(Expr, Interval)> = facts.map(|(form, i)| (*form, *i)).collect();
        self.use_replaced(arena, e, &equal, |v| ranges.facts.equal_variables.representative(v));
    }

    /// Uses the equality of `e` and what it is with variables replaced, recorded node by node, by the constraints `equal`.
    pub(crate) fn use_replaced(
        &mut self,
        arena: &mut Arena,
        e: Expr,
        equal: &[(Expr, Interval)],
        by: impl Fn(Expr) -> Option<Expr>,
    ) {
        let equal: Vec<usize> = equal.iter().filter_map(|c| self.stated.get(c).copied()).collect();
        let replaced = |arena: &mut Arena, x: Expr| arena.replace_variables(x, &by).unwrap_or(x);
        for x in arena.post_order(&[e]) {
            let new = replaced(arena, x);
            if x == new || self.equality(x, new).is_some() {
                continue;
            }
            if arena.tag(x) == Tag::Variable {
                self.equate(VARIABLES_EQUAL, x, new, equal.clone());
                continue;
            }
            let mut operands = Vec::new();
            arena.for_each_operand(x, |o| operands.push(o));
            let pairs: Vec<_> = operands.into_iter().map(|o| (o, replaced(arena, o))).collect();
            let from = pairs.iter().filter_map(|(o, new)| self.equality(*o, *new)).collect();
            self.equate(OPERANDS, x, new, from);
        }
        let new = replaced(arena, e);
        self.use_equality(e, new);
    }

    fn facts_about(&self, arena: &Arena, ranges: &Ranges, e: Expr) -> Vec<usize> {
        let about = ranges.facts.ranges.iter().filter(|(form, _)| arena.may_share_variables(**form, e));
        about.filter_map(|(form, interval)| self.stated.get(&(*form, *interval)).copied()).collect()
    }

    /// The step that gives bounds and congruence of `e`; `None` if nothing is known of it, or it is a constant.
    fn range(&mut self, arena: &mut Arena, ranges: &mut Ranges, e: Expr) -> Option<usize> {
        if let Some(id) = self.ranges.get(&e) {
            return Some(*id);
        }
        for x in arena.post_order(&[e]) {
            if arena.tag(x) != Tag::Constant && !self.ranges.contains_key(&x) {
                self.derive_range(arena, ranges, x);
            }
        }
        self.ranges.get(&e).copied()
    }

    fn derive_range(&mut self, arena: &mut Arena, ranges: &mut Ranges, x: Expr) {
        let info = ranges.info(arena, x);
        if info.bounds == Interval::ALL && info.modulus == 1 {
            return;
        }
        let id = if arena.tag(x) == Tag::Variable {
            let Some(id) = self.range_of_variable(arena, ranges, x, info) else { return };
            id
        } else {
            let mut from = self.ranges_below(arena, x);
            let parts = range::factored_parts(arena, x);
            from.extend(parts.into_iter().filter_map(|part| self.range(arena, ranges, part)));
            if ranges.of_operands(arena, x) != info {
                from.extend(self.facts_about(arena, ranges, x));
            }
            self.push(ranges.law_of(arena, x, info), Claim::Within(x, info), from)
        };
        self.ranges.insert(x, id);
    }

    fn range_of_variable(&mut self, arena: &Arena, ranges: &Ranges, x: Expr, info: Info) -> Option<usize> {
        let own = self.stated.get(&(x, info.bounds)).copied();
        if info.modulus <= 1 && own.is_some() {
            return own;
        }
        let mut from = own.map_or_else(|| self.tightest(x), |id| vec![id]);
        if info.modulus > 1 || own.is_none() {
            from.extend(self.facts_about(arena, ranges, x));
        }
        Some(self.push("congruence-tightens", Claim::Within(x, info), from))
    }

    /// The steps of what is known of the operands of `x`, of the terms of arguments, and of the dividends and factors in terms.
    fn ranges_below(&self, arena: &Arena, x: Expr) -> Vec<usize> {
        let mut from = Vec::new();
        arena.for_each_operand(x, |o| {
            from.extend(self.ranges.get(&o));
            match (arena.tag(x), arena.node(o)) {
                // The sum of two arguments has the terms of both; factors are tried at points.
                (Tag::Min | Tag::Max | Tag::Product, _) => {
                    arena.for_each_operand(o, |t| from.extend(self.ranges.get(&t)));
                }
                (Tag::Sum, Node::FloorDiv(n, _) | Node::Mod(n, _)) => {
                    from.extend(self.ranges.get(&n));
                    arena.for_each_operand(n, |t| from.extend(self.ranges.get(&t)));
                }
                (Tag::Sum, Node::Product(of)) => from.extend(of.iter().filter_map(|f| self.ranges.get(f))),
                _ => {}
            }
        });
        from
    }

    // ------------------------------------------------------------------ constraints

    /// The step that claims a constraint, derived from what is known of its expression if it was not stated so.
    fn constraint_step(
        &mut self,
        arena: &mut Arena,
        ranges: &mut Ranges,
        c: (Expr, Interval),
    ) -> Option<usize> {
        if c.1 == Interval::ALL {
            return None;
        }
        if let Some(id) = self.stated.get(&c) {
            return Some(*id);
        }
        let mut from = self.tightest(c.0);
        from.extend(self.range(arena, ranges, c.0));
        Some(self.state("constraints-intersect", c, from))
    }

    /// The constraints `after` follow from `before`, and `before` from them unless it is kept.
    pub(crate) fn constraint(
        &mut self,
        arena: &mut Arena,
        ranges: &mut Ranges,
        law: &'static str,
        before: (Expr, Interval),
        after: &[(Expr, Interval)],
    ) {
        let mut reasons = std::mem::take(&mut self.used);
        if law == CONDITION {
            reasons.extend(self.range(arena, ranges, before.0));
            for c in after {
                self.state(law, *c, reasons.clone());
            }
            return;
        }
        let own = self.constraint_step(arena, ranges, before);
        reasons.extend(self.range(arena, ranges, before.0));
        reasons.extend(self.ranges_below(arena, before.0));
        let with = |more: &[usize]| reasons.iter().chain(more).copied().collect::<Vec<_>>();
        let forward = with(own.as_slice());
        if after.iter().any(|(_, i)| i.is_empty()) {
            self.push(law, Claim::Never, forward);
            return;
        }
        let made: Vec<usize> = after
            .iter()
            .filter(|c| c.1 != Interval::ALL)
            .map(|c| self.state(law, *c, forward.clone()))
            .collect();
        if !KEEPING.contains(&law) {
            self.push(law, Claim::Within(before.0, bounds_only(before.1)), with(&made));
        }
    }

    /// The intersection of two intervals of one expression.
    pub(crate) fn intersection(
        &mut self,
        arena: &mut Arena,
        ranges: &mut Ranges,
        law: &Law,
        e: Expr,
        intervals: [Interval; 2],
    ) {
        let from = intervals.map(|i| self.constraint_step(arena, ranges, (e, i)));
        let from: Vec<usize> = from.into_iter().flatten().collect();
        let both = intervals[0].intersect(intervals[1]);
        if both.is_empty() {
            self.push(law.name, Claim::Never, from);
        } else {
            self.state(law.name, (e, both), from);
        }
    }

    /// A constraint on `before` is replaced by that on the equal expression `after`, by what was used.
    pub(crate) fn substituted(
        &mut self,
        arena: &mut Arena,
        ranges: &mut Ranges,
        [before, after]: [Expr; 2],
        interval: Interval,
    ) {
        if before == after {
            return;
        }
        let equality: Vec<usize> = self.equality(before, after).into_iter().collect();
        let own = self.constraint_step(arena, ranges, (before, interval));
        let from = equality.iter().copied().chain(own).collect();
        let made = self.state(SUBSTITUTED, (after, interval), from);
        let back = equality.into_iter().chain([made]).collect();
        self.push(SUBSTITUTED, Claim::Within(before, bounds_only(interval)), back);
    }

    /// A constraint is kept, with the interval that is known of its expression.
    pub(crate) fn keep_constraint(&mut self, arena: &mut Arena, ranges: &mut Ranges, c: (Expr, Interval)) {
        self.constraint_step(arena, ranges, c);
    }

    /// Two constraints follow from one, and it from both.
    pub(crate) fn merged(
        &mut self,
        arena: &mut Arena,
        ranges: &mut Ranges,
        law: &Law,
        both: [(Expr, Interval); 2],
        merged: (Expr, Interval),
    ) {
        let from = both.iter().filter_map(|c| self.constraint_step(arena, ranges, *c)).collect();
        let made = self.state(law.name, merged, from);
        for (e, interval) in both {
            self.push(law.name, Claim::Within(e, bounds_only(interval)), vec![made]);
        }
    }

    /// A constraint follows from what was used.
    pub(crate) fn implied(&mut self, law: &Law, (e, interval): (Expr, Interval)) {
        let from = std::mem::take(&mut self.used);
        self.push(law.name, Claim::Within(e, bounds_only(interval)), from);
    }

    /// A fact that the certificate needs although no law uses it: what keeps a divisor from being 0.
    pub(crate) fn keep_range(&mut self, arena: &mut Arena, ranges: &mut Ranges, e: Expr) {
        let id = self.range(arena, ranges, e);
        self.kept.extend(id);
    }

    /// A bound or a constraint that the result states.
    pub(crate) fn keep_stated(&mut self, e: Expr, interval: Interval) {
        self.domain.insert((e, interval), ());
    }

    /// The steps from which the results and the domain follow, or the contradiction.
    pub(crate) fn finish(self) -> Certificate {
        let contradiction = self.steps.iter().position(|s| s.claim == Claim::Never);
        let lost = contradiction.map_or_else(|| self.lost_constraints(), |_| Table::default());
        let mut open = contradiction.map_or_else(|| self.roots(&lost), |k| vec![k]);
        let mut is_needed = vec![false; self.steps.len()];
        while let Some(k) = open.pop() {
            if !std::mem::replace(&mut is_needed[k], true) {
                open.extend(&self.steps[k].from);
                open.extend(self.steps[k].constraint().and_then(|(e, _)| lost.get(&e)).into_iter().flatten());
            }
        }
        let mut place = vec![usize::MAX; self.steps.len()];
        let mut steps = Vec::new();
        for (k, mut step) in self.steps.into_iter().enumerate().filter(|(k, _)| is_needed[*k]) {
            place[k] = steps.len();
            step.from.iter_mut().for_each(|j| *j = place[*j]);
            steps.push(step);
        }
        let results = self.results.iter().map(|r| r.map(|k| place[k]).filter(|_| contradiction.is_none()));
        Certificate { results: results.collect(), steps }
    }

    /// The steps that give the results, either domain from the other, and what keeps divisors from being 0.
    fn roots(&self, lost: &Table<Expr, Vec<usize>>) -> Vec<usize> {
        let conditions = (0..self.steps.len()).filter(|k| self.steps[*k].law == CONDITION);
        let new = self.domain.keys().filter_map(|c| self.stated.get(c)).copied();
        let given = self.steps.iter().filter(|s| s.law == GIVEN).filter_map(CertifiedStep::constraint);
        let results = self.results.iter().flatten().chain(&self.kept).copied();
        let roots = results.chain(new).filter(|k| self.steps[*k].law != GIVEN).chain(conditions);
        roots.chain(given.filter_map(|(e, _)| lost.get(&e)).flatten().copied()).collect()
    }

    /// The steps that claim something of expressions which the result does not constrain as they do: what follows from it.
    fn lost_constraints(&self) -> Table<Expr, Vec<usize>> {
        let mut claims: Table<_, Vec<_>> = Table::default();
        for (k, step) in self.steps.iter().enumerate().filter(|(_, s)| s.law != GIVEN) {
            if let Some(c) = step.constraint().filter(|c| !self.domain.contains_key(c)) {
                claims.entry(c.0).or_default().push(k);
            }
        }
        claims
    }
}
