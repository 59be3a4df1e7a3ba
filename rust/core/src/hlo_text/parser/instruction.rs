//! One instruction: head, arguments, attributes, and what is checked when all of it is read.

use super::super::infer::{realize, Asked, Outcome, Site};
use super::super::literal::parse_literal;
use super::super::opcodes::{OpcodeRow, OPCODES};
use super::super::tables::Call;
use super::*;

impl<'a> Parser<'a> {
    /// `ROOT %name = shape opcode(operands)`.
    pub(super) fn instruction_head(&mut self) -> Result<()> {
        let mut at = self.cursor.at;
        let mut name = self.cursor.name("an instruction or '}'")?;
        let mut root = false;
        if name == "ROOT" && !self.cursor.take(b'=')? {
            self.cursor.skip_space()?;
            at = self.cursor.at;
            name = self.cursor.name("the root's name")?;
            self.cursor.require(b'=')?;
            root = true;
        } else if name != "ROOT" {
            self.cursor.require(b'=')?;
        }
        let start = self.cursor.offset_of(name);
        self.define(name, at)?;
        let shape = self.result_shape()?;
        self.cursor.skip_space()?;
        let opcode_at = self.cursor.at;
        let opcode = self.cursor.word("an opcode")?;
        let opcode = self.opcode(opcode, opcode_at)?;
        let mut pending = Pending {
            root,
            name: Span::new(start, start + name.len()),
            opcode,
            opcode_at,
            shape,
            operands: Rows::default(),
            literal: Span::default(),
            parameter: -1,
        };
        self.arguments(&mut pending)?;
        if let Some(frame) = self.frames.last_mut() {
            frame.pending = Some(pending);
        }
        Ok(())
    }

    fn define(&mut self, name: &'a str, at: usize) -> Result<()> {
        let Some(frame) = self.frames.last() else { return Ok(()) };
        let row = frame.instructions.len() as u32;
        if self.names.insert((frame.number, name), row).is_some() {
            return Err(HloError::new(at, format!("{name} is defined twice in {}", frame.name)));
        }
        Ok(())
    }

    /// The shape before the opcode; `None` where the text leaves it to inference.
    fn result_shape(&mut self) -> Result<Option<ShapeId>> {
        self.cursor.skip_space()?;
        let word = self.cursor.peek_word();
        let after = self.cursor.peek_at(word.len());
        if !word.is_empty() && after == b'(' {
            return Ok(None);
        }
        self.shapes.parse(&mut self.cursor).map(Some)
    }

    fn opcode(&mut self, name: &'a str, at: usize) -> Result<u16> {
        if let Some(&row) = self.opcodes.get(name) {
            return Ok(row);
        }
        let row = u16::try_from(self.module.opcodes.len())
            .map_err(|_| HloError::new(at, "more than 65535 different opcodes"))?;
        self.opcodes.insert(name, row);
        self.module.opcodes.push(name.to_string());
        Ok(row)
    }

    /// What stands in parentheses: operands, a literal, or a parameter's number.
    fn arguments(&mut self, pending: &mut Pending) -> Result<()> {
        self.cursor.require(b'(')?;
        match self.module.opcodes[pending.opcode as usize].as_str() {
            "parameter" => {
                let at = self.cursor.at;
                pending.parameter = self.cursor.integer("a parameter's number")?;
                if pending.parameter < 0 {
                    return Err(HloError::new(at, "a parameter's number cannot be negative"));
                }
                self.cursor.require(b')')
            }
            "constant" => self.constant(pending),
            _ => self.operands(pending),
        }
    }

    fn constant(&mut self, pending: &mut Pending) -> Result<()> {
        let Some(shape) = pending.shape else {
            return Err(HloError::new(
                pending.opcode_at,
                "expected the shape of a constant before its opcode",
            ));
        };
        self.cursor.skip_space()?;
        let start = self.cursor.at;
        parse_literal(&mut self.cursor, &self.shapes.table, shape)?;
        pending.literal = Span::new(start, self.cursor.at);
        self.cursor.require(b')')
    }

    fn operands(&mut self, pending: &mut Pending) -> Result<()> {
        let first = self.module.operands.len();
        if !self.cursor.take(b')')? {
            loop {
                self.operand()?;
                if !self.cursor.take(b',')? {
                    if !self.cursor.take(b')')? {
                        return Err(self.cursor.expected("',' or ')' after an operand"));
                    }
                    break;
                }
            }
        }
        pending.operands = Rows::new(first, self.module.operands.len());
        Ok(())
    }

