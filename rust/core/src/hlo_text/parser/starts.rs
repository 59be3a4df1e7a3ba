//! Short forms of text: `%f#1`, an element of a tuple; `<op>-start`, an operation in the background without a
//! computation around it.

use super::super::tables::Instruction;
use super::*;

/// Attributes of `<op>-start` that are its own, not the operation's.
const OF_THE_START: [&str; 4] =
    ["control-predecessors", "async_execution_thread", "sharding", "frontend_attributes"];
/// Operations whose own attribute is `calls`.
const CALLERS: [&str; 2] = ["fusion", "custom-call"];

impl<'a> Parser<'a> {
    /// The opcode that a word stands for, and for `<op>-start`, `<op>-update` and `<op>-done` the operation.
    pub(super) fn opcode_or_phase(&mut self, name: &'a str, at: usize) -> Result<(u16, Option<u16>)> {
        if let Some(&row) = self.opcodes.get(name) {
            return Ok((row, None));
        }
        for phase in ["start", "update", "done"] {
            let operation = name.strip_suffix(phase).and_then(|n| n.strip_suffix('-'));
            if let Some(&row) = operation.and_then(|n| self.opcodes.get(n)) {
                let known = |name: &str| self.opcodes.get(name).copied().unwrap_or_default();
                let opcode = match phase {
                    "start" => known("async-start"),
                    "update" => known("async-update"),
                    _ => known("async-done"),
                };
                return Ok((opcode, Some(row)));
            }
        }
        Ok((self.opcode(name, at)?, None))
    }

    /// `<op>-start`; or `<op>-update` or `<op>-done`, which must go on with a start of that operation.
    pub(super) fn add_phase(&mut self, pending: &Pending, operation: u16) -> Result<()> {
        if self.opcodes.get("async-start") == Some(&pending.opcode) {
            return self.add_start(pending, operation);
        }
        if let Some(started) = self.started_operation(pending).filter(|&started| started != operation) {
            let [ended, started] = [operation, started].map(|row| &self.module.opcodes[row as usize]);
            let message = format!("its operand starts {started}, not {ended}");
            return Err(HloError::new(pending.opcode_at, message));
        }
        self.add(pending).map(|_| ())
    }

    /// The operation whose start an update or end goes on with; none where the computation that it calls stands below.
    fn started_operation(&self, pending: &Pending) -> Option<u16> {
        let instructions = &self.frames.last()?.instructions;
        let operand = |rows: Rows| Some(&instructions[*self.module.operands[rows.range()].first()? as usize]);
        let mut start = operand(pending.operands)?;
        while self.opcodes.get("async-update") == Some(&start.opcode) {
            start = operand(start.operands)?;
        }
        let computation = self.computation_of(self.targets[start.calls.range()].first()?)?;
        Some(self.root_of(computation).opcode)
    }

    /// `<op>-start`: an async-start that calls a computation of this one operation.
    fn add_start(&mut self, pending: &Pending, operation: u16) -> Result<()> {
        let text = self.cursor.text;
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        let calls_itself = CALLERS.contains(&self.module.opcodes[operation as usize].as_str());
        if !calls_itself && frame.attributes.iter().any(|a| a.key.of(text) == "calls") {
            return self.add(pending).map(|_| ());
        }
        let rows = &self.module.operands[pending.operands.range()];
        let operands: Vec<ShapeId> = rows.iter().map(|&o| frame.instructions[o as usize].shape).collect();
        let given = pending.shape.map(|shape| (shape, &self.shapes.table[shape as usize].elements[..]));
        let Some((shape, &[_, result, ..])) = given else {
            let message = "expected the shape of a start, a tuple of operands, results and context";
            return Err(HloError::new(pending.opcode_at, message));
        };
        let (own, inner, calls) = split_attributes(frame, text);
        self.push_frame("_", pending.opcode_at, false, None);
        self.add_operation(pending, operation, &operands, result, (inner, calls))?;
        self.close_computation()?;
        self.finish_start(pending, shape, &operands, own)
    }

