//! The work that is done in an arena, counted: the measure of every budget, so that it is the same on every machine.
//!
//! A unit is a step of constant size: an operand that is read, written or compared.

use crate::expr::Arena;

impl Arena {
    /// The units of work done so far. Only differences mean something.
    pub fn work(&self) -> u64 {
        self.work.get()
    }

    /// Count `units` of work.
    pub(crate) fn charge(&self, units: usize) {
        self.work.set(self.work.get() + units as u64);
    }

    /// The memory of the nodes: their number and that of their operands.
    pub(crate) fn size(&self) -> usize {
        self.records.len() + self.list_lengths()
    }
}

/// The work at which a question about a map stays undecided: all that it asks on the way has one limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit(u64);

impl Limit {
    /// So many units from now on.
    pub(crate) fn after(arena: &Arena, units: u64) -> Self {
        Limit(arena.work().saturating_add(units))
    }

    pub(crate) fn is_reached(self, arena: &Arena) -> bool {
        arena.work() > self.0
    }
}
