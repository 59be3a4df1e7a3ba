//! Expressions: hash-consed nodes in an arena, addressed by a small typed id.
//!
//! Nodes are immutable and never move. The operands of a node have smaller ids than the node, so that a pass in
//! increasing order of id is a bottom-up pass; nothing here recurses. Only `canonical.rs` makes nodes, so that equal
//! expressions have equal ids. The order of terms and arguments is structural: it never depends on ids or hashes.

use crate::error::{Error, Result};
use crate::expr::node::{Expr, Leaf, Node, Record, Tag, Term, Terms, LINEAR};
use hashbrown::HashTable;
use std::cell::Cell;

/// The hash-consing store of nodes. [`Arena::clear`] forgets all but the first nodes and keeps the memory.
#[derive(Debug)]
pub struct Arena {
    pub(crate) records: Vec<Record>,
    pub(crate) terms: Vec<Term>,
    pub(crate) args: Vec<Expr>,
    /// The ids of all nodes but the first ones, by their hashes.
    pub(crate) table: HashTable<u32>,
    /// The work done in this arena: see `work.rs`.
    pub(crate) work: Cell<u64>,
    /// The work at which minima in maxima are no longer searched: see `min_max.rs`.
    pub(crate) search_limit: u64,
    pub(crate) term_buffers: Vec<Vec<Term>>,
    pub(crate) arg_buffers: Vec<Vec<Expr>>,
    pub(crate) flat: FlatBuffers,
    /// Boxed, as it is taken out while the arena is read.
    pub(crate) out: Option<Box<Words>>,
    pub(crate) mark: Vec<u32>,
    pub(crate) epoch: u32,
    /// Whether a division by a non-constant may have been built; false is certain.
    pub(crate) divides_by_expressions: bool,
}

/// Memory for imports and traversals.
#[derive(Default, Debug)]
pub(crate) struct FlatBuffers {
    pub(crate) stack: Vec<(Expr, bool)>,
    pub(crate) nodes: Vec<Expr>,
}

/// Memory for exports.
#[derive(Default, Debug)]
pub(crate) struct Words {
    /// The position at which each node of the arena was written last, and the value.
    pub(crate) places: Vec<(u32, u32)>,
    /// The number of values that were written.
    pub(crate) values: u32,
    pub(crate) words: Vec<i64>,
}

/// A table for more nodes than this is freed when the arena is cleared.
const MAX_TABLE_KEPT: usize = 128;
/// The number of preallocated variables, whose ids are their indices: most maps have no more. These are the variables that
/// have bits of their own.
pub(crate) const FIRST_VARIABLES: u32 = u16::BITS;
/// The number of preallocated constants, from 0 on, after the first variables.
pub(crate) const FIRST_CONSTANTS: u32 = 16;
/// The number of preallocated nodes, which are not in the table.
pub(crate) const FIRST_NODES: usize = (FIRST_VARIABLES + FIRST_CONSTANTS) as usize;

impl Default for Arena {
    fn default() -> Self {
        Arena {
            records: first_nodes().collect(),
            terms: Vec::new(),
            args: Vec::new(),
            table: HashTable::new(),
            work: Cell::new(0),
            search_limit: u64::MAX,
            term_buffers: Vec::new(),
            arg_buffers: Vec::new(),
            flat: FlatBuffers::default(),
            out: None,
            mark: Vec::new(),
            epoch: 0,
            divides_by_expressions: false,
        }
    }
}

fn first_nodes() -> impl Iterator<Item = Record> {
    let constants = (0..FIRST_CONSTANTS).map(|c| Record::of_constant(i64::from(c)));
    (0..FIRST_VARIABLES).map(Record::of_variable).chain(constants)
}

impl Arena {
    /// An arena of the first variables and constants.
    pub fn new() -> Self {
        Arena::default()
    }

