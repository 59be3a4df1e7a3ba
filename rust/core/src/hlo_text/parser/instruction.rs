//! One instruction: head, arguments, attributes, and the checks after all of it is read.

use super::super::infer::{compatible, realize, CheckedInstruction, InferredShape, ShapeContext};
use super::super::literal::parse_literal;
use super::super::opcodes::{OpcodeRow, OPCODES};
use super::super::tables::Call;
use super::*;

impl<'a> Parser<'a> {
    /// `ROOT %name = shape opcode(operands)`.
    pub(super) fn instruction_head(&mut self) -> Result<()> {
        let mut name = self.cursor.name("an instruction or '}'")?;
        let mut root = false;
        if name == "ROOT" && !self.cursor.take(b'=')? {
            name = self.cursor.name("the root's name")?;
            self.cursor.require(b'=')?;
            root = true;
        } else if name != "ROOT" {
            self.cursor.require(b'=')?;
        }
        let start = self.cursor.offset_of(name);
        let shape = self.result_shape()?;
        let name = Span::new(start, start + name.len());
        let mut pending = self.pending(name, root, shape)?;
        self.arguments(&mut pending)?;
        if let Some(frame) = self.frames.last_mut() {
            frame.pending = Some(pending);
        }
        Ok(())
    }

    /// Reads the opcode of the instruction whose name and shape were read.
    pub(super) fn pending(&mut self, name: Span, root: bool, shape: Option<ShapeId>) -> Result<Pending> {
        self.cursor.skip_space()?;
        let opcode_at = self.cursor.at;
        let opcode = self.cursor.word("an opcode")?;
        let (opcode, operation) = self.opcode_or_phase(opcode, opcode_at)?;
        Ok(Pending { root, name, opcode, opcode_at, operation, shape, parameter: -1, ..Pending::default() })
    }

    /// The shape before the opcode; `None` where the text leaves it to inference.
    fn result_shape(&mut self) -> Result<Option<ShapeId>> {
        self.cursor.skip_space()?;
        if self.is_opcode(self.cursor.peek_word()) {
            return Ok(None);
        }
        self.shapes.parse(&mut self.cursor).map(Some)
    }

    pub(super) fn opcode(&mut self, name: &'a str, at: usize) -> Result<u16> {
        if let Some(&row) = self.opcodes.get(name) {
            return Ok(row);
        }
        let row = u16::try_from(self.module.opcodes.len())
            .map_err(|_| HloError::new(at, "more than 65535 different opcodes"))?;
        self.opcodes.insert(name, row);
        self.module.opcodes.push(name.to_string());
        Ok(row)
    }

