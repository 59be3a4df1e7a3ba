//! Integer reasoning over several constraints: expressions become linear forms over the variables, with a new column for each
//! quotient, minimum and maximum (Presburger arithmetic). A point of the domain is found, or shown not to exist; bounds of
//! expressions are the least and greatest values at points.

mod relation;
mod sample;

pub(crate) use relation::{Undecided, Work};

use crate::expr::{Arena, Expr, Node, Tag};
use crate::interval::Interval;
use crate::simplify::range::Ranges;
use foldhash::fast::FixedState;
use relation::{combined, value_at, IntegerRelation, Row};
use sample::Point;
use std::collections::HashMap;

/// Domains of more nodes or columns than this are not considered.
const MAX_NODES: usize = 192;
const MAX_COLUMNS: usize = 48;
/// Operands within operands that are asked whether they reach their bounds.
const MAX_DEPTH: usize = 8;

/// `row + constant`.
#[derive(Clone, Debug, Default)]
struct Affine {
    row: Row,
    constant: i64,
}

/// A column that is the least or greatest of several forms.
#[derive(Clone, Debug)]
struct Extremum {
    column: usize,
    arguments: Vec<Affine>,
}

/// The points of a domain, as a system of linear constraints.
#[derive(Debug)]
pub(crate) struct IntegerDomain {
    relation: IntegerRelation,
    extrema: Vec<Extremum>,
    forms: HashMap<Expr, Affine, FixedState>,
    /// The column of each quotient, by dividend and divisor.
    quotients: HashMap<(Expr, i64), usize, FixedState>,
    /// The number of the domain's variables, which are the first columns.
    num_variables: usize,
}

/// The work in search of the bounds of an expression.
const BOUNDS_WORK: u64 = 1 << 17;

/// The bounds of `e` on the domain, by the points at which it has its least and greatest value; `known` where there are too many
/// constraints. Empty if the domain is.
pub(crate) fn tightest_bounds(
    arena: &mut Arena,
    ranges: &mut Ranges,
    constraints: &[(Expr, Interval)],
    e: Expr,
    known: Interval,
) -> Interval {
    if constraints.is_empty() && (known.is_point() || reaches_bounds(arena, e, MAX_DEPTH)) {
        return known;
    }
    let domain = IntegerDomain::new(arena, ranges, constraints, &[e]);
    match domain.map(|domain| domain.bounds(&[e], &mut Work(BOUNDS_WORK))) {
        Some(Ok(Some(best))) => known.intersect(best[0]),
        Some(Ok(None)) => Interval::EMPTY,
        Some(Err(Undecided)) | None => known,
    }
}

/// Whether the bounds that follow from those of operands are values of `e` at points of any box: of sums of terms without common
/// variables, of quotients, and of remainders of what takes all values between its bounds.
fn reaches_bounds(arena: &Arena, e: Expr, depth: usize) -> bool {
    match arena.node(e) {
        Node::Variable(_) | Node::Constant(_) => true,
        Node::Sum(_, terms) if depth > 0 => {
            arena.is_linear(e)
                || arena.are_disjoint(terms.iter().map(|t| t.expr))
                    && terms.iter().all(|t| reaches_bounds(arena, t.expr, depth - 1))
        }
        Node::FloorDiv(x, d) if depth > 0 => {
            arena.as_constant(d).is_some() && reaches_bounds(arena, x, depth - 1)
        }
        Node::Mod(x, d) => arena.as_constant(d).is_some() && is_contiguous(arena, x, depth),
        _ => false,
    }
}

/// Whether `e` is a variable or a quotient of one, which takes all values between its bounds.
fn is_contiguous(arena: &Arena, e: Expr, depth: usize) -> bool {
    match arena.node(e) {
        Node::Variable(_) => true,
        Node::FloorDiv(x, d) if depth > 0 => {
            arena.as_constant(d).is_some() && is_contiguous(arena, x, depth - 1)
        }
        _ => false,
    }
}

