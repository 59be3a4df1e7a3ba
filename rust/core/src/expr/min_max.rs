//! The constructors of `min` and `max`: the laws of a distributive lattice and of an ordered group.
//!
//! Written for `min`; `max` is the same with the order turned round. Arguments are flat, sorted, different, at least
//! two, in the structural order of their terms, so that a common shift does not change it; a constant is last. Flat
//! means that no argument is a minimum itself, with terms beside it or not, so that the order in which minima were
//! joined leaves no trace. Terms that all arguments share stand outside, as do common factors; an argument that another
//! one makes idle is dropped; shared arguments of nested `max` are taken out.
//!
//! The results of constructors are bounded: terms are distributed over [`ARGUMENTS_SPREAD`] arguments at most, and nested
//! `max` are searched with so much work for each argument. Beyond that, they stay as they are. Both depend on the
//! arguments alone, so that equal ones make equal nodes.

use crate::error::{Error, Result};
use crate::expr::canonical::{coefficient, gcd_with};
use crate::expr::{Arena, Expr, Node, Tag, Term, Terms};

/// Whether `a` wins against `b` under `tag`: at least as large in a maximum, at most as large in a minimum.
fn wins(tag: Tag, a: i64, b: i64) -> bool {
    if tag == Tag::Min {
        a <= b
    } else {
        a >= b
    }
}

/// The depth to which minima in maxima are searched for idle arguments.
const MAX_DEPTH: u32 = 3;

/// With more arguments than this, a nested one with terms beside it stays nested: the terms would multiply.
const ARGUMENTS_SPREAD: usize = 12;
/// With terms beside it that are longer than this, written out, it stays nested as well.
const WEIGHT_SPREAD: u32 = 32;
/// The work for each argument to find what absorbs what.
const SEARCH_PER_ARGUMENT: u64 = 1000;

impl Arena {
    /// The smaller of `a` and `b`.
    pub fn min(&mut self, a: Expr, b: Expr) -> Result<Expr> {
        self.minimum(&[a, b])
    }

    /// The greater of `a` and `b`.
    pub fn max(&mut self, a: Expr, b: Expr) -> Result<Expr> {
        self.maximum(&[a, b])
    }

    /// The smallest of `args`, of which there is at least one.
    pub fn minimum(&mut self, args: &[Expr]) -> Result<Expr> {
        self.extremum(Tag::Min, args)
    }

    /// The greatest of `args`, of which there is at least one.
    pub fn maximum(&mut self, args: &[Expr]) -> Result<Expr> {
        self.extremum(Tag::Max, args)
    }

    pub(crate) fn extremum(&mut self, tag: Tag, args: &[Expr]) -> Result<Expr> {
        if let [only] = args {
            return Ok(*only);
        }
        let mut flat = self.take_args();
        for a in args {
            self.flatten(tag, *a, &mut flat)?;
        }
        self.sort_args(tag, &mut flat);
        self.drop_absorbed(tag, &mut flat)?;
        let out = self.outside(tag, &flat);
        self.give_args(flat);
        out
    }

    /// Append the arguments of a nested one: of `t + c * min(p, q)`, of `t - c * max(p, q)`, for `c > 0`.
    fn flatten(&mut self, tag: Tag, e: Expr, out: &mut Vec<Expr>) -> Result<()> {
        match self.spread(tag, e)? {
            Some(args) => out.extend(args),
            None => out.push(e),
        }
        Ok(())
    }

    /// The only minimum or maximum in `e`, with its coefficient, where `e` is an extremum of this kind by it.
    pub(crate) fn extremum_term(&self, tag: Tag, e: Expr) -> Option<Term> {
        let one = [Term::new(1, e)];
        let mut extrema =
            self.as_sum(e, &one).1.iter().filter(|t| matches!(self.tag(t.expr), Tag::Min | Tag::Max));
        let (Some(&t), None) = (extrema.next(), extrema.next()) else { return None };
        let inner = if t.coeff > 0 { tag } else { tag.opposite() };
        (self.tag(t.expr) == inner).then_some(t)
    }

    /// The arguments of `e`, where it is an extremum of this kind, scaled and with terms beside it or not.
    fn spread(&mut self, tag: Tag, e: Expr) -> Result<Option<Vec<Expr>>> {
        let Some(t) = self.extremum_term(tag, e) else { return Ok(None) };
        let (Node::Min(args) | Node::Max(args)) = self.node(t.expr) else { return Ok(None) };
        let whole = t.expr == e;
        if !whole && (args.len() > ARGUMENTS_SPREAD || self.weight_beside(e, t.expr) > WEIGHT_SPREAD) {
            return Ok(None);
        }
        self.charge(args.len());
        let args = args.to_vec();
        if whole {
            return Ok(Some(args));
        }
        let rest = self.combine(e, 1, t.expr, coefficient(t.coeff.checked_neg())?)?;
        args.into_iter().map(|a| self.combine(rest, 1, a, t.coeff)).collect::<Result<Vec<_>>>().map(Some)
    }