    /// Reads what follows the operands, one step at a time: the next attribute, a part of a list of computations, or the end.
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
        reject_duplicate(&frame.attributes, text, key, at)?;
        if !COMPUTATION_KEYS.contains(&key.of(text)) {
            let value = self.attribute_value(key.of(text))?;
            if key.of(text) == "control-predecessors" {
                self.are_instructions(value)?;
            }
            if let Some(frame) = self.frames.last_mut() {
                frame.attributes.push(Attribute { key, value });
            }
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

    /// Refuses names of instructions, `{%a, %b}`, that no instruction before this one has.
    fn are_instructions(&self, written: Span) -> Result<()> {
        let Some(frame) = self.frames.last() else { return Ok(()) };
        let mut cursor = Cursor::new(&self.cursor.text[..written.end as usize], written.start as usize);
        cursor.require(b'{')?;
        cursor.list(b'}', |cursor| {
            let name = cursor.name("an instruction's name")?;
            let message = || format!("there is no instruction {name} before this one");
            frame
                .names
                .contains_key(name)
                .then_some(())
                .ok_or_else(|| HloError::new(cursor.offset_of(name), message()))
        })?;
        Ok(())
    }

    /// The value of an attribute that names no computation.
    pub(super) fn attribute_value(&mut self, key: &str) -> Result<Span> {
        match key {
            "literal" => literal_value(&mut self.cursor, &mut self.shapes, &mut self.scratch),
            "replica_groups" => groups_value(&mut self.cursor, &mut self.scratch),
            _ => self.cursor.value(&mut self.scratch),
        }
    }

    /// A list of computations, item by item, as they may be written in place.
    fn list_item(&mut self) -> Result<()> {
        self.cursor.skip_space()?;
        match self.cursor.peek() {
            byte @ (b',' | b'}') => {
                self.cursor.at += 1;
                if let Some(frame) = self.frames.last_mut() {
                    frame.in_list = byte == b',';
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

    /// Finish an instruction behind its last attribute: checks, and a row in the table.
    pub(super) fn finish_instruction(&mut self) -> Result<()> {
        if let Some(pending) = self.frames.last_mut().and_then(|frame| frame.pending.take()) {
            match pending.operation {
                Some(operation) => self.add_phase(&pending, operation)?,
                None => self.add(&pending).map(|_| ())?,
            }
        }
        Ok(())
    }

    /// Adds an instruction to the innermost computation; its row there.
    pub(super) fn add(&mut self, pending: &Pending) -> Result<u32> {
        let Some(mut frame) = self.frames.pop() else { return Ok(0) };
        order_branches(&mut frame, self.cursor.text);
        let checked = self.check(&frame, pending);
        let added = checked
            .and_then(|(shape, signature)| self.add_instruction(&mut frame, pending, shape, signature));
        self.frames.push(frame);
        added
    }

    /// Shape and signature. The shape is checked once for each signature.
    fn check(&mut self, frame: &Frame, pending: &Pending) -> Result<(ShapeId, u32)> {
        let operands = &self.module.operands[pending.operands.range()];
        self.operand_shapes.clear();
        self.operand_shapes.extend(operands.iter().map(|&o| frame.instructions[o as usize].shape));
        let row = OPCODES.get(pending.opcode as usize);
        check_arity(row, operands.len(), pending.opcode_at)?;
        let opcode = &self.module.opcodes[pending.opcode as usize];
        let mut checked = CheckedInstruction {
            text: self.cursor.text,
            opcode,
            at: pending.opcode_at,
            given: pending.shape,
        };
        let operands = &self.operand_shapes;
        let root = row.filter(|row| row.gives_root).and_then(|_| self.root_shape(&frame.calls));
        let shape = shape_of(&checked, row, &mut self.shapes, operands, &frame.attributes, root)?;
        let (signature, new) = self.signatures.intern(
            self.cursor.text,
            (pending.opcode, shape, pending.parameter, pending.literal),
            operands,
            &frame.attributes,
            &frame.calls,
        );
        if let (true, Some(row)) = (new, row) {
            checked.given = Some(shape);
            let context =
                ShapeContext { checked, shapes: &self.shapes, operands, attributes: &frame.attributes };
            context.check(&row.infer(&context)?)?;
            one_call_each(&context, row, &frame.calls)?;
            check_written_shapes(&mut self.shapes, self.cursor.text, row.name, operands, &frame.attributes)?;
        }
        Ok((shape, signature))
    }

    /// The shape of the root of the first computation that is called, if that was read.
    fn root_shape(&self, calls: &[(u32, Target)]) -> Option<ShapeId> {
        let computation = self.computation_of(&calls.first()?.1)?;
        Some(self.root_of(computation).shape)
    }

    /// The computation that is called, if it was read.
    pub(super) fn computation_of(&self, target: &Target) -> Option<u32> {
        match target {
            Target::Nested(index, _) => Some(*index),
            Target::Named(name, _) => self.computations.get(name).copied(),
        }
    }

    pub(super) fn root_of(&self, computation: u32) -> &Instruction {
        &self.module.instructions[self.module.computations[computation as usize].root as usize]
    }

    pub(super) fn add_instruction(
        &mut self,
        frame: &mut Frame<'a>,
        pending: &Pending,
        shape: ShapeId,
        signature: u32,
    ) -> Result<u32> {
        let row = frame.instructions.len() as u32;
        let name = pending.name.of(self.cursor.text);
        if !name.is_empty() && frame.names.insert(name, row).is_some() {
            let message = format!("{name} is defined twice in {}", frame.name);
            return Err(HloError::new(pending.name.start as usize, message));
        }
        if ElementType::named(name).is_some() {
            let message = format!(
                "{name} is an element type, and XLA takes no instruction of that name: call it {name}_"
            );
            return Err(HloError::new(pending.name.start as usize, message));
        }
        if let Some(next) = &mut frame.bare {
            *next = (*next).max(pending.parameter.saturating_add(1));
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
        Ok(row)
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

/// Puts the branch for true before that for false, as the operands are, if the text has them the other way round.
fn order_branches(frame: &mut Frame, text: &str) {
    let [(no, if_false), (yes, if_true)] = &mut frame.calls[..] else { return };
    let key = |row: u32| frame.attributes[row as usize].key.of(text);
    if (key(*no), key(*yes)) == ("false_computation", "true_computation") {
        std::mem::swap(if_false, if_true);
        frame.attributes.swap(*no as usize, *yes as usize);
    }
}

/// A shape and the literal behind it, or a tuple of such.
fn literal_value<'a>(
    cursor: &mut Cursor<'a>,
    shapes: &mut Interner<'a>,
    scratch: &mut Vec<(u8, usize)>,
) -> Result<Span> {
    cursor.skip_space()?;
    let start = cursor.at;
    if cursor.peek() == b'(' {
        return cursor.value(scratch);
    }
    let shape = shapes.parse(cursor)?;
    parse_literal(cursor, &shapes.table, shape)?;
    Ok(Span::new(start, cursor.at))
}

/// Replica groups; those of a mesh may have a comma: `mesh['a'=2,'b'=2], device_ids=(0,2,1,3) {'a'}`.
fn groups_value(cursor: &mut Cursor, scratch: &mut Vec<(u8, usize)>) -> Result<Span> {
    let value = cursor.value(scratch)?;
    let written = value.of(cursor.text);
    let mut ahead = cursor.clone();
    let goes_on = written.starts_with("mesh[") && !written.ends_with('}') && ahead.take(b',')?;
    if goes_on && ahead.take_word("device_ids")? && ahead.take(b'=')? {
        let end = ahead.value(scratch)?.end;
        cursor.at = end as usize;
        return Ok(Span { start: value.start, end });
    }
    Ok(value)
}

/// The shape that the text states, or the inferred one.
fn shape_of(
    checked: &CheckedInstruction,
    row: Option<&OpcodeRow>,
    shapes: &mut Interner,
    operands: &[ShapeId],
    attributes: &[Attribute],
    root: Option<ShapeId>,
) -> Result<ShapeId> {
    if let Some(shape) = checked.given {
        return Ok(shape);
    }
    let context = ShapeContext { checked: *checked, shapes, operands, attributes };
    let unknown = context.error("expected the shape in front of the opcode, for the operands do not tell it");
    let inferred = match (row.map_or(Ok(InferredShape::Any), |row| row.infer(&context))?, root) {
        (InferredShape::Any, Some(root)) => InferredShape::Like(root),
        (InferredShape::Array(None, sizes), Some(root)) => {
            InferredShape::Array(Some(shapes.table[root as usize].element), sizes)
        }
        (inferred, _) => inferred,
    };
    realize(shapes, &inferred).ok_or(unknown)
}

/// Checks attributes that repeat shapes of operands; as in XLA, that of an outfeed may differ from its operand's.
fn check_written_shapes<'a>(
    shapes: &mut Interner<'a>,
    text: &'a str,
    opcode: &str,
    operands: &[ShapeId],
    attributes: &[Attribute],
) -> Result<()> {
    for attribute in attributes {
        let (start, end) = (attribute.value.start as usize, attribute.value.end as usize);
        let mut cursor = Cursor::new(&text[..end], start);
        match (opcode, attribute.key.of(text)) {
            ("outfeed", "outfeed_shape") => {
                shapes.parse(&mut cursor)?;
            }
            ("custom-call", "operand_layout_constraints") => {
                cursor.require(b'{')?;
                let written = shapes.parse_list(&mut cursor, b'}')?;
                let fits = operands.len() == written.len()
                    && operands.iter().zip(&written).all(|(&a, &b)| compatible(shapes, a, b));
                if !fits {
                    let texts: Vec<String> = operands.iter().map(|&o| shapes.text(o)).collect();
                    let texts = texts.join(", ");
                    let message =
                        format!("operand_layout_constraints does not fit the operands, which are {texts}");
                    return Err(HloError::new(start, message));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// An attribute that must name a computation names one.
fn one_call_each(context: &ShapeContext, row: &OpcodeRow, calls: &[(u32, Target)]) -> Result<()> {
    for key in row.called() {
        let named = |(attribute, _): &&(u32, Target)| {
            context.attributes[*attribute as usize].key.of(context.text) == key
        };
        if calls.iter().filter(named).count() != 1 {
            return Err(context.error(format!("attribute {key} must name one computation")));
        }
    }
    Ok(())
}

fn check_arity(row: Option<&OpcodeRow>, count: usize, at: usize) -> Result<()> {
    let Some(row) = row else { return Ok(()) };
    if (row.min_operands as usize..=row.max_operands as usize).contains(&count) {
        return Ok(());
    }
    let wanted = match (row.min_operands, row.max_operands) {
        (a, b) if a == b => counted(a, "operand"),
        (a, u32::MAX) => format!("{a} or more operands"),
        (a, b) => format!("{a} to {b} operands"),
    };
    Err(HloError::new(at, format!("{} takes {wanted}, found {count}", row.name)))
}
