//! Counted work in an arena: the measure of every budget, so that results are the same on every machine.
//!
//! A unit is a step of constant size: an operand that is read, written or compared.

use crate::expr::Arena;

impl Arena {
    /// The units of work done so far. Only differences mean something.
    pub fn work(&self) -> u64 {
        self.work.get()
    }

    /// Counts `units` of work.
    pub(crate) fn charge(&self, units: usize) {
        self.work.set(self.work.get() + units as u64);
    }

    /// The memory of the nodes: their number and that of their operands.
    pub(crate) fn size(&self) -> usize {
        self.records.len() + self.list_lengths()
    }
}

/// The work limit of a question about a map, beyond which it stays undecided; all steps share it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Limit(u64);

impl Limit {
    /// A limit of so many units from now on.
    pub(crate) fn after(arena: &Arena, units: u64) -> Self {
        Limit(arena.work().saturating_add(units))
    }

    /// The limit at half of the work that is left.
    pub(crate) fn half(self, arena: &Arena) -> Self {
        Limit(arena.work() + self.0.saturating_sub(arena.work()) / 2)
    }

    pub(crate) fn is_reached(self, arena: &Arena) -> bool {
        arena.work() > self.0
    }
}
