//! Asynchronous instructions: each start has one user, which updates or ends it; only starts change the thread.

use super::error::{HloError, Result};
use super::opcodes::{OpcodeRow, OPCODES};
use super::tables::{Computation, Instruction, Module};

/// Checks each start and each end.
pub(super) fn check_pairs(module: &Module) -> Result<()> {
    let ends = |opcode: &String| OPCODES.iter().any(|row| row.ends.contains(&opcode.as_str()));
    let ends: Vec<bool> = module.opcodes.iter().map(ends).collect();
    for (row, instruction) in module.instructions.iter().enumerate() {
        if let Some(start) = start_of(instruction) {
            check_start(module, row, start.ends)?;
        }
        if ends[instruction.opcode as usize] {
            check_end(module, row)?;
        }
    }
    Ok(())
}

/// Checks that computations run on the thread of their callers, unless an asynchronous start calls them.
pub(super) fn check_threads(module: &Module) -> Result<()> {
    let threads: Vec<&str> = module.computations.iter().map(|c| thread_of(module, c)).collect();
    if threads.windows(2).all(|pair| pair[0] == pair[1]) {
        return Ok(());
    }
    for (row, instruction) in module.instructions.iter().enumerate() {
        let calls = OPCODES.get(instruction.opcode as usize).filter(|calling| calling.ends.is_empty());
        let mut called = module.calls_of(row);
        let own = threads[instruction.computation as usize];
        let other = called.find(|&(key, callee)| {
            calls.is_some_and(|calling| calling.call_rule(key).is_some()) && threads[callee as usize] != own
        });
        if let Some((key, callee)) = other {
            let (name, thread) = (&module.computations[callee as usize].name, threads[callee as usize]);
            let message =
                format!("{key}={name} runs on thread {thread}, its caller on {own}; start it by async-start");
            return Err(error(module, row, &message));
        }
    }
    Ok(())
}

/// The name of the thread that runs a computation.
fn thread_of<'m>(module: &'m Module, computation: &Computation) -> &'m str {
    let mut attributes = module.attributes[computation.attributes.range()].iter();
    let thread = attributes.find(|a| a.key.of(&module.text) == "execution_thread");
    thread.map_or("main", |a| a.value.of(&module.text).trim_matches('"'))
}

/// The opcode's row, if it starts what its user ends.
fn start_of(instruction: &Instruction) -> Option<&'static OpcodeRow> {
    OPCODES.get(instruction.opcode as usize).filter(|row| !row.ends.is_empty())
}

fn opcode<'m>(module: &'m Module, instruction: &Instruction) -> &'m str {
    &module.opcodes[instruction.opcode as usize]
}

fn error(module: &Module, row: usize, message: &str) -> HloError {
    let instruction = &module.instructions[row];
    let (at, name) = (instruction.name.start as usize, instruction.name.of(&module.text));
    HloError::new(at, format!("{} {name}: {message}", opcode(module, instruction)))
}

fn check_start(module: &Module, row: usize, users: &[&str]) -> Result<()> {
    let readers = module.users_of(row);
    let opcodes = || readers.iter().map(|&user| opcode(module, &module.instructions[user as usize]));
    if readers.len() == 1 && opcodes().all(|o| users.contains(&o)) {
        return Ok(());
    }
    let readers: Vec<&str> = opcodes().collect();
    let readers = if readers.is_empty() { "none".to_string() } else { readers.join(", ") };
    Err(error(module, row, &format!("it needs one user, {}; found {readers}", users.join(" or "))))
}

fn check_end(module: &Module, row: usize) -> Result<()> {
    let ended = opcode(module, &module.instructions[row]);
    let operand = module.operands_of(row).first().map(|&o| o as usize);
    let start = operand.and_then(|o| start_of(&module.instructions[o]).map(|start| (o, start)));
    let Some((operand, start)) = start.filter(|(_, start)| start.ends.contains(&ended)) else {
        return Err(error(module, row, "its operand must be what it ends"));
    };
    if !start.on_channel {
        return Ok(());
    }
    let channel = |row: usize| module.attribute(row, "channel_id").map(|a| module.attribute_value(a));
    let (started, ended) = (channel(operand), channel(row));
    if started == ended {
        return Ok(());
    }
    let name = |id: Option<String>| id.map_or("none".to_string(), |id| id);
    let (started, ended) = (name(started), name(ended));
    Err(error(module, row, &format!("its channel_id is {ended}, that of its start {started}")))
}
