//! Walking the nodes of an arena, and their values at a point.

use crate::error::{Error, Result};
use crate::expr::{Arena, Expr, Node, Tag};
use crate::int::{floor_div, floor_mod};
use smallvec::SmallVec;

/// Room for the nodes of most expressions.
const MANY_NODES: usize = 32;

/// Something that is computed of each node from that of its operands, and kept.
pub(crate) trait BottomUp {
    /// The nodes.
    fn arena(&self) -> &Arena;
    /// Whether the result for `e` is known.
    fn is_known(&self, e: Expr) -> bool;
    /// Find it for `e`, of whose operands it is known.
    fn compute(&mut self, e: Expr);
}

/// Find what is not known of `e` and of all below, however deep that is: with a stack, not by recursion.
pub(crate) fn compute_all(t: &mut impl BottomUp, e: Expr) {
    // The users of the node at hand, each with the number of its operands that were looked at.
    let mut users: SmallVec<[(Expr, u32); 16]> = SmallVec::new();
    let (mut at, mut seen) = (e, 0);
    loop {
        let (ready, user) = match t.arena().find_operand(at, seen, |o| !t.is_known(o)) {
            // What has no operands needs no place on the stack.
            Some((place, operand)) if t.arena().leaf(operand).is_some() => (operand, Some((at, place + 1))),
            Some((place, operand)) => {
                users.push((at, place + 1));
                (at, seen) = (operand, 0);
                continue;
            }
            None => (at, None),
        };
        // Though an operand may have asked about this node meanwhile: it had an answer without this operand.
        t.compute(ready);
        let Some(user) = user.or_else(|| users.pop()) else { return };
        (at, seen) = user;
    }
}

impl Arena {
    // ------------------------------------------------------------------ traversal

    /// Call `f` with each operand of `e`, in order.
    pub fn for_each_operand(&self, e: Expr, mut f: impl FnMut(Expr)) {
        match self.node(e) {
            Node::Variable(_) | Node::Constant(_) => {}
            Node::FloorDiv(a, b) | Node::Mod(a, b) => {
                f(a);
                f(b);
            }
            Node::Product(args) | Node::Min(args) | Node::Max(args) => args.iter().for_each(|a| f(*a)),
            Node::Sum(_, terms) => terms.iter().for_each(|t| f(t.expr)),
        }
    }

    /// The first operand of `e` that is `wanted`, the first `seen` ones left out, and its place.
    fn find_operand(&self, e: Expr, seen: u32, wanted: impl Fn(Expr) -> bool) -> Option<(u32, Expr)> {
        fn find(
            mut operands: impl Iterator<Item = Expr>,
            wanted: impl Fn(Expr) -> bool,
        ) -> Option<(u32, Expr)> {
            let mut place = 0;
            operands.find_map(|o| {
                place += 1;
                wanted(o).then_some((place - 1, o))
            })
        }
        let from = seen as usize;
        let (place, operand) = match self.node(e) {
            Node::Variable(_) | Node::Constant(_) => None,
            Node::FloorDiv(a, _) | Node::Mod(a, _) if seen == 0 && wanted(a) => return Some((0, a)),
            Node::FloorDiv(_, b) | Node::Mod(_, b) => return (seen < 2 && wanted(b)).then_some((1, b)),
            Node::Product(args) | Node::Min(args) | Node::Max(args) => {
                find(args[from..].iter().copied(), wanted)
            }
            Node::Sum(_, terms) => find(terms[from..].iter().map(|t| t.expr), wanted),
        }?;
        Some((seen + place, operand))
    }

    /// All nodes reachable from `roots`, each once, operands before their users (increasing ids).
    pub fn reachable(&mut self, roots: &[Expr]) -> Vec<Expr> {
        let mut nodes = self.post_order(roots);
        nodes.sort_unstable_by_key(|e| e.0);
        nodes
    }

    /// All nodes reachable from `roots`, each once, in depth-first post-order: a function of the structure alone.
    pub fn post_order(&mut self, roots: &[Expr]) -> Vec<Expr> {
        let mut out = Vec::with_capacity(MANY_NODES);
        self.post_order_into(roots, &mut out);
        out
    }

