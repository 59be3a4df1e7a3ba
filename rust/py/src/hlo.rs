//! `_core.HloModule`: the tables of a parsed HLO module, read by row.

use crate::argument::text_of;
use crate::error::guarded;
use crate::objects::{Any, Str};
use indexing_core::{
    parse_module, write_shape, Class, Computation, FloatFormat, HloError, Literal, Module, OpcodeRow,
    WindowDim, ELEMENT_TYPES, OPCODES,
};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// A parsed HLO module. Computations, instructions and shapes are rows of its tables.
#[pyclass(frozen, module = "indexing._core")]
pub struct HloModule {
    tables: Module,
    opcodes: Vec<Py<PyString>>,
}

type Texts = Vec<(String, String)>;
type Window = Vec<(i64, i64, i64, i64, i64, i64, bool)>;
type Labels = (i64, i64, Vec<i64>);

/// Each known opcode: its name, least and greatest number of operands, and the attributes that it needs.
#[pyfunction]
fn hlo_opcodes() -> Vec<(&'static str, u32, Option<u32>, Vec<&'static str>)> {
    let max_operands = |row: &OpcodeRow| (row.max_operands < u32::MAX).then_some(row.max_operands);
    OPCODES.iter().map(|row| (row.name, row.min_operands, max_operands(row), row.needs.to_vec())).collect()
}

/// Exponent and mantissa bits of a float, its bias, and the codes of its largest finite number, infinity and NaN, if any.
type FormatCodes = (u32, u32, i32, u64, Option<u64>, Option<u64>);

/// Each element type that arrays can have: name, bits, and the format of a float, or of a complex number's halves.
#[pyfunction]
fn hlo_element_types() -> Vec<(&'static str, u32, Option<FormatCodes>)> {
    let codes = |f: FloatFormat| {
        (f.exponent, f.mantissa, f.bias, f.largest(), f.infinity(), f.not_a_number(false, None))
    };
    let arrays = ELEMENT_TYPES.iter().filter(|row| row.class != Class::NoArray);
    arrays.map(|row| (row.name, row.bits, row.format.map(codes))).collect()
}

/// Parses HLO text. Raises ParseError.
#[pyfunction]
fn parse_hlo(py: Python<'_>, text: &Str<'_>) -> PyResult<HloModule> {
    let text = text_of(text)?;
    let tables = guarded(py, || py.detach(|| parse_module(text)))?.map_err(|e| parse_error(py, &e, text))?;
    Ok(HloModule::new(py, tables))
}

/// `indexing.errors.ParseError` with line, column and the line itself.
pub fn parse_error(py: Python<'_>, error: &HloError, text: &str) -> PyErr {
    let place = error.place(text);
    let raised =
        py.import("indexing.errors").and_then(|errors| errors.getattr("ParseError")).and_then(|class| {
            class.call1((&error.message, place.line, place.column, place.excerpt, place.caret))
        });
    match raised {
        Ok(value) => PyErr::from_value(value),
        Err(failure) => failure,
    }
}

impl HloModule {
    /// The views of these tables.
    pub fn new(py: Python<'_>, tables: Module) -> Self {
        let opcodes = tables.opcodes.iter().map(|name| PyString::new(py, name).unbind()).collect();
        Self { tables, opcodes }
    }

    /// The tables.
    pub fn tables(&self) -> &Module {
        &self.tables
    }

    fn error(&self, py: Python<'_>, error: &HloError) -> PyErr {
        parse_error(py, error, &self.tables.text)
    }

    fn row(&self, instruction: usize) -> PyResult<usize> {
        in_table(instruction, self.tables.instructions.len())
    }

    fn texts(&self, rows: impl Iterator<Item = usize>) -> Texts {
        let key = |row: usize| self.tables.attributes[row].key.of(&self.tables.text).to_string();
        rows.map(|row| (key(row), self.tables.attribute_value(row))).collect()
    }

    /// Reads an attribute if the instruction has it.
    fn read<T>(
        &self,
        instruction: usize,
        key: &Str<'_>,
        read: impl Fn(&Module, usize) -> Result<T, HloError>,
    ) -> PyResult<Option<T>> {
        let attribute = self.tables.attribute(self.row(instruction)?, text_of(key)?);
        attribute.map(|row| read(&self.tables, row).map_err(|e| self.error(key.py(), &e))).transpose()
    }
}

