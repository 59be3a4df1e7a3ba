//! One problem: made, simplified, and compared with the original at every point of its box, or at some of a wide one.
//!
//! A point is in the domain where it is in the box, no constraint and no result divides by 0, and every constraint holds.
//! What is divided is what the problem states once it is made: `x - x` is 0, whatever `x` divides by.

use indexing_core::{Arena, DomainSimplifier, Expr, Interval, Node, ReadScratch, Scratch, Status};

use crate::random::Random;
use crate::tree::{any_tree, dividing_tree, divisor_of_any_sign, floor_div, index_tree, Op, Tree};

const MOST_POINTS: i128 = 300;
/// Points that are looked at in a box of more.
const POINTS_TRIED: u64 = 40;

/// What came of a problem.
pub enum Verdict {
    /// Right at so many points.
    Right(u64),
    /// Found to be empty, rightly.
    Empty,
    /// An intermediate result leaves int64, and the core said so.
    Refused,
    /// Wrong, and how.
    Wrong(String),
}

/// A problem as written.
pub struct Written {
    pub bounds: Vec<(i64, i64)>,
    pub results: Vec<Tree>,
    pub constraints: Vec<(Tree, i64, i64)>,
    /// Every point of the box, or some of a wide one.
    pub points: Vec<Vec<i64>>,
    /// Were all points of the box listed?
    pub all: bool,
    /// May divisors be 0?
    pub divides_by_any: bool,
}

/// What an expression is at a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    Is(i128),
    /// A divisor is 0.
    Undefined,
    /// Beyond 128 bits.
    Beyond,
}

impl Value {
    pub fn known(self) -> Option<i128> {
        match self {
            Value::Is(x) => Some(x),
            _ => None,
        }
    }

    fn of(value: Option<i128>) -> Value {
        value.map_or(Value::Beyond, Value::Is)
    }
}

/// Memory that is used again from problem to problem.
#[derive(Default)]
pub struct Checker {
    pub arena: Arena,
    pub other: Arena,
    pub scratch: Scratch,
    pub reading: ReadScratch,
    pub values: Vec<Value>,
}

/// The text of a problem.
pub fn problem_text(seed: u64, number: u64) -> String {
    let w = written(seed, number);
    let names: Vec<String> = (0..w.bounds.len()).map(|v| format!("d{v}")).collect();
    let results: Vec<String> = w.results.iter().map(Tree::text).collect();
    let mut domain: Vec<String> = Vec::new();
    domain.extend(w.bounds.iter().zip(&names).map(|((low, high), n)| format!("{n} in [{low}, {high}]")));
    domain.extend(w.constraints.iter().map(|(e, low, high)| format!("{} in [{low}, {high}]", e.text())));
    format!("({}) -> ({}), domain: {}", names.join(", "), results.join(", "), domain.join(", "))
}

fn written(seed: u64, number: u64) -> Written {
    let r = &mut Random::new(seed, number);
    let bounds = if r.one_in(6) { wide_bounds(r) } else { random_bounds(r) };
    written_on(r, bounds)
}

/// Results and constraints on a box.
pub fn written_on(r: &mut Random, bounds: Vec<(i64, i64)>) -> Written {
    if r.one_in(8) {
        let (results, constraints) = divided_throughout(r, &bounds);
        return written_with(r, bounds, results, constraints, true);
    }
    let like_index = r.one_in(2);
    let divides_by_any = r.one_in(6);
    let tree = |r: &mut Random| {
        let depth = 1 + r.below(4) as u32;
        let tree = if like_index { index_tree(r, &bounds) } else { any_tree(r, &bounds, depth) };
        if divides_by_any && r.one_in(2) {
            divisor_of_any_sign(r, &bounds, tree)
        } else {
            tree
        }
    };
    let results = (0..1 + r.below(2)).map(|_| tree(r)).collect();
    let count = r.pick(&[0, 0, 0, 1, 1, 2, 3]);
    let mut constraints: Vec<_> = (0..count).map(|_| random_constraint(r, &bounds)).collect();
    if divides_by_any && r.one_in(2) {
        let e = any_tree(r, &bounds, 1);
        let low = r.between(-9, 3);
        constraints.push((divisor_of_any_sign(r, &bounds, e), low, low + r.pick(&[3, 10, 40])));
    }
    written_with(r, bounds, results, constraints, divides_by_any)
}

