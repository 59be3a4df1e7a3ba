//! Certificates of simplification, as the data of `indexing.certificates`.

use crate::error::Raise;
use crate::expr::{flat_node, FlatNode};
use crate::workspace;
use indexing_core::{
    Arena, Certificate, CertifiedStep, Claim, Dag, Expr, IndexingMap, Info, Interval, MapBuilder, MapKind,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyTuple};
use std::collections::HashMap;

/// The law of a constraint on an expression that is replaced by an equal one.
const SUBSTITUTED: &str = "substituted";
/// Bounds and a congruence that hold of any expression.
const NOTHING: Info = Info { bounds: Interval::ALL, modulus: 1, residue: 0 };

/// Maps, with the certificate that the last one is a simplified form of the one before it.
#[pyclass(frozen, name = "Recorded", module = "indexing._core")]
pub struct PyRecorded {
    maps: Vec<IndexingMap>,
    certificate: Certificate,
    /// The expressions of the steps, one after the other.
    dag: Dag,
}

/// The kind of a map, the names of its variables, its results, its constraints with their ends.
type MapTable = (&'static str, [Vec<String>; 3], Vec<usize>, Vec<(usize, Option<i64>, Option<i64>)>);

fn expressions(step: &CertifiedStep) -> impl Iterator<Item = Expr> + '_ {
    let claimed = match step.claim {
        Claim::Within(e, _) => [Some(e), None],
        Claim::Equal(before, after) => [Some(before), Some(after)],
        Claim::Never => [None, None],
    };
    claimed.into_iter().flatten().chain(step.bindings.iter().map(|b| b.1))
}

impl PyRecorded {
    /// The steps of a certificate about these maps, whose expressions are in the arena.
    pub fn new(arena: &mut Arena, maps: &[&IndexingMap], certificate: Certificate) -> Self {
        let roots: Vec<Expr> = certificate.steps.iter().flat_map(expressions).collect();
        let maps = maps.iter().copied().cloned().collect();
        PyRecorded { maps, certificate, dag: arena.export(&roots) }
    }

    /// The certificate that `indexing.certificates.recorded` makes of the results, and of tables written when they are read.
    pub fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        static RECORDED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let results = PyTuple::new(py, &self.certificate.results)?;
        RECORDED.import(py, "indexing.certificates", "recorded")?.call1((self, results))
    }

    /// The nodes of all expressions, the maps, and the expressions of the steps.
    fn read(&self) -> (Nodes, Vec<MapTable>, Vec<Expr>) {
        workspace::with(|w| {
            let arena = &mut w.arena;
            let claimed = arena.import(&self.dag);
            let maps: Vec<MapBuilder> = self.maps.iter().map(|m| m.to_builder(arena)).collect();
            let mut roots = Vec::new();
            for map in &maps {
                roots.extend(constraints(arena, map).iter().map(|c| c.0));
                roots.extend(&map.results);
            }
            roots.extend(&claimed);
            let nodes = Nodes::new(arena, &roots);
            let maps: Vec<MapTable> =
                maps.iter().enumerate().map(|(k, map)| self.map_table(arena, k, map, &nodes)).collect();
            (nodes, maps, claimed)
        })
    }

    /// The text of each expression of the steps, by its node.
    pub fn texts(&self, py: Python<'_>) -> PyResult<HashMap<usize, String>> {
        let texts = self.maps[0].texts_of(&self.dag).raise(py)?;
        let (nodes, _, claimed) = self.read();
        Ok(claimed.iter().map(|e| nodes.place[e]).zip(texts).collect())
    }

    fn map_table(&self, arena: &mut Arena, k: usize, map: &MapBuilder, nodes: &Nodes) -> MapTable {
        let stated = &self.maps[k];
        let kind = match stated.kind() {
            MapKind::Defined => "defined",
            MapKind::KnownEmpty => "known empty",
            MapKind::Undefined => "undefined",
        };
        let (first, last) = (stated.num_dims(), stated.num_dims() + stated.num_ranges());
        let named = |from: usize, to: usize| (from..to).map(|i| stated.name(i)).collect();
        let names = [named(0, first), named(first, last), named(last, stated.num_variables())];
        let results = map.results.iter().map(|e| nodes.place[e]).collect();
        let domain = constraints(arena, map).into_iter().map(|(e, interval)| {
            let (lower, upper) = ends("", nodes.is_variable(e), interval);
            (nodes.place[&e], lower, upper)
        });
        (kind, names, results, domain.collect())
    }
}

