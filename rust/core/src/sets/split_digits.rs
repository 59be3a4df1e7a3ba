//! Numbers that are split: a variable that is divided is replaced by its digits, which different expressions may depend on.

use crate::expr::{Arena, Node};
use crate::int::gcd;
use crate::interval::Interval;
use crate::map::indexing_map::MapBuilder;
use crate::sets::changed_variables::{roots, Path};
use crate::sets::count::{groups, Group};
use crate::sets::join_digits::{sums, Modulus};
use crate::sets::work::Work;

/// More radices of one map are not tried.
const MAX_RADICES: usize = 16;

/// A variable and a number: the variable plus `shift` is divided by it somewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Radix {
    variable: usize,
    divisor: i64,
    shift: i64,
}

/// The radices in which variables may be written, so that what divides them depends on some of the digits.
pub(super) fn radices(arena: &mut Arena, map: &MapBuilder) -> Vec<Radix> {
    let mut all = Vec::new();
    for sum in sums(arena, map) {
        let (Modulus::Remainder(m) | Modulus::Quotient(m)) = sum.modulus else { continue };
        let Ok(m) = i64::try_from(m) else { continue };
        for (variable, c) in sum.terms {
            let (divisor, own) = (m / gcd(c, m) as i64, map.intervals[variable]);
            let shifts = [shift_of(c, sum.constant), own.lower.wrapping_neg()];
            let is_whole = own.count() % u128::from(divisor.unsigned_abs()) == 0;
            for shift in shifts.into_iter().take(if is_whole { 2 } else { 1 }) {
                let radix = Radix { variable, divisor, shift };
                if divisor > 1 && !all.contains(&radix) {
                    all.push(radix);
                }
            }
        }
    }
    all.truncate(MAX_RADICES);
    all
}

/// The shift by which `coeff * v + constant` has the digits of `v`, if there is one.
fn shift_of(coeff: i64, constant: i64) -> i64 {
    match coeff {
        1 => constant,
        // c - v = -(v - c - 1) - 1, whose digits are those of v - c - 1, each counted down.
        -1 => constant.wrapping_add(1).wrapping_neg(),
        _ => 0,
    }
}

impl Radix {
    /// The path to a map with the digits of a variable of `map`.
    pub(super) fn after(self, path: &Path, map: &MapBuilder) -> Path {
        let mut path = path.next();
        path.splits.push(([self.variable, map.intervals.len()], self.divisor as u128));
        path
    }

    /// The values of the high digit for those of its variable, and those of them with all low digits; none if these leave
    /// int64.
    fn high_digits(self, map: &MapBuilder) -> Option<(Interval, Interval)> {
        let own = map.intervals[self.variable];
        let (lower, upper) = (own.lower.checked_add(self.shift)?, own.upper.checked_add(self.shift)?);
        let (m, first, last) = (self.divisor, lower.div_euclid(self.divisor), upper.div_euclid(self.divisor));
        let complete = Interval::new(
            first + i64::from(lower.rem_euclid(m) != 0),
            last - i64::from(upper.rem_euclid(m) != m - 1),
        );
        own.is_bounded().then_some((Interval::new(first, last), complete))
    }
}

