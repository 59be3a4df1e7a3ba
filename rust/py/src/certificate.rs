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

/// A certificate of a map and its simplified form, with the expressions of its steps, one after the other, as one value.
pub struct Recorded {
    maps: [IndexingMap; 2],
    certificate: Certificate,
    dag: Dag,
    /// Of each expression, whether it is a variable.
    is_variable: Vec<bool>,
}

/// The steps of a certificate of these maps.
pub fn recorded(arena: &mut Arena, maps: [&IndexingMap; 2], certificate: Certificate) -> Recorded {
    let roots: Vec<Expr> = certificate.steps.iter().flat_map(expressions).collect();
    let is_variable = roots.iter().map(|e| matches!(arena.node(*e), Node::Variable(_))).collect();
    Recorded { maps: maps.map(IndexingMap::clone), certificate, dag: arena.export(&roots), is_variable }
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
    /// The certificate that `indexing.certificates.recorded` makes of the results, and of what is written when it is read.
    pub fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        static RECORDED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let results = PyTuple::new(py, &self.certificate.results)?;
        RECORDED.import(py, "indexing.certificates", "recorded")?.call1((PyRecorded(self), results))
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

/// A certificate, whose texts are written when they are read.
#[pyclass(frozen, name = "Recorded", module = "indexing._core")]
pub struct PyRecorded(Recorded);

#[pymethods]
impl PyRecorded {
    /// The texts of both maps.
    fn maps(&self, py: Python<'_>) -> PyResult<[String; 2]> {
        let [before, after] = &self.0.maps;
        let text = |map| write_indexing_map(map, Style::Plain).raise(py);
        Ok([text(before)?, text(after)?])
    }

    /// A tuple a step: its fields, in the order of `Step`.
    fn steps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let texts = self.0.maps[0].texts_of(&self.0.dag).raise(py)?;
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
