//! Expressions that repeat: after how many steps of a variable an expression grows by the same amount everywhere.
//!
//! `e(v + period) = e(v) + growth` for all integers holds by structure: for sums, quotients and remainders by constants
//! of such expressions. A box on which predicates are decided is then told by one representative a class of its points.

use crate::expr::flat::Dag;
use crate::expr::flat_nodes::Entry;
use crate::int::{ceil_div, gcd_i64};
use crate::interval::Interval;

/// After `period` steps of a variable an expression has grown by `growth`, wherever the steps began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Growth {
    /// Steps, at least 1.
    pub period: i64,
    /// The increase of the value then.
    pub growth: i64,
}

const STILL: Growth = Growth { period: 1, growth: 0 };

/// The growth of each root with `variable`: the least period that is known; `None` where none is.
pub fn growths(dag: &Dag, variable: u32) -> Vec<Option<Growth>> {
    let mut found: Vec<(Option<Growth>, Option<i64>)> = Vec::with_capacity(dag.node_count());
    for entry in dag.entries() {
        let at = |p: &i64| found[*p as usize].0;
        let node = match entry {
            Entry::Variable(v) => (Some(Growth { period: 1, growth: i64::from(v == variable) }), None),
            Entry::Constant(c) => (Some(STILL), Some(c)),
            Entry::FloorDiv(a, b) => (of_division(found[a].0, found[b], true), None),
            Entry::Mod(a, b) => (of_division(found[a].0, found[b], false), None),
            Entry::Product(args) => (of_still(args.iter().map(at)), None),
            Entry::Min(args) | Entry::Max(args) => (of_min_max(args.iter().map(at)), None),
            Entry::Sum(_, pairs) => (of_sum(pairs.chunks_exact(2).map(|p| (p[0], at(&p[1])))), None),
        };
        found.push(node);
    }
    dag.root_positions().iter().map(|r| found[*r as usize].0).collect()
}

fn lcm(a: i64, b: i64) -> Option<i64> {
    a.checked_mul(b / gcd_i64(a, b).max(1))
}

/// Expressions that come back to themselves, whatever is made of them.
fn of_still(mut parts: impl Iterator<Item = Option<Growth>>) -> Option<Growth> {
    parts.try_fold(STILL, |all, part| {
        let part = part.filter(|g| g.growth == 0)?;
        Some(Growth { period: lcm(all.period, part.period)?, growth: 0 })
    })
}

fn of_sum(terms: impl Iterator<Item = (i64, Option<Growth>)> + Clone) -> Option<Growth> {
    let period = terms.clone().try_fold(1i64, |all, (_, part)| lcm(all, part?.period))?;
    let growth = terms.into_iter().try_fold(0i64, |sum, (coeff, part)| {
        let part = part?;
        sum.checked_add(coeff.checked_mul(part.growth)?.checked_mul(period / part.period)?)
    })?;
    Some(Growth { period, growth })
}

/// The least or greatest of expressions that all grow alike.
fn of_min_max(parts: impl Iterator<Item = Option<Growth>> + Clone) -> Option<Growth> {
    let period = parts.clone().try_fold(1i64, |all, part| lcm(all, part?.period))?;
    let mut common = None;
    for part in parts {
        let part = part?;
        let growth = part.growth.checked_mul(period / part.period)?;
        if *common.get_or_insert(growth) != growth {
            return None;
        }
    }
    Some(Growth { period, growth: common? })
}

fn of_division(
    dividend: Option<Growth>,
    (divisor, constant): (Option<Growth>, Option<i64>),
    quotient: bool,
) -> Option<Growth> {
    let dividend = dividend?;
    let Some(d) = constant.filter(|d| *d != 0 && *d != i64::MIN) else {
        return of_still([Some(dividend), divisor].into_iter());
    };
    let times = d.abs() / gcd_i64(dividend.growth, d).max(1);
    let grown = dividend.growth.checked_mul(times)?;
    let growth = if quotient { grown / d } else { 0 };
    Some(Growth { period: dividend.period.checked_mul(times)?, growth })
}

/// Values of one variable: the first `shown` of `count` from `first` on, each for those that many steps further too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// The first value.
    pub first: i64,
    /// The number of values that stand for all.
    pub shown: u64,
    /// The number of all values.
    pub count: u64,
}

