//! What was read: maps repeat their subexpressions, so that the text of one tells what it is.

use crate::expr::Expr;

/// Sums that were read before in the text, with what they are: maps repeat their subexpressions.
#[derive(Default, Debug)]
pub(super) struct Seen {
    sets: Vec<[SeenSum; WAYS]>,
    /// Which text the sums stand in; those of others count for nothing.
    text: u32,
    /// How many sums were kept.
    kept: usize,
}

/// A sum that is all of a bracket, a result or a constraint.
#[derive(Clone, Copy, Debug)]
struct SeenSum {
    text: u32,
    start: u32,
    end: u32,
    /// The bytes from `start` on.
    key: u64,
    expr: Expr,
}

/// Sets of [`Seen`], a power of two.
const SETS: usize = 16;
/// Sums in a set: several begin alike.
const WAYS: usize = 4;
/// Shorter sums are read again.
const SHORTEST: usize = 9;

impl Seen {
    pub(super) fn next_text(&mut self) {
        self.text = self.text.wrapping_add(1);
        if self.sets.is_empty() || self.text == 0 {
            self.text = 1;
            let empty = SeenSum { text: 0, start: 0, end: 0, key: 0, expr: Expr(0) };
            self.sets.clear();
            self.sets.resize(SETS, [empty; WAYS]);
        }
    }

    /// The first bytes of a sum, and the set that it belongs to.
    #[inline]
    fn place(sum: &[u8]) -> Option<(u64, usize)> {
        let key = u64::from_le_bytes(*sum.first_chunk::<8>()?);
        Some((key, slot(key) % SETS))
    }

    /// What `rest` of `text` begins with, as far as it was read before and `ends` is true of what is behind it: the
    /// expression, and what is behind it.
    #[inline]
    pub(super) fn find<'t>(
        &self,
        text: &str,
        rest: &'t [u8],
        ends: impl Fn(&[u8]) -> bool,
    ) -> Option<(&'t [u8], Expr)> {
        let (key, set) = Seen::place(rest)?;
        for seen in self.sets.get(set)? {
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

    #[inline]
    pub(super) fn keep(&mut self, text: &str, start: usize, end: usize, expr: Expr) {
        if end < start + SHORTEST {
            return;
        }
        let place = text.as_bytes().get(start..).and_then(Seen::place);
        if let (Some((key, set)), Ok(start), Ok(end)) = (place, u32::try_from(start), u32::try_from(end)) {
            self.kept += 1;
            self.sets[set][self.kept % WAYS] = SeenSum { text: self.text, start, end, key, expr };
        }
    }
}

#[inline]
fn slot(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize
}

/// Slots of [`Divided`], a power of two.
const SLOTS: usize = 64;

/// Quotients and remainders by constants that were made for the text: what is divided is written in many ways.
#[derive(Default, Debug)]
pub(super) struct Divided {
    slots: Vec<Division>,
    text: u32,
}

#[derive(Clone, Copy, Debug)]
struct Division {
    text: u32,
    is_floor: bool,
    dividend: Expr,
    divisor: i64,
    result: Expr,
}

impl Divided {
    pub(super) fn next_text(&mut self) {
        self.text = self.text.wrapping_add(1);
        if self.slots.is_empty() || self.text == 0 {
            self.text = 1;
            let empty = Division { text: 0, is_floor: false, dividend: Expr(0), divisor: 0, result: Expr(0) };
            self.slots.clear();
            self.slots.resize(SLOTS, empty);
        }
    }

    #[inline]
    fn slot(is_floor: bool, dividend: Expr, divisor: i64) -> usize {
        let key = (u64::from(dividend.0) << 1 | u64::from(is_floor)) ^ (divisor as u64).rotate_left(32);
        slot(key) % SLOTS
    }

    #[inline]
    pub(super) fn find(&self, is_floor: bool, dividend: Expr, divisor: i64) -> Option<Expr> {
        let d = self.slots.get(Divided::slot(is_floor, dividend, divisor))?;
        let same =
            d.text == self.text && d.is_floor == is_floor && d.dividend == dividend && d.divisor == divisor;
        same.then_some(d.result)
    }

    #[inline]
    pub(super) fn keep(&mut self, is_floor: bool, dividend: Expr, divisor: i64, result: Expr) {
        if let Some(d) = self.slots.get_mut(Divided::slot(is_floor, dividend, divisor)) {
            *d = Division { text: self.text, is_floor, dividend, divisor, result };
        }
    }
}
