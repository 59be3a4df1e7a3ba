//! Random expressions as trees, with their value by the definitions.

#![allow(dead_code)] // each test uses its part

use indexing_core::{Arena, Expr, Node};

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

/// An expression before it is built.
pub enum Tree {
    Variable(usize),
    Constant(i64),
    Node(u8, Box<Tree>, Box<Tree>),
}

const OPS: u8 = 8;

/// A tree of at most `depth` levels over three variables.
pub fn random_tree(r: &mut Random, depth: u32) -> Tree {
    if depth == 0 || r.below(6) == 0 {
        return if r.below(3) == 0 {
            Tree::Constant(r.between(-12, 12))
        } else {
            Tree::Variable(r.below(3) as usize)
        };
    }
    let op = r.below(u64::from(OPS)) as u8;
    let left = random_tree(r, depth - 1);
    let by_constant = op >= 5 && r.below(5) > 0;
    let right = if by_constant { Tree::Constant(r.between(-9, 9)) } else { random_tree(r, depth - 1) };
    Tree::Node(op, Box::new(left), Box::new(right))
}

/// The value by the definitions, `None` where a divisor is 0.
pub fn value(t: &Tree, env: &[i64; 3]) -> Option<i128> {
    Some(match t {
        Tree::Variable(v) => i128::from(env[*v]),
        Tree::Constant(c) => i128::from(*c),
        Tree::Node(op, a, b) => {
            let (a, b) = (value(a, env)?, value(b, env)?);
            match op {
                0 => a + b,
                1 => a - b,
                2 => a.checked_mul(b)?,
                3 => a.min(b),
                4 => a.max(b),
                _ if b == 0 => return None,
                5 => (a - a.rem_euclid(b.abs())) / b - i128::from(b < 0 && a.rem_euclid(b.abs()) != 0),
                6 => a.rem_euclid(b.abs()),
                _ => {
                    -((-a - (-a).rem_euclid(b.abs())) / b
                        - i128::from(b < 0 && (-a).rem_euclid(b.abs()) != 0))
                }
            }
        }
    })
}

/// The tree through the constructors.
pub fn build(t: &Tree, arena: &mut Arena) -> indexing_core::Result<Expr> {
    match t {
        Tree::Variable(v) => Ok(arena.variable(*v as u32)),
        Tree::Constant(c) => Ok(arena.constant(*c)),
        Tree::Node(op, a, b) => {
            let (a, b) = (build(a, arena)?, build(b, arena)?);
            match op {
                0 => arena.add(a, b),
                1 => arena.sub(a, b),
                2 => arena.mul(a, b),
                3 => arena.min(a, b),
                4 => arena.max(a, b),
                5 => arena.floordiv(a, b),
                6 => arena.modulo(a, b),
                _ => arena.ceildiv(a, b),
            }
        }
    }
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
