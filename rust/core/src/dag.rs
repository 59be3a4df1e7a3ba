//! A value outside any arena: the nodes of some roots as one flat, immutable block of words.
//!
//! The words are a function of the structure alone (depth-first post-order), so that equal expressions have equal
//! words: equality and hashing need no arena, values can be sent to other threads, and memory returns when they drop.

use crate::expr::{Arena, Expr, Leaf, Node, Tag, Term, Words};
use std::sync::Arc;

/// Expressions (the roots, in order) with everything below them. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Dag {
    /// The nodes, the positions of the roots, and the tail.
    words: Arc<[i64]>,
    roots: u32,
    nodes: u32,
    /// How many words at the end belong to what holds the value.
    tail: u32,
}

pub(crate) const TAGS: [Tag; 8] =
    [Tag::Variable, Tag::FloorDiv, Tag::Mod, Tag::Product, Tag::Min, Tag::Max, Tag::Sum, Tag::Constant];

fn header(tag: Tag, payload: u32) -> i64 {
    (i64::from(payload) << 8) | tag as i64
}

impl Dag {
    /// How many roots.
    pub fn root_count(&self) -> usize {
        self.roots as usize
    }

    /// How many different nodes.
    pub fn node_count(&self) -> usize {
        self.nodes as usize
    }

    /// The words of the nodes, without those of the roots.
    #[inline]
    pub(crate) fn node_words(&self) -> &[i64] {
        &self.words[..self.words.len() - (self.roots + self.tail) as usize]
    }

    /// The positions of the roots.
    #[inline]
    pub(crate) fn root_positions(&self) -> &[i64] {
        let end = self.words.len() - self.tail as usize;
        &self.words[end - self.roots as usize..end]
    }

    /// The words that were given to [`Arena::export_with`].
    #[inline]
    pub(crate) fn tail(&self) -> &[i64] {
        &self.words[self.words.len() - self.tail as usize..]
    }

    /// Bytes of memory that the value holds.
    pub fn byte_size(&self) -> usize {
        self.words.len() * 8
    }
}

/// The position of a node that is not written yet.
const ABSENT: u32 = u32::MAX;

/// Writes nodes in depth-first post-order.
struct Writer<'a> {
    arena: &'a Arena,
    open: &'a mut Vec<Expr>,
    position: &'a mut [u32],
    words: &'a mut Vec<i64>,
    nodes: u32,
}

impl Writer<'_> {
    /// Write `root` and what is below it, as far as it is not there.
    #[inline]
    fn add(&mut self, root: Expr) {
        if self.position[root.index()] == ABSENT && !self.wrote_leaf(root) {
            self.add_below(root);
        }
    }

    fn add_below(&mut self, root: Expr) {
        self.open.push(root);
        while let Some(&e) = self.open.last() {
            if self.position[e.index()] != ABSENT {
                self.open.pop();
                continue;
            }
            let first = self.open.len();
            match self.arena.node(e) {
                Node::Variable(_) | Node::Constant(_) => {}
                Node::FloorDiv(a, b) | Node::Mod(a, b) => {
                    self.visit(a, first);
                    self.visit(b, first);
                }
                Node::Product(args) | Node::Min(args) | Node::Max(args) => {
                    args.iter().for_each(|a| self.visit(*a, first));
                }
                Node::Sum(_, terms) => terms.iter().for_each(|t| self.visit(t.expr, first)),
            }
            if self.open.len() == first {
                self.open.pop();
                self.write(e);
            } else {
                self.open[first..].reverse();
            }
        }
    }

    /// Write an operand of the node that stands before `first`, or let the node wait for it.
    #[inline(always)]
    fn visit(&mut self, operand: Expr, first: usize) {
        // Leaves in front of all that has to wait are in their place now.
        if self.position[operand.index()] == ABSENT && (self.open.len() > first || !self.wrote_leaf(operand))
        {
            self.open.push(operand);
        }
    }

    #[inline]
    fn place(&mut self, e: Expr) {
        self.position[e.index()] = self.nodes;
        self.nodes += 1;
    }

    #[inline(always)]
    fn wrote_leaf(&mut self, e: Expr) -> bool {
        match self.arena.leaf(e) {
            Some(Leaf::Variable(v)) => self.words.push(header(Tag::Variable, v)),
            Some(Leaf::Constant(c)) => self.words.extend_from_slice(&[header(Tag::Constant, 0), c]),
            None => return false,
        }
        self.place(e);
        true
    }

    /// Write a node whose operands are written.
    fn write(&mut self, e: Expr) {
        if self.wrote_leaf(e) {
            return;
        }
        let tag = self.arena.tag(e);
        let (position, words) = (&*self.position, &mut *self.words);
        let at = |e: &Expr| i64::from(position[e.index()]);
        match self.arena.node(e) {
            Node::Variable(_) | Node::Constant(_) => {}
            Node::FloorDiv(a, b) | Node::Mod(a, b) => {
                words.extend_from_slice(&[header(tag, 0), at(&a) | (at(&b) << 32)]);
            }
            Node::Product(args) | Node::Min(args) | Node::Max(args) => {
                words.push(header(tag, args.len() as u32));
                words.extend(args.iter().map(at));
            }
            Node::Sum(constant, terms) => {
                words.reserve(2 + 2 * terms.len());
                words.extend_from_slice(&[header(tag, terms.len() as u32), constant]);
                for t in terms {
                    words.extend_from_slice(&[t.coeff, at(&t.expr)]);
                }
            }
        }
        self.place(e);
    }
}

