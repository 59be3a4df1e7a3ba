//! What the core answers about a problem as a map, and about its simplified form, against the points of its box.

use std::collections::HashSet;

use indexing_core::{
    compose, compose_simplified, count, difference, image_count, index_bits, intersect, inverse, is_empty,
    read_indexing_map, write_indexing_map, Arena, DomainSimplifier, Error, ErrorKind, IndexingMap, Interval,
    MapBuilder, MapKind, PointStep, Style,
};

use crate::check::{written_on, Checker, Written};
use crate::random::Random;

/// Points of ranges that are tried for an element of an inverse.
const RANGES_TRIED: u128 = 300;

type Checked = Result<(), String>;

/// What is in the domain of a problem, by the definition.
struct Truth {
    /// The points of the domain, and their results.
    points: Vec<(Vec<i64>, Vec<i128>)>,
    /// Does a value on the box, or a sum or product on the way to it, leave int64?
    overflows: bool,
}

/// The map of a problem.
fn map_of(arena: &mut Arena, p: &DomainSimplifier) -> Result<IndexingMap, String> {
    let open = MapBuilder {
        intervals: p.bounds.clone(),
        num_dims: p.bounds.len(),
        results: p.results.clone(),
        constraints: p.constraints.clone(),
        ..MapBuilder::default()
    };
    open.build(arena).map_err(|e| e.to_string())
}

fn expect(holds: bool, why: impl FnOnce() -> String) -> Checked {
    if holds {
        Ok(())
    } else {
        Err(why())
    }
}

impl Checker {
    /// Texts, widths, and what is answered about the map before and after.
    pub fn maps(
        &mut self,
        w: &Written,
        before: &DomainSimplifier,
        after: Option<&DomainSimplifier>,
        r: &mut Random,
    ) -> Checked {
        let original = map_of(&mut self.arena, before)?;
        let simplified = match after {
            Some(p) => map_of(&mut self.arena, p)?,
            None => IndexingMap::known_empty(&mut self.arena),
        };
        self.reads_back(&original)?;
        self.reads_back(&simplified)?;
        // That a divisor is not 0 may take one bit more to say; a form is chosen on the box as it is known by then.
        let same_box = after.is_some_and(|p| p.bounds == before.bounds);
        if same_box && !w.divides_by_any {
            self.is_no_wider(&original, &simplified)?;
        }
        if w.all && r.one_in(4) {
            let Some(truth) = self.truth(w, before) else { return Ok(()) };
            self.answers(w, &original, &truth).map_err(|e| format!("as written: {e}"))?;
            self.answers(w, &simplified, &truth).map_err(|e| format!("simplified: {e}"))?;
            self.agree(&original, &simplified, &truth)?;
            self.inverts(&original, &truth)?;
            self.composes(&original, &truth, r)?;
        }
        Ok(())
    }

    fn reads_back(&mut self, map: &IndexingMap) -> Checked {
        let text = write_indexing_map(map, Style::Plain).map_err(|e| format!("printing: {e}"))?;
        self.other.clear();
        match read_indexing_map(&text, &mut self.other, &mut self.reading) {
            Ok(again) => expect(&again == map, || format!("{text} is read as another map")),
            Err(e) => Err(format!("{text} cannot be read: {e}")),
        }
    }

    fn is_no_wider(&mut self, original: &IndexingMap, simplified: &IndexingMap) -> Checked {
        let mut bits = |m: &IndexingMap| {
            self.other.clear();
            index_bits(&mut self.other, &mut self.scratch, m).unwrap_or(128)
        };
        let (before, after) = (bits(original), bits(simplified));
        expect(after <= before, || {
            let text = write_indexing_map(simplified, Style::Plain).unwrap_or_default();
            format!("{before} bits became {after} of {text}")
        })
    }

    /// `None` where a value leaves 128 bits.
    fn truth(&mut self, w: &Written, p: &DomainSimplifier) -> Option<Truth> {
        let mut truth = Truth { points: Vec::new(), overflows: false };
        for point in &w.points {
            let inside = self.contains(p, point)?;
            let results: Vec<_> = p.results.iter().map(|e| self.values[e.index()].known()).collect();
            truth.overflows |= results.iter().flatten().any(|x| i64::try_from(*x).is_err());
            // A sum that fits may have a product that doesn't: where any node is large, any error will do.
            truth.overflows |= self.values.iter().any(|v| v.known().is_none_or(|x| x.abs() > 1 << 62));
            if inside {
                truth.points.push((point.clone(), results.into_iter().collect::<Option<_>>()?));
            }
        }
        Some(truth)
    }