/// Roots of a [`Dag`] on a box: `dag`'s first root repeats modulo `cycle`; the others lie in `bounds`, or a point counts
/// for nothing. Variables in `free` are never told apart.
#[derive(Debug)]
pub struct Question<'a> {
    /// The expressions.
    pub dag: &'a Dag,
    /// The number that the first root is taken modulo.
    pub cycle: i64,
    /// The intervals of the other roots.
    pub bounds: &'a [Interval],
    /// Variables whose points the caller looks at one by one.
    pub free: &'a [usize],
}

/// Values of a variable that are looked at one by one sooner than split.
const SMALL: i64 = 8;
/// Rows of a class that are worth another part.
const MANY: u64 = 64;

/// Boxes that cover `whole` without those where a bound fails everywhere, each as samples of its variables (of a free
/// variable, its first value).
///
/// Two points for which one sample stands agree, for all values of the free variables, in the first root up to multiples
/// of its cycle and in whether all bounds hold. `most` limits how many boxes are looked at; what is left is handed out
/// undivided, every point for itself.
pub fn classes(question: &Question<'_>, whole: Vec<Interval>, most: usize) -> Vec<Vec<Sample>> {
    let growth: Vec<Vec<Option<Growth>>> = (0..whole.len())
        .map(|v| if question.free.contains(&v) { Vec::new() } else { growths(question.dag, v as u32) })
        .collect();
    let split = Splitting { question, growth };
    let (mut pending, mut found, mut ranges, mut looked) = (vec![whole], Vec::new(), Vec::new(), 0);
    while let Some(part) = pending.pop() {
        looked += 1;
        let certain = question.dag.ranges(&part, &mut ranges);
        let values: Vec<Interval> =
            question.dag.root_positions()[1..].iter().map(|r| ranges[*r as usize]).collect();
        let outside = |(x, wanted): (&Interval, &Interval)| x.intersect(*wanted).is_empty();
        if certain && values.iter().zip(question.bounds).any(outside) {
            continue;
        }
        let undecided: Vec<usize> =
            (0..values.len()).filter(|k| !certain || !question.bounds[*k].covers(values[*k])).collect();
        let class = split.samples(&part, &undecided);
        let cut =
            split.variable(&part, &undecided).map(|v| (v, split.middle(&part[v], v, &undecided, &values)));
        let cut = cut.or_else(|| split.even_part(&class, &undecided)).filter(|_| looked < most);
        let Some((v, middle)) = cut else {
            found.push(class);
            continue;
        };
        let (mut low, mut high) = (part.clone(), part);
        low[v].upper = middle;
        high[v].lower = middle + 1;
        pending.extend([high, low]);
    }
    found
}

struct Splitting<'a> {
    question: &'a Question<'a>,
    growth: Vec<Vec<Option<Growth>>>,
}