/// The nodes below some roots, each once.
struct Nodes {
    place: HashMap<Expr, usize>,
    table: Vec<FlatNode>,
}

impl Nodes {
    fn new(arena: &mut Arena, roots: &[Expr]) -> Self {
        let order = arena.post_order(roots);
        let place: HashMap<Expr, usize> = order.iter().enumerate().map(|(k, e)| (*e, k)).collect();
        let table = order.iter().map(|e| flat_node(arena.node(*e), &place)).collect();
        Nodes { place, table }
    }

    fn is_variable(&self, e: Expr) -> bool {
        self.table[self.place[&e]].0 == "variable"
    }
}

/// The bounds of the variables, then the constraints.
fn constraints(arena: &mut Arena, map: &MapBuilder) -> Vec<(Expr, Interval)> {
    let bounds = map.intervals.iter().enumerate().map(|(v, i)| (arena.variable(v as u32), *i));
    bounds.chain(map.constraints.iter().copied()).collect()
}

/// The ends of a claimed interval, none where it is unbounded.
fn ends(law: &str, is_variable: bool, Interval { lower, upper }: Interval) -> (Option<i64>, Option<i64>) {
    // The bounds of a variable are numbers, however large; those of a constraint on another expression may be none.
    let are_numbers = lower == upper || (is_variable && law != SUBSTITUTED);
    let end = |value: i64, unbounded: i64| (are_numbers || value != unbounded).then_some(value);
    (end(lower, i64::MIN), end(upper, i64::MAX))
}

#[pymethods]
impl PyRecorded {
    /// The nodes of all expressions, the maps, and the fields of each step, in the order of `Step`.
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (nodes, maps, claimed) = self.read();
        let mut steps = Vec::with_capacity(self.certificate.steps.len());
        let mut rest = &claimed[..];
        for (number, step) in self.certificate.steps.iter().enumerate() {
            let own;
            (own, rest) = rest.split_at(expressions(step).count());
            steps.push(fields(py, number, step, own, &nodes)?);
        }
        let nodes = nodes.table.iter().map(|(kind, numbers, operands)| {
            (PyString::intern(py, kind), PyTuple::new(py, numbers)?, PyTuple::new(py, operands)?)
                .into_pyobject(py)
        });
        let nodes = PyTuple::new(py, nodes.collect::<PyResult<Vec<_>>>()?)?;
        let maps = maps.into_iter().map(|(kind, names, results, domain)| {
            let [dims, ranges, runtimes] = names.map(|group| PyTuple::new(py, group));
            let names = (dims?, ranges?, runtimes?);
            (kind, names, PyTuple::new(py, results)?, PyTuple::new(py, domain)?).into_pyobject(py)
        });
        let maps = PyTuple::new(py, maps.collect::<PyResult<Vec<_>>>()?)?;
        (nodes, maps, PyTuple::new(py, steps)?).into_pyobject(py)
    }
}

fn fields<'py>(
    py: Python<'py>,
    number: usize,
    step: &CertifiedStep,
    own: &[Expr],
    nodes: &Nodes,
) -> PyResult<Bound<'py, PyTuple>> {
    let place = |e: &Expr| nodes.place[e];
    let (claim, claimed, (lower, upper), info) = match step.claim {
        Claim::Within(_, info) => ("within", 1, ends(step.law, nodes.is_variable(own[0]), info.bounds), info),
        Claim::Equal(..) => ("equal", 2, (None, None), NOTHING),
        Claim::Never => ("never", 0, (None, None), NOTHING),
    };
    let (modulus, residue) = if info.modulus > 1 { (info.modulus, info.residue) } else { (1, 0) };
    let (claimed, bound) = own.split_at(claimed);
    let letters = step.bindings.iter().map(|b| PyString::intern(py, b.0)).zip(bound.iter().map(place));
    let letters = letters.map(|pair| pair.into_pyobject(py)).collect::<PyResult<Vec<_>>>()?;
    let (letters, from) = (PyTuple::new(py, letters)?, PyTuple::new(py, &step.from)?);
    let (before, after) = (claimed.first().map(place), claimed.get(1).map(place));
    let (claim, law) = (PyString::intern(py, claim), PyString::intern(py, step.law));
    (number, claim, law, before, after, lower, upper, modulus, residue, letters, from).into_pyobject(py)
}