    /// Contains, points, count, image_count, is_empty.
    fn answers(&mut self, w: &Written, map: &IndexingMap, truth: &Truth) -> Checked {
        let (arena, scratch) = (&mut self.other, &mut self.scratch);
        arena.clear();
        let inside: HashSet<&Vec<i64>> = truth.points.iter().map(|(p, _)| p).collect();
        if map.kind() == MapKind::Defined {
            let domain = map.domain(arena);
            for p in &w.points {
                let got = answer(domain.contains(p, &mut Vec::new()), truth)?;
                expect(got.is_none_or(|g| g == inside.contains(p)), || {
                    format!("contains({p:?}) is {got:?}")
                })?;
            }
        }
        let listed = answer(list(map, arena), truth)?;
        let right = |l: &Vec<Vec<i64>>| l.len() == inside.len() && l.iter().all(|p| inside.contains(p));
        expect(listed.as_ref().is_none_or(right), || format!("points() lists {}", listed.unwrap().len()))?;
        let product = |factors: Vec<u128>| factors.into_iter().product::<u128>() as usize;
        let count = answer(count(arena, scratch, map).map(product), truth)?;
        expect(count.is_none_or(|c| c == inside.len()), || format!("{count:?} points of {}", inside.len()))?;
        let empty = answer(is_empty(arena, scratch, map), truth)?;
        expect(empty.is_none_or(|e| e == inside.is_empty()), || format!("is_empty() is {empty:?}"))?;
        let values: HashSet<&Vec<i128>> = truth.points.iter().map(|(_, r)| r).collect();
        let image = answer(image_count(arena, scratch, map).map(product), truth)?;
        expect(image.is_none_or(|i| i == values.len()), || format!("{image:?} results of {}", values.len()))
    }

    /// The map equals its simplified form, and its intersection with it.
    fn agree(&mut self, original: &IndexingMap, simplified: &IndexingMap, truth: &Truth) -> Checked {
        let (arena, scratch) = (&mut self.other, &mut self.scratch);
        arena.clear();
        let apart = answer(difference(arena, scratch, original, simplified), truth)?;
        expect(apart.as_ref().is_none_or(Option::is_none), || format!("not equivalent: {apart:?}"))?;
        let both = answer(intersect(arena, scratch, original, simplified), truth)?;
        let apart = match both {
            Some(both) => answer(difference(arena, scratch, &both, original), truth)?,
            None => None,
        };
        expect(apart.as_ref().is_none_or(Option::is_none), || format!("intersected with itself: {apart:?}"))
    }

    /// Every result leads back to its point.
    fn inverts(&mut self, map: &IndexingMap, truth: &Truth) -> Checked {
        let (arena, scratch) = (&mut self.other, &mut self.scratch);
        arena.clear();
        let inverse = inverse(arena, scratch, map);
        let beyond = |r: &[i128]| r.iter().any(|x| i64::try_from(*x).is_err());
        // An end at an end of int64 says that a variable is unbounded, and so are results by it.
        let open = map.intervals().any(|i| !i.is_bounded());
        if truth.points.iter().any(|(_, r)| beyond(r)) {
            if open {
                return Ok(());
            }
            let kind = inverse.as_ref().err().map(Error::kind);
            return expect(kind == Some(ErrorKind::Overflow), || {
                format!("results leave int64, and the inverse is {inverse:?}")
            });
        }
        let Some(inverse) = answer(inverse, truth)? else { return Ok(()) };
        if inverse.kind() == MapKind::KnownEmpty {
            return expect(truth.points.is_empty(), || "the inverse is known empty".into());
        }
        let results = map.num_results();
        let ranges: Vec<Interval> = inverse.intervals().skip(results).collect();
        if ranges.iter().fold(1u128, |n, i| n.saturating_mul(i.count())) > RANGES_TRIED {
            return Ok(());
        }
        let domain = inverse.domain(arena);
        for (point, values) in &truth.points {
            let y: Vec<i64> = values.iter().map(|x| *x as i64).collect();
            let mut is_kept = false;
            for rest in all_points(&ranges) {
                let whole = [y.clone(), rest].concat();
                match domain.contains(&whole, &mut Vec::new()) {
                    Ok(true) => {}
                    Ok(false) => continue,
                    Err(_) => return Ok(()),
                }
                let back = inverse.dag().evaluate_first(point.len(), &whole, &mut Vec::new());
                let Ok(back) = back else { return Ok(()) };
                is_kept |= &back == point;
            }
            expect(is_kept, || format!("the inverse loses {point:?}"))?;
        }
        Ok(())
    }