impl Work<'_> {
    /// The parts of a map by the digits of a variable, in which no point is twice: those with an incomplete lowest digit as they
    /// are, and the others with the digits as variables. `None` if nothing becomes simpler.
    pub(super) fn split(&mut self, map: &MapBuilder, radix: Radix) -> Option<Vec<MapBuilder>> {
        let (all, complete) = radix.high_digits(map).filter(|(all, _)| !all.is_point())?;
        if let Some(whole) = self.exact_digits(map, radix, all, complete) {
            return Some(vec![whole]);
        }
        let mut parts = Vec::new();
        if !complete.is_empty() {
            let whole = self.digit_map(map, radix, complete)?;
            parts.push(self.are_simpler(map, &whole, radix).then_some(whole)?);
        }
        // Behind the last complete digit, which is the one before the first if there is none.
        let begin = complete.lower.checked_mul(radix.divisor)?.checked_sub(radix.shift)?;
        let end = (complete.upper + 1).checked_mul(radix.divisor)?.checked_sub(radix.shift)?;
        let own = map.intervals[radix.variable];
        for values in [Interval::new(own.lower, begin.saturating_sub(1)), Interval::new(end, own.upper)] {
            if !values.is_empty() {
                parts.push(self.restricted(map, radix.variable, values));
            }
        }
        Some(parts)
    }

    /// Maps over the digits of a variable between which the results of a map lie: one with the same results, or one with them
    /// and others and one with some of them. `None` if they are no simpler.
    pub(super) fn with_digits(&mut self, map: &MapBuilder, radix: Radix) -> Option<Vec<MapBuilder>> {
        let (all, complete) = radix.high_digits(map).filter(|(all, _)| !all.is_point())?;
        if let Some(whole) = self.exact_digits(map, radix, all, complete) {
            return Some(vec![whole]);
        }
        if complete.is_empty() {
            return None;
        }
        let more = self.with_all_digits(map, radix)?;
        if !self.arena.variables(&roots(&more)).contains(&(radix.variable as u32)) {
            return Some(vec![more]); // the high digit does not matter
        }
        let fewer = self.digit_map(map, radix, complete)?;
        // What has no points has no results, which those who count results do not ask for again.
        let is_empty = fewer.clone().build(self.arena).and_then(|fewer| self.is_empty(&fewer));
        is_empty.is_ok_and(|empty| !empty).then_some(vec![more, fewer])
    }

    /// The map over the digits of a variable, all low digits of each high one, if it is simpler.
    pub(super) fn with_all_digits(&mut self, map: &MapBuilder, radix: Radix) -> Option<MapBuilder> {
        let (all, _) = radix.high_digits(map).filter(|(all, _)| !all.is_point())?;
        self.digit_map(map, radix, all).filter(|more| self.are_simpler(map, more, radix))
    }

    /// The map with the digits as variables, for some of the high ones, and all low ones: the high digit has the place of the
    /// variable, the low one is the last.
    fn digit_map(&mut self, map: &MapBuilder, radix: Radix, high: Interval) -> Option<MapBuilder> {
        let Radix { variable, divisor, shift } = radix;
        let mut new = map.clone();
        new.intervals[variable] = high;
        new.intervals.push(Interval::new(0, divisor - 1));
        let mut variables = self.variables(&new);
        let number = self.arena.combine(variables[variable], divisor, *variables.last()?, 1).ok()?;
        variables[variable] = self.arena.offset(number, shift.checked_neg()?).ok()?;
        new.substitute(self.arena, &variables).ok()?;
        self.simplify(&mut new);
        Some(new)
    }

    /// The map with the digits as variables, if it is simpler and has the same points: all low digits of each high one, or a
    /// constraint on the low one that keeps the others out.
    fn exact_digits(
        &mut self,
        map: &MapBuilder,
        radix: Radix,
        all: Interval,
        complete: Interval,
    ) -> Option<MapBuilder> {
        let new = self.digit_map(map, radix, all)?;
        let (high, low, own) =
            (new.intervals[radix.variable], *new.intervals.last()?, map.intervals[radix.variable]);
        let number = |high: i64, low: i64| {
            i128::from(high) * i128::from(radix.divisor) + i128::from(low) - i128::from(radix.shift)
        };
        let is_exact = all == complete
            || number(high.lower, low.lower) >= own.lower.into()
                && number(high.upper, low.upper) <= own.upper.into();
        (is_exact && self.are_simpler(map, &new, radix)).then_some(new)
    }

    /// Whether the digits make a map simpler: it divides less, nothing links them, or the low one has fewer values.
    fn are_simpler(&mut self, map: &MapBuilder, new: &MapBuilder, radix: Radix) -> bool {
        let low = new.intervals.len() - 1;
        let are_linked = |g: &Group| g.variables.contains(&radix.variable) && g.variables.contains(&low);
        new.known_empty
            || new.intervals[low].count() < radix.divisor as u128
            || quotient_count(self.arena, new) < quotient_count(self.arena, map)
            || !groups(self.arena, new, &new.results).iter().any(are_linked)
    }
}

/// The number of quotients and remainders.
fn quotient_count(arena: &mut Arena, map: &MapBuilder) -> usize {
    let nodes = arena.post_order(&roots(map));
    nodes.into_iter().filter(|e| matches!(arena.node(*e), Node::FloorDiv(..) | Node::Mod(..))).count()
}