    /// Removes all nodes but the preallocated ones. Ids of other nodes become invalid.
    pub fn clear(&mut self) {
        let room = self.table.capacity();
        if room > MAX_TABLE_KEPT && room > 8 * self.table.len() {
            self.table = HashTable::new();
        }
        self.table.clear();
        self.records.truncate(FIRST_NODES);
        self.terms.clear();
        self.args.clear();
        self.divides_by_expressions = false;
    }

    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.records.len()
    }

    /// The number of operands in the lists of nodes.
    pub(crate) fn list_lengths(&self) -> usize {
        self.terms.len() + self.args.len()
    }

    /// The node of an id.
    #[inline(always)]
    pub fn node(&self, e: Expr) -> Node<'_> {
        let r = &self.records[e.index()];
        let (at, len) = (r.at as usize, r.len as usize);
        match r.tag {
            Tag::Variable => Node::Variable(r.at),
            Tag::FloorDiv => Node::FloorDiv(Expr(r.at), Expr(r.len)),
            Tag::Mod => Node::Mod(Expr(r.at), Expr(r.len)),
            Tag::Product => Node::Product(&self.args[at..at + len]),
            Tag::Min => Node::Min(&self.args[at..at + len]),
            Tag::Max => Node::Max(&self.args[at..at + len]),
            Tag::Sum => Node::Sum(r.value, &self.terms[at..at + len]),
            Tag::Constant => Node::Constant(r.value),
        }
    }

    /// The number of a node's operands, within one.
    pub(crate) fn operand_count(&self, e: Expr) -> usize {
        let r = &self.records[e.index()];
        match r.tag {
            Tag::Product | Tag::Min | Tag::Max | Tag::Sum => r.len as usize,
            _ => 2,
        }
    }

    pub(crate) fn tag(&self, e: Expr) -> Tag {
        self.records[e.index()].tag
    }

    /// The node as a variable or constant, if it is one.
    pub(crate) fn leaf(&self, e: Expr) -> Option<Leaf> {
        let r = &self.records[e.index()];
        match r.tag {
            Tag::Variable => Some(Leaf::Variable(r.at)),
            Tag::Constant => Some(Leaf::Constant(r.value)),
            _ => None,
        }
    }

    /// Whether both may have a variable in common; false is certain.
    pub(crate) fn may_share_variables(&self, a: Expr, b: Expr) -> bool {
        self.records[a.index()].variables & self.records[b.index()].variables != 0
    }

    /// Whether any two terms may have a variable in common; false is certain.
    pub(crate) fn may_depend_on_each_other(&self, terms: &[Term]) -> bool {
        let mut used = 0;
        terms.iter().any(|t| {
            let variables = self.variables_of(t.expr);
            let shared = used & variables;
            used |= variables;
            shared != 0
        })
    }

    /// The variables below `e`, each as the bit of its index modulo 16.
    pub(crate) fn variables_of(&self, e: Expr) -> u16 {
        self.records[e.index()].variables
    }

    /// Whether `e` may have all variables of `form`; false is certain.
    pub(crate) fn may_use_variables_of(&self, e: Expr, form: Expr) -> bool {
        self.records[form.index()].variables & !self.records[e.index()].variables == 0
    }

    /// Whether it is a variable, or a sum of variables alone.
    pub(crate) fn is_linear(&self, e: Expr) -> bool {
        self.records[e.index()].shape & LINEAR != 0
    }

    /// Whether no two expressions have a variable in common; false also for different ones with equal indices modulo 16.
    pub(crate) fn are_disjoint(&self, mut expressions: impl Iterator<Item = Expr>) -> bool {
        let mut seen = 0;
        expressions.all(|e| {
            let own = self.records[e.index()].variables;
            let is_new = seen & own == 0;
            seen |= own;
            is_new
        })
    }

    /// The number of its leaves, written out, up to [`MAX_WEIGHT`].
    pub(crate) fn weight(&self, e: Expr) -> u8 {
        self.records[e.index()].shape & !LINEAR
    }

    /// Whether it is a constant, or a sum of variables none of which is in `replaced` (by the bits of indices modulo 16).
    pub(crate) fn is_plain(&self, e: Expr, replaced: u16) -> bool {
        let r = &self.records[e.index()];
        r.variables & replaced == 0 && (r.shape & LINEAR != 0 || r.tag == Tag::Constant)
    }

    /// The value of a constant.
    pub fn as_constant(&self, e: Expr) -> Option<i64> {
        let r = &self.records[e.index()];
        (r.tag == Tag::Constant).then_some(r.value)
    }

    /// The index of a variable.
    pub fn as_variable(&self, e: Expr) -> Option<u32> {
        let r = &self.records[e.index()];
        (r.tag == Tag::Variable).then_some(r.at)
    }

    /// `(a, c)` of `a floordiv c` with a constant `c`.
    pub fn as_floordiv(&self, e: Expr) -> Option<(Expr, i64)> {
        let r = &self.records[e.index()];
        if r.tag != Tag::FloorDiv {
            return None;
        }
        Some((Expr(r.at), self.as_constant(Expr(r.len))?))
    }

    /// `(a, c)` of `a mod c` with a constant `c`.
    pub fn as_mod(&self, e: Expr) -> Option<(Expr, i64)> {
        let r = &self.records[e.index()];
        if r.tag != Tag::Mod {
            return None;
        }
        Some((Expr(r.at), self.as_constant(Expr(r.len))?))
    }

    /// The constant of an expression read as a sum (0 where there is none).
    pub fn constant_part(&self, e: Expr) -> i64 {
        let r = &self.records[e.index()];
        if matches!(r.tag, Tag::Sum | Tag::Constant) {
            r.value
        } else {
            0
        }
    }

    /// An expression read as a sum: its constant and its terms; `one` holds the term of what is neither sum nor constant.
    #[inline]
    pub(crate) fn as_sum<'a>(&'a self, e: Expr, one: &'a [Term; 1]) -> (i64, &'a [Term]) {
        match self.node(e) {
            Node::Sum(constant, terms) => (constant, terms),
            Node::Constant(c) => (c, &[]),
            _ => (0, one),
        }
    }

    /// As [`Arena::as_sum`], copied, for callers that make nodes while they read.
    pub(crate) fn to_sum(&self, e: Expr) -> (i64, Terms) {
        let one = [Term::new(1, e)];
        let (constant, terms) = self.as_sum(e, &one);
        (constant, Terms::from_slice(terms))
    }

    /// Appends the terms of `factor * e`, read as a sum, to `out`, and returns the constant `factor * constant`.
    #[inline]
    pub fn push_terms(&self, e: Expr, factor: i64, out: &mut Vec<Term>) -> Result<i64> {
        if matches!(self.tag(e), Tag::Sum | Tag::Constant) {
            return self.push_all_terms(e, factor, out);
        }
        out.push(Term::new(factor, e));
        Ok(0)
    }

    fn push_all_terms(&self, e: Expr, factor: i64, out: &mut Vec<Term>) -> Result<i64> {
        let r = &self.records[e.index()];
        if r.tag == Tag::Sum {
            let terms = self.terms_of(r);
            self.charge(terms.len());
            out.reserve(terms.len());
            for t in terms {
                let coeff = t.coeff.checked_mul(factor).ok_or_else(|| Error::overflow("a coefficient"))?;
                out.push(Term::new(coeff, t.expr));
            }
        }
        r.value.checked_mul(factor).ok_or_else(|| Error::overflow("a constant"))
    }
}