/// Results and constraints that divide by expressions, both.
fn divided_throughout(r: &mut Random, bounds: &[(i64, i64)]) -> (Vec<Tree>, Vec<(Tree, i64, i64)>) {
    let constraints = (0..1 + r.below(3)).map(|_| {
        let (depth, low) = (1 + r.below(3) as u32, r.between(-4, 4));
        (dividing_tree(r, bounds, depth), low, low + r.pick(&[0, 2, 9]))
    });
    let constraints = constraints.collect();
    (vec![dividing_tree(r, bounds, 2)], constraints)
}

fn written_with(
    r: &mut Random,
    bounds: Vec<(i64, i64)>,
    results: Vec<Tree>,
    constraints: Vec<(Tree, i64, i64)>,
    divides_by_any: bool,
) -> Written {
    let all = bounds.iter().fold(1i128, |n, (low, high)| n.saturating_mul(size(*low, *high))) <= MOST_POINTS;
    let points = if all { points(&bounds).collect() } else { some_points(r, &bounds) };
    Written { bounds, results, constraints, points, all, divides_by_any }
}

fn size(low: i64, high: i64) -> i128 {
    i128::from(high) - i128::from(low) + 1
}

/// Boxes whose ends are near those of 32 and of 64 bits.
fn wide_bounds(r: &mut Random) -> Vec<(i64, i64)> {
    let ends =
        [0, 0, 9, 1000, 300_000_000, 1_000_000_000, i64::from(i32::MAX), 1 << 33, 1 << 40, 1 << 61, i64::MAX];
    (0..r.pick(&[1, 2, 2, 3]))
        .map(|_| {
            let high = r.pick(&ends);
            let low = match r.below(4) {
                0 => -r.pick(&ends),
                1 => r.pick(&[i64::MIN, i64::MIN, -high]),
                _ => 0,
            };
            (low, high)
        })
        .collect()
}

/// Corners, points beside them, and any points.
fn some_points(r: &mut Random, bounds: &[(i64, i64)]) -> Vec<Vec<i64>> {
    let coordinate = |r: &mut Random, (low, high): (i64, i64)| {
        let within = |x: i128| x.clamp(i128::from(low), i128::from(high)) as i64;
        match r.below(6) {
            0 => low,
            1 => high,
            2 => within(i128::from(r.between(-9, 9))),
            3 => within(i128::from(if r.one_in(2) { low } else { high }) + i128::from(r.between(-9, 9))),
            _ => (i128::from(low) + i128::from(r.below(u64::MAX)) % size(low, high)) as i64,
        }
    };
    (0..POINTS_TRIED).map(|_| bounds.iter().map(|b| coordinate(r, *b)).collect()).collect()
}

fn random_bounds(r: &mut Random) -> Vec<(i64, i64)> {
    loop {
        let mut bounds = Vec::new();
        for _ in 0..r.pick(&[1, 2, 2, 3, 3, 4]) {
            let size = r.between(1, 9);
            let low = match r.below(50) {
                0 => r.pick(&[
                    i64::MIN,
                    i64::MIN + 1,
                    i64::MAX - size,
                    i64::MAX - size + 1,
                    (1 << 31) - 2,
                    -(1 << 31) - 2,
                    1_000_000_000_000,
                ]),
                1..=10 => r.between(-12, 12),
                11..=15 => -size / 2,
                _ => 0,
            };
            bounds.push((low, low + (size - 1)));
        }
        if bounds.iter().map(|(low, high)| size(*low, *high)).product::<i128>() <= MOST_POINTS {
            return bounds;
        }
    }
}

fn random_constraint(r: &mut Random, bounds: &[(i64, i64)]) -> (Tree, i64, i64) {
    let name = |r: &mut Random| Tree::Variable(r.below(bounds.len() as u64) as u32);
    let depth = 1 + r.below(3) as u32;
    match r.below(5) {
        0 => {
            let (m, e) = (r.pick(&[2, 3, 4, 5, 6, 8]), any_tree(r, bounds, 1));
            let low = r.between(0, m - 1);
            let high = if r.one_in(2) { low } else { m - 1 };
            (Tree::Binary(Op::Mod, Box::new(e), Box::new(Tree::Constant(m))), low, high)
        }
        1 => (
            Tree::Binary(r.pick(&[Op::Sub, Op::Add]), Box::new(name(r)), Box::new(name(r))),
            0,
            r.pick(&[0, 0, 5]),
        ),
        kind => {
            let e = if kind == 2 { index_tree(r, bounds) } else { any_tree(r, bounds, depth) };
            let low = r.between(-6, 12);
            (e, low, low + r.pick(&[0, 3, 10, 30]))
        }
    }
}