impl Splitting<'_> {
    fn of_bound(&self, v: usize, k: usize) -> Option<Growth> {
        self.growth[v].get(k + 1).copied().flatten()
    }

    /// The variable that moves an undecided bound most; `None` where samples decide all bounds for those they stand for.
    fn variable(&self, part: &[Interval], undecided: &[usize]) -> Option<usize> {
        let mut best = None;
        for &k in undecided {
            for (v, values) in part.iter().enumerate() {
                let Some(g) = self.of_bound(v, k).filter(|g| g.growth != 0) else { continue };
                let steps = values.upper.saturating_sub(values.lower);
                if self.period(v, undecided, self.question.cycle).is_none_or(|p| steps < p.max(SMALL)) {
                    continue;
                }
                let moved = i128::from(g.growth).abs() * i128::from(steps) / i128::from(g.period);
                if best.is_none_or(|(most, _)| moved >= most) {
                    best = Some((moved, v));
                }
            }
        }
        best.map(|(_, v)| v)
    }

    /// The end of the lower part of variable `v`: a place where a bound begins or ends to hold for all values of the others,
    /// else half way.
    fn middle(&self, part: &Interval, v: usize, undecided: &[usize], values: &[Interval]) -> i64 {
        let Interval { lower: low, upper: high } = *part;
        for &k in undecided {
            let Some(g) = self.of_bound(v, k).filter(|g| g.growth != 0) else { continue };
            let (found, wanted) = (values[k], self.question.bounds[k]);
            let (mut above, mut below) =
                (found.upper.saturating_sub(wanted.upper), wanted.lower.saturating_sub(found.lower));
            if g.growth < 0 {
                (above, below) = (below, above);
            }
            let steps = |over: i64| {
                let steps = ceil_div(over.checked_mul(g.period)?, g.growth.checked_abs()?)?;
                (over > 0).then_some(steps)
            };
            let ends = [
                steps(above).and_then(|s| high.checked_sub(s)),
                steps(below).and_then(|s| low.checked_sub(1)?.checked_add(s)),
            ];
            if let Some(middle) = ends.into_iter().flatten().find(|m| low <= *m && *m < high) {
                return middle;
            }
        }
        low + ((i128::from(high) - i128::from(low)) / 2) as i64
    }

    fn samples(&self, part: &[Interval], undecided: &[usize]) -> Vec<Sample> {
        let one = |values: &Interval| Sample { first: values.lower, shown: 1, count: 1 };
        let mut found: Vec<Sample> = part.iter().map(one).collect();
        let mut cycle = self.question.cycle;
        let (even, others): (Vec<usize>, Vec<usize>) = (0..part.len())
            .filter(|v| !self.growth[*v].is_empty())
            .partition(|v| self.only_moves(*v, undecided));
        for &v in even.iter().chain(&others) {
            let count = u64::try_from(part[v].count()).unwrap_or(u64::MAX);
            let grows = undecided.iter().any(|k| self.of_bound(v, *k).is_none_or(|g| g.growth != 0));
            let period = self.period(v, undecided, cycle).filter(|_| !grows).map_or(u64::MAX, |p| p as u64);
            found[v] = Sample { first: part[v].lower, shown: count.min(period), count };
            if count % period == 0 && self.only_moves(v, undecided) {
                // Its values take each multiple of some number equally often: what others add matters up to these.
                cycle /= period as i64;
            }
        }
        found
    }

    /// Does the variable do nothing but add multiples to the first root?
    fn only_moves(&self, v: usize, undecided: &[usize]) -> bool {
        let is_linear = self.growth[v].first().is_some_and(|g| g.is_some_and(|g| g.period == 1));
        is_linear && undecided.iter().all(|k| self.of_bound(v, *k) == Some(STILL))
    }

    /// The period of the first root modulo `cycle`, and of the undecided bounds that do not grow; `None` where there is none.
    fn period(&self, v: usize, undecided: &[usize], cycle: i64) -> Option<i64> {
        let first = (*self.growth[v].first()?)?;
        let times = cycle / gcd_i64(first.growth, cycle).max(1);
        undecided.iter().try_fold(first.period.checked_mul(times)?, |all, k| {
            let bound = self.of_bound(v, *k)?;
            if bound.growth == 0 {
                lcm(all, bound.period)
            } else {
                Some(all)
            }
        })
    }

    /// The end of a part of a large class, chosen so that a variable of it takes all multiples equally often.
    fn even_part(&self, class: &[Sample], undecided: &[usize]) -> Option<(usize, i64)> {
        let rows = class.iter().fold(1u64, |n, s| n.saturating_mul(s.shown));
        let is_uneven = |(v, s): &(usize, &Sample)| s.count % s.shown != 0 && self.only_moves(*v, undecided);
        let (v, s) = class.iter().enumerate().filter(|_| rows > MANY).find(is_uneven)?;
        Some((v, s.first + (s.count - s.count % s.shown) as i64 - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Sample {
        /// For how many values the `k`-th one stands.
        fn weight(&self, k: u64) -> u64 {
            self.count / self.shown + u64::from(k < self.count % self.shown)
        }
    }
    use crate::expr::Arena;
    use crate::text::{read_symbolic_map, ReadScratch};

    fn dag(texts: &[&str]) -> Dag {
        let text = format!("(v0, v1, v2) -> ({})", texts.join(", "));
        read_symbolic_map(&text, &mut Arena::new(), &mut ReadScratch::default()).unwrap().results().clone()
    }

    #[test]
    fn growths_hold_everywhere() {
        for text in [
            "v0 * 3 + v1",
            "(v0 * 6 + v1) floordiv 4",
            "(v0 * 6 - v1) mod 9",
            "(v0 floordiv -3) * 5 + (v0 mod 4) floordiv 2",
            "min(v0 * 2, v0 * 2 + v1 - 3) - max(v0, v0 + v1)",
            "(v0 mod 3) * v1",
            "((v0 + v1) floordiv 5) mod 2",
        ] {
            let dag = dag(&[text]);
            let Some(Growth { period, growth }) = growths(&dag, 0)[0] else { panic!("{text}: no period") };
            let mut scratch = Vec::new();
            for x in -30..30 {
                for y in -3..4 {
                    let mut value = |x: i64| dag.evaluate(&[x, y], &mut scratch).unwrap()[0];
                    assert_eq!(value(x + period), value(x) + growth, "{text} at {x}, {y}");
                }
            }
        }
        assert_eq!(growths(&dag(&["v0 * v0"]), 0), [None]);
        assert_eq!(growths(&dag(&["max(v0, 0)"]), 0), [None]);
    }

    #[test]
    fn samples_stand_for_all_points() {
        let dag = dag(&["v0 * 3 + v1 * 5 + v2", "v0 * 4 + v1 + v2", "(v0 + v2) mod 3"]);
        let bounds = [Interval::new(5, 90), Interval::new(0, 1)];
        let whole = vec![Interval::new(0, 40), Interval::new(0, 11), Interval::new(0, 2)];
        let question = Question { dag: &dag, cycle: 7, bounds: &bounds, free: &[2] };
        for most in [1, 4, 1000] {
            let mut told = vec![0u64; 7];
            for class in classes(&question, whole.clone(), most) {
                assert!(class[2].shown == 1 && class[2].count == 1);
                for a in 0..class[0].shown {
                    for b in 0..class[1].shown {
                        for v2 in 0..3 {
                            let point = [class[0].first + a as i64, class[1].first + b as i64, v2];
                            let weight = class[0].weight(a) * class[1].weight(b);
                            count(&dag, &bounds, point, weight, &mut told);
                        }
                    }
                }
            }
            let mut all = vec![0u64; 7];
            for v0 in 0..41 {
                for v1 in 0..12 {
                    (0..3).for_each(|v2| count(&dag, &bounds, [v0, v1, v2], 1, &mut all));
                }
            }
            assert_eq!(told, all, "with {most} boxes");
        }
    }

    #[test]
    fn variables_that_take_all_multiples_spare_the_others_theirs() {
        let dag = dag(&["v0 * 4 + v1 * 6 + (v1 floordiv 3) * 5 + v2"]);
        let whole = vec![Interval::new(0, 25), Interval::new(2, 90), Interval::new(0, 1)];
        let question = Question { dag: &dag, cycle: 24, bounds: &[], free: &[2] };
        let (mut told, mut all, mut rows) = (vec![0u64; 24], vec![0u64; 24], 0);
        for class in classes(&question, whole, 1000) {
            for a in 0..class[0].shown {
                for b in 0..class[1].shown {
                    rows += 1;
                    let point = [class[0].first + a as i64, class[1].first + b as i64, 0];
                    let value = dag.evaluate(&point, &mut Vec::new()).unwrap()[0];
                    told[value.rem_euclid(24) as usize] += class[0].weight(a) * class[1].weight(b);
                }
            }
        }
        for v0 in 0..26 {
            for v1 in 2i64..91 {
                all[(v0 * 4 + v1 * 6 + v1.div_euclid(3) * 5).rem_euclid(24) as usize] += 1;
            }
        }
        assert_eq!(told, all);
        assert!(rows < 300, "{rows} rows for 26 * 89 points");
    }

    fn count(dag: &Dag, bounds: &[Interval], point: [i64; 3], weight: u64, into: &mut [u64]) {
        let values = dag.evaluate(&point, &mut Vec::new()).unwrap();
        if values[1..].iter().zip(bounds).all(|(v, i)| i.contains(*v)) {
            into[values[0].rem_euclid(7) as usize] += weight;
        }
    }
}