impl IntegerDomain {
    /// The domain of the box of `ranges` and the constraints, with columns for the values of `others`; `None` if it is large.
    /// What is not linear, as a product of variables, is a column with its bounds, so that the domain may hold more points.
    pub(crate) fn new(
        arena: &mut Arena,
        ranges: &mut Ranges,
        constraints: &[(Expr, Interval)],
        others: &[Expr],
    ) -> Option<Self> {
        let num_variables = ranges.variables.len();
        let roots: Vec<Expr> = constraints.iter().map(|c| c.0).chain(others.iter().copied()).collect();
        let nodes = arena.post_order(&roots);
        if nodes.len() > MAX_NODES || num_variables > MAX_COLUMNS {
            return None;
        }
        let mut domain = IntegerDomain {
            relation: IntegerRelation::default(),
            extrema: Vec::new(),
            forms: HashMap::with_capacity_and_hasher(nodes.len(), FixedState::default()),
            quotients: HashMap::default(),
            num_variables,
        };
        for info in &ranges.variables {
            domain.new_column(info.bounds);
        }
        for e in nodes {
            arena.charge(1 + arena.operand_count(e));
            let form = domain.form_of(arena, ranges, e).ok()?;
            domain.forms.insert(e, form);
        }
        for (e, interval) in constraints {
            let form = domain.forms.get(e)?.clone();
            domain.require(&form, *interval).ok()?;
        }
        (domain.relation.columns.len() <= MAX_COLUMNS).then_some(domain)
    }

    fn form_of(&mut self, arena: &mut Arena, ranges: &mut Ranges, e: Expr) -> Result<Affine, Undecided> {
        match arena.node(e) {
            Node::Variable(v) => Ok(Affine::of_column(v as usize)),
            Node::Constant(c) => Ok(Affine { row: Row::new(), constant: c }),
            Node::Sum(constant, terms) => {
                let start = Affine { row: Row::new(), constant };
                terms.iter().try_fold(start, |sum, t| sum.plus(&self.forms[&t.expr], t.coeff))
            }
            Node::FloorDiv(x, d) | Node::Mod(x, d) => {
                let Some(m) = arena.as_constant(d).filter(|m| *m > 0) else {
                    return Ok(self.new_column(ranges.bounds(arena, e)));
                };
                let is_remainder = arena.tag(e) == Tag::Mod;
                let quotient = self.quotient(arena, ranges, x, m)?;
                if is_remainder {
                    self.forms[&x].plus(&quotient, -m)
                } else {
                    Ok(quotient)
                }
            }
            Node::Min(args) | Node::Max(args) => {
                let arguments: Vec<Affine> = args.iter().map(|a| self.forms[a].clone()).collect();
                let is_min = arena.tag(e) == Tag::Min;
                let own = self.new_column(ranges.bounds(arena, e));
                let side = if is_min { Interval::new(i64::MIN, 0) } else { Interval::new(0, i64::MAX) };
                for argument in &arguments {
                    self.require(&own.plus(argument, -1)?, side)?;
                }
                self.extrema.push(Extremum { column: own.row[0].1, arguments });
                Ok(own)
            }
            Node::Product(_) => Ok(self.new_column(ranges.bounds(arena, e))),
        }
    }

    /// The column `q` of `x floordiv m`, with `0 <= x - m * q < m`.
    fn quotient(
        &mut self,
        arena: &mut Arena,
        ranges: &mut Ranges,
        x: Expr,
        m: i64,
    ) -> Result<Affine, Undecided> {
        if let Some(column) = self.quotients.get(&(x, m)) {
            return Ok(Affine::of_column(*column));
        }
        let own = self.new_column(ranges.bounds(arena, x).floordiv_positive(m));
        self.quotients.insert((x, m), own.row[0].1);
        let remainder = self.forms[&x].plus(&own, -m)?;
        self.require(&remainder, Interval::new(0, m - 1))?;
        Ok(own)
    }

    fn new_column(&mut self, bounds: Interval) -> Affine {
        self.relation.is_empty |= bounds.is_empty();
        self.relation.columns.push(bounds);
        Affine::of_column(self.relation.columns.len() - 1)
    }

    fn require(&mut self, form: &Affine, interval: Interval) -> Result<(), Undecided> {
        self.relation.add(form.row.clone(), interval.minus(Interval::point(form.constant)))
    }

    /// A point of the domain, the values of its variables; `None` if there is none.
    pub(crate) fn sample(&self, work: &mut Work) -> Result<Option<Vec<i64>>, Undecided> {
        let point = self.sample_of(self.relation.clone(), work)?;
        Ok(point.map(|mut point| {
            point.truncate(self.num_variables);
            point
        }))
    }

    /// A point of a part of the domain: a column that is no argument of its minimum or maximum is required to be each one.
    fn sample_of(&self, part: IntegerRelation, work: &mut Work) -> Result<Option<Point>, Undecided> {
        if self.extrema.is_empty() {
            return part.sample(work);
        }
        let Some(point) = part.clone().sample(work)? else { return Ok(None) };
        let Some(open) = self.extrema.iter().find(|x| !x.is_attained(&point)) else {
            return Ok(Some(point));
        };
        for argument in &open.arguments {
            let mut part = part.clone();
            let difference = Affine::of_column(open.column).plus(argument, -1)?;
            let value = difference.constant.checked_neg().ok_or(Undecided)?;
            part.add(difference.row, Interval::point(value))?;
            let point = self.sample_of(part, work)?;
            if point.is_some() {
                return Ok(point);
            }
        }
        Ok(None)
    }

