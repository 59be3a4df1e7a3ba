//! The measure that each application of a rule decreases, so that simplification terminates. Debug builds assert it. Splits
//! of equal cost use it too, because other laws may merge what a split separates.
//!
//! The measure is the lexicographic order of:
//!
//! 1. the cost ([`Simplifier::cost`]);
//! 2. the divisors and moduli, all nodes together;
//! 3. the terms of dividends, all nodes together;
//! 4. the occurrences of variables, written out as a tree;
//! 5. the structural order.
//!
//! The exception is a law that replaces variables by others (`Law::renames`): it leaves fewer variables, or earlier ones.

use crate::expr::{Expr, Node, Tag};
use crate::simplify::cost::MAX_COST;
use crate::simplify::law::Law;
use crate::simplify::simplifier::Simplifier;
use std::cmp::Ordering;
use std::collections::HashMap;

/// Whether `after`, the result of applying the law to `before`, is smaller.
pub(super) fn is_made(s: &mut Simplifier<'_>, law: &Law, before: Expr, after: Expr) -> bool {
    let renames = law.renames && variables(s, after) < variables(s, before);
    renames || is_smaller(s, after, before)
}

/// Whether `after` is smaller than `before`.
pub(super) fn is_smaller(s: &mut Simplifier<'_>, after: Expr, before: Expr) -> bool {
    let cost = s.cost(after).cmp(&s.cost(before));
    // A saturated cost cannot be compared.
    if s.cost(before) == MAX_COST {
        return true;
    }
    let sizes = cost.then_with(|| dividends(s, after).cmp(&dividends(s, before)));
    // The other components are computed only if needed.
    if sizes != Ordering::Equal {
        return sizes.is_lt();
    }
    let occurrences = occurrences(s, after).cmp(&occurrences(s, before));
    occurrences.then_with(|| s.arena.compare(after, before)).is_lt()
}

/// The sum of the divisors and moduli of all nodes, and the number of terms of their dividends.
fn dividends(s: &mut Simplifier<'_>, e: Expr) -> (u128, usize) {
    let (mut divisors, mut count) = (0, 0);
    for x in s.arena.reachable(&[e]) {
        let (Node::FloorDiv(n, d) | Node::Mod(n, d)) = s.arena.node(x) else { continue };
        divisors += u128::from(s.arena.as_constant(d).unwrap_or(1).unsigned_abs());
        count += match s.arena.node(n) {
            Node::Sum(_, terms) => terms.len(),
            _ => 1,
        };
    }
    (divisors, count)
}

/// The number of variables, and the sum of their indices.
fn variables(s: &mut Simplifier<'_>, e: Expr) -> (usize, u64) {
    let mut used = s.arena.reachable(&[e]);
    used.retain(|x| s.arena.tag(*x) == Tag::Variable);
    (used.len(), used.iter().filter_map(|x| s.arena.as_variable(*x)).map(u64::from).sum())
}

fn occurrences(s: &mut Simplifier<'_>, e: Expr) -> u64 {
    let mut count: HashMap<Expr, u64> = HashMap::new();
    for x in s.arena.reachable(&[e]) {
        let mut own = u64::from(s.arena.tag(x) == Tag::Variable);
        s.arena.for_each_operand(x, |o| own = own.saturating_add(count.get(&o).copied().unwrap_or(0)));
        count.insert(x, own);
    }
    count.get(&e).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Arena;
    use crate::simplify::Scratch;

    /// Pairs that differ in the cost, the divisors, the terms of dividends, the occurrences and the order.
    #[test]
    fn each_part_of_the_measure_tells_smaller_from_larger() {
        let (arena, scratch) = (&mut Arena::new(), &mut Scratch::default());
        let [x, y] = [0, 1].map(|v| arena.variable(v));
        let quotients = [(y, 2), (x, 3)].map(|(n, m)| arena.floordiv_constant(n, m).unwrap());
        let doubled = arena.sum(0, &[crate::expr::Term::new(2, x), crate::expr::Term::new(1, y)]).unwrap();
        let both = arena.add(x, y).unwrap();
        let mut s = Simplifier::new(arena, scratch);
        for (small, large) in [(x, quotients[0]), (quotients[0], quotients[1]), (both, doubled), (x, y)] {
            assert!(is_smaller(&mut s, small, large) && !is_smaller(&mut s, large, small));
            assert!(!is_smaller(&mut s, small, small));
        }
    }
}
