//! Questions to an `IndexingMap`: values, points, counts, the inverse, comparisons.

use crate::equivalence::PyEquivalence;
use crate::error::{invalid, Raise};
use crate::expr::need_operand;
use crate::forks::Shared;
use crate::indexing_map::PyIndexingMap;
use crate::interval::PyInterval;
use crate::objects::{Any, Tuple};
use crate::parts;
use crate::points::PyPoints;
use crate::vector;
use crate::workspace;
use indexing_core::{
    count, difference, image_count, index_bits, intersect, inverse, is_bijection_onto, is_empty,
    is_injective, range_of, MapKind,
};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};

#[pymethods]
impl PyIndexingMap {
    /// The values of the results, whether or not the point is in the domain: ints, or arrays where values are arrays
    /// (they broadcast). `symbols` are ranges, then runtime variables. Raises Overflow, InvalidMap.
    #[pyo3(signature = (dims, symbols = None))]
    fn evaluate<'py>(&self, dims: &Any<'py>, symbols: Option<&Any<'py>>) -> PyResult<Tuple<'py>> {
        let py = dims.py();
        let values = self.values(dims, symbols)?;
        PyTuple::new(py, vector::evaluate(py, self.0.dag(), self.0.num_results(), values)?)
    }

    /// Whether the point is in the domain: within all bounds and constraints. It is not if a constraint or a result divides
    /// by 0.
    #[pyo3(signature = (dims, symbols = None))]
    fn contains<'py>(&self, dims: &Any<'py>, symbols: Option<&Any<'py>>) -> PyResult<Any<'py>> {
        let py = dims.py();
        let values = match self.0.kind() {
            // A map that is known to be empty has forgotten its variables: any number of values is a point.
            MapKind::KnownEmpty => {
                let none = PyTuple::empty(py).into_any();
                vector::values_of(&[dims, symbols.unwrap_or(&none)])?
            }
            _ => self.values(dims, symbols)?,
        };
        match values {
            vector::Values::Point(point) => {
                let inside = workspace::with(|w| self.0.domain(&mut w.arena).contains(&point, &mut w.values))
                    .raise(py)?;
                Ok(PyBool::new(py, inside).to_owned().into_any())
            }
            vector::Values::Many(values) => {
                let columns = vector::columns(py, values)?;
                let domain = workspace::with(|w| self.0.domain(&mut w.arena));
                let inside =
                    vector::map_columns(py, &columns, 1, |inputs, out| domain.contains_each(inputs, out[0]))?;
                inside[0].call_method1("view", ("bool",))
            }
        }
    }

    /// The points of the domain, the last variable fastest.
    fn points(&self, py: Python<'_>) -> PyResult<PyPoints> {
        if self.0.kind() == MapKind::Undefined {
            return Err(invalid(py, "an undefined map has no domain whose points could be listed"));
        }
        Ok(PyPoints {
            points: Shared::new(workspace::with(|w| self.0.points(&mut w.arena))),
            num_dims: self.0.num_dims(),
            num_variables: self.0.num_variables(),
        })
    }

    /// An interval that holds all values of an expression over the map's variables; the least one unless that takes much
    /// work.
    fn range(&self, py: Python<'_>, expr: &Any<'_>) -> PyResult<PyInterval> {
        let e = need_operand(expr)?;
        let result = self.released(py, |w| {
            let map = self.0.to_builder(&mut w.arena);
            let e = e.import(&mut w.arena);
            map.verify_expr(&mut w.arena, e)?;
            Ok(range_of(&mut w.arena, &mut w.scratch, &map, e))
        });
        result.map(PyInterval)
    }