impl Checker {
    /// Make, simplify and compare problem `number` of a seed.
    pub fn problem(&mut self, seed: u64, number: u64) -> Verdict {
        let w = written(seed, number);
        self.arena.clear();
        let Some(before) = self.build(&w) else { return Verdict::Refused };
        let mut after = before.clone();
        let outcome = after.simplify(&mut self.arena, &mut self.scratch);
        if outcome.empty {
            let lost = w.points.iter().find(|p| self.contains(&before, p) == Some(true));
            if let Some(p) = lost {
                return Verdict::Wrong(format!("known empty, but {p:?} is in the domain"));
            }
        } else if let Err(why) = self.compare(&w, &before, &after) {
            return Verdict::Wrong(why);
        } else if outcome.status == Status::Complete && !self.is_unchanged(&after) {
            return Verdict::Wrong("not idempotent".into());
        }
        if !self.same_backwards(&w, &after, outcome.empty) {
            return Verdict::Wrong("the order in which it was written matters".into());
        }
        let simplified = (!outcome.empty).then_some(&after);
        if let Err(why) = self.maps(&w, &before, simplified, &mut Random::new(seed, number)) {
            return Verdict::Wrong(why);
        }
        if outcome.empty {
            return Verdict::Empty;
        }
        Verdict::Right(w.points.len() as u64)
    }

    /// Is the problem, which was simplified within the budget, the same once it is simplified again?
    fn is_unchanged(&mut self, after: &DomainSimplifier) -> bool {
        let mut again = after.clone();
        let empty = again.simplify(&mut self.arena, &mut self.scratch).empty;
        let same = (&again.results, &again.constraints, &again.bounds)
            == (&after.results, &after.constraints, &after.bounds);
        same && !empty
    }

    /// Does the problem come out the same where nodes were made, terms joined and constraints stated in reverse?
    fn same_backwards(&mut self, w: &Written, after: &DomainSimplifier, empty: bool) -> bool {
        self.other.clear();
        let Some(mut turned) = build_backwards(&mut self.other, w) else { return true };
        let also_empty = turned.simplify(&mut self.other, &mut self.scratch).empty;
        if empty || also_empty {
            return empty == also_empty;
        }
        let allowed = |p: &DomainSimplifier| p.constraints.iter().map(|c| c.1).collect::<Vec<_>>();
        turned.bounds == after.bounds
            && allowed(&turned) == allowed(after)
            && self.other.export(&roots(&turned)) == self.arena.export(&roots(after))
    }

    pub fn build(&mut self, w: &Written) -> Option<DomainSimplifier> {
        let results = w.results.iter().map(|e| e.build(&mut self.arena)).collect::<Result<_, _>>().ok()?;
        let constraints = w
            .constraints
            .iter()
            .map(|(e, low, high)| e.build(&mut self.arena).map(|e| (e, Interval::new(*low, *high))));
        let constraints = constraints.collect::<Result<_, _>>().ok()?;
        Some(DomainSimplifier { bounds: intervals(w), constraints, results, ..DomainSimplifier::default() })
    }

    fn compare(
        &mut self,
        w: &Written,
        before: &DomainSimplifier,
        after: &DomainSimplifier,
    ) -> Result<(), String> {
        for (b, (low, high)) in after.bounds.iter().zip(&w.bounds) {
            if b.lower < *low || b.upper > *high {
                return Err(format!("the bounds grew to [{}, {}]", b.lower, b.upper));
            }
        }
        for point in &w.points {
            let Some(inside) = self.contains(before, point) else { continue };
            let Some(still) = self.contains(after, point) else { continue };
            if still != inside {
                return Err(format!("{point:?} was {}", if inside { "lost" } else { "added" }));
            }
            for (k, (tree, e)) in w.results.iter().zip(&after.results).enumerate() {
                let (want, got) = (tree.value(point), self.values[e.index()]);
                let beyond = got == Value::Beyond && want.is_some_and(|w| i64::try_from(w).is_err());
                if inside && want.is_some() && want != got.known() && !beyond {
                    return Err(format!("result {k} at {point:?}: {got:?} instead of {want:?}"));
                }
            }
        }
        Ok(())
    }

