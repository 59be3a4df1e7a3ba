//! Bounds and congruences of expressions on a domain, derived once for each node.
//!
//! The domain is a box of variables, and facts from constraints: bounds of linear forms, and congruences. The rows of a
//! node's operator derive knowledge from its operands, those of `stated.rs` from the facts. Each row has its laws, the traits
//! that a node must have, and the function; nothing else lists or calls them.

/// The row of some laws, as `row!` of `law.rs` has that of one.
macro_rules! row {
    ($($id:literal, $family:literal: $law:literal if $precondition:literal),+ $(; $requires:expr)? => $function:expr) => {
        Row {
            laws: &[$(law($id, $family, $law, $precondition)),+],
            requires: 0 $(| $requires)?,
            function: $function,
        }
    };
}

mod info;
mod operators;
mod stated;
mod sum;

pub use info::Info;
pub(crate) use sum::factored_parts;

use crate::expr::traversal::{compute_all, BottomUp};
use crate::expr::{variable_bit, Arena, Expr, Leaf, Node, Tag, FIRST_VARIABLES};
use crate::interval::Interval;
use crate::simplify::facts::Facts;
use crate::simplify::law::{Group, Law};

/// A row: the laws that its function applies in one pass over the operands, the traits that a node must have, and the
/// function.
struct Row<F> {
    laws: &'static [Law],
    requires: u16,
    function: F,
}

/// No trait is required.
const ALWAYS: u16 = 0;

/// A law of bounds or congruences: see [`Law`].
const fn law(name: &'static str, family: &'static str, law: &'static str, precondition: &'static str) -> Law {
    Law::new(Group::Range, name, family, law, precondition)
}

/// The combined knowledge that the rows derive whose traits the node has; `None` if they derive nothing.
#[inline(always)]
fn derived<F>(rows: &'static [Row<F>], has: u16, mut call: impl FnMut(&F) -> Option<Info>) -> Option<Info> {
    let about = rows.iter().filter(|row| row.requires & !has == 0);
    about.filter_map(|row| call(&row.function)).reduce(Info::and)
}

/// All laws of bounds and congruences.
pub(crate) fn laws() -> impl Iterator<Item = Law> {
    fn of<F>(rows: &'static [Row<F>]) -> impl Iterator<Item = Law> {
        rows.iter().flat_map(|row| row.laws.iter().copied())
    }
    let sums = of(&sum::TERMS).chain(of(&sum::RELATED_TERMS)).chain(of(&stated::SUMS));
    let quotients = of(&operators::QUOTIENTS).chain(of(&operators::QUOTIENTS_BY_EXPRESSIONS));
    let remainders = of(&operators::REMAINDERS).chain(of(&operators::REMAINDERS_BY_EXPRESSIONS));
    let last = of(&operators::EXTREMA).chain(of(&operators::PRODUCTS)).chain(of(&info::ANY));
    sums.chain(quotients).chain(remainders).chain(last)
}

/// Knowledge about the nodes of an arena on one domain, computed on demand and kept.
#[derive(Default, Debug)]
pub struct Ranges {
    pub(crate) variables: Vec<Info>,
    pub(crate) facts: Facts,
    /// The bits of the variables that have one value.
    points: u16,
    /// Bounds and congruence of each node, and their generation: those of earlier generations are stale.
    infos: Vec<(Info, u32)>,
    generation: u32,
}

/// The generation of nodes about which nothing was derived.
const NEVER: u32 = u32::MAX;

impl Ranges {
    /// Starts with a new domain: a box of variables, and no facts.
    pub fn reset(&mut self, bounds: impl Iterator<Item = Interval>) {
        self.variables.clear();
        self.points = 0;
        for (v, b) in bounds.enumerate() {
            self.points |= if b.is_point() { variable_bit(v) } else { 0 };
            self.variables.push(Info::of(b));
        }
        self.facts.clear();
        self.invalidate();
    }

    /// Discards derived knowledge, after the box or the facts have changed.
    pub fn invalidate(&mut self) {
        if self.generation == NEVER - 1 {
            self.infos.clear();
            self.generation = 0;
        }
        self.generation += 1;
    }

    /// Whether `e` is a constant, or a sum of variables that have several values; false may be wrong.
    pub(crate) fn is_plain(&self, arena: &Arena, e: Expr) -> bool {
        arena.is_plain(e, self.points)
    }

