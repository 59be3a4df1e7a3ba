//! Called computations: found by name, without recursion.

use super::error::{HloError, Result};
use super::tables::{Module, Target};
use super::Table;

/// The maximal depth of calls; that of real programs is below twenty.
pub const MAX_CALL_DEPTH: usize = 100;

/// Sets the computations of all calls, and rejects recursion.
pub(super) fn link_calls(module: &mut Module, targets: &[Target], names: &Table<&str, u32>) -> Result<()> {
    for (call, target) in module.calls.iter_mut().zip(targets) {
        call.computation = match *target {
            Target::Nested(index, _) => index,
            Target::Named(name, at) => *names
                .get(name)
                .ok_or_else(|| HloError::new(at, format!("there is no computation {name}")))?,
        };
    }
    let depths = call_depths(module);
    let recursive = |c: u32| depths[c as usize].is_none();
    for (computation, row) in module.computations.iter().enumerate() {
        for instruction in &module.instructions[row.instructions.range()] {
            for call in instruction.calls.range() {
                let called = module.calls[call].computation;
                let (Target::Named(_, at) | Target::Nested(_, at)) = targets[call];
                if recursive(computation as u32) && recursive(called) {
                    let name = &module.computations[called as usize].name;
                    return Err(HloError::new(
                        at,
                        format!("computation {name} calls itself, directly or through others"),
                    ));
                }
            }
        }
        if depths[computation].is_some_and(|d| d > MAX_CALL_DEPTH) {
            let at = module.instructions[row.root as usize].name.start as usize;
            return Err(HloError::new(
                at,
                format!("more than {MAX_CALL_DEPTH} computations call one another"),
            ));
        }
    }
    Ok(())
}

/// For each computation, the longest chain of calls below it; `None` if the chain never ends.
fn call_depths(module: &Module) -> Vec<Option<usize>> {
    let count = module.computations.len();
    let mut callers: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut open = vec![0_usize; count];
    for (computation, row) in module.computations.iter().enumerate() {
        for instruction in &module.instructions[row.instructions.range()] {
            for call in &module.calls[instruction.calls.range()] {
                callers[call.computation as usize].push(computation as u32);
                open[computation] += 1;
            }
        }
    }
    let mut depths = vec![None; count];
    let mut reached = vec![0_usize; count];
    let mut ready: Vec<u32> = (0..count as u32).filter(|&c| open[c as usize] == 0).collect();
    while let Some(done) = ready.pop() {
        let depth = reached[done as usize];
        depths[done as usize] = Some(depth);
        for &caller in &callers[done as usize] {
            let caller = caller as usize;
            reached[caller] = reached[caller].max(depth + 1);
            open[caller] -= 1;
            if open[caller] == 0 {
                ready.push(caller as u32);
            }
        }
    }
    depths
}
