//! Reading a [`Dag`] without an arena: its nodes in order, each with the positions of its operands; and bringing its
//! nodes into an arena with other variables.

use crate::dag::{Dag, TAGS};
use crate::error::Result;
use crate::expr::{Arena, Expr, Tag, Term};

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
    /// The words of the nodes, without those of the roots.
    #[inline]
    pub(crate) fn node_words(&self) -> &[i64] {
        &self.words[..self.words.len() - self.roots as usize]
    }

    /// The positions of the roots.
    #[inline]
    pub(crate) fn root_positions(&self) -> &[i64] {
        &self.words[self.words.len() - self.roots as usize..]
    }

    /// The nodes in order, operands before their users.
    #[inline]
    pub(crate) fn entries(&self) -> Entries<'_> {
        Entries { words: self.node_words(), at: 0 }
    }
}

/// The nodes of a [`Dag`] in order.
pub(crate) struct Entries<'a> {
    words: &'a [i64],
    pub(crate) at: usize,
}

impl<'a> Entries<'a> {
    /// The node whose first word is at `at`.
    #[inline]
    pub(crate) fn read(words: &'a [i64], at: usize) -> (Entry<'a>, usize) {
        let (tag, payload) = (TAGS[(words[at] & 7) as usize], (words[at] >> 8) as u32);
        let (count, at) = (payload as usize, at + 1);
        match tag {
            Tag::Variable => (Entry::Variable(payload), at),
            Tag::Constant => (Entry::Constant(words[at]), at + 1),
            Tag::FloorDiv | Tag::Mod => {
                let (a, b) = ((words[at] & 0xffff_ffff) as usize, (words[at] >> 32) as usize);
                (if tag == Tag::Mod { Entry::Mod(a, b) } else { Entry::FloorDiv(a, b) }, at + 1)
            }
            Tag::Product => (Entry::Product(&words[at..at + count]), at + count),
            Tag::Min => (Entry::Min(&words[at..at + count]), at + count),
            Tag::Max => (Entry::Max(&words[at..at + count]), at + count),
            Tag::Sum => (Entry::Sum(words[at], &words[at + 1..at + 1 + 2 * count]), at + 1 + 2 * count),
        }
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    #[inline]
    fn next(&mut self) -> Option<Entry<'a>> {
        if self.at >= self.words.len() {
            return None;
        }
        let (entry, next) = Entries::read(self.words, self.at);
        self.at = next;
        Some(entry)
    }
}

impl Arena {
    /// The roots of `dag` with variable `i` replaced by `variables[i]` (variables beyond the list stay).
    ///
    /// Errors: a coefficient or constant that leaves int64, a divisor that becomes 0.
    pub fn import_substituted(&mut self, dag: &Dag, variables: &[Expr]) -> Result<Vec<Expr>> {
        let mut nodes: Vec<Expr> = Vec::with_capacity(dag.nodes as usize);
        let mut terms: Vec<Term> = Vec::new();
        let mut args: Vec<Expr> = Vec::new();
        for entry in dag.entries() {
            let gather = |args: &mut Vec<Expr>, list: &[i64]| {
                args.clear();
                args.extend(list.iter().map(|a| nodes[*a as usize]));
            };
            let e = match entry {
                Entry::Variable(v) => match variables.get(v as usize) {
                    Some(e) => *e,
                    None => self.variable(v),
                },
                Entry::Constant(c) => self.constant(c),
                Entry::FloorDiv(a, b) => self.floordiv(nodes[a], nodes[b])?,
                Entry::Mod(a, b) => self.modulo(nodes[a], nodes[b])?,
                Entry::Product(list) => {
                    gather(&mut args, list);
                    self.product(&args)?
                }
                Entry::Min(list) => {
                    gather(&mut args, list);
                    self.minimum(&args)?
                }
                Entry::Max(list) => {
                    gather(&mut args, list);
                    self.maximum(&args)?
                }
                Entry::Sum(constant, pairs) => {
                    terms.clear();
                    terms.extend(pairs.chunks_exact(2).map(|p| Term::new(p[0], nodes[p[1] as usize])));
                    self.sum(constant, &terms)?
                }
            };
            nodes.push(e);
        }
        Ok(dag.root_positions().iter().map(|r| nodes[*r as usize]).collect())
    }
}