    /// Whether `e` is a variable with several values; false may be wrong.
    pub(crate) fn is_free_variable(&self, e: Expr) -> bool {
        e.0 < FIRST_VARIABLES && self.points >> e.0 & 1 == 0
    }

    /// Whether `e` is a variable with a single value.
    pub(crate) fn is_point(&self, arena: &Arena, e: Expr) -> bool {
        arena.as_variable(e).is_some_and(|v| self.variable(v).bounds.is_point())
    }

    /// Bounds and congruence of `e`.
    #[inline]
    pub fn info(&mut self, arena: &mut Arena, e: Expr) -> Info {
        match self.known(arena, e) {
            Some(info) => info,
            None => self.derive(arena, e),
        }
    }

    /// States that variable `v` is congruent to `r` modulo `m`.
    pub(crate) fn state_variable_congruence(&mut self, v: u32, m: i64, r: i64) {
        if let Some(info) = self.variables.get_mut(v as usize) {
            *info = info.and(Info { bounds: Interval::ALL, modulus: m, residue: r });
            self.points |= if info.bounds.is_point() { variable_bit(v as usize) } else { 0 };
        }
    }

    /// The bounds of `e`.
    pub fn bounds(&mut self, arena: &mut Arena, e: Expr) -> Interval {
        self.info(arena, e).bounds
    }

    fn is_known(&self, arena: &Arena, e: Expr) -> bool {
        matches!(arena.tag(e), Tag::Variable | Tag::Constant)
            || self.infos.get(e.index()).is_some_and(|(_, generation)| *generation == self.generation)
    }

    pub(crate) fn known(&self, arena: &Arena, e: Expr) -> Option<Info> {
        match arena.leaf(e) {
            Some(Leaf::Constant(c)) => Some(Info::point(c)),
            Some(Leaf::Variable(v)) => Some(self.variable(v)),
            None => self
                .infos
                .get(e.index())
                .filter(|(_, generation)| *generation == self.generation)
                .map(|(info, _)| *info),
        }
    }

    pub(crate) fn variable(&self, v: u32) -> Info {
        self.variables.get(v as usize).copied().unwrap_or(Info::of(Interval::ALL))
    }

    fn store(&mut self, e: Expr, info: Info) {
        if self.infos.len() <= e.index() {
            self.infos.resize(e.index() + 16, (Info::UNKNOWN, NEVER));
        }
        self.infos[e.index()] = (info, self.generation);
    }

    fn derive(&mut self, arena: &mut Arena, e: Expr) -> Info {
        // Variables are always known.
        if arena.is_linear(e) {
            return self.derive_one(arena, e);
        }
        compute_all(&mut Deriving { ranges: self, arena }, e);
        self.operand(arena, e)
    }

    #[inline]
    fn derive_one(&mut self, arena: &mut Arena, e: Expr) -> Info {
        arena.charge(arena.operand_count(e));
        let mut info = self.of_operands(arena, e);
        if !self.facts.is_empty() {
            info = self.with_facts(arena, e, info);
        }
        self.store(e, info);
        info
    }

    pub(crate) fn operand(&self, arena: &Arena, e: Expr) -> Info {
        self.known(arena, e).unwrap_or(Info::of(Interval::ALL))
    }

    /// Bounds and congruence of a term, which is no constant, of a node whose operands are known.
    pub(crate) fn of_term(&self, arena: &Arena, e: Expr) -> &Info {
        // Most terms are first variables, whose ids say which.
        let variable = if e.0 < FIRST_VARIABLES { Some(e.0) } else { arena.as_variable(e) };
        let known = match variable {
            Some(v) => self.variables.get(v as usize),
            None => self.infos.get(e.index()).map(|(info, _)| info),
        };
        known.unwrap_or(&Info::UNKNOWN)
    }

