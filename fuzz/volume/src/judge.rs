//! One problem: made, simplified, and compared with the original at every point of its box.

use indexing_core::domain::{PointVariables, Problem};
use indexing_core::simplify::Scratch;
use indexing_core::{Arena, Expr, Interval, Node};

use crate::random::Random;
use crate::tree::{any_tree, floor_div, index_tree, Op, Tree};

const MOST_POINTS: i64 = 300;

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
    bounds: Vec<(i64, i64)>,
    results: Vec<Tree>,
    constraints: Vec<(Tree, i64, i64)>,
}

/// Memory that is used again from problem to problem.
#[derive(Default)]
pub struct Judge {
    arena: Arena,
    other: Arena,
    scratch: Scratch,
    values: Vec<Option<i128>>,
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
    let bounds = random_bounds(r);
    let like_index = r.one_in(2);
    let tree = |r: &mut Random| {
        let depth = 1 + r.below(4) as u32;
        if like_index {
            index_tree(r, &bounds)
        } else {
            any_tree(r, &bounds, depth)
        }
    };
    let results = (0..1 + r.below(2)).map(|_| tree(r)).collect();
    let count = r.pick(&[0, 0, 0, 1, 1, 2, 3]);
    let constraints = (0..count).map(|_| random_constraint(r, &bounds)).collect();
    Written { bounds, results, constraints }
}

