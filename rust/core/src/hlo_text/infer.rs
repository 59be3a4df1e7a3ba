//! What the operands and attributes of an instruction say of its shape: checked against the text, or used where the
//! text gives none.

pub(super) mod contraction;
pub(super) mod elementwise;
pub(super) mod gather;
pub(super) mod movement;
pub(super) mod tuples;

use super::attributes;
use super::error::{HloError, Result};
use super::lexer::{Cursor, Span};
use super::shape::{count_elements, Class, ElementType, Interner, Shape, ShapeId, UNBOUNDED};
use super::tables::Attribute;

/// Which instruction is asked about, and the shape that the text gives it.
#[derive(Clone, Copy)]
pub(super) struct Asked<'s> {
    pub(super) text: &'s str,
    pub(super) opcode: &'s str,
    pub(super) at: usize,
    pub(super) given: Option<ShapeId>,
}

/// An instruction with all that its shape depends on.
pub(super) struct Site<'s, 'a> {
    pub(super) asked: Asked<'s>,
    pub(super) shapes: &'s Interner<'a>,
    pub(super) operands: &'s [ShapeId],
    pub(super) attributes: &'s [Attribute],
}

/// What is known of a result.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// Nothing.
    Any,
    /// The same shape, layout aside.
    Like(ShapeId),
    /// An array of these sizes; `None`: of a type that the operands do not tell.
    Array(Option<ElementType>, Vec<i64>),
    /// A tuple of these.
    Tuple(Vec<Outcome>),
}

/// One opcode's rule.
pub(super) type Rule = fn(&Site) -> Result<Outcome>;

impl<'s> std::ops::Deref for Site<'s, '_> {
    type Target = Asked<'s>;

    fn deref(&self) -> &Asked<'s> {
        &self.asked
    }
}

impl Site<'_, '_> {
    pub(super) fn error(&self, message: impl AsRef<str>) -> HloError {
        HloError::new(self.at, format!("{}: {}", self.opcode, message.as_ref()))
    }

    /// The shape of an operand.
    pub(super) fn shape(&self, operand: usize) -> &Shape {
        &self.shapes.table[self.operands[operand] as usize]
    }

    /// The sizes of an operand, which must be an array.
    pub(super) fn array(&self, operand: usize) -> Result<&Shape> {
        let shape = self.shape(operand);
        if shape.element.is_array() {
            return Ok(shape);
        }
        Err(self.error(format!(
            "operand {operand} must be an array, found {}",
            self.shapes.text(self.operands[operand])
        )))
    }

    /// Refuses an operand that is no scalar.
    pub(super) fn scalar(&self, operand: usize) -> Result<&Shape> {
        let shape = self.array(operand)?;
        if shape.dimensions.is_empty() {
            return Ok(shape);
        }
        Err(self.error(format!(
            "operand {operand} must be a scalar, found {}",
            self.shapes.text(self.operands[operand])
        )))
    }

    fn span(&self, key: &str) -> Option<Span> {
        self.attributes.iter().find(|a| a.key.of(self.text) == key).map(|a| a.value)
    }

    /// Reads an attribute to its end.
    pub(super) fn read<T>(&self, key: &str, read: impl Fn(&mut Cursor) -> Result<T>) -> Result<Option<T>> {
        let Some(span) = self.span(key) else { return Ok(None) };
        let mut cursor = Cursor::new(&self.text[..span.end as usize], span.start as usize);
        let value = read(&mut cursor)?;
        cursor.skip_space()?;
        if cursor.at_end() {
            return Ok(Some(value));
        }
        Err(cursor.expected("the end of the attribute"))
    }

    /// Integers of an attribute; none where it is absent.
    pub(super) fn integers(&self, key: &str) -> Result<Vec<i64>> {
        Ok(self.read(key, attributes::integers)?.unwrap_or_default())
    }

    /// One integer.
    pub(super) fn integer(&self, key: &str) -> Result<Option<i64>> {
        match self.read(key, attributes::integers)?.as_deref() {
            None => Ok(None),
            Some([one]) => Ok(Some(*one)),
            Some(_) => Err(self.error(format!("attribute {key} must be one integer"))),
        }
    }

    /// The value of an attribute as written.
    pub(super) fn value(&self, key: &str) -> Option<&str> {
        self.span(key).map(|s| s.of(self.text))
    }

    /// An attribute that must be there.
    pub(super) fn required<T>(&self, key: &str, value: Option<T>) -> Result<T> {
        value.ok_or_else(|| self.error(format!("attribute {key} is missing")))
    }

