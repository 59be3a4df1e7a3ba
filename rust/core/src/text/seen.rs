//! What was read: maps repeat their subexpressions, so that the text of one tells what it is.

use crate::expr::Expr;

/// Parts of the text that were read before, with what they are: maps repeat their subexpressions.
#[derive(Default, Debug)]
pub(super) struct Seen {
    slots: Vec<SeenPart>,
    /// Which text the slots are about; those of others are empty.
    text: u32,
}

#[derive(Clone, Copy, Debug)]
struct SeenPart {
    text: u32,
    start: u32,
    end: u32,
    /// The bytes from `start` on.
    key: u64,
    expr: Expr,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    Whole,
    Bracket,
}

/// Slots of [`Seen`], a power of two.
const SLOTS: usize = 64;
/// Shorter parts are read again.
const SHORTEST: usize = 9;

impl Seen {
    pub(super) fn next_text(&mut self) {
        self.text = self.text.wrapping_add(1);
        if self.slots.is_empty() || self.text == 0 {
            self.text = 1;
            let empty = SeenPart { text: 0, start: 0, end: 0, key: 0, expr: Expr(0) };
            self.slots.clear();
            self.slots.resize(SLOTS, empty);
        }
    }

    #[inline]
    fn slot(key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize % SLOTS
    }

    /// A whole expression is never taken for a part in brackets that begins alike.
    #[inline]
    fn key(text: &[u8], part: Part) -> Option<u64> {
        let first = u64::from_le_bytes(*text.first_chunk::<8>()?);
        Some(if part == Part::Whole { !first } else { first })
    }

    /// What `rest` of `text` begins with, as far as it was read before: the expression, and what is behind it.
    #[inline]
    pub(super) fn find<'t>(&self, text: &str, rest: &'t [u8], part: Part) -> Option<(&'t [u8], Expr)> {
        let key = Seen::key(rest, part)?;
        let seen = self.slots.get(Seen::slot(key))?;
        if seen.text != self.text || seen.key != key {
            return None;
        }
        let old = text.as_bytes().get(seen.start as usize..seen.end as usize)?;
        Some((rest.strip_prefix(old)?, seen.expr))
    }

    #[inline]
    pub(super) fn keep(&mut self, text: &str, start: usize, end: usize, part: Part, expr: Expr) {
        if end < start + SHORTEST {
            return;
        }
        let Some(key) = text.as_bytes().get(start..).and_then(|rest| Seen::key(rest, part)) else { return };
        if let (Some(slot), Ok(from), Ok(to)) =
            (self.slots.get_mut(Seen::slot(key)), u32::try_from(start), u32::try_from(end))
        {
            *slot = SeenPart { text: self.text, start: from, end: to, key, expr };
        }
    }
}

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
        Seen::slot(key)
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