fn random_bounds(r: &mut Random) -> Vec<(i64, i64)> {
    loop {
        let mut bounds = Vec::new();
        for _ in 0..r.pick(&[1, 2, 2, 3, 3, 4]) {
            let size = r.between(1, 9);
            let low = match r.below(50) {
                0 => r.pick(&[i64::MIN, i64::MAX - size, (1 << 31) - 2, -(1 << 31) - 2, 1_000_000_000_000]),
                1..=10 => r.between(-12, 12),
                11..=15 => -size / 2,
                _ => 0,
            };
            bounds.push((low, low + size - 1));
        }
        if bounds.iter().map(|(low, high)| high - low + 1).product::<i64>() <= MOST_POINTS {
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

impl Judge {
    /// Make, simplify and compare problem `number` of a seed.
    pub fn problem(&mut self, seed: u64, number: u64) -> Verdict {
        let w = written(seed, number);
        self.arena.clear();
        let Some(before) = self.build(&w) else { return Verdict::Refused };
        let mut after = before.clone();
        let outcome = after.simplify(&mut self.arena, &mut self.scratch);
        if outcome.empty {
            let lost = points(&w.bounds).find(|p| contains(&w, p) == Some(true));
            if let Some(p) = lost {
                return Verdict::Wrong(format!("known empty, but {p:?} is in the domain"));
            }
        } else if let Err(why) = self.compare(&w, &after).and_then(|()| self.stays(&after)) {
            return Verdict::Wrong(why);
        }
        if !self.same_backwards(&w, &after, outcome.empty) {
            return Verdict::Wrong("the order in which it was written matters".into());
        }
        if outcome.empty {
            return Verdict::Empty;
        }
        Verdict::Right(points(&w.bounds).count() as u64)
    }

    /// Is the problem the same once it is simplified again?
    fn stays(&mut self, after: &Problem) -> Result<(), String> {
        let mut again = after.clone();
        let empty = again.simplify(&mut self.arena, &mut self.scratch).empty;
        let same = (&again.results, &again.constraints, &again.bounds)
            == (&after.results, &after.constraints, &after.bounds);
        if same && !empty {
            Ok(())
        } else {
            Err("not idempotent".into())
        }
    }

    /// Does the problem come out the same where nodes were made, terms joined and constraints stated in reverse?
    fn same_backwards(&mut self, w: &Written, after: &Problem, empty: bool) -> bool {
        self.other.clear();
        let Some(mut turned) = build_backwards(&mut self.other, w) else { return true };
        let also_empty = turned.simplify(&mut self.other, &mut self.scratch).empty;
        if empty || also_empty {
            return empty == also_empty;
        }
        let allowed = |p: &Problem| p.constraints.iter().map(|c| c.1).collect::<Vec<_>>();
        turned.bounds == after.bounds
            && allowed(&turned) == allowed(after)
            && self.other.export(&roots(&turned)) == self.arena.export(&roots(after))
    }

    fn build(&mut self, w: &Written) -> Option<Problem> {
        let results = w.results.iter().map(|e| e.build(&mut self.arena)).collect::<Result<_, _>>().ok()?;
        let constraints = w
            .constraints
            .iter()
            .map(|(e, low, high)| e.build(&mut self.arena).map(|e| (e, Interval::new(*low, *high))));
        let constraints = constraints.collect::<Result<_, _>>().ok()?;
        Some(Problem { bounds: intervals(w), constraints, results, points: PointVariables::Replace })
    }

    fn compare(&mut self, w: &Written, after: &Problem) -> Result<(), String> {
        for (b, (low, high)) in after.bounds.iter().zip(&w.bounds) {
            if b.lower < *low || b.upper > *high {
                return Err(format!("the bounds grew to [{}, {}]", b.lower, b.upper));
            }
        }
        let nodes = self.arena.reachable(&roots(after));
        for point in points(&w.bounds) {
            let Some(inside) = contains(w, &point) else { continue };
            self.evaluate(&nodes, &point);
            let in_box = after.bounds.iter().zip(&point).all(|(b, x)| b.contains(*x));
            let holds = |(e, i): &(Expr, Interval)| self.values[e.index()].is_some_and(|v| within(v, *i));
            if (in_box && after.constraints.iter().all(holds)) != inside {
                return Err(format!("{point:?} was {}", if inside { "lost" } else { "added" }));
            }
            for (k, (tree, e)) in w.results.iter().zip(&after.results).enumerate() {
                let (want, got) = (tree.value(&point), self.values[e.index()]);
                let beyond = got.is_none() && want.is_some_and(|w| i64::try_from(w).is_err()); // left 128 bits on the way
                if inside && want.is_some() && want != got && !beyond {
                    return Err(format!("result {k} at {point:?}: {got:?} instead of {want:?}"));
                }
            }
        }
        Ok(())
    }

    /// The values of nodes at a point, operands before users.
    fn evaluate(&mut self, nodes: &[Expr], point: &[i64]) {
        self.values.resize(self.arena.node_count(), None);
        for e in nodes {
            self.values[e.index()] = self.node_value(*e, point);
        }
    }

    fn node_value(&self, e: Expr, point: &[i64]) -> Option<i128> {
        let value = |e: &Expr| self.values[e.index()];
        match self.arena.node(e) {
            Node::Constant(c) => Some(i128::from(c)),
            Node::Variable(v) => Some(i128::from(point[v as usize])),
            Node::FloorDiv(a, b) => floor_div(value(&a)?, value(&b)?),
            Node::Mod(a, b) => {
                value(&b).filter(|b| *b != 0).and_then(|b| Some(value(&a)?.rem_euclid(b.abs())))
            }
            Node::Product(factors) => factors.iter().try_fold(1i128, |p, f| p.checked_mul(value(f)?)),
            Node::Min(args) => args.iter().map(value).collect::<Option<Vec<_>>>()?.into_iter().min(),
            Node::Max(args) => args.iter().map(value).collect::<Option<Vec<_>>>()?.into_iter().max(),
            Node::Sum(constant, terms) => terms.iter().try_fold(i128::from(constant), |s, t| {
                s.checked_add(i128::from(t.coeff).checked_mul(value(&t.expr)?)?)
            }),
        }
    }
}

/// The problem, with nodes, terms, constraints and results made in reverse.
fn build_backwards(arena: &mut Arena, w: &Written) -> Option<Problem> {
    let mut constraints = Vec::new();
    for (e, low, high) in w.constraints.iter().rev() {
        constraints.push((e.build_backwards(arena).ok()?, Interval::new(*low, *high)));
    }
    let results = w.results.iter().rev().map(|e| e.build_backwards(arena)).collect::<Result<Vec<_>, _>>();
    let mut results = results.ok()?;
    results.reverse();
    Some(Problem { bounds: intervals(w), constraints, results, points: PointVariables::Replace })
}

fn intervals(w: &Written) -> Vec<Interval> {
    w.bounds.iter().map(|(low, high)| Interval::new(*low, *high)).collect()
}

/// The expressions of a problem: results, then constraints.
fn roots(p: &Problem) -> Vec<Expr> {
    p.results.iter().copied().chain(p.constraints.iter().map(|c| c.0)).collect()
}

/// Whether a value lies in an interval whose ends at the ends of int64 stand for "unbounded".
fn within(value: i128, interval: Interval) -> bool {
    (interval.lower == i64::MIN || value >= i128::from(interval.lower))
        && (interval.upper == i64::MAX || value <= i128::from(interval.upper))
}

/// Whether a point of the box is in the domain; `None` where a value leaves 128 bits.
fn contains(w: &Written, point: &[i64]) -> Option<bool> {
    let mut inside = true;
    for (e, low, high) in &w.constraints {
        let value = e.value(point)?;
        inside &= value >= i128::from(*low) && value <= i128::from(*high);
    }
    Some(inside)
}

/// Every point of a box.
fn points(bounds: &[(i64, i64)]) -> impl Iterator<Item = Vec<i64>> + '_ {
    let total: i64 = bounds.iter().map(|(low, high)| high - low + 1).product();
    (0..total).map(move |mut n| {
        let coordinate = |(low, high): &(i64, i64)| {
            let size = high - low + 1;
            let x = low + n % size;
            n /= size;
            x
        };
        bounds.iter().map(coordinate).collect()
    })
}
