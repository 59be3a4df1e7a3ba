//! From tables to text that reads back to the same tables.

use super::element::ElementType;
use super::error::Result;
use super::lexer::Cursor;
use super::literal::{parse_literal, Literal};
use super::shape::{Interner, ShapeId, ShapeTable, UNBOUNDED};
use super::tables::{Instruction, Module, Rows};

impl Module {
    /// The module as text.
    pub fn to_text(&self) -> String {
        let mut out = String::with_capacity(self.text.len());
        out.extend(["HloModule ", &self.name]);
        self.write_attributes(&mut out, self.header);
        out.push('\n');
        for table in &self.debug_tables {
            out.extend(["\n", table.of(&self.text), "\n"]);
        }
        for (index, _) in self.computations.iter().enumerate() {
            out.push('\n');
            self.write_computation(&mut out, index);
        }
        out
    }

    fn write_computation(&self, out: &mut String, index: usize) {
        let computation = &self.computations[index];
        let head = if index == self.entry as usize { "ENTRY %" } else { "%" };
        out.extend([head, &computation.name, " {\n"]);
        for row in computation.instructions.range() {
            out.push_str(if row == computation.root as usize { "  ROOT %" } else { "  %" });
            self.write_instruction(out, row);
            out.push('\n');
        }
        out.push('}');
        self.write_attributes(out, computation.attributes);
        out.push('\n');
    }

    fn write_instruction(&self, out: &mut String, row: usize) {
        let instruction = &self.instructions[row];
        out.extend([instruction.name.of(&self.text), " = "]);
        write_shape(out, &self.shapes, instruction.shape);
        out.extend([" ", &self.opcodes[instruction.opcode as usize], "("]);
        self.write_arguments(out, row, instruction);
        out.push(')');
        self.write_attributes(out, instruction.attributes);
    }

    fn write_arguments(&self, out: &mut String, row: usize, instruction: &Instruction) {
        out.push_str(instruction.literal.of(&self.text));
        if instruction.parameter >= 0 {
            out.push_str(&instruction.parameter.to_string());
        }
        for (i, &operand) in self.operands_of(row).iter().enumerate() {
            write_separator(out, i);
            out.extend(["%", self.instructions[operand as usize].name.of(&self.text)]);
        }
    }

    fn write_attributes(&self, out: &mut String, rows: Rows) {
        for row in rows.range() {
            out.extend([", ", self.attributes[row].key.of(&self.text), "=", &self.attribute_value(row)]);
        }
    }

    /// An instruction as one line of text.
    pub fn instruction_text(&self, row: usize) -> String {
        let computation = &self.computations[self.instructions[row].computation as usize];
        let mut out = String::from(if row == computation.root as usize { "ROOT %" } else { "%" });
        self.write_instruction(&mut out, row);
        out
    }

    /// A computation as text.
    pub fn computation_text(&self, index: usize) -> String {
        let mut out = String::new();
        self.write_computation(&mut out, index);
        out
    }

    /// The value of an attribute: as written, and by name where it is a computation.
    pub fn attribute_value(&self, row: usize) -> String {
        let attribute = &self.attributes[row];
        if attribute.value.end > attribute.value.start {
            return attribute.value.of(&self.text).to_string();
        }
        let first = self.calls.partition_point(|c| (c.attribute as usize) < row);
        let called = self.calls[first..].iter().take_while(|c| c.attribute as usize == row);
        let names = called.map(|c| self.computations[c.computation as usize].name.as_str());
        called_text(attribute.key.of(&self.text), names)
    }

    /// The value of a constant; `None` for any other instruction.
    pub fn literal(&self, row: usize) -> Result<Option<Literal>> {
        let instruction = &self.instructions[row];
        if instruction.literal.start == instruction.literal.end {
            return Ok(None);
        }
        let mut cursor = Cursor::new(&self.text, instruction.literal.start as usize);
        parse_literal(&mut cursor, &self.shapes, instruction.shape).map(Some)
    }
}

/// The value of an attribute that names computations.
pub(super) fn called_text<'n>(key: &str, names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.map(|name| format!("%{name}")).collect();
    let is_list = matches!(key, "branch_computations" | "called_computations") || names.len() != 1;
    if is_list {
        return format!("{{{}}}", names.join(", "));
    }
    names.concat()
}

/// Writes what stands in front of item `i` of a list: a comma, and in long lists its number now and then.
fn write_separator(out: &mut String, i: usize) {
    if i > 0 {
        out.push_str(", ");
    }
    if i > 0 && i % 5 == 0 {
        out.push_str(&format!("/*index={i}*/"));
    }
}

/// Writes a shape as text.
pub fn write_shape(out: &mut String, table: &ShapeTable, id: ShapeId) {
    let shape = &table[id as usize];
    if matches!(shape.element, ElementType::TUPLE | ElementType::BUFFER) {
        out.push_str(if shape.element == ElementType::TUPLE { "(" } else { "b(" });
        for (i, &element) in shape.elements.iter().enumerate() {
            write_separator(out, i);
            // nesting is bounded by MAX_TUPLE_DEPTH
            write_shape(out, table, element);
        }
        out.push(')');
        return;
    }
    out.extend([shape.element.row().name, "["]);
    for (i, (size, dynamic)) in shape.dimensions.iter().zip(&shape.dynamic).enumerate() {
        if i > 0 {
            out.push(',');
        }
        match (*size, *dynamic) {
            (UNBOUNDED, _) => out.push('?'),
            (size, true) => out.push_str(&format!("<={size}")),
            (size, false) => out.push_str(&size.to_string()),
        }
    }
    out.push(']');
    if let Some(layout) = &shape.layout {
        out.push_str(&layout.text);
    }
}

impl Interner<'_> {
    /// The shape as text.
    pub(super) fn text(&self, id: ShapeId) -> String {
        let mut out = String::new();
        write_shape(&mut out, &self.table, id);
        out
    }
}
