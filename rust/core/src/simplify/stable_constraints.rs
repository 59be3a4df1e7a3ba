//! Constraints that need no further pass until bounds of their variables change.

use crate::expr::{variable_bit, Arena, Expr};
use crate::interval::Interval;
use smallvec::SmallVec;

/// Constraints that a pass left unchanged, and that did not change the box: they need no further pass until bounds of their
/// variables change.
#[derive(Default)]
pub(crate) struct StableConstraints {
    /// Those of earlier rounds, in the order of their ids.
    known: Vec<(Expr, Interval)>,
    /// Those of this round.
    proved: SmallVec<[(Expr, Interval); 4]>,
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
        self.proved.push((e, interval));
    }

    /// Ends a round, in which the bounds of variables changed from `before` to `after`.
    pub(crate) fn end_round(&mut self, arena: &mut Arena, before: &[Interval], after: &[Interval]) {
        let proved = std::mem::take(&mut self.proved);
        self.known.extend(proved);
        let moved: Vec<bool> = before.iter().zip(after).map(|(b, a)| b != a).collect();
        let places = (0..moved.len()).filter(|v| moved[*v]);
        let bits = places.fold(0, |all, v| all | variable_bit(v));
        arena.charge(self.known.len());
        self.known.retain(|(e, _)| {
            let may_move = arena.variables_of(*e) & bits != 0;
            !(may_move && arena.variables(&[*e]).iter().any(|v| moved.get(*v as usize) == Some(&true)))
        });
        // Of two constraints on one expression the later one is kept; the earlier one was replaced.
        self.known.sort_by_key(|(e, _)| e.index());
        self.known.reverse();
        self.known.dedup_by_key(|(e, _)| *e);
        self.known.reverse();
    }
}
