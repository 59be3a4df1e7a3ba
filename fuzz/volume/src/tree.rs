//! Random expressions as written, and their text; their values are those of the core's own tests.

#[path = "../../../rust/core/tests/random_expressions/tree.rs"]
mod tree_of_tests;

use indexing_core::{Arena, Expr, Result};
pub use tree_of_tests::{floor_div, Op, Tree};

use crate::random::Random;

impl Tree {
    /// The same, with the nodes made in another order: right operands first, and terms, factors and arguments turned.
    pub fn build_backwards(&self, arena: &mut Arena) -> Result<Expr> {
        let Tree::Binary(op, a, b) = self else { return self.build(arena) };
        let b = b.build_backwards(arena)?;
        let a = a.build_backwards(arena)?;
        match op {
            Op::Add => arena.add(b, a),
            Op::Sub => arena.combine(b, -1, a, 1),
            Op::Mul => arena.mul(b, a),
            Op::Min => arena.min(b, a),
            Op::Max => arena.max(b, a),
            _ => op.build(arena, a, b),
        }
    }

    /// Text that the package reads.
    pub fn text(&self) -> String {
        match self {
            Tree::Constant(c) if *c < 0 => format!("({c})"),
            Tree::Constant(c) => c.to_string(),
            Tree::Variable(v) => format!("d{v}"),
            Tree::Binary(Op::Min, a, b) => format!("min({}, {})", a.text(), b.text()),
            Tree::Binary(Op::Max, a, b) => format!("max({}, {})", a.text(), b.text()),
            Tree::Binary(op, a, b) => format!("({} {} {})", a.text(), sign(*op), b.text()),
        }
    }
}

fn sign(op: Op) -> &'static str {
    match op {
        Op::Add => "+",
        Op::Sub => "-",
        Op::Mul => "*",
        Op::FloorDiv => "floordiv",
        Op::CeilDiv => "ceildiv",
        Op::Mod => "mod",
        Op::Min | Op::Max => unreachable!("written as functions"),
    }
}

/// Bounds that the makers of expressions look at.
pub type Bounds = [(i64, i64)];

/// Any operators in any order.
pub fn any_tree(r: &mut Random, bounds: &Bounds, depth: u32) -> Tree {
    if depth == 0 || r.one_in(9) {
        return if r.one_in(5) { Tree::Constant(constant(r)) } else { variable(r, bounds) };
    }
    let a = any_tree(r, bounds, depth - 1);
    let op = r.pick(&[
        Op::Add,
        Op::Add,
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::Mul,
        Op::FloorDiv,
        Op::FloorDiv,
        Op::Mod,
        Op::Mod,
        Op::CeilDiv,
        Op::Min,
        Op::Max,
    ]);
    let b = match op {
        Op::Mul if !r.one_in(10) => Tree::Constant(constant(r)),
        Op::FloorDiv | Op::CeilDiv | Op::Mod => divisor(r, bounds),
        _ => {
            let less = r.below(u64::from(depth)) as u32;
            any_tree(r, bounds, less)
        }
    };
    binary(op, a, b)
}

/// `e` divided by a variable, or by a sum or remainder of variables, which may be 0.
pub fn divisor_of_any_sign(r: &mut Random, bounds: &Bounds, e: Tree) -> Tree {
    let x = variable(r, bounds);
    let by = match r.below(6) {
        0 => binary(Op::Sub, x, Tree::Constant(r.between(-3, 3))),
        1 => binary(Op::Sub, x, variable(r, bounds)),
        2 => binary(Op::Mod, x, Tree::Constant(r.between(2, 5))),
        _ => x,
    };
    let e = match r.below(4) {
        0 => Tree::Constant(r.between(-4, 4)),
        1 => binary(Op::Mul, e, by.clone()),
        _ => e,
    };
    let op = r.pick(&[Op::FloorDiv, Op::Mod, Op::CeilDiv]);
    let quotient = binary(op, e, by.clone());
    match r.below(4) {
        0 => binary(r.pick(&[Op::Sub, Op::Min, Op::Max]), quotient, any_tree(r, bounds, 1)),
        1 => binary(op, quotient, by),
        _ => quotient,
    }
}

