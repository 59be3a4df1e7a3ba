//! The search for a cheaper form than the driver's, on request.
//!
//! The driver takes the first law that applies, and only if its result is cheaper. The search applies every law at every node,
//! cheaper or not, keeps each form and what the driver makes of it, and goes on with the cheapest, until its budget of work is
//! exhausted. Its cost is that of the text, in which equal coefficients are printed once. Its steps are those of the same rows,
//! so that certificates need nothing more.
//!
//! Equality saturation was considered instead (the crate egg). Here a law is a function whose precondition is a range or a
//! congruence on this domain; an e-graph would need them for classes, merged as these merge, and sums of n terms would need
//! matching modulo associativity, which the canonical form of sums provides. It would also be a second engine.

use crate::expr::{Expr, Node};
use crate::simplify::rules;
use crate::simplify::simplifier::{Rewrite, Simplifier, NONE};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// The units of work of a search.
const BUDGET: u64 = 6_000_000;
/// The maximal number of forms.
const MAX_FORMS: usize = 4096;
/// Forms that are dearer than the cheapest one by more are left.
const MAX_DEARER: u32 = 16;

/// A form, and the step that led to it.
struct Form {
    form: Expr,
    parent: usize,
    step: Step,
}

#[derive(Clone, Copy)]
enum Step {
    /// The driver's form of the input.
    Start,
    /// A law, at one of the nodes.
    Law(Rewrite),
    /// The driver's form of the parent.
    Driver,
}

impl Simplifier<'_> {
    /// The cheapest form that a search finds; that of the driver, if none is cheaper.
    pub(crate) fn search_result(&mut self, e: Expr) -> Expr {
        let (recorder, exhausted) = (self.recorder.take(), self.exhausted);
        self.extend_limit(BUDGET);
        let steps = self.search(e);
        self.extend_limit(BUDGET);
        (self.recorder, self.exhausted) = (recorder, exhausted);
        let mut links = vec![e];
        for step in steps {
            let last = links[links.len() - 1];
            links.push(self.take_step(last, step));
        }
        self.shares_coefficients(false);
        self.record(|r, _, _| r.chain(&links));
        links[links.len() - 1]
    }

    /// The steps to the cheapest form.
    fn search(&mut self, e: Expr) -> Vec<Step> {
        let start = self.take_step(e, Step::Start);
        let most = self.cost(start);
        self.shares_coefficients(true);
        let mut search =
            Search { source: e, best: 0, forms: Vec::new(), open: BinaryHeap::new(), seen: HashSet::new() };
        search.add(self, Form { form: start, parent: 0, step: Step::Start });
        while let Some((Reverse(cost), Reverse(place))) = search.open.pop() {
            let limit = self.cost(search.forms[search.best].form).saturating_add(MAX_DEARER);
            if self.is_spent() || search.forms.len() >= MAX_FORMS {
                break;
            }
            if cost <= limit {
                for step in self.steps_from(search.forms[place].form) {
                    search.follow(self, place, step, most);
                }
            }
        }
        search.path()
    }

    /// All laws at all nodes of a form, but for what is below a divisor that is no constant: the condition that it is not 0 is
    /// about the divisor as it stands.
    fn steps_from(&mut self, form: Expr) -> Vec<Step> {
        let mut nodes = self.arena.post_order(&[form]);
        let divisors = self.arena.divisors(std::iter::once(form));
        let kept: HashSet<Expr> = self.arena.post_order(&divisors).into_iter().collect();
        nodes.retain(|x| self.arena.leaf(*x).is_none() && !kept.contains(x));
        nodes.into_iter().flat_map(|x| rules::all_forms(self, x)).map(Step::Law).collect()
    }

    /// The form after a step; the same form if the step is not possible, which happens to none that was possible before.
    fn take_step(&mut self, form: Expr, step: Step) -> Expr {
        self.shares_coefficients(!matches!(step, Step::Start));
        match step {
            Step::Start | Step::Driver => {
                self.memo.clear();
                self.forms.clear();
                self.simplify_result(form)
            }
            Step::Law(rewrite) => {
                if self.records_steps() && !rules::apply_again(self, rewrite) {
                    return form;
                }
                self.replace_below(form, rewrite)
            }
        }
    }

    /// The form with one of its nodes replaced.
    fn replace_below(&mut self, form: Expr, Rewrite { before, after, .. }: Rewrite) -> Expr {
        let mut new = HashMap::from([(before, after)]);
        for x in self.arena.post_order(&[form]) {
            if new.contains_key(&x) {
                continue;
            }
            let kept = match self.arena.node(x) {
                Node::FloorDiv(_, d) | Node::Mod(_, d) => d,
                _ => NONE,
            };
            let at = |o: Expr| new.get(&o).copied().filter(|_| o != kept).unwrap_or(o);
            let Ok(built) = self.arena.with_operands(x, at) else { return form };
            if built == x {
                continue;
            }
            if self.records_steps() {
                let mut pairs = Vec::new();
                self.arena.for_each_operand(x, |o| pairs.extend(new.get(&o).map(|n| (o, *n))));
                self.record(|r, arena, ranges| r.operands(arena, ranges, [x, built, built], &pairs));
            }
            new.insert(x, built);
        }
        new.get(&form).copied().unwrap_or(form)
    }
}

/// The forms found so far.
struct Search {
    source: Expr,
    forms: Vec<Form>,
    best: usize,
    /// The forms whose steps were not tried yet.
    open: BinaryHeap<(Reverse<u32>, Reverse<usize>)>,
    seen: HashSet<Expr>,
}

impl Search {
    /// Adds a form, unless it is known; returns whether it is new.
    fn add(&mut self, s: &mut Simplifier<'_>, form: Form) -> bool {
        let is_new = self.seen.insert(form.form);
        if is_new {
            self.open.push((Reverse(s.cost(form.form)), Reverse(self.forms.len())));
            self.forms.push(form);
        }
        is_new
    }

    /// Takes a step from a form, then that of the driver. No form may cost more than `most` as the driver counts.
    fn follow(&mut self, s: &mut Simplifier<'_>, place: usize, step: Step, most: u32) {
        let mut parent = place;
        for step in [step, Step::Driver] {
            let form = s.take_step(self.forms[parent].form, step);
            if s.is_spent() || s.is_wider(form, self.source) || !self.add(s, Form { form, parent, step }) {
                return;
            }
            parent = self.forms.len() - 1;
            let is_cheaper = s.cost(form) < s.cost(self.forms[self.best].form);
            if is_cheaper && s.cost_without_sharing(form) <= most {
                self.best = parent;
            }
        }
    }

    /// The steps to the cheapest form.
    fn path(&self) -> Vec<Step> {
        let mut place = self.best;
        let mut steps = vec![self.forms[place].step];
        while !matches!(self.forms[place].step, Step::Start) {
            place = self.forms[place].parent;
            steps.push(self.forms[place].step);
        }
        steps.reverse();
        steps
    }
}
