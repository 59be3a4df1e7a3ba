//! The parts of a map, as Python gives them: variables, constraints, sizes.

use crate::argument::int64;
use crate::error::Raise;
use crate::expr::{list, need_operand};
use crate::interval::{interval_of, variable_of};
use crate::objects::Any;
use crate::workspace;
use indexing_core::{Arena, IndexingMap, Interval, MapBuilder, Names, Result, Variable};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// Reads variables.
pub fn variables(sequence: &Any<'_>) -> PyResult<Vec<Variable>> {
    list(sequence)?
        .iter()
        .map(|v| variable_of(v).map(|(name, interval)| Variable { name: name.map(Into::into), interval }))
        .collect()
}

/// Drops names that are the default ones of their places.
fn drop_default_names(map: &mut MapBuilder) {
    let (dims, ranges) = (map.num_dims, map.num_ranges);
    let given = (0..map.intervals.len()).map(|i| {
        let default = indexing_core::default_name(i, dims, ranges);
        map.names.get(i).filter(|n| !n.is_empty() && ***n != *default).cloned()
    });
    map.names = Names::new(given.collect());
}

/// Reads `(expression, interval)` pairs, or a mapping.
pub fn constraints<'py>(given: Option<&Any<'py>>) -> PyResult<Vec<(Any<'py>, Interval)>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    let pairs = if given.hasattr("items")? { given.call_method0("items")? } else { given.clone() };
    list(&pairs)?
        .into_iter()
        .map(|pair| {
            let (e, i) = pair
                .extract::<(Any<'py>, Any<'py>)>()
                .map_err(|_| PyTypeError::new_err("a constraint is a pair (SymbolicExpr, Interval)"))?;
            Ok((e, interval_of(&i)?))
        })
        .collect()
}

/// A map of what `make` builds, under the constraints given.
pub fn with_constraints(
    py: Python<'_>,
    given: &[(Any<'_>, Interval)],
    make: impl FnOnce(&mut Arena) -> Result<MapBuilder>,
) -> PyResult<IndexingMap> {
    let expressions = given.iter().map(|(e, _)| need_operand(e)).collect::<PyResult<Vec<_>>>()?;
    let made = workspace::with(|w| {
        let mut map = make(&mut w.arena)?;
        drop_default_names(&mut map);
        for (e, (_, interval)) in expressions.iter().zip(given) {
            let e = e.import(&mut w.arena);
            map.constraints.push((e, *interval));
        }
        IndexingMap::new(&mut w.arena, map)
    });
    made.raise(py)
}

/// Reads sizes; none if they are not given.
pub fn sizes(sequence: Option<&Any<'_>>) -> PyResult<Vec<i64>> {
    sequence.map_or(Ok(Vec::new()), |s| list(s)?.iter().map(int64).collect())
}
