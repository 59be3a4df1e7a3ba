//! `SymbolicExpr`.

use crate::argument::{int64, refused, style_of, text_of, Text, VariableIndex, MAX_REPR_LENGTH};
use crate::error::{guarded, invalid, Raise};
use crate::interval::{interval_of, PyInterval};
use crate::notebook::shown;
use crate::objects::{Any, Str};
use crate::vector;
use crate::workspace::{self, Workspace, TEXT};
use indexing_core::{
    abridged_expr, is_multiple_of, range_on_box, read_expr, simplify_expr, write_expr, Arena, Dag, Expr,
    Interval, Node, VariableNames,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt};
use std::collections::HashMap;
use std::fmt::Write;

/// An integer expression over variables v0, v1, ..: `+ - * // %`, `ceildiv`, `min`, `max`; canonical once made.
///
/// `//` floors, `x % m` is in [0, |m|). Raises Overflow if a coefficient exceeds int64, InvalidMap for a divisor 0.
#[pyclass(name = "SymbolicExpr", module = "indexing", frozen, eq, hash)]
#[derive(PartialEq, Hash)]
pub struct PyExpr(pub Dag);

/// An operand: an expression or an integer; `None` for what is neither.
pub enum Operand<'a> {
    Expr(&'a Dag),
    Int(i64),
}

impl Operand<'_> {
    pub fn import(&self, arena: &mut Arena) -> Expr {
        match self {
            Operand::Expr(dag) => arena.import(dag)[0],
            Operand::Int(c) => arena.constant(*c),
        }
    }
}

pub fn operand<'a>(value: &'a Any<'_>) -> PyResult<Option<Operand<'a>>> {
    if let Ok(e) = value.cast::<PyExpr>() {
        return Ok(Some(Operand::Expr(&e.get().0)));
    }
    if value.is_instance_of::<PyInt>() || value.hasattr("__index__")? {
        return Ok(Some(Operand::Int(int64(value)?)));
    }
    Ok(None)
}

/// As [`operand`], with `TypeError` for what is neither.
pub fn need_operand<'a>(value: &'a Any<'_>) -> PyResult<Operand<'a>> {
    operand(value)?.ok_or_else(|| refused(value, "a SymbolicExpr or an int"))
}

/// Read a list of expressions and integers.
pub fn operands<'a>(values: &'a [Any<'_>]) -> PyResult<Vec<Operand<'a>>> {
    values.iter().map(need_operand).collect()
}

pub fn list<'py>(sequence: &Any<'py>) -> PyResult<Vec<Any<'py>>> {
    sequence.try_iter().map_err(|_| refused(sequence, "a sequence"))?.collect()
}

/// An operation of the arena on two expressions.
type Operation = fn(&mut Arena, Expr, Expr) -> indexing_core::Result<Expr>;

fn binary(py: Python<'_>, op: Operation, a: &Operand<'_>, b: &Operand<'_>) -> PyResult<PyExpr> {
    let result = workspace::with(|w| {
        let (x, y) = (a.import(&mut w.arena), b.import(&mut w.arena));
        let e = op(&mut w.arena, x, y)?;
        Ok(w.arena.export(&[e]))
    });
    result.map(PyExpr).raise(py)
}

/// Python's operators: with the expression on the left side, and on the right one.
macro_rules! operators {
    ($($left:ident $right:ident $operation:ident;)+) => {
        #[pymethods]
        impl PyExpr {
            $(
                fn $left(&self, other: &Any<'_>) -> PyResult<Py<PyAny>> {
                    operated(other, |b| binary(other.py(), Arena::$operation, &Operand::Expr(&self.0), &b))
                }

                fn $right(&self, other: &Any<'_>) -> PyResult<Py<PyAny>> {
                    operated(other, |a| binary(other.py(), Arena::$operation, &a, &Operand::Expr(&self.0)))
                }
            )+
        }
    };
}

operators! {
    __add__ __radd__ add;
    __sub__ __rsub__ sub;
    __mul__ __rmul__ mul;
    __floordiv__ __rfloordiv__ floordiv;
    __mod__ __rmod__ modulo;
}