impl Arena {
    /// The value of `roots`.
    pub fn export(&mut self, roots: &[Expr]) -> Dag {
        self.export_with(roots, |_| {})
    }

    /// As [`Arena::export`]; what `tail` appends is kept in the same block.
    pub(crate) fn export_with(&mut self, roots: &[Expr], tail: impl FnOnce(&mut Vec<i64>)) -> Dag {
        let mut out = self.out.take().unwrap_or_default();
        let nodes = self.write(roots, &mut out);
        let before = out.words.len();
        tail(&mut out.words);
        let tail = (out.words.len() - before) as u32;
        let dag = Dag { words: out.words.as_slice().into(), roots: roots.len() as u32, nodes, tail };
        self.out = Some(out);
        dag
    }

    /// Write what is below `roots`, and their positions: how many nodes these are.
    fn write(&self, roots: &[Expr], out: &mut Words) -> u32 {
        let Words { open, position, words } = out;
        words.clear();
        position.clear();
        position.resize(self.records.len(), ABSENT);
        let mut writer = Writer { arena: self, open, position, words, nodes: 0 };
        for &root in roots {
            writer.add(root);
        }
        let nodes = writer.nodes;
        words.extend(roots.iter().map(|r| i64::from(position[r.index()])));
        nodes
    }

    /// The roots of a value, as nodes of this arena.
    pub fn import(&mut self, dag: &Dag) -> Vec<Expr> {
        let mut roots = Vec::with_capacity(dag.root_count());
        self.import_into(dag, &mut roots);
        roots
    }

    /// As [`Arena::import`], to the end of `out`.
    pub(crate) fn import_into(&mut self, dag: &Dag, out: &mut Vec<Expr>) {
        let words = dag.node_words();
        let mut nodes = std::mem::take(&mut self.flat.nodes);
        nodes.clear();
        let mut terms = self.take_terms();
        let mut args = self.take_args();
        let mut i = 0;
        while i < words.len() {
            let (tag, payload) = (TAGS[(words[i] & 7) as usize], (words[i] >> 8) as u32);
            let count = payload as usize;
            i += 1;
            let e = match tag {
                Tag::Variable => self.intern_variable(payload),
                Tag::Constant => {
                    i += 1;
                    self.intern_constant(words[i - 1])
                }
                Tag::FloorDiv | Tag::Mod => {
                    let (a, b) = (words[i] & 0xffff_ffff, words[i] >> 32);
                    i += 1;
                    self.intern_binary(tag, nodes[a as usize], nodes[b as usize])
                }
                Tag::Product | Tag::Min | Tag::Max => {
                    args.clear();
                    args.extend(words[i..i + count].iter().map(|a| nodes[*a as usize]));
                    i += count;
                    self.intern_args(tag, &args)
                }
                Tag::Sum => {
                    terms.clear();
                    let pairs = words[i + 1..i + 1 + 2 * count].chunks_exact(2);
                    terms.extend(pairs.map(|p| Term::new(p[0], nodes[p[1] as usize])));
                    let constant = words[i];
                    i += 1 + 2 * count;
                    self.intern_sum(constant, &terms)
                }
            };
            nodes.push(e);
        }
        out.extend(dag.root_positions().iter().map(|r| nodes[*r as usize]));
        self.flat.nodes = nodes;
        self.give_terms(terms);
        self.give_args(args);
    }
}