pub fn in_table(row: usize, length: usize) -> PyResult<usize> {
    if row < length {
        return Ok(row);
    }
    Err(PyIndexError::new_err(format!("row {row} of {length}")))
}

#[pymethods]
impl HloModule {
    /// The name; the entry's if the text has no header.
    #[getter]
    fn name(&self) -> &str {
        &self.tables.name
    }

    /// Row of the entry computation.
    #[getter]
    fn entry(&self) -> u32 {
        self.tables.entry
    }

    /// The number of instructions.
    #[getter]
    fn instruction_count(&self) -> usize {
        self.tables.instructions.len()
    }

    /// The header's attributes.
    fn header(&self) -> Texts {
        self.texts(self.tables.header.range())
    }

    /// Of each computation: name, first instruction, one past the last, root.
    fn computations(&self) -> Vec<(&str, u32, u32, u32)> {
        let row = |c: &'_ Computation| (c.instructions.first, c.instructions.last, c.root);
        let named = self.tables.computations.iter().map(|c| (c.name.as_str(), row(c)));
        named.map(|(name, (first, last, root))| (name, first, last, root)).collect()
    }

    /// The attributes behind the closing brace.
    fn computation_attributes(&self, computation: usize) -> PyResult<Texts> {
        let row = in_table(computation, self.tables.computations.len())?;
        Ok(self.texts(self.tables.computations[row].attributes.range()))
    }

    /// Of an instruction: name, opcode, shape, signature.
    fn instruction(&self, instruction: usize) -> PyResult<(&str, &Py<PyString>, u32, u32)> {
        let i = &self.tables.instructions[self.row(instruction)?];
        Ok((i.name.of(&self.tables.text), &self.opcodes[i.opcode as usize], i.shape, i.signature))
    }

    /// Rows of the operands.
    fn operands(&self, instruction: usize) -> PyResult<Vec<u32>> {
        Ok(self.tables.operands_of(self.row(instruction)?).to_vec())
    }

    /// Element type, sizes, dynamic dimensions, layout (minor-to-major, text), rows of elements, element count.
    #[allow(clippy::type_complexity)]
    fn shape(
        &self,
        shape: usize,
    ) -> PyResult<(&str, Vec<i64>, Vec<bool>, Option<(Vec<u32>, &str)>, Vec<u32>, i64)> {
        let row = &self.tables.shapes[in_table(shape, self.tables.shapes.len())?];
        let layout = row.layout.as_ref().map(|l| (l.minor_to_major.clone(), l.text.as_str()));
        let elements = row.elements.clone();
        Ok((
            row.element.row().name,
            row.dimensions.clone(),
            row.dynamic.clone(),
            layout,
            elements,
            row.element_count,
        ))
    }

    /// Rows of the users.
    fn users(&self, instruction: usize) -> PyResult<Vec<u32>> {
        Ok(self.tables.users_of(self.row(instruction)?).to_vec())
    }

    /// The number of a parameter; -1 for anything else.
    fn parameter_number(&self, instruction: usize) -> PyResult<i64> {
        Ok(self.tables.instructions[self.row(instruction)?].parameter)
    }

    /// All attributes as written.
    fn attributes(&self, instruction: usize) -> PyResult<Texts> {
        Ok(self.texts(self.tables.instructions[self.row(instruction)?].attributes.range()))
    }

    /// Those that say what the instruction computes, as written.
    fn computing_attributes(&self, instruction: usize) -> PyResult<Texts> {
        Ok(self.texts(self.tables.attributes_of(self.row(instruction)?)))
    }

    /// One attribute as written.
    fn attribute(&self, instruction: usize, key: &Str<'_>) -> PyResult<Option<String>> {
        let place = self.tables.attribute(self.row(instruction)?, text_of(key)?);
        Ok(place.map(|row| self.tables.attribute_value(row)))
    }

    /// Called computations: the attribute's key, the computation's row.
    fn calls(&self, instruction: usize) -> PyResult<Vec<(&str, u32)>> {
        Ok(self.tables.calls_of(self.row(instruction)?).collect())
    }

    /// The integers of an attribute.
    fn integers(&self, instruction: usize, key: &Str<'_>) -> PyResult<Option<Vec<i64>>> {
        self.read(instruction, key, Module::integers)
    }

    /// Start, limit, stride of each dimension.
    fn slices(&self, instruction: usize, key: &Str<'_>) -> PyResult<Option<Vec<(i64, i64, i64)>>> {
        self.read(instruction, key, Module::slices)
    }