/// The result of an operator with another operand; NotImplemented for what is none.
fn operated<'a>(
    other: &'a Any<'_>,
    result: impl FnOnce(Operand<'a>) -> PyResult<PyExpr>,
) -> PyResult<Py<PyAny>> {
    match operand(other)? {
        Some(other_operand) => Ok(Py::new(other.py(), result(other_operand)?)?.into_any()),
        None => Ok(other.py().NotImplemented()),
    }
}

fn intervals_of(sequence: &Any<'_>) -> PyResult<Vec<Interval>> {
    list(sequence)?.iter().map(interval_of).collect()
}

/// The variables that names stand for in the text of an expression.
struct Names {
    given: HashMap<String, u32>,
    num_dims: Option<u32>,
}

impl VariableNames for Names {
    fn index_of(&self, name: &str) -> Option<u32> {
        if let Some(v) = self.given.get(name) {
            return Some(*v);
        }
        let (letter, digits) = name.split_at_checked(1)?;
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let place: u32 = digits.parse().ok()?;
        match (letter, self.num_dims) {
            ("v", _) => Some(place),
            ("d", None) => Some(place),
            ("d", Some(n)) => (place < n).then_some(place),
            ("s", Some(n)) => place.checked_add(n),
            _ => None,
        }
    }

    fn expected(&self) -> String {
        match (self.given.is_empty(), self.num_dims) {
            (true, None) => "an expression (variables are v0, v1, ..; s0 needs num_dims)".to_owned(),
            (true, Some(n)) => {
                format!("an expression (variables are v0, ..; dimensions d0 to d{}; s0, ..)", n - n.min(1))
            }
            (false, _) => "an expression of the variables that are named".to_owned(),
        }
    }
}

/// The expressions of the roots of `dag`, each a value of its own.
pub fn split(arena: &mut Arena, roots: &[Expr]) -> Vec<PyExpr> {
    roots.iter().map(|r| PyExpr(arena.export(&[*r]))).collect()
}

#[pymethods]
impl PyExpr {
    /// Read an expression. `v3` is variable 3; `names` gives other names their variables; with `num_dims` n, `d0` is
    /// variable 0 and `s0` variable n. Raises ParseError.
    #[staticmethod]
    #[pyo3(signature = (text, names = None, num_dims = None))]
    fn parse(
        py: Python<'_>,
        text: &Str<'_>,
        names: Option<HashMap<Text, VariableIndex>>,
        num_dims: Option<VariableIndex>,
    ) -> PyResult<PyExpr> {
        let text = text_of(text)?;
        let given = names.unwrap_or_default().into_iter().map(|(name, index)| (name.0, index.0)).collect();
        let names = Names { given, num_dims: num_dims.map(|n| n.0) };
        let read = || {
            workspace::with(|w| {
                let e = read_expr(text, &mut w.arena, &mut w.reading, &names)?;
                Ok(w.arena.export(&[e]))
            })
        };
        guarded(py, || workspace::released(py, text.len() / TEXT, read))?.map(PyExpr).raise_in(py, text)
    }

    fn __neg__(&self, py: Python<'_>) -> PyResult<PyExpr> {
        binary(py, Arena::mul, &Operand::Expr(&self.0), &Operand::Int(-1))
    }

    fn __pos__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// The quotient, rounded towards plus infinity.
    fn ceildiv(&self, other: &Any<'_>) -> PyResult<PyExpr> {
        binary(other.py(), Arena::ceildiv, &Operand::Expr(&self.0), &need_operand(other)?)
    }

    /// The smaller of the two.
    fn min(&self, other: &Any<'_>) -> PyResult<PyExpr> {
        binary(other.py(), Arena::min, &Operand::Expr(&self.0), &need_operand(other)?)
    }

    /// The greater of the two.
    fn max(&self, other: &Any<'_>) -> PyResult<PyExpr> {
        binary(other.py(), Arena::max, &Operand::Expr(&self.0), &need_operand(other)?)
    }

