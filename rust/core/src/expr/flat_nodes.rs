//! Reading a [`Dag`] without an arena, node by node, each with the positions of its operands; and importing its nodes into
//! an arena, with the same or other variables.

use crate::error::Result;
use crate::expr::flat::{Dag, TAGS};
use crate::expr::{Arena, Expr, Tag, Term};
use std::collections::HashMap;

/// One node of a [`Dag`]; operands are positions of earlier nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry<'a> {
    Variable(u32),
    Constant(i64),
    FloorDiv(usize, usize),
    Mod(usize, usize),
    Product(&'a [i64]),
    Min(&'a [i64]),
    Max(&'a [i64]),
    /// The constant, and pairs of a coefficient and a position.
    Sum(i64, &'a [i64]),
}

impl Dag {
    /// The nodes in order, operands before their users.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..self.first_variables()).map(Entry::Variable).chain(self.written())
    }

    /// The nodes that have words: all but the first variables.
    pub(crate) fn written(&self) -> Entries<'_> {
        Entries { words: self.node_words() }
    }
}

impl<'a> Entry<'a> {
    /// The node that `words` begins with, and the words after it.
    pub(crate) fn first(words: &'a [i64]) -> Option<(Entry<'a>, &'a [i64])> {
        let (head, rest) = words.split_first()?;
        let count = (*head >> 8) as u32 as usize;
        match (TAGS[(*head & 7) as usize], rest) {
            (Tag::Variable, _) => Some((Entry::Variable(count as u32), rest)),
            (Tag::Constant, [c, rest @ ..]) => Some((Entry::Constant(*c), rest)),
            (tag @ (Tag::FloorDiv | Tag::Mod), [operands, rest @ ..]) => {
                let (a, b) = ((*operands & 0xffff_ffff) as usize, (*operands >> 32) as usize);
                Some((if tag == Tag::Mod { Entry::Mod(a, b) } else { Entry::FloorDiv(a, b) }, rest))
            }
            (Tag::Sum, [constant, rest @ ..]) => {
                let (terms, rest) = rest.split_at_checked(2 * count)?;
                Some((Entry::Sum(*constant, terms), rest))
            }
            (tag, rest) => {
                let (args, rest) = rest.split_at_checked(count)?;
                let entry = match tag {
                    Tag::Product => Entry::Product(args),
                    Tag::Min => Entry::Min(args),
                    _ => Entry::Max(args),
                };
                Some((entry, rest))
            }
        }
    }
}

/// The nodes of a [`Dag`] in order.
pub(crate) struct Entries<'a> {
    words: &'a [i64],
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        let (entry, rest) = Entry::first(self.words)?;
        self.words = rest;
        Some(entry)
    }
}

impl Arena {
    /// Imports the roots of a value into this arena.
    pub fn import(&mut self, dag: &Dag) -> Vec<Expr> {
        let mut roots = Vec::with_capacity(dag.root_count());
        self.import_into(dag, &mut roots);
        roots
    }

    /// As [`Arena::import`], to the end of `out`.
    pub(crate) fn import_into(&mut self, dag: &Dag, out: &mut Vec<Expr>) {
        self.import_moved_into(dag, |v| v, out);
    }

    /// As [`Arena::import_into`], with variable `place(i)` for variable `i`. `place` must be increasing, which keeps nodes
    /// canonical.
    pub(crate) fn import_moved_into(&mut self, dag: &Dag, place: impl Fn(u32) -> u32, out: &mut Vec<Expr>) {
        if dag.node_words().is_empty() {
            out.extend(dag.root_positions().iter().map(|r| self.intern_variable(place(*r as u32))));
            return;
        }
        let nodes = self.bring_in(dag, place);
        out.extend(dag.root_positions().iter().map(|r| nodes[*r as usize]));
        self.flat.nodes = nodes;
    }