    /// Low, high, interior padding of each dimension.
    fn padding(&self, instruction: usize, key: &Str<'_>) -> PyResult<Option<Vec<(i64, i64, i64)>>> {
        self.read(instruction, key, Module::padding)
    }

    /// Of each dimension: size, stride, padding low and high, dilation of base and window, reversal.
    fn window(&self, instruction: usize, key: &Str<'_>) -> PyResult<Option<Window>> {
        let dims = self.read(instruction, key, Module::window)?;
        let row = |d: &WindowDim| {
            (d.size, d.stride, d.pad_low, d.pad_high, d.lhs_dilation, d.rhs_dilation, d.reversed)
        };
        Ok(dims.map(|dims| dims.iter().map(row).collect()))
    }

    /// Of input, kernel, output: batch, feature, spatial dimensions.
    fn labels(&self, instruction: usize, key: &Str<'_>) -> PyResult<Option<Vec<Labels>>> {
        let labels = self.read(instruction, key, Module::labels)?;
        Ok(labels.map(|all| all.into_iter().map(|l| (l.batch, l.feature, l.spatial)).collect()))
    }

    /// The groups, each a list of ids.
    fn replica_groups(&self, instruction: usize, key: &Str<'_>) -> PyResult<Option<Vec<Vec<i64>>>> {
        self.read(instruction, key, Module::replica_groups)
    }

    /// A constant's value. Raises IndexError for other instructions.
    fn literal<'py>(&self, py: Python<'py>, instruction: usize) -> PyResult<Any<'py>> {
        let row = self.row(instruction)?;
        let literal = py.detach(|| self.tables.literal(row)).map_err(|e| self.error(py, &e))?;
        match literal {
            Some(literal) => literal_value(py, &literal),
            None => Err(PyIndexError::new_err("no constant")),
        }
    }

    /// A constant's literal as written; empty for other instructions.
    fn literal_text(&self, instruction: usize) -> PyResult<&str> {
        Ok(self.tables.instructions[self.row(instruction)?].literal.of(&self.tables.text))
    }

    /// The place of an instruction: line, column, the line, the characters in front of the name.
    fn place(&self, instruction: usize) -> PyResult<(usize, usize, String, usize)> {
        let at = self.tables.instructions[self.row(instruction)?].name.start as usize;
        let place = HloError::new(at, "").place(&self.tables.text);
        Ok((place.line, place.column, place.excerpt, place.caret))
    }

    /// The module as text that reads back.
    fn text(&self, py: Python<'_>) -> String {
        py.detach(|| self.tables.to_text())
    }

    /// A computation as text.
    fn computation_text(&self, py: Python<'_>, computation: usize) -> PyResult<String> {
        let row = in_table(computation, self.tables.computations.len())?;
        Ok(py.detach(|| self.tables.computation_text(row)))
    }

    /// An instruction as one line of text.
    fn instruction_text(&self, instruction: usize) -> PyResult<String> {
        Ok(self.tables.instruction_text(self.row(instruction)?))
    }

    /// A shape as text.
    fn shape_text(&self, shape: usize) -> PyResult<String> {
        let mut text = String::new();
        let row = in_table(shape, self.tables.shapes.len())?;
        write_shape(&mut text, &self.tables.shapes, row as u32);
        Ok(text)
    }
}

fn literal_value<'py>(py: Python<'py>, literal: &Literal) -> PyResult<Any<'py>> {
    match literal {
        Literal::Array(shape, bytes) | Literal::Splat(shape, bytes) => {
            Ok((*shape, PyBytes::new(py, bytes)).into_pyobject(py)?.into_any())
        }
        Literal::Elided(shape) => Ok((*shape, py.None()).into_pyobject(py)?.into_any()),
        Literal::Token => Ok(py.None().into_bound(py)),
        Literal::Tuple(elements) => {
            let values: PyResult<Vec<_>> = elements.iter().map(|e| literal_value(py, e)).collect();
            Ok(values?.into_pyobject(py)?.into_any())
        }
    }
}

/// Adds the names of this file to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<HloModule>()?;
    module.add_function(wrap_pyfunction!(hlo_element_types, module)?)?;
    module.add_function(wrap_pyfunction!(hlo_opcodes, module)?)?;
    module.add_function(wrap_pyfunction!(parse_hlo, module)?)
}
