//! Counting by digits: where bisection takes long, digits are joined to numbers, and numbers are split into digits that different
//! constraints depend on.

use crate::error::{Error, ErrorKind, Result};
use crate::expr::work::Limit;
use crate::interval::Interval;
use crate::map::indexing_map::MapBuilder;
use crate::sets::changed_variables::{roots, Path};
use crate::sets::count::{groups, Group, Question};
use crate::sets::split_digits::radices;
use crate::sets::work::Work;
use crate::simplify::Scratch;

/// The units of work of a bisection after which the digits of variables are looked at.
const QUICK: u64 = 1 << 12;
/// A variable with at most so many values is replaced by each of them.
const MAX_VALUES: u128 = 64;

impl Work<'_> {
    /// The number of points of a group; with [`Question::WhetherAny`], 0 or some positive number. Half of the work may go by
    /// digits.
    ///
    /// Error: it is not found before the limit.
    pub(super) fn count_group(
        &mut self,
        map: &MapBuilder,
        group: &Group,
        question: Question,
    ) -> Result<u128> {
        let half = self.limit.half(self.arena);
        // The domain of `map` stays in the scratch memory of those who ask.
        let work = Work { arena: self.arena, scratch: &mut Scratch::default(), limit: half };
        match (DigitCounter { work, question }).count_group(map, group, &Path::default()) {
            Err(e) if e.kind() == ErrorKind::Unsupported => self.count_by_bisection(map, group, question),
            counted => counted,
        }
    }
}

struct DigitCounter<'a> {
    work: Work<'a>,
    question: Question,
}

impl DigitCounter<'_> {
    fn count(&mut self, map: &MapBuilder, path: &Path) -> Result<u128> {
        if map.known_empty {
            return Ok(0);
        }
        let groups = groups(self.work.arena, map, &[]);
        groups.iter().try_fold(1u128, |n, group| match n {
            0 => Ok(0),
            _ => n.checked_mul(self.count_group(map, group, path)?).ok_or_else(overflow),
        })
    }

    fn count_all(&mut self, maps: Vec<MapBuilder>, path: &Path) -> Result<u128> {
        maps.iter().try_fold(0u128, |n, map| n.checked_add(self.count(map, path)?).ok_or_else(overflow))
    }

    fn count_group(&mut self, map: &MapBuilder, group: &Group, path: &Path) -> Result<u128> {
        if group.constraints.is_empty() {
            let mut sizes = group.variables.iter().map(|v| map.intervals[*v].count());
            return sizes.try_fold(1u128, |n, size| n.checked_mul(size).ok_or_else(overflow));
        }
        let whole = self.work.limit;
        self.work.limit = whole.min(Limit::after(self.work.arena, QUICK));
        let counted = self.work.count_by_bisection(map, group, self.question);
        self.work.limit = whole;
        if !path.goes_on() || !counted.as_ref().is_err_and(|e| e.kind() == ErrorKind::Unsupported) {
            return counted;
        }
        match self.count_changed(group.alone(map, &[]), group, path)? {
            Some(count) => Ok(count),
            None if path.is_start() => counted,
            None => self.work.count_by_bisection(map, group, self.question),
        }
    }

    /// The number of points of a map that is one group, by other variables; `None` if none are simpler.
    fn count_changed(&mut self, mut map: MapBuilder, group: &Group, path: &Path) -> Result<Option<u128>> {
        let work = &mut self.work;
        if !work.arena.divisors(roots(&map).into_iter()).is_empty() {
            return Ok(None);
        }
        if work.solve_equation(&mut map) || work.join_digits(&mut map, path) {
            return self.count(&map, &path.next()).map(Some);
        }
        for radix in radices(work.arena, &map) {
            if let Some(parts) = work.split(&map, radix) {
                return self.count_all(parts, &radix.after(path, &map)).map(Some);
            }
        }
        let varying = group.variables.iter().filter(|v| !map.intervals[**v].is_point());
        match varying.map(|v| (map.intervals[*v].count(), *v)).min() {
            Some((0..=MAX_VALUES, v)) => {
                let Interval { lower, upper } = map.intervals[v];
                let parts = (lower..=upper).map(|x| work.restricted(&map, v, Interval::point(x))).collect();
                self.count_all(parts, &path.next()).map(Some)
            }
            _ => Ok(None),
        }
    }
}

fn overflow() -> Error {
    Error::overflow("the number of points")
}
