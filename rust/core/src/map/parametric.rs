//! Parametric maps: some variables are parameters, whose values are given later, many at once.
//!
//! A tuner asks the same question of one map at thousands of tile sizes. The map is simplified once, for all values of its
//! parameters; an instance substitutes values for the parameters, and is simplified again by [`simplify`].

use crate::error::{Error, ErrorKind, Result};
use crate::expr::{Arena, Expr};
use crate::int::floor_mod;
use crate::interval::Interval;
use crate::map::indexing_map::{IndexingMap, MapBuilder, MapKind};
use crate::map::simplify::simplify;
use crate::simplify::domain::PointVariables;
use crate::simplify::Scratch;
use std::collections::HashMap;

/// A parameter: its values are those of `interval` that differ from the first by multiples of `step`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Parameter {
    /// The variable of the map.
    pub variable: usize,
    /// The least and the greatest value.
    pub interval: Interval,
    /// The distance of values, at least 1.
    pub step: i64,
}

impl Parameter {
    fn check(&self, map: &IndexingMap) -> Result<()> {
        if self.variable >= map.num_variables() {
            return Err(Error::invalid_map("a parameter is a variable of the map"));
        }
        if self.interval.is_empty() || self.step < 1 {
            let name = map.name(self.variable);
            return Err(Error::invalid_map(format!("parameter {name} has no value: its range is empty")));
        }
        Ok(())
    }

    /// Whether `value` is one of its values.
    pub(crate) fn takes(&self, value: i64) -> bool {
        let rest = value.checked_sub(self.interval.lower).and_then(|d| floor_mod(d, self.step));
        self.interval.contains(value) && (self.step == 1 || rest == Some(0))
    }
}

/// A parametric map.
///
/// ```
/// use indexing_core::{
///     read_indexing_map, write_indexing_map, Arena, Interval, Parameter, ParametricMap, ReadScratch, Scratch, Style,
/// };
///
/// let (mut arena, mut scratch) = (Arena::new(), Scratch::default());
/// let text = "(d0, T) -> (d0 floordiv T, d0 mod T), domain: d0 in [0, 63], T in [1, 64]";
/// let map = read_indexing_map(text, &mut arena, &mut ReadScratch::default())?;
/// let tile = Parameter { variable: 1, interval: Interval::new(1, 64), step: 1 };
/// let tiled = ParametricMap::new(&mut arena, &mut scratch, &map, vec![tile])?;
/// let of_64 = tiled.instantiate(&mut arena, &mut scratch, &[64])?;
/// assert_eq!(write_indexing_map(&of_64, Style::Plain)?, "(d0) -> (0, d0), domain: d0 in [0, 63]");
/// # Ok::<(), indexing_core::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ParametricMap {
    stated: IndexingMap,
    simplified: IndexingMap,
    parameters: Vec<Parameter>,
}

impl ParametricMap {
    /// Makes some of the variables of `map` parameters, and simplifies it for all their values.
    ///
    /// Errors: an unknown or repeated variable; a range without a value; an undefined map.
    pub fn new(
        arena: &mut Arena,
        scratch: &mut Scratch,
        map: &IndexingMap,
        parameters: Vec<Parameter>,
    ) -> Result<Self> {
        if map.kind() == MapKind::Undefined {
            return Err(Error::invalid_map("an undefined map has no parameters"));
        }
        if map.kind() == MapKind::KnownEmpty {
            return Ok(ParametricMap {
                stated: map.clone(),
                simplified: map.clone(),
                parameters: Vec::new(),
            });
        }
        parameters.iter().try_for_each(|p| p.check(map))?;
        let mut places: Vec<usize> = parameters.iter().map(|p| p.variable).collect();
        places.sort_unstable();
        if let Some(twice) = places.windows(2).find(|w| w[0] == w[1]) {
            return Err(Error::invalid_map(format!("{} is a parameter twice", map.name(twice[0]))));
        }
        let mut builder = map.to_builder(arena);
        parameters.iter().for_each(|p| builder.intervals[p.variable] = p.interval);
        let stated = builder.clone().build(arena)?;
        for p in parameters.iter().filter(|p| p.step > 1) {
            let (v, step) = (arena.variable(p.variable as u32), arena.constant(p.step));
            let rest = arena.modulo(v, step)?;
            let first = floor_mod(p.interval.lower, p.step).unwrap_or(0);
            builder.add_constraint(arena, rest, Interval::point(first));
        }
        let whole = builder.build(arena)?;
        let simplified = simplify(arena, scratch, &whole, PointVariables::Keep)?;
        Ok(ParametricMap { stated, simplified, parameters })
    }

    /// The map before simplification, its parameters in their ranges.
    pub fn stated(&self) -> &IndexingMap {
        &self.stated
    }