    /// As [`Arena::post_order`], to the end of `out`.
    pub(crate) fn post_order_into(&mut self, roots: &[Expr], out: &mut Vec<Expr>) {
        let (mut mark, epoch) = self.next_epoch();
        let mut stack = std::mem::take(&mut self.flat.stack);
        for &root in roots {
            stack.push((root, false));
            while let Some((e, expanded)) = stack.pop() {
                if expanded {
                    out.push(e);
                    continue;
                }
                if mark[e.index()] == epoch {
                    continue;
                }
                mark[e.index()] = epoch;
                if matches!(self.tag(e), Tag::Variable | Tag::Constant) {
                    out.push(e);
                    continue;
                }
                stack.push((e, true));
                let first = stack.len();
                self.for_each_operand(e, |o| {
                    if mark[o.index()] != epoch {
                        stack.push((o, false));
                    }
                });
                stack[first..].reverse();
            }
        }
        self.flat.stack = stack;
        self.mark = mark;
    }

    fn next_epoch(&mut self) -> (Vec<u32>, u32) {
        let mut mark = std::mem::take(&mut self.mark);
        if self.epoch == u32::MAX {
            mark.clear();
            self.epoch = 0;
        }
        self.epoch += 1;
        if mark.len() < self.records.len() {
            mark.resize(self.records.len(), 0);
        }
        (mark, self.epoch)
    }

    /// The indices of the variables under `roots`, sorted, each once.
    pub fn variables(&mut self, roots: &[Expr]) -> Vec<u32> {
        let mut out: Vec<u32> = self.post_order(roots).iter().filter_map(|e| self.as_variable(*e)).collect();
        out.sort_unstable();
        out
    }

    // ------------------------------------------------------------------ evaluation

    /// The values of `roots` where variable `i` has the value `variables[i]`.
    ///
    /// Errors: a divisor of 0, a value that leaves int64, a variable without a value.
    pub fn evaluate(&mut self, roots: &[Expr], variables: &[i64]) -> Result<Vec<i64>> {
        let order = self.post_order(roots);
        let mut values = Vec::new();
        self.evaluate_in_order(&order, variables, &mut values)?;
        Ok(roots.iter().map(|e| values[e.index()]).collect())
    }

    /// The values of nodes, operands before their users, by their ids.
    pub(crate) fn evaluate_in_order(
        &self,
        order: &[Expr],
        variables: &[i64],
        values: &mut Vec<i64>,
    ) -> Result<()> {
        values.resize(order.iter().map(|e| e.index() + 1).max().unwrap_or(0), 0);
        for e in order {
            values[e.index()] = self.value_of(*e, variables, values)?;
        }
        Ok(())
    }

    fn value_of(&self, e: Expr, variables: &[i64], values: &[i64]) -> Result<i64> {
        let at = |e: &Expr| values[e.index()];
        match self.node(e) {
            Node::Constant(c) => Ok(c),
            Node::Variable(v) => variables.get(v as usize).copied().ok_or_else(|| {
                Error::invalid_map(format!("variable {v} has no value: {} were given", variables.len()))
            }),
            Node::FloorDiv(a, b) if at(&b) == 0 => {
                let _ = a;
                Err(Error::division_by_zero())
            }
            Node::FloorDiv(a, b) => floor_div(at(&a), at(&b)).ok_or_else(|| Error::overflow("a quotient")),
            Node::Mod(a, b) => floor_mod(at(&a), at(&b)).ok_or_else(Error::division_by_zero),
            Node::Min(args) => Ok(args.iter().map(at).min().unwrap_or(0)),
            Node::Max(args) => Ok(args.iter().map(at).max().unwrap_or(0)),
            Node::Product(args) => {
                let product = args.iter().try_fold(1i64, |p, a| p.checked_mul(at(a)));
                product.ok_or_else(|| Error::overflow("a product"))
            }
            Node::Sum(constant, terms) => {
                // Partial sums may leave int64 while the sum does not: 128 bits hold any sum of 2^32 int64 products.
                let mut sum = i128::from(constant);
                for t in terms {
                    let term = i128::from(t.coeff) * i128::from(at(&t.expr));
                    sum = sum.checked_add(term).ok_or_else(|| Error::overflow("a sum"))?;
                }
                i64::try_from(sum).map_err(|_| Error::overflow("a sum"))
            }
        }
    }
}
