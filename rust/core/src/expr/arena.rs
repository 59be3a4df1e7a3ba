//! Expressions: hash-consed nodes in an arena, addressed by a small typed id.
//!
//! Nodes are immutable and never move. The operands of a node have smaller ids than the node, so that a pass in
//! increasing order of id is a bottom-up pass; nothing here recurses. Only `canonical.rs` makes nodes, so that equal
//! expressions have equal ids. The order of terms and arguments is structural: it never depends on ids or hashes.

use crate::error::{Error, Result};
use std::cell::Cell;

/// A node of an [`Arena`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Expr(pub(crate) u32);

impl Expr {
    /// The position of the node in its arena.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One term of a sum: `coeff * expr`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Term {
    /// The nonzero coefficient.
    pub coeff: i64,
    /// What it multiplies: no constant and no sum.
    pub expr: Expr,
}

impl Term {
    /// `coeff * expr`.
    #[inline]
    pub fn new(coeff: i64, expr: Expr) -> Self {
        Term { coeff, expr }
    }
}

/// A few terms, without an allocation.
pub(crate) type Terms = smallvec::SmallVec<[Term; 8]>;
/// A few nodes, without an allocation.
pub(crate) type Exprs = smallvec::SmallVec<[Expr; 8]>;

/// A node as it is read.
#[derive(Clone, Copy, Debug)]
pub enum Node<'a> {
    /// A variable by its index.
    Variable(u32),
    /// `a floordiv b`; a constant `b` is at least 2.
    FloorDiv(Expr, Expr),
    /// `a mod b`; a constant `b` is at least 2.
    Mod(Expr, Expr),
    /// At least two factors, none a constant.
    Product(&'a [Expr]),
    /// At least two arguments; a constant is last.
    Min(&'a [Expr]),
    /// At least two arguments; a constant is last.
    Max(&'a [Expr]),
    /// `constant + sum of coeff * expr`.
    Sum(i64, &'a [Term]),
    /// A constant.
    Constant(i64),
}

/// A node without operands.
#[derive(Clone, Copy)]
pub(crate) enum Leaf {
    Variable(u32),
    Constant(i64),
}

/// What a node is; in the order in which terms are sorted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Tag {
    Variable,
    FloorDiv,
    Mod,
    Product,
    Min,
    Max,
    Sum,
    Constant,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// The constant of a constant or a sum.
    pub(crate) value: i64,
    pub(crate) hash: u32,
    /// The variable, the first operand, or where the list starts.
    pub(crate) at: u32,
    /// The second operand, or the length of the list.
    pub(crate) len: u32,
    /// The variables below, each by its index modulo 16.
    pub(crate) variables: u16,
    pub(crate) tag: Tag,
    /// How long it is, written out, up to [`MAX_WEIGHT`]; with the bit [`LINEAR`].
    shape: u8,
}

/// The bit of a shape that says: it is a variable, or a sum of variables alone.
const LINEAR: u8 = 0x80;
/// The greatest weight: it stands for any that is greater.
pub(crate) const MAX_WEIGHT: u8 = 0x7f;

/// The hash-consing store of nodes. [`Arena::clear`] forgets all but the first nodes and keeps the memory.
#[derive(Debug)]
pub struct Arena {
    pub(crate) records: Vec<Record>,
    terms: Vec<Term>,
    args: Vec<Expr>,
    table: Vec<u32>,
    /// What the table adds to ids: what is less stood there before `clear`.
    base: u32,
    /// The work done in this arena: see `work.rs`.
    pub(crate) work: Cell<u64>,
    /// The work at which minima in maxima are no longer searched: see `min_max.rs`.
    pub(crate) search_limit: u64,
    pub(crate) term_buffers: Vec<Vec<Term>>,
    pub(crate) arg_buffers: Vec<Vec<Expr>>,
    pub(crate) flat: FlatBuffers,
    /// Boxed, for it is taken out while the arena is read.
    pub(crate) out: Option<Box<Words>>,
    pub(crate) mark: Vec<u32>,
    pub(crate) epoch: u32,
    /// Was a division by something else than a constant asked for? False is certain.
    pub(crate) divides_by_expressions: bool,
}

/// Memory for bringing values in, and for walks.
#[derive(Default, Debug)]
pub(crate) struct FlatBuffers {
    pub(crate) stack: Vec<(Expr, bool)>,
    pub(crate) nodes: Vec<Expr>,
}

/// Memory for bringing values out.
#[derive(Default, Debug)]
pub(crate) struct Words {
    /// Where each node of the arena was written last, and in which value.
    pub(crate) places: Vec<(u32, u32)>,
    /// How many values were written.
    pub(crate) values: u32,
    pub(crate) words: Vec<i64>,
}

const MIN_TABLE: usize = 256;
/// So many variables are there from the beginning, each with its index as its id: most maps have no more. They are those
/// that have bits of their own.
pub(crate) const FIRST_VARIABLES: u32 = u16::BITS;
/// So many constants are there from the beginning as well, from 0 on, behind the first variables.
const FIRST_CONSTANTS: u32 = 16;
/// How many nodes are there from the beginning; the table doesn't have them.
const FIRST_NODES: usize = (FIRST_VARIABLES + FIRST_CONSTANTS) as usize;
/// Ids are less than the difference between this and 2^32.
const MAX_BASE: u32 = 1 << 31;

#[inline]
fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// The bit of a variable in the sets of variables that nodes have: that of its index modulo 16.
#[inline]
pub(crate) fn variable_bit(index: usize) -> u16 {
    1 << (index % u16::BITS as usize)
}

/// A weight and that of one more operand.
#[inline]
fn added(weight: u8, shape: u8) -> u8 {
    (weight + (shape & !LINEAR)).min(MAX_WEIGHT)
}

#[inline]
fn finish(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

impl Default for Arena {
    fn default() -> Self {
        Arena {
            records: first_nodes().collect(),
            terms: Vec::new(),
            args: Vec::new(),
            table: Vec::new(),
            base: 0,
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

impl Record {
    fn of_constant(value: i64) -> Self {
        let hash = finish(mix(Tag::Constant as u64, value as u64));
        Record { value, hash, at: 0, len: 0, variables: 0, tag: Tag::Constant, shape: 1 }
    }

    fn of_variable(index: u32) -> Self {
        let hash = index.wrapping_add(1).wrapping_mul(0x9e37_79b1);
        let variables = variable_bit(index as usize);
        Record { value: 0, hash, at: index, len: 0, variables, tag: Tag::Variable, shape: 1 | LINEAR }
    }
}

impl Arena {
    /// An arena of the first variables and constants.
    pub fn new() -> Self {
        Arena::default()
    }

    /// Forget all nodes but the first variables and constants. Ids handed out before mean nothing afterwards.
    pub fn clear(&mut self) {
        if self.table.len() > MIN_TABLE && self.table.len() > 8 * self.records.len() {
            self.table.truncate(MIN_TABLE);
        }
        self.base += self.records.len() as u32;
        if self.base > MAX_BASE {
            self.base = 1;
            self.table.fill(0);
        }
        self.records.truncate(FIRST_NODES);
        self.terms.clear();
        self.args.clear();
        self.divides_by_expressions = false;
    }

    /// How many nodes there are.
    pub fn node_count(&self) -> usize {
        self.records.len()
    }

    /// How many operands the lists of nodes hold.
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

    /// How many operands a node has, give or take one.
    #[inline]
    pub(crate) fn operand_count(&self, e: Expr) -> usize {
        let r = &self.records[e.index()];
        match r.tag {
            Tag::Product | Tag::Min | Tag::Max | Tag::Sum => r.len as usize,
            _ => 2,
        }
    }

    #[inline]
    pub(crate) fn tag(&self, e: Expr) -> Tag {
        self.records[e.index()].tag
    }

    /// A variable or constant as such.
    #[inline]
    pub(crate) fn leaf(&self, e: Expr) -> Option<Leaf> {
        let r = &self.records[e.index()];
        match r.tag {
            Tag::Variable => Some(Leaf::Variable(r.at)),
            Tag::Constant => Some(Leaf::Constant(r.value)),
            _ => None,
        }
    }

    /// Can the two have a variable in common? False is certain.
    #[inline]
    pub(crate) fn may_share_variables(&self, a: Expr, b: Expr) -> bool {
        self.records[a.index()].variables & self.records[b.index()].variables != 0
    }

    /// The variables below `e`, each as the bit of its index modulo 16.
    #[inline]
    pub(crate) fn variables_of(&self, e: Expr) -> u16 {
        self.records[e.index()].variables
    }

    /// Can `e` have all variables of `form`? False is certain.
    #[inline]
    pub(crate) fn may_use_variables_of(&self, e: Expr, form: Expr) -> bool {
        self.records[form.index()].variables & !self.records[e.index()].variables == 0
    }

    /// Is it a variable, or a sum of variables alone?
    #[inline]
    pub(crate) fn is_linear(&self, e: Expr) -> bool {
        self.records[e.index()].shape & LINEAR != 0
    }

    /// How many leaves it has, written out, up to [`MAX_WEIGHT`].
    pub(crate) fn weight(&self, e: Expr) -> u8 {
        self.records[e.index()].shape & !LINEAR
    }

    /// The weight of what has these operands.
    fn weight_of_all(&self, operands: &[Expr]) -> u8 {
        operands.iter().fold(0, |all, o| added(all, self.records[o.index()].shape))
    }

    /// Is it a constant, or a sum of variables of which none is in `replaced` (by the bits of their indices modulo 16)?
    #[inline]
    pub(crate) fn is_plain(&self, e: Expr, replaced: u16) -> bool {
        let r = &self.records[e.index()];
        r.variables & replaced == 0 && (r.shape & LINEAR != 0 || r.tag == Tag::Constant)
    }

    /// The value of a constant.
    #[inline]
    pub fn as_constant(&self, e: Expr) -> Option<i64> {
        let r = &self.records[e.index()];
        (r.tag == Tag::Constant).then_some(r.value)
    }

    /// The index of a variable.
    #[inline]
    pub fn as_variable(&self, e: Expr) -> Option<u32> {
        let r = &self.records[e.index()];
        (r.tag == Tag::Variable).then_some(r.at)
    }

    /// `(a, c)` of `a floordiv c` with a constant `c`.
    #[inline]
    pub fn as_floordiv(&self, e: Expr) -> Option<(Expr, i64)> {
        let r = &self.records[e.index()];
        if r.tag != Tag::FloorDiv {
            return None;
        }
        Some((Expr(r.at), self.as_constant(Expr(r.len))?))
    }

    /// `(a, c)` of `a mod c` with a constant `c`.
    #[inline]
    pub fn as_mod(&self, e: Expr) -> Option<(Expr, i64)> {
        let r = &self.records[e.index()];
        if r.tag != Tag::Mod {
            return None;
        }
        Some((Expr(r.at), self.as_constant(Expr(r.len))?))
    }

    /// The constant of an expression read as a sum (0 where there is none).
    #[inline]
    pub fn constant_part(&self, e: Expr) -> i64 {
        let r = &self.records[e.index()];
        if matches!(r.tag, Tag::Sum | Tag::Constant) {
            r.value
        } else {
            0
        }
    }

    /// An expression read as a sum: its constant and its terms, which are `one` where it is no sum and no constant.
    #[inline]
    pub(crate) fn as_sum<'a>(&'a self, e: Expr, one: &'a [Term; 1]) -> (i64, &'a [Term]) {
        match self.node(e) {
            Node::Sum(constant, terms) => (constant, terms),
            Node::Constant(c) => (c, &[]),
            _ => (0, one),
        }
    }

    /// The same as a copy, for what makes nodes while it reads.
    pub(crate) fn to_sum(&self, e: Expr) -> (i64, Terms) {
        let one = [Term::new(1, e)];
        let (constant, terms) = self.as_sum(e, &one);
        (constant, Terms::from_slice(terms))
    }

    /// Append the terms of `factor * e`, read as a sum, to `out`, and return the constant `factor * constant`.
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

    // ------------------------------------------------------------------ interning

    #[inline]
    fn find(
        &mut self,
        hash: u32,
        equal: impl Fn(&Self, &Record) -> bool,
    ) -> std::result::Result<Expr, usize> {
        if self.records.len() * 2 >= self.table.len() {
            self.grow();
        }
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let id = self.table[slot].wrapping_sub(self.base);
            let Some(r) = self.records.get(id as usize) else { return Err(slot) };
            if r.hash == hash && equal(self, r) {
                return Ok(Expr(id));
            }
            slot = (slot + 1) & mask;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let size = MIN_TABLE.max(self.table.len() * 4);
        self.table.clear();
        self.table.resize(size, 0);
        self.base = 1;
        for (id, r) in self.records.iter().enumerate().skip(FIRST_NODES) {
            let mut slot = r.hash as usize & (size - 1);
            while self.table[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.table[slot] = id as u32 + self.base;
        }
    }

    #[inline]
    fn insert(&mut self, slot: usize, record: Record) -> Expr {
        let id = self.records.len() as u32;
        self.records.push(record);
        self.table[slot] = id + self.base;
        Expr(id)
    }

    #[inline(always)]
    pub(crate) fn intern_constant(&mut self, value: i64) -> Expr {
        if (0..i64::from(FIRST_CONSTANTS)).contains(&value) {
            return Expr(FIRST_VARIABLES + value as u32);
        }
        self.intern_other_constant(value)
    }

    fn intern_other_constant(&mut self, value: i64) -> Expr {
        let record = Record::of_constant(value);
        match self.find(record.hash, |_, r| r.tag == Tag::Constant && r.value == value) {
            Ok(e) => e,
            Err(slot) => self.insert(slot, record),
        }
    }

    #[inline(always)]
    pub(crate) fn intern_variable(&mut self, index: u32) -> Expr {
        if index < FIRST_VARIABLES {
            return Expr(index);
        }
        self.intern_other_variable(index)
    }

    fn intern_other_variable(&mut self, index: u32) -> Expr {
        let record = Record::of_variable(index);
        match self.find(record.hash, |_, r| r.tag == Tag::Variable && r.at == index) {
            Ok(e) => e,
            Err(slot) => self.insert(slot, record),
        }
    }

    #[inline]
    pub(crate) fn intern_binary(&mut self, tag: Tag, a: Expr, b: Expr) -> Expr {
        let (ha, hb) = (self.records[a.index()].hash, self.records[b.index()].hash);
        let hash = finish(mix(mix(tag as u64, u64::from(ha)), u64::from(hb)));
        self.charge(2);
        match self.find(hash, |_, r| r.tag == tag && r.at == a.0 && r.len == b.0) {
            Ok(e) => e,
            Err(slot) => {
                self.divides_by_expressions |= self.tag(b) != Tag::Constant;
                let variables = self.records[a.index()].variables | self.records[b.index()].variables;
                let shape = self.weight_of_all(&[a, b]);
                self.insert(slot, Record { value: 0, hash, at: a.0, len: b.0, variables, tag, shape })
            }
        }
    }

    pub(crate) fn intern_args(&mut self, tag: Tag, args: &[Expr]) -> Expr {
        self.charge(args.len());
        let mixed = args.iter().fold(tag as u64, |h, a| mix(h, u64::from(self.records[a.index()].hash)));
        let hash = finish(mixed);
        let equal = |arena: &Self, r: &Record| {
            r.tag == tag
                && r.len as usize == args.len()
                && arena.args[r.at as usize..r.at as usize + args.len()] == *args
        };
        match self.find(hash, equal) {
            Ok(e) => e,
            Err(slot) => {
                let at = self.args.len() as u32;
                self.args.extend_from_slice(args);
                let variables = args.iter().fold(0, |all, a| all | self.records[a.index()].variables);
                let shape = self.weight_of_all(args);
                let len = args.len() as u32;
                self.insert(slot, Record { value: 0, hash, at, len, variables, tag, shape })
            }
        }
    }

    #[inline]
    pub(crate) fn intern_sum(&mut self, value: i64, terms: &[Term]) -> Expr {
        let record = self.sum_record(value, terms);
        match self.find(record.hash, |arena, r| arena.is_sum(r, value, terms)) {
            Ok(e) => e,
            Err(slot) => {
                let at = self.terms.len() as u32;
                self.terms.extend_from_slice(terms);
                self.insert(slot, Record { at, ..record })
            }
        }
    }

    /// As [`Arena::intern_sum`], of terms that are in no list yet.
    #[inline]
    pub(crate) fn intern_terms(&mut self, value: i64, terms: impl Iterator<Item = Term>) -> Expr {
        let at = self.terms.len();
        terms.for_each(|t| self.terms.push(t));
        let record = self.sum_record(value, &self.terms[at..]);
        match self.find(record.hash, |arena, r| arena.is_sum(r, value, &arena.terms[at..])) {
            Ok(e) => {
                self.terms.truncate(at);
                e
            }
            Err(slot) => self.insert(slot, Record { at: at as u32, ..record }),
        }
    }

    /// The record of a sum whose terms have no place yet.
    #[inline]
    fn sum_record(&self, value: i64, terms: &[Term]) -> Record {
        let mut mixed = mix(Tag::Sum as u64, value as u64);
        let (mut variables, mut linear, mut weight) = (0, LINEAR, u8::from(value != 0));
        self.charge(terms.len());
        for t in terms {
            let r = &self.records[t.expr.index()];
            mixed = mix(mixed, (t.coeff as u64).rotate_left(32) ^ u64::from(r.hash));
            variables |= r.variables;
            linear &= if r.tag == Tag::Variable { LINEAR } else { 0 };
            weight = added(weight, r.shape);
        }
        let (hash, len) = (finish(mixed), terms.len() as u32);
        Record { value, hash, at: 0, len, variables, tag: Tag::Sum, shape: weight | linear }
    }

    #[inline]
    fn is_sum(&self, r: &Record, value: i64, terms: &[Term]) -> bool {
        r.tag == Tag::Sum && r.value == value && self.terms_of(r) == terms
    }

    pub(crate) fn args_of(&self, r: &Record) -> &[Expr] {
        &self.args[r.at as usize..(r.at + r.len) as usize]
    }

    pub(crate) fn terms_of(&self, r: &Record) -> &[Term] {
        &self.terms[r.at as usize..(r.at + r.len) as usize]
    }
}
