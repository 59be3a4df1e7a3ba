//! Quasi-periodic expressions: `e(v + period) = e(v) + growth` for all integers `v`.
//!
//! Period and growth follow from structure, for sums, quotients and remainders by constants of such expressions. The points
//! of a box then fall into equivalence classes, each with one representative.

use crate::expr::flat::Dag;
use crate::expr::flat_nodes::Entry;
use crate::int::{ceil_div, gcd_i64};
use crate::interval::Interval;

/// The growth of an expression over `period` steps of a variable, from wherever they begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Growth {
    /// Steps, at least 1.
    pub period: i64,
    /// The increase of the value.
    pub growth: i64,
}

const PERIODIC: Growth = Growth { period: 1, growth: 0 };

/// The growth of each root with `variable`, of the least period that is known; `None` if none is.
pub fn growths(dag: &Dag, variable: u32) -> Vec<Option<Growth>> {
    let mut nodes: Vec<(Option<Growth>, Option<i64>)> = Vec::with_capacity(dag.node_count());
    for entry in dag.entries() {
        let at = |p: &i64| nodes[*p as usize].0;
        let node = match entry {
            Entry::Variable(v) => (Some(Growth { period: 1, growth: i64::from(v == variable) }), None),
            Entry::Constant(c) => (Some(PERIODIC), Some(c)),
            Entry::FloorDiv(a, b) => (growth_of_division(nodes[a].0, nodes[b], true), None),
            Entry::Mod(a, b) => (growth_of_division(nodes[a].0, nodes[b], false), None),
            Entry::Product(args) => (growth_of_periodic(args.iter().map(at)), None),
            Entry::Min(args) | Entry::Max(args) => (growth_of_min_max(args.iter().map(at)), None),
            Entry::Sum(_, pairs) => (growth_of_sum(pairs.chunks_exact(2).map(|p| (p[0], at(&p[1])))), None),
        };
        nodes.push(node);
    }
    dag.root_positions().iter().map(|r| nodes[*r as usize].0).collect()
}

fn lcm(a: i64, b: i64) -> Option<i64> {
    a.checked_mul(b / gcd_i64(a, b).max(1))
}

/// The growth of any function of periodic expressions.
fn growth_of_periodic(mut parts: impl Iterator<Item = Option<Growth>>) -> Option<Growth> {
    parts.try_fold(PERIODIC, |all, part| {
        let part = part.filter(|g| g.growth == 0)?;
        Some(Growth { period: lcm(all.period, part.period)?, growth: 0 })
    })
}

fn growth_of_sum(terms: impl Iterator<Item = (i64, Option<Growth>)> + Clone) -> Option<Growth> {
    let period = terms.clone().try_fold(1i64, |all, (_, part)| lcm(all, part?.period))?;
    let growth = terms.into_iter().try_fold(0i64, |sum, (coeff, part)| {
        let part = part?;
        sum.checked_add(coeff.checked_mul(part.growth)?.checked_mul(period / part.period)?)
    })?;
    Some(Growth { period, growth })
}

/// The growth of the minimum or maximum of expressions that all grow at one rate.
fn growth_of_min_max(parts: impl Iterator<Item = Option<Growth>> + Clone) -> Option<Growth> {
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

fn growth_of_division(
    dividend: Option<Growth>,
    (divisor, constant): (Option<Growth>, Option<i64>),
    quotient: bool,
) -> Option<Growth> {
    let dividend = dividend?;
    let Some(d) = constant.filter(|d| *d != 0 && *d != i64::MIN) else {
        return growth_of_periodic([Some(dividend), divisor].into_iter());
    };
    let times = d.abs() / gcd_i64(dividend.growth, d).max(1);
    let grown = dividend.growth.checked_mul(times)?;
    let growth = if quotient { grown / d } else { 0 };
    Some(Growth { period: dividend.period.checked_mul(times)?, growth })
}

/// Representative values of one variable: the first `shown` of `count` values from `first` on, with period `shown`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// The first value.
    pub first: i64,
    /// The number of representatives.
    pub shown: u64,
    /// The number of all values.
    pub count: u64,
}

/// The equivalence of points of a box: equal values of the first root of `dag` modulo `cycle`, for points where the other
/// roots lie in `bounds`; other points do not count. Variables in `free` are left to the caller.
#[derive(Debug)]
pub struct ClassQuery<'a> {
    /// The expressions.
    pub dag: &'a Dag,
    /// The number that the first root is taken modulo.
    pub cycle: i64,
    /// The intervals of the other roots.
    pub bounds: &'a [Interval],
    /// Variables whose values the caller enumerates.
    pub free: &'a [usize],
}

