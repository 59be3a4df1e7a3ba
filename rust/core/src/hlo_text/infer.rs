//! Inference of an instruction's shape from its operands and attributes. The shape that the text states is checked against
//! it; if the text states none, the inferred one is used.

pub(super) mod communication;
pub(super) mod contraction;
pub(super) mod elementwise;
pub(super) mod gather;
pub(super) mod movement;
pub(super) mod numeric;
pub(super) mod tuples;

use super::element::{Class, ElementType};
use super::error::{HloError, Result};
use super::lexer::{integers, Cursor, Span};
use super::shape::{count_elements, Interner, Shape, ShapeId, UNBOUNDED};
use super::tables::Attribute;

/// Attributes whose values are computations.
pub(super) const COMPUTATION_KEYS: &[&str] = words![
    to_apply calls condition body branch_computations true_computation false_computation
    called_computations select scatter
];

/// Attributes that are `true` or `false`.
const FLAGS: &[&str] = words![
    constrain_layout custom_call_has_side_effect indices_are_sorted is_associative is_host_transfer
    is_reverse is_stable largest left_side lower unique_indices unit_diagonal use_global_device_ids
];

/// An instruction whose shape is checked, and the shape that the text states.
#[derive(Clone, Copy)]
pub(super) struct CheckedInstruction<'s> {
    pub(super) text: &'s str,
    pub(super) opcode: &'s str,
    pub(super) at: usize,
    pub(super) given: Option<ShapeId>,
}

/// An instruction, and all that its shape depends on.
pub(super) struct ShapeContext<'s, 'a> {
    pub(super) checked: CheckedInstruction<'s>,
    pub(super) shapes: &'s Interner<'a>,
    pub(super) operands: &'s [ShapeId],
    pub(super) attributes: &'s [Attribute],
}

/// The inferred shape of a result, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum InferredShape {
    /// Unknown.
    Any,
    /// The same shape, layout aside.
    Like(ShapeId),
    /// An array of these sizes; `None` if the operands do not determine its type.
    Array(Option<ElementType>, Vec<i64>),
    /// A tuple of these.
    Tuple(Vec<InferredShape>),
}

/// One opcode's rule.
pub(super) type Rule = fn(&ShapeContext) -> Result<InferredShape>;

impl<'s> std::ops::Deref for ShapeContext<'s, '_> {
    type Target = CheckedInstruction<'s>;

    fn deref(&self) -> &CheckedInstruction<'s> {
        &self.checked
    }
}

impl ShapeContext<'_, '_> {
    pub(super) fn error(&self, message: impl AsRef<str>) -> HloError {
        HloError::new(self.at, format!("{}: {}", self.opcode, message.as_ref()))
    }

    /// The shape of an operand.
    pub(super) fn shape(&self, operand: usize) -> &Shape {
        &self.shapes.table[self.operands[operand] as usize]
    }

    /// The shape of an operand in text.
    pub(super) fn operand_text(&self, operand: usize) -> String {
        self.shapes.text(self.operands[operand])
    }

    /// The shape that the text states.
    pub(super) fn given_shape(&self) -> Option<&Shape> {
        self.given.map(|id| &self.shapes.table[id as usize])
    }

    /// An array of the first operand's type with the sizes that the text states.
    pub(super) fn of_given_sizes(&self) -> Result<InferredShape> {
        let element = Some(self.array(0)?.element);
        let sized = |given: &Shape| InferredShape::Array(element, given.dimensions.clone());
        Ok(self.given_shape().map_or(InferredShape::Any, sized))
    }

    /// The sizes of an operand, which must be an array.
    pub(super) fn array(&self, operand: usize) -> Result<&Shape> {
        let shape = self.shape(operand);
        if shape.element.is_array() {
            return Ok(shape);
        }
        Err(self.error(format!("operand {operand} must be an array, found {}", self.operand_text(operand))))
    }

    /// Refuses an operand that is no scalar.
    pub(super) fn scalar(&self, operand: usize) -> Result<&Shape> {
        let shape = self.array(operand)?;
        if shape.dimensions.is_empty() {
            return Ok(shape);
        }
        Err(self.error(format!("operand {operand} must be a scalar, found {}", self.operand_text(operand))))
    }

    fn span(&self, key: &str) -> Option<Span> {
        self.attributes.iter().find(|a| a.key.of(self.text) == key).map(|a| a.value)
    }