    /// The map, simplified for all values of the parameters.
    pub fn simplified(&self) -> &IndexingMap {
        &self.simplified
    }

    /// The parameters, in the order in which values are given.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Substitutes `values` for the parameters, without simplifying: a map over the other variables.
    ///
    /// Errors: a value that its parameter does not take; coefficients that leave int64.
    pub fn bind(&self, arena: &mut Arena, values: &[i64]) -> Result<IndexingMap> {
        let map = &self.stated;
        if map.kind() != MapKind::Defined {
            return Ok(map.clone());
        }
        self.check(values)?;
        let mut kept = Vec::with_capacity(map.num_variables());
        let places = self.places(arena, values, &mut kept);
        let mut roots = match arena.import_substituted(map.dag(), &places) {
            // A divisor is 0 at all points.
            Err(e) if e.kind() == ErrorKind::DivisionByZero => return Ok(IndexingMap::known_empty(arena)),
            roots => roots?,
        };
        let expressions = roots.drain(map.num_results()..).zip(map.constraint_bounds()).collect();
        let num_dims = kept.iter().filter(|v| **v < map.num_dims()).count();
        let mut builder = MapBuilder {
            intervals: kept.iter().map(|v| map.interval(*v)).collect(),
            names: map.names().moved(kept.iter().copied()),
            num_dims,
            num_ranges: kept.iter().filter(|v| **v < map.num_dims() + map.num_ranges()).count() - num_dims,
            results: roots,
            ..MapBuilder::default()
        };
        let constraints: Vec<(Expr, Interval)> = expressions;
        constraints.into_iter().for_each(|(e, i)| builder.add_constraint(arena, e, i));
        if arena.divides_by_expressions {
            builder.add_conditions(arena, map, |_, v| places[v as usize])?;
        }
        builder.build(arena)
    }

    /// Checks the values. Error: a value that its parameter does not take.
    pub(crate) fn check(&self, values: &[i64]) -> Result<()> {
        let Some((p, value)) = self.parameters.iter().zip(values).find(|(p, value)| !p.takes(**value)) else {
            return Ok(());
        };
        let (name, i, step) = (self.stated.name(p.variable), p.interval, p.step);
        let of = if step == 1 { String::new() } else { format!(" in steps of {step}") };
        let text = format!("{name} lies in [{}, {}]{of}; got {value}", i.lower, i.upper);
        Err(Error::invalid_map(text))
    }

    /// The expression that replaces each variable: the value of a parameter, or a renumbered variable; `kept` gets the others.
    fn places(&self, arena: &mut Arena, values: &[i64], kept: &mut Vec<usize>) -> Vec<Expr> {
        let mut places = Vec::with_capacity(self.stated.num_variables());
        for v in 0..self.stated.num_variables() {
            match self.parameters.iter().position(|p| p.variable == v) {
                Some(k) => places.push(arena.constant(values[k])),
                None => {
                    places.push(arena.variable(kept.len() as u32));
                    kept.push(v);
                }
            }
        }
        places
    }

    /// Substitutes `values` for the parameters, and simplifies. Errors: as [`ParametricMap::bind`].
    pub fn instantiate(
        &self,
        arena: &mut Arena,
        scratch: &mut Scratch,
        values: &[i64],
    ) -> Result<IndexingMap> {
        let bound = self.bind(arena, values)?;
        arena.clear();
        simplify(arena, scratch, &bound, PointVariables::Replace)
    }
}

/// The distinct rows of columns of equal length.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DistinctRows {
    /// The first place of each distinct row, ascending.
    pub first: Vec<usize>,
    /// The place in `first` of the row equal to each row.
    pub index: Vec<u32>,
}

impl DistinctRows {
    /// The distinct rows among `length` rows.
    pub fn new(columns: &[&[i64]], length: usize) -> Self {
        let equal = DistinctRows { first: (0..length.min(1)).collect(), index: vec![0; length] };
        columns.iter().fold(equal, |rows, column| rows.with_column(column))
    }

    /// The distinct rows with one more column.
    #[must_use]
    pub fn with_column(self, column: &[i64]) -> Self {
        let of_column = DistinctRows::of_column(column);
        if of_column.first.len() <= 1 {
            return self;
        }
        if self.first.len() <= 1 {
            return of_column;
        }
        let count = of_column.first.len() as i64;
        let both = self.index.iter().zip(&of_column.index);
        let pairs: Vec<i64> = both.map(|(a, b)| i64::from(*a) * count + i64::from(*b)).collect();
        DistinctRows::of_column(&pairs)
    }