    /// Parameters and the operation, in the innermost computation.
    fn add_operation(
        &mut self,
        pending: &Pending,
        opcode: u16,
        operands: &[ShapeId],
        result: ShapeId,
        (attributes, calls): (Vec<Attribute>, Vec<(u32, Target<'a>)>),
    ) -> Result<()> {
        let unnamed = |opcode, shape, operands, parameter| Pending {
            opcode,
            opcode_at: pending.opcode_at,
            shape: Some(shape),
            operands,
            parameter,
            ..Pending::default()
        };
        let parameter = self.opcodes.get("parameter").copied().unwrap_or_default();
        for (number, &shape) in operands.iter().enumerate() {
            self.add(&unnamed(parameter, shape, Rows::default(), number as i64))?;
        }
        if let Some(frame) = self.frames.last_mut() {
            (frame.attributes, frame.calls) = (attributes, calls);
        }
        let first = self.module.operands.len();
        self.module.operands.extend(0..operands.len() as u32);
        let rows = Rows::new(first, self.module.operands.len());
        self.add(&unnamed(opcode, result, rows, -1)).map(|_| ())
    }

    /// The async-start itself. What it calls was added to the frame when the computation ended.
    fn finish_start(
        &mut self,
        pending: &Pending,
        shape: ShapeId,
        operands: &[ShapeId],
        mut attributes: Vec<Attribute>,
    ) -> Result<()> {
        let Some(mut frame) = self.frames.pop() else { return Ok(()) };
        let described = (pending.opcode, shape, pending.parameter, pending.literal);
        let (signature, _) =
            self.signatures.intern(self.cursor.text, described, operands, &attributes, &frame.calls);
        attributes.insert(0, Attribute { key: self.made_word("calls"), value: Span::default() });
        frame.attributes = attributes;
        self.add_instruction(&mut frame, pending, shape, signature)?;
        self.frames.push(frame);
        Ok(())
    }

    /// A word that the text need not have; it is kept behind the text.
    fn made_word(&mut self, word: &str) -> Span {
        let at = self.made_names.find(word).unwrap_or_else(|| {
            self.made_names.push_str(word);
            self.made_names.len() - word.len()
        });
        let start = self.cursor.text.len() + at;
        Span::new(start, start + word.len())
    }

    /// `#1#0` behind an operand: an element of an element of it.
    pub(super) fn elements_of(&mut self, mut row: u32) -> Result<u32> {
        while self.cursor.peek() == b'#' {
            let at = self.cursor.at;
            self.cursor.at += 1;
            if !self.cursor.peek().is_ascii_digit() {
                return Err(self.cursor.expected("the number of an element"));
            }
            let index = self.cursor.integer("the number of an element")?;
            row = self.element_of(row, index, at)?;
        }
        Ok(row)
    }

    /// The get-tuple-element that `#index` at `at` stands for; one for all its uses.
    fn element_of(&mut self, tuple: u32, index: i64, at: usize) -> Result<u32> {
        let Some(frame) = self.frames.last() else { return Ok(0) };
        if let Some(&row) = frame.elements.get(&(tuple, index)) {
            return Ok(row);
        }
        let whole = frame.instructions[tuple as usize].shape;
        let shape = &self.shapes.table[whole as usize];
        let element = usize::try_from(index).ok().and_then(|i| shape.elements.get(i));
        let Some(&element) = element.filter(|_| shape.element == ElementType::TUPLE) else {
            let whole = self.shapes.text(whole);
            return Err(HloError::new(at, format!("there is no element {index} in {whole}")));
        };
        self.add_element(tuple, (index, at), whole, element)
    }

    fn add_element(
        &mut self,
        tuple: u32,
        (index, at): (i64, usize),
        whole: ShapeId,
        shape: ShapeId,
    ) -> Result<u32> {
        let opcode = self.opcodes.get("get-tuple-element").copied().unwrap_or_default();
        let written = format!("index={index}");
        let attribute = Attribute { key: Span::new(0, 5), value: Span::new(6, written.len()) };
        let described = (opcode, shape, -1, Span::default());
        let (signature, _) = self.signatures.intern(&written, described, &[whole], &[attribute], &[]);
        let first = self.module.operands.len();
        self.module.operands.push(tuple);
        let first_attribute = self.module.attributes.len();
        let value = Span::new(at + 1, self.cursor.at);
        let key = self.made_word("index");
        self.module.attributes.push(Attribute { key, value });
        let Some(frame) = self.frames.last_mut() else { return Ok(0) };
        let row = frame.instructions.len() as u32;
        frame.elements.insert((tuple, index), row);
        frame.instructions.push(Instruction {
            opcode,
            shape,
            operands: Rows::new(first, first + 1),
            attributes: Rows::new(first_attribute, first_attribute + 1),
            parameter: -1,
            signature,
            ..Instruction::default()
        });
        Ok(row)
    }
}

/// The attributes of a start: its own, and those of the operation with its calls.
#[allow(clippy::type_complexity, reason = "three lists that are used at once")]
fn split_attributes<'a>(
    frame: &mut Frame<'a>,
    text: &str,
) -> (Vec<Attribute>, Vec<Attribute>, Vec<(u32, Target<'a>)>) {
    let mut calls = std::mem::take(&mut frame.calls);
    let (mut own, mut inner) = (Vec::new(), Vec::new());
    for (number, attribute) in std::mem::take(&mut frame.attributes).into_iter().enumerate() {
        if OF_THE_START.contains(&attribute.key.of(text)) {
            own.push(attribute);
            continue;
        }
        let called = calls.iter_mut().filter(|(at, _)| *at == number as u32);
        called.for_each(|(at, _)| *at = inner.len() as u32);
        inner.push(attribute);
    }
    frame.attributes.push(Attribute { key: Span::default(), value: Span::default() });
    (own, inner, calls)
}