    /// Reads an attribute to its end.
    pub(super) fn read<T>(&self, key: &str, read: impl Fn(&mut Cursor) -> Result<T>) -> Result<Option<T>> {
        self.span(key).map(|span| Cursor::whole(self.text, span, read)).transpose()
    }

    /// Integers of an attribute; none where it is absent.
    pub(super) fn integers(&self, key: &str) -> Result<Vec<i64>> {
        Ok(self.read(key, integers)?.unwrap_or_default())
    }

    /// One integer.
    pub(super) fn integer(&self, key: &str) -> Result<Option<i64>> {
        match self.read(key, integers)?.as_deref() {
            None => Ok(None),
            Some([one]) => Ok(Some(*one)),
            Some(_) => Err(self.error(format!("attribute {key} must be one integer"))),
        }
    }

    /// The value of an attribute as written.
    pub(super) fn value(&self, key: &str) -> Option<&str> {
        self.span(key).map(|s| s.of(self.text))
    }

    /// The value of a required attribute.
    pub(super) fn required<T>(&self, key: &str, value: Option<T>) -> Result<T> {
        value.ok_or_else(|| self.error(format!("attribute {key} is missing")))
    }

    /// The dimensions that a required attribute names: different, and below the rank.
    pub(super) fn dimensions(&self, key: &str, rank: usize) -> Result<Vec<usize>> {
        self.required(key, self.span(key))?;
        self.optional_dimensions(key, rank)
    }

    /// The one dimension that the attribute `dimensions` names.
    pub(super) fn one_dimension(&self, rank: usize) -> Result<usize> {
        match self.dimensions("dimensions", rank)?[..] {
            [one] => Ok(one),
            _ => Err(self.error("dimensions must name one dimension")),
        }
    }

    /// As `dimensions`, but none if the attribute is absent.
    pub(super) fn optional_dimensions(&self, key: &str, rank: usize) -> Result<Vec<usize>> {
        let mut dimensions = Vec::new();
        for dimension in self.integers(key)? {
            match usize::try_from(dimension) {
                Ok(d) if d < rank && !dimensions.contains(&d) => dimensions.push(d),
                _ => {
                    return Err(self.error(format!(
                        "{key} names dimension {dimension}, twice or outside of rank {rank}"
                    )))
                }
            }
        }
        Ok(dimensions)
    }

    /// Refuses an instruction without one of these attributes.
    pub(super) fn has(&self, keys: &[&str]) -> Result<()> {
        keys.iter().try_for_each(|key| self.required(key, self.span(key)).map(|_| ()))
    }

    /// Refuses an instruction with an attribute that is foreign to it.
    pub(super) fn has_none(&self, is_foreign: impl Fn(&str) -> bool) -> Result<()> {
        let mut keys = self.attributes.iter().map(|a| a.key.of(self.text));
        keys.find(|key| is_foreign(key)).map_or(Ok(()), |key| {
            Err(self.error(format!("attribute {key} belongs to other opcodes; leave it out")))
        })
    }

    /// Refuses sizes below 0, unless an operand or the result has unbounded dimensions, which are written so.
    pub(super) fn has_sizes(&self, inferred: &InferredShape) -> Result<()> {
        let is_unbounded = |id: &ShapeId| self.shapes.table[*id as usize].dimensions.contains(&UNBOUNDED);
        match inferred {
            InferredShape::Array(_, sizes) if sizes.iter().any(|size| *size < 0) => {
                if self.operands.iter().chain(&self.given).any(is_unbounded) {
                    return Ok(());
                }
                Err(self.error(format!("the result has a negative size: {sizes:?}")))
            }
            InferredShape::Tuple(elements) => elements.iter().try_for_each(|e| self.has_sizes(e)),
            _ => Ok(()),
        }
    }

    /// Refuses a first operand of other element types; none: any.
    pub(super) fn begins_with(&self, types: &[Class]) -> Result<()> {
        if types.is_empty() || types.contains(&self.array(0)?.element.row().class) {
            return Ok(());
        }
        Err(self.error(format!("operand 0 must be {}, found {}", kinds(types), self.operand_text(0))))
    }

    /// Checks the attributes that are true or false.
    pub(super) fn flags(&self) -> Result<()> {
        for attribute in self.attributes.iter().filter(|a| FLAGS.contains(&a.key.of(self.text))) {
            let value = attribute.value.of(self.text);
            if value != "true" && value != "false" {
                let key = attribute.key.of(self.text);
                return Err(self.error(format!("attribute {key} must be true or false, found {value}")));
            }
        }
        Ok(())
    }

