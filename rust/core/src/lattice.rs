//! The constructors of `min` and `max`: the laws of a distributive lattice and of an ordered group.
//!
//! Written for `min`; `max` is the same with the order turned round. Arguments are flat, sorted, different, at least
//! two, in the structural order of their terms, so that a common shift does not change it; a constant is last. Terms that all arguments share stand outside, as do common factors; an argument that
//! another one makes idle is dropped; shared arguments of nested `max` are taken out.

use crate::canonical::gcd_with;
use crate::error::{Error, Result};
use crate::expr::{Arena, Expr, Node, Tag, Term};

#[inline]
fn opposite(tag: Tag) -> Tag {
    if tag == Tag::Min {
        Tag::Max
    } else {
        Tag::Min
    }
}

/// Is `a` at least as strong as `b` under `tag` (at most, for a minimum)?
#[inline]
fn wins(tag: Tag, a: i64, b: i64) -> bool {
    if tag == Tag::Min {
        a <= b
    } else {
        a >= b
    }
}

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
        self.absorb(tag, &mut flat)?;
        let out = self.outside(tag, &flat);
        self.give_args(flat);
        out
    }

    /// Append the arguments of a nested one: of `min(p, q)`, of `k + min(p, q)`, of `k - max(p, q)`.
    fn flatten(&mut self, tag: Tag, e: Expr, out: &mut Vec<Expr>) -> Result<()> {
        let (constant, coeff, inner) = match self.node(e) {
            Node::Sum(constant, [t]) if t.coeff == 1 || t.coeff == -1 => (constant, t.coeff, t.expr),
            _ => (0, 1, e),
        };
        let inner_tag = if coeff == 1 { tag } else { opposite(tag) };
        match self.args_with_tag(inner, inner_tag) {
            Some(args) if inner == e => out.extend_from_slice(args),
            Some(args) => {
                let args = args.to_vec();
                for a in args {
                    out.push(self.affine(a, coeff, constant)?);
                }
            }
            None => out.push(e),
        }
        Ok(())
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

    fn args_with_tag(&self, e: Expr, tag: Tag) -> Option<&[Expr]> {
        match self.node(e) {
            Node::Min(args) if tag == Tag::Min => Some(args),
            Node::Max(args) if tag == Tag::Max => Some(args),
            _ => None,
        }
    }

    /// `min(x, max(x, y)) = x`; `min(x, max(y, min(x, z))) = min(x, max(y, z))`;
    /// `min(max(x, y), max(x, z)) = max(x, min(y, z))`.
    fn absorb(&mut self, tag: Tag, args: &mut Vec<Expr>) -> Result<()> {
        let inner = opposite(tag);
        let nested = |a: &&Expr| match self.node(**a) {
            Node::Sum(_, [t]) => t.coeff == 1 && self.tag(t.expr) == inner,
            _ => self.tag(**a) == inner,
        };
        if args.iter().filter(nested).count() == 0 {
            return Ok(());
        }
        loop {
            let dropped = args.iter().position(|a| {
                let Some(parts) = self.args_with_tag(*a, inner) else { return false };
                parts.iter().any(|p| args.iter().any(|o| o != a && self.is_idle_beside(tag, *p, *o)))
            });
            if let Some(k) = dropped {
                args.remove(k);
                continue;
            }
            if let Some((k, new)) = self.prune_nested(tag, args)? {
                self.put(tag, args, &[k], new);
                continue;
            }
            if let Some((i, j, new)) = self.factor_pair(tag, args)? {
                self.put(tag, args, &[i, j], new);
                continue;
            }
            return Ok(());
        }
    }

    /// Replace the arguments at `places` by `new`, keeping the list flat and sorted.
    fn put(&mut self, tag: Tag, args: &mut Vec<Expr>, places: &[usize], new: Expr) {
        let mut at = 0;
        args.retain(|_| {
            at += 1;
            !places.contains(&(at - 1))
        });
        match self.args_with_tag(new, tag) {
            Some(parts) => args.extend_from_slice(parts),
            None => args.push(new),
        }
        self.sort_args(tag, args);
    }

    /// Does `part` never count beside `outer` under `tag`: is it the same, or a constant that is no stronger?
    fn is_idle_beside(&self, tag: Tag, part: Expr, outer: Expr) -> bool {
        part == outer
            || match (self.as_constant(part), self.as_constant(outer)) {
                (Some(p), Some(o)) => wins(tag, o, p),
                _ => false,
            }
    }

    /// In `min(x, max(y, min(x, z)))` the inner `x` is idle.
    fn prune_nested(&mut self, tag: Tag, args: &[Expr]) -> Result<Option<(usize, Expr)>> {
        for (k, &a) in args.iter().enumerate() {
            let Some(parts) = self.args_with_tag(a, opposite(tag)) else { continue };
            let found = parts.iter().enumerate().find_map(|(i, p)| {
                let leaves = self.args_with_tag(*p, tag)?;
                let idle = |l: &Expr| args.iter().any(|o| *o != a && self.is_idle_beside(tag, *l, *o));
                let kept: Vec<Expr> = leaves.iter().copied().filter(|l| !idle(l)).collect();
                (kept.len() < leaves.len()).then_some((i, kept))
            });
            let Some((i, kept)) = found else { continue };
            let mut new = parts.to_vec();
            if kept.is_empty() {
                // min(x, max(y, min(x, x'))) with x' idle as well: the inner minimum is at least the outer one.
                return Ok(None);
            }
            new[i] = self.extremum(tag, &kept)?;
            return Ok(Some((k, self.extremum(opposite(tag), &new)?)));
        }
        Ok(None)
    }

    /// Two arguments `max(x, y)` and `max(x, z)` become `max(x, min(y, z))`.
    fn factor_pair(&mut self, tag: Tag, args: &[Expr]) -> Result<Option<(usize, usize, Expr)>> {
        let inner = opposite(tag);
        for i in 0..args.len() {
            for j in i + 1..args.len() {
                let (Some(p), Some(q)) =
                    (self.shifted_args(args[i], inner)?, self.shifted_args(args[j], inner)?)
                else {
                    continue;
                };
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

    /// The arguments of `k + max(x, y)`, shifted by `k`.
    fn shifted_args(&mut self, e: Expr, tag: Tag) -> Result<Option<Vec<Expr>>> {
        let (constant, inner) = match self.node(e) {
            Node::Sum(constant, [t]) if t.coeff == 1 => (constant, t.expr),
            _ => (0, e),
        };
        let Some(args) = self.args_with_tag(inner, tag).map(<[Expr]>::to_vec) else { return Ok(None) };
        args.into_iter().map(|a| self.offset(a, constant)).collect::<Result<Vec<_>>>().map(Some)
    }

    /// Take what all arguments share out: terms, the constant of the first, a factor, the sign.
    fn outside(&mut self, tag: Tag, args: &[Expr]) -> Result<Expr> {
        if let [only] = args {
            return Ok(*only);
        }
        let mut shared = self.take_terms();
        let constant = self.shared_terms(args, &mut shared);
        if constant != 0 || !shared.is_empty() {
            let common = self.sorted_sum(constant, &shared);
            self.give_terms(shared);
            let rest = args.iter().map(|a| self.sub(*a, common)).collect::<Result<Vec<_>>>();
            let Ok(rest) = rest else { return Ok(self.intern_args(tag, args)) };
            let inner = self.extremum(tag, &rest)?;
            return self.add(inner, common);
        }
        self.give_terms(shared);
        let factor = self.shared_factor(args);
        if factor != 1 {
            let rest = args.iter().map(|a| self.divide_exactly(*a, factor)).collect::<Result<Vec<_>>>()?;
            let inner = self.extremum(if factor < 0 { opposite(tag) } else { tag }, &rest)?;
            return self.scale(inner, factor);
        }
        Ok(self.intern_args(tag, args))
    }

    /// The terms that stand in all arguments with one coefficient; returns the constant of the first argument.
    fn shared_terms(&self, args: &[Expr], out: &mut Vec<Term>) -> i64 {
        let first = args[0];
        if self.tag(first) == Tag::Constant {
            return 0;
        }
        let one = [Term::new(1, first)];
        let terms = self.terms_or(first, &one);
        out.extend(terms.iter().copied().filter(|t| args.iter().all(|a| self.has_term(*a, *t))));
        let constant = self.constant_part(first);
        if constant == i64::MIN {
            return 0;
        }
        // It becomes 0, so that max(x - 3, 0) + 3 = max(x, 3).
        constant
    }

    /// The structural order of the terms, constants aside; a constant alone comes last.
    fn compare_terms(&self, a: Expr, b: Expr) -> std::cmp::Ordering {
        let (one, two) = ([Term::new(1, a)], [Term::new(1, b)]);
        let (p, q) = (self.terms_or(a, &one), self.terms_or(b, &two));
        for (x, y) in p.iter().zip(q) {
            let order = self.compare(x.expr, y.expr).then(x.coeff.cmp(&y.coeff));
            if order.is_ne() {
                return order;
            }
        }
        (p.is_empty(), p.len()).cmp(&(q.is_empty(), q.len()))
    }

    /// The terms of a sum; those of a constant (none); `one` of anything else.
    fn terms_or<'a>(&'a self, e: Expr, one: &'a [Term]) -> &'a [Term] {
        match self.node(e) {
            Node::Sum(_, terms) => terms,
            Node::Constant(_) => &[],
            _ => one,
        }
    }

    fn has_term(&self, e: Expr, t: Term) -> bool {
        match self.node(e) {
            Node::Sum(_, terms) => terms.contains(&t),
            _ => t.coeff == 1 && t.expr == e,
        }
    }

    /// The greatest common divisor of all coefficients and constants, negative where the least atom counts negative.
    fn shared_factor(&mut self, args: &[Expr]) -> i64 {
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
        if weight < 0 {
            -g
        } else {
            g
        }
    }

    /// The leading coefficient of the sum of all arguments: its sign turns with theirs.
    fn leading_of_total(&mut self, args: &[Expr]) -> i64 {
        let terms: Vec<Term> = args.iter().map(|a| Term::new(1, *a)).collect();
        let Ok(total) = self.sum(0, &terms) else { return 0 };
        match self.node(total) {
            Node::Sum(_, terms) => terms[0].coeff,
            _ => 0,
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