    fn of_column(column: &[i64]) -> Self {
        let (least, most) = column.iter().fold((i64::MAX, i64::MIN), |(a, b), v| (a.min(*v), b.max(*v)));
        let span = (i128::from(most) - i128::from(least)).max(0) as u128;
        if span < 4 * column.len() as u128 + 64 {
            let mut places = vec![u32::MAX; span as usize + 1];
            return DistinctRows::numbered(column, |v, next| {
                let place = &mut places[(v - least) as usize];
                if *place == u32::MAX {
                    *place = next;
                }
                *place
            });
        }
        let mut places = HashMap::with_capacity(64);
        DistinctRows::numbered(column, |v, next| *places.entry(v).or_insert(next))
    }

    /// Numbers the values of a column with `number`, which gives `next` to a new value.
    fn numbered(column: &[i64], mut number: impl FnMut(i64, u32) -> u32) -> Self {
        let mut rows = DistinctRows { first: Vec::new(), index: Vec::with_capacity(column.len()) };
        for (row, value) in column.iter().enumerate() {
            let place = number(*value, rows.first.len() as u32);
            if place as usize == rows.first.len() {
                rows.first.push(row);
            }
            rows.index.push(place);
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{read_indexing_map, write_indexing_map, ReadScratch, Style};

    fn map(arena: &mut Arena, text: &str) -> IndexingMap {
        read_indexing_map(text, arena, &mut ReadScratch::default()).unwrap()
    }

    fn tiles(step: i64, interval: Interval) -> (Arena, ParametricMap) {
        let mut arena = Arena::new();
        let text = "(d0, T)[s0] -> (d0 * T + s0, (d0 * T) mod T), domain: d0 in [0, 99], T in [1, 9], \
                    s0 in [0, 63], s0 - T in [-64, -1], d0 * T + s0 in [0, 99]";
        let map = map(&mut arena, text);
        let parameter = Parameter { variable: 1, interval, step };
        let parametric =
            ParametricMap::new(&mut arena, &mut Scratch::default(), &map, vec![parameter]).unwrap();
        (arena, parametric)
    }

    #[test]
    fn an_instance_is_what_simplify_makes_of_the_text_with_the_value() {
        let (mut arena, parametric) = tiles(1, Interval::new(1, 64));
        for t in 1..=64 {
            let text = format!(
                "(d0)[s0] -> (d0 * {t} + s0, (d0 * {t}) mod {t}), domain: d0 in [0, 99], s0 in [0, 63], \
                 s0 - {t} in [-64, -1], d0 * {t} + s0 in [0, 99]"
            );
            let wanted = map(&mut arena, &text);
            let wanted = simplify(&mut arena, &mut Scratch::default(), &wanted, PointVariables::Replace);
            let instance = parametric.instantiate(&mut arena, &mut Scratch::default(), &[t]);
            assert_eq!(instance.unwrap(), wanted.unwrap(), "T = {t}");
        }
    }

    #[test]
    fn it_is_simplified_for_all_values() {
        let (_, parametric) = tiles(1, Interval::new(1, i64::MAX));
        let text = write_indexing_map(parametric.simplified(), Style::Plain).unwrap();
        assert!(text.starts_with("(d0, T)[s0] -> (s0 + d0 * T, 0)"), "{text}");
    }

    #[test]
    fn values_outside_of_the_range_and_between_steps_are_refused() {
        let (mut arena, parametric) = tiles(4, Interval::new(4, 64));
        for bad in [0, 5, 68, i64::MIN] {
            let error = parametric.bind(&mut arena, &[bad]).unwrap_err();
            assert!(error.message().contains("T lies in [4, 64] in steps of 4"), "{}", error.message());
        }
        assert!(parametric.bind(&mut arena, &[12]).is_ok());
    }

    #[test]
    fn parameters_are_variables_once() {
        let mut arena = Arena::new();
        let map = map(&mut arena, "(a, b) -> (a), domain: a in [0, 3], b in [0, 3]");
        let parameter = |variable, interval| Parameter { variable, interval, step: 1 };
        let some = Interval::new(1, 2);
        for bad in [
            vec![parameter(2, some)],
            vec![parameter(0, some), parameter(0, some)],
            vec![parameter(0, Interval::EMPTY)],
        ] {
            assert!(ParametricMap::new(&mut arena, &mut Scratch::default(), &map, bad).is_err());
        }
    }

    #[test]
    fn rows_are_found_again() {
        let far = [i64::MIN, 5, i64::MAX, 5, i64::MIN];
        let near = [1i64, 2, 1, 2, 2];
        let rows = DistinctRows::new(&[&far, &near], 5);
        assert_eq!(rows, DistinctRows { first: vec![0, 1, 2, 4], index: vec![0, 1, 2, 1, 3] });
        assert_eq!(DistinctRows::new(&[&near], 5).first, [0, 1]);
        assert_eq!(DistinctRows::new(&[], 2), DistinctRows { first: vec![0], index: vec![0, 0] });
        assert_eq!(DistinctRows::new(&[&[]], 0), DistinctRows { first: vec![], index: vec![] });
    }
}