    /// Imports the node at each position, with variables renumbered.
    pub(crate) fn bring_in(&mut self, dag: &Dag, place: impl Fn(u32) -> u32) -> Vec<Expr> {
        let mut nodes = std::mem::take(&mut self.flat.nodes);
        nodes.clear();
        nodes.reserve(dag.node_count());
        nodes.extend((0..dag.first_variables()).map(|v| self.intern_variable(place(v))));
        for entry in dag.written() {
            let e = match entry {
                Entry::Variable(v) => self.intern_variable(place(v)),
                Entry::Constant(c) => self.intern_constant(c),
                Entry::FloorDiv(a, b) => self.intern_binary(Tag::FloorDiv, nodes[a], nodes[b]),
                Entry::Mod(a, b) => self.intern_binary(Tag::Mod, nodes[a], nodes[b]),
                Entry::Product(list) => self.import_args(Tag::Product, list, &nodes),
                Entry::Min(list) => self.import_args(Tag::Min, list, &nodes),
                Entry::Max(list) => self.import_args(Tag::Max, list, &nodes),
                Entry::Sum(constant, pairs) => {
                    let terms = pairs.chunks_exact(2).map(|p| Term::new(p[0], nodes[p[1] as usize]));
                    self.intern_terms(constant, terms)
                }
            };
            nodes.push(e);
        }
        nodes
    }

    fn import_args(&mut self, tag: Tag, list: &[i64], nodes: &[Expr]) -> Expr {
        let mut args = self.take_args();
        args.extend(list.iter().map(|a| nodes[*a as usize]));
        let e = self.intern_args(tag, &args);
        self.give_args(args);
        e
    }

    /// The roots of `dag` with variable `i` replaced by `variables[i]` (variables beyond the list stay).
    ///
    /// Errors: a coefficient or constant that leaves int64, a divisor that becomes 0.
    pub fn import_substituted(&mut self, dag: &Dag, variables: &[Expr]) -> Result<Vec<Expr>> {
        let mut roots = Vec::with_capacity(dag.root_count());
        let variable = |arena: &mut Arena, v: u32| match variables.get(v as usize) {
            Some(e) => *e,
            None => arena.variable(v),
        };
        self.import_with(dag, variable, &mut roots)?;
        Ok(roots)
    }

    /// As [`Arena::import_substituted`], with what `variable` makes of each, to the end of `out`.
    #[inline]
    pub(crate) fn import_with(
        &mut self,
        dag: &Dag,
        variable: impl Fn(&mut Arena, u32) -> Expr,
        out: &mut Vec<Expr>,
    ) -> Result<()> {
        if dag.node_words().is_empty() {
            out.extend(dag.root_positions().iter().map(|r| variable(self, *r as u32)));
            return Ok(());
        }
        let mut nodes = std::mem::take(&mut self.flat.nodes);
        nodes.clear();
        nodes.reserve(dag.node_count());
        nodes.extend((0..dag.first_variables()).map(|v| variable(self, v)));
        let mut buffers = Buffers { terms: self.take_terms(), args: self.take_args() };
        for entry in dag.written() {
            let e = match entry {
                Entry::Variable(v) => variable(self, v),
                _ => self.build(entry, &nodes, &mut buffers)?,
            };
            nodes.push(e);
        }
        out.extend(dag.root_positions().iter().map(|r| nodes[*r as usize]));
        self.flat.nodes = nodes;
        self.give_terms(buffers.terms);
        self.give_args(buffers.args);
        Ok(())
    }

