//! Random expressions as trees.

#![allow(dead_code)] // each test uses its part

mod tree;

use indexing_core::{Arena, Expr, Node};
pub use tree::{Op, Tree};

/// A small seeded generator (xorshift), so that a failure can be repeated.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }

    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }
}

const OPS: [Op; 8] = [Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max, Op::FloorDiv, Op::Mod, Op::CeilDiv];

/// A tree of at most `depth` levels over three variables.
pub fn random_tree(r: &mut Random, depth: u32) -> Tree {
    if depth == 0 || r.below(6) == 0 {
        return if r.below(3) == 0 {
            Tree::Constant(r.between(-12, 12))
        } else {
            Tree::Variable(r.below(3) as u32)
        };
    }
    let op = OPS[r.below(OPS.len() as u64) as usize];
    let left = random_tree(r, depth - 1);
    let by_constant = matches!(op, Op::FloorDiv | Op::Mod | Op::CeilDiv) && r.below(5) > 0;
    let right = if by_constant { Tree::Constant(r.between(-9, 9)) } else { random_tree(r, depth - 1) };
    Tree::Binary(op, Box::new(left), Box::new(right))
}

/// The expression as text, for messages.
pub fn show(arena: &Arena, e: Expr) -> String {
    let list = |args: &[Expr]| args.iter().map(|a| show(arena, *a)).collect::<Vec<_>>().join(", ");
    match arena.node(e) {
        Node::Constant(c) => c.to_string(),
        Node::Variable(v) => format!("v{v}"),
        Node::FloorDiv(a, b) => format!("({} // {})", show(arena, a), show(arena, b)),
        Node::Mod(a, b) => format!("({} mod {})", show(arena, a), show(arena, b)),
        Node::Product(args) => format!("prod({})", list(args)),
        Node::Min(args) => format!("min({})", list(args)),
        Node::Max(args) => format!("max({})", list(args)),
        Node::Sum(c, terms) => {
            let parts: Vec<_> =
                terms.iter().map(|t| format!("{}*{}", t.coeff, show(arena, t.expr))).collect();
            format!("({} + {c})", parts.join(" + "))
        }
    }
}
