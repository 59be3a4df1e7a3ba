//! A value outside any arena: the nodes of some roots as one flat, immutable block of words.
//!
//! The words are a function of the structure alone (depth-first post-order, a constant just before its first user), so
//! that equal expressions have equal words: equality and hashing need no arena, values can be sent to other threads, and
//! memory returns when they drop.
//! The first variables, up to the last one that is used, have the first positions, and no words.

use crate::expr::traversal::{compute_all, BottomUp};
use crate::expr::{Arena, Expr, Node, Tag, Words, FIRST_VARIABLES};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Expressions (the roots, in order) with everything below them. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Dag {
    /// The nodes, the positions of the roots, and the tail.
    words: Arc<[i64]>,
    roots: u32,
    /// The number of first variables that have positions.
    variables: u32,
    nodes: u32,
    /// The number of words at the end that belong to the holder of the value.
    tail: u32,
}

pub(crate) const TAGS: [Tag; 8] =
    [Tag::Variable, Tag::FloorDiv, Tag::Mod, Tag::Product, Tag::Min, Tag::Max, Tag::Sum, Tag::Constant];

impl Hash for Dag {
    /// Of the words alone, which are nearly all that differs: a batch hashes each of its maps.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.words.hash(state);
    }
}

fn header(tag: Tag, payload: u32) -> i64 {
    (i64::from(payload) << 8) | tag as i64
}

impl Dag {
    /// The number of roots.
    pub fn root_count(&self) -> usize {
        self.roots as usize
    }

    /// The number of first variables that have positions: variable `i` is at `i`.
    pub(crate) fn first_variables(&self) -> u32 {
        self.variables
    }

    /// The number of positions of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes as usize
    }

    /// The words of the nodes, without those of the roots.
    pub(crate) fn node_words(&self) -> &[i64] {
        &self.words[..self.words.len() - (self.roots + self.tail) as usize]
    }

    /// The positions of the roots.
    pub(crate) fn root_positions(&self) -> &[i64] {
        let end = self.words.len() - self.tail as usize;
        &self.words[end - self.roots as usize..end]
    }

    /// The words that were given to [`Arena::export_with`].
    pub(crate) fn tail(&self) -> &[i64] {
        &self.words[self.words.len() - self.tail as usize..]
    }

    /// Bytes of memory that the value holds.
    pub fn byte_size(&self) -> usize {
        self.words.len() * 8
    }
}

/// Writes nodes in depth-first post-order, a constant just before its first user.
struct Writer<'a> {
    arena: &'a Arena,
    /// The position of each node, and the value that it was written for: those of other values are not written yet.
    places: &'a mut [(u32, u32)],
    value: u32,
    words: &'a mut Vec<i64>,
    nodes: u32,
}

/// The position of a node that is written.
fn position(places: &[(u32, u32)], e: Expr) -> i64 {
    i64::from(if e.0 < FIRST_VARIABLES { e.0 } else { places[e.index()].0 })
}

impl Writer<'_> {
    fn is_written(&self, e: Expr) -> bool {
        e.0 < FIRST_VARIABLES || self.places[e.index()].1 == self.value
    }

    fn at(&self, e: Expr) -> i64 {
        position(self.places, e)
    }

    /// The position of an operand; a constant is written if it is not yet.
    fn operand(&mut self, e: Expr) -> i64 {
        if !self.is_written(e) {
            self.write_constant(e);
        }
        self.at(e)
    }

    fn write_constant(&mut self, e: Expr) {
        self.words.extend_from_slice(&[header(Tag::Constant, 0), self.arena.constant_part(e)]);
        self.end_node(e);
    }

    fn end_node(&mut self, e: Expr) {
        self.places[e.index()] = (self.nodes, self.value);
        self.nodes += 1;
    }
}

impl BottomUp for Writer<'_> {
    fn arena(&self) -> &Arena {
        self.arena
    }

    fn is_known(&self, e: Expr) -> bool {
        self.is_written(e) || self.arena.tag(e) == Tag::Constant
    }

    fn compute(&mut self, e: Expr) {
        let arena = self.arena;
        let tag = arena.tag(e);
        match arena.node(e) {
            Node::Variable(v) => self.words.push(header(tag, v)),
            Node::Constant(_) => return self.write_constant(e),
            Node::FloorDiv(a, b) | Node::Mod(a, b) => {
                let operands = self.operand(a) | (self.operand(b) << 32);
                self.words.extend_from_slice(&[header(tag, 0), operands]);
            }
            Node::Product(args) | Node::Min(args) | Node::Max(args) => {
                for a in args {
                    self.operand(*a);
                }
                self.words.push(header(tag, args.len() as u32));
                for a in args {
                    self.words.push(self.at(*a));
                }
            }
            Node::Sum(constant, terms) => {
                self.words.extend_from_slice(&[header(tag, terms.len() as u32), constant]);
                for t in terms {
                    let operand = self.at(t.expr);
                    self.words.extend_from_slice(&[t.coeff, operand]);
                }
            }
        }
        self.end_node(e);
    }
}

impl Arena {
    /// Exports `roots` as a value.
    pub fn export(&mut self, roots: &[Expr]) -> Dag {
        self.export_with(roots, |_| {})
    }

    /// As [`Arena::export`], with the words that `tail` appends in the same block.
    pub(crate) fn export_with(&mut self, roots: &[Expr], tail: impl FnOnce(&mut Vec<i64>)) -> Dag {
        let mut out = self.out.take().unwrap_or_default();
        let variables = self.first_variables_of(roots);
        let nodes = self.write(roots, variables, &mut out);
        let before = out.words.len();
        tail(&mut out.words);
        let tail = (out.words.len() - before) as u32;
        let dag =
            Dag { words: out.words.as_slice().into(), roots: roots.len() as u32, variables, nodes, tail };
        self.out = Some(out);
        dag
    }

    /// The number of variables up to the last of the first ones that is used. Where others are used as well, it may
    /// be more: they share the bits of the first.
    fn first_variables_of(&self, roots: &[Expr]) -> u32 {
        let used = roots.iter().fold(0, |used, r| used | self.variables_of(*r));
        u16::BITS - used.leading_zeros()
    }

    /// Writes the nodes below `roots`, and their positions; returns the number of positions of nodes.
    #[inline]
    fn write(&self, roots: &[Expr], variables: u32, out: &mut Words) -> u32 {
        out.words.clear();
        if roots.iter().all(|r| r.0 < FIRST_VARIABLES) {
            out.words.extend(roots.iter().map(|r| i64::from(r.0)));
            return variables;
        }
        if out.values == u32::MAX {
            out.places.clear();
            out.values = 0;
        }
        if out.places.len() < self.records.len() {
            out.places.resize(self.records.len(), (0, 0));
        }
        out.values += 1;
        let Words { places, values, words } = out;
        let mut writer = Writer { arena: self, places, value: *values, words, nodes: variables };
        for &root in roots {
            if writer.is_written(root) {
                continue;
            }
            match self.tag(root) {
                Tag::Constant => writer.write_constant(root),
                _ => compute_all(&mut writer, root),
            }
        }
        let Writer { places, words, nodes, .. } = writer;
        words.extend(roots.iter().map(|r| position(places, *r)));
        nodes
    }
}
