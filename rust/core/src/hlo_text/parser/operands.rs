//! Contents of an instruction's parentheses: operands, a literal, a parameter's number.

use super::super::literal::parse_literal;
use super::super::opcodes::OPCODES;
use super::*;

/// An operand in text.
enum Operand {
    /// An instruction by name: its row.
    Named(u32),
    /// An instruction written in place of a name, as far as its opcode.
    InPlace(Pending),
}

/// An instruction in place of an operand, whose own operands are being read.
struct Level {
    pending: Pending,
    rows: Vec<u32>,
}

impl<'a> Parser<'a> {
    /// The parentheses and what stands in them.
    pub(super) fn arguments(&mut self, pending: &mut Pending) -> Result<()> {
        self.cursor.require(b'(')?;
        if self.inline_argument(pending)? {
            return Ok(());
        }
        let rows = self.operands()?;
        self.file_operands(pending, &rows);
        self.spare_rows = rows;
        Ok(())
    }

    pub(super) fn file_operands(&mut self, pending: &mut Pending, rows: &[u32]) {
        let first = self.module.operands.len();
        self.module.operands.extend_from_slice(rows);
        pending.operands = Rows::new(first, self.module.operands.len());
    }

    /// Reads a parameter's number or a literal with its closing parenthesis; `false` if operands are due.
    fn inline_argument(&mut self, pending: &mut Pending) -> Result<bool> {
        match self.module.opcodes[pending.opcode as usize].as_str() {
            "parameter" => {
                let at = self.cursor.at;
                pending.parameter = self.cursor.integer("a parameter's number")?;
                if pending.parameter < 0 {
                    return Err(HloError::new(at, "a parameter's number cannot be negative"));
                }
                self.cursor.require(b')')?;
                Ok(true)
            }
            "constant" => self.constant(pending).map(|()| true),
            _ => Ok(false),
        }
    }

    fn constant(&mut self, pending: &mut Pending) -> Result<()> {
        let Some(shape) = pending.shape else {
            let message = "expected the shape of a constant before its opcode";
            return Err(HloError::new(pending.opcode_at, message));
        };
        self.cursor.skip_space()?;
        let start = self.cursor.at;
        parse_literal(&mut self.cursor, &self.shapes.table, shape)?;
        pending.literal = Span::new(start, self.cursor.at);
        self.cursor.require(b')')
    }

    /// Operands up to the closing parenthesis, with a stack of those that are instructions written in place.
    fn operands(&mut self) -> Result<Vec<u32>> {
        let mut rows = std::mem::take(&mut self.spare_rows);
        rows.clear();
        let mut levels: Vec<Level> = Vec::new();
        let mut first = true;
        loop {
            let mut row = None;
            if !(first && self.cursor.take(b')')?) {
                match self.operand()? {
                    Operand::Named(named) => row = Some(named),
                    Operand::InPlace(mut pending) => {
                        self.cursor.require(b'(')?;
                        if !self.inline_argument(&mut pending)? {
                            levels.push(Level { pending, rows: Vec::new() });
                            first = true;
                            continue;
                        }
                        row = Some(self.add(&pending)?);
                    }
                }
            }
            loop {
                if let Some(row) = row {
                    levels.last_mut().map_or(&mut rows, |level| &mut level.rows).push(row);
                    if self.cursor.take(b',')? {
                        break;
                    }
                    if !self.cursor.take(b')')? {
                        return Err(self.cursor.expected("',' or ')' after an operand"));
                    }
                }
                let Some(mut level) = levels.pop() else { return Ok(rows) };
                self.file_operands(&mut level.pending, &level.rows);
                row = Some(self.add(&level.pending)?);
            }
            first = false;
        }
    }

    /// `%name`, with or without its shape in front, or an instruction without name and attributes.
    fn operand(&mut self) -> Result<Operand> {
        self.cursor.skip_space()?;
        let start = self.cursor.at;
        let word = self.cursor.peek_word();
        let shaped = self.starts_shape(word)?;
        let shape = if shaped { Some(self.shapes.parse(&mut self.cursor)?) } else { None };
        self.cursor.skip_space()?;
        if self.is_opcode(self.cursor.peek_word()) {
            return self.pending(Span::default(), false, shape).map(Operand::InPlace);
        }
        let at = self.cursor.at;
        let name = self.cursor.name("an operand's name")?;
        let Some(frame) = self.frames.last_mut() else { return Ok(Operand::Named(0)) };
        let row = match (frame.names.get(name), shape) {
            (Some(&row), _) => row,
            (None, Some(shape)) if frame.bare.is_some() => {
                let start = self.cursor.offset_of(name);
                let span = Span::new(start, start + name.len());
                let row = implied_parameter(frame, span, shape, &mut self.signatures);
                frame.names.insert(name, row);
                row
            }
            (None, _) => {
                let message = format!("{name} is not defined before this use in {}", frame.name);
                return Err(HloError::new(at, message));
            }
        };
        let row = self.elements_of(row)?;
        let Some(frame) = self.frames.last() else { return Ok(Operand::Named(0)) };
        if let Some(given) = shape {
            let actual = frame.instructions[row as usize].shape;
            if self.shapes.bare(given) != self.shapes.bare(actual) {
                let (actual, given) = (self.shapes.text(actual), self.shapes.text(given));
                return Err(HloError::new(start, format!("{name} has shape {actual}, not {given}")));
            }
        }
        Ok(Operand::Named(row))
    }

    /// Whether a shape stands at the cursor, with this word in front.
    fn starts_shape(&self, word: &str) -> Result<bool> {
        let after = self.cursor.peek_at(word.len());
        if !matches!(after, b' ' | b'/' | b'\t' | b'\r' | b'\n') || ElementType::named(word).is_none() {
            return Ok(self.cursor.peek() == b'(' || matches!(after, b'[' | b'(') && !self.is_opcode(word));
        }
        let mut ahead = self.cursor.clone();
        ahead.at += word.len();
        ahead.take(b'[')
    }

    /// Whether a word at the cursor is an opcode: a parenthesis follows, and it is no buffer's shape.
    pub(super) fn is_opcode(&self, word: &str) -> bool {
        !word.is_empty() && word != "b" && self.cursor.peek_at(word.len()) == b'('
    }
}

/// Adds a parameter for a name that instructions without a computation use but do not define; numbers follow the text.
fn implied_parameter(frame: &mut Frame, name: Span, shape: ShapeId, signatures: &mut Signatures) -> u32 {
    let row = frame.instructions.len() as u32;
    let number = frame.bare.unwrap_or(0);
    frame.bare = Some(number + 1);
    let opcode = OPCODES.iter().position(|row| row.name == "parameter").unwrap_or_default() as u16;
    let (signature, _) = signatures.intern("", (opcode, shape, number, Span::default()), &[], &[], &[]);
    frame.instructions.push(Instruction {
        name,
        opcode,
        shape,
        parameter: number,
        signature,
        ..Instruction::default()
    });
    row
}
