//! The constraints that need not be looked at again until bounds of their variables change.

use crate::expr::{variable_bit, Arena, Expr};
use crate::interval::Interval;

/// Constraints that a pass left as they are, and that left the box as it is: until bounds of their variables change, they
/// need not be looked at again.
#[derive(Default)]
pub(crate) struct StableConstraints {
    /// Those of the rounds before, in the order of their ids.
    known: Vec<(Expr, Interval)>,
    /// Those of this round.
    found: Vec<(Expr, Interval)>,
}

impl StableConstraints {
    pub(crate) fn holds(&self, e: Expr, interval: Interval) -> bool {
        !self.known.is_empty()
            && self
                .known
                .binary_search_by_key(&e.index(), |(x, _)| x.index())
                .is_ok_and(|k| self.known[k].1 == interval)
    }

    pub(crate) fn add(&mut self, e: Expr, interval: Interval) {
        self.found.push((e, interval));
    }

    /// The bounds of variables were `before` and are `after`, and another round begins.
    pub(crate) fn end_round(&mut self, arena: &mut Arena, before: &[Interval], after: &[Interval]) {
        let found = std::mem::take(&mut self.found);
        self.known.extend(found);
        let moved: Vec<bool> = before.iter().zip(after).map(|(b, a)| b != a).collect();
        let places = (0..moved.len()).filter(|v| moved[*v]);
        let bits = places.fold(0, |all, v| all | variable_bit(v));
        arena.charge(self.known.len());
        self.known.retain(|(e, _)| {
            let may_move = arena.variables_of(*e) & bits != 0;
            !(may_move && arena.variables(&[*e]).iter().any(|v| moved.get(*v as usize) == Some(&true)))
        });
        // Of two about one expression, the later one stays: the other is not stated any more.
        self.known.sort_by_key(|(e, _)| e.index());
        self.known.reverse();
        self.known.dedup_by_key(|(e, _)| *e);
        self.known.reverse();
    }
}
