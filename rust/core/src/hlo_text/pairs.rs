//! Pairs of asynchronous instructions: each start has one user, which goes on with it or ends it.

use super::error::{HloError, Result};
use super::tables::{Instruction, Module};

/// Opcodes that start, and those that may use them.
const PAIRS: [(&str, &[&str]); 8] = [
    ("async-start", &["async-update", "async-done"]),
    ("async-update", &["async-update", "async-done"]),
    ("all-gather-start", &["all-gather-done"]),
    ("all-reduce-start", &["all-reduce-done"]),
    ("collective-permute-start", &["collective-permute-done"]),
    ("copy-start", &["copy-done"]),
    ("recv", &["recv-done"]),
    ("send", &["send-done"]),
];

/// Checks each start and each end.
pub(super) fn check_pairs(module: &Module) -> Result<()> {
    let starts: Vec<Option<&[&str]>> = module
        .opcodes
        .iter()
        .map(|o| PAIRS.iter().find(|(start, _)| start == o).map(|(_, users)| *users))
        .collect();
    let ends: Vec<bool> =
        module.opcodes.iter().map(|o| PAIRS.iter().any(|(_, users)| users.contains(&o.as_str()))).collect();
    for (row, instruction) in module.instructions.iter().enumerate() {
        if let Some(users) = starts[instruction.opcode as usize] {
            check_start(module, row, users)?;
        }
        if ends[instruction.opcode as usize] {
            check_end(module, row)?;
        }
    }
    Ok(())
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
    let found = module.users_of(row);
    let opcodes = || found.iter().map(|&user| opcode(module, &module.instructions[user as usize]));
    if found.len() == 1 && opcodes().all(|o| users.contains(&o)) {
        return Ok(());
    }
    let found: Vec<&str> = opcodes().collect();
    let found = if found.is_empty() { "none".to_string() } else { found.join(", ") };
    Err(error(module, row, &format!("it needs one user, {}; found {found}", users.join(" or "))))
}

fn check_end(module: &Module, row: usize) -> Result<()> {
    let ended = opcode(module, &module.instructions[row]);
    let start = module.operands_of(row).first().map(|&o| o as usize);
    let fits = |start: &usize| {
        let name = opcode(module, &module.instructions[*start]);
        PAIRS.iter().any(|(s, users)| *s == name && users.contains(&ended))
    };
    let Some(start) = start.filter(fits) else {
        return Err(error(module, row, "its operand must be what it ends"));
    };
    if !ended.starts_with("send") && !ended.starts_with("recv") {
        return Ok(());
    }
    let channel = |row: usize| module.attribute(row, "channel_id").map(|a| module.attribute_value(a));
    let (started, ended) = (channel(start), channel(row));
    if started == ended {
        return Ok(());
    }
    let name = |id: Option<String>| id.map_or("none".to_string(), |id| id);
    let (started, ended) = (name(started), name(ended));
    Err(error(module, row, &format!("its channel_id is {ended}, that of its start {started}")))
}