    /// The map before another one: the points at which both are defined, and the results there.
    fn composes(&mut self, first: &IndexingMap, truth: &Truth, r: &mut Random) -> Checked {
        if first.num_results() == 0 {
            return Ok(());
        }
        let bounds: Vec<(i64, i64)> = (0..first.num_results())
            .map(|_| {
                let low = r.between(-12, 3);
                (low, low + r.between(0, 20))
            })
            .collect();
        let w = written_on(r, bounds);
        self.arena.clear();
        self.values.clear();
        let Some(second) = self.build(&w) else { return Ok(()) };
        let mut want = Vec::new();
        for (point, values) in &truth.points {
            let y: Option<Vec<i64>> = values.iter().map(|x| i64::try_from(*x).ok()).collect();
            let Some(y) = y else { continue };
            match self.contains(&second, &y) {
                Some(true) => {}
                Some(false) => continue,
                None => return Ok(()),
            }
            let results: Option<Vec<i128>> =
                second.results.iter().map(|e| self.values[e.index()].known()).collect();
            match results {
                Some(results) => want.push((point.clone(), results)),
                None => return Ok(()),
            }
        }
        let second = map_of(&mut self.arena, &second)?;
        let (arena, scratch) = (&mut self.other, &mut self.scratch);
        arena.clear();
        let plain = compose(arena, first, &second);
        let simple = compose_simplified(arena, scratch, first, &second);
        for composed in [plain, simple] {
            let composed = match composed {
                Ok(map) => map,
                Err(e) if e.kind() == ErrorKind::Overflow => continue,
                Err(e) => return Err(format!("composing: {e}")),
            };
            let said = || {
                let text = |m| write_indexing_map(m, Style::Plain).unwrap_or_default();
                format!("before {} it is {}", text(&second), text(&composed))
            };
            let points = match list(&composed, arena) {
                Ok(points) => points,
                Err(e) if e.kind() == ErrorKind::Overflow => continue,
                Err(e) => return Err(format!("{}: {e}", said())),
            };
            let same = points.len() == want.len() && points.iter().zip(&want).all(|(p, (q, _))| p == q);
            expect(same || unsorted(&points, &want), || format!("{}: points {points:?}", said()))?;
            for (point, values) in &want {
                let got = composed.dag().evaluate_first(values.len(), point, &mut Vec::new());
                let Ok(got) = got else { continue };
                let same = got.iter().zip(values).all(|(g, v)| i128::from(*g) == *v);
                expect(same, || format!("{}: {got:?} at {point:?}", said()))?;
            }
        }
        Ok(())
    }
}

fn unsorted(points: &[Vec<i64>], want: &[(Vec<i64>, Vec<i128>)]) -> bool {
    let set: HashSet<&Vec<i64>> = points.iter().collect();
    points.len() == want.len() && want.iter().all(|(p, _)| set.contains(p))
}

/// The points that a map lists.
fn list(map: &IndexingMap, arena: &mut Arena) -> Result<Vec<Vec<i64>>, Error> {
    let mut points = map.points(arena);
    let mut listed = Vec::new();
    loop {
        match points.step(usize::MAX)? {
            PointStep::Point(p) => listed.push(p),
            PointStep::Searching => {}
            PointStep::End => return Ok(listed),
        }
    }
}

/// Every point of a box.
fn all_points(bounds: &[Interval]) -> Vec<Vec<i64>> {
    bounds.iter().fold(vec![Vec::new()], |points, i| {
        points
            .iter()
            .flat_map(|p: &Vec<i64>| (i.lower..=i.upper).map(move |x| [p.clone(), vec![x]].concat()))
            .collect()
    })
}

/// What was answered; `None` where a question is declined as it may be.
fn answer<T>(result: Result<T, Error>, truth: &Truth) -> Result<Option<T>, String> {
    match result {
        Ok(x) => Ok(Some(x)),
        Err(e) if e.kind() == ErrorKind::Unsupported => Ok(None),
        Err(e) if e.kind() == ErrorKind::Overflow && truth.overflows => Ok(None),
        Err(e) => Err(e.to_string()),
    }
}
