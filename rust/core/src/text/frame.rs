//! A bracket that is being read: the terms of its sum, and the product that comes next.

use super::parse_cache::ParseCache;
use crate::error::{Error, Result};
use crate::expr::{Arena, Expr, Tag, Term};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Bracket {
    Whole,
    Parenthesis,
    Min,
    Max,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operator {
    None,
    Times,
    FloorDiv,
    CeilDiv,
    Mod,
}

/// A product that is being read: `coeff * expr`, or the constant `coeff`. Where there are other factors, they stand in a
/// list, the first one as well.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    coeff: i64,
    expr: Option<Expr>,
}

const ONE: Value = Value { coeff: 1, expr: None };

impl Value {
    pub(super) fn number(coeff: i64) -> Self {
        Value { coeff, expr: None }
    }

    pub(super) fn expr(e: Expr) -> Self {
        Value { coeff: 1, expr: Some(e) }
    }

    pub(super) fn node(self, arena: &mut Arena) -> Result<Expr> {
        match self.expr {
            None => Ok(arena.constant(self.coeff)),
            Some(e) => arena.scale(e, self.coeff),
        }
    }
}

/// A sum that is being read; its terms stand in a list.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Sum {
    constant: i128,
    /// The sign in front of the product that is being read.
    pub(super) minus: bool,
}

impl Sum {
    /// Adds a product.
    #[inline]
    pub(super) fn add(&mut self, value: Value, arena: &Arena, terms: &mut Vec<Term>) -> Result<()> {
        let Value { coeff, expr } = value;
        match expr {
            None => self.add_constant(i128::from(coeff))?,
            Some(e) => match arena.as_constant(e) {
                Some(c) => self.add_constant(i128::from(coeff) * i128::from(c))?,
                None => {
                    let signed = if self.minus { coeff.checked_neg() } else { Some(coeff) };
                    let coeff = signed.ok_or_else(|| Error::overflow("a coefficient"))?;
                    terms.push(Term::new(coeff, e));
                }
            },
        }
        self.minus = false;
        Ok(())
    }

    fn add_constant(&mut self, c: i128) -> Result<()> {
        let sum = self.constant.checked_add(if self.minus { -c } else { c });
        self.constant = sum.ok_or_else(|| Error::overflow("a constant"))?;
        Ok(())
    }

    /// The node of the sum, which is empty then; its terms stand in the list from `first` on.
    pub(super) fn end(&mut self, arena: &mut Arena, terms: &mut Vec<Term>, first: usize) -> Result<Expr> {
        let constant = std::mem::take(&mut self.constant);
        let constant = i64::try_from(constant).map_err(|_| Error::overflow("a constant"))?;
        let e = arena.sum_of(constant, &mut terms[first..])?;
        terms.truncate(first);
        Ok(e)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) bracket: Bracket,
    /// The place of its opening.
    pub(super) at: usize,
    pub(super) first_term: usize,
    pub(super) first_arg: usize,
    pub(super) first_factor: usize,
    pub(super) sum: Sum,
    /// The sign in front of the operand that is being read.
    pub(super) negate: bool,
    product: Value,
    pub(super) operator: Operator,
}

impl Frame {
    /// A bracket whose terms, arguments and factors stand in the lists from these places on.
    pub(super) fn new(
        bracket: Bracket,
        at: usize,
        [first_term, first_arg, first_factor]: [usize; 3],
    ) -> Self {
        Frame {
            bracket,
            at,
            first_term,
            first_arg,
            first_factor,
            sum: Sum::default(),
            negate: false,
            product: ONE,
            operator: Operator::None,
        }
    }

    /// Whether it is at its first operand, without a sign or an operator before it.
    pub(super) fn is_fresh(&self) -> bool {
        self.operator == Operator::None && !self.sum.minus && !self.negate && self.sum.constant == 0
    }

    /// Applies the pending sign and operator to an operand.
    #[inline]
    pub(super) fn apply(&mut self, arena: &mut Arena, lists: &mut Lists, mut value: Value) -> Result<()> {
        if self.negate {
            self.negate = false;
            value.coeff = value.coeff.checked_neg().ok_or_else(|| Error::overflow("a coefficient"))?;
        }
        match self.operator {
            Operator::None => self.product = value,
            Operator::Times => self.times(&mut lists.factors, value)?,
            operator => {
                let left = self.take_product(arena, &mut lists.factors)?;
                self.product = Value::expr(divide(arena, &mut lists.cache, operator, left, value)?);
            }
        }
        self.operator = Operator::None;
        Ok(())
    }

    /// Adds a factor. All are multiplied at the end: products of the first ones would be made in vain.
    fn times(&mut self, factors: &mut Vec<Expr>, value: Value) -> Result<()> {
        let Value { coeff, expr } = self.product;
        let coeff = coeff.checked_mul(value.coeff).ok_or_else(|| Error::overflow("a coefficient"))?;
        if let (Some(x), Some(y)) = (expr, value.expr) {
            if factors.len() == self.first_factor {
                factors.push(x);
            }
            factors.push(y);
        }
        self.product = Value { coeff, expr: expr.or(value.expr).filter(|_| coeff != 0) };
        if coeff == 0 {
            factors.truncate(self.first_factor);
        }
        Ok(())
    }

    /// Takes the product that was read.
    fn take_product(&mut self, arena: &mut Arena, factors: &mut Vec<Expr>) -> Result<Value> {
        let product = std::mem::replace(&mut self.product, ONE);
        if factors.len() == self.first_factor {
            return Ok(product);
        }
        let whole = arena.product(&factors[self.first_factor..])?;
        factors.truncate(self.first_factor);
        Ok(Value { expr: Some(whole), ..product })
    }

    /// Makes the product that was read a term.
    #[inline]
    pub(super) fn end_product(&mut self, arena: &mut Arena, lists: &mut Lists) -> Result<()> {
        let product = self.take_product(arena, &mut lists.factors)?;
        self.sum.add(product, arena, &mut lists.terms)
    }

    /// Makes the sum that was read a node; the bracket is ready for another one.
    pub(super) fn end_sum(&mut self, arena: &mut Arena, lists: &mut Lists) -> Result<Expr> {
        self.end_product(arena, lists)?;
        self.sum.end(arena, &mut lists.terms, self.first_term)
    }
}

/// The contents of the brackets that are being read, inner ones behind outer ones.
#[derive(Default, Debug)]
pub(super) struct Lists {
    pub(super) terms: Vec<Term>,
    pub(super) args: Vec<Expr>,
    pub(super) factors: Vec<Expr>,
    pub(super) cache: ParseCache,
}

#[inline]
fn divide(
    arena: &mut Arena,
    cache: &mut ParseCache,
    operator: Operator,
    left: Value,
    right: Value,
) -> Result<Expr> {
    let a = left.node(arena)?;
    let tag = if operator == Operator::Mod { Tag::Mod } else { Tag::FloorDiv };
    if right.expr.is_none() && operator != Operator::CeilDiv {
        let operation = (tag, a, right.coeff);
        if let Some(e) = cache.find_division(operation) {
            return Ok(e);
        }
        let e = match tag {
            Tag::Mod => arena.modulo_constant(a, right.coeff)?,
            _ => arena.floordiv_constant(a, right.coeff)?,
        };
        cache.keep_division(operation, e);
        return Ok(e);
    }
    let b = right.node(arena)?;
    match operator {
        Operator::FloorDiv => arena.floordiv(a, b),
        Operator::CeilDiv => arena.ceildiv(a, b),
        _ => arena.modulo(a, b),
    }
}