    /// Whether a point of the box is in the domain, the values of all nodes kept; `None` where one leaves 128 bits.
    pub fn contains(&mut self, problem: &DomainSimplifier, point: &[i64]) -> Option<bool> {
        self.evaluate(&roots(problem), point);
        let value = |e: &Expr| self.values[e.index()];
        let constrained = problem.constraints.iter().map(|(e, i)| match value(e) {
            Value::Is(x) => Some(within(x, *i)),
            Value::Undefined => Some(false),
            Value::Beyond => None,
        });
        let mut inside = problem.bounds.iter().zip(point).all(|(b, x)| b.contains(*x));
        for holds in constrained.collect::<Vec<_>>() {
            inside &= holds?;
        }
        Some(inside && problem.results.iter().all(|r| value(r) != Value::Undefined))
    }

    /// The values of the nodes below `roots` at a point.
    pub fn evaluate(&mut self, roots: &[Expr], point: &[i64]) {
        let nodes = self.arena.reachable(roots);
        self.values.resize(self.arena.node_count(), Value::Undefined);
        for e in nodes {
            self.values[e.index()] = self.node_value(e, point);
        }
    }

    fn node_value(&self, e: Expr, point: &[i64]) -> Value {
        let mut values = Vec::new();
        self.arena.for_each_operand(e, |o| values.push(self.values[o.index()]));
        let divides = matches!(self.arena.node(e), Node::FloorDiv(..) | Node::Mod(..));
        if values.contains(&Value::Undefined) || (divides && values[1] == Value::Is(0)) {
            return Value::Undefined;
        }
        let Some(known) = values.iter().map(|v| v.known()).collect::<Option<Vec<i128>>>() else {
            return Value::Beyond;
        };
        match self.arena.node(e) {
            Node::Constant(c) => Value::Is(i128::from(c)),
            Node::Variable(v) => Value::Is(i128::from(point[v as usize])),
            Node::FloorDiv(..) => Value::of(floor_div(known[0], known[1])),
            Node::Mod(..) => Value::Is(known[0].rem_euclid(known[1].abs())),
            Node::Product(_) if known.contains(&0) => Value::Is(0),
            Node::Product(_) => Value::of(known.iter().try_fold(1i128, |p, f| p.checked_mul(*f))),
            Node::Min(_) => Value::of(known.iter().min().copied()),
            Node::Max(_) => Value::of(known.iter().max().copied()),
            Node::Sum(constant, terms) => {
                Value::of(terms.iter().zip(&known).try_fold(i128::from(constant), |s, (t, x)| {
                    s.checked_add(i128::from(t.coeff).checked_mul(*x)?)
                }))
            }
        }
    }
}

/// The problem, with nodes, terms, constraints and results made in reverse.
fn build_backwards(arena: &mut Arena, w: &Written) -> Option<DomainSimplifier> {
    let mut constraints = Vec::new();
    for (e, low, high) in w.constraints.iter().rev() {
        constraints.push((e.build_backwards(arena).ok()?, Interval::new(*low, *high)));
    }
    let results = w.results.iter().rev().map(|e| e.build_backwards(arena)).collect::<Result<Vec<_>, _>>();
    let mut results = results.ok()?;
    results.reverse();
    Some(DomainSimplifier { bounds: intervals(w), constraints, results, ..DomainSimplifier::default() })
}

pub fn intervals(w: &Written) -> Vec<Interval> {
    w.bounds.iter().map(|(low, high)| Interval::new(*low, *high)).collect()
}

/// The expressions of a problem: results, then constraints.
pub fn roots(p: &DomainSimplifier) -> Vec<Expr> {
    p.results.iter().copied().chain(p.constraints.iter().map(|c| c.0)).collect()
}

/// Whether a value lies in an interval whose ends at the ends of int64 stand for "unbounded".
fn within(value: i128, interval: Interval) -> bool {
    (interval.lower == i64::MIN || value >= i128::from(interval.lower))
        && (interval.upper == i64::MAX || value <= i128::from(interval.upper))
}

/// Every point of a box.
fn points(bounds: &[(i64, i64)]) -> impl Iterator<Item = Vec<i64>> + '_ {
    let total: i128 = bounds.iter().map(|(low, high)| size(*low, *high)).product();
    (0..total).map(move |mut n| {
        let coordinate = |(low, high): &(i64, i64)| {
            let size = size(*low, *high);
            let x = low + (n % size) as i64;
            n /= size;
            x
        };
        bounds.iter().map(coordinate).collect()
    })
}