    /// Refuses floating point operands of different types.
    pub(super) fn same_precision(&self) -> Result<()> {
        let float = |&id: &ShapeId| {
            Some(self.shapes.table[id as usize].element).filter(|e| e.row().class == Class::Float)
        };
        let mut types = self.operands.iter().filter_map(float);
        let first = types.next();
        if types.all(|other| Some(other) == first) {
            return Ok(());
        }
        Err(self.error("the operands mix floating point types"))
    }

    /// Checks that the stated shape is the inferred one.
    pub(super) fn check(&self, inferred: &InferredShape) -> Result<()> {
        let Some(given) = self.given else { return Ok(()) };
        if matches(self.shapes, given, inferred) {
            return Ok(());
        }
        let (given, wanted) = (self.shapes.text(given), self.describe(inferred));
        Err(self.error(format!("the operands give {wanted}, the text says {given}")))
    }

    fn describe(&self, inferred: &InferredShape) -> String {
        match inferred {
            InferredShape::Any => "anything".into(),
            InferredShape::Like(id) => self.shapes.text(*id),
            InferredShape::Array(element, sizes) => {
                let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
                format!("{}[{}]", element.map_or("an array ", |e| e.row().name), sizes.join(","))
            }
            InferredShape::Tuple(elements) => {
                let elements: Vec<String> = elements.iter().map(|e| self.describe(e)).collect();
                format!("({})", elements.join(", "))
            }
        }
    }
}

/// Classes of element types in words.
fn kinds(classes: &[Class]) -> String {
    let name = |class: &Class| match class {
        Class::Boolean => "pred",
        Class::Signed => "signed integers",
        Class::Unsigned => "unsigned integers",
        Class::Float => "floating point",
        Class::Complex => "complex",
        Class::NoArray => "no array",
    };
    classes.iter().map(name).collect::<Vec<_>>().join(" or ")
}

/// Whether a stated size agrees with an inferred one.
pub(super) fn same_size(a: i64, b: i64) -> bool {
    a == b || a == UNBOUNDED || b == UNBOUNDED
}

/// Whether all sizes agree.
pub(super) fn same_sizes(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_size(*a, *b))
}

/// Whether two shapes are equal except for layouts and dynamic marks; nesting is bounded.
pub(super) fn compatible(shapes: &Interner, a: ShapeId, b: ShapeId) -> bool {
    if shapes.bare(a) == shapes.bare(b) {
        return true;
    }
    let (x, y) = (&shapes.table[a as usize], &shapes.table[b as usize]);
    x.element == y.element
        && same_sizes(&x.dimensions, &y.dimensions)
        && x.elements.len() == y.elements.len()
        && x.elements.iter().zip(&y.elements).all(|(a, b)| compatible(shapes, *a, *b))
}

fn matches(shapes: &Interner, given: ShapeId, inferred: &InferredShape) -> bool {
    let shape = &shapes.table[given as usize];
    match inferred {
        InferredShape::Any => true,
        InferredShape::Like(id) => compatible(shapes, given, *id),
        InferredShape::Array(element, sizes) => {
            element.map_or(shape.element.is_array(), |e| e == shape.element)
                && same_sizes(&shape.dimensions, sizes)
        }
        InferredShape::Tuple(elements) => {
            shape.element == ElementType::TUPLE
                && shape.elements.len() == elements.len()
                && shape.elements.iter().zip(elements).all(|(id, e)| matches(shapes, *id, e))
        }
    }
}

/// The inferred shape, if it is completely known.
pub(super) fn realize(shapes: &mut Interner, inferred: &InferredShape) -> Option<ShapeId> {
    match inferred {
        InferredShape::Any | InferredShape::Array(None, _) => None,
        InferredShape::Like(id) => Some(*id),
        InferredShape::Array(Some(element), sizes) => {
            let count = count_elements(*element, sizes)?;
            let dynamic = sizes.iter().map(|&s| s == UNBOUNDED).collect();
            Some(shapes.array(*element, sizes.clone(), dynamic, None, count))
        }
        InferredShape::Tuple(elements) => {
            let elements: Option<Vec<ShapeId>> = elements.iter().map(|e| realize(shapes, e)).collect();
            Some(shapes.tuple(elements?))
        }
    }
}

/// Nothing is known.
pub(super) fn unknown_shape(_: &ShapeContext) -> Result<InferredShape> {
    Ok(InferredShape::Any)
}

/// The shape of the first operand.
pub(super) fn shape_of_first(context: &ShapeContext) -> Result<InferredShape> {
    Ok(InferredShape::Like(context.operands[0]))
}
