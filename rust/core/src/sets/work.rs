//! The state of a question about a relation: memory, and the limit of its work.

use crate::error::Result;
use crate::expr::work::Limit;
use crate::expr::Arena;
use crate::simplify::Scratch;

/// The budget of one question in units of work. Visiting a box costs one unit for every few words of the constraints.
pub(crate) const BUDGET: u64 = 1 << 26;

/// The memory in which a question is answered, and the limit of its work.
pub(crate) struct Work<'a> {
    pub arena: &'a mut Arena,
    pub scratch: &'a mut Scratch,
    pub limit: Limit,
}

impl<'a> Work<'a> {
    /// Work up to the budget of one question.
    pub fn new(arena: &'a mut Arena, scratch: &'a mut Scratch) -> Self {
        let limit = Limit::after(arena, BUDGET);
        Work { arena, scratch, limit }
    }

    /// Whether the limit is reached.
    pub fn is_over(&self) -> bool {
        self.limit.is_reached(self.arena)
    }

    /// The answer to a question within a budget of its own; `None` if it is not found.
    pub fn within<T>(&mut self, budget: u64, question: impl FnOnce(&mut Self) -> Result<T>) -> Option<T> {
        let limit = std::mem::replace(&mut self.limit, Limit::after(self.arena, budget));
        let answer = question(self);
        self.limit = limit;
        answer.ok()
    }
}
