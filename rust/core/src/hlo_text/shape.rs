//! Shapes: one table of the different shapes of a module.

use super::element::ElementType;
use super::error::{HloError, Result};
use super::lexer::{is_word, Cursor};
use super::Table;

/// Deepest nesting of tuples in a shape; real programs stay below ten.
pub const MAX_TUPLE_DEPTH: usize = 100;

/// The size of a dimension that text writes `?`: nothing is known of it.
pub const UNBOUNDED: i64 = -1;

/// A shape's number in its module.
pub type ShapeId = u32;

/// The layout of an array in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Dimensions, the fastest varying one first.
    pub minor_to_major: Vec<u32>,
    /// The whole layout as written, tiles and memory space included, without white space and comments.
    pub text: String,
}

/// One shape: an array, a token, an opaque value, or a tuple of shapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Type of the elements; [`ElementType::TUPLE`] for a tuple.
    pub element: ElementType,
    /// Sizes (upper bounds where dynamic, [`UNBOUNDED`] where unknown).
    pub dimensions: Vec<i64>,
    /// Whether each dimension is dynamic (`<=` or `?`).
    pub dynamic: Vec<bool>,
    /// Layout, where the text gives one.
    pub layout: Option<Layout>,
    /// Shapes of a tuple's elements, or of what a buffer holds.
    pub elements: Vec<ShapeId>,
    /// Product of the sizes; 1 for a scalar, 0 for what is no array.
    pub element_count: i64,
    /// The same shape without layouts and dynamic marks: equal numbers mean compatible shapes.
    pub bare: ShapeId,
}

/// The different shapes of a module, each with one number; elements have smaller numbers than their tuple.
pub type ShapeTable = Vec<Shape>;

/// Gives equal shapes equal numbers.
#[derive(Default)]
pub(super) struct Interner<'a> {
    pub(super) table: ShapeTable,
    by_text: Table<&'a str, ShapeId>,
    by_key: Table<Vec<u8>, ShapeId>,
    brackets: Vec<(u8, usize)>,
}

impl<'a> Interner<'a> {
    /// The number of the shape at the cursor, which moves behind it.
    pub(super) fn parse(&mut self, cursor: &mut Cursor<'a>) -> Result<ShapeId> {
        cursor.skip_space()?;
        let start = cursor.at;
        if let Some(end) = guess_end(cursor) {
            if let Some(&id) = self.by_text.get(&cursor.text[start..end]) {
                if !layout_follows(cursor, end)? {
                    cursor.at = end;
                    return Ok(id);
                }
            }
        }
        let id =
            if opens_group(cursor).is_some() { self.parse_group(cursor)? } else { self.parse_array(cursor)? };
        self.by_text.insert(&cursor.text[start..cursor.at], id);
        Ok(id)
    }

    /// `shape, ...` up to a closing bracket.
    pub(super) fn parse_list(&mut self, cursor: &mut Cursor<'a>, close: u8) -> Result<Vec<ShapeId>> {
        cursor.list(close, |cursor| self.parse(cursor))
    }

    /// Tuples and buffers, with a stack of those that are open.
    fn parse_group(&mut self, cursor: &mut Cursor<'a>) -> Result<ShapeId> {
        let mut open: Vec<(ElementType, Vec<ShapeId>)> = Vec::new();
        loop {
            cursor.skip_space()?;
            let mut finished = match opens_group(cursor) {
                Some(_) if open.len() == MAX_TUPLE_DEPTH => {
                    return Err(cursor.expected(&format!("at most {MAX_TUPLE_DEPTH} nested tuples")));
                }
                Some(kind) => {
                    cursor.at += if kind == ElementType::BUFFER { 2 } else { 1 };
                    if kind == ElementType::BUFFER || !cursor.take(b')')? {
                        open.push((kind, Vec::new()));
                        continue;
                    }
                    self.tuple(Vec::new())
                }
                None => self.parse_array(cursor)?,
            };
            loop {
                let Some((kind, elements)) = open.last_mut() else { return Ok(finished) };
                elements.push(finished);
                if *kind == ElementType::TUPLE && cursor.take(b',')? {
                    break;
                }
                if !cursor.take(b')')? {
                    return Err(cursor.expected("',' or ')' in a tuple's shape"));
                }
                finished = match open.pop() {
                    Some((kind, elements)) => self.group(kind, elements),
                    None => return Ok(finished),
                };
            }
        }
    }

