//! `Interval` and `Variable`.

use crate::argument::{int64, text_of, Text};
use crate::error::{invalid, too_large};
use crate::objects::{Any, Str, Tuple};
use indexing_core::Interval;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// The integers from `lower` to `upper`, both included; empty if `lower > upper`.
///
/// Arithmetic gives the least interval that holds all results; it saturates, and the ends of int64 mean "unbounded".
#[pyclass(name = "Interval", module = "indexing", frozen, eq, hash)]
#[derive(PartialEq, Hash)]
pub struct PyInterval(pub Interval);

/// An Interval, a pair of bounds, or an integer.
pub fn interval_of(value: &Any<'_>) -> PyResult<Interval> {
    if let Ok(i) = value.cast::<PyInterval>() {
        return Ok(i.get().0);
    }
    if value.hasattr("__index__")? {
        return Ok(Interval::point(int64(value)?));
    }
    let (lower, upper) = value
        .extract::<(Any<'_>, Any<'_>)>()
        .map_err(|_| PyTypeError::new_err("expected an Interval, a pair (lower, upper), or an int"))?;
    Ok(Interval::new(int64(&lower)?, int64(&upper)?))
}

/// Methods that take another interval, or what stands for one.
macro_rules! with_another {
    ($($(#[$doc:meta])* $name:ident: $result:ty = |$own:ident, $other:ident| $value:expr;)+) => {
        #[pymethods]
        impl PyInterval {
            $(
                $(#[$doc])*
                fn $name(&self, other: &Any<'_>) -> PyResult<$result> {
                    let ($own, $other) = (self.0, interval_of(other)?);
                    Ok($value)
                }
            )+
        }
    };
}

with_another! {
    __add__: PyInterval = |a, b| PyInterval(a.plus(b));
    __radd__: PyInterval = |a, b| PyInterval(b.plus(a));
    __sub__: PyInterval = |a, b| PyInterval(a.minus(b));
    __rsub__: PyInterval = |a, b| PyInterval(b.minus(a));
    __mul__: PyInterval = |a, b| PyInterval(a.times(b));
    __rmul__: PyInterval = |a, b| PyInterval(b.times(a));
    /// The smaller of two elements.
    min: PyInterval = |a, b| PyInterval(a.min(b));
    /// The greater of two elements.
    max: PyInterval = |a, b| PyInterval(a.max(b));
    /// The integers in both.
    intersect: PyInterval = |a, b| PyInterval(a.intersect(b));
    /// The least interval that holds both.
    union: PyInterval = |a, b| PyInterval(a.union(b));
    /// Whether each element is greater than each of `other`; None if that depends on the elements.
    gt: Option<bool> = |a, b| a.gt(b);
    /// `>=` of all pairs; None: it depends.
    ge: Option<bool> = |a, b| a.ge(b);
    /// `<` of all pairs; None: it depends.
    lt: Option<bool> = |a, b| a.lt(b);
    /// `<=` of all pairs; None: it depends.
    le: Option<bool> = |a, b| a.le(b);
    /// `==` of all pairs; None: it depends.
    eq: Option<bool> = |a, b| a.equal(b);
    /// `!=` of all pairs; None: it depends.
    ne: Option<bool> = |a, b| a.not_equal(b);
}

#[pymethods]
impl PyInterval {
    #[new]
    fn new(lower: &Any<'_>, upper: &Any<'_>) -> PyResult<Self> {
        Ok(PyInterval(Interval::new(int64(lower)?, int64(upper)?)))
    }

    /// The least element.
    #[getter]
    fn lower(&self) -> i64 {
        self.0.lower
    }

    /// The greatest element.
    #[getter]
    fn upper(&self) -> i64 {
        self.0.upper
    }

    /// Whether it holds exactly one integer.
    #[getter]
    fn is_point(&self) -> bool {
        self.0.is_point()
    }

    /// Whether it holds no integers.
    #[getter]
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn __neg__(&self) -> Self {
        PyInterval(self.0.negated())
    }

    /// All floor quotients by the nonzero elements of `other`. Raises InvalidMap for the divisor 0 alone.
    fn floordiv(&self, other: &Any<'_>) -> PyResult<Self> {
        let divisor = interval_of(other)?;
        if divisor == Interval::point(0) {
            return Err(invalid(other.py(), "the divisor is 0"));
        }
        Ok(PyInterval(self.0.floordiv(divisor)))
    }

    fn __floordiv__(&self, other: &Any<'_>) -> PyResult<Self> {
        self.floordiv(other)
    }

    /// Whether it holds the value, or each element of the interval.
    fn contains(&self, value: &Any<'_>) -> PyResult<bool> {
        Ok(self.0.covers(interval_of(value)?))
    }

    fn __contains__(&self, value: &Any<'_>) -> PyResult<bool> {
        self.contains(value)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let count = isize::try_from(self.0.count()).map_err(|_| too_large(py))?;
        Ok(count.unsigned_abs())
    }

    fn __bool__(&self) -> bool {
        !self.0.is_empty()
    }

    fn __str__(&self) -> String {
        format!("[{}, {}]", self.0.lower, self.0.upper)
    }

    fn __repr__(&self) -> String {
        format!("Interval({}, {})", self.0.lower, self.0.upper)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Any<'py>, (i64, i64))> {
        let i = slf.get().0;
        Ok((slf.get_type().into_any(), (i.lower, i.upper)))
    }
}

/// A variable of an indexing map: its name and the interval of its values.
#[pyclass(name = "Variable", module = "indexing", frozen, eq, hash)]
#[derive(PartialEq, Hash)]
pub struct PyVariable {
    pub name: Option<String>,
    pub interval: Interval,
}

#[pymethods]
impl PyVariable {
    #[new]
    fn new(name: Option<Text>, interval: &Any<'_>) -> PyResult<Self> {
        Ok(PyVariable { name: name.map(|n| n.0).filter(|n| !n.is_empty()), interval: interval_of(interval)? })
    }

    /// The name; None asks for the default name of the place.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The values that it takes.
    #[getter]
    fn interval(&self) -> PyInterval {
        PyInterval(self.interval)
    }

    /// The least value.
    #[getter]
    fn lower(&self) -> i64 {
        self.interval.lower
    }

    /// The greatest value.
    #[getter]
    fn upper(&self) -> i64 {
        self.interval.upper
    }

    fn __str__(&self) -> String {
        let name = self.name.as_deref().unwrap_or("_");
        format!("{name} in [{}, {}]", self.interval.lower, self.interval.upper)
    }

    fn __repr__(&self) -> String {
        format!("Variable({})", self.__str__())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Any<'py>, Tuple<'py>)> {
        let v = slf.get();
        let args = (v.name.clone(), PyInterval(v.interval)).into_pyobject(slf.py())?;
        Ok((slf.get_type().into_any(), args))
    }
}

/// A Variable, a pair of a name and an interval, or an interval.
pub fn variable_of(value: &Any<'_>) -> PyResult<(Option<String>, Interval)> {
    if let Ok(v) = value.cast::<PyVariable>() {
        return Ok((v.get().name.clone(), v.get().interval));
    }
    if let Ok((name, interval)) = value.extract::<(Str<'_>, Any<'_>)>() {
        return Ok((Some(text_of(&name)?.to_owned()), interval_of(&interval)?));
    }
    Ok((None, interval_of(value)?))
}
