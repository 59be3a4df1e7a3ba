//! Elements that are known before run time: those of constants and iotas, also through ops that only move them.

use crate::error::Result;
use crate::expr::flat::Dag;
use crate::expr::{Arena, Expr};

/// The known elements of an instruction.
pub(super) struct KnownElements {
    /// The index of the source's element, over the instruction's own index.
    pub index: Dag,
    /// The source.
    pub source: Source,
}

/// A source of elements that are known.
pub(super) enum Source {
    /// An iota: the index along this dimension.
    Iota(usize),
    /// A constant: its sizes, and its elements in row-major order; a single one stands for all.
    Constant(Box<[i64]>, Box<[i64]>),
}

/// An element that is known before run time.
#[derive(Clone, Copy, Debug)]
pub(super) enum KnownElement {
    /// The element of a constant.
    Integer(i64),
    /// The element of an iota, over the variables of its index.
    Expression(Expr),
}

impl KnownElements {
    /// The element at an index of the instruction; `None` if it depends on variables and isn't that of an iota.
    pub fn at(&self, arena: &mut Arena, index: &[Expr]) -> Result<Option<KnownElement>> {
        let index = arena.import_substituted(&self.index, index)?;
        Ok(match &self.source {
            Source::Iota(dimension) => Some(KnownElement::Expression(index[*dimension])),
            Source::Constant(_, elements) if elements.len() == 1 => Some(KnownElement::Integer(elements[0])),
            Source::Constant(sizes, elements) => {
                let place = place_of(arena, &index, sizes);
                place.map(|place| KnownElement::Integer(elements[place]))
            }
        })
    }
}

/// The place of an index in row-major order, if it is constant and inside the array.
fn place_of(arena: &Arena, index: &[Expr], sizes: &[i64]) -> Option<usize> {
    let mut place = 0;
    for (e, size) in index.iter().zip(sizes) {
        let at = arena.as_constant(*e).filter(|at| (0..*size).contains(at))?;
        place = place * *size as usize + at as usize;
    }
    Some(place)
}