    /// Dimensions that an attribute, which must be there, names: each below the rank, none twice.
    pub(super) fn dimensions(&self, key: &str, rank: usize) -> Result<Vec<usize>> {
        self.required(key, self.span(key))?;
        self.optional_dimensions(key, rank)
    }

    /// The same; none where the attribute is absent.
    pub(super) fn optional_dimensions(&self, key: &str, rank: usize) -> Result<Vec<usize>> {
        let mut found = Vec::new();
        for dimension in self.integers(key)? {
            match usize::try_from(dimension) {
                Ok(d) if d < rank && !found.contains(&d) => found.push(d),
                _ => {
                    return Err(self.error(format!(
                        "{key} names dimension {dimension}, twice or outside of rank {rank}"
                    )))
                }
            }
        }
        Ok(found)
    }

    /// Holds the given shape against the outcome.
    pub(super) fn check(&self, outcome: &Outcome) -> Result<()> {
        let Some(given) = self.given else { return Ok(()) };
        if matches(self.shapes, given, outcome) {
            return Ok(());
        }
        let (given, wanted) = (self.shapes.text(given), self.describe(outcome));
        Err(self.error(format!("the operands give {wanted}, the text says {given}")))
    }

    fn describe(&self, outcome: &Outcome) -> String {
        match outcome {
            Outcome::Any => "anything".into(),
            Outcome::Like(id) => self.shapes.text(*id),
            Outcome::Array(element, sizes) => {
                let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
                format!("{}[{}]", element.map_or("an array ", |e| e.row().name), sizes.join(","))
            }
            Outcome::Tuple(elements) => {
                let elements: Vec<String> = elements.iter().map(|e| self.describe(e)).collect();
                format!("({})", elements.join(", "))
            }
        }
    }
}

/// Whether a size that is written fits one that was found.
pub(super) fn same_size(a: i64, b: i64) -> bool {
    a == b || a == UNBOUNDED || b == UNBOUNDED
}

/// Whether all sizes fit.
pub(super) fn same_sizes(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_size(*a, *b))
}

/// Whether two element types are the same but for the precision of floating point, which HLO may mix.
pub(super) fn same_kind(a: ElementType, b: ElementType) -> bool {
    let (x, y) = (a.row(), b.row());
    a == b || x.class == y.class && matches!(x.class, Class::Float | Class::Complex)
}

/// Whether two shapes are the same but for layouts, dynamic marks and precision; nesting is bounded.
pub(super) fn compatible(shapes: &Interner, a: ShapeId, b: ShapeId) -> bool {
    if shapes.bare(a) == shapes.bare(b) {
        return true;
    }
    let (x, y) = (&shapes.table[a as usize], &shapes.table[b as usize]);
    same_kind(x.element, y.element)
        && same_sizes(&x.dimensions, &y.dimensions)
        && x.elements.len() == y.elements.len()
        && x.elements.iter().zip(&y.elements).all(|(a, b)| compatible(shapes, *a, *b))
}

fn matches(shapes: &Interner, given: ShapeId, outcome: &Outcome) -> bool {
    let shape = &shapes.table[given as usize];
    match outcome {
        Outcome::Any => true,
        Outcome::Like(id) => compatible(shapes, given, *id),
        Outcome::Array(element, sizes) => {
            element.map_or(shape.element.is_array(), |e| same_kind(e, shape.element))
                && same_sizes(&shape.dimensions, sizes)
        }
        Outcome::Tuple(elements) => {
            shape.element == ElementType::TUPLE
                && shape.elements.len() == elements.len()
                && shape.elements.iter().zip(elements).all(|(id, e)| matches(shapes, *id, e))
        }
    }
}

/// The shape that an outcome stands for, where it stands for one.
pub(super) fn realize(shapes: &mut Interner, outcome: &Outcome) -> Option<ShapeId> {
    match outcome {
        Outcome::Any | Outcome::Array(None, _) => None,
        Outcome::Like(id) => Some(*id),
        Outcome::Array(Some(element), sizes) => {
            let count = count_elements(*element, sizes)?;
            let dynamic = sizes.iter().map(|&s| s == UNBOUNDED).collect();
            Some(shapes.array(*element, sizes.clone(), dynamic, None, count))
        }
        Outcome::Tuple(elements) => {
            let elements: Option<Vec<ShapeId>> = elements.iter().map(|e| realize(shapes, e)).collect();
            Some(shapes.tuple(elements?))
        }
    }
}

/// Nothing is known.
pub(super) fn anything(_: &Site) -> Result<Outcome> {
    Ok(Outcome::Any)
}

/// The shape of the first operand.
pub(super) fn like_first(site: &Site) -> Result<Outcome> {
    Ok(Outcome::Like(site.operands[0]))
}
