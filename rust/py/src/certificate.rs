//! Certificates of simplification, as the data of `indexing.certificates`.

use indexing_core::{
    write_indexing_map, Arena, Certificate, CertifiedStep, Claim, Expr, IndexingMap, Info, Interval, Node,
    Result, Style,
};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use std::collections::HashMap;

/// The law of a constraint on an expression that is replaced by an equal one.
const SUBSTITUTED: &str = "substituted";

/// A certificate, and the texts of its expressions, each once.
pub struct Recorded {
    maps: [String; 2],
    certificate: Certificate,
    places: HashMap<Expr, usize>,
    texts: Vec<String>,
    /// Of each text, whether it is a variable.
    is_variable: Vec<bool>,
}

/// Writes the expressions of a certificate of the map `before`.
pub fn recorded(
    arena: &mut Arena,
    [before, after]: [&IndexingMap; 2],
    certificate: Certificate,
) -> Result<Recorded> {
    let maps = [write_indexing_map(before, Style::Plain)?, write_indexing_map(after, Style::Plain)?];
    let mut places = HashMap::new();
    let mut roots = Vec::new();
    for e in certificate.steps.iter().flat_map(expressions) {
        places.entry(e).or_insert_with(|| {
            roots.push(e);
            roots.len() - 1
        });
    }
    let texts = before.texts_of(&arena.export(&roots))?;
    let is_variable = roots.iter().map(|e| matches!(arena.node(*e), Node::Variable(_))).collect();
    Ok(Recorded { maps, certificate, places, texts, is_variable })
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
    /// The certificate that `indexing.certificates.recorded` makes of the maps, the fields of the steps, and the results.
    pub fn into_python<'py>(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let texts: Vec<_> = self.texts.iter().map(|text| PyString::new(py, text)).collect();
        let steps = self.certificate.steps.iter().enumerate();
        let steps = steps.map(|(number, step)| self.fields(py, number, step, &texts));
        let steps = PyTuple::new(py, steps.collect::<PyResult<Vec<_>>>()?)?;
        let results = PyTuple::new(py, &self.certificate.results)?;
        py.import("indexing.certificates")?
            .call_method1("recorded", (&self.maps[0], &self.maps[1], steps, results))
    }

    /// The fields of a `Step`, in order.
    fn fields<'py>(
        &self,
        py: Python<'py>,
        number: usize,
        step: &CertifiedStep,
        texts: &[Bound<'py, PyString>],
    ) -> PyResult<Bound<'py, PyTuple>> {
        let text = |e: &Expr| &texts[self.places[e]];
        let none = PyString::intern(py, "");
        let letters = step.bindings.iter().map(|(letter, e)| (PyString::intern(py, letter), text(e)));
        let letters = PyTuple::new(py, letters.map(|b| b.into_pyobject(py)).collect::<PyResult<Vec<_>>>()?)?;
        let from = PyTuple::new(py, &step.from)?;
        let law = PyString::intern(py, step.law);
        let (claim, before, after, range) = match &step.claim {
            Claim::Within(e, info) => ("within", text(e), &none, Some(self.ends(step, *e, *info))),
            Claim::Equal(before, after) => ("equal", text(before), text(after), None),
            Claim::Never => ("never", &none, &none, None),
        };
        let (lower, upper, modulus, residue) = range.unwrap_or((None, None, 1, 0));
        let claim = PyString::intern(py, claim);
        (number, claim, law, before, after, lower, upper, modulus, residue, letters, from).into_pyobject(py)
    }

    /// The ends of a claimed range, none where it is unbounded, with its modulus and residue.
    fn ends(&self, step: &CertifiedStep, e: Expr, info: Info) -> (Option<i64>, Option<i64>, i64, i64) {
        let Interval { lower, upper } = info.bounds;
        // The bounds of a variable are numbers, however large; those of a constraint on another expression may be none.
        let are_numbers = lower == upper || (step.law != SUBSTITUTED && self.is_variable[self.places[&e]]);
        let end = |value: i64, unbounded: i64| (are_numbers || value != unbounded).then_some(value);
        let (modulus, residue) = if info.modulus > 1 { (info.modulus, info.residue) } else { (1, 0) };
        (end(lower, i64::MIN), end(upper, i64::MAX), modulus, residue)
    }
}
