//! Certificates of simplification, as the data of `indexing.certificates`.

use crate::error::Raise;
use indexing_core::{
    write_indexing_map, Arena, Certificate, CertifiedStep, Claim, Dag, Expr, IndexingMap, Info, Interval,
    Node, Style,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyTuple};

/// The law of a constraint on an expression that is replaced by an equal one.
const SUBSTITUTED: &str = "substituted";

/// A certificate of a map, with the expressions of its steps, one after the other, as one value.
pub struct Recorded {
    before: IndexingMap,
    certificate: Certificate,
    dag: Dag,
    /// Of each expression, whether it is a variable.
    is_variable: Vec<bool>,
}

/// The steps of a certificate of the map `before`.
pub fn recorded(arena: &mut Arena, before: &IndexingMap, certificate: Certificate) -> Recorded {
    let roots: Vec<Expr> = certificate.steps.iter().flat_map(expressions).collect();
    let is_variable = roots.iter().map(|e| matches!(arena.node(*e), Node::Variable(_))).collect();
    Recorded { before: before.clone(), certificate, dag: arena.export(&roots), is_variable }
}

fn expressions(step: &CertifiedStep) -> impl Iterator<Item = Expr> + '_ {
    let claimed = match step.claim {
        Claim::Within(e, _) => [Some(e), None],
        Claim::Equal(before, after) => [Some(before), Some(after)],
        Claim::Never => [None, None],
    };
    claimed.into_iter().flatten().chain(step.bindings.iter().map(|b| b.1))
}

impl Recorded {
    /// The certificate that `indexing.certificates.recorded` makes of the maps, the steps, and the results.
    pub fn into_python<'py>(self, py: Python<'py>, after: &IndexingMap) -> PyResult<Bound<'py, PyAny>> {
        static RECORDED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let text = |map| write_indexing_map(map, Style::Plain).raise(py);
        let (before, after) = (text(&self.before)?, text(after)?);
        let results = PyTuple::new(py, &self.certificate.results)?;
        let parts = (before, after, PyStepFields(self), results);
        RECORDED.import(py, "indexing.certificates", "recorded")?.call1(parts)
    }
}

/// The ends of a claimed range, none where it is unbounded, with its modulus and residue.
fn ends(law: &str, is_variable: bool, info: Info) -> (Option<i64>, Option<i64>, i64, i64) {
    let Interval { lower, upper } = info.bounds;
    // The bounds of a variable are numbers, however large; those of a constraint on another expression may be none.
    let are_numbers = lower == upper || (is_variable && law != SUBSTITUTED);
    let end = |value: i64, unbounded: i64| (are_numbers || value != unbounded).then_some(value);
    let (modulus, residue) = if info.modulus > 1 { (info.modulus, info.residue) } else { (1, 0) };
    (end(lower, i64::MIN), end(upper, i64::MAX), modulus, residue)
}

/// The fields of the steps of a certificate, whose texts are written when it is called.
#[pyclass(frozen, name = "StepFields", module = "indexing._core")]
pub struct PyStepFields(Recorded);

#[pymethods]
impl PyStepFields {
    /// A tuple a step: its fields, in the order of `Step`.
    fn __call__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let texts = self.0.before.texts_of(&self.0.dag).raise(py)?;
        let texts: Vec<_> = texts.iter().map(|text| PyString::new(py, text)).collect();
        let mut made = Vec::with_capacity(self.0.certificate.steps.len());
        let mut first = 0;
        for (number, step) in self.0.certificate.steps.iter().enumerate() {
            let end = first + expressions(step).count();
            made.push(fields(py, number, step, &texts[first..end], &self.0.is_variable[first..end])?);
            first = end;
        }
        PyTuple::new(py, made)
    }
}

fn fields<'py>(
    py: Python<'py>,
    number: usize,
    step: &CertifiedStep,
    texts: &[Bound<'py, PyString>],
    is_variable: &[bool],
) -> PyResult<Bound<'py, PyTuple>> {
    let none = PyString::intern(py, "");
    let (claim, claimed, range) = match step.claim {
        Claim::Within(_, info) => ("within", 1, ends(step.law, is_variable[0], info)),
        Claim::Equal(..) => ("equal", 2, (None, None, 1, 0)),
        Claim::Never => ("never", 0, (None, None, 1, 0)),
    };
    let (claimed, bound) = texts.split_at(claimed);
    let letters = step.bindings.iter().map(|b| PyString::intern(py, b.0)).zip(bound);
    let letters = letters.map(|pair| pair.into_pyobject(py)).collect::<PyResult<Vec<_>>>()?;
    let (letters, from) = (PyTuple::new(py, letters)?, PyTuple::new(py, &step.from)?);
    let (before, after) = (claimed.first().unwrap_or(&none), claimed.get(1).unwrap_or(&none));
    let (claim, law) = (PyString::intern(py, claim), PyString::intern(py, step.law));
    let (lower, upper, modulus, residue) = range;
    (number, claim, law, before, after, lower, upper, modulus, residue, letters, from).into_pyobject(py)
}