    /// `%name`, with or without its shape in front.
    fn operand(&mut self) -> Result<()> {
        self.cursor.skip_space()?;
        let start = self.cursor.at;
        let word = self.cursor.peek_word();
        let shaped =
            self.cursor.peek() == b'(' || !word.is_empty() && self.cursor.peek_at(word.len()) == b'[';
        let shape = if shaped { Some(self.shapes.parse(&mut self.cursor)?) } else { None };
        self.cursor.skip_space()?;
        let at = self.cursor.at;
        let name = self.cursor.name("an operand's name")?;
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        let known =
            self.names.get(&(frame.number, name)).filter(|&&row| (row as usize) < frame.instructions.len());
        let row = match (known, shape) {
            (Some(&row), _) => row,
            (None, Some(shape)) if frame.bare.is_some() => {
                let start = self.cursor.offset_of(name);
                let row = implied_parameter(
                    frame,
                    Span::new(start, start + name.len()),
                    shape,
                    &mut self.signatures,
                );
                self.names.insert((frame.number, name), row);
                row
            }
            (None, _) => {
                let message = format!("{name} is not defined before this use in {}", frame.name);
                return Err(HloError::new(at, message));
            }
        };
        if let Some(given) = shape {
            let actual = frame.instructions[row as usize].shape;
            if self.shapes.bare(given) != self.shapes.bare(actual) {
                let message =
                    format!("{name} has shape {}, not {}", self.shapes.text(actual), self.shapes.text(given));
                return Err(HloError::new(start, message));
            }
        }
        self.module.operands.push(row);
        Ok(())
    }

    /// One step behind the operands: the next attribute, a part of a list of computations, or the end.
    pub(super) fn attribute_or_end(&mut self) -> Result<()> {
        let in_list = self.frames.last().is_some_and(|f| f.in_list);
        if in_list {
            return self.list_item();
        }
        if !self.cursor.take(b',')? {
            return self.finish_instruction();
        }
        let (key, at) = self.key()?;
        let text = self.cursor.text;
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        refuse_twice(&frame.attributes, text, key, at)?;
        if !COMPUTATION_KEYS.contains(&key.of(text)) {
            let value = self.cursor.value(&mut self.scratch)?;
            frame.attributes.push(Attribute { key, value });
            return Ok(());
        }
        frame.attributes.push(Attribute { key, value: Span::default() });
        self.cursor.skip_space()?;
        if self.cursor.peek() == b'{' && self.is_list()? {
            self.cursor.at += 1;
            if let Some(frame) = self.frames.last_mut() {
                frame.in_list = true;
            }
            return Ok(());
        }
        self.computation_value()
    }

    /// A list of computations, item by item, as they may be written in place.
    fn list_item(&mut self) -> Result<()> {
        self.cursor.skip_space()?;
        match self.cursor.peek() {
            b',' => {
                self.cursor.at += 1;
                Ok(())
            }
            b'}' => {
                self.cursor.at += 1;
                if let Some(frame) = self.frames.last_mut() {
                    frame.in_list = false;
                }
                Ok(())
            }
            _ => self.computation_value(),
        }
    }

    /// Whether the brace at the cursor opens a list of names or of bodies, rather than one body.
    fn is_list(&self) -> Result<bool> {
        let mut ahead = self.cursor.clone();
        ahead.at += 1;
        ahead.skip_space()?;
        if matches!(ahead.peek(), b'{' | b'}') {
            return Ok(true);
        }
        ahead.name("a computation or an instruction")?;
        ahead.skip_space()?;
        Ok(matches!(ahead.peek(), b',' | b'}'))
    }

    /// A computation's name, or the computation itself.
    fn computation_value(&mut self) -> Result<()> {
        let at = self.cursor.at;
        if self.cursor.peek() == b'{' {
            self.cursor.at += 1;
            self.push_frame("_", at, false, None);
            return Ok(());
        }
        let name = self.cursor.name("a computation's name")?;
        self.add_call(Target::Named(name, at));
        Ok(())
    }