    fn parse_array(&mut self, cursor: &mut Cursor<'a>) -> Result<ShapeId> {
        let start = cursor.at;
        let name = cursor.word("a shape")?;
        let Some(element) = ElementType::named(name) else {
            cursor.at = start;
            return Err(cursor.expected("an element type such as f32"));
        };
        cursor.require(b'[')?;
        let (dimensions, dynamic) = parse_dimensions(cursor)?;
        if !element.is_array() && !dimensions.is_empty() {
            return Err(HloError::new(start, format!("{name} has no dimensions")));
        }
        let count = count_elements(element, &dimensions).ok_or_else(|| {
            HloError::new(start, format!("the size of {name}{dimensions:?} exceeds 64 bits"))
        })?;
        let mut layout = None;
        if layout_follows(cursor, cursor.at)? {
            cursor.skip_space()?;
            layout = Some(self.parse_layout(cursor, dimensions.len())?);
        }
        Ok(self.array(element, dimensions, dynamic, layout, count))
    }

    fn parse_layout(&mut self, cursor: &mut Cursor<'a>, rank: usize) -> Result<Layout> {
        let start = cursor.at;
        cursor.at += 1;
        let mut minor_to_major = Vec::new();
        cursor.skip_space()?;
        while cursor.peek().is_ascii_digit() {
            let at = cursor.at;
            let dimension = cursor.integer("a dimension")?;
            let new =
                u32::try_from(dimension).ok().filter(|d| (*d as usize) < rank && !minor_to_major.contains(d));
            let Some(dimension) = new else {
                return Err(HloError::new(
                    at,
                    format!("the layout names dimension {dimension}, twice or beyond the rank {rank}"),
                ));
            };
            minor_to_major.push(dimension);
            if !cursor.take(b',')? {
                break;
            }
            cursor.skip_space()?;
        }
        if cursor.peek() == b'}' && rank == 0 {
            return Err(HloError::new(start, "a scalar has no layout: leave out the braces"));
        }
        if minor_to_major.len() != rank {
            return Err(HloError::new(
                start,
                format!("the layout must name each of the {rank} dimensions once"),
            ));
        }
        cursor.at = start;
        let end = layout_end(cursor, &mut self.brackets)?;
        let mut text = String::new();
        while let Some(next) = cursor.text[cursor.at..end].chars().next() {
            text.push(next);
            cursor.at += next.len_utf8();
            if cursor.at < end {
                cursor.skip_space()?;
            }
        }
        Ok(Layout { minor_to_major, text })
    }

    /// The number of an array's shape.
    pub(super) fn array(
        &mut self,
        element: ElementType,
        dimensions: Vec<i64>,
        dynamic: Vec<bool>,
        layout: Option<Layout>,
        element_count: i64,
    ) -> ShapeId {
        let mut bare = None;
        if layout.is_some() || dynamic.contains(&true) {
            let fixed = vec![false; dimensions.len()];
            bare = Some(self.array(element, dimensions.clone(), fixed, None, element_count));
        }
        let mut key = vec![element.0];
        for (size, dynamic) in dimensions.iter().zip(&dynamic) {
            key.extend_from_slice(&size.to_le_bytes());
            key.push(u8::from(*dynamic));
        }
        if let Some(layout) = &layout {
            key.extend_from_slice(layout.text.as_bytes());
        }
        self.intern(
            key,
            bare,
            Shape { element, dimensions, dynamic, layout, elements: Vec::new(), element_count, bare: 0 },
        )
    }

    /// The number of the shape without layouts.
    pub(super) fn bare(&self, id: ShapeId) -> ShapeId {
        self.table[id as usize].bare
    }

    /// The number of a tuple's shape.
    pub(super) fn tuple(&mut self, elements: Vec<ShapeId>) -> ShapeId {
        self.group(ElementType::TUPLE, elements)
    }

