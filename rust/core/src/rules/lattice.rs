//! Laws of `min` and `max` on a domain.

use super::RuleId;
use crate::error::Result;
use crate::expr::{Expr, Node, Tag};
use crate::simplify::Simplifier;

/// With more arguments than this, differences are not looked at pair by pair.
const PAIRS_COMPARED: usize = 24;

/// Simplify a canonical minimum or maximum of simplified arguments.
pub fn apply(s: &mut Simplifier<'_>, e: Expr) -> Result<Expr> {
    let tag = s.arena.tag(e);
    let args: Vec<Expr> = match s.arena.node(e) {
        Node::Min(args) | Node::Max(args) => args.to_vec(),
        _ => return Ok(e),
    };
    let kept = undominated(s, tag, &args)?;
    if kept.len() < args.len() {
        let out = s.extremum(tag, &kept)?;
        return Ok(s.applied(RuleId::ArgumentIdle, e, out));
    }
    Ok(e)
}

/// The arguments without those that another one, still kept, is never worse than.
fn undominated(s: &mut Simplifier<'_>, tag: Tag, args: &[Expr]) -> Result<Vec<Expr>> {
    let bounds: Vec<_> = args.iter().map(|a| s.bounds(*a)).collect();
    let (lower, upper) = (|i: usize| bounds[i].lower, |i: usize| bounds[i].upper);
    // The argument with the best guarantee makes idle what can't reach it.
    let best = if tag == Tag::Min {
        (0..args.len()).min_by_key(|i| upper(*i))
    } else {
        (0..args.len()).max_by_key(|i| lower(*i))
    };
    let Some(best) = best else { return Ok(args.to_vec()) };
    let beaten = |i: usize| {
        i != best && if tag == Tag::Min { lower(i) >= upper(best) } else { upper(i) <= lower(best) }
    };
    let mut kept: Vec<Expr> = (0..args.len()).filter(|i| !beaten(*i)).map(|i| args[i]).collect();
    if kept.len() > PAIRS_COMPARED {
        return Ok(kept);
    }
    let mut i = 0;
    while i < kept.len() {
        let mut idle = false;
        for j in 0..kept.len() {
            if i != j && s.never_better(tag, kept[i], kept[j])? {
                idle = true;
                break;
            }
        }
        if idle {
            kept.remove(i);
        } else {
            i += 1;
        }
    }
    Ok(kept)
}

impl Simplifier<'_> {
    fn never_better(&mut self, tag: Tag, a: Expr, b: Expr) -> Result<bool> {
        if !self.spend(1) {
            return Ok(false);
        }
        let Ok(gap) = self.arena.sub(a, b) else { return Ok(false) };
        let gap = self.simplify(gap);
        let bounds = self.bounds(gap);
        Ok(if tag == Tag::Min { bounds.lower >= 0 } else { bounds.upper <= 0 })
    }
}