    /// The roots of `dag` with each expression that stands left in a pair replaced by the one right of it; a constant
    /// also where it is the constant or a coefficient of a sum.
    ///
    /// Errors: as [`Arena::import_substituted`].
    pub fn import_replaced(&mut self, dag: &Dag, pairs: &[(Expr, Expr)]) -> Result<Vec<Expr>> {
        let order = self.bring_in(dag, |v| v);
        let by_node: HashMap<Expr, Expr> = pairs.iter().copied().collect();
        let constants: HashMap<i64, Expr> =
            pairs.iter().filter_map(|(old, new)| Some((self.as_constant(*old)?, *new))).collect();
        let mut nodes: Vec<Expr> = Vec::with_capacity(order.len());
        let mut buffers = Buffers::default();
        for (entry, old) in dag.entries().zip(&order) {
            let e = match (by_node.get(old), entry) {
                (Some(new), _) => *new,
                (None, Entry::Sum(constant, pairs)) if !constants.is_empty() => {
                    self.sum_of_replaced(constant, pairs, &nodes, &constants)?
                }
                _ => self.build(entry, &nodes, &mut buffers)?,
            };
            nodes.push(e);
        }
        Ok(dag.root_positions().iter().map(|r| nodes[*r as usize]).collect())
    }

    fn sum_of_replaced(
        &mut self,
        constant: i64,
        pairs: &[i64],
        nodes: &[Expr],
        constants: &HashMap<i64, Expr>,
    ) -> Result<Expr> {
        let mut sum = match constants.get(&constant) {
            Some(new) if constant != 0 => *new,
            _ => self.constant(constant),
        };
        for p in pairs.chunks_exact(2) {
            let (coeff, e) = (p[0], nodes[p[1] as usize]);
            let term = match constants.get(&coeff) {
                Some(new) if coeff != 1 => self.mul(*new, e)?,
                _ => self.scale(e, coeff)?,
            };
            sum = self.add(sum, term)?;
        }
        Ok(sum)
    }

    /// The sum of terms, which may be anything and come in any order; most have nothing to be joined.
    #[inline]
    pub(crate) fn sum_of(&mut self, constant: i64, terms: &mut [Term]) -> Result<Expr> {
        match terms {
            [] => return Ok(self.constant(constant)),
            [t] if t.coeff == 1 && constant == 0 => return Ok(t.expr),
            [t] => return self.affine(t.expr, t.coeff, constant),
            _ => {}
        }
        // No law of sums is about such terms, as long as they are different.
        let plain = |t: &Term| matches!(self.tag(t.expr), Tag::Variable | Tag::Product | Tag::Min | Tag::Max);
        if terms.iter().all(plain) {
            let ascending = |w: &[Term]| self.compare(w[0].expr, w[1].expr).is_lt();
            let sorted = terms.windows(2).all(ascending) || {
                terms.sort_unstable_by(|x, y| self.compare(x.expr, y.expr));
                terms.windows(2).all(ascending)
            };
            if sorted {
                return Ok(self.sorted_sum(constant, terms));
            }
        }
        self.sum(constant, terms)
    }

    /// The node of an entry whose operands are `nodes`.
    #[inline]
    fn build(&mut self, entry: Entry<'_>, nodes: &[Expr], buffers: &mut Buffers) -> Result<Expr> {
        let args = &mut buffers.args;
        match entry {
            Entry::Variable(v) => Ok(self.variable(v)),
            Entry::Constant(c) => Ok(self.constant(c)),
            Entry::FloorDiv(a, b) => self.floordiv(nodes[a], nodes[b]),
            Entry::Mod(a, b) => self.modulo(nodes[a], nodes[b]),
            Entry::Product(list) | Entry::Min(list) | Entry::Max(list) => {
                args.clear();
                args.extend(list.iter().map(|a| nodes[*a as usize]));
                match entry {
                    Entry::Product(_) => self.product(args),
                    Entry::Min(_) => self.minimum(args),
                    _ => self.maximum(args),
                }
            }
            Entry::Sum(constant, pairs) => {
                let terms = &mut buffers.terms;
                terms.clear();
                terms.extend(pairs.chunks_exact(2).map(|p| Term::new(p[0], nodes[p[1] as usize])));
                self.sum_of(constant, terms)
            }
        }
    }
}

#[derive(Default)]
struct Buffers {
    terms: Vec<Term>,
    args: Vec<Expr>,
}