    /// Bounds and congruence of `e` by its operands alone.
    pub(crate) fn of_operands(&self, arena: &Arena, e: Expr) -> Info {
        let known = match arena.node(e) {
            Node::Constant(c) => Some(Info::point(c)),
            Node::Variable(v) => Some(self.variable(v)),
            Node::Sum(constant, terms) => {
                let info = derived(&sum::TERMS, ALWAYS, |f| f(self, arena, constant, terms));
                let has = if arena.is_linear(e) { ALWAYS } else { sum::traits_of(arena, terms) };
                if has == ALWAYS {
                    return info.unwrap_or(Info::UNKNOWN);
                }
                let related = derived(&sum::RELATED_TERMS, has, |f| f(self, arena, constant, terms));
                info.into_iter().chain(related).reduce(Info::and)
            }
            Node::FloorDiv(a, b) => match arena.as_constant(b) {
                Some(m) => derived(&operators::QUOTIENTS, ALWAYS, |f| f(self.of_term(arena, a), m)),
                None => {
                    let (a, b) = (self.operand(arena, a), self.operand(arena, b));
                    derived(&operators::QUOTIENTS_BY_EXPRESSIONS, ALWAYS, |f| f(&a, &b))
                }
            },
            Node::Mod(a, b) => match arena.as_constant(b) {
                Some(m) => derived(&operators::REMAINDERS, ALWAYS, |f| f(self.of_term(arena, a), m)),
                None => {
                    let (a, b) = (self.operand(arena, a), self.operand(arena, b));
                    derived(&operators::REMAINDERS_BY_EXPRESSIONS, ALWAYS, |f| f(&a, &b))
                }
            },
            Node::Min(args) => derived(&operators::EXTREMA, ALWAYS, |f| f(self, arena, args, Interval::min)),
            Node::Max(args) => derived(&operators::EXTREMA, ALWAYS, |f| f(self, arena, args, Interval::max)),
            Node::Product(args) => derived(&operators::PRODUCTS, ALWAYS, |f| f(self, arena, args)),
        };
        known.unwrap_or(Info::UNKNOWN)
    }
}

impl Ranges {
    /// The id of the law that gives the bounds of `e`, of which this is known.
    pub(crate) fn law_of(&self, arena: &Arena, e: Expr, info: Info) -> &'static str {
        fn named<F>(rows: &[Row<F>], gives: impl Fn(&F) -> Option<Info>, info: Info) -> Option<&'static str> {
            let giving =
                rows.iter().find(|row| gives(&row.function).is_some_and(|i| i.bounds == info.bounds));
            giving.and_then(|row| row.laws.first()).map(|law| law.name)
        }
        let by_constant = |d: Expr| arena.as_constant(d);
        let law = match arena.node(e) {
            Node::Constant(_) | Node::Variable(_) => None,
            Node::Sum(c, terms) => named(&sum::TERMS, |f| f(self, arena, c, terms), info)
                .or_else(|| named(&sum::RELATED_TERMS, |f| f(self, arena, c, terms), info)),
            Node::FloorDiv(a, d) => match by_constant(d) {
                Some(m) => named(&operators::QUOTIENTS, |f| f(self.of_term(arena, a), m), info),
                None => {
                    let (a, b) = (self.operand(arena, a), self.operand(arena, d));
                    named(&operators::QUOTIENTS_BY_EXPRESSIONS, |f| f(&a, &b), info)
                }
            },
            Node::Mod(a, d) => match by_constant(d) {
                Some(m) => named(&operators::REMAINDERS, |f| f(self.of_term(arena, a), m), info),
                None => {
                    let (a, b) = (self.operand(arena, a), self.operand(arena, d));
                    named(&operators::REMAINDERS_BY_EXPRESSIONS, |f| f(&a, &b), info)
                }
            },
            Node::Min(args) => named(&operators::EXTREMA, |f| f(self, arena, args, Interval::min), info),
            Node::Max(args) => named(&operators::EXTREMA, |f| f(self, arena, args, Interval::max), info),
            Node::Product(args) => named(&operators::PRODUCTS, |f| f(self, arena, args), info),
        };
        law.unwrap_or("range-by-facts")
    }
}

struct Deriving<'a> {
    ranges: &'a mut Ranges,
    arena: &'a mut Arena,
}

impl BottomUp for Deriving<'_> {
    fn arena(&self) -> &Arena {
        self.arena
    }

    fn is_known(&self, e: Expr) -> bool {
        self.ranges.is_known(self.arena, e)
    }

    fn compute(&mut self, e: Expr) {
        self.ranges.derive_one(self.arena, e);
    }
}