/// Variables with fewer steps are enumerated, not split.
const MIN_SPLIT: i64 = 8;
/// Classes with more rows are split further, where that makes them even.
const MAX_ROWS: u64 = 64;

/// Divides `whole` into boxes, without those where a bound fails everywhere, each as samples of its variables (of a free
/// variable, its first value).
///
/// Points with the same representative agree, for all values of the free variables, in the first root modulo its cycle and
/// in whether all bounds hold. After `most` boxes the rest is returned undivided, every point for itself.
pub fn equivalence_classes(query: &ClassQuery<'_>, whole: Vec<Interval>, most: usize) -> Vec<Vec<Sample>> {
    let growth: Vec<Vec<Option<Growth>>> = (0..whole.len())
        .map(|v| if query.free.contains(&v) { Vec::new() } else { growths(query.dag, v as u32) })
        .collect();
    let splitter = Splitter { query, growth };
    let (mut pending, mut classes, mut ranges, mut looked) = (vec![whole], Vec::new(), Vec::new(), 0);
    while let Some(part) = pending.pop() {
        looked += 1;
        let certain = query.dag.ranges(&part, &mut ranges);
        let values: Vec<Interval> =
            query.dag.root_positions()[1..].iter().map(|r| ranges[*r as usize]).collect();
        let outside = |(x, wanted): (&Interval, &Interval)| x.intersect(*wanted).is_empty();
        if certain && values.iter().zip(query.bounds).any(outside) {
            continue;
        }
        let undecided: Vec<usize> =
            (0..values.len()).filter(|k| !certain || !query.bounds[*k].covers(values[*k])).collect();
        let class = splitter.samples(&part, &undecided);
        let cut = splitter
            .variable_to_split(&part, &undecided)
            .map(|v| (v, splitter.split_point(&part[v], v, &undecided, &values)));
        let cut = cut.or_else(|| splitter.even_part(&class, &undecided)).filter(|_| looked < most);
        let Some((v, middle)) = cut else {
            classes.push(class);
            continue;
        };
        let (mut low, mut high) = (part.clone(), part);
        low[v].upper = middle;
        high[v].lower = middle + 1;
        pending.extend([high, low]);
    }
    classes
}

struct Splitter<'a> {
    query: &'a ClassQuery<'a>,
    growth: Vec<Vec<Option<Growth>>>,
}