    /// Bounds of expressions on the domain, the best ones if the work suffices; `None` if there is no point. Each expression is
    /// a constraint's, or one of `others`, or part of one.
    pub(crate) fn bounds(&self, all: &[Expr], work: &mut Work) -> Result<Option<Vec<Interval>>, Undecided> {
        let Some(first) = self.sample_of(self.relation.clone(), work)? else { return Ok(None) };
        let mut known = self.relation.clone();
        known.propagate(work)?;
        let mut search = Search { known, points: vec![first] };
        let mut intervals = Vec::with_capacity(all.len());
        for e in all {
            let form = self.forms.get(e).ok_or(Undecided)?;
            let upper = self.greatest(form, &mut search, work)?;
            let lower = self.greatest(&Affine::default().plus(form, -1)?, &mut search, work)?;
            let below = Interval::new(i64::MIN, lower).negated();
            intervals.push(Interval::new(i64::MIN, upper).intersect(below));
        }
        Ok(Some(intervals))
    }

    /// The greatest value of a form, by bisection; a greater one if the work does not suffice.
    fn greatest(&self, form: &Affine, search: &mut Search, work: &mut Work) -> Result<i64, Undecided> {
        let mut upper = search.known.range(&form.row).plus(Interval::point(form.constant)).upper;
        let mut attained = i64::MIN;
        for p in &search.points {
            attained = attained.max(form.at(p)?);
        }
        let mut from = upper;
        while attained < upper && upper != i64::MAX {
            let mut part = self.relation.clone();
            let values = Interval::new(from.max(attained.saturating_add(1)), upper);
            part.add(form.row.clone(), values.minus(Interval::point(form.constant)))?;
            match self.sample_of(part, work) {
                Ok(Some(point)) => {
                    attained = form.at(&point)?;
                    search.points.push(point);
                }
                Ok(None) => upper = values.lower - 1,
                Err(Undecided) => break,
            }
            from = ((i128::from(attained) + i128::from(upper)) / 2) as i64;
        }
        Ok(upper)
    }
}

/// The state of a search for bounds.
struct Search {
    /// The domain with propagated bounds.
    known: IntegerRelation,
    /// The points that were found: a bound that one attains needs no search.
    points: Vec<Point>,
}

impl Affine {
    fn of_column(column: usize) -> Self {
        Affine { row: std::iter::once((1, column)).collect(), constant: 0 }
    }

    /// `self + factor * other`.
    fn plus(&self, other: &Affine, factor: i64) -> Result<Affine, Undecided> {
        let moved = other.constant.checked_mul(factor).and_then(|c| c.checked_add(self.constant));
        Ok(Affine { row: combined(&self.row, 1, &other.row, factor)?, constant: moved.ok_or(Undecided)? })
    }

    fn at(&self, point: &[i64]) -> Result<i64, Undecided> {
        value_at(&self.row, point)?.checked_add(self.constant).ok_or(Undecided)
    }
}