    /// The length of the terms of `e` other than `own`, written out.
    fn weight_beside(&self, e: Expr, own: Expr) -> u32 {
        let Node::Sum(_, terms) = self.node(e) else { return 0 };
        terms.iter().filter(|t| t.expr != own).map(|t| u32::from(self.weight(t.expr))).sum()
    }

    /// Sort, drop equal arguments, and of arguments that differ by a constant keep the one that counts.
    fn sort_args(&mut self, tag: Tag, args: &mut Vec<Expr>) {
        args.sort_unstable_by(|x, y| self.compare_terms(*x, *y).then_with(|| self.compare(*x, *y)));
        let mut kept = 0;
        for i in 0..args.len() {
            let a = args[i];
            if kept > 0 && self.compare_terms(args[kept - 1], a).is_eq() {
                if wins(tag, self.constant_part(a), self.constant_part(args[kept - 1])) {
                    args[kept - 1] = a;
                }
            } else {
                args[kept] = a;
                kept += 1;
            }
        }
        args.truncate(kept);
    }

    /// `min(x, max(x, y)) = x`; `min(x, max(y, min(x, z))) = min(x, max(y, z))`;
    /// `min(max(x, y), max(x, z)) = max(x, min(y, z))`. All or nothing: where the work allowed is not enough, the
    /// arguments stay as they are, so that what is printed reads back.
    fn drop_absorbed(&mut self, tag: Tag, args: &mut Vec<Expr>) -> Result<()> {
        let inner = tag.opposite();
        if !args.iter().any(|a| self.extremum_term(inner, *a).is_some()) {
            return Ok(());
        }
        let outer = self.search_limit;
        self.search_limit = outer.min(self.work() + SEARCH_PER_ARGUMENT * args.len() as u64);
        let mut kept = args.clone();
        let outcome = self.drop_all_absorbed(tag, &mut kept);
        if !self.is_search_over() {
            *args = kept;
        }
        self.search_limit = outer;
        outcome
    }

    /// Whether the budget of the search for absorbed arguments is used up.
    fn is_search_over(&self) -> bool {
        self.work() > self.search_limit
    }

    fn drop_all_absorbed(&mut self, tag: Tag, args: &mut Vec<Expr>) -> Result<()> {
        while !self.is_search_over() {
            if let Some(k) = self.idle_nested(tag, args)? {
                args.remove(k);
            } else if let Some((k, new)) = self.prune_nested(tag, args)? {
                self.put(tag, args, &[k], new)?;
            } else if let Some((i, j, new)) = self.factor_pair(tag, args)? {
                self.put(tag, args, &[i, j], new)?;
            } else {
                break;
            }
        }
        Ok(())
    }

    /// The place of an argument that is idle beside the others for what is nested in it.
    fn idle_nested(&mut self, tag: Tag, args: &[Expr]) -> Result<Option<usize>> {
        for (k, &a) in args.iter().enumerate() {
            if self.extremum_term(tag.opposite(), a).is_some()
                && self.is_idle(tag, a, (args, a), MAX_DEPTH)?
            {
                return Ok(Some(k));
            }
        }
        Ok(None)
    }

