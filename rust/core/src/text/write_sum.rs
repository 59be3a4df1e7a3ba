//! Printing sums: factors shared by terms, the cheapest place of the constant, the sign that comes first.

use super::write_expr::{items_of, Item, Level, Task, Writer};
use crate::expr::flat_nodes::Entry;

/// A part of a sum: a term, or terms with one factor.
#[derive(Clone, Copy, Debug)]
struct Piece {
    negative: bool,
    /// The factor behind it; 1 is not printed.
    factor: i64,
    content: Content,
}

#[derive(Clone, Copy, Debug)]
enum Content {
    One(Item),
    /// Places of the list of items.
    Group(u32, u32),
}

/// Quotients, minima and maxima within each other that a constant is moved through.
const NESTED_PLACES: u32 = 3;
/// With more items than this, or arguments, no place for a constant is looked for in what is nested.
const ITEMS_PRICED: usize = 8;

/// Factors are moved inside up to this number.
const MAX_INSIDE: i64 = i32::MAX as i64;

/// `c * factor + shift`; `None` for large numbers.
fn scaled(c: i64, factor: i64, shift: i64) -> Option<i64> {
    c.checked_mul(factor)?.checked_add(shift).filter(|c| (-MAX_INSIDE..=MAX_INSIDE).contains(c))
}

/// `constant + shift`; `None` if that needs more than 32 bits, unless one of both does, or is `wide` for another reason.
fn moved(constant: i64, shift: i64, wide: bool) -> Option<i64> {
    let narrow = |c: i64| (-MAX_INSIDE..=MAX_INSIDE).contains(&c);
    constant.checked_add(shift).filter(|sum| wide || narrow(*sum) || !narrow(constant))
}

/// The factors other than 1 that are printed for terms with these coefficients, of which equal ones share one.
fn factors(mut coefficients: Vec<i64>) -> i64 {
    coefficients.iter_mut().for_each(|c| *c = c.saturating_abs());
    coefficients.sort_unstable();
    coefficients.dedup();
    coefficients.iter().filter(|c| **c != 1).count() as i64
}

/// Whether a sum with these coefficients and this constant is printed with a sign in front that is no number's.
fn has_leading_sign(mut coefficients: impl Iterator<Item = i64>, constant: i64) -> bool {
    let first = coefficients.next();
    first == Some(-1) && constant <= 0 && coefficients.all(|c| c < 0)
}

/// The shift of an item into which the whole constant is moved; `None` where the coefficient doesn't divide it.
fn exact_shift(item: Item, constant: i64) -> Option<i64> {
    constant.checked_rem(item.coeff).filter(|r| *r == 0)?;
    constant.checked_div(item.coeff).filter(|q| *q != 0)
}

