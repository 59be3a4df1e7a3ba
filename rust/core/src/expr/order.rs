//! The structural order of expressions.

use crate::expr::{Arena, Expr, Tag};
use std::cmp::Ordering;

/// The depth to which two expressions are compared before a hash of their structure decides: comparing nested expressions
/// that differ only at the bottom would otherwise take as many steps every time.
const MAX_STEPS: usize = 64;

impl Arena {
    /// The structural order: total, the same in every arena. Two expressions are equal only if they are one node.
    #[inline]
    pub fn compare(&self, a: Expr, b: Expr) -> Ordering {
        let (x, y) = (&self.records[a.index()], &self.records[b.index()]);
        if x.tag != y.tag {
            x.tag.cmp(&y.tag)
        } else if x.tag == Tag::Variable {
            x.at.cmp(&y.at)
        } else {
            self.compare_below(a, b)
        }
    }

    fn compare_below(&self, mut a: Expr, mut b: Expr) -> Ordering {
        // Each step goes down to the first operands that differ, so that this walks one path, not a tree.
        for step in 0.. {
            self.charge(1);
            if a == b {
                return Ordering::Equal;
            }
            let (x, y) = (&self.records[a.index()], &self.records[b.index()]);
            if step == MAX_STEPS && x.hash != y.hash {
                return x.hash.cmp(&y.hash);
            }
            if x.tag != y.tag {
                return x.tag.cmp(&y.tag);
            }
            match x.tag {
                Tag::Variable => return x.at.cmp(&y.at),
                Tag::Constant => return x.value.cmp(&y.value),
                Tag::FloorDiv | Tag::Mod => {
                    (a, b) = if x.at == y.at { (Expr(x.len), Expr(y.len)) } else { (Expr(x.at), Expr(y.at)) };
                }
                Tag::Product | Tag::Min | Tag::Max => {
                    let (p, q) = (self.args_of(x), self.args_of(y));
                    match p.iter().zip(q).find(|(u, v)| u != v) {
                        Some((u, v)) => (a, b) = (*u, *v),
                        None => return p.len().cmp(&q.len()),
                    }
                }
                Tag::Sum => {
                    let (p, q) = (self.terms_of(x), self.terms_of(y));
                    match p.iter().zip(q).find(|(u, v)| u != v) {
                        Some((u, v)) if u.expr == v.expr => return u.coeff.cmp(&v.coeff),
                        Some((u, v)) => (a, b) = (u.expr, v.expr),
                        None => return p.len().cmp(&q.len()).then(x.value.cmp(&y.value)),
                    }
                }
            }
        }
        Ordering::Equal
    }
}