    fn group(&mut self, element: ElementType, elements: Vec<ShapeId>) -> ShapeId {
        let bare: Vec<ShapeId> = elements.iter().map(|&e| self.table[e as usize].bare).collect();
        let bare = (bare != elements).then(|| self.group(element, bare));
        let mut key = vec![element.0];
        elements.iter().for_each(|e| key.extend_from_slice(&e.to_le_bytes()));
        let (dimensions, dynamic) = (Vec::new(), Vec::new());
        let shape = Shape { element, dimensions, dynamic, layout: None, elements, element_count: 0, bare: 0 };
        self.intern(key, bare, shape)
    }

    fn intern(&mut self, key: Vec<u8>, bare: Option<ShapeId>, mut shape: Shape) -> ShapeId {
        let next = self.table.len() as ShapeId;
        let id = *self.by_key.entry(key).or_insert(next);
        if id == next {
            shape.bare = bare.unwrap_or(next);
            self.table.push(shape);
        }
        id
    }
}

/// The product of the sizes, where it and the bytes that it takes fit 64 bits.
pub(super) fn count_elements(element: ElementType, dimensions: &[i64]) -> Option<i64> {
    if !element.is_array() {
        return Some(0);
    }
    let sizes = dimensions.iter().filter(|&&d| d > 0);
    let product = sizes.copied().try_fold(1_i64, i64::checked_mul)?;
    product.checked_mul(i64::from(element.row().bits.div_ceil(8)))?;
    Some(if dimensions.contains(&0) { 0 } else { product })
}

/// Whether a tuple or a buffer starts here.
fn opens_group(cursor: &Cursor) -> Option<ElementType> {
    match (cursor.peek(), cursor.peek_at(1)) {
        (b'(', _) => Some(ElementType::TUPLE),
        (b'b', b'(') => Some(ElementType::BUFFER),
        _ => None,
    }
}

/// The end of the shape at the cursor if it is written plainly; only ever used as a key of texts already read.
fn guess_end(cursor: &Cursor) -> Option<usize> {
    let rest = &cursor.text.as_bytes()[cursor.at..];
    if rest.first() == Some(&b'(') {
        return guess_tuple_end(rest).map(|n| cursor.at + n);
    }
    let bracket = rest.iter().position(|&b| b == b']')?;
    let mut end = bracket + 1;
    if rest.get(end) == Some(&b'{') {
        end += rest[end..].iter().position(|&b| b == b'}')? + 1;
    }
    Some(cursor.at + end)
}

fn guess_tuple_end(rest: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let closes = |byte: &u8| {
        depth += usize::from(*byte == b'(');
        depth -= usize::from(*byte == b')');
        depth == 0
    };
    rest.iter().position(closes).map(|last| last + 1)
}

fn parse_dimensions(cursor: &mut Cursor) -> Result<(Vec<i64>, Vec<bool>)> {
    let dimensions = cursor.list(b']', |cursor| {
        let bounded = cursor.take(b'<')?;
        if bounded {
            cursor.require(b'=')?;
        }
        if cursor.take(b'?')? {
            return Ok((UNBOUNDED, true));
        }
        let at = cursor.at;
        match cursor.integer("a size")? {
            size @ 0.. => Ok((size, bounded)),
            size => Err(HloError::new(at, format!("a size cannot be negative, found {size}"))),
        }
    })?;
    Ok(dimensions.into_iter().unzip())
}

/// Whether a layout comes next behind `at`: a brace, then `}`, a number, or a colon.
fn layout_follows(cursor: &Cursor, at: usize) -> Result<bool> {
    let mut ahead = cursor.clone();
    ahead.at = at;
    if !ahead.take(b'{')? {
        return Ok(false);
    }
    ahead.skip_space()?;
    Ok(ahead.peek().is_ascii_digit() || matches!(ahead.peek(), b':' | b'}'))
}

/// The end of the layout whose brace is at the cursor.
fn layout_end(cursor: &Cursor, brackets: &mut Vec<(u8, usize)>) -> Result<usize> {
    let mut inner = cursor.clone();
    inner.at += 1;
    loop {
        inner.skip_space()?;
        match inner.peek() {
            b'}' => return Ok(inner.at + 1),
            b',' => inner.at += 1,
            b if is_word(b) || matches!(b, b':' | b'(' | b'[' | b'*' | b'#' | b'?') => {
                inner.value(brackets)?;
            }
            _ => return Err(inner.expected("'}' at the end of a layout")),
        }
    }
}