    /// Whether the domain has no points. Exact; raises Undecided if neither structure nor a bounded search decides.
    /// With `certificate`, returns a pair: the answer and its `Certificate`.
    #[pyo3(signature = (certificate = false))]
    fn is_empty<'py>(slf: &Bound<'py, Self>, certificate: bool) -> PyResult<Any<'py>> {
        let py = slf.py();
        let map = slf.get();
        let answer = map.asked(py, |arena, scratch| is_empty(arena, scratch, &map.0))?;
        match certificate {
            true => py.import("indexing.certificates")?.call_method1("of_emptiness", (slf, answer)),
            false => Ok(PyBool::new(py, answer).to_owned().into_any()),
        }
    }

    /// The number of points of the domain. Exact, by structure where there is one; raises Undecided as `is_empty`.
    fn count<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        product(py, &self.asked(py, |arena, scratch| count(arena, scratch, &self.0))?)
    }

    /// The number of different results. Exact; raises Undecided as `is_empty`.
    fn image_count<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        product(py, &self.asked(py, |arena, scratch| image_count(arena, scratch, &self.0))?)
    }

    /// Whether different points (of all variables) have different results. Exact; raises Undecided as `is_empty`.
    fn is_injective(&self, py: Python<'_>) -> PyResult<bool> {
        self.asked(py, |arena, scratch| is_injective(arena, scratch, &self.0))
    }

    /// Whether the results are the elements of a tensor of these sizes, each once. Exact; raises Undecided.
    fn is_bijection_onto(&self, py: Python<'_>, sizes: &Any<'_>) -> PyResult<bool> {
        let sizes = parts::sizes(Some(sizes))?;
        self.asked(py, |arena, scratch| is_bijection_onto(arena, scratch, &self.0, &sizes))
    }

    /// 32 or 64: the width of integers that hold all subexpressions on the domain. Raises Overflow beyond 64.
    fn index_bits(&self, py: Python<'_>) -> PyResult<u32> {
        self.asked(py, |arena, scratch| index_bits(arena, scratch, &self.0))
    }

    /// The inverse relation, simplified: from results to dimensions.
    ///
    /// What the results leave open becomes a range variable; runtime variables stay. Exact: (y, ..) leads to the dimensions
    /// of each point whose results are y, and to no others. Raises Overflow where results may leave int64.
    fn inverse(&self, py: Python<'_>) -> PyResult<Self> {
        self.asked(py, |arena, scratch| inverse(arena, scratch, &self.0)).map(PyIndexingMap)
    }

    /// Both maps at once: its domain is where both domains are and all results are equal. Raises InvalidMap where the
    /// maps differ in their numbers of variables or results.
    fn intersect(&self, py: Python<'_>, other: &PyIndexingMap) -> PyResult<Self> {
        self.asked(py, |arena, scratch| intersect(arena, scratch, &self.0, &other.0)).map(PyIndexingMap)
    }

    /// Whether domains and results are equal. The answer is true or false, with a counterexample if it is false.
    ///
    /// Names do not count. With `certificate`, returns a pair: the answer and its `Certificate`. Raises InvalidMap for
    /// different numbers of variables or results, Undecided as `is_empty`.
    #[pyo3(signature = (other, certificate = false))]
    fn equivalent<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyIndexingMap>,
        certificate: bool,
    ) -> PyResult<Any<'py>> {
        let py = slf.py();
        let (map, second) = (slf.get(), other.get());
        let difference_point =
            map.asked(py, |arena, scratch| difference(arena, scratch, &map.0, &second.0))?;
        let num_dims = map.0.num_dims().max(second.0.num_dims());
        let answer = Bound::new(
            py,
            PyEquivalence(difference_point.map(|mut point| {
                let symbols = point.split_off(num_dims);
                (point, symbols)
            })),
        )?;
        match certificate {
            true => py.import("indexing.certificates")?.call_method1("of_equivalence", (slf, other, answer)),
            false => Ok(answer.into_any()),
        }
    }
}

pub fn product<'py>(py: Python<'py>, factors: &[u128]) -> PyResult<Any<'py>> {
    let small = factors.iter().try_fold(1u64, |n, f| n.checked_mul(u64::try_from(*f).ok()?));
    if let Some(n) = small {
        return Ok(n.into_pyobject(py)?.into_any());
    }
    let one = 1u128.into_pyobject(py)?.into_any();
    factors.iter().try_fold(one, |n, f| n.mul(f.into_pyobject(py)?))
}