    /// The expression itself: all expressions are canonical.
    fn canonicalize(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// The value for variable i equal to `values[i]`: an int, or an array if values are arrays (which are broadcast).
    ///
    /// Raises Overflow, and InvalidMap for a divisor 0 or a variable without a value.
    fn evaluate<'py>(&self, py: Python<'py>, values: &Any<'py>) -> PyResult<Any<'py>> {
        let values_of_roots = vector::evaluate(py, &self.0, 1, vector::values_of(&[values])?)?;
        values_of_roots.into_iter().next().ok_or_else(|| invalid(py, "there is no expression"))
    }

    /// The expression with each key replaced by its value, as a node, a constant or a coefficient of a sum.
    fn replace(&self, py: Python<'_>, replacements: &Bound<'_, PyDict>) -> PyResult<PyExpr> {
        let (keys, values) = (list(replacements.keys().as_any())?, list(replacements.values().as_any())?);
        let (keys, values) = (operands(&keys)?, operands(&values)?);
        let result = workspace::with(|w| {
            let pairs: Vec<(Expr, Expr)> = keys
                .iter()
                .zip(&values)
                .map(|(k, v)| (k.import(&mut w.arena), v.import(&mut w.arena)))
                .collect();
            let new = w.arena.import_replaced(&self.0, &pairs)?;
            Ok(w.arena.export(&new))
        });
        result.map(PyExpr).raise(py)
    }

    /// The expression with variable i replaced by `replacements[i]`; variables beyond the list are kept.
    fn replace_variables(&self, py: Python<'_>, replacements: &Any<'_>) -> PyResult<PyExpr> {
        let values = list(replacements)?;
        let values = operands(&values)?;
        let result = workspace::with(|w| {
            let own = w.arena.import(&self.0);
            let used = w.arena.variables(&own);
            let mut new = vec![own[0]; values.len()]; // most stand for variables that it does not have
            for (k, value) in used.iter().map_while(|v| Some((*v as usize, values.get(*v as usize)?))) {
                new[k] = value.import(&mut w.arena);
            }
            let root = w.arena.import_substituted(&self.0, &new)?;
            Ok(w.arena.export(&root))
        });
        result.map(PyExpr).raise(py)
    }

    /// The indices of the variables in it, sorted.
    fn used_variables(&self) -> Vec<u32> {
        workspace::with(|w| {
            let roots = w.arena.import(&self.0);
            w.arena.variables(&roots)
        })
    }

    /// All subexpressions, each once, operands before their users.
    fn postorder(&self) -> Vec<PyExpr> {
        workspace::with(|w| {
            let roots = w.arena.import(&self.0);
            let order = w.arena.post_order(&roots);
            split(&mut w.arena, &order)
        })
    }

    /// An expression of no greater cost that has the same values for variables i in `intervals[i]`.
    fn simplify(&self, intervals: &Any<'_>) -> PyResult<PyExpr> {
        let bounds = intervals_of(intervals)?;
        let simplify = |w: &mut Workspace| {
            let root = w.arena.import(&self.0)[0];
            let e = simplify_expr(&mut w.arena, &mut w.scratch, root, bounds);
            PyExpr(w.arena.export(&[e]))
        };
        Ok(workspace::released(intervals.py(), self.0.byte_size(), || workspace::with(simplify)))
    }

    /// An interval that contains all values for variables i in `intervals[i]`.
    fn range(&self, intervals: &Any<'_>) -> PyResult<PyInterval> {
        let bounds = intervals_of(intervals)?;
        let range = |w: &mut Workspace| {
            let root = w.arena.import(&self.0)[0];
            PyInterval(range_on_box(&mut w.arena, &mut w.scratch, root, bounds))
        };
        Ok(workspace::released(intervals.py(), self.0.byte_size(), || workspace::with(range)))
    }

    /// Whether all values are known to be multiples of `factor`.
    fn is_multiple_of(&self, factor: &Any<'_>) -> PyResult<bool> {
        let factor = int64(factor)?;
        Ok(workspace::with(|w| {
            let root = w.arena.import(&self.0)[0];
            is_multiple_of(&mut w.arena, &mut w.scratch, root, factor)
        }))
    }

    /// The subexpressions of `postorder`, each as its kind, its numbers and the places of its operands.
    ///
    /// Kinds: variable (its index), constant, floordiv, mod, product, min, max, sum (its constant, then a coefficient an
    /// operand).
    fn nodes(&self) -> Vec<FlatNode> {
        workspace::with(|w| {
            let roots = w.arena.import(&self.0);
            let order = w.arena.post_order(&roots);
            let place: HashMap<Expr, usize> = order.iter().enumerate().map(|(k, e)| (*e, k)).collect();
            order.iter().map(|&e| flat_node(w.arena.node(e), &place)).collect()
        })
    }

    /// The value of a constant; None for other expressions.
    #[getter]
    fn constant_value(&self) -> Option<i64> {
        workspace::with(|w| {
            let root = w.arena.import(&self.0)[0];
            w.arena.as_constant(root)
        })
    }

    /// The index of a variable; None for other expressions.
    #[getter]
    fn variable_index(&self) -> Option<u32> {
        workspace::with(|w| {
            let root = w.arena.import(&self.0)[0];
            w.arena.as_variable(root)
        })
    }

    /// The text; variables are named by `names`, or d0, .., s0, .. where `num_dims` is given, or v0, ..; the style
    /// "xla" prints `/` and binary min and max.
    #[pyo3(signature = (names = None, num_dims = None, style = None))]
    fn to_text(
        &self,
        py: Python<'_>,
        names: Option<Vec<Text>>,
        num_dims: Option<VariableIndex>,
        style: Option<&Str<'_>>,
    ) -> PyResult<String> {
        let num_dims = num_dims.map(|n| n.0);
        let name = |v: u32, out: &mut String| {
            let given = names.as_ref().and_then(|n| n.get(v as usize));
            // Writing to a string cannot fail.
            let _ = match (given, num_dims) {
                (Some(name), _) => out.write_str(&name.0),
                (None, Some(n)) if v < n => write!(out, "d{v}"),
                (None, Some(n)) => write!(out, "s{}", v - n),
                (None, None) => write!(out, "v{v}"),
            };
        };
        write_expr(&self.0, 0, style_of(style)?, &name).raise(py)
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        self.to_text(py, None, None, None)
    }

    fn __repr__(&self) -> String {
        let name = |v: u32, out: &mut String| {
            // Writing to a string cannot fail.
            let _ = write!(out, "v{v}");
        };
        format!("SymbolicExpr({})", abridged_expr(&self.0, 0, MAX_REPR_LENGTH, &name))
    }

    /// The expression as a notebook shows it: a formula.
    fn _repr_latex_<'py>(slf: &Bound<'py, Self>) -> PyResult<Any<'py>> {
        shown(slf.as_any(), "formula")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Any<'py>, (String,))> {
        Ok((slf.get_type().getattr("parse")?, (slf.get().__str__(slf.py())?,)))
    }
}