impl Splitter<'_> {
    fn growth_of_bound(&self, v: usize, k: usize) -> Option<Growth> {
        self.growth[v].get(k + 1).copied().flatten()
    }

    /// The variable that changes an undecided bound most; `None` if representatives decide all bounds.
    fn variable_to_split(&self, part: &[Interval], undecided: &[usize]) -> Option<usize> {
        let mut best = None;
        for &k in undecided {
            for (v, values) in part.iter().enumerate() {
                let Some(g) = self.growth_of_bound(v, k).filter(|g| g.growth != 0) else { continue };
                let steps = values.upper.saturating_sub(values.lower);
                if self.period(v, undecided, self.query.cycle).is_none_or(|p| steps < p.max(MIN_SPLIT)) {
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

    /// The end of the lower part of variable `v`: where a bound begins or ceases to hold for all values of the others, or else
    /// the middle.
    fn split_point(&self, part: &Interval, v: usize, undecided: &[usize], values: &[Interval]) -> i64 {
        let Interval { lower: low, upper: high } = *part;
        for &k in undecided {
            let Some(g) = self.growth_of_bound(v, k).filter(|g| g.growth != 0) else { continue };
            let (actual, wanted) = (values[k], self.query.bounds[k]);
            let (mut above, mut below) =
                (actual.upper.saturating_sub(wanted.upper), wanted.lower.saturating_sub(actual.lower));
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
        let mut all: Vec<Sample> = part.iter().map(one).collect();
        let mut cycle = self.query.cycle;
        let (even, others): (Vec<usize>, Vec<usize>) = (0..part.len())
            .filter(|v| !self.growth[*v].is_empty())
            .partition(|v| self.only_offsets(*v, undecided));
        for &v in even.iter().chain(&others) {
            let count = u64::try_from(part[v].count()).unwrap_or(u64::MAX);
            let grows = undecided.iter().any(|k| self.growth_of_bound(v, *k).is_none_or(|g| g.growth != 0));
            let period = self.period(v, undecided, cycle).filter(|_| !grows).map_or(u64::MAX, |p| p as u64);
            all[v] = Sample { first: part[v].lower, shown: count.min(period), count };
            if count % period == 0 && self.only_offsets(v, undecided) {
                // Its values take each multiple of some number equally often: other terms count modulo that number.
                cycle /= period as i64;
            }
        }
        all
    }

    /// Whether the variable adds multiples of a constant to the first root and has no other effect.
    fn only_offsets(&self, v: usize, undecided: &[usize]) -> bool {
        let is_linear = self.growth[v].first().is_some_and(|g| g.is_some_and(|g| g.period == 1));
        is_linear && undecided.iter().all(|k| self.growth_of_bound(v, *k) == Some(PERIODIC))
    }

    /// The common period of the first root modulo `cycle` and of the undecided bounds that do not grow, if there is one.
    fn period(&self, v: usize, undecided: &[usize], cycle: i64) -> Option<i64> {
        let first = (*self.growth[v].first()?)?;
        let times = cycle / gcd_i64(first.growth, cycle).max(1);
        undecided.iter().try_fold(first.period.checked_mul(times)?, |all, k| {
            let bound = self.growth_of_bound(v, *k)?;
            if bound.growth == 0 {
                lcm(all, bound.period)
            } else {
                Some(all)
            }
        })
    }

    /// A split of a large class after which a variable of its lower part takes all multiples equally often.
    fn even_part(&self, class: &[Sample], undecided: &[usize]) -> Option<(usize, i64)> {
        let rows = class.iter().fold(1u64, |n, s| n.saturating_mul(s.shown));
        let is_uneven =
            |(v, s): &(usize, &Sample)| s.count % s.shown != 0 && self.only_offsets(*v, undecided);
        let (v, s) = class.iter().enumerate().filter(|_| rows > MAX_ROWS).find(is_uneven)?;
        Some((v, s.first + (s.count - s.count % s.shown) as i64 - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Sample {
        /// The number of values that the `k`-th one represents.
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
        let query = ClassQuery { dag: &dag, cycle: 7, bounds: &bounds, free: &[2] };
        for most in [1, 4, 1000] {
            let mut counted = vec![0u64; 7];
            for class in equivalence_classes(&query, whole.clone(), most) {
                assert!(class[2].shown == 1 && class[2].count == 1);
                for a in 0..class[0].shown {
                    for b in 0..class[1].shown {
                        for v2 in 0..3 {
                            let point = [class[0].first + a as i64, class[1].first + b as i64, v2];
                            let weight = class[0].weight(a) * class[1].weight(b);
                            count(&dag, &bounds, point, weight, &mut counted);
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
            assert_eq!(counted, all, "with {most} boxes");
        }
    }

    #[test]
    fn variables_that_take_all_multiples_spare_the_others_theirs() {
        let dag = dag(&["v0 * 4 + v1 * 6 + (v1 floordiv 3) * 5 + v2"]);
        let whole = vec![Interval::new(0, 25), Interval::new(2, 90), Interval::new(0, 1)];
        let query = ClassQuery { dag: &dag, cycle: 24, bounds: &[], free: &[2] };
        let (mut counted, mut all, mut rows) = (vec![0u64; 24], vec![0u64; 24], 0);
        for class in equivalence_classes(&query, whole, 1000) {
            for a in 0..class[0].shown {
                for b in 0..class[1].shown {
                    rows += 1;
                    let point = [class[0].first + a as i64, class[1].first + b as i64, 0];
                    let value = dag.evaluate(&point, &mut Vec::new()).unwrap()[0];
                    counted[value.rem_euclid(24) as usize] += class[0].weight(a) * class[1].weight(b);
                }
            }
        }
        for v0 in 0..26 {
            for v1 in 2i64..91 {
                all[(v0 * 4 + v1 * 6 + v1.div_euclid(3) * 5).rem_euclid(24) as usize] += 1;
            }
        }
        assert_eq!(counted, all);
        assert!(rows < 300, "{rows} rows for 26 * 89 points");
    }

    fn count(dag: &Dag, bounds: &[Interval], point: [i64; 3], weight: u64, into: &mut [u64]) {
        let values = dag.evaluate(&point, &mut Vec::new()).unwrap();
        if values[1..].iter().zip(bounds).all(|(v, i)| i.contains(*v)) {
            into[values[0].rem_euclid(7) as usize] += weight;
        }
    }
}