/// Quotients, remainders, minima and maxima of sums; half of the divisors are such expressions, which may be 0.
pub fn dividing_tree(r: &mut Random, bounds: &Bounds, depth: u32) -> Tree {
    if depth == 0 {
        let (x, y) = (variable(r, bounds), variable(r, bounds));
        let scaled = |r: &mut Random, x| binary(Op::Mul, x, Tree::Constant(r.between(-4, 4)));
        let sum = binary(Op::Add, scaled(r, x), scaled(r, y));
        return binary(Op::Add, sum, Tree::Constant(r.between(-4, 4)));
    }
    let op = r.pick(&[Op::FloorDiv, Op::FloorDiv, Op::Mod, Op::Mod, Op::CeilDiv, Op::Min, Op::Max]);
    let a = dividing_tree(r, bounds, depth - 1);
    let by_constant = !matches!(op, Op::Min | Op::Max) && r.one_in(2);
    let b = if by_constant { Tree::Constant(r.between(2, 6)) } else { dividing_tree(r, bounds, depth - 1) };
    binary(op, a, b)
}

/// What index arithmetic looks like: a linear position, shifted, clamped, and taken apart by strides and sizes.
pub fn index_tree(r: &mut Random, bounds: &Bounds) -> Tree {
    let mut position = Tree::Constant(if r.one_in(3) { r.between(-20, 20) } else { 0 });
    let mut stride = r.pick(&[1, 1, 1, 2, 3]);
    for (v, bound) in bounds.iter().enumerate() {
        let sign = if r.one_in(12) { -1 } else { 1 };
        let term = binary(Op::Mul, Tree::Variable(v as u32), Tree::Constant(sign * stride));
        position = binary(Op::Add, position, term);
        stride *= if r.one_in(4) { r.between(1, 9) } else { size(*bound) };
    }
    if r.one_in(5) {
        let (low, high) = (r.between(-9, 9), r.between(0, stride.max(1)));
        position = binary(Op::Max, binary(Op::Min, position, Tree::Constant(high)), Tree::Constant(low));
    }
    let parts = 1 + r.below(3);
    let mut total = digit(r, &position, stride);
    for _ in 1..parts {
        let other = digit(r, &position, stride);
        total = binary(Op::Add, binary(Op::Mul, total, Tree::Constant(r.pick(&[1, 2, 3, 4, 8, -1]))), other);
    }
    total
}

fn digit(r: &mut Random, position: &Tree, stride: i64) -> Tree {
    let small = r.pick(&[2, 3, 4, 5, 6, 7, 8, 12, 16]);
    let (divisor, modulus) =
        (if r.one_in(3) { stride.max(1) } else { small }, r.pick(&[2, 3, 4, 6, 8, 12, 24]));
    let quotient = binary(Op::FloorDiv, position.clone(), Tree::Constant(divisor));
    match r.below(4) {
        0 => quotient,
        1 => binary(Op::Mod, position.clone(), Tree::Constant(modulus)),
        2 => binary(Op::Mod, quotient, Tree::Constant(modulus)),
        _ => binary(
            Op::FloorDiv,
            binary(Op::Mod, position.clone(), Tree::Constant(divisor * modulus)),
            Tree::Constant(divisor),
        ),
    }
}

/// How many values, where these are few.
fn size((low, high): (i64, i64)) -> i64 {
    match i128::from(high) - i128::from(low) + 1 {
        n @ 1..=1000 => n as i64,
        _ => 1 << 10,
    }
}

fn binary(op: Op, a: Tree, b: Tree) -> Tree {
    Tree::Binary(op, Box::new(a), Box::new(b))
}

fn variable(r: &mut Random, bounds: &Bounds) -> Tree {
    Tree::Variable(r.below(bounds.len() as u64) as u32)
}

fn constant(r: &mut Random) -> i64 {
    match r.below(40) {
        0 => r.pick(&[1 << 31, (1 << 32) - 1, 1 << 62, i64::MIN, i64::MAX, 10_000_000_000]),
        1..=12 => r.pick(&[2, 3, 4, 6, 8, 12, 16, 32]),
        13..=20 => r.between(0, 64),
        _ => r.between(-8, 8),
    }
}

/// A constant other than 0, or a variable that never is.
fn divisor(r: &mut Random, bounds: &Bounds) -> Tree {
    let v = r.below(bounds.len() as u64) as usize;
    if r.one_in(12) && (bounds[v].0 > 0 || bounds[v].1 < 0) {
        return Tree::Variable(v as u32);
    }
    let c = match constant(r) {
        0 => 5,
        c => c,
    };
    Tree::Constant(if r.one_in(7) { c } else { c.checked_abs().unwrap_or(7) })
}