    /// Whether `e` is idle under `tag` beside the arguments other than `own`: `max(x, y)` is in a minimum if
    /// `x` doesn't, `min(x, y)` if neither does.
    fn is_idle(&mut self, tag: Tag, e: Expr, beside: (&[Expr], Expr), depth: u32) -> Result<bool> {
        let (args, own) = beside;
        self.charge(args.len());
        if self.is_search_over() {
            return Ok(false);
        }
        if args.iter().any(|o| *o != own && self.is_idle_beside(tag, e, *o)) {
            return Ok(true);
        }
        let Some(depth) = depth.checked_sub(1) else { return Ok(false) };
        for (inner, all) in [(tag.opposite(), false), (tag, true)] {
            let Some(parts) = self.spread(inner, e)? else { continue };
            let mut holds = all;
            for p in parts {
                if self.is_idle(tag, p, beside, depth)? != all {
                    holds = !all;
                    break;
                }
            }
            if holds {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Replace the arguments at `places` by `new`, keeping the list flat and sorted.
    fn put(&mut self, tag: Tag, args: &mut Vec<Expr>, places: &[usize], new: Expr) -> Result<()> {
        let mut at = 0;
        args.retain(|_| {
            at += 1;
            !places.contains(&(at - 1))
        });
        self.flatten(tag, new, args)?;
        self.sort_args(tag, args);
        Ok(())
    }

    /// Whether `part` is idle beside `outer` under `tag`: the same, or no stronger by a constant.
    fn is_idle_beside(&self, tag: Tag, part: Expr, outer: Expr) -> bool {
        part == outer
            || (self.compare_terms(part, outer).is_eq()
                && wins(tag, self.constant_part(outer), self.constant_part(part)))
    }

    /// In `min(x, max(y, min(x, z)))` the inner `x` is idle.
    fn prune_nested(&mut self, tag: Tag, args: &[Expr]) -> Result<Option<(usize, Expr)>> {
        for (k, &a) in args.iter().enumerate() {
            let Some(mut parts) = self.spread(tag.opposite(), a)? else { continue };
            for i in 0..parts.len() {
                let Some(leaves) = self.spread(tag, parts[i])? else { continue };
                let mut kept = Vec::with_capacity(leaves.len());
                for l in &leaves {
                    if !self.is_idle(tag, *l, (args, a), MAX_DEPTH)? {
                        kept.push(*l);
                    }
                }
                if !kept.is_empty() && kept.len() < leaves.len() {
                    parts[i] = self.extremum(tag, &kept)?;
                    return Ok(Some((k, self.extremum(tag.opposite(), &parts)?)));
                }
            }
        }
        Ok(None)
    }

    /// Two arguments `max(x, y)` and `max(x, z)` become `max(x, min(y, z))`.
    fn factor_pair(&mut self, tag: Tag, args: &[Expr]) -> Result<Option<(usize, usize, Expr)>> {
        let inner = tag.opposite();
        let parts = args.iter().map(|a| self.spread(inner, *a)).collect::<Result<Vec<_>>>()?;
        for (i, p) in parts.iter().enumerate() {
            let Some(p) = p else { continue };
            for (j, q) in parts.iter().enumerate().skip(i + 1) {
                let Some(q) = q else { continue };
                self.charge(1 + p.len() * q.len() / 4);
                if self.is_search_over() {
                    return Ok(None);
                }
                let mut shared: Vec<Expr> = p.iter().copied().filter(|x| q.contains(x)).collect();
                if shared.is_empty() {
                    continue;
                }
                let left: Vec<Expr> = p.iter().copied().filter(|x| !shared.contains(x)).collect();
                let right: Vec<Expr> = q.iter().copied().filter(|x| !shared.contains(x)).collect();
                if !left.is_empty() && !right.is_empty() {
                    let (l, r) = (self.extremum(inner, &left)?, self.extremum(inner, &right)?);
                    shared.push(self.extremum(tag, &[l, r])?);
                }
                return Ok(Some((i, j, self.extremum(inner, &shared)?)));
            }
        }
        Ok(None)
    }

    /// Take what all arguments share out: terms, the constant of the first, a factor, the sign.
    fn outside(&mut self, tag: Tag, args: &[Expr]) -> Result<Expr> {
        if let [only] = args {
            return Ok(*only);
        }
        let mut shared = self.take_terms();
        self.shared_terms(args, &mut shared);
        let common = self.sorted_sum(0, &shared);
        self.give_terms(shared);
        let shift = self.shared_shift(args);
        if shift != 0 || self.as_constant(common).is_none() {
            let without = |s: &mut Self, a| s.sub(a, common).and_then(|rest| s.shifted(rest, shift));
            let rest = args.iter().map(|a| without(self, *a)).collect::<Result<Vec<_>>>();
            let Ok(rest) = rest else { return Ok(self.intern_args(tag, args)) };
            let inner = self.extremum(tag, &rest)?;
            let out = self.add(inner, common)?;
            return self.shifted(out, -shift);
        }
        let factor = self.shared_factor(tag, args);
        if factor != 1 {
            let rest = args.iter().map(|a| self.divide_exactly(*a, factor)).collect::<Result<Vec<_>>>()?;
            let inner = self.extremum(if factor < 0 { tag.opposite() } else { tag }, &rest)?;
            return self.scale(inner, factor);
        }
        Ok(self.intern_args(tag, args))
    }

    /// The terms that stand in all arguments with one coefficient.
    fn shared_terms(&self, args: &[Expr], out: &mut Vec<Term>) {
        let first = args[0];
        if self.tag(first) == Tag::Constant {
            return;
        }
        let one = [Term::new(1, first)];
        out.extend_from_slice(self.as_sum(first, &one).1);
        for a in &args[1..] {
            if out.is_empty() {
                break;
            }
            self.keep_terms_of(*a, out);
        }
    }

    /// The offset of all arguments that makes the constant of the first 0: max(x - 3, 0) + 3 = max(x, 3). Where
    /// another constant would leave int64, as much of it as that one takes, so that one form is left of all shifted ones.
    fn shared_shift(&self, args: &[Expr]) -> i128 {
        if self.tag(args[0]) == Tag::Constant {
            return 0;
        }
        let constants = args.iter().map(|a| i128::from(self.constant_part(*a)));
        let ends = (i128::from(i64::MAX), i128::from(i64::MIN));
        let (least, most) = constants.fold(ends, |(least, most), c| (c.min(least), c.max(most)));
        let wanted = -i128::from(self.constant_part(args[0]));
        wanted.clamp(i128::from(i64::MIN) - least, i128::from(i64::MAX) - most)
    }

    /// `e + shift`.
    fn shifted(&mut self, e: Expr, shift: i128) -> Result<Expr> {
        if shift == 0 {
            return Ok(e);
        }
        let one = [Term::new(1, e)];
        let constant = i64::try_from(i128::from(self.constant_part(e)) + shift)
            .map_err(|_| Error::overflow("a constant"))?;
        let terms = Terms::from_slice(self.as_sum(e, &one).1);
        Ok(self.sorted_sum(constant, if self.tag(e) == Tag::Constant { &[] } else { &terms }))
    }

    /// The structural order of the terms, constants aside; a constant alone comes last.
    pub(crate) fn compare_terms(&self, a: Expr, b: Expr) -> std::cmp::Ordering {
        let (one, two) = ([Term::new(1, a)], [Term::new(1, b)]);
        let (p, q) = (self.as_sum(a, &one).1, self.as_sum(b, &two).1);
        for (x, y) in p.iter().zip(q) {
            let order = self.compare(x.expr, y.expr).then(x.coeff.cmp(&y.coeff));
            if order.is_ne() {
                return order;
            }
        }
        (p.is_empty(), p.len()).cmp(&(q.is_empty(), q.len()))
    }

    /// Of sorted terms, those that `e` has as well.
    fn keep_terms_of(&self, e: Expr, kept: &mut Vec<Term>) {
        let one = [Term::new(1, e)];
        let (_, mut terms) = self.as_sum(e, &one);
        self.charge(terms.len() + kept.len());
        kept.retain(|t| {
            while let [first, rest @ ..] = terms {
                if first.expr == t.expr {
                    return first.coeff == t.coeff;
                }
                if self.compare(first.expr, t.expr).is_gt() {
                    return false;
                }
                terms = rest;
            }
            false
        });
    }

    /// The greatest common divisor of all coefficients and constants, negative where the least atom counts negative. Where no
    /// atom counts, as in `max(x, -x)`, a minimum becomes a maximum.
    fn shared_factor(&mut self, tag: Tag, args: &[Expr]) -> i64 {
        let mut g = 0u64;
        let mut least: Option<Expr> = None;
        let mut weight = 0i128;
        for &a in args {
            let one = [Term::new(1, a)];
            let (constant, terms): (i64, &[Term]) = match self.node(a) {
                Node::Sum(constant, terms) => (constant, terms),
                Node::Constant(c) => (c, &[]),
                _ => (0, &one),
            };
            if constant == i64::MIN {
                return 1;
            }
            g = gcd_with(g, constant);
            for t in terms {
                if t.coeff == i64::MIN {
                    return 1;
                }
                g = gcd_with(g, t.coeff);
                let order = least.map_or(std::cmp::Ordering::Less, |l| self.compare(t.expr, l));
                if order.is_lt() {
                    (least, weight) = (Some(t.expr), 0);
                }
                if order.is_le() {
                    weight += i128::from(t.coeff);
                }
            }
        }
        let g = i64::try_from(g.max(1)).unwrap_or(1);
        if weight == 0 {
            weight = i128::from(self.leading_of_total(args));
        }
        if weight < 0 || (weight == 0 && tag == Tag::Min) {
            -g
        } else {
            g
        }
    }

    /// The leading coefficient of the sum of all arguments: its sign turns with theirs. 0 if the sum is a constant.
    fn leading_of_total(&mut self, args: &[Expr]) -> i64 {
        let terms: Vec<Term> = args.iter().map(|a| Term::new(1, *a)).collect();
        let Ok(total) = self.sum(0, &terms) else { return 1 };
        match self.node(total) {
            Node::Sum(_, terms) => terms[0].coeff,
            Node::Constant(_) => 0,
            _ => 1,
        }
    }

    fn divide_exactly(&mut self, e: Expr, factor: i64) -> Result<Expr> {
        match self.node(e) {
            Node::Constant(c) => Ok(self.constant(c / factor)),
            Node::Sum(constant, terms) => {
                let reduced: Vec<Term> = terms.iter().map(|t| Term::new(t.coeff / factor, t.expr)).collect();
                Ok(self.sorted_sum(constant / factor, &reduced))
            }
            _ if factor == -1 => self.neg(e),
            _ => Err(Error::overflow("a factor of min or max")),
        }
    }
}
