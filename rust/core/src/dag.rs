//! A value outside any arena: the nodes of some roots as one flat, immutable block of words.
//!
//! The words are a function of the structure alone (depth-first post-order), so that equal expressions have equal
//! words: equality and hashing need no arena, values can be sent to other threads, and memory returns when they drop.

use crate::expr::{Arena, Expr, Node, Tag, Term};
use std::sync::Arc;

/// Expressions (the roots, in order) with everything below them. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Dag {
    pub(crate) words: Arc<[i64]>,
    pub(crate) roots: u32,
    pub(crate) nodes: u32,
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

    /// Bytes of memory that the value holds.
    pub fn byte_size(&self) -> usize {
        self.words.len() * 8
    }
}

impl Arena {
    /// The value of `roots`.
    pub fn export(&mut self, roots: &[Expr]) -> Dag {
        let mut order = std::mem::take(&mut self.flat.order);
        let mut position = std::mem::take(&mut self.flat.position);
        let mut words = std::mem::take(&mut self.flat.words);
        order.clear();
        words.clear();
        self.post_order_into(roots, &mut order);
        // Each position is written before it is read.
        if position.len() < self.records.len() {
            position.resize(self.records.len(), 0);
        }
        for (k, &e) in order.iter().enumerate() {
            position[e.index()] = k as u32;
            let at = |e: Expr| i64::from(position[e.index()]);
            let tag = self.tag(e);
            match self.node(e) {
                Node::Variable(v) => words.push(header(tag, v)),
                Node::Constant(c) => words.extend([header(tag, 0), c]),
                Node::FloorDiv(a, b) | Node::Mod(a, b) => {
                    words.extend([header(tag, 0), at(a) | (at(b) << 32)])
                }
                Node::Product(args) | Node::Min(args) | Node::Max(args) => {
                    words.push(header(tag, args.len() as u32));
                    words.extend(args.iter().map(|a| at(*a)));
                }
                Node::Sum(constant, terms) => {
                    words.extend([header(tag, terms.len() as u32), constant]);
                    words.extend(terms.iter().flat_map(|t| [t.coeff, at(t.expr)]));
                }
            }
        }
        words.extend(roots.iter().map(|r| i64::from(position[r.index()])));
        let dag =
            Dag { words: words.as_slice().into(), roots: roots.len() as u32, nodes: order.len() as u32 };
        self.flat.order = order;
        self.flat.position = position;
        self.flat.words = words;
        dag
    }

    /// The roots of a value, as nodes of this arena.
    pub fn import(&mut self, dag: &Dag) -> Vec<Expr> {
        let words = &dag.words;
        let mut nodes = std::mem::take(&mut self.flat.nodes);
        nodes.clear();
        let mut terms = self.take_terms();
        let mut args = self.take_args();
        let end = words.len() - dag.roots as usize;
        let mut i = 0;
        while i < end {
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
        let roots = words[end..].iter().map(|r| nodes[*r as usize]).collect();
        self.flat.nodes = nodes;
        self.give_terms(terms);
        self.give_args(args);
        roots
    }
}
