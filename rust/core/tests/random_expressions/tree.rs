//! Expressions as written, before any constructor of the core has seen them, with their value by the definitions.

use indexing_core::{Arena, Expr, Result};

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Min,
    Max,
    FloorDiv,
    Mod,
    CeilDiv,
}

/// An expression as written.
#[derive(Clone, Debug)]
pub enum Tree {
    Constant(i64),
    Variable(u32),
    Binary(Op, Box<Tree>, Box<Tree>),
}

impl Tree {
    /// The value, `None` where a divisor is 0, or where 128 bits do not hold an intermediate result.
    pub fn value(&self, point: &[i64]) -> Option<i128> {
        match self {
            Tree::Constant(c) => Some(i128::from(*c)),
            Tree::Variable(v) => Some(i128::from(point[*v as usize])),
            Tree::Binary(op, a, b) => op.apply(a.value(point)?, b.value(point)?),
        }
    }

    /// The same expression in the core.
    pub fn build(&self, arena: &mut Arena) -> Result<Expr> {
        match self {
            Tree::Constant(c) => Ok(arena.constant(*c)),
            Tree::Variable(v) => Ok(arena.variable(*v)),
            Tree::Binary(op, a, b) => {
                let (a, b) = (a.build(arena)?, b.build(arena)?);
                op.build(arena, a, b)
            }
        }
    }
}

impl Op {
    fn apply(self, a: i128, b: i128) -> Option<i128> {
        match self {
            Op::Add => a.checked_add(b),
            Op::Sub => a.checked_sub(b),
            Op::Mul => a.checked_mul(b),
            Op::Min => Some(a.min(b)),
            Op::Max => Some(a.max(b)),
            Op::FloorDiv => floor_div(a, b),
            Op::Mod => (b != 0).then(|| a.rem_euclid(b.abs())),
            Op::CeilDiv => floor_div(a.checked_neg()?, b)?.checked_neg(),
        }
    }

    /// The node of the operator in the core.
    pub fn build(self, arena: &mut Arena, a: Expr, b: Expr) -> Result<Expr> {
        match self {
            Op::Add => arena.add(a, b),
            Op::Sub => arena.sub(a, b),
            Op::Mul => arena.mul(a, b),
            Op::Min => arena.min(a, b),
            Op::Max => arena.max(a, b),
            Op::FloorDiv => arena.floordiv(a, b),
            Op::Mod => arena.modulo(a, b),
            Op::CeilDiv => arena.ceildiv(a, b),
        }
    }
}

/// Division that rounds down, for either sign of the divisor.
pub fn floor_div(a: i128, b: i128) -> Option<i128> {
    let quotient = a.checked_div(b)?;
    Some(quotient - i128::from(a % b != 0 && (a < 0) != (b < 0)))
}
