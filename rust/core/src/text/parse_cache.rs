//! A cache of sums already read in a text: maps repeat their subexpressions letter by letter.

use crate::expr::{Expr, Tag};

/// The sums and divisions already read in a text, each with its expression.
#[derive(Default, Debug)]
pub(super) struct ParseCache {
    sums: Vec<[Sum; WAYS]>,
    divisions: Vec<Division>,
    /// The number of the current text; entries of others are stale.
    text: u32,
    /// The number of sums kept, of all texts and before this one.
    kept: usize,
    before: usize,
}

/// A sum that is all of a bracket, a result or a constraint.
#[derive(Clone, Copy, Debug)]
struct Sum {
    text: u32,
    start: u32,
    end: u32,
    /// The bytes from `start` on.
    key: u64,
    expr: Expr,
}

/// A quotient, or a remainder, by a constant; what is divided is written in many ways.
#[derive(Clone, Copy, Debug)]
struct Division {
    text: u32,
    operation: (Tag, Expr, i64),
    result: Expr,
}

/// Sets of sums, a power of two.
const SETS: usize = 16;
/// Places of divisions, a power of two.
const DIVISIONS: usize = 64;
/// Sums in a set: several begin alike.
const WAYS: usize = 4;
/// Shorter sums are read again.
const MIN_LENGTH: usize = 9;

impl ParseCache {
    pub(super) fn next_text(&mut self) {
        self.text = self.text.wrapping_add(1);
        self.before = self.kept;
        if self.sums.is_empty() || self.text == 0 {
            self.text = 1;
            let sum = Sum { text: 0, start: 0, end: 0, key: 0, expr: Expr(0) };
            let division = Division { text: 0, operation: (Tag::Mod, Expr(0), 0), result: Expr(0) };
            self.sums = vec![[sum; WAYS]; SETS];
            self.divisions = vec![division; DIVISIONS];
        }
    }

    /// The first bytes of a sum, and the set that it belongs to.
    fn place(sum: &[u8]) -> Option<(u64, usize)> {
        let key = u64::from_le_bytes(*sum.first_chunk::<8>()?);
        Some((key, slot(key) % SETS))
    }

    /// Looks up the sum at the beginning of `rest`, if `ends` accepts the text after it: the expression, and the text after
    /// it.
    pub(super) fn find<'t>(
        &self,
        text: &str,
        rest: &'t [u8],
        ends: impl Fn(&[u8]) -> bool,
    ) -> Option<(&'t [u8], Expr)> {
        if self.kept == self.before {
            return None;
        }
        let (key, set) = ParseCache::place(rest)?;
        for seen in self.sums.get(set)? {
            if seen.key != key || seen.text != self.text {
                continue;
            }
            let old = text.as_bytes().get(seen.start as usize..seen.end as usize)?;
            match rest.get(old.len()..) {
                Some(behind) if ends(behind) && rest.starts_with(old) => return Some((behind, seen.expr)),
                _ => {}
            }
        }
        None
    }

    pub(super) fn keep(&mut self, text: &str, start: usize, end: usize, expr: Expr) {
        if end < start + MIN_LENGTH {
            return;
        }
        let place = text.as_bytes().get(start..).and_then(ParseCache::place);
        if let (Some((key, set)), Ok(start), Ok(end)) = (place, u32::try_from(start), u32::try_from(end)) {
            self.kept += 1;
            self.sums[set][self.kept % WAYS] = Sum { text: self.text, start, end, key, expr };
        }
    }

    /// The quotient or remainder, if it was made before.
    pub(super) fn find_division(&self, operation: (Tag, Expr, i64)) -> Option<Expr> {
        let seen = self.divisions.get(place_of_division(operation))?;
        (seen.text == self.text && seen.operation == operation).then_some(seen.result)
    }

    pub(super) fn keep_division(&mut self, operation: (Tag, Expr, i64), result: Expr) {
        if let Some(place) = self.divisions.get_mut(place_of_division(operation)) {
            *place = Division { text: self.text, operation, result };
        }
    }
}

fn place_of_division((tag, dividend, divisor): (Tag, Expr, i64)) -> usize {
    slot(u64::from(dividend.0) << 1 ^ (tag == Tag::Mod) as u64 ^ (divisor as u64).rotate_left(32)) % DIVISIONS
}

fn slot(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize
}