/// Kind, numbers (a variable's index; a constant; a sum's constant and coefficients), places of operands.
/// A node: its kind, its numbers, the places of its operands.
pub type FlatNode = (&'static str, Vec<i64>, Vec<usize>);

pub fn flat_node(node: Node<'_>, place: &HashMap<Expr, usize>) -> FlatNode {
    let all = |args: &[Expr]| args.iter().map(|a| place[a]).collect();
    match node {
        Node::Variable(v) => ("variable", vec![v.into()], vec![]),
        Node::Constant(c) => ("constant", vec![c], vec![]),
        Node::FloorDiv(a, b) => ("floordiv", vec![], all(&[a, b])),
        Node::Mod(a, b) => ("mod", vec![], all(&[a, b])),
        Node::Product(args) => ("product", vec![], all(args)),
        Node::Min(args) => ("min", vec![], all(args)),
        Node::Max(args) => ("max", vec![], all(args)),
        Node::Sum(c, terms) => {
            let numbers = std::iter::once(c).chain(terms.iter().map(|t| t.coeff)).collect();
            ("sum", numbers, terms.iter().map(|t| place[&t.expr]).collect())
        }
    }
}

/// Variable `index`.
#[pyfunction]
pub fn variable(index: VariableIndex) -> PyExpr {
    workspace::with(|w| {
        let e = w.arena.variable(index.0);
        PyExpr(w.arena.export(&[e]))
    })
}

/// A constant.
#[pyfunction]
pub fn constant(value: &Any<'_>) -> PyResult<PyExpr> {
    let value = int64(value)?;
    Ok(workspace::with(|w| {
        let e = w.arena.constant(value);
        PyExpr(w.arena.export(&[e]))
    }))
}