    pub(super) fn add_call(&mut self, target: Target<'a>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.calls.push((frame.attributes.len() as u32 - 1, target));
        }
    }

    /// What stands behind the last attribute: checks, and a row in the table.
    fn finish_instruction(&mut self) -> Result<()> {
        let Some(mut frame) = self.frames.pop() else { return Ok(()) };
        if let Some(pending) = frame.pending.take() {
            let (shape, signature) = self.judge(&frame, &pending)?;
            self.add_instruction(&mut frame, &pending, shape, signature)?;
        }
        self.frames.push(frame);
        Ok(())
    }

    /// Shape and signature. What the shape must be is asked once for each signature.
    fn judge(&mut self, frame: &Frame, pending: &Pending) -> Result<(ShapeId, u32)> {
        let operands = &self.module.operands[pending.operands.range()];
        self.operand_shapes.clear();
        self.operand_shapes.extend(operands.iter().map(|&o| frame.instructions[o as usize].shape));
        let row = OPCODES.get(pending.opcode as usize);
        check_arity(row, operands.len(), pending.opcode_at)?;
        let opcode = &self.module.opcodes[pending.opcode as usize];
        let mut asked = Asked { text: self.cursor.text, opcode, at: pending.opcode_at, given: pending.shape };
        let operands = &self.operand_shapes;
        let shape = shape_of(&asked, row, &mut self.shapes, operands, &frame.attributes)?;
        let (signature, new) = self.signatures.intern(
            self.cursor.text,
            (pending.opcode, shape, pending.parameter, pending.literal),
            operands,
            &frame.attributes,
            &frame.calls,
        );
        if let (true, Some(row)) = (new, row) {
            asked.given = Some(shape);
            let site = Site { asked, shapes: &self.shapes, operands, attributes: &frame.attributes };
            site.check(&(row.rule)(&site)?)?;
        }
        Ok((shape, signature))
    }

    fn add_instruction(
        &mut self,
        frame: &mut Frame<'a>,
        pending: &Pending,
        shape: ShapeId,
        signature: u32,
    ) -> Result<()> {
        let row = frame.instructions.len() as u32;
        if let Some(next) = &mut frame.bare {
            // parameters may have been put in front
            *next = (*next).max(pending.parameter.saturating_add(1));
            self.names.insert((frame.number, pending.name.of(self.cursor.text)), row);
        }
        if pending.root && frame.root.replace(row).is_some() {
            let message = format!("a second ROOT in {}", frame.name);
            return Err(HloError::new(pending.name.start as usize, message));
        }
        let (attributes, calls) = self.file_attributes(frame);
        frame.instructions.push(Instruction {
            name: pending.name,
            opcode: pending.opcode,
            shape,
            computation: 0,
            operands: pending.operands,
            attributes,
            calls,
            literal: pending.literal,
            parameter: pending.parameter,
            signature,
        });
        Ok(())
    }

    /// Moves the attributes and calls that were read into the module's tables.
    fn file_attributes(&mut self, frame: &mut Frame<'a>) -> (Rows, Rows) {
        let first_attribute = self.module.attributes.len();
        let first_call = self.module.calls.len();
        self.module.attributes.append(&mut frame.attributes);
        for (attribute, target) in frame.calls.drain(..) {
            self.module.calls.push(Call { attribute: first_attribute as u32 + attribute, computation: 0 });
            self.targets.push(target);
        }
        let attributes = Rows::new(first_attribute, self.module.attributes.len());
        (attributes, Rows::new(first_call, self.module.calls.len()))
    }
}

/// What bare instructions use and do not define is a parameter, numbered as it comes.
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
        computation: 0,
        operands: Rows::default(),
        attributes: Rows::default(),
        calls: Rows::default(),
        literal: Span::default(),
        parameter: number,
        signature,
    });
    row
}

/// The shape that the text gives, or the one that the operands tell.
fn shape_of(
    asked: &Asked,
    row: Option<&OpcodeRow>,
    shapes: &mut Interner,
    operands: &[ShapeId],
    attributes: &[Attribute],
) -> Result<ShapeId> {
    if let Some(shape) = asked.given {
        return Ok(shape);
    }
    let site = Site { asked: *asked, shapes, operands, attributes };
    let unknown = site.error("expected the shape in front of the opcode, for the operands do not tell it");
    let outcome = row.map_or(Ok(Outcome::Any), |row| (row.rule)(&site))?;
    realize(shapes, &outcome).ok_or(unknown)
}

fn check_arity(row: Option<&OpcodeRow>, count: usize, at: usize) -> Result<()> {
    let Some(row) = row else { return Ok(()) };
    if (row.least as usize..=row.most as usize).contains(&count) {
        return Ok(());
    }
    let wanted = match (row.least, row.most) {
        (a, b) if a == b => a.to_string(),
        (a, u32::MAX) => format!("{a} or more"),
        (a, b) => format!("{a} to {b}"),
    };
    Err(HloError::new(at, format!("{} takes {wanted} operands, found {count}", row.name)))
}