impl Extremum {
    fn is_attained(&self, point: &[i64]) -> bool {
        self.arguments.iter().any(|a| a.at(point) == Ok(point[self.column]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simplify::Scratch;
    use crate::text::{read_indexing_map, ReadScratch};

    /// The domain of a map, and the expressions of its results.
    fn domain(
        arena: &mut Arena,
        scratch: &mut Scratch,
        text: &str,
    ) -> (IntegerDomain, Vec<Expr>, Vec<Vec<i64>>) {
        let map = read_indexing_map(text, arena, &mut ReadScratch::default()).unwrap();
        let mut points = Vec::new();
        let mut at = vec![map.intervals().map(|i| i.lower).collect::<Vec<i64>>()];
        let inside = map.domain(arena);
        while let Some(point) = at.pop() {
            if inside.contains(&point, &mut Vec::new()).unwrap() {
                points.push(point.clone());
            }
            let next = (0..point.len()).rev().find(|v| point[*v] < map.interval(*v).upper);
            at.extend(next.map(|v| {
                let kept = point[..v].iter().copied().chain([point[v] + 1]);
                kept.chain((v + 1..point.len()).map(|w| map.interval(w).lower)).collect::<Vec<i64>>()
            }));
        }
        let builder = map.to_builder(arena);
        scratch.ranges.reset(builder.intervals.iter().copied());
        let built = IntegerDomain::new(arena, &mut scratch.ranges, &builder.constraints, &builder.results);
        (built.unwrap(), builder.results, points)
    }

    /// The sample is a point, and the bounds are the least and greatest values, of all points of the box.
    fn check(text: &str) {
        let (arena, scratch) = (&mut Arena::new(), &mut Scratch::default());
        let (domain, results, points) = domain(arena, scratch, text);
        if results.is_empty() {
            return; // the reader found that there is no point
        }
        let work = || Work(1 << 24);
        match domain.sample(&mut work()).unwrap() {
            None => assert!(points.is_empty(), "{text}: {:?}", points[0]),
            Some(point) => assert!(points.contains(&point), "{text}: {point:?}"),
        }
        let Some(bounds) = domain.bounds(&results, &mut work()).unwrap() else { return };
        let values = arena.export(&results);
        let all: Vec<Vec<i64>> =
            points.iter().map(|p| values.evaluate(p, &mut Vec::new()).unwrap()).collect();
        for (k, interval) in bounds.iter().enumerate() {
            let of = |value: fn(Box<dyn Iterator<Item = i64> + '_>) -> Option<i64>| {
                value(Box::new(all.iter().map(move |row| row[k]))).unwrap()
            };
            let wanted = Interval::new(of(|values| values.min()), of(|values| values.max()));
            assert_eq!(*interval, wanted, "result {k} of {text}");
        }
    }

    #[test]
    fn domains_of_each_kind_have_the_points_and_bounds_of_the_definition() {
        for text in [
            "(a, b) -> (a, b, a + b), domain: a in [0, 9], b in [0, 9], a * 8 + b * 5 in [0, 5]",
            "(a, b) -> (a, b, a - b), domain: a in [0, 3], b in [-3, 3], (a - b) mod 16 in [8, 8]",
            "(a) -> (a), domain: a in [0, 8], (a + 6) mod 8 in [3, 5]",
            "(a, b, c) -> (a, b, c), domain: a in [-9, 9], b in [-9, 9], c in [-9, 9], a * 6 + b * 10 + c * 15 in [1, 1]",
            "(a, b) -> (a, b), domain: a in [0, 30], b in [0, 30], a * 6 - b * 15 in [4, 5]",
            "(a, b) -> (a, b), domain: a in [0, 20], b in [0, 20], a * 7 - b * 5 in [1, 2], a * 3 + b * 11 in [40, 44]",
            "(a, b) -> (a, min(a, b)), domain: a in [0, 9], b in [0, 9], max(a, b) in [4, 5], min(a, b * 2) in [3, 3]",
            "(a, b) -> (a floordiv 3 - b mod 4), domain: a in [-7, 9], b in [-5, 9], (a * 2 + b) floordiv 5 in [1, 1]",
        ] {
            check(text);
        }
    }

    /// Numbers that differ from run to run of the loop, not from test to test.
    fn draws(seed: u64) -> impl FnMut(i64, i64) -> i64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        move |from, to| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            from + ((state >> 33) % (to - from + 1) as u64) as i64
        }
    }

    #[test]
    fn random_domains_have_the_points_and_bounds_of_the_definition() {
        for seed in 0..600 {
            let mut draw = draws(seed);
            let mut form = || {
                let sum = format!(
                    "a * {} + b * {} + c * {} + {}",
                    draw(-7, 7),
                    draw(-7, 7),
                    draw(-3, 9),
                    draw(-5, 5)
                );
                let m = draw(2, 13);
                match draw(0, 6) {
                    0 => format!("({sum}) mod {m}"),
                    1 => format!("({sum}) floordiv {m}"),
                    2 => format!("min({sum}, a * {} + b)", draw(-3, 3)),
                    3 => format!("max({sum}, c * {} - b) - ({sum}) mod {m}", draw(-3, 3)),
                    _ => sum,
                }
            };
            let (first, second, third) = (form(), form(), form());
            let mut interval = |width| {
                let low = draw(-12, 12);
                format!("[{low}, {}]", low + draw(0, width))
            };
            check(&format!(
                "(a, b, c) -> (a, b, c, {third}), domain: a in {}, b in {}, c in {}, {first} in {}, {second} in {}",
                interval(8), interval(8), interval(8), interval(4), interval(9),
            ));
        }
    }

    #[test]
    fn a_question_that_takes_too_much_work_is_undecided() {
        let (arena, scratch) = (&mut Arena::new(), &mut Scratch::default());
        let text = "(a, b) -> (a), domain: a in [0, 20], b in [0, 20], a * 7 - b * 5 in [1, 2]";
        let (domain, results, _) = domain(arena, scratch, text);
        assert_eq!(domain.sample(&mut Work(10)), Err(Undecided));
        assert!(domain.bounds(&results, &mut Work(10)).is_err());
    }
}