impl Writer<'_> {
    /// Prints the items from `first` on, and a constant, as a sum. They stay in the list until the root is printed.
    pub(super) fn sum(&mut self, first: usize, constant: i64, level: Level) {
        if self.is_cheaper_inside(first, constant) {
            return self.factor_inside(first, constant, level);
        }
        let constant = self.place_constant(first, constant);
        self.layout(first, self.items.len(), constant, level);
    }

    // ------------------------------------------------------------------ a factor moved inside

    /// Whether the only item costs less as `min(c * a + k, c * b + k)` than as `c * min(a, b) + k`, or as
    /// `(c * x + k) mod (c * m)` than as `c * (x mod m) + k`.
    fn is_cheaper_inside(&self, first: usize, constant: i64) -> bool {
        let &[Item { coeff, expr, shift: 0 }] = &self.items[first..] else { return false };
        if coeff == 1 {
            return false;
        }
        let dearer = match self.entry(expr) {
            Entry::Min(args) | Entry::Max(args) => {
                self.arguments_dearer_by(args, coeff, constant, NESTED_PLACES)
            }
            Entry::Mod(x, m) if (0..coeff).contains(&constant) => {
                let whole = self.constant_of(m as u32).and_then(|m| m.checked_mul(coeff));
                whole.filter(|m| *m <= MAX_INSIDE).and_then(|_| self.dearer_by(x as u32, coeff, constant, 0))
            }
            _ => None,
        };
        // A positive constant stands before a sign.
        let has_constant = if coeff == -1 { constant < 0 } else { constant != 0 };
        dearer.is_some_and(|dearer| dearer < 1 + i64::from(has_constant))
    }

    /// The sum of [`Writer::dearer_by`] of the arguments of an extremum.
    fn arguments_dearer_by(&self, args: &[i64], factor: i64, shift: i64, levels: u32) -> Option<i64> {
        if args.len() > ITEMS_PRICED {
            return None;
        }
        args.iter().try_fold(0, |sum, a| Some(sum + self.dearer_by(*a as u32, factor, shift, levels)?))
    }

    /// The operations of `factor * e + shift`, less those of `e`; `None` for large numbers.
    fn dearer_by(&self, e: u32, factor: i64, shift: i64, levels: u32) -> Option<i64> {
        match self.entry(e) {
            Entry::Min(args) | Entry::Max(args) if (factor, shift) == (-1, 0) && levels > 0 => {
                return self.arguments_dearer_by(args, factor, shift, levels - 1).map(|dearer| dearer.min(1));
            }
            _ => {}
        }
        if self.constant_of(e).is_some() {
            return scaled(self.own_constant(e), factor, shift).map(|_| 0);
        }
        let one = [1, i64::from(e)];
        let pairs = match self.entry(e) {
            Entry::Sum(_, pairs) => pairs,
            _ => &one,
        };
        // An extremum within would be joined with the one around it.
        if items_of(pairs).any(|i| matches!(self.entry(i.expr), Entry::Min(_) | Entry::Max(_))) {
            return None;
        }
        let constant = self.own_constant(e);
        let moved = scaled(constant, factor, shift)?;
        let coefficients: Option<Vec<i64>> = items_of(pairs).map(|i| scaled(i.coeff, factor, 0)).collect();
        let coefficients = coefficients?;
        let own: Vec<i64> = items_of(pairs).map(|i| i.coeff).collect();
        let operations = |coefficients: Vec<i64>, constant: i64| {
            let has_sign = has_leading_sign(coefficients.iter().copied(), constant);
            factors(coefficients) + i64::from(constant != 0) + i64::from(has_sign)
        };
        Some(operations(coefficients, moved) - operations(own, constant))
    }

    /// Prints the only item, whose factor is moved inside with the constant.
    fn factor_inside(&mut self, first: usize, constant: i64, level: Level) {
        let Item { coeff, expr, .. } = self.items[first];
        match self.entry(expr) {
            Entry::Mod(x, m) => {
                let m = self.own_constant(m as u32).wrapping_mul(coeff);
                let whole = Task::Scaled(x as u32, coeff, constant, Level::Factor);
                self.remainder(whole, m, level);
            }
            Entry::Min(args) => self.call(if coeff < 0 { "max(" } else { "min(" }, args, coeff, constant),
            Entry::Max(args) => self.call(if coeff < 0 { "min(" } else { "max(" }, args, coeff, constant),
            _ => {}
        }
    }

    // ------------------------------------------------------------------ the constant

    /// Moves the constant into a quotient, minimum or maximum if that is cheaper; returns what stays outside.
    fn place_constant(&mut self, first: usize, constant: i64) -> i64 {
        let mut best: Option<(i64, usize, i64, i64)> = None;
        for k in first..self.items.len() {
            let item = self.items[k];
            for (shift, outside, gain) in self.placements(item, constant) {
                if gain > best.map_or(0, |b| b.0) {
                    best = Some((gain, k, shift, outside));
                }
            }
        }
        let Some((_, k, shift, outside)) = best else { return constant };
        self.items[k].shift = shift;
        outside
    }

    /// Ways to move a constant into an item: what is added inside, what is left outside, what is gained.
    fn placements(&self, item: Item, constant: i64) -> Vec<(i64, i64, i64)> {
        let exact = exact_shift(item, constant);
        match self.entry(item.expr) {
            Entry::FloorDiv(..) => {
                let moved = exact.and_then(|q| self.placed_exactly(item, q, NESTED_PLACES));
                moved.map(|(shift, gain)| (shift, 0, gain)).into_iter().collect()
            }
            Entry::Min(args) | Entry::Max(args) => {
                let open = args.iter().map(|a| *a as u32).filter(|a| self.constant_of(*a).is_none());
                let away = open.take(8).filter_map(|a| self.own_constant(a).checked_neg());
                let shifts = exact.into_iter().chain(away);
                shifts.filter_map(|shift| self.placed_in_arguments(item, constant, shift, args)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn placed_in_arguments(
        &self,
        item: Item,
        constant: i64,
        shift: i64,
        args: &[i64],
    ) -> Option<(i64, i64, i64)> {
        let outside = constant.checked_sub(item.coeff.checked_mul(shift)?)?;
        let inside = self.argument_gain(args, shift, NESTED_PLACES)?;
        Some((shift, outside, inside + i64::from(constant != 0) - i64::from(outside != 0)))
    }

    /// The shift inside an item into which `quotient` times its coefficient is moved, and the gain.
    fn placed_exactly(&self, item: Item, quotient: i64, levels: u32) -> Option<(i64, i64)> {
        match self.entry(item.expr) {
            Entry::FloorDiv(a, b) => {
                let (a, m) = (a as u32, self.constant_of(b as u32)?);
                let (own, shift) = (self.own_constant(a), quotient.checked_mul(m)?);
                let inside = moved(own, shift, quotient.saturating_abs() > MAX_INSIDE)?;
                let price = |c: i64| self.price(a, c, levels).min(self.price_up(a, c, m, levels));
                Some((shift, 1 + price(own) - price(inside)))
            }
            Entry::Min(args) | Entry::Max(args) => {
                Some((quotient, 1 + self.argument_gain(args, quotient, levels)?))
            }
            _ => None,
        }
    }

    /// The additions of the dividend of a quotient by `m` with this constant, as a ceildiv: `m - 1` is taken from it.
    fn price_up(&self, e: u32, constant: i64, m: i64, levels: u32) -> i64 {
        constant.checked_sub(m - 1).map_or(i64::MAX / 2, |above| self.price(e, above, levels))
    }

    /// Whether a quotient by `m` costs less as a ceildiv.
    pub(super) fn is_cheaper_up(&self, e: u32, constant: i64, m: i64) -> bool {
        constant != 0 && self.price_up(e, constant, m, NESTED_PLACES) < self.price(e, constant, NESTED_PLACES)
    }

    /// The gain where each argument is printed with `shift` added; `None` where one leaves int64.
    fn argument_gain(&self, args: &[i64], shift: i64, levels: u32) -> Option<i64> {
        let mut gain = 0;
        for &a in args {
            let a = a as u32;
            let own = self.own_constant(a);
            let inside = moved(own, shift, shift.saturating_abs() > MAX_INSIDE)?;
            if self.constant_of(a).is_none() {
                gain += self.price(a, own, levels) - self.price(a, inside, levels);
            }
        }
        Some(gain)
    }

    /// The additions that `e` takes with `constant` in place of its own, less those that it takes without any.
    fn price(&self, e: u32, constant: i64, levels: u32) -> i64 {
        if constant == 0 {
            return 0;
        }
        let placed =
            |item: Item| Some(self.placed_exactly(item, exact_shift(item, constant)?, levels - 1)?.1);
        let best = match self.entry(e) {
            _ if levels == 0 => None,
            Entry::Sum(_, pairs) if pairs.len() <= 2 * ITEMS_PRICED => {
                items_of(pairs).filter_map(placed).max()
            }
            Entry::Sum(..) => None,
            Entry::Min(args) | Entry::Max(args) if args.len() > ITEMS_PRICED => None,
            _ => placed(Item { coeff: 1, expr: e, shift: 0 }),
        };
        1 - best.unwrap_or(0).max(0)
    }

    // ------------------------------------------------------------------ the layout

    /// Prints the items at `first..end`, and a constant.
    pub(super) fn layout(&mut self, first: usize, end: usize, constant: i64, level: Level) {
        let pieces = self.pieces(first, end);
        if pieces.is_empty() {
            self.tasks.push(Task::Constant(constant, level));
            return;
        }
        let leading = pieces.iter().position(|p| !p.negative);
        let constant_first = leading.is_none() && constant > 0;
        let lead = if constant_first { usize::MAX } else { leading.unwrap_or(0) };
        let parts = pieces.len() + usize::from(constant != 0);
        let brackets = match pieces.as_slice() {
            [p] if parts == 1 => level == Level::Factor && (p.negative || p.factor != 1),
            _ => level > Level::Sum,
        };
        if brackets {
            self.tasks.push(Task::Char(')'));
        }
        if constant != 0 && !constant_first {
            self.push_constant(constant);
        }
        for (_, piece) in pieces.iter().enumerate().rev().filter(|(k, _)| *k != lead) {
            self.push_piece(*piece, piece.factor, Level::Term);
            self.tasks.push(Task::Text(if piece.negative { " - " } else { " + " }));
        }
        match pieces.get(lead) {
            Some(p) if p.negative && p.factor == 1 => {
                self.push_piece(*p, 1, Level::Factor);
                self.tasks.push(Task::Char('-'));
            }
            Some(p) if p.negative => self.push_piece(*p, -p.factor, Level::Term),
            Some(p) if parts == 1 && !brackets => self.push_piece(*p, p.factor, level),
            Some(p) => self.push_piece(*p, p.factor, Level::Term),
            None => self.tasks.push(Task::Number(constant)),
        }
        if brackets {
            self.tasks.push(Task::Char('('));
        }
    }

    fn push_constant(&mut self, constant: i64) {
        // i64::MIN has no positive counterpart to subtract.
        let (sign, magnitude) = match constant.checked_neg() {
            Some(positive) if constant < 0 => (" - ", positive),
            _ => (" + ", constant),
        };
        self.tasks.extend([Task::Number(magnitude), Task::Text(sign)]);
    }

    fn push_piece(&mut self, piece: Piece, factor: i64, level: Level) {
        let level = if factor == 1 { level } else { Level::Factor };
        if factor != 1 {
            self.tasks.extend([Task::Number(factor), Task::Text(" * ")]);
        }
        self.tasks.push(match piece.content {
            Content::Group(first, end) => Task::Group(first, end, Level::Factor),
            Content::One(item) => {
                // x * y * 4 needs no brackets.
                let product = matches!(self.entry(item.expr), Entry::Product(_)) && factor != 1;
                Task::Shifted(item.expr, item.shift, if product { Level::Term } else { level })
            }
        });
    }

    /// The pieces, in the order of their first terms; terms with one factor, of whatever sign, are one piece.
    fn pieces(&mut self, first: usize, end: usize) -> Vec<Piece> {
        let groups = self.shared_factors(first, end);
        let mut pieces: Vec<Piece> = Vec::with_capacity(end - first);
        let mut members: Vec<usize> = Vec::new();
        let mut done = vec![false; if groups.is_empty() { 0 } else { end - first }];
        for k in first..end {
            let item = self.items[k];
            let group = groups.binary_search_by_key(&(k as u32), |g| g[0]).ok().map(|g| &groups[g]);
            if !done.is_empty() && done[k - first] {
                continue;
            }
            let Some(group) = group else {
                pieces.push(single(item));
                continue;
            };
            members.clear();
            members.extend(group.iter().map(|m| *m as usize));
            let negative = members.iter().all(|m| self.items[*m].coeff < 0);
            let start = self.items.len() as u32;
            for &m in &members {
                done[m - first] = true;
                let own = self.items[m];
                let coeff = if (own.coeff < 0) == negative { 1 } else { -1 };
                self.items.push(Item { coeff, ..own });
            }
            let content = Content::Group(start, self.items.len() as u32);
            pieces.push(Piece { negative, factor: item.coeff.abs(), content });
        }
        pieces
    }

    /// Places of at least two terms whose coefficients have one magnitude above 1; sorted by the first place. But for
    /// `c * (x mod m)` where `c * m` leaves int64: without `c`, it would join what stands beside it.
    fn shared_factors(&self, first: usize, end: usize) -> Vec<Vec<u32>> {
        let mut large: Vec<(u64, u32)> = (first..end)
            .filter(|k| !self.joins_once_divided(self.items[*k]))
            .map(|k| (self.items[k].coeff, k as u32))
            .filter(|(c, _)| *c != i64::MIN && c.unsigned_abs() > 1)
            .map(|(c, k)| (c.unsigned_abs(), k))
            .collect();
        large.sort_unstable();
        let runs = large.chunk_by(|a, b| a.0 == b.0).filter(|r| r.len() > 1);
        let mut groups: Vec<Vec<u32>> = runs.map(|r| r.iter().map(|x| x.1).collect()).collect();
        groups.sort_unstable();
        groups
    }

    fn joins_once_divided(&self, item: Item) -> bool {
        let Entry::Mod(_, m) = self.entry(item.expr) else { return false };
        self.constant_of(m as u32).is_some_and(|m| item.coeff.checked_mul(m).is_none())
    }
}

fn single(item: Item) -> Piece {
    // -2^63 stays a factor: it has no positive counterpart.
    let negative = item.coeff < 0 && item.coeff != i64::MIN;
    let factor = if negative { -item.coeff } else { item.coeff };
    Piece { negative, factor, content: Content::One(item) }
}
